"""The perceptron that tolerates noise: the more updates a row has caused, the less it needs."""

import math
from typing import NamedTuple

import numpy as np

from .algebra import add, dot, fetch_row, find_rival, is_shuffled, move, take_row
from .compiling import compiled
from .linear import log_update


class TolerantSettings(NamedTuple):
    """The settings of the perceptron, and how rows that cause updates are tolerated.

    A row that has caused k updates of size s needs ``slack`` · k · s less margin, and after
    ``most`` updates it causes no more.
    """

    above: float
    below: float
    intercept_step: float
    slack: float
    most: int


# The λ-trick and the α-bound: Khardon & Wachman (2007), "Noise tolerant variants of the perceptron
# algorithm", Journal of Machine Learning Research 8. Both kernels are those of linear.py, and count
# the updates of each row.


@compiled
def tolerant(examples, counts, order, start, w, b, settings, log):
    """On every mistake w += ηyx and b += ηy, unless the row's own updates excuse it."""
    rows, steps = examples.rows, examples.steps
    updates, loss, shuffled = 0, 0.0, is_shuffled(order, start)
    for t in range(start, len(order)):
        i = np.uint64(order[t])
        if shuffled:
            fetch_row(t, order, rows)
        a = dot(w, i, rows) + b[0]
        eased = settings.slack * counts[i] * steps[i]
        right = a + eased > settings.above if steps[i] > 0 else a + eased < settings.below
        if (not right and counts[i] < settings.most) or not math.isfinite(a):
            if updates == len(log) or not math.isfinite(a):
                return t, updates, loss
            add(w, steps[i], i, rows)
            b[0] += steps[i] * settings.intercept_step
            counts[i] += 1
            loss += log_update(log, updates, t, 0, a if steps[i] > 0 else -a, steps[i])
            updates += 1
    return len(order), updates, loss


@compiled
def tolerant_multiclass(examples, counts, order, start, W, b, settings, log):
    """Add ηx to the right class and subtract it from its best rival, unless the row is excused."""
    rows, steps, labels = examples.rows, examples.steps, examples.labels
    s = b.copy()
    updates, loss, shuffled = 0, 0.0, is_shuffled(order, start)
    for t in range(start, len(order)):
        i = take_row(t, order, rows, shuffled, W)
        y = labels[i]
        rival, lead = find_rival(W, b, s, y, i, rows)
        right = lead + settings.slack * counts[i] * steps[i] > settings.above
        if (not right and counts[i] < settings.most) or not math.isfinite(lead):
            if updates == len(log) or not math.isfinite(lead):
                return t, updates, loss
            move(W, b, steps[i], settings.intercept_step, y, rival, i, rows)
            counts[i] += 1
            loss += log_update(log, updates, t, rival, lead, steps[i])
            updates += 1
    return len(order), updates, loss
