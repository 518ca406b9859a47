"""The dual form: kernels at matrix speed, exact to the update, voted, averaged and budgeted."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array, vstack
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from . import storage
from .classifiers import (
    SIGN_OF_ZERO,
    OnlineClassifier,
    Perceptron,
    feature_names,
    positive_number,
    refuse_not_finite,
    restored,
    seed_of,
    understood,
    whole_number,
)
from .kernels import algebra, dual, linear
from .kernels.dual import KernelValues
from .kernels.linear import UPDATE, Settings, Updates
from .rows import check_structure
from .training import Array, Dual, Epoch, NotFiniteError, chosen, joined, rule_of

ROWS_AT_ONCE = 1024  # of a block: enough for full matrix speed
SUPPORT_AT_ONCE = 512  # kernel values of so many rows with a block stay in the processor's cache
SPARE_SUSPECTS = 16  # rows close to a mistake whose kernel values are fetched with the wrong ones
DEPENDENT = 1e-8  # a squared distance to the span, as a share of K(x, x), that counts as none

CHOICES = {
    "solution": ["last", "average", "vote"],
    "order": ["each", "once", "fixed"],
    "ties": list(SIGN_OF_ZERO),
    "multi_class": ["ovr", "argmax"],
    "budget_policy": ["projectron", "forgetron", "random", "stop"],
}
KERNELS = ["linear", "poly", "rbf", "sigmoid", "precomputed"]


# Kernel values. Gram and the replays in kernels/dual.py are all that a device would have to bring.


@dataclass(frozen=True)
class Gram:
    """Computes blocks of the Gram matrix, always in double precision.

    Raw pixels to the sixth power are beyond float32, and their products are exact only in float64.
    """

    kernel: str | Callable[[Any, Any], ArrayLike]
    degree: float
    gamma: float
    coef0: float

    def pick(self, X: Any, numbers: Array) -> Any:
        """The rows with these numbers, in the form in which they become support."""
        return numbers if self.kernel == "precomputed" else X[numbers]

    def __call__(self, support: Any, rows: Any) -> Array:
        """K(s, x) for every support row s and row x."""
        if self.kernel == "precomputed":
            return dense(rows[:, support]).T.astype(np.float64)
        if callable(self.kernel):
            return checked(self.kernel(support, rows), (support.shape[0], rows.shape[0]))
        values = products(support, rows)
        if self.kernel == "rbf":
            values *= -2.0
            values += squared_norms(support)[:, None]
            values += squared_norms(rows)
            np.maximum(values, 0.0, out=values)
            values *= -self.gamma
            return np.exp(values, out=values)
        return self.shaped(values)

    def shaped(self, values: Array) -> Array:
        """The kernels of the inner product alone: linear, polynomial and sigmoid."""
        if self.kernel == "linear":
            return values
        if self.gamma != 1:
            values *= self.gamma
        values += self.coef0
        if self.kernel == "sigmoid":
            return np.tanh(values, out=values)
        return power(values, self.degree)

    def diagonal(self, X: Any, numbers: Array) -> Array:
        """K(x, x) for the rows with these numbers."""
        if self.kernel == "precomputed":
            return np.asarray([X[number, number] for number in numbers], np.float64)
        if self.kernel == "rbf":
            return np.ones(len(numbers))
        if not callable(self.kernel):
            return self.shaped(squared_norms(X[numbers]))
        return np.array([self(X[[number]], X[[number]])[0, 0] for number in numbers])


def products(support: Any, rows: Any) -> Array:
    """The inner products of two sets of rows, dense or sparse."""
    left = dense(support).astype(np.float64, copy=False)
    if hasattr(rows, "indptr") and 16 * rows.nnz < rows.shape[0] * rows.shape[1]:
        return np.asarray(rows @ np.ascontiguousarray(left.T)).T
    right = dense(rows).astype(np.float64, copy=False)  # faster, unless the rows are very sparse
    return np.asarray(left @ right.T)


def squared_norms(rows: Any) -> Array:
    """‖x‖² of every row."""
    if hasattr(rows, "indptr"):
        rows = rows.astype(np.float64)
        return np.asarray(rows.multiply(rows).sum(axis=1)).ravel()
    rows = rows.astype(np.float64, copy=False)
    return np.asarray(np.einsum("ij,ij->i", rows, rows))


def power(values: Array, degree: float) -> Array:
    """Values to a power; by squaring when it is whole, which is faster than pow and as exact."""
    exponent = int(degree)
    if exponent != degree or exponent < 1:
        return np.power(values, degree, out=values)
    odd: list[Array] = []  # the powers of two that make up the exponent, but for the largest
    while exponent > 1:
        if exponent & 1:
            odd.append(values.copy())
        values *= values
        exponent >>= 1
    for factor in odd:
        values *= factor
    return values


def dense(block: Any) -> Array:
    """A block as an array."""
    return np.asarray(block.toarray() if hasattr(block, "toarray") else block)


def checked(values: ArrayLike, shape: tuple[int, int]) -> Array:
    """What a kernel function returned, if it is of the shape that was asked for."""
    block = np.array(values, np.float64)
    if block.shape != shape:
        raise ValueError(
            f"The kernel function returned an array of shape {block.shape} for {shape[0]} and "
            f"{shape[1]} rows; it must return {shape}."
        )
    return block


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
            room = np.empty((max(self.count, 2 * begin), *rows.shape[1:]), rows.dtype)
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


# The two forms of the algorithm: what is a mistake, and what it moves.


NOTHING = np.empty((0, 0))


@dataclass
class Block:
    """Some rows of an epoch's order, and all that is known of them while they are learnt from."""

    numbers: Array
    offset: int
    """How many rows of the epoch come before."""
    version: int = 0
    """How many pieces of updates the scores have taken in."""
    scores: Array = field(default_factory=lambda: NOTHING)
    steps: Array = field(default_factory=lambda: NOTHING)
    rows: Any = None


@dataclass
class EachClass:
    """Two classes, or one problem per class, each with its own mistakes on the shared rows."""

    codes: Array
    weights: Array | None
    positive: Array
    """The class that counts as positive in each problem."""

    def steps(self, numbers: Array) -> Array:
        """How far each row moves each problem."""
        weights = np.ones(len(numbers)) if self.weights is None else self.weights[numbers]
        return np.where(self.codes[numbers] == self.positive[:, None], weights, -weights)

    def replay(
        self, run: "Run", block: Block, start: int, known: KernelValues
    ) -> tuple[int, int, float]:
        """Learn from a block from a row on; stop at a mistake without kernel values."""
        given = known, block.steps, run.learning, start, block.scores, run.state.bias
        t, updates, loss = dual.dual_perceptron(*given, run.rule, run.log)
        return t, updates, loss

    def excess(self, run: "Run", block: Block) -> Array:
        """By how much each row is above what it needs to be right, in its worst problem."""
        a, rule = block.scores + run.state.bias[:, None], run.rule
        excess = np.where(block.steps > 0, a - rule.above, rule.below - a)
        return np.asarray(excess[run.learning].min(axis=0))

    def updates(self, run: "Run", block: Block, log: Array) -> Updates:
        """The logged updates, with the numbers of their rows."""
        at, problems = log["position"], log["rival"].copy()
        times = run.state.seen[problems] + block.offset + at
        bias_steps = np.full(len(at), run.rule.intercept_step)
        steps = block.steps[problems, at]
        return Updates(block.numbers[at], times, steps, bias_steps, problems, problems)

    def change(self, run: "Run", block: Block, t: int) -> tuple[Array, Array]:
        """How far row t, a mistake, moves each output; and the margins that were too small."""
        a, step, rule = block.scores[:, t] + run.state.bias, block.steps[:, t], run.rule
        wrong = run.learning & ~np.where(step > 0, a > rule.above, a < rule.below)
        return np.where(wrong, step, 0.0), np.where(step > 0, a, -a)[wrong]


@dataclass
class AllClasses:
    """All classes at once: the right one against its best rival."""

    codes: Array
    weights: Array | None

    def steps(self, numbers: Array) -> Array:
        """How far each row moves two classes."""
        return np.ones(len(numbers)) if self.weights is None else self.weights[numbers]

    def replay(
        self, run: "Run", block: Block, start: int, known: KernelValues
    ) -> tuple[int, int, float]:
        """Learn from a block from a row on; stop at a mistake without kernel values."""
        given = known, block.steps, self.codes[block.numbers], start, block.scores, run.state.bias
        t, updates, loss = dual.dual_multiclass(*given, run.rule, run.log)
        return t, updates, loss

    def excess(self, run: "Run", block: Block) -> Array:
        """By how much each row's lead is above what it needs to be right."""
        a, labels = block.scores + run.state.bias[:, None], self.codes[block.numbers]
        own = np.take_along_axis(a, labels[None], axis=0)[0]
        np.put_along_axis(a, labels[None], -np.inf, axis=0)
        return np.asarray(own - a.max(axis=0) - run.rule.above)

    def updates(self, run: "Run", block: Block, log: Array) -> Updates:
        """The logged updates, with the numbers of their rows."""
        at, rivals = log["position"], log["rival"].copy()
        numbers, times = block.numbers[at], run.state.seen[0] + block.offset + at
        bias_steps = np.full(len(at), run.rule.intercept_step)
        return Updates(numbers, times, block.steps[at], bias_steps, self.codes[numbers], rivals)

    def change(self, run: "Run", block: Block, t: int) -> tuple[Array, Array]:
        """How far row t, a mistake, moves each output; and the lead that was too small."""
        a, label = block.scores[:, t] + run.state.bias, int(self.codes[block.numbers[t]])
        rival, change = algebra.best_other(a, label), np.zeros(len(a))
        change[label], change[rival] = block.steps[t], -block.steps[t]
        return change, a[[label]] - a[rival]


class Moves(NamedTuple):
    """Updates as what scores have to take in: places among the support, outputs and steps."""

    places: Array
    outputs: Array
    steps: Array


NO_MOVES = Moves(np.empty(0, np.intp), np.empty(0, np.intp), np.empty(0))


def moves_of(updates: Updates, steps: Array, together: bool) -> Moves:
    """What updates move: one output each, or with all classes together also the rival."""
    if not together:
        return Moves(updates.rows, updates.labels, steps)
    return Moves(
        np.concatenate([updates.rows, updates.rows]),
        np.concatenate([updates.labels, updates.rivals]),
        np.concatenate([steps, -steps]),
    )


def summed(moves: Moves, outputs: int, support: int) -> Array:
    """The coefficients of moves: their steps, summed by output and support row."""
    cells = moves.outputs * support + moves.places
    return np.bincount(cells, moves.steps, outputs * support).reshape(outputs, support)


# Training


class Run:
    """Epochs over the rows, block by block; what a mistake does is left to the two subclasses."""

    log: Array
    """Where the replay writes its updates."""
    size: int
    """How many support rows there are."""

    def __init__(
        self,
        gram: Gram,
        X: Any,
        everything: Array,
        form: EachClass | AllClasses,
        state: Dual,
        rule: Settings,
        seed: int,
        cache_bytes: float,
        tell: Callable[["Run", int], None] | None,
    ) -> None:
        self.gram, self.X, self.everything, self.form = gram, X, everything, form
        self.rule, self.seed, self.tell = rule, seed, tell
        self.state = replace(state, bias=state.bias.copy(), seen=state.seen.copy())
        self.together = isinstance(form, AllClasses)
        self.learning = np.ones(len(state.bias), bool)
        self.cache_bytes = cache_bytes
        self.rows_at_once = min(max(self.block_size(), 1), max(len(everything), 1))
        self.history: list[Epoch] = []
        self.stop_reason = "max_iter"

    def block_size(self) -> int:
        """How many rows make a block whose kernel values fit in the cache."""
        raise NotImplementedError

    def visit(self, block: Block) -> None:
        """Learn from the rows of a block, one by one."""
        raise NotImplementedError

    def settle(self, block: Block) -> None:
        """Bring the scores of a block up to date, before its rows go to other blocks."""

    def version(self) -> int:
        """How many pieces of updates the scores of new blocks have taken in."""
        return 0

    def finish(self) -> Dual:
        """The state that was learnt."""
        raise NotImplementedError

    def train(self, order: str, max_iter: int) -> Dual:
        """Go through the rows until a pass is clean or max_iter epochs are over."""
        blocks: list[Block] = []
        for epoch in range(1, max_iter + 1):
            if epoch == 1 or order == "each":
                blocks = self.blocks(order, epoch)
            self.loss, self.errors = 0.0, 0
            self.mistakes = np.zeros(len(self.learning), np.intp)
            for block in blocks:
                self.visit(block)
                if self.tell is not None:
                    self.tell(self, len(block.numbers))
            self.end_epoch(epoch)
            if self.stop_reason != "max_iter":
                break
            if order == "each" and epoch < max_iter:
                for block in blocks:
                    self.settle(block)
        return self.finish()

    def blocks(self, order: str, epoch: int) -> list[Block]:
        """The rows of an epoch, in blocks."""
        numbers = self.everything.copy()
        if order != "fixed":
            algebra.shuffle(numbers, self.seed, epoch if order == "each" else 0)
        numbers = numbers.astype(np.intp)
        return [
            Block(numbers[offset : offset + self.rows_at_once], offset, self.version())
            for offset in range(0, len(numbers), self.rows_at_once)
        ]

    def tally(self, margins: Array, outputs: Array) -> None:
        """Count new mistakes; with a margin some were on the right side, and no errors."""
        self.mistakes += np.bincount(outputs, minlength=len(self.mistakes))
        self.errors += int(np.count_nonzero(margins <= 0))
        self.state.mistakes += len(margins)

    def end_epoch(self, epoch: int) -> None:
        """Write the history; problems without a mistake are solved and rest."""
        rows, together = len(self.everything), self.together
        problems = 1 if together else int(self.learning.sum())
        mistakes = int(self.mistakes.sum())
        self.history.append(Epoch(epoch, rows * problems, mistakes, self.errors, self.loss))
        self.state.seen[self.learning] += rows
        self.learning &= bool(mistakes) if together else self.mistakes > 0
        if self.stop_reason == "max_iter" and not self.learning.any():
            self.stop_reason = "separated"


class Growing(Run):
    """Without a budget: every row's scores are kept, and take in each update once.

    A block first takes in the updates made since its scores were right, by matrix products, and is
    then replayed row by row with its own kernel values. So an epoch costs (new mistakes × rows)
    kernel values, not (support × rows).
    """

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        state, rows = self.state, self.X.shape[0]
        self.support, self.size = Support(state.support), len(state.numbers)
        self.place = np.full(rows, -1, np.intp)
        self.numbers, self.updates, self.norms = [state.numbers], [state.updates], [state.norms]
        self.norm = last_norms(state, self.together)
        self.pieces = [moves_of(state.updates, state.updates.steps, self.together)]
        self.scores = np.zeros((len(state.bias), rows))
        self.lines = np.empty((self.rows_at_once, self.rows_at_once))
        self.log = np.zeros(self.rows_at_once * len(state.bias), UPDATE)

    def block_size(self) -> int:
        return min(ROWS_AT_ONCE, int((self.cache_bytes / 16) ** 0.5))

    def version(self) -> int:
        return len(self.pieces) if self.history else 0

    def visit(self, block: Block) -> None:
        self.take_in(block)
        block.steps = self.form.steps(block.numbers)
        places = np.full(len(block.numbers), -1, np.intp)
        known, moves = KernelValues(self.lines, places), [NO_MOVES]
        start = used = 0
        while True:
            start, count, loss = self.form.replay(self, block, start, known)
            if count:
                self.loss += loss
                moves.append(self.record(block, known, self.log[:count]))
            if start == len(places):
                break
            if places[start] >= 0:
                raise NotFiniteError(int(block.numbers[start]))
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

    def record(self, block: Block, known: KernelValues, log: Array) -> Moves:
        """Write down the updates just made, and take their rows into the support."""
        updates = self.form.updates(self, block, log)
        self.tally(log["margin"], updates.labels)
        fresh = updates.rows[self.place[updates.rows] < 0]
        fresh = fresh[np.diff(fresh, prepend=-1) != 0]
        if len(fresh):
            self.place[fresh] = np.arange(self.size, self.size + len(fresh))
            self.support.add(self.gram.pick(self.X, fresh))
            self.size = self.support.count
            self.numbers.append(fresh + self.state.given)
        own = known.values[known.places[log["position"]], log["position"]]
        self.norms.append(self.risen(updates, log["margin"], own))
        self.updates.append(updates._replace(rows=self.place[updates.rows]))
        return moves_of(self.updates[-1], updates.steps, self.together)

    def risen(self, updates: Updates, margins: Array, own: Array) -> Array:
        """The squared norm after each update: ‖f + ηyK(x, ·)‖² = ‖f‖² + 2ηyf(x) + η²K(x, x)."""
        steps = np.abs(updates.steps)
        moved = (1 + self.together) * steps**2 * (own + updates.intercept_steps)
        rises, norms = 2 * steps * margins + moved, np.empty(len(steps))
        for group in groups_of(updates, self.together, len(self.norm)):
            norms[group] = self.norm[updates.labels[group[:1]]] + np.cumsum(rises[group])
            self.norm[... if self.together else updates.labels[group[0]]] = norms[group[-1]]
        return norms

    def rows(self, block: Block) -> Any:
        """The rows of a block, fetched when first needed."""
        if block.rows is None:
            block.rows = self.X[block.numbers]
        return block.rows

    def take_in(self, block: Block) -> None:
        """Add to the scores of a block the updates that they lack, in products of matrices."""
        block.scores = np.take(self.scores, block.numbers, axis=1)
        lacking = zip(NO_MOVES, *self.pieces[block.version :], strict=True)
        moves = Moves(*map(np.concatenate, lacking))
        places, which = np.unique(moves.places, return_inverse=True)
        coef = summed(moves._replace(places=which), len(block.scores), len(places))
        for part in parts(len(places), self.X.shape[1], self.cache_bytes):
            values = self.gram(self.support.take(places[part]), self.rows(block))
            block.scores += coef[:, part] @ values

    def put_away(self, block: Block) -> None:
        """Keep the scores of a block, which are up to date, and let its rows go."""
        self.scores[:, block.numbers] = block.scores
        block.version, block.rows = len(self.pieces), None
        block.scores = block.steps = NOTHING

    def settle(self, block: Block) -> None:
        self.take_in(block)
        self.put_away(block)

    def finish(self) -> Dual:
        state, updates = self.state, joined(self.updates)
        shape = len(state.bias), self.support.count
        late = updates.steps * updates.times
        lack = moves_of(updates, late * updates.intercept_steps, self.together)
        return replace(
            state,
            support=self.support.room[: self.support.count].copy(),
            numbers=np.concatenate(self.numbers),
            coef=summed(moves_of(updates, updates.steps, self.together), *shape),
            missing=summed(moves_of(updates, late, self.together), *shape),
            missing_bias=np.bincount(lack.outputs, lack.steps, shape[0]),
            updates=updates,
            norms=np.concatenate(self.norms),
        )


def parts(count: int, width: int, cache_bytes: float) -> Iterator[slice]:
    """Slices of the support whose rows and kernel values with a block fit in the cache."""
    at_once = int(cache_bytes / (16 * max(width, ROWS_AT_ONCE)))
    at_once = min(max(at_once, 1), SUPPORT_AT_ONCE)
    for begin in range(0, count, at_once):
        yield slice(begin, min(begin + at_once, count))


def groups_of(updates: Updates, together: bool, outputs: int) -> list[Array]:
    """The numbers of the updates of each problem that has some, or all of them."""
    if together:
        groups = [np.arange(len(updates.rows))]
    else:
        groups = [np.flatnonzero(updates.labels == output) for output in range(outputs)]
    return [group for group in groups if len(group)]


def last_norms(state: Dual, together: bool) -> Array:
    """The squared norm of each problem's function as it is now."""
    norm = np.zeros(len(state.bias))
    for group in groups_of(state.updates, together, len(norm)):
        norm[... if together else state.updates.labels[group[0]]] = state.norms[group[-1]]
    return norm


# Budgets


class Budgeted(Run):
    """With a budget: at most B support rows; what a mistake does to a full support is a policy.

    The kernel values of a block with the support are computed at once, then its mistakes are gone
    through one by one. An epoch costs (budget × rows) kernel values; nothing is kept of the rows.
    """

    def __init__(self, budget: int, policy: str, *arguments: Any) -> None:
        self.budget, self.policy = budget, POLICIES[policy]
        super().__init__(*arguments)
        state, outputs = self.state, len(self.state.bias)
        self.support, self.size = state.support, len(state.numbers)
        self.numbers, self.ages = grown(state.numbers, budget), grown(state.ages, budget)
        self.coef = grown(state.coef, outputs, budget)
        self.missing = grown(state.missing, outputs, budget)
        self.missing_bias = state.missing_bias.copy()
        self.matrix = grown(state.matrix, *[budget * (policy in SQUARED)] * 2)
        self.place = {int(number): place for place, number in enumerate(state.numbers)}
        self.room = np.empty((budget, self.rows_at_once))
        self.log = np.zeros(0, UPDATE)

    def block_size(self) -> int:
        return min(ROWS_AT_ONCE // 4, int(self.cache_bytes / (8 * self.budget)))

    def visit(self, block: Block) -> None:
        block.rows, block.steps = self.X[block.numbers], self.form.steps(block.numbers)
        self.own = self.gram.diagonal(self.X, block.numbers)
        self.values = self.room[:, : len(block.numbers)]
        for part in parts(self.size, self.X.shape[1], self.cache_bytes):
            self.values[part] = self.gram(self.support[part], block.rows)
        block.scores = self.coef[:, : self.size] @ self.values[: self.size]
        self.origin = np.arange(self.budget)  # of each place, among the support and the block
        nothing, start = np.full(len(block.numbers), -1, np.intp), 0
        while True:
            start, _, _ = self.form.replay(self, block, start, KernelValues(NOTHING, nothing))
            if start == len(block.numbers):
                break
            self.learn(block, start)
            start += 1
        origin = self.origin[: self.size]
        if (origin >= self.support.shape[0]).any():
            both = stacked(self.support, self.gram.pick(self.X, block.numbers))
            self.support = both[origin]
        block.rows, block.scores, block.steps = None, NOTHING, NOTHING

    def learn(self, block: Block, t: int) -> None:
        """Learn from row t, a mistake."""
        change, margins = self.form.change(self, block, t)
        if not (np.isfinite(margins).all() and np.isfinite(self.own[t])):
            raise NotFiniteError(int(block.numbers[t]))
        self.loss += float(np.maximum(-margins, 0.0).sum())
        if self.policy is stop and self.size == self.budget:
            self.errors += int(np.count_nonzero(margins <= 0))
            self.stop_reason = "budget"
            return
        self.tally(margins, np.flatnonzero(change)[: len(margins)])
        self.time = self.state.seen + block.offset + t
        place = self.place.get(self.state.given + int(block.numbers[t]))
        if place is None:
            self.policy(self, block, t, change)
        else:
            self.move(block, [place], np.ones(1), change)

    def move(self, block: Block, places: Any, direction: Array, change: Array) -> None:
        """Move the outputs by change in a direction that some support rows span, and the bias."""
        self.coef[:, places] += np.outer(change, direction)
        self.missing[:, places] += np.outer(change * self.time, direction)
        block.scores += np.outer(change, direction @ self.values[places])
        self.state.bias += change * self.rule.intercept_step
        self.missing_bias += change * self.time * self.rule.intercept_step

    def enter(self, block: Block, t: int, place: int, change: Array) -> None:
        """Give a free place to row t, and learn from it."""
        self.size = max(self.size, place + 1)
        number = self.state.given + int(block.numbers[t])
        self.numbers[place], self.place[number] = number, place
        self.ages[place] = self.state.mistakes
        self.origin[place] = self.support.shape[0] + t
        picked = self.gram.pick(self.X, block.numbers[[t]])
        self.values[place] = self.gram(picked, block.rows)[0]
        self.move(block, [place], np.ones(1), change)

    def leave(self, block: Block, place: int) -> None:
        """Free a place, and forget what its row did."""
        block.scores -= np.outer(self.coef[:, place], self.values[place])
        self.coef[:, place] = self.missing[:, place] = 0.0
        del self.place[int(self.numbers[place])]

    def finish(self) -> Dual:
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


def grown(array: Array, *shape: int) -> Array:
    """A copy with zeros behind, up to a shape."""
    room = np.zeros(shape, array.dtype)
    room[tuple(map(slice, array.shape))] = array
    return room


def projectron(run: Budgeted, block: Block, t: int, change: Array) -> None:
    """Once the support is full, add not x but its projection onto the span of the support.

    Orabona, Keshet & Caputo (2009), "Bounded kernel-based online learning", JMLR 10. If no
    projection moved a row by more than δ, then against any function g with Σ max(0, 1 - yg(x)) = L
    over the mistakes, the M mistakes satisfy M(1 - δ‖g‖) <= L + ‖g‖R√M.
    """
    size = run.size
    k, basis = run.values[:size, t], run.matrix[:size, :size]
    along = basis @ k
    d, distance = along @ basis, run.own[t] - along @ along
    if size == run.budget or distance <= DEPENDENT * abs(run.own[t]):
        run.move(block, slice(size), d, change)
        return
    run.matrix[size, :size], run.matrix[size, size] = -d, 1.0
    run.matrix[size] /= np.sqrt(distance)
    run.enter(block, t, size, change)


def forgetron(run: Budgeted, block: Block, t: int, change: Array) -> None:
    """Shrink all coefficients just enough to afford forgetting the oldest support row.

    Dekel, Shalev-Shwartz & Singer (2008), "The Forgetron", SIAM Journal on Computing 37(5), in the
    self-tuned form. With K(x, x) <= 1, B >= 83 and ‖g‖ <= ¼√((B + 1)/ln(B + 1)) the mistakes are
    at most 2‖g‖² + 4 Σ max(0, 1 - yg(x)).
    """
    place = run.size
    if run.size == run.budget:
        place = int(np.argmin(run.ages))
        coef, bias = run.coef, run.state.bias + change * run.rule.intercept_step
        score = coef @ run.matrix[:, place] + change * run.values[place, t] + bias
        owed = run.state.forgotten - 15 / 32 * run.state.mistakes
        shrink = shrinkage(coef[:, place], score, owed)
        coef *= shrink
        run.state.bias *= shrink
        block.scores *= shrink
        change, score, beta = shrink * change, shrink * score, coef[:, place]
        run.state.forgotten += float(beta @ beta + 2 * np.abs(beta).sum() - 2 * beta @ score)
        run.leave(block, place)
    run.enter(block, t, place, change)
    run.matrix[place, : run.size] = run.matrix[: run.size, place] = run.values[: run.size, t]
    run.matrix[place, place] = run.own[t]


def shrinkage(beta: Array, score: Array, c: float) -> float:
    """The largest φ up to 1 with aφ² + bφ + c <= 0: what forgetting costs, within what is left."""
    a, b = float(beta @ beta - 2 * beta @ score), 2 * float(np.abs(beta).sum())
    square = b * b - 4 * a * c
    root = float(np.sqrt(max(square, 0.0)))
    if a > 0 or (a < 0 < square and (-b - root) / (2 * a) > 1):
        return min(1.0, (-b + root) / (2 * a))
    return min(1.0, -c / b) if a == 0 and b > 0 else 1.0


def random(run: Budgeted, block: Block, t: int, change: Array) -> None:
    """Let a random support row make room.

    Cavallanti, Cesa-Bianchi & Gentile (2007), "Tracking the best hyperplane with a simple budget
    perceptron", Machine Learning 69. In expectation the mistakes are of the order of the hinge loss
    of any g whose norm is O(√(B/ln B)), plus terms in ‖g‖ and B.
    """
    place = run.size
    if run.size == run.budget:
        state = np.uint64(run.seed) + algebra.mix(np.uint64(run.state.mistakes))
        place = int(algebra.mix(state)) % run.budget
        run.leave(block, place)
    run.enter(block, t, place, change)


def stop(run: Budgeted, block: Block, t: int, change: Array) -> None:
    """Learn no more once the support is full: the perceptron's own bound, up to there."""
    run.enter(block, t, run.size, change)


POLICIES: dict[str, Callable[[Budgeted, Block, int, Array], None]] = {
    "projectron": projectron,
    "forgetron": forgetron,
    "random": random,
    "stop": stop,
}
SQUARED = ("projectron", "forgetron")  # keep a matrix over the support


# Prediction


def normalised(state: Dual, average: bool, together: bool) -> tuple[Array, Array]:
    """The last function divided by its norm, or the average of all, each divided by its norm."""
    updates, shares = state.updates, np.zeros(len(state.norms))
    for group in groups_of(updates, together, len(state.bias)):
        norms = np.sqrt(np.maximum(state.norms[group], 0))
        seen = state.seen[updates.labels[group[0]]]
        inverse = np.divide(1.0, norms, out=np.zeros(len(norms)), where=norms > 0)
        survived = np.diff(updates.times[group], append=seen)
        tails = np.cumsum((survived * inverse)[::-1])[::-1] / seen
        shares[group] = tails if average else inverse[-1]
    moves = moves_of(updates, updates.steps * shares, together)
    lifts = moves_of(updates, updates.steps * shares * updates.intercept_steps, together)
    outputs = len(state.bias)
    coef = summed(moves, outputs, len(state.numbers))
    return coef, np.bincount(lifts.outputs, lifts.steps, outputs)


def votes(state: Dual, products: Array, together: bool, sign_of_zero: float) -> Array:
    """The share of the votes for each output, from the kernel values of rows with the support."""
    outputs, updates = len(state.bias), state.updates
    out = np.zeros((len(products), outputs))
    if together:
        survived = np.diff(updates.times, prepend=0, append=state.seen[0]).astype(np.float64)
        linear.multiclass_votes(np.zeros_like(out), products, updates, survived, out)
        return out / max(int(state.seen[0]), 1)
    for problem in range(outputs):
        own = Updates(*(part[updates.labels == problem] for part in updates))
        survived = np.diff(own.times, prepend=0, append=state.seen[problem]).astype(np.float64)
        scores, share = np.zeros((2, len(products), 1))
        linear.perceptron_votes(scores, products, own, survived, sign_of_zero, share)
        out[:, problem] = share[:, 0] / max(int(state.seen[problem]), 1)
    return out


class KernelPerceptron(OnlineClassifier):
    """Learn a boundary that is linear in the feature space of a kernel, by correcting mistakes.

    Freund & Schapire (1999), "Large margin classification using the perceptron algorithm", Machine
    Learning 37(3); the idea is of Aizerman, Braverman & Rozonoer (1964). The updates are those of
    the algorithm that takes one row at a time, at the speed of matrix products.

    Parameters
    ----------
    kernel : {"rbf", "poly", "linear", "sigmoid", "precomputed"} or callable, default="rbf"
        K(x, x'). A callable takes two blocks of rows and returns the matrix of their values; with
        "precomputed", X is such a matrix, of all rows with the training rows.
    degree : float, default=3
        Of the polynomial (gamma·x·x' + coef0)^degree.
    gamma : float, "scale", "auto" or None, default=None
        Of exp(-gamma·‖x - x'‖²), the polynomial and tanh(gamma·x·x' + coef0). None and "auto" are
        1/n_features, "scale" is 1/(n_features·X.var()).
    coef0 : float, default=1.0
        Of the polynomial and the sigmoid.
    solution : {"last", "average", "vote"}, default="last"
        Which function predicts: the last one; the average over all rows seen; the majority vote of
        all there were. It may be changed after ``fit``, unless there is a budget.
    normalize : bool, default=False
        Whether the last function, or each one in the average, is divided by its norm.
    order : {"each", "once", "fixed"}, default="each"
        A fresh permutation each epoch; one permutation, kept; as given.
    margin : float, default=0.0
        Update when y·activation <= margin; with several classes, when the lead is.
    ties : {"mistake", "positive", "negative", "correct"}, default="mistake"
        What an activation of exactly 0 counts as. "positive" and "negative" need two classes or
        one-vs-rest, and say what is predicted there too.
    fit_intercept : bool, default=True
        Whether to learn a bias.
    intercept_step : float or "radius", default=1.0
        A mistake moves the bias by y times this. "radius" is R², the largest K(x, x).
    multi_class : {"ovr", "argmax"}, default="ovr"
        With over two classes: one two-class problem per class, all in one pass over the kernel
        values; or all together, adding to the right class and subtracting from the best wrong one.
    max_iter : int, default=100
        The most epochs.
    budget : int or None, default=None
        The most support rows, B. Memory is then constant, also on endless streams.
    budget_policy : {"projectron", "forgetron", "random", "stop"}, default="projectron"
        What a mistake does when the support is full: its projection onto the support is added; the
        oldest or a random row makes room; nothing more is learnt.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes; they scale the steps.
    cache_size : float, default=200
        Megabytes for blocks of kernel values. They never change the result.
    random_state : int, RandomState instance or None, default=None
        Decides the permutations and which rows make room. The same number gives the same model.
    verbose : int, default=0
        Whether to show progress, mistakes and the size of the support.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted. Of two, the larger is the positive one.
    support_ : ndarray of shape (n_support,)
        The numbers of the rows once mistaken, in the order of their first mistake; counted over all
        calls of ``partial_fit``.
    support_vectors_ : array or sparse matrix of shape (n_support, n_features)
        These rows.
    dual_coef_ : ndarray of shape (1, n_support) or (n_classes, n_support)
        Their coefficients: αᵢyᵢ for two classes. With ``solution="vote"`` the last ones.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        The biases.
    n_mistakes_ : int
        Updates made, over all one-vs-rest problems and calls of ``partial_fit``.
    n_iter_ : int
        Epochs gone through.
    stop_reason_ : {"separated", "max_iter", "budget"}
        Why training ended.
    history_ : list of Epoch
        One record per epoch: rows, mistakes, errors (J₁), loss (J).

    Examples
    --------
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    >>> model = KernelPerceptron("poly", degree=2, gamma=1, random_state=0).fit(X, y)
    >>> model.stop_reason_, model.n_mistakes_, model.predict(X).tolist()
    ('separated', 21, [0, 1, 1, 0])
    """

    _state: Dual
    _gram: Gram
    _intercept_step: float
    _together: bool
    _policy: str | None
    """The budget's, as of the first row."""

    def __init__(
        self,
        kernel: str | Callable[[Any, Any], ArrayLike] = "rbf",
        *,
        degree: float = 3,
        gamma: float | str | None = None,
        coef0: float = 1.0,
        solution: str = "last",
        normalize: bool = False,
        order: str = "each",
        margin: float = 0.0,
        ties: str = "mistake",
        fit_intercept: bool = True,
        intercept_step: float | str = 1.0,
        multi_class: str = "ovr",
        max_iter: int = 100,
        budget: int | None = None,
        budget_policy: str = "projectron",
        class_weight: dict[Any, float] | str | None = None,
        cache_size: float = 200,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.solution = solution
        self.normalize = normalize
        self.order = order
        self.margin = margin
        self.ties = ties
        self.fit_intercept = fit_intercept
        self.intercept_step = intercept_step
        self.multi_class = multi_class
        self.max_iter = max_iter
        self.budget = budget
        self.budget_policy = budget_policy
        self.class_weight = class_weight
        self.cache_size = cache_size
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from X and y until a pass is clean or ``max_iter`` epochs are over.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows, or with ``kernel="precomputed"`` their Gram matrix.
        y : array-like of shape (n_samples,)
            Their labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows; they scale the steps, and a row of weight 0 is never seen.
        """
        self._check_parameters()
        with self._unchanged_by_errors():
            X, y = self._check_rows(X, y, reset=True)
            if self.kernel == "precomputed" and X.shape[0] != X.shape[1]:
                raise ValueError(
                    f"A precomputed Gram matrix has as many columns as rows; X has shape {X.shape}."
                )
            classes, codes = self._encode(y)
            weights = self._row_weights(classes, codes, sample_weight, whole=True)
            seen = np.arange(len(codes)) if weights is None else np.flatnonzero(weights > 0)
            if len(np.unique(codes[seen])) < 2:
                raise ValueError("Only one class has rows of a weight above 0; at least two must.")
            self._start(X, classes, seen)
            self._train(X, codes, weights, seen, self.order, self.max_iter)
        return self

    def partial_fit(
        self,
        X: Any,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn from a batch of rows, once and in their order.

        However the rows of a pass are cut into batches, the model is the same.

        Parameters
        ----------
        X, y, sample_weight
            As for ``fit``.
        classes : array-like of shape (n_classes,), default=None
            All labels that will ever come; needed in the first call.
        """
        self._check_parameters()
        self._check_streaming()
        first = not self.__sklearn_is_fitted__()
        with self._unchanged_by_errors():
            X, y = self._check_rows(X, y, reset=first)
            known = self._known_classes(classes, first)
            codes = self._number(y, known)
            weights = self._row_weights(known, codes, sample_weight, whole=False)
            seen = np.arange(len(codes)) if weights is None else np.flatnonzero(weights > 0)
            if first:
                self._start(X, known, seen)
            self._check_going_on()
            if self._gamma(X) != self._gram.gamma:
                raise ValueError(
                    f"partial_fit cannot go on with gamma={self.gamma!r} in a model that was begun "
                    f"with {self._gram.gamma!r}; set it back or use a new model."
                )
            self._intercept_step = float(self.intercept_step) if self.fit_intercept else 0.0
            self._train(like(self._state.support, X), codes, weights, seen, "fixed", 1)
            self.stop_reason_ = "max_iter"  # a clean batch proves nothing about the others
        return self

    def decision_function(self, X: Any) -> Array:
        """Score rows: the signed activation, or with ``solution="vote"`` the share of votes.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows, or their kernel values with all training rows.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes, positive means ``classes_[1]``. Scores are not probabilities.
        """
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
        if hasattr(X, "indptr"):
            check_structure(X)
        at_once = ROWS_AT_ONCE
        if self.solution == "vote":  # needs a row's kernel values with the whole support
            room = self.cache_size * 2**20 / (24 * max(len(self.support_), 1))
            at_once = min(at_once, max(int(room), 1))
        blocks = [
            self._scores(X[begin : begin + at_once]) for begin in range(0, X.shape[0], at_once)
        ]
        scores = np.concatenate(blocks)
        if not np.isfinite(scores).all():
            raise overflow(int(np.argmin(np.isfinite(scores).reshape(len(scores), -1).all(axis=1))))
        return scores.ravel() if len(self.classes_) == 2 else scores

    def predict(self, X: Any) -> Array:
        """The label of each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows, or their kernel values with all training rows.
        """
        scores = self.decision_function(X)
        return self.classes_[chosen(scores, self.ties)]

    @property
    def support_(self) -> Array:
        """The numbers of the rows once mistaken."""
        check_is_fitted(self)
        return self._state.numbers

    @property
    def support_vectors_(self) -> Any:
        """The rows once mistaken."""
        check_is_fitted(self)
        return self._state.support

    @property
    def dual_coef_(self) -> Array:
        """The coefficients of the support rows, one line per class or one for two classes."""
        return self._answer()[0]

    @property
    def intercept_(self) -> Array:
        """The biases."""
        return self._answer()[1]

    @property
    def n_mistakes_(self) -> int:
        """Updates made."""
        check_is_fitted(self)
        return self._state.mistakes

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file that ``load`` reads: numbers only, checked, all or nothing.

        Parameters
        ----------
        path : str or path-like
            Where to; by custom it ends in ``.safetensors``.
        """
        check_is_fitted(self)
        self._check_parameters()
        self._check_going_on()
        if callable(self.kernel):
            raise ValueError(
                "A model file holds numbers and no code, so that a kernel function cannot be saved;"
                ' use a kernel by name or "precomputed".'
            )
        names = getattr(self, "feature_names_in_", None)
        facts = {
            "stop_reason": self.stop_reason_,
            "intercept_step": self._intercept_step,
            "gamma": self._gram.gamma,
            "together": self._together,
            "width": self.n_features_in_,
        }
        features = {} if names is None else {"names": names.tolist()}
        storage.save(
            path,
            storage.Model(
                self.get_params(), self.classes_, [self._state], features, facts, self.history_
            ),
        )

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_state")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags

    # What comes in

    def _check_parameters(self) -> None:
        """Refuse parameters that are out of range or do not go together."""
        for name, allowed in CHOICES.items():
            refuse_other_choices(name, getattr(self, name), allowed)
        if not callable(self.kernel):
            refuse_other_choices("kernel", self.kernel, KERNELS)
        for name, ok, wanted in [
            ("degree", positive_number(self.degree), "a number above 0"),
            (
                "gamma",
                self.gamma in (None, "scale", "auto") or positive_number(self.gamma),
                'a number above 0, "scale", "auto" or None',
            ),
            ("coef0", finite_number(self.coef0), "a finite number"),
            ("margin", positive_number(self.margin) or self.margin == 0, "a number from 0 up"),
            ("max_iter", whole_number(self.max_iter), "a whole number from 1 up"),
            (
                "intercept_step",
                self.intercept_step in (0, "radius") or positive_number(self.intercept_step),
                'a number from 0 up or "radius"',
            ),
            (
                "budget",
                self.budget is None or whole_number(self.budget),
                "a whole number from 1 up or None",
            ),
            ("cache_size", positive_number(self.cache_size), "a number of megabytes above 0"),
        ]:
            if not ok:
                raise ValueError(f"{name} must be {wanted}; got {getattr(self, name)!r}.")
        self._check_solution()

    def _check_solution(self) -> None:
        """Refuse a solution that the budget does not leave the means for."""
        if self.normalize and self.solution == "vote":
            raise ValueError('normalize=True changes no vote; use solution="average" or "last".')
        if self.budget is None:
            return
        if self.solution == "vote" or self.normalize:
            what = "normalize=True" if self.normalize else 'solution="vote"'
            raise ValueError(
                f"{what} needs every mistake there was, which a budget does not keep; use "
                'solution="last" or "average" without it.'
            )
        self._check_average(self.budget_policy)

    def _check_average(self, policy: str | None) -> None:
        """Refuse an average of functions whose rows were discarded."""
        if self.solution == "average" and policy in ("forgetron", "random"):
            raise ValueError(
                f"The average needs the rows that budget_policy={policy!r} discards; use "
                'solution="last" or budget_policy="projectron".'
            )

    def _check_streaming(self) -> None:
        """Refuse in partial_fit what needs all the data at once."""
        for unfit, what, instead in [
            (self.kernel == "precomputed", 'kernel="precomputed"', "the kernel itself"),
            (self.gamma == "scale", 'gamma="scale"', "a number"),
            (self.intercept_step == "radius", 'intercept_step="radius"', "the number R² itself"),
            (self.class_weight == "balanced", 'class_weight="balanced"', "a dict of weights"),
        ]:
            if unfit:
                raise ValueError(
                    f"{what} needs all the data, and partial_fit sees only a batch; use {instead}."
                )

    def _check_rows(self, X: Any, y: Any, reset: bool) -> tuple[Any, Array]:
        """X as a float array or CSR matrix that is finite, y as a list of labels."""
        X = validate_data(
            self,
            X,
            reset=reset,
            accept_sparse="csr",
            dtype=[np.float64, np.float32] if reset else [self._state.support.dtype],
            order="C",
            ensure_all_finite=False,
        )
        y = self._check_labels(y, X.shape[0])
        if hasattr(X, "indptr"):
            check_structure(X)
            if not X.has_canonical_format:
                X = X.copy()
                X.sum_duplicates()
        refuse_not_finite(X)
        return X, y

    def _check_going_on(self) -> None:
        """Refuse to learn on in another form than the model was begun in."""
        state, budget = self._state, self.budget
        size = len(state.numbers)
        squared = size if budget is not None and self.budget_policy in SQUARED else 0
        fitting = self._together == (self._problems(self.classes_) == [None])
        fitting &= len(state.ages) == (0 if budget is None else size) and size <= (budget or size)
        fitting &= state.matrix.shape == (squared, squared)
        fitting &= self._policy == (None if budget is None else self.budget_policy)
        fitting &= (self.kernel, self.degree, self.coef0) == (
            self._gram.kernel,
            self._gram.degree,
            self._gram.coef0,
        )
        if not fitting:
            raise ValueError(
                "A model cannot go on or be saved with another kernel, multi_class, budget or "
                "budget_policy than it was begun with; set them back or use a new model."
            )

    # Training

    def _start(self, X: Any, classes: Array, seen: Array) -> None:
        """Begin a model at zero."""
        self.classes_ = classes
        self._together = self._problems(classes) == [None]
        self._policy = None if self.budget is None else self.budget_policy
        self._check_ties(classes)
        self._gram = Gram(self.kernel, self.degree, self._gamma(X), self.coef0)
        step = self.intercept_step
        if step == "radius":
            step = max(
                float(self._gram.diagonal(X, seen[begin : begin + ROWS_AT_ONCE]).max())
                for begin in range(0, len(seen), ROWS_AT_ONCE)
            )
        self._intercept_step = float(step) if self.fit_intercept else 0.0
        outputs = 1 if len(classes) == 2 else len(classes)
        nothing, numbers = np.zeros((outputs, 0)), np.zeros(0, np.int64)
        self._state = Dual(
            support=self._gram.pick(X, numbers),
            numbers=numbers,
            coef=nothing,
            missing=nothing,
            bias=np.zeros(outputs),
            missing_bias=np.zeros(outputs),
            seen=np.zeros(outputs, np.int64),
            ages=numbers,
            matrix=np.zeros((0, 0)),
            norms=np.zeros(0),
            updates=joined([]),
        )

    def _gamma(self, X: Any) -> float:
        """The parameter gamma as a number."""
        if self.gamma == "scale":
            values = X.multiply(X) if hasattr(X, "indptr") else X * X
            spread = float(values.mean() - X.mean() ** 2)
            return 1 / (X.shape[1] * spread) if spread > 0 else 1.0
        return 1 / X.shape[1] if self.gamma in (None, "auto") else float(self.gamma)

    def _train(
        self, X: Any, codes: Array, weights: Array | None, seen: Array, order: str, epochs: int
    ) -> None:
        """Train from the state as it is, and keep what was learnt."""
        form: EachClass | AllClasses
        codes = codes.astype(np.intp)
        if self._together:
            form = AllClasses(codes, weights)
        else:
            form = EachClass(codes, weights, np.array(self._problems(self.classes_)))
        rule = rule_of(self.margin, self.ties, self._intercept_step)
        with progress(bool(self.verbose), len(seen)) as tell, explained():
            given = (
                self._gram,
                X,
                seen.astype(np.uint32),
                form,
                self._state,
                rule,
                seed_of(self.random_state),
                self.cache_size * 2**20,
                tell,
            )
            run: Run
            if self.budget is None:
                run = Growing(*given)
            else:
                run = Budgeted(self.budget, self.budget_policy, *given)
            state = run.train(order, epochs)
        self._state = replace(state, given=state.given + X.shape[0])
        self.history_, self.n_iter_ = run.history, len(run.history)
        self.stop_reason_ = run.stop_reason

    # Prediction

    def _answer(self) -> tuple[Array, Array]:
        """The coefficients and biases to predict with, one line per output."""
        check_is_fitted(self)
        self._check_solution()
        self._check_average(self._policy)
        average = self.solution == "average"
        if self.normalize:
            self._check_history()
            return normalised(self._state, average, self._together)
        return self._state.answer(average)

    def _check_history(self) -> None:
        """Refuse what needs every mistake after a fit that did not keep them."""
        if len(self._state.updates.rows) < self._state.mistakes:
            raise ValueError(
                "Votes and norms need every mistake there was, and this model was fitted with a "
                "budget; fit it with budget=None."
            )

    def _scores(self, rows: Any) -> Array:
        """The score of every output for some rows."""
        state, gram = self._state, self._gram
        slices = parts(len(state.numbers), self.n_features_in_, self.cache_size * 2**20)
        with np.errstate(over="ignore", invalid="ignore"):
            if self.solution == "vote":
                self._check_solution()
                self._check_history()
                blocks = [gram(state.support[part], rows) for part in slices]
                values = np.concatenate([np.empty((0, rows.shape[0])), *blocks])
                products = np.ascontiguousarray(values.T)
                return votes(state, products, self._together, SIGN_OF_ZERO[self.ties])
            coef, bias = self._answer()
            scores = np.zeros((len(bias), rows.shape[0]))
            for part in slices:
                scores += coef[:, part] @ gram(state.support[part], rows)
            return np.asarray(scores.T + bias)


def load(path: str | os.PathLike[str]) -> "Perceptron | KernelPerceptron":
    """Read a saved model, which predicts and learns on as if it had never left.

    Parameters
    ----------
    path : str or path-like
        A file that ``Perceptron.save`` or ``KernelPerceptron.save`` wrote.

    Examples
    --------
    >>> import tempfile
    >>> model = KernelPerceptron().fit([[2.0], [-1.0]], [1, 0])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(f"{folder}/model.safetensors")
    ...     load(f"{folder}/model.safetensors").predict([[3.0]]).tolist()
    [1]
    """
    saved = storage.load(path)
    if not storage.is_dual(saved):
        return restored(path, saved)
    facts, names = saved.facts, saved.features.get("names")
    with understood(path):
        model = KernelPerceptron(**saved.parameters)
        model._check_parameters()
        for name in ("gamma", "intercept_step"):
            if not finite_number(facts.get(name)):
                raise ValueError(f"its {name} is no number")
        model._gram = Gram(model.kernel, model.degree, float(facts["gamma"]), model.coef0)
        model._intercept_step = float(facts["intercept_step"])
        model.classes_, model._together = saved.classes, facts.get("together") is True
        model._policy = None if model.budget is None else model.budget_policy
        (model._state,) = saved.solutions
        model._check_going_on()
        if (model.kernel == "precomputed") != (model._state.support.ndim == 1):
            raise ValueError("its kernel is not that of its support")
        if names is not None:
            model.feature_names_in_ = feature_names(names, facts["width"])
    model.n_features_in_ = facts["width"]
    model.history_, model.n_iter_ = list(saved.history), len(saved.history)
    model.stop_reason_ = facts.get("stop_reason", "max_iter")
    return model


def refuse_other_choices(name: str, value: Any, allowed: list[str]) -> None:
    """Raise unless a parameter is one of some words."""
    if not isinstance(value, str) or value not in allowed:
        options = ", ".join(map(repr, allowed))
        raise ValueError(f"{name} must be one of {options}; got {value!r}.")


def finite_number(value: Any) -> bool:
    """Whether a parameter is a number that is neither NaN nor infinite."""
    return isinstance(value, Real) and bool(np.isfinite(float(value)))


def like(support: Any, X: Any) -> Any:
    """X in the layout of the support, dense or sparse."""
    if hasattr(support, "indptr") == hasattr(X, "indptr"):
        return X
    return csr_array(X) if hasattr(support, "indptr") else X.toarray()


@contextmanager
def explained() -> Iterator[None]:
    """Turn an activation that is not finite into a sentence on why."""
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            yield
    except NotFiniteError as stop:
        raise overflow(stop.row) from None


def overflow(row: int) -> ValueError:
    """What to say when scores are no longer finite."""
    return ValueError(
        f"The scores of row {row} are beyond what float64 can hold (infinity); scale X down or use "
        "a smaller degree, gamma or coef0."
    )


@contextmanager
def progress(wanted: bool, rows: int) -> Iterator[Callable[[Run, int], None] | None]:
    """A bar that shows how far an epoch is, its mistakes and the size of the support."""
    if not wanted:
        yield None
        return
    from rich.progress import BarColumn, Progress, TimeRemainingColumn

    columns = "epoch {task.fields[epoch]}", BarColumn(), TimeRemainingColumn(), "{task.description}"
    with Progress(*columns) as bar:
        task = bar.add_task("", total=rows, epoch=1)

        def tell(run: Run, count: int) -> None:
            epoch = len(run.history) + 1
            if bar.tasks[task].finished:
                bar.reset(task, epoch=epoch)
            mistakes = f"{run.state.mistakes:,} mistakes, {run.size:,} support rows"
            bar.update(task, advance=count, epoch=epoch, description=mistakes)

        yield tell
