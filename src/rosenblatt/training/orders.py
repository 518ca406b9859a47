"""Orders of rows: each yields the sweeps of a problem over a part, as arrays of row numbers."""

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ..data.rows import Array

if TYPE_CHECKING:
    from .history import Progress
    from .run import Run
    from .tasks import Task

READS_OF_HARD_ROWS = 2  # per read of all rows; measured: 1 is slower, without end slower still


def each(run: "Run", problem: "Progress", task: "Task") -> Iterable[Array]:
    """A new permutation in every epoch."""
    return (run.permutation(run.epoch),)


def once(run: "Run", problem: "Progress", task: "Task") -> Iterable[Array]:
    """The same permutation in every epoch."""
    return (run.permutation(0),)


def fixed(run: "Run", problem: "Progress", task: "Task") -> Iterable[Array]:
    """The rows in their order."""
    return (task.row_order,)


def first(run: "Run", problem: "Progress", task: "Task") -> Iterable[Array]:
    """One row per epoch: the first mistake."""
    row_order = task.row_order
    found = task.learn(problem.state, row_order, 0, 0).position
    problem.rows = found
    return (row_order[found : found + 1],)


def worst(run: "Run", problem: "Progress", task: Any) -> Iterable[Array]:
    """One row per epoch: the one with the smallest margin; of equals, the first."""
    row_order = task.row_order
    margins = task.margins(problem.state)
    wrong = np.flatnonzero(~(margins > task.required()))
    chosen = wrong[[np.argmin(margins[wrong])]] if len(wrong) else wrong
    problem.rows = len(row_order) - len(chosen)
    return (row_order[chosen],)


def active(run: "Run", problem: "Progress", task: "Task") -> Iterator[Array]:
    """All rows, then rows that were ever mistaken, until these are right or two epochs are read."""
    row_order = task.row_order
    yield row_order
    hard = np.flatnonzero(problem.mistaken).astype(row_order.dtype)
    visits = 0
    while problem.mistakes and visits < READS_OF_HARD_ROWS * len(row_order):
        before = problem.mistakes
        yield hard
        visits += len(hard)
        if problem.mistakes == before:
            break


ORDERS: dict[str, Callable[["Run", "Progress", "Task"], Iterable[Array]]] = {
    "each": each,
    "once": once,
    "fixed": fixed,
    "batch": fixed,  # the sum over the mistakes is one update: BatchTask
    "active": active,
    "first": first,
    "worst": worst,
}
