"""Signs of scores that hold in spite of rounding, and hashes of rows."""

import numpy as np

from .algebra import column, mix, span
from .compiling import compiled, inlined_sum


@inlined_sum
def product_and_size(w, i, rows):
    """The product w·xᵢ and the sum of the absolute values of its terms, in double precision."""
    values, indices, starts = rows
    first, last = span(i, indices, starts)
    total, size = 0.0, 0.0
    for k in range(first, last):
        term = w[column(k, first, indices)] * values[k]
        total += term
        size += abs(term)
    return total, size


@compiled
def surely_positive(examples, w, b, out):
    """Set for every row whether y(w·x + b) > 0 for sure, in spite of rounding.

    A sum of m products in any order is off by at most m·u/(1 - m·u) times the sum of their sizes
    (Higham 2002, section 3.1), u = 2⁻⁵³, plus what underflows; both are taken twice here.
    """
    rows, steps = examples.rows, examples.steps
    bound = 2.0 * (len(w) + 4) * 2.0**-53
    lost = 2.0 * (len(w) + 4) * 2.0**-1074
    for i in range(len(out)):
        total, size = product_and_size(w, np.uint64(i), rows)
        a = total + b if steps[i] > 0 else -(total + b)
        out[i] = a > bound * (size + abs(b)) + lost


@compiled
def fingerprints(rows, out):
    """Set a hash of every row, which is the same for equal rows, dense or sparse."""
    values, indices, starts = rows
    for i in range(len(out)):
        first, last = span(np.uint64(i), indices, starts)
        total = np.uint64(0)
        for k in range(first, last):
            if values[k] != 0:
                bits = np.float64(values[k]).view(np.uint64)
                total += mix(bits ^ mix(np.uint64(column(k, first, indices) + 1)))
        out[i] = total
