"""Probabilities from scores, fitted on the scores of rows that were not learned from."""

from dataclasses import astuple, dataclass
from typing import Any, NamedTuple

import numpy as np

from ..data.rows import Array
from ..data.targets import score_ranks

FOLDS = 3
"""Parts of the rows; each is scored by a model of the other parts."""
MOST_ROWS = 2**16  # more say nothing new of so few numbers
PRIOR = 4.0  # rows that the slope shared by all classes counts as
LEAST_SLOPE = 1e-6  # of scores up to 1: a larger score is never less probable
STEPS = 300  # of a fit
TINY, ENOUGH_GAIN, HALVINGS = 1e-9, 1e-12, 30  # of a step
MOST_RECENT = 10_000  # scores of a stream to calibrate on
ENOUGH = 200  # rows of a stream to calibrate on


@dataclass(frozen=True)
class Calibration:
    """A softmax of the scores: each row's are multiplied by a slope, and each class has an offset.

    The slope depends on the class that the scores choose. With two classes this is a sigmoid (Platt
    1999) with a slope on each side of score 0. Offsets let a class be improbable although the
    decision favours it, so the most probable class can be another than the chosen one.

    Attributes
    ----------
    slopes : ndarray of shape (n_classes,) or (n_labels, 2)
        What the scores of a row are multiplied by, for each class that they may choose. Of label
        sets, each label has those of its two classes, not to have it and to have it.
    offsets : ndarray of shape (n_classes,) or (n_labels, 2)
        What is then added to the score of each class.
    """

    slopes: Array
    offsets: Array

    def probabilities(self, scores: Array, chosen: Array | None = None) -> Array:
        """The probability of every class for each row, or of every label.

        Parameters
        ----------
        scores
            As ``decision_function`` gives them.
        chosen
            The classes that the model chooses, where ties are not simply the first class.
        """
        given = columns(scores)
        if self.slopes.ndim == 2:
            each = zip(self.slopes, self.offsets, given.T, strict=True)
            found = [Calibration(*own).probabilities(of_label)[:, 1] for *own, of_label in each]
            return np.column_stack(found)
        chosen = choose(given) if chosen is None else chosen
        return softmax(self.slopes[chosen][:, None] * score_classes(given) + self.offsets)

    @property
    def at_decision(self) -> float:
        """The probability of the second of two classes at score 0."""
        return float(softmax(self.offsets[None])[0, 1])

    def as_dict(self) -> dict[str, Any]:
        """The calibration as JSON values."""
        return {"slopes": self.slopes.tolist(), "offsets": self.offsets.tolist()}

    @classmethod
    def of(cls, kept: dict[str, Any]) -> "Calibration":
        """The calibration from JSON values."""
        return cls(*(np.array(kept[name], np.float64) for name in ("slopes", "offsets")))


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
            scores = np.concatenate([self.scores, scores])
            codes = np.concatenate([self.codes, codes])
        return RecentScores(scores[-most:].astype(np.float64), codes[-most:].astype(np.intp))

    def as_dict(self) -> dict[str, Any]:
        """Return JSON values for a model file."""
        return {"scores": self.scores.tolist(), "codes": self.codes.tolist()}

    @classmethod
    def of(cls, kept: dict[str, Any], n_classes: int) -> "RecentScores":
        """Restore the scores of a model file; raise ValueError if they are inconsistent."""
        scores, codes = np.array(kept["scores"], np.float64), np.array(kept["codes"], np.intp)
        sets = codes.ndim == 2
        shape = (len(codes),) if n_classes == 2 and not sets else (len(codes), n_classes)
        fitting = scores.shape == shape and codes.shape in (shape, shape[:1])
        if not fitting or codes.max(initial=0) >= (2 if sets else n_classes):
            raise ValueError("its recent_scores do not fit its classes")
        return cls(scores, codes)


def columns(scores: Array) -> Array:
    """Scores as an array with a column per class, or one column for two classes."""
    return np.asarray(scores, np.float64).reshape(len(scores), -1)


def choose(scores: Array) -> Array:
    """The class with the largest score; of two classes the second where its score is above 0."""
    return scores.argmax(axis=1) if scores.shape[1] > 1 else (scores[:, 0] > 0).astype(np.intp)


def score_classes(scores: Array) -> Array:
    """Scores with a column per class; of two classes the first has score 0."""
    return np.hstack([np.zeros_like(scores), scores]) if scores.shape[1] == 1 else scores


def softmax(scores: Array) -> Array:
    """Probabilities that grow with the scores."""
    grown = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(grown / grown.sum(axis=1, keepdims=True))


def fit_calibration(scores: Array, codes: Array, n_classes: int) -> Calibration:
    """Fit the slopes and offsets that make the labels most likely.

    Each label counts as a little uncertain, as in Platt (1999), so that no probability becomes 0
    or 1. The slope of a class is drawn towards the one that suits all rows, and offsets towards 0,
    so that few rows do not decide them.

    Parameters
    ----------
    scores : ndarray of shape (n_rows,) or (n_rows, n_classes)
        Of rows that were not learnt from.
    codes : ndarray of shape (n_rows,) or (n_rows, n_labels)
        The numbers of their classes, or 1 for each label of a row and 0 for the others.
    n_classes : int
        How many classes or labels there are.
    """
    if codes.ndim == 2:
        labels = zip(columns(scores).T, codes.astype(np.intp).T, strict=True)
        found = [fit_calibration(*of_label, 2) for of_label in labels]
        return Calibration(*(np.stack(each) for each in zip(*map(astuple, found), strict=True)))
    some = slice(None, None, 1 + len(codes) // MOST_ROWS)
    given, codes = columns(scores)[some], codes[some]
    size = float(np.abs(given).max(initial=0.0)) or 1.0
    chosen, wanted, given = choose(given), targets(codes, n_classes), score_classes(given / size)
    shared, offsets = fit_softmax(given, wanted, 0 * chosen, np.ones(1), np.zeros(n_classes))
    start = np.repeat(shared, n_classes)
    slopes, offsets = fit_softmax(given, wanted, chosen, start, offsets, PRIOR)
    return Calibration(np.maximum(slopes / size, np.finfo(float).tiny), offsets)


def find_thresholds(calibration: Calibration, activations: Array, biases: Array) -> Array:
    """Return biases of ranks by which each w·x has the rank of the least expected loss.

    The loss of a wrong rank is 1 and its distance from the right one, so that both the error and
    the rank error are small.

    Parameters
    ----------
    calibration
        The probabilities of the ranks, by their scores.
    activations
        The w·x of some rows.
    biases
        Those that the scores are made of.
    """
    places = np.unique(activations.astype(np.float64))
    steps = np.arange(len(biases) + 1)
    losses = np.abs(steps[:, None] - steps) + (steps[:, None] != steps)
    scores = score_ranks(places, biases)
    best = (calibration.probabilities(scores) @ losses).argmin(axis=1)
    span = places[-1] - places[0] + 1.0
    edges = [places[0] - span, *((places[1:] + places[:-1]) / 2), places[-1] + span]
    return -np.array(edges)[np.searchsorted(np.maximum.accumulate(best), steps[1:])]


def targets(codes: Array, n_classes: int) -> Array:
    """Target probabilities: (n + 1)/(n + 2) for a class of n rows, the rest for the others."""
    counts = np.bincount(codes, minlength=n_classes)[codes]
    doubt = 1.0 / (counts + 2.0)
    wanted = np.repeat(doubt[:, None] / (n_classes - 1), n_classes, axis=1)
    wanted[np.arange(len(codes)), codes] = 1.0 - doubt
    return wanted


def fit_softmax(
    scores: Array, wanted: Array, groups: Array, slopes: Array, offsets: Array, prior: float = 0.0
) -> tuple[Array, Array]:
    """Fit a slope for each group of rows, and an offset for each class, from a start.

    Minus the logarithm of the likelihood is convex, so Newton's steps reach its least value.
    ``prior`` is the number of rows that the slopes of the start count as.
    """
    count, start, both = len(slopes), slopes, np.concatenate([slopes, offsets])
    inside = groups[:, None] == np.arange(count)

    def measure(both: Array) -> tuple[float, Array]:
        stretched, added = both[:count], both[count:]
        outputs = stretched[groups][:, None] * scores + added
        outputs -= outputs.max(axis=1, keepdims=True)
        off = stretched / start - 1
        logs = np.log(np.exp(outputs).sum(axis=1, keepdims=True))
        loss = (wanted * (logs - outputs)).sum() + (prior * off @ off + added @ added) / 2
        return float(loss), np.exp(outputs - logs)

    loss, chances = measure(both)
    for _ in range(STEPS):
        lack, mean = chances - wanted, (chances * scores).sum(axis=1, keepdims=True)
        spread, off = chances * (scores - mean), both[:count] / start - 1
        by_slope = inside.T @ (lack * scores).sum(axis=1) + prior * off / start
        gradient = np.concatenate([by_slope, lack.sum(axis=0) + both[count:]])
        shared, own = inside.T @ spread, inside.T @ (spread * scores).sum(axis=1)
        curve = np.diag(own + prior / start**2 + TINY)
        others = np.diag(chances.sum(axis=0) + 1) - chances.T @ chances
        free = np.append((both[:count] > LEAST_SLOPE) | (by_slope < 0), np.ones(len(offsets), bool))
        hessian = np.block([[curve, shared], [shared.T, others]])[np.ix_(free, free)]
        step = np.zeros(len(both))
        step[free] = np.linalg.solve(hessian, gradient[free])
        gain, before = float(gradient @ step), loss
        for size in 0.5 ** np.arange(HALVINGS):
            tried = both - size * step
            tried[:count] = np.maximum(tried[:count], LEAST_SLOPE)
            loss, chances = measure(tried)
            if loss <= before:
                break
        both = tried
        if gain <= ENOUGH_GAIN * max(abs(before), 1.0) or loss >= before:
            break
    return both[:count], both[count:]
