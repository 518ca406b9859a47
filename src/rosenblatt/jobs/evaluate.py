"""How well a model does: errors, the confusion of classes, precision, recall, F1 and ROC area."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ..data.labels import LabelSets, as_words
from ..data.rows import Array, n_rows
from ..data.splits import Split
from ..data.targets import ClassTarget, Score
from ..learners.linear import LinearLearner
from ..parameters import ParameterError
from ..reading.batches import Batch, get_label_sets, get_labels, known_labels
from ..reading.reader import Reader
from ..training.calibration import Calibration, calibrated

MOST_CALIBRATING = 100_000  # rows: more say nothing new of so few numbers


class HeldOut(NamedTuple):
    """The rows of a file that were not learnt from, to test a learner on."""

    batches: Iterable[Batch]
    target: ClassTarget
    split: Split

    def scores(self, learner: LinearLearner) -> Iterator[tuple[Array, Array]]:
        """The scores of the rows and the codes of their labels, batch by batch."""
        row, count = 0, 0
        for batch in self.batches:
            held = self.split.held_out(row, n_rows(batch.rows))
            codes = self.target.encode(known_labels(batch, row), row, held)
            yield learner.scores(batch.rows, batch.width)[held], codes[held]
            row, count = row + len(codes), count + int(np.count_nonzero(held))
        if not count:
            raise ParameterError(
                "{holdout} held no row out; take a larger share.",
                code="holdout-empty",
                holdout=self.split.share,
            )

    def accuracies(self, learner: LinearLearner, problems: list[int]) -> dict[int, float]:
        """The share of the rows that some problems of a learner get right, by number."""
        right, count = np.zeros(len(learner.states)), 0
        for scores, codes in self.scores(learner):
            right += learner.right(scores, codes).sum(axis=0)
            count += len(codes)
        return {problem: float(right[problem] / count) for problem in problems}

    def score(self, learner: LinearLearner) -> Score:
        """Count the rows that a learner gets wrong."""
        result = self.target.new_score()
        for scores, codes in self.scores(learner):
            result.compare(learner.choose(scores), codes)
        return result

    def calibrate(self, learner: LinearLearner) -> Calibration:
        """Fit probabilities to the scores of the first rows."""
        kept, count = list[tuple[Array, Array]](), 0
        for scores, codes in self.scores(learner):
            known = codes >= 0
            kept.append((scores[known], codes[known]))
            count += len(codes)
            if count >= MOST_CALIBRATING:
                break
        scores, codes = map(np.concatenate, zip(*kept, strict=True))
        return calibrated(scores, codes, len(learner.classes))


class ClassScore(NamedTuple):
    """How well one class is found: the share of its predictions that are right, and of its rows."""

    label: Any
    precision: float
    recall: float
    f1: float
    rows: int


@dataclass
class Evaluation:
    """What became of rows, by their class and by the one that was predicted.

    Attributes
    ----------
    classes : ndarray
        The labels that the model knows.
    confusion : ndarray of shape (n_classes + 1, n_classes)
        Rows of each class by what was predicted; the last line is of labels that are not known.
    """

    classes: Array
    confusion: Array = field(init=False)
    activations: list[Array] = field(init=False, default_factory=list)
    positive: list[Array] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        count = len(self.classes)
        self.confusion = np.zeros((count + 1, count), np.int64)

    def add(self, labels: Array, predicted: Array, activations: Array) -> None:
        """Count rows: their labels in words, the classes predicted, and the scores."""
        count, codes = len(self.classes), codes_of_words(labels, self.classes)
        cells = np.bincount(codes * count + predicted, minlength=self.confusion.size)
        self.confusion += cells.reshape(self.confusion.shape)
        if activations.ndim == 1:
            self.activations.append(activations[codes < 2])
            self.positive.append(codes[codes < 2] == 1)

    @property
    def score(self) -> Score:
        """How many rows are wrong."""
        rows = int(self.confusion.sum())
        return Score(rows, rows - int(np.trace(self.confusion)))

    @property
    def unknown(self) -> int:
        """How many rows have labels that the model does not know."""
        return int(self.confusion[-1].sum())

    def by_class(self) -> list[ClassScore]:
        """How well each class is found."""
        right, rows = np.diag(self.confusion[:-1]), self.confusion[:-1].sum(axis=1)
        return class_scores(self.classes, right, self.confusion.sum(axis=0), rows)

    @property
    def macro_f1(self) -> float:
        """The mean F1 of the classes."""
        return float(np.mean([one.f1 for one in self.by_class()]))

    @property
    def roc_auc(self) -> float | None:
        """The chance that a row of the second class scores higher than one of the first."""
        positive = np.concatenate([np.zeros(0, bool), *self.positive])
        if positive.all() or not positive.any():
            return None
        from scipy.stats import rankdata

        ranks, above = rankdata(np.concatenate(self.activations)), int(positive.sum())
        pairs = above * (len(positive) - above)
        return float((ranks[positive].sum() - above * (above + 1) / 2) / pairs)

    def as_dict(self) -> dict[str, Any]:
        """All of it as JSON values."""
        return {
            "rows": self.score.rows,
            "errors": self.score.errors,
            "macro_f1": self.macro_f1,
            "roc_auc": self.roc_auc,
            "classes": [one._asdict() for one in self.by_class()],
            "confusion": self.confusion.tolist(),
        }


@dataclass
class LabelSetEvaluation:
    """What became of rows that may have several labels, by label.

    Attributes
    ----------
    classes : ndarray
        The labels that the model knows.
    right, said, there : ndarray of shape (n_classes,)
        How many rows have each label and are said to, are said to have it, and have it.
    """

    classes: Array
    rows: int = field(init=False, default=0)
    errors: int = field(init=False, default=0)
    """Rows whose labels are not all right."""
    unknown: int = field(init=False, default=0)
    """Rows with labels that the model does not know."""
    missed: int = field(init=False, default=0)
    """Those labels."""

    def __post_init__(self) -> None:
        self.right, self.said, self.there = np.zeros((3, len(self.classes)), np.int64)

    def add(self, sets: LabelSets, predicted: Array) -> None:
        """Count rows: their labels in words, and which classes were predicted."""
        count, codes = len(self.classes), codes_of_words(sets.values, self.classes)
        has, others = sets.indicator(codes, count + 1), codes == count
        has, other = has[:, :count], has[:, count]
        self.rows += len(sets)
        self.errors += int(np.count_nonzero((predicted != has).any(axis=1) | other))
        self.unknown += int(np.count_nonzero(other))
        self.missed += len({*zip(sets.rows[others], sets.values[others], strict=True)})
        self.right += np.count_nonzero(has & predicted, axis=0)
        self.said += np.count_nonzero(predicted, axis=0)
        self.there += np.count_nonzero(has, axis=0)

    @property
    def score(self) -> Score:
        """How many rows are wrong; labels that the model does not know were there, and missed."""
        labels = int(self.said.sum() + self.there.sum()) + self.missed
        return Score(self.rows, self.errors, int(self.right.sum()), labels)

    def by_class(self) -> list[ClassScore]:
        """How well each label is found."""
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
        """The share of wrong answers, of one for each row and label that the model knows."""
        wrong = int((self.said + self.there - 2 * self.right).sum())
        return wrong / (self.rows * len(self.classes)) if self.rows else float("nan")

    def as_dict(self) -> dict[str, Any]:
        """All of it as JSON values."""
        return {
            "rows": self.rows,
            "errors": self.errors,
            "micro_f1": self.micro_f1,
            "macro_f1": self.macro_f1,
            "subset_accuracy": 1 - self.score.error,
            "hamming_loss": self.hamming_loss,
            "classes": [one._asdict() for one in self.by_class()],
        }


def codes_of_words(labels: Array, classes: Array) -> Array:
    """Each label's number among the classes, in words; of one that is not known, their number."""
    count, words = len(classes), classes.astype(str)
    order = np.argsort(words)
    places = np.clip(np.searchsorted(words, labels, sorter=order), 0, count - 1)
    return np.where(words[order[places]] == labels, order[places], count)


def class_scores(classes: Array, right: Array, said: Array, rows: Array) -> list[ClassScore]:
    """How well each class is found, by the rows that are right, said to be of it, and of it."""
    with np.errstate(invalid="ignore"):
        columns = right / said, right / rows, 2 * right / (said + rows)
    found = (np.nan_to_num(column).tolist() for column in columns)
    return list(map(ClassScore, classes.tolist(), *found, rows.tolist()))


def evaluate(
    learner: LinearLearner, reader: Reader, tell: Callable[[int], None] | None = None
) -> Any:
    """Compare predictions with the labels of rows: one of the two evaluations.

    ``tell`` receives the bytes read so far.
    """
    classes, row = learner.classes, 0
    result: Any = (LabelSetEvaluation if learner.multilabel else Evaluation)(classes)
    words: Any
    for batch, activations in scored(learner, reader):
        if learner.multilabel:
            sets = get_label_sets(batch)
            words = LabelSets(as_words(sets.values, classes), sets.starts)
            result.add(words, learner.choose(activations))
        else:
            words = as_words(get_labels(batch, row), classes)
            result.add(words, learner.choose(activations), activations)
        row += len(words)
        if tell is not None:
            tell(batch.bytes_read)
    return result


def scored(learner: LinearLearner, reader: Reader) -> Iterator[tuple[Batch, Array]]:
    """The scores of every row, batch by batch, by the threads that read them."""
    if not learner.votes:
        learner.coefficients()  # once, before there are threads
    return reader.each(lambda batch: learner.scores(batch.rows, batch.width))
