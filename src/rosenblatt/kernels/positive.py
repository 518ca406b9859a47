"""Weights that are never negative: the perceptron, the passive-aggressive rule and Adaline.

Each update is that of the rule, and then the weights of the chosen columns that became negative are
set to 0: the nearest weights that satisfy the constraint. This brings them no farther from any
weights that satisfy it, so that the rules' bounds hold for the best of those.

The step is not the whole update, so that the kernels sum what an average needs, as in scaled.py.
"""

import math

import numpy as np

from .algebra import column, dot, fetch_row, is_shuffled, span, squared_norm
from .compiling import compiled, inlined
from .linear import count_weight, log_update
from .passive_aggressive import aggressive_step
from .regression import regression_step

PERCEPTRON = 5
"""The perceptron's step among those of ``RegressionSettings``."""


@inlined
def add_projected(w, u, positive, step, lack, i, rows):
    """Add step·xᵢ to w and set chosen weights below 0 to 0; add the change times lack to u."""
    values, indices, starts = rows
    first, last = span(i, indices, starts)
    for k in range(first, last):
        j = column(k, first, indices)
        before = w[j]
        after = before + step * values[k]
        if after < 0 and positive[j]:
            after = w.dtype.type(0)
        w[j] = after
        if len(u):
            u[j] += lack * (np.float64(after) - np.float64(before))


@inlined
def update(w, b, positive, u, ub, clock, t, step, bias_step, i, rows):
    """Change the weights, the bias and the sums of an average by a step along row i."""
    lack = count_weight(clock, t) if len(u) else 0.0
    add_projected(w, u, positive, step, lack, i, rows)
    b[0] += step * bias_step
    if len(u):
        ub[0] += lack * step * bias_step


@compiled
def positive_classes(examples, order, start, w, b, positive, u, ub, clock, settings, log):
    """On a row that is not right, the step of the perceptron or of PA, then w ≥ 0."""
    rows, steps = examples.rows, examples.steps
    updates, loss, shuffled = 0, 0.0, is_shuffled(order, start)
    for t in range(start, len(order)):
        i = np.uint64(order[t])
        if shuffled:
            fetch_row(t, order, rows)
        a = dot(w, i, rows) + b[0]
        margin = a if steps[i] > 0 else -a
        right = a > settings.above if steps[i] > 0 else a < settings.below
        if not right or math.isinf(a):
            if updates == len(log) or not math.isfinite(a):
                return t, updates, loss
            step = steps[i]
            if settings.loss != PERCEPTRON:
                size = squared_norm(i, rows) + settings.intercept_step
                tau = aggressive_step(1.0 - margin, size, settings.C * abs(step), settings.loss)
                step = steps.dtype.type(math.copysign(tau, step))
            update(w, b, positive, u, ub, clock, t, step, settings.intercept_step, i, rows)
            loss += log_update(log, updates, t, 0, margin, step)
            updates += 1
    return len(order), updates, loss


@compiled
def positive_numbers(examples, order, start, w, b, positive, u, ub, clock, settings, log):
    """If the error exceeds ε, the step of regression.py towards y, then w ≥ 0."""
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
            update(w, b, positive, u, ub, clock, t, step, settings.intercept_step, i, rows)
            loss += log_update(log, updates, t, 0, -excess, step)
            updates += 1
    return len(order), updates, loss
