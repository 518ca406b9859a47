"""Rules that also multiply all weights: ALMA, ROMMA and the shifting perceptron share a loop.

w = Zv, and an update changes Z and adds to v. ``scale`` holds Z; T, the sum of Z over the rows up
to the last update, and the number of these rows; ‖w‖²; and k, one more than the updates so far. As
in linear.py, what is added to v is missing from all weights before, so T times it is summed in u
(unless u is empty), and Tv - u is the sum of the weights after each row.

With several classes, x is added to a class and subtracted from its rival, as in
passive_aggressive.py. The weight of a row multiplies the step; ROMMA ignores it.
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
    larger,
    move,
    squared_norm,
    take_row,
)
from .compiling import compiled, inlined
from .linear import count_weight, log_update

ALMA, ROMMA, SHIFTING = range(3)
Z, T, SEEN, SQUARE, K = range(5)


class ScaledSettings(NamedTuple):
    """Thresholds, the step of the bias, the rule, α, B and C of ALMA, and λ of the shifting one."""

    above: float
    below: float
    intercept_step: float
    rule: int
    alpha: float
    B: float
    C: float
    lam: float


@inlined
def count_rows(scale, clock, t):
    """Add the rows since the last update to T."""
    before = count_weight(clock, scale[SEEN] - clock.seen)
    scale[T] += scale[Z] * (count_weight(clock, t) - before)
    scale[SEEN] = clock.seen + t


@inlined
def close_sums(w, b, u, ub, scale):
    """Put the sum of all weights so far into u, and begin T at 0."""
    if len(u):
        for k in range(u.size):  # an expression of arrays would allocate one
            u.flat[k] -= scale[T] * w.flat[k]
        for c in range(len(ub)):
            ub[c] -= scale[T] * b[c]
    scale[T] = 0.0


@inlined
def fold(w, b, u, ub, scale, bias):
    """Multiply v by Z before too many digits are lost, and compute ‖w‖²."""
    far = 1e3 if w.itemsize == 4 else 1e6
    if not 1.0 < scale[Z] * far < far * far:
        close_sums(w, b, u, ub, scale)
        w *= w.dtype.type(scale[Z])
        b *= b.dtype.type(scale[Z])
        scale[Z], scale[SQUARE] = 1.0, 0.0
        for each in w.flat:
            scale[SQUARE] += np.float64(each) * each
        for each in b:
            scale[SQUARE] += np.float64(each) * each / bias if bias > 0.0 else 0.0


@inlined
def alma_step(margin, size, weight, scale, settings):
    """Update Z, ‖w‖² and k; return the step along the row to add to v (Gentile 2001, p = 2)."""
    if size == 0.0:
        return 0.0  # an empty row without a bias teaches nothing
    rate = weight * settings.C / math.sqrt(scale[K])
    step = rate / (math.sqrt(size) * scale[Z])
    square = scale[SQUARE] + 2.0 * rate * margin / math.sqrt(size) + rate * rate
    length = larger(1.0, math.sqrt(square))
    scale[Z] /= length
    scale[SQUARE] = square / (length * length)
    scale[K] += 1.0
    return step


# ROMMA: the shortest weights that satisfy the constraint of the last row and lie in a half-space
# that contains all weights which satisfy the constraints before.


@inlined
def romma_step(margin, size, scale, tiny):
    """Update Z and ‖w‖²; return the step along the row to add to v (Li & Long 2002).

    Where the row's constraint implies the half-space, or contradicts it, the weights become
    y·x/‖x‖²; Z is then 0.
    """
    if size == 0.0:
        return 0.0  # an empty row without a bias teaches nothing
    square = scale[SQUARE]
    product = square * size
    rest = product - margin * margin
    if product <= margin or rest <= tiny * product:
        scale[Z], scale[SQUARE] = 0.0, 1.0 / size
        return 1.0 / size
    keep, more = (product - margin) / rest, square * (1.0 - margin) / rest
    scale[Z] *= keep
    scale[SQUARE] = keep * square + more
    return more / scale[Z]


@inlined
def shifting_step(size, weight, scale, settings):
    """Update Z and k; return the step along the row to add to v (Cavallanti et al. 2007).

    After k mistakes, w becomes (1 - λₖ)w + λₖyx with λₖ = λ/(λ + k); at first λ₀ = 1, and Z is 0.
    """
    if size == 0.0:
        return 0.0  # an empty row without a bias teaches nothing
    k = scale[K] - 1.0
    scale[K] += 1.0
    scale[Z] *= k / (settings.lam + k)
    rate = weight * settings.lam / (settings.lam + k)
    return rate / scale[Z] if scale[Z] > 0.0 else rate


@inlined
def reset(w, b, u, ub, scale):
    """Set the weights to 0 and Z to 1."""
    close_sums(w, b, u, ub, scale)
    w[...] = 0
    b[...] = 0
    scale[Z] = 1.0


@inlined
def is_right(margin, size, scale, settings):
    """Whether a row causes no update; ALMA requires y·w·x/‖x‖ > (1 - α)B/√k."""
    if settings.rule == ALMA:
        return margin > (1.0 - settings.alpha) * settings.B * math.sqrt(size / scale[K])
    return margin > settings.above


@inlined
def scaled_step(margin, size, weight, scale, tiny, settings):
    """Update the scale by the rule; return the step along the row to add to v."""
    if settings.rule == ALMA:
        return alma_step(margin, size, weight, scale, settings)
    if settings.rule == SHIFTING:
        return shifting_step(size, weight, scale, settings)
    return romma_step(margin, size, scale, tiny)


@compiled
def scaled(examples, order, start, w, b, scale, u, ub, clock, settings, log):
    """On a row that is not right, multiply w by a factor and add a step along the row."""
    rows, steps = examples.rows, examples.steps
    tiny, early = 1e-5 if w.itemsize == 4 else 1e-12, settings.rule == ALMA
    updates, loss, shuffled = 0, 0.0, is_shuffled(order, start)
    for t in range(start, len(order)):
        i = np.uint64(order[t])
        if shuffled:
            fetch_row(t, order, rows)
        a = (dot(w, i, rows) + b[0]) * scale[Z]
        margin = a if steps[i] > 0 else -a
        size = squared_norm(i, rows) + settings.intercept_step if early else 0.0
        if not is_right(margin, size, scale, settings) or math.isinf(a):
            if updates == len(log) or not math.isfinite(a):
                return t, updates, loss
            if not early:
                size = squared_norm(i, rows) + settings.intercept_step
            count_rows(scale, clock, t)
            step = scaled_step(margin, size, abs(np.float64(steps[i])), scale, tiny, settings)
            if scale[Z] == 0.0:
                reset(w, b, u, ub, scale)
            step = steps.dtype.type(math.copysign(step, steps[i]))
            add(w, step, i, rows)
            b[0] += step * settings.intercept_step
            if len(u):
                add(u, scale[T] * step, i, rows)
                ub[0] += scale[T] * step * settings.intercept_step
            fold(w, b, u, ub, scale, settings.intercept_step)
            loss += log_update(log, updates, t, 0, margin, step)
            updates += 1
    return len(order), updates, loss


@compiled
def scaled_multiclass(examples, order, start, W, b, scale, u, ub, clock, settings, log):
    """The same for the lead of the right class over its best rival."""
    rows, steps, labels = examples.rows, examples.steps, examples.labels
    s, early = b.copy(), settings.rule == ALMA
    tiny = 1e-5 if W.itemsize == 4 else 1e-12
    updates, loss, shuffled = 0, 0.0, is_shuffled(order, start)
    for t in range(start, len(order)):
        i = take_row(t, order, rows, shuffled, W)
        y = labels[i]
        rival, lead = find_rival(W, b, s, y, i, rows)
        lead *= scale[Z]
        size = 2.0 * (squared_norm(i, rows) + settings.intercept_step) if early else 0.0
        if not is_right(lead, size, scale, settings) or math.isinf(lead):
            if updates == len(log) or not math.isfinite(lead):
                return t, updates, loss
            if not early:
                size = 2.0 * (squared_norm(i, rows) + settings.intercept_step)
            count_rows(scale, clock, t)
            step = scaled_step(lead, size, np.float64(steps[i]), scale, tiny, settings)
            if scale[Z] == 0.0:
                reset(W, b, u, ub, scale)
            step = steps.dtype.type(step)
            move(W, b, step, settings.intercept_step, y, rival, i, rows)
            if len(u):
                move(u, ub, scale[T] * step, settings.intercept_step, y, rival, i, rows)
            fold(W, b, u, ub, scale, settings.intercept_step)
            loss += log_update(log, updates, t, rival, lead, step)
            updates += 1
    return len(order), updates, loss
