"""Rows that come one at a time: dicts as rows, and labels as they are met."""

import copy
import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from ..data.labels import is_missing
from ..data.rows import Array, read_only
from ..kernels.algebra import Rows
from ..learners.linear import LinearLearner


class NamedColumns:
    """The columns of a model by name, kept beside ``feature_names_in_``.

    >>> columns = NamedColumns(np.array(["size"], object))
    >>> columns.add(["size", "colour=red"]), columns.names.tolist()
    (True, ['size', 'colour=red'])
    """

    def __init__(self, names: Array) -> None:
        self.names = names
        self.numbers = {name: number for number, name in enumerate(names)}
        self.rooms: dict[str, Array] = {}  # the model has the first part of each
        self.last: tuple[Any, ...] = (), number_columns([])  # the names of a row, and their places

    def __reduce__(self) -> Any:
        return NamedColumns, (self.names,)

    def add(self, names: Iterable[str]) -> bool:
        """Add columns for the names that are new; return whether there were any."""
        new = [name for name in names if name not in self.numbers]
        if new:
            first = len(self.names)
            self.numbers |= {name: first + place for place, name in enumerate(new)}
            self.names = self.lengthen("", self.names, first + len(new))
            self.names[first:] = new
        return bool(new)

    def lengthen(self, name: str, array: Array, length: int, start: Any = 0.0) -> Array:
        """Return an array with more rows, in memory that is kept for twice as many.

        ``name`` tells the arrays of a model apart. The old array stays valid.
        """
        room = self.rooms.get(name)
        if room is None or array.base is not room or len(room) < length:
            room = self.rooms[name] = np.empty((2 * length, *array.shape[1:]), array.dtype)
            room[: len(array)] = array
        room[len(array) : length] = start
        return room[:length]

    def make_plain_row(self, x: Mapping[Any, Any], dtype: Any) -> Rows | None:
        """Make a sparse row of a dict of finite numbers, all of known names; None for others."""
        try:
            if not math.isfinite(sum(x.values())):  # words cannot be added
                return None
            names = tuple(x)
            last = self.last  # read once: other threads may predict, too
            if names != last[0]:
                codes = [self.numbers[name] for name in names]
                self.last = last = names, number_columns(codes)
            values = np.fromiter(x.values(), dtype, len(x))
        except (KeyError, TypeError, ValueError, OverflowError):
            return None
        values.setflags(write=False)  # faster than a view
        return Rows(values, *last[1])

    def make_row(self, entries: Mapping[str, float], dtype: Any) -> Rows:
        """Make a sparse row of the entries with known names."""
        known = {self.numbers[name]: x for name, x in entries.items() if name in self.numbers}
        values = np.array(list(known.values()), dtype)
        return Rows(read_only(values), *number_columns(list(known)))


def number_columns(codes: list[int]) -> tuple[Array, Array]:
    """Return the indices and starts of a sparse row."""
    return read_only(np.array(codes, np.uint32)), read_only(np.array([0, len(codes)], np.uint64))


def name_entries(x: Mapping[Any, Any]) -> dict[str, float]:
    """Convert a dict of numbers and words to names of columns and their values.

    As in a file, blanks around words do not count, and missing values are left out.

    >>> name_entries({"size": 3, "colour": " red", "age": None})
    {'size': 3.0, 'colour=red': 1.0}
    """
    entries: dict[str, float] = {}
    for name, value in x.items():
        if isinstance(value, str):
            word = value.strip()
            entries |= {f"{name}={word}": 1.0} if word else {}
            continue
        try:
            number = math.nan if value is None else float(value)
        except (TypeError, ValueError, OverflowError):
            number = math.inf
        if math.isinf(number):
            raise ValueError(f"x[{name!r}] is {value!r}; expected a finite number or a string.")
        if not math.isnan(number):
            entries[str(name)] = number
    return entries


def make_row(model: Any, x: Any, grows: bool = False) -> Rows:
    """Convert one row for the kernels, without scikit-learn's checks, which take longer.

    With ``grows``, the model gets a column for each new name of a dict. Whether numbers are finite
    is seen from the score.
    """
    kind = type(x)
    if kind is dict or (kind is not np.ndarray and isinstance(x, Mapping)):
        return make_row_by_name(model, x, grows)
    learner = model._learner
    values = np.ascontiguousarray(x, learner.dtype)
    if values.shape != (learner.width,):
        raise ValueError(f"x has shape {values.shape}; the model expects ({learner.width},).")
    return Rows(read_only(values), None, learner.row_length)


def make_row_by_name(model: Any, x: Mapping[Any, Any], grows: bool) -> Rows:
    """Convert a dict to a row by column names; with ``grows``, add new columns to the model."""
    names = getattr(model, "feature_names_in_", None)
    columns: NamedColumns | None = model._columns
    if columns is None or columns.names is not names:
        if names is None:
            raise ValueError(
                "x is a dict, but the columns of this model have no names: pass the numbers of a "
                "row, or start a new model with a dict or a data frame."
            )
        model._columns = columns = NamedColumns(names)
    row = columns.make_plain_row(x, model._learner.dtype)
    if row is not None:
        return row
    entries = name_entries(x)
    if grows and columns.add(entries):
        model.feature_names_in_, model.n_features_in_ = columns.names, len(columns.names)
        learner, width = model._learner, model.n_features_in_
        pairs = enumerate(learner.states)
        states = [widen(state, width, columns, f"{number} ") for number, state in pairs]
        model._learner = replace(learner, states=states)
    return columns.make_row(entries, model._learner.dtype)


def widen(state: Any, width: int, columns: NamedColumns, name: str) -> Any:
    """Return a copy of a state with more columns; the original stays valid after an error."""
    wider = copy.copy(state)
    wider.widen(width, lambda own, *given: columns.lengthen(name + own, *given))
    return wider


def make_first_row(x: Any) -> tuple[Any, Array | None]:
    """Convert the first row of a model to a matrix; for a dict, also return the column names."""
    if isinstance(x, Mapping):
        entries = name_entries(x)
        if not entries:
            raise ValueError("x has no values; expected a dict with numbers or words.")
        return csr_array([list(entries.values())]), np.array(list(entries), object)
    values = np.asarray(x)
    values = np.ascontiguousarray(values, values.dtype if values.dtype == np.float32 else float)
    if values.ndim != 1 or not len(values):
        raise ValueError(f"x has shape {values.shape}; expected one row of numbers, or a dict.")
    return values[None], None


def check_label(y: Any, classes: Array | None = None) -> Any:
    """Return a label as a number, bool or word, of the same kind as the classes."""
    label = np.asarray(y)
    if label.ndim or label.dtype.kind not in "biufU" or is_missing(label.item()):
        raise ValueError(f"y is {y!r}; expected one label: a word, a whole number or a bool.")
    whole = label.dtype.kind == "f" and float(label).is_integer()
    if label.dtype.kind == "f" and not whole:
        raise ValueError(f"y is {y!r}; expected a label: numbers as labels must be whole.")
    kinds = {"b": "bool", "U": "word"}
    if classes is not None:
        known, new = (kinds.get(one.dtype.kind, "number") for one in (classes, label))
        if known != new:
            raise ValueError(f"y is {y!r}, a {new}; the labels of this model are {known}s.")
    return int(label) if whole else label.item()


def refuse_to_grow(learner: LinearLearner) -> None:
    """Raise ValueError if a model cannot add a class."""
    if reason := learner.refusal("add_class"):
        raise ValueError(
            f"This model cannot add a class: {reason}. Name all labels in the first call of "
            "partial_fit, with classes."
        )
