"""Targets: what labels are, and so how the weights see a row."""

import math
from typing import NamedTuple

import numpy as np

from .algebra import best_other, dot, fetch_weights, score, smaller
from .compiling import inlined
from .loop import Found, fetch_ahead, measure, row_loss

SMALLEST = 5e-324  # positive number


class TwoClasses(NamedTuple):
    """The label is the sign of a row's step."""


class SeveralClasses(NamedTuple):
    """The label is the number of a class; ``scores`` is a buffer for the scores of a row."""

    scores: np.ndarray


class Numbers(NamedTuple):
    """The label is a number; errors up to ε are right."""

    epsilon: float


class Ranks(NamedTuple):
    """The label is a rank: with k of them, ``b`` holds k - 1 biases that never increase.

    They are the thresholds of the paper, negated (Crammer & Singer 2001). Rank r is predicted if
    w·x + b is not negative for the first r of them.
    """


@measure.of(TwoClasses)
def measure_side(target, state, i, examples):
    """The label times the activation w·x + b."""
    a, positive = dot(state.w, i, examples.rows) + state.b[0], examples.steps[i] > 0
    return Found(np.float64(a), np.float64(a if positive else -a), 1.0 if positive else -1.0, 0, -1)


@measure.of(SeveralClasses)
def measure_lead(target, state, i, examples):
    """The lead of the right class over its best rival (Crammer & Singer 2003)."""
    s, y = target.scores, np.int64(examples.labels[i])
    score(state.w, state.b, s, i, examples.rows)
    rival = best_other(s, y)
    return Found(np.float64(s[y]), np.float64(s[y] - s[rival]), 1.0, y, np.int64(rival))


@fetch_ahead.of(SeveralClasses)
def fetch_weights_ahead(target, state, t, order, rows):
    """Prefetch the weights of all classes in the columns of the next row."""
    fetch_weights(state.w, len(state.b), t, order, rows.indices, rows.starts)


@measure.of(Numbers)
def measure_error(target, state, i, examples):
    """By how much the error is below ε; the side is that of the label."""
    a = np.float64(dot(state.w, i, examples.rows)) + state.b[0]
    error = examples.labels[i] - a
    return Found(np.float64(a), target.epsilon - abs(error), math.copysign(1.0, error), 0, -1)


@measure.of(Ranks)
def measure_rank(target, state, i, examples):
    """How far w·x is on the right side of the nearest threshold.

    It is positive exactly where the rank is predicted: on a threshold, where the higher rank is, it
    is the smallest positive number.
    """
    b, a, y = state.b, dot(state.w, i, examples.rows), np.int64(examples.labels[i])
    margin = math.inf
    if y > 0:
        margin = np.float64(a + b[y - 1])
        margin = SMALLEST if margin == 0.0 else margin
    if y < len(b):
        margin = smaller(margin, -np.float64(a + b[y]))
    return Found(np.float64(a), margin, 1.0, y, -1)


@inlined
def predict_rank(a, b):
    """The number of the first biases that leave an activation not negative."""
    rank = 0
    while rank < len(b) and a + b[rank] >= 0.0:
        rank += 1
    return rank


@row_loss.of(Ranks)
def distance_of_ranks(target, state, found):
    """How many ranks the predicted one is away."""
    return np.float64(abs(predict_rank(found.score, state.b) - found.label))
