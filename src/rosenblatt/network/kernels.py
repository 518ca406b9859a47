"""The thermal perceptron: as it cools, mistakes far from the boundary cause smaller updates."""

import math

import numpy as np

from ..kernels.algebra import add, dot, each_rows
from ..kernels.compiling import compiled
from ..kernels.forms import REAL, given, vector


def forms_of_units():
    """Rows of either precision; weights are in double precision."""
    weights = vector(np.float64)
    for rows in each_rows():
        yield rows, given(np.float64), given(np.uint32), weights, weights, REAL, REAL


@compiled(forms_of_units)
def thermal(rows, targets, order, w, b, temperature, rate):
    """On every mistake, w += αyx·exp(-|a|/T) and b likewise; return the number of mistakes.

    Frean (1992), "A 'thermal' perceptron learning rule", Neural Computation 4(6). An activation of
    0 is negative.
    """
    mistakes = 0
    for t in range(len(order)):
        i = np.uint64(order[t])
        a = dot(w, i, rows) + b[0]
        if (a > 0.0) != (targets[i] > 0.0):
            step = rate * targets[i] * math.exp(-abs(a) / temperature)
            add(w, step, i, rows)
            b[0] += step
            mistakes += 1
    return mistakes
