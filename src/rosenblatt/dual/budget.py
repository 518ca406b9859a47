"""The dual form with a budget: a largest number of support rows."""

from dataclasses import replace
from typing import Any

import numpy as np

from ..data.rows import Array
from .gram import ROWS_AT_ONCE, overflow_error
from .state import DualState
from .task import Block, DualTask

DEPENDENT = 1e-8  # a squared distance to the span, as a share of K(x, x), that counts as none
NO_VALUES, NOTHING = np.empty((0, 0)), np.zeros((1, 1))
HERE = np.zeros(1, np.intp)


class BudgetedTask(DualTask):
    """Learns with at most B support rows: the projectron.

    Once the support is full, or spans a mistaken row, the projection of the row onto the span is
    added: Orabona, Keshet & Caputo (2009), "Bounded kernel-based online learning", JMLR 10. If no
    projection moved a row by more than δ, then against any function g with Σ max(0, 1 - yg(x)) = L
    over the mistakes, the M mistakes satisfy M(1 - δ‖g‖) <= L + ‖g‖R√M.

    The kernel values of a block with the support are computed at once, then its mistakes are
    learnt one by one. An epoch costs (budget × rows) kernel values; no scores of rows are kept.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        state, outputs, size = self.state, len(self.bias), self.capacity
        self.numbers = enlarge(state.numbers, size)
        self.coef = enlarge(state.coef, outputs, size)
        self.missing = enlarge(state.missing, outputs, size)
        self.missing_bias = state.missing_bias.copy()
        self.matrix = enlarge(state.matrix, size, size)
        self.room = np.empty((size, self.rows_at_once))
        self.place = {int(number): place for place, number in enumerate(state.numbers)}

    @property
    def capacity(self) -> int:
        """The most support rows that these rows can make."""
        return max(1, min(self.budget or 1, len(self.begun.numbers) + len(self.row_order)))

    def block_size(self) -> int:
        return min(ROWS_AT_ONCE // 4, int(self.cache_bytes / (8 * self.capacity)))

    def visit(self, block: Block) -> None:
        block.rows, count = self.X[block.numbers], len(block.numbers)
        self.own = self.gram.diagonal(self.X, block.numbers)
        self.values = self.room[:, :count]
        for part in self.slice_support(self.support.count):
            self.values[part] = self.gram(self.support.room[part], block.rows)
        block.scores = self.coef[:, : self.support.count] @ self.values[: self.support.count]
        start, unknown = 0, np.full(count, -1, np.intp)
        while True:
            start, _ = self.replay(block, start, NO_VALUES, unknown)
            if start == count:
                return
            self.correct(block, start)
            start += 1

    def correct(self, block: Block, t: int) -> None:
        """Learn from row t, which is a mistake."""
        some, labels = slice(t, t + 1), block.labels[t : t + 1]
        alone = replace(
            block, steps=block.steps[:, some], labels=labels, scores=block.scores[:, some].copy()
        )
        read, log = self.replay(alone, 0, NOTHING, HERE)  # moves the bias
        if read == 0 or not np.isfinite(self.own[t]):
            raise overflow_error(int(block.numbers[t]))
        log["position"] = t
        self.tally(log)
        change = np.zeros(len(self.bias))
        if self.together:
            change[log["rival"]] = -log["step"]
        change[log["label"]] = log["step"]
        time = self.state.seen + block.offset + t
        self.missing_bias += change * time * self.rule.bias
        number = self.state.given + int(block.numbers[t])
        place: Any = self.place.get(number)
        direction = np.ones(1)
        if place is None:
            place, direction = self.project(block, t, number)
        places = slice(place, place + 1) if isinstance(place, int) else place
        self.coef[:, places] += np.outer(change, direction)
        self.missing[:, places] += np.outer(change * time, direction)
        block.scores += np.outer(change, direction @ self.values[places])

    def project(self, block: Block, t: int, number: int) -> tuple[Any, Array]:
        """Put row t into the support, or project it; return places there, and the direction."""
        size = self.support.count
        k, basis = self.values[:size, t], self.matrix[:size, :size]
        along = basis @ k
        d, distance = along @ basis, self.own[t] - along @ along
        if size == self.budget or distance <= DEPENDENT * abs(self.own[t]):
            return slice(size), d
        self.matrix[size, :size], self.matrix[size, size] = -d, 1.0
        self.matrix[size] /= np.sqrt(distance)
        picked = self.gram.pick(self.X, block.numbers[[t]])
        self.support.add(picked)
        self.numbers[size], self.place[number] = number, size
        self.values[size] = self.gram(picked, block.rows)[0]
        return size, np.ones(1)

    def make_state(self) -> DualState:
        size = self.support.count
        return replace(
            self.state,
            support=self.support.room[:size].copy(),
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
