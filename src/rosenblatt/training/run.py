"""The one outer loop: epochs over the parts of some data, in an order, until a stop rule holds."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import chain
from threading import Lock
from typing import Any

import numpy as np

from ..data.rows import Array
from ..kernels.algebra import shuffle
from .history import REASONS, Checkpoint, Count, Epoch, Progress, merge_epochs, sum_epochs
from .tasks import BatchTask, Part, SweepResult, Task

READS_OF_HARD_ROWS = 2  # per read of all rows; measured: 1 is slower, without end slower still
NO_PART = Part(dict[int, Task]().__getitem__, np.zeros(0, np.uint32), 0)
Sweep = Iterator[tuple[Array, SweepResult]]
"""Pairs of the order of a sweep and what was learned from a piece of it."""


@dataclass
class Run:
    """One training run: data, problems, and when to stop.

    Iterate over ``updates`` to train; between two items the states are as after the updates so far.
    A problem that has a reason to stop rests while the others learn. After any part,
    ``checkpoint`` returns what another run needs to ``resume``.

    Attributes
    ----------
    parts
        Returns the parts of an epoch: one for all rows in memory, one per batch of a stream. States
        are widened to the width of each.
    problems
        The problems, which share the rows and nothing else.
    max_iter, patience
        The most epochs, and how many to wait for a better score on held-out rows.
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
    """

    parts: Callable[[], Iterable[Part]]
    problems: list[Progress]
    max_iter: int = 1
    patience: int = 5
    order: str = "fixed"
    seed: int = 0
    measure: bool = False
    validate: Callable[[list[int]], dict[int, float]] | None = None
    updates_at_once: int | None = None
    first_part: int = 0
    threads: int = 1
    after_part: Callable[["Run"], None] | None = None
    after_epoch: Callable[[Epoch], None] | None = None
    part: Part = field(init=False)
    """The part in progress."""

    def __post_init__(self) -> None:
        self.epoch = max(len(problem.epochs) for problem in self.problems)
        self.number, self.done, self.part = 0, 0, NO_PART
        self.permuted, self.permuting = -1, Lock()

    @classmethod
    def single(cls, task: Task, state: Any, **options: Any) -> "Run":
        """A run of one problem over rows in memory."""
        part = Part.of(task)
        return cls(lambda: [part], [Progress(state=state)], **options)

    @property
    def active(self) -> list[int]:
        """The numbers of the problems that have no reason to stop."""
        return [k for k, problem in enumerate(self.problems) if not problem.stop_reason]

    @property
    def epochs(self) -> list[Epoch]:
        """The epochs, summed over all problems."""
        return merge_epochs([problem.epochs for problem in self.problems])

    @property
    def stop_reason(self) -> str:
        """Why training ended, the weakest reason of all problems; "" before."""
        return min((problem.stop_reason for problem in self.problems), key=REASONS.index)

    @property
    def count(self) -> Count:
        """The counts of the epoch in progress, summed over all problems."""
        count = Count()
        for one in self.problems:
            count.add(one)
        return count

    @property
    def outcomes(self) -> list[Any]:
        """The final state of each problem."""
        return [problem.outcome for problem in self.problems]

    def updates(self) -> Sweep:
        """Train; yield the order of each sweep with what was learned from a piece of it."""
        return self.learn(chain.from_iterable)

    def train(self) -> "Run":
        """Train to the end."""
        if min(self.threads, len(self.problems)) == 1:
            finish(self.learn(chain.from_iterable))
            return self
        with ThreadPoolExecutor(self.threads) as pool:
            finish(self.learn(lambda turns: pool.map(finish, turns)))
        return self

    def learn(self, gather: Callable[[list[Sweep]], Iterable[Any]]) -> Iterator[Any]:
        """Train; at each part, yield what ``gather`` returns for the sweeps of the problems."""
        while active := self.active:
            self.epoch += 1
            for number, part in enumerate(self.parts()):
                if number < self.done:
                    continue  # learnt before the run was left
                if part is not self.part:  # states keep what they need of the part before
                    self.close()
                self.number, self.part = number, part
                for problem in active:
                    self.problems[problem].state.widen(part.width)
                yield from gather([self.take_turn(part, problem) for problem in active])
                self.done = number + 1
                if self.after_part is not None:
                    self.after_part(self)
            self.end_epoch()
        self.close()

    def take_turn(self, part: Part, number: int) -> Sweep:
        """Yield the sweeps of one problem over a part."""
        problem, task = self.problems[number], part.task(number)
        if self.order == "active" and not len(problem.mistaken):
            problem.mistaken = np.zeros(1 + int(task.row_order.max(initial=0)), bool)
        learns = BatchTask(task) if self.order == "batch" else task
        for order in self.sweeps(problem, task):
            for learnt in problem.state.sweep(learns, order, self.updates_at_once):
                problem.tally(learnt)
                if len(problem.mistaken):
                    problem.mistaken[order[learnt.updates["position"]]] = True
                yield order, learnt
        if not part.keep:
            task.close(problem.state)

    def sweeps(self, problem: Progress, task: Any) -> Iterator[Array]:
        """Yield the orders in which a problem goes through the rows of a part.

        "first" and "worst" take one row: the first mistake, or the one with the smallest margin; of
        equals the first. "active" takes all rows, then those that were ever mistaken, until these
        are right or twice as many rows have been read.
        """
        rows = task.row_order
        if self.order in ("each", "once"):
            yield self.permutation(self.epoch if self.order == "each" else 0)
        elif self.order == "first":
            problem.rows = task.learn(problem.state, rows, 0, 0).position
            yield rows[problem.rows : problem.rows + 1]
        elif self.order == "worst":
            margins = task.margins(problem.state)
            wrong = np.flatnonzero(~(margins > task.required()))
            chosen = wrong[[np.argmin(margins[wrong])]] if len(wrong) else wrong
            problem.rows = len(rows) - len(chosen)
            yield rows[chosen]
        else:  # "batch" is one sweep, too: BatchTask adds up its mistakes
            yield rows
        if self.order == "active":
            hard, visits, before = np.flatnonzero(problem.mistaken).astype(rows.dtype), 0, 0
            while problem.mistakes > before and visits < READS_OF_HARD_ROWS * len(rows):
                before, visits = problem.mistakes, visits + len(hard)
                yield hard

    def permutation(self, number: int) -> Array:
        """The rows of the part in a random order, the same for an epoch whenever it is called."""
        number |= self.first_part + self.number << 32
        with self.permuting:
            if self.permuted != number:
                self.permuted, self.order_of_rows = number, self.part.row_order.copy()
                shuffle(self.order_of_rows, self.seed, number)
            return self.order_of_rows

    def end_epoch(self) -> None:
        """Record the epoch and decide which problems stop."""
        active, scores = self.active, {}
        if self.validate is not None:
            self.close()
            scores = self.validate(active)
        for number in active:
            problem = self.problems[number]
            separated, score = problem.mistakes == 0, scores.get(number)
            if self.measure:
                problem.errors, problem.loss, separated = self.measure_losses(number)
            if score is not None and np.isnan(score):  # held-out rows that decide nothing
                score = None
            problem.close(separated, score)
            problem.decide(separated, self.max_iter, self.patience)
        self.done = 0
        if self.after_epoch is not None:
            self.after_epoch(sum_epochs([self.problems[k].epochs[-1] for k in active]))

    def measure_losses(self, number: int) -> tuple[int, float, bool]:
        """The errors and the loss of a problem, and whether every row is right."""
        return losses(self.part.task(number), self.problems[number].state)

    def close(self) -> None:
        """Make the tasks write into the states what they still hold."""
        for number, task in self.part.tasks.items():
            task.close(self.problems[number].state)

    def checkpoint(self) -> Checkpoint:
        """The progress of the run, after a part or an epoch."""
        self.close()
        kept = [replace(one, state=None, epochs=list(one.epochs)) for one in self.problems]
        return Checkpoint(max(len(one.epochs) for one in kept), self.done, kept)

    def resume(self, left: Checkpoint) -> None:
        """Continue where another run was left."""
        self.epoch, self.done = left.epoch, left.parts
        pairs = zip(left.problems, self.problems, strict=True)
        self.problems = [
            replace(kept, state=one.state, epochs=list(kept.epochs)) for kept, one in pairs
        ]
        for problem in self.problems:
            if problem.epochs and not left.parts and not problem.stop_reason:
                problem.decide(problem.epochs[-1].mistakes == 0, self.max_iter, self.patience)


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
