"""What a run has proved, and never more."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from rosenblatt import (
    Perceptron,
    max_margin,
    report,
)

from ..conftest import ORDERS, blobs, csr
from .conftest import ODD, ROUNDING, XOR, scales, separable_sets, separated


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


@pytest.mark.parametrize("X", [[[-5e-324], [2e-323]], [[1e-200], [1e-100]], [[1e-150], [1e150]]])
def test_a_report_of_rows_of_any_size(X):
    found = report(Perceptron(max_iter=20).fit(X, [0, 1]), X, [0, 1])
    low, length, high = found.chain
    assert low <= length * ROUNDING
    assert length <= high * ROUNDING
    assert found.attained <= found.upper * ROUNDING
    assert str(found.mistakes) in str(found)
