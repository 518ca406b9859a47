"""Quantile bins: each number also becomes the category of the interval that it lies in.

A linear model of bins is a step function of each column; with pairs, of every two columns.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from ..kernels.words import CSRBuffer

MOST_BINNED = 1 << 16  # rows that decide the edges; of more rows, every second, fourth …


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


def make_bins(
    edges: np.ndarray, indices: np.ndarray, column: np.ndarray, dtype: np.dtype
) -> CSRBuffer:
    """Make the feature of each number's bin; none for a missing number."""
    known = ~np.isnan(column)
    numbers = np.searchsorted(edges, column[known].astype(np.float64))
    starts = np.zeros(len(column) + 1, np.uint64)
    np.cumsum(known, out=starts[1:])
    return CSRBuffer(np.ones(len(numbers), dtype), indices[numbers], starts)
