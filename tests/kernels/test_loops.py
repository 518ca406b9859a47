"""The loops that rules share, called directly: one row by hand, full logs, rows out of range."""

import numpy as np
import pytest

from rosenblatt.data.rows import view_rows
from rosenblatt.kernels.linear import UPDATE, Clock, Examples
from rosenblatt.parameters import RULE_TABLE, defaults
from rosenblatt.training.rules import RULES

from ..conftest import LAYOUTS, blobs

ROW, STEP = np.array([[3.0, 0.0, -1.0]]), np.array([2.0])  # a positive row of weight 2
CLASS_RULES = [name for name, rule in RULES.items() if rule.target == "classes"]
FORMS = [(name, form) for name in CLASS_RULES for form in ("binary", "multiclass")]
FORMS = [(name, form) for name, form in FORMS if getattr(RULES[name], form) is not None]


def begin(name, width, form="binary", dtype=np.float64):
    """Weights, bias, all arrays and sums of a rule before the first row."""
    rule, outputs = RULES[name], () if form == "binary" else (3,)
    w, b = np.zeros((width, *outputs), dtype), np.zeros(outputs or 1, dtype)
    arrays = [*rule.start(w, b).values()]
    if form == "binary":
        arrays += [np.empty(0)] * (rule.binary_arrays - len(arrays))
    sums = [np.zeros(w.shape), np.zeros(b.shape), Clock(0.0, 0.0, 0.0)] if rule.sums else []
    return w, b, arrays, sums


def settings_of(name, **given):
    rule = RULES[name]
    parameters = defaults(RULE_TABLE[rule.family].parameters) | given
    return rule.settings(parameters, 1.0)


def learn_one(name, **given):
    """The weights and bias that one row leaves, from zero."""
    w, b, arrays, sums = begin(name, 3)
    log = np.zeros(1, UPDATE)
    state = [w, b, *arrays, *sums]
    examples, order = Examples(view_rows(ROW), STEP, None), np.zeros(1, np.uint32)
    done = RULES[name].binary(examples, order, 0, *state, settings_of(name, **given), log)
    assert done == (1, 1, 0.0)
    assert (log[0]["position"], log[0]["margin"]) == (0, 0.0)
    return np.append(w, b), arrays


def test_one_row_by_hand():
    x, size = np.array([3.0, 0.0, -1.0, 1.0]), 11.0
    assert np.allclose(learn_one("perceptron")[0], 2 * x)
    assert np.allclose(learn_one("pa", C=0.01)[0], 0.02 * x)
    assert np.allclose(learn_one("pa", loss="hard")[0], x / size)
    assert np.allclose(learn_one("arow", r=1.0)[0], x / (size + 0.5))
    assert np.allclose(learn_one("nherd", C=1.0)[0], x / (size + 0.5))
    assert np.allclose(learn_one("second-order", a=1.0, matrix="diagonal")[0], x / (0.5 + x * x))
    assert np.allclose(learn_one("second-order-full", a=1.0)[0], x / (0.5 + size))
    w, (variances, of_bias) = learn_one("arow", r=1.0)
    assert np.allclose([*variances, *of_bias], 1 - x * x / (size + 0.5))
    w, (squares, square_of_bias, *_) = learn_one("ftrl", alpha=0.1, beta=1.0)
    assert np.allclose([*squares, *square_of_bias], x * x)  # a gradient of -2x/2
    assert np.allclose(w, 0.1 * x / (1 + np.abs(x)))
    w, (squares, square_of_bias, *_) = learn_one("adagrad", alpha=0.1, beta=1.0)
    assert np.allclose([*squares, *square_of_bias], x * x)
    assert np.allclose(w, 0.1 * x / (1 + np.abs(x)))
    assert np.allclose(learn_one("shifting", lam=3.0)[0], 2 * x)
    assert learn_one("ftrl", l1=2.0)[0].tolist() == [pytest.approx(0.1 / 4), 0.0, 0.0, 0.05]


@pytest.mark.parametrize("layout", ["dense", "int32"])
def test_the_full_second_order_perceptron_solves_the_normal_equations(layout):
    X, y = blobs(40, 4)
    X, y = np.round(X), np.where(y > 0, 1.0, -1.0)
    rows, order = view_rows(LAYOUTS[layout](X)), np.arange(len(y), dtype=np.uint32)
    w, b, arrays, sums = begin("second-order-full", 4)
    log, kernel = np.zeros(len(y), UPDATE), RULES["second-order-full"].binary
    state = [w, b, *arrays, *sums]
    settings = settings_of("second-order-full", a=2.0)
    _, made, _ = kernel(Examples(rows, y, None), order, 0, *state, settings, log)
    mistaken = log["position"][:made]
    Z, v = np.column_stack([X, np.ones(len(y))])[mistaken], y[mistaken]
    wanted = np.linalg.solve(2.0 * np.eye(5) + Z.T @ Z, Z.T @ v)
    assert made > 3
    assert np.allclose([*w, *b], wanted)
    assert np.allclose(arrays[0], 2.0 * np.linalg.inv(2.0 * np.eye(5) + Z.T @ Z))


@pytest.mark.parametrize(("name", "form"), FORMS)
@pytest.mark.parametrize("layout", ["dense", "int32"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_full_log_ends_a_sweep_where_it_can_continue(name, form, layout, dtype):
    X, y = blobs(40, 4, 2 if form == "binary" else 3)
    rows = view_rows(LAYOUTS[layout](X.astype(dtype)))
    labels = None if form == "binary" else y.astype(np.uint32)
    steps = (np.where(y > 0, 1.0, -1.0) if labels is None else np.ones(len(y))).astype(dtype)
    examples, order = Examples(rows, steps, labels), np.arange(len(y), dtype=np.uint32)
    kernel, settings = getattr(RULES[name], form), settings_of(name)
    found = []
    for size in (len(y), 1):
        w, b, arrays, sums = begin(name, 4, form, dtype)
        log, position, updates, total = np.zeros(size, UPDATE), 0, 0, 0.0
        while position < len(y):
            done = kernel(examples, order, position, w, b, *arrays, *sums, settings, log)
            position, made, loss = done
            updates, total = updates + made, total + loss
        found.append([w, b, *arrays, *sums[:2], np.array([updates, total])])
    for whole, cut in zip(*found, strict=True):
        np.testing.assert_allclose(cut, whole, rtol=1e-12)


@pytest.mark.parametrize(("name", "form"), FORMS)
def test_a_row_without_a_finite_score_ends_a_sweep(name, form):
    labels = None if form == "binary" else np.zeros(2, np.uint32)
    rows = view_rows(np.array([[1.0, 0.0], [np.nan, 1.0]]))
    examples, order = Examples(rows, np.ones(2), labels), np.arange(2, dtype=np.uint32)
    w, b, arrays, sums = begin(name, 2, form)
    log = np.zeros(9, UPDATE)
    position, updates, _ = getattr(RULES[name], form)(
        examples, order, 0, w, b, *arrays, *sums, settings_of(name), log
    )
    assert (position, updates) == (1, 1)
    assert np.isfinite(w).all()
