"""Tolerance of noise: rows that have caused many updates need less margin, or cause no more."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..data.rows import Array
from ..kernels.tolerant import TolerantSettings, tolerant, tolerant_multiclass
from .tasks import SweepResult, WrappedTask

NO_LIMIT = 2**32 - 1  # what a count can hold
ONCE_PER_EPOCH = (None, "each", "once", "fixed")


class Tolerance(NamedTuple):
    """By how much each update lowers the margin that its row needs, and how many it may cause."""

    slack: float
    most: int


def find_tolerance(parameters: Mapping[str, Any]) -> Tolerance | None:
    """The tolerance that parameters ask for; None if rows that come again count as others do.

    In one pass every row comes once, so that there is nothing to tolerate yet.
    """
    slack, most = parameters.get("slack", 0.0), parameters.get("max_row_updates")
    once = parameters.get("max_iter") == 1 and parameters.get("order") in ONCE_PER_EPOCH
    if once or (not slack and most is None):
        return None
    return Tolerance(float(slack), NO_LIMIT if most is None else int(most))


@dataclass
class TolerantTask(WrappedTask):
    """A task with the number of updates that each row has caused, by its number."""

    counts: Array

    def __post_init__(self) -> None:
        self.kernel = tolerant_multiclass if self.task.many else tolerant
        self.eased = TolerantSettings(*self.task.settings, *self.task.tolerance)

    def learn(
        self, state: Any, order: Array, start: int = 0, most: int | None = None
    ) -> SweepResult:
        """Change a state by the rows of an order from a place on, until there are most updates."""
        task = self.task
        log = task.log if most is None else task.log[:most]
        kept = state.weights, state.bias
        done = self.kernel(task.examples, self.counts, order, start, *kept, self.eased, log)
        result: SweepResult = task.finish_sweep(done, order, start, log)
        return result

    def required(self) -> Array:
        """Return the number that each row's margin must exceed to cause no more updates."""
        rows, tolerance = self.task.row_order, self.task.tolerance
        counts, steps = self.counts[rows], np.abs(self.task.examples.steps[rows])
        eased = self.task.required() - tolerance.slack * counts * steps
        return np.where(counts < tolerance.most, eased, -np.inf)
