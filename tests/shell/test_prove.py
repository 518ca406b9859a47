"""Proofs from the shell."""

import re
from pathlib import Path

import pytest

from .conftest import run


def test_prove_and_verify_a_separable_file(capsys, numbers, tmp_path):
    proof = tmp_path / "proof.json"
    status, out, _ = run(capsys, "prove", numbers, "--label", "kind", "--certificate", proof)
    assert status == 0
    assert "Separable" in out
    assert "The margin is between" in out
    assert run(capsys, "prove", numbers, "--check", proof, "--label", "kind")[0] == 0
    status, out, _ = run(capsys, "prove", "xor", "--check", proof)
    assert status == 1
    assert "does not prove" in out


def test_prove_and_verify_an_inseparable_set(capsys, tmp_path):
    proof = tmp_path / "proof.json"
    status, out, _ = run(capsys, "prove", "xor", "--certificate", proof)
    assert status == 1
    assert "  row 1, class 0: 1/4" in out
    assert run(capsys, "prove", "xor", "--check", proof)[0] == 0


def test_prove_sets_one_class_against_the_others(capsys):
    assert run(capsys, "prove", "iris", "--positive-class", "setosa")[0] == 0
    assert run(capsys, "prove", "iris", "--positive-class", "virginica")[0] == 1
    status, _, err = run(capsys, "prove", "iris")
    assert status == 2
    assert "3 classes (setosa, versicolor, virginica)" in err
    status, _, err = run(capsys, "prove", "iris", "--positive-class", "rose")
    assert status == 2
    assert "no label rose" in err


PLAIN = "a,b\n1,2\n2,1\n"


@pytest.mark.parametrize(
    ("name", "text", "options", "sentence"),
    [
        ("none.csv", None, (), "There is no file "),
        ("x.csv", "", (), "x.csv is empty."),
        ("x.csv", "a,b\n1,2\n3\n", (), "x.csv, line 3, column 2: the row has 1 cell instead of 2."),
        ("x.csv", "a,b\nx,1\ny,2\n", (), "words as features. They are hashed, so two can share"),
        ("x.vw", "1 | w28\n-1 | w326\n", (), "They are hashed"),  # into one column
        ("x.csv", "a,b\n,1\n2,2\n", (), "missing numbers"),
        ("x.csv", PLAIN, ("--label", "colour"), "has no column 'colour'; there are: a, b."),
        ("x.csv", PLAIN, ("--check", "none.json"), "none.json"),
        ("x.csv", PLAIN, ("--check", "x.csv"), "is not JSON"),
        ("x.svm", "1 1:1 2000000000:1\n-1 1:-1\n", (), "2 classes are 4,000,000,000 weights"),
    ],
)
def test_what_cannot_be_proved_is_refused(
    capsys, monkeypatch, tmp_path, name, text, options, sentence
):
    monkeypatch.chdir(tmp_path)
    if text is not None:
        Path(name).write_text(text)
    status, out, err = run(capsys, "prove", name, *options)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert sentence in err


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
    assert run(capsys, "prove", path, "--check", proof)[0] == 0
    path.write_text("".join(text.splitlines(keepends=True)[:-1]))
    assert run(capsys, "prove", path)[0] == 0
    assert run(capsys, "prove", path, "--check", proof)[0] in (1, 2)


def test_a_bracket_holds_where_floats_lose_the_margin(capsys, tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a,b,label\n2,4.1,q\n-2,-3.9,q\n1,2.1,p\n")
    status, out, _ = run(capsys, "prove", path)
    assert status == 0
    upper = re.search(r"between 3.50475e-17, which is attained, and (\S+), which none", out)
    assert 3.50475e-17 <= float(upper[1]) < 1e-16
    assert "inf" not in out


def test_prove_writes_coq_and_plain_text(capsys, tmp_path):
    proof, plain = tmp_path / "proof.v", tmp_path / "plain"
    status, out, _ = run(capsys, "prove", "xor", "--coq", proof, "--plain", plain)
    assert status == 1
    assert "check it with: coqc" in out
    assert proof.read_text("utf-8").rstrip().endswith("no_hyperplane_separates_the_rows.")
    assert (plain / "rows.txt").read_text().splitlines()[1] == "1 0.0 1.0"
    assert (plain / "proof.txt").read_text() == "inseparable 1:0x1 2:0x1 3:0x1 4:0x1\n"


def test_a_file_of_sentences_is_refused_by_name(capsys, tmp_path):
    path = tmp_path / "s.conllu"
    path.write_text("1\tthe\t_\tDET\t_\t_\t_\t_\t_\t_\n\n")
    for command in (["prove"], ["plot", "-o", tmp_path / "s.png"]):
        status, _, err = run(capsys, *command, path)
        assert status == 2
        assert "holds sentences" in err


def test_one_class_is_noted(capsys, tmp_path):
    path = tmp_path / "one.csv"
    path.write_text("a,b,y\n1,2,x\n2,3,x\n")
    status, out, err = run(capsys, "prove", path)
    assert status == 0
    assert "Separable" in out
    assert err == f"Note: All rows of {path} have the label x, so there is nothing to separate.\n"


def test_a_run_is_a_proof(capsys, tmp_path):
    path = tmp_path / "run.v"
    given = "iris", "--positive-class", "setosa", "--run", "--coq", path
    status, out, _ = run(capsys, "prove", *given)
    assert status == 0
    assert "A run of 5 mistakes separates the rows" in out
    assert "Definition log : list N := [0; 50; 0; 50; 0]%N." in path.read_text("utf-8")
    status, out, _ = run(capsys, "prove", "xor", "--run")
    assert status == 1
    assert "A run of 400 mistakes does not separate" in out
