"""Sums are rounded as in NumPy, rivals are found, and permutations are fair."""

from itertools import permutations

import numpy as np
import pytest

from rosenblatt.data.rows import view_rows
from rosenblatt.kernels import algebra
from rosenblatt.kernels.compiling import compile_here

from ..conftest import LAYOUTS, blobs


@compile_here
def add(*arguments):
    algebra.add(*arguments)


@compile_here
def best_other(*arguments):
    return algebra.best_other(*arguments)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_adding_rounds_once_per_product_and_sum_as_numpy_does(layout, dtype):
    X = blobs(3, 40)[0].astype(dtype)
    w, step = X[0].copy(), dtype(0.3)
    add(w, step, np.uint64(1), view_rows(LAYOUTS[layout](X)))
    np.testing.assert_array_equal(w, X[0] + step * X[1])


@pytest.mark.parametrize(
    ("scores", "label", "rival"),
    [([1, 2, 3], 2, 1), ([5, 2, 3], 0, 2), ([2, 2, 2], 0, 1), ([2, 2, 2], 1, 0), ([1, 9], 1, 0)],
)
def test_the_rival_is_the_best_other_class_and_of_equals_the_first(scores, label, rival):
    assert best_other(np.array(scores, float), label) == rival


# Permutations


def shuffled(n, seed, epoch):
    order = np.arange(n, dtype=np.uint32)
    algebra.shuffle(order, seed, epoch)
    return order.tolist()


def test_a_permutation_never_changes_between_versions():
    assert shuffled(10, seed=0, epoch=1) == [4, 6, 3, 9, 0, 2, 8, 1, 7, 5]
    assert shuffled(10, seed=2**31 - 2, epoch=100) == [8, 7, 5, 0, 6, 9, 2, 4, 3, 1]


def test_every_permutation_is_as_likely_as_any_other():
    drawn = [tuple(shuffled(4, seed=1, epoch=epoch)) for epoch in range(24_000)]
    counts = [drawn.count(permutation) for permutation in permutations(range(4))]
    assert sum((count - 1000) ** 2 / 1000 for count in counts) < 50  # χ² with 23 degrees: p < .001
