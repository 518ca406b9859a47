"""Quantile bins: each number also becomes the category of the interval that it lies in.

A linear model of bins is a step function of each column; with pairs, of every two columns.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ..data.rows import join_rows, n_rows, rows_where
from ..kernels.algebra import Rows, mix
from ..kernels.words import CSRBuffer
from ..parameters import ParameterError

MOST_BINNED = 1 << 16  # rows that decide the edges; of more rows, every second, fourth …
MOST_COLUMNS = 1 << 12  # of svmlight, whose edges a recipe holds
Edges = Mapping[str, Sequence[float]]


def find_edges(numbers: np.ndarray, bins: int) -> list[float]:
    """Return the edges between bins of about equally many numbers; none for two values or fewer.

    Few different values get a bin each. A number on an edge belongs to the lower bin.

    >>> find_edges(np.arange(9.0), 3)
    [2.5, 5.5]
    """
    values = np.unique(numbers)
    if len(values) <= 2:
        return []
    if len(values) <= bins:
        return [float(edge) for edge in values[:-1] / 2 + values[1:] / 2]
    wanted = np.quantile(numbers, np.linspace(0, 1, bins + 1)[1:-1])
    above = np.unique(np.clip(np.searchsorted(values, wanted, "right"), 1, len(values) - 1))
    return [float(edge) for edge in values[above - 1] / 2 + values[above] / 2]


def name_bins(name: str, edges: Sequence[float]) -> list[str]:
    """Write the names of the bins of a column.

    >>> name_bins("age", [25.0, 40.0])
    ['age ≤ 25', '25 < age ≤ 40', 'age > 40']
    """
    between = [f"{low:.6g} < {name} ≤ {high:.6g}" for low, high in pairwise(edges)]
    return [f"{name} ≤ {edges[0]:.6g}", *between, f"{name} > {edges[-1]:.6g}"]


class ColumnBins:
    """The bins of one column of a table, and the index of the feature of each bin."""

    def __init__(self, edges: Sequence[float], indices: Sequence[int]) -> None:
        self.edges = np.array(edges, np.float64)
        self.indices = np.array(indices, np.uint32)

    def features(self, column: np.ndarray, dtype: np.dtype) -> CSRBuffer:
        """Make the feature of each number's bin; none for a missing number."""
        known = ~np.isnan(column)
        numbers = np.searchsorted(self.edges, column[known].astype(np.float64))
        starts = np.zeros(len(column) + 1, np.uint64)
        np.cumsum(known, out=starts[1:])
        return CSRBuffer(np.ones(len(numbers), dtype), self.indices[numbers], starts)


class SparseBins:
    """The bins of the numbered columns of sparse rows; an absent number, which is 0, has none."""

    def __init__(self, edges: Edges, mask: np.uint64) -> None:
        self.columns, self.mask = np.array(sorted(map(int, edges)), np.int64), mask
        listed = [edges[str(column)] for column in self.columns.tolist()]
        counts = np.array([len(some) for some in listed], np.int64)
        self.first = np.cumsum(counts) - counts
        # Complex numbers are sorted by column first, and then by edge: one search finds all bins.
        own = np.repeat(np.arange(len(listed)), counts)
        self.edges = own + 1j * np.array([edge for some in listed for edge in some], np.float64)

    def add(self, rows: CSRBuffer, scaled: np.ndarray) -> CSRBuffer:
        """Hash the columns of scaled numbers, and add the feature of its bin behind each."""
        places = np.searchsorted(self.columns, rows.indices)
        binned = places < len(self.columns)
        binned[binned] = self.columns[places[binned]] == rows.indices[binned]
        binned &= rows.values != 0
        own, counts = places[binned], 1 + binned
        numbers = own + 1j * rows.values[binned].astype(np.float64)
        bins = np.searchsorted(self.edges, numbers) - self.first[own]
        last = np.cumsum(counts) - 1  # the place of the last feature of each number
        values, indices = np.ones(counts.sum(), rows.values.dtype), np.empty(counts.sum(), "u4")
        values[last - binned] = scaled
        indices[last - binned] = rows.indices & np.uint32(self.mask)
        indices[last[binned]] = hash_bins(self.columns[own], bins, self.mask)
        ends = np.append(0, np.cumsum(counts))
        return CSRBuffer(values, indices, ends[rows.starts.astype(np.int64)].astype(np.uint64))


def hash_bins(columns: np.ndarray, bins: np.ndarray, mask: np.uint64) -> np.ndarray:
    """Return the hashed index of each bin of a numbered column."""
    keys = (columns.astype(np.uint64) + np.uint64(1)) << np.uint64(8) | bins.astype(np.uint64)
    return np.asarray(mix.py_func(keys * np.uint64(0x9E3779B97F4A7C15)) & mask, np.uint32)


class SparseSample:
    """Evenly spaced sparse rows, by which edges are found."""

    def __init__(self) -> None:
        self.kept: list[Rows] = []
        self.step, self.rows, self.count = 1, 0, 0

    def add(self, rows: Rows) -> None:
        """Keep some of the rows; when these become too many, every second of them."""
        wanted = (self.rows + np.arange(n_rows(rows))) % self.step == 0
        self.kept.append(rows_where(rows, wanted))
        self.rows, self.count = self.rows + len(wanted), self.count + int(wanted.sum())
        while self.count > MOST_BINNED:
            joined, self.step = join_rows(self.kept), 2 * self.step
            self.kept = [rows_where(joined, np.arange(self.count) % 2 == 0)]
            self.count = n_rows(self.kept[0])

    def edges(self, bins: int) -> dict[str, list[float]]:
        """Return the edges of each column, of its numbers that are not 0."""
        if not any(len(rows.values) for rows in self.kept):
            return {}
        joined = join_rows(self.kept)
        indices: Any = joined.indices
        order = np.argsort(indices, kind="stable")
        columns, starts = np.unique(indices[order], return_index=True)
        if len(columns) > MOST_COLUMNS:
            raise ParameterError(
                f"The rows have {len(columns):,} columns, and bins is for at most "
                f"{MOST_COLUMNS:,} numbered columns; leave it out.",
                code="bins-columns",
            )
        values = np.split(joined.values[order].astype(np.float64), starts[1:])
        found = {
            str(column): find_edges(some[some != 0], bins)
            for column, some in zip(columns.tolist(), values, strict=True)
        }
        return {column: edges for column, edges in found.items() if edges}
