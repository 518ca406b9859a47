"""ROC and precision-recall curves, their areas, thresholds and calibration, in bounded memory."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ..data.metrics import (
    RankCounts,
    average_known,
    binary_average_precision,
    binary_roc_auc,
    count_ranks,
    divide,
)
from ..data.rows import Array

MOST_SCORES = 2**24  # numbers that are kept as they are: 64 MB of float32
BINS = 2**12  # of scores, if there are more
CALIBRATION_BINS = 10
PROBABILITIES = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)  # thresholds to list


class Column(NamedTuple):
    """The scores of one class, whether rows are of it, and how many rows there are of each."""

    positive: Array
    scores: Array
    weights: Array

    def ranks(self) -> RankCounts:
        """Return the counts of rows at or above each distinct score."""
        return count_ranks(*self)

    def count_rows(self) -> float:
        """Return the number of rows of the class."""
        return float(self.positive @ self.weights)

    def merge(self, bins: int) -> "Column":
        """Return at most ``bins`` distinct scores: quantiles, which count as equal within."""
        thresholds, hits, others = self.ranks()
        above = hits + others
        ends = np.linspace(above[0], above[-1], min(bins, len(above)))
        places = np.unique(np.searchsorted(above, ends)) if len(above) > bins else slice(None)
        counts = [np.diff(each[places], prepend=0.0) for each in (hits, others)]
        positive = np.repeat([True, False], len(counts[0]))
        return Column(positive, np.tile(thresholds[places], 2), np.concatenate(counts))


@dataclass
class ScoreCounts:
    """Scores of rows and their classes: all of them, or counts of quantiles if there are many.

    Above ``most`` numbers the scores of each class are merged to ``BINS``.

    Attributes
    ----------
    parts
        The scores, and class numbers or flags, that are not merged.
    merged
        For each class, those that are.
    """

    most: int = MOST_SCORES
    parts: list[tuple[Array, Array]] = field(default_factory=list)
    merged: list[Column] = field(default_factory=list)
    size: int = 0

    @property
    def exact(self) -> bool:
        """Whether all scores are kept."""
        return not self.merged

    def add(self, scores: Array, codes: Array) -> None:
        """Add rows: scores with one column, or one per class, and class numbers or flags."""
        if len(codes):
            self.parts.append((scores, codes))
            self.size += scores.size
        if self.size > self.most:
            self.merged = [column.merge(BINS) for column in self.columns()]
            self.parts, self.size = [], 0

    def columns(self) -> list[Column]:
        """Return the scores of each class against the rest; of two classes, of the positive one."""
        if not self.parts:
            return self.merged
        scores, codes = map(np.concatenate, zip(*self.parts, strict=True))
        alone, found = scores.ndim == 1, list[Column]()
        for k, column in enumerate(scores.reshape(len(scores), -1).T):
            flags = codes[:, k] if codes.ndim == 2 else codes == (1 if alone else k)
            both = [Column(flags, column, np.ones(len(column))), *self.merged[k : k + 1]]
            found.append(Column(*map(np.concatenate, zip(*both, strict=True))))
        return found

    def average(self, metric: Callable[..., float]) -> float:
        """Return the mean of a metric of flags, scores and weights over the classes."""
        return average_known(np.array([metric(*column) for column in self.columns()]))

    @property
    def roc_auc(self) -> float:
        """The area under the ROC curve; of several classes the mean, each against the rest."""
        return self.average(binary_roc_auc)

    @property
    def average_precision(self) -> float:
        """The average precision; of several classes the mean over those that occur."""
        return self.average(binary_average_precision)


# Curves


class Curve(NamedTuple):
    """Points of a curve, from left to right."""

    x: Array
    y: Array


def roc_curve(ranks: RankCounts) -> Curve:
    """Return true positive rates over false positive rates."""
    hits, others = (np.append(0.0, counts) for counts in ranks[1:])
    return Curve(divide(others, others[-1]), divide(hits, hits[-1]))


def precision_recall_curve(ranks: RankCounts) -> Curve:
    """Return precisions over recalls."""
    _, hits, others = ranks
    return Curve(divide(hits, hits[-1:]), divide(hits, hits + others))


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
    column: Column, chances: Callable[[Array], Array] | None = None, points: Any = None
) -> list[ThresholdScore]:
    """Return figures for some thresholds: probabilities if there are any, else scores.

    Parameters
    ----------
    column
        The scores of the positive class.
    chances
        The function from scores to probabilities of that class.
    points
        The thresholds; by default ``PROBABILITIES``, or 0 and the deciles of the scores.
    """
    ranks = column.ranks()
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


class CalibrationBin(NamedTuple):
    """Rows with a probability between two edges: their number, its mean, and the share right."""

    low: float
    high: float
    rows: int
    predicted: float
    observed: float


@dataclass
class CalibrationCounts:
    """Counts of rows by probability: of the positive one of two classes, else of the chosen one."""

    sums: Array = field(default_factory=lambda: np.zeros((3, CALIBRATION_BINS)))

    def add(self, chances: Array, happened: Array) -> None:
        """Count rows by the probability of an event, and whether it happened."""
        places = np.minimum((chances * CALIBRATION_BINS).astype(np.intp), CALIBRATION_BINS - 1)
        for total, values in zip(self.sums, (None, chances, happened), strict=True):
            total += np.bincount(places, values, CALIBRATION_BINS)

    def curve(self) -> list[CalibrationBin]:
        """Return the bins that have rows."""
        rows, chances, happened = self.sums.tolist()
        return [
            CalibrationBin(
                k / CALIBRATION_BINS,
                (k + 1) / CALIBRATION_BINS,
                int(rows[k]),
                chances[k] / rows[k],
                happened[k] / rows[k],
            )
            for k in range(CALIBRATION_BINS)
            if rows[k]
        ]

    @property
    def error(self) -> float:
        """The expected calibration error: the mean distance of both shares over all rows."""
        rows, chances, happened = self.sums
        return float(np.abs(chances - happened).sum() / rows.sum()) if rows.sum() else float("nan")
