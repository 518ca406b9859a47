"""Rows of numbers: products, sums and norms of a row, fetching rows ahead, and shuffling."""

from itertools import product
from typing import NamedTuple

import numpy as np

from .compiling import compiled, inlined, inlined_sum, instruction
from .forms import FLOATS, WHOLE, given, vector


class Rows(NamedTuple):
    """The rows of X, one after the other in ``values``.

    Sparse rows (CSR) have the column of each value in ``indices``, and row i begins at
    ``starts[i]``. For dense rows ``indices`` is None and ``starts`` holds their length.
    Numbers of columns and rows are unsigned: a signed index costs a wrap-around test each time.
    All arrays are read-only views, so that one compiled form serves every caller.
    """

    values: np.ndarray
    indices: np.ndarray | None
    starts: np.ndarray


def each_rows():
    """The forms of rows, dense and sparse, of either precision."""
    for kind, indices in product(FLOATS, (None, given(np.uint32))):
        yield Rows(given(kind), indices, given(np.uint64))


# Numba compiles min and max again at every place where they are called.


@inlined
def smaller(a, b):
    """The smaller of two numbers; the first, if one is NaN."""
    return b if b < a else a


@inlined
def larger(a, b):
    """The larger of two numbers; the first, if one is NaN."""
    return b if b > a else a


# i is a row number, unsigned. Numba removes the branch of ``x is None`` only where x is an argument
# of the function.


@inlined
def span(i, indices, starts):
    """The places of row i among the values: its first, and the one after its last."""
    if indices is None:
        return i * starts[0], i * starts[0] + starts[0]
    return starts[i], starts[i + np.uint64(1)]


@inlined
def column(k, first, indices):
    """The column of value k in the row that begins at place first."""
    if indices is None:
        return k - first
    return indices[k]


ONE_CLASS, FIRST_CLASS = np.uint64(1), np.uint64(0)
"""In arrays of weights with one column: how many classes there are, and which one is meant."""


@inlined
def dot(w, i, rows):
    """The product w·xᵢ."""
    values, indices, starts = rows
    first, last = span(i, indices, starts)
    return dot_between(w, first, last, values, indices)


@inlined
def dot_between(w, first, last, values, indices):
    """The product of w and the values from place first to last."""
    if indices is None:
        return dense_dot(w, first, last, values)
    return sparse_dot(w, first, last, values, indices)


@inlined_sum
def dense_dot(w, first, last, values):
    """The product of w and a dense row, in the order that vector units prefer."""
    total = values.dtype.type(0)
    for k in range(first, last):
        total += values[k] * w[k - first]
    return total


@inlined
def sparse_dot(w, first, last, values, indices):
    """The product of w and a sparse row.

    Four independent sums run in parallel in the processor; vector units are slower here.
    """
    s0 = s1 = s2 = s3 = values.dtype.type(0)
    k = first
    while k + np.uint64(4) <= last:
        s0 += values[k] * w[indices[k]]
        s1 += values[k + np.uint64(1)] * w[indices[k + np.uint64(1)]]
        s2 += values[k + np.uint64(2)] * w[indices[k + np.uint64(2)]]
        s3 += values[k + np.uint64(3)] * w[indices[k + np.uint64(3)]]
        k += np.uint64(4)
    total = (s0 + s1) + (s2 + s3)
    while k < last:
        total += values[k] * w[indices[k]]
        k += np.uint64(1)
    return total


@inlined
def add(w, step, i, rows):
    """Add step·xᵢ to w, each product and each sum rounded once, as NumPy does."""
    values, indices, starts = rows
    first, last = span(i, indices, starts)
    for k in range(first, last):
        w[column(k, first, indices)] += step * values[k]


@inlined
def score(w, b, s, i, rows):
    """Set s to the score of every class; weight j·classes + c is of column j and class c."""
    values, indices, starts = rows
    first, last = span(i, indices, starts)
    classes = np.uint64(len(s))
    for c in range(classes):
        s[c] = b[c]
    for k in range(first, last):
        j = column(k, first, indices) * classes
        for c in range(classes):
            s[c] += values[k] * w[j + c]


@inlined_sum
def squared_norm(i, rows):
    """‖xᵢ‖², in double precision."""
    values, indices, starts = rows
    first, last = span(i, indices, starts)
    total = 0.0
    for k in range(first, last):
        total += np.float64(values[k]) * values[k]
    return total


@inlined
def best_other(s, y):
    """The class other than y with the largest score; of equals, the first."""
    rival = 1 if y == 0 else 0
    for c in range(rival + 1, len(s)):
        if s[c] > s[rival] and c != y:
            rival = c
    return rival


@compiled(lambda: ((rows, given(np.uint32)) for rows in each_rows()))
def largest_squared_norm(rows, order):
    """R²: the largest ‖xᵢ‖² among the rows in an order."""
    largest = 0.0
    for i in order:
        largest = larger(largest, squared_norm(np.uint64(i), rows))
    return largest


@inlined
def mix(z):
    """Scatter the bits of a 64-bit number (finalizer of SplitMix64, Steele et al. 2014)."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


# Fetching ahead: in a shuffled order the processor cannot guess which row comes next.

ROWS_AHEAD = 8
LINE = 64  # bytes of a cache line
LINES_AT_MOST = np.uint64(8)  # of a row; the processor itself fetches what follows


@instruction
def fetch(array, k):
    """Prefetch the cache line of array[k]."""


@inlined
def is_shuffled(order, start):
    """Whether the rows of an order do not follow each other in memory, by the first and the last.

    Where they do, the processor's own prefetching is better.
    """
    rest = len(order) - start
    return rest > 0 and np.int64(order[-1]) - np.int64(order[start]) != rest - 1


@inlined
def fetch_span(array, first, last):
    """Prefetch the elements first to last of an array."""
    line = np.uint64(LINE // array.itemsize)
    most = first + LINES_AT_MOST * line
    while first < last and first < most:
        fetch(array, first)
        first += line


@inlined
def fetch_row(t, order, rows):
    """Prefetch the row that comes some places after t in the order."""
    fetch_values(t, order, rows.values, rows.indices, rows.starts)


@inlined
def fetch_values(t, order, values, indices, starts):
    """Prefetch the row that comes some places after t in the order."""
    if t + 2 * ROWS_AHEAD < len(order):
        first, last = span(np.uint64(order[t + ROWS_AHEAD]), indices, starts)
        fetch_span(values, first, last)
        if indices is not None:
            fetch_span(indices, first, last)
            fetch(starts, np.uint64(order[t + 2 * ROWS_AHEAD]))


@inlined
def fetch_weights(w, classes, t, order, indices, starts):
    """Prefetch the weights of all columns of the row after place t, if rows are sparse."""
    if indices is not None and t + 1 < len(order):
        first, last = span(np.uint64(order[t + 1]), indices, starts)
        for k in range(first, last):
            place = indices[k] * np.uint64(classes)
            fetch_span(w, place, place + np.uint64(classes))


# Orders.


@compiled(lambda: [(vector(np.uint32), WHOLE, WHOLE)])
def shuffle(order, seed, epoch):
    """Shuffle uniformly: the same permutation for a seed and an epoch on every machine.

    Fisher-Yates with the bits of SplitMix64 and Lemire's (2019) unbiased reduction to a range.
    """
    state = mix(np.uint64(seed)) ^ mix(~np.uint64(epoch))
    for last in range(len(order) - 1, 0, -1):
        choices = np.uint64(last + 1)
        while True:
            state += np.uint64(0x9E3779B97F4A7C15)
            product = (mix(state) >> np.uint64(32)) * choices
            if product & np.uint64(0xFFFFFFFF) >= np.uint64(1 << 32) % choices:
                break
        chosen = product >> np.uint64(32)
        order[last], order[chosen] = order[chosen], order[last]
