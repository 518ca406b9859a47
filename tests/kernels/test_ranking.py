"""The loop of rankers, called directly: one pair by hand, a full log, rows out of range."""

import numpy as np
import pytest

from rosenblatt.data.ranking import grade, index_pairs, make_keys
from rosenblatt.data.rows import view_rows
from rosenblatt.kernels import ranking as module
from rosenblatt.kernels.algebra import mix
from rosenblatt.kernels.linear import UPDATE, Clock, Examples
from rosenblatt.kernels.ranking import draw_place, ranking
from rosenblatt.parameters import RULE_TABLE, defaults
from rosenblatt.training.rules import RULES

from ..conftest import csr

ROWS = np.array([[3.0, 0.0, -1.0], [0.0, 2.0, 0.0]])  # of distance √14


def learn(name, rows=ROWS, log=2, start=0.0, **given):
    """The weights and sums after one pass over a pair, the log, and what the kernel returns."""
    settings = RULES[name].settings(defaults(RULE_TABLE[name].parameters) | given, 0.0)
    pairs = index_pairs(grade([2.0, 1.0], make_keys([7, 7])), np.arange(2, dtype=np.uint32))
    w, u, made = np.full(3, start), np.zeros(3), np.zeros(log, UPDATE)
    examples = Examples(view_rows(rows), np.full(2, 2.0), pairs)
    order, clock = np.arange(2, dtype=np.uint32), Clock(5.0, 0.0, 0.0)
    sums = u, np.zeros(1), clock
    return w, u, made, ranking(examples, order, 0, w, np.zeros(1), *sums, settings, made)


@pytest.mark.parametrize("layout", [np.asarray, csr])
@pytest.mark.parametrize(
    ("name", "given", "step"),
    [
        ("perceptron-ranking", {}, 2.0),
        ("pa-ranking", {"loss": "hard"}, 1 / 14),
        ("pa-ranking", {"C": 0.01}, 0.02),
        ("pa-ranking", {"loss": "squared_hinge", "C": 0.5}, 1 / 14.5),
    ],
)
def test_one_pair_by_hand(name, given, step, layout):
    w, u, log, _ = learn(name, layout(ROWS), **given)
    difference = ROWS[0] - ROWS[1]
    assert (log[0]["margin"], log[0]["step"]) == (0.0, pytest.approx(step))
    if name == "perceptron-ranking":
        assert w.tolist() == (step * difference).tolist()
        assert u.tolist() == (5 * step * difference).tolist()  # five rows were seen before
    else:
        assert np.allclose(w / difference, w[0] / difference[0])


def test_a_full_log_ends_it():
    assert learn("pa-ranking", log=1, C=0.001)[3][:2] == (1, 1)


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e200])
def test_a_row_that_is_not_finite_ends_it(bad):
    rows = np.array([[1.0, 0.0, 0.0], [bad, 1.0, 0.0]])
    assert learn("perceptron-ranking", rows, start=1e200)[3][:2] == (0, 0)


def test_draws_are_uniform_over_the_rows_of_another_relevance(monkeypatch):
    monkeypatch.setattr(module, "mix", mix.py_func)  # compiled, it returns a Python integer
    relevance = np.array([0, 1, 1, 2, 5, 5, 0, 1])
    groups = np.array([1, 1, 1, 1, 1, 1, 2, 2])
    pairs = index_pairs(grade(relevance, make_keys(groups)), np.arange(8, dtype=np.uint32))
    with np.errstate(over="ignore"):
        drawn = [pairs.members[draw_place.py_func(pairs, 1, number)] for number in range(4000)]
    counts = np.bincount(drawn, minlength=8)
    assert np.flatnonzero(counts).tolist() == [0, 3, 4, 5]
    assert counts[[0, 3, 4, 5]].min() > 900
    alone = index_pairs(grade([1.0, 1.0], make_keys([1, 1])), np.arange(2, dtype=np.uint32))
    assert draw_place.py_func(alone, 0, 0) == 2  # there is none
