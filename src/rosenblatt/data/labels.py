"""Class numbers of labels, and sets of labels."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from numbers import Complex, Real
from typing import Any

import numpy as np

from ..parameters import InputError, ParameterError
from .rows import Array

MOST_NUMBERS = 1000  # as labels; more look like measurements
LARGEST_LABEL = 2**53  # from here on floats skip integers


class UnknownLabelError(ParameterError):
    """Raised for a label that is not one of the classes."""


def encode(y: Array) -> tuple[Array, Array]:
    """The sorted distinct labels, and for each label its number among them.

    >>> encode(np.array([3, 1, 3]))[1].tolist()
    [1, 0, 1]
    """
    if y.dtype.kind == "f" and len(y) and -LARGEST_LABEL <= y.min() <= y.max() <= LARGEST_LABEL:
        whole = y.astype(np.int64)
        if (whole == y).all():
            classes, codes = encode(whole)
            return classes.astype(y.dtype), codes
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


def number_labels(
    labels: Array,
    classes: Array,
    first_row: int = 0,
    rows: Array | None = None,
    held: Array | None = None,
    option: str = "classes",
) -> Array:
    """The class number of each label; a label that is not a class raises.

    Parameters
    ----------
    labels, classes
        The labels, and the classes.
    first_row
        The number of the first row, for errors.
    rows
        The row of each label, unless every row has one.
    held
        Flags of held-out rows, whose labels get -1 if they are not classes.
    option
        The parameter that names the classes.
    """
    codes = find_codes(labels, classes)
    known = False if held is None else held if rows is None else held[rows]
    unknown = np.flatnonzero((codes < 0) & ~np.asarray(known))
    if len(unknown):
        listed = ", ".join(f"{label!r:.80}" for label in classes[:20].tolist())
        listed += ", …" * (len(classes) > 20)
        row = first_row + (unknown if rows is None else rows[unknown])[0]
        raise UnknownLabelError(
            f"Row {row} has the label {labels.tolist()[unknown[0]]!r:.80}, "
            f"which is not among the classes [{listed}]; name all labels with {option}.",
            code="unknown-label",
        )
    return codes


def find_codes(labels: Array, classes: Array) -> Array:
    """The class number of each label; -1 for labels that are not classes.

    >>> find_codes(np.array([7, 1, 2]), np.array([1, 7])).tolist()
    [1, 0, -1]
    >>> find_codes(np.array(["low", "high"]), np.array(["low", "medium", "high"])).tolist()
    [0, 2]
    """
    kinds = {labels.dtype.kind, classes.dtype.kind}
    if len(classes) == 2 and (kinds <= set("iub") or kinds == {"U"}):
        upper = labels == classes[1]
        if (upper | (labels == classes[0])).all():
            return np.asarray(upper.view(np.int8))
    if labels.dtype.kind == "O":  # comparing objects one by one takes ten times as long
        numbers = {label: code for code, label in enumerate(classes.tolist())}
        return np.array([numbers.get(label, -1) for label in labels.tolist()], np.intp)
    order = np.argsort(classes)  # ranks are not sorted
    places = np.searchsorted(classes, labels, sorter=order)
    codes = order[np.clip(places, 0, len(classes) - 1)]
    return np.where(classes[codes] == labels, codes, -1)


def make_labels(given: Any, name: str = "y") -> Array:
    """Convert labels to an array of words, numbers or truth values; refuse others, with the row.

    An array of several columns is returned as it is.

    >>> make_labels(np.array([1, 2], object)).dtype.kind
    'i'
    """
    try:
        labels = given if isinstance(given, np.ndarray) else np.asarray(given)
    except ValueError:  # lists of different lengths
        labels = np.fromiter(given, object, len(given))
    kind = labels.dtype.kind
    if labels.ndim != 1 or kind in "biu" or (kind == "U" and labels is given):
        return labels
    if kind == "f":
        refuse_missing(name, labels, np.flatnonzero(~np.isfinite(labels)))
        return labels
    values = list(given)  # NumPy makes words of all values in a list
    refuse_missing(name, values, [row for row, one in enumerate(values) if is_missing(one)])
    if not are_words(name, values):
        return np.asarray(values)
    for row, word in enumerate(values if kind == "U" else ()):
        if word.endswith("\0"):  # NumPy would drop it
            sentence = f"Row {row} of {name} is {word[-40:]!r}, which ends in a NUL character"
            raise InputError(f"{sentence}; remove it.", code="nul-byte", line=row)
    return labels


def refuse_missing(name: str, labels: Any, rows: Any) -> None:
    """Refuse labels if there are ``rows`` whose label is missing or infinite."""
    for row in rows:
        label = labels[row]
        what = "infinity" if isinstance(label, float) and label in (np.inf, -np.inf) else "NaN"
        raise InputError(
            f"Input {name} contains {what}: row {row} is {label}. Leave such rows out of X and y, "
            f"for example with keep = pandas.notna({name}), X[keep] and y[keep].",
            code="missing-label",
            line=int(row),
        )


def are_words(name: str, values: list[Any]) -> bool:
    """Whether values are words; refuse any that are not all words or all numbers."""
    kinds = {one: describe_type(one) for one in set(map(type, values))}
    if any(issubclass(one, Complex) and not kinds[one] for one in kinds):
        raise InputError(f"Complex data not supported: {name} has such values.", code="label-type")
    for row, value in enumerate(values):
        if kinds[type(value)] == "":
            fault = (
                f"has {value!r:.80}, of type {type(value).__name__}, in row {row}; each row needs "
                "one word, number or truth value. For several labels per row, pass an indicator "
                "matrix of 0 and 1."
            )
        elif kinds[type(value)] != kinds[type(values[0])]:
            fault = (
                f"mixes words and numbers: row 0 is {values[0]!r:.80} and row {row} is "
                f"{value!r:.80}; convert all to one type, for example by str."
            )
        else:
            continue
        raise InputError(f"{name} {fault}", code="label-type", line=row)
    return "word" in kinds.values()


def describe_type(kind: type) -> str:
    """Return "word" or "number" for a type of labels, "" for others."""
    if issubclass(kind, str):
        return "word"
    return "number" if issubclass(kind, Real | Decimal | np.bool_) else ""


def is_missing(label: Any) -> bool:
    """Whether a label is None, NaN, infinite or pandas' NA.

    >>> [is_missing(label) for label in ("a", 1, None, float("nan"))]
    [False, False, True, True]
    """
    if label is None or (isinstance(label, float) and not np.isfinite(label)):
        return True
    return type(label).__name__ in ("NAType", "NaTType")


def tidy(labels: Array) -> Array:
    """Convert whole numbers of a file to integers, and objects to words."""
    if labels.dtype.kind == "f" and np.all(labels == np.round(labels)):
        return labels.astype(np.int64)
    return labels.astype(str) if labels.dtype == object else labels


def as_words(labels: Array, classes: Array) -> Array:
    """Labels as words, written as the classes of a model."""
    if labels.dtype.kind == "f" and classes.dtype.kind in "iu":
        whole = labels == np.round(labels)
        return np.where(whole, labels.astype(np.int64).astype(str), labels.astype(str))
    return labels.astype(str)


def check_classes(
    named: Iterable[Any], dtype: Any = None, least: int = 2, option: str = "classes"
) -> Array:
    """The named classes, sorted; words are converted to the type of a file's labels.

    ``option`` is what named them. Those of "ordinal" and "ranks" keep their order.
    """
    try:
        given = make_labels(named if isinstance(named, np.ndarray) else list(named), option)
    except InputError as error:
        if error.code != "missing-label":
            raise
        raise ParameterError(
            f"{option} contains NaN or infinity; labels must be known.", code="classes-not-finite"
        ) from None
    try:
        classes = given if dtype is None else tidy(convert_words(given, np.dtype(dtype)))
    except ValueError:
        listed = ", ".join(map(str, given))
        are = "True or False" if np.dtype(dtype).kind == "b" else "numbers below 2^53"
        raise ParameterError(
            f"{option} {listed} are not all {are}, as the labels of the file are.",
            code="classes-of-type",
        ) from None
    different = np.unique(classes)
    if len(different) < least:
        raise ParameterError(f"{option} must name at least two different labels.", code="one-class")
    if option == "classes":
        return different
    if len(different) < len(classes):
        raise ParameterError(f"{option} names a label twice.", code="rank-twice")
    return classes


def convert_words(given: Array, dtype: np.dtype[Any]) -> Array:
    """Convert classes given as words to a type of labels."""
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


def find_classes(labels: Array, least: int = 2) -> Array:
    """The distinct labels of a file, sorted; refuse fewer than ``least``, and too many."""
    classes = np.unique(tidy(labels))
    if not len(classes):
        raise UnknownLabelError(
            "No row has a label; name all labels with classes.", code="no-labels"
        )
    if len(classes) < least:
        raise UnknownLabelError(
            f"The data have only the label {classes[0]!s:.80}; a model needs two. Add rows of "
            "others, or name these with classes.",
            code="one-class",
        )
    if labels.dtype.kind in "iuf" and len(classes) > MOST_NUMBERS:
        raise ParameterError(
            f"The labels are {len(classes)} different numbers, too many for classes; name "
            "another column with label, or use numbers to predict numbers.",
            code="labels-are-numbers",
        )
    return classes


# Rows of several labels


@dataclass(frozen=True, eq=False)
class LabelSets:
    """Labels of rows with any number of labels: row i has ``values[starts[i]:starts[i + 1]]``.

    Iterating yields the labels of each row, as scikit-learn's ``MultiLabelBinarizer`` takes them.
    """

    values: Array
    starts: Array

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        values = self.values.tolist()
        return (tuple(values[begin:end]) for begin, end in pairwise(self.starts.tolist()))

    def __getitem__(self, some: slice | Array) -> "LabelSets":
        if not isinstance(some, slice):  # flags
            counts = np.diff(self.starts)[some]
            return LabelSets(self.values[some[self.rows]], np.append(0, np.cumsum(counts)))
        first, stop, _ = some.indices(len(self))
        starts = self.starts[first : stop + 1]
        return LabelSets(self.values[starts[0] : starts[-1]], starts - starts[0])

    @property
    def nbytes(self) -> int:
        """The number of bytes of both arrays."""
        return self.values.nbytes + self.starts.nbytes

    @property
    def rows(self) -> Array:
        """The row of each label."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))

    def indicator(self, codes: Array, n_classes: int) -> Array:
        """A flag per row and class, from the class number of each label."""
        has = np.zeros((len(self), n_classes), bool, order="F")
        has[self.rows, codes] = True
        return has


def check_indicator(y: Any) -> Array:
    """Flags per row and label, from an array or sparse matrix of 0 and 1."""
    given = np.asarray(y.toarray() if hasattr(y, "toarray") else y)
    if not np.isin(given, (0, 1)).all():
        raise InputError(
            f"y has {given.shape[1]} columns and other values than 0 and 1; give one label per "
            "row, or an indicator matrix of 0 and 1.",
            code="not-an-indicator",
        )
    return np.asfortranarray(given, bool)


def join_labels(parts: list[Any]) -> Any:
    """Join the labels of several batches."""
    if not isinstance(parts[0], LabelSets):
        return np.concatenate(parts)
    counts = np.concatenate([np.diff(part.starts) for part in parts])
    values = np.concatenate([part.values for part in parts])
    return LabelSets(values, np.append(0, np.cumsum(counts)))


def has_class(codes: Array, number: int) -> Array:
    """Whether each row has a class; ``codes`` are class numbers or flags."""
    return np.asarray(codes == number if codes.ndim == 1 else codes[:, number])


def count_classes(codes: Array, n_classes: int) -> Array:
    """Count the rows of each class, by the numbers of their classes or by an indicator."""
    if codes.ndim == 2:
        return np.asarray(codes.sum(axis=0, dtype=np.int64))
    if n_classes == 2:  # several times faster
        second = np.count_nonzero(codes)
        return np.array([len(codes) - second, second])
    return np.bincount(codes, minlength=n_classes)
