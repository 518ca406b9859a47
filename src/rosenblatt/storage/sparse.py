"""Arrays of a linear state without the weights that never changed, for a smaller file.

Words of texts are hashed to up to a million columns. Many of these have no word, and each of
several labels uses only some. A file then holds the places that differ from the start of a
training, and the numbers there.
"""

import math
from typing import Any

import numpy as np

from ..data.rows import Array
from ..training.rules import UpdateRule
from ..training.state import declared_arrays, require
from .small import PLACES, unpack_weights

LEAST_BYTES = 2**20  # of arrays; smaller ones are kept as they are
MOST_WEIGHTS = 2**28  # that a file may stand for, as many as a training may have
SHAPE = "shape"
"""The name of the shape of all weights among the numbers."""


def remove_unchanged(state: Any, arrays: dict[str, Array]) -> tuple[dict[str, Array], list[int]]:
    """Return the arrays without what is as at the start, and their shape; [] if all are kept.

    Parameters
    ----------
    state
        A state; only those of linear models are made smaller.
    arrays
        Its arrays by name.
    """
    starts = find_starts(type(state), state.rule) if hasattr(state, "rule") else {}
    dense = sum(arrays[name].nbytes for name in starts)
    if dense < LEAST_BYTES:
        return arrays, []
    changed = np.logical_or.reduce([arrays[name] != start for name, start in starts.items()])
    places = np.flatnonzero(changed).astype(np.uint32)
    per_place = places.itemsize + sum(arrays[name].itemsize for name in starts)
    if len(places) * per_place >= dense:
        return arrays, []
    values = {name: arrays[name].reshape(-1)[places] for name in starts}
    return {**arrays, **values, PLACES: places}, list(state.weights.shape)


def restore_unchanged(kind: type, rule: UpdateRule, arrays: dict[str, Array], shape: Any) -> None:
    """Put the values of arrays back into their places; the array of places is removed."""
    counts = isinstance(shape, list) and all(type(size) is int and size > 0 for size in shape)
    require(counts and 1 <= len(shape) <= 2, "the shape of its weights is not one")
    require(math.prod(shape) <= MOST_WEIGHTS, "it has more weights than a training may have")
    if arrays["weights"].dtype == np.int8:
        unpack_weights(arrays, shape)
    places = arrays.pop(PLACES)
    fitting = places.dtype == np.uint32 and places.ndim == 1
    fitting = fitting and bool(np.all(places[1:] > places[:-1]))
    fitting = fitting and (not len(places) or int(places[-1]) < math.prod(shape))
    require(fitting, "the places of its weights are not in order")
    for name, start in find_starts(kind, rule).items():
        values = arrays[name]
        require(values.shape == places.shape, f"{name} does not fit its places")
        full = np.full(shape, start, values.dtype) if start else np.zeros(shape, values.dtype)
        arrays[name] = full
        arrays[name].reshape(-1)[places] = values


def find_starts(kind: type, rule: UpdateRule) -> dict[str, Any]:
    """The arrays with a number for each weight, and what each number is at the start."""
    declared = declared_arrays(kind, rule).items()
    return {f"{one.prefix}{name}": one.start for name, one in declared if one.by_column}
