"""Tasks: what is learnt from an order, what margins are and must be, and steps that fit a type."""

import numpy as np
import pytest

from rosenblatt.data.rows import view_rows
from rosenblatt.data.weights import compute_steps
from rosenblatt.kernels.loop import Examples
from rosenblatt.training.linear_state import LastWeights
from rosenblatt.training.rules import PERCEPTRON
from rosenblatt.training.training import LinearTask

from ..conftest import LAYOUTS, blobs

FORMS = {"two": 1, "argmax": None}


def task_of(X, codes, positive=1, weights=None, **parameters):
    steps = compute_steps(codes, positive, 1.0, weights, X.dtype)
    labels = None if positive is not None else codes.astype(np.uint32)
    given = Examples(view_rows(X), steps, labels)
    settings = PERCEPTRON.kind.of({"margin": 0.0, "ties": "mistake"} | parameters, 1.0)
    target = PERCEPTRON.labels.kernel(labels, 3, X.dtype, {})
    row_order = np.arange(len(codes), dtype=np.uint32)
    return LinearTask(given, row_order, settings, X.shape[1], target)


def data(form):
    X, y = blobs(50, 4, classes=2 if form == "two" else 3)
    state = (
        LastWeights(np.zeros(4), np.zeros(1))
        if form == "two"
        else LastWeights(np.zeros((4, 3)), np.zeros(3))
    )
    return np.round(4 * X), y, state


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_row_is_right_when_its_margin_is_more_than_required(form, layout):
    X, y, state = data(form)
    task = task_of(LAYOUTS[layout](X), y, FORMS[form], margin=2.0)
    task.learn(state, task.row_order, 0)
    margins, required = task.margins(state), task.required()
    outputs = X @ state.weights + state.bias
    if form == "two":
        np.testing.assert_array_equal(margins, np.where(y == 1, outputs, -outputs))
    else:
        own = outputs[np.arange(50), y].copy()
        outputs[np.arange(50), y] = -np.inf
        np.testing.assert_array_equal(margins, own - outputs.max(axis=1))
    np.testing.assert_array_equal(required, 2.0)
    first = task.learn(state, task.row_order, 0, 0).position
    wrong = np.flatnonzero(~(margins > required))
    assert first == (wrong[0] if len(wrong) else 50)


@pytest.mark.parametrize("ties", ["mistake", "positive", "negative", "correct"])
def test_what_is_required_says_what_zero_is(ties):
    task = task_of(np.zeros((2, 1)), np.array([0, 1]), ties=ties)
    right = np.zeros(2) > task.required()
    assert right.tolist() == [ties in ("negative", "correct"), ties in ("positive", "correct")]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_margins_and_learning_name_what_is_not_finite(form, bad):
    X, y, state = data(form)
    X[7, 2] = bad
    task = task_of(X, y, FORMS[form])
    for use in (lambda: task.learn(state, task.row_order, 0), lambda: task.margins(state)):
        with pytest.raises(ValueError, match="in row 7, column 2"):
            use()


def test_steps_are_the_rate_times_the_weight_times_the_label():
    codes = np.array([0, 1, 2])
    assert compute_steps(codes, 1, 0.5, None, np.float32).tolist() == [-0.5, 0.5, -0.5]
    assert compute_steps(codes, None, 0.5, np.array([1.0, 2, 0]), np.float64).tolist() == [
        0.5,
        1,
        0,
    ]
    assert compute_steps(codes, None, 0.5, None, np.float32).dtype == np.float32


@pytest.mark.parametrize(("eta0", "weights"), [(1e-60, None), (1.0, [1, 1e60]), (1e39, None)])
def test_steps_beyond_the_type_are_refused(eta0, weights):
    weights = None if weights is None else np.array(weights)
    what = "The weight of a row" if eta0 == 1 else "eta0 times the weight of a row"
    sentence = f"{what} is too small or too large for float32"
    with np.errstate(over="ignore"), pytest.raises(ValueError, match=sentence):
        compute_steps(np.array([0, 1]), 1, eta0, weights, np.float32)
