"""Where the documents of docs/textbook.md slip: each remark of that page, shown."""

import numpy as np
import pytest
from hypothesis import given, settings
from sklearn.datasets import load_iris

from rosenblatt import (
    Perceptron,
    losses,
    margin,
    margins,
    max_margin,
    mistake_bounds,
    normalize_weights,
    radius,
    steps,
    train_form,
)
from rosenblatt.plots import BoundaryDisplay

from .theory.conftest import ODD, ROUNDING, XOR, separable_sets

IRIS = load_iris()
SEPALS, LABELS = IRIS.data[:100, :2], np.where(IRIS.target[:100] == 1, 1, -1)


@pytest.mark.parametrize(
    ("form", "wrong"), [("000", [-1]), ("001", [1]), ("002", [-1, 1]), ("002-listing", [])]
)
def test_the_documents_disagree_about_an_activation_of_zero(form, wrong):
    zeros, y = np.zeros((2, 1)), [-1, 1]
    how = {"start": [0.0, 0.0], "order": "fixed", "measure": False, "fit_intercept": False}
    run = train_form(zeros, y, form, max_iter=1, **how)
    assert [update.sign for update in run.updates] == wrong


def test_document_000_has_a_loss_of_zero_with_mistakes():
    found = losses(SEPALS, LABELS, [0.0, 0.0], 0.0, ties="positive")
    assert (found.loss, found.errors) == (0, 50)


def test_document_000_may_put_the_one_first_or_last():
    ones = np.ones(100)
    how = {"fit_intercept": False, "order": "fixed", "max_iter": 9}
    first, last = (
        Perceptron(**how).fit(np.column_stack(columns), LABELS)
        for columns in ([ones, SEPALS], [SEPALS, ones])
    )
    assert first.coef_[0].tolist() == np.roll(last.coef_[0], 1).tolist()


def test_document_000_has_a_loss_with_kinks():
    """Where a row changes sides, the slope of J jumps by the row; J itself does not."""
    low, high = (losses([[1.0]], [1], [0.0], b, ties="mistake") for b in (-1e-9, 1e-9))
    assert (low.bias_gradient, high.bias_gradient) == (-1, 0)
    assert low.loss - high.loss < 1e-8


@pytest.mark.parametrize(("eta", "rises"), [(1e-3, 79), (1e-4, 46)])
def test_document_000_a_constant_step_does_not_lower_the_loss_with_every_pass(eta, rises):
    """J is piecewise linear: a step along its gradient goes too far where a kink is near."""
    model = Perceptron(order="batch", eta0=eta, measure=True, max_iter=200)
    model.fit(SEPALS[:99], LABELS[:99], coef_init=[[1.0, 1.0]], intercept_init=[1.0])
    loss = [epoch.loss for epoch in model.history_]
    assert np.sum(np.diff(loss) > 0) == rises


def test_document_000_circles_the_mistakes_of_any_line():
    display = BoundaryDisplay.from_weights([1.0, -1.0], -2.0, SEPALS, LABELS)
    found = losses(SEPALS, LABELS, [1.0, -1.0], -2.0)
    assert display.errors == found.errors == len(found.rows) > 0


def test_document_001_learns_no_bias_from_a_threshold_of_zero():
    dummy = np.column_stack([np.zeros(100), SEPALS])
    run = train_form(dummy, LABELS, "001", max_iter=50, fit_intercept=False)
    assert run.weights[0] == 0


def test_document_001_an_opposite_row_may_leave_the_angle():
    how = {"fit_intercept": False, "order": "fixed", "max_iter": 1}
    for length, cosine in ((2.0, 1.0), (0.5, -1.0)):
        step = next(steps([[-length, 0.0], [1, 9]], [1, -1], coef_init=[[1.0, 0.0]], **how))
        assert (step.cosine, step.new_cosine) == (-1, cosine)


def test_document_002_means_the_negative_class_by_a_negative_f():
    model = Perceptron(order="fixed", intercept_step="radius").fit(IRIS.data[:100], LABELS)
    assert np.array_equal(model.decision_function(IRIS.data[:100]) >= 0, LABELS == 1)


def test_document_002_lists_another_algorithm_where_eta_matters():
    runs = [
        train_form(SEPALS[:99], LABELS[:99], "002-listing", max_iter=2000, **other)
        for other in ({}, {"eta0": 1.0}, {"ties": "mistake"}, {"intercept_step": "radius"})
    ]
    assert len({len(run.updates) for run in runs}) == 3  # ties decide only without rounding


def test_document_003_has_a_zero_in_its_test():
    """Read as a product, y(0)(θ·x) ≤ 0 always: each row would be added in each pass."""
    run = train_form(IRIS.data[:100], LABELS, "003", max_iter=4)
    assert not np.array_equal(run.weights, 4 * LABELS @ IRIS.data[:100])
    assert run.errors == 0


def test_document_003_first_row_is_a_mistake_and_right_after_it():
    x = IRIS.data[0]
    update = train_form(IRIS.data[:100], LABELS, "003").updates[0]
    assert (update.row, update.activation) == (0, 0)
    assert LABELS[0] * (update.weights @ x) == pytest.approx(x @ x)


def test_document_003_later_updates_break_earlier_rows():
    first, *rest = train_form(IRIS.data[:100], LABELS, "004").updates
    assert first.row in [update.row for update in rest]


def test_document_004_leaves_sign_of_zero_open():
    assert np.sign(0.0) == 0
    model = Perceptron(order="fixed", fit_intercept=False).fit([[1.0], [-1.0]], [1, -1])
    assert model.predict([[0.0]]) == [-1]


def test_document_004_measures_distances_with_weights_of_length_one():
    model = Perceptron(order="fixed").fit(IRIS.data[:100], LABELS)
    w, b = model.coef_[0], float(model.intercept_[0])
    doubled = margins(IRIS.data[:100], LABELS, 2 * w, 2 * b)
    assert doubled == pytest.approx(2 * margins(IRIS.data[:100], LABELS, w, b))
    of_any_length = margin(IRIS.data[:100], LABELS, w, b)
    assert margin(IRIS.data[:100], LABELS, 2 * w, 2 * b) == pytest.approx(of_any_length)
    unit, bias = normalize_weights(model)
    assert margins(IRIS.data[:100], LABELS, unit[0], bias[0]).min() == pytest.approx(of_any_length)
    foot = -bias[0] * unit[0]  # the boundary is shifted by -b along w
    assert unit[0] @ foot + bias[0] == pytest.approx(0)


def test_document_004_has_a_bound_for_rows_without_a_bias():
    """With a bias, ‖[x, 1]‖² may reach 2, and 1/γ² of the rows alone is too small."""
    X, y = np.array([[0.995], [-0.986]]), [1, -1]
    widest = max_margin(X, y)
    run = train_form(X, y, "004")
    assert len(run.updates) == 2 > 1 / widest.attained**2
    assert len(run.updates) <= mistake_bounds(X, y, widest.weights, widest.bias).unit_step
    assert (
        len(train_form(X, y, "003").updates)
        <= 1 / max_margin(X, y, fit_intercept=False).attained ** 2
    )


def test_document_004_the_angle_to_a_separator_may_grow():
    """What must grow is w·w*, by γ at each update, while ‖w‖² grows by ‖x‖² at most."""
    X = np.column_stack([IRIS.data[:100], np.ones(100)])
    plane = max_margin(X, LABELS, fit_intercept=False)
    before, angles = np.zeros(5), []
    for update in train_form(X, LABELS, "003").updates:
        assert plane.weights @ (update.weights - before) >= plane.attained
        assert update.weights @ update.weights - before @ before <= radius(X) ** 2
        before = update.weights
        angles.append(plane.weights @ before / np.linalg.norm(before))
    assert np.any(np.diff(angles) < 0)


def test_document_000_negative_rows_are_mistaken_on_the_boundary_too():
    """With sgn(0) = +1 a mistaken positive row has w·x < 0, a negative one w·x ≥ 0."""
    found = {-1: [], 1: []}
    for step in steps(SEPALS, LABELS, ties="positive", order="fixed", max_iter=20):
        found[step.label].append(step.activation)
        x = np.append(SEPALS[step.row], 1.0)
        after = np.append(step.new_weights, step.new_bias) @ x
        assert after - step.activation == pytest.approx(step.label * x @ x)
        assert x @ x >= 1
    assert max(found[1]) < 0
    assert min(found[-1]) == 0  # the first update of all


def test_document_000_does_not_lower_the_loss_with_every_pass():
    model = Perceptron(ties="positive", measure=True, max_iter=4, random_state=0)
    losses = [epoch.loss for epoch in model.fit(SEPALS[:99], LABELS[:99]).history_]
    assert np.round(losses[:2], 2).tolist() == [3.74, 98.31]


def test_document_000_has_points_as_columns():
    columns = SEPALS.T  # X ∈ R^{d×N}
    with pytest.raises(ValueError, match=r"inconsistent|rows"):
        Perceptron().fit(columns, LABELS)
    model = Perceptron(order="fixed", max_iter=5).fit(columns.T, LABELS)
    assert model.coef_.shape == (1, 2)


def test_document_001_aligns_the_weights_with_the_row_in_use_only():
    X, w = np.array([[-1.0, 2.0], [1.0, -1.0]]), np.array([1.0, 0.0])
    step = next(steps(X, [1, -1], fit_intercept=False, order="fixed", coef_init=[w]))
    new = step.new_weights[0]
    assert (step.row, new.tolist()) == (0, [0, 2])
    assert step.new_cosine > step.cosine
    other = X[1] / np.linalg.norm(X[1])  # a second positive row, say
    assert w @ other / np.linalg.norm(w) == pytest.approx(np.sqrt(0.5))
    assert new @ other / np.linalg.norm(new) == pytest.approx(-np.sqrt(0.5))


@pytest.mark.parametrize("most", [10, 100, 10_000])
def test_document_001_never_converges_unless_a_plane_separates(most):
    model = Perceptron(order="first", ties="negative", max_iter=most).fit(XOR, ODD)
    assert (model.stop_reason_, model.n_mistakes_) == ("max_iter", most)


def test_document_001_has_a_right_angle_in_both_intervals():
    """An angle of π/2 is an activation of 0, which the document predicts as -1."""
    X, start = [[0.0, 1.0], [0.0, 1.0]], {"coef_init": [[1.0, 0.0]]}
    how = {"ties": "negative", "fit_intercept": False, "order": "fixed", "max_iter": 1}
    (step,) = steps([X[0], [-1.0, 0.0]], [1, -1], **how, **start)
    assert (step.row, step.cosine) == (0, 0.0)  # a mistake for +1
    assert not list(steps([[1.0, 0.0], X[1]], [1, -1], **how, **start))  # right for -1


def test_document_002_sums_alpha_by_the_norm_of_order_1():
    X = IRIS.data[:100]
    alpha = np.zeros(100)
    for step in steps(X, LABELS, order="fixed", intercept_step="radius"):
        alpha[step.row] += 1
    assert alpha.sum() == np.linalg.norm(alpha, 1) == 23
    assert np.linalg.norm(alpha) < 23


def test_document_002_drops_a_row_that_is_never_mistaken():
    assert (LABELS[0:99] == -1).sum() == 50
    assert (LABELS[0:99] == 1).sum() == 49
    how = {"ties": "correct", "order": "fixed", "eta0": 0.1, "max_iter": 1000}
    start = {"coef_init": [1, 1], "intercept_init": 1}
    without, whole = (Perceptron(**how).fit(SEPALS[:n], LABELS[:n], **start) for n in (99, 100))
    assert (without.n_iter_, without.n_mistakes_) == (702, 1530)
    assert (whole.n_iter_, whole.n_mistakes_) == (702, 1530)
    np.testing.assert_array_equal(without.coef_, whole.coef_)


def test_document_002_calls_single_updates_gradient_descent():
    """The gradient of J takes all mistakes of the same weights: that is order="batch"."""
    start = {"coef_init": [[1.0, 1.0]], "intercept_init": [1.0]}
    how = {"ties": "correct", "eta0": 0.1, "max_iter": 1}
    rows = np.column_stack([SEPALS, np.ones(100)])
    wrong = LABELS * (rows @ np.ones(3)) < 0
    gradient = -(LABELS[wrong, None] * rows[wrong]).sum(axis=0)
    batch = Perceptron(order="batch", **how).fit(SEPALS, LABELS, **start)
    found = np.append(batch.coef_, batch.intercept_)
    np.testing.assert_allclose(found, np.ones(3) - 0.1 * gradient)
    single = Perceptron(order="fixed", **how).fit(SEPALS, LABELS, **start)
    assert np.abs(single.coef_ - batch.coef_).max() > 1


@settings(max_examples=100)
@given(separable_sets)
def test_document_002_needs_no_bias_beyond_the_radius(data):
    """Both classes occur: γ - R ≤ b ≤ R - γ for every plane that separates by γ."""
    X, y = data
    plane = max_margin(X, y)
    R = radius(X)
    assert abs(plane.bias) <= (R - plane.attained) * ROUNDING + 1e-9 * R
    lifted, b = np.sqrt(2) * R, plane.bias / R
    margin = plane.attained / np.sqrt(1 + b * b)
    bound = (2 * R / plane.attained) ** 2
    assert (lifted / margin) ** 2 <= bound * ROUNDING
    model = Perceptron(intercept_step="radius", max_iter=100_000, random_state=0).fit(X, y)
    assert model.n_mistakes_ <= bound * ROUNDING


def test_document_003_needs_an_offset_to_start_with():
    """Zero, as in 004; any other start is another run, which ends as well."""
    X = IRIS.data[:100]
    runs = [
        Perceptron(order="fixed", max_iter=5000).fit(X, LABELS, intercept_init=[start])
        for start in (0.0, 20.0)
    ]
    assert runs[0].n_mistakes_ != runs[1].n_mistakes_
    assert [run.stop_reason_ for run in runs] == ["separated", "separated"]


# The cycling theorem: on inseparable rows the weights stay bounded (Minsky & Papert 1969; Block &
# Levin 1970), so that on whole numbers they come back.


@pytest.mark.parametrize("seed", range(20))
def test_weights_of_whole_numbers_come_back(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, (8, 2)).astype(float)
    X, y = np.vstack([X, X[:1]]), np.append(rng.integers(0, 2, 8), 0)
    y[0] = 1  # a row that is twice there, with both labels
    seen, state = {}, (np.zeros((1, 2)), np.zeros(1))
    for epoch in range(5000):
        key = (*state[0][0], *state[1])
        if key in seen:
            break
        seen[key] = epoch
        start = {"coef_init": state[0], "intercept_init": state[1]}
        model = Perceptron(order="fixed", max_iter=1).fit(X, y, **start)
        state = model.coef_, model.intercept_
    assert key in seen


def test_weights_stay_bounded_where_no_plane_separates():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(-1, 1, (30, 2)), rng.normal(1, 1, (30, 2))])
    y = np.repeat([0, 1], 30)
    model = Perceptron(max_iter=100, warm_start=True, random_state=0)
    lengths, mistakes = [], []
    for _ in range(60):
        model.fit(X, y)
        lengths.append(np.linalg.norm(np.append(model.coef_, model.intercept_)))
        mistakes.append(model.n_mistakes_)
    assert max(lengths[6:]) < 2 * max(lengths[:6])
    R = np.sqrt(radius(X) ** 2 + 1)
    assert max(lengths) < R * np.sqrt(mistakes[-1]) / 10
