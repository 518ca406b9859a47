"""The loop of PRank, called directly: one row by hand, a full log, rows that are not finite."""

import numpy as np
import pytest

from rosenblatt.data.rows import view_rows
from rosenblatt.kernels.linear import UPDATE, Clock, Examples
from rosenblatt.kernels.ordinal import SMALLEST, OrdinalSettings, ordinal


def learn(values, ranks, w, b, log=9, margin=0.0, weights=None):
    """What the kernel returns, and the log."""
    X, n = np.array(values, float)[:, None], len(values)
    steps = np.ones(n) if weights is None else np.array(weights, float)
    examples = Examples(view_rows(X), steps, np.array(ranks, np.uint32))
    made, order = np.zeros(log, UPDATE), np.arange(n, dtype=np.uint32)
    sums, settings = (np.zeros(1), np.zeros(len(b))), OrdinalSettings(margin, -margin, 1.0)
    done = ordinal(examples, order, 0, w, b, *sums, Clock(0.0, 0.0, 0.0), settings, made)
    return done, made


def test_one_row_moves_the_weights_and_the_thresholds_that_it_is_beyond():
    w, b = np.array([1.0]), np.array([1.0, 0.0, -4.0])  # thresholds -1, 0 and 4
    done, made = learn([2.0], [0], w, b)  # 2 is between 0 and 4: rank 2 instead of 0
    assert done == (1, 1, 2.0)
    assert (w[0], b.tolist()) == (1 - 2 * 2.0, [0.0, -1.0, -4.0])
    assert made[0].tolist() == (0, 2, -3.0, -2.0)


def test_a_row_on_a_threshold_has_the_higher_rank():
    w, b = np.array([1.0]), np.array([-2.0, -5.0])
    assert learn([2.0, 5.0], [1, 2], w, b)[0] == (2, 0, 0.0)
    done, made = learn([2.0], [1], w, b, margin=1.0)
    assert done == (1, 1, 0.0)
    assert made["margin"][0] == SMALLEST


def test_thresholds_that_unequal_steps_exchange_are_sorted():
    w, b = np.zeros(1), np.zeros(2)
    learn([0.0], [1], w, b, weights=[9.0])
    assert b.tolist() == [9.0, -9.0]
    learn([0.0], [0], w, b, weights=[20.0])
    assert b.tolist() == [-9.0, -11.0]


def test_it_stops_when_the_log_is_full():
    assert learn([1.0, 1.0], [0, 2], np.zeros(1), np.zeros(2), log=1)[0][:2] == (1, 1)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_row_that_is_not_finite_ends_it(bad):
    done, _ = learn([1.0, bad, 2.0], [0, 2, 0], np.ones(1), np.array([-0.5, -0.5]))
    assert done[:2] == (1, 1)
