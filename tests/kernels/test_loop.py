"""The one loop, with every rule and target: full logs, rows that are not finite, zeros."""

import numpy as np
import pytest

from rosenblatt.data.rows import view_rows
from rosenblatt.kernels.loop import UPDATE, Clock, Examples, State, compile_loop, margins
from rosenblatt.kernels.targets import Numbers, Ranks, SeveralClasses, TwoClasses
from rosenblatt.parameters import RULE_TABLE, defaults
from rosenblatt.training.rules import RULES, begin_arrays

from ..conftest import LAYOUTS, blobs

CLOCK = Clock(0.0, 0.0, 0.0)
FORMS = [
    (name, form)
    for name, rule in RULES.items()
    for form in ("two", "several", "numbers", "ranks")
    if rule.target == {"two": "classes", "several": "classes"}.get(form, form)
    if form != "several" or rule.together
]


def make_target(form, dtype=np.float64, epsilon=0.1):
    """What labels are; there are three classes and four ranks."""
    several = SeveralClasses(np.empty(3, dtype))
    return {
        "two": TwoClasses(),
        "several": several,
        "numbers": Numbers(epsilon),
        "ranks": Ranks(),
    }[form]


def make_rule(name, bias=1.0, **given):
    return RULES[name].kind.of(defaults(RULE_TABLE[name].parameters) | given, bias)


def begin(name, form, width, dtype=np.float64):
    """All arrays before the first row, flat."""
    columns, biases = {"several": (3, 3), "ranks": (1, 3)}.get(form, (1, 1))
    w, b = np.zeros(width * columns, dtype), np.zeros(biases, dtype)
    sums = np.zeros(w.shape), np.zeros(b.shape)
    return State(w, b, *sums, **begin_arrays(RULES[name], w, b))


def label(form, y, dtype=np.float64):
    """Steps and labels of rows of four groups."""
    if form == "two":
        return np.where(y > 1, 1.0, -1.0).astype(dtype), None
    labels = {"several": np.minimum(y, 2).astype(np.uint32), "ranks": y.astype(np.uint32)}
    return np.ones(len(y), dtype), labels.get(form, y * 1.5 - 2.0)


def learn(name, form, examples, state, log=None, start=0, **given):
    """What the loop returns, and the log."""
    log = np.zeros(len(examples.steps), UPDATE) if log is None else log
    order, rule = np.arange(len(examples.steps), dtype=np.uint32), make_rule(name, **given)
    target = make_target(form, examples.steps.dtype, given.get("epsilon", 0.0))
    return compile_loop(type(rule))(target, rule, examples, order, start, state, CLOCK, log), log


# Of every rule and target


@pytest.mark.parametrize(("name", "form"), FORMS)
@pytest.mark.parametrize("layout", ["dense", "int32"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_full_log_ends_a_sweep_where_it_can_continue(name, form, layout, dtype):
    X, y = blobs(40, 4, 4)
    rows = view_rows(LAYOUTS[layout](X.astype(dtype)))
    examples, found = Examples(rows, *label(form, y, dtype)), []
    for size in (len(y), 1):
        state, log = begin(name, form, 4, dtype), np.zeros(size, UPDATE)
        position, updates, total = 0, 0, 0.0
        while position < len(y):
            (position, made, loss), _ = learn(name, form, examples, state, log, position)
            updates, total = updates + made, total + loss
        found.append([*filter(lambda one: one is not None, state), [updates], [total]])
    assert found[0][-2] > [3]
    for whole, cut in zip(*found, strict=True):
        np.testing.assert_allclose(cut, whole, rtol=1e-12)


@pytest.mark.parametrize(("name", "form"), FORMS)
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_row_without_a_finite_score_ends_a_sweep(name, form, bad):
    y = np.array([2, 0, 2])
    examples = Examples(view_rows(np.array([[2.0, 0], [bad, 1], [1, 1]])), *label(form, y))
    state = begin(name, form, 2)
    done, _ = learn(name, form, examples, state)
    assert done[:2] == (1, 1)
    assert np.isfinite(state.w).all()


@pytest.mark.parametrize(("name", "form"), FORMS)
@pytest.mark.parametrize("layout", ["dense", "int32"])
def test_zeros_of_dense_rows_change_nothing(name, form, layout):
    X, y = np.round(blobs(40, 4, 4)[0]), blobs(40, 4, 4)[1]
    X[:, 2] *= np.arange(40) % 3 == 0
    wide = np.insert(X, 2, 0.0, axis=1)  # a column without values
    states = []
    for rows in (view_rows(LAYOUTS[layout](wide)), view_rows(LAYOUTS["int32"](X))):
        states.append(begin(name, form, 5 if len(states) == 0 else 4))
        learn(name, form, Examples(rows, *label(form, y)), states[-1])
    k = 3 if form == "several" else 1
    for one, other in zip(*states, strict=True):
        if one is None or len(one) == len(other):
            continue
        np.testing.assert_allclose(np.delete(one.reshape(5, k), 2, axis=0).ravel(), other, 1e-9)
        begun = begin(name, form, 1)
        assert len(set(one.reshape(5, k)[2])) == 1  # what it began with
        assert one.reshape(5, k)[2, 0] in (0.0, *(begun.S if begun.S is not None else ()))


@pytest.mark.parametrize("form", ["two", "several"])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_margins_are_those_that_learning_meets_to_the_last_bit(form, layout, dtype):
    X, y = blobs(200, 5, classes=4)
    order = np.arange(len(y), dtype=np.uint32)
    examples = Examples(view_rows(LAYOUTS[layout](X.astype(dtype))), *label(form, y, dtype))
    state, log, position = begin("perceptron", form, 5, dtype), np.empty(1, UPDATE), 0
    while position < len(order):
        expected = np.empty(len(order))
        margins(make_target(form, dtype), examples, order, state, expected)
        (position, made, _), _ = learn("perceptron", form, examples, state, log, position)
        if made:
            assert log["margin"][0] == expected[log["position"][0]]


@pytest.mark.parametrize("form", ["two", "several"])
def test_the_log_holds_the_step_that_was_made(form):
    X, y = blobs(60, 5, classes=4)
    steps, labels = label(form, y)
    steps *= np.random.default_rng(0).integers(1, 5, 60)
    examples = Examples(view_rows(X), steps, labels)
    (_, made, _), log = learn("perceptron", form, examples, begin("perceptron", form, 5))
    assert made > 5
    assert log["step"][:made].tolist() == steps[log["position"][:made]].tolist()
