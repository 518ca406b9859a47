"""Rules that know how sure each weight is: AROW, SCW, NHERD and CW share a loop.

``S`` holds the variance of every weight, and ``Sb`` that of the biases: the diagonal of the papers'
Σ. The weights that a row touches move by its value times their variance, so the loop keeps the sums
for the average itself (linear.py: an update made when c rows had been seen is summed c times), if
there is one to keep. A row that weighs more divides r by its weight, and multiplies C.

A rule is a branch of ``is_sure`` and of ``confident_step``.
"""

import math
from typing import NamedTuple

import numpy as np

from .algebra import best_other, column, dot, fetch_row, fetch_weights, is_shuffled, score, span
from .compiling import compiled, inlined, inlined_sum
from .linear import counted, note

AROW, SCW_I, SCW_II, NHERD, CW = range(5)


class ConfidenceSettings(NamedTuple):
    """When a row is surely right, the bias, which rule, and its parameters.

    ``phi`` is the quantile of the confidence that is asked for, or 0 where a margin of 1 is.
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
    """xᵀΣx of a row."""
    values, indices, starts = rows
    first, last = span(i, indices, starts)
    total = 0.0
    for k in range(first, last):
        x = np.float64(values[k])
        total += x * x * S[column(k, first, indices)]
    return total


@inlined_sum
def variance_of_two(S, y, rival, i, rows):
    """The same for the weights of two classes together."""
    values, indices, starts = rows
    first, last = span(i, indices, starts)
    total = 0.0
    for k in range(first, last):
        x, j = np.float64(values[k]), column(k, first, indices)
        total += x * x * (S[j, y] + S[j, rival])
    return total


# What a row does to Σ: Σ - βΣxxᵀΣ has Σⱼ(1 - βΣⱼxⱼ²) on its diagonal. No factor is below 1 - βxᵀΣx,
# which the rules know to the last digit, so that Σ stays positive however large x is.


class ConfidentStep(NamedTuple):
    """How far to move along Σx, β, and 1 - βxᵀΣx."""

    alpha: float
    beta: float
    least: float


@inlined
def learn(w, S, u, alpha, step, time, i, rows):
    """Move w by αΣx and shrink Σ, where the row has values."""
    values, indices, starts = rows
    first, last = span(i, indices, starts)
    for k in range(first, last):
        j, x = column(k, first, indices), np.float64(values[k])
        sx = S[j] * x
        w[j] += alpha * sx
        if len(u):
            u[j] += time * (alpha * sx)
        S[j] *= max(1.0 - step.beta * sx * x, step.least)


@inlined
def learn_class(W, S, u, c, alpha, step, time, i, rows):
    """The same for the weights of one class."""
    values, indices, starts = rows
    first, last = span(i, indices, starts)
    for k in range(first, last):
        j, x = column(k, first, indices), np.float64(values[k])
        sx = S[j, c] * x
        W[j, c] += alpha * sx
        if len(u):
            u[j, c] += time * (alpha * sx)
        S[j, c] *= max(1.0 - step.beta * sx * x, step.least)


@inlined
def learn_bias(b, Sb, ub, c, alpha, step, time, size):
    """The same for a bias, the weight of a coordinate of the squared size."""
    b[c] += alpha * Sb[c] * size
    if len(ub):
        ub[c] += time * (alpha * Sb[c] * size)
    Sb[c] *= max(1.0 - step.beta * Sb[c] * size, step.least)


@inlined
def learn_two(W, b, S, Sb, u, ub, y, rival, step, time, size, i, rows):
    """The same for a class, and the other way for its rival."""
    learn_class(W, S, u, y, step.alpha, step, time, i, rows)
    learn_class(W, S, u, rival, -step.alpha, step, time, i, rows)
    learn_bias(b, Sb, ub, y, step.alpha, step, time, size)
    learn_bias(b, Sb, ub, rival, -step.alpha, step, time, size)


@inlined
def scw_step(margin, v, weight, settings):
    """α and β of SCW-I and SCW-II (Wang, Zhao & Hoi 2012)."""
    phi, C = settings.phi, settings.C * weight
    p = phi * phi
    if settings.rule == SCW_II:
        n = v + 0.5 / C
        root = phi * math.sqrt(p * margin * margin * v * v + 4.0 * n * v * (n + v * p))
        alpha = (root - (2.0 * margin * n + p * margin * v)) / (2.0 * (n * n + n * v * p))
    else:
        psi, zeta = 1.0 + p / 2.0, 1.0 + p
        root = math.sqrt(margin * margin * p * p / 4.0 + v * p * zeta)
        alpha = min(C, (root - margin * psi) / (v * zeta))
    alpha = max(0.0, alpha)
    deviation = 0.5 * (math.sqrt(alpha * alpha * v * v * p + 4.0 * v) - alpha * v * phi)
    total = deviation + v * alpha * phi
    return ConfidentStep(alpha, alpha * phi / total, deviation / total)


@inlined
def is_sure(margin, v, settings):
    """Whether a row of variance v changes nothing; v is known where a confidence is asked for."""
    if settings.phi == 0.0:
        return margin >= 1.0
    if settings.rule == CW:
        return margin >= settings.phi * v
    return margin >= settings.phi * math.sqrt(v)


@inlined
def confident_step(margin, v, weight, settings):
    """α and β of the rule."""
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
        alpha = max(0.0, alpha)
        rest = 1.0 + 2.0 * alpha * phi * v
        return ConfidentStep(alpha, 2.0 * alpha * phi / rest, 1.0 / rest)
    return scw_step(margin, v, weight, settings)


@compiled
def confidence(examples, order, start, w, b, S, Sb, u, ub, clock, settings, log):
    """Unless a row is sure, w += αyΣx and Σ -= βΣxxᵀΣ; the rule gives α and β."""
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
            alpha, time = math.copysign(step.alpha, steps[i]), counted(clock, t)
            learn(w, S, u, alpha, step, time, i, rows)
            learn_bias(b, Sb, ub, 0, alpha, step, time, bias)
            loss += note(log, updates, t, 0, margin, alpha)
            updates += 1
    return len(order), updates, loss


@compiled
def confidence_multiclass(examples, order, start, W, b, S, Sb, u, ub, clock, settings, log):
    """The same for the lead of the right class over its best rival."""
    rows, steps, labels = examples.rows, examples.steps, examples.labels
    s, bias = np.empty(len(b), b.dtype), settings.intercept_step
    updates, loss, shuffled = 0, 0.0, is_shuffled(order, start)
    early = settings.phi > 0.0
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
        v = variance_of_two(S, y, rival, i, rows) + bias * (Sb[y] + Sb[rival]) if early else 0.0
        if not is_sure(lead, v, settings) or math.isinf(lead):
            if updates == len(log) or not math.isfinite(lead):
                return t, updates, loss
            if not early:
                v = variance_of_two(S, y, rival, i, rows) + bias * (Sb[y] + Sb[rival])
            step = confident_step(lead, v, np.float64(steps[i]), settings)
            learn_two(W, b, S, Sb, u, ub, y, rival, step, counted(clock, t), bias, i, rows)
            loss += note(log, updates, t, rival, lead, step.alpha)
            updates += 1
    return len(order), updates, loss
