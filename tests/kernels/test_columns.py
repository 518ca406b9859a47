"""Statistics of columns are those of NumPy, however the rows are cut."""

import numpy as np
import pytest

from rosenblatt.kernels import columns

ROWS = np.array([[1.0, np.nan, 0.0], [3.0, -5.0, 0.0], [-4.0, 2.0, 7.0]])


def test_sums_are_added_row_by_row_to_the_bit():
    rng, seen, expected = np.random.default_rng(0), np.zeros((6, 3)), np.zeros((6, 3))
    table = np.where(rng.random((200, 3)) < 0.1, np.nan, rng.normal(size=(200, 3)) * [1, 1e9, 1e-9])
    table[::7, 1:] = 0
    for cut in np.split(table, [1, 70, 197]):
        columns.measure(cut.ravel(), 3, seen)
    for j, column in enumerate(table.T):
        known = column[~np.isnan(column)]
        above = (known - known[0]).tolist()
        sums = 0.0, 0.0
        for x in above:
            sums = sums[0] + x, sums[1] + x * x
        expected[:, j] = len(known), sum(known == 0), known[0], *sums, np.abs(known).max()
    assert seen.tolist() == expected.tolist()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_missing_number_is_filled_and_flagged(dtype):
    centre, factor, filling = np.array([1.0, 2.0, 0.0]), np.array([2.0, 1.0, 0.5]), np.zeros(3) + 9
    flags, out = np.array([0, 3, 0]), np.full((3, 4), np.nan, dtype)
    columns.standardise(ROWS.ravel().astype(dtype), 3, centre, factor, filling, flags, out.ravel())
    wanted = np.column_stack([(ROWS - centre) * factor, [1, 0, 0]])
    wanted[0, 1] = 9
    assert out.tolist() == wanted.tolist()


def test_sparse_columns_are_measured_counted_and_multiplied():
    values, indices = np.array([2.0, -3.0, 1.0]), np.array([4, 1, 4], np.uint32)
    sizes, counts, out = np.zeros(5), np.zeros(5, np.int64), np.zeros(3)
    columns.largest(values, indices, sizes)
    columns.count(indices, counts)
    columns.multiply(values, indices, np.array([1.0, 10.0]), out)
    sums, squares = np.zeros(4), np.zeros(4)
    columns.add_moments(values, indices, sums, squares)  # of the first four columns
    assert sums.tolist() == [0, -3, 0, 0]
    assert squares.tolist() == [0, 9, 0, 0]
    assert sizes.tolist() == [0, 3, 0, 0, 2]
    assert counts.tolist() == [0, 1, 0, 0, 2]
    assert out.tolist() == [2, -30, 1]  # column 4 has no factor
