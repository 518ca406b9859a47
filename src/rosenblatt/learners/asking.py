"""Selective sampling: ask for the labels that teach most (Cesa-Bianchi, Gentile & Zaniboni 2006).

A label is asked for with the probability b / (b + |margin|): surely where the model is undecided,
seldom where it is sure. The expected number of mistakes then has a bound like that of a learner
that sees all labels, for any sequence of rows.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..data.rows import Array, rows_between
from .linear import LinearLearner, TrainingRows

RATE = 0.1  # of b's change, per row, towards the share that was asked for
SCALE_DECAY = 0.01  # of the mean margin, per row, after the first hundred


def find_margins(scores: Array, label_sets: bool = False) -> Array:
    """How far scores are from another decision.

    That is the size of a score of two classes, the lead of the best class over the second, and for
    label sets the size of the score nearest to 0.

    >>> find_margins(np.array([[1.0, 4.0, 2.5], [3.0, 0.0, 3.0]])).tolist()
    [1.5, 0.0]
    """
    if scores.ndim == 1:
        return np.abs(scores)
    if label_sets:
        return np.asarray(np.abs(scores).min(axis=1))
    best = np.partition(scores, -2, axis=1)
    return np.asarray(best[:, -1] - best[:, -2])


def reduce_margins(margins: Array, variances: Array | None = None) -> Array:
    """The numbers m of the probabilities b / (b + m).

    Without variances these are the margins. A second-order rule has a variance v = xᵀA⁻¹x of each
    margin p, and m = (p + p²/2) / (1 + v): where little is known of a row, more is asked.
    """
    if variances is None:
        return margins
    return np.asarray((margins + margins**2 / 2) / (1 + variances))


def ask_probabilities(margins: Array, b: float, variances: Array | None = None) -> Array:
    """The probability of asking for the label of each row.

    >>> ask_probabilities(np.array([0.0, 1.0, 3.0]), b=1.0).tolist()
    [1.0, 0.5, 0.25]
    """
    return np.asarray(b / (b + reduce_margins(margins, variances)))


class Asker:
    """Asks for about a share of the labels, by a b that follows the margins so far.

    The share is reached on average: b rises while less is asked for and falls while more is. It is
    relative to the mean of the margins, so that it does not depend on their unit.

    Attributes
    ----------
    share : float
        The share of labels to ask for.
    rows, asked : int
        The number of rows so far, and of those whose label was asked for.
    """

    def __init__(self, share: float, seed: int | None = None) -> None:
        self.share, self.random = share, np.random.default_rng(seed)
        self.rows = self.asked = 0
        odds = max(share, 1e-9) / max(1 - share, 1e-9)
        self.log_b, self.scale = math.log(odds), 0.0  # asks for the share at the mean margin

    def ask(self, margin: float) -> bool:
        """Decide for one row, by its margin after ``reduce_margins``."""
        self.rows += 1
        self.scale += max(1 / self.rows, SCALE_DECAY) * (margin - self.scale)
        relative = margin / self.scale if self.scale > 0 else 0.0
        b = math.exp(self.log_b)
        probability = b / (b + relative)
        self.log_b = min(max(self.log_b + RATE * (self.share - probability), -50.0), 50.0)
        is_asked = bool(self.random.random() < probability)
        self.asked += is_asked
        return is_asked


class Asked(NamedTuple):
    """One flag per row: whether its label was asked for, and whether its prediction was wrong."""

    asked: Array
    wrong: Array


def learn_asked(
    learner: LinearLearner, given: TrainingRows, ask: Callable[[int, float], bool]
) -> Asked:
    """Learn from rows once, in their order, and only from those whose label is asked for.

    ``ask`` is called with the number of each row and its margin. Labels of other rows are used only
    to flag wrong predictions.
    """
    flags = Asked(np.zeros(len(given.codes), bool), np.zeros(len(given.codes), bool))
    for row in given.row_order.tolist():
        one = rows_between(given.rows, row, row + 1)
        scores, code = learner.score_one(one), int(given.codes[row])
        flags.wrong[row] = learner.choose(scores)[0] != code
        (margin,) = reduce_margins(find_margins(scores), learner.margin_variances(one)).tolist()
        if ask(row, margin):
            flags.asked[row] = True
            weight = 1.0 if given.weights is None else float(given.weights[row])
            learner.learn_one(one, code, weight)
    return flags


def choose_labels(
    learner: LinearLearner, given: TrainingRows, budget: float, seed: int = 0
) -> Asked:
    """Learn from rows once and ask for at most ``budget`` labels: a share below 1, or a number."""
    total = len(given.row_order)
    most = min(total, int(budget) if budget >= 1 else max(1, round(budget * total)))
    asker = Asker(most / max(total, 1), seed)

    def ask(row: int, margin: float) -> bool:
        if asker.asked == most:
            return False
        asker.share = (most - asker.asked) / max(total - asker.rows, 1)
        return asker.ask(margin)

    return learn_asked(learner, given, ask)
