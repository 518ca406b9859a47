"""Updates as what scores have to take in."""

from typing import NamedTuple

import numpy as np

from ...data.rows import Array
from ...kernels.linear import Updates


class Moves(NamedTuple):
    """Updates as what scores have to take in: places among the support, outputs and steps."""

    places: Array
    outputs: Array
    steps: Array


NO_MOVES = Moves(np.empty(0, np.intp), np.empty(0, np.intp), np.empty(0))


def to_moves(updates: Updates, steps: Array, together: bool) -> Moves:
    """What updates move: one output each, or with all classes together also the rival."""
    if not together:
        return Moves(updates.rows, updates.labels, steps)
    return Moves(
        np.concatenate([updates.rows, updates.rows]),
        np.concatenate([updates.labels, updates.rivals]),
        np.concatenate([steps, -steps]),
    )


def summed(moves: Moves, outputs: int, support: int) -> Array:
    """The coefficients of moves: their steps, summed by output and support row."""
    cells = moves.outputs * support + moves.places
    return added(cells, moves.steps, outputs * support).reshape(outputs, support)


def added(places: Array, numbers: Array, count: int) -> Array:
    """The numbers, added up by place."""
    return np.bincount(places, numbers, count).astype(np.float64)  # of nothing, it is whole numbers


def group_updates(updates: Updates, together: bool, outputs: int) -> list[Array]:
    """The numbers of the updates of each problem that has some, or all of them."""
    if together:
        groups = [np.arange(len(updates.rows))]
    else:
        groups = [np.flatnonzero(updates.labels == output) for output in range(outputs)]
    return [group for group in groups if len(group)]
