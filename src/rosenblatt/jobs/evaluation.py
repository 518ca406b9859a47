"""How well a model does: errors, confusion of classes, F1, areas under curves, log loss."""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..data import metrics
from ..data.labels import LabelSets, as_words, find_codes
from ..data.results import Result, Table, clip, defined, plain
from ..data.rows import Array
from ..data.targets import NumberScore, Score, as_numbers
from ..reading.batches import Batch, get_label_sets, get_labels
from ..training.scoring import is_defined
from .curves import (
    CalibrationBin,
    KeptScores,
    ThresholdScore,
    find_bins,
    tabulate_thresholds,
    tabulate_top,
)

MOST_ERRORS = 20  # wrong rows to show
MOST_SCORES = 2**24  # numbers that are kept for areas, curves and losses: 64 MB of float32
MOST_CLASSES = 10  # in a matrix of confusion
WIDEST = 56  # letters of their names
BY_CLASS = {"label": "", "precision": ".2%", "recall": ".2%", "f1": ".4f", "rows": ",d"}
BY_THRESHOLD = dict.fromkeys(ThresholdScore._fields, ".2%") | {"threshold": ".4g", "f1": ".4f"}
BY_RANK = {"k": ",d", "precision": ".2%", "recall": ".2%"}
TOP = "First classes: precision and recall if the k with the highest scores are predicted"
BY_PROBABILITY = {"low": ".1f", "high": ".1f", "rows": ",d", "predicted": ".2%", "observed": ".2%"}


class RowError(NamedTuple):
    """A wrong row: its number from 1, its id, both labels, and how sure the model was.

    ``confidence`` is the probability of the predicted class if the model gives probabilities, else
    the distance of the scores of both classes; of a number it is the absolute error.
    """

    row: int
    id: str | None
    label: str
    predicted: str
    confidence: float


class ClassScore(NamedTuple):
    """Precision, recall and F1 of one class, and the number of its rows."""

    label: Any
    precision: float
    recall: float
    f1: float
    rows: int


class FileResult(Result):
    """The result of a model on a file of rows, to which batches are added.

    Attributes
    ----------
    sets : callable or None
        The function from scores to prediction sets or intervals, if their coverage is measured.
    inside, sizes : int, float
        The number of rows whose label is inside, and the sum of the sizes or widths.
    worst : list of RowError
        The wrong rows that the model was most sure about, at most ``MOST_ERRORS``.
    """

    sets: Callable[[Array], Array] | None = None
    inside: int = 0
    sizes: float = 0.0
    size_name: ClassVar[str] = "mean_set_size"
    worst: Sequence[RowError] = ()
    worst_title: ClassVar[str] = "Wrong rows that the model was most sure about"

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
    def read_labels(self, batch: Batch, row: int) -> Any:
        """Return the labels of a batch, as ``add`` takes them; ``row`` rows came before it."""

    @abstractmethod
    def add(self, labels: Any, predicted: Array, scores: Array, ids: Array | None = None) -> Array:
        """Count rows: their labels, what was predicted, the scores, and the ids.

        Return whether each row is wrong, or its absolute error.
        """

    def tables(self) -> list[Table]:
        """Return the worst rows."""
        form = ",.0f" if any(one.confidence >= 1000 for one in self.worst) else ".4f"
        columns = {"row": ",d", "id": "", "label": "", "predicted": "", "confidence": form}
        return [Table("worst", self.worst_title, columns, self.worst)]

    def measure_sets(self, rows: int) -> dict[str, float | None]:
        """Return the share of labels inside of sets, and the mean size; None if it is infinite."""
        if self.sets is None or not rows:
            return {}
        size = self.sizes / rows if np.isfinite(self.sizes) else None
        return {"coverage": self.inside / rows, self.size_name: size}


class NumberEvaluation(FileResult, NumberScore):
    """Sums of the errors of predicted numbers; ``worst`` has the rows with the largest errors."""

    size_name = "mean_width"
    worst_title = "Rows with the largest errors"

    def write(self, label: Any, digits: int) -> str:
        """Return a number as text."""
        return plain(label, digits)

    def read_labels(self, batch: Batch, row: int) -> Array:
        """Return the numbers of a batch."""
        return as_numbers(get_labels(batch, row), row)

    def add(self, labels: Any, predicted: Array, scores: Array, ids: Array | None = None) -> Array:
        """Add the errors of rows by their numbers; return the absolute errors."""
        errors: Array = np.abs(predicted - labels)
        self.keep_worst(self.rows + 1, errors, np.arange(len(errors)), ids, labels, predicted)
        self.compare(predicted, self.target.encode(labels))
        if self.sets is not None:
            low, high = self.sets(scores).T
            self.inside += int(np.count_nonzero((low <= labels) & (labels <= high)))
            self.sizes += float((high - low).sum())
        return errors

    def figures(self) -> dict[str, Any]:
        """Return the errors beside those of the baselines, and the coverage of intervals."""
        return {**super().figures(), **self.measure_sets(self.rows)}


class ClassResult(FileResult):
    """What results of classes and of label sets share: areas under curves, figures by class.

    Attributes
    ----------
    classes : ndarray
        The labels that the model knows.
    kept : KeptScores
        The scores of rows and their classes.
    """

    classes: Array
    kept: KeptScores
    class_title: ClassVar[str] = "Classes"

    def counts(self) -> dict[str, Any]:
        """Return what was counted of all rows."""
        return dict(self.score.as_dict())

    def headline(self) -> str:
        """Return the error in words; of label sets also F1, of ranks their mean difference."""
        return str(self.score.headline(self.class_rows))

    @abstractmethod
    def count_classes(self) -> tuple[Array, Array, Array]:
        """Return the rows of each class: those predicted and right, predicted, and actual."""

    def by_class(self) -> list[ClassScore]:
        """Return precision, recall and F1 of each class."""
        return class_scores(self.classes, *self.count_classes())

    def find_flags(self) -> tuple[Array, Array]:
        """Return the kept scores and codes."""
        return self.kept.join()

    def areas(self) -> dict[str, float | None]:
        """Return the areas under curves, by name; of several classes the mean over them."""
        scores, codes = self.find_flags()
        areas = {"roc_auc": metrics.roc_auc, "average_precision": metrics.average_precision}
        return {name: defined(area(codes, scores)) for name, area in areas.items()}

    def notes(self) -> list[str]:
        """Return which classes areas under curves are about, and whether all rows count."""
        codes = self.kept.join()[1]
        counts = np.bincount(codes) if codes.ndim == 1 else codes.sum(axis=0)
        if not is_defined("auc", counts, len(codes)):
            return []
        positive = self.positive_class
        of = "the mean of one against the rest" if positive is None else f"of {clip(positive)}"
        some = f"Areas, curves and losses are those of one row of {self.kept.step:,}."
        return [f"ROC AUC and average precision are {of}.", *([] if self.kept.exact else [some])]

    def tables(self) -> list[Table]:
        """Return the figures of classes and of the first classes, and the worst rows."""
        classes = Table("classes", self.class_title, BY_CLASS, self.by_class())
        top = Table("top", TOP, BY_RANK, tabulate_top(*self.kept.join()))
        return [classes, *([top] if top.rows else []), *super().tables()]

    def as_dict(self) -> dict[str, Any]:
        """Return all figures as JSON values."""
        return {**super().as_dict(), "exact_areas": self.kept.exact}


@dataclass(repr=False)
class Evaluation(ClassResult):
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
    unknown_label : str or None
        The first label that the model does not know, if there is one.
    full_stops : int
        The number of rows whose labels are classes without the full stop at their end.
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
    kept: KeptScores = field(init=False)
    unknown_label: str | None = field(init=False, default=None)
    full_stops: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        size = len(self.classes)
        self.confusion = np.zeros((size + 1, size), np.int64)
        self.kept = KeptScores(MOST_SCORES // max(size, 1))

    def read_labels(self, batch: Batch, row: int) -> Array:
        """Return the labels of a batch in words."""
        return as_words(get_labels(batch, row), self.classes)

    def add(self, labels: Any, predicted: Array, scores: Array, ids: Array | None = None) -> Array:
        """Count rows by their labels in words; return which are wrong."""
        size, codes = len(self.classes), encode_words(labels, self.classes)
        unknown = codes == size
        if unknown.any():
            codes[unknown] = encode_words(np.char.rstrip(labels[unknown], "."), self.classes)
            self.full_stops += int(np.count_nonzero(codes[unknown] < size))
        first_row = int(self.confusion.sum()) + 1
        cells = np.bincount(codes * size + predicted, minlength=self.confusion.size)
        self.confusion += cells.reshape(self.confusion.shape)
        known = codes < size
        if self.unknown_label is None and not known.all():
            self.unknown_label = str(labels[~known][0])
        self.kept.add(scores[known], codes[known])
        sizes = distance(scores, predicted) if self.chances is None else self.chances(scores)
        every = np.arange(len(predicted))
        if sizes.ndim == 2:
            sizes = sizes[every, predicted]
        wrong, found = codes != predicted, self.classes[predicted]
        self.keep_worst(first_row, sizes, np.flatnonzero(wrong), ids, labels, found)
        if self.sets is not None:
            sets = np.pad(self.sets(scores), ((0, 0), (0, 1)))
            self.inside += int(np.count_nonzero(sets[every, codes]))
            self.sizes += float(np.count_nonzero(sets))
        return np.asarray(wrong)

    def find_flags(self) -> tuple[Array, Array]:
        """Return the kept scores and codes; of two classes, as if the positive one were second."""
        scores, codes = self.kept.join()
        return (scores, codes) if self.positive or scores.ndim == 2 else (-scores, 1 - codes)

    def find_chances(self) -> tuple[Array, Array] | None:
        """Return the probabilities of the rows with kept scores, and their codes."""
        scores, codes = self.kept.join()
        return None if self.chances is None or not len(codes) else (self.chances(scores), codes)

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

    def count_classes(self) -> tuple[Array, Array, Array]:
        """Return the rows of each class: those predicted and right, predicted, and actual."""
        known = self.confusion[:-1]
        return np.diag(known), self.confusion.sum(axis=0), known.sum(axis=1)

    def calibration_curve(self) -> list[CalibrationBin]:
        """Return predicted and observed shares by probability; empty without probabilities.

        The probability is that of the positive one of two classes, else of the most probable one.
        """
        found = self.find_chances()
        if found is None:
            return []
        chances, codes = found
        event = chances.argmax(axis=1) if chances.shape[1] > 2 else self.positive
        return find_bins(chances[np.arange(len(codes)), event], codes == event)

    def thresholds(self, points: Any = None) -> list[ThresholdScore]:
        """Return precision, recall and others at some thresholds, of two classes.

        ``points`` are probabilities of the positive class, or its scores if the model gives no
        probabilities.
        """
        scores, codes = self.find_flags()
        if len(self.classes) != 2 or not len(codes):
            return []
        both, sign = self.chances, 1 if self.positive else -1
        chances = None if both is None else lambda scores: both(sign * scores)[:, self.positive]
        return tabulate_thresholds(metrics.count_ranks(codes == 1, scores), chances, points)

    @property
    def positive_class(self) -> str | None:  # type: ignore[override]
        """The name of the positive one of two classes; None of several."""
        return str(self.classes[self.positive]) if len(self.classes) == 2 else None

    def figures(self) -> dict[str, float | None]:
        """Return the figures of all rows by name; None where one is not defined."""
        known, found, bins = self.confusion[:-1], self.find_chances(), self.calibration_curve()
        rows = sum(one.rows for one in bins)
        off = sum(one.rows * abs(one.predicted - one.observed) for one in bins)
        right, said, actual = self.count_classes()
        return {
            "error": defined(self.score.error),
            "log_loss": None if found is None else metrics.log_loss(*found[::-1]),
            "brier_score": None if found is None else metrics.brier_score(*found[::-1]),
            "calibration_error": off / rows if rows else None,
            **self.areas(),
            "macro_f1": defined(metrics.average_known(metrics.divide(2 * right, said + actual))),
            "balanced_accuracy": defined(metrics.balanced_accuracy(known)),
            "matthews_correlation": metrics.matthews_correlation(known),
            **self.measure_sets(self.score.rows),
        }

    def tables(self) -> list[Table]:
        """Return the figures of classes, of thresholds and of calibration, and the confusion."""
        *of_classes, worst = super().tables()
        found = [*of_classes, tabulate_confusion(self.classes.astype(str).tolist(), self.confusion)]
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
        return [*found, worst]

    def as_dict(self) -> dict[str, Any]:
        """Return all figures as JSON values."""
        return {
            **super().as_dict(),
            "positive_class": self.positive_class,
            "confusion": self.confusion.tolist(),
        }


@dataclass(repr=False)
class RankEvaluation(Evaluation):
    """Counts of rows by their rank and by the predicted rank, and figures from them.

    Rows of unknown labels are errors, and do not count in the figures of ranks. The score of a rank
    does not compare rows, so that areas under curves are those of two ranks only.
    """

    in_headline = frozenset(("error", "rank_error"))
    unknown_remark = Evaluation.unknown_remark + ", and not in the rank error"

    def areas(self) -> dict[str, float | None]:
        """Return the areas under the curves of two ranks."""
        two = len(self.classes) == 2
        return super().areas() if two else {"roc_auc": None, "average_precision": None}

    def notes(self) -> list[str]:
        """Return which of two ranks the areas under curves are about."""
        return super().notes() if len(self.classes) == 2 else []

    @property
    def score(self) -> Score:
        """The number of rows and of errors, and the sum of the differences of ranks."""
        both, known = super().score, self.confusion[:-1]
        distance = round(metrics.rank_error(known) * known.sum()) if known.any() else 0
        return Score(both.rows, both.errors, distance=distance, unknown=self.unknown)

    def figures(self) -> dict[str, float | None]:
        """Return the figures of all rows by name; None where one is not defined.

        The rank error is the mean difference of ranks; beside it stands that of one rank for all.
        """
        known = self.confusion[:-1]
        return {
            "rank_error": defined(metrics.rank_error(known)),
            "median_rank_error": defined(metrics.median_rank_error(known)),
            "quadratic_kappa": defined(metrics.quadratic_kappa(known)),
            **super().figures(),
        }

    def tables(self) -> list[Table]:
        """Return the tables of classes, but none of first classes: scores do not compare ranks."""
        return [each for each in super().tables() if each.name != "top"]


@dataclass(repr=False)
class LabelSetEvaluation(ClassResult):
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
    class_title = "Labels"
    classes: Array
    rows: int = field(init=False, default=0)
    errors: int = field(init=False, default=0)
    unknown: int = field(init=False, default=0)
    missed: int = field(init=False, default=0)
    kept: KeptScores = field(init=False)

    def __post_init__(self) -> None:
        self.kept = KeptScores(MOST_SCORES // max(len(self.classes), 1))
        self.right, self.said, self.there = np.zeros((3, len(self.classes)), np.int64)

    def read_labels(self, batch: Batch, row: int) -> LabelSets:
        """Return the labels of a batch in words."""
        sets = get_label_sets(batch)
        return LabelSets(as_words(sets.values, self.classes), sets.starts)

    def add(self, labels: Any, predicted: Array, scores: Array, ids: Array | None = None) -> Array:
        """Count rows by their labels in words; return which are wrong."""
        size, codes = len(self.classes), encode_words(labels.values, self.classes)
        has, others = labels.indicator(codes, size + 1), codes == size
        has, other = has[:, :size], has[:, size]
        self.rows += len(labels)
        self.kept.add(scores, has)
        wrong = np.asarray((predicted != has).any(axis=1) | other)
        self.errors += int(np.count_nonzero(wrong))
        self.unknown += int(np.count_nonzero(other))
        self.missed += len({*zip(labels.rows[others], labels.values[others], strict=True)})
        self.right += np.count_nonzero(has & predicted, axis=0)
        self.said += np.count_nonzero(predicted, axis=0)
        self.there += np.count_nonzero(has, axis=0)
        return wrong

    @property
    def score(self) -> Score:
        """The number of rows and of errors; unknown labels count as missed."""
        labels = int(self.said.sum() + self.there.sum()) + self.missed
        return Score(self.rows, self.errors, int(self.right.sum()), labels)

    def count_classes(self) -> tuple[Array, Array, Array]:
        """Return the rows of each label: those predicted and right, predicted, and actual."""
        return self.right, self.said, self.there

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
            **self.areas(),
        }

    def as_dict(self) -> dict[str, Any]:
        """Return all figures as JSON values."""
        return {**super().as_dict(), "subset_accuracy": 1 - self.score.error}


def tabulate_confusion(names: Sequence[str], counts: Array) -> Table:
    """Return rows by class and predicted class; of many classes, the most frequent confusions."""
    lines, rows = [*names, "not known"], counts.tolist()
    if not sum(rows[-1]):
        lines, rows = lines[:-1], rows[:-1]
    if len(names) <= MOST_CLASSES and sum(map(len, names)) <= WIDEST:
        columns = {"": "", **dict.fromkeys(names, ",d")}
        cells = [[name, *row] for name, row in zip(lines, rows, strict=True)]
        title = "Confusion: rows of a class by the class that is predicted for them"
        return Table("confusion", title, columns, cells)
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
    codes = find_codes(labels, classes.astype(str))
    return np.where(codes < 0, len(classes), codes)


def class_scores(classes: Array, right: Array, said: Array, rows: Array) -> list[ClassScore]:
    """Return precision, recall and F1 per class, from right, predicted and actual counts."""
    with np.errstate(invalid="ignore"):
        columns = right / said, right / rows, 2 * right / (said + rows)
    found = (np.nan_to_num(column).tolist() for column in columns)
    return list(map(ClassScore, classes.tolist(), *found, rows.tolist()))
