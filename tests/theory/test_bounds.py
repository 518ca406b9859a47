"""No run makes more mistakes than it may."""

import numpy as np
import pytest
from hypothesis import assume, example, given, settings, strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.preprocessing import normalize

from rosenblatt import Perceptron, max_margin, mistake_bounds, radius, report

from ..conftest import ORDERS, blobs, csr, examples
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
)
@example((np.array([[-1.0], [1.0]]), np.array([0, 1])), 1e-3, "fixed", np.ones(4), 0.0)
def test_one_pass_over_any_rows_is_bounded_by_the_hinge_losses(data, scale, order, w, b):
    X, y = data[0] * scale, data[1]
    w = w[: X.shape[1]]
    assume(w.any())
    bounds = mistake_bounds(X, y, w, b * scale)
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
    bounds = mistake_bounds(XOR, ODD, w, -0.5)
    u = np.sqrt(1 + 1 / 8)
    gamma = 0.5 / np.sqrt(2) / u  # of three rows; the fourth misses it by 4γ
    assert bounds[:4] == (np.inf,) * 4
    L, a = 4, np.sqrt(3) / gamma
    assert bounds.squared_hinge == pytest.approx((a + 4) ** 2)
    assert bounds.hinge == pytest.approx(L + a * a / 2 + a * np.sqrt(L + a * a / 4))


def test_the_bounds_shrink_to_the_separable_one():
    X, y = separated(30, 3, gap=0.5)
    plane = max_margin(X, y, tolerance=1e-6)
    bounds = mistake_bounds(X, y, plane.weights, plane.bias)
    assert bounds.squared_hinge <= bounds.unit_step * ROUNDING
    assert bounds.hinge <= bounds.unit_step * ROUNDING


def test_what_the_bounds_refuse():
    with pytest.raises(ValueError, match="weights are zero"):
        mistake_bounds(XOR, ODD, [0.0, 0.0], 1.0)


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


def test_the_report_of_a_run_without_an_end():
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


def test_the_theory_is_not_about_several_classes_or_warm_starts():
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


@pytest.mark.parametrize("X", [[[-1e-160], [4e-160]], [[1e-200], [1e-100]], [[1e-150], [1e150]]])
def test_a_report_of_rows_of_any_size(X):
    found = report(Perceptron(max_iter=20).fit(X, [0, 1]), X, [0, 1])
    low, length, high = found.chain
    assert low <= length * ROUNDING
    assert length <= high * ROUNDING
    assert found.attained <= found.upper * ROUNDING
    assert str(found.mistakes) in str(found)


@pytest.mark.parametrize("n", [5, 40, 150])
@pytest.mark.parametrize("d", [2, 5])
def test_a_batch_keeps_the_bounds_of_its_theorem(n, d):
    X, y = separated(n, d, bias=0.0)
    model = Perceptron(order="batch", fit_intercept=False, max_iter=10_000).fit(X, y)
    assert model.stop_reason_ == "separated"
    passes = [epoch.mistakes for epoch in model.history_ if epoch.mistakes]
    found, R = report(model, X, y), np.linalg.norm(X, axis=1).max()
    assert np.isclose(found.bound, n * (R / found.attained) ** 2)
    assert sum(passes) == found.mistakes <= found.bound
    low, length, high = found.chain
    assert np.isclose(length, np.linalg.norm(model.coef_))
    assert np.isclose(high, R * np.linalg.norm(passes))
    assert low <= length * ROUNDING <= high * ROUNDING**2
    assert "n(R/γ)²" in str(found)
    assert "new rows" not in str(found)


def draw(rng, n, noise=0.0):
    """Rows on two sides of a gap, with some labels turned."""
    X = rng.normal(size=(n, 3))
    X[:, 0] += np.where(X[:, 0] > 0, 0.3, -0.3)
    y = np.where((X[:, 0] > 0) != (rng.random(n) < noise), 1, -1)
    return X, y


def test_the_expected_error_stays_below_leave_one_out():
    rng, bounds, errors = np.random.default_rng(1), [], []
    for seed in range(60):
        X, y = draw(rng, 60)
        model = Perceptron(random_state=seed, max_iter=10_000).fit(X, y)
        bounds.append(report(model, X, y).left_out)
        fewer = Perceptron(random_state=seed, max_iter=10_000).fit(X[:59], y[:59])
        errors.append(1 - fewer.score(*draw(rng, 2000)))
    assert np.mean(errors) < np.mean(bounds) < 0.5


def test_online_to_batch_is_about_the_mistakes_of_the_first_pass():
    X, y = draw(np.random.default_rng(3), 80, noise=0.2)
    model = Perceptron(random_state=0, max_iter=5).fit(X, y)
    found = report(model, X, y)
    assert found.left_out is None
    first = model.history_[0].mistakes / 80
    assert found.online == pytest.approx(first + np.sqrt(np.log(20) / 160))
