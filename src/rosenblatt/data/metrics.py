"""Metrics: functions of true classes and of predictions, scores or probabilities.

``codes`` are class numbers from 0, or flags of shape (n_rows, n_classes) for label sets. Scores
have shape (n_rows,) for two classes, where they grow with the second class, else
(n_rows, n_classes); probabilities always have a column per class. The values are those of
scikit-learn; a value that is not defined, such as the ROC area of a single class, is NaN.
"""

from typing import Any, NamedTuple

import numpy as np

from .rows import Array

LEAST = np.finfo(np.float64).eps  # probability in a log loss, which would else be infinite


def average(values: Array, weights: Array | None = None) -> float:
    """Return the weighted mean; NaN without rows."""
    total = len(values) if weights is None else float(weights.sum())
    if not total:
        return float("nan")
    return float((values.sum() if weights is None else weights @ values) / total)


def average_known(values: Array) -> float:
    """Return the mean of the values that are not NaN; NaN if there are none."""
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else float("nan")


def divide(counts: Array, total: Array) -> Array:
    """Return counts / total, and NaN where both are 0."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(counts / total)


# Of predicted classes


def error_rate(codes: Array, predicted: Array, weights: Array | None = None) -> float:
    """Return the share of wrong rows; a row of a label set is right if all its flags are.

    >>> error_rate(np.array([0, 1, 1, 1]), np.array([0, 1, 0, 1]))
    0.25
    """
    wrong = predicted != codes
    return average(wrong if wrong.ndim == 1 else wrong.any(axis=1), weights)


def count_confusion(
    codes: Array, predicted: Array, n_classes: int, weights: Array | None = None
) -> Array:
    """Count rows by true class (first axis) and predicted class, or sum their weights.

    >>> count_confusion(np.array([0, 1, 1]), np.array([0, 1, 0]), 2).tolist()
    [[1, 0], [1, 1]]
    """
    cells = codes.astype(np.intp) * n_classes + predicted
    return np.bincount(cells, weights, n_classes**2).reshape(n_classes, n_classes)


def macro_f1(confusion: Array) -> float:
    """Return the mean F1 of the classes that occur or were predicted."""
    both = confusion.sum(axis=0) + confusion.sum(axis=1)
    return average_known(divide(2 * np.diag(confusion), both))


def balanced_accuracy(confusion: Array) -> float:
    """Return the mean recall of the classes that occur."""
    return average_known(divide(np.diag(confusion), confusion.sum(axis=1)))


def matthews_correlation(confusion: Array) -> float:
    """Return Matthews' correlation, for many classes as by Gorodkin (2004); 0 if one is constant.

    >>> matthews_correlation(np.array([[2, 0], [0, 1]])).__round__(6)
    1.0
    """
    counts = confusion.astype(np.float64)
    actual, predicted, total = counts.sum(axis=1), counts.sum(axis=0), counts.sum()
    spread = (total**2 - actual @ actual) * (total**2 - predicted @ predicted)
    covariance = np.trace(counts) * total - actual @ predicted
    return float(covariance / np.sqrt(spread)) if spread > 0 else 0.0


def rank_error(confusion: Array) -> float:
    """Return the mean difference between the numbers of true and predicted classes.

    >>> rank_error(np.array([[2, 0, 1], [0, 1, 0], [0, 0, 0]]))
    0.5
    """
    ranks = np.arange(len(confusion))
    distances = np.abs(ranks[:, None] - ranks)
    total = confusion.sum()
    return float((confusion * distances).sum() / total) if total else float("nan")


def median_rank_error(confusion: Array) -> float:
    """Return the rank error of the one rank for all rows that makes it least: their median."""
    actual, ranks = confusion.sum(axis=1), np.arange(len(confusion))
    total = actual.sum()
    errors = np.abs(ranks[:, None] - ranks) @ actual
    return float(errors.min() / total) if total else float("nan")


def quadratic_kappa(confusion: Array) -> float:
    """Return Cohen's kappa with squared differences of ranks as weights; NaN if all are equal.

    >>> quadratic_kappa(np.array([[2, 0, 0], [0, 1, 0], [0, 0, 1]]))
    1.0
    """
    counts = confusion.astype(np.float64)
    ranks, total = np.arange(len(counts)), counts.sum()
    squares = np.square(ranks[:, None] - ranks)
    by_chance = np.outer(counts.sum(axis=1), counts.sum(axis=0))
    chance = float((squares * by_chance).sum())
    return 1.0 - float((squares * counts).sum() * total) / chance if chance else float("nan")


def micro_f1(codes: Array, predicted: Array) -> float:
    """Return F1 over all labels of all rows of label sets; NaN without any label."""
    hits, both = np.count_nonzero(codes & predicted), np.count_nonzero([codes, predicted])
    return 2 * hits / both if both else float("nan")


# Of scores


class RankCounts(NamedTuple):
    """Rows (or weights) of both kinds with a score of at least each distinct score, falling."""

    thresholds: Array
    true_positives: Array
    false_positives: Array


def count_ranks(positive: Array, scores: Array, weights: Array | None = None) -> RankCounts:
    """Count the positive and other rows at or above each distinct score, from the highest down.

    >>> count_ranks(np.array([True, False, True]), np.array([2.0, 1.0, 1.0]))[1].tolist()
    [1.0, 2.0]
    """
    order = np.argsort(-scores, kind="stable")
    falling, flags = scores[order], positive[order]
    last = np.flatnonzero(np.append(falling[1:] != falling[:-1], True)) if len(order) else order
    each = np.ones(len(order)) if weights is None else weights[order]
    above = [np.cumsum(each * some)[last] for some in (flags, ~flags)]
    return RankCounts(falling[last], *above)


def roc_auc(codes: Array, scores: Array, weights: Array | None = None) -> float:
    """Return the area under the ROC curve; for several classes the mean, each against the rest.

    The chance that a row of the class scores higher than another row; equal scores count half.

    >>> roc_auc(np.array([0, 1, 1]), np.array([0.1, 0.1, 0.9]))
    0.75
    """
    return average_one_vs_rest(binary_roc_auc, codes, scores, weights)


def average_precision(codes: Array, scores: Array, weights: Array | None = None) -> float:
    """Return the average precision; for several classes the mean, each against the rest.

    For two classes it is that of the second one. The sum of the precision at each distinct score
    times the recall gained there, an estimate of the area under the precision-recall curve.
    """
    return average_one_vs_rest(binary_average_precision, codes, scores, weights)


def average_one_vs_rest(metric: Any, codes: Array, scores: Array, weights: Array | None) -> float:
    """Average a metric over the classes that some rows have and others have not."""
    if scores.ndim == 1:
        return float(metric(codes.astype(bool), scores, weights))
    flags = codes if codes.ndim == 2 else codes[:, None] == np.arange(scores.shape[1])
    some = flags.any(axis=0) & ~flags.all(axis=0)
    found = [metric(flags[:, k], scores[:, k], weights) for k in np.flatnonzero(some)]
    return average_known(np.array(found))


def binary_roc_auc(positive: Array, scores: Array, weights: Array | None = None) -> float:
    """Return the area under the ROC curve of flags and scores."""
    _, hits, others = count_ranks(positive, scores, weights)
    if not len(hits) or not hits[-1] or not others[-1]:
        return float("nan")
    steps, heights = np.diff(others, prepend=0.0), hits + np.append(0.0, hits[:-1])
    return float(steps @ heights / (2 * hits[-1] * others[-1]))


def binary_average_precision(positive: Array, scores: Array, weights: Array | None = None) -> float:
    """Return the average precision of flags and scores."""
    _, hits, others = count_ranks(positive, scores, weights)
    if not len(hits) or not hits[-1]:
        return float("nan")
    return float(np.diff(hits, prepend=0.0) @ divide(hits, hits + others) / hits[-1])


# Of probabilities


def log_loss(codes: Array, probabilities: Array, weights: Array | None = None) -> float:
    """Return the mean of minus the logarithm of the probability of the true class.

    >>> log_loss(np.array([0, 1]), np.array([[0.5, 0.5], [0.5, 0.5]])).__round__(4)
    0.6931
    """
    chances = probabilities[np.arange(len(codes)), codes]
    return average(-np.log(np.clip(chances, LEAST, 1.0)), weights)


def brier_score(codes: Array, probabilities: Array, weights: Array | None = None) -> float:
    """Return the mean squared distance of the probabilities from 1 for the true class, else 0.

    Summed over the classes, from 0 to 2; of two classes, as usual, only for one of them.
    """
    distance = probabilities.copy()
    distance[np.arange(len(codes)), codes] -= 1.0
    squares = np.einsum("ij,ij->i", distance, distance)
    return average(squares / 2 if probabilities.shape[1] == 2 else squares, weights)
