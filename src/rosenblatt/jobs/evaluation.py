"""How well a model does: errors, confusion of classes, F1, areas under curves, log loss."""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..data.labels import LabelSets, as_words
from ..data.metrics import (
    LEAST,
    balanced_accuracy,
    brier_score,
    log_loss,
    matthews_correlation,
    median_rank_error,
    quadratic_kappa,
    rank_error,
)
from ..data.results import Result, Table, clip, defined, plain
from ..data.rows import Array
from ..data.targets import MOST_ERRORS, NumberScore, RankScore, RowError, Score, as_numbers
from ..reading.batches import Batch, get_label_sets, get_labels
from .charts import Chart, chart_calibration, chart_ranks, chart_thresholds
from .curves import (
    CalibrationBin,
    CalibrationCounts,
    ScoreCounts,
    ThresholdScore,
    tabulate_thresholds,
)

MOST_CLASSES = 10  # in a matrix of confusion
WIDEST = 56  # letters of their names
BY_CLASS = {"label": "", "precision": ".2%", "recall": ".2%", "f1": ".4f", "rows": ",d"}
BY_THRESHOLD = dict.fromkeys(ThresholdScore._fields, ".2%") | {"threshold": ".4g", "f1": ".4f"}
BY_PROBABILITY = {"low": ".1f", "high": ".1f", "rows": ",d", "predicted": ".2%", "observed": ".2%"}


@dataclass
class Coverage:
    """Counts of rows whose label is in its prediction set or interval.

    Attributes
    ----------
    asked : float
        The coverage that was asked for.
    make : callable
        The function from scores to sets or intervals.
    rows, inside : int
        The number of rows, and of those whose label is inside.
    total : float
        The sum of the sizes of sets, or of the widths of intervals.
    sizes : str
        What the mean of these is called.
    """

    asked: float
    make: Callable[[Array], Array] = field(repr=False)
    rows: int = 0
    inside: int = 0
    total: float = 0.0
    sizes: str = "mean set size"

    def add(self, inside: Array, sizes: Array) -> None:
        """Count rows: whether their labels are inside, and the sizes of their sets."""
        self.rows += len(inside)
        self.inside += int(np.count_nonzero(inside))
        self.total += float(sizes.sum())

    @property
    def measured(self) -> float:
        """The share of rows whose label is inside."""
        return self.inside / self.rows if self.rows else float("nan")

    @property
    def size(self) -> float:
        """The mean number of classes of a set, or the mean width of an interval."""
        return self.total / self.rows if self.rows else float("nan")

    def as_dict(self) -> dict[str, Any]:
        """Return the figures as JSON values; an infinite width is None."""
        size = float(self.size) if np.isfinite(self.size) else None
        return {"asked": self.asked, "measured": defined(self.measured), "size": size}

    def __str__(self) -> str:
        size = f"{self.sizes} {plain(self.size)}"
        return f"Coverage {self.asked:g}: measured {self.measured:.4f}, {size}."


class ClassScore(NamedTuple):
    """Precision, recall and F1 of one class, and the number of its rows."""

    label: Any
    precision: float
    recall: float
    f1: float
    rows: int


class RowLosses(NamedTuple):
    """The labels of some rows in words, the losses of a model on them, and unknown labels as flags.

    The first loss decides which of two models is better on a row; of classes it is 1 for an error.
    The others are only those of rows whose labels both models know.
    """

    labels: Array
    losses: dict[str, Array]
    unknown: Array

    def __len__(self) -> int:
        return len(self.labels)

    def cut(self, first: int, stop: int | None = None) -> "RowLosses":
        """Return some of the rows."""
        some = slice(first, stop)
        losses = {name: loss[some] for name, loss in self.losses.items()}
        return RowLosses(self.labels[some], losses, self.unknown[some])


class FileResult(Result):
    """The result of a model on a file of rows, to which batches are added."""

    coverage: Coverage | None = None
    """The coverage and mean size of prediction sets or intervals, if they were asked for."""
    worst: Sequence[RowError] = ()

    def write(self, label: Any, digits: int) -> str:
        """Return a label or a prediction as text; numbers have at most some digits."""
        return str(label)

    def keep_worst(
        self, first: int, sizes: Array, wrong: Array, ids: Array | None, labels: Any, found: Any
    ) -> None:
        """Keep the worst of the wrong rows of a batch, by size, and of those kept so far.

        The row ``first`` of the file begins the batch; ``labels`` and ``found`` are arrays.
        """
        some = wrong[np.argsort(-sizes[wrong], kind="stable")[:MOST_ERRORS]].tolist()
        more = [
            RowError(
                first + row,
                None if ids is None else str(ids[row]),
                self.write(labels[row], 15),
                self.write(found[row], 6),
                float(sizes[row]),
            )
            for row in some
        ]
        self.worst = sorted([*self.worst, *more], key=lambda one: -one.confidence)[:MOST_ERRORS]

    @abstractmethod
    def add_batch(self, batch: Batch, scores: Array, predicted: Array, row: int) -> None:
        """Count the rows of a batch; ``row`` rows came before it."""

    @abstractmethod
    def row_losses(self, batch: Batch, scores: Array, predicted: Array, row: int) -> RowLosses:
        """Return the losses of the rows of a batch, which are not counted."""

    def notes(self) -> list[str]:
        """Return sentences that tell how to read the figures."""
        return [] if self.coverage is None else [str(self.coverage)]

    def as_dict(self) -> dict[str, Any]:
        """Return all figures as JSON values."""
        coverage = {} if self.coverage is None else {"coverage": self.coverage.as_dict()}
        return {**super().as_dict(), **coverage}


class NumberEvaluation(FileResult, NumberScore):
    """Sums of the errors of predicted numbers; ``worst`` has the rows with the largest errors."""

    worst_title = "Rows with the largest errors"

    def write(self, label: Any, digits: int) -> str:
        """Return a number as text."""
        return plain(label, digits)

    def add_batch(self, batch: Batch, scores: Array, predicted: Array, row: int) -> None:
        """Add the errors of a batch; ``row`` rows came before it."""
        numbers = as_numbers(get_labels(batch, row), row)
        self.compare(predicted, self.target.encode(numbers))
        errors = np.abs(predicted - numbers)
        every = np.arange(len(errors))
        self.keep_worst(row + 1, errors, every, batch.ids, numbers, predicted)
        if self.coverage is not None:
            low, high = self.coverage.make(scores).T
            self.coverage.sizes = "mean width"
            self.coverage.add((low <= numbers) & (numbers <= high), high - low)

    def row_losses(self, batch: Batch, scores: Array, predicted: Array, row: int) -> RowLosses:
        """Return the absolute errors of the rows of a batch."""
        numbers = as_numbers(get_labels(batch, row), row)
        errors = {"MAE": np.abs(numbers - predicted)}
        return RowLosses(numbers, errors, np.zeros(len(numbers), bool))


@dataclass(repr=False)
class Evaluation(FileResult):
    """Counts of rows by their class and by the predicted class, and figures from them.

    Attributes
    ----------
    classes : ndarray
        The labels that the model knows.
    chances : callable or None
        The function from scores to probabilities, if the model gives some.
    positive : int
        The one of two classes that average precision, thresholds and curves are about.
    confusion : ndarray of shape (n_classes + 1, n_classes)
        Rows of each class by predicted class; the last line is for unknown labels.
    worst : list of RowError
        The wrong rows that the model was most sure about, at most ``MOST_ERRORS``.
    unknown_label : str or None
        The first label that the model does not know, if there is one.
    coverage : Coverage or None
        The coverage and mean size of prediction sets, if they were asked for.
    """

    in_headline = frozenset(("error",))
    metrics: ClassVar[Mapping[str, str]] = {
        "auc": "roc_auc",
        "average-precision": "average_precision",
        "log-loss": "log_loss",
        "f1": "macro_f1",
        "balanced": "balanced_accuracy",
    }
    classes: Array
    chances: Callable[[Array], Array] | None = None
    positive: int = 1
    confusion: Array = field(init=False)
    scores: ScoreCounts = field(init=False, default_factory=ScoreCounts)
    calibration: CalibrationCounts = field(init=False, default_factory=CalibrationCounts)
    unknown_label: str | None = field(init=False, default=None)
    losses: Array = field(init=False)

    def __post_init__(self) -> None:
        size = len(self.classes)
        self.confusion = np.zeros((size + 1, size), np.int64)
        self.losses = np.zeros(3)  # rows, log loss, Brier score

    def add_batch(self, batch: Batch, scores: Array, predicted: Array, row: int) -> None:
        """Count the rows of a batch; ``row`` rows came before it."""
        words = as_words(get_labels(batch, row), self.classes)
        self.add(words, predicted, scores, batch.ids)
        if self.coverage is not None:
            sets, codes = self.coverage.make(scores), encode_words(words, self.classes)
            inside = np.pad(sets, ((0, 0), (0, 1)))[np.arange(len(codes)), codes]
            self.coverage.add(inside, sets.sum(axis=1))

    def row_losses(self, batch: Batch, scores: Array, predicted: Array, row: int) -> RowLosses:
        """Return the errors of the rows of a batch, and the log losses if there are any."""
        labels = as_words(get_labels(batch, row), self.classes)
        codes = encode_words(labels, self.classes)
        losses: dict[str, Array] = {"error": codes != predicted}
        unknown = codes == len(self.classes)
        if self.chances is not None:
            given = self.chances(scores)[np.arange(len(codes)), np.where(unknown, 0, codes)]
            losses["log loss"] = -np.log(np.clip(given, LEAST, 1.0))
        return RowLosses(labels, losses, unknown)

    def add(
        self, labels: Array, predicted: Array, activations: Array, ids: Array | None = None
    ) -> None:
        """Count rows: their labels in words, the classes predicted, the scores, and the ids."""
        size, codes = len(self.classes), encode_words(labels, self.classes)
        first_row = int(self.confusion.sum()) + 1
        cells = np.bincount(codes * size + predicted, minlength=self.confusion.size)
        self.confusion += cells.reshape(self.confusion.shape)
        known = codes < size
        if self.unknown_label is None and not known.all():
            self.unknown_label = str(labels[~known][0])
        self.add_scores(activations[known], codes[known])
        chances = None if self.chances is None else self.chances(activations)
        if chances is not None and known.any():
            given, classes, rows = chances[known], codes[known], np.count_nonzero(known)
            self.losses += rows * np.array(
                [1, log_loss(classes, given), brier_score(classes, given)]
            )
            event = np.full(rows, self.positive) if size == 2 else predicted[known]
            self.calibration.add(given[np.arange(rows), event], classes == event)
        confidence = distance(activations, predicted) if chances is None else chances
        if confidence.ndim == 2:
            confidence = confidence[np.arange(len(predicted)), predicted]
        wrong, found = np.flatnonzero(codes != predicted), self.classes[predicted]
        self.keep_worst(first_row, confidence, wrong, ids, labels, found)

    def add_scores(self, activations: Array, codes: Array) -> None:
        """Keep the scores of rows for the areas under curves; of two, those of the positive one."""
        if activations.ndim == 1 and not self.positive:
            activations, codes = -activations, 1 - codes
        self.scores.add(activations, codes)

    @property
    def score(self) -> Score:
        """The number of rows and of errors."""
        rows = int(self.confusion.sum())
        return Score(rows, rows - int(np.trace(self.confusion)))

    @property
    def unknown(self) -> int:  # type: ignore[override]
        """The number of rows with labels that the model does not know."""
        return int(self.confusion[-1].sum())

    @property
    def class_rows(self) -> list[int]:  # type: ignore[override]
        """The number of rows of each class, and of those of unknown labels."""
        found: list[int] = self.confusion.sum(axis=1).tolist()
        return found

    @property
    def constant_class(self) -> str | None:  # type: ignore[override]
        """The class that all rows are predicted as although they have several, if there is one."""
        actual, predicted = self.confusion[:-1].sum(axis=1), self.confusion.sum(axis=0)
        constant = (actual > 0).sum() > 1 == (predicted > 0).sum()
        return str(self.classes[predicted.argmax()]) if constant else None

    def by_class(self) -> list[ClassScore]:
        """Return precision, recall and F1 of each class."""
        right, rows = np.diag(self.confusion[:-1]), self.confusion[:-1].sum(axis=1)
        return class_scores(self.classes, right, self.confusion.sum(axis=0), rows)

    def calibration_curve(self) -> list[CalibrationBin]:
        """Return predicted and observed shares by probability; empty without probabilities."""
        return self.calibration.curve()

    def thresholds(self, points: Any = None) -> list[ThresholdScore]:
        """Return precision, recall and others at some thresholds, of two classes.

        ``points`` are probabilities of the positive class, or its scores if the model gives no
        probabilities.
        """
        columns, both, sign = self.scores.columns(), self.chances, 1 if self.positive else -1
        chances = None if both is None else lambda scores: both(sign * scores)[:, self.positive]
        return tabulate_thresholds(columns[0], chances, points) if len(columns) == 1 else []

    @property
    def positive_class(self) -> str | None:  # type: ignore[override]
        """The name of the positive one of two classes; None of several."""
        return str(self.classes[self.positive]) if len(self.classes) == 2 else None

    def counts(self) -> dict[str, Any]:
        """Return the number of rows and of errors."""
        return self.score.as_dict()

    def figures(self) -> dict[str, float | None]:
        """Return the figures of all rows by name; None where one is not defined."""
        known, (rows, log_loss, brier) = self.confusion[:-1], self.losses
        return {
            "error": defined(self.score.error),
            "log_loss": float(log_loss / rows) if rows else None,
            "brier_score": float(brier / rows) if rows else None,
            "calibration_error": defined(self.calibration.error),
            "roc_auc": defined(self.scores.roc_auc),
            "average_precision": defined(self.scores.average_precision),
            "macro_f1": float(np.mean([one.f1 for one in self.by_class()])),
            "balanced_accuracy": defined(balanced_accuracy(known)),
            "matthews_correlation": matthews_correlation(known),
        }

    def headline(self) -> str:
        """Return the error in words."""
        return self.score.headline(self.class_rows)

    def notes(self) -> list[str]:
        """Return sentences that tell how to read the figures."""
        return [*describe_areas(self.scores, self.positive_class), *super().notes()]

    def tables(self) -> list[Table]:
        """Return the figures of classes, of thresholds and of calibration, and the confusion."""
        found = [
            Table("classes", "Classes", BY_CLASS, self.by_class()),
            tabulate_confusion(self.classes.astype(str).tolist(), self.confusion),
        ]
        rows = self.thresholds()
        if rows:
            what = f"{'score' if self.chances is None else 'probability'} above the threshold"
            title = f"Thresholds: {clip(str(self.positive_class))} is predicted for a {what}"
            found.append(Table("thresholds", title, BY_THRESHOLD, rows))
        bins = self.calibration_curve()
        if bins:
            of = self.positive_class or "the predicted class"
            title = f"Calibration: probabilities of {clip(of)}, and shares that are of it"
            found.append(Table("calibration", title, BY_PROBABILITY, bins))
        return found

    def charts(self) -> list[Chart]:
        """Return the curves of classes, thresholds and calibration that there are."""
        columns, name = self.scores.columns(), self.positive_class
        calibration = chart_calibration(name or "the predicted class", self.calibration)
        if name is None or len(columns) != 1:
            return [*chart_ranks(self.classes.astype(str).tolist(), columns), *calibration]
        thresholds = chart_thresholds(name, columns[0], self.chances, self.thresholds)
        return [*chart_ranks([name], columns), thresholds, *calibration]

    def as_dict(self) -> dict[str, Any]:
        """Return all figures as JSON values."""
        return {
            **super().as_dict(),
            "positive_class": self.positive_class,
            "exact_areas": self.scores.exact,
            "confusion": self.confusion.tolist(),
            "worst": [one._asdict() for one in self.worst],
        }


@dataclass(repr=False)
class RankEvaluation(Evaluation):
    """Counts of rows by their rank and by the predicted rank, and figures from them.

    Rows of unknown labels are errors, and do not count in the figures of ranks. The score of a rank
    does not compare rows, so that areas under curves are those of two ranks only.
    """

    in_headline = frozenset(("error", "rank_error"))
    unknown_remark = Evaluation.unknown_remark + ", and not in the rank error"

    def add_scores(self, activations: Array, codes: Array) -> None:
        """Keep the scores of rows of two ranks."""
        if activations.ndim == 1:
            super().add_scores(activations, codes)

    def row_losses(self, batch: Batch, scores: Array, predicted: Array, row: int) -> RowLosses:
        """Return the errors of the rows of a batch, and the differences of ranks."""
        found = super().row_losses(batch, scores, predicted, row)
        found.losses["rank error"] = np.abs(encode_words(found.labels, self.classes) - predicted)
        return found

    @property
    def score(self) -> RankScore:
        """The number of rows and of errors, and the sum of the differences of ranks."""
        both, known = super().score, self.confusion[:-1]
        distance = round(rank_error(known) * known.sum()) if known.any() else 0
        return RankScore(both.rows, both.errors, distance=distance, unknown=self.unknown)

    def figures(self) -> dict[str, float | None]:
        """Return the figures of all rows by name; None where one is not defined.

        The rank error is the mean difference of ranks; beside it stands that of one rank for all.
        """
        known = self.confusion[:-1]
        return {
            "rank_error": defined(rank_error(known)),
            "median_rank_error": defined(median_rank_error(known)),
            "quadratic_kappa": defined(quadratic_kappa(known)),
            **super().figures(),
        }


@dataclass(repr=False)
class LabelSetEvaluation(FileResult):
    """Counts of rows that may have several labels, by label.

    Attributes
    ----------
    classes : ndarray
        The labels that the model knows.
    right, said, there : ndarray of shape (n_classes,)
        Rows of each label: those predicted and right, predicted, and actual.
    rows, errors : int
        The number of rows, and of those whose labels are not all right.
    unknown, missed : int
        The number of rows with labels that the model does not know, and of those labels.
    """

    in_headline = frozenset(("error", "micro_f1"))
    classes: Array
    rows: int = field(init=False, default=0)
    errors: int = field(init=False, default=0)
    unknown: int = field(init=False, default=0)
    missed: int = field(init=False, default=0)
    scores: ScoreCounts = field(init=False, default_factory=ScoreCounts)

    def __post_init__(self) -> None:
        self.right, self.said, self.there = np.zeros((3, len(self.classes)), np.int64)

    def add_batch(self, batch: Batch, scores: Array, predicted: Array, row: int) -> None:
        """Count the rows of a batch."""
        sets = get_label_sets(batch)
        self.add(LabelSets(as_words(sets.values, self.classes), sets.starts), predicted, scores)

    def row_losses(self, batch: Batch, scores: Array, predicted: Array, row: int) -> RowLosses:
        """Return the errors of the rows of a batch."""
        sets, size = get_label_sets(batch), len(self.classes)
        words = LabelSets(as_words(sets.values, self.classes), sets.starts)
        has = words.indicator(encode_words(words.values, self.classes), size + 1)
        wrong = (has[:, :size] != predicted).any(axis=1) | has[:, size]
        joined = np.array([";".join(sorted(each)) for each in words], object)
        return RowLosses(joined, {"error": wrong}, has[:, size])

    def add(self, sets: LabelSets, predicted: Array, activations: Array) -> None:
        """Count rows: their labels in words, which classes were predicted, and the scores."""
        size, codes = len(self.classes), encode_words(sets.values, self.classes)
        has, others = sets.indicator(codes, size + 1), codes == size
        has, other = has[:, :size], has[:, size]
        self.rows += len(sets)
        self.scores.add(activations, has)
        self.errors += int(np.count_nonzero((predicted != has).any(axis=1) | other))
        self.unknown += int(np.count_nonzero(other))
        self.missed += len({*zip(sets.rows[others], sets.values[others], strict=True)})
        self.right += np.count_nonzero(has & predicted, axis=0)
        self.said += np.count_nonzero(predicted, axis=0)
        self.there += np.count_nonzero(has, axis=0)

    @property
    def score(self) -> Score:
        """The number of rows and of errors; unknown labels count as missed."""
        labels = int(self.said.sum() + self.there.sum()) + self.missed
        return Score(self.rows, self.errors, int(self.right.sum()), labels)

    def by_class(self) -> list[ClassScore]:
        """Return precision, recall and F1 of each label."""
        return class_scores(self.classes, self.right, self.said, self.there)

    def counts(self) -> dict[str, Any]:
        """Return the number of rows and of errors."""
        return {"rows": self.rows, "errors": self.errors}

    def figures(self) -> dict[str, float | None]:
        """Return the figures of all rows by name; None where one is not defined.

        The Hamming loss is the share of pairs of a row and a known label that are wrong.
        """
        wrong, pairs = self.said + self.there - 2 * self.right, self.rows * len(self.classes)
        return {
            "error": defined(self.score.error),
            "micro_f1": self.score.micro_f1 or 0.0,
            "macro_f1": float(np.mean([one.f1 for one in self.by_class()])),
            "hamming_loss": int(wrong.sum()) / pairs if pairs else None,
            "roc_auc": defined(self.scores.roc_auc),
            "average_precision": defined(self.scores.average_precision),
        }

    def headline(self) -> str:
        """Return the error in words, and F1."""
        return self.score.headline()

    def notes(self) -> list[str]:
        """Return sentences that tell how to read the figures."""
        return describe_areas(self.scores, None)

    def tables(self) -> list[Table]:
        """Return the figures of labels."""
        return [Table("classes", "Labels", BY_CLASS, self.by_class())]

    def charts(self) -> list[Chart]:
        """Return the curves of labels."""
        return chart_ranks(self.classes.astype(str).tolist(), self.scores.columns())

    def as_dict(self) -> dict[str, Any]:
        """Return all figures as JSON values."""
        further = {"subset_accuracy": 1 - self.score.error, "exact_areas": self.scores.exact}
        return super().as_dict() | further


def describe_areas(scores: ScoreCounts, positive: str | None) -> list[str]:
    """Return which classes areas under curves are about, and whether they are exact."""
    if np.isnan(scores.roc_auc):
        return []
    of = "the mean of one against the rest" if positive is None else f"of {clip(positive)}"
    notes = [f"ROC AUC and average precision are {of}."]
    binned = "Areas and curves come from a histogram of the scores."
    return notes if scores.exact else [*notes, binned]


def tabulate_confusion(names: Sequence[str], counts: Array) -> Table:
    """Return rows by class and predicted class; of many classes, the most frequent confusions."""
    lines, rows = [*names, "not known"], counts.tolist()
    if not sum(rows[-1]):
        lines, rows = lines[:-1], rows[:-1]
    if len(names) <= MOST_CLASSES and sum(map(len, names)) <= WIDEST:
        columns = {"": "", **dict.fromkeys(names, ",d")}
        cells = [[name, *row] for name, row in zip(lines, rows, strict=True)]
        title = "Confusion: rows of a class by the class that is predicted for them"
        return Table("confusion", title, columns, cells, shaded=True)
    wrong = [
        (each, name, names[k])
        for place, (name, row) in enumerate(zip(lines, rows, strict=True))
        for k, each in enumerate(row)
        if each and k != place
    ]
    wrong = sorted(wrong, key=lambda one: -one[0])[:MOST_CLASSES]
    columns = {"rows": ",d", "label": "", "predicted as": ""}
    return Table("confusion", "Most frequent confusions", columns, wrong)


def distance(scores: Array, predicted: Array) -> Array:
    """Return how far scores are from another decision: |score|, or the best less the second."""
    if scores.ndim == 1:
        return np.abs(scores)
    second = np.partition(scores, -2, axis=1)[:, -2] if scores.shape[1] > 1 else 0.0
    return np.asarray(scores[np.arange(len(predicted)), predicted] - second)


def encode_words(labels: Array, classes: Array) -> Array:
    """Return the number of each label among the classes, as words; unknown ones come last."""
    size, words = len(classes), classes.astype(str)
    order = np.argsort(words)
    places = np.clip(np.searchsorted(words, labels, sorter=order), 0, size - 1)
    return np.where(words[order[places]] == labels, order[places], size)


def class_scores(classes: Array, right: Array, said: Array, rows: Array) -> list[ClassScore]:
    """Return precision, recall and F1 per class, from right, predicted and actual counts."""
    with np.errstate(invalid="ignore"):
        columns = right / said, right / rows, 2 * right / (said + rows)
    found = (np.nan_to_num(column).tolist() for column in columns)
    return list(map(ClassScore, classes.tolist(), *found, rows.tolist()))
