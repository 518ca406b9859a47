"""The one outer loop: orders, epochs, stop rules, solutions, history and steps."""

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .kernels import algebra, linear
from .kernels.algebra import Rows
from .kernels.linear import UPDATE, Examples, Settings, Updates

Array = NDArray[Any]


class Epoch(NamedTuple):
    """What happened in one epoch; ``history_`` is a list of these.

    Attributes
    ----------
    epoch : int
        Its number, from 1.
    rows : int
        Rows gone through.
    mistakes : int
        Updates made.
    errors : int
        J₁, the misclassified rows (the boundary counts as wrong unless ``ties`` says otherwise).
    loss : float
        J, the sum of -y·activation over the misclassified rows. Both are taken as each row was
        met, or with ``measure=True`` for the weights at the end of the epoch.
    validation_score : float or None
        The accuracy on the rows held out by ``early_stopping``.
    """

    epoch: int
    rows: int
    mistakes: int
    errors: int
    loss: float
    validation_score: float | None = None


class Task(NamedTuple):
    """The examples, the numbers of the rows that count, and the rule."""

    examples: Examples
    everything: Array
    rule: Settings

    def margins(self, weights: Array, bias: Array) -> Array:
        """Every row's label times activation, or the lead of its class over the best rival."""
        out = np.empty(len(self.everything))
        form_of(self.examples).margins(self.examples, self.everything, weights, bias, out)
        if not np.isfinite(out).all():
            raise NotFiniteError(int(self.everything[np.argmin(np.isfinite(out))]))
        return out

    def required(self) -> Array:
        """What each row's margin must exceed to be right."""
        if self.examples.labels is not None:
            return np.full(len(self.everything), self.rule.above)
        positive = self.examples.steps[self.everything] > 0
        return np.where(positive, self.rule.above, -self.rule.below)


class Form(NamedTuple):
    """The kernels of one form of the algorithm."""

    learn: Callable[..., tuple[int, int, float]]
    margins: Callable[..., None]
    missing: Callable[..., None]


TWO_CLASSES = Form(linear.perceptron, linear.perceptron_margins, linear.perceptron_missing)
MANY_CLASSES = Form(linear.multiclass, linear.multiclass_margins, linear.multiclass_missing)


def form_of(examples: Examples) -> Form:
    """The kernels for two classes or for more."""
    return TWO_CLASSES if examples.labels is None else MANY_CLASSES


class NotFiniteError(Exception):
    """An activation that is NaN or infinite, at a row."""

    def __init__(self, row: int) -> None:
        self.row = row


# Solutions: which of the weights that were tried become the model. Each is the whole state of a
# model in training, a few arrays and counters that can be copied, saved and gone on from.


@dataclass
class Last:
    """The weights as the last update left them (Rosenblatt 1958).

    ``weights`` has one column per class (none for two classes) and the dtype of X.
    """

    weights: Array
    bias: Array
    seen: int = 0
    mistakes: int = 0

    def sweep(self, task: Task, order: Array, log: Array) -> Iterator[tuple[int, float]]:
        """Learn from the rows in an order; yield the number of new updates and their loss."""
        position = 0
        while position < len(order):
            position, updates, loss = self.learn(task, order, position, log)
            if updates < len(log) and position < len(order):
                raise NotFiniteError(int(order[position]))
            if updates:
                self.record(task, order, log[:updates])
                yield updates, loss
        self.seen += len(order)

    def learn(self, task: Task, order: Array, start: int, log: Array) -> tuple[int, int, float]:
        """Call the kernel: how far it got, how many updates it made, and their loss."""
        learn = form_of(task.examples).learn
        return learn(task.examples, order, start, self.weights, self.bias, task.rule, log)

    def record(self, task: Task, order: Array, log: Array) -> None:
        """Take note of the updates that were just made."""
        self.mistakes += len(log)

    def close(self, X: Any) -> None:
        """Keep what is needed of the rows before they are gone."""

    def widen(self, width: int) -> None:
        """Make room for more columns, with zero weights."""
        self.weights = widened(self.weights, width)

    def renewed(self) -> "Last":
        """A copy to go on from with other rows."""
        return copy.deepcopy(self)

    def answer(self) -> tuple[Array, Array]:
        """The weights and bias to predict with."""
        return self.weights, self.bias


@dataclass
class Average(Last):
    """The mean of the weights after each row seen (Freund & Schapire 1999; Collins 2002).

    ``missing`` sums in double precision what the past weights lack of the present ones.
    """

    missing: Array = field(init=False)
    missing_bias: Array = field(init=False)

    def __post_init__(self) -> None:
        self.missing = np.zeros(self.weights.shape)
        self.missing_bias = np.zeros(self.bias.shape)

    def record(self, task: Task, order: Array, log: Array) -> None:
        super().record(task, order, log)
        form_of(task.examples).missing(
            task.examples,
            order,
            self.seen,
            log,
            self.missing,
            self.missing_bias,
            task.rule.intercept_step,
        )

    def widen(self, width: int) -> None:
        super().widen(width)
        self.missing = widened(self.missing, width)

    def answer(self) -> tuple[Array, Array]:
        weights, bias = np.empty_like(self.weights), np.empty_like(self.bias)
        linear.mean(self.weights.ravel(), self.missing.ravel(), self.seen, weights.ravel())
        linear.mean(self.bias, self.missing_bias, self.seen, bias)
        return weights, bias


@dataclass
class Vote(Last):
    """The majority of all weights there were, each with as many votes as rows it survived.

    Kept as the first weights, the mistaken rows and when each was added (Freund & Schapire 1999).
    ``answer`` gives the last weights; ``votes`` predicts.
    """

    first_weights: Array = field(init=False)
    first_bias: Array = field(init=False)
    supports: list[Any] = field(default_factory=list)
    updates: list[Updates] = field(default_factory=list)
    pending: list[Updates] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.first_weights, self.first_bias = self.weights.copy(), self.bias.copy()

    def record(self, task: Task, order: Array, log: Array) -> None:
        super().record(task, order, log)
        positions, rivals, steps = (log[name].copy() for name in ("position", "rival", "step"))
        rows = order[positions]
        labels = rivals if task.examples.labels is None else task.examples.labels[rows]
        intercept_steps = np.full(len(log), task.rule.intercept_step)
        times = self.seen + positions
        self.pending.append(Updates(rows, times, steps, intercept_steps, labels, rivals))

    def close(self, X: Any) -> None:
        if self.pending:
            updates = joined(self.pending)
            rows, which = np.unique(updates.rows, return_inverse=True)
            which += sum(support.shape[0] for support in self.supports)
            self.supports.append(X[rows])
            self.updates.append(updates._replace(rows=which))
            self.pending = []

    def votes(self, X: Any, sign_of_zero: float = 0.0, rows_at_once: int = 1024) -> Array:
        """The share of the votes for each class; for two, from -1 (all against) to 1."""
        out = np.zeros((X.shape[0], len(self.bias)))
        updates = joined(self.updates)
        survived = np.diff(updates.times, prepend=0, append=self.seen).astype(np.float64)
        for begin in range(0, X.shape[0], rows_at_once):
            block, share = X[begin : begin + rows_at_once], out[begin : begin + rows_at_once]
            scores = (block @ self.first_weights).reshape(share.shape) + self.first_bias
            scores = scores.astype(np.float64)
            parts = [to_dense(block @ support.T) for support in self.supports]
            products = np.hstack([*parts, np.empty((len(share), 0))])
            if self.weights.ndim == 1:
                linear.perceptron_votes(scores, products, updates, survived, sign_of_zero, share)
            else:
                linear.multiclass_votes(scores, products, updates, survived, share)
        return out / max(self.seen, 1)


@dataclass
class Pocket(Last):
    """The weights with the fewest training errors so far, with ratchet (Gallant 1990).

    Weights are measured on all rows once they have been right more often in a row than those in
    the pocket, and replace them when they make fewer errors.
    """

    best_weights: Array = field(init=False)
    best_bias: Array = field(init=False)
    best_run: int = 0
    errors: float = np.inf
    run: int = 0
    measured: bool = False

    def __post_init__(self) -> None:
        self.best_weights, self.best_bias = self.weights.copy(), self.bias.copy()

    def sweep(self, task: Task, order: Array, log: Array) -> Iterator[tuple[int, float]]:
        position, only_look = 0, np.empty(0, UPDATE)
        while True:
            start = position
            position, _, _ = self.learn(task, order, start, only_look)
            self.run += position - start
            self.offer(task)
            if position == len(order) or self.errors == 0:
                break
            _, updates, loss = self.learn(task, order[position : position + 1], 0, log)
            if not updates:
                raise NotFiniteError(int(order[position]))
            log[0]["position"] = position
            self.record(task, order, log[:1])
            self.run, self.measured = 0, False
            position += 1
            yield updates, loss
        self.seen += position

    def offer(self, task: Task) -> None:
        """Pocket the weights if they have the longer run and the fewer errors."""
        if self.run <= self.best_run or self.measured:
            return
        self.measured = True
        margins = task.margins(self.weights, self.bias)
        wrong = ~(margins > np.minimum(task.required(), 0))
        errors = np.abs(task.examples.steps[task.everything[wrong]]).sum(dtype=np.float64)
        if errors < self.errors:
            self.best_weights[...], self.best_bias[...] = self.weights, self.bias
            self.best_run, self.errors = self.run, float(errors)

    def renewed(self) -> "Pocket":
        return Pocket(self.best_weights.copy(), self.best_bias.copy(), self.seen, self.mistakes)

    def answer(self) -> tuple[Array, Array]:
        return self.best_weights, self.best_bias


@dataclass
class Dual:
    """The dual form: the rows once mistaken and how far each moved which output.

    Outputs are classes, or the problems of one-vs-rest (one for two classes). A column of ``coef``
    belongs to a support row; ``missing`` is that of ``Average``. Without a budget ``updates`` keeps
    every mistake and ``norms`` the squared norm of the function after each. With one, ``ages`` says
    how many mistakes there had been when a row came in, ``matrix`` is the support's Gram matrix
    (forgetron) or the coefficients of an orthonormal basis of its span, one row each (projectron),
    and ``forgotten`` the forgetron's Q.
    """

    support: Any
    numbers: Array
    coef: Array
    missing: Array
    bias: Array
    missing_bias: Array
    seen: Array
    ages: Array
    matrix: Array
    norms: Array
    updates: Updates
    mistakes: int = 0
    given: int = 0
    forgotten: float = 0.0

    def answer(self, average: bool) -> tuple[Array, Array]:
        """The coefficients and biases to predict with: the last ones or their average."""
        if not average:
            return self.coef, self.bias
        seen = np.maximum(self.seen, 1)
        return self.coef - self.missing / seen[:, None], self.bias - self.missing_bias / seen


SOLUTIONS: dict[str, type[Last]] = {
    "last": Last,
    "average": Average,
    "vote": Vote,
    "pocket": Pocket,
}


def joined(parts: list[Updates]) -> Updates:
    """Several lists of updates as one."""
    kinds = (np.intp, np.intp, np.float64, np.float64, np.intp, np.intp)
    nothing = Updates(*(np.empty(0, kind) for kind in kinds))
    return Updates(*map(np.concatenate, zip(nothing, *parts, strict=True)))


def to_dense(product: Any) -> Array:
    """A product of two matrices, sparse or not, as an array."""
    return np.asarray(product.toarray() if hasattr(product, "toarray") else product)


def widened(weights: Array, width: int) -> Array:
    """Weights with zeros for further columns."""
    if width <= len(weights):
        return weights
    wider = np.zeros((width, *weights.shape[1:]), weights.dtype)
    wider[: len(weights)] = weights
    return wider


def steps_of(codes: Array, positive: int | None, eta0: float, weights: Any, dtype: Any) -> Array:
    """How far each row moves the weights: η times its weight, and times the label for two."""
    steps = np.asarray(eta0 if weights is None else eta0 * weights).astype(dtype)
    if positive is None:
        return np.broadcast_to(steps, codes.shape).copy()
    return np.where(codes == positive, steps, -steps)


def rule_of(margin: float, ties: str, intercept_step: float) -> Settings:
    """When a row is right: thresholds that include zero or not, as ``ties`` says."""
    above, below = float(margin), -float(margin)
    if margin == 0 and ties in ("positive", "correct"):
        above = np.nextafter(0.0, -1.0)
    if margin == 0 and ties in ("negative", "correct"):
        below = np.nextafter(0.0, 1.0)
    return Settings(above, below, float(intercept_step))


def check_combination(solution: str, order: str) -> None:
    """Refuse a solution and an order that do not go together."""
    if order in ("first", "worst") and solution in ("average", "vote"):
        raise ValueError(
            f"solution={solution!r} weighs weights by the rows that they survive, which "
            f'order={order!r} does not count; use order="each", "once" or "fixed".'
        )
    if order in ("active", "first", "worst") and solution == "pocket":
        raise ValueError(
            f'solution="pocket" needs runs over all rows, which order={order!r} does not '
            'make; use order="each", "once" or "fixed".'
        )


# Orders: each gives the sweeps of one epoch, as arrays of row numbers.


def each(run: "Run") -> Iterator[Array]:
    """A fresh permutation every epoch."""
    yield run.permutation(run.epoch)


def once(run: "Run") -> Iterator[Array]:
    """One permutation, kept."""
    if run.kept is None:
        run.kept = run.permutation(0)
    yield run.kept


def fixed(run: "Run") -> Iterator[Array]:
    """As given."""
    yield run.task.everything


def first(run: "Run") -> Iterator[Array]:
    """The first mistake from the start."""
    everything = run.task.everything
    found, _, _ = run.solution.learn(run.task, everything, 0, np.empty(0, UPDATE))
    run.rows = found
    yield everything[found : found + 1]


def worst(run: "Run") -> Iterator[Array]:
    """The most wrong of all rows; of equals, the first."""
    everything = run.task.everything
    margins = run.task.margins(run.solution.weights, run.solution.bias)
    wrong = np.flatnonzero(~(margins > run.task.required()))
    chosen = wrong[[np.argmin(margins[wrong])]] if len(wrong) else wrong
    run.rows = len(everything) - len(chosen)
    yield everything[chosen]


READS_OF_HARD_ROWS = 2  # per read of all rows; measured: 1 is slower, without end slower still


def active(run: "Run") -> Iterator[Array]:
    """All rows, then those ever mistaken until they are clean or twice as many have been read."""
    everything = run.task.everything
    yield everything
    hard = np.flatnonzero(run.mistaken).astype(everything.dtype)
    visits = 0
    while run.mistakes and visits < READS_OF_HARD_ROWS * len(everything):
        before = run.mistakes
        yield hard
        visits += len(hard)
        if run.mistakes == before:
            break


ORDERS: dict[str, Callable[["Run"], Iterator[Array]]] = {
    "each": each,
    "once": once,
    "fixed": fixed,
    "active": active,
    "first": first,
    "worst": worst,
}


class Bookmark(NamedTuple):
    """Where an unfinished run stands besides its solution and history.

    Attributes
    ----------
    epoch : int
        How many epochs are complete.
    parts, rows, mistakes, errors, loss
        What the epoch after them has come to: sweeps made, and what ``Epoch`` counts.
    best_score, best_epoch, best
        The best solution on held-out rows so far, if there are such rows.
    mistaken : ndarray or None
        Which rows were ever mistaken, if the order asks for it.
    """

    epoch: int = 0
    parts: int = 0
    rows: int = 0
    mistakes: int = 0
    errors: int = 0
    loss: float = 0.0
    best_score: float = 0.0
    best_epoch: int = 0
    best: Last | None = None
    mistaken: Array | None = None


START = Bookmark()


@dataclass
class Run:
    """One training run: a task, a solution to change, and when to stop.

    Go through ``updates`` to train; between two items the weights are as the updates left them.
    ``bookmark`` tells after any sweep how to go on in another run, with ``start`` and ``history``.
    """

    task: Task
    solution: Last
    order: str = "fixed"
    max_iter: int = 1
    seed: int = 0
    measure: bool = False
    validate: Callable[[Last], float] | None = None
    patience: int = 5
    updates_at_once: int = 1024
    report: Callable[[Epoch], None] | None = None
    start: Bookmark = START
    history: list[Epoch] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.stop_reason = ""
        self.epoch = self.start.epoch
        self.kept: Array | None = None
        self.log = np.zeros(self.updates_at_once, UPDATE)
        nothing = np.zeros(1 + int(self.task.everything.max(initial=0)), bool)
        self.mistaken = nothing if self.start.mistaken is None else self.start.mistaken
        self.best: tuple[float, int, Last] | None = None
        if self.start.best is not None:
            self.best = self.start.best_score, self.start.best_epoch, self.start.best

    def updates(self) -> Iterator[tuple[Array, int]]:
        """Train; yield the order of the sweep and the number of new updates in the log."""
        while self.stop_reason == "" and self.epoch < self.max_iter:
            self.begin_epoch()
            for order in self.sweeps():
                for updates, loss in self.solution.sweep(self.task, order, self.log):
                    self.tally(order, updates, loss)
                    yield order, updates
                self.rows += len(order)
                self.parts += 1
            self.end_epoch()
        self.stop_reason = self.stop_reason or "max_iter"
        if self.best is not None:
            self.solution = self.best[2]

    def train(self) -> "Run":
        """Train to the end."""
        for _ in self.updates():
            pass
        return self

    def sweeps(self) -> Iterator[Array]:
        """What an epoch goes through: arrays of row numbers of the task."""
        return ORDERS[self.order](self)

    def begin_epoch(self) -> None:
        """Count from nothing, or from where the last run was left."""
        self.epoch += 1
        _, self.parts, self.rows, self.mistakes, self.errors, self.loss, *_ = self.start
        self.start = START

    def bookmark(self) -> Bookmark:
        """Where the run stands, after a sweep or an epoch."""
        score, epoch, best = self.best or (0.0, 0, None)
        within = self.epoch - 1, self.parts, self.rows, self.mistakes, self.errors, self.loss
        done = within if len(self.history) < self.epoch else (self.epoch, 0, 0, 0, 0, 0.0)
        mistaken = self.mistaken if self.order == "active" else None
        return Bookmark(*done, score, epoch, best, mistaken)

    def permutation(self, number: int) -> Array:
        """The rows in a random order, the same whenever it is asked for."""
        order = self.task.everything.copy()
        algebra.shuffle(order, self.seed, number)
        return order

    def tally(self, order: Array, updates: int, loss: float) -> None:
        """Count the new updates; with a margin some were on the right side, and no errors."""
        self.mistakes += updates
        self.errors += updates
        self.loss += loss
        if self.task.rule.above > 0:
            self.errors -= int(np.count_nonzero(self.log["margin"][:updates] > 0))
        if self.order == "active":
            self.mistaken[order[self.log["position"][:updates]]] = True

    def end_epoch(self) -> None:
        """Write the history and decide whether to stop."""
        separated = self.measure_losses() if self.measure else self.mistakes == 0
        separated |= isinstance(self.solution, Pocket) and self.solution.errors == 0
        score = None if self.validate is None else self.validate(self.solution)
        improving = score is None or self.improves(score, separated)
        if separated:
            self.stop_reason = "separated"
        elif not improving:
            self.stop_reason = "no_improvement"
        self.history.append(
            Epoch(self.epoch, self.rows, self.mistakes, self.errors, self.loss, score)
        )
        if self.report is not None:
            self.report(self.history[-1])

    def measure_losses(self) -> bool:
        """Take both losses of the weights as they are; say whether every row is right."""
        margins = self.task.margins(self.solution.weights, self.solution.bias)
        required = self.task.required()
        wrong = margins[~(margins > np.minimum(required, 0))]
        self.errors, self.loss = len(wrong), -float(wrong.sum()) + 0.0
        return bool(np.all(margins > required))

    def improves(self, score: float, separated: bool) -> bool:
        """Keep the best solution on the held-out rows; False when none came for too long."""
        if self.best is None or score > self.best[0] or (separated and score == self.best[0]):
            self.best = score, self.epoch, copy.deepcopy(self.solution)
        return self.epoch - self.best[1] < self.patience


def task_of(
    rows: Rows, codes: Array, weights: Array | None, classes: int, rule: Settings, eta0: float = 1.0
) -> Task:
    """What to learn from rows with class numbers: all that weigh something, in their order."""
    positive = 1 if classes == 2 else None
    steps = steps_of(codes, positive, eta0, weights, rows.values.dtype)
    labels = codes.astype(np.uint32) if positive is None else None
    seen = np.arange(len(codes)) if weights is None else np.flatnonzero(weights > 0)
    return Task(Examples(rows, steps, labels), seen.astype(np.uint32), rule)


def new_solution(name: str, classes: int, width: int, dtype: Any) -> Last:
    """A solution at zero for two classes, or for more at once."""
    shape = (width,) if classes == 2 else (width, classes)
    return SOLUTIONS[name](np.zeros(shape, dtype), np.zeros(1 if classes == 2 else classes, dtype))


def scores(rows: Rows, weights: Array, bias: Array, count: int) -> Array:
    """The activation of each of count rows, with a column per class if there are over two."""
    out = np.empty((count, *weights.shape[1:]), weights.dtype)
    if weights.ndim == 1:
        linear.perceptron_scores(rows, weights, bias, out)
    else:
        linear.multiclass_scores(rows, weights, bias, out)
    return out


def chosen(activations: Array, ties: str = "mistake") -> Array:
    """The number of the class that scores choose."""
    if activations.ndim == 2:
        return np.asarray(activations.argmax(axis=1))
    positive = activations >= 0 if ties == "positive" else activations > 0
    return np.asarray(positive, np.intp)


def merged(histories: list[list[Epoch]]) -> list[Epoch]:
    """The histories of several two-class problems, summed epoch by epoch."""
    if len(histories) == 1:
        return histories[0]
    return [
        Epoch(
            number,
            rows=sum(epoch.rows for epoch in epochs if epoch),
            mistakes=sum(epoch.mistakes for epoch in epochs if epoch),
            errors=sum(epoch.errors for epoch in epochs if epoch),
            loss=sum(epoch.loss for epoch in epochs if epoch),
            validation_score=mean([epoch.validation_score for epoch in epochs if epoch]),
        )
        for number, epochs in enumerate(zip_longest(*histories), start=1)
    ]


def mean(scores: list[float | None]) -> float | None:
    """The mean of scores, or None when none were taken."""
    taken = [score for score in scores if score is not None]
    return sum(taken) / len(taken) if taken else None
