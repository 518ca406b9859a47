"""Rows and what is computed with one of them: products, sums, norms; fetching ahead; shuffling."""

from typing import NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from .compiling import compiled, compiled_sum


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


# i is a row number; values, indices and starts are the fields of Rows.


@compiled
def span(i, indices, starts):
    """Where row i begins and ends among the values."""
    i = np.uint64(i)
    if indices is None:
        return i * starts[0], i * starts[0] + starts[0]
    return starts[i], starts[i + np.uint64(1)]


@compiled
def column(k, first, indices):
    """The column of value k in the row that begins at first."""
    if indices is None:
        return k - first
    return indices[k]


@compiled_sum
def dot(w, i, values, indices, starts):
    """The product w·xᵢ."""
    first, last = span(i, indices, starts)
    total = values.dtype.type(0)
    for k in range(first, last):
        total += values[k] * w[column(k, first, indices)]
    return total


@compiled
def add(w, step, i, values, indices, starts):
    """Add step·xᵢ to w, each product and each sum rounded once, as NumPy does."""
    first, last = span(i, indices, starts)
    for k in range(first, last):
        w[column(k, first, indices)] += step * values[k]


@compiled
def move(W, step, y, rival, i, values, indices, starts):
    """Add step·xᵢ to column y of W and take it from column rival."""
    first, last = span(i, indices, starts)
    for k in range(first, last):
        j = column(k, first, indices)
        W[j, y] += step * values[k]
        W[j, rival] -= step * values[k]


@compiled_sum
def score(W, b, s, i, values, indices, starts):
    """Set s = Wᵀxᵢ + b: the activation of every class, one column of W each.

    Four classes at a time, so that their sums stay in registers.
    """
    first, last = span(i, indices, starts)
    c = 0
    while c + 4 <= len(s):
        s0, s1, s2, s3 = b[c], b[c + 1], b[c + 2], b[c + 3]
        for k in range(first, last):
            j = column(k, first, indices)
            s0 += values[k] * W[j, c]
            s1 += values[k] * W[j, c + 1]
            s2 += values[k] * W[j, c + 2]
            s3 += values[k] * W[j, c + 3]
        s[c], s[c + 1], s[c + 2], s[c + 3] = s0, s1, s2, s3
        c += 4
    while c < len(s):
        s0 = b[c]
        for k in range(first, last):
            s0 += values[k] * W[column(k, first, indices), c]
        s[c] = s0
        c += 1


@compiled_sum
def squared_norm(i, values, indices, starts):
    """‖xᵢ‖², in double precision."""
    first, last = span(i, indices, starts)
    total = 0.0
    for k in range(first, last):
        total += np.float64(values[k]) * values[k]
    return total


@compiled
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
        largest = max(largest, squared_norm(i, *rows[:]))
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
LINES_AT_MOST = 4  # of a row; the processor itself fetches what follows


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


@compiled
def fetch_span(array, first, last):
    """Ask for the elements first to last of an array."""
    line = np.uint64(LINE // array.itemsize)
    last = min(last, first + LINES_AT_MOST * line)
    while first < last:
        fetch(array, first)
        first += line


@compiled
def fetch_row(t, order, values, indices, starts):
    """Ask for the row that comes some places after t in the order."""
    ahead = min(t + ROWS_AHEAD, len(order) - 1)
    first, last = span(order[ahead], indices, starts)
    if np.intp(order[ahead]) - np.intp(order[t]) == ahead - t:
        last = first  # in file order the processor fetches by itself, and better
    fetch_span(values, first, last)
    if indices is not None:
        fetch_span(indices, first, last)
        fetch(starts, order[min(t + 2 * ROWS_AHEAD, len(order) - 1)])


@compiled
def fetch_weights(W, i, values, indices, starts):
    """Ask for the weights that row i will need, all classes of each column."""
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
