"""Rows as arrays: from and to matrices, joining and slicing, and checks of their numbers."""

import math
import sys
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..kernels import words
from ..kernels.algebra import Rows
from ..kernels.words import CSRBuffer
from ..parameters import InputError

Array = NDArray[Any]

MOST_ROWS = np.iinfo(np.uint32).max
MOST_COLUMNS = 1 << 32
# Numbers whose squares are hardly above 0, by the code of their type.
TINY = {code: float(np.sqrt(np.finfo(code).tiny)) for code in "fd"}


def view_rows(X: Any) -> Rows:
    """View a C-contiguous array or a CSR matrix as Rows, without copying its values.

    Entries that a CSR matrix has several times are added up, in a copy: rules would see a wrong
    norm. Numbers of columns become 32 bits wide and those of row starts 64, so that kernels are
    compiled for one type of each.

    >>> view_rows(np.eye(3)).values.size
    9
    """
    if X.shape[0] > MOST_ROWS:
        raise InputError(
            f"X has {X.shape[0]} rows and fit takes at most {MOST_ROWS}; use partial_fit.",
            code="too-many-rows",
        )
    if not hasattr(X, "indptr"):
        length = np.array([X.shape[1]], np.uint64)
        return Rows(read_only(X.reshape(-1)), None, read_only(length))
    check_structure(X)
    if X.shape[1] > MOST_COLUMNS:
        raise InputError(
            f"The sparse X has {X.shape[1]} columns and {MOST_COLUMNS} are possible; hash them to "
            "fewer.",
            code="too-many-columns",
        )
    indices = view_unsigned(X.indices).astype(np.uint32, copy=False)
    starts = view_unsigned(X.indptr).astype(np.uint64, copy=False)
    if not X.has_canonical_format:
        return view_filled_rows(CSRBuffer(X.data.copy(), indices.copy(), starts.copy()), X.shape[0])
    return Rows(read_only(X.data), read_only(indices), read_only(starts))


def view_filled_rows(buffer: CSRBuffer, rows: int) -> Rows:
    """Return the first rows of a buffer; columns that a row has several times are added up."""
    starts = buffer.starts[: rows + 1]
    words.merge_duplicates(buffer._replace(starts=starts), int(np.diff(starts).max(initial=0)))
    values = int(starts[rows])
    return Rows(
        read_only(buffer.values[:values]), read_only(buffer.indices[:values]), read_only(starts)
    )


def is_sparse(X: Any) -> bool:
    """Whether X is a sparse matrix of SciPy; before one is made, SciPy need not be imported."""
    scipy = sys.modules.get("scipy.sparse")
    return scipy is not None and bool(scipy.issparse(X))


def to_canonical(X: Any) -> Any:
    """Return X without duplicate entries and in order, if it is a CSR matrix."""
    if hasattr(X, "indptr"):
        check_structure(X)
        if not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
    return X


def check_structure(X: Any) -> None:
    """Refuse a CSR matrix with indices out of range: kernels do not check."""
    starts, indices, fault = X.indptr, X.indices, ""
    if starts[0] != 0 or starts[-1] > len(indices) or np.any(starts[1:] < starts[:-1]):
        fault = "row pointers (indptr) that are not in order"
    elif starts[-1] > len(X.data):
        fault = "fewer values than its row pointers (indptr) need"
    elif len(indices) and view_unsigned(indices).max() >= X.shape[1]:
        fault = f"a column index outside of its {X.shape[1]} columns"
    if fault:
        raise InputError(f"The sparse X has {fault}; build it again.", code="broken-csr")


def read_only(array: Array) -> Array:
    """A read-only view of an array."""
    view = array.view()
    view.flags.writeable = False
    return view


def view_unsigned(array: Array) -> Array:
    """View signed integers as unsigned ones; a negative number becomes a huge one."""
    return array.view(np.dtype(f"u{array.dtype.itemsize}"))


def first_not_finite(X: Any) -> tuple[int, int] | None:
    """The row and column of the first NaN or infinity, or None."""
    sparse = hasattr(X, "indptr")
    finite = np.isfinite(X.data if sparse else X.reshape(-1))
    if finite.all():
        return None
    place = int(np.argmin(finite))
    if sparse:
        return int(np.searchsorted(X.indptr, place, side="right")) - 1, int(X.indices[place])
    row, column = divmod(place, X.shape[1])
    return row, column


def n_rows(rows: Rows) -> int:
    """The number of rows."""
    if rows.indices is not None:
        return len(rows.starts) - 1
    return len(rows.values) // int(rows.starts[0])


def join_rows(parts: list[Rows]) -> Rows:
    """Join the rows of several batches."""
    values = read_only(np.concatenate([part.values for part in parts]))
    if parts[0].indices is None:
        return Rows(values, None, parts[0].starts)
    indices = read_only(np.concatenate([part.indices for part in parts]))
    lengths = np.concatenate([np.diff(part.starts) for part in parts])
    starts = np.concatenate([np.zeros(1, np.uint64), np.cumsum(lengths, dtype=np.uint64)])
    return Rows(values, indices, read_only(starts))


def rows_between(rows: Rows, first: int, stop: int) -> Rows:
    """The rows first to stop, without copying their values."""
    if rows.indices is None:
        width = int(rows.starts[0])
        return Rows(rows.values[first * width : stop * width], None, rows.starts)
    begin, end = int(rows.starts[first]), int(rows.starts[stop])
    starts = read_only(rows.starts[first : stop + 1] - rows.starts[first])
    return Rows(rows.values[begin:end], rows.indices[begin:end], starts)


def to_matrix(rows: Rows, count: int, width: int) -> Any:
    """Rows as an array or a CSR matrix of at least their width."""
    if rows.indices is None:
        return with_columns(rows.values.reshape(count, int(rows.starts[0])), width)
    from scipy.sparse import csr_array

    short = max(len(rows.values), width) <= np.iinfo(np.int32).max
    kind = np.dtype(np.int32 if short else np.int64)
    indices = rows.indices.view(kind) if short else rows.indices.astype(kind)
    return csr_array((rows.values, indices, rows.starts.astype(kind)), shape=(count, width))


def stack_rows(parts: list[Any]) -> Any:
    """Put matrices of the same columns, or lists of numbers, below each other; maybe sparse."""
    if not any(map(is_sparse, parts)):
        return np.concatenate(parts)
    from scipy.sparse import vstack

    return vstack(parts, format="csr")


def with_columns(X: Any, width: int) -> Any:
    """Add columns of zeros to a matrix, up to a width."""
    if X.shape[1] >= width:
        return X
    if hasattr(X, "indptr"):
        return type(X)((X.data, X.indices, X.indptr), shape=(X.shape[0], width))
    return np.pad(X, ((0, 0), (0, width - X.shape[1])))


def known_columns(rows: Rows, width: int, known: int) -> Rows:
    """Drop the values in columns from ``known`` on; ``width`` is the number of columns of rows."""
    if rows.indices is None:
        length = int(rows.starts[0])
        cut = rows.values.reshape(-1, max(length, 1))[:, :known]
        return rows if length <= known else view_rows(np.ascontiguousarray(cut))
    if width <= known or not (rows.indices >= known).any():
        return rows
    keep = rows.indices < known
    ends = np.concatenate([np.zeros(1, np.uint64), np.cumsum(keep, dtype=np.uint64)])
    starts = read_only(ends[rows.starts.astype(np.intp)])
    return Rows(read_only(rows.values[keep]), read_only(rows.indices[keep]), starts)


def rows_where(rows: Rows, keep: Array) -> Rows:
    """Copy the rows that are flagged."""
    if rows.indices is None:
        width = int(rows.starts[0])
        return rows._replace(values=read_only(rows.values.reshape(-1, width)[keep].reshape(-1)))
    lengths: Array = np.diff(rows.starts.astype(np.intp))
    values = np.repeat(keep, lengths)
    starts = np.append(0, np.cumsum(lengths[keep])).astype(np.uint64)
    return Rows(read_only(rows.values[values]), read_only(rows.indices[values]), read_only(starts))


def drop_empty_columns(rows: Rows, width: int) -> tuple[Rows, int]:
    """Renumber the columns of sparse rows without those that are empty; return how many remain."""
    assert rows.indices is not None
    known = np.zeros(width, bool)
    known[rows.indices] = True
    places = (np.cumsum(known) - 1).astype(np.uint32)
    return rows._replace(indices=read_only(places[rows.indices])), max(int(known.sum()), 1)


def refuse_not_finite(X: Any, first_row: int = 0) -> None:
    """Raise if X has NaN or infinity, with its place."""
    if (place := first_not_finite(X)) is not None:
        raise value_error(X[place], first_row + place[0], place[1])


def value_error(value: Any, row: int, column: int) -> InputError:
    """The error for a value that is NaN or infinite."""
    what = "NaN" if np.isnan(value) else "infinity (inf)"
    return InputError(
        f"Input X contains {what} in row {row}, column {column}; remove or impute such values "
        "first.",
        code="not-finite",
        line=row,
        column=column,
    )


def not_finite(rows: Rows, row: int) -> InputError:
    """The error for a row without a finite score, due to its values or to the weights."""
    one = rows_between(rows, row, row + 1)
    bad = np.flatnonzero(~np.isfinite(one.values))
    if not len(bad):
        return overflow(rows.values.dtype)
    column = bad[0] if one.indices is None else one.indices[bad[0]]
    return value_error(one.values[bad[0]], row, int(column))


def overflow(dtype: Any) -> InputError:
    """The error for weights that are not finite."""
    wider = " or use float64" if dtype == np.float32 else ""
    return InputError(
        f"The weights grew beyond what {dtype} can hold (infinity); scale the numbers down{wider}.",
        code="overflow",
    )


def largest_size(numbers: Array) -> Any:
    """The largest absolute value, found without a copy; NaN if there is one, 0 of no numbers."""
    return max(numbers.max(initial=0.0), -numbers.min(initial=0.0))


def refuse_lost(coef: Array, updates: int, parts: Iterable[Rows]) -> None:
    """Raise if weights are infinite, or tiny as squares of the rows' numbers overflow or underflow.

    Rules divide by these squares. Rows are examined only if the weights are tiny.
    """
    largest = largest_size(coef)
    if not math.isfinite(largest):
        raise overflow(coef.dtype)
    if not updates or largest > TINY[coef.dtype.char]:
        return
    with np.errstate(over="ignore", under="ignore"):
        for rows in parts:
            size = largest_size(rows.values)
            square = size * size
            if size > 0 and largest * size == 0 and square in (0, np.inf):
                word = "large" if size > 1 else "small"
                raise InputError(
                    f"X has numbers of size {size:.0e}, too {word} for {size.dtype} to learn from "
                    "(their squares cannot be held); scale the numbers.",
                    code="lost-numbers",
                )


def to_dense(block: Any) -> Array:
    """A matrix, sparse or not, as an array."""
    return np.asarray(block.toarray() if hasattr(block, "toarray") else block)
