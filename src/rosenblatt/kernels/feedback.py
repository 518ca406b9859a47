"""Feedback that only says whether a prediction was right: the Banditron (Kakade et al. 2008).

Scores name the best class of k. It is predicted with the probability 1 - γ + γ/k, and every other
class with γ/k. A prediction c that was drawn with the probability p and is right adds x/p to the
weights of c; right or wrong, x is subtracted from the best class under the current weights. The
expectation over the draws is the perceptron's update.

With an average, the average names the class to predict, and the last weights the class to subtract
from. Two classes need no draws: a wrong one says that the other is right.
"""

import math
from typing import NamedTuple

import numpy as np

from .algebra import (
    Rows,
    add,
    column,
    dot,
    fetch_row,
    is_shuffled,
    larger,
    mix,
    score,
    smaller,
    span,
    take_row,
)
from .compiling import compiled, inlined
from .linear import count_weight, log_update

STRIDE = np.uint64(0x9E3779B97F4A7C15)  # between the states of SplitMix64
UNIT = 2.0**-53


class BanditSettings(NamedTuple):
    """Thresholds, the step of the bias, and the exploration γ."""

    above: float
    below: float
    intercept_step: float
    exploration: float


class Judged(NamedTuple):
    """Rows with predicted classes, and the probability with which each was drawn.

    ``steps`` has the weight of each row, negative where the prediction was wrong.
    """

    rows: Rows
    steps: np.ndarray
    labels: np.ndarray
    probabilities: np.ndarray


@inlined
def draw_class(draws, best, k, exploration):
    """Draw a class; return it and its probability. ``draws`` is the state of SplitMix64."""
    draws[0] += STRIDE
    u = np.float64(mix(draws[0]) >> np.uint64(11)) * UNIT - (1.0 - exploration)
    drawn = best if u < 0.0 else smaller(np.int64(u / exploration * k), k - 1)
    return drawn, (1.0 - exploration if drawn == best else 0.0) + exploration / k


@inlined
def find_best(s):
    """The class with the largest score, of equals the first; -1 if a score is not finite."""
    best = 0
    for c in range(len(s)):
        if not math.isfinite(s[c]):
            return -1
        if s[c] > s[best]:
            best = c
    return best


@inlined
def add_to_class(W, b, u, ub, c, step, time, bias, i, rows):
    """Add step·xᵢ to the weights of class c, and time·step·xᵢ to the sums of an average."""
    values, indices, starts = rows
    first, last = span(i, indices, starts)
    for k in range(first, last):
        j = column(k, first, indices)
        W[j, c] += step * values[k]
        if len(u):
            u[j, c] += time * (step * values[k])
    b[c] += step * bias
    if len(ub):
        ub[c] += time * (step * bias)


@inlined
def learn_judged(W, b, u, ub, best, drawn, gain, weight, time, bias, i, rows):
    """Add gain·xᵢ to the class that was drawn, and subtract weight·xᵢ from the best class."""
    if drawn == best:
        add_to_class(W, b, u, ub, best, W.dtype.type(gain - weight), time, bias, i, rows)
        return
    if gain != 0.0:
        add_to_class(W, b, u, ub, drawn, W.dtype.type(gain), time, bias, i, rows)
    add_to_class(W, b, u, ub, best, W.dtype.type(-weight), time, bias, i, rows)


@compiled
def banditron(examples, order, start, w, b, draws, u, ub, clock, settings, log):
    """Two classes: on every mistake, w += ηyx and b += ηy."""
    rows, steps = examples.rows, examples.steps
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
            step = np.float64(steps[i])
            add(w, steps[i], i, rows)
            b[0] += steps[i] * settings.intercept_step
            if len(u):
                time = count_weight(clock, t)
                add(u, time * step, i, rows)
                ub[0] += time * step * settings.intercept_step
            loss += log_update(log, updates, t, 0, margin, step)
            updates += 1
    return len(order), updates, loss


@compiled
def banditron_multiclass(examples, order, start, W, b, draws, u, ub, clock, settings, log):
    """Predict classes by chance, and use labels only to say whether these are right.

    The log has a margin of 1 for a right prediction, and of -1 for a wrong one.
    """
    rows, steps, labels = examples.rows, examples.steps, examples.labels
    s, missing = np.empty(len(b), b.dtype), np.zeros(len(ub))
    updates, loss, shuffled = 0, 0.0, is_shuffled(order, start)
    for t in range(start, len(order)):
        i = take_row(t, order, rows, shuffled, W)
        score(W, b, s, i, rows)
        best, time = find_best(s), count_weight(clock, t)
        if best < 0 or updates == len(log):
            return t, updates, loss
        named = best
        if len(u) and time > 0.0:
            score(u, ub, missing, i, rows)
            for c in range(len(s)):
                missing[c] = s[c] - missing[c] / time
            named = larger(find_best(missing), 0)
        drawn, p = draw_class(draws, named, len(s), settings.exploration)
        weight, right = np.float64(steps[i]), drawn == labels[i]
        gain, bias = weight / p if right else 0.0, settings.intercept_step
        learn_judged(W, b, u, ub, best, drawn, gain, weight, time, bias, i, rows)
        loss += log_update(log, updates, t, drawn, 1.0 if right else -1.0, weight / p)
        updates += 1
    return len(order), updates, loss


@compiled
def banditron_judged(judged, order, start, W, b, draws, u, ub, clock, settings, log):
    """The same for predictions that were drawn and judged before.

    The log has a margin of 1 where the weights name a class that was right, else of -1.
    """
    rows, steps, labels = judged.rows, judged.steps, judged.labels
    s, bias = np.empty(len(b), b.dtype), settings.intercept_step
    updates, loss, shuffled = 0, 0.0, is_shuffled(order, start)
    for t in range(start, len(order)):
        i = take_row(t, order, rows, shuffled, W)
        score(W, b, s, i, rows)
        best, time = find_best(s), count_weight(clock, t)
        if best < 0 or updates == len(log):
            return t, updates, loss
        weight, drawn = abs(np.float64(steps[i])), np.int64(labels[i])
        gain = weight / judged.probabilities[i] if steps[i] > 0 else 0.0
        learn_judged(W, b, u, ub, best, drawn, gain, weight, time, bias, i, rows)
        right = steps[i] > 0 and best == drawn
        loss += log_update(log, updates, t, drawn, 1.0 if right else -1.0, gain)
        updates += 1
    return len(order), updates, loss
