"""The dual form without a budget: every mistake is kept."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import vstack

from ...data.rows import Array
from ...kernels.dual import KernelValues
from ...kernels.linear import UPDATE, Updates
from ...training.state import join_updates
from .forms import NOTHING, Block
from .gram import ROWS_AT_ONCE, parts, scores_overflow
from .moves import NO_MOVES, Moves, group_updates, summed, to_moves
from .state import DualState
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
            self.room = stacked(self.room, rows)
            return
        if self.count > len(self.room):
            shape = max(self.count, 2 * begin), *rows.shape[1:]
            room = np.empty_like(rows, shape=shape)
            room[:begin] = self.room[:begin]
            self.room = room
        self.room[begin : self.count] = rows

    def take(self, places: Array) -> Any:
        """Some rows; as a view where they lie next to each other."""
        first, last = int(places[0]), int(places[-1])
        together = last - first + 1 == len(places)
        return self.room[first : last + 1] if together else self.room[places]


def stacked(above: Any, below: Any) -> Any:
    """Two blocks of rows, or of row numbers, as one."""
    if hasattr(above, "indptr"):
        return vstack([above, below], format="csr")
    return np.concatenate([above, below])


@dataclass
class GrowingTask(DualTask):
    """Without a budget: every row's scores are kept, and take in each update once.

    A block first takes in the updates made since its scores were right, by matrix products, and is
    then replayed row by row with its own kernel values. So an epoch costs (new mistakes × rows)
    kernel values, not (support × rows).
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        state, rows = self.state, self.X.shape[0]
        self.support = Support(state.support)
        self.place = np.full(rows, -1, np.intp)
        self.numbers, self.updates, self.norms = [state.numbers], [state.updates], [state.norms]
        self.norm = last_norms(state, self.together)
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
        self.take_in(block)
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
                raise scores_overflow(int(block.numbers[start]))
            suspects = self.suspects(block, places, start)
            line = slice(used, used := used + len(suspects))
            picked = self.gram.pick(self.X, block.numbers[suspects])
            self.lines[line, : len(places)] = self.gram(picked, self.rows(block))
            places[suspects] = np.arange(line.start, line.stop)
        self.pieces.append(Moves(*map(np.concatenate, zip(*moves, strict=True))))
        self.put_away(block)

    def suspects(self, block: Block, places: Array, start: int) -> Array:
        """Rows from start on whose kernel values may be needed: the wrong and the nearly wrong."""
        unknown = start + np.flatnonzero(places[start:] < 0)
        excess = np.nan_to_num(self.form.excess(self, block)[unknown], nan=-np.inf)
        excess[0] = -np.inf  # where the replay stopped
        wrong = int(np.count_nonzero(~(excess > 0)))
        count = min(2 * wrong + SPARE_SUSPECTS, len(unknown))
        return np.sort(unknown[np.argpartition(excess, count - 1)[:count]])

    def record(self, block: Block, own: Array, log: Array) -> Moves:
        """Write down the updates just made, and take their rows into the support.

        ``own`` is K(x, x) of the row of each.
        """
        updates = self.form.updates(self, block, log)
        self.tally(log, updates.labels)
        fresh = updates.rows[self.place[updates.rows] < 0]
        fresh = fresh[np.diff(fresh, prepend=-1) != 0]
        if len(fresh):
            self.place[fresh] = np.arange(self.size, self.size + len(fresh))
            self.support.add(self.picked(fresh))
            self.size = self.support.count
            self.numbers.append(fresh + self.state.given)
        self.norms.append(self.risen(updates, log["margin"], own))
        self.updates.append(updates._replace(rows=self.place[updates.rows]))
        return to_moves(self.updates[-1], updates.steps, self.together)

    def risen(self, updates: Updates, margins: Array, own: Array) -> Array:
        """The squared norm after each update: ‖f + ηyK(x, ·)‖² = ‖f‖² + 2ηyf(x) + η²K(x, x)."""
        steps = np.abs(updates.steps)
        moved = (1 + self.together) * steps**2 * (own + updates.intercept_steps)
        rises, norms = 2 * steps * margins + moved, np.empty(len(steps))
        for group in group_updates(updates, self.together, len(self.norm)):
            norms[group] = self.norm[updates.labels[group[:1]]] + np.cumsum(rises[group])
            self.norm[... if self.together else updates.labels[group[0]]] = norms[group[-1]]
        return norms

    def picked(self, numbers: Array) -> Any:
        """The rows with these numbers, as support."""
        return self.gram.pick(self.X, numbers)

    def rows(self, block: Block) -> Any:
        """The rows of a block, fetched when first needed."""
        if block.rows is None:
            block.rows = self.X[block.numbers]
        return block.rows

    def take_in(self, block: Block) -> None:
        """Add to the scores of a block the updates that they lack, in products of matrices."""
        block.scores = np.take(self.scores, block.index, axis=1)
        places, coef = self.lacking(block)
        for part in parts(len(places), self.X.shape[1], self.cache_bytes):
            values = self.gram(self.support.take(places[part]), self.rows(block))
            block.scores += coef[:, part] @ values

    def lacking(self, block: Block) -> tuple[Array, Array]:
        """The support that the scores of a block have not taken in, and its coefficients."""
        pieces = zip(NO_MOVES, *self.pieces[block.version :], strict=True)
        moves = Moves(*map(np.concatenate, pieces))
        places, which = np.unique(moves.places, return_inverse=True)
        return places, summed(moves._replace(places=which), len(self.scores), len(places))

    def put_away(self, block: Block) -> None:
        """Keep the scores of a block, which are up to date, and let its rows go."""
        self.scores[:, block.index] = block.scores
        self.visited = True
        block.version, block.rows = len(self.pieces), None
        block.scores = block.steps = NOTHING

    def settle(self, block: Block) -> None:
        self.take_in(block)
        self.put_away(block)

    def kept_support(self) -> Any:
        """The support rows, apart from the room that they have."""
        return self.support.room[: self.support.count].copy()

    def learnt_state(self) -> DualState:
        kept = replace(
            self.state,
            support=self.kept_support(),
            numbers=np.concatenate(self.numbers),
            norms=np.concatenate(self.norms),
        )
        return kept.with_updates(join_updates(self.updates), self.together)


def last_norms(state: DualState, together: bool) -> Array:
    """The squared norm of each problem's function as it is now."""
    norm = np.zeros(len(state.bias))
    for group in group_updates(state.updates, together, len(norm)):
        norm[... if together else state.updates.labels[group[0]]] = state.norms[group[-1]]
    return norm
