"""Rules that update each weight alone: the diagonal second-order perceptron, FTRL and AdaGrad.

The second-order perceptron predicts with w = A⁻¹v, A = aI + Σ xxᵀ and v = Σ yx over its mistakes.
With S = aA⁻¹ that is, by Sherman & Morrison, w += (y - w·x)Sx/(a + xᵀSx), S -= SxxᵀS/(a + xᵀSx). As
in the paper, A includes the row itself. With only the diagonal of A, the formulas hold for each
weight alone. The weight of a row divides a.

FTRL-proximal keeps for each weight the sum n of its squared gradients, in S, and z. The weight is a
function of both: 0 while ``|z|`` is at most L1. The bias is not regularized. AdaGrad keeps only n
and moves the weight; with a decay, old gradients leave the sum, so that steps do not vanish.

For both, the loss is logistic, every row updates the weights of its columns and no others, and the
weight of a row multiplies its gradient.
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
    smaller,
    span,
    take_row,
)
from .compiling import compiled, inlined
from .linear import count_weight, log_update

SECOND_ORDER, FTRL, ADAGRAD = range(3)


class CoordinateSettings(NamedTuple):
    """Thresholds, the step of the bias, the rule, a, and the parameters of FTRL and AdaGrad."""

    above: float
    below: float
    intercept_step: float
    rule: int
    a: float
    alpha: float
    beta: float
    l1: float
    l2: float
    decay: float


@inlined
def second_order_weight(w, S, x, r):
    """The change of a weight by its value x of a row, and its new variance."""
    rest = r + S * x * x
    return S * x * (1.0 - w * x) / rest, S * r / rest


@inlined
def learn_diagonal(w, S, u, classes, c, y, r, time, i, rows):
    """Update each weight of class c where row i has values, alone; arrays are flat."""
    values, indices, starts = rows
    first, last = span(i, indices, starts)
    for k in range(first, last):
        j = column(k, first, indices) * classes + c
        gain, S[j] = second_order_weight(w[j], S[j], y * values[k], r)
        w[j] += gain
        if len(u):
            u[j] += time * gain


@inlined
def learn_bias_diagonal(b, Sb, ub, c, y, r, time, size):
    """The same for the bias of class c: the weight of a coordinate of a squared size."""
    root = math.sqrt(size)
    if root > 0.0:
        gain, Sb[c] = second_order_weight(b[c] / root, Sb[c], y * root, r)
        b[c] += gain * root
        if len(ub):
            ub[c] += time * gain * root


@inlined
def proximal_weight(z, n, l1, l2, settings):
    """The weight as a function of z and n (McMahan et al. 2013, algorithm 1)."""
    if abs(z) <= l1:
        return 0.0
    return -(z - math.copysign(l1, z)) / ((settings.beta + math.sqrt(n)) / settings.alpha + l2)


@inlined
def proximal_sums(z, n, g, w, settings):
    """The new z and n after a gradient g at the weight w."""
    more = n + g * g
    return z + g - (math.sqrt(more) - math.sqrt(n)) / settings.alpha * w, more


@inlined
def learn_proximal(w, n, z, u, slope, time, i, rows, settings):
    """Update each weight where row i has values, by the slope of the loss."""
    values, indices, starts = rows
    first, last = span(i, indices, starts)
    for k in range(first, last):
        j, before = column(k, first, indices), np.float64(w[column(k, first, indices)])
        z[j], n[j] = proximal_sums(z[j], n[j], slope * values[k], before, settings)
        w[j] = proximal_weight(z[j], n[j], settings.l1, settings.l2, settings)
        if len(u):
            u[j] += time * (np.float64(w[j]) - before)


@inlined
def learn_bias_proximal(b, nb, zb, ub, slope, time, settings):
    """The same for the bias."""
    root = math.sqrt(settings.intercept_step)
    if root > 0.0:
        before = np.float64(b[0])
        zb[0], nb[0] = proximal_sums(zb[0], nb[0], slope * root, before / root, settings)
        b[0] = root * proximal_weight(zb[0], nb[0], 0.0, 0.0, settings)
        if len(ub):
            ub[0] += time * (np.float64(b[0]) - before)


@inlined
def adaptive_step(n, g, settings):
    """The change of a weight by its gradient g, and its new n (Duchi et al. 2011)."""
    more = (1.0 - settings.decay) * n + g * g
    return -settings.alpha * g / (settings.beta + math.sqrt(more)), more


@inlined
def learn_adaptive(w, n, u, slope, time, i, rows, settings):
    """Update each weight where row i has values, by the slope of the loss."""
    values, indices, starts = rows
    first, last = span(i, indices, starts)
    for k in range(first, last):
        j = column(k, first, indices)
        gain, n[j] = adaptive_step(n[j], slope * values[k], settings)
        before = np.float64(w[j])
        w[j] += gain
        if len(u):
            u[j] += time * (np.float64(w[j]) - before)


@inlined
def learn_bias_adaptive(b, nb, ub, slope, time, settings):
    """The same for the bias."""
    root = math.sqrt(settings.intercept_step)
    gain, nb[0] = adaptive_step(nb[0], slope * root, settings)
    before = np.float64(b[0])
    b[0] += root * gain
    if len(ub):
        ub[0] += time * (np.float64(b[0]) - before)


@compiled
def coordinate(examples, order, start, w, b, S, Sb, z, zb, u, ub, clock, settings, log):
    """Update on a mistake (Cesa-Bianchi et al. 2005), or by FTRL or AdaGrad on every row."""
    rows, steps, bias = examples.rows, examples.steps, settings.intercept_step
    logistic = settings.rule != SECOND_ORDER
    updates, loss, shuffled = 0, 0.0, is_shuffled(order, start)
    for t in range(start, len(order)):
        i = np.uint64(order[t])
        if shuffled:
            fetch_row(t, order, rows)
        a = dot(w, i, rows) + b[0]
        margin = a if steps[i] > 0 else -a
        if logistic or not margin > settings.above or math.isinf(a):
            if updates == len(log) or not math.isfinite(a):
                return t, updates, loss
            time = count_weight(clock, t)
            if logistic:
                step = -np.float64(steps[i]) / (1.0 + math.exp(smaller(margin, 700.0)))
                if settings.rule == FTRL:
                    learn_proximal(w, S, z, u, step, time, i, rows, settings)
                    learn_bias_proximal(b, Sb, zb, ub, step, time, settings)
                else:
                    learn_adaptive(w, S, u, step, time, i, rows, settings)
                    learn_bias_adaptive(b, Sb, ub, step, time, settings)
            else:
                r, step = settings.a / abs(np.float64(steps[i])), math.copysign(1.0, steps[i])
                learn_diagonal(w, S, u, ONE_CLASS, FIRST_CLASS, step, r, time, i, rows)
                learn_bias_diagonal(b, Sb, ub, 0, step, r, time, bias)
            loss += log_update(log, updates, t, 0, margin, step)
            updates += 1
    return len(order), updates, loss


@compiled
def coordinate_multiclass(examples, order, start, W, b, S, Sb, u, ub, clock, settings, log):
    """The same for the right class and its best rival."""
    rows, steps, labels = examples.rows, examples.steps, examples.labels
    s, bias = b.copy(), settings.intercept_step
    updates, loss, shuffled = 0, 0.0, is_shuffled(order, start)
    flat, classes = (W.ravel(), S.ravel(), u.ravel()), np.uint64(len(b))
    for t in range(start, len(order)):
        i = take_row(t, order, rows, shuffled, W)
        y = labels[i]
        rival, lead = find_rival(W, b, s, y, i, rows)
        if not lead > settings.above or math.isinf(lead):
            if updates == len(log) or not math.isfinite(lead):
                return t, updates, loss
            r, time = settings.a / np.float64(steps[i]), count_weight(clock, t)
            for c, sign in ((np.uint64(y), 1.0), (np.uint64(rival), -1.0)):
                learn_diagonal(*flat, classes, c, sign, r, time, i, rows)
                learn_bias_diagonal(b, Sb, ub, c, sign, r, time, bias)
            loss += log_update(log, updates, t, rival, lead, 1.0)
            updates += 1
    return len(order), updates, loss
