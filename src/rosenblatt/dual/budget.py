"""The dual form with a budget: a largest number of support rows."""

from dataclasses import replace

import numpy as np

from ..data.rows import Array
from .gram import ROWS_AT_ONCE, overflow_error, slice_support
from .kernels import cpu
from .state import DualState
from .task import Block, DualTask

DEPENDENT = 1e-8  # a squared distance to the span, as a share of K(x, x), that counts as none
NO_VALUES, ONE, HERE = np.empty((0, 0)), np.zeros((1, 1)), np.zeros(1, np.intp)


class BudgetedTask(DualTask):
    """Learns with at most B support rows: the projectron.

    Once the support is full, or spans a mistaken row, the projection of the row onto the span is
    added: Orabona, Keshet & Caputo (2009), "Bounded kernel-based online learning", JMLR 10. If no
    projection moved a row by more than δ, then against any function g with Σ max(0, 1 - yg(x)) = L
    over the mistakes, the M mistakes satisfy M(1 - δ‖g‖) <= L + ‖g‖R√M.

    The kernel values of a block with the support are computed at once, then its mistakes are
    learnt one by one. An epoch costs (budget × rows) kernel values; no scores of rows are kept.
    """

    most_rows = ROWS_AT_ONCE // 4

    def __post_init__(self) -> None:
        super().__post_init__()
        state, more = self.state, self.capacity - self.support.count
        self.places = {int(number): place for place, number in enumerate(state.numbers)}
        self.buffer = np.empty((self.capacity, self.rows_at_once))
        self.state = replace(
            state,
            numbers=np.pad(state.numbers, (0, more)),
            coef=np.pad(state.coef, ((0, 0), (0, more))),
            missing=np.pad(state.missing, ((0, 0), (0, more))),
            missing_bias=state.missing_bias.copy(),
            matrix=np.pad(state.matrix, (0, more)),
        )

    @property
    def capacity(self) -> int:
        """The most support rows that these rows can make."""
        rows = len(self.learner.state.numbers) + len(self.row_order)
        return max(1, min(int(self.learner.parameters["budget"]), rows))

    def visit(self, block: Block) -> None:
        block.rows, count = self.X[block.numbers], len(block.numbers)
        self.own = self.gram.diagonal(self.X, block.numbers)
        self.values = self.buffer[:, :count]
        for part in slice_support(self.support.count, *self.limits):
            self.values[part] = self.gram(self.support.buffer[part], block.rows)
        block.scores = self.state.coef[:, : self.support.count] @ self.values[: self.support.count]
        start, unknown = 0, np.full(count, -1, np.intp)
        while True:
            start, _ = self.replay(block, start, NO_VALUES, unknown)
            if start == count:
                return
            self.correct(block, start)
            start += 1

    def correct(self, block: Block, t: int) -> None:
        """Learn from row t, which is a mistake."""
        state, here = self.state, slice(t, t + 1)
        steps, scores = block.steps[:, here].copy(), block.scores[:, here].copy()
        given = ONE, HERE, steps, block.labels[here], self.learning, 0
        read, count = cpu.replay(*given, scores, state.bias, self.rule, self.log)  # moves the bias
        if read == 0 or not np.isfinite(self.own[t]):
            raise overflow_error(int(block.numbers[t]))
        log = self.tally(self.log[:count])
        log["position"] = block.offset + t
        change = np.zeros(len(self.bias))
        if self.together:
            change[log["rival"]] = -log["step"]
        change[log["label"]] = log["step"]
        late = change * (state.seen + block.offset + t)
        number = state.given + int(block.numbers[t])
        place = self.places.get(number)
        if place is None:
            places, direction = self.project(block, t, number)
        else:
            places, direction = slice(place, place + 1), np.ones(1)
        state.coef[:, places] += np.outer(change, direction)
        state.missing[:, places] += np.outer(late, direction)
        state.missing_bias += late * self.rule.bias
        block.scores += np.outer(change, direction @ self.values[places])

    def project(self, block: Block, t: int, number: int) -> tuple[slice, Array]:
        """Put row t into the support, or project it; return places there, and the direction."""
        size, matrix = self.support.count, self.state.matrix
        k, basis = self.values[:size, t], matrix[:size, :size]
        along = basis @ k
        d, distance = along @ basis, self.own[t] - along @ along
        if size == self.learner.parameters["budget"] or distance <= DEPENDENT * abs(self.own[t]):
            return slice(size), d
        matrix[size, :size], matrix[size, size] = -d, 1.0
        matrix[size] /= np.sqrt(distance)
        picked = self.gram.pick(self.X, block.numbers[[t]])
        self.support.add(picked)
        self.state.numbers[size], self.places[number] = number, size
        self.values[size] = self.gram(picked, block.rows)[0]
        return slice(size, size + 1), np.ones(1)

    def make_state(self) -> DualState:
        state, size = self.state, self.support.count
        return replace(
            state,
            support=self.support.buffer[:size].copy(),
            numbers=state.numbers[:size].copy(),
            coef=state.coef[:, :size].copy(),
            missing=state.missing[:, :size].copy(),
            matrix=state.matrix[:size, :size].copy(),
        )
