"""Several problems over the same rows, learnt in one pass: one-vs-rest, and rows of many labels."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from ..data.rows import Array
from .history import REASONS
from .tasks import Learnt, LinearTask


@dataclass
class JointTask:
    """What every problem has to learn from the same rows.

    Attributes
    ----------
    problem : callable
        Makes the task of the problem of a number when it comes to it, so that the steps of all rows
        are in memory for one problem at a time.
    everything, width
        As of any task.
    """

    problem: Callable[[int], LinearTask]
    everything: Array
    width: int


@dataclass
class JointState:
    """One state per problem; none of them rests before all are clean."""

    states: list[Any]

    @property
    def seen(self) -> int:
        """The rows gone through, in each problem."""
        seen: int = self.states[0].seen
        return seen

    def sweep(self, task: JointTask, order: Array, most: int | None) -> Iterator[Learnt]:
        """Learn from the rows in an order, in one problem after the other."""
        for number, state in enumerate(self.states):
            yield from state.sweep(task.problem(number), order, most)

    def widen(self, width: int) -> None:
        """Make room for more columns, with zero weights."""
        for state in self.states:
            state.widen(width)

    def stop_reason(self, clean: bool) -> str:
        """Why there is no point in going on, if there is none: the least that holds for all."""
        reasons = {state.stop_reason(clean) for state in self.states}
        return next(reason for reason in REASONS if reason in reasons)


def joint(states: list[Any]) -> Any:
    """The states of all problems as what one run changes."""
    return states[0] if len(states) == 1 else JointState(states)


def apart(state: Any) -> list[Any]:
    """The states of the problems that a run has changed."""
    return state.states if isinstance(state, JointState) else [state]
