"""Units are trained as their papers say."""

import math

import numpy as np
import pytest

from rosenblatt.data.rows import view_rows
from rosenblatt.network.kernels import thermal
from rosenblatt.network.training import HEAT, train_pocket, train_thermal

from .. import reference
from ..conftest import LAYOUTS


@pytest.mark.parametrize("seed", range(4))
def test_a_cooled_unit_is_that_of_the_naive_twin(seed):
    rng = np.random.default_rng(seed)
    X, targets = rng.integers(-2, 3, (30, 3)).astype(float), rng.choice([-1.0, 1.0], 30)
    weights, bias = train_thermal(X, targets, 5, seed)  # in more epochs rounding errors grow
    naive, naive_bias = reference.thermal_unit(X, targets, 5, seed, HEAT)
    np.testing.assert_allclose(weights, naive, rtol=1e-8, atol=1e-8)
    assert bias == pytest.approx(naive_bias, rel=1e-8, abs=1e-8)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_mistakes_move_the_weights_by_their_distance(layout, dtype):
    rng = np.random.default_rng(0)
    X = (rng.integers(-2, 3, (40, 4)) * (rng.random((40, 4)) < 0.5)).astype(dtype)
    order, targets = rng.permutation(40).astype(np.uint32), rng.choice([-1.0, 1.0], 40)
    w, b, mistakes = np.zeros(4), 0.0, 0
    for i in order:
        a = X[i] @ w + b
        if (a > 0) != (targets[i] > 0):
            step = 0.5 * targets[i] * math.exp(-abs(a) / 2.0)
            w, b, mistakes = w + step * X[i], b + step, mistakes + 1
    found, bias = np.zeros(4), np.zeros(1)
    rows = view_rows(LAYOUTS[layout](X))
    assert thermal(rows, targets, order, found, bias, 2.0, 0.5) == mistakes > 5
    np.testing.assert_allclose([*found, *bias], [*w, b], rtol=1e-6)


def test_far_mistakes_do_not_undo_a_cooled_unit():
    """A line with one row far on the wrong side: the rule alone is thrown about by it."""
    x = np.append(np.linspace(-1, 1, 40), 8.0)
    X, targets = x[:, None], np.append(np.where(x[:-1] > 0.03, 1.0, -1.0), -1.0)
    for train in (train_thermal, train_pocket):
        weights, bias = train(X, targets, 100, 0)
        wrong = np.count_nonzero(np.where(X @ weights + bias > 0, 1, -1) != targets)
        assert wrong <= 2, train.__name__


def test_a_separable_set_ends_the_cooling():
    X, targets = np.array([[2.0], [-1.0]]), np.array([1.0, -1.0])
    weights, bias = train_thermal(X, targets, 10**9, 0)  # would never end else
    assert np.all(np.sign(X @ weights + bias) == targets)
