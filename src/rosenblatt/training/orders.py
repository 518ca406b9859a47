"""Orders: each gives the sweeps of one epoch, as arrays of row numbers."""

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from ..data.rows import Array

if TYPE_CHECKING:
    from .run import Run

READS_OF_HARD_ROWS = 2  # per read of all rows; measured: 1 is slower, without end slower still


def each(run: "Run") -> Iterable[Array]:
    """A fresh permutation every epoch."""
    return (run.permutation(run.epoch),)


def once(run: "Run") -> Iterable[Array]:
    """One permutation, kept."""
    return (run.permutation(0),)


def fixed(run: "Run") -> Iterable[Array]:
    """As given."""
    return (run.task.everything,)


def first(run: "Run") -> Iterable[Array]:
    """The first mistake from the start."""
    everything = run.task.everything
    found = run.task.learn(run.state, everything, 0, 0).position
    run.count.n_rows = found
    return (everything[found : found + 1],)


def worst(run: "Run") -> Iterable[Array]:
    """The most wrong of all rows; of equals, the first."""
    everything = run.task.everything
    margins = run.task.margins(run.state)
    wrong = np.flatnonzero(~(margins > run.task.required()))
    chosen = wrong[[np.argmin(margins[wrong])]] if len(wrong) else wrong
    run.count.n_rows = len(everything) - len(chosen)
    return (everything[chosen],)


def active(run: "Run") -> Iterator[Array]:
    """All rows, then those ever mistaken until they are clean or twice as many have been read."""
    everything = run.task.everything
    yield everything
    hard = np.flatnonzero(run.mistaken).astype(everything.dtype)
    visits = 0
    while run.count.mistakes and visits < READS_OF_HARD_ROWS * len(everything):
        before = run.count.mistakes
        yield hard
        visits += len(hard)
        if run.count.mistakes == before:
            break


ORDERS: dict[str, Callable[["Run"], Iterable[Array]]] = {
    "each": each,
    "once": once,
    "fixed": fixed,
    "active": active,
    "first": first,
    "worst": worst,
}
