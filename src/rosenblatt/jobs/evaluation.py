"""How well a model does: errors, confusion of classes, F1, areas under curves, log loss.

Of tags also unknown words, and chunks as conlleval has them (Tjong Kim Sang & Buchholz 2000): a
chunk is right if its kind, its first and its last token are.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..data.labels import LabelSets
from ..data.metrics import (
    balanced_accuracy,
    brier_score,
    log_loss,
    matthews_correlation,
    median_rank_error,
    quadratic_kappa,
    rank_error,
)
from ..data.rows import Array
from ..data.targets import MOST_ERRORS, RankScore, RowError, Score, describe
from .curves import (
    CalibrationBin,
    CalibrationCounts,
    ScoreCounts,
    ThresholdScore,
    tabulate_thresholds,
)

if TYPE_CHECKING:
    from ..learners.sequence.schemes import Chunks


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
    """

    asked: float
    make: Callable[[Array], Array] = field(repr=False)
    rows: int = field(init=False, default=0)
    inside: int = field(init=False, default=0)
    total: float = field(init=False, default=0.0)

    def add_sets(self, scores: Array, codes: Array) -> None:
        """Count rows of classes; a number that is not that of a class is in no set."""
        flags = self.make(scores)
        known = np.flatnonzero(codes < flags.shape[1])
        self.inside += int(np.count_nonzero(flags[known, codes[known]]))
        self.add(float(flags.sum()), len(codes))

    def add_intervals(self, scores: Array, numbers: Array) -> None:
        """Count rows of numbers."""
        low, high = self.make(scores).T
        self.inside += int(np.count_nonzero((low <= numbers) & (numbers <= high)))
        self.add(float((high - low).sum()), len(numbers))

    def add(self, total: float, rows: int) -> None:
        """Add the sizes of sets or intervals of some rows."""
        self.total += total
        self.rows += rows

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
        shares = {"asked": self.asked, "measured": defined(self.measured)}
        return {**shares, "size": float(self.size) if np.isfinite(self.size) else None}


class ClassScore(NamedTuple):
    """Precision, recall and F1 of one class, and the number of its rows."""

    label: Any
    precision: float
    recall: float
    f1: float
    rows: int


@dataclass(repr=False)
class Evaluation:
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

    classes: Array
    chances: Callable[[Array], Array] | None = None
    positive: int = 1
    confusion: Array = field(init=False)
    scores: ScoreCounts = field(init=False, default_factory=ScoreCounts)
    calibration: CalibrationCounts = field(init=False, default_factory=CalibrationCounts)
    worst: list[RowError] = field(init=False, default_factory=list)
    unknown_label: str | None = field(init=False, default=None)
    coverage: Coverage | None = field(init=False, default=None)
    losses: Array = field(init=False)

    def __post_init__(self) -> None:
        count = len(self.classes)
        self.confusion = np.zeros((count + 1, count), np.int64)
        self.losses = np.zeros(3)  # rows, log loss, Brier score

    def add(
        self, labels: Array, predicted: Array, activations: Array, ids: Array | None = None
    ) -> None:
        """Count rows: their labels in words, the classes predicted, the scores, and the ids."""
        count, codes = len(self.classes), encode_words(labels, self.classes)
        first_row = self.score.rows + 1
        cells = np.bincount(codes * count + predicted, minlength=self.confusion.size)
        self.confusion += cells.reshape(self.confusion.shape)
        known = codes < count
        if self.unknown_label is None and not known.all():
            self.unknown_label = str(labels[~known][0])
        self.add_scores(activations[known], codes[known])
        chances = None if self.chances is None else self.chances(activations)
        if chances is not None and known.any():
            self.add_probabilities(chances[known], codes[known], predicted[known])
        confidence = distance(activations, predicted) if chances is None else chances
        if confidence.ndim == 2:
            confidence = confidence[np.arange(len(predicted)), predicted]
        wrong = np.flatnonzero(codes != predicted)
        wrong = wrong[np.argsort(-confidence[wrong], kind="stable")[:MOST_ERRORS]]
        names = self.classes.astype(str)
        self.worst += [
            RowError(
                first_row + row,
                None if ids is None else str(ids[row]),
                str(labels[row]),
                str(names[predicted[row]]),
                float(confidence[row]),
            )
            for row in wrong.tolist()
        ]
        self.worst = sorted(self.worst, key=lambda one: -one.confidence)[:MOST_ERRORS]

    def __repr__(self) -> str:
        return describe(self, self.score.as_dict() | self.figures())

    def add_scores(self, activations: Array, codes: Array) -> None:
        """Keep the scores of rows for the areas under curves; of two, those of the positive one."""
        if activations.ndim == 1 and not self.positive:
            activations, codes = -activations, 1 - codes
        self.scores.add(activations, codes)

    def add_probabilities(self, chances: Array, codes: Array, predicted: Array) -> None:
        """Add the losses of probabilities, and count rows by them."""
        rows = len(codes)
        self.losses += rows, rows * log_loss(codes, chances), rows * brier_score(codes, chances)
        if len(self.classes) == 2:
            self.calibration.add(chances[:, self.positive], codes == self.positive)
        else:
            self.calibration.add(chances[np.arange(rows), predicted], codes == predicted)

    @property
    def score(self) -> Score:
        """The number of rows and of errors."""
        rows = int(self.confusion.sum())
        return Score(rows, rows - int(np.trace(self.confusion)))

    @property
    def unknown(self) -> int:
        """The number of rows with labels that the model does not know."""
        return int(self.confusion[-1].sum())

    def by_class(self) -> list[ClassScore]:
        """Return precision, recall and F1 of each class."""
        right, rows = np.diag(self.confusion[:-1]), self.confusion[:-1].sum(axis=1)
        return class_scores(self.classes, right, self.confusion.sum(axis=0), rows)

    @property
    def error(self) -> float:
        """The share of wrong rows."""
        return self.score.error

    @property
    def macro_f1(self) -> float:
        """The mean F1 of the classes."""
        return float(np.mean([one.f1 for one in self.by_class()]))

    @property
    def balanced_accuracy(self) -> float:
        """The mean recall of the classes that occur."""
        return balanced_accuracy(self.confusion[:-1])

    @property
    def matthews_correlation(self) -> float:
        """Matthews' correlation of the true and the predicted classes."""
        return matthews_correlation(self.confusion[:-1])

    @property
    def roc_auc(self) -> float | None:
        """The area under the ROC curve; of several classes the mean, each against the rest."""
        return defined(self.scores.roc_auc)

    @property
    def average_precision(self) -> float | None:
        """The average precision of the positive class; of several classes the mean."""
        return defined(self.scores.average_precision)

    @property
    def log_loss(self) -> float | None:
        """The log loss of the probabilities, if there are any."""
        return float(self.losses[1] / self.losses[0]) if self.losses[0] else None

    @property
    def brier_score(self) -> float | None:
        """The Brier score of the probabilities, if there are any."""
        return float(self.losses[2] / self.losses[0]) if self.losses[0] else None

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

    def figures(self) -> dict[str, float | None]:
        """Return the figures of all rows by name; None where one is not defined."""
        return {
            "error": defined(self.error),
            "log_loss": self.log_loss,
            "brier_score": self.brier_score,
            "roc_auc": self.roc_auc,
            "average_precision": self.average_precision,
            "macro_f1": self.macro_f1,
            "balanced_accuracy": defined(self.balanced_accuracy),
            "matthews_correlation": self.matthews_correlation,
        }

    @property
    def positive_class(self) -> str:
        """The name of the positive one of two classes."""
        return str(self.classes[-1 if self.positive else 0])

    def as_dict(self) -> dict[str, Any]:
        """Return all figures as JSON values."""
        return {
            "rows": self.score.rows,
            "errors": self.score.errors,
            **self.figures(),
            "positive_class": self.positive_class if len(self.classes) == 2 else None,
            "exact_areas": self.scores.exact,
            "classes": [one._asdict() for one in self.by_class()],
            "confusion": self.confusion.tolist(),
            "calibration": [one._asdict() for one in self.calibration_curve()],
            "thresholds": [
                {name: defined(value) for name, value in one._asdict().items()}
                for one in self.thresholds()
            ],
            "worst": [one._asdict() for one in self.worst],
            **({} if self.coverage is None else {"coverage": self.coverage.as_dict()}),
        }


@dataclass(repr=False)
class RankEvaluation(Evaluation):
    """Counts of rows by their rank and by the predicted rank, and figures from them.

    Rows of unknown labels are errors, and do not count in the figures of ranks. The score of a rank
    does not compare rows, so that areas under curves are those of two ranks only.
    """

    def add_scores(self, activations: Array, codes: Array) -> None:
        """Keep the scores of rows of two ranks."""
        if activations.ndim == 1:
            super().add_scores(activations, codes)

    @property
    def score(self) -> RankScore:
        """The number of rows and of errors, and the sum of the differences of ranks."""
        both, known = super().score, self.confusion[:-1]
        distance = round(rank_error(known) * known.sum()) if known.any() else 0
        return RankScore(both.rows, both.errors, distance=distance, unknown=self.unknown)

    def rank_figures(self) -> dict[str, float | None]:
        """Return the mean difference of ranks, that of one rank for all rows, and kappa."""
        known = self.confusion[:-1]
        return {
            "rank_error": defined(rank_error(known)),
            "median_rank_error": defined(median_rank_error(known)),
            "quadratic_kappa": defined(quadratic_kappa(known)),
        }

    def figures(self) -> dict[str, float | None]:
        """Return the figures of all rows by name; None where one is not defined."""
        return {**self.rank_figures(), **super().figures()}


def distance(scores: Array, predicted: Array) -> Array:
    """Return how far scores are from another decision: |score|, or the best less the second."""
    if scores.ndim == 1:
        return np.abs(scores)
    second = np.partition(scores, -2, axis=1)[:, -2] if scores.shape[1] > 1 else 0.0
    return np.asarray(scores[np.arange(len(predicted)), predicted] - second)


def defined(value: float) -> float | None:
    """Return a figure, or None for NaN, which JSON does not have."""
    return None if np.isnan(value) else float(value)


@dataclass(repr=False)
class LabelSetEvaluation:
    """Counts of rows that may have several labels, by label.

    Attributes
    ----------
    classes : ndarray
        The labels that the model knows.
    right, said, there : ndarray of shape (n_classes,)
        Rows of each label: those predicted and right, predicted, and actual.
    """

    classes: Array
    rows: int = field(init=False, default=0)
    errors: int = field(init=False, default=0)
    """Rows whose labels are not all right."""
    unknown: int = field(init=False, default=0)
    """Rows with labels that the model does not know."""
    missed: int = field(init=False, default=0)
    """Those labels."""

    scores: ScoreCounts = field(init=False, default_factory=ScoreCounts)

    def __post_init__(self) -> None:
        self.right, self.said, self.there = np.zeros((3, len(self.classes)), np.int64)

    def __repr__(self) -> str:
        return describe(self, {"rows": self.rows, "errors": self.errors} | self.figures())

    def add(self, sets: LabelSets, predicted: Array, activations: Array) -> None:
        """Count rows: their labels in words, which classes were predicted, and the scores."""
        count, codes = len(self.classes), encode_words(sets.values, self.classes)
        has, others = sets.indicator(codes, count + 1), codes == count
        has, other = has[:, :count], has[:, count]
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

    @property
    def micro_f1(self) -> float:
        """F1 over all labels of all rows."""
        return self.score.micro_f1 or 0.0

    @property
    def macro_f1(self) -> float:
        """The mean F1 of the labels."""
        return float(np.mean([one.f1 for one in self.by_class()]))

    @property
    def hamming_loss(self) -> float:
        """The share of pairs of a row and a known label that are wrong."""
        wrong = int((self.said + self.there - 2 * self.right).sum())
        return wrong / (self.rows * len(self.classes)) if self.rows else float("nan")

    def figures(self) -> dict[str, float | None]:
        """Return the figures of all rows by name; None where one is not defined."""
        return {
            "error": defined(self.score.error),
            "micro_f1": self.micro_f1,
            "macro_f1": self.macro_f1,
            "hamming_loss": defined(self.hamming_loss),
            "roc_auc": defined(self.scores.roc_auc),
            "average_precision": defined(self.scores.average_precision),
        }

    def as_dict(self) -> dict[str, Any]:
        """Return all figures as JSON values."""
        return {
            "rows": self.rows,
            "errors": self.errors,
            **self.figures(),
            "subset_accuracy": 1 - self.score.error,
            "exact_areas": self.scores.exact,
            "classes": [one._asdict() for one in self.by_class()],
        }


def encode_words(labels: Array, classes: Array) -> Array:
    """Return the number of each label among the classes, as words; unknown ones come last."""
    count, words = len(classes), classes.astype(str)
    order = np.argsort(words)
    places = np.clip(np.searchsorted(words, labels, sorter=order), 0, count - 1)
    return np.where(words[order[places]] == labels, order[places], count)


def class_scores(classes: Array, right: Array, said: Array, rows: Array) -> list[ClassScore]:
    """Return precision, recall and F1 per class, from right, predicted and actual counts."""
    with np.errstate(invalid="ignore"):
        columns = right / said, right / rows, 2 * right / (said + rows)
    found = (np.nan_to_num(column).tolist() for column in columns)
    return list(map(ClassScore, classes.tolist(), *found, rows.tolist()))


class ChunkScore(NamedTuple):
    """The number of chunks that were predicted, that there are, and that are right."""

    found: int
    wanted: int
    right: int

    @property
    def precision(self) -> float:
        """The share of the found chunks that are right."""
        return self.right / self.found if self.found else 0.0

    @property
    def recall(self) -> float:
        """The share of the chunks that were found."""
        return self.right / self.wanted if self.wanted else 0.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        both = self.found + self.wanted
        return 2 * self.right / both if both else 0.0


@dataclass(repr=False)
class SequenceEvaluation:
    """Counts of predicted tags beside the right ones.

    Attributes
    ----------
    tokens, right : int
        The number of tokens, and of those with the right tag.
    unknown, unknown_right : int
        The same for words that did not occur in training.
    by_tag : list of ClassScore
        Precision, recall and F1 of each tag.
    chunks : dict of str to ChunkScore, or None
        By kind, and of all as "", if the tags write chunks.
    """

    tokens: int
    right: int
    unknown: int
    unknown_right: int
    by_tag: list[ClassScore]
    chunks: dict[str, ChunkScore] | None

    def __repr__(self) -> str:
        return describe(self, {"tokens": self.tokens, "right": self.right, "unknown": self.unknown})

    @property
    def accuracy(self) -> float:
        """The share of tokens whose tag is right."""
        return self.right / self.tokens if self.tokens else float("nan")

    def as_dict(self) -> dict[str, Any]:
        """Return all figures as JSON values."""
        report: dict[str, Any] = {
            "tokens": self.tokens,
            "errors": self.tokens - self.right,
            "accuracy": self.accuracy,
            "unknown_words": self.unknown,
            "unknown_errors": self.unknown - self.unknown_right,
            "classes": {str(one.label): one._asdict() for one in self.by_tag},
        }
        if self.chunks is not None:
            report["chunks"] = {
                kind or "all": {
                    **one._asdict(),
                    "precision": one.precision,
                    "recall": one.recall,
                    "f1": one.f1,
                }
                for kind, one in self.chunks.items()
            }
        return report


def evaluate_tags(
    found: list[Any], wanted: list[Any], starts: Array, known: Array
) -> SequenceEvaluation:
    """Compare predicted tags with the right ones.

    Parameters
    ----------
    found, wanted
        A tag for each token.
    starts
        Where each sentence begins.
    known
        Whether each token's word was met in training.
    """
    names = sorted({*found, *wanted})
    numbers = {name: number for number, name in enumerate(names)}
    one = np.array([numbers[tag] for tag in found], np.int64)
    other = np.array([numbers[tag] for tag in wanted], np.int64)
    same = one == other
    said, rows = (np.bincount(codes, minlength=len(names)) for codes in (one, other))
    right = np.bincount(one[same], minlength=len(names))
    by_tag = class_scores(np.array(names, object), right, said, rows)
    unknown = ~known
    counts = len(one), int(same.sum()), int(unknown.sum()), int((same & unknown).sum())
    return SequenceEvaluation(*counts, by_tag, chunk_scores(names, one, other, starts))


def chunk_scores(
    names: list[Any], found: Array, wanted: Array, starts: Array
) -> dict[str, ChunkScore] | None:
    """Return the scores of chunks by kind, and of all as ""."""
    from ..learners.sequence.schemes import LETTERS, find_chunks, split_chunk_tags

    parts = split_chunk_tags(names)
    if parts is None:
        return None
    letters = np.array([LETTERS.get(letter, letter) for letter, _ in parts[0]])
    kinds = sorted({kind for _, kind in parts[0] if kind})
    numbers = np.array([kinds.index(kind) + 1 if kind else 0 for _, kind in parts[0]])
    both = [find_chunks(letters[codes], numbers[codes], starts) for codes in (found, wanted)]
    spans = [find_spans(chunks) for chunks in both]
    common = spans[0] & spans[1]
    scores = {}
    for number, kind in enumerate(["", *kinds]):
        counted = [sum(1 for span in some if number in (0, span[0])) for some in (*spans, common)]
        scores[kind] = ChunkScore(*counted)
    return scores


def find_spans(chunks: "Chunks") -> set[tuple[int, int, int]]:
    """Return the kind, first and last token of every chunk."""
    first, last = np.flatnonzero(chunks.begins), np.flatnonzero(chunks.ends)
    kinds = chunks.kinds[first]
    return set(zip(kinds.tolist(), first.tolist(), last.tolist(), strict=True))
