"""Orders: each gives the sweeps of a problem over a part, as arrays of row numbers."""

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ..data.rows import Array

if TYPE_CHECKING:
    from .run import Problem, Run
    from .tasks import Task

READS_OF_HARD_ROWS = 2  # per read of all rows; measured: 1 is slower, without end slower still


def each(run: "Run", problem: "Problem", task: "Task") -> Iterable[Array]:
    """A fresh permutation every epoch."""
    return (run.permutation(run.epoch),)


def once(run: "Run", problem: "Problem", task: "Task") -> Iterable[Array]:
    """One permutation, kept."""
    return (run.permutation(0),)


def fixed(run: "Run", problem: "Problem", task: "Task") -> Iterable[Array]:
    """As given."""
    return (task.everything,)


def first(run: "Run", problem: "Problem", task: "Task") -> Iterable[Array]:
    """The first mistake from the start."""
    everything = task.everything
    found = task.learn(problem.state, everything, 0, 0).position
    problem.count.rows = found
    return (everything[found : found + 1],)


def worst(run: "Run", problem: "Problem", task: Any) -> Iterable[Array]:
    """The most wrong of all rows; of equals, the first."""
    everything = task.everything
    margins = task.margins(problem.state)
    wrong = np.flatnonzero(~(margins > task.required()))
    chosen = wrong[[np.argmin(margins[wrong])]] if len(wrong) else wrong
    problem.count.rows = len(everything) - len(chosen)
    return (everything[chosen],)


def active(run: "Run", problem: "Problem", task: "Task") -> Iterator[Array]:
    """All rows, then those ever mistaken until they are clean or twice as many have been read."""
    everything = task.everything
    yield everything
    hard = np.flatnonzero(problem.mistaken).astype(everything.dtype)
    visits = 0
    while problem.count.mistakes and visits < READS_OF_HARD_ROWS * len(everything):
        before = problem.count.mistakes
        yield hard
        visits += len(hard)
        if problem.count.mistakes == before:
            break


ORDERS: dict[str, Callable[["Run", "Problem", "Task"], Iterable[Array]]] = {
    "each": each,
    "once": once,
    "fixed": fixed,
    "active": active,
    "first": first,
    "worst": worst,
}
