"""Rows that are predicted just before they are learned from, for the progressive error."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..data.rows import Array, rows_between
from ..kernels.targets import SeveralClasses, TwoClasses
from .training import LinearTask, SweepResult


@dataclass
class PredictedTask:
    """A task whose rows are predicted just before they are learned from.

    Attributes
    ----------
    task : LinearTask
        The rows, to be read in their order.
    judge : callable
        Returns the error of each row, from scores and the codes of labels: whether it is wrong, or
        the absolute error of a number.
    report : callable
        Called with the errors of rows, in their order.
    """

    task: LinearTask
    judge: Callable[[Array, Array], Array]
    report: Callable[[Array], None]

    def __post_init__(self) -> None:
        self.row_order, self.width = self.task.row_order, self.task.width
        self.reported, self.ahead = 0, 16
        examples = self.task.examples
        self.labels = examples.steps > 0 if examples.labels is None else examples.labels

    def learn(
        self, state: Any, order: Array, start: int = 0, most: int | None = None
    ) -> SweepResult:
        """Predict some rows ahead, learn up to the first update, and report so far."""
        settings, below = self.task.settings, getattr(self.task.settings, "below", 0.0)
        classes = isinstance(self.task.target, TwoClasses | SeveralClasses)
        plain = classes and settings.above >= 0 >= below
        if plain and not state.averages:
            return self.learn_at_once(state, order, start, most)
        order = order[: start + self.ahead]
        wrong = self.wrong(state, order, 0)
        learnt = self.task.learn(state, order, start, 1)
        judged = len(order)
        if len(learnt.updates):
            judged = int(learnt.updates["position"][0]) + 1
        self.report(wrong[: judged - self.reported])
        self.ahead = max(16, 2 * (judged - self.reported))
        self.reported = judged
        return learnt

    def learn_at_once(self, state: Any, order: Array, start: int, most: int | None) -> SweepResult:
        """Learn all rows; report wrong predictions of the last weights from the log of updates."""
        learnt = self.task.learn(state, order, start, most)
        updates, wrong = learnt.updates, np.zeros(learnt.position - start, bool)
        labels = self.labels[order[updates["position"]]]
        several = isinstance(self.task.target, SeveralClasses)
        first = updates["rival"] < labels if several else labels  # wins a tie
        margins = updates["margin"]
        wrong[updates["position"] - start] = (margins < 0) | ((margins == 0) & first)
        self.report(wrong)
        self.reported = learnt.position
        return learnt

    def finish(self, state: Any) -> None:
        """Report the rows after the last update."""
        self.report(self.wrong(state, self.row_order, len(self.row_order)))

    def wrong(self, state: Any, order: Array, seen: int) -> Array:
        """Whether the current state predicts each row that was not reported yet wrong.

        ``seen`` is the number of rows of the order that the state has seen.
        """
        chosen = order[self.reported :]
        if not len(chosen):
            return np.zeros(0, bool)
        first, last = int(chosen[0]), int(chosen[-1])
        places = np.searchsorted(order, np.arange(first, last + 1)) - seen
        rows = rows_between(self.task.examples.rows, first, last + 1)
        found = state.score(rows, places)[chosen - first]
        return self.judge(found, self.labels[chosen])
