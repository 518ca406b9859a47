"""Learning in the dual form, block by block: a task for the one outer loop."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..data.rows import Array
from ..kernels.loop import UPDATE
from ..kernels.perceptron import Perceptron
from ..training.tasks import SweepResult
from .forms import AllClasses, Block, EachClass
from .gram import Gram
from .state import DualState


@dataclass
class DualTask:
    """Rows to learn from with kernel values; subclasses define what a mistake does.

    All problems of one-vs-rest learn in the same pass; one without a mistake in a pass rests.
    """

    gram: Gram
    X: Any
    row_order: Array
    form: EachClass | AllClasses
    settings: Perceptron
    begun: DualState
    cache_bytes: float
    log: Array = field(init=False)
    """The updates of a replay."""
    size: int = field(init=False)
    """The number of support rows."""

    def __post_init__(self) -> None:
        begun = self.begun
        self.state = replace(begun, bias=begun.bias.copy(), seen=begun.seen.copy())
        self.width = self.X.shape[1]
        self.together = isinstance(self.form, AllClasses)
        self.learning = np.ones(len(begun.bias), bool)
        self.rows_at_once = min(max(self.block_size(), 1), max(len(self.row_order), 1))
        self.order: Array | None = None
        self.blocks: list[Block] = []
        self.mistakes = np.zeros(len(self.learning), np.intp)
        self.made: list[Array] = []
        self.loss, self.errors = 0.0, 0
        self.size = len(begun.numbers)

    def block_size(self) -> int:
        """Return the number of rows of a block whose kernel values fit in the cache."""
        raise NotImplementedError

    def visit(self, block: Block) -> None:
        """Learn from the rows of a block, one by one."""
        raise NotImplementedError

    def update_scores(self, block: Block) -> None:
        """Bring the scores of a block up to date, before its rows go to other blocks."""

    def index(self, numbers: Array) -> Any:
        """Return numbers of rows as an index of the scores."""
        return numbers

    def version(self) -> int:
        """Return how many pieces of updates the scores of new blocks contain."""
        return 0

    def make_state(self) -> DualState:
        """Return the state with the support and coefficients as they are now."""
        raise NotImplementedError

    def learn(
        self, state: DualState, order: Array, start: int, most: int | None = None
    ) -> SweepResult:
        """Learn from the block of an order that begins at a place."""
        if start == 0:
            self.begin(order)
        block = self.blocks[start // self.rows_at_once]
        self.loss, self.errors, self.made = 0.0, 0, [np.empty(0, UPDATE)]
        self.visit(block)
        position, updates = start + len(block.numbers), np.concatenate(self.made)
        updates["position"] += block.offset
        problems = 1 if self.together else int(self.learning.sum())
        if position == len(order):
            self.end(len(order))
        n_rows = len(block.numbers) * problems
        return SweepResult(position, updates, self.errors, self.loss, n_rows)

    def begin(self, order: Array) -> None:
        """Cut an order into blocks, unless they are those of the last pass."""
        self.mistakes[:] = 0
        if self.order is order:
            return
        for block in self.blocks:
            self.update_scores(block)
        self.order, numbers = order, order.astype(np.intp)
        index, self.blocks = self.index(numbers), []
        for offset in range(0, len(numbers), self.rows_at_once):
            some = slice(offset, offset + self.rows_at_once)
            self.blocks.append(Block(numbers[some], offset, self.version(), index[some]))

    def end(self, n_rows: int) -> None:
        """Count a pass; problems without a mistake rest from now on."""
        self.state.seen[self.learning] += n_rows
        self.learning &= bool(self.mistakes.sum()) if self.together else self.mistakes > 0

    def tally(self, log: Array, outputs: Array) -> None:
        """Count new mistakes."""
        self.made.append(log.copy())
        self.errors += int(np.count_nonzero(log["margin"] <= 0))
        self.mistakes += np.bincount(outputs, minlength=len(self.mistakes))
        self.state.mistakes += len(log)

    def close(self, state: DualState) -> None:
        """Write the support and the coefficients into the state that a run was given."""
        vars(state).update(vars(self.make_state()))
