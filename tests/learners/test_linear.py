"""The learner: batches are one pass, refusals leave no trace, scores are those of fit."""

import copy

import numpy as np
import pytest

from rosenblatt import Perceptron
from rosenblatt.data.labels import number_labels
from rosenblatt.data.rows import view_rows
from rosenblatt.learners.linear import LinearLearner, TrainingRows
from rosenblatt.parameters import LINEAR, ParameterError
from rosenblatt.training import state as states
from rosenblatt.training.linear_state import SOLUTIONS
from rosenblatt.training.training import LinearTask

from ..conftest import FORMS, LAYOUTS, blobs, form_parameters

BATCHWISE = ["last", "average"]
DEFAULTS = {name: parameter.default for name, parameter in LINEAR.items()}


def rows(X, y, classes, weights=None):
    codes = number_labels(np.asarray(y), classes)
    return TrainingRows.of(view_rows(X), codes, weights, X.shape[1])


def begun(y, width, dtype=np.float64, **chosen):
    return LinearLearner.begin(DEFAULTS | chosen, np.unique(y), (width, dtype))


def content(learner):
    """All that a learner is, as bytes."""
    found = []
    for state in learner.states:
        arrays, numbers = states.pack_state(state)
        found.append((type(state), numbers, len(getattr(state, "pending", ()))))
        found += [(name, a.dtype, a.shape, a.tobytes()) for name, a in arrays.items()]
    return found


@pytest.mark.parametrize("form", FORMS)
def test_counts_of_batches_add_up_to_those_of_one_pass(form):
    X, y = blobs(60, 4, classes=2 if form == "two" else 3)
    weights, X = np.arange(60) % 3.0, np.round(4 * X)
    whole, cut = (begun(y, 4, **form_parameters(form)) for _ in range(2))
    count = whole.learn(rows(X, y, whole.classes, weights))
    parts = np.split(np.arange(60), [1, 7, 40])
    parts = [cut.learn(rows(X[at], y[at], cut.classes, weights[at])) for at in parts]
    for name in ("rows", "mistakes", "errors", "loss"):
        assert sum(getattr(part, name) for part in parts) == getattr(count, name)


# All or nothing


HUGE = {np.float32: 1e38, np.float64: 1e308}


def overflowing(form, layout, width, dtype, wide=0):
    """Rows that are learnt from, then some under which the weights overflow in the middle."""
    X, y = blobs(40, 5, classes=2 if form == "two" else 3)
    X = np.round(4 * X).astype(dtype)
    far = np.zeros((40, width + wide), dtype)
    far[:, :5] = X
    far[20:, 1] = dtype(HUGE[dtype])
    far[::2] *= -1
    make = LAYOUTS[layout]
    return make(far[:, :width].copy()), make(far), y


@pytest.mark.parametrize("width", [5, 400])
@pytest.mark.parametrize("wide", [0, 7])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("solution", BATCHWISE)
def test_a_batch_under_which_weights_overflow_leaves_no_trace(
    solution, form, layout, dtype, wide, width
):
    first, then, y = overflowing(form, layout, width, dtype, wide)
    learner = begun(y, width, dtype, solution=solution, **form_parameters(form))
    learner.learn(rows(first[:10], y[:10], learner.classes))
    learner.learn(rows(first[10:20], y[10:20], learner.classes))
    before, twin = content(learner), copy.deepcopy(learner)
    scores = learner.scores(view_rows(first[:20]), width)
    with pytest.raises(ValueError, match="The weights grew beyond what float"):
        learner.learn(rows(then, y, learner.classes))
    assert content(learner) == before
    np.testing.assert_array_equal(learner.scores(view_rows(first[:20]), width), scores)
    for one in (learner, twin):
        one.learn(rows(first[5:15], y[5:15], learner.classes))
    assert content(learner) == content(twin)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("solution", BATCHWISE)
@pytest.mark.parametrize("problem", [0, 2])
def test_an_interruption_in_the_middle_leaves_no_trace(solution, form, problem, monkeypatch):
    X, y = blobs(400, 5, classes=2 if form == "two" else 3)
    learner = begun(y, 5, solution=solution, **form_parameters(form))
    learner.learn(rows(X, y, learner.classes))
    before = content(learner)
    state = learner.states[min(problem, len(learner.states) - 1)]
    learn = LinearTask.learn

    def interrupted(self, given, *where):
        learnt = learn(self, given, *where)
        if given is state:
            raise KeyboardInterrupt  # the weights have changed, the counters not yet
        return learnt

    again = rows(X[::-1].copy(), y[::-1], learner.classes)
    monkeypatch.setattr(LinearTask, "learn", interrupted)
    with pytest.raises(KeyboardInterrupt):
        learner.learn(again)
    assert content(learner) == before


ALTERNATING = np.arange(400) // 2 % 2


@pytest.mark.parametrize(
    ("X", "y", "step", "given"),
    [
        (np.ones((400, 1)), ALTERNATING, 1.0, {"solution": "average", "eta0": 1e307}),
        (np.zeros((400, 1)), ALTERNATING, 1.7e308, {"solution": "average"}),
        (np.zeros((2, 1)), np.array([1, 1]), 1.7e308, {"solution": "last", "margin": 1.75e308}),
        (np.zeros((2, 1)), np.array([1, 1]), 1.7e308, {"solution": "average", "margin": 1.75e308}),
    ],
    ids=["sums", "sum of the bias", "bias", "averaged bias"],
)
def test_what_overflows_is_refused_while_learning(X, y, step, given):
    learner = begun([0, 1], 1, **given)
    learner.intercept_step = step
    before = content(learner)
    with pytest.raises(ValueError, match="beyond what float64 can hold"):
        learner.learn(rows(X, y, learner.classes))
    assert content(learner) == before


def test_sums_that_only_an_average_needs_do_not_overflow_without_one():
    last = begun([0, 1], 1, solution="last", eta0=1e307)
    last.learn(rows(np.ones((400, 1)), ALTERNATING, last.classes))
    assert np.isfinite(last.coefficients()[0]).all()


# Beginning, scoring, keeping


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("solution", SOLUTIONS)
def test_scores_are_those_of_the_classifier(solution, form):
    X, y = blobs(60, 4, classes=2 if form == "two" else 3)
    X = np.round(4 * X)
    model = Perceptron(solution=solution, random_state=0, **form_parameters(form)).fit(X, y)
    learner = LinearLearner.from_model(model.to_model())
    for layout in LAYOUTS.values():
        scores = learner.scores(view_rows(layout(X)), 4)
        np.testing.assert_allclose(scores, model.decision_function(X), rtol=1e-12, atol=1e-12)
        np.testing.assert_array_equal(
            learner.classes[learner.choose(model.decision_function(X))], model.predict(X)
        )
    coef, bias = learner.coefficients()
    np.testing.assert_array_equal(coef, model.coef_)
    np.testing.assert_array_equal(bias, model.intercept_)


@pytest.mark.parametrize("solution", BATCHWISE)
def test_scores_follow_what_was_learnt_since(solution):
    X, y = blobs(60, 4)
    learner = begun(y, 4, solution=solution)
    for at in (slice(0, 20), slice(20, 60)):
        learner.learn(rows(X[at], y[at], learner.classes))
        fresh = copy.deepcopy(LinearLearner(learner.parameters, learner.classes, learner.states))
        np.testing.assert_array_equal(
            learner.scores(view_rows(X), 4), fresh.scores(view_rows(X), 4)
        )


@pytest.mark.parametrize("solution", BATCHWISE)
def test_columns_that_the_model_has_not_met_say_nothing(solution):
    X, y = blobs(60, 6)
    learner = begun(y, 4, solution=solution)
    learner.learn(rows(X[:, :4].copy(), y, learner.classes))
    wanted = learner.scores(view_rows(X[:, :4].copy()), 4)
    for layout in LAYOUTS.values():
        np.testing.assert_allclose(learner.scores(view_rows(layout(X)), 6), wanted)
    short = X.copy()
    short[:, 3:] = 0
    wanted = learner.scores(view_rows(short[:, :4].copy()), 4)
    for layout in LAYOUTS.values():
        np.testing.assert_allclose(learner.scores(view_rows(layout(X[:, :3].copy())), 3), wanted)


def test_parameters_that_an_older_file_does_not_know_are_as_usual():
    X, y = blobs(30, 4)
    model = Perceptron(ties="positive").fit(X, y).to_model()
    del model.parameters["margin"], model.parameters["eta0"]
    learner = LinearLearner.from_model(model)
    learner.learn(rows(X, y, learner.classes))
    assert (learner.parameters["ties"], learner.parameters["margin"]) == ("positive", 0.0)


def test_more_weights_than_memory_holds_are_refused_in_the_words_of_the_caller():
    learner = begun([0, 1], 2)
    given = rows(np.zeros((2, 2)), [0, 1], learner.classes)._replace(width=2**28)
    with pytest.raises(ParameterError, match=r"268,435,456 columns for 2 classes .* smaller bits"):
        learner.learn(given)
