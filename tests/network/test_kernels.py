"""The thermal perceptron makes the updates of a loop in plain Python."""

import math

import numpy as np
import pytest

from rosenblatt.data.rows import view_rows
from rosenblatt.network.kernels import thermal

from ..conftest import LAYOUTS


@pytest.mark.parametrize("layout", ["dense", "int32"])
def test_mistakes_move_the_weights_by_their_distance(layout):
    rng = np.random.default_rng(0)
    X, order = np.round(3 * rng.normal(size=(40, 3))), rng.permutation(40).astype(np.uint32)
    targets = np.where(rng.random(40) < 0.5, 1.0, -1.0)
    w, b, mistakes = np.zeros(3), 0.0, 0
    for i in order:
        a = X[i] @ w + b
        if (a > 0) != (targets[i] > 0):
            step = 0.5 * targets[i] * math.exp(-abs(a) / 2.0)
            w, b, mistakes = w + step * X[i], b + step, mistakes + 1
    found, bias = np.zeros(3), np.zeros(1)
    rows = view_rows(LAYOUTS[layout](X))
    assert thermal(rows, targets, order, found, bias, 2.0, 0.5) == mistakes > 5
    assert np.allclose([*found, *bias], [*w, b])
