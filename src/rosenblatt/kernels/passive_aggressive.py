"""The passive-aggressive rule: the smallest step after which a row has margin 1, bounded by C.

With several classes, an update adds x to the right class and subtracts it from the best rival: a
row of twice the squared size (Crammer & Singer 2003). The bias is a weight of one more coordinate,
whose square is the settings' ``intercept_step``. The weight of a row multiplies C.
"""

import math
from typing import NamedTuple

import numpy as np

from .algebra import (
    add,
    dot,
    fetch_row,
    find_rival,
    is_shuffled,
    move,
    squared_norm,
    take_row,
)
from .compiling import compiled, inlined
from .linear import log_update

HARD, HINGE, SQUARED_HINGE = range(3)


class AggressiveSettings(NamedTuple):
    """Thresholds, the step of the bias, the aggressiveness C, and the loss."""

    above: float
    below: float
    intercept_step: float
    C: float
    loss: int


@inlined
def aggressive_step(lack, size, C, loss):
    """The step τ of PA, PA-I or PA-II for a row of a squared size, by what its margin lacks."""
    if loss == SQUARED_HINGE:
        return lack / (size + 0.5 / C)
    step = lack / size if size > 0.0 else 0.0
    return C if loss == HINGE and step > C else step


@compiled
def passive_aggressive(examples, order, start, w, b, settings, log):
    """If y(w·x + b) < 1, w += τyx with the least τ that makes it 1 (Crammer et al. 2006)."""
    rows, steps = examples.rows, examples.steps
    updates, loss, shuffled = 0, 0.0, is_shuffled(order, start)
    for t in range(start, len(order)):
        i = np.uint64(order[t])
        if shuffled:
            fetch_row(t, order, rows)
        a = dot(w, i, rows) + b[0]
        margin = a if steps[i] > 0 else -a
        if not margin >= 1.0 or math.isinf(a):
            if updates == len(log) or not math.isfinite(a):
                return t, updates, loss
            size = squared_norm(i, rows) + settings.intercept_step
            tau = aggressive_step(1.0 - margin, size, settings.C * abs(steps[i]), settings.loss)
            step = steps.dtype.type(math.copysign(tau, steps[i]))
            add(w, step, i, rows)
            b[0] += step * settings.intercept_step
            loss += log_update(log, updates, t, 0, margin, step)
            updates += 1
    return len(order), updates, loss


@compiled
def passive_aggressive_multiclass(examples, order, start, W, b, settings, log):
    """The same for the lead of the right class over its best rival (Crammer et al. 2006, §7)."""
    rows, steps, labels = examples.rows, examples.steps, examples.labels
    s = b.copy()
    updates, loss, shuffled = 0, 0.0, is_shuffled(order, start)
    for t in range(start, len(order)):
        i = take_row(t, order, rows, shuffled, W)
        y = labels[i]
        rival, lead = find_rival(W, b, s, y, i, rows)
        if not lead >= 1.0 or math.isinf(lead):
            if updates == len(log) or not math.isfinite(lead):
                return t, updates, loss
            size = 2.0 * (squared_norm(i, rows) + settings.intercept_step)
            tau = aggressive_step(1.0 - lead, size, settings.C * steps[i], settings.loss)
            step = steps.dtype.type(tau)
            move(W, b, step, settings.intercept_step, y, rival, i, rows)
            loss += log_update(log, updates, t, rival, lead, step)
            updates += 1
    return len(order), updates, loss
