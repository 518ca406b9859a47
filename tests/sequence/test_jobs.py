"""A tagger from a file tags files."""

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

import rosenblatt
from rosenblatt.jobs.evaluate import evaluate
from rosenblatt.jobs.files import train as train_file
from rosenblatt.jobs.job import Checkpointer, FileJob
from rosenblatt.parameters import ParameterError
from rosenblatt.sequence import jobs as files
from rosenblatt.sequence.jobs import SentenceFile
from rosenblatt.sequence.learner import SequenceLearner
from rosenblatt.sequence.sentences import read_sentences
from rosenblatt.storage.file import load_model, save_model
from rosenblatt.training.plan import Request

from ..storage.models import assert_same_state

SHARED = Path(os.environ.get("ROSENBLATT_DATA", Path(__file__).parents[3] / "shared" / "data"))
SENTENCES = """the/DET old/ADJ dog/NOUN barks/VERB
a/DET cat/NOUN sleeps/VERB
dogs/NOUN bark/VERB
the/DET bark/NOUN fell/VERB
a/DET red/ADJ bark/NOUN
the/DET old/ADJ sleep/VERB
an/DET old/ADJ red/ADJ dog/NOUN fell/VERB
cats/NOUN fell/VERB
"""
TRAINING = "the/DET dog/NOUN barks/VERB\na/DET cat/NOUN sleeps/VERB\n"


def train(path, kind="tagged", label=None, encoding=None, **parameters):
    others = {
        name: parameters.pop(name)
        for name in ("begun", "initial", "checkpointer", "reporter")
        if name in parameters
    }
    job = FileJob(Request(parameters=parameters), **others)
    return train_file(SentenceFile(str(path), kind, label, encoding), job)


def saved(model, path):
    """A tagger as its file has it."""
    save_model(path, model)
    return SequenceLearner.from_model(load_model(path))


def tag(learner, path, kind=None):
    return b"".join(SentenceFile(str(path), kind).predict(learner))


def predict(learner, X):
    names = learner.classes.tolist()
    return [names[code] for code in learner.predict(read_sentences(X, learner.columns)).tolist()]


@pytest.fixture
def tagger(tmp_path):
    path = tmp_path / "a.tagged"
    path.write_text(TRAINING)
    found = train(path)
    assert (found.facts["sentences"], found.facts["tokens"]) == (2, 6)
    return found


def test_words_not_met_are_unknown(tagger, tmp_path):
    path = tmp_path / "b.tagged"
    path.write_text("The/DET cow/NOUN sleeps/VERB\n")
    found = evaluate(SequenceLearner.from_model(tagger), SentenceFile(str(path)))
    assert (found.tokens, found.unknown_words) == (3, 1)


def test_train_in_python_is_that_of_the_shell(tagger, tmp_path):
    path = tmp_path / "a.tagged"
    again = rosenblatt.train(path)
    unseen = [["a", "dog", "sleeps"], ["the", "cow"]]
    found = [tag for tags in again.predict(unseen) for tag in tags]
    assert found == predict(SequenceLearner.from_model(tagger), unseen)
    assert rosenblatt.train(str(path), format="tagged", margin=2.0).margin == 2
    with pytest.raises(TypeError, match="unexpected keyword argument 'text'"):
        rosenblatt.train(path, text="text")


def test_words_are_known_without_the_lexicon(tmp_path):
    path = tmp_path / "a.tagged"
    path.write_text(TRAINING)
    small = train(path, features=["word[0]"])
    assert evaluate(SequenceLearner.from_model(small), SentenceFile(str(path))).unknown_words == 0


def test_a_pipe_is_read_as_the_file(tmp_path, monkeypatch):
    path = tmp_path / "a.tagged"
    path.write_text(SENTENCES)
    wanted = train(path)
    read, write = os.pipe()
    os.write(write, SENTENCES.encode())
    os.close(write)
    with open(read, "rb") as file:
        monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=file))
        found = train("-")
    assert found.history == wanted.history
    assert_same_state(found.states[0], wanted.states[0])


def test_files_that_are_too_large_are_refused_and_runs_are_not_resumed(tmp_path, monkeypatch):
    path = tmp_path / "a.tagged"
    path.write_text(SENTENCES)
    with pytest.raises(ParameterError, match="checkpoint"):
        train(path, checkpointer=Checkpointer(tmp_path / "model", 0.0))
    monkeypatch.setattr(files, "MOST_BYTES", 100)
    with pytest.raises(ValueError, match="learn it in parts, with partial_fit"):
        train(path)


def test_several_files_are_read_one_after_the_other(tmp_path):
    lines = SENTENCES.splitlines(keepends=True)
    (tmp_path / "1.tagged").write_text("".join(lines[:3]).rstrip())
    (tmp_path / "2.tagged").write_text("".join(lines[3:]))
    assert train(tmp_path / "*.tagged").facts["sentences"] == len(lines)
    (tmp_path / "2.tagged").write_text("a/B b")
    with pytest.raises(ValueError, match=r"2.tagged, line 1: expected word/TAG, got 'b'"):
        train(tmp_path / "*.tagged")


def test_other_encodings(tmp_path):
    path = tmp_path / "a.conll"
    path.write_bytes("María B-PER\nvive O\n\nAña B-PER\n".encode("latin-1"))
    with pytest.raises(ValueError, match="the encoding of the file, such as latin-1"):
        train(path, "conll")
    again = saved(train(path, "conll", encoding="latin-1"), tmp_path / "model")
    assert "maría" in again.lexicon.words[0].texts()
    assert tag(again, path).decode().splitlines()[0] == "María B-PER"
    assert evaluate(again, SentenceFile(str(path))).unknown_words == 0
    assert rosenblatt.train(path, encoding="latin-1").classes_.tolist() == ["B-PER", "O"]


def test_files_of_other_formats(tagger, tmp_path):
    path = tmp_path / "b.conllu"
    path.write_text("1\tthe\t_\t_\t_\t_\t_\t_\t_\t_\n")
    assert tag(SequenceLearner.from_model(tagger), path).split(b"\t")[3] == b"DET"
    with pytest.raises(ParameterError) as refused:
        tag(SequenceLearner.from_model(tagger), path, "csv")
    assert refused.value.code == "format-of-sentences"


@pytest.mark.slow
@pytest.mark.skipif(not (SHARED / "ud_en_ewt").exists(), reason="needs the shared data")
def test_english_tags_of_held_out_sentences():
    folder = SHARED / "ud_en_ewt"
    found = train(folder / "en_ewt-ud-train.conllu", "conllu", "upos", max_iter=5)
    dev = str(folder / "en_ewt-ud-dev.conllu")
    assert evaluate(SequenceLearner.from_model(found), SentenceFile(dev)).accuracy > 0.95
