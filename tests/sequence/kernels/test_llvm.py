"""Rows of numbers as vectors of eight: sums and best sums are those of NumPy."""

import numpy as np
import pytest

from rosenblatt.kernels.compiling import compile_here
from rosenblatt.sequence.kernels.paths import LANES, add_rows, max_plus


@compile_here
def add(weights, places, features, values, first, last, out, place, width):
    add_rows(weights, places, features, values, first, last, out, place, width)


@compile_here
def best(before, start, sources, count, moves, out, place, width):
    max_plus(before, start, sources, count, moves, out, place, width)


WIDTHS = [LANES * n for n in (1, 2, 3, 4, 6, 7, 10)]  # every mixture of vectors taken together


def numbers(rng, *shape):
    """Small integers, whose sums are exact in any order."""
    return rng.integers(-9, 10, shape).astype(np.float32)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("placed", [False, True])
@pytest.mark.parametrize("valued", [False, True])
def test_rows_are_added_up(width, placed, valued):
    rng = np.random.default_rng(width)
    rows, features = numbers(rng, 12, width), rng.integers(0, 12, 30).astype(np.uint32)
    places = rng.permutation(12).astype(np.uint32) if placed else None
    values = numbers(rng, 30) if valued else None
    for first, last in ((0, 30), (4, 9), (7, 7)):
        out = numbers(rng, 3 * width)
        wanted = out.copy()
        chosen = features[first:last] if places is None else places[features[first:last]]
        factors = 1.0 if values is None else values[first:last, None]
        wanted[width : 2 * width] = (rows[chosen] * factors).sum(axis=0)
        add(rows.ravel(), places, features, values, first, last, out, width, width)
        np.testing.assert_array_equal(out, wanted)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("sources", [[], [3], [0, 2, 4, 5]])
def test_the_best_of_all_sums_is_added_for_each_place(width, sources):
    rng = np.random.default_rng(width)
    before, moves, out = numbers(rng, 9), numbers(rng, 6, width), numbers(rng, 2 * width)
    wanted, places = out.copy(), np.array([*sources, 1], np.uint16)
    sums = before[3 + np.array(sources, int), None] + moves[sources]
    wanted[width:] += sums.max(axis=0, initial=-np.inf)
    best(before, 3, places, len(sources), moves.ravel(), out, width, width)
    np.testing.assert_array_equal(out, wanted)
