"""Targets: the meaning of labels, from their encoding and weights to decisions and scores."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from ..parameters import ParameterError
from .labels import LabelSets, check_classes, encode, find_classes, find_codes, number_labels, tidy
from .rows import Array
from .weights import balance, class_weights, row_weights


@dataclass
class Score:
    """Counts of rows and of wrong predictions.

    A row with several labels is right if all of them are. ``hits`` counts the labels that were
    predicted rightly, ``labels`` the predicted plus the true ones.
    """

    rows: int = 0
    errors: int = 0
    hits: int = 0
    labels: int = 0

    @property
    def error(self) -> float:
        """The share of wrong rows."""
        return self.errors / self.rows if self.rows else float("nan")

    @property
    def micro_f1(self) -> float | None:
        """F1 over all labels of all rows, where these may have several."""
        return 2 * self.hits / self.labels if self.labels else None

    def add(self, rows: int, errors: int, hits: int = 0, labels: int = 0) -> None:
        """Count more rows."""
        self.rows += rows
        self.errors += errors
        self.hits += hits
        self.labels += labels

    def compare(self, predicted: Array, codes: Array) -> None:
        """Count rows by their predictions: class numbers, or flags per label."""
        if codes.ndim == 1:
            self.add(len(codes), int(np.count_nonzero(predicted != codes)))
            return
        others = codes.shape[1] - predicted.shape[1]  # labels that are no classes
        predicted = np.pad(predicted, ((0, 0), (0, others)))
        wrong = np.count_nonzero((predicted != codes).any(axis=1))
        hits, labels = np.count_nonzero(predicted & codes), np.count_nonzero([predicted, codes])
        self.add(len(codes), int(wrong), int(hits), int(labels))

    def as_dict(self) -> dict[str, int]:
        """The counts as JSON values."""
        counts = asdict(self)
        return counts if self.labels else {name: counts[name] for name in ("rows", "errors")}


@dataclass(frozen=True)
class ClassTarget:
    """One of some classes for each row; its code is the number of the class.

    Attributes
    ----------
    classes
        The labels, sorted.
    class_weight
        The weight of each class, if they differ.
    label_sets
        Whether a row may have any number of labels.
    """

    classes: Array
    class_weight: Array | None = None
    label_sets: ClassVar[bool] = False

    def encode(self, labels: Any, first_row: int = 0, held: Array | None = None) -> Array:
        """The class number of each label; -1 for other labels of rows that are held out.

        ``first_row`` is the number of the first row, for errors, and ``held`` flags the rows that
        are held out.
        """
        return number_labels(tidy(labels), self.classes, first_row + 1, held=held)

    def weigh(self, codes: Array, sample_weight: ArrayLike | None) -> Array | None:
        """Sample weights times class weights, or None if all are 1."""
        given = self.class_weight
        return row_weights(codes, sample_weight, None if np.all(given == 1) else given)

    def decide(self, scores: Array, ties: str = "mistake") -> Array:
        """The class with the highest score, or of the sign for two classes."""
        if len(self.classes) == 1:
            return np.zeros(len(scores), np.intp)
        return choose_class(scores, ties)

    def new_score(self) -> Score:
        """Count wrong rows."""
        return Score()

    def describe_weights(self) -> dict[str, Any]:
        """The weights of the classes by label, as a parameter; nothing if there are none."""
        if self.class_weight is None:
            return {}
        pairs = zip(self.classes.tolist(), self.class_weight.tolist(), strict=True)
        return {"class_weight": dict(pairs)}


@dataclass(frozen=True)
class LabelSetTarget(ClassTarget):
    """Any number of labels for each row; its code is a flag per class."""

    label_sets: ClassVar[bool] = True

    def encode(self, labels: LabelSets, first_row: int = 0, held: Array | None = None) -> Array:
        """Flag the classes of each row; other labels share one more column."""
        values, count = tidy(labels.values), len(self.classes)
        codes = number_labels(values, self.classes, first_row + 1, rows=labels.rows, held=held)
        others = bool(np.any(codes < 0))
        return labels.indicator(np.where(codes < 0, count, codes), count + others)

    def decide(self, scores: Array, ties: str = "mistake") -> Array:
        """Flag the labels with a positive score."""
        return is_positive(scores, ties)


@dataclass(frozen=True)
class NumberTarget:
    """A number for each row; its code is (number - center) / scale."""

    center: float = 0.0
    scale: float = 1.0
    classes: ClassVar[Array] = np.empty(0)
    label_sets: ClassVar[bool] = False

    def encode(self, labels: Any, first_row: int = 0, held: Array | None = None) -> Array:
        """The code of each number."""
        return (np.asarray(labels, np.float64) - self.center) / self.scale

    def weigh(self, codes: Array, sample_weight: ArrayLike | None) -> Array | None:
        """Sample weights, or None if all are 1."""
        return row_weights(codes, sample_weight, None)

    def decide(self, scores: Array, ties: str = "mistake") -> Array:
        """The numbers that scores stand for."""
        return np.asarray(self.center + self.scale * scores.astype(np.float64))

    def describe_weights(self) -> dict[str, Any]:
        """Nothing: there are no weights of classes."""
        return {}

    def as_dict(self) -> dict[str, float]:
        """Center and scale, as a model file has them."""
        return asdict(self)


def compute_r2(errors: Array, numbers: Array) -> float:
    """The share of the variance of numbers that predictions with these errors explain.

    >>> compute_r2(np.array([1.0, -1.0]), np.array([0.0, 4.0]))
    0.75
    """
    rest = float(np.square(errors).sum())
    variance = float(np.square(numbers - numbers.mean()).sum())
    return 1.0 - rest / variance if variance else float(rest == 0)


def choose_class(scores: Array, ties: str = "mistake") -> Array:
    """The class with the highest score, or of the sign for two classes."""
    if scores.ndim == 2:
        return np.asarray(scores.argmax(axis=1))
    return is_positive(scores, ties).astype(np.intp)


def is_positive(scores: Array, ties: str = "mistake") -> Array:
    """Whether scores of two classes decide for the second."""
    return np.asarray(scores >= 0 if ties == "positive" else scores > 0)


def make_target(classes: Array, label_sets: bool, class_weight: Array | None = None) -> ClassTarget:
    """The target of some classes."""
    return (LabelSetTarget if label_sets else ClassTarget)(classes, class_weight)


@dataclass
class LabelCounts:
    """Counts of each label; those of several parts of the data add up.

    ``label_sets`` says whether rows may have any number of labels.
    """

    counts: dict[Any, int] = field(default_factory=dict)
    label_sets: bool = False
    dtype: Any = float

    def add(self, labels: Any, learnt: Array) -> Self:
        """Count the labels of the rows that are learned from."""
        self.label_sets = isinstance(labels, LabelSets)
        values = labels.values[learnt[labels.rows]] if self.label_sets else labels[learnt]
        kinds, codes = encode(values)
        for label, count in zip(kinds.tolist(), np.bincount(codes).tolist(), strict=True):
            self.counts[label] = self.counts.get(label, 0) + count
        self.dtype = values.dtype
        return self

    def target(
        self, parameters: Mapping[str, Any], named: tuple[Any, ...] | None, known: Array | None
    ) -> ClassTarget:
        """The target of the counted labels, unless classes are named or known."""
        if self.label_sets:
            refuse_for_label_sets(parameters)
        met, least = np.array(list(self.counts), self.dtype), 1 if self.label_sets else 2
        if known is not None:
            classes = known
        elif named is not None:
            classes = check_classes(named, met.dtype, least)
        else:
            classes = find_classes(met, least)
        weight = parameters["class_weight"]
        if isinstance(weight, str) and weight == "balanced":
            codes = find_codes(tidy(met), classes)  # others are named with their row when they come
            each = np.array(list(self.counts.values()))[codes >= 0]
            counts = np.bincount(codes[codes >= 0], each, len(classes))
            return make_target(classes, self.label_sets, balance(classes, counts))
        weights = class_weights(weight, classes, np.zeros(0, np.intp))
        return make_target(classes, self.label_sets, weights)


def refuse_for_label_sets(parameters: Mapping[str, Any]) -> None:
    """Refuse parameters without a meaning for label sets."""
    for name in "class_weight", "calibrate":
        if parameters[name]:
            raise ParameterError(
                f"{{{name}?}} is for rows of one label each, and these may have several; leave it "
                "out.",
                code="labels-option",
            )
