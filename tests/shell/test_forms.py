"""`train --form`: the pages' algorithms in the shell."""

import gzip

import pytest
from sklearn.datasets import load_iris

from rosenblatt.shell.forms import FORMS
from rosenblatt.theory.forms import FORMS as KNOWN

from .conftest import run


@pytest.fixture
def sepals(tmp_path):
    """Document 002's data: 99 rows of two columns."""
    X, y = load_iris(return_X_y=True)
    lines = [f"{a},{b},{label}\n" for (a, b), label in zip(X[:99, :2], y[:99], strict=True)]
    path = tmp_path / "sepals.csv"
    path.write_text("length,width,kind\n" + "".join(lines))
    return path


def test_every_form_can_be_named():
    assert set(FORMS) == set(KNOWN)


@pytest.mark.parametrize(
    ("form", "settings", "end"),
    [
        ("002-listing", [], "702 epochs; 0 rows wrong; w = (7.9, -10.07), b = -12.4"),
        ("002-listing", ["exact=true"], "686 epochs; 0 rows wrong; w = (783/100, -501/50)"),
        ("004", [], "1,562 updates in 721 epochs"),
        ("004", ["eta0=0.1"], "1,518 updates in 701 epochs"),
        ("004", ["ties=correct", "start=1,1,1", "eta0=0.1"], "in 702 epochs"),
        ("004", ["intercept_step=radius"], "epochs; 0 rows wrong"),
        ("003", [], "ed after"),
    ],
)
def test_forms_and_settings_run_to_the_digit(capsys, sepals, form, settings, end):
    words = [word for each in settings for word in ("--set", each)]
    status, out, _ = run(capsys, "train", sepals, "--form", form, *words)
    assert status == 0
    assert out.splitlines()[1] == f"{sepals}: 99 rows, 2 columns"
    assert end in out.splitlines()[-1]


def test_steps_print_every_update(capsys):
    _, out, _ = run(capsys, "train", "xor", "--form", "004", "--steps", "--epochs", 3)
    lines = out.splitlines()
    assert lines[1] == "xor: 4 rows, 2 columns"
    assert lines[2] == "epoch 1  row 1  y = -1  activation 0  →  w = (0, 0)  b = -1"
    assert len(lines) == 2 + 12 + 1
    _, out, _ = run(capsys, "train", "iris", "--form", "001", "--epochs", 4)
    runs = [line.partition(":")[0] for line in out.splitlines()[2:]]
    assert runs == ["setosa", "versicolor", "virginica"]


def test_labels_are_words_or_numbers(capsys, tmp_path):
    path = tmp_path / "words.csv"
    path.write_text("x,y\n1,no\n-2,yes\n")
    _, out, _ = run(capsys, "train", path, "--form", "003")
    assert out.splitlines()[-1].endswith("1 update in 2 epochs; 0 rows wrong; w = (-1), b = 0")


def test_products_of_columns_are_counted(capsys):
    _, out, _ = run(capsys, "train", "xor", "--form", "004", "--steps", "--set", "degree=2")
    lines = out.splitlines()
    assert lines[1] == "xor: 4 rows, 2 columns, 1 pair"
    assert lines[2] == "epoch 1  row 1  y = -1  activation 0  →  w = (0, 0, 0)  b = -1"
    assert len(lines) == 2 + 29 + 1


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("1\n-1\n", [1, -1]),
        ("y\n1\n-1\n1\n", [1, -1, 1]),
        ("\ufeffhow\ngood\nvery bad\n\ngood\n", [-1, 1, -1]),
        ('"good"\n"bad"\n"good"\n', [1, -1, 1]),
        ("9\n10\n9\n", [-1, 1, -1]),
    ],
)
@pytest.mark.parametrize("opened", [open, gzip.open])
def test_each_label_of_a_file_of_labels_is_a_row(capsys, tmp_path, text, labels, opened):
    path = tmp_path / ("labels.csv" if opened is open else "labels.csv.gz")
    with opened(path, "wt", encoding="utf-8") as file:
        file.write(text)
    _, out, err = run(capsys, "train", path, "--form", "004", "--epochs", 1, "--steps")
    assert f"{path} is taken as the labels ({len(labels)} rows)" in " ".join(err.split())
    made = [line.split() for line in out.splitlines() if line.startswith("epoch 1 ")]
    bias, expected = 0, []
    for row, label in enumerate(labels, 1):
        if label * bias <= 0:
            bias += label
            expected.append((str(row), f"{label:+}"))
    assert [(words[3], words[6]) for words in made] == expected


def test_a_sparse_file_is_learnt_as_it_is_written(capsys, tmp_path):
    path = tmp_path / "two.svm"
    path.write_text("1 1:2 3:1\n-1 2:3\n")
    _, out, _ = run(capsys, "train", path, "--form", "003", "--set", "exact=true")
    assert out.splitlines()[-1].endswith("0 rows wrong; w = (2, -3, 1), b = 0")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--balanced"], "leave --balanced out"),
        (["--json"], "leave --json out"),
        (["--set", "degree=4"], "41,664 triples, 635,376 larger products of 1,797 rows"),
        (["--set", "degree=3"], "2,016 pairs, 41,664 triples of 1,797 rows, but a form takes at"),
        (["--set", "degree=many"], "degree must be a whole number from 1 up"),
        (["--set", "margin=1"], "There is no parameter margin"),
        (["--set", "exact=perhaps"], "exact must be True or False"),
        (["--set", "start=1,2"], "start must be 65 numbers"),
        (
            ["--set", f"start={','.join(['1'] * 65)}", "--set", "fit_intercept=false"],
            "the last number of start must be 0",
        ),
    ],
)
def test_what_does_not_go_with_a_form_is_refused(capsys, words, said):
    status, _, err = run(capsys, "train", "digits", "--form", "004", *words)
    assert status == 2
    assert said in err
