"""Rules that choose the length of the step: passive-aggressive, ALMA and ROMMA.

With several classes the row to learn is the difference of two: x for its class, -x for the best
rival, of twice the squared size (Crammer & Singer 2003). The bias is a weight of one more
coordinate, whose square is the settings' ``intercept_step``.
"""

from typing import NamedTuple

import numpy as np

from .algebra import add, best_other, dot, fetch_row, fetch_weights, move, score, squared_norm
from .compiling import compiled, inlined


class AggressiveSettings(NamedTuple):
    """When a row is right, the bias, the aggressiveness C, and which loss it is for."""

    above: float
    below: float
    intercept_step: float
    C: float
    loss: int


class AlmaSettings(NamedTuple):
    """When a row is surely right, the bias, and α, B and C of the paper."""

    above: float
    below: float
    intercept_step: float
    alpha: float
    B: float
    C: float


class RommaSettings(NamedTuple):
    """When a row is right: at any margin above 0, or if aggressive from 1 on; and the bias."""

    above: float
    below: float
    intercept_step: float


HARD, HINGE, SQUARED_HINGE = range(3)


@inlined
def note(log, updates, t, rival, margin, step):
    """Write an update into the log; its loss."""
    log[updates].position = t
    log[updates].rival = rival
    log[updates].margin = margin
    log[updates].step = step
    return max(-margin, 0.0)


# Passive-aggressive: the smallest step after which the row has margin 1.


@inlined
def aggressive_step(margin, size, settings):
    """τ of PA, PA-I and PA-II for a row of a squared size (Crammer et al. 2006)."""
    loss = 1.0 - margin
    if settings.loss == SQUARED_HINGE:
        return loss / (size + 0.5 / settings.C)
    step = loss / size if size > 0.0 else 0.0
    return min(settings.C, step) if settings.loss == HINGE else step


@compiled
def passive_aggressive(examples, order, start, w, b, settings, log):
    """If 1 - y(w·x + b) > 0, w += τyx with the τ that mends it, or less (Crammer et al. 2006)."""
    rows, steps = examples.rows[:], examples.steps
    updates, loss = 0, 0.0
    for t in range(start, len(order)):
        i = order[t]
        fetch_row(t, order, *rows)
        a = dot(w, i, *rows) + b[0]
        margin = a if steps[i] > 0 else -a
        if not margin >= 1.0 or np.isinf(a):
            if updates == len(log) or not np.isfinite(a):
                return t, updates, loss
            size = squared_norm(i, *rows) + settings.intercept_step
            step = steps[i] * steps.dtype.type(aggressive_step(margin, size, settings))
            add(w, step, i, *rows)
            b[0] += step * settings.intercept_step
            loss += note(log, updates, t, 0, margin, step)
            updates += 1
    return len(order), updates, loss


@compiled
def passive_aggressive_many(examples, order, start, W, b, settings, log):
    """The same for the lead of the right class over its best rival (Crammer et al. 2006, §7)."""
    rows, steps, labels = examples.rows[:], examples.steps, examples.labels
    s = np.empty_like(b)
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
            size = 2.0 * (squared_norm(i, *rows) + settings.intercept_step)
            step = steps[i] * steps.dtype.type(aggressive_step(lead, size, settings))
            move(W, step, y, rival, i, *rows)
            b[y] += step * settings.intercept_step
            b[rival] -= step * settings.intercept_step
            loss += note(log, updates, t, rival, lead, step)
            updates += 1
    return len(order), updates, loss


# ALMA keeps weights in the unit ball. Here w = v/Z with the weights v, so that every correction
# only adds to them: v += Z·(C/√k)·y·x/‖x‖. ``ball`` holds Z, ‖w‖² and k.


@inlined
def alma_is_right(margin, size, ball, settings):
    """Whether y·w·x/‖x‖ > (1 - α)B/√k."""
    return margin / ball[0] > (1.0 - settings.alpha) * settings.B * np.sqrt(size / ball[2])


@inlined
def alma_step(margin, size, ball, settings):
    """What to add of the row to v; Z, ‖w‖² and k go on (Gentile 2001, p = 2)."""
    Z, square, k = ball[0], ball[1], ball[2]
    rate = settings.C / np.sqrt(k)
    step = Z * rate / np.sqrt(size)
    square += 2.0 * rate * margin / (Z * np.sqrt(size)) + rate * rate
    length = max(1.0, np.sqrt(square))
    ball[0], ball[1], ball[2] = Z * length, square / (length * length), k + 1.0
    return step


@compiled
def alma(examples, order, start, w, b, ball, settings, log):
    """Correct what is not right by (1 - α) of a margin that shrinks with √k (Gentile 2001)."""
    rows, steps = examples.rows[:], examples.steps
    updates, loss = 0, 0.0
    for t in range(start, len(order)):
        i = order[t]
        fetch_row(t, order, *rows)
        a = dot(w, i, *rows) + b[0]
        margin = a if steps[i] > 0 else -a
        size = squared_norm(i, *rows) + settings.intercept_step
        if not alma_is_right(margin, size, ball, settings) or np.isinf(a):
            if updates == len(log) or not np.isfinite(a):
                return t, updates, loss
            if size == 0.0:
                continue  # an empty row without a bias teaches nothing
            step = steps[i] * steps.dtype.type(alma_step(margin, size, ball, settings))
            add(w, step, i, *rows)
            b[0] += step * settings.intercept_step
            loss += note(log, updates, t, 0, margin, step)
            updates += 1
    return len(order), updates, loss


@compiled
def alma_many(examples, order, start, W, b, ball, settings, log):
    """The same for the lead of the right class over its best rival."""
    rows, steps, labels = examples.rows[:], examples.steps, examples.labels
    s = np.empty_like(b)
    updates, loss = 0, 0.0
    for t in range(start, len(order)):
        i = order[t]
        fetch_row(t, order, *rows)
        score(W, b, s, i, *rows)
        y = labels[i]
        rival = best_other(s, y)
        lead = s[y] - s[rival]
        size = 2.0 * (squared_norm(i, *rows) + settings.intercept_step)
        if not alma_is_right(lead, size, ball, settings) or np.isinf(lead):
            if updates == len(log) or not np.isfinite(lead):
                return t, updates, loss
            if size == 0.0:
                continue
            step = steps[i] * steps.dtype.type(alma_step(lead, size, ball, settings))
            move(W, step, y, rival, i, *rows)
            b[y] += step * settings.intercept_step
            b[rival] -= step * settings.intercept_step
            loss += note(log, updates, t, rival, lead, step)
            updates += 1
    return len(order), updates, loss


# ROMMA: the shortest weights that meet the last row's constraint and a half-space that holds all
# those before. w = Zv: an update multiplies Z and adds to v. ``scale`` holds Z and ‖w‖². The sums
# for the average (see linear.py) are kept here, because the weights may begin anew.


@inlined
def romma_step(margin, size, scale):
    """What to add of the row to v; Z and ‖w‖² go on (Li & Long 2002).

    When the row's own constraint implies the half-space, the weights are y·x/‖x‖² alone: then Z is
    negative, which says so.
    """
    square = scale[1]
    product = square * size
    if square == 0.0 or product <= margin:
        scale[0], scale[1] = -1.0, 1.0 / size
        return 1.0 / size
    rest = product - margin * margin
    keep, more = (product - margin) / rest, square * (1.0 - margin) / rest
    scale[0] *= keep
    scale[1] = keep * keep * square + 2.0 * keep * more * margin + more * more * size
    return more / scale[0]


@inlined
def forget(w, b, u, ub, time):
    """Set the weights to zero; the sums take note."""
    u -= time * w
    ub -= time * b
    w[...] = 0
    b[...] = 0


@compiled
def romma(examples, order, start, w, b, scale, u, ub, clock, settings, log):
    """On a mistake, or below margin 1, the relaxed maximum margin (Li & Long 2002)."""
    rows, steps = examples.rows[:], examples.steps
    updates, loss = 0, 0.0
    for t in range(start, len(order)):
        i = order[t]
        fetch_row(t, order, *rows)
        a = (dot(w, i, *rows) + b[0]) * scale[0]
        margin = a if steps[i] > 0 else -a
        if not margin > settings.above or np.isinf(a):
            if updates == len(log) or not np.isfinite(a):
                return t, updates, loss
            size = squared_norm(i, *rows) + settings.intercept_step
            if size == 0.0:
                continue  # an empty row without a bias teaches nothing
            step = romma_step(margin, size, scale)
            time = clock[0] + t
            if scale[0] < 0.0:
                forget(w, b, u, ub, time)
                scale[0] = 1.0
            step = np.sign(steps[i]) * steps.dtype.type(step)
            add(w, step, i, *rows)
            add(u, time * step, i, *rows)
            b[0] += step * settings.intercept_step
            ub[0] += time * step * settings.intercept_step
            loss += note(log, updates, t, 0, margin, step)
            updates += 1
    return len(order), updates, loss


@compiled
def romma_many(examples, order, start, W, b, scale, u, ub, clock, settings, log):
    """The same for the lead of the right class over its best rival."""
    rows, steps, labels = examples.rows[:], examples.steps, examples.labels
    s = np.empty_like(b)
    updates, loss = 0, 0.0
    for t in range(start, len(order)):
        i = order[t]
        fetch_row(t, order, *rows)
        score(W, b, s, i, *rows)
        y = labels[i]
        rival = best_other(s, y)
        lead = (s[y] - s[rival]) * scale[0]
        if not lead > settings.above or np.isinf(lead):
            if updates == len(log) or not np.isfinite(lead):
                return t, updates, loss
            size = 2.0 * (squared_norm(i, *rows) + settings.intercept_step)
            if size == 0.0:
                continue
            step = romma_step(lead, size, scale)
            time = clock[0] + t
            if scale[0] < 0.0:
                forget(W, b, u, ub, time)
                scale[0] = 1.0
            step = steps.dtype.type(step)
            move(W, step, y, rival, i, *rows)
            move(u, time * step, y, rival, i, *rows)
            b[y] += step * settings.intercept_step
            b[rival] -= step * settings.intercept_step
            ub[y] += time * step * settings.intercept_step
            ub[rival] -= time * step * settings.intercept_step
            loss += note(log, updates, t, rival, lead, step)
            updates += 1
    return len(order), updates, loss
