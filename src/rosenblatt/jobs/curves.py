"""Scores of rows that are kept, and what becomes of rows at thresholds and by probability."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..data.metrics import RankCounts, divide
from ..data.rows import Array

BINS = 10  # of probabilities
FIRST = (1, 3, 5, 10)  # classes of a row, for precision and recall at k
PROBABILITIES = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)  # thresholds to list


class KeptScores:
    """Scores of rows and their codes: all, or of many every second, fourth and so on.

    A file may be sorted, so that the first rows would not do.

    Parameters
    ----------
    most
        The largest number of rows to keep.
    """

    def __init__(self, most: int) -> None:
        self.most, self.step, self.seen = max(most, 2), 1, 0
        self.parts: list[tuple[Array, Array]] = []

    @property
    def exact(self) -> bool:
        """Whether all rows are kept."""
        return self.step == 1

    def add(self, scores: Array, codes: Array) -> None:
        """Add rows: scores with one column, or one per class, and class numbers or flags."""
        if not len(codes):
            return
        some = slice(-self.seen % self.step, None, self.step)
        self.parts.append((scores[some], codes[some]))
        self.seen += len(codes)
        if sum(len(each) for _, each in self.parts) > self.most:
            scores, codes = self.join()
            self.parts, self.step = [(scores[::2], codes[::2])], 2 * self.step

    def join(self) -> tuple[Array, Array]:
        """Return the scores and codes of all rows that are kept."""
        if len(self.parts) > 1:
            scores, codes = map(np.concatenate, zip(*self.parts, strict=True))
            self.parts = [(scores, codes)]
        return self.parts[0] if self.parts else (np.empty(0), np.empty(0, np.intp))


class ThresholdScore(NamedTuple):
    """What becomes of rows if the positive class is predicted above a threshold."""

    threshold: float
    predicted: float
    precision: float
    recall: float
    false_positive_rate: float
    f1: float
    error: float


def tabulate_thresholds(
    ranks: RankCounts, chances: Callable[[Array], Array] | None = None, points: Any = None
) -> list[ThresholdScore]:
    """Return figures for some thresholds: probabilities if there are any, else scores.

    Parameters
    ----------
    ranks
        The rows of the positive class, and others, by their scores of that class.
    chances
        The function from scores to probabilities of that class.
    points
        The thresholds; by default ``PROBABILITIES``, or 0 and the deciles of the scores.
    """
    falling = ranks.thresholds if chances is None else chances(ranks.thresholds)
    if points is None:
        points = PROBABILITIES if chances is not None else list_deciles(ranks)
    places = np.searchsorted(-falling, -np.asarray(points, np.float64), "left")
    hits, others = (np.append(0.0, counts)[places] for counts in ranks[1:])
    positive, negative = ranks.true_positives[-1], ranks.false_positives[-1]
    rows, above = positive + negative, hits + others
    figures = (
        divide(above, rows),
        divide(hits, above),
        divide(hits, positive),
        divide(others, negative),
        divide(2 * hits, above + positive),
        divide(others + positive - hits, rows),
    )
    found = zip(points, *(each.tolist() for each in figures), strict=True)
    return [ThresholdScore(float(point), *each) for point, *each in found]


def list_deciles(ranks: RankCounts) -> list[float]:
    """Return 0 and the scores above which 10, 20, … 90 % of the rows are, rising."""
    above = ranks.true_positives + ranks.false_positives
    places = np.searchsorted(above, above[-1] * np.arange(1, 10) / 10, "left")
    return sorted({0.0, *ranks.thresholds[places].astype(np.float64).tolist()})


class TopScore(NamedTuple):
    """Precision and recall if the k classes with the highest scores of a row are predicted."""

    k: int
    precision: float
    recall: float


def tabulate_top(scores: Array, codes: Array) -> list[TopScore]:
    """Return precision and recall at each k below the number of classes, if these are several.

    >>> scores, codes = np.array([[0.1, 0.9, 0.5], [0.7, 0.2, 0.4]]), np.array([1, 2])
    >>> tabulate_top(scores, codes)
    [TopScore(k=1, precision=0.5, recall=0.5)]
    """
    if scores.ndim == 1 or not len(codes):
        return []
    rows, n_classes = scores.shape
    has = codes[:, None] == np.arange(n_classes) if codes.ndim == 1 else codes
    order = np.argsort(-scores, axis=1, kind="stable")[:, : FIRST[-1]]
    hits = np.take_along_axis(has, order, axis=1).sum(axis=0).cumsum()
    return [
        TopScore(k, float(hits[k - 1] / (k * rows)), float(divide(hits[k - 1], has.sum())))
        for k in FIRST
        if k < n_classes
    ]


class CalibrationBin(NamedTuple):
    """Rows with a probability between two edges: their number, its mean, and the share right."""

    low: float
    high: float
    rows: int
    predicted: float
    observed: float


def find_bins(chances: Array, happened: Array) -> list[CalibrationBin]:
    """Return the bins that have rows, by the probability of an event and whether it happened."""
    places = np.minimum((chances * BINS).astype(np.intp), BINS - 1)
    sums = [np.bincount(places, of, BINS).tolist() for of in (None, chances, happened)]
    return [
        CalibrationBin(k / BINS, (k + 1) / BINS, rows, total / rows, right / rows)
        for k, (rows, total, right) in enumerate(zip(*sums, strict=True))
        if rows
    ]
