"""Steps: every update, as fit makes it."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from rosenblatt import Perceptron, steps

from ..conftest import LAYOUTS, ORDERS, blobs, examples

X = np.array([[1.0, 0.0], [-1.0, 0.0], [3.0, 1.0], [2.0, -1.0]])
Y = np.array([1, 0, 1, 1])
THREE = np.array([0, 1, 2, 1])


@pytest.mark.parametrize("form", ["two", "argmax"])
@pytest.mark.parametrize("order", ORDERS)
@given(choices=st.data())
@settings(max_examples=15)
def test_steps_tell_what_fit_does(order, form, choices):
    rows, y = choices.draw(examples(form))
    margin = choices.draw(st.sampled_from([0.0, 1.0]))
    layout = LAYOUTS[choices.draw(st.sampled_from(sorted(LAYOUTS)))]
    chosen = {"order": order, "margin": margin, "max_iter": 5, "random_state": 0}
    records = list(steps(layout(rows), y, **chosen))
    model = Perceptron(**chosen).fit(layout(rows), y)
    assert len(records) == model.n_mistakes_
    assert [sum(r.epoch == e.epoch for r in records) for e in model.history_] == [
        e.mistakes for e in model.history_
    ]
    weights, bias = np.zeros_like(model.coef_), np.zeros_like(model.intercept_)
    for record in records:
        np.testing.assert_array_equal(record.weights, weights)
        np.testing.assert_array_equal(record.bias, bias)
        check_step(record, rows[record.row], y[record.row], margin)
        weights, bias = record.new_weights, record.new_bias
    np.testing.assert_array_equal(weights, model.coef_)
    np.testing.assert_array_equal(bias, model.intercept_)


def check_step(record, x, label, margin):
    scores = record.weights @ x + record.bias
    assert record.label == label
    if len(scores) == 1:
        sign, output = 2 * label - 1, 0
        assert record.rival is None
        assert record.activation == scores[0]
        assert record.loss == max(-sign * scores[0], 0)
    else:
        sign, output = 1, label
        assert record.activation == scores[label] - scores[record.rival]
        assert record.loss == max(-record.activation, 0)
        assert record.rival == np.argmax(np.where(np.arange(3) == label, -np.inf, scores))
        np.testing.assert_array_equal(record.new_weights.sum(axis=0), 0)
    assert -record.loss <= margin
    np.testing.assert_array_equal(record.new_weights[output], record.weights[output] + sign * x)
    assert record.cosine == pytest.approx(cosine(record.weights[output], x), nan_ok=True)
    if not np.isnan([record.cosine, record.new_cosine]).any():
        assert sign * (record.new_cosine - record.cosine) >= -1e-12


@pytest.mark.parametrize("form", ["two", "argmax"])
@given(choices=st.data())
@settings(max_examples=15)
def test_a_batch_is_one_step_with_all_rows_that_made_it(form, choices):
    rows, y = choices.draw(examples(form))
    layout = LAYOUTS[choices.draw(st.sampled_from(sorted(LAYOUTS)))]
    chosen = {"order": "batch", "max_iter": 5}
    model = Perceptron(**chosen).fit(layout(rows), y)
    weights, bias = np.zeros_like(model.coef_), np.zeros_like(model.intercept_)
    records = list(steps(layout(rows), y, **chosen))
    for record, epoch in zip(records, model.history_, strict=False):
        assert (record.epoch, len(record.row)) == (epoch.epoch, epoch.mistakes)
        assert record.loss == epoch.loss
        np.testing.assert_array_equal(record.label, y[record.row])
        np.testing.assert_array_equal(record.weights, weights)
        scores = rows[record.row] @ weights.T + bias
        for k, (row, label) in enumerate(zip(record.row, record.label, strict=True)):
            if form == "two":
                assert record.activation[k] == scores[k, 0]
                sign = 2 * label - 1
                weights, bias = weights + sign * rows[row], bias + sign
            else:
                rival = record.rival[k]
                assert record.activation[k] == scores[k, label] - scores[k, rival]
                moved = np.zeros(3)
                moved[[label, rival]] = 1, -1
                weights, bias = weights + np.outer(moved, rows[row]), bias + moved
        np.testing.assert_array_equal(record.new_weights, weights)
        np.testing.assert_array_equal(record.new_bias, bias)
        if not np.isnan([record.cosine, record.new_cosine]).any():
            assert record.new_cosine >= record.cosine - 1e-12
    assert len(records) == sum(epoch.mistakes > 0 for epoch in model.history_)


def cosine(w, x):
    norms = np.linalg.norm(w) * np.linalg.norm(x)
    return w @ x / norms if norms else np.nan


def test_steps_start_where_they_are_told_and_follow_weights():
    given = {"sample_weight": [2, 3], "coef_init": [[-1]], "intercept_init": [-2]}
    (step,) = steps([[1.0], [-1.0]], [1, 0], order="fixed", max_iter=1, ties="mistake", **given)
    assert (step.row, step.position, step.epoch) == (0, 0, 1)
    assert (step.weights.tolist(), step.new_weights.tolist()) == ([[-1]], [[1]])
    assert (step.bias.tolist(), step.new_bias.tolist()) == ([-2], [0])


def test_an_int_is_the_seed_of_the_permutations():
    rows, y = blobs(10, 1)
    met = [step.row for step in steps(rows, y, margin=1e9, random_state=0, max_iter=1)]
    assert met == [4, 6, 3, 9, 0, 2, 8, 1, 7, 5]


def test_steps_follow_one_problem_only():
    with pytest.raises(ValueError, match="give y == label instead"):
        list(steps(X, THREE, multi_class="ovr"))


@pytest.mark.parametrize("order", ORDERS)
def test_steps_refuse_what_fit_refuses(order):
    holed = X.copy()
    holed[3, 1] = np.nan
    with pytest.raises(ValueError, match="NaN in row 3, column 1"):
        list(steps(holed, Y, order=order))
    with pytest.raises(ValueError, match="beyond what float32 can hold"):
        list(steps(np.float32(1e38) * X.astype(np.float32), Y, order=order))
