"""Units are trained as their papers say."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from rosenblatt.data.rows import view_rows
from rosenblatt.network.kernels import thermal
from rosenblatt.network.training import HEAT, train_pocket, train_thermal

from .. import reference


@pytest.mark.parametrize("seed", range(4))
def test_a_cooled_unit_is_that_of_the_naive_twin(seed):
    rng = np.random.default_rng(seed)
    X, targets = rng.integers(-2, 3, (30, 3)).astype(float), rng.choice([-1.0, 1.0], 30)
    weights, bias = train_thermal(X, targets, 5, seed)  # in more epochs rounding errors grow
    naive, naive_bias = reference.thermal_unit(X, targets, 5, seed, HEAT)
    np.testing.assert_allclose(weights, naive, rtol=1e-8, atol=1e-8)
    assert bias == pytest.approx(naive_bias, rel=1e-8, abs=1e-8)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sparse_rows_cool_as_dense_ones(dtype):
    rng = np.random.default_rng(0)
    X = (rng.integers(-2, 3, (40, 4)) * (rng.random((40, 4)) < 0.5)).astype(dtype)
    targets, order = rng.choice([-1.0, 1.0], 40), np.arange(40, dtype=np.uint32)
    found = []
    for rows in (X, csr_array(X)):
        w, b = np.zeros(4), np.zeros(1)
        mistakes = thermal(view_rows(rows), targets, order, w, b, 2.0, 1.0)
        found.append((mistakes, w, b))
    assert found[0][0] == found[1][0] > 0
    np.testing.assert_allclose(found[0][1], found[1][1], rtol=1e-6)
    np.testing.assert_allclose(found[0][2], found[1][2], rtol=1e-6)


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
