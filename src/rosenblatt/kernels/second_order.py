"""Rules that know how sure each weight is: second-order perceptron, AROW and SCW.

``S`` holds the variance of every weight, and ``Sb`` that of the biases: the diagonal of the papers'
Σ; the second-order perceptron also comes with the whole matrix. The weights that a row touches move
by its value times their variance, so the kernels keep the sums for the average themselves
(linear.py: an update made when c rows had been seen is summed c times), if there is one to keep. A
row that weighs more divides r or a by its weight, and multiplies C.
"""

import math
from typing import NamedTuple

import numpy as np

from .algebra import best_other, column, dot, fetch_row, fetch_weights, is_shuffled, score, span
from .compiling import compiled, inlined, inlined_sum
from .first_order import note
from .linear import counted


class ConfidenceSettings(NamedTuple):
    """When a row is surely right, the bias, and the parameters of a rule.

    ``r`` is AROW's, or a of the second-order perceptron; ``phi`` and ``C`` are SCW's, and
    ``squared`` tells SCW-II from SCW-I.
    """

    above: float
    below: float
    intercept_step: float
    r: float
    phi: float
    C: float
    squared: bool


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
def arow_step(margin, v, weight, settings):
    """α and β of AROW (Crammer, Kulesza & Dredze 2009)."""
    r = settings.r / weight
    return ConfidentStep((1.0 - margin) / (v + r), 1.0 / (v + r), r / (v + r))


@inlined
def scw_step(margin, v, weight, settings):
    """α and β of SCW-I and SCW-II (Wang, Zhao & Hoi 2012)."""
    phi, C = settings.phi, settings.C * weight
    p = phi * phi
    if settings.squared:
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


@compiled
def arow(examples, order, start, w, b, S, Sb, u, ub, clock, settings, log):
    """If 1 - y(w·x + b) > 0, w += αyΣx and Σ -= βΣxxᵀΣ (Crammer, Kulesza & Dredze 2009)."""
    rows, steps, bias = examples.rows, examples.steps, settings.intercept_step
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
            v = variance(S, i, rows) + bias * Sb[0]
            step = arow_step(margin, v, abs(np.float64(steps[i])), settings)
            alpha, time = math.copysign(step.alpha, steps[i]), counted(clock, t)
            learn(w, S, u, alpha, step, time, i, rows)
            learn_bias(b, Sb, ub, 0, alpha, step, time, bias)
            loss += note(log, updates, t, 0, margin, alpha)
            updates += 1
    return len(order), updates, loss


@compiled
def arow_many(examples, order, start, W, b, S, Sb, u, ub, clock, settings, log):
    """The same for the lead of the right class over its best rival."""
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
        if not lead >= 1.0 or math.isinf(lead):
            if updates == len(log) or not math.isfinite(lead):
                return t, updates, loss
            v = variance_of_two(S, y, rival, i, rows) + bias * (Sb[y] + Sb[rival])
            step = arow_step(lead, v, np.float64(steps[i]), settings)
            learn_two(W, b, S, Sb, u, ub, y, rival, step, counted(clock, t), bias, i, rows)
            loss += note(log, updates, t, rival, lead, step.alpha)
            updates += 1
    return len(order), updates, loss


@compiled
def scw(examples, order, start, w, b, S, Sb, u, ub, clock, settings, log):
    """If φ√(xᵀΣx) > y(w·x + b), the soft confidence-weighted step (Wang, Zhao & Hoi 2012)."""
    rows, steps, bias = examples.rows, examples.steps, settings.intercept_step
    updates, loss, shuffled = 0, 0.0, is_shuffled(order, start)
    for t in range(start, len(order)):
        i = np.uint64(order[t])
        if shuffled:
            fetch_row(t, order, rows)
        a = dot(w, i, rows) + b[0]
        margin = a if steps[i] > 0 else -a
        v = variance(S, i, rows) + bias * Sb[0]
        if not margin >= settings.phi * math.sqrt(v) or math.isinf(a):
            if updates == len(log) or not math.isfinite(a):
                return t, updates, loss
            step = scw_step(margin, v, abs(np.float64(steps[i])), settings)
            alpha, time = math.copysign(step.alpha, steps[i]), counted(clock, t)
            learn(w, S, u, alpha, step, time, i, rows)
            learn_bias(b, Sb, ub, 0, alpha, step, time, bias)
            loss += note(log, updates, t, 0, margin, alpha)
            updates += 1
    return len(order), updates, loss


@compiled
def scw_many(examples, order, start, W, b, S, Sb, u, ub, clock, settings, log):
    """The same for the lead of the right class over its best rival."""
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
        v = variance_of_two(S, y, rival, i, rows) + bias * (Sb[y] + Sb[rival])
        if not lead >= settings.phi * math.sqrt(v) or math.isinf(lead):
            if updates == len(log) or not math.isfinite(lead):
                return t, updates, loss
            step = scw_step(lead, v, np.float64(steps[i]), settings)
            learn_two(W, b, S, Sb, u, ub, y, rival, step, counted(clock, t), bias, i, rows)
            loss += note(log, updates, t, rival, lead, step.alpha)
            updates += 1
    return len(order), updates, loss


# The second-order perceptron predicts with w = A⁻¹v, A = aI + Σ xxᵀ and v = Σ yx over its mistakes.
# With S = aA⁻¹ that is, by Sherman & Morrison, w += (y - w·x)Sx/(a + xᵀSx), S -= Sxxᵀ S/(a + xᵀSx).
# The sign is the paper's, which counts the row itself in A. Where only the diagonal of A is kept,
# that is true of each weight alone.


@inlined
def second_order_weight(w, S, x, r):
    """What one weight gains, and its variance, when it is alone with a row's value."""
    rest = r + S * x * x
    return S * x * (1.0 - w * x) / rest, S * r / rest


@inlined
def learn_apart(w, S, u, y, r, time, i, rows):
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
def learn_class_apart(W, S, u, c, y, r, time, i, rows):
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
def learn_bias_apart(b, Sb, ub, c, y, r, time, size):
    """The same for a bias, the weight of a coordinate of the squared size."""
    root = math.sqrt(size)
    if root > 0.0:
        gain, Sb[c] = second_order_weight(b[c] / root, Sb[c], y * root, r)
        b[c] += gain * root
        if len(ub):
            ub[c] += time * gain * root


@compiled
def second_order(examples, order, start, w, b, S, Sb, u, ub, clock, settings, log):
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
            r, y = settings.r / abs(np.float64(steps[i])), math.copysign(1.0, steps[i])
            time = counted(clock, t)
            learn_apart(w, S, u, y, r, time, i, rows)
            learn_bias_apart(b, Sb, ub, 0, y, r, time, bias)
            loss += note(log, updates, t, 0, margin, y)
            updates += 1
    return len(order), updates, loss


@compiled
def second_order_many(examples, order, start, W, b, S, Sb, u, ub, clock, settings, log):
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
            r, time = settings.r / np.float64(steps[i]), counted(clock, t)
            learn_class_apart(W, S, u, y, 1.0, r, time, i, rows)
            learn_class_apart(W, S, u, rival, -1.0, r, time, i, rows)
            learn_bias_apart(b, Sb, ub, y, 1.0, r, time, bias)
            learn_bias_apart(b, Sb, ub, rival, -1.0, r, time, bias)
            loss += note(log, updates, t, rival, lead, 1.0)
            updates += 1
    return len(order), updates, loss


@inlined
def whole_product(S, i, bias, out, rows):
    """Set out = S·(x, √bias) and return (x, √bias)ᵀ·out: the bias is the last coordinate."""
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
def second_order_whole(examples, order, start, w, b, S, u, ub, clock, settings, log):
    """On a mistake, v += yx and A += xxᵀ, the whole of it (Cesa-Bianchi et al. 2005)."""
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
            r, time = settings.r / abs(np.float64(steps[i])), counted(clock, t)
            beta = 1.0 / (r + max(0.0, whole_product(S, i, bias, sx, rows)))
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
            loss += note(log, updates, t, 0, margin, alpha)
            updates += 1
    return len(order), updates, loss
