"""Notes on results that look better than they are, and on decisions that look worse."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..data.rows import Array
from ..training.calibration import Calibration
from ..training.report import Note

FEWEST_ROWS = 100  # in which a label can be called nearly constant
NEARLY_ALL = 0.99  # of the rows
FEWEST_OF_CLASS = 100  # with few rows, one of many columns may separate a class by chance
MOST_CLASSES = 20  # for which single columns are tried
FAR_FROM_HALF = 0.2  # a probability at the decision that is worth a note


def describe_constant(counts: Sequence[int], classes: Array) -> Note | None:
    """Note if nearly all rows have the same label."""
    rows, most = sum(counts), max(counts, default=0)
    if rows < FEWEST_ROWS or most < NEARLY_ALL * rows:
        return None
    label = classes[counts.index(most)]
    sentence = (
        f"{most:,} of {rows:,} rows have the label {label}, so a small error says little. If it is "
        "not what you want to predict, name another column with label."
    )
    return Note(sentence, "label-constant")


def describe_giveaway(
    X: Any, rows: Array, codes: Array, classes: Array, names: Mapping[int, str]
) -> Note | None:
    """Note if a single column tells each class from the others, as a copy of the label would.

    ``rows`` are the numbers of the rows to look at.
    """
    codes = codes[rows]
    counts = np.bincount(codes, minlength=len(classes))
    if counts.min() < FEWEST_OF_CLASS or len(classes) > MOST_CLASSES:
        return None
    numbers = range(int(len(classes) == 2), len(classes))
    apart = [find_separating(X, rows[codes == k], rows[codes != k]) for k in numbers]
    if not all(map(len, apart)):
        return None
    found = [names.get(int(columns[0]), f"#{columns[0]}") for columns in apart]
    found = list(dict.fromkeys(found))
    sentence = (
        f"{', '.join(found[:3])} alone {'tells' if len(found) == 1 else 'tell'} the classes apart. "
        "Leave out with ignore what is not known before the label."
    )
    return Note(sentence, "label-given-away")


def find_separating(X: Any, inside: Array, outside: Array) -> Array:
    """Find the columns in which all values of some rows are above, or below, those of others.

    If no column separates a quarter of the rows, none separates all, and the rest is not read.

    >>> find_separating(np.array([[1, 5], [2, 9], [3, 7]]), np.array([0]), np.array([1, 2]))
    array([0, 1])
    """
    few = len(inside) // 4, len(outside) // 4
    if min(few) > 0:
        found = find_separating(X, inside[: few[0]], outside[: few[1]])
        if not len(found):
            return found

    def ends(part: Any) -> Iterator[Array]:
        for end in (part.min(axis=0), part.max(axis=0)):
            yield np.ravel(end.toarray() if hasattr(end, "toarray") else end)

    (low, high), (other_low, other_high) = ends(X[inside]), ends(X[outside])
    return np.flatnonzero((low > other_high) | (high < other_low))


def describe_decision(calibration: Calibration, classes: Array) -> Note | None:
    """Note if one of two classes is predicted although it is less probable, or the reverse."""
    chance = calibration.at_decision
    if len(classes) != 2 or abs(chance - 0.5) <= FAR_FROM_HALF:
        return None
    sentence = (
        f"{classes[1]} is predicted where its probability is above {chance:.2f}; to predict the "
        "more probable class, use threshold=0.5."
    )
    return Note(sentence, "decision-probability")
