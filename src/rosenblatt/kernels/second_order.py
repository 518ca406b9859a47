"""Rules that know how sure each weight is: second-order perceptron, AROW and SCW.

``S`` holds the variance of every weight, and ``Sb`` that of the biases: the diagonal of the papers'
Σ; the second-order perceptron also comes with the whole matrix. The weights that a row touches move
by its value times their variance, so the kernels keep the sums for the average themselves
(linear.py: an update made when c rows had been seen is summed c times).
"""

from typing import NamedTuple

import numpy as np

from .algebra import best_other, column, dot, fetch_row, fetch_weights, score, span
from .compiling import compiled, inlined
from .first_order import note


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


@inlined
def variance(S, i, values, indices, starts):
    """xᵀΣx of a row."""
    first, last = span(i, indices, starts)
    total = 0.0
    for k in range(first, last):
        x = np.float64(values[k])
        total += x * x * S[column(k, first, indices)]
    return total


@inlined
def variance_of_class(S, c, i, values, indices, starts):
    """The same for the weights of one class."""
    first, last = span(i, indices, starts)
    total = 0.0
    for k in range(first, last):
        x = np.float64(values[k])
        total += x * x * S[column(k, first, indices), c]
    return total


@inlined
def learn(w, S, u, move, shrink, time, i, values, indices, starts):
    """W += move·Σx, u += time·move·Σx, and Σ -= shrink·(Σx)², where the row has values."""
    first, last = span(i, indices, starts)
    for k in range(first, last):
        j = column(k, first, indices)
        sx = S[j] * values[k]
        w[j] += move * sx
        u[j] += time * (move * sx)
        S[j] -= shrink * sx * sx


@inlined
def learn_class(W, S, u, c, move, shrink, time, i, values, indices, starts):
    """The same for the weights of one class."""
    first, last = span(i, indices, starts)
    for k in range(first, last):
        j = column(k, first, indices)
        sx = S[j, c] * values[k]
        W[j, c] += move * sx
        u[j, c] += time * (move * sx)
        S[j, c] -= shrink * sx * sx


@inlined
def learn_bias(b, Sb, ub, c, move, shrink, time, step):
    """The same for a bias, the weight of a coordinate of the size √step."""
    b[c] += move * Sb[c] * step
    ub[c] += time * (move * Sb[c] * step)
    Sb[c] -= shrink * Sb[c] * Sb[c] * step


# Each rule in two numbers: how far to move along Σx, and how much to shrink Σ.


@inlined
def arow_step(margin, v, settings):
    """α and β of AROW (Crammer, Kulesza & Dredze 2009)."""
    beta = 1.0 / (v + settings.r)
    return max(0.0, 1.0 - margin) * beta, beta


@inlined
def scw_step(margin, v, settings):
    """α and β of SCW-I and SCW-II (Wang, Zhao & Hoi 2012)."""
    phi, C = settings.phi, settings.C
    p = phi * phi
    if settings.squared:
        n = v + 0.5 / C
        root = phi * np.sqrt(p * margin * margin * v * v + 4.0 * n * v * (n + v * p))
        alpha = (root - (2.0 * margin * n + p * margin * v)) / (2.0 * (n * n + n * v * p))
    else:
        psi, zeta = 1.0 + p / 2.0, 1.0 + p
        root = np.sqrt(margin * margin * p * p / 4.0 + v * p * zeta)
        alpha = min(C, (root - margin * psi) / (v * zeta))
    alpha = max(0.0, alpha)
    root = np.sqrt(alpha * alpha * v * v * p + 4.0 * v) - alpha * v * phi
    return alpha, alpha * phi / (0.5 * root + v * alpha * phi)


@compiled
def arow(examples, order, start, w, b, S, Sb, u, ub, clock, settings, log):
    """If 1 - y(w·x + b) > 0, w += αyΣx and Σ -= βΣxxᵀΣ (Crammer, Kulesza & Dredze 2009)."""
    rows, steps, bias = examples.rows[:], examples.steps, settings.intercept_step
    updates, loss = 0, 0.0
    for t in range(start, len(order)):
        i = order[t]
        fetch_row(t, order, *rows)
        a = dot(w, i, *rows) + b[0]
        margin = a if steps[i] > 0 else -a
        if not margin >= 1.0 or np.isinf(a):
            if updates == len(log) or not np.isfinite(a):
                return t, updates, loss
            v = variance(S, i, *rows) + bias * Sb[0]
            alpha, beta = arow_step(margin, v, settings)
            move, time = alpha * np.float64(steps[i]), clock[0] + t
            learn(w, S, u, move, beta, time, i, *rows)
            learn_bias(b, Sb, ub, 0, move, beta, time, bias)
            loss += note(log, updates, t, 0, margin, move)
            updates += 1
    return len(order), updates, loss


@compiled
def arow_many(examples, order, start, W, b, S, Sb, u, ub, clock, settings, log):
    """The same for the lead of the right class over its best rival."""
    rows, steps, labels = examples.rows[:], examples.steps, examples.labels
    s, bias = np.empty_like(b), settings.intercept_step
    updates, loss = 0, 0.0
    for t in range(start, len(order)):
        i = order[t]
        fetch_row(t, order, *rows)
        fetch_weights(W, order[min(t + 1, len(order) - 1)], *rows)
        score(W, b, s, i, *rows)
        y = labels[i]
        rival = best_other(s, y)
        lead = s[y] - s[rival]
        if not lead >= 1.0 or np.isinf(lead):
            if updates == len(log) or not np.isfinite(lead):
                return t, updates, loss
            v = variance_of_class(S, y, i, *rows) + variance_of_class(S, rival, i, *rows)
            alpha, beta = arow_step(lead, v + bias * (Sb[y] + Sb[rival]), settings)
            move, time = alpha * np.float64(steps[i]), clock[0] + t
            learn_class(W, S, u, y, move, beta, time, i, *rows)
            learn_class(W, S, u, rival, -move, beta, time, i, *rows)
            learn_bias(b, Sb, ub, y, move, beta, time, bias)
            learn_bias(b, Sb, ub, rival, -move, beta, time, bias)
            loss += note(log, updates, t, rival, lead, move)
            updates += 1
    return len(order), updates, loss


@compiled
def scw(examples, order, start, w, b, S, Sb, u, ub, clock, settings, log):
    """If φ√(xᵀΣx) > y(w·x + b), the soft confidence-weighted step (Wang, Zhao & Hoi 2012)."""
    rows, steps, bias = examples.rows[:], examples.steps, settings.intercept_step
    updates, loss = 0, 0.0
    for t in range(start, len(order)):
        i = order[t]
        fetch_row(t, order, *rows)
        a = dot(w, i, *rows) + b[0]
        margin = a if steps[i] > 0 else -a
        v = variance(S, i, *rows) + bias * Sb[0]
        if not margin >= settings.phi * np.sqrt(v) or np.isinf(a):
            if updates == len(log) or not np.isfinite(a):
                return t, updates, loss
            if v <= 0.0:
                continue  # an empty row without a bias teaches nothing
            alpha, beta = scw_step(margin, v, settings)
            move, time = alpha * np.float64(steps[i]), clock[0] + t
            learn(w, S, u, move, beta, time, i, *rows)
            learn_bias(b, Sb, ub, 0, move, beta, time, bias)
            loss += note(log, updates, t, 0, margin, move)
            updates += 1
    return len(order), updates, loss


@compiled
def scw_many(examples, order, start, W, b, S, Sb, u, ub, clock, settings, log):
    """The same for the lead of the right class over its best rival."""
    rows, steps, labels = examples.rows[:], examples.steps, examples.labels
    s, bias = np.empty_like(b), settings.intercept_step
    updates, loss = 0, 0.0
    for t in range(start, len(order)):
        i = order[t]
        fetch_row(t, order, *rows)
        fetch_weights(W, order[min(t + 1, len(order) - 1)], *rows)
        score(W, b, s, i, *rows)
        y = labels[i]
        rival = best_other(s, y)
        lead = s[y] - s[rival]
        v = variance_of_class(S, y, i, *rows) + variance_of_class(S, rival, i, *rows)
        v += bias * (Sb[y] + Sb[rival])
        if not lead >= settings.phi * np.sqrt(v) or np.isinf(lead):
            if updates == len(log) or not np.isfinite(lead):
                return t, updates, loss
            if v <= 0.0:
                continue
            alpha, beta = scw_step(lead, v, settings)
            move, time = alpha * np.float64(steps[i]), clock[0] + t
            learn_class(W, S, u, y, move, beta, time, i, *rows)
            learn_class(W, S, u, rival, -move, beta, time, i, *rows)
            learn_bias(b, Sb, ub, y, move, beta, time, bias)
            learn_bias(b, Sb, ub, rival, -move, beta, time, bias)
            loss += note(log, updates, t, rival, lead, move)
            updates += 1
    return len(order), updates, loss


# The second-order perceptron predicts with w = A⁻¹v, A = aI + Σ xxᵀ and v = Σ yx over its mistakes.
# With S = aA⁻¹ that is, by Sherman & Morrison, w += β(y - w·x)Sx and S -= βSxxᵀS, β = 1/(a + xᵀSx):
# the steps of AROW, on mistakes only. The sign is the paper's, which counts the row itself in A.


@compiled
def second_order(examples, order, start, w, b, S, Sb, u, ub, clock, settings, log):
    """On a mistake, w += β(y - w·x)A⁻¹x, by the diagonal of A (Cesa-Bianchi et al. 2005)."""
    rows, steps, bias = examples.rows[:], examples.steps, settings.intercept_step
    updates, loss = 0, 0.0
    for t in range(start, len(order)):
        i = order[t]
        fetch_row(t, order, *rows)
        a = dot(w, i, *rows) + b[0]
        margin = a if steps[i] > 0 else -a
        if not margin > settings.above or np.isinf(a):
            if updates == len(log) or not np.isfinite(a):
                return t, updates, loss
            v = variance(S, i, *rows) + bias * Sb[0]
            beta = 1.0 / (v + settings.r)
            move, time = beta * (1.0 - margin) * np.float64(steps[i]), clock[0] + t
            learn(w, S, u, move, beta, time, i, *rows)
            learn_bias(b, Sb, ub, 0, move, beta, time, bias)
            loss += note(log, updates, t, 0, margin, move)
            updates += 1
    return len(order), updates, loss


@compiled
def second_order_many(examples, order, start, W, b, S, Sb, u, ub, clock, settings, log):
    """The same for the lead of the right class over its best rival."""
    rows, steps, labels = examples.rows[:], examples.steps, examples.labels
    s, bias = np.empty_like(b), settings.intercept_step
    updates, loss = 0, 0.0
    for t in range(start, len(order)):
        i = order[t]
        fetch_row(t, order, *rows)
        fetch_weights(W, order[min(t + 1, len(order) - 1)], *rows)
        score(W, b, s, i, *rows)
        y = labels[i]
        rival = best_other(s, y)
        lead = s[y] - s[rival]
        if not lead > settings.above or np.isinf(lead):
            if updates == len(log) or not np.isfinite(lead):
                return t, updates, loss
            v = variance_of_class(S, y, i, *rows) + variance_of_class(S, rival, i, *rows)
            beta = 1.0 / (v + bias * (Sb[y] + Sb[rival]) + settings.r)
            move, time = beta * (1.0 - lead) * np.float64(steps[i]), clock[0] + t
            learn_class(W, S, u, y, move, beta, time, i, *rows)
            learn_class(W, S, u, rival, -move, beta, time, i, *rows)
            learn_bias(b, Sb, ub, y, move, beta, time, bias)
            learn_bias(b, Sb, ub, rival, -move, beta, time, bias)
            loss += note(log, updates, t, rival, lead, move)
            updates += 1
    return len(order), updates, loss


@inlined
def whole_product(A, i, bias, out, values, indices, starts):
    """Set out = A·(x, √bias) and return (x, √bias)ᵀ·out: the bias is the last coordinate."""
    first, last = span(i, indices, starts)
    root, end = np.sqrt(bias), len(out) - 1
    for j in range(len(out)):
        out[j] = root * A[end, j]
    for k in range(first, last):
        x = np.float64(values[k])
        line = A[column(k, first, indices)]
        for j in range(len(out)):
            out[j] += x * line[j]
    total = root * out[end]
    for k in range(first, last):
        total += values[k] * out[column(k, first, indices)]
    return total


@compiled
def second_order_whole(examples, order, start, w, b, A, u, ub, clock, settings, log):
    """On a mistake, w += β(y - w·x)A⁻¹x, by the whole of A⁻¹ (Cesa-Bianchi et al. 2005)."""
    rows, steps, bias = examples.rows[:], examples.steps, settings.intercept_step
    ax, root = np.empty(len(w) + 1), np.sqrt(settings.intercept_step)
    updates, loss = 0, 0.0
    for t in range(start, len(order)):
        i = order[t]
        a = dot(w, i, *rows) + b[0]
        margin = a if steps[i] > 0 else -a
        if not margin > settings.above or np.isinf(a):
            if updates == len(log) or not np.isfinite(a):
                return t, updates, loss
            beta = 1.0 / (whole_product(A, i, bias, ax, *rows) + settings.r)
            move, time = beta * (1.0 - margin) * np.float64(steps[i]), clock[0] + t
            for j in range(len(w)):
                w[j] += move * ax[j]
                u[j] += time * (move * ax[j])
            b[0] += move * root * ax[len(w)]
            ub[0] += time * (move * root * ax[len(w)])
            for j in range(len(ax)):
                for k in range(len(ax)):
                    A[j, k] -= beta * ax[j] * ax[k]
            loss += note(log, updates, t, 0, margin, move)
            updates += 1
    return len(order), updates, loss
