"""The one outer loop: epochs over the parts of some data, in an order, until a stop rule holds.

A training has problems, which share the rows and nothing else. For each, a task knows its examples
and learns from them in an order; what is learnt is the state of the problem.
"""

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import compress, count, zip_longest
from operator import attrgetter, not_
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..data.rows import Array, not_finite
from ..kernels.algebra import shuffle
from ..kernels.loop import UPDATE, Clock, Examples, compile_loop, margins
from ..kernels.perceptron import Batch
from ..kernels.targets import Numbers
from ..parameters import find_patience
from .rules import TWO_CLASSES

READS_OF_HARD_ROWS = 2  # per read of all rows; measured: 1 is slower, without end slower still
UPDATES_AT_ONCE = 1024  # the length of a log
STALLED = 5  # epochs without progress after which ``tol`` ends a training, as in scikit-learn
REASONS = ("", "max_iter", "zero_weights", "no_improvement", "separated", "within_epsilon")


class Epoch(NamedTuple):
    """Counts and scores of one epoch; ``history_`` is a list of these.

    Attributes
    ----------
    epoch : int
        Its number, from 1.
    rows : int
        Rows gone through.
    mistakes : int
        Updates made; with ``order="batch"`` the rows that the one update was made by.
    errors : int
        J₁, the misclassified rows (the boundary counts as wrong unless ``ties`` says otherwise).
    loss : float
        J, the sum of -y·activation over the misclassified rows. Both are taken as each row was
        met, or with ``measure=True`` for the weights at the end of the epoch.
    validation_score : float or None
        The accuracy on the rows held out by ``early_stopping``, or the R² of numbers; with several
        problems, the mean over those that learnt in this epoch.

    See Also
    --------
    Perceptron : Its ``history_`` is a list of these.

    Examples
    --------
    >>> from rosenblatt import Perceptron
    >>> Perceptron(order="fixed").fit([[2.0, 1.0], [-1.0, 1.0]], [1, -1]).history_[0]
    Epoch(epoch=1, rows=2, mistakes=2, errors=2, loss=0.0, validation_score=None)
    """

    epoch: int
    rows: int
    mistakes: int
    errors: int
    loss: float
    validation_score: float | None = None


FIRST = Epoch(1, 0, 0, 0, 0.0)
"""An epoch before its first row."""


class SweepResult(NamedTuple):
    """The result of learning from some rows of an order.

    Attributes
    ----------
    position : int
        The place in the order after the last row.
    updates : ndarray
        The updates: a view of the log, valid until the task learns again.
    rows : int
        The rows read, counted once for each problem that learned from them.
    mistakes : int
        The number of updates.
    errors : int
        The rows on the wrong side of the boundary; with a margin, there are more updates.
    loss : float
        The sum of -margin over them.
    """

    position: int
    updates: Array
    rows: int
    mistakes: int
    errors: int
    loss: float


class Swept:
    """The state of one problem, which counts the rows seen and the updates."""

    seen: int
    mistakes: int

    def sweep(self, task: Any, order: Array, most: int | None) -> Iterator[SweepResult]:
        """Learn from the rows in an order, at most ``most`` updates at a time."""
        position = 0
        while position < len(order):
            learnt = task.learn(self, order, position, most)
            position = learnt.position
            self.mistakes += len(learnt.updates)
            yield learnt
        self.seen += len(order)


Sweep = Iterator[tuple[Array, SweepResult]]
"""Pairs of the order of a sweep and what was learned from a piece of it."""


class Task(Protocol):
    """The examples of one problem."""

    row_order: Array
    """The numbers of the rows to learn from, in order."""
    width: int
    """The number of columns known so far."""

    def learn(self, state: Any, order: Array, start: int, most: int | None = None) -> SweepResult:
        """Change a state by the rows of an order from a place on, until there are most updates."""


class Part(NamedTuple):
    """Rows that every problem of a training learns from.

    Attributes
    ----------
    task
        Returns the task of a problem by its number.
    row_order
        As in every task.
    """

    task: Callable[[int], Any]
    row_order: Array

    @classmethod
    def of(cls, task: Task) -> "Part":
        """Make a part for one problem."""
        return cls(lambda _: task, task.row_order)


@dataclass
class ProblemRun:
    """One problem of a training: its state, its epochs, and the counts of the epoch in progress.

    A checkpoint keeps all of it.

    Attributes
    ----------
    state
        What is learned: a solution.
    count : Epoch
        The epoch so far.
    epochs : list of Epoch
        Those that are complete.
    stop_reason : str
        Why the problem rests; empty while it learns.
    best_score, best_epoch, best
        The best state on held-out rows so far, or None.
    mistaken : ndarray
        Which rows were ever mistaken, if the order asks for it; else empty.
    """

    state: Any = None
    count: Epoch = FIRST
    epochs: list[Epoch] = field(default_factory=list)
    stop_reason: str = ""
    best_score: float = 0.0
    best_epoch: int = 0
    best: Any = None
    mistaken: Array = field(default_factory=partial(np.zeros, 0, bool))

    def add(self, more: SweepResult | Epoch) -> None:
        """Add what was counted in some rows."""
        number, rows, mistakes, errors, loss, _ = self.count
        rows, mistakes, errors = rows + more.rows, mistakes + more.mistakes, errors + more.errors
        self.count = Epoch(number, rows, mistakes, errors, loss + more.loss)

    def end_epoch(self, separated: bool, score: float | None, training: "Training") -> None:
        """Record the epoch, keep the state if it is the best on held-out rows, and decide."""
        counted = self.count if score is None else self.count._replace(validation_score=score)
        self.epochs.append(counted)
        number = len(self.epochs)
        self.count = Epoch(number + 1, 0, 0, 0, 0.0)
        even = separated and score == self.best_score
        if score is not None and (self.best is None or score > self.best_score or even):
            self.best_score, self.best_epoch = score, number
            self.best = copy.deepcopy(self.state)
        reason = self.state.stop_reason(separated)
        tol, ends = training.tol, self.best and number - self.best_epoch >= training.patience
        if not reason and (ends or (tol is not None and has_stalled(self.epochs, tol))):
            reason = "no_improvement"
        self.stop_reason = reason or ("max_iter" if number >= training.max_iter else "")
        if self.stop_reason and self.best is not None:
            self.state = self.best


def has_stalled(epochs: list[Epoch], tol: float) -> bool:
    """Whether the loss of none of the last epochs was ``tol`` a row below all losses before it."""
    losses = np.array(list(map(attrgetter("loss"), epochs)))
    fell = losses[1:] <= np.minimum.accumulate(losses)[:-1] - tol * epochs[-1].rows
    return len(fell) >= STALLED and not fell[-STALLED:].any()


class Checkpoint(NamedTuple):
    """The progress of an unfinished training, besides its states.

    Attributes
    ----------
    parts : int
        How many parts of the data the epoch in progress has gone through.
    problems : list of ProblemRun
        One per problem.
    """

    parts: int
    problems: list[ProblemRun]

    @property
    def epoch(self) -> int:
        """How many epochs are complete."""
        return max(len(one.epochs) for one in self.problems)


@dataclass
class Training:
    """One training: data, problems, and when to stop.

    Iterate over ``updates`` to train; between two items the states are as after the updates so far.
    A problem that has a reason to stop rests while the others learn. After any part,
    ``checkpoint`` returns what another training needs to ``resume``.

    Attributes
    ----------
    parts
        Returns the parts of an epoch: one for all rows in memory, one per batch of a stream. States
        are widened to the width of each.
    problems
        The problems, which share the rows and nothing else.
    max_iter, patience, tol
        The most epochs, how many to wait for a better score on held-out rows, and by how much the
        loss of a row has to fall.
    order, seed
        The order of the rows of a part, and its seed.
    measure
        Whether to measure errors and loss of the weights after each epoch.
    validate
        Returns the accuracy of some problems, given by number, on held-out rows.
    updates_at_once
        The number of updates after which to yield; None for a number that suits the task.
    first_part
        The number of the first part; permutations depend on the number of a part.
    threads
        The number of problems that ``train`` trains at the same time.
    after_part, after_epoch
        Called after each part, and after each epoch.
    epoch, number, done, part, shuffled, permuted
        The epoch, counted from 1; the number of the part in progress, how many are done, the part
        itself, its rows in the order of the epoch, and the number of that permutation.
    """

    parts: Callable[[], Iterable[Part]]
    problems: list[ProblemRun]
    max_iter: int = 1
    patience: int = 5
    tol: float | None = None
    order: str = "fixed"
    seed: int = 0
    measure: bool = False
    validate: Callable[[list[int]], dict[int, float]] | None = None
    updates_at_once: int | None = None
    first_part: int = 0
    threads: int = 1
    after_part: Callable[["Training"], None] | None = None
    after_epoch: Callable[[Epoch], None] | None = None
    epoch: int = field(default=0, init=False)
    number: int = field(default=0, init=False)
    done: int = field(default=0, init=False)
    part: Part = field(init=False)
    shuffled: Array = field(init=False)
    permuted: int = field(default=-1, init=False)

    @classmethod
    def of(cls, task: Task, state: Any, **options: Any) -> "Training":
        """A training of one problem on rows in memory."""
        parts = [Part.of(task)]
        return cls(lambda: parts, [ProblemRun(state)], **options)

    @classmethod
    def by(
        cls,
        parameters: Mapping[str, Any],
        states: Iterable[Any],
        parts: Callable[[], Iterable[Part]],
        **options: Any,
    ) -> "Training":
        """A training of all problems, by the parameters of an estimator and further options."""
        options["measure"], options["tol"] = parameters.get("measure"), parameters.get("tol")
        if "validate" in options:
            options["patience"] = find_patience(parameters)
        options.setdefault("max_iter", parameters["max_iter"])
        return cls(parts, list(map(ProblemRun, states)), order=parameters["order"], **options)

    @property
    def active(self) -> list[int]:
        """The numbers of the problems that have no reason to stop."""
        rests = map(attrgetter("stop_reason"), self.problems)
        return list(compress(count(), map(not_, rests)))

    @property
    def epochs(self) -> list[Epoch]:
        """The epochs, summed over all problems."""
        if len(self.problems) == 1:
            return self.problems[0].epochs
        return merge_epochs(list(map(attrgetter("epochs"), self.problems)))

    @property
    def stop_reason(self) -> str:
        """Why training ended, the weakest reason of all problems; "" before."""
        return str(min(map(attrgetter("stop_reason"), self.problems), key=REASONS.index))

    @property
    def count(self) -> Epoch:
        """The counts of the epoch in progress, summed over all problems."""
        return sum_epochs(list(map(attrgetter("count"), self.problems)))

    @property
    def states(self) -> list[Any]:
        """The state of each problem; in the end the best on held-out rows, if there are any."""
        return list(map(attrgetter("state"), self.problems))

    def train(self) -> "Training":
        """Train to the end."""
        if self.threads > 1 and len(self.problems) > 1:
            with ThreadPoolExecutor(self.threads) as pool:
                finish(self.updates(pool))
            return self
        with np.errstate(over="ignore", invalid="ignore"):
            for _ in self.updates():
                pass
        return self

    def updates(self, pool: Executor | None = None) -> Sweep:
        """Train; yield the order of each sweep with what was learned from a piece of it.

        With a pool, all problems learn from a part at the same time, and nothing is yielded.
        """
        while active := self.active:
            self.epoch += 1
            for number, part in enumerate(self.parts()):
                if number < self.done:
                    continue  # learnt before the training was left
                self.number, self.part = number, part
                self.permute()
                turns = map(self.take_turn, active)
                if pool is None:
                    for turn in turns:
                        yield from turn
                else:
                    finish(pool.map(finish, turns))
                self.done = number + 1
                if self.after_part is not None:
                    self.after_part(self)
            self.end_epoch(active)

    def take_turn(self, number: int) -> Sweep:
        """Yield the sweeps of one problem over the part."""
        problem, task = self.problems[number], self.part.task(number)
        problem.state.widen(task.width)
        if self.order == "active" and not len(problem.mistaken):
            problem.mistaken = np.zeros(1 + int(task.row_order.max(initial=0)), bool)
        if self.order == "batch":
            task = BatchTask(task)
        chooses = self.order in ("first", "worst", "active")
        for order in self.choose_rows(problem, task) if chooses else (self.shuffled,):
            for learnt in problem.state.sweep(task, order, self.updates_at_once):
                problem.add(learnt)
                if len(problem.mistaken):
                    problem.mistaken[order[learnt.updates["position"]]] = True
                yield order, learnt

    def choose_rows(self, problem: ProblemRun, task: Any) -> Iterator[Array]:
        """Yield the orders in which a problem goes through rows that it chooses.

        "first" and "worst" take one row: the first mistake, or the one with the smallest margin; of
        equals the first. "active" takes all rows, then those that were ever mistaken, until these
        are right or twice as many rows have been read.
        """
        rows = task.row_order
        if self.order == "first":
            before = task.learn(problem.state, rows, 0, 0).position
            problem.count = problem.count._replace(rows=before)
            yield rows[before : before + 1]
        elif self.order == "worst":
            margins = task.margins(problem.state)
            wrong = np.flatnonzero(~(margins > task.required()))
            chosen = wrong[[np.argmin(margins[wrong])]] if len(wrong) else wrong
            problem.count = problem.count._replace(rows=len(rows) - len(chosen))
            yield rows[chosen]
        else:
            yield rows
            hard, visits, before = np.flatnonzero(problem.mistaken).astype(rows.dtype), 0, 0
            while problem.count.mistakes > before and visits < READS_OF_HARD_ROWS * len(rows):
                before, visits = problem.count.mistakes, visits + len(hard)
                yield hard

    def permute(self) -> None:
        """Put the rows of the part into an order, a random one by the epoch and the part."""
        if self.order not in ("each", "once"):
            self.shuffled = self.part.row_order
            return
        number = (self.epoch if self.order == "each" else 0) | self.first_part + self.number << 32
        if self.permuted != number:
            self.permuted, self.shuffled = number, self.part.row_order.copy()
            shuffle(self.shuffled, self.seed, number)

    def end_epoch(self, active: list[int]) -> None:
        """Record the epoch of the problems that learnt, and decide which of them stop."""
        scores = {} if self.validate is None else self.validate(active)
        for number in active:
            problem = self.problems[number]
            separated, score = problem.count.mistakes == 0, scores.get(number)
            if self.measure:
                errors, loss, separated = self.measure_losses(number)
                problem.count = problem.count._replace(errors=errors, loss=loss)
            if score is not None and np.isnan(score):  # held-out rows that decide nothing
                score = None
            problem.end_epoch(separated, score, self)
        self.done = 0
        if self.after_epoch is not None:
            self.after_epoch(sum_epochs([self.problems[k].epochs[-1] for k in active]))

    def measure_losses(self, number: int) -> tuple[int, float, bool]:
        """The errors and the loss of a problem, and whether every row is right."""
        return losses(self.part.task(number), self.problems[number].state)

    def checkpoint(self) -> Checkpoint:
        """The progress of the training, after a part or an epoch."""
        kept = [replace(one, state=None, epochs=list(one.epochs)) for one in self.problems]
        return Checkpoint(self.done, kept)

    def resume(self, left: Checkpoint) -> None:
        """Continue where another training was left."""
        self.epoch, self.done = left.epoch, left.parts
        pairs = zip(left.problems, self.problems, strict=True)
        self.problems = [
            replace(kept, state=one.state, epochs=list(kept.epochs)) for kept, one in pairs
        ]


def finish(sweeps: Iterable[Any]) -> None:
    """Exhaust sweeps."""
    with np.errstate(over="ignore", invalid="ignore"):  # of a thread
        for _ in sweeps:
            pass


def losses(task: Any, state: Any) -> tuple[int, float, bool]:
    """The errors and the loss of a state, and whether every row is right."""
    margins, required = task.margins(state), task.required()
    wrong = margins[~(margins > np.minimum(required, 0))]
    return len(wrong), -float(wrong.sum()) + 0.0, bool(np.all(margins > required))


def merge_epochs(histories: list[list[Epoch]]) -> list[Epoch]:
    """Sum the epochs of several problems by number; a problem that rests adds nothing."""
    together = zip_longest(*histories)
    return [sum_epochs(list(filter(None, epochs))) for epochs in together]


def sum_epochs(epochs: Sequence[Epoch]) -> Epoch:
    """Sum one epoch of several problems: add the counts, average the scores."""
    if len(epochs) == 1:
        return epochs[0]
    scores = [epoch.validation_score for epoch in epochs if epoch.validation_score is not None]
    total = ProblemRun()
    for epoch in epochs:
        total.add(epoch)
    score = sum(scores) / len(scores) if scores else None
    return total.count._replace(epoch=epochs[0].epoch, validation_score=score)


# Linear examples


find_loop: Callable[[Any], Any] = cache(compile_loop)


@dataclass
class LinearTask:
    """Rows and labels of one problem, with a rule to learn linear weights."""

    examples: Examples
    row_order: Array
    settings: Any
    width: int
    target: Any = TWO_CLASSES
    """What labels are, as kernels take it."""
    demanding: bool = True
    """Whether rows on the right side may be updated, too."""
    log: Array = field(default_factory=partial(np.zeros, UPDATES_AT_ONCE, UPDATE))

    def learn(
        self, state: Any, order: Array, start: int = 0, most: int | None = None
    ) -> SweepResult:
        """Change a state by the rows of an order from a place on, until there are most updates.

        A row whose score is not finite raises.
        """
        log = self.log if most is None else self.log[:most]
        given = self.target, self.settings, self.examples, order, start
        clock = Clock(float(state.seen), 0.0, 0.0)
        loop = find_loop(type(self.settings))
        position, n_updates, loss = loop(*given, state.arrays(), clock, log)
        if n_updates < len(log) and position < len(order):
            raise not_finite(self.examples.rows, int(order[position]))
        updates, errors = log[:n_updates], n_updates
        if self.demanding:
            errors = int(np.count_nonzero(updates["margin"] <= 0))
        return SweepResult(position, updates, position - start, n_updates, errors, loss)

    def mark_errors(self, order: Array, updates: Array, errors: Array) -> None:
        """Set the error of each row that caused an update: whether it was wrong, or by how much."""
        rows = order[updates["position"]]
        if isinstance(self.target, Numbers):
            errors[rows] = self.target.epsilon - updates["margin"]
        else:
            errors[rows[updates["margin"] <= 0]] = True

    def margins(self, state: Any) -> Array:
        """Every row's label times activation, or the lead of its class over the best rival.

        Of numbers, by how much each error is below the largest one without an update; of ranks, the
        distance from the nearest threshold, negative on its wrong side.
        """
        out = np.empty(len(self.row_order))
        weights = state.arrays()._replace(S=None, Sb=None, z=None, zb=None)
        margins(self.target, self.examples, self.row_order, weights, out)
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


@dataclass
class BatchTask:
    """A task whose rows are judged by the same weights, which then move by all mistakes at once."""

    task: LinearTask

    def learn(
        self, state: Any, order: Array, start: int = 0, most: int | None = None
    ) -> SweepResult:
        """Move the weights once, by all rows of an order that are mistaken."""
        settings, log = Batch(*self.task.settings), np.zeros(len(order), UPDATE)
        task, resting = replace(self.task, settings=settings, log=log), copy.copy(state)
        total = resting.missing = np.zeros(state.weights.shape)
        total_of_bias = resting.missing_bias = np.zeros(len(state.bias))
        learnt = task.learn(resting, order)
        state.weights += total
        state.bias += total_of_bias
        if state.averages:  # all rows of the pass count with the weights after it
            state.missing += state.seen * total
            state.missing_bias += state.seen * total_of_bias
        return learnt
