"""The loop of regressors, called directly: one row by hand, a full log, rows out of range."""

import numpy as np
import pytest

from rosenblatt.data.rows import view_rows
from rosenblatt.kernels.linear import UPDATE, Examples
from rosenblatt.kernels.regression import RegressionSettings, regression
from rosenblatt.parameters import RULE_TABLE, defaults
from rosenblatt.training.rules import RULES

ROWS = np.array([[3.0, 0.0, -1.0], [0.0, 2.0, 0.0]])  # with the bias of size 11 and 5


def learn(name, labels, weight=2.0, log=2, rows=ROWS, **given):
    """The weights and bias after one pass from zero, and what the kernel returns."""
    parameters = defaults(RULE_TABLE[name].parameters) | given
    w, b, made = np.zeros(3), np.zeros(1), np.zeros(log, UPDATE)
    examples = Examples(view_rows(rows), np.full(2, weight), np.array(labels))
    settings = RULES[name].settings(parameters, 1.0)
    order = np.arange(2, dtype=np.uint32)
    return np.append(w, b), made, regression(examples, order, 0, w, b, settings, made), (w, b)


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
        ("adaline", {"eta0": 0.1, "normalized": False}, 8.0),  # eta0 is a factor of the weight
        ("adaline", {"eta0": 0.1}, 8.0 / 11),
    ],
)
def test_one_row_by_hand(name, given, step):
    _, log, done, (w, b) = learn(name, [-4.0, -step], **given)
    loss = 3.5 if name == "pa-regression" else 4.0
    assert np.allclose([*w, *b], -step * np.array([3.0, 0.0, -1.0, 1.0]))
    assert done == (2, 1, pytest.approx(loss))  # the second row is met by the bias
    assert (log[0]["margin"], log[0]["step"]) == (pytest.approx(-loss), pytest.approx(-step))


def test_errors_up_to_epsilon_change_nothing():
    _, _, done, (w, b) = learn("pa-regression", [0.1, -0.1])
    assert done == (2, 0, 0.0)
    assert not w.any()
    assert not b.any()


def test_a_full_log_ends_it():
    assert learn("pa-regression", [1.0, 1.0], log=1, epsilon=0.0, C=0.01)[2][:2] == (1, 1)


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e200])
def test_a_row_that_is_not_finite_ends_it(bad):
    rows = np.array([[1.0, 0.0, 0.0], [bad, 1.0, 0.0]])
    w, b, log = np.full(3, 1e200), np.zeros(1), np.zeros(2, UPDATE)
    examples = Examples(view_rows(rows), np.ones(2), np.array([1e200, 0.0]))
    settings = RegressionSettings(0.0, 0.0, 1.0, 0.0, 1.0, 0)
    position, updates, _ = regression(examples, np.arange(2), 0, w, b, settings, log)
    assert (position, updates) == (1, 0)
