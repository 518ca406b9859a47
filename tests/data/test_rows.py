"""The door: nothing is copied, nothing hostile comes in, what is not finite is named."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numba import typeof
from scipy.sparse import csr_array, csr_matrix

from rosenblatt.data.rows import (
    drop_empty_columns,
    first_not_finite,
    join_rows,
    known_columns,
    n_rows,
    not_finite,
    overflow,
    refuse_not_finite,
    rows_between,
    to_matrix,
    view_rows,
    with_columns,
)

from ..conftest import LAYOUTS, csr
from ..reading.samples import refused

X = np.array([[1.0, 0, 2], [0, 0, 3]])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_dense_rows_are_a_read_only_view(dtype):
    dense = X.astype(dtype)
    rows = view_rows(dense)
    assert np.shares_memory(rows.values, dense)
    assert not rows.values.flags.writeable
    assert dense.flags.writeable
    assert rows.indices is None
    assert rows.starts.tolist() == [3]


def test_kernels_are_compiled_for_two_layouts_of_two_types():
    given = [layout(X.astype(kind)) for layout in LAYOUTS.values() for kind in ("f4", "f8")]
    assert len({typeof(view_rows(one)) for one in given}) == 4


def test_more_columns_than_kernels_can_number_are_refused():
    wide = csr_array(([1.0], [2**32], [0, 1]), shape=(1, 2**32 + 1))
    with refused("too-many-columns"):
        view_rows(wide)


@pytest.mark.parametrize("index_type", [np.int32, np.int64])
@pytest.mark.parametrize("kind", [csr_array, csr_matrix])
def test_sparse_rows_are_read_only_views_with_unsigned_numbers(index_type, kind):
    sparse = kind(csr(X, index_type))
    sparse.indices, sparse.indptr = map(index_type, (sparse.indices, sparse.indptr))
    rows = view_rows(sparse)
    assert (rows.indices.dtype, rows.starts.dtype) == (np.uint32, np.uint64)
    for mine, theirs in zip(rows, (sparse.data, sparse.indices, sparse.indptr), strict=True):
        assert mine.tolist() == theirs.tolist()
        assert not mine.flags.writeable
        same_size = mine.dtype.itemsize == theirs.dtype.itemsize
        assert np.shares_memory(mine, theirs) == same_size
    assert rows.starts.tolist() == [0, 2, 3]


def test_read_only_and_mapped_arrays_are_seen_where_they_lie(tmp_path):
    mapped = np.memmap(tmp_path / "X", np.float64, "w+", shape=X.shape)
    mapped[:] = X
    frozen = X.copy()
    frozen.flags.writeable = False
    for dense in (mapped, frozen):
        assert np.shares_memory(view_rows(dense).values, dense)


@pytest.mark.parametrize(
    ("field", "position", "value"),
    [
        ("indices", 0, 3),
        ("indices", -1, -1),
        ("indptr", 0, 1),
        ("indptr", 1, 4),
        ("indptr", 1, -1),
        ("indptr", -1, 9),
    ],
)
@pytest.mark.parametrize("index_type", [np.int32, np.int64])
def test_sparse_rows_that_point_outside_are_refused(field, position, value, index_type):
    sparse = csr(X, index_type)
    getattr(sparse, field)[position] = value
    with refused("broken-csr"):
        view_rows(sparse)


def test_sparse_rows_with_too_few_values_are_refused():
    sparse = csr(X)
    sparse.data = sparse.data[:-1]
    with refused("broken-csr"):
        view_rows(sparse)


def test_more_rows_than_a_row_number_can_hold_are_refused():
    with refused("too-many-rows"):
        view_rows(SimpleNamespace(shape=(2**32, 1)))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("layout", [np.array, csr])
@pytest.mark.parametrize("place", [(0, 0), (0, 2), (1, 2)])
def test_the_first_value_that_is_not_finite_is_found(bad, layout, place):
    holed = X.copy()
    holed[place] = bad
    holed[1, 2] = bad
    assert first_not_finite(layout(holed)) == place


@pytest.mark.parametrize("layout", [np.array, csr])
def test_finite_rows_have_no_such_value(layout):
    assert first_not_finite(layout(X)) is None


@pytest.mark.parametrize("layout", [np.array, csr])
def test_what_is_not_finite_is_named_by_row_and_column(layout):
    holed = X.copy()
    holed[1, 2] = np.nan
    sentence = "Input X contains NaN in row 8, column 2; remove or impute such values first."
    with refused("not-finite", line=8, column=2):
        refuse_not_finite(layout(holed), first_row=7)
    refuse_not_finite(layout(X))
    assert str(not_finite(view_rows(layout(holed)), 1)) == sentence.replace("8", "1")
    holed[1, 2] = -np.inf
    assert "infinity (inf) in row 1, column 2" in str(not_finite(view_rows(layout(holed)), 1))
    weights = not_finite(view_rows(layout(X.astype(np.float32))), 1)
    assert str(weights) == str(overflow(np.dtype(np.float32)))
    assert "use float64" in str(weights)


# Rows are cut, joined and seen as matrices


def dense(X):
    return X.toarray() if hasattr(X, "indptr") else X


@pytest.mark.parametrize("layout", LAYOUTS)
@given(cuts=st.sets(st.integers(0, 9)))
def test_rows_are_cut_and_joined_again(layout, cuts):
    whole = np.arange(40.0).reshape(10, 4) * (np.arange(40).reshape(10, 4) % 3 > 0)
    rows = view_rows(LAYOUTS[layout](whole))
    ends = [0, *sorted(cuts), 10]
    parts = [rows_between(rows, *pair) for pair in itertools.pairwise(ends)]
    assert [n_rows(part) for part in parts] == np.diff(ends).tolist()
    for part, (first, stop) in zip(parts, itertools.pairwise(ends), strict=True):
        np.testing.assert_array_equal(dense(to_matrix(part, stop - first, 4)), whole[first:stop])
    np.testing.assert_array_equal(dense(to_matrix(join_rows(parts), 10, 4)), whole)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_columns_are_added_or_left_out(layout):
    matrix = LAYOUTS[layout](X)
    wider = np.hstack([X, np.zeros((2, 2))])
    np.testing.assert_array_equal(dense(with_columns(matrix, 5)), wider)
    assert with_columns(matrix, 3) is matrix
    rows = view_rows(matrix)
    np.testing.assert_array_equal(dense(to_matrix(rows, 2, 5)), wider)
    assert known_columns(rows, 3, 3) is rows
    cut = known_columns(rows, 3, 2)
    assert n_rows(cut) == 2
    np.testing.assert_array_equal(dense(to_matrix(cut, 2, 2)), X[:, :2])


def test_columns_that_do_not_occur_are_left_out():
    rows, width = drop_empty_columns(view_rows(csr_array(np.eye(5)[[3, 1]])), 5)
    assert width == 2
    np.testing.assert_array_equal(to_matrix(rows, 2, width).toarray(), [[0, 1], [1, 0]])
    assert drop_empty_columns(view_rows(csr_array((1, 5))), 5)[1] == 1
