"""Orders of rows: each yields the sweeps of a problem over a part, as arrays of row numbers."""

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ..data.rows import Array
from ..kernels.algebra import mix

if TYPE_CHECKING:
    from .run import Problem, Run
    from .tasks import Task

GOLDEN, HALF = np.uint64(0x9E3779B97F4A7C15), np.uint64(32)  # of SplitMix64, as in ``shuffle``
READS_OF_HARD_ROWS = 2  # per read of all rows; measured: 1 is slower, without end slower still


def each(run: "Run", problem: "Problem", task: "Task") -> Iterable[Array]:
    """A new permutation in every epoch."""
    return (run.permutation(run.epoch),)


def once(run: "Run", problem: "Problem", task: "Task") -> Iterable[Array]:
    """The same permutation in every epoch."""
    return (run.permutation(0),)


def fixed(run: "Run", problem: "Problem", task: "Task") -> Iterable[Array]:
    """The rows in their order."""
    return (task.row_order,)


def replacement(run: "Run", problem: "Problem", task: "Task") -> Iterable[Array]:
    """As many rows as there are, drawn with replacement every epoch (Gallant 1990)."""
    return (run.permutation(run.epoch, resample),)


def resample(order: Array, seed: int, number: int) -> None:
    """Overwrite an order with rows drawn from it, the same for a seed and a number everywhere.

    The bits are those of ``shuffle``; what would make a row more likely is drawn again.
    """
    count, drawn, trials = len(order), np.empty(0, np.uint64), 0
    start = np.uint64(mix(np.uint64(seed))) ^ np.uint64(mix(~np.uint64(number)))
    while len(drawn) < count:
        states = start + GOLDEN * np.arange(trials + 1, trials + count + 1, dtype=np.uint64)
        products = (mix.py_func(states) >> HALF) * np.uint64(count)
        fair = products % np.uint64(2**32) >= 2**32 % count
        drawn, trials = np.append(drawn, products[fair] >> HALF), trials + count
    order[:] = order[drawn[:count]]


def first(run: "Run", problem: "Problem", task: "Task") -> Iterable[Array]:
    """One row per epoch: the first mistake."""
    row_order = task.row_order
    found = task.learn(problem.state, row_order, 0, 0).position
    problem.count.rows = found
    return (row_order[found : found + 1],)


def worst(run: "Run", problem: "Problem", task: Any) -> Iterable[Array]:
    """One row per epoch: the one with the smallest margin; of equals, the first."""
    row_order = task.row_order
    margins = task.margins(problem.state)
    wrong = np.flatnonzero(~(margins > task.required()))
    chosen = wrong[[np.argmin(margins[wrong])]] if len(wrong) else wrong
    problem.count.rows = len(row_order) - len(chosen)
    return (row_order[chosen],)


def active(run: "Run", problem: "Problem", task: "Task") -> Iterator[Array]:
    """All rows, then rows that were ever mistaken, until these are right or two epochs are read."""
    row_order = task.row_order
    yield row_order
    hard = np.flatnonzero(problem.mistaken).astype(row_order.dtype)
    visits = 0
    while problem.count.mistakes and visits < READS_OF_HARD_ROWS * len(row_order):
        before = problem.count.mistakes
        yield hard
        visits += len(hard)
        if problem.count.mistakes == before:
            break


ORDERS: dict[str, Callable[["Run", "Problem", "Task"], Iterable[Array]]] = {
    "each": each,
    "once": once,
    "fixed": fixed,
    "replacement": replacement,
    "batch": fixed,  # the sum over the mistakes is one update: BatchTask
    "active": active,
    "first": first,
    "worst": worst,
}
