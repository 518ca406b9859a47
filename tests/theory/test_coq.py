"""Coq accepts what is proved and nothing else, and so does the checker extracted from it."""

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from rosenblatt import Separable, separability
from rosenblatt.theory import coq
from rosenblatt.theory.problem import check_problem

from .conftest import CASES, ODD, XOR, separated
from .evidence import compare

PROOFS = Path(__file__).parents[2] / "proofs"
THEORIES = ("Separability", "Convergence", "Logs", "OrderedFields")
MAIN = {  # what docs/proofs.md lists
    "separable_sound", "separable_through_origin_sound", "inseparable_sound",
    "inseparable_through_origin_sound", "scaling_harmless", "cauchy_schwarz", "novikoff",
    "novikoff_through_origin", "novikoff_unit_step", "novikoff_radius_step", "novikoff_demand",
    "averaged_progress", "averaged_length", "pass_extends_run", "clean_pass_separates",
    "clean_pass_separable", "run_sound", "separating_run_sound", "bound_sound",
    "inseparable_in_every_ordered_field",
}  # fmt: skip


def is_accepted(proof, X, y, folder):
    """Whether Coq accepts the file of a proof, without any assumption."""
    coq.write_coq(proof, X, y, folder / "proof.v")
    command = ["coqc", "-q", "proof.v"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    closed = done.stdout.count("Closed under the global context")
    text = (folder / "proof.v").read_text("utf-8")
    return done.returncode == 0 and closed == text.count("\nPrint Assumptions ")


def proof_of(X, y, fit_intercept=True):
    problem = check_problem(X, y, fit_intercept)
    return coq.to_proof(separability(X, y, fit_intercept=fit_intercept), problem)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The folder of the proofs, checked and compiled."""
    if shutil.which("coqc") is None:
        pytest.skip("Coq is not installed (Debian: apt-get install coq)")
    if shutil.which("ocamlfind") is None:
        pytest.skip("OCaml is not installed (Debian: apt-get install ocaml-findlib)")
    folder = tmp_path_factory.mktemp("coq") / "proofs"
    shutil.copytree(PROOFS, folder, ignore=shutil.ignore_patterns("*.vo*", "*.cm*", "*.o"))
    subprocess.run(["make", "--silent", "--directory", folder], check=True, timeout=500)
    return folder


@pytest.fixture
def checker(built, tmp_path):
    """Run rosenblatt-check on two texts: its exit status, output and errors."""

    def check(rows, proof):
        (tmp_path / "rows").write_text(rows)
        (tmp_path / "proof").write_text(proof)
        command = [built / "rosenblatt-check", "rows", "proof"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, done.stderr

    return check


# The theory


@pytest.mark.slow
def test_every_theorem_stands_on_no_assumption(built):
    texts = "".join((built / f"{name}.v").read_text("utf-8") for name in THEORIES)
    names = re.findall(r"^(?:Theorem|Lemma|Corollary) (\w+)", texts, re.MULTILINE)
    assert set(names) >= MAIN
    every = ", ".join(f"@{name}" for name in names)  # asked at once, which is much faster
    (built / "Assumptions.v").write_text(
        f"From Rosenblatt Require Import {' '.join(THEORIES)}.\n"
        f"Definition theorems := ({every}).\nPrint Assumptions theorems.\n"
    )
    command = ["coqc", "-Q", ".", "Rosenblatt", "Assumptions.v"]
    done = subprocess.run(command, cwd=built, capture_output=True, text=True, check=True)
    assert done.stdout == "Closed under the global context\n"


def test_the_page_states_the_theorems():
    page = (PROOFS.parent / "docs" / "proofs.md").read_text("utf-8")
    assert all(f"`{name}`" in page for name in MAIN)


def test_nothing_is_taken_for_granted():
    for name in (*THEORIES, "Extraction"):
        text = (PROOFS / f"{name}.v").read_text("utf-8")
        assert not re.search(r"\b(Admitted|admit|Axiom|Parameter|Conjecture|Extract)\b", text), name


# Files for Coq


FILES = {
    "xor": (XOR, ODD, None),
    "xor through the origin": (XOR, ODD, False),
    "separable through the origin": (*separated(10, 2), False),
    "the largest floats": (*CASES["the largest floats"][:2], True),
    "smallest floats around zero": (*CASES["smallest floats around zero"][:2], True),
    "no features": (np.zeros((2, 0)), [1, 0], True),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", FILES)
def test_coq_accepts_what_is_written(built, case, tmp_path):
    X, y, fit_intercept = FILES[case]
    assert is_accepted(proof_of(X, y, fit_intercept is not False), X, y, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fit_intercept", "max_iter", "flip"),
    [(True, 100, False), (False, 100, False), (True, 3, True)],
)
def test_coq_accepts_the_log_of_a_run(built, fit_intercept, max_iter, flip, tmp_path):
    X, y = separated(20, 2)
    y = np.where(np.arange(20) == 7, -y, y) if flip else y
    log = coq.log_run(X, y, fit_intercept=fit_intercept, max_iter=max_iter)
    assert log.separates is not flip
    assert is_accepted(log, X, y, tmp_path)


@pytest.mark.slow
def test_coq_refuses_what_is_not_proved(built, tmp_path):
    X, y = separated(20, 2)
    assert not is_accepted(coq.Clash(((0, 1), (1, 1))), X, y, tmp_path)
    assert not is_accepted(coq.Plane((1, 1), 0, None), XOR, ODD, tmp_path)
    log = coq.log_run(X, y)
    longer = log._replace(rows=(*log.rows, log.rows[-1]))
    assert not is_accepted(longer, X, y, tmp_path)


def test_what_is_too_large_for_coq_is_refused_in_a_sentence(tmp_path):
    X, y = separated(20_000, 3)
    with pytest.raises(ValueError, match=r"20,000 rows of 3 numbers are too many for a Coq file"):
        coq.write_coq(coq.Plane((1, 1, 1), 0, None), X, y, tmp_path / "proof.v")
    long = coq.RunLog((0,) * 10_000, False)
    with pytest.raises(ValueError, match=r"mistakes is too long for a Coq file"):
        coq.write_coq(long, *separated(20, 2), tmp_path / "run.v")
    assert not list(tmp_path.iterdir())


# Integers


def test_a_certificate_that_does_not_hold_is_not_written():
    with pytest.raises(ValueError, match="does not hold"):
        coq.to_proof(Separable((1.0, 1.0), 0.0, 1.0), check_problem(XOR, ODD))


def test_planes_have_few_bits_and_fractions_where_they_must():
    X, y = separated(50, 4)
    assert max(map(abs, proof_of(X, y).weights)) <= 2**16
    X, y = np.array([[1.0], [np.nextafter(1, 2)]]), [0, 1]
    proof = proof_of(X, y)
    assert max(abs(proof.weights[0]), abs(proof.bias)) > 2**50


def test_the_bound_is_that_of_the_theorem():
    X, y = np.array([[2.0, 1.0], [-1.0, 1.0]]), [1, -1]
    plane = coq.Plane((2, 0), -1, None)  # margins 3 and 3, R² = 5
    assert coq.bound_mistakes(plane, check_problem(X, y)) == (5 + 1) * (4 + 1) // 9
    plane = coq.Plane((2, 0), 0, None, False)  # margins 4 and 2
    assert coq.bound_mistakes(plane, check_problem(X, y)) == 5 * 4 // 4


def test_a_run_is_that_of_the_engine():
    from rosenblatt import steps

    X, y = separated(40, 3, gap=0.01)
    updates = list(steps(X, y, order="fixed", max_iter=1000))
    log = coq.log_run(X, y, max_iter=1000)
    assert log.rows == tuple(update.row for update in updates)
    assert log.separates
    assert coq.log_run(sparse.csr_matrix(X), y, max_iter=1000) == log


def test_a_run_that_was_rounded_is_refused():
    X, y = np.array([[1e17], [-1.0], [1e17], [-3e-17]]), [1, 0, 0, 1]
    with pytest.raises(ValueError, match=r"Update \d+, on row \d, is not a mistake in exact"):
        coq.log_run(X, y, max_iter=50)


# The extracted checker


@pytest.mark.slow
def test_the_checker_says_what_exact_arithmetic_says(built):
    found = compare(built / "rosenblatt-check", certificates=120, mutants=10)
    assert set(found) == {"Plane", "Clash", "RunLog"}
    assert sum(kind["certificates"] for kind in found.values()) == 120


@pytest.mark.slow
def test_the_checker_reads_what_is_written(checker, tmp_path):
    X, y = separated(30, 3)
    plane = proof_of(X, y)
    rows, proof = coq.write_plain(plane, X, y, tmp_path / "plain")
    rows, proof = rows.read_text(), proof.read_text()
    status, out, _ = checker(rows, proof)
    least = f"every run makes at most {plane.mistakes} mistakes"
    assert (status, out) == (0, f"1 proved: separable\n2 proved: {least}\n")
    lower = coq.format_plain(plane._replace(mistakes=plane.mistakes - 1)).splitlines()[1]
    assert checker(rows, lower + "\n")[0] == 1
    flipped, *others = rows.splitlines()
    flipped = flipped[1:] if flipped.startswith("-") else "-" + flipped
    assert checker("\n".join([flipped, *others]), proof)[0] == 1


@pytest.mark.slow
def test_the_checker_takes_many_rows(checker):
    rows = "".join(f"{1 if i % 2 else -1} {i if i % 2 else -i}\n" for i in range(1, 200_001))
    status, out, _ = checker(rows, "separable 0x0 0x1\nrun 0 0 200000\ninseparable 1:0x1\n")
    assert status == 1
    assert [line.partition(":")[0] for line in out.splitlines()] == [
        "1 proved",
        "2 proved",
        "3 not proved",
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rows", "proof", "sentence"),
    [
        ("0 1 2\n", "", "rows, line 1: expected a row that begins with 1 or -1"),
        ("1 1 2\n1 1\n", "", "rows, line 2: expected 2 numbers as above, got 1"),
        ("1 x\n", "", "rows, line 1: expected a number, got x"),
        ("1 nan\n", "", "rows, line 1: expected a finite number, got nan"),
        ("1 1e999\n", "", "rows, line 1: expected a finite number, got 1e999"),
        ("1 1\n", "perhaps 0x1\n", "proof, line 1: expected separable, inseparable, run or bound"),
        ("1 1\n", "separable 1 0x1\n", "proof, line 1: expected an integer such as -0x1f, got 1"),
        ("1 1\n", "separable 0x 0x1\n", "proof, line 1: expected an integer such as -0x1f, got 0x"),
        ("1 1\n", "separable 0xg 0x1\n", "proof, line 1: expected a hexadecimal digit, got g"),
        ("1 1\n", "inseparable 2:0x1\n", "proof, line 1: expected a row from 1 to 1, got 2"),
        ("1 1\n", "inseparable 0x1\n", "proof, line 1: expected ROW:MULTIPLIER, got 0x1"),
        ("1 1\n", "run 1 0 0\n", "proof, line 1: expected a row from 1 to 1, got 0"),
    ],
)
def test_the_checker_refuses_other_text_in_a_sentence(checker, rows, proof, sentence):
    assert checker(rows, proof) == (2, "", f"rosenblatt-check: {sentence}\n")
