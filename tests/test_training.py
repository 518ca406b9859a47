"""Every solution, order and form against its naive twin, and what theory promises of them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from rosenblatt import Perceptron

from . import reference
from .conftest import FORMS, LAYOUTS, ORDERS, blobs, examples, form_parameters

VARIANTS = [
    *(("last", order) for order in ORDERS),
    *((solution, order) for solution in ("average", "vote") for order in ORDERS[:4]),
    *(("pocket", order) for order in ORDERS[:3]),
]


def parameters(form):
    """Settings under which small integers stay exact."""
    ties = ["mistake", "correct"] + ["positive", "negative"] * (form != "argmax")
    return st.fixed_dictionaries(
        {
            "eta0": st.sampled_from([1.0, 0.5, 2.0]),
            "margin": st.sampled_from([0.0, 0.0, 1.0, 3.0]),
            "ties": st.sampled_from(ties),
            "fit_intercept": st.booleans(),
            "intercept_step": st.sampled_from([1.0, 0.0, 2.0, "radius"]),
            "measure": st.booleans(),
            "max_iter": st.integers(1, 6),
            "random_state": st.integers(0, 9),
        }
    ).map(lambda drawn: drawn | form_parameters(form))


def starts(form, width, fit_intercept):
    """Where to start: at zero, or at small integers."""
    outputs = 1 if form == "two" else 3
    small = st.integers(-2, 2)
    bias = arrays(float, outputs, elements=small if fit_intercept else st.just(0))
    weights = arrays(float, (outputs, width), elements=small)
    return st.just({}) | st.fixed_dictionaries({"coef_init": weights, "intercept_init": bias})


def assert_same_run(model, twin, close=np.testing.assert_array_equal):
    close([epoch[:5] for epoch in model.history_], [epoch[:5] for epoch in twin.history_])
    assert model.n_mistakes_ == twin.n_mistakes_
    assert model.n_iter_ == twin.n_iter_
    assert model.stop_reason_ == twin.stop_reason_
    close(model.coef_, twin.coef_.astype(model.coef_.dtype))
    close(model.intercept_, twin.intercept_.astype(model.coef_.dtype))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("solution", "order"), VARIANTS)
@settings(max_examples=20)
@given(choices=st.data())
def test_equals_its_twin_bit_for_bit_on_integers(solution, order, form, choices):
    X, y = choices.draw(examples(form))
    chosen = choices.draw(parameters(form)) | {"solution": solution, "order": order}
    given = choices.draw(starts(form, X.shape[1], chosen["fit_intercept"]))
    weights = arrays(float, len(y), elements=st.integers(1, 3))
    given["sample_weight"] = choices.draw(st.none() | weights)
    twin = reference.Perceptron(**chosen).fit(X, y, **given)
    for layout in LAYOUTS.values():
        for dtype in (np.float32, np.float64):
            rows = layout(X.astype(dtype))
            model = Perceptron(**chosen).fit(rows, y, **given)
            assert model.coef_.dtype == dtype
            assert_same_run(model, twin)
            if solution != "average":  # whose scores are not integers
                np.testing.assert_array_equal(
                    model.decision_function(rows),
                    twin.decision_function(X).astype(model.decision_function(rows).dtype),
                )
                np.testing.assert_array_equal(model.predict(rows), twin.predict(X))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("solution", "order"), VARIANTS)
@pytest.mark.parametrize("layout", ["dense", "int32"])
def test_equals_its_twin_on_real_numbers(solution, order, form, layout):
    X, y = blobs(40, 37, classes=2 if form == "two" else 3)
    chosen = {"solution": solution, "order": order, "max_iter": 3, "random_state": 0}
    chosen |= form_parameters(form)
    twin = reference.Perceptron(**chosen).fit(X, y)
    model = Perceptron(**chosen).fit(LAYOUTS[layout](X), y)
    assert_same_run(model, twin, np.testing.assert_allclose)
    np.testing.assert_allclose(model.decision_function(X), twin.decision_function(X))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("solution", ["last", "average", "vote"])
@given(choices=st.data())
@settings(max_examples=25)
def test_any_cut_into_batches_equals_one_pass(solution, form, choices):
    X, y = choices.draw(examples(form))
    cuts = choices.draw(st.sets(st.integers(1, len(y) - 1)))
    chosen = form_parameters(form) | {"solution": solution, "order": "fixed", "max_iter": 1}
    whole = Perceptron(**chosen).fit(X, y)
    cut = Perceptron(**chosen)
    for batch in np.split(np.arange(len(y)), sorted(cuts)):
        cut.partial_fit(X[batch], y[batch], classes=whole.classes_)
    np.testing.assert_array_equal(cut.coef_, whole.coef_)
    np.testing.assert_array_equal(cut.intercept_, whole.intercept_)
    np.testing.assert_array_equal(cut.decision_function(X), whole.decision_function(X))
    assert cut.n_mistakes_ == whole.n_mistakes_


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("solution", ["last", "average"])
def test_batches_equal_one_pass_on_real_numbers_too(solution, layout):
    X, y = blobs(50, 20, classes=3)
    X = LAYOUTS[layout](X)
    whole = Perceptron(solution=solution, order="fixed", max_iter=1).fit(X, y)
    cut = Perceptron(solution=solution)
    for batch in (slice(0, 7), slice(7, 8), slice(8, 50)):
        cut.partial_fit(X[batch], y[batch], classes=[0, 1, 2])
    np.testing.assert_array_equal(cut.coef_, whole.coef_)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("solution", "order"), [variant for variant in VARIANTS if variant[1] not in ("each", "once")]
)
@given(choices=st.data())
@settings(max_examples=15)
def test_a_row_of_weight_zero_is_never_seen(solution, order, form, choices):
    X, y = choices.draw(examples(form))
    extra = choices.draw(arrays(bool, len(y)))
    mixed = np.repeat(np.arange(len(y)), 1 + extra)
    weights = (np.diff(mixed, prepend=-1) > 0).astype(float)  # the second of a pair weighs nothing
    rows = np.where(weights[:, None] > 0, X[mixed], 7)
    chosen = form_parameters(form) | {"solution": solution, "order": order, "max_iter": 5}
    without = Perceptron(**chosen).fit(X, y)
    beside = Perceptron(**chosen).fit(rows, y[mixed], sample_weight=weights)
    assert beside.history_ == without.history_
    np.testing.assert_array_equal(beside.decision_function(X), without.decision_function(X))


def test_weights_scale_the_step():
    X = np.array([[1.0, 0.0], [0.0, 1.0]])
    model = Perceptron(order="fixed", max_iter=1).fit(X, [1, 0], sample_weight=[3, 5])
    assert model.coef_.tolist() == [[3, -5]]
    assert model.intercept_.tolist() == [3 - 5]


def test_averaging_in_batches_keeps_the_running_bias():
    X, y = np.array([[0.0], [1.0], [0.0]]), np.array([1, 0, 1])
    model = Perceptron(solution="average", order="fixed")
    biases = [model.partial_fit(X, y, classes=[0, 1]).intercept_.item() for _ in range(3)]
    tried = reference.Perceptron(order="fixed", max_iter=3).fit(X, y).runs[0].tried
    # scikit-learn starts each batch's running bias at the average so far.
    np.testing.assert_allclose(biases, [np.mean([b for _, b in tried[:n]]) for n in (3, 6, 9)])


# What theory promises


@st.composite
def separable(draw):
    """Rows on the right side of a plane through the origin, and its unit normal."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n, d, gamma = draw(st.integers(2, 40)), draw(st.integers(1, 6)), draw(st.floats(0.2, 1))
    u = rng.normal(size=d)
    u /= np.linalg.norm(u)
    y = np.where(np.arange(n) % 2, 1, -1)
    X = rng.normal(size=(n, d))
    return X + np.outer(y * (gamma + rng.random(n)) - X @ u, u), y, u


@pytest.mark.parametrize("order", ORDERS)
@given(problem=separable())
@settings(max_examples=25)
def test_mistakes_and_weights_stay_within_the_bounds_of_novikoff(order, problem):
    X, y, u = problem
    R, gamma = np.linalg.norm(X, axis=1).max(), (y * (X @ u)).min()
    model = Perceptron(order=order, fit_intercept=False, max_iter=2000, random_state=0).fit(X, y)
    M, norm = model.n_mistakes_, np.linalg.norm(model.coef_)
    assert model.stop_reason_ == "separated"
    assert model.score(X, y) == 1
    assert (R / gamma) ** 2 * (1 + 1e-9) >= M
    assert gamma * M <= norm * (1 + 1e-9)
    assert norm <= R * np.sqrt(M) * (1 + 1e-9)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("solution", "order"), VARIANTS)
@given(choices=st.data())
@settings(max_examples=5)
def test_the_learning_rate_only_scales_weights_that_start_at_zero(solution, order, form, choices):
    X, y = choices.draw(examples(form))
    X = X / 3  # a power of two scales any number exactly
    eta0 = 2.0 ** choices.draw(st.integers(-8, 8))
    chosen = form_parameters(form) | {"solution": solution, "order": order, "random_state": 0}
    one = Perceptron(**chosen, max_iter=5).fit(X, y)
    other = Perceptron(**chosen, max_iter=5, eta0=eta0).fit(X, y)
    assert other.n_mistakes_ == one.n_mistakes_
    np.testing.assert_array_equal(other.coef_, eta0 * one.coef_)
    np.testing.assert_array_equal(other.intercept_, eta0 * one.intercept_)
    np.testing.assert_array_equal(other.predict(X), one.predict(X))


@given(problem=separable(), length=st.floats(1e-6, 1e6))
@settings(max_examples=25)
def test_the_length_of_the_weights_does_not_matter_for_prediction(problem, length):
    X, y, u = problem
    model = Perceptron(fit_intercept=False).fit(X, y, coef_init=length * u)
    assert model.n_mistakes_ == 0
    assert (model.predict(X) == y).all()


# How a run ends and what it tells


def test_a_clean_pass_ends_the_run_and_says_so():
    X, y = np.array([[1.0], [-1.0]]), [1, 0]
    model = Perceptron(order="fixed").fit(X, y)
    assert (model.stop_reason_, model.n_iter_) == ("separated", len(model.history_))
    assert [epoch.mistakes for epoch in model.history_] == [2, 0]


def test_a_run_that_never_ends_stops_at_max_iter():
    X = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]])
    model = Perceptron(max_iter=7).fit(X, [0, 1, 1, 0])
    assert (model.stop_reason_, model.n_iter_) == ("max_iter", 7)


def test_measuring_ends_a_run_without_another_clean_pass():
    X, y = np.array([[1.0], [-1.0]]), [1, 0]
    met, measured = Perceptron(order="fixed").fit(X, y), Perceptron(order="fixed", measure=True)
    measured.fit(X, y)
    assert measured.stop_reason_ == met.stop_reason_ == "separated"
    assert measured.n_iter_ == met.n_iter_ - 1
    assert (measured.history_[-1].errors, measured.history_[-1].loss) == (0, 0)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("solution", ["last", "average", "vote", "pocket"])
def test_early_stopping_goes_back_to_the_best_epoch(solution, form):
    X, y = blobs(200, 4, classes=2 if form == "two" else 3, seed=3)
    chosen = {"solution": solution, "early_stopping": True, "random_state": 0}
    if form == "ovr":  # each problem has its own best epoch, so one is looked at
        y = y == 0
    model = Perceptron(**chosen, n_iter_no_change=3, max_iter=60).fit(X, y)
    scores = [epoch.validation_score for epoch in model.history_]
    best = int(np.argmax(scores)) + 1
    assert model.stop_reason_ == "no_improvement"
    assert model.n_iter_ == best + 3
    stopped_there = Perceptron(**chosen, max_iter=best).fit(X, y)
    np.testing.assert_array_equal(model.coef_, stopped_there.coef_)
    np.testing.assert_array_equal(model.predict(X), stopped_there.predict(X))


def test_early_stopping_prefers_separating_weights_to_earlier_ones_with_the_same_score():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(200, 3))
    rows = rows[abs(rows[:, 0]) > 0.1]
    model = Perceptron(early_stopping=True, n_iter_no_change=50, random_state=0)
    model.fit(rows, rows[:, 0] > 0)
    scores = [epoch.validation_score for epoch in model.history_]
    assert model.stop_reason_ == "separated"
    assert scores[-1] == max(scores) in scores[:-1]
    assert model.score(rows, rows[:, 0] > 0) == 1


def test_validation_scores_are_the_accuracy_on_rows_that_were_held_out():
    X, y = blobs(40)
    model = Perceptron(early_stopping=True, validation_fraction=0.25, max_iter=2, random_state=0)
    model.fit(X, y)
    assert all(epoch.rows == 30 for epoch in model.history_)
    assert all((epoch.validation_score * 10).is_integer() for epoch in model.history_)
