"""Margins, bounds and verdicts: against naive arithmetic, and never more than was proved."""

import json
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import linprog, minimize
from sklearn.preprocessing import normalize

from rosenblatt import (
    Inseparable,
    Perceptron,
    Separable,
    Undecided,
    load_certificate,
    margin,
    margins,
    max_margin,
    mistake_bounds,
    radius,
    report,
    save_certificate,
    separability,
    training_error,
)
from rosenblatt.kernels import exactness
from rosenblatt.kernels.linear import Examples
from rosenblatt.rows import rows_of

from .conftest import LAYOUTS, ORDERS, blobs, csr, examples

XOR = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
ODD = np.array([0, 1, 1, 0])
HALF = Fraction(1, 2)


def signs_of(y):
    return np.where(np.asarray(y) == max(y), 1.0, -1.0)


def separated(n=40, d=3, gap=0.1, bias=0.0, seed=0):
    """Rows at least a gap away from a random hyperplane, on its two sides in turn."""
    rng = np.random.default_rng(seed)
    w, signs = rng.normal(size=d), np.where(np.arange(n) % 2, 1.0, -1.0)
    w /= np.linalg.norm(w)
    X = rng.normal(size=(n, d))
    X += np.outer(signs * (gap + rng.random(n)) - X @ w - bias, w)
    return X, signs.astype(int)


def exactly(X, signs, w, b):
    """y(w·x + b) of every row in fractions."""
    products = (
        [Fraction(p) * Fraction(q) for p, q in zip(x, w.tolist(), strict=True)] for x in X.tolist()
    )
    return [int(s) * sum(terms, Fraction(b)) for s, terms in zip(signs, products, strict=True)]


def kind(X, y, **parameters):
    """The kind of a verdict, after checking it."""
    verdict = separability(X, y, **parameters)
    assert isinstance(verdict, Undecided) or verdict.verify(X, y)
    return type(verdict)


# Quantities


@given(examples(), arrays(float, 4, elements=st.integers(-3, 3)), st.integers(-3, 3))
def test_quantities_are_those_of_their_definitions(data, w, b):
    X, y = data
    w = w[: X.shape[1]]
    functional = [
        s * (sum(p * q for p, q in zip(w, x, strict=True)) + b)
        for s, x in zip(signs_of(y), X, strict=True)
    ]
    for rows in (X, csr(X), X.tolist()):
        assert radius(rows) == pytest.approx(max(np.sqrt(sum(v * v for v in x)) for x in X))
        assert margins(rows, y, w, b).tolist() == functional
        assert training_error(rows, y, w, b) == np.mean([value <= 0 for value in functional])
        if min(functional) <= 0:
            assert margin(rows, y, w, b) == -np.inf
        else:
            assert margin(rows, y, w, b) == pytest.approx(min(functional) / np.sqrt(sum(w * w)))


def test_the_margin_needs_every_row_strictly_on_its_side():
    X, y = [[2.0], [-1.0], [0.5]], [1, 0, 1]
    assert margin(X, y, [1.0]) == 0.5
    assert margin(X, y, [1.0], -0.5) == -np.inf
    assert margin(X, y, [0.0]) == -np.inf
    assert training_error(X, y, [1.0], -0.5) == 1 / 3


@pytest.mark.parametrize("size", [5e-324, 1e-310, 1e-200, 1.0, 1e200, 1e307])
def test_a_radius_neither_overflows_nor_vanishes(size):
    assert radius([[3 * size, 4 * size]]) == pytest.approx(5 * size, rel=1e-9, abs=0)


def test_the_larger_label_is_positive():
    X, w = [[1.0], [-1.0]], [1.0]
    for y in ([1, 0], [1, -1], [True, False], ["yes", "no"], [2.5, 0.5], [-1, -2]):
        assert margin(X, y, w) == 1
        assert margin(X, y[::-1], w) == -np.inf


@pytest.mark.parametrize(
    "ask",
    [
        lambda X, y: margins(X, y, [1.0]),
        lambda X, y: mistake_bounds(X, y, [1.0]),
        max_margin,
        separability,
    ],
)
def test_three_classes_are_refused(ask):
    with pytest.raises(ValueError, match="3 classes"):
        ask([[1.0], [2.0], [3.0]], [0, 1, 2])


# The largest margin


def hard_margin(X, y, fit_intercept):
    """The largest margin, by a general optimiser."""
    signs, n, d = signs_of(y), *X.shape
    Z = signs[:, None] * np.column_stack([X, np.ones(n)] if fit_intercept else [X])
    best = 0.0
    for start in (Z.mean(axis=0), max_margin(X, y, fit_intercept=fit_intercept).weights):
        found = minimize(
            lambda v: v[:d] @ v[:d] / 2,
            np.resize(start, Z.shape[1]),
            jac=lambda v: np.append(v[:d], np.zeros(len(v) - d)),
            constraints={"type": "ineq", "fun": lambda v: Z @ v - 1, "jac": lambda v: Z},
            options={"maxiter": 1000, "ftol": 1e-14},
        )
        if found.success:
            best = max(best, 1 / np.linalg.norm(found.x[:d]))
    return best


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("d", [1, 2, 5])
@pytest.mark.parametrize("tolerance", [1e-1, 1e-3, 1e-6])
def test_the_bracket_holds_the_largest_margin(fit_intercept, d, tolerance):
    for seed in range(5):
        X, y = separated(20, d, bias=0.3 if fit_intercept else 0.0, seed=seed)
        found = max_margin(X, y, tolerance=tolerance, fit_intercept=fit_intercept)
        truth = hard_margin(X, y, fit_intercept)
        assert found.attained <= truth * (1 + 1e-6)
        assert truth <= found.upper * (1 + 1e-6)
        assert found.attained >= (1 - tolerance) * found.upper * (1 - 1e-9)
        assert found.attained == margin(X, y, found.weights, found.bias)
        assert found.verify(X, y)


@given(st.lists(st.integers(1, 50), min_size=1), st.lists(st.integers(-50, 0), min_size=1))
def test_on_a_line_the_margin_is_half_the_gap(high, low):
    X = np.array([*high, *low], float)[:, None]
    y = np.repeat([1, 0], [len(high), len(low)])
    found = max_margin(X, y)
    assert found.attained == pytest.approx((min(high) - max(low)) / 2)
    assert found.upper == pytest.approx(found.attained)
    assert found.verify(X, y)


@pytest.mark.parametrize(
    ("X", "y", "fit_intercept", "truth"),
    [
        ([[0, 0], [0, 2], [4, 1]], [0, 0, 1], True, 2),
        ([[0, 0], [3, 4]], [0, 1], True, 2.5),
        ([[0, 0], [1, 1], [1, 0]], [0, 0, 1], True, np.sqrt(2) / 4),
        ([[3, 4]], [1], False, 5),
        ([[0, 2], [2, 0]], [1, 1], False, np.sqrt(2)),
        ([[1, 2], [1, -2], [-3, 0]], [1, 1, 0], False, 1),
        ([[1, 0, 0], [0, 1, 0], [0, 0, 1]], [1, 1, 1], False, 1 / np.sqrt(3)),
    ],
)
def test_margins_known_in_closed_form(X, y, fit_intercept, truth):
    found = max_margin(X, y, tolerance=1e-9, fit_intercept=fit_intercept)
    assert found.attained == pytest.approx(truth)
    assert found.upper == pytest.approx(truth)
    assert found.verify(X, y)


@pytest.mark.parametrize("size", [1e-250, 1e-150, 1e-5, 1.0, 1e5, 1e150, 1e250])
def test_the_margin_grows_with_the_rows(size):
    X, y = separated(30, 3, bias=0.5)
    for fit_intercept in (True, False):
        rows = X if fit_intercept else separated(30, 3)[0]
        one = max_margin(rows, y, tolerance=1e-6, fit_intercept=fit_intercept)
        found = max_margin(rows * size, y, tolerance=1e-6, fit_intercept=fit_intercept)
        assert found.attained == pytest.approx(one.attained * size, rel=1e-5)
        assert found.upper == pytest.approx(one.upper * size, rel=1e-5)
        assert found.verify(rows * size, y)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_sparse_rows_have_the_same_margin(fit_intercept):
    X, y = separated(50, 4)
    X[np.abs(X) < 0.2] = 0.0
    y = signs_of(X @ [1.0, -2.0, 0.5, 0.1] > 0.05)
    dense = max_margin(X, y, fit_intercept=fit_intercept)
    sparse = max_margin(csr(X), y, fit_intercept=fit_intercept)
    assert sparse.attained == pytest.approx(dense.attained, rel=2e-3)
    assert sparse.upper == pytest.approx(dense.upper, rel=2e-3)
    assert sparse.verify(X, y)
    assert dense.verify(csr(X), y)


def test_without_a_separator_no_margin_is_attained():
    found = max_margin(XOR, ODD)
    assert found.attained == -np.inf
    assert found.upper == pytest.approx(0, abs=1e-12)
    assert found.verify(XOR, ODD)


def test_a_wrong_bracket_is_rejected():
    X, y = separated(30, 3)
    found = max_margin(X, y)
    assert found.verify(X, y)
    for wrong in (
        replace(found, attained=found.upper * 1.1),
        replace(found, upper=found.upper * 0.9),
        replace(found, weights=-found.weights),
        replace(found, shares=found.shares * 0.5),
        replace(found, shares=-found.shares),
        replace(found, support=np.roll(found.support, 1)),
    ):
        assert not wrong.verify(X, y)


def test_what_the_largest_margin_refuses():
    with pytest.raises(ValueError, match="same label"):
        max_margin([[1.0], [2.0]], [1, 1])
    for tolerance in (0, 1, -0.1, np.nan):
        with pytest.raises(ValueError, match="tolerance"):
            max_margin(XOR, ODD, tolerance=tolerance)


# Mistake bounds

ROUNDING = 1 + 1e-9

separable_sets = st.builds(
    separated,
    n=st.integers(2, 30),
    d=st.integers(1, 6),
    gap=st.sampled_from([1e-2, 0.1, 1.0]),
    bias=st.sampled_from([0.0, 0.5, -2.0]),
    seed=st.integers(0, 10_000),
)
scales = st.sampled_from([1e-3, 0.1, 1.0, 30.0, 1e4])


@settings(max_examples=150)
@given(separable_sets, scales, st.sampled_from(ORDERS), st.floats(0.01, 100))
def test_mistakes_never_exceed_the_bound(data, scale, order, eta0):
    X, y = data[0] * scale, data[1]
    common = {"order": order, "eta0": eta0, "max_iter": 2000, "random_state": 0}
    plane = max_margin(X, y)
    bounds = mistake_bounds(X, y, plane.weights * 3, plane.bias * 3)
    model = Perceptron(**common).fit(X, y)
    assert model.n_mistakes_ <= bounds.unit_step * ROUNDING
    model = Perceptron(intercept_step="radius", **common).fit(X, y)
    assert model.n_mistakes_ <= bounds.radius_step * ROUNDING


@settings(max_examples=100)
@given(separable_sets, scales, st.sampled_from(ORDERS))
def test_mistakes_through_the_origin_never_exceed_the_bound(data, scale, order):
    X, y = data
    X = np.column_stack([X, np.ones(len(X))]) * scale
    common = {"order": order, "fit_intercept": False, "max_iter": 2000, "random_state": 0}
    for rows in (X, normalize(X)):
        plane = max_margin(rows, y, fit_intercept=False)
        bounds = mistake_bounds(rows, y, plane.weights)
        mistakes = Perceptron(**common).fit(rows, y).n_mistakes_
        assert mistakes <= bounds.novikoff * ROUNDING
        assert np.isfinite(bounds.unit_rows) == (radius(rows) <= ROUNDING)
        assert mistakes <= bounds.unit_rows * ROUNDING


@settings(max_examples=200)
@given(
    examples(),
    scales,
    st.sampled_from(["each", "once", "fixed"]),
    arrays(float, 4, elements=st.integers(-3, 3)),
    st.sampled_from([0.0, 0.25, -1.0, 3.0]),
    st.sampled_from([None, 0.01, 0.3, 2.0, 50.0]),
)
@example((np.array([[-1.0], [1.0]]), np.array([0, 1])), 1e-3, "fixed", np.ones(4), 0.0, None)
def test_one_pass_over_any_rows_is_bounded_by_the_hinge_losses(data, scale, order, w, b, gamma):
    X, y = data[0] * scale, data[1]
    w = w[: X.shape[1]]
    assume(w.any())
    bounds = mistake_bounds(X, y, w, b * scale, gamma=gamma)
    model = Perceptron(order=order, max_iter=1, random_state=0).fit(X, y)
    assert model.n_mistakes_ <= bounds.squared_hinge * ROUNDING
    assert model.n_mistakes_ <= bounds.hinge * ROUNDING


def test_bounds_known_in_closed_form():
    X, y = [[3.0, 0.0], [0.0, -2.0]], [1, 0]
    w = np.array([1.0, 1.0])
    for size in (1e-3, 1, 1e3):
        bounds = mistake_bounds(X, y, w * size)
        assert bounds.novikoff == pytest.approx(9 / 2)
        assert bounds.radius_step == pytest.approx(36 / 2)
        assert bounds.unit_step == pytest.approx(10 / 2)
        assert bounds.unit_rows == np.inf
    bounds = mistake_bounds(np.divide(X, 4), y, w)
    assert bounds.unit_rows == pytest.approx(16 / 2)
    bounds = mistake_bounds(X, y, w, 1.0)
    assert bounds.novikoff == bounds.unit_rows == np.inf
    assert bounds.unit_step == pytest.approx(10 * (1 + 1 / 2) / (1 / 2))
    bounds = mistake_bounds(XOR, ODD, w, -0.5, gamma=1.0)
    u = np.sqrt(1 + 1 / 8)
    reached = np.array([0.5, 0.5, 0.5, -1.5]) / np.sqrt(2) / u
    lost = np.maximum(0, 1 - reached)
    assert bounds[:4] == (np.inf,) * 4
    assert bounds.squared_hinge == pytest.approx((np.sqrt(3) + np.sqrt(sum(lost**2))) ** 2)
    L, a = sum(lost), np.sqrt(3)
    assert bounds.hinge == pytest.approx(L + a * a / 2 + a * np.sqrt(L + a * a / 4))


def test_the_bounds_shrink_to_the_separable_one():
    X, y = separated(30, 3, gap=0.5)
    plane = max_margin(X, y, tolerance=1e-6)
    bounds = mistake_bounds(X, y, plane.weights, plane.bias)
    assert bounds.squared_hinge <= bounds.unit_step * ROUNDING
    assert bounds.hinge <= bounds.unit_step * ROUNDING


def test_what_the_bounds_refuse():
    with pytest.raises(ValueError, match="all zero"):
        mistake_bounds(XOR, ODD, [0.0, 0.0], 1.0)
    for gamma in (0.0, -1.0, np.nan):
        with pytest.raises(ValueError, match="gamma"):
            mistake_bounds(XOR, ODD, [1.0, 0.0], gamma=gamma)


# The report of a run


@settings(max_examples=100)
@given(
    separable_sets,
    scales,
    st.sampled_from(ORDERS),
    st.sampled_from([{}, {"fit_intercept": False}, {"intercept_step": "radius"}, {"eta0": 0.3}]),
    st.sampled_from(["last", "average", "pocket"]),
)
def test_the_chain_holds(data, scale, order, parameters, solution):
    assume(order in ("each", "once", "fixed") or solution == "last")
    X, y = data[0] * scale, data[1]
    model = Perceptron(
        order=order, solution=solution, max_iter=500, random_state=0, **parameters
    ).fit(X, y)
    found = report(model, X, y)
    low, length, high = found.chain
    assert low <= length * ROUNDING
    assert length <= high * ROUNDING
    assert found.mistakes == model.n_mistakes_
    assert found.mistakes <= found.bound * ROUNDING
    assert found.upper <= length / max(found.mistakes, 1) * ROUNDING or not found.mistakes
    if parameters.get("fit_intercept", True):
        assert 0 < found.attained <= found.upper * ROUNDING
    assert 0 <= found.angle <= 180 or not found.mistakes
    sparse = report(model, csr(X), y)
    np.testing.assert_allclose(sparse.chain[1:], found.chain[1:])
    assert sparse.attained == pytest.approx(found.attained, rel=1e-2)


def test_a_run_bounds_the_margin_from_above():
    X, y = separated(60, 4, gap=0.3)
    for seed in range(10):
        model = Perceptron(fit_intercept=False, random_state=seed).fit(X, y)
        found = report(model, X, y, tolerance=0.5)
        w = model.coef_[0]
        truth = max_margin(X, y, tolerance=1e-9, fit_intercept=False).attained
        assert truth <= found.upper * ROUNDING <= np.linalg.norm(w) / model.n_mistakes_ * 1.0001


def test_the_report_in_words():
    X, y = [[2.0, 1.0], [-1.0, 1.0]], [1, -1]
    text = str(report(Perceptron(order="fixed").fit(X, y), X, y))
    assert "2 mistakes; R = 2.44949" in text
    assert "margin γ between 1.41421 and 1.41421" in text
    assert "at most (R/γ)² = 3 mistakes were possible" in text
    assert "γM = 2.82843 ≤ ‖w‖ = 3 ≤ R√M = 3.4641" in text
    text = str(report(Perceptron(max_iter=5).fit(XOR, ODD), XOR, ODD))
    assert "no hyperplane was found to separate" in text
    assert "≤ R√M" in text


@pytest.mark.parametrize(
    ("parameters", "arguments"),
    [
        ({"margin": 0.5}, {}),
        ({"early_stopping": True}, {}),
        ({"class_weight": "balanced"}, {}),
        ({"class_weight": {0: 1.0, 1: 2.0}}, {}),
        ({}, {"sample_weight": np.ones(60)}),
        ({}, {"coef_init": np.ones((1, 5))}),
        ({}, {"intercept_init": 0.5}),
    ],
)
def test_runs_that_the_theory_is_not_about_are_refused(parameters, arguments):
    X, y = blobs()
    model = Perceptron(random_state=0, **parameters).fit(X, y, **arguments)
    with pytest.raises(ValueError, match="two classes, from zero, without margin, weights or"):
        report(model, X, y)


def test_the_theory_is_not_about_several_classes_warm_starts_or_batches():
    X, y = blobs(classes=3)
    with pytest.raises(ValueError, match="classes"):
        report(Perceptron().fit(X, y), X, y)
    with pytest.raises(ValueError, match="classes"):
        report(Perceptron(multi_class="ovr").fit(X, y), X, y)
    X, y = blobs()
    model = Perceptron(warm_start=True).fit(X, y)
    assert report(model, X, y).mistakes == model.n_mistakes_
    with pytest.raises(ValueError, match="from zero"):
        report(model.fit(X, y), X, y)
    with pytest.raises(ValueError, match="from zero"):
        report(Perceptron().partial_fit(X, y, classes=[0, 1]), X, y)


# Separable or not


def line(n, step=0.1, d=2):
    """Points on a line, whose coordinates no float has exactly."""
    return np.outer(step * np.arange(n), np.linspace(1, 3, d)) + 0.7


def half_line(n):
    return np.arange(n) >= n // 2


CASES = {
    "xor": (XOR, ODD, Inseparable),
    "and": (XOR, [0, 0, 0, 1], Separable),
    "one class": (XOR, [1, 1, 1, 1], Separable),
    "one class of zeros": (XOR, [0, 0, 0, 0], Separable),
    "one row": ([[3.0, 4.0]], [1], Separable),
    "two rows": ([[3.0, 4.0], [3.0, 5.0]], [1, 0], Separable),
    "duplicated rows": (np.repeat(XOR, 3, axis=0), np.repeat([0, 0, 0, 1], 3), Separable),
    "duplicated xor": (np.repeat(XOR, 3, axis=0), np.repeat(ODD, 3), Inseparable),
    "twins": ([[1.0, 2.0], [3.0, 4.0], [1.0, 2.0]], [1, 1, 0], Inseparable),
    "twins, one with a negative zero": ([[0.0, 2.0], [-0.0, 2.0]], [1, 0], Inseparable),
    "line": (np.outer(np.arange(9), [1, 2]), half_line(9), Separable),
    "line, in turn": (np.outer(np.arange(9), [1, 2]), np.arange(9) % 2, Inseparable),
    "line of decimals": (line(30), half_line(30), Separable),
    "line of decimals, one swapped": (
        np.column_stack([0.1 * np.arange(30)] * 2),
        half_line(30) ^ (np.arange(30) == 20),
        Inseparable,
    ),
    "hulls that share a corner": ([[0, 0], [1, 1], [1, 1], [2, 0]], [0, 0, 1, 1], Inseparable),
    "a corner on an edge": ([[0, 0], [2, 0], [1, 0], [1, 5]], [0, 0, 1, 1], Inseparable),
    "edges that overlap": ([[0, 0], [2, 0], [1, 0], [3, 0]], [0, 0, 1, 1], Inseparable),
    "edges that almost touch": (
        [[0, 0], [2, 0], [1, 2.0**-40], [3, 2.0**-40]],
        [0, 0, 1, 1],
        Separable,
    ),
    "a corner on a face": (
        np.vstack([np.eye(3) * 3, np.ones((1, 3)), np.ones((1, 3)) * 2]),
        [0, 0, 0, 1, 1],
        Inseparable,
    ),
    "no features": (np.zeros((2, 0)), [1, 0], Inseparable),
    "no features, one class": (np.zeros((3, 0)), [1, 1, 1], Separable),
    "one feature": ([[1.0], [2.0], [3.0], [4.0]], [0, 0, 1, 1], Separable),
    "one feature, in turn": ([[1.0], [2.0], [3.0]], [0, 1, 0], Inseparable),
    "one constant feature": (np.ones((4, 1)), [0, 1, 0, 1], Inseparable),
    "zeros": (np.zeros((4, 3)), [0, 1, 0, 1], Inseparable),
    "neighbouring floats": ([[1.0], [np.nextafter(1, 2)]], [0, 1], Separable),
    "the smallest float": ([[0.0], [5e-324]], [0, 1], Separable),
    "smallest floats around zero": ([[5e-324], [-5e-324], [0.0]], [1, 1, 0], Inseparable),
    "the largest floats": ([[1.7e308, 0], [-1.7e308, 1]], [0, 1], Separable),
    "the largest floats, in turn": ([[1.7e308], [-1.7e308], [0.0]], [0, 0, 1], Inseparable),
    "far apart": ([[1e300, 1.0], [1e-300, 1.0], [0.0, 1.0]], [1, 1, 0], Separable),
    "wide": (np.random.default_rng(0).normal(size=(10, 500)), np.arange(10) % 2, Separable),
    "words": (XOR, ["no", "yes", "yes", "no"], Inseparable),
    "booleans": (XOR > 0, ODD > 0, Inseparable),
}
ORIGIN = {
    "xor": (XOR, ODD, Inseparable),
    "a zero row": ([[1.0, 2.0], [0.0, 0.0]], [1, 1], Inseparable),
    "only a zero row": ([[0.0]], [0], Inseparable),
    "one class": (XOR[1:], [1, 1, 1], Separable),
    "one class of zeros": (XOR[1:], [0, 0, 0], Separable),
    "one class around the origin": (XOR - 0.5, [1, 1, 1, 1], Inseparable),
    "opposite rows": ([[1.0, 2.0], [-1.0, -2.0]], [1, 1], Inseparable),
    "opposite rows, opposite labels": ([[1.0, 2.0], [-1.0, -2.0]], [1, 0], Separable),
    "shifted": ([[1.0], [2.0]], [0, 1], Inseparable),
    "a ray twice": ([[1.0, 2.0], [3.0, 6.0]], [0, 1], Inseparable),
    "a half plane": ([[1, 0], [0, 1], [-5, 1]], [1, 1, 1], Separable),
    "a closed half plane": ([[1, 0], [0, 1], [-1, 0]], [1, 1, 1], Inseparable),
    "no features": (np.zeros((1, 0)), [1], Inseparable),
    "one feature": ([[1.0], [-2.0], [3.0]], [1, 0, 1], Separable),
    "wide": (np.random.default_rng(0).normal(size=(10, 500)), np.arange(10) % 2, Separable),
    "sizes far apart": ([[1e-300, 1e300], [-1e-300, 1e300]], [1, 0], Separable),
}


def exact_margin(verdict, X, y):
    """The margin of a hyperplane, rounded only at the end."""
    least = min(exactly(*as_signs(X, y), exact_weights(verdict), verdict.bias))
    sizes = np.abs(exact_weights(verdict)) if any(verdict.weights) else np.array([Fraction(0)])
    if not sizes.max():
        return np.inf
    return float(least / sizes.max()) / np.sqrt(float(sum((sizes / sizes.max()) ** 2)))


def exact_weights(verdict):
    return np.array(list(map(Fraction, verdict.weights)), object)


def as_signs(X, y):
    return np.asarray(X, float), signs_of(y) * (1 if np.any(y) else -1)


def holds(verdict, X, y):
    """Check a verdict without any of the library."""
    X, signs = as_signs(X, y)
    if isinstance(verdict, Separable):
        return min(exactly(X, signs, exact_weights(verdict), verdict.bias)) > 0
    pairs = list(zip(verdict.support, verdict.weights, strict=True))
    sums = [
        sum(weight * int(signs[i]) * Fraction(X[i, j].item()) for i, weight in pairs)
        for j in range(X.shape[1])
    ]
    if verdict.fit_intercept:
        sums.append(sum(weight * int(signs[i]) for i, weight in pairs))
    positive = all(weight > 0 for weight in verdict.weights)
    return positive and sum(verdict.weights) == 1 and not any(sums)


@pytest.mark.parametrize("layout", ["dense", "int32"])
@pytest.mark.parametrize(
    ("case", "fit_intercept"), [*((c, True) for c in CASES), *((c, False) for c in ORIGIN)]
)
def test_cases_that_must_work(case, fit_intercept, layout):
    X, y, expected = (CASES if fit_intercept else ORIGIN)[case]
    rows = LAYOUTS[layout](np.asarray(X, float)) if layout == "int32" else X
    verdict = separability(rows, y, fit_intercept=fit_intercept)
    assert type(verdict) is expected
    assert verdict.fit_intercept == fit_intercept
    assert verdict.verify(rows, y)
    assert verdict.verify(X, y)
    assert holds(verdict, X, y)
    if expected is Inseparable:
        assert len(verdict.support) <= np.shape(X)[1] + 2
        assert all(isinstance(weight, Fraction) for weight in verdict.weights)
    else:
        assert len(verdict.weights) == np.shape(X)[1]
        assert verdict.margin == pytest.approx(exact_margin(verdict, X, y), rel=1e-6, abs=1e-150)


def test_inexact_decimals_on_a_line_that_are_not_quite_on_it():
    X = np.column_stack([0.1 * np.arange(50), 0.3 * np.arange(50), 0.7 * np.arange(50)])
    for y in (np.arange(50) % 2, np.arange(50) % 3 == 0, half_line(50)):
        verdict = separability(X, y)
        assert not isinstance(verdict, Undecided)
        assert verdict.verify(X, y)
        assert holds(verdict, X, y)


def flipped(y):
    """The labels with every fifth one changed, which leaves no hyperplane among many rows."""
    return np.where(np.arange(len(y)) % 5, y, -y)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("d", [2, 5, 20])
@pytest.mark.parametrize("gap", [1e-6, 1e-9])
def test_thin_margins(gap, d, fit_intercept):
    rng = np.random.default_rng(d)
    w, y = rng.normal(size=d), np.where(np.arange(300) % 2, 1, -1)
    w /= np.linalg.norm(w)
    X = rng.normal(size=(300, d))
    X += np.outer(y * gap * (1 + rng.random(300)) - X @ w, w)
    verdict = separability(X, y, fit_intercept=fit_intercept)
    assert isinstance(verdict, Separable)
    assert verdict.verify(X, y)
    assert 0 < verdict.margin <= 3 * gap
    verdict = separability(X, flipped(y), fit_intercept=fit_intercept)
    assert isinstance(verdict, Inseparable)
    assert verdict.verify(X, flipped(y))


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("d", [1, 3, 20])
@pytest.mark.parametrize("size", [1e-150, 1e150])
def test_rows_of_extreme_sizes(size, d, fit_intercept):
    X, y = separated(40 * d, d, gap=0.01)
    random_half = np.random.default_rng(0).random(len(X)) < 0.5
    assert kind(X * size, y, fit_intercept=fit_intercept) is Separable
    assert kind(X * size, flipped(y), fit_intercept=fit_intercept) is Inseparable
    some = np.where(random_half[:, None], X * size, X)
    both = np.where(random_half[:, None], X * size, X / size)
    for rows in (some, both):  # through the origin the size of a row does not matter
        assert kind(rows, y, fit_intercept=fit_intercept) is Separable
        assert kind(rows, flipped(y), fit_intercept=False) is Inseparable
        assert kind(rows, flipped(y), fit_intercept=fit_intercept) is not Undecided


@pytest.mark.parametrize("size", [1e-150, 1e150])
def test_columns_of_extreme_sizes(size):
    X, y = separated(60, 4, gap=0.01, bias=0.5)
    X[:, ::2] *= size
    assert kind(X, y) is Separable
    assert kind(X, flipped(y)) is Inseparable


def test_integers_of_every_kind():
    X, y = np.random.default_rng(0).integers(0, 100, (200, 3)), np.arange(200) % 2
    for dtype in (np.int8, np.uint8, np.int64, np.float32, object):
        assert kind(X.astype(dtype), y) is Inseparable
        assert kind(X.astype(dtype), X[:, 0] + X[:, 1] > 99) is Separable


@pytest.mark.parametrize("separable", [True, False])
@pytest.mark.parametrize("layout", ["dense", "int32", "int64"])
def test_two_hundred_thousand_rows(separable, layout):
    rng = np.random.default_rng(0)
    X = normalize(rng.normal(size=(200_000, 20)))
    score = X @ normalize(rng.normal(size=(1, 20)))[0]
    X, y = X[np.abs(score) > 1e-3], score[np.abs(score) > 1e-3] > 0
    if not separable:
        y[np.argmax(np.abs(score[np.abs(score) > 1e-3]))] ^= True
    assert kind(LAYOUTS[layout](X), y) is (Separable if separable else Inseparable)


# The verdict against independent decisions


def null_combination(Z):
    """Whether some convex combination of the rows is zero, by trying every support exactly."""
    Z = [[Fraction(int(v)) for v in z] + [Fraction(1)] for z in Z]
    return any(
        all(weight > 0 for weight in only_solution([Z[i] for i in rows]))
        for size in range(1, len(Z[0]) + 1)
        for rows in combinations(range(len(Z)), size)
    )


def only_solution(rows):
    """The only weights with Σ weight·row = [0 … 0 1], or [-1], by Gauss and Jordan."""
    table = [[*column, Fraction(0)] for column in zip(*rows, strict=True)]
    table[-1][-1] = Fraction(1)
    for k in range(len(rows)):
        pivot = next((r for r in range(k, len(table)) if table[r][k]), None)
        if pivot is None:
            return [-1]
        table[k], table[pivot] = table[pivot], table[k]
        table[k] = [value / table[k][k] for value in table[k]]
        for r in range(len(table)):
            if r != k and table[r][k]:
                table[r] = [a - table[r][k] * b for a, b in zip(table[r], table[k], strict=True)]
    solved = not any(row[-1] for row in table[len(rows) :])
    return [row[-1] for row in table[: len(rows)]] if solved else [-1]


@settings(max_examples=60)
@given(st.data(), st.integers(1, 6), st.integers(1, 2), st.booleans())
def test_the_verdict_is_that_of_trying_every_support(data, n, d, fit_intercept):
    X = data.draw(arrays(float, (n, d), elements=st.integers(-2, 2)))
    y = data.draw(arrays(int, n, elements=st.sampled_from([-1, 1])))
    Z = y[:, None] * np.column_stack([X, np.ones(n)] if fit_intercept else [X])
    expected = Inseparable if null_combination(Z) else Separable
    assert kind(X, y, fit_intercept=fit_intercept) is expected


def by_linear_program(X, y, fit_intercept):
    """The largest t with y(w·x + b) ≥ t in the unit cube."""
    Z = signs_of(y)[:, None] * np.column_stack([X, np.ones(len(X))] if fit_intercept else [X])
    unknowns = Z.shape[1]
    return -linprog(
        [0] * unknowns + [-1],
        A_ub=np.column_stack([-Z, np.ones(len(Z))]),
        b_ub=np.zeros(len(Z)),
        bounds=[(-1, 1)] * unknowns + [(None, 1)],
    ).fun


@settings(max_examples=200)
@given(examples(), st.booleans())
def test_the_verdict_is_that_of_a_linear_program(data, fit_intercept):
    X, y = data
    expected = by_linear_program(X, y, fit_intercept) > 1e-7
    assert kind(X, y, fit_intercept=fit_intercept) is (Separable if expected else Inseparable)
    assert kind(csr(X), y, fit_intercept=fit_intercept) is (Separable if expected else Inseparable)


@pytest.mark.parametrize("d", [2, 6, 15])
def test_the_verdict_on_random_labels(d):
    rng = np.random.default_rng(d)
    for n in (d, 2 * d, 3 * d):
        for _ in range(5):
            X, y = rng.normal(size=(n, d)), rng.integers(0, 2, n)
            y[:2] = 0, 1
            expected = by_linear_program(X, y, True) > 1e-9
            assert kind(X, y) is (Separable if expected else Inseparable)


@settings(max_examples=60)
@given(examples(), st.randoms(use_true_random=False), st.booleans(), st.sampled_from([1.0, 0.1]))
def test_what_does_not_matter_does_not_change_the_verdict(data, random, fit_intercept, unit):
    X, y = data[0] * unit, data[1]
    n, d = X.shape
    verdict = kind(X, y, fit_intercept=fit_intercept)
    rows, columns = random.sample(range(n), n), random.sample(range(d), d)
    powers = 2.0 ** np.array([random.randint(-60, 60) for _ in range(d)])
    power = 2.0 ** random.randint(-200, 200)
    for X_, y_ in (
        (X[rows], y[rows]),
        (X[:, columns], y),
        (X * powers, y),
        (X * power, y),
        (X, 1 - y),
        (-X, y),
    ):
        assert kind(X_, y_, fit_intercept=fit_intercept) is verdict
    if not fit_intercept:
        sizes = 2.0 ** np.array([random.randint(-60, 60) for _ in range(n)])
        assert kind(X * sizes[:, None], y, fit_intercept=False) is verdict


def test_what_separability_refuses():
    for X, y, sentence in (
        ([[np.nan]], [1], "NaN"),
        ([[np.inf]], [1], "infinity"),
        ([[1.0]], [1, 0], "inconsistent"),
        (np.zeros((0, 2)), [], "0 sample"),
    ):
        with pytest.raises(ValueError, match=sentence):
            separability(X, y)


# Proofs are checked, not believed


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
        Inseparable(
            (*support, outside), (*weights, Fraction(0)) if len(weights) == 5 else (*weights, tiny)
        ),
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
    assert not Undecided(-np.inf, 0.0).verify(XOR, ODD)


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
        save_certificate(Undecided(-np.inf, 0.0), tmp_path / "proof.json")
    assert not list(tmp_path.iterdir())


def altered(**fields):
    content = {
        "format": "rosenblatt certificate",
        "version": 1,
        "verdict": "inseparable",
        "support": [0, 1],
        "weights": ["1/2", "1/2"],
        "fit_intercept": True,
    }
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
    "a list": b"[1, 2]",
    "null": b"null",
    "another file": b'{"a": 1}',
    "another format": altered(format="another"),
    "no version": altered(version=None),
    "a newer version": altered(version=2),
    "a version in words": altered(version="new"),
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
    "weights of nothing": altered(weights=[None, None]),
    "weights a number": altered(weights=1),
    "not a number": altered(weights=[float("nan"), 1]),
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


# The compiled filter and the fingerprints

any_float = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(-1e-300, 1e-300),
    st.floats(-2, 2),
    st.integers(-3, 3).map(float),
    st.sampled_from([5e-324, -5e-324, 0.1, -0.3, 1.7e308, -1.7e308]),
)


def surely(X, signs, w, b):
    out = np.zeros(X.shape[0], bool)
    exactness.surely_positive(Examples(rows_of(X), signs, None), w, b, out)
    return out


@settings(max_examples=300)
@given(st.data(), st.integers(0, 6), st.sampled_from([np.float64, np.float32]))
def test_what_is_surely_positive_is_positive(data, d, dtype):
    width = 32 if dtype is np.float32 else 64
    element = st.floats(width=width, allow_nan=False, allow_infinity=False)
    element = element | any_float.filter(lambda v: abs(v) < 1e38).map(dtype).map(float)
    X = data.draw(arrays(dtype, (4, d), elements=element if width == 32 else any_float))
    w = data.draw(arrays(float, d, elements=any_float))
    b = data.draw(any_float)
    signs = data.draw(arrays(float, 4, elements=st.sampled_from([-1.0, 1.0])))
    truth = exactly(X, signs, w, b)
    for rows in (X, csr(X)):
        for sure, value in zip(surely(rows, signs, w, b), truth, strict=True):
            assert value > 0 or not sure


@settings(max_examples=200)
@given(st.data(), st.integers(2, 12), st.integers(-2, 2))
def test_a_sum_that_cancels_is_not_surely_positive_unless_it_is(data, d, steps):
    """Rows placed as near to the plane as floats allow."""
    w = data.draw(arrays(float, d, elements=st.floats(-10, 10)))
    X = data.draw(arrays(float, (3, d), elements=st.floats(-10, 10)))
    b = -float(exactly(X, np.ones(3), w, 0.0)[0])
    for _ in range(abs(steps)):
        b = float(np.nextafter(b, np.inf if steps > 0 else -np.inf))
    for signs in (np.ones(3), -np.ones(3)):
        for sure, value in zip(surely(X, signs, w, b), exactly(X, signs, w, b), strict=True):
            assert value > 0 or not sure


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("layout", ["dense", "int32", "int64"])
def test_the_filter_settles_almost_every_row(layout, dtype):
    rng = np.random.default_rng(0)
    X, w = rng.normal(size=(10_000, 30)).astype(dtype), rng.normal(size=30)
    signs = np.sign(X @ w + 0.1)
    sure = surely(LAYOUTS[layout](X), signs, w, 0.1)
    assert sure.mean() > 0.999
    assert not surely(LAYOUTS[layout](X), -signs, w, 0.1).any()


def prints(X):
    out = np.empty(X.shape[0], np.uint64)
    exactness.fingerprints(rows_of(X), out)
    return out.tolist()


@given(examples())
def test_equal_rows_have_equal_fingerprints(data):
    X, _ = data
    found = prints(X)
    assert found == prints(csr(X)) == prints(csr(X, np.int64)) == prints(X * 1.0 - 0.0)
    assert found == prints(np.where(X == 0, -0.0, X))
    assert found == prints(X.astype(np.float32))
    for a, b in combinations(range(len(X)), 2):
        assert (found[a] == found[b]) == np.array_equal(X[a], X[b])


def test_stored_zeros_leave_no_fingerprint():
    X = csr(np.array([[1.0, 2.0, 3.0], [1.0, 0.0, 3.0]]))
    X.data[1] = 0.0
    first, second = prints(X)
    assert first == second


@pytest.mark.parametrize(
    "X", [[[2**60 + 1], [2**60]], np.array([[2**64 - 1], [2**64 - 2]], np.uint64)]
)
def test_numbers_that_a_float_cannot_hold_are_refused(X):
    with pytest.raises(ValueError, match="float64 cannot hold"):
        separability(X, [0, 1])


def test_labels_that_are_not_known_are_refused():
    for y in ([0, 0, np.nan, np.nan], [None, None, 1, 1]):
        with pytest.raises(ValueError, match="labels must be known"):
            separability(np.eye(4), y)


@pytest.mark.parametrize("size", [1e-300, 1e300])
def test_a_margin_of_extreme_size_is_told(size):
    X = np.array([[1.0, 2.0], [3.0, 4.0], [-1.0, -2.0], [-3.0, 1.0]]) * size
    assert 0.1 * size < separability(X, [0, 0, 1, 1]).margin < 10 * size
