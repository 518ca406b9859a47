"""A tagger from a file tags files."""

import os
from pathlib import Path

import pytest

import rosenblatt
from rosenblatt.sequences.files import evaluate_file, tag_file, train_tagger

SHARED = Path(os.environ.get("ROSENBLATT_DATA", Path(__file__).parents[3] / "shared" / "data"))
TRAINING = "the/DET dog/NOUN barks/VERB\na/DET cat/NOUN sleeps/VERB\n"


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
