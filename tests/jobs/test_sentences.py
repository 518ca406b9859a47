"""A tagger from a file tags files."""

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

import rosenblatt
from rosenblatt.jobs import sentences as files
from rosenblatt.jobs.sentences import evaluate_file, tagged_pieces, train_tagger

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


def tag_file(tagger, path, kind=None):
    return b"".join(tagged_pieces(tagger, path, kind))


@pytest.fixture
def tagger(tmp_path):
    path = tmp_path / "a.tagged"
    path.write_text(TRAINING)
    found, sentences, tokens = train_tagger(str(path), "tagged", random_state=0)
    assert (sentences, tokens) == (2, 6)
    return found


def test_plain_text_is_tagged_by_a_model_that_was_saved(tagger, tmp_path):
    tagger.save(tmp_path / "model")
    again = rosenblatt.load(tmp_path / "model")
    (tmp_path / "b.txt").write_text("the cat barks\n")
    assert tag_file(again, str(tmp_path / "b.txt")) == b"the/DET cat/NOUN barks/VERB\n"


def test_words_not_met_are_unknown(tagger, tmp_path):
    path = tmp_path / "b.tagged"
    path.write_text("The/DET cow/NOUN sleeps/VERB\n")
    found = evaluate_file(tagger, str(path))
    assert (found.tokens, found.unknown) == (3, 1)


def test_train_in_python_is_that_of_the_shell(tagger, tmp_path):
    path = tmp_path / "a.tagged"
    again = rosenblatt.train(path)
    unseen = [["a", "dog", "sleeps"], ["the", "cow"]]
    assert again.predict(unseen) == tagger.predict(unseen)
    assert rosenblatt.train(str(path), format="tagged", markov=2).markov == 2
    with pytest.raises(TypeError, match="unexpected keyword argument 'text'"):
        rosenblatt.train(path, text="text")


def test_words_are_known_without_the_lexicon(tmp_path):
    path = tmp_path / "a.tagged"
    path.write_text(TRAINING)
    small = rosenblatt.train(path, features=["word[0]"])
    assert evaluate_file(small, str(path)).unknown == 0


@pytest.fixture
def in_pieces(monkeypatch):
    """Files are larger than memory, and read a few sentences at a time."""
    monkeypatch.setattr(files, "IN_MEMORY", 100)
    monkeypatch.setattr(files, "PIECE", 60)


@pytest.mark.parametrize("text", [SENTENCES, SENTENCES.replace("DET", "B-X").replace("ADJ", "I-X")])
def test_a_stream_in_order_is_the_file_in_memory(tmp_path, in_pieces, monkeypatch, text):
    path = tmp_path / "a.tagged"
    path.write_text(text.replace("NOUN", "O").replace("VERB", "O") if "B-X" in text else text)
    streamed, sentences, tokens = train_tagger(str(path), "tagged", order="fixed", max_iter=3)
    monkeypatch.undo()
    whole, *size = train_tagger(str(path), "tagged", order="fixed", max_iter=3)
    assert [sentences, tokens] == size
    assert streamed.scheme_ == whole.scheme_ == ("IOB2" if "B-X" in text else None)
    assert streamed.history_ == whole.history_
    assert streamed.n_features_ == whole.n_features_
    assert streamed._lexicon.words == whole._lexicon.words
    names = [streamed._dictionary.name(row) for row in range(streamed.n_features_)]
    others = [whole._dictionary.name(row) for row in range(whole.n_features_)]
    width = whole._settings().width
    rows = [model._weights.emissions.reshape(-1, width).tolist() for model in (streamed, whole)]
    assert dict(zip(names, rows[0], strict=True)) == dict(zip(others, rows[1], strict=True))


def test_a_stream_from_a_pipe_is_that_of_the_file(tmp_path, in_pieces, monkeypatch):
    path = tmp_path / "a.tagged"
    path.write_text(SENTENCES)
    wanted, *_ = train_tagger(str(path), "tagged", random_state=0)
    read, write = os.pipe()
    os.write(write, SENTENCES.encode())
    os.close(write)
    with open(read, "rb") as file:
        monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=file))
        found, *_ = train_tagger("-", "tagged", random_state=0)
    assert found.history_ == wanted.history_
    assert found.n_features_ == wanted.n_features_


def test_what_needs_memory_is_refused_for_streams(tmp_path, in_pieces):
    path = tmp_path / "a.tagged"
    path.write_text(SENTENCES)
    with pytest.raises(ValueError, match="early_stopping=True needs all sentences in memory"):
        train_tagger(str(path), "tagged", early_stopping=True)


def test_several_files_are_read_one_after_the_other(tmp_path):
    lines = SENTENCES.splitlines(keepends=True)
    (tmp_path / "1.tagged").write_text("".join(lines[:3]).rstrip())
    (tmp_path / "2.tagged").write_text("".join(lines[3:]))
    _, sentences, _ = train_tagger(str(tmp_path / "*.tagged"), "tagged", random_state=0)
    assert sentences == len(lines)
    (tmp_path / "2.tagged").write_text("a/B b")
    with pytest.raises(ValueError, match=r"2.tagged, line 1: 'b' is not as word/TAG is"):
        train_tagger(str(tmp_path / "*.tagged"), "tagged")


def test_other_encodings(tmp_path):
    path = tmp_path / "a.conll"
    path.write_bytes("María B-PER\nvive O\n\nAña B-PER\n".encode("latin-1"))
    with pytest.raises(ValueError, match="name its encoding, such as latin-1"):
        train_tagger(str(path), "conll")
    tagger, *_ = train_tagger(str(path), "conll", encoding="latin-1")
    tagger.save(tmp_path / "model")
    again = rosenblatt.load(tmp_path / "model")
    assert "maría" in again._lexicon.words
    assert tag_file(again, str(path)).decode().splitlines()[0] == "María B-PER"
    assert evaluate_file(again, str(path)).unknown == 0
    assert rosenblatt.train(path, encoding="latin-1").classes_.tolist() == ["B-PER", "O"]


def test_files_of_other_formats(tagger, tmp_path):
    path = tmp_path / "b.conllu"
    path.write_text("1\tthe\t_\t_\t_\t_\t_\t_\t_\t_\n")
    assert tag_file(tagger, str(path)).split(b"\t")[3] == b"DET"
    with pytest.raises(ValueError, match="format csv holds no sentences"):
        tag_file(tagger, str(path), "csv")


@pytest.mark.slow
@pytest.mark.skipif(not (SHARED / "ud_en_ewt").exists(), reason="needs the shared data")
def test_english_tags_of_held_out_sentences():
    folder = SHARED / "ud_en_ewt"
    found, _, _ = train_tagger(
        str(folder / "en_ewt-ud-train.conllu"), "conllu", "upos", random_state=0, max_iter=5
    )
    assert evaluate_file(found, str(folder / "en_ewt-ud-dev.conllu")).accuracy > 0.95
