"""Targets: the meaning of labels, from their encoding and weights to decisions and scores."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from ..parameters import InputError, ParameterError
from .labels import LabelSets, check_classes, encode, find_classes, find_codes, number_labels, tidy
from .results import Result, count, plain
from .rows import Array
from .weights import class_weights, row_weights


@dataclass
class Score:
    """Counts of rows and of wrong predictions.

    Attributes
    ----------
    rows, errors
        A row with several labels is right if all of them are.
    hits, labels
        Of label sets, the labels that were predicted rightly, and the predicted plus the true ones.
    distance
        The sum of the differences of ranks; None if labels are not ranks.
    unknown
        The rows whose label is not a rank: these are wrong, and have no difference.
    """

    rows: int = 0
    errors: int = 0
    hits: int = 0
    labels: int = 0
    distance: int | None = None
    unknown: int = 0

    @property
    def error(self) -> float:
        """The share of wrong rows."""
        return self.errors / self.rows if self.rows else float("nan")

    @property
    def micro_f1(self) -> float | None:
        """F1 over all labels of all rows, where these may have several."""
        return 2 * self.hits / self.labels if self.labels else None

    @property
    def rank_error(self) -> float:
        """The mean difference of ranks, of the rows that have a rank."""
        known = self.rows - self.unknown
        return (self.distance or 0) / known if known else float("nan")

    def compare(self, predicted: Array, codes: Array) -> None:
        """Count rows by their predictions: class numbers, ranks, or flags per label."""
        if codes.ndim == 2:
            others = codes.shape[1] - predicted.shape[1]  # labels that are no classes
            predicted = np.pad(predicted, ((0, 0), (0, others)))
            self.hits += int(np.count_nonzero(predicted & codes))
            self.labels += int(np.count_nonzero([predicted, codes]))
        wrong = predicted != codes
        self.rows += len(codes)
        self.errors += int(np.count_nonzero(wrong.any(axis=1) if wrong.ndim == 2 else wrong))
        if self.distance is not None:
            self.distance += int(np.abs(predicted - codes).sum())

    @classmethod
    def sum(cls, parts: "Sequence[Score]") -> Self:
        """The counts of several parts together."""
        counts = zip(*map(astuple, parts), strict=True)
        totals: Any = (None if None in each else sum(each) for each in counts)
        return cls(*totals)

    def headline(self, counts: Sequence[int] = ()) -> str:
        """The error in words; of label sets also F1, of ranks their mean difference.

        ``counts`` are the rows of each class; the error of always predicting the most frequent one
        stands beside it.
        """
        text = "" if self.distance is None else f"rank error {self.rank_error:.4f}; "
        text += f"error {self.error:.2%}: {self.errors:,} of {count(self.rows, 'row')}"
        if self.micro_f1 is not None:
            return f"{text} without exactly their labels; micro F1 {self.micro_f1:.4f}"
        if sum(counts):
            text += f" (majority baseline: {1 - max(counts) / sum(counts):.2%})"
        return text

    def as_dict(self) -> dict[str, Any]:
        """The counts as JSON values."""
        names = ["rows", "errors", *(["hits", "labels"] if self.labels else [])]
        names += [] if self.distance is None else ["distance"]
        return {name: getattr(self, name) for name in names}


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

    def class_nonconformity(self, scores: Array) -> Array:
        """By how much the best other class leads over each class, one column per class.

        It is negative for the predicted class.

        >>> ClassTarget(np.arange(3)).class_nonconformity(np.array([[1.0, 4.0, 2.5]])).tolist()
        [[3.0, -1.5, 1.5]]
        """
        given = scores.astype(np.float64)
        if given.ndim == 1:
            return np.column_stack([given, -given])
        best, rows = given.argmax(axis=1), np.arange(len(given))
        second, first = np.partition(given, -2, axis=1)[:, -2:].T
        rivals = np.repeat(first[:, None], given.shape[1], axis=1)
        rivals[rows, best] = second
        return np.asarray(rivals - given)

    def nonconformity(self, scores: Array, codes: Array) -> Array:
        """By how much the best other class leads over the class of each row."""
        rows = np.arange(len(codes))
        return np.asarray(self.class_nonconformity(scores)[rows, codes.astype(np.intp)])

    def row_errors(self, scores: Array, codes: Array, ties: str = "mistake") -> Array:
        """Whether each row is wrong; for label sets, the share of its flags that are."""
        wrong = self.decide(scores, ties) != codes
        return np.asarray(wrong if wrong.ndim == 1 else wrong.mean(axis=1))

    def as_parameters(self) -> dict[str, Any]:
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
        return np.asarray(is_positive(scores, ties))


@dataclass(frozen=True)
class RankTarget(ClassTarget):
    """One of some classes in a stated order for each row; its code is the rank, from 0.

    Thresholds divide the line of activations w·x into ranks. Scores are those of ``score_ranks``.
    """

    def encode(self, labels: Any, first_row: int = 0, held: Array | None = None) -> Array:
        """The rank of each label; other labels are refused, also of rows that are held out."""
        return number_labels(tidy(labels), self.classes, first_row + 1, option="ordinal")

    def decide(self, scores: Array, ties: str = "mistake") -> Array:
        """The highest rank up to which no score is lower than the one before."""
        if scores.ndim == 1:
            return (scores >= 0).astype(np.intp)
        rises = np.diff(scores, axis=1) >= 0
        return np.asarray(np.logical_and.accumulate(rises, axis=1).sum(axis=1))

    def new_score(self) -> Score:
        """Count wrong rows and differences of ranks."""
        return Score(distance=0)

    def as_parameters(self) -> dict[str, Any]:
        """The labels in their order, and the weights of the classes if there are any."""
        return {"ranks": self.classes.tolist(), **super().as_parameters()}


def score_ranks(activations: Array, biases: Array) -> Array:
    """Scores with a column per rank, the largest for the predicted one; of two ranks w·x + b.

    The score of a rank is the sum of w·x + b over the biases b up to it. These never increase, so
    scores rise as long as w·x is above the thresholds -b, and fall from there on.

    >>> score_ranks(np.array([1.0, -3.0]), np.array([2.0, 0.0])).tolist()
    [[0.0, 3.0, 4.0], [0.0, -1.0, -4.0]]
    """
    if len(biases) == 1:
        return np.asarray(activations + biases[0])
    steps = activations[:, None].astype(np.float64) + biases
    return np.pad(np.cumsum(steps, axis=1), ((0, 0), (1, 0)))


@dataclass(frozen=True)
class NumberTarget:
    """A number for each row; its code is (number - center) / scale.

    Attributes
    ----------
    center, scale
        The mean and the standard deviation of the numbers in training, or 0 and 1.
    median
        The median of the numbers in training, which is a baseline for predictions.
    """

    center: float = 0.0
    scale: float = 1.0
    median: float = 0.0
    classes: ClassVar[Array] = np.empty(0)
    label_sets: ClassVar[bool] = False

    @classmethod
    def measure(cls, labels: Any, learnt: Array) -> Self:
        """The target of a file, by its first labels; ``learnt`` flags those to learn from."""
        numbers = as_numbers(labels)[learnt]
        if not len(numbers):
            raise InputError("There are no rows to learn from.", code="no-rows")
        return cls.of(float(numbers.mean()), float(numbers.std()), float(np.median(numbers)))

    @classmethod
    def of(cls, mean: float, deviation: float, median: float) -> Self:
        """The target of numbers with these statistics."""
        return cls(mean, deviation if 0 < deviation < np.inf else 1.0, median)

    def encode(self, labels: Any, first_row: int = 0, held: Array | None = None) -> Array:
        """The code of each number; ``first_row`` is the number of the first row, for errors."""
        return np.asarray((as_numbers(labels, first_row) - self.center) / self.scale)

    def decide(self, scores: Array, ties: str = "mistake") -> Array:
        """The numbers that scores stand for."""
        return np.asarray(self.center + self.scale * scores.astype(np.float64))

    def row_errors(self, scores: Array, codes: Array, ties: str = "mistake") -> Array:
        """The absolute error of each row, in the unit of the numbers."""
        return np.asarray(np.abs(scores - codes) * self.scale)

    def new_score(self) -> "NumberScore":
        """Add up errors."""
        return NumberScore(self)

    def nonconformity(self, scores: Array, codes: Array) -> Array:
        """The absolute error of each row, in the scale of the codes."""
        return np.abs(scores.astype(np.float64) - codes)

    def weigh(self, codes: Array, sample_weight: ArrayLike | None) -> Array | None:
        """Sample weights, or None if all are 1."""
        return row_weights(codes, sample_weight, None)

    def as_parameters(self) -> dict[str, Any]:
        """Nothing: there are no weights of classes, and no ranks."""
        return {}

    def as_dict(self) -> dict[str, float]:
        """Center and scale, as a model file has them."""
        return asdict(self)


def as_numbers(labels: Any, first_row: int = 0) -> Array:
    """Labels as numbers; words and numbers that are not finite are refused, with their row."""
    try:
        numbers = np.asarray(labels, np.float64)
        bad = np.flatnonzero(~np.isfinite(numbers))
    except (TypeError, ValueError):
        numbers, bad = np.empty(0), np.array([0])
    if len(bad):
        row = first_row + int(bad[0]) + 1
        raise InputError(
            f"Row {row} has the label {labels.tolist()[bad[0]]!r}; expected a finite number, as "
            "label holds numbers. Write it plainly, such as 1234.5.",
            code="label-not-a-number",
            line=row,
        )
    return numbers


class NumberScore(Result):
    """Sums of the errors of predicted numbers, and of those of two baselines.

    The baselines predict the mean or the median of the training rows for every row.
    """

    in_headline = frozenset(("mae", "rmse", "r2", "median_mae", "mean_rmse"))

    def __init__(self, target: NumberTarget) -> None:
        self.target, self.rows, self.parts = target, 0, tuple[NumberScore, ...]()
        self.sums = np.zeros(5)  # of |error|, error², offset, offset² and |error of the median|

    def compare(self, predicted: Array, codes: Array) -> None:
        """Add rows by their predictions, and by the codes of their numbers."""
        numbers, target = self.target.decide(codes), self.target
        errors, offsets = predicted - numbers, numbers - target.center
        of_median = np.abs(numbers - target.median)
        each = np.abs(errors), np.square(errors), offsets, np.square(offsets), of_median
        self.rows += len(numbers)
        self.sums += [one.sum() for one in each]

    @classmethod
    def pool(cls, parts: Sequence["NumberScore"]) -> "NumberScore":
        """The score of the rows of all parts, which one model predicted."""
        whole = NumberScore(parts[0].target)
        for part in parts:
            whole.rows += part.rows
            whole.sums += part.sums
        return whole

    @classmethod
    def sum(cls, parts: Sequence["NumberScore"]) -> "NumberScore":
        """The score of the rows of all parts, each predicted by another model."""
        whole = cls.pool(parts)
        whole.parts = tuple(parts)
        return whole

    @property
    def variation(self) -> float:
        """The sum of squared distances of the numbers from their mean, within each part."""
        if self.parts:
            return sum(part.variation for part in self.parts)
        _, _, total, squares, _ = self.sums.tolist()
        return float(squares - total**2 / max(self.rows, 1))

    def counts(self) -> dict[str, Any]:
        """The number of rows."""
        return {"rows": self.rows}

    def figures(self) -> dict[str, float]:
        """Mean absolute and root mean squared error, R², and the errors of the baselines."""
        rows, variation = self.rows or float("nan"), self.variation
        absolute, squared, _, of_mean, of_median = self.sums.tolist()
        return {
            "mae": absolute / rows,
            "rmse": float(np.sqrt(squared / rows)),
            "r2": 1.0 - squared / variation if variation > 0 else float(squared == 0),
            "median_mae": of_median / rows,
            "mean_rmse": float(np.sqrt(of_mean / rows)),
        }

    def headline(self, counts: Sequence[int] = ()) -> str:
        """The errors beside those of the baselines, in a line; ``counts`` are of classes."""
        return summarize_score({**self.counts(), **self.figures()})


def summarize_score(score: Mapping[str, Any], counts: Sequence[int] = ()) -> str:
    """The headline of a score that ``as_dict`` wrote.

    >>> known = {"rows": 1000, "mae": 0.5, "rmse": 0.75, "r2": 0.61}
    >>> summarize_score(known | {"median_mae": 0.9, "mean_rmse": 1.2})
    'MAE 0.5, RMSE 0.75, R² 0.6100 on 1,000 rows (the median for all: MAE 0.9; the mean: RMSE 1.2)'
    """
    if "errors" in score:
        return Score(**score).headline(counts)
    return (
        f"MAE {plain(score['mae'])}, RMSE {plain(score['rmse'])}, R² {score['r2']:.4f} on "
        f"{count(score['rows'], 'row')} (the median for all: MAE {plain(score['median_mae'])}; "
        f"the mean: RMSE {plain(score['mean_rmse'])})"
    )


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
    return np.asarray(is_positive(scores, ties)).astype(np.intp)


def is_positive(scores: Any, ties: str = "mistake") -> Any:
    """Whether scores of two classes, or one, decide for the second."""
    return scores >= 0 if ties == "positive" else scores > 0


def make_target(
    classes: Array, label_sets: bool, class_weight: Array | None = None, kind: Any = ClassTarget
) -> ClassTarget:
    """The target of some classes, or of sets of them."""
    made: ClassTarget = (LabelSetTarget if label_sets else kind)(classes, class_weight)
    return made


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
        for label, rows in zip(kinds.tolist(), np.bincount(codes).tolist(), strict=True):
            self.counts[label] = self.counts.get(label, 0) + rows
        self.dtype = values.dtype
        return self

    @property
    def labels(self) -> Array:
        """The different labels."""
        return np.array(list(self.counts), self.dtype)

    def target(
        self, parameters: Mapping[str, Any], named: tuple[Any, ...] | None, known: Array | None
    ) -> ClassTarget:
        """The target of the counted labels, unless classes are named or known.

        A parameter ``ranks`` names the classes in their order.
        """
        if self.label_sets:
            refuse_for_label_sets(parameters)
        met, least = self.labels, 1 if self.label_sets else 2
        ranks = parameters.get("ranks")
        if known is not None:
            classes = known
        elif ranks is not None:
            classes = check_classes(ranks, met.dtype, option="ordinal")
        elif named is not None:
            classes = check_classes(named, met.dtype, least)
        else:
            classes = find_classes(met, least)
        codes = find_codes(tidy(met), classes)
        known = codes >= 0  # others are named with their row when they come
        counts = np.array(list(self.counts.values()))[known]
        weights = class_weights(parameters["class_weight"], classes, codes[known], counts)
        kind = ClassTarget if ranks is None else RankTarget
        return make_target(classes, self.label_sets, weights, kind)


def refuse_for_label_sets(parameters: Mapping[str, Any]) -> None:
    """Refuse parameters without a meaning for label sets."""
    for name in "class_weight", "calibrate":
        if parameters[name]:
            raise ParameterError(
                f"{name} is for rows of one label each, but these may have several; leave it out.",
                code="labels-option",
            )
