"""Taggers in the shell."""

import json

import pytest

import rosenblatt
from rosenblatt.learners.sequence.state import PathState
from rosenblatt.storage.file import load_model, save_model

from ..storage.models import assert_same
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
    ("options", "code"),
    [
        (["--text", "text"], "sentences-option"),
        (["--threads", "2"], "sentences-option"),
        (["--holdout", "0.1"], "sentences-option"),
        (["--class-weight", "balanced"], "sentences-option"),
        (["--tune"], "sentences-option"),
        (["--r", "2"], "sentences-option"),
        (["--plot", "a.png"], "plot-labels"),
        (["--rule", "arow"], "out-of-range"),
        (["--markov", "5"], "out-of-range"),
        (["--templates", "nowhere"], "file"),
    ],
)
def test_what_does_nothing_is_refused(shell, files, options, code):
    status, out, err = shell("train", files / "a.tagged", *options, "--json")
    assert status == 2
    assert json.loads(out)["code"] == code
    assert options[0] in err or code == "file"


def test_options_of_taggers_need_sentences(shell, files):
    status, out, _ = shell("train", "iris", "--markov", 1, "--json")
    assert (status, json.loads(out)["code"]) == (2, "rows-option")


def test_options_of_rows_are_not_for_taggers(shell, files, model):
    for options in (["--scores"], ["--probabilities"], ["--header"], ["--threads", 2]):
        status, _, err = shell("predict", model, files / "a.tagged", *options)
        assert (status, options[0] in err) == (2, True)


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


def test_large_files_are_said_to_be_read_in_pieces(shell, files, monkeypatch):
    monkeypatch.setattr("rosenblatt.jobs.sentences.IN_MEMORY", 30)
    monkeypatch.setattr("rosenblatt.jobs.sentences.PIECE", 30)
    status, _, err = shell("train", files / "a.tagged", "-o", files / "model")
    assert status == 0
    assert "a.tagged has over 0 MB, so it is read in pieces, again in each epoch." in err
    status, _, err = shell("train", files / "a.tagged", "--early-stopping")
    assert status == 2
    assert "--early-stopping needs all sentences in memory" in err


@pytest.mark.parametrize("pieces", [False, True])
def test_a_run_that_was_stopped_is_resumed(shell, files, monkeypatch, pieces):
    lines = [f"{word}/{tag}" for word, tag in zip("abcabdaceb", "XYZXZYXYXZ", strict=True)]
    (files / "b.tagged").write_text("\n".join(" ".join(lines[k:] + lines[:k]) for k in range(9)))
    if pieces:
        monkeypatch.setattr("rosenblatt.jobs.sentences.IN_MEMORY", 100)
        monkeypatch.setattr("rosenblatt.jobs.sentences.PIECE", 100)
    given = "train", files / "b.tagged", "--epochs", 4, "--seed", 7
    assert shell(*given, "-o", files / "whole")[0] == 0
    sweep, left = PathState.sweep, [9 if pieces else 2]

    def stopped(*arguments):
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt
        return sweep(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(PathState, "sweep", stopped)
        assert shell(*given, "-o", files / "part", "--checkpoint", 0)[0] != 0
    begun = load_model(files / "part")
    assert begun.facts["stop_reason"] == "unfinished"
    assert (begun.checkpoint.parts > 0) == pieces
    status, out, _ = shell(*given, "-o", files / "part", "--resume")
    assert (status, "4 epochs" in out) == (0, True)
    assert_same(load_model(files / "part"), load_model(files / "whole"))
    status, _, err = shell(*given, "-o", files / "part", "--resume")
    assert (status, "The run is complete." in err) == (0, True)
    status, _, err = shell(*given, "-o", files / "part", "--resume", "--margin", 3)
    assert (status, "The run began with --margin = 1.0, not 3.0" in err) == (2, True)
    (files / "b.tagged").write_text("a/X b/Y\n")
    status, _, err = shell(*given, "-o", files / "part", "--resume")
    assert (status, "b.tagged has changed since the run began" in err) == (2, True)


def test_a_tagger_begins_with_another(shell, files, model):
    (files / "b.tagged").write_text("my/DET cow/NOUN sleeps/VERB\n")
    given = "-o", files / "more", "--initial", model
    status, out, _ = shell("train", files / "b.tagged", *given)
    assert (status, "3 tags" in out) == (0, True)
    both = rosenblatt.load(files / "more")
    assert both.predict([["the", "cow", "barks"]]) == [["DET", "NOUN", "VERB"]]
    assert both.n_mistakes_ >= rosenblatt.load(model).n_mistakes_
    refused = {
        "continue with the same": (files / "b.tagged", "--initial", model, "--markov", 2),
        "The tag 'X' is not among those": (files / "c.tagged", "--initial", model),
        "start from another model": (files / "b.tagged", "--initial", files / "iris"),
        "cannot learn": (files / "b.tagged", "--initial", files / "compact"),
        "choose another --label": (files / "d.conll", "--initial", model),
    }
    (files / "c.tagged").write_text("my/X cow/NOUN\n")
    (files / "d.conll").write_text("my P DET\n")
    assert shell("train", "iris", "-o", files / "iris")[0] == 0
    rosenblatt.load(model).save(files / "compact", compact=True)
    for words, options in refused.items():
        status, _, err = shell("train", *options)
        assert (status, words in err) == (2, True), err


def test_a_tagger_whose_parts_do_not_fit_is_refused_by_its_name(shell, files, model):
    kept = load_model(model)
    kept.features["scheme"] = ["IOB2", "-", [["B", "X"]]]
    save_model(files / "odd", kept)
    for command in (("predict", files / "odd", files / "a.tagged"), ("inspect", files / "odd")):
        status, _, err = shell(*command)
        assert status == 2
        assert f"{files / 'odd'} is not a SequencePerceptron of this version of rosenblatt" in err
