"""A tagger from a file tags files."""

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

import rosenblatt
from rosenblatt.jobs import sentences as files
from rosenblatt.jobs.data import SentenceFile
from rosenblatt.jobs.evaluate import evaluate
from rosenblatt.jobs.files import train as train_file
from rosenblatt.jobs.job import Checkpointer, FileJob
from rosenblatt.jobs.sentences import fill_in_tags
from rosenblatt.learners.sequence.learner import SequenceLearner
from rosenblatt.learners.sequence.sentences import read_sentences
from rosenblatt.parameters import ParameterError
from rosenblatt.storage.file import load_model, save_model
from rosenblatt.training.plan import Request
from rosenblatt.training.report import Listener

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
    return b"".join(fill_in_tags(learner, SentenceFile(str(path), kind)))


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


def test_plain_text_is_tagged_by_a_model_that_was_saved(tagger, tmp_path):
    again = saved(tagger, tmp_path / "model")
    (tmp_path / "b.txt").write_text("the cat barks\n")
    assert tag(again, tmp_path / "b.txt") == b"the/DET cat/NOUN barks/VERB\n"


def test_words_not_met_are_unknown(tagger, tmp_path):
    path = tmp_path / "b.tagged"
    path.write_text("The/DET cow/NOUN sleeps/VERB\n")
    found = evaluate(SequenceLearner.from_model(tagger), SentenceFile(str(path)))
    assert (found.tokens, found.unknown) == (3, 1)


def test_train_in_python_is_that_of_the_shell(tagger, tmp_path):
    path = tmp_path / "a.tagged"
    again = rosenblatt.train(path)
    unseen = [["a", "dog", "sleeps"], ["the", "cow"]]
    found = [tag for tags in again.predict(unseen) for tag in tags]
    assert found == predict(SequenceLearner.from_model(tagger), unseen)
    assert rosenblatt.train(str(path), format="tagged", markov=2).markov == 2
    with pytest.raises(TypeError, match="unexpected keyword argument 'text'"):
        rosenblatt.train(path, text="text")


def test_words_are_known_without_the_lexicon(tmp_path):
    path = tmp_path / "a.tagged"
    path.write_text(TRAINING)
    small = train(path, features=["word[0]"])
    assert evaluate(SequenceLearner.from_model(small), SentenceFile(str(path))).unknown == 0


@pytest.fixture
def in_pieces(monkeypatch):
    """Files are larger than memory, and read a few sentences at a time."""
    monkeypatch.setattr(files, "IN_MEMORY", 100)
    monkeypatch.setattr(files, "PIECE", 60)


@pytest.mark.parametrize("text", [SENTENCES, SENTENCES.replace("DET", "B-X").replace("ADJ", "I-X")])
def test_a_stream_in_order_is_the_file_in_memory(tmp_path, in_pieces, monkeypatch, text):
    path = tmp_path / "a.tagged"
    path.write_text(text.replace("NOUN", "O").replace("VERB", "O") if "B-X" in text else text)
    streamed = train(path, order="fixed", max_iter=3)
    monkeypatch.undo()
    whole = train(path, order="fixed", max_iter=3)
    assert streamed.history == whole.history
    assert (streamed.features["scheme"] is None) == ("B-X" not in text)
    assert streamed.facts == whole.facts
    assert streamed.features == whole.features
    assert_same_state(streamed.states[0], whole.states[0])


def test_a_stream_from_a_pipe_is_that_of_the_file(tmp_path, in_pieces, monkeypatch):
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


def test_what_needs_memory_is_refused_for_streams(tmp_path, in_pieces):
    path = tmp_path / "a.tagged"
    path.write_text(SENTENCES)
    with pytest.raises(ParameterError) as refused:
        train(path, early_stopping=True)
    assert refused.value.code == "pieces-early-stopping"


class Stopping(Listener):
    """Stops a run when some epoch is done, before it is saved."""

    def __init__(self, epoch):
        self.last, self.heard = epoch, []

    def epoch(self, epoch):
        self.heard.append(epoch.epoch)
        if epoch.epoch == self.last:
            raise KeyboardInterrupt


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"solution": "last", "order": "once"},
        {"order": "active", "margin": 4.0},
        {"early_stopping": True, "validation_fraction": 0.4, "n_iter_no_change": 5},
        {"markov": 2, "rule": "pa", "early_stopping": True, "validation_fraction": 0.3},
        {"search": "greedy", "random_state": None},
    ],
)
@pytest.mark.parametrize("stop", [2, 3])
def test_a_run_goes_on_after_each_epoch_as_if_it_had_not_stopped(tmp_path, parameters, stop):
    path, model = tmp_path / "a.tagged", tmp_path / "model"
    path.write_text(SENTENCES + "old/VERB cats/NOUN the/NOUN\n")
    given = {"max_iter": 6, **parameters}
    with pytest.raises(KeyboardInterrupt):
        train(path, reporter=Stopping(stop), checkpointer=Checkpointer(model, 0.0), **given)
    begun = load_model(model)
    assert (begun.checkpoint.epoch, begun.facts["stop_reason"]) == (stop - 1, "unfinished")
    again = Stopping(0)
    resumed = train(path, begun=begun, reporter=again, **given)
    assert again.heard[0] == stop
    if "random_state" in given:
        given["random_state"] = begun.parameters["random_state"]
    save_model(model, resumed)
    save_model(tmp_path / "whole", train(path, **given))
    assert model.read_bytes() == (tmp_path / "whole").read_bytes()


def test_a_model_that_does_not_say_how_it_was_trained_is_not_resumed(tmp_path):
    path = tmp_path / "a.tagged"
    path.write_text(SENTENCES)
    made = rosenblatt.SequencePerceptron().fit([["a", "b"]], [["A", "B"]]).to_model()
    with pytest.raises(ValueError, match="does not say how it was trained"):
        train(path, begun=made)


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
    assert "maría" in again.lexicon.words
    assert tag(again, path).decode().splitlines()[0] == "María B-PER"
    assert evaluate(again, SentenceFile(str(path))).unknown == 0
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
