"""Probabilities from scores, fitted on the scores of rows that were not learned from."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..data.rows import Array
from ..data.splits import Split

FOLDS = 3
"""Parts of the rows; each is scored by a model of the other parts."""
MOST_ROWS = 2**16  # more say nothing new of so few numbers
PRIOR = 4.0  # rows that the slope shared by all classes counts as
STEPS = 40  # of a bisection
MOST_RECENT = 10_000  # scores of a stream to calibrate on
ENOUGH = 200  # rows of a stream to calibrate on


@dataclass(frozen=True)
class Calibration:
    """A softmax of the scores, multiplied by a slope that depends on the class they choose.

    All slopes are positive, so the class with the largest score is also the most probable one.
    With two classes this is a sigmoid (Platt 1999) through probability 1/2 at score 0.

    Attributes
    ----------
    slopes : ndarray of shape (n_classes,)
        What the scores of a row are multiplied by, for each class that they may choose.
    offsets : ndarray of shape (1,) or (n_classes,), or None
        What is added to them; only in models of version 0.2 and before.
    """

    slopes: Array
    offsets: Array | None = None

    def probabilities(self, scores: Array, chosen: Array | None = None) -> Array:
        """The probability of every class for each row.

        Parameters
        ----------
        scores
            As ``decision_function`` gives them.
        chosen
            The classes that the model chooses, where ties are not simply the first class.
        """
        given = columns(scores)
        if self.offsets is not None:
            return softmax(self.slopes[0] * given + self.offsets)
        if chosen is None:
            chosen = choose(given)
        found = softmax(self.slopes[chosen][:, None] * given)
        tied = np.flatnonzero(found.argmax(axis=1) != chosen)
        found[tied, chosen[tied]] = np.nextafter(found[tied].max(axis=1), 2.0)
        return found

    def as_dict(self) -> dict[str, Any]:
        """The calibration as JSON values."""
        if self.offsets is not None:
            return {"slope": float(self.slopes[0]), "offsets": self.offsets.tolist()}
        return {"slopes": self.slopes.tolist()}

    @classmethod
    def of(cls, kept: dict[str, Any]) -> "Calibration":
        """The calibration from JSON values."""
        if "slopes" in kept:
            return cls(np.array(kept["slopes"], np.float64))
        offsets = np.array(kept["offsets"], np.float64)
        return cls(np.full(max(2, len(offsets)), float(kept["slope"])), offsets)


class RecentScores(NamedTuple):
    """The scores that the last rows of a stream had before they were learnt, and their classes.

    Together at most ``MOST_RECENT`` numbers; older rows are forgotten, so that probabilities follow
    a stream that drifts.
    """

    scores: Array = np.empty(0)
    codes: Array = np.empty(0, np.intp)

    def add(self, scores: Array, codes: Array) -> "RecentScores":
        """Return the scores with those of further rows."""
        most = max(MOST_RECENT // max(scores.size // len(scores), 1), ENOUGH)
        if len(self.codes):
            scores, codes = np.concatenate([self.scores, scores]), np.append(self.codes, codes)
        return RecentScores(scores[-most:].astype(np.float64), codes[-most:].astype(np.intp))

    @property
    def is_enough(self) -> bool:
        """Whether there are enough rows to replace an earlier calibration."""
        return len(self.codes) >= ENOUGH

    def calibrate(self, n_classes: int) -> Calibration:
        """Fit probabilities to the scores."""
        return fit_calibration(self.scores, self.codes, n_classes)

    def as_dict(self) -> dict[str, Any]:
        """Return JSON values for a model file."""
        return {"scores": self.scores.tolist(), "codes": self.codes.tolist()}

    @classmethod
    def of(cls, kept: dict[str, Any], n_classes: int) -> "RecentScores":
        """Restore the scores of a model file; raise ValueError if they are inconsistent."""
        scores, codes = np.array(kept["scores"], np.float64), np.array(kept["codes"], np.intp)
        shape = (len(codes),) if n_classes == 2 else (len(codes), n_classes)
        if scores.shape != shape or codes.max(initial=0) >= n_classes:
            raise ValueError("its recent_scores do not fit its classes")
        return cls(scores, codes)


def columns(scores: Array) -> Array:
    """Scores as an array with a column per class, or one column for two classes."""
    return np.asarray(scores, np.float64).reshape(len(scores), -1)


def choose(scores: Array) -> Array:
    """The class with the largest score; of two classes the second where its score is above 0."""
    return scores.argmax(axis=1) if scores.shape[1] > 1 else (scores[:, 0] > 0).astype(np.intp)


def softmax(scores: Array) -> Array:
    """Probabilities that grow with the scores; of two classes the first has score 0."""
    if scores.shape[1] == 1:
        scores = np.hstack([np.zeros_like(scores), scores])
    grown = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(grown / grown.sum(axis=1, keepdims=True))


def fit_calibration(scores: Array, codes: Array, n_classes: int) -> Calibration:
    """Fit the slopes that make the labels most likely.

    Each label counts as a little uncertain, as in Platt (1999), so that no probability becomes 0
    or 1. The slope of a class is drawn towards the one that suits all rows, so that few rows do not
    decide it.

    Parameters
    ----------
    scores : ndarray of shape (n_rows,) or (n_rows, n_classes)
        Of rows that were not learnt from.
    codes : ndarray of shape (n_rows,)
        The numbers of their classes.
    n_classes : int
        How many classes there are.
    """
    some = slice(None, None, 1 + len(codes) // MOST_ROWS)
    given, codes = columns(scores)[some], codes[some]
    size = float(np.abs(given).max(initial=0.0)) or 1.0
    given, wanted, chosen = given / size, targets(codes, n_classes), choose(given)
    shared = best_slope(given, wanted)
    slopes = [
        best_slope(given[chosen == one], wanted[chosen == one], shared) for one in range(n_classes)
    ]
    return Calibration(np.maximum(np.array(slopes) / size, np.finfo(float).tiny))


def cross_fit(
    codes: Array,
    rows: Array,
    n_classes: int,
    seed: int,
    score: Callable[[Array, Array], Array],
) -> Calibration:
    """Calibrate on scores that each fold of some rows gets from a model of the other folds.

    Parameters
    ----------
    codes
        The numbers of the classes of all rows.
    rows
        The numbers of the rows to learn from.
    n_classes
        How many classes there are.
    seed
        Decides the folds.
    score
        The scores of rows (second argument) by a model of others (first argument).
    """
    folds, parts = Split(seed=seed).folds(codes, rows, FOLDS), []
    for fold in range(FOLDS):
        learnt, held = rows[folds != fold], rows[folds == fold]
        if len(learnt) and len(held):
            parts.append((score(learnt, held), codes[held]))
    scores, labels = map(np.concatenate, zip(*parts, strict=True))
    return fit_calibration(scores, labels, n_classes)


def targets(codes: Array, n_classes: int) -> Array:
    """Target probabilities: (n + 1)/(n + 2) for a class of n rows, the rest for the others."""
    counts = np.bincount(codes, minlength=n_classes)[codes]
    doubt = 1.0 / (counts + 2.0)
    wanted = np.repeat(doubt[:, None] / (n_classes - 1), n_classes, axis=1)
    wanted[np.arange(len(codes)), codes] = 1.0 - doubt
    return wanted


def best_slope(scores: Array, wanted: Array, prior: float | None = None) -> float:
    """Fit the positive slope that makes labels most likely; near ``prior`` with few rows.

    Minus the logarithm of the likelihood is convex in the slope: its derivative is bisected.
    """
    outputs = scores.shape[1]
    least, most = -20.0, 20.0  # powers of 2
    for _ in range(STEPS):
        middle = (least + most) / 2
        slope = 2.0**middle
        lack = softmax(slope * scores)[:, -outputs:] - wanted[:, -outputs:]
        derivative = float((lack * scores).sum())
        if prior is not None:
            derivative += PRIOR * (slope / prior - 1) / prior
        least, most = (least, middle) if derivative > 0 else (middle, most)
    return float(2.0 ** ((least + most) / 2))
