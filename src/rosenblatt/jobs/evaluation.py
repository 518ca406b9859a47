"""How well a model does: errors, the confusion of classes, precision, recall, F1 and ROC area.

Of tags also unknown words, and chunks as conlleval has them (Tjong Kim Sang & Buchholz 2000): a
chunk is right if its kind, its first and its last token are.
"""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..data.labels import LabelSets
from ..data.rows import Array
from ..data.targets import Score

if TYPE_CHECKING:
    from ..learners.sequence.schemes import Chunks


class ClassScore(NamedTuple):
    """Precision, recall and F1 of one class, and the number of its rows."""

    label: Any
    precision: float
    recall: float
    f1: float
    rows: int


@dataclass
class Evaluation:
    """Counts of rows by their class and by the predicted class.

    Attributes
    ----------
    classes : ndarray
        The labels that the model knows.
    confusion : ndarray of shape (n_classes + 1, n_classes)
        Rows of each class by predicted class; the last line is for unknown labels.
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
        count, codes = len(self.classes), encode_words(labels, self.classes)
        cells = np.bincount(codes * count + predicted, minlength=self.confusion.size)
        self.confusion += cells.reshape(self.confusion.shape)
        if activations.ndim == 1:
            self.activations.append(activations[codes < 2])
            self.positive.append(codes[codes < 2] == 1)

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
        """Return all figures as JSON values."""
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

    def __post_init__(self) -> None:
        self.right, self.said, self.there = np.zeros((3, len(self.classes)), np.int64)

    def add(self, sets: LabelSets, predicted: Array) -> None:
        """Count rows: their labels in words, and which classes were predicted."""
        count, codes = len(self.classes), encode_words(sets.values, self.classes)
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

    def as_dict(self) -> dict[str, Any]:
        """Return all figures as JSON values."""
        return {
            "rows": self.rows,
            "errors": self.errors,
            "micro_f1": self.micro_f1,
            "macro_f1": self.macro_f1,
            "subset_accuracy": 1 - self.score.error,
            "hamming_loss": self.hamming_loss,
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


@dataclass
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
