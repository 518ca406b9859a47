"""Taggers in the shell."""

import json

import pytest

import rosenblatt
from rosenblatt.storage.file import load_model, save_model

from ..shell.conftest import run

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
    assert "Tags:" in out
    assert "tokens" in out
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
    given = "--format", "conll"
    status, out, _ = shell("train", files / "chunks.txt", *given, "-o", files / "chunker", "--json")
    done = json.loads(out.splitlines()[-1])
    assert (status, done["scheme"], done["tokens"]) == (0, "IOB2", 5)
    status, out, _ = shell("score", files / "chunker", files / "chunks.txt")
    assert "chunk F1 100.00" in out
    assert "NP" in out


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--text", "text"], "rows-only"),
        (["--set", "threads=2"], "rows-only"),
        (["--holdout", "0.1"], "rows-only"),
        (["--balanced"], "rows-only"),
        (["--tune"], "rows-only"),
        (["--set", "r=2"], "rows-only"),
        (["--rule", "arow"], "rows-only"),
        (["--set", "early_stopping=true"], "rows-only"),
        (["--checkpoint", "1", "-o", "m"], "rows-only"),
        (["--set", "order=active"], "out-of-range"),
        (["--set", "features=nowhere"], "file"),
    ],
)
def test_what_does_nothing_is_refused(shell, files, options, code):
    status, out, err = shell("train", files / "a.tagged", *options, "--json")
    assert status == 2
    assert json.loads(out)["code"] == code
    assert err


def test_options_of_taggers_need_sentences(shell, files):
    status, out, _ = shell("train", "iris", "--set", f"features={files / 'chunks.txt'}", "--json")
    assert (status, json.loads(out)["code"]) == (2, "not-of-rule")


def test_templates(shell, files):
    (files / "templates").write_text("# words\nword[0]\nsuffix2[0]\n")
    given = "--set", f"features={files / 'templates'}"
    status, out, _ = shell("train", files / "a.tagged", *given, "-o", files / "small")
    assert status == 0
    status, out, _ = shell("inspect", files / "small")
    assert "2 templates: word[0] suffix2[0]" in out


def test_a_tagger_begins_with_another(shell, files, model):
    (files / "b.tagged").write_text("my/DET cow/NOUN sleeps/VERB\n")
    given = "-o", files / "more", "--initial", model
    status, out, _ = shell("train", files / "b.tagged", *given)
    assert (status, "3 tags" in out) == (0, True)
    both = rosenblatt.load(files / "more")
    assert both.predict([["the", "cow", "barks"]]) == [["DET", "NOUN", "VERB"]]
    assert both.n_mistakes_ >= rosenblatt.load(model).n_mistakes_
    last = "--set", "solution=last"
    refused = {
        "continue with the same": (files / "b.tagged", "--initial", model, *last),
        "The tag 'X' is not among those": (files / "c.tagged", "--initial", model),
        "start from another model": (files / "b.tagged", "--initial", files / "iris"),
        "choose another label": (files / "d.conll", "--initial", model),
    }
    (files / "c.tagged").write_text("my/X cow/NOUN\n")
    (files / "d.conll").write_text("my P DET\n")
    assert shell("train", "iris", "-o", files / "iris")[0] == 0
    for words, options in refused.items():
        status, _, err = shell("train", *options)
        assert (status, words in err) == (2, True), err


def test_a_tagger_whose_parts_do_not_fit_is_refused_by_its_name(shell, files, model):
    kept = load_model(model)
    kept.features["scheme"] = "IOB2"
    save_model(files / "odd", kept)
    for command in (("predict", files / "odd", files / "a.tagged"), ("inspect", files / "odd")):
        status, _, err = shell(*command)
        assert status == 2
        assert f"{files / 'odd'} is not a SequencePerceptron of this version of rosenblatt" in err


def test_inspect_prints_json(shell, files, model):
    found = json.loads(shell("inspect", model, "--json", "--top", 2)[1])
    assert {len(features) for features in found["features"].values()} == {2}


@pytest.mark.parametrize("command", ["score", "predict"])
def test_a_built_in_set_is_refused(shell, model, command):
    status, out, err = shell(command, model, "iris")
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "the data are a table" in err


def test_options_for_rows_are_refused_by_score_and_predict(shell, files, model):
    data = files / "a.tagged"
    for given in (["--threshold", "0.3"], ["--curves"], ["--coverage", "0.9"]):
        status, _, err = shell("score", model, data, *given)
        said = given[0][2:] in err and "is not for files of sentences; leave it out" in err
        assert (status, said) == (2, True)
    several = ["--append", "--output-format", "csv"], ["--positive-class", "A"], ["--threads", 2]
    for given in (["--scores"], ["--probabilities"], *several):
        status, _, err = shell("predict", model, data, *given)
        assert (status, given[0][2:].replace("-", "_") in err.replace("-", "_")) == (2, True)
