"""Tasks: examples of one problem. The outer loop uses the protocol ``Task`` only."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..data.labels import has_class
from ..data.rows import Array, not_finite, rows_between
from ..data.targets import score_ranks
from ..kernels.algebra import Rows
from ..kernels.loop import UPDATE, Clock, Examples, compile_loop, count_weight, margins
from ..kernels.perceptron import Batch
from ..kernels.scores import score_classes, score_rows
from ..kernels.targets import Numbers, SeveralClasses
from ..parameters import InputError
from .labels import TWO_CLASSES
from .rules import UpdateRule

UPDATES_AT_ONCE = 1024  # the length of a log


class SweepResult(NamedTuple):
    """The result of learning from some rows of an order.

    Attributes
    ----------
    position : int
        The place in the order after the last row.
    updates : ndarray
        The updates: a view of the log, valid until the task learns again.
    errors : int
        The rows on the wrong side of the boundary; with a margin, there are more updates.
    loss : float
        The sum of -margin over them.
    n_rows : int
        The rows read, counted once for each problem that learned from them.
    """

    position: int
    updates: Array
    errors: int
    loss: float
    n_rows: int


class Task(Protocol):
    """The examples of one problem."""

    row_order: Array
    """The numbers of the rows to learn from, in order."""
    width: int
    """The number of columns known so far."""

    def learn(self, state: Any, order: Array, start: int, most: int | None = None) -> SweepResult:
        """Change a state by the rows of an order from a place on, until there are most updates."""

    def close(self, state: Any) -> None:
        """Write into the state what the task still holds; the rows may be gone afterwards."""


@dataclass
class Part:
    """Rows that every problem of a run learns from.

    Attributes
    ----------
    make
        Returns the task of a problem by its number.
    row_order, width
        As in every task.
    keep
        Whether to keep tasks for the next epochs, or to make them again.
    tasks
        The tasks that are kept, by number.
    """

    make: Callable[[int], Task]
    row_order: Array
    width: int
    keep: bool = True
    tasks: dict[int, Task] = field(default_factory=dict)

    @classmethod
    def of(cls, task: Task) -> "Part":
        """Make a part for one problem."""
        return cls(lambda _: task, task.row_order, task.width)

    def task(self, number: int) -> Any:
        """The task of a problem."""
        task = self.tasks.get(number) or self.make(number)
        if self.keep:
            self.tasks[number] = task
        return task


@dataclass
class LinearTask:
    """Rows and labels of one problem, with a rule to learn linear weights."""

    examples: Examples
    row_order: Array
    rule: UpdateRule
    settings: Any
    width: int
    target: Any = TWO_CLASSES
    """What labels are, as kernels take it."""

    def __post_init__(self) -> None:
        self.learn_rows = compile_loop(self.rule.kind)
        self.log = np.zeros(min(max(len(self.row_order), 1), UPDATES_AT_ONCE), UPDATE)
        below = getattr(self.settings, "below", -self.settings.above)
        self.demanding = self.rule.demanding or self.settings.above > 0 or below < 0
        """Whether rows on the right side may be updated, too."""

    def learn(
        self, state: Any, order: Array, start: int = 0, most: int | None = None
    ) -> SweepResult:
        """Change a state by the rows of an order from a place on, until there are most updates."""
        log = self.log if most is None else self.log[:most]
        given = self.target, self.settings, self.examples, order, start
        done = self.learn_rows(*given, state.arrays(), state.clock(start), log)
        return self.finish_sweep(done, order, start, log)

    def finish_sweep(
        self, done: tuple[int, int, float], order: Array, start: int, log: Array
    ) -> SweepResult:
        """Return what a kernel has done; raise at a row whose activation is not finite."""
        position, n_updates, loss = done
        if n_updates < len(log) and position < len(order):
            raise not_finite(self.examples.rows, int(order[position]))
        updates = log[:n_updates]
        errors = len(self.find_mistaken(updates)) if self.demanding else n_updates
        return SweepResult(position, updates, errors, loss, position - start)

    def find_mistaken(self, updates: Array) -> Array:
        """Return the positions in the order of the rows that were on the wrong side."""
        if self.demanding:
            updates = updates[updates["margin"] <= 0]
        return np.asarray(updates["position"])

    def mark_errors(self, updates: Array, errors: Array) -> None:
        """Set the error of each row that caused an update: whether it was wrong, or by how much."""
        if isinstance(self.target, Numbers):
            rows = self.row_order[updates["position"]]
            errors[rows] = self.target.epsilon - updates["margin"]
        else:
            errors[self.row_order[self.find_mistaken(updates)]] = True

    def margins(self, state: Any) -> Array:
        """Every row's label times activation, or the lead of its class over the best rival.

        Of numbers, by how much each error is below the largest one without an update; of ranks, the
        distance from the nearest threshold, negative on its wrong side.
        """
        out = np.empty(len(self.row_order))
        margins(self.target, self.examples, self.row_order, state.arrays(), out)
        if not np.isfinite(out).all():
            row = int(self.row_order[np.argmin(np.isfinite(out))])
            raise not_finite(self.examples.rows, row)
        return out

    def required(self) -> Array:
        """Return the number that each row's margin must exceed to cause no update."""
        steps, above = self.examples.steps[self.row_order], float(self.settings.above)
        if hasattr(self.settings, "required"):
            weights = np.abs(steps).astype(np.float64)
            return np.asarray(np.broadcast_to(self.settings.required(weights), len(steps)))
        return np.where(steps > 0, above, -getattr(self.settings, "below", -above))

    def sides(self) -> Array:
        """Return the number that each row's margin must exceed to be on the right side."""
        return np.minimum(self.required(), 0)

    def close(self, state: Any) -> None:
        """Write nothing: a state of weights needs no rows."""


@dataclass
class WrappedTask:
    """A task around another one, whose attributes it has unless they are its own."""

    task: LinearTask

    def __getattr__(self, name: str) -> Any:
        return getattr(self.task, name)


@dataclass
class BatchTask(WrappedTask):
    """A task whose rows are judged by the same weights, which then move by all mistakes at once."""

    def learn(
        self, state: Any, order: Array, start: int = 0, most: int | None = None
    ) -> SweepResult:
        """Move the weights once, by all rows of an order that are mistaken."""
        task, log = self.task, np.zeros(len(order), UPDATE)
        arrays = state.arrays()
        total, total_of_bias = np.zeros(len(arrays.w)), np.zeros(len(arrays.b))
        given = task.target, Batch(*task.settings), task.examples, order, 0
        resting = arrays._replace(u=total, ub=total_of_bias)
        done = compile_loop(Batch)(*given, resting, Clock(0.0, 0.0, 0.0), log)
        learnt: SweepResult = task.finish_sweep(done, order, 0, log)
        arrays.w[:] += total
        arrays.b[:] += total_of_bias
        if len(arrays.u):  # all rows of the pass count with the weights after it
            lack = count_weight.py_func(state.clock(), 0.0)
            arrays.u[:] += lack * total
            arrays.ub[:] += lack * total_of_bias
        return learnt


@dataclass
class PredictedTask(WrappedTask):
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
    from_scores : bool
        Whether the error must come from scores, not from the log of updates.
    """

    judge: Callable[[Array, Array], Array]
    report: Callable[[Array], None]
    from_scores: bool = False

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
        plain = self.task.rule.labels.per_class and settings.above >= 0 >= below
        if plain and not state.averages and not self.from_scores:
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


def compute_steps(
    codes: Array, positive: int | None, eta0: float, weights: Any, dtype: Any
) -> Array:
    """The step of each row: η times its weight, and times the label for two classes.

    Steps that are 0 or infinite in the dtype are refused.
    """
    if weights is None and eta0 == 1 and positive is not None:
        one = np.dtype(dtype).type(1)
        return np.asarray(np.where(has_class(codes, positive), one, -one))
    if weights is None and eta0 == 1:
        return np.ones(len(codes), dtype)
    with np.errstate(over="ignore", under="ignore"):
        sizes = np.asarray(eta0 if weights is None else eta0 * weights).astype(dtype)
    used = sizes if weights is None else sizes[weights > 0]
    if not used.all() or not np.isfinite(used).all():
        what = "The weight of a row" if eta0 == 1 else "eta0 times the weight of a row"
        raise InputError(
            f"{what} is too small or too large for {sizes.dtype}; scale the weights.",
            code="step-out-of-range",
        )
    if positive is None:
        return np.broadcast_to(sizes, codes.shape).copy()
    return np.where(has_class(codes, positive), sizes, -sizes)


def scores(rows: Rows, n_rows: int, weights: Array, bias: Array) -> Array:
    """The score of each row, with a column per class if there are more than two.

    Several biases of one column of weights are those of ranks.
    """
    if weights.ndim == 1 and len(bias) > 1:
        return score_ranks(score_column(rows, n_rows, weights), bias)
    out = np.empty((n_rows, *weights.shape[1:]), weights.dtype)
    kernel = score_rows if weights.ndim == 1 else score_classes
    kernel(rows, np.ascontiguousarray(weights).reshape(-1), bias, out)
    return out


def score_column(rows: Rows, n_rows: int, weights: Array) -> Array:
    """The product of each row with one column of weights."""
    return scores(rows, n_rows, weights, np.zeros(1, weights.dtype))
