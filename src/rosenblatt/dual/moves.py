"""Updates as changes of scores: which support row moves which output, and by how much."""

from typing import NamedTuple

import numpy as np

from ..data.rows import Array
from .kernels.cpu import Updates


class Moves(NamedTuple):
    """Changes of scores: places among the support, outputs and steps."""

    places: Array
    outputs: Array
    steps: Array


NO_MOVES = Moves(np.empty(0, np.intp), np.empty(0, np.intp), np.empty(0))


def to_moves(updates: Updates, steps: Array, together: bool) -> Moves:
    """Return the moves of updates: of one output each, or with all classes also of the rival."""
    if not together:
        return Moves(updates.rows, updates.labels, steps)
    return Moves(
        np.concatenate([updates.rows, updates.rows]),
        np.concatenate([updates.labels, updates.rivals]),
        np.concatenate([steps, -steps]),
    )


def sum_coefficients(moves: Moves, outputs: int, support: int) -> Array:
    """Return the coefficients of moves: their steps, summed by output and support row."""
    cells = moves.outputs * support + moves.places
    return sum_by_place(cells, moves.steps, outputs * support).reshape(outputs, support)


def sum_by_place(places: Array, numbers: Array, count: int) -> Array:
    """Return the sum of the numbers of each place."""
    sums = np.bincount(places, numbers, count)  # integers, if there are no places
    return sums.astype(np.float64)


def group_updates(updates: Updates, together: bool, outputs: int) -> list[Array]:
    """Return the numbers of the updates of each problem that has some; all if there is one."""
    if together:
        groups = [np.arange(len(updates.rows))]
    else:
        groups = [np.flatnonzero(updates.labels == output) for output in range(outputs)]
    return [group for group in groups if len(group)]
