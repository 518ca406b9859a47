"""No run makes more mistakes than it may."""

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.preprocessing import normalize

from rosenblatt import (
    Perceptron,
    max_margin,
    mistake_bounds,
    radius,
)

from ..conftest import ORDERS, examples
from .conftest import ODD, ROUNDING, XOR, scales, separable_sets, separated


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
