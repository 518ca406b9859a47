"""Rows that come one at a time: dicts as rows, and labels as they are met."""

import copy
import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from ..data.labels import is_missing
from ..data.rows import Array, read_only, refuse_not_finite
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

    @classmethod
    def of(cls, model: Any, kept: "NamedColumns | None") -> "NamedColumns":
        """The columns of a model: those kept, unless its names have changed since."""
        names = getattr(model, "feature_names_in_", None)
        if names is None:
            raise ValueError(
                "x is a dict, and the columns of this model have no names: give the numbers of a "
                "row, or begin a new model with a dict or a data frame."
            )
        return kept if kept is not None and kept.names is names else cls(names)

    def add(self, names: Iterable[str]) -> bool:
        """Add columns for the names that are new; return whether there were any."""
        new = [name for name in names if name not in self.numbers]
        if new:
            first = len(self.names)
            self.numbers |= {name: first + place for place, name in enumerate(new)}
            self.names = np.append(self.names, np.array(new, object))
        return bool(new)

    def row(self, entries: Mapping[str, float], dtype: Any) -> Rows:
        """The entries with known names as a sparse row."""
        known = {self.numbers[name]: x for name, x in entries.items() if name in self.numbers}
        values = np.array(list(known.values()), dtype)
        indices, starts = np.array(list(known), np.uint32), np.array([0, len(known)], np.uint64)
        return Rows(read_only(values), read_only(indices), read_only(starts))


def name_entries(x: Mapping[Any, Any]) -> dict[str, float]:
    """The names of columns and their values, of a dict of numbers and words.

    >>> name_entries({"size": 3, "colour": "red"})
    {'size': 3.0, 'colour=red': 1.0}
    """
    entries = {}
    for name, value in x.items():
        key, number = (f"{name}={value}", 1.0) if isinstance(value, str) else (str(name), value)
        try:
            entries[key] = float(number)
        except (TypeError, ValueError, OverflowError):
            entries[key] = math.nan
        if not math.isfinite(entries[key]):
            raise ValueError(
                f"x[{name!r}] is {value!r}; expected a finite number or a string. Leave a name out "
                "where its value is not known."
            )
    return entries


def find_row(model: Any, x: Any, grows: bool = False) -> Rows:
    """A row as kernels see it; scikit-learn's own checks would take longer than learning.

    Where it grows, the model gets a column for each new name of a dict.
    """
    learner = model._learner
    if isinstance(x, Mapping):
        return row_by_name(model, x, grows)
    values = np.ascontiguousarray(x, learner.dtype)
    if values.shape != (learner.width,):
        raise ValueError(
            f"x has shape {values.shape}, and the model was begun with rows of "
            f"{learner.width} numbers."
        )
    if not np.isfinite(values).all():
        refuse_not_finite(values[None])
    return Rows(read_only(values), None, learner.row_length)


def row_by_name(model: Any, x: Mapping[Any, Any], grows: bool) -> Rows:
    """The row of a dict, by the names of the columns of a model."""
    columns, entries = NamedColumns.of(model, model._columns), name_entries(x)
    if grows and columns.add(entries):
        model.feature_names_in_, model.n_features_in_ = columns.names, len(columns.names)
        learner, width = model._learner, model.n_features_in_
        model._learner = replace(learner, states=[widened(one, width) for one in learner.states])
    model._columns = columns
    return columns.row(entries, model._learner.dtype)


def widened(state: Any, width: int) -> Any:
    """A copy of a state with more columns, which learning from a row may change or drop."""
    wider = copy.copy(state)
    wider.further = dict(state.further)
    wider.widen(width)
    return wider


def add_label(model: Any, y: Any) -> int:
    """Add a class to a model that ``learn_one`` began, and return its number."""
    if not model._grows:
        raise ValueError(
            f"The label {y!r} is not among {model.classes_.tolist()}; only a model that learn_one "
            "began adds labels as they come."
        )
    label = check_label(y, model.classes_)
    refuse_to_grow(model._learner)
    model._learner = model._learner.with_class(label)
    model.classes_ = model._learner.classes
    return int(model._learner.codes[label])


def row_to_begin(x: Any) -> tuple[Any, Array | None]:
    """The first row of a new model as a matrix, and the names of its columns if it is a dict."""
    if isinstance(x, Mapping):
        entries = name_entries(x)
        return csr_array([list(entries.values())]), np.array(list(entries), object)
    values = np.asarray(x)
    values = np.ascontiguousarray(values, values.dtype if values.dtype == np.float32 else float)
    if values.ndim != 1 or not len(values):
        raise ValueError(
            f"x has shape {values.shape}; expected the numbers of one row, or a dict of them."
        )
    return values[None], None


def check_label(y: Any, classes: Array | None = None) -> Any:
    """A label as a number, truth value or word, of the kind that the classes are of."""
    label = np.asarray(y)
    if label.ndim or label.dtype.kind not in "biufU" or is_missing(label.item()):
        raise ValueError(f"y is {y!r}; expected one label: a word, a whole number or a bool.")
    whole = label.dtype.kind == "f" and float(label).is_integer()
    if label.dtype.kind == "f" and not whole:
        raise ValueError(f"y is {y!r}; expected a label, and a number as a label must be whole.")
    kinds = {"b": "bool", "U": "word"}
    if classes is not None:
        known, new = (kinds.get(one.dtype.kind, "number") for one in (classes, label))
        if known != new:
            raise ValueError(f"y is {y!r}, a {new}; the model was begun with labels of {known}s.")
    return int(label) if whole else label.item()


def refuse_to_grow(learner: LinearLearner) -> None:
    """Refuse a further label where a model cannot add one."""
    if len(learner.classes) == 1:
        asymmetric = learner.ties in ("positive", "negative")
        reason = f"ties={learner.ties} says which class is the second" if asymmetric else ""
        if learner.refusal("stream"):
            reason = f"the solution {learner.parameters['solution']} keeps rows of known classes"
    else:
        reason = learner.refusal("add_class")
    if reason:
        raise ValueError(
            f"learn_one cannot add a label to this model: {reason}. Name all labels in the first "
            "call of partial_fit, with classes."
        )
