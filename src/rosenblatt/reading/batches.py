"""Batches, which a reader yields: some rows with their labels and weights."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ..data.labels import LabelSets, join_labels
from ..data.rows import join_rows, n_rows, read_only, rows_between, rows_where, to_matrix
from ..kernels.algebra import Rows
from ..parameters import InputError

NO_ROWS = Rows(np.empty(0), None, np.zeros(1, np.uint64))


class Batch(NamedTuple):
    """Some rows, and how far the reader got with them.

    Attributes
    ----------
    rows : Rows
        As kernels see them; ``X`` is the same as an array or a matrix.
    labels : ndarray, LabelSets or None
        Numbers or strings, sets of these where rows may have several, None if there are none.
    weights : ndarray or None
        Of the rows, if not all are 1.
    width : int
        The number of columns known so far.
    bytes_read : int
        What was taken from the source so far, before decompression.
    lines : int
        What was read of it so far.
    ids : ndarray or None
        The names of the rows, where a column has them.

    See Also
    --------
    Reader : Yields these.

    Examples
    --------
    >>> from rosenblatt import read
    >>> (batch,) = read([{"size": 3, "kind": "a"}, {"size": 1, "kind": "b"}], scale="none")
    >>> batch.X.tolist(), batch.y.tolist(), batch.width
    ([[3.0], [1.0]], ['a', 'b'], 1)
    """

    rows: Rows
    labels: Any
    weights: np.ndarray | None
    width: int
    bytes_read: int
    lines: int
    ids: np.ndarray | None = None

    @property
    def X(self) -> Any:  # noqa: N802
        """The rows as an array or a CSR matrix, as ``partial_fit`` takes them."""
        return to_matrix(self.rows, n_rows(self.rows), self.width)

    @property
    def y(self) -> Any:
        """The labels."""
        return self.labels


def join_batches(parts: list[Batch], rows: Rows | None = None) -> Batch:
    """Join several batches, whose rows may be joined already."""
    labels = None if parts[0].labels is None else join_labels([part.labels for part in parts])
    rows, weights = join_rows([part.rows for part in parts]) if rows is None else rows, None
    if any(part.weights is not None for part in parts):
        each = [np.ones(n_rows(one.rows)) if one.weights is None else one.weights for one in parts]
        weights = np.concatenate(each)
    return Batch(
        rows,
        labels,
        weights,
        max(part.width for part in parts) if rows.indices is not None else int(rows.starts[0]),
        parts[-1].bytes_read,
        parts[-1].lines,
        None if parts[0].ids is None else np.concatenate([part.ids for part in parts]),
    )


def without_rows(batch: Batch) -> Batch:
    """Return what a batch has beside its rows, without the larger arrays that it views."""
    labels = batch.labels
    if isinstance(labels, LabelSets):
        labels = LabelSets(labels.values.copy(), labels.starts.copy())
    labels = labels.copy() if isinstance(labels, np.ndarray) else labels
    weights = None if batch.weights is None else batch.weights.copy()
    return batch._replace(rows=NO_ROWS, labels=labels, weights=weights)


def slice_batch(batch: Batch, first: int, stop: int) -> Batch:
    """Return the rows first to stop of a batch, without copying their values."""
    return with_rows(batch, rows_between(batch.rows, first, stop), slice(first, stop))


def select_rows(batch: Batch, keep: np.ndarray) -> Batch:
    """Copy the rows of a batch that are flagged."""
    return with_rows(batch, rows_where(batch.rows, keep), keep)


def with_rows(batch: Batch, rows: Rows, some: slice | np.ndarray) -> Batch:
    """Return a batch of some of the rows, given as a slice or by flags."""
    known = batch.labels, batch.weights, batch.ids
    labels, weights, ids = (None if one is None else one[some] for one in known)
    return batch._replace(rows=rows, labels=labels, weights=weights, ids=ids)


def get_labels(batch: Batch, first_row: int = 0) -> np.ndarray:
    """Return the labels of a batch, one per row; ``first_row`` rows came before it."""
    if batch.labels is None:
        raise InputError("The file has no labels.", code="no-labels")
    if isinstance(batch.labels, LabelSets):
        raise InputError(
            "Rows may have several labels; expected one label for each row.", code="several-labels"
        )
    if batch.labels.dtype.kind == "f":
        unknown = np.flatnonzero(np.isnan(batch.labels))
        if len(unknown):
            row = first_row + int(unknown[0]) + 1
            raise InputError(f"Row {row} has no label.", code="no-label", line=row)
    return np.asarray(batch.labels)


def get_label_sets(batch: Batch) -> LabelSets:
    """Return the label sets of a batch whose rows may have several labels."""
    if not isinstance(batch.labels, LabelSets):
        raise InputError("The file has no labels.", code="no-labels")
    return batch.labels


def known_labels(batch: Batch, first_row: int = 0) -> Any:
    """Return the labels of a batch: one per row, or sets; ``first_row`` rows came before it."""
    return batch.labels if isinstance(batch.labels, LabelSets) else get_labels(batch, first_row)


def cut_windows(batches: Iterable[Batch], size: int) -> Iterator[Batch]:
    """Yield batches of ``size`` rows each, or as they come if the size is 0."""
    if not size:
        yield from batches
        return
    waiting: list[Batch] = []
    count = 0
    for batch in batches:
        waiting.append(batch)
        count += n_rows(batch.rows)
        if count >= size:
            whole, full = join_batches(waiting), count - count % size
            for begin in range(0, full, size):
                yield slice_batch(whole, begin, begin + size)
            waiting, count = [slice_batch(whole, full, count)], count - full
    if count:
        yield join_batches(waiting)


class GrowingArray:
    """An array that parts are added to; it grows by an eighth, in place where the system can."""

    def __init__(self) -> None:
        self.array, self.size = np.empty(0), 0

    def add(self, part: np.ndarray) -> None:
        """Add a part, which is copied."""
        end = self.size + len(part)
        if not self.size:
            self.array = np.empty(end, part.dtype)
        elif end > len(self.array):
            self.array.resize(max(end, len(self.array) * 9 // 8), refcheck=False)
        self.array[self.size : end] = part
        self.size = end

    def finish(self) -> np.ndarray:
        """Return the whole; nothing can be added to it."""
        self.array.resize(self.size, refcheck=False)
        return self.array


class GrowingRows:
    """Rows that those of batches are added to, so that no batch stays beside the whole."""

    def __init__(self) -> None:
        self.values, self.indices, self.lengths = GrowingArray(), GrowingArray(), GrowingArray()
        self.length: np.ndarray | None = None  # of dense rows

    def add(self, rows: Rows) -> None:
        """Add rows, which are copied."""
        self.values.add(rows.values)
        if rows.indices is None:
            self.length = rows.starts
        else:
            self.indices.add(rows.indices)
            self.lengths.add(np.diff(rows.starts))

    def finish(self) -> Rows:
        """Return the whole, whose values may be written to."""
        if self.length is not None:
            return Rows(self.values.finish(), None, self.length)
        starts = np.zeros(self.lengths.size + 1, np.uint64)
        np.cumsum(self.lengths.finish(), out=starts[1:])
        return Rows(self.values.finish(), read_only(self.indices.finish()), read_only(starts))
