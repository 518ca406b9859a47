"""The dual kernel makes the updates of the linear loop, from products instead of weights."""

import numpy as np
import pytest

from rosenblatt.data.rows import view_rows
from rosenblatt.dual.kernels import cpu
from rosenblatt.dual.kernels.cpu import UPDATES
from rosenblatt.kernels.loop import UPDATE, Clock, Examples, State, compile_loop
from rosenblatt.kernels.perceptron import Perceptron
from rosenblatt.kernels.targets import SeveralClasses, TwoClasses

from ...conftest import blobs

RULE = Perceptron(above=0.0, below=0.0, bias=1.0)


@pytest.mark.parametrize("together", [False, True])
def test_it_is_the_linear_perceptron(together):
    X, y = blobs(60, 5, classes=3)
    X, places = np.round(X), np.arange(60)
    steps, target = np.where(y == 0, -1.0, 1.0), TwoClasses()
    if together:
        steps, target = np.ones(60), SeveralClasses(np.zeros(3))
    b, log, other = np.zeros(3 if together else 1), np.zeros(60, UPDATE), np.zeros(60, UPDATES)
    examples = Examples(view_rows(X), steps, y.astype(np.uint32) if together else None)
    state = State(np.zeros(5 * len(b)), b, np.empty(0), np.empty(0))
    given = target, RULE, examples, places.astype(np.uint32), 0, state, Clock(0.0, 0.0, 0.0), log
    read, made, _ = compile_loop(Perceptron)(*given)
    learning = np.array([True] if together else [False, True])  # the first problem rests
    outputs, labels = (3, y) if together else (2, y[:0])
    c, given = np.zeros(outputs), (np.array(len(learning) * [steps]), labels, learning, 0)
    scores = np.zeros((outputs, 60))
    assert cpu.replay(X @ X.T, places, *given, scores, c, RULE, other) == (read, made)
    for name in ("position", "margin", "step"):
        assert other[:made][name].tolist() == log[:made][name].tolist()
    assert other[:made]["rival"].tolist() == (
        log[:made]["rival"].tolist() if together else [1] * made
    )
    assert c.tolist() == (b.tolist() if together else [0, *b])
    unknown = np.zeros((0, 60)), np.full(60, -1)
    given = *unknown, *given, np.zeros((outputs, 60)), np.zeros(outputs), RULE, other
    assert cpu.replay(*given) == (0, 0)  # stops before a mistake without kernel values
