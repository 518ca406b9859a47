"""The one loop, with every rule and target: rows by hand, full logs, rows that are not finite."""

import numpy as np
import pytest

from rosenblatt.data.rows import view_rows
from rosenblatt.kernels.loop import UPDATE, Clock, Examples, State, compile_loop, margins
from rosenblatt.kernels.targets import SMALLEST, Numbers, Ranks, SeveralClasses, TwoClasses
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


# By hand


def learn_one(name, form="two", label=None, **given):
    """The weights and bias that one row of weight 2 leaves, and the state."""
    labels = None if label is None else np.array([label])
    examples = Examples(view_rows(np.array([[3.0, 0.0, -1.0]])), np.array([2.0]), labels)
    state = begin(name, form, 3)
    done, log = learn(name, form, examples, state, **given)
    assert done[:2] == (1, 1)
    return np.append(state.w, state.b), state, (*done, *log[0])


def test_one_row_by_hand():
    x, size = np.array([3.0, 0.0, -1.0, 1.0]), 11.0
    assert learn_one("perceptron")[2] == (1, 1, 0.0, 0, -1, 0.0, 2.0)
    assert np.allclose(learn_one("perceptron")[0], 2 * x)
    assert np.allclose(learn_one("pa", C=0.01)[0], 0.02 * x)
    assert np.allclose(learn_one("pa", loss="hard")[0], 2 * x / size)
    assert np.allclose(learn_one("pa")[0], 2 * x / size)
    assert np.allclose(learn_one("romma")[0], 4 / 3 * x / size)  # 2h/(1 + h) of a step
    assert np.allclose(learn_one("arow", r=1.0)[0], x / (size + 0.5))
    assert np.allclose(learn_one("nherd", C=1.0)[0], x / (size + 0.5))
    assert np.allclose(learn_one("second-order", a=1.0)[0], x / (0.5 + x * x))
    _, state, _ = learn_one("arow", r=1.0)
    assert np.allclose([*state.S, *state.Sb], 1 - x * x / (size + 0.5))
    for name in ("ftrl", "adagrad"):
        w, state, _ = learn_one(name, alpha=0.1, beta=1.0)
        assert np.allclose([*state.S, *state.Sb], x * x)  # a gradient of -2x/2
        assert np.allclose(w, 0.1 * x / (1 + np.abs(x)))
    assert np.allclose(learn_one("shifting", lam=3.0)[0], 2 * x)
    assert learn_one("ftrl", l1=2.0)[0].tolist() == [pytest.approx(0.1 / 4), 0.0, 0.0, 0.05]


@pytest.mark.parametrize(
    ("name", "given", "step"),
    [
        ("pa-regression", {"C": 0.01, "epsilon": 0.5}, 0.02),
        ("pa-regression", {"loss": "hard", "epsilon": 0.5}, 3.5 / 11),
        (
            "pa-regression",
            {"loss": "squared_epsilon_insensitive", "C": 1.0, "epsilon": 0.5},
            3.5 / 11.25,
        ),
        ("adaline", {"normalized": False}, 8.0),  # eta0 is a factor of the weight
        ("adaline", {}, 8.0 / 11),
    ],
)
def test_a_number_by_hand(name, given, step):
    w, _, (_, _, loss, *_, logged) = learn_one(name, "numbers", -4.0, **given)
    assert np.allclose(w, -step * np.array([3.0, 0.0, -1.0, 1.0]))
    assert (loss, logged) == (4.0 - given.get("epsilon", 0.0), pytest.approx(-step))


def learn_ranks(values, ranks, w, b, margin=0.0, weights=1.0):
    """What the loop returns of rows with one column, and the log."""
    X = np.array(values, float)[:, None]
    steps = np.broadcast_to(np.asarray(weights, float), len(X)).copy()
    examples = Examples(view_rows(X), steps, np.array(ranks, np.uint32))
    return learn("prank", "ranks", examples, State(w, b, np.zeros(1), np.zeros(3)), margin=margin)


def test_one_row_moves_the_weights_and_the_thresholds_that_it_is_beyond():
    w, b = np.array([1.0]), np.array([1.0, 0.0, -4.0])  # thresholds -1, 0 and 4
    done, made = learn_ranks([2.0], [0], w, b)  # 2 is between 0 and 4: rank 2 instead of 0
    assert done == (1, 1, 2.0)
    assert (w[0], b.tolist()) == (1 - 2 * 2.0, [0.0, -1.0, -4.0])
    assert made[0].tolist() == (0, -1, -3.0, -2.0)


def test_a_row_on_a_threshold_has_the_higher_rank():
    w, b = np.array([1.0]), np.array([-2.0, -5.0])
    assert learn_ranks([2.0, 5.0], [1, 2], w, b)[0] == (2, 0, 0.0)
    done, made = learn_ranks([2.0], [1], w, b, margin=1.0)
    assert done == (1, 1, 0.0)
    assert made["margin"][0] == SMALLEST


def test_thresholds_that_unequal_steps_exchange_are_sorted():
    w, b = np.zeros(1), np.zeros(2)
    learn_ranks([0.0], [1], w, b, weights=[9.0])
    assert b.tolist() == [9.0, -9.0]
    learn_ranks([0.0], [0], w, b, weights=[20.0])
    assert b.tolist() == [-9.0, -11.0]


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


@pytest.mark.parametrize(("name", "form"), FORMS)
def test_sums_for_an_average_are_those_of_the_weights_after_each_row(name, form):
    X, y = blobs(30, 4, 4)
    examples, state = Examples(view_rows(X), *label(form, y)), begin(name, form, 4)
    log, order = np.zeros(1, UPDATE), np.arange(30, dtype=np.uint32)
    rule, target = make_rule(name), make_target(form, np.float64, 0.1)
    total, total_of_bias = 0.0, 0.0
    for t in range(30):
        compile_loop(type(rule))(target, rule, examples, order[: t + 1], t, state, CLOCK, log)
        scale = 1.0 if state.scale is None else state.scale[0]
        total, total_of_bias = total + scale * state.w, total_of_bias + scale * state.b
    times = 30.0
    if state.scale is not None:
        times = state.scale[1] + state.scale[0] * (30.0 - state.scale[2])
    np.testing.assert_allclose(times * state.w - state.u, total, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(times * state.b - state.ub, total_of_bias, rtol=1e-9, atol=1e-9)
