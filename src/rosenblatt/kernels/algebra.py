"""Rows and what is computed with one of them: products, sums, norms; fetching ahead; shuffling."""

from typing import NamedTuple

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.extending import intrinsic

from .compiling import compiled, inlined, inlined_sum


class Rows(NamedTuple):
    """The rows of X, one after the other in ``values``.

    Sparse rows (CSR) have a column number in ``indices`` for each value, and ``starts`` says where
    each row begins. For dense rows ``indices`` is None and ``starts`` holds their one length.
    Numbers of columns and rows are unsigned: a signed index costs a wrap-around test each time.
    All arrays are read-only views, so that one compiled form serves every caller.
    """

    values: np.ndarray
    indices: np.ndarray | None
    starts: np.ndarray


# i is a row number, unsigned. x is None chooses a branch when a function is compiled only if x is
# an argument of it.


@inlined
def span(i, indices, starts):
    """Where row i begins and ends among the values."""
    if indices is None:
        return i * starts[0], i * starts[0] + starts[0]
    return starts[i], starts[i + np.uint64(1)]


@inlined
def column(k, first, indices):
    """The column of value k in the row that begins at first."""
    if indices is None:
        return k - first
    return indices[k]


@inlined
def dot(w, i, rows):
    """The product w·xᵢ."""
    values, indices, starts = rows
    first, last = span(i, indices, starts)
    return dot_between(w, first, last, values, indices)


@inlined
def dot_between(w, first, last, values, indices):
    """The product of w and the values from first to last."""
    if indices is None:
        return dense_dot(w, first, last, values)
    return sparse_dot(w, first, last, values, indices)


@inlined_sum
def dense_dot(w, first, last, values):
    """The same for a value in each column, added up as vector units like."""
    total = values.dtype.type(0)
    for k in range(first, last):
        total += values[k] * w[k - first]
    return total


@inlined
def sparse_dot(w, first, last, values, indices):
    """The same for values with their columns.

    Four sums at once, so that none waits for the one before. Vector units are slower here.
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
def move(W, step, y, rival, i, rows):
    """Add step·xᵢ to column y of W and take it from column rival."""
    values, indices, starts = rows
    first, last = span(i, indices, starts)
    for k in range(first, last):
        j = column(k, first, indices)
        W[j, y] += step * values[k]
        W[j, rival] -= step * values[k]


@inlined
def score(W, b, s, i, rows):
    """Set s = Wᵀxᵢ + b: the activation of every class, one column of W each."""
    values, indices, starts = rows
    first, last = span(i, indices, starts)
    for c in range(len(s)):
        s[c] = b[c]
    for k in range(first, last):
        j = column(k, first, indices)
        for c in range(len(s)):
            s[c] += values[k] * W[j, c]


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


@compiled
def largest_squared_norm(rows, order):
    """R²: the largest ‖xᵢ‖² among the rows in an order."""
    largest = 0.0
    for i in order:
        largest = max(largest, squared_norm(np.uint64(i), rows))
    return largest


@compiled
def mix(z):
    """Scatter the bits of a 64-bit number (the finaliser of SplitMix64, Steele et al. 2014)."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


# Fetching ahead: in a shuffled order the processor cannot guess which row comes next.

ROWS_AHEAD = 8
LINE = 64  # bytes that travel from memory together
LINES_AT_MOST = np.uint64(8)  # of a row; the processor itself fetches what follows


@intrinsic
def fetch(context, array, k):
    """Ask for the cache line of array[k] without waiting for it."""

    def generate(context, builder, signature, arguments):
        data = context.make_array(array)(context, builder, arguments[0]).data
        address = builder.gep(data, [arguments[1]])
        flag = ir.IntType(32)
        signature = ir.FunctionType(ir.VoidType(), [address.type, flag, flag, flag])
        prefetch = builder.module.declare_intrinsic("llvm.prefetch", [address.type], signature)
        to_read, to_keep, data = flag(0), flag(3), flag(1)
        builder.call(prefetch, [address, to_read, to_keep, data])
        return context.get_dummy_value()

    return types.void(array, k), generate


if config.DISABLE_JIT:

    def fetch(array, k):
        """Do nothing: plain Python has no cache lines to ask for."""


@inlined
def is_shuffled(order, start):
    """Whether rows do not lie one after the other in memory, as the first and the last tell.

    Where they do, the processor fetches by itself, and better.
    """
    rest = len(order) - start
    return rest > 0 and np.int64(order[-1]) - np.int64(order[start]) != rest - 1


@inlined
def fetch_span(array, first, last):
    """Ask for the elements first to last of an array, if there is one."""
    if array is not None:
        line = np.uint64(LINE // array.itemsize)
        most = first + LINES_AT_MOST * line
        while first < last and first < most:
            fetch(array, first)
            first += line


@inlined
def fetch_row(t, order, rows):
    """Ask for the row that comes some places after t in the order."""
    values, indices, starts = rows
    if t + 2 * ROWS_AHEAD < len(order):
        first, last = span(np.uint64(order[t + ROWS_AHEAD]), indices, starts)
        fetch_span(values, first, last)
        fetch_span(indices, first, last)
        fetch_start(np.uint64(order[t + 2 * ROWS_AHEAD]), indices, starts)


@inlined
def fetch_start(i, indices, starts):
    """Ask for where row i begins, if that must be read."""
    if indices is not None:
        fetch(starts, i)


@inlined
def fetch_weights(W, i, rows):
    """Ask for the weights that row i will need, all classes of each column."""
    fetch_columns(W, i, rows.indices, rows.starts)


@inlined
def fetch_columns(W, i, indices, starts):
    """Ask for the weights of each column of a sparse row."""
    if indices is not None:
        classes = np.uint64(W.shape[1])
        first, last = span(i, indices, starts)
        for k in range(first, last):
            fetch_span(W, indices[k] * classes, indices[k] * classes + classes)


# Orders.


@compiled
def shuffle(order, seed, epoch):
    """A uniformly random permutation: the same for a seed and an epoch on every machine.

    Fisher-Yates with the bits of SplitMix64 and Lemire's (2019) unbiased way to a smaller range.
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
