"""Metrics by name, by which tuning chooses settings and early stopping the best epoch."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..data import metrics
from ..data.rows import Array
from ..data.splits import Split
from ..data.targets import compute_r2
from .calibration import columns, fit_calibration
from .rules import LABELS
from .training import Epoch

HALVES = 2  # of held-out rows; each is calibrated on the other


class Held(NamedTuple):
    """Held-out rows: true classes (or flags), scores, chosen classes, and weights if they differ.

    The classes are known ones.
    """

    codes: Array
    scores: Array
    chosen: Array
    weights: Array | None = None

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return 2 if self.scores.ndim == 1 else int(self.scores.shape[1])

    @property
    def confusion(self) -> Array:
        """Rows by true and by chosen class."""
        return metrics.count_confusion(self.codes, self.chosen, self.n_classes, self.weights)

    @property
    def probabilities(self) -> Array:
        """Calibrated probabilities; those of each half of the rows by the scores of the other."""
        found = np.full((len(self.codes), self.n_classes), 1 / self.n_classes)
        folds = Split().folds(self.codes, np.arange(len(self.codes)), HALVES)
        for fold in range(HALVES):
            own, others = folds == fold, folds != fold
            if own.any() and others.any():
                scores, codes = self.scores[others], self.codes[others].astype(np.intp)
                calibration = fit_calibration(scores, codes, self.n_classes)
                chosen = self.chosen[own].astype(np.intp)
                found[own] = calibration.probabilities(self.scores[own], chosen)
        return found

    @property
    def ranks(self) -> Array:
        """Scores that compare rows: those of two classes or of flags, else probabilities."""
        several = self.codes.ndim == 1 and columns(self.scores).shape[1] > 1
        return self.probabilities if several else self.scores

    def measure(self, metric: str) -> float:
        """Compute a metric by name; NaN where the rows do not define it."""
        return METRICS[metric].compute(self)


class Metric(NamedTuple):
    """A metric: its name in sentences, how to compute it, and whether more is better."""

    title: str
    compute: Callable[[Held], float]
    more_is_better: bool = True

    def as_loss(self, value: Any) -> Any:
        """Return a value such that less is better."""
        return 1 - value if self.more_is_better else value


def measure_f1(held: Held) -> float:
    """Return the macro F1 of classes, or the micro F1 of label sets."""
    if held.codes.ndim == 2:
        return metrics.micro_f1(held.codes, held.chosen)
    return metrics.macro_f1(held.confusion)


def find_rarer(codes: Array) -> int:
    """Return the number of the rarer of two classes; 1 if both have as many rows.

    >>> find_rarer(np.array([0, 1, 1])), find_rarer(np.array([0, 1]))
    (0, 1)
    """
    return int(2 * np.count_nonzero(codes) <= len(codes))


def measure_average_precision(held: Held) -> float:
    """Return the average precision: of two classes that of the rarer one, of several the mean."""
    codes, ranks = held.codes, held.ranks
    if ranks.ndim == 1 and not find_rarer(codes):
        codes, ranks = codes == 0, -ranks
    return metrics.average_precision(codes, ranks, held.weights)


ABSOLUTE = "absolute-error"
METRICS = {
    "error": Metric(
        "error", lambda one: metrics.error_rate(one.codes, one.chosen, one.weights), False
    ),
    "log-loss": Metric(
        "log loss", lambda one: metrics.log_loss(one.codes, one.probabilities, one.weights), False
    ),
    "auc": Metric("ROC AUC", lambda one: metrics.roc_auc(one.codes, one.ranks, one.weights)),
    "average-precision": Metric("average precision", measure_average_precision),
    "f1": Metric("F1", measure_f1),
    "balanced": Metric("balanced accuracy", lambda one: metrics.balanced_accuracy(one.confusion)),
    "rank-error": Metric(
        "rank error",
        lambda one: metrics.average(np.abs(one.chosen - one.codes), one.weights),
        False,
    ),
    "r2": Metric("R²", lambda one: compute_r2(one.codes - one.scores, one.codes)),
    ABSOLUTE: Metric(
        "mean absolute error",
        lambda one: metrics.average(np.abs(one.scores - one.codes), one.weights),
        False,
    ),
}
"""By the names of the parameter ``metric``, which parameters/tables.py lists; the last are of ranks
and of numbers."""


def score_for_stopping(metric: str, held: Held) -> float:
    """Return a score for early stopping, where more is better: accuracy for the error.

    Minus a loss, as in scikit-learn; NaN where the rows do not define the metric.
    """
    if metric == "error":
        return metrics.average(held.chosen == held.codes, held.weights)
    value = held.measure(metric)
    return value if METRICS[metric].more_is_better else -value


def format_score(metric: str, score: float) -> str:
    """Return a score of early stopping in words, as the metric is usually given.

    >>> format_score("error", 0.9), format_score("log-loss", -0.6465)
    ('held-out error 10.00%', 'held-out log loss 0.6465')
    """
    if metric == "error":
        return f"held-out error {1 - score:.2%}"
    one = METRICS[metric]
    return f"held-out {one.title} {score if one.more_is_better else -score:.4f}"


def format_epoch(epoch: Epoch, target: str = "classes", metric: str = "error") -> str:
    """Format an epoch in one line: mistakes or loss, updates, and the score of held-out rows."""
    kind, held = LABELS[target], epoch.validation_score
    line = f"epoch {epoch.epoch:4d}  {kind.describe_counts(epoch, max(epoch.rows, 1))}"
    return line if held is None else f"{line}  {format_score(kind.metric or metric, held)}"


RANKING = ("auc", "average-precision")
"""Metrics that compare rows of a class with others."""


def is_defined(metric: str, counts: Array, rows: int) -> bool:
    """Whether rows define a metric, by the number of rows of each class or label."""
    return metric not in RANKING or bool(np.any((counts > 0) & (counts < rows)))


def explain_undefined(metric: str) -> str:
    """Return why rows of one class do not define a metric, as the end of a sentence."""
    return f"have one class only, and {METRICS[metric].title} compares rows of different classes"


def describe_unranked(metric: str, counts: Array, rows: int, classes: Array) -> str | None:
    """Return what held-out rows cannot decide as they lack classes; None if they have all."""
    missing = classes[: len(counts)][counts == 0].tolist()
    if metric not in RANKING or not rows or not missing:
        return None
    remedy = "hold out a larger share, or use another metric"
    if not is_defined(metric, counts, rows):
        why = explain_undefined(metric)
        return f"The held-out rows {why}, so it cannot choose the best epoch; {remedy}."
    named = ", ".join(map(str, missing[:3])) + ", …" * (len(missing) > 3)
    return f"No held-out row is of {named}, so {METRICS[metric].title} leaves that out; {remedy}."
