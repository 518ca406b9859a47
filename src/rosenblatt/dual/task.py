"""Learning in the dual form, block by block: a task for the one outer loop."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ..data.rows import Array, stack_rows
from ..data.weights import rows_that_count
from ..training.rules import PERCEPTRON
from ..training.training import SweepResult
from .gram import ROWS_AT_ONCE, overflow_error, slice_support
from .kernels import cpu
from .kernels.cpu import UPDATES
from .state import DualState, join_updates, sum_steps

SPARE_SUSPECTS = 16  # rows close to a mistake whose kernel values are fetched with the wrong ones


@dataclass
class Block:
    """Some rows of an epoch's order, and what is known of them while they are learnt.

    Attributes
    ----------
    numbers, offset
        The rows, and the number of rows of the epoch before them.
    version
        The number of pieces of updates that their stored scores contain.
    index
        The numbers as an index of arrays.
    steps, labels
        How far each row moves each problem, and the classes if they are one problem.
    rows, scores
        During a visit: the rows when they were fetched, and the scores of each output.
    """

    numbers: Array
    offset: int
    version: int
    index: Any
    steps: Any
    labels: Any
    rows: Any = None
    scores: Any = None


class Support:
    """Rows once mistaken, each once, in the order of their first mistake."""

    def __init__(self, rows: Any, xp: Any) -> None:
        self.buffer, self.count, self.xp = rows, rows.shape[0], xp

    def add(self, rows: Any) -> None:
        """Append rows; dense ones into a buffer that doubles when it is full."""
        begin, self.count = self.count, self.count + rows.shape[0]
        if hasattr(rows, "indptr"):
            self.buffer = stack_rows([self.buffer, rows])
            return
        if self.count > len(self.buffer):
            shape = max(self.count, 2 * begin), *rows.shape[1:]
            old, self.buffer = self.buffer, np.empty_like(rows, shape=shape)
            self.buffer[:begin] = old[:begin]
        self.buffer[begin : self.count] = rows

    def take(self, places: Any) -> Any:
        """Return some rows; as a view where they are neighbours."""
        first, last = int(places[0]), int(places[-1])
        neighbours = last - first + 1 == len(places)
        return self.buffer[slice(first, last + 1) if neighbours else self.xp.asarray(places)]


@dataclass
class DualTask:
    """Learns without a budget: keeps the scores of every row, to which each update is added once.

    The updates since a block was learnt last are added to its scores by matrix products; then its
    rows are replayed one by one with their own kernel values. So an epoch costs (new mistakes ×
    rows) kernel values, not (support × rows). All problems of one-vs-rest learn in the same pass;
    one without a mistake in a pass rests.

    Attributes
    ----------
    learner
        The ``DualLearner``, whose state is where learning starts.
    X, codes, weights
        The rows, the class of each, and its weight.
    """

    learner: Any
    X: Any
    codes: Any
    weights: Any
    xp: ClassVar[Any] = np  # or CuPy
    most_rows: ClassVar[int] = ROWS_AT_ONCE  # of a block

    def __post_init__(self) -> None:
        learner, begun = self.learner, self.learner.state
        parameters, outputs, n_rows = learner.parameters, len(begun.bias), self.X.shape[0]
        self.gram, self.together = learner.gram, learner.together
        self.width = self.X.shape[1]
        self.limits: tuple[int, ...] = (self.width,)
        self.rule = PERCEPTRON.kind.of(parameters, learner.intercept_step)
        problems = PERCEPTRON.problems(len(learner.classes), parameters["multi_class"])
        self.positive = None if self.together else self.xp.asarray(problems)[:, None]
        self.state: DualState = replace(begun, bias=begun.bias.copy(), seen=begun.seen.copy())
        self.row_order = rows_that_count(self.codes, self.weights)
        self.codes, self.weights = self.xp.asarray(self.codes), self.xp.asarray(self.weights)
        self.learning = np.ones(len(problems), bool)
        self.mistakes = np.zeros(len(problems), np.intp)
        self.rows_at_once = min(self.most_rows, max(len(self.row_order), 1))
        self.order: Array | None = None
        self.blocks, self.visited = list[Block](), False
        self.log = np.zeros(self.rows_at_once * outputs, UPDATES)
        self.lines = np.empty((self.rows_at_once, self.rows_at_once))
        self.bias, self.scores = self.xp.asarray(self.state.bias), self.xp.zeros((outputs, n_rows))
        self.support, self.place = Support(begun.support, self.xp), np.full(n_rows, -1, np.intp)
        self.numbers, self.pieces = [begun.numbers], [begun.updates]

    def learn(self, order: Array, start: int) -> SweepResult:
        """Learn from the block of an order that begins at a place."""
        if start == 0:
            self.mistakes[:] = 0
            self.cut(order)
        block = self.blocks[start // self.rows_at_once]
        self.made = list[Array]()
        self.visit(block)
        block.rows = block.scores = None
        updates, position = join_updates(self.made), start + len(block.numbers)
        wrong, n_rows = updates["margin"] <= 0, len(block.numbers) * int(self.learning.sum())
        loss = -float(np.minimum(updates["margin"], 0.0).sum()) + 0.0
        if position == len(order):
            self.state.seen += len(order) * self.learning
            self.learning &= self.mistakes > 0
        return SweepResult(position, updates, n_rows, len(updates), int(wrong.sum()), loss)

    def cut(self, order: Array) -> None:
        """Cut an order into blocks, unless they are those of the last pass."""
        if self.order is order:
            return
        for block in self.blocks if self.visited else ():
            self.add_updates(block)
            self.store_scores(block)
        self.order, numbers = order, order.astype(np.intp)
        version, self.blocks = len(self.pieces) if self.visited else 0, []
        for offset in range(0, len(numbers), self.rows_at_once):
            some = numbers[offset : offset + self.rows_at_once]
            index = self.xp.asarray(some)
            weights, labels = self.weights[index], self.codes[index]
            steps = weights[None]
            if not self.together:
                steps = self.xp.where(labels == self.positive, weights, -weights)
                labels = labels[:0]
            self.blocks.append(Block(some, offset, version, index, steps, labels))

    def excess(self, block: Block) -> Any:
        """Return how far each row exceeds what it needs to be right, in its worst problem."""
        a, required = block.scores + self.bias[:, None], self.rule.above
        if self.together:
            every = self.xp.arange(a.shape[1])
            own = a[block.labels, every]
            a[block.labels, every] = -np.inf
            return own - a.max(axis=0) - required
        right = self.xp.where(block.steps > 0, a - required, self.rule.below - a)
        return right[self.xp.asarray(np.flatnonzero(self.learning))].min(axis=0)

    def replay(self, block: Block, start: int, values: Array, places: Array) -> tuple[int, Array]:
        """Learn from a block from a row on; stop at a mistake without kernel values."""
        given = values, places, block.steps, block.labels, self.learning, start, block.scores
        t, count = cpu.replay(*given, self.state.bias, self.rule, self.log)
        return t, self.log[:count]

    def tally(self, log: Array) -> Array:
        """Count new mistakes, and return a copy of their log."""
        self.made.append(log.copy())
        problems = log["label"] * (not self.together)
        self.mistakes += np.bincount(problems, minlength=len(self.mistakes))
        self.state.mistakes += len(log)
        return self.made[-1]

    def visit(self, block: Block) -> None:
        """Learn from the rows of a block, one by one."""
        self.add_updates(block)
        for log in self.find_mistakes(block):
            self.record(block, self.tally(log))
        self.pieces.append(join_updates(self.made))
        self.store_scores(block)

    def find_mistakes(self, block: Block) -> Iterator[Array]:
        """Learn from a block; yield the log of its updates, piece by piece."""
        count = len(block.numbers)
        places, start, used = np.full(count, -1, np.intp), 0, 0
        while True:
            start, log = self.replay(block, start, self.lines, places)
            if len(log):
                yield log
            if start == count:
                return
            if places[start] >= 0:
                raise overflow_error(int(block.numbers[start]))
            suspects = self.find_suspects(block, places, start)
            places[suspects] = np.arange(used, used + len(suspects))
            picked = self.pick(block.numbers[suspects])
            values = self.gram(picked, self.rows(block))
            self.lines[used : used + len(suspects), :count] = values
            used += len(suspects)

    def find_suspects(self, block: Block, places: Array, start: int) -> Array:
        """Return the rows from start on that are wrong or nearly wrong, whose values are needed."""
        unknown = start + np.flatnonzero(places[start:] < 0)
        excess = np.nan_to_num(self.excess(block)[unknown], nan=-np.inf)
        excess[0] = -np.inf  # where the replay stopped
        wrong = int(np.count_nonzero(~(excess > 0)))
        count = min(2 * wrong + SPARE_SUSPECTS, len(unknown))
        return np.sort(unknown[np.argpartition(excess, count - 1)[:count]])

    def record(self, block: Block, updates: Array) -> None:
        """Set the place, time and step of the bias of updates; add new rows to the support."""
        rows = block.numbers[updates["position"]]
        fresh = rows[self.place[rows] < 0]
        fresh = fresh[np.diff(fresh, prepend=-1) != 0]
        if len(fresh):
            self.place[fresh] = np.arange(self.support.count, self.support.count + len(fresh))
            self.support.add(self.pick(fresh))
            self.numbers.append(fresh + self.state.given)
        updates["place"], updates["bias_step"] = self.place[rows], self.rule.bias
        updates["position"] += block.offset
        updates["time"] = self.state.seen[updates["label"]] + updates["position"]

    def fetch(self, numbers: Array) -> Any:
        """Return some rows."""
        return self.X[numbers]

    def pick(self, numbers: Array) -> Any:
        """Return some rows as support: their numbers, if X has kernel values."""
        precomputed = self.gram.kernel == "precomputed"
        return self.xp.asarray(numbers) if precomputed else self.fetch(numbers)

    def rows(self, block: Block) -> Any:
        """Return the rows of a block, fetched when first needed."""
        if block.rows is None:
            block.rows = self.fetch(block.numbers)
        return block.rows

    def add_updates(self, block: Block) -> None:
        """Add to the scores of a block the updates that they lack, by matrix products."""
        block.scores = self.scores.take(block.index, axis=1)
        updates = join_updates(self.pieces[block.version :])
        places, updates["place"] = np.unique(updates["place"], return_inverse=True)
        coef = sum_steps(updates, updates["step"], len(self.scores), len(places))
        for part in slice_support(len(places), *self.limits):
            values = self.gram(self.support.take(places[part]), self.rows(block))
            block.scores += self.xp.asarray(coef[:, part]) @ values

    def store_scores(self, block: Block) -> None:
        """Store the scores of a block, which are up to date."""
        self.scores[:, block.index] = block.scores
        self.visited, block.version = True, len(self.pieces)

    def copy_support(self) -> Any:
        """Return a copy of the support rows without spare rows, in the layout of X."""
        return self.support.buffer[: self.support.count].copy()

    def make_state(self) -> DualState:
        """Return the state with the support and coefficients as they are now."""
        numbers = np.concatenate(self.numbers)
        kept = replace(self.state, support=self.copy_support(), numbers=numbers)
        return kept.with_updates(join_updates(self.pieces))
