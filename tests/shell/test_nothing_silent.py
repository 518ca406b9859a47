"""Options that have no effect are refused, rows that are left out are counted, and lines fit."""

import json
import re
import sys

import numpy as np
import pandas as pd
import pytest

from rosenblatt.shell.output import fold

from .conftest import run
from .test_numbers import houses


def table(rows=60):
    """Two columns of numbers, and a label that they tell."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(rows, 2)).round(2), columns=["a", "b"])
    return frame.assign(label=np.where(frame["a"] > 0, "yes", "no"))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = table()
    frame.to_csv("two.csv", index=False)
    frame.assign(label=frame["label"].where(frame.index % 10 > 0)).to_csv("gaps.csv", index=False)
    several = np.char.add(np.where(frame["a"] > 0, "u", "w"), np.where(frame["b"] > 0, ";v", ""))
    frame.assign(label=several).to_csv("sets.csv", index=False)
    frame.assign(label=np.where(frame["b"] > 1, "so", frame["label"])).to_csv(
        "three.csv", index=False
    )
    return tmp_path


def train(capsys, data, *options):
    """Train in one epoch; the name of the model."""
    given = ("train", data, "-q", "--epochs", 1, "-o", f"{data}.model")
    assert run(capsys, *given, *options)[0] == 0
    return given[-1]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--rule pa --metric auc", "metric is what tune and early_stopping choose by"),
        ("--target numbers --separator ;", "--separator is not for --target numbers"),
        ("--conformal --holdout 0", "holdout=0 holds no rows out, but calibrate needs some"),
        ("--set early_stopping=true --holdout 0", "but early_stopping needs some"),
        ("--conformal --probabilities", "--conformal and --probabilities exclude each other"),
        ("--conformal --separator ;", "calibrate is for rows of one label each"),
        ("--folds 61", "folds=61 is more than the 60 rows"),
    ],
)
def test_options_without_effect_are_refused_by_train(capsys, folder, options, said):
    status, _, err = run(capsys, "train", "two.csv", *options.split())
    assert (status, err.count("\n")) == (2, 1)
    assert said in err


def test_options_without_effect_are_refused_by_score_and_predict(capsys, folder):
    models = {"two.csv": train(capsys, "two.csv")}
    status, out, _ = run(capsys, "score", models["two.csv"], "two.csv", "--curves")
    assert (status, "score above" in out) == (0, True)
    status, _, err = run(capsys, "predict", models["two.csv"], "two.csv", "-o", "x.parquet")
    assert status == 2
    assert "x.parquet names another format" in err
    assert not (folder / "x.parquet").exists()


def test_rows_without_a_label_are_counted_by_every_command(capsys, folder):
    model, note = train(capsys, "two.csv"), "Note: gaps.csv: 6 rows without a label left out.\n"
    assert run(capsys, "score", model, "gaps.csv")[2] == note
    assert run(capsys, "score", model, model, "gaps.csv")[2] == note
    assert run(capsys, "train", "two.csv", "-q", "--test", "gaps.csv")[2] == note
    frame = pd.read_csv("gaps.csv")
    frame.loc[:, "label"] = table()["label"].where(frame.index > 0)
    frame.to_csv("one.csv", index=False)
    assert run(capsys, "train", "one.csv", "-q")[2] == "Note: 1 row without a label left out.\n"
    model = train(capsys, "three.csv")
    frame.assign(label=["so", "else"] * 30).to_csv("other.csv", index=False)
    err = run(capsys, "score", model, "other.csv")[2]
    assert "30 rows of other.csv with labels that the model does not know" in err


def test_notes_name_the_options_of_the_shell(capsys, folder):
    houses().to_csv("house.csv", index=False)
    given = ("train", "house.csv", "--label", "price", "--epochs", 1)
    assert "Use --target classes to learn classes." in run(capsys, *given, "-q")[2]
    events = map(json.loads, run(capsys, *given, "--json")[1].splitlines())
    (note,) = [event for event in events if event["event"] == "note"]
    assert note["code"] == "label-numbers"
    assert "Use numbers=False" in note["sentence"]
    err = run(capsys, "train", "house.csv")[2]
    assert "Use --label 'price' to learn numbers, or another column." in err


def test_lines_are_as_wide_as_the_terminal(capsys, folder, monkeypatch):
    houses().to_csv("house.csv", index=False)
    frame = table()
    frame.assign(label="A" * 300 + frame["label"]).to_csv("long.csv", index=False)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    for options in (
        ["house.csv", "--label", "price", "--tune", "--rule", "adaline", "--folds", 2],
        ["two.csv", "--set", "early_stopping=true", "--metric", "balanced"],
        ["two.csv", "--set", "progress_every=20", "--test", "two.csv"],
        ["house.csv"],
        ["long.csv"],
    ):
        _, out, err = run(capsys, "train", *options, "-o", "model")
        if options == ["long.csv"]:
            out += run(capsys, "inspect", "model")[1]
        plain = re.sub(r"\x1b\[[^a-zA-Z]*[a-zA-Z]", "", out + err)
        assert max(map(len, plain.splitlines())) <= 80
    option = "  15.57% ± 2.54%  rule=pa loss=squared_hinge solution=average C=0.1 bins=8 first=1"
    assert fold(option).splitlines()[1] == "  first=1"
