"""Proofs are checked, not believed, and come back from their files."""

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from rosenblatt import (
    Inseparable,
    Separable,
    Undecided,
    load_certificate,
    save_certificate,
    separability,
)

from ..conftest import blobs
from .conftest import CASES, HALF, ODD, XOR, flipped, separated


@pytest.fixture
def clash():
    """Rows of two classes that cannot be separated, and the proof."""
    X, y = blobs(40, 3)
    verdict = separability(X, y)
    assert isinstance(verdict, Inseparable)
    return X, y, verdict


def test_a_wrong_certificate_is_rejected(clash):
    X, y, right = clash
    n, support, weights = len(X), right.support, right.weights
    outside = next(i for i in range(n) if i not in support)
    tiny = Fraction(1e-300)
    changed = (weights[0] + tiny, weights[1] - tiny, *weights[2:])
    for wrong in (
        replace(right, weights=changed),
        replace(right, weights=(weights[0] + tiny, *weights[1:])),
        replace(right, weights=tuple(2 * w for w in weights)),
        replace(right, weights=tuple(-w for w in weights)),
        replace(right, weights=weights[::-1]),
        replace(right, weights=weights[:-1]),
        replace(right, weights=()),
        replace(right, support=(outside, *support[1:])),
        replace(right, support=(support[1], support[0], *support[2:])),
        replace(right, support=(-1, *support[1:])),
        replace(right, support=(n, *support[1:])),
        replace(right, support=(10**30, *support[1:])),
        replace(right, support=support[:-1]),
        replace(right, support=()),
        replace(right, support=(), weights=()),
        Inseparable(support + support, tuple(w / 2 for w in weights + weights)),
        Inseparable((*support, outside), (*weights, tiny)),
    ):
        assert not wrong.verify(X, y), wrong
    assert right.verify(X, y)
    assert not right.verify(X, 1 - (y == y[0]) * (np.arange(n) > n // 2))
    assert not right.verify(X + 0.1, y)
    assert not right.verify(X[:5], y[:5])


def test_a_certificate_must_balance_the_labels_and_be_exact():
    through_origin = separability([[1.0, 2.0], [-1.0, -2.0]], [1, 1], fit_intercept=False)
    assert not replace(through_origin, fit_intercept=True).verify([[1, 2], [-1, -2]], [1, 1])
    negative = Inseparable((0, 1, 2), (HALF, Fraction(1), -HALF))
    assert not negative.verify([[0.0], [0.0], [0.0]], [1, 0, 0])
    half_float = Inseparable((0, 1, 2), (0.25, 0.25, 0.5))
    assert not half_float.verify([[1.0], [1e-30], [0.5]], [1, 1, 0])


def test_a_proof_has_no_more_rows_than_it_needs():
    X, y = np.zeros((6, 1)), [0, 1, 0, 1, 0, 1]
    assert Inseparable((0, 1), (HALF, HALF)).verify(X, y)
    assert not Inseparable((0, 1, 2, 3), (Fraction(1, 4),) * 4).verify(X, y)


def test_a_wrong_hyperplane_is_rejected():
    X, y = separated(100, 3)
    right = separability(X, y)
    assert right.verify(X, y)
    w, b = right.weights, right.bias
    for wrong in (
        replace(right, weights=w[:-1]),
        replace(right, weights=(*w, 0.0)),
        replace(right, weights=(0.0,) * 3, bias=0.0),
        replace(right, weights=tuple(-v for v in w), bias=-b),
        replace(right, bias=b + 1e6),
        replace(right, bias=1e-300, fit_intercept=False),
    ):
        assert not wrong.verify(X, y), wrong
    assert not right.verify(X, -y)
    assert not right.verify(X, flipped(y))
    assert not right.verify(X[:, :2], y)


@pytest.mark.parametrize("rows", [[[0.0], [3.0]], [[0.1], [3.3]], [[0.0], [5e-324]]])
def test_the_margin_of_a_certificate_is_checked(rows):
    right = separability(rows, [0, 1])
    assert right.verify(rows, [0, 1])
    for margin in (np.nextafter(right.margin, np.inf), 99.0, np.nan, np.inf, -1.0):
        assert not replace(right, margin=margin).verify(rows, [0, 1])


def test_a_row_exactly_on_the_plane_is_on_no_side():
    X, y = [[1.0, 1.0], [3.0, 2.0], [0.0, 0.0]], [1, 1, 0]
    assert Separable((1.0, 0.0), -0.5, 0.5).verify(X, y)
    assert not Separable((1.0, 0.0), -1.0, 0.0).verify(X, y)
    third = Fraction(1, 3)
    assert not Separable((third, third), -2 * third, 0.0).verify(X, y)
    assert Separable((third, third), -2 * third + Fraction(1e-300), 0.0).verify(X, y)
    assert not Separable((third, third), -2 * third - Fraction(1e-300), 0.0).verify(X, y)
    assert Fraction(0.1) * 3 > Fraction(0.3)
    assert Separable((0.1,), -0.3, 0.0).verify([[3.0]], [1])
    assert not Separable((0.1,), -0.3, 0.0).verify([[3.0]], [-1])
    assert not Separable((0.1,), -(Fraction(0.1) * 3), 0.0).verify([[3.0]], [1])


def test_a_plane_of_fractions_is_not_rounded():
    near = Fraction(1, 3) - Fraction(float(1 / 3))
    assert near > 0
    X, y = [[3.0]], [1]
    assert not Separable((Fraction(1, 3),), -1.0, 0.0).verify(X, y)
    assert Separable((Fraction(1, 3) + Fraction(1, 10**400),), -1.0, 0.0).verify(X, y)
    assert Separable((Fraction(10**400),), 0.0, 0.0).verify(X, y)
    assert not Separable((Fraction(-(10**400)),), 0.0, 0.0).verify(X, y)


def test_nothing_undecided_verifies():
    assert not Undecided(0.0).verify(XOR, ODD)


# Certificates as files


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("case", CASES)
def test_a_saved_certificate_comes_back(case, fit_intercept, tmp_path):
    X, y, _ = CASES[case]
    verdict = separability(X, y, fit_intercept=fit_intercept)
    save_certificate(verdict, tmp_path / "proof.json")
    again = load_certificate(tmp_path / "proof.json")
    assert again == verdict
    assert again.verify(X, y)
    assert [path.name for path in tmp_path.iterdir()] == ["proof.json"]
    json.loads((tmp_path / "proof.json").read_text(), parse_constant=pytest.fail)


def test_fractions_of_any_length_come_back(tmp_path):
    long = Fraction(3**20_000, 2**40_000)
    for verdict in (Separable((long, 0.1), -long, 0.5), Inseparable((3, 7), (long, 1 - long))):
        save_certificate(verdict, str(tmp_path / "proof.json"))
        assert load_certificate(str(tmp_path / "proof.json")) == verdict


def test_a_certificate_of_extreme_rows_comes_back(tmp_path):
    X, y = blobs(60, 8)[0], np.random.default_rng(1).integers(0, 2, 60)
    X *= np.where(np.random.default_rng(0).random(60) < 0.5, 1e-150, 1e150)[:, None]
    verdict = separability(X, y, fit_intercept=False)
    assert isinstance(verdict, Inseparable)
    save_certificate(verdict, tmp_path / "proof.json")
    assert load_certificate(tmp_path / "proof.json").verify(X, y)


def test_only_proofs_are_saved(tmp_path):
    with pytest.raises(ValueError, match="proves nothing"):
        save_certificate(Undecided(0.0), tmp_path / "proof.json")
    assert not list(tmp_path.iterdir())


def altered(**fields):
    content = {"format": "rosenblatt certificate", "version": 1, "verdict": "inseparable"}
    content |= {"support": [0, 1], "weights": ["1/2", "1/2"], "fit_intercept": True}
    kept = {key: value for key, value in {**content, **fields}.items() if value is not None}
    return json.dumps(kept).encode()


PLANE = {"verdict": "separable", "support": None, "weights": [1.0], "bias": 0.0, "margin": 1.0}
HOSTILE = {
    "empty": b"",
    "not JSON": b"separable",
    "truncated": altered()[:-9],
    "binary": bytes(range(256)),
    "utf-16": altered().decode().encode("utf-16"),
    "deeply nested": b"[" * 100_000,
    "deeply nested fields": altered(support="@").replace(b'"@"', b"[" * 9999 + b"]" * 9999),
    "a number": b"1",
    "another file": b'{"a": 1}',
    "another format": altered(format="another"),
    "a newer version": altered(version=2),
    "no verdict": altered(verdict=None),
    "an unknown verdict": altered(verdict="maybe"),
    "no support": altered(support=None),
    "no weights": altered(weights=None),
    "no fit_intercept": altered(fit_intercept=None),
    "support of text": altered(support=["a", "b"]),
    "support of halves": altered(support=[0.5, 1]),
    "support a number": altered(support=3),
    "divided by zero": altered(weights=["1/0", "1/2"]),
    "weights of text": altered(weights=["one", "half"]),
    "weights of lists": altered(weights=[[1], [2]]),
    "weights a number": altered(weights=1),
    "infinite": altered(weights=[float("inf"), 1]),
    "a huge exponent": altered(weights=["1e999999", "1/2"]),
    "a plane without a bias": altered(**{**PLANE, "bias": None}),
    "a plane without a margin": altered(**{**PLANE, "margin": None}),
    "a plane that is not finite": altered(**{**PLANE, "weights": [float("inf")]}),
    "a plane that is no number": altered(**{**PLANE, "weights": [float("nan")]}),
    "a plane too large": altered(**{**PLANE, "weights": [10**400]}),
    "a plane divided by zero": altered(**{**PLANE, "bias": "1/0"}),
    "a plane with a huge exponent": altered(**{**PLANE, "bias": "1e999999"}),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_file_that_is_no_certificate_gets_one_sentence(case, tmp_path):
    path = tmp_path / "proof.json"
    path.write_bytes(HOSTILE[case])
    with pytest.raises(ValueError, match=r"proof\.json (is|was) ") as refusal:
        load_certificate(path)
    assert str(refusal.value).endswith(".")
    assert "\n" not in str(refusal.value)


def test_the_plain_file_is_a_certificate(tmp_path):
    path = tmp_path / "proof.json"
    path.write_bytes(altered())
    assert load_certificate(path) == Inseparable((0, 1), (HALF, HALF))
    path.write_bytes(altered(**PLANE))
    assert load_certificate(path) == Separable((1.0,), 0.0, 1.0)
    path.write_bytes(altered(**{**PLANE, "weights": ["1/3"]}))
    assert load_certificate(path) == Separable((Fraction(1, 3),), 0.0, 1.0)
