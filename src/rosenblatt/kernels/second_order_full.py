"""The second-order perceptron with a full matrix S, which coordinate.py defines."""

import math
from typing import NamedTuple

import numpy as np

from .algebra import column, dot, larger, span
from .compiling import compiled, inlined
from .linear import count_weight, log_update


class FullSettings(NamedTuple):
    """Thresholds, the step of the bias, and a."""

    above: float
    below: float
    intercept_step: float
    a: float


@inlined
def full_product(S, i, bias, out, rows):
    """Set out = S·z and return zᵀ·out for z = (x, √bias): the bias is the last coordinate."""
    values, indices, starts = rows
    first, last = span(i, indices, starts)
    root, end = math.sqrt(bias), len(out) - 1
    for j in range(len(out)):
        out[j] = root * S[end, j]
    for k in range(first, last):
        x = np.float64(values[k])
        line = S[column(k, first, indices)]
        for j in range(len(out)):
            out[j] += x * line[j]
    total = root * out[end]
    for k in range(first, last):
        total += values[k] * out[column(k, first, indices)]
    return total


@compiled
def second_order_full(examples, order, start, w, b, S, u, ub, clock, settings, log):
    """On a mistake, v += yx and A += xxᵀ (Cesa-Bianchi et al. 2005)."""
    rows, steps, bias = examples.rows, examples.steps, settings.intercept_step
    sx, root = np.empty(len(w) + 1), math.sqrt(settings.intercept_step)
    updates, loss = 0, 0.0
    for t in range(start, len(order)):
        i = np.uint64(order[t])
        a = dot(w, i, rows) + b[0]
        margin = a if steps[i] > 0 else -a
        if not margin > settings.above or math.isinf(a):
            if updates == len(log) or not math.isfinite(a):
                return t, updates, loss
            r, time = settings.a / abs(np.float64(steps[i])), count_weight(clock, t)
            beta = 1.0 / (r + larger(0.0, full_product(S, i, bias, sx, rows)))
            alpha = math.copysign(beta * (1.0 - margin), steps[i])
            for j in range(len(w)):
                w[j] += alpha * sx[j]
            b[0] += alpha * root * sx[len(w)]
            if len(u):
                for j in range(len(w)):
                    u[j] += time * (alpha * sx[j])
                ub[0] += time * (alpha * root * sx[len(w)])
            for j in range(len(sx)):
                for k in range(len(sx)):
                    S[j, k] -= beta * sx[j] * sx[k]
            loss += log_update(log, updates, t, 0, margin, alpha)
            updates += 1
    return len(order), updates, loss
