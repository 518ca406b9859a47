"""Statistics of the columns of rows, and their standardization."""

import math

import numpy as np

from .algebra import larger
from .compiling import compiled
from .forms import FLOATS, WHOLE, given, vector

COUNT, ZEROS, SHIFT, SUM, SQUARES, LARGEST = range(6)
"""The statistics of a column: sums of x - SHIFT and of its square; SHIFT is the first number."""

BLOCK = 64  # rows, which stay in a processor's cache while each column is measured


@compiled(lambda: ((given(kind), WHOLE, vector(np.float64, 2)) for kind in FLOATS))
def measure(values, width, seen):
    """Add dense rows to the statistics of their columns, in the order of the rows.

    Missing numbers (NaN) do not count.
    """
    stop, step = np.uint64(len(values)), np.uint64(width)
    for first in range(np.uint64(0), stop, step * np.uint64(BLOCK)):
        for j in range(step):  # the statistics of a column stay in registers
            count, zeros, shift = seen[COUNT, j], seen[ZEROS, j], seen[SHIFT, j]
            total, squares, size = seen[SUM, j], seen[SQUARES, j], seen[LARGEST, j]
            last = first + step * np.uint64(BLOCK)
            for k in range(first + j, last if last < stop else stop, step):
                x = np.float64(values[k])
                if not math.isnan(x):
                    if count == 0:
                        shift = x
                    above = x - shift
                    count += 1
                    zeros += x == 0
                    total += above
                    squares += above * above
                    size = abs(x) if abs(x) > size else size
            seen[COUNT, j], seen[ZEROS, j], seen[SHIFT, j] = count, zeros, shift
            seen[SUM, j], seen[SQUARES, j], seen[LARGEST, j] = total, squares, size


def forms_of_scaling():
    """Numbers in double precision become those of either."""
    column = given(np.float64)
    for kind in FLOATS:
        yield given(np.float64), WHOLE, column, column, column, given(np.int64), vector(kind)


@compiled(forms_of_scaling)
def standardise(values, width, centre, factor, filling, flags, out):
    """Set out to (x - centre)·factor in each column of dense rows.

    A missing number becomes the filling of its column, and sets column flags[j] of out to 1, if
    flags[j] is above 0.
    """
    rows, kind = len(values) // width, out.dtype.type
    wide = len(out) // larger(rows, 1)
    for row in range(rows):
        place = row * wide
        for j in range(width, wide):
            out[place + j] = 0
        for j in range(width):
            x = values[row * width + j]
            if math.isnan(x):
                out[place + j] = kind(filling[j])
                if flags[j] > 0:
                    out[place + flags[j]] = 1
            else:
                out[place + j] = kind((np.float64(x) - centre[j]) * factor[j])


@compiled(lambda: ((given(kind), given(np.uint32), vector(np.float64)) for kind in FLOATS))
def largest(values, indices, sizes):
    """Raise the size of each column of sparse rows to its largest absolute value."""
    for k in range(len(values)):
        j = indices[k]
        sizes[j] = larger(sizes[j], abs(np.float64(values[k])))


def forms_of_moments():
    """Values of sparse rows, their columns, and two sums."""
    for kind in FLOATS:
        yield given(kind), given(np.uint32), vector(np.float64), vector(np.float64)


@compiled(forms_of_moments)
def add_moments(values, indices, sums, squares):
    """Add the values and their squares to the sums of their columns; further columns have none."""
    for k in range(len(values)):
        j, x = indices[k], np.float64(values[k])
        if j < len(sums):
            sums[j] += x
            squares[j] += x * x


@compiled(lambda: [(given(np.uint32), vector(np.float64))])
def count(indices, counts):
    """Count how often each column occurs."""
    for k in range(len(indices)):
        counts[indices[k]] += 1


@compiled(lambda: ((given(kind), given(np.uint32), given(kind), vector(kind)) for kind in FLOATS))
def multiply(values, indices, factors, out):
    """Set out to the values times the factors of their columns; 1 for columns without a factor."""
    for k in range(len(values)):
        j = indices[k]
        out[k] = values[k] * factors[j] if j < len(factors) else values[k]
