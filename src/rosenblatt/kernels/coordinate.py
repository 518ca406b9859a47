"""Rules whose every weight learns alone: the second-order perceptron with a diagonal matrix.

It predicts with w = A⁻¹v, A = aI + Σ xxᵀ and v = Σ yx over its mistakes. With S = aA⁻¹ that is, by
Sherman & Morrison, w += (y - w·x)Sx/(a + xᵀSx), S -= SxxᵀS/(a + xᵀSx). The sign is the paper's,
which counts the row itself in A. Where only the diagonal of A is kept, that is true of each weight
alone. A row that weighs more divides a by its weight.
"""

import math
from typing import NamedTuple

import numpy as np

from .algebra import best_other, column, dot, fetch_row, fetch_weights, is_shuffled, score, span
from .compiling import compiled, inlined
from .linear import counted, note


class CoordinateSettings(NamedTuple):
    """When a row is right, the bias, and a."""

    above: float
    below: float
    intercept_step: float
    a: float


@inlined
def second_order_weight(w, S, x, r):
    """What one weight gains, and its variance, when it is alone with a row's value."""
    rest = r + S * x * x
    return S * x * (1.0 - w * x) / rest, S * r / rest


@inlined
def learn_diagonal(w, S, u, y, r, time, i, rows):
    """Let every weight that a row touches learn alone."""
    values, indices, starts = rows
    first, last = span(i, indices, starts)
    for k in range(first, last):
        j = column(k, first, indices)
        gain, S[j] = second_order_weight(w[j], S[j], y * values[k], r)
        w[j] += gain
        if len(u):
            u[j] += time * gain


@inlined
def learn_class_diagonal(W, S, u, c, y, r, time, i, rows):
    """The same for the weights of one class."""
    values, indices, starts = rows
    first, last = span(i, indices, starts)
    for k in range(first, last):
        j = column(k, first, indices)
        gain, S[j, c] = second_order_weight(W[j, c], S[j, c], y * values[k], r)
        W[j, c] += gain
        if len(u):
            u[j, c] += time * gain


@inlined
def learn_bias_diagonal(b, Sb, ub, c, y, r, time, size):
    """The same for a bias, the weight of a coordinate of the squared size."""
    root = math.sqrt(size)
    if root > 0.0:
        gain, Sb[c] = second_order_weight(b[c] / root, Sb[c], y * root, r)
        b[c] += gain * root
        if len(ub):
            ub[c] += time * gain * root


@compiled
def coordinate(examples, order, start, w, b, S, Sb, u, ub, clock, settings, log):
    """On a mistake, v += yx and A += xxᵀ, its diagonal only (Cesa-Bianchi et al. 2005)."""
    rows, steps, bias = examples.rows, examples.steps, settings.intercept_step
    updates, loss, shuffled = 0, 0.0, is_shuffled(order, start)
    for t in range(start, len(order)):
        i = np.uint64(order[t])
        if shuffled:
            fetch_row(t, order, rows)
        a = dot(w, i, rows) + b[0]
        margin = a if steps[i] > 0 else -a
        if not margin > settings.above or math.isinf(a):
            if updates == len(log) or not math.isfinite(a):
                return t, updates, loss
            r, y = settings.a / abs(np.float64(steps[i])), math.copysign(1.0, steps[i])
            time = counted(clock, t)
            learn_diagonal(w, S, u, y, r, time, i, rows)
            learn_bias_diagonal(b, Sb, ub, 0, y, r, time, bias)
            loss += note(log, updates, t, 0, margin, y)
            updates += 1
    return len(order), updates, loss


@compiled
def coordinate_multiclass(examples, order, start, W, b, S, Sb, u, ub, clock, settings, log):
    """The same for the right class and its best rival."""
    rows, steps, labels = examples.rows, examples.steps, examples.labels
    s, bias = np.empty(len(b), b.dtype), settings.intercept_step
    updates, loss, shuffled = 0, 0.0, is_shuffled(order, start)
    for t in range(start, len(order)):
        i = np.uint64(order[t])
        if shuffled:
            fetch_row(t, order, rows)
        if t + 1 < len(order):
            fetch_weights(W, np.uint64(order[t + 1]), rows)
        score(W, b, s, i, rows)
        y = labels[i]
        rival = best_other(s, y)
        lead = s[y] - s[rival]
        if not lead > settings.above or math.isinf(lead):
            if updates == len(log) or not math.isfinite(lead):
                return t, updates, loss
            r, time = settings.a / np.float64(steps[i]), counted(clock, t)
            learn_class_diagonal(W, S, u, y, 1.0, r, time, i, rows)
            learn_class_diagonal(W, S, u, rival, -1.0, r, time, i, rows)
            learn_bias_diagonal(b, Sb, ub, y, 1.0, r, time, bias)
            learn_bias_diagonal(b, Sb, ub, rival, -1.0, r, time, bias)
            loss += note(log, updates, t, rival, lead, 1.0)
            updates += 1
    return len(order), updates, loss
