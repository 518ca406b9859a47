"""The door: nothing is copied, nothing hostile comes in, what is not finite is named."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csr_array, csr_matrix

from rosenblatt.rows import first_not_finite, rows_of

from .conftest import csr

X = np.array([[1.0, 0, 2], [0, 0, 3]])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_dense_rows_are_a_read_only_view(dtype):
    dense = X.astype(dtype)
    rows = rows_of(dense)
    assert np.shares_memory(rows.values, dense)
    assert not rows.values.flags.writeable
    assert dense.flags.writeable
    assert rows.indices is None
    assert rows.starts.tolist() == [3]


@pytest.mark.parametrize("index_type", [np.int32, np.int64])
@pytest.mark.parametrize("kind", [csr_array, csr_matrix])
def test_sparse_rows_are_read_only_views_with_unsigned_numbers(index_type, kind):
    sparse = kind(csr(X, index_type))
    sparse.indices, sparse.indptr = map(index_type, (sparse.indices, sparse.indptr))
    rows = rows_of(sparse)
    for mine, theirs in zip(rows, (sparse.data, sparse.indices, sparse.indptr), strict=True):
        assert np.shares_memory(mine, theirs)
        assert not mine.flags.writeable
        assert mine.dtype.itemsize == theirs.dtype.itemsize
    assert rows.indices.dtype.kind == rows.starts.dtype.kind == "u"
    assert rows.starts.tolist() == [0, 2, 3]


def test_read_only_and_mapped_arrays_are_seen_where_they_lie(tmp_path):
    mapped = np.memmap(tmp_path / "X", np.float64, "w+", shape=X.shape)
    mapped[:] = X
    frozen = X.copy()
    frozen.flags.writeable = False
    for dense in (mapped, frozen):
        assert np.shares_memory(rows_of(dense).values, dense)


@pytest.mark.parametrize(
    ("field", "position", "value", "sentence"),
    [
        ("indices", 0, 3, "column index outside of its 3 columns"),
        ("indices", -1, -1, "column index outside of its 3 columns"),
        ("indptr", 0, 1, "row pointers .* not in order"),
        ("indptr", 1, 4, "row pointers .* not in order"),
        ("indptr", 1, -1, "row pointers .* not in order"),
        ("indptr", -1, 9, "row pointers .* not in order"),
    ],
)
@pytest.mark.parametrize("index_type", [np.int32, np.int64])
def test_sparse_rows_that_point_outside_are_refused(field, position, value, sentence, index_type):
    sparse = csr(X, index_type)
    getattr(sparse, field)[position] = value
    with pytest.raises(ValueError, match=sentence):
        rows_of(sparse)


def test_sparse_rows_with_too_few_values_are_refused():
    sparse = csr(X)
    sparse.data = sparse.data[:-1]
    with pytest.raises(ValueError, match="fewer values"):
        rows_of(sparse)


def test_more_rows_than_a_row_number_can_hold_are_refused():
    with pytest.raises(ValueError, match=r"4294967296 rows .* partial_fit"):
        rows_of(SimpleNamespace(shape=(2**32, 1)))


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
