"""The dual form without a budget: every mistaken row is kept."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import vstack

from ..data.rows import Array
from ..kernels.loop import UPDATE
from .forms import NOTHING, Block
from .gram import ROWS_AT_ONCE, overflow_error, slice_support
from .kernels.cpu import KernelValues, Updates
from .moves import NO_MOVES, Moves, group_updates, sum_coefficients, to_moves
from .state import DualState, join_updates
from .task import DualTask

SPARE_SUSPECTS = 16  # rows close to a mistake whose kernel values are fetched with the wrong ones


class Support:
    """Rows once mistaken, each once, in the order of their first mistake."""

    def __init__(self, rows: Any) -> None:
        self.room, self.count = rows, rows.shape[0]

    def add(self, rows: Any) -> None:
        """Append rows; dense ones into room that doubles when it is full."""
        begin, self.count = self.count, self.count + rows.shape[0]
        if hasattr(rows, "indptr"):
            self.room = stack_rows(self.room, rows)
            return
        if self.count > len(self.room):
            shape = max(self.count, 2 * begin), *rows.shape[1:]
            room = np.empty_like(rows, shape=shape)
            room[:begin] = self.room[:begin]
            self.room = room
        self.room[begin : self.count] = rows

    def take(self, places: Array) -> Any:
        """Return some rows; as a view where they are neighbours."""
        first, last = int(places[0]), int(places[-1])
        together = last - first + 1 == len(places)
        return self.room[first : last + 1] if together else self.room[places]


def stack_rows(above: Any, below: Any) -> Any:
    """Return two blocks of rows, or of row numbers, as one."""
    if hasattr(above, "indptr"):
        return vstack([above, below], format="csr")
    return np.concatenate([above, below])


@dataclass
class GrowingTask(DualTask):
    """Learns without a budget: keeps the scores of every row, to which each update is added once.

    The updates since a block was learnt last are added to its scores by matrix products; then its
    rows are replayed one by one with their own kernel values. So an epoch costs (new mistakes ×
    rows) kernel values, not (support × rows).
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        state, rows = self.state, self.X.shape[0]
        self.support = Support(state.support)
        self.place = np.full(rows, -1, np.intp)
        self.numbers, self.updates, self.norms = [state.numbers], [state.updates], [state.norms]
        self.norm = find_last_norms(state, self.together)
        self.pieces = [to_moves(state.updates, state.updates.steps, self.together)]
        self.scores = np.zeros((len(state.bias), rows))
        self.lines = np.empty((self.rows_at_once, self.rows_at_once))
        self.log = np.zeros(self.rows_at_once * len(state.bias), UPDATE)
        self.visited = False

    def block_size(self) -> int:
        return min(ROWS_AT_ONCE, int((self.cache_bytes / 16) ** 0.5))

    def version(self) -> int:
        return len(self.pieces) if self.visited else 0

    def visit(self, block: Block) -> None:
        self.add_updates(block)
        block.steps = self.form.steps(block.numbers)
        places = np.full(len(block.numbers), -1, np.intp)
        lines, moves = KernelValues(self.lines, places), [NO_MOVES]
        start = used = 0
        while True:
            start, count, loss = self.form.replay(self, block, start, lines)
            if count:
                self.loss += loss
                log = self.log[:count]
                own = self.lines[places[log["position"]], log["position"]]
                moves.append(self.record(block, own, log))
            if start == len(places):
                break
            if places[start] >= 0:
                raise overflow_error(int(block.numbers[start]))
            suspects = self.find_suspects(block, places, start)
            line = slice(used, used := used + len(suspects))
            picked = self.gram.pick(self.X, block.numbers[suspects])
            self.lines[line, : len(places)] = self.gram(picked, self.rows(block))
            places[suspects] = np.arange(line.start, line.stop)
        self.pieces.append(Moves(*map(np.concatenate, zip(*moves, strict=True))))
        self.store_scores(block)

    def find_suspects(self, block: Block, places: Array, start: int) -> Array:
        """Return the rows from start on that are wrong or nearly wrong, whose values are needed."""
        unknown = start + np.flatnonzero(places[start:] < 0)
        excess = np.nan_to_num(self.form.excess(self, block)[unknown], nan=-np.inf)
        excess[0] = -np.inf  # where the replay stopped
        wrong = int(np.count_nonzero(~(excess > 0)))
        count = min(2 * wrong + SPARE_SUSPECTS, len(unknown))
        return np.sort(unknown[np.argpartition(excess, count - 1)[:count]])

    def record(self, block: Block, own: Array, log: Array) -> Moves:
        """Record the updates just made, and add their rows to the support.

        ``own`` is K(x, x) of the row of each.
        """
        updates = self.form.updates(self, block, log)
        self.tally(log, updates.labels)
        fresh = updates.rows[self.place[updates.rows] < 0]
        fresh = fresh[np.diff(fresh, prepend=-1) != 0]
        if len(fresh):
            self.place[fresh] = np.arange(self.size, self.size + len(fresh))
            self.support.add(self.pick_support(fresh))
            self.size = self.support.count
            self.numbers.append(fresh + self.state.given)
        self.norms.append(self.update_norms(updates, log["margin"], own))
        self.updates.append(updates._replace(rows=self.place[updates.rows]))
        return to_moves(self.updates[-1], updates.steps, self.together)

    def update_norms(self, updates: Updates, margins: Array, own: Array) -> Array:
        """Return the norms after updates: ‖f + ηyK(x, ·)‖² = ‖f‖² + 2ηyf(x) + η²K(x, x)."""
        steps = np.abs(updates.steps)
        moved = (1 + self.together) * steps**2 * (own + updates.intercept_steps)
        rises, norms = 2 * steps * margins + moved, np.empty(len(steps))
        for group in group_updates(updates, self.together, len(self.norm)):
            norms[group] = self.norm[updates.labels[group[:1]]] + np.cumsum(rises[group])
            self.norm[... if self.together else updates.labels[group[0]]] = norms[group[-1]]
        return norms

    def pick_support(self, numbers: Array) -> Any:
        """Return the rows with some numbers, as support."""
        return self.gram.pick(self.X, numbers)

    def rows(self, block: Block) -> Any:
        """Return the rows of a block, fetched when first needed."""
        if block.rows is None:
            block.rows = self.X[block.numbers]
        return block.rows

    def add_updates(self, block: Block) -> None:
        """Add to the scores of a block the updates that they lack, by matrix products."""
        block.scores = np.take(self.scores, block.index, axis=1)
        places, coef = self.find_lacking(block)
        for part in slice_support(len(places), self.X.shape[1], self.cache_bytes):
            values = self.gram(self.support.take(places[part]), self.rows(block))
            block.scores += coef[:, part] @ values

    def find_lacking(self, block: Block) -> tuple[Array, Array]:
        """Return the support rows that the scores of a block lack, and their coefficients."""
        pieces = zip(NO_MOVES, *self.pieces[block.version :], strict=True)
        moves = Moves(*map(np.concatenate, pieces))
        places, which = np.unique(moves.places, return_inverse=True)
        return places, sum_coefficients(moves._replace(places=which), len(self.scores), len(places))

    def store_scores(self, block: Block) -> None:
        """Store the scores of a block, which are up to date, and release its rows."""
        self.scores[:, block.index] = block.scores
        self.visited = True
        block.version, block.rows = len(self.pieces), None
        block.scores = block.steps = NOTHING

    def update_scores(self, block: Block) -> None:
        self.add_updates(block)
        self.store_scores(block)

    def copy_support(self) -> Any:
        """Return a copy of the support rows without spare room."""
        return self.support.room[: self.support.count].copy()

    def make_state(self) -> DualState:
        kept = replace(
            self.state,
            support=self.copy_support(),
            numbers=np.concatenate(self.numbers),
            norms=np.concatenate(self.norms),
        )
        return kept.with_updates(join_updates(self.updates), self.together)


def find_last_norms(state: DualState, together: bool) -> Array:
    """Return the squared norm of each problem's function as it is now."""
    norm = np.zeros(len(state.bias))
    for group in group_updates(state.updates, together, len(norm)):
        norm[... if together else state.updates.labels[group[0]]] = state.norms[group[-1]]
    return norm
