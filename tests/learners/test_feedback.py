"""Predictions that are drawn by chance, and what right and wrong tell."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from rosenblatt import Banditron, Perceptron
from rosenblatt.data.rows import view_rows
from rosenblatt.learners.feedback import draw_numbers, explore, learn_judged
from rosenblatt.learners.linear import TrainingRows
from rosenblatt.parameters import InputError

from .. import reference
from ..conftest import blobs

SEEDS = st.integers(0, 2**32 - 1)


def test_numbers_are_those_of_the_twin():
    model = Banditron(random_state=2**32 - 1)
    model.act(np.zeros((2, 1)), classes=[0, 1, 2])
    state, found = 2**32 - 1, draw_numbers(model._learner, 3)
    wanted = []
    for _ in range(5):
        state = state + 0x9E3779B97F4A7C15 & reference.BITS
        wanted.append((reference.mix_bits(state) >> 11) / 2**53)
    assert found.tolist() == wanted[2:]


@given(seed=SEEDS, classes=st.integers(3, 9), exploration=st.floats(0.01, 0.99))
def test_a_class_is_drawn_as_often_as_its_probability_says(seed, classes, exploration):
    steps = 9000
    numbers = (np.arange(steps) + 0.5) / steps
    best = np.full(steps, seed % classes)
    drawn, chances = explore(best, classes, exploration, numbers)
    shares = np.bincount(drawn, minlength=classes) / steps
    wanted = reference.chances(np.eye(classes)[seed % classes], exploration)
    np.testing.assert_allclose(shares, wanted, atol=2 / steps)
    np.testing.assert_allclose(chances, wanted[drawn])


def test_labels_are_learnt_where_right_and_wrong_tell_them():
    X, y = blobs(40, 3)
    two = Perceptron(order="fixed", max_iter=1)
    wanted = two.fit(X, y).coef_.copy()
    model = Perceptron().partial_fit(np.zeros((1, 3)), [0], classes=[0, 1])
    model._learner.states[0].bias[:] = 0
    codes, right = np.zeros(40, np.intp), y == 0
    rows = TrainingRows.of(view_rows(X), codes, None, 3)
    learn_judged(model._learner, rows, right, np.ones(40))
    np.testing.assert_array_equal(model._learner.coefficients()[0], wanted)
    three = Perceptron().partial_fit(X, y, classes=[0, 1, 2])
    learn_judged(three._learner, rows, np.ones(40, bool), np.ones(40))
    with pytest.raises(InputError) as error:
        learn_judged(three._learner, rows, right, np.ones(40))
    assert error.value.code == "wrong-without-label"
