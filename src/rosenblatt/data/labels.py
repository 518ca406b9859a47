"""Labels become numbers; rows and classes get weights; some rows are held out."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..kernels.algebra import mix
from ..parameters import ParameterError
from .rows import Array

MOST_NUMBERS = 1000  # as labels; more look like measurements
LARGEST_LABEL = 2**53  # from here on floats skip integers


class UnknownLabelError(ParameterError):
    """A label that is not among the classes."""


def encode(y: Array) -> tuple[Array, Array]:
    """The sorted distinct labels, and for each label its number among them.

    >>> encode(np.array([3, 1, 3]))[1].tolist()
    [1, 0, 1]
    """
    if y.dtype.kind in "iu" and len(y):
        lowest, highest = y.min(), y.max()
        upper = y == highest
        if lowest < highest and np.count_nonzero(upper) + np.count_nonzero(y == lowest) == len(y):
            return np.array([lowest, highest]), upper.view(np.int8)
        if int(highest) - int(lowest) < max(256, len(y)):  # counting is faster than sorting
            offsets = (y.astype(np.int64, copy=False) if y.dtype.kind == "i" else y) - lowest
            offsets = offsets.astype(np.intp, copy=False)
            present = np.bincount(offsets) > 0
            numbers = np.cumsum(present) - 1
            return np.flatnonzero(present).astype(y.dtype) + lowest, numbers[offsets]
    classes, codes = np.unique(y, return_inverse=True)
    return classes, codes


def codes_of(
    labels: Array, classes: Array, first_row: int = 0, where: str = "", rows: Array | None = None
) -> Array:
    """Each label's number among the classes.

    Parameters
    ----------
    labels, classes
        The latter sorted.
    first_row
        What the first row is called in an error.
    where
        What the rows belong to, with a blank behind, for an error.
    rows
        The row of each label, where that is not one after the other.
    """
    if len(classes) == 2 and labels.dtype.kind in "iub" and classes.dtype.kind in "iub":
        upper = labels == classes[1]
        if (upper | (labels == classes[0])).all():
            return np.asarray(upper.view(np.int8))
    codes = np.clip(np.searchsorted(classes, labels), 0, len(classes) - 1)
    unknown = np.flatnonzero(classes[codes] != labels)
    if len(unknown):
        listed = classes.tolist() if len(classes) <= 20 else [*classes[:20].tolist(), "…"]
        row = first_row + (unknown if rows is None else rows[unknown])[0]
        raise UnknownLabelError(
            f"{where}Row {row} has the label {labels.tolist()[unknown[0]]!r}, "
            f"which is not among the classes {listed}; name all labels with {{classes?}}."
        )
    return codes


def tidy(labels: Array) -> Array:
    """Labels of a file as integers where they are whole, and words as words."""
    if labels.dtype.kind == "f" and np.all(labels == np.round(labels)):
        return labels.astype(np.int64)
    return labels.astype(str) if labels.dtype == object else labels


def as_words(labels: Array, classes: Array) -> Array:
    """Labels written as a model writes its classes."""
    if labels.dtype.kind == "f" and classes.dtype.kind in "iu":
        whole = labels == np.round(labels)
        return np.where(whole, labels.astype(np.int64).astype(str), labels.astype(str))
    return labels.astype(str)


def known_classes(named: Iterable[Any], dtype: Any = None, least: int = 2) -> Array:
    """The classes that were named, sorted, if need be as what the labels of a file are."""
    given = np.asarray(named if isinstance(named, np.ndarray) else list(named))
    try:
        classes = given if dtype is None else tidy(as_kind(given, np.dtype(dtype)))
    except ValueError:
        listed = ", ".join(map(str, given))
        are = "True or False" if np.dtype(dtype).kind == "b" else "numbers below 2^53"
        raise ParameterError(
            f"{{classes?}} {listed} are not all {are}, as the labels of the file are."
        ) from None
    if classes.dtype.kind == "f" and not np.isfinite(classes).all():
        raise ParameterError("{classes?} contains NaN or infinity; labels must be known.")
    classes = np.unique(classes)
    if len(classes) < least:
        raise ParameterError("{classes?} must name at least two different labels.")
    return classes


def as_kind(given: Array, dtype: np.dtype[Any]) -> Array:
    """Classes that were typed as words, as the numbers or words that labels are."""
    if given.dtype.kind not in "US":
        return given
    words = np.array([str(word).strip() for word in given])
    if dtype.kind == "b":
        if not np.isin(words, ["True", "False"]).all():
            raise ValueError("not truth values")
        return np.asarray(words == "True")
    if dtype.kind not in "iuf":
        return words
    numbers = words.astype(np.float64)
    if not np.all(np.abs(numbers) < LARGEST_LABEL):
        raise ValueError("too large")
    return numbers


def met_classes(labels: Array, least: int = 2) -> Array:
    """The distinct labels of a file, sorted; there must be so many, and not too many."""
    classes = np.unique(tidy(labels))
    if not len(classes):
        raise UnknownLabelError("No row has a label; name all labels with {classes?}.")
    if len(classes) < least:
        raise UnknownLabelError(
            f"Only the label {classes[0]} was met; a model needs two (name more with {{classes?}})."
        )
    if labels.dtype.kind in "iuf" and len(classes) > MOST_NUMBERS:
        raise ParameterError(
            f"{len(classes)} different numbers as labels look like no classes; name another column "
            "with {label?}."
        )
    return classes


# Rows of several labels


@dataclass(frozen=True, eq=False)
class LabelSets:
    """The labels of rows that may have several, or none: row i those from starts[i] to its end.

    Going through it gives the labels of each row, as scikit-learn's ``MultiLabelBinarizer`` takes
    them.
    """

    values: Array
    starts: Array

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        values = self.values.tolist()
        return (tuple(values[begin:end]) for begin, end in pairwise(self.starts.tolist()))

    def __getitem__(self, some: slice) -> "LabelSets":
        first, stop, _ = some.indices(len(self))
        starts = self.starts[first : stop + 1]
        return LabelSets(self.values[starts[0] : starts[-1]], starts - starts[0])

    @property
    def nbytes(self) -> int:
        """How much memory it takes."""
        return self.values.nbytes + self.starts.nbytes

    @property
    def rows(self) -> Array:
        """The row of each label."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))

    def indicator(self, codes: Array, n_classes: int) -> Array:
        """Whether each row has each class, by the number of each label; more than once is once."""
        has = np.zeros((len(self), n_classes), bool, order="F")
        has[self.rows, codes] = True
        return has


def in_sequence(parts: list[Any]) -> Any:
    """The labels of several batches as those of one."""
    if not isinstance(parts[0], LabelSets):
        return np.concatenate(parts)
    counts = np.concatenate([np.diff(part.starts) for part in parts])
    values = np.concatenate([part.values for part in parts])
    return LabelSets(values, np.append(0, np.cumsum(counts)))


def has_class(codes: Array, number: int) -> Array:
    """Whether each row is of a class, by the number of its class or by those that it has."""
    return np.asarray(codes == number if codes.ndim == 1 else codes[:, number])


# Weights


def row_weights(
    codes: Array, sample_weight: ArrayLike | None, of_class: Array | None
) -> Array | None:
    """Sample weights times class weights, or None when all are 1."""
    if sample_weight is None:
        return None if of_class is None else of_class[codes]
    weights = np.asarray(sample_weight, np.float64)
    if weights.ndim == 0:
        weights = np.full(len(codes), float(weights))
    if weights.shape != codes.shape[:1]:
        raise ValueError(
            f"sample_weight has shape {weights.shape}; X has {len(codes)} rows, and each needs one "
            "weight."
        )
    bad = np.flatnonzero(~(weights >= 0) | np.isinf(weights))
    if len(bad):
        raise ValueError(
            f"sample_weight is {weights[bad[0]]} in row {bad[0]}; weights must be finite and not "
            "negative."
        )
    return weights if of_class is None else weights * of_class[codes]


def class_weights(class_weight: Any, classes: Array, codes: Array) -> Array | None:
    """The weight of each class: as given by label, or by its rarity among the rows."""
    if class_weight is None:
        return None
    if isinstance(class_weight, str) and class_weight == "balanced":
        return balanced(classes, np.bincount(codes, minlength=len(classes)))
    if not isinstance(class_weight, Mapping):
        raise ParameterError(
            f'{{class_weight?}} must be a dict, "balanced" or None; got {class_weight!r}.'
        )
    known = classes.tolist()
    forgotten = [label for label in known if label not in class_weight]
    if forgotten and set(class_weight) - set(known):  # a slip of the pen, most likely
        raise ParameterError(f"The classes {forgotten} are not in {{class_weight?}}.")
    weights = np.array([class_weight.get(label, 1.0) for label in known], np.float64)
    if not np.all((weights >= 0) & (weights < np.inf)):
        raise ParameterError("{class_weight?} must give finite weights that are not negative.")
    return weights


def balanced(classes: Array, counts: Array) -> Array:
    """Weights by the rarity of each class, so that all weigh the same."""
    if not counts.all():
        missing = classes.tolist()[np.argmin(counts)]
        raise ValueError(f"No row has the label {missing!r} to balance.")
    return np.asarray(counts.sum() / (len(classes) * counts))


def rows_that_count(codes: Array, weights: Array | None) -> Array:
    """The numbers of the rows that weigh something."""
    if weights is None:
        return np.arange(len(codes), dtype=np.uint32)
    return np.flatnonzero(weights > 0).astype(np.uint32)


def refuse_one_class(codes: Array, counting: Array) -> None:
    """Refuse to learn from rows of one class alone, where each row has one."""
    if not len(counting):
        raise ValueError("All sample weights are zero, so there is no row to learn from.")
    if codes.ndim == 1 and np.all(codes[counting] == codes[counting[0]]):
        raise ValueError("Only one class has rows of a weight above 0; at least two must.")


# Rows to test with


def held_out(first_row: int, n_rows: int, share: float, seed: int) -> Array:
    """Which of the rows from some row on are not learnt from: a coin per row number and seed."""
    numbers = np.arange(first_row + 1, first_row + n_rows + 1, dtype=np.uint64)
    numbers = numbers * np.uint64(0x9E3779B97F4A7C15) + np.uint64(seed << 32)
    coins = mix.py_func(numbers)  # it takes arrays, too
    return np.asarray(coins < np.uint64(share * 2.0**64))


def split(counting: Array, codes: Array, share: float, random_state: Any) -> tuple[Array, Array]:
    """The rows to learn from and those to hold out, with the same share of each class.

    Of rows of several labels, any.
    """
    from sklearn.model_selection import train_test_split

    try:
        learnt, held = train_test_split(
            counting,
            test_size=share,
            stratify=codes[counting] if codes.ndim == 1 else None,
            random_state=random_state,
        )
    except ValueError as error:
        raise ValueError(f"Rows cannot be held out: {error}") from None
    return np.sort(learnt), held
