"""Learning stops and goes on as if it never had, and logs what it did."""

import numpy as np
import pytest

from rosenblatt.data.rows import view_rows
from rosenblatt.kernels import linear
from rosenblatt.kernels.linear import UPDATE, Examples, Settings

from ..conftest import LAYOUTS, blobs

SETTINGS = Settings(above=0.0, below=0.0, intercept_step=1.0)


@pytest.fixture(params=[np.float32, np.float64])
def dtype(request):
    return request.param


@pytest.fixture(params=LAYOUTS)
def layout(request):
    return LAYOUTS[request.param]


def problem(form, X, y):
    """Kernels and arguments of a form: learn, margins, examples, weights, bias."""
    if form == "two":
        examples = Examples(view_rows(X), np.where(y == 0, -1.0, 1.0), None)
        return linear.perceptron, linear.perceptron_margins, examples, (5,), (1,)
    examples = Examples(view_rows(X), np.ones(len(y)), y.astype(np.uint32))
    return linear.multiclass, linear.multiclass_margins, examples, (5, 3), (3,)


@pytest.mark.parametrize("form", ["two", "many"])
@pytest.mark.parametrize("room", [1, 2, 7])
def test_a_full_log_stops_a_kernel_that_goes_on_as_if_it_never_had(form, room, layout):
    X, y = blobs(60, 5, classes=3)
    order = np.arange(60, dtype=np.uint32)[::-1].copy()
    learn, _, examples, *shapes = problem(form, layout(X), y)

    def run(room):
        w, b = map(np.zeros, shapes)
        log, position, updates = np.empty(room, UPDATE), 0, []
        while position < len(order):
            position, made, _ = learn(examples, order, position, w, b, SETTINGS, log)
            updates += log["position"][:made].tolist()
        return w.tolist(), b.tolist(), updates

    assert run(room) == run(60)


@pytest.mark.parametrize("form", ["two", "many"])
def test_margins_are_those_that_learning_meets_to_the_last_bit(form, layout, dtype):
    X, y = blobs(200, 5, classes=3)
    order = np.arange(len(y), dtype=np.uint32)
    learn, margins, examples, *shapes = problem(form, layout(X.astype(dtype)), y)
    examples = examples._replace(steps=examples.steps.astype(dtype))
    w, b = (np.zeros(shape, dtype) for shape in shapes)
    log, position = np.empty(1, UPDATE), 0
    while position < len(order):
        expected = np.empty(len(order))
        margins(examples, order, w, b, expected)
        position, made, _ = learn(examples, order, position, w, b, SETTINGS, log)
        if made:
            assert log["margin"][0] == expected[log["position"][0]]


@pytest.mark.parametrize("form", ["two", "many"])
def test_the_log_holds_the_step_that_was_made(form, layout):
    X, y = blobs(60, 5, classes=3)
    learn, _, examples, *shapes = problem(form, layout(X), y)
    sizes = np.random.default_rng(0).integers(1, 5, 60)
    examples = examples._replace(steps=examples.steps * sizes)
    log, order = np.empty(60, UPDATE), np.arange(60, dtype=np.uint32)
    _, made, _ = learn(examples, order, 0, *map(np.zeros, shapes), SETTINGS, log)
    assert made > 5
    assert log["step"][:made].tolist() == examples.steps[log["position"][:made]].tolist()


@pytest.mark.parametrize("form", ["two", "many"])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_row_that_is_not_finite_stops_a_kernel_before_it_learns_from_it(form, bad, layout):
    X, y = blobs(9, 5, classes=3)
    X[4, 2] = bad
    learn, _, examples, *shapes = problem(form, layout(X), y)
    w, b = map(np.ones, shapes)
    order = np.arange(9, dtype=np.uint32)
    assert learn(examples, order, 0, w, b, SETTINGS, np.empty(9, UPDATE))[0] == 4
    assert np.isfinite(w).all()
