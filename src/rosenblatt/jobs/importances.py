"""Importances of columns: the weight times the standard deviation of the column."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

from ..data.rows import Array, n_rows, rows_between, rows_where
from ..data.splits import Split
from ..kernels import columns
from ..kernels.algebra import Rows
from ..storage.model import Model

VALUES_AT_ONCE = 2**20  # that are copied
FIRST_ROWS = 2**15  # by which a training measures the deviations of columns


class Importance(NamedTuple):
    """One column of a linear model.

    Attributes
    ----------
    column
        Its number.
    name
        What it is called.
    weights
        Its weight for each class, or one for two classes, in the scale that the model learnt in.
    deviation
        The standard deviation of the column in the same scale; None if it is not known.
    importance
        The largest absolute weight times the deviation: how much the score changes if the column
        changes by one deviation. None if the deviation is not known.
    """

    column: int
    name: str
    weights: list[float]
    deviation: float | None
    importance: float | None


def measure_deviations(parts: Iterable[Rows], width: int) -> Array:
    """Return the deviation of each of the first columns over all rows, which come in parts."""
    count, sums, squares = 0, np.zeros(width), np.zeros(width)
    for rows in parts:
        count += n_rows(rows)
        if rows.indices is None:
            matrix = rows.values.reshape(-1, int(rows.starts[0]))[:, :width]
            sums[: matrix.shape[1]] += matrix.sum(axis=0, dtype=np.float64)
            squares[: matrix.shape[1]] += np.einsum("ij,ij->j", matrix, matrix, dtype=np.float64)
        else:
            columns.add_moments(rows.values, rows.indices, sums, squares)
    mean = sums / max(count, 1)
    return np.sqrt(np.maximum(squares / max(count, 1) - mean * mean, 0.0))


def measure_first_rows(rows: Rows, width: int, split: Split) -> Array:
    """Return the deviation of each column in the first rows that a split does not hold out."""
    count = min(n_rows(rows), FIRST_ROWS)
    held = split.held_out(0, count)
    if not held.any():
        return measure_deviations([rows_between(rows, 0, count)], width)
    step = max(VALUES_AT_ONCE * n_rows(rows) // max(len(rows.values), 1), 1)
    pieces = ((first, min(first + step, count)) for first in range(0, count, step))
    return measure_deviations(
        (rows_where(rows_between(rows, *piece), ~held[slice(*piece)]) for piece in pieces), width
    )


def find_deviations(model: Model, width: int) -> Array:
    """Return the deviations that a model file keeps; NaN where one is not known."""
    found = np.full(width, np.nan)
    kept = model.features.get("deviations") or []
    columns = [column for column, _ in model.features.get("largest", [])]
    if len(kept) == len(columns):
        found[np.array(columns, np.intp)] = kept
    return found


def name_columns(model: Model) -> Callable[[int], str]:
    """Return what columns are called: by name, or as the file numbers them."""
    known = dict(model.features.get("largest", []))
    known |= dict(enumerate(model.features.get("names", [])))
    first = (model.features.get("recipe") or {}).get("first")
    if first is not None:
        return lambda column: f"index {column + first}"
    return lambda column: known.get(column, f"column {column}")


def rank_columns(
    model: Model, coef: Array, deviations: Array | None = None, most: int | None = None
) -> list[Importance]:
    """Return the columns with weights other than 0, the most important first.

    Columns whose deviation is not known come last, by their largest weight.

    Parameters
    ----------
    model
        A linear model.
    coef
        Its weights, one row per class or one for two classes.
    deviations
        Of its columns; by default those that the model file keeps.
    most
        The largest number of columns to return; by default all.
    """
    deviations = find_deviations(model, coef.shape[1]) if deviations is None else deviations
    sizes = np.abs(coef).max(axis=0).astype(np.float64)
    importances = sizes * deviations
    unknown = np.isnan(importances)
    order = np.lexsort((-sizes, -np.where(unknown, 0.0, importances), unknown))
    order = order[sizes[order] > 0][:most]
    names = name_columns(model)
    return [
        Importance(
            k,
            names(k),
            coef[:, k].astype(np.float64).tolist(),
            None if unknown[k] else float(deviations[k]),
            None if unknown[k] else float(importances[k]),
        )
        for k in order.tolist()
    ]
