"""The dual form with a budget: a largest number of support rows."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..data.rows import Array
from ..kernels.loop import UPDATE
from .forms import NOTHING, Block
from .gram import ROWS_AT_ONCE, overflow_error, slice_support
from .kernels.cpu import KernelValues
from .state import DualState
from .task import DualTask
from .unbounded import stack_rows

DEPENDENT = 1e-8  # a squared distance to the span, as a share of K(x, x), that counts as none


@dataclass
class BudgetedTask(DualTask):
    """Learns with at most B support rows: the projectron.

    Once the support is full, or spans a mistaken row, the projection of the row onto the span is
    added: Orabona, Keshet & Caputo (2009), "Bounded kernel-based online learning", JMLR 10. If no
    projection moved a row by more than δ, then against any function g with Σ max(0, 1 - yg(x)) = L
    over the mistakes, the M mistakes satisfy M(1 - δ‖g‖) <= L + ‖g‖R√M.

    The kernel values of a block with the support are computed at once, then its mistakes are
    learnt one by one. An epoch costs (budget × rows) kernel values; no scores of rows are kept.
    """

    budget: int = field(kw_only=True)

    def __post_init__(self) -> None:
        room = len(self.begun.numbers) + len(self.row_order)
        self.capacity = max(1, min(self.budget, room))
        super().__post_init__()
        state, outputs = self.state, len(self.state.bias)
        self.support = state.support
        self.numbers = enlarge(state.numbers, self.capacity)
        self.coef = enlarge(state.coef, outputs, self.capacity)
        self.missing = enlarge(state.missing, outputs, self.capacity)
        self.missing_bias = state.missing_bias.copy()
        self.matrix = enlarge(state.matrix, self.capacity, self.capacity)
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
        log = np.zeros(len(margins), UPDATE)
        log["position"], log["margin"] = t, margins
        self.tally(log, np.flatnonzero(change)[: len(margins)])
        self.time = self.state.seen + block.offset + t
        place = self.place.get(self.state.given + int(block.numbers[t]))
        if place is None:
            self.project(block, t, change)
        else:
            self.move(block, [place], np.ones(1), change)

    def move(self, block: Block, places: Any, direction: Array, change: Array) -> None:
        """Move the outputs and the bias by change in a direction that support rows span."""
        self.coef[:, places] += np.outer(change, direction)
        self.missing[:, places] += np.outer(change * self.time, direction)
        block.scores += np.outer(change, direction @ self.values[places])
        self.state.bias += change * self.settings.bias
        self.missing_bias += change * self.time * self.settings.bias

    def project(self, block: Block, t: int, change: Array) -> None:
        """Learn from row t, which is not in the support: put it there, or add its projection."""
        size = self.size
        k, basis = self.values[:size, t], self.matrix[:size, :size]
        along = basis @ k
        d, distance = along @ basis, self.own[t] - along @ along
        if size == self.budget or distance <= DEPENDENT * abs(self.own[t]):
            self.move(block, slice(size), d, change)
            return
        self.matrix[size, :size], self.matrix[size, size] = -d, 1.0
        self.matrix[size] /= np.sqrt(distance)
        self.enter(block, t, change)

    def enter(self, block: Block, t: int, change: Array) -> None:
        """Put row t into the support, and learn from it."""
        place = self.size
        self.size += 1
        number = self.state.given + int(block.numbers[t])
        self.numbers[place], self.place[number] = number, place
        self.origin[place] = self.support.shape[0] + t
        picked = self.gram.pick(self.X, block.numbers[[t]])
        self.values[place] = self.gram(picked, block.rows)[0]
        self.move(block, [place], np.ones(1), change)

    def make_state(self) -> DualState:
        size = self.size
        return replace(
            self.state,
            support=self.support,
            numbers=self.numbers[:size].copy(),
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
