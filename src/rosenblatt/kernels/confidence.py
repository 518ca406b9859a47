"""Rules with a variance per weight: AROW, SCW, NHERD and CW share a loop.

``S`` holds the variances of the weights, and ``Sb`` those of the biases: the diagonal of Σ in the
papers. A weight moves by the row's value times its variance. The log does not have these updates,
so the loop itself computes the sums u for the average (linear.py), unless u is empty. The weight of
a row divides r and multiplies C.

A rule is a branch of ``is_sure`` and of ``confident_step``.
"""

import math
from typing import NamedTuple

import numpy as np

from .algebra import (
    FIRST_CLASS,
    ONE_CLASS,
    column,
    dot,
    fetch_row,
    find_rival,
    is_shuffled,
    larger,
    smaller,
    span,
    take_row,
)
from .compiling import compiled, inlined, inlined_sum
from .linear import count_weight, log_update

AROW, SCW_I, SCW_II, NHERD, CW = range(5)


class ConfidenceSettings(NamedTuple):
    """Thresholds, the step of the bias, the rule, and its parameters.

    ``phi`` is the quantile of the required confidence, or 0 for rules that require a margin of 1.
    """

    above: float
    below: float
    intercept_step: float
    rule: int
    r: float
    phi: float
    C: float


@inlined_sum
def variance(S, i, rows):
    """The variance xᵀΣx of a row's score."""
    values, indices, starts = rows
    first, last = span(i, indices, starts)
    total = 0.0
    for k in range(first, last):
        x = np.float64(values[k])
        total += x * x * S[column(k, first, indices)]
    return total


@inlined_sum
def variance_of_lead(S, y, rival, i, rows):
    """The variance of the lead of a class over its rival."""
    values, indices, starts = rows
    first, last = span(i, indices, starts)
    total = 0.0
    for k in range(first, last):
        x, j = np.float64(values[k]), column(k, first, indices)
        total += x * x * (S[j, y] + S[j, rival])
    return total


# An update of Σ: Σ - βΣxxᵀΣ has Σⱼ(1 - βΣⱼxⱼ²) on its diagonal. No factor is below 1 - βxᵀΣx, which
# the rules compute without cancellation, so that Σ stays positive however large x is.


class ConfidentStep(NamedTuple):
    """The step α along Σx, β, and ``least`` = 1 - βxᵀΣx."""

    alpha: float
    beta: float
    least: float


@inlined
def learn(w, S, u, classes, c, alpha, step, time, i, rows):
    """Move the weights of class c by αΣx and shrink Σ, where row i has values; arrays are flat."""
    values, indices, starts = rows
    first, last = span(i, indices, starts)
    for k in range(first, last):
        j, x = column(k, first, indices) * classes + c, np.float64(values[k])
        sx = S[j] * x
        w[j] += alpha * sx
        if len(u):
            u[j] += time * (alpha * sx)
        S[j] *= larger(1.0 - step.beta * sx * x, step.least)


@inlined
def learn_bias(b, Sb, ub, c, alpha, step, time, size):
    """The same for the bias of class c: the weight of a coordinate of a squared size."""
    b[c] += alpha * Sb[c] * size
    if len(ub):
        ub[c] += time * (alpha * Sb[c] * size)
    Sb[c] *= larger(1.0 - step.beta * Sb[c] * size, step.least)


@inlined
def scw_step(margin, v, weight, settings):
    """The step of SCW-I and SCW-II (Wang, Zhao & Hoi 2012)."""
    phi, C = settings.phi, settings.C * weight
    p = phi * phi
    if settings.rule == SCW_II:
        n = v + 0.5 / C
        root = phi * math.sqrt(p * margin * margin * v * v + 4.0 * n * v * (n + v * p))
        alpha = (root - (2.0 * margin * n + p * margin * v)) / (2.0 * (n * n + n * v * p))
    else:
        psi, zeta = 1.0 + p / 2.0, 1.0 + p
        root = math.sqrt(margin * margin * p * p / 4.0 + v * p * zeta)
        alpha = smaller(C, (root - margin * psi) / (v * zeta))
    alpha = larger(0.0, alpha)
    deviation = 0.5 * (math.sqrt(alpha * alpha * v * v * p + 4.0 * v) - alpha * v * phi)
    total = deviation + v * alpha * phi
    return ConfidentStep(alpha, alpha * phi / total, deviation / total)


@inlined
def is_sure(margin, v, settings):
    """Whether a row causes no update; v is its variance, if the rule requires a confidence."""
    if settings.phi == 0.0:
        return margin >= 1.0
    if settings.rule == CW:
        return margin >= settings.phi * v
    return margin >= settings.phi * math.sqrt(v)


@inlined
def confident_step(margin, v, weight, settings):
    """The step of the rule for a row of a margin, a variance v and a weight."""
    if settings.rule == AROW:  # Crammer, Kulesza & Dredze 2009
        r = settings.r / weight
        return ConfidentStep((1.0 - margin) / (v + r), 1.0 / (v + r), r / (v + r))
    if settings.rule == NHERD:  # Crammer & Lee 2010
        C = settings.C * weight
        rest = 1.0 + C * v
        beta = (C * C * v + 2.0 * C) / (rest * rest)
        return ConfidentStep((1.0 - margin) / (v + 1.0 / C), beta, 1.0 / (rest * rest))
    if settings.rule == CW:  # Dredze, Crammer & Pereira 2008
        phi = settings.phi
        root = math.hypot(1.0 - 2.0 * phi * margin, phi * math.sqrt(8.0 * v))
        alpha = (root - 1.0 - 2.0 * phi * margin) / (4.0 * phi * v) if v > 0.0 else 0.0
        alpha = larger(0.0, alpha)
        rest = 1.0 + 2.0 * alpha * phi * v
        return ConfidentStep(alpha, 2.0 * alpha * phi / rest, 1.0 / rest)
    return scw_step(margin, v, weight, settings)


@compiled
def confidence(examples, order, start, w, b, S, Sb, u, ub, clock, settings, log):
    """Unless a row is surely right, w += αyΣx and Σ -= βΣxxᵀΣ; the rule gives α and β."""
    rows, steps, bias = examples.rows, examples.steps, settings.intercept_step
    updates, loss, shuffled = 0, 0.0, is_shuffled(order, start)
    early = settings.phi > 0.0
    for t in range(start, len(order)):
        i = np.uint64(order[t])
        if shuffled:
            fetch_row(t, order, rows)
        a = dot(w, i, rows) + b[0]
        margin = a if steps[i] > 0 else -a
        v = variance(S, i, rows) + bias * Sb[0] if early else 0.0
        if not is_sure(margin, v, settings) or math.isinf(a):
            if updates == len(log) or not math.isfinite(a):
                return t, updates, loss
            if not early:
                v = variance(S, i, rows) + bias * Sb[0]
            step = confident_step(margin, v, abs(np.float64(steps[i])), settings)
            alpha, time = math.copysign(step.alpha, steps[i]), count_weight(clock, t)
            learn(w, S, u, ONE_CLASS, FIRST_CLASS, alpha, step, time, i, rows)
            learn_bias(b, Sb, ub, 0, alpha, step, time, bias)
            loss += log_update(log, updates, t, 0, margin, alpha)
            updates += 1
    return len(order), updates, loss


@compiled
def confidence_multiclass(examples, order, start, W, b, S, Sb, u, ub, clock, settings, log):
    """The same for the lead of the right class over its best rival."""
    rows, steps, labels = examples.rows, examples.steps, examples.labels
    s, bias = b.copy(), settings.intercept_step
    updates, loss, shuffled = 0, 0.0, is_shuffled(order, start)
    early, flat, classes = settings.phi > 0.0, (W.ravel(), S.ravel(), u.ravel()), np.uint64(len(b))
    for t in range(start, len(order)):
        i = take_row(t, order, rows, shuffled, W)
        y = labels[i]
        rival, lead = find_rival(W, b, s, y, i, rows)
        v = variance_of_lead(S, y, rival, i, rows) + bias * (Sb[y] + Sb[rival]) if early else 0.0
        if not is_sure(lead, v, settings) or math.isinf(lead):
            if updates == len(log) or not math.isfinite(lead):
                return t, updates, loss
            if not early:
                v = variance_of_lead(S, y, rival, i, rows) + bias * (Sb[y] + Sb[rival])
            step = confident_step(lead, v, np.float64(steps[i]), settings)
            time = count_weight(clock, t)
            for c, alpha in ((np.uint64(y), step.alpha), (np.uint64(rival), -step.alpha)):
                learn(*flat, classes, c, alpha, step, time, i, rows)
                learn_bias(b, Sb, ub, c, alpha, step, time, bias)
            loss += log_update(log, updates, t, rival, lead, step.alpha)
            updates += 1
    return len(order), updates, loss
