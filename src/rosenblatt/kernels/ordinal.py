"""Labels that are ranks: PRank learns one direction, and thresholds that divide it in order.

With k ranks, ``b`` holds k - 1 biases that never increase: the thresholds of the paper, negated.
Rank r is predicted if w·x + b is not negative for the first r of them. An update moves w·x towards
the right side of every threshold that it is not on the right side of. The weight of a row
multiplies its step. Steps that differ could exchange two thresholds: these are sorted, which brings
them nearer to all sorted ones, so that the bound of the paper stays.
"""

import math
from typing import NamedTuple

import numpy as np

from .algebra import add, dot, fetch_row, is_shuffled, smaller
from .compiling import compiled, inlined
from .linear import count_weight, log_update

SMALLEST = 5e-324  # positive number


class OrdinalSettings(NamedTuple):
    """Thresholds, and the step of the biases; w·x keeps the distance ``above`` from these."""

    above: float
    below: float
    intercept_step: float


@inlined
def predict_rank(a, b):
    """The number of the first biases that leave an activation not negative."""
    rank = 0
    while rank < len(b) and a + b[rank] >= 0.0:
        rank += 1
    return rank


@inlined
def rank_margin(a, b, y):
    """How far an activation is on the right side of the nearest threshold of rank y.

    It is positive exactly where rank y is predicted: on a threshold, where the higher rank is, it
    is the smallest positive number.
    """
    margin = math.inf
    if y > 0:
        margin = np.float64(a + b[y - 1])
        margin = SMALLEST if margin == 0.0 else margin
    if y < len(b):
        margin = smaller(margin, -np.float64(a + b[y]))
    return margin


@inlined
def move_biases(b, ub, a, y, step, time, settings):
    """Move all biases that an activation is on the wrong side of; return the sum of their signs."""
    total = 0.0
    for r in range(len(b)):
        sign = 1.0 if r < y else -1.0
        if sign * (a + b[r]) <= settings.above:
            total += sign
            move = b.dtype.type(sign * step * settings.intercept_step)
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


@compiled
def ordinal(examples, order, start, w, b, u, ub, clock, settings, log):
    """If the rank is wrong, w += τx, by the sum τ of wrong thresholds (Crammer & Singer 2001)."""
    rows, steps, labels = examples.rows, examples.steps, examples.labels
    updates, loss, shuffled = 0, 0.0, is_shuffled(order, start)
    for t in range(start, len(order)):
        i = np.uint64(order[t])
        if shuffled:
            fetch_row(t, order, rows)
        a, y = dot(w, i, rows), np.int64(labels[i])
        margin = rank_margin(a, b, y)
        if not margin > settings.above or not math.isfinite(a):
            if updates == len(log) or not math.isfinite(a):
                return t, updates, loss
            rank = predict_rank(a, b)
            time, weight = count_weight(clock, t), np.float64(steps[i])
            step = w.dtype.type(weight * move_biases(b, ub, a, y, weight, time, settings))
            sort_biases(b, ub, time)
            add(w, step, i, rows)
            if len(u):
                add(u, time * np.float64(step), i, rows)
            log_update(log, updates, t, rank, margin, step)
            loss += abs(rank - y)
            updates += 1
    return len(order), updates, loss
