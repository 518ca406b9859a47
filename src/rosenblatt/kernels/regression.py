"""Labels that are numbers: the passive-aggressive rule (PA) and Adaline share a loop.

The activation w·x + b is the prediction, and an update moves it towards the label. PA leaves rows
alone whose error is at most ε. The bias is a weight of one more coordinate, whose square is the
settings' ``intercept_step``. The weight of a row multiplies PA's C, and Adaline's step.
"""

import math
from typing import NamedTuple

import numpy as np

from .algebra import add, dot, fetch_row, is_shuffled, squared_norm
from .compiling import compiled, inlined
from .linear import log_update
from .passive_aggressive import aggressive_step

HARD, EPSILON_INSENSITIVE, SQUARED_EPSILON_INSENSITIVE, LMS, NORMALIZED_LMS = range(5)
"""PA, PA-I and PA-II, with the numbers that their losses have for classes; and two of Adaline."""


class RegressionSettings(NamedTuple):
    """Thresholds, the step of the bias, ε, the aggressiveness C or the learning rate, the loss."""

    above: float
    below: float
    intercept_step: float
    epsilon: float
    C: float
    loss: int


@inlined
def regression_step(excess, size, weight, settings):
    """The step along a row of a squared size, by how much its error exceeds ε."""
    if settings.loss == LMS:  # Widrow & Hoff 1960
        return settings.C * weight * excess
    if settings.loss == NORMALIZED_LMS:
        return settings.C * weight * excess / size if size > 0.0 else 0.0
    return aggressive_step(excess, size, settings.C * weight, settings.loss)


@compiled
def regression(examples, order, start, w, b, settings, log):
    """If the error y - w·x - b exceeds ε, w += τx towards y (Crammer et al. 2006, §5)."""
    rows, steps, labels = examples.rows, examples.steps, examples.labels
    updates, loss, shuffled = 0, 0.0, is_shuffled(order, start)
    for t in range(start, len(order)):
        i = np.uint64(order[t])
        if shuffled:
            fetch_row(t, order, rows)
        error = labels[i] - (np.float64(dot(w, i, rows)) + b[0])
        excess = abs(error) - settings.epsilon
        if not excess <= 0.0:
            if updates == len(log) or not math.isfinite(error):
                return t, updates, loss
            size = squared_norm(i, rows) + settings.intercept_step
            tau = regression_step(excess, size, np.float64(steps[i]), settings)
            step = steps.dtype.type(math.copysign(tau, error))
            add(w, step, i, rows)
            b[0] += step * settings.intercept_step
            loss += log_update(log, updates, t, 0, -excess, step)
            updates += 1
    return len(order), updates, loss
