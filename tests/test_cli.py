"""The commands, as a user meets them: what they print and how they exit."""

import io
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import rosenblatt
from rosenblatt import __version__, cli, storage


def run(capsys, *arguments):
    """The exit status of a command, and what it printed to both streams."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["rosenblatt", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            cli.main()
    streams = capsys.readouterr()
    return stop.value.code, streams.out, streams.err


@pytest.fixture
def numbers(tmp_path):
    """A CSV file with two separable classes."""
    path = tmp_path / "numbers.csv"
    path.write_text("a,kind,b\n0,no,1\n1,no,0\n4,yes,4\n5,yes,3\n")
    return path


@pytest.mark.parametrize("name", list(cli.BuiltIn))
def test_train_shows_every_epoch_and_a_verdict(capsys, name):
    status, out, _ = run(capsys, "train", name, "--epochs", 3)
    lines = out.splitlines()
    assert status == 0
    assert lines[0].startswith(f"{name}: ")
    assert [line.split()[:2] for line in lines[1:4]] == [["epoch", str(k)] for k in (1, 2, 3)]
    assert "mistakes in 3 epochs" in lines[4]
    assert "\x1b" not in out


def test_train_says_when_the_classes_are_separated(capsys):
    status, out, _ = run(capsys, "train", "digits", "--quiet")
    assert status == 0
    assert "Separated after" in out
    assert "100.00% of the training rows" in out
    assert "epoch " not in out


def test_train_says_when_they_are_not(capsys):
    _, out, _ = run(capsys, "train", "xor", "--quiet")
    assert "Not separated after" in out
    assert "mistakes in 100 epochs" in out
    assert "100 epochs are over" in out


@pytest.mark.parametrize("solution", list(cli.Solution))
@pytest.mark.parametrize("order", ["once", "fixed"])
def test_train_takes_every_solution(capsys, solution, order):
    options = ("--solution", solution, "--order", order, "--seed", 1, "-q")
    status, out, _ = run(capsys, "train", "iris", *options)
    assert status == 0
    assert f"The {solution} weights classify" in out


def test_the_choices_are_those_of_the_estimator():
    from rosenblatt.training import ORDERS, SOLUTIONS

    assert list(cli.Solution) == list(SOLUTIONS)
    assert list(cli.Order) == list(ORDERS)


def test_options_that_do_not_go_together_are_refused_in_one_line(capsys):
    status, _, err = run(capsys, "train", "iris", "--order", "worst", "--solution", "vote")
    assert status == 2
    assert err.startswith("rosenblatt: solution='vote' weighs")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    "arguments", [["train", "moon"], ["train"], ["fly"], ["train", "iris", "--epochs", "0"]]
)
def test_wrong_words_end_with_status_two(capsys, arguments):
    assert run(capsys, *arguments)[0] == 2


def test_version(capsys):
    assert run(capsys, "--version")[:2] == (0, f"rosenblatt {__version__}\n")


def test_help_imports_nothing_heavy():
    script = (
        "import sys; sys.argv = ['rosenblatt', 'train', '--help']\n"
        "from rosenblatt.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print(sorted({'numba', 'numpy', 'pyarrow', 'scipy', 'sklearn'} & set(sys.modules)))"
    )
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "--solution" in out.stdout
    assert out.stdout.splitlines()[-1] == "[]"


def test_prove_and_verify_a_separable_file(capsys, numbers, tmp_path):
    proof = tmp_path / "proof.json"
    status, out, _ = run(capsys, "prove", numbers, "--label", "kind", "--certificate", proof)
    assert status == 0
    assert "Separable" in out
    assert "The margin is between" in out
    assert run(capsys, "verify", numbers, proof, "--label", "kind")[0] == 0
    status, out, _ = run(capsys, "verify", "xor", proof)
    assert status == 1
    assert "does not prove" in out


def test_prove_and_verify_an_inseparable_set(capsys, tmp_path):
    proof = tmp_path / "proof.json"
    status, out, _ = run(capsys, "prove", "xor", "--certificate", proof)
    assert status == 1
    assert "  row 1, class 0: 1/4" in out
    assert run(capsys, "verify", "xor", proof)[0] == 0


def test_prove_sets_one_class_against_the_others(capsys):
    assert run(capsys, "prove", "iris", "--positive", 0)[0] == 0
    assert run(capsys, "prove", "iris", "--positive", 1)[0] == 1
    status, _, err = run(capsys, "prove", "iris")
    assert status == 2
    assert "3 classes (0, 1, 2)" in err
    status, _, err = run(capsys, "prove", "iris", "--positive", "rose")
    assert status == 2
    assert "no label rose" in err


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (None, "There is no file "),
        ("", "bad.csv is empty."),
        ("a,b\n1,2\n3\n", "bad.csv, line 3, column 'a': the row has too few or too many cells."),
        ("a,b\nx,1\ny,2\n", "columns of words; a proof needs numbers, so encode them."),
    ],
)
def test_bad_files_get_one_sentence(capsys, tmp_path, text, sentence):
    path = tmp_path / "bad.csv"
    if text is not None:
        path.write_text(text)
    status, out, err = run(capsys, "prove", path)
    assert (status, out) == (2, "")
    assert sentence in err
    assert err.count("\n") == 1


def test_a_label_that_does_not_exist(capsys, numbers):
    status, _, err = run(capsys, "prove", numbers, "--label", "colour")
    assert status == 2
    assert "has no column 'colour'; there are: a, kind, b." in err


def test_prove_refuses_missing_numbers(capsys, tmp_path):
    path = tmp_path / "missing.csv"
    path.write_text("a,b\n,1\n2,2\n")
    status, out, err = run(capsys, "prove", path)
    assert (status, out) == (2, "")
    assert "missing numbers" in err


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("x.svm", "1 1:1\n1 2:1\n0\n0 1:1 2:1\n"),
        ("x.tsv", "a\tb\ty\n1\t0\tp\n0\t1\tp\n0\t0\tn\n1\t1\tn\n"),
    ],
)
def test_prove_and_verify_read_other_formats(capsys, tmp_path, name, text):
    path, proof = tmp_path / name, tmp_path / "proof.json"
    path.write_text(text)
    assert run(capsys, "prove", path, "--certificate", proof)[0] == 1
    assert run(capsys, "verify", path, proof)[0] == 0
    path.write_text("".join(text.splitlines(keepends=True)[:-1]))
    assert run(capsys, "prove", path)[0] == 0
    assert run(capsys, "verify", path, proof)[0] in (1, 2)


def test_prove_reads_vowpal_wabbit(capsys, tmp_path):
    path, proof = tmp_path / "x.vw", tmp_path / "proof.json"
    path.write_text("1 |a x\n1 |a y\n-1 |\n")
    assert run(capsys, "prove", path, "--certificate", proof)[0] == 0
    assert run(capsys, "verify", path, proof)[0] == 0


def test_a_damaged_certificate(capsys, tmp_path):
    proof = tmp_path / "proof.json"
    proof.write_text("{")
    status, _, err = run(capsys, "verify", "xor", proof)
    assert status == 2
    assert "is not JSON" in err


def test_a_missing_certificate(capsys, tmp_path):
    status, _, err = run(capsys, "verify", "xor", tmp_path / "none.json")
    assert status == 2
    assert "none.json" in err


# Models from files.


def flowers(kind):
    """Three flowers that are easy to tell apart, in a format."""
    random = np.random.default_rng(0)
    centres = {"setosa": (1, 1), "versicolor": (7, 1), "virginica": (1, 7)}
    if kind in ("csv", "tsv"):
        lines = ["petal,sepal,kind"]
        form = "{0:.2f},{1:.2f},{2}"
    else:
        lines = []
        form = {"svm": "{3} 1:{0:.2f} 2:{1:.2f}", "vw": "{3} |size petal:{0:.2f} sepal:{1:.2f}"}[
            kind
        ]
    for k in range(90):
        number = k % 3
        name = list(centres)[number]
        petal, sepal = centres[name] + random.uniform(-0.5, 0.5, size=2)
        lines.append(form.format(petal, sepal, name, number + 1))
    text = "".join(f"{line}\n" for line in lines)
    return text.replace(",", "\t") if kind == "tsv" else text


def reviews():
    """Reviews whose words tell what they say."""
    good, bad = ["lovely", "superb", "warm"], ["dull", "awful", "cold"]
    rows = [
        f'"a {(good if k % 2 else bad)[k % 3]} film, number {k % 7}",{"pos" if k % 2 else "neg"}'
        for k in range(60)
    ]
    return "".join(f"{row}\n" for row in ["review,verdict", *rows])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder to work in, with a file of every format."""
    monkeypatch.chdir(tmp_path)
    for kind in ("csv", "tsv", "svm", "vw"):
        (tmp_path / f"flowers.{kind}").write_text(flowers(kind))
    (tmp_path / "reviews.csv").write_text(reviews())
    return tmp_path


TEXT = ("--text", "review", "--label", "verdict")
TRAINED = [
    ("flowers.csv", ()),
    ("flowers.tsv", ()),
    ("flowers.svm", ()),
    ("flowers.vw", ()),
    ("reviews.csv", TEXT),
    ("reviews.csv", (*TEXT, "--ngrams", "2-3", "--characters", "--bits", "12")),
]


def trained(capsys, data="flowers.csv", *options):
    """Train on a file; the name of the model."""
    arguments = ("train", data, "-o", "m.safetensors", "--epochs", 200, "-q", *options)
    assert run(capsys, *arguments)[0] == 0
    return "m.safetensors"


def labels_of(name):
    """The labels of a file, as written."""
    lines = iter(Path(name).read_text().splitlines())
    if name.endswith(("svm", "vw")):
        return [line.split()[0] for line in lines]
    next(lines)
    return [line.replace("\t", ",").rpartition(",")[2] for line in lines]


@pytest.mark.parametrize(("data", "options"), TRAINED)
def test_train_on_a_file_keeps_and_tests_a_model(capsys, folder, data, options):
    arguments = ("train", data, *options, "-o", "m.safetensors", "--test", data, "--epochs", 200)
    status, out, err = run(capsys, *arguments)
    assert (status, err) == (0, "")
    lines = out.splitlines()
    rows = len(labels_of(data))
    epochs = [line.split()[:2] for line in lines if line.startswith("epoch")]
    assert epochs[0] == ["epoch", "1"]
    assert lines[-4].startswith(f"{data}: {rows} rows, ")
    assert lines[-4].endswith(" 2 classes" if options else " 3 classes")
    assert lines[-3].startswith("Separated after ")
    assert lines[-2] == "The model is in m.safetensors."
    assert lines[-1] == f"Test error 0.00%: 0 of {rows} rows."
    assert (folder / "m.safetensors").stat().st_size > 0


@pytest.mark.parametrize(("data", "options"), TRAINED)
def test_predict_and_score(capsys, folder, data, options):
    model = trained(capsys, data, *options)
    status, out, err = run(capsys, "predict", model, data)
    assert (status, err) == (0, "")
    assert out.splitlines() == labels_of(data)
    assert run(capsys, "predict", model, data, "-o", "out.txt")[:2] == (0, "")
    assert (folder / "out.txt").read_text() == out
    status, said, _ = run(capsys, "score", model, data)
    assert status == 0
    assert said == f"{data}: error 0.00%: 0 of {len(labels_of(data))} rows.\n"


@pytest.mark.parametrize(("data", "options"), TRAINED)
def test_predict_from_standard_input(capsys, folder, monkeypatch, data, options):
    model = trained(capsys, data, *options)

    class Pipe:
        buffer = io.BytesIO((folder / data).read_bytes())

    Pipe.buffer.seekable = lambda: False
    monkeypatch.setattr(sys, "stdin", Pipe)
    status, out, err = run(capsys, "predict", model, "-")
    assert (status, err) == (0, "")
    assert out.splitlines() == labels_of(data)


def test_scores_decide_the_labels(capsys, folder):
    model = trained(capsys)
    out = run(capsys, "predict", model, "flowers.csv", "--scores")[1]
    scores = np.array([[float(cell) for cell in line.split()] for line in out.splitlines()])
    assert scores.shape == (90, 3)
    names = np.array(["setosa", "versicolor", "virginica"])
    assert names[scores.argmax(axis=1)].tolist() == labels_of("flowers.csv")
    loaded = rosenblatt.load(model)
    X = np.loadtxt("flowers.csv", np.float32, delimiter=",", skiprows=1, usecols=(0, 1))
    np.testing.assert_allclose(scores, loaded.decision_function(X), rtol=1e-4, atol=1e-4)


def test_two_classes_have_one_score(capsys, folder):
    model = trained(capsys, "reviews.csv", *TEXT)
    out = run(capsys, "predict", model, "reviews.csv", "--scores")[1]
    signs = ["pos" if float(line) > 0 else "neg" for line in out.splitlines()]
    assert signs == labels_of("reviews.csv")


@pytest.mark.parametrize("solution", list(cli.Solution))
def test_what_predict_says_is_what_python_says(capsys, folder, solution):
    model = trained(capsys, "flowers.csv", "--solution", solution, "--epochs", 2, "--order", "each")
    out = run(capsys, "predict", model, "flowers.csv")[1]
    X = np.loadtxt("flowers.csv", np.float32, delimiter=",", skiprows=1, usecols=(0, 1))
    assert out.splitlines() == rosenblatt.load(model).predict(X).tolist()


def test_predict_needs_no_labels_and_score_does(capsys, folder):
    model = trained(capsys)
    (folder / "new.csv").write_text("sepal,petal\n1,1.4\n7.6,1\n")
    assert run(capsys, "predict", model, "new.csv")[1] == "setosa\nvirginica\n"
    status, out, err = run(capsys, "score", model, "new.csv")
    assert (status, out) == (2, "")
    assert "has no labels" in err


def test_score_counts_the_wrong_rows(capsys, folder):
    model = trained(capsys)
    (folder / "new.csv").write_text("petal,sepal,kind\n1.4,1,setosa\n1.4,1,rose\n")
    assert run(capsys, "score", model, "new.csv")[1] == "new.csv: error 50.00%: 1 of 2 rows.\n"


def test_a_test_file_may_have_another_format(capsys, folder):
    status, out, _ = run(capsys, "train", "flowers.csv", "--test", "flowers.tsv", "-q")
    assert status == 0
    assert "of 90 rows." in out


def test_classes_that_are_named_look_like_those_that_are_met(capsys, folder):
    model = trained(capsys, "flowers.svm", "--classes", "3,1,2,4")
    assert run(capsys, "predict", model, "flowers.svm")[1].splitlines() == labels_of("flowers.svm")
    model = trained(capsys, "flowers.csv", "--classes", "virginica,versicolor,setosa")
    assert run(capsys, "predict", model, "flowers.csv")[1].splitlines() == labels_of("flowers.csv")


def test_one_pass_over_standard_input(capsys, folder):
    command = [sys.executable, "-c", "from rosenblatt.cli import main; main()"]
    options = ["train", "-", "--format", "csv", "--epochs", "1", "-o", "m.safetensors"]
    done = subprocess.run([*command, *options], input=flowers("csv").encode(), capture_output=True)
    assert done.returncode == 0
    assert b"90 rows, 2 features, 3 classes" in done.stdout
    assert b"1 epoch is over" in done.stdout
    done = subprocess.run(
        [*command, "predict", "m.safetensors", "-"],
        input=flowers("csv").encode(),
        capture_output=True,
    )
    assert done.returncode == 0
    assert len(done.stdout.splitlines()) == 90


@pytest.mark.parametrize(
    ("data", "options", "names"),
    [
        ("flowers.csv", (), ["petal: ", "sepal: "]),
        ("flowers.vw", (), ["size^petal: ", "size^sepal: "]),
        ("flowers.svm", (), ["column 0: ", "column 1: "]),
        ("reviews.csv", TEXT, ["review=dull: ", "review=superb: "]),
        ("reviews.csv", (*TEXT, "--ngrams", "2"), ["review=awful film: "]),
    ],
)
def test_inspect_names_the_largest_weights(capsys, folder, data, options, names):
    model = trained(capsys, data, *options)
    status, out, _ = run(capsys, "inspect", model, "--top", 20)
    assert status == 0
    assert out.startswith(f"A perceptron for {2 if options else 3} classes (")
    assert "solution average" in out
    assert "stopped: separated" in out
    assert all(f"  {name}" in out for name in names)
    assert "  bias: " in out
    few = run(capsys, "inspect", model, "--top", 1)[1]
    assert len([line for line in few.splitlines() if line.startswith("  ")]) == 2


@pytest.mark.parametrize(
    ("options", "sentences"),
    [
        (
            [],
            [
                "one for each class (setosa, versicolor, …), and the largest wins",
                " epochs; mistakes in the first",
            ],
        ),
        (["--holdout", 0.2], ["Held-out error "]),
        (["--solution", "vote"], ["the share of votes"]),
        (["--class-weight", "balanced", "--margin", 2], ["class weights {'setosa'", "margin 2.0"]),
    ],
)
def test_inspect_tells_how_it_was_trained_and_what_scores_mean(capsys, folder, options, sentences):
    out = run(capsys, "inspect", trained(capsys, "flowers.csv", *options))[1]
    for sentence in sentences:
        assert sentence in out


def test_inspect_shows_every_problem_of_one_against_the_rest(capsys, folder):
    X, y = np.eye(3), ["a", "b", "c"]
    rosenblatt.Perceptron(multi_class="ovr").fit(X, y).save("ovr")
    out = run(capsys, "inspect", "ovr")[1]
    assert len(re.search(r"^  bias: (.*)$", out, re.MULTILINE)[1].split()) == 3


def test_inspect_leaves_out_weights_of_zero(capsys, folder):
    model = trained(capsys, "flowers.vw")
    assert ": +0 +0 +0\n" not in run(capsys, "inspect", model)[1]


@pytest.mark.parametrize("order", list(cli.Order))
def test_the_rows_of_a_file_are_counted_once(capsys, folder, order):
    status, out, _ = run(
        capsys, "train", "flowers.csv", "-q", "--solution", "last", "--order", order
    )
    assert status == 0
    assert out.startswith("flowers.csv: 90 rows, 2 features, 3 classes\n")


# Bad input: one line, status 2, and no model.


@pytest.mark.parametrize(
    ("name", "text", "options", "sentence"),
    [
        ("none.csv", None, (), "There is no file none.csv."),
        ("moon", None, (), "There is no file moon."),
        (".", None, (), "only Parquet and Arrow can be several."),
        ("empty.csv", "", (), "empty.csv is empty."),
        ("empty.svm", "", (), "empty.svm is empty."),
        ("x.csv", "a,y\n1,p\n2,n\n3\n", (), "x.csv, line 4, column "),
        ("x.svm", "1 1:2\n0 1:1\n1 1;2\n", (), "x.svm, line 3, column "),
        ("x.vw", "1 |a b\n0 |a b:x\n", (), "x.vw, line 2, column "),
        ("x.csv", "a,y\n1,p\n2,n\n", ("--label", "z"), "x.csv has no column 'z'; there are: a, y."),
        ("x.csv", "a,y\n1,p\n2,n\n", ("--label", "7"), "x.csv has no column 7; there are: a, y."),
        ("x.csv", "a,y\n1,p\n2,n\n", ("--text", "z"), "x.csv has no column 'z'"),
        (
            "x.csv",
            "a,y\n1,p\n2,n\n",
            ("--format", "xls"),
            "The format 'xls' is unknown; there are: ",
        ),
        (
            "x.dat",
            "a,y\n1,p\n2,n\n",
            (),
            "The name of x.dat does not tell its format; state format: svmlight, vw",
        ),
        ("x.csv", "a,y\n1,p\n2,p\n", (), "Only the label p was met; a model needs two"),
        ("x.svm", "1 1:1\n2 1:2\n", ("--classes", "1"), "label"),
        ("x.svm", "1 1:1\n2 1:2\n", ("--classes", "a,b"), "--classes"),
        ("x.svm", "1 1:1\n2 1:2\n", ("--pairs",), "svmlight has numbered columns only"),
        ("x.vw", "1 |a b\n2 |a c\n", ("--bits", "99"), "bits=99 must be 1 to 31."),
        ("x.vw", "1 |a b\n2 |a c\n", ("--cross", "a"), "cross='a' must be two names"),
        ("x.vw", "1 |a b\n2 |a c\n", ("--ngrams", "two"), "--ngrams two must be a number or two"),
        ("x.vw", "1 |a b\n2 |a c\n", ("--ngrams", "1-x"), "--ngrams 1-x must be a number or two"),
        ("x.vw", "1 |a b\n2 |a c\n", ("--ngrams", "²"), "--ngrams ² must be a number or two"),
        ("x.vw", "1 |a b\n2 |a c\n", ("--ngrams", "3-2"), "ngrams=(3, 2) must be 1 or more"),
        ("x.vw", "1 |a b\n2 |a c\n", ("--ngrams", "0"), "ngrams=(0, 0) must be 1 or more"),
        ("x.vw", "1 |a b\n2 |a c\n", ("--test", "none.vw"), "There is no file none.vw."),
    ],
)
def test_bad_input_makes_no_model(capsys, folder, name, text, options, sentence):
    if text is not None:
        (folder / name).write_text(text)
    status, _, err = run(capsys, "train", name, "-o", "m.safetensors", "-q", *options)
    assert status == 2
    assert err.startswith("rosenblatt: ")
    assert sentence in err
    assert err.count("\n") == 1
    assert not (folder / "m.safetensors").exists()
    assert not list(folder.glob(".*.part"))


def test_a_bad_file_leaves_the_old_model_alone(capsys, folder):
    model = folder / trained(capsys)
    before = model.read_bytes()
    (folder / "x.csv").write_text("petal,sepal,kind\n1,2,a\n3\n")
    assert run(capsys, "train", "x.csv", "-o", model)[0] == 2
    assert model.read_bytes() == before


def test_a_model_cannot_go_to_a_folder_that_is_not_there(capsys, folder):
    status, _, err = run(capsys, "train", "flowers.csv", "-o", "no/m.safetensors", "-q")
    assert status == 2
    assert err.count("\n") == 1
    assert ".part" not in err


def test_skip_bad_leaves_broken_rows_out(capsys, folder):
    lines = flowers("csv").splitlines(keepends=True)
    (folder / "x.csv").write_text("".join([*lines[:5], "1,2\n", *lines[5:], "1,2\n"]))
    status, out, err = run(capsys, "train", "x.csv", "-q", "--skip-bad", 2)
    assert status == 0
    assert "x.csv: 90 rows" in out
    assert err == "Note: 2 broken rows left out.\n"
    status, _, err = run(capsys, "train", "x.csv", "-q", "--skip-bad", 1)
    assert status == 2
    assert "line 93" in err


@pytest.mark.parametrize("command", [("predict", "x"), ("score", "x"), ("inspect",)])
@pytest.mark.parametrize("text", [None, "", "not a model", "1 1:2\n"])
def test_a_model_that_is_none(capsys, folder, command, text):
    if text is not None:
        (folder / "x").write_text(text)
    name, *rest = command
    status, out, err = run(capsys, name, "x", *(["flowers.csv"] * len(rest)))
    assert (status, out) == (2, "")
    assert err.startswith("rosenblatt: ")
    assert err.count("\n") == 1


@pytest.mark.parametrize("command", ["predict", "score"])
def test_a_model_of_a_built_in_set_has_no_file_to_read_alike(capsys, folder, command):
    assert run(capsys, "train", "iris", "-q", "-o", "iris.safetensors")[0] == 0
    status, out, err = run(capsys, command, "iris.safetensors", "flowers.csv")
    assert (status, out) == (2, "")
    assert err.count("\n") == 1
    assert "was not trained from a file; use rosenblatt.load in Python." in err
    assert run(capsys, "inspect", "iris.safetensors")[0] == 0


@pytest.mark.parametrize("command", ["predict", "score"])
@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ("none.csv", "There is no file none.csv."),
        ("flowers.svm", "holds svmlight rows, not table rows as before"),
        ("reviews.csv", "has no column 'petal'"),
    ],
)
def test_a_file_that_does_not_suit_the_model(capsys, folder, command, data, sentence):
    model = trained(capsys)
    status, out, err = run(capsys, command, model, data)
    assert (status, out) == (2, "")
    assert sentence in err
    assert err.count("\n") == 1


def test_nothing_is_coloured_when_piped(capsys, folder):
    command = [sys.executable, "-c", "from rosenblatt.cli import main; main()"]
    environment = {**os.environ, "COLUMNS": "100", "TERM": "xterm-256color"}
    for variable in ("FORCE_COLOR", "PY_COLORS", "GITHUB_ACTIONS"):
        environment.pop(variable, None)
    for arguments in (
        ["train", "--help"],
        ["train", "flowers.csv", "-o", "m.safetensors", "--test", "flowers.csv"],
        ["inspect", "m.safetensors"],
        ["train", "none.csv"],
        ["train", "flowers.csv", "--epochs", "x"],
    ):
        done = subprocess.run([*command, *arguments], capture_output=True, env=environment)
        assert done.stdout + done.stderr
        assert b"\x1b" not in done.stdout + done.stderr
        assert b"Traceback" not in done.stderr


def test_help_fits_on_a_page(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    status, out, _ = run(capsys, "train", "--help")
    assert status == 0
    assert len(out.splitlines()) <= 56
    assert max(map(len, out.splitlines())) <= 80
    for default in ("(average)", "(each;", "(10;", "(18;"):
        assert default in out


# Long runs.


def lines_of(text):
    return [json.loads(line) for line in text.splitlines()]


def test_json_is_one_object_per_line(capsys, folder):
    (folder / "new.csv").write_text(flowers("csv"))
    options = ["--json", "--test", "new.csv", "--holdout", 0.2, "-o", "model"]
    status, out, err = run(capsys, "train", "flowers.csv", *options)
    assert (status, err) == (0, "")
    *told, done = lines_of(out)
    epochs = [said for said in told if said["event"] == "epoch"]
    assert {said["event"] for said in told} <= {"epoch", "progress"}  # of a slow machine
    assert [epoch["epoch"] for epoch in epochs] == list(range(1, len(epochs) + 1))
    assert done["event"] == "done"
    assert done["rows"] == done["test"]["rows"] == 90
    assert 0 < done["held_out"]["rows"] < 40
    assert done["classes"] == ["setosa", "versicolor", "virginica"]
    assert done["mistakes"] == sum(epoch["mistakes"] for epoch in epochs)


def test_held_out_rows_are_told(capsys, folder):
    status, out, _ = run(capsys, "train", "flowers.csv", "--holdout", 0.2)
    assert status == 0
    assert re.search(r"^Held-out error \d+\.\d\d%: \d+ of \d+ rows\.$", out, re.MULTILINE)


def test_early_stopping_tells_the_held_out_error_of_every_epoch(capsys, folder):
    status, out, _ = run(capsys, "train", "flowers.csv", "--early-stopping", "--epochs", 50)
    assert status == 0
    assert re.search(r"^epoch    1 .* of the held-out rows wrong$", out, re.MULTILINE)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--holdout", 1], "--holdout 1.0 must be 0 or more and below 1."),
        (["--holdout", "nan"], "--holdout nan must be 0 or more and below 1."),
        (["--checkpoint", 1], "--checkpoint and --resume need a model file: name it with -o."),
        (["--resume"], "--checkpoint and --resume need a model file: name it with -o."),
        (["--checkpoint", -1, "-o", "m"], "--checkpoint -1.0 must be 0 or more and below inf."),
        (["--seed", -1], "--seed -1 must be 0 or more and below 4294967296."),
        (["--window", 3, "--order", "fixed"], "--window shuffles, which --order fixed does not"),
    ],
)
def test_bad_numbers_get_one_sentence(capsys, folder, options, sentence):
    status, out, err = run(capsys, "train", "flowers.csv", *options)
    assert (status, out) == (2, "")
    assert err.startswith(f"rosenblatt: {sentence}")
    assert err.count("\n") == 1


def test_files_options_do_not_apply_to_built_in_sets(capsys):
    status, _, err = run(capsys, "train", "iris", "--cache")
    assert (status, err) == (
        2,
        "rosenblatt: iris is a built-in set; options for files do not apply to it.\n",
    )


def test_built_in_sets_take_early_stopping_and_balanced_classes(capsys):
    options = ["--early-stopping", "--class-weight", "balanced", "--seed", 1]
    assert run(capsys, "train", "wine", *options)[0] == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
def test_a_full_disk_behind_standard_output_is_said_in_a_sentence(folder):
    command = [sys.executable, "-m", "rosenblatt", "train", "flowers.csv"]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.endswith("rosenblatt: No space left on device.\n")


@pytest.mark.parametrize("kind", ["Perceptron", "KernelPerceptron"])
def test_only_what_was_trained_from_a_file_is_resumed(capsys, folder, kind):
    getattr(rosenblatt, kind)().fit([[2.0], [-1.0]], [1, 0]).save("model")
    before = Path("model").read_bytes()
    status, out, err = run(capsys, "train", "flowers.csv", "-o", "model", "--resume")
    sentence = "rosenblatt: model was not trained from a file; there is nothing to resume.\n"
    assert (status, out, err) == (2, "", sentence)
    assert Path("model").read_bytes() == before


def test_a_kernel_model_is_drawn_but_not_exported(capsys, folder):
    Path("two.csv").write_text("a,b,y\n0,0,0\n0,1,1\n1,0,1\n1,1,0\n")
    model = rosenblatt.KernelPerceptron(random_state=0)
    model.fit([[0.0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]).save("model.safetensors")
    status, _, err = run(capsys, "export", "model.safetensors", "model.onnx")
    assert (status, err.count("is a KernelPerceptron")) == (2, 1)
    status, out, _ = run(capsys, "plot", "model.safetensors", "two.csv", "-o", "two.png")
    assert (status, out) == (0, "The figure is in two.png.\n")


def test_resume_with_nothing_to_resume_begins_anew(capsys, folder):
    options = ["-q", "-o", "model", "--resume"]
    status, _, err = run(capsys, "train", "flowers.csv", *options)
    assert (status, err) == (0, "Note: There is no model to resume; the run begins anew.\n")
    before = (folder / "model").read_bytes()
    status, out, err = run(capsys, "train", "flowers.csv", *options, "--test", "flowers.csv")
    assert (status, err) == (0, "Note: The run is complete.\n")
    assert "Test error" in out
    assert (folder / "model").read_bytes() == before
    status, _, err = run(capsys, "train", "flowers.csv", *options, "--margin", 2)
    assert status == 2
    assert "The run began with margin = 0.0, not 2.0" in err


SLOW_READER = """
import signal, sys, time
from rosenblatt import cli, progress

class Slow(progress.Quiet):
    batches = 0
    def batch(self, tally):
        Slow.batches += 1
        if Slow.batches == 5:
            print("now", flush=True)
            time.sleep(60)

progress.Quiet = Slow
cli.main()
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_run_that_is_killed_is_resumed_to_the_same_model(capsys, folder, number):
    data = folder / "long.svm"
    random = np.random.default_rng(0)
    rows = random.integers(1, 9, (200_000, 3)).cumsum(axis=1)
    labels = random.integers(2, size=len(rows))
    data.write_text(
        "".join(f"{y} {a}:1 {b}:2 {c}:1\n" for y, (a, b, c) in zip(labels, rows, strict=True)) * 8
    )
    options = ["train", "long.svm", "--epochs", "1", "-q", "--checkpoint", "0", "-o"]
    assert run(capsys, *options, "whole")[0] == 0
    command = [sys.executable, "-c", SLOW_READER, *options, "left"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "now\n"
        process.send_signal(number)
        status = process.wait()
    assert status in (128 + number, -number)
    begun = storage.load("left")
    assert begun.facts["stop_reason"] == "unfinished"
    assert begun.bookmark.parts == 4
    assert not list(folder.glob(".*.part"))
    assert run(capsys, *options, "left", "--resume")[0] == 0
    assert Path("left").read_bytes() == Path("whole").read_bytes()


@pytest.mark.parametrize("data", ["flowers.csv", "iris"])
def test_train_draws(capsys, folder, data):
    status, out, _ = run(capsys, "train", data, "-q", "--plot", "figure.png")
    assert status == 0
    assert out.endswith("The figure is in figure.png.\n")
    assert (folder / "figure.png").read_bytes().startswith(b"\x89PNG")


def test_a_figure_that_cannot_be_drawn_is_refused_before_training(capsys, folder):
    status, out, err = run(capsys, "train", "flowers.csv", "--plot", "figure.exe", "-o", "model")
    assert (status, out) == (2, "")
    assert err.startswith("rosenblatt: figure.exe should end in .png")
    assert not (folder / "model").exists()


def test_a_column_of_words_that_look_like_numbers(capsys, folder):
    (folder / "x.csv").write_text("zip,y\n" + "".join(f"{k % 2},{k % 2}\n" for k in range(99)))
    assert (
        run(capsys, "train", "x.csv", "--category", "zip", "-q", "-o", "m", "--label", "y")[0] == 0
    )
    assert "zip=1" in run(capsys, "inspect", "m")[1]
