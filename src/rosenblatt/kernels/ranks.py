"""PRank learns one direction, and thresholds that divide it in order.

An update moves w·x towards the right side of every threshold that it is not on the right side of.
The weight of a row multiplies its step. Steps that differ could exchange two thresholds: these are
sorted, which brings them nearer to all sorted ones, so that the bound of the paper stays.
"""

from typing import NamedTuple

import numpy as np

from .algebra import add
from .compiling import inlined
from .loop import count_weight, row_weight, update


class PRank(NamedTuple):
    """The distance that w·x keeps from the thresholds, and the step of the biases."""

    above: float
    bias: float

    learns = ("Ranks",)

    @classmethod
    def of(cls, parameters, bias):
        """The margin."""
        return cls(float(parameters["margin"]), float(bias))


@inlined
def move_biases(b, ub, a, y, step, time, rule):
    """Move all biases that an activation is on the wrong side of; return the sum of their signs."""
    total = 0.0
    for r in range(len(b)):
        sign = 1.0 if r < y else -1.0
        if sign * (a + b[r]) <= rule.above:
            total += sign
            move = b.dtype.type(sign * step * rule.bias)
            b[r] += move
            if len(ub):
                ub[r] += time * np.float64(move)
    return total


@inlined
def sort_biases(b, ub, time):
    """Bring the biases into descending order."""
    for r in range(1, len(b)):
        here = r
        while here > 0 and b[here] > b[here - 1]:
            rise = np.float64(b[here]) - np.float64(b[here - 1])
            b[here - 1], b[here] = b[here], b[here - 1]
            if len(ub):
                ub[here - 1] += time * rise
                ub[here] -= time * rise
            here -= 1


@update.of(PRank)
def move_towards_rank(rule, state, found, clock, t, i, examples):
    """W += τx, by the sum τ of the signs of wrong thresholds (Crammer & Singer 2001)."""
    w, b, u, ub = state.w, state.b, state.u, state.ub
    time, weight = count_weight(clock, t), row_weight(i, examples)
    a = w.dtype.type(found.score)
    step = w.dtype.type(weight * move_biases(b, ub, a, found.label, weight, time, rule))
    sort_biases(b, ub, time)
    add(w, step, i, examples.rows)
    if len(u):
        add(u, time * np.float64(step), i, examples.rows)
    return step
