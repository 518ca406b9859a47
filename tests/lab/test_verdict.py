"""What the page proves about points, against `separability` and the theory of the package."""

from fractions import Fraction

import numpy as np
import pytest

from rosenblatt import separability
from rosenblatt.theory.bounds import mistake_bounds
from rosenblatt.theory.certificates import Separable
from rosenblatt.theory.margins import max_margin

from ..conftest import ROUNDS
from .test_engine import draw_points, pytestmark, run_cases  # noqa: F401

MANY = 120 * ROUNDS


def draw_case(rng):
    """Points on a coarse grid, where hulls often touch, or anywhere."""
    X, y = draw_points(rng)
    if rng.random() < 0.3:
        X = rng.normal(size=X.shape).round(3)
    return X, np.where(y == 1, 1, -1)


def check_balance(found, rows, y):
    """Positive weights with which rows, each times its label, cancel out exactly."""
    weights = [Fraction(weight) for weight in found["weights"]]
    assert all(weight > 0 for weight in weights)
    for column in zip(*(rows[i] for i in found["support"]), strict=True):
        signed = (int(y[i]) for i in found["support"])
        terms = zip(weights, signed, column, strict=True)
        assert sum(weight * sign * Fraction(value) for weight, sign, value in terms) == 0


@pytest.mark.parametrize("bias", [True, False])
def test_the_verdict_in_the_plane_is_that_of_separability(bias, tmp_path):
    rng = np.random.default_rng(7)
    given = [draw_case(rng) for _ in range(MANY)]
    asked = {"kind": "verdict", "bias": bias, "step": int(bias)}
    cases = [{**asked, "points": {"X": X.tolist(), "y": y.tolist()}} for X, y in given]
    kinds = set()
    for (X, y), found in zip(given, run_cases(cases, tmp_path), strict=True):
        expected = separability(X, y, fit_intercept=bias)
        assert found["separable"] == isinstance(expected, Separable)
        kinds.add(found["separable"])
        if not found["separable"]:
            rows = np.column_stack([X, np.ones(len(y))]) if bias else X
            check_balance(found, rows.tolist(), y)
            assert found["theorem"] is None
            continue
        widest = max_margin(X, y, fit_intercept=bias)
        assert widest.attained <= found["gamma"] * (1 + 1e-9)
        assert found["gamma"] <= widest.upper * (1 + 1e-9)
        w, b = np.array(found["weights"], float), found["b"]
        margins = y * (X @ w + b) / np.linalg.norm(w)
        assert margins.min() == pytest.approx(found["gamma"], rel=1e-6)
        with_bias = np.column_stack([X, np.ones(len(y))]) if bias else X
        best = max_margin(with_bias, y, fit_intercept=False)
        assert found["theorem"]["margin"] == pytest.approx(best.attained, rel=2e-3)
        assert found["theorem"]["margin"] <= best.upper * (1 + 1e-9)
        novikoff = mistake_bounds(with_bias, y, best.weights).novikoff
        assert found["theorem"]["bound"] <= novikoff * (1 + 1e-9)
    assert kinds == {True, False}


def test_the_verdict_with_more_features_is_that_of_separability(tmp_path):
    rng = np.random.default_rng(8)
    given = [draw_case(rng) for _ in range(MANY // 4)]
    features = [("product", 2, 3)[int(rng.integers(3))] for _ in given]
    cases = [
        {"kind": "lifted", "points": {"X": X.tolist(), "y": y.tolist()}, "features": each}
        for (X, y), each in zip(given, features, strict=True)
    ]
    kinds = set()
    for (X, y), each, found in zip(given, features, run_cases(cases, tmp_path), strict=True):
        exact = [[Fraction(value) for value in row] for row in X.tolist()]
        if each == "product":
            rows = [[a, b, a * b, Fraction(1)] for a, b in exact]
        else:
            pairs = [(i, k - i) for k in range(each + 1) for i in range(k + 1)]
            rows = [[a**i * b**j for i, j in pairs] for a, b in exact]
        if np.abs(X - X.round()).max() == 0:  # these features are exact in floating point, too
            expected = separability(np.array(rows, float), y, fit_intercept=False)
            assert (found is None) == isinstance(expected, Separable)
        kinds.add(found is None)
        if found is not None:
            check_balance(found, rows, y)
    assert kinds == {True, False}


def test_the_bound_in_a_kernels_space_holds(tmp_path):
    rng = np.random.default_rng(9)
    cases = []
    for _ in range(200):
        X, y = draw_case(rng)
        settings = {"gamma": 0.5, "degree": 2, "solution": "last", "intercept_step": "1"}
        settings |= {"kernel": str(rng.choice(["rbf", "poly"])), "max_iter": 200}
        settings |= {"order": str(rng.choice(["each", "fixed"])), "random_state": 3}
        points = {"X": X.tolist(), "y": y.tolist()}
        cases.append({"kind": "kernelBound", "points": points, "settings": settings})
    bounded = 0
    for found in run_cases(cases, tmp_path):
        if found["theorem"] is None:
            continue
        bounded += 1
        assert found["mistakes"] <= found["theorem"]["bound"]
        assert found["separated"] or found["theorem"]["bound"] > 200
    assert bounded > 100


def draw_classes(rng):
    """Points of three classes, on a coarse grid or in three clouds."""
    n = int(rng.integers(4, 16))
    y = rng.permutation(np.arange(n) % 3)
    far = rng.integers(0, 6)
    X = rng.integers(-2, 3, (n, 2)) + far * np.array([[1, 0], [-1, 1], [-1, -1]])[y]
    return X.astype(float), y


def subtract_classes(X, y, bias):
    """Each row in the block of its class less that in another's: Kesler's construction."""
    found = []
    for x, own in zip(np.column_stack([X, np.ones(len(y))]) if bias else X, y, strict=True):
        for other in {0, 1, 2} - {own}:
            blocks = np.zeros((3, len(x)))
            blocks[own], blocks[other] = x, -x
            found.append(blocks.ravel())
    return np.array(found)


@pytest.mark.parametrize("form", ["bias", "origin"])
def test_the_verdict_of_three_classes_is_decided(form, tmp_path):
    rng = np.random.default_rng(11)
    given = [draw_classes(rng) for _ in range(MANY // 2)]
    cases = []
    for X, y in given:
        points = ";".join(f"{a},{b},{'+-*'[kind]}" for (a, b), kind in zip(X, y, strict=True))
        state = f"data=points&points={points}&form={form}&max_iter=3"
        cases.append({"kind": "runs", "address": state})
    verdicts = set()
    for (X, y), (found,) in zip(given, run_cases(cases, tmp_path), strict=True):
        bias = form == "bias"
        own = [separability(X, y == kind, fit_intercept=bias) for kind in range(3)]
        assert found["apart"] == [k for k in range(3) if isinstance(own[k], Separable)]
        rows = subtract_classes(X, y, bias)
        both = np.vstack([rows, -rows]), np.repeat([1, -1], len(rows))
        expected = isinstance(separability(*both, fit_intercept=False), Separable)
        assert found["separable"] == expected
        verdicts.add((found["separable"], bool(found["twins"])))
    assert {(True, False), (False, False), (False, True)} <= verdicts


@pytest.mark.parametrize(
    "state",
    [
        "points=0,0,+;0,0,-;1,1,*",
        "points=0,0,+;0,0,-;1,1,-&form=kernel&kernel=sigmoid",
        "points=0,0,+;0,0,-;1,1,-&form=kernel",
        "points=0,0,+;0,0,-;1,1,-&form=lifted",
    ],
)
def test_equal_points_of_two_classes_are_never_separated(state, tmp_path):
    ((found,),) = run_cases([{"kind": "runs", "address": f"data=points&{state}"}], tmp_path)
    assert (found["separable"], found["mood"]) == (False, "no")
    assert "It would never stop" in found["ending"]
    assert "allow more epochs" not in found["ending"]


def test_no_advice_is_given_where_nothing_is_proved(tmp_path):
    states = [
        "data=moons&form=kernel&kernel=sigmoid",
        "data=blobs&intercept_step=0&start=0,0,-1&max_iter=1",
        "data=moons&form=kernel&kernel=poly&degree=9&max_iter=1",
    ]
    for (found,) in run_cases([{"kind": "runs", "address": each} for each in states], tmp_path):
        assert found["separable"] is None
        assert "allow more epochs" not in found["ending"]
    ((found,),) = run_cases([{"kind": "runs", "address": "data=blobs&max_iter=1"}], tmp_path)
    assert "allow more epochs" in found["ending"]
