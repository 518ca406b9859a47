"""Taggers in the shell."""

import json

import pytest

import rosenblatt

from .conftest import run

TRAINING = "the/DET dog/NOUN barks/VERB\na/DET cat/NOUN sleeps/VERB\n"
CHUNKS = "He PRP B-NP\nruns VBZ B-VP\n\nThe DT B-NP\ndog NN I-NP\nbarks VBZ B-VP\n"


@pytest.fixture
def shell(capsys):
    return lambda *arguments: run(capsys, *arguments)


@pytest.fixture
def files(tmp_path):
    (tmp_path / "a.tagged").write_text(TRAINING)
    (tmp_path / "chunks.txt").write_text(CHUNKS)
    return tmp_path


@pytest.fixture
def model(shell, files):
    status, out, err = shell("train", files / "a.tagged", "-o", files / "model")
    assert (status, err) == (0, "")
    assert "2 sentences, 6 tokens, 3 tags" in out
    return files / "model"


def test_train_test_and_score(shell, files, model):
    status, out, _ = shell("train", files / "a.tagged", "--test", files / "a.tagged", "-q")
    assert status == 0
    assert "Test accuracy 100.00%: 0 of 6 tokens wrong." in out
    status, out, _ = shell("score", model, files / "a.tagged")
    assert status == 0
    assert out.splitlines()[1].split() == ["tag", "precision", "recall", "F1", "tokens"]
    status, out, _ = shell("score", model, files / "a.tagged", "--json")
    assert json.loads(out)["accuracy"] == 1


def test_predict_and_inspect(shell, files, model):
    (files / "b.txt").write_text("the cat barks\n")
    status, _, _ = shell("predict", model, files / "b.txt", "-o", files / "out")
    assert status == 0
    assert (files / "out").read_text() == "the/DET cat/NOUN barks/VERB\n"
    status, out, _ = shell("inspect", model, "--top", 3)
    assert status == 0
    assert "DET: " in out
    assert "  after " in out


def test_chunks(shell, files):
    given = "--format", "conll", "--markov", 2
    status, out, _ = shell("train", files / "chunks.txt", *given, "-o", files / "chunker", "--json")
    done = json.loads(out.splitlines()[-1])
    assert (status, done["scheme"], done["tokens"]) == (0, "IOB2", 5)
    status, out, _ = shell("score", files / "chunker", files / "chunks.txt")
    assert "chunk F1 100.00" in out
    assert "NP" in out


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--text", "text"], "--text is not for files of sentences"),
        (["--rule", "arow"], "--rule must be one of"),
        (["--holdout", "0.1"], "--holdout is not for files of sentences"),
        (["--markov", "5"], "--markov must be 0, 1 or 2"),
        (["--templates", "nowhere"], "There is no file nowhere"),
    ],
)
def test_what_does_nothing_is_refused(shell, files, options, words):
    status, _, err = shell("train", files / "a.tagged", *options)
    assert status == 2
    assert words in err


def test_options_of_taggers_need_sentences(shell, files):
    status, _, err = shell("train", "iris", "--markov", 1)
    assert status == 2
    assert "are for files of sentences" in err


def test_templates(shell, files):
    (files / "templates").write_text("# words\nword[0]\nsuffix2[0]\n")
    given = "--templates", files / "templates", "--search", "greedy"
    status, out, _ = shell("train", files / "a.tagged", *given, "-o", files / "small")
    assert status == 0
    status, out, _ = shell("inspect", files / "small")
    assert "2 templates: word[0] suffix2[0]" in out
    assert "greedy" in out


def test_passive_aggressive_steps(shell, files):
    given = "--rule", "pa", "--C", "0.5", "-o", files / "model"
    assert shell("train", files / "a.tagged", *given)[0] == 0
    model = rosenblatt.load(files / "model")
    assert (model.rule, model.C) == ("pa", 0.5)
    status, _, err = shell("train", files / "a.tagged", "--rule", "arow")
    assert status == 2
    assert "--rule must be one of" in err


def test_large_files_are_said_to_be_read_in_pieces(shell, files, monkeypatch, caplog):
    monkeypatch.setattr("rosenblatt.jobs.sentences.IN_MEMORY", 30)
    monkeypatch.setattr("rosenblatt.jobs.sentences.PIECE", 30)
    assert shell("train", files / "a.tagged", "-o", files / "model")[0] == 0
    assert "a.tagged has over 0 MB, so it is read in pieces, anew in each epoch." in caplog.text
    status, _, err = shell("train", files / "a.tagged", "--early-stopping")
    assert status == 2
    assert "--early-stopping needs all sentences in memory" in err
