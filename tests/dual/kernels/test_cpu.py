"""The dual kernels make the updates of the linear ones, from products instead of weights."""

import numpy as np
import pytest

from rosenblatt.data.rows import view_rows
from rosenblatt.dual.kernels import cpu as dual
from rosenblatt.dual.kernels.cpu import KernelValues
from rosenblatt.kernels.loop import UPDATE, Clock, Examples, State, compile_loop
from rosenblatt.kernels.perceptron import Perceptron
from rosenblatt.kernels.targets import SeveralClasses, TwoClasses

from ...conftest import blobs

RULE = Perceptron(above=0.0, below=0.0, bias=1.0)
EVERYTHING = np.arange(60, dtype=np.uint32)


@pytest.fixture
def data():
    X, y = blobs(60, 5, classes=3)
    return np.round(X), y


def learn(target, examples, b, log):
    """What the loop for rows makes of them."""
    state = State(np.zeros(5 * len(b)), b, np.empty(0), np.empty(0))
    given = target, RULE, examples, EVERYTHING, 0, state, Clock(0.0, 0.0, 0.0), log
    return compile_loop(Perceptron)(*given)


def logged(log, made):
    return log[["position", "margin", "step"]][:made].tolist(), log["rival"][:made].tolist()


def test_a_problem_of_the_dual_is_the_linear_perceptron(data):
    X, y = data
    steps = np.where(y == 0, -1.0, 1.0)
    log, other = np.zeros(60, UPDATE), np.zeros(60, UPDATE)
    examples, b = Examples(view_rows(X), steps, None), np.zeros(1)
    expected = learn(TwoClasses(), examples, b, log)
    gram, learning, c = KernelValues(X @ X.T, np.arange(60)), np.array([False, True]), np.zeros(2)
    given = gram, np.array([steps, steps]), learning, 0, np.zeros((2, 60)), c, RULE, other
    assert dual.dual_perceptron(*given) == expected
    assert logged(other, expected[1]) == (logged(log, expected[1])[0], [1] * expected[1])
    assert c.tolist() == [0, *b]


def test_all_classes_of_the_dual_are_those_of_the_linear_one(data):
    X, y = data
    log, other = np.zeros(60, UPDATE), np.zeros(60, UPDATE)
    examples, b = Examples(view_rows(X), np.ones(60), y.astype(np.uint32)), np.zeros(3)
    expected = learn(SeveralClasses(np.zeros(3)), examples, b, log)
    gram, c = KernelValues(X @ X.T, np.arange(60)), np.zeros(3)
    given = gram, np.ones(60), y, 0, np.zeros((3, 60)), c, np.zeros(3), RULE, other
    assert dual.dual_multiclass(*given) == expected
    assert logged(other, expected[1]) == logged(log, expected[1])
    assert c.tolist() == b.tolist()


def test_a_mistake_without_kernel_values_stops_the_kernel_before_it(data):
    _, y = data
    known = KernelValues(np.zeros((0, 60)), np.full(60, -1))
    given = known, np.ones(60), y, 0, np.zeros((3, 60)), np.zeros(3), np.zeros(3), RULE
    assert dual.dual_multiclass(*given, np.zeros(60, UPDATE)) == (0, 0, 0.0)
