"""How well a model does: errors, the confusion of classes, precision, recall, F1 and ROC area."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from .labels import as_words
from .learner import Learner
from .reading.batches import Batch, labels_of
from .reading.reader import Reader
from .rows import Array


@dataclass
class Score:
    """How many rows are wrong."""

    rows: int = 0
    errors: int = 0

    @property
    def error(self) -> float:
        """The share of wrong rows."""
        return self.errors / self.rows if self.rows else float("nan")

    def add(self, rows: int, errors: int) -> None:
        """Count more rows."""
        self.rows += rows
        self.errors += errors


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
        count, words = len(self.classes), self.classes.astype(str)
        order = np.argsort(words)
        places = np.clip(np.searchsorted(words, labels, sorter=order), 0, count - 1)
        codes = np.where(words[order[places]] == labels, order[places], count)
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

    def by_class(self) -> list[ClassScore]:
        """How well each class is found."""
        right = np.diag(self.confusion[:-1]).astype(float)
        rows, said = self.confusion[:-1].sum(axis=1), self.confusion.sum(axis=0)
        with np.errstate(invalid="ignore"):
            columns = right / said, right / rows, 2 * right / (said + rows)
        found = (np.nan_to_num(column).tolist() for column in columns)
        return list(map(ClassScore, self.classes.tolist(), *found, rows.tolist()))

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


def evaluate(learner: Learner, reader: Reader) -> Evaluation:
    """Compare predictions with the labels of rows."""
    result, row = Evaluation(learner.classes), 0
    for batch, activations in scored(learner, reader):
        words = as_words(labels_of(batch, row), learner.classes)
        result.add(words, learner.choose(activations), activations)
        row += len(words)
    return result


def scored(learner: Learner, reader: Reader) -> Iterator[tuple[Batch, Array]]:
    """The scores of every row, batch by batch, by the threads that read them."""
    if not learner.votes:
        learner.coefficients()  # once, before there are threads
    return reader.each(lambda batch: learner.scores(batch.rows, batch.width))
