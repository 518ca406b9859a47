"""The one outer loop: epochs over the parts of some data, in an order, until a stop rule holds."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..data.rows import Array
from ..kernels.algebra import shuffle
from .history import Best, Checkpoint, Count, Epoch, History
from .orders import ORDERS
from .tasks import Learnt, Task


@dataclass
class Run:
    """One training run: data, a state to change, and when to stop.

    Go through ``updates`` to train; between two items the state is as the updates left it.
    ``checkpoint`` tells after any part how to go on in another run with ``resume``.

    Attributes
    ----------
    parts
        Gives the tasks that an epoch goes through one after the other: one for all rows in memory,
        one per batch of a stream. The state is widened to the width of each.
    state
        What is learnt: a solution.
    history
        The epochs, and when to stop.
    order, seed
        How the rows of a part are gone through.
    measure
        Whether to take the losses of the weights after each epoch.
    validate
        Tells the accuracy of a state on held-out rows.
    updates_at_once
        After how many updates to look in, or None for as many as suit the task.
    first_part
        The number of the first part, which its permutations depend on.
    after_part, after_epoch
        Told when one is done.
    """

    parts: Callable[[], Iterable[Task]]
    state: Any
    history: History = field(default_factory=History)
    order: str = "fixed"
    seed: int = 0
    measure: bool = False
    validate: Callable[[Any], float] | None = None
    updates_at_once: int | None = None
    first_part: int = 0
    after_part: Callable[["Run"], None] | None = None
    after_epoch: Callable[[Epoch], None] | None = None
    task: Task = field(init=False)
    """The part at hand."""

    def __post_init__(self) -> None:
        self.epoch, self.part, self.done = len(self.history.epochs), 0, 0
        self.count, self.mistaken = Count(), np.zeros(0, bool)
        self.permuted, self.order_of_rows = -1, np.zeros(0, np.uint32)

    def updates(self) -> Iterator[tuple[Array, Learnt]]:
        """Train; yield the order of each sweep and what was learnt from it, piece by piece."""
        while not self.history.stop_reason:
            self.epoch += 1
            for part, task in enumerate(self.parts()):
                if part < self.done:
                    continue  # it was learnt before the run was left
                self.begin_part(part, task)
                for order in ORDERS[self.order](self):
                    for learnt in self.state.sweep(task, order, self.updates_at_once):
                        self.tally(order, learnt)
                        yield order, learnt
                self.done = part + 1
                if self.after_part is not None:
                    self.after_part(self)
            self.end_epoch()

    def begin_part(self, part: int, task: Task) -> None:
        """Turn to a part."""
        self.part, self.task = part, task
        self.state.widen(task.width)
        if self.order == "active" and not len(self.mistaken):
            self.mistaken = np.zeros(1 + int(task.everything.max(initial=0)), bool)

    def train(self) -> "Run":
        """Train to the end."""
        for _ in self.updates():
            pass
        return self

    @property
    def outcome(self) -> Any:
        """The state to keep."""
        return self.history.chosen(self.state)

    def permutation(self, number: int) -> Array:
        """The rows at hand in a random order, the same whenever it is asked for."""
        number |= self.first_part + self.part << 32
        if self.permuted != number:
            self.permuted, self.order_of_rows = number, self.task.everything.copy()
            shuffle(self.order_of_rows, self.seed, number)
        return self.order_of_rows

    def tally(self, order: Array, learnt: Learnt) -> None:
        """Count what was learnt."""
        self.count.tally(learnt)
        if self.order == "active":
            self.mistaken[order[learnt.updates["position"]]] = True

    def end_epoch(self) -> None:
        """Write the epoch down and decide whether to stop."""
        separated = self.measure_losses() if self.measure else self.count.mistakes == 0
        score = None if self.validate is None else self.validate(self.state)
        epoch = self.history.close(self.count, self.state, separated, score)
        self.count, self.done = Count(), 0
        if self.after_epoch is not None:
            self.after_epoch(epoch)

    def measure_losses(self) -> bool:
        """Take both losses of the weights as they are; say whether every row is right."""
        self.count.errors, self.count.loss, clean = losses(self.task, self.state)
        return clean

    def checkpoint(self) -> Checkpoint:
        """Where the run stands, after a part or an epoch."""
        count, best = self.count, self.history.best or Best(0.0, 0, None)
        return Checkpoint(
            len(self.history.epochs),
            self.done,
            count.n_rows,
            count.mistakes,
            count.errors,
            count.loss,
            *best,
            mistaken=self.mistaken if self.order == "active" else None,
        )

    def resume(self, left: Checkpoint) -> None:
        """Go on where another run was left."""
        self.epoch, self.done = left.epoch, left.parts
        self.count = Count(left.rows, left.mistakes, left.errors, left.loss)
        if left.best is not None:
            self.history.best = Best(left.best_score, left.best_epoch, left.best)
        if left.mistaken is not None:
            self.mistaken = left.mistaken
        if self.history.epochs and not left.parts:  # it may have been left after its last epoch
            self.history.decide(self.state, self.history.epochs[-1].mistakes == 0)


def losses(task: Task, state: Any) -> tuple[int, float, bool]:
    """The errors and the loss of a state as it is, and whether every row is right."""
    margins, required = task.margins(state), task.required()
    wrong = margins[~(margins > np.minimum(required, 0))]
    return len(wrong), -float(wrong.sum()) + 0.0, bool(np.all(margins > required))
