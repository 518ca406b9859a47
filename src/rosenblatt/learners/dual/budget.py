"""The dual form with a budget: a largest number of support rows."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ...data.rows import Array
from ...kernels.algebra import mix
from ...kernels.dual import KernelValues
from ...kernels.linear import UPDATE
from .forms import NOTHING, Block
from .gram import ROWS_AT_ONCE, overflow_error, slice_support
from .state import DualState
from .task import DualTask
from .unbounded import stack_rows

DEPENDENT = 1e-8  # a squared distance to the span, as a share of K(x, x), that counts as none


@dataclass
class BudgetedTask(DualTask):
    """Learns with at most B support rows; a policy says what a mistake does to a full support.

    The kernel values of a block with the support are computed at once, then its mistakes are
    learnt one by one. An epoch costs (budget × rows) kernel values; no scores of rows are kept.
    """

    budget: int = field(kw_only=True)
    policy_name: str = field(kw_only=True)

    def __post_init__(self) -> None:
        self.policy, policy = POLICIES[self.policy_name], self.policy_name
        room = len(self.begun.numbers) + len(self.row_order)
        self.capacity = min(self.budget, room)
        super().__post_init__()
        state, outputs = self.state, len(self.state.bias)
        self.support = state.support
        self.numbers, self.ages = (
            enlarge(state.numbers, self.capacity),
            enlarge(state.ages, self.capacity),
        )
        self.coef = enlarge(state.coef, outputs, self.capacity)
        self.missing = enlarge(state.missing, outputs, self.capacity)
        self.missing_bias = state.missing_bias.copy()
        self.matrix = enlarge(state.matrix, *[self.capacity * (policy in SQUARED)] * 2)
        self.place = {int(number): place for place, number in enumerate(state.numbers)}
        self.room = np.empty((self.capacity, self.rows_at_once))
        self.log = np.zeros(0, UPDATE)

    def block_size(self) -> int:
        return min(ROWS_AT_ONCE // 4, int(self.cache_bytes / (8 * self.capacity)))

    def visit(self, block: Block) -> None:
        block.rows, block.steps = self.X[block.numbers], self.form.steps(block.numbers)
        self.own = self.gram.diagonal(self.X, block.numbers)
        self.values = self.room[:, : len(block.numbers)]
        for part in slice_support(self.size, self.X.shape[1], self.cache_bytes):
            self.values[part] = self.gram(self.support[part], block.rows)
        block.scores = self.coef[:, : self.size] @ self.values[: self.size]
        self.origin = np.arange(self.capacity)  # of the support, then of the block
        nothing, start = np.full(len(block.numbers), -1, np.intp), 0
        while True:
            start, _, _ = self.form.replay(self, block, start, KernelValues(NOTHING, nothing))
            if start == len(block.numbers):
                break
            self.correct(block, start)
            start += 1
        origin = self.origin[: self.size]
        if (origin >= self.support.shape[0]).any():
            both = stack_rows(self.support, self.gram.pick(self.X, block.numbers))
            self.support = both[origin]
        block.rows, block.scores, block.steps = None, NOTHING, NOTHING

    def correct(self, block: Block, t: int) -> None:
        """Learn from row t, which is a mistake."""
        change, margins = self.form.change(self, block, t)
        if not (np.isfinite(margins).all() and np.isfinite(self.own[t])):
            raise overflow_error(int(block.numbers[t]))
        self.loss += float(np.maximum(-margins, 0.0).sum())
        if self.policy is stop and self.size == self.budget:
            self.errors += int(np.count_nonzero(margins <= 0))
            self.state.full = True
            return
        log = np.zeros(len(margins), UPDATE)
        log["position"], log["margin"] = t, margins
        self.tally(log, np.flatnonzero(change)[: len(margins)])
        self.time = self.state.seen + block.offset + t
        place = self.place.get(self.state.given + int(block.numbers[t]))
        if place is None:
            self.policy(self, block, t, change)
        else:
            self.move(block, [place], np.ones(1), change)

    def move(self, block: Block, places: Any, direction: Array, change: Array) -> None:
        """Move the outputs and the bias by change in a direction that support rows span."""
        self.coef[:, places] += np.outer(change, direction)
        self.missing[:, places] += np.outer(change * self.time, direction)
        block.scores += np.outer(change, direction @ self.values[places])
        self.state.bias += change * self.settings.intercept_step
        self.missing_bias += change * self.time * self.settings.intercept_step

    def enter(self, block: Block, t: int, place: int, change: Array) -> None:
        """Put row t into a free place of the support, and learn from it."""
        self.size = max(self.size, place + 1)
        number = self.state.given + int(block.numbers[t])
        self.numbers[place], self.place[number] = number, place
        self.ages[place] = self.state.mistakes
        self.origin[place] = self.support.shape[0] + t
        picked = self.gram.pick(self.X, block.numbers[[t]])
        self.values[place] = self.gram(picked, block.rows)[0]
        self.move(block, [place], np.ones(1), change)

    def leave(self, block: Block, place: int) -> None:
        """Free a place of the support, and undo what its row did."""
        block.scores -= np.outer(self.coef[:, place], self.values[place])
        self.coef[:, place] = self.missing[:, place] = 0.0
        del self.place[int(self.numbers[place])]

    def make_state(self) -> DualState:
        size = self.size
        return replace(
            self.state,
            support=self.support,
            numbers=self.numbers[:size].copy(),
            ages=self.ages[:size].copy(),
            coef=self.coef[:, :size].copy(),
            missing=self.missing[:, :size].copy(),
            missing_bias=self.missing_bias,
            matrix=self.matrix[:size, :size].copy(),
        )


def enlarge(array: Array, *shape: int) -> Array:
    """Return a copy that is padded with zeros to a shape."""
    room = np.zeros(shape, array.dtype)
    room[tuple(map(slice, array.shape))] = array
    return room


def projectron(task: BudgetedTask, block: Block, t: int, change: Array) -> None:
    """Once the support is full, add not x but its projection onto the span of the support.

    Orabona, Keshet & Caputo (2009), "Bounded kernel-based online learning", JMLR 10. If no
    projection moved a row by more than δ, then against any function g with Σ max(0, 1 - yg(x)) = L
    over the mistakes, the M mistakes satisfy M(1 - δ‖g‖) <= L + ‖g‖R√M.
    """
    size = task.size
    k, basis = task.values[:size, t], task.matrix[:size, :size]
    along = basis @ k
    d, distance = along @ basis, task.own[t] - along @ along
    if size == task.budget or distance <= DEPENDENT * abs(task.own[t]):
        task.move(block, slice(size), d, change)
        return
    task.matrix[size, :size], task.matrix[size, size] = -d, 1.0
    task.matrix[size] /= np.sqrt(distance)
    task.enter(block, t, size, change)


def forgetron(task: BudgetedTask, block: Block, t: int, change: Array) -> None:
    """Shrink all coefficients just enough to afford forgetting the oldest support row.

    Dekel, Shalev-Shwartz & Singer (2008), "The Forgetron", SIAM Journal on Computing 37(5), in the
    self-tuned form. With K(x, x) <= 1, B >= 83 and ‖g‖ <= ¼√((B + 1)/ln(B + 1)) the mistakes are
    at most 2‖g‖² + 4 Σ max(0, 1 - yg(x)).
    """
    place = task.size
    if task.size == task.budget:
        place = int(np.argmin(task.ages))
        coef, bias = task.coef, task.state.bias + change * task.settings.intercept_step
        score = coef @ task.matrix[:, place] + change * task.values[place, t] + bias
        owed = task.state.forgotten - 15 / 32 * task.state.mistakes
        shrink = find_shrinkage(coef[:, place], score, owed)
        coef *= shrink
        task.state.bias *= shrink
        block.scores *= shrink
        change, score, beta = shrink * change, shrink * score, coef[:, place]
        task.state.forgotten += float(beta @ beta + 2 * np.abs(beta).sum() - 2 * beta @ score)
        task.leave(block, place)
    task.enter(block, t, place, change)
    task.matrix[place, : task.size] = task.matrix[: task.size, place] = task.values[: task.size, t]
    task.matrix[place, place] = task.own[t]


def find_shrinkage(beta: Array, score: Array, c: float) -> float:
    """Return the largest φ up to 1 with aφ² + bφ + c <= 0, the forgetron's condition."""
    a, b = float(beta @ beta - 2 * beta @ score), 2 * float(np.abs(beta).sum())
    square = b * b - 4 * a * c
    root = float(np.sqrt(max(square, 0.0)))
    if a > 0 or (a < 0 < square and (-b - root) / (2 * a) > 1):
        return min(1.0, (-b + root) / (2 * a))
    return min(1.0, -c / b) if a == 0 and b > 0 else 1.0


def random(task: BudgetedTask, block: Block, t: int, change: Array) -> None:
    """Replace a random support row.

    Cavallanti, Cesa-Bianchi & Gentile (2007), "Tracking the best hyperplane with a simple budget
    perceptron", Machine Learning 69. In expectation the mistakes are of the order of the hinge loss
    of any g whose norm is O(√(B/ln B)), plus terms in ‖g‖ and B.
    """
    place = task.size
    if task.size == task.budget:
        state = np.uint64(task.seed) + mix(np.uint64(task.state.mistakes))
        place = int(mix(state)) % task.budget
        task.leave(block, place)
    task.enter(block, t, place, change)


def stop(task: BudgetedTask, block: Block, t: int, change: Array) -> None:
    """Stop to learn when the support is full: the perceptron's bound holds up to there."""
    task.enter(block, t, task.size, change)


POLICIES: dict[str, Callable[[BudgetedTask, Block, int, Array], None]] = {
    "projectron": projectron,
    "forgetron": forgetron,
    "random": random,
    "stop": stop,
}
SQUARED = ("projectron", "forgetron")  # keep a matrix over the support
