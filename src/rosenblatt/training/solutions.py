"""Solutions: the weights of a training that become the model.

Each is the whole state of a model in training: named arrays and counters, declared by its fields so
that they can be copied, mixed, saved, checked and continued.
"""

import copy
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from ..data.rows import (
    Array,
    n_rows,
    overflow,
    refuse_lost,
    to_dense,
    to_matrix,
    with_columns,
)
from ..kernels import linear
from ..kernels.algebra import Rows
from ..kernels.linear import Clock, Updates, count_weight
from ..parameters import ParameterError
from .rules import PERCEPTRON, UpdateRule
from .state import (
    DeclaredRows,
    DeclaredUpdates,
    Layer,
    array,
    check_updates,
    counter,
    declare,
    join_updates,
    require,
)
from .tasks import LinearTask, SweepResult, scores


@dataclass
class Last:
    """The weights after the last update (Rosenblatt 1958).

    ``weights`` has one column per class (none for two classes) and the dtype of X; ``further`` has
    the other arrays of the update rule.
    """

    weights: Array = array("weights")
    bias: Array = array("bias")
    seen: int = counter(0)
    mistakes: int = counter(0)
    rule: UpdateRule = PERCEPTRON
    further: dict[str, Array] = field(init=False)
    averages: ClassVar[bool] = False
    """Whether the mean of the weights predicts."""

    def __post_init__(self) -> None:
        self.further = self.rule.start(self.weights, self.bias)

    def sums(self) -> tuple[Array, Array]:
        """The arrays in which kernels sum for an average; empty without one."""
        return np.empty((0, *self.weights.shape[1:])), np.empty(0)

    def sweep(self, task: Any, order: Array, most: int | None) -> Iterator[SweepResult]:
        """Learn from the rows in an order, at most ``most`` updates at a time."""
        position = 0
        while position < len(order):
            end = self.pause(position, len(order))
            learnt = task.learn(self, order[:end], position, most)
            position = learnt.position
            self.record(task, order, learnt.updates)
            yield learnt
        self.seen += len(order)

    def pause(self, position: int, end: int) -> int:
        """The place in the order to stop at, when continuing from a position."""
        return end

    def clock(self, position: int = 0) -> Clock:
        """How rows count in an average, from a position of the order on."""
        return Clock(float(self.seen), 0.0, 0.0)

    def record(self, task: LinearTask, order: Array, updates: Array) -> None:
        """Record the updates that were just made."""
        self.mistakes += len(updates)

    def close(self, rows: Rows, width: int) -> None:
        """Keep what is needed of the rows, which may not be available later."""

    def widen(self, width: int) -> None:
        """Make room for more columns, with zero weights."""
        if width <= len(self.weights):
            return
        for name, narrow in self.by_column().items():
            setattr(self, name, add_rows(narrow, width))
        for one in self.rule.arrays:
            narrow = self.further[one.name]
            if one.shape(self.weights, self.bias) != narrow.shape:
                self.further[one.name] = one.widen(narrow, self.weights, self.bias)

    def constrain(self, columns: list[int]) -> None:
        """Keep the weights of some columns ≥ 0."""
        if not all(type(column) is int for column in columns):
            raise ParameterError(
                "{positive?} must be True or a list of column numbers here.", code="positive-names"
            )
        self.widen(max(columns) + 1)
        self.further["positive"][columns] = 1

    def refuse_negative(self) -> None:
        """Refuse weights below 0 in columns where they must not be."""
        if "positive" in self.further and np.any(self.weights[self.further["positive"] > 0] < 0):
            raise ParameterError(
                "The weights to start from are negative in columns of {positive?}; start with "
                "weights of 0 or more there.",
                code="positive-start",
            )

    def by_column(self) -> dict[str, Array]:
        """The arrays that have a row for each column of X."""
        return {"weights": self.weights}

    def renew(self) -> "Last":
        """A copy to continue with other rows."""
        return copy.deepcopy(self)

    def after_loading(self) -> None:
        """Set the fields that files do not have, after loading."""

    def check(self) -> None:
        """Refuse parts that do not fit together."""

    def stop_reason(self, clean: bool) -> str:
        """The reason to stop, or "" to continue; ``clean``: the epoch made no mistake."""
        if clean and self.rule.target in ("numbers", "ranking"):
            return "within_epsilon" if self.rule.target == "numbers" else "ordered"
        return clean_reason(self.weights) if clean else ""

    def present(self) -> tuple[Array, Array]:
        """The current weights and bias."""
        scale = 1.0 if self.rule.scale is None else self.rule.scale.now(self.further)
        if scale == 1:
            return self.weights, self.bias
        return scale * self.weights, scale * self.bias

    def coefficients(self) -> tuple[Array, Array]:
        """The weights and bias to predict with."""
        return self.present()

    def score(self, rows: Rows, places: Array) -> Array:
        """The scores of rows at some places of the order, if no update comes before.

        It does not compute the coefficients of all columns. Place 0 is the start of the order.
        """
        return scores(rows, len(places), *self.coefficients())

    def changing_places(self, rows: Rows) -> list[tuple[Array, Any]]:
        """The arrays, each with the places that an update by some rows can change."""
        wide = {id(each) for each in self.by_column().values()}
        kept = [one.name for one in self.rule.arrays if one.like == "weights"]
        wide |= {id(self.further[name]) for name in kept}
        few = find_columns(rows, len(self.weights)) if self.local(rows) else ...
        return [
            (each, few if id(each) in wide else ...)
            for each in (*vars(self).values(), *self.further.values())
            if isinstance(each, np.ndarray)
        ]

    def local(self, rows: Rows) -> bool:
        """Whether some rows change only the weights of columns in which they have values."""
        return self.rule.local

    def snapshot(self, rows: Rows) -> Callable[[], None]:
        """Return a function that undoes all changes by learning from some rows."""
        before = [
            (each, places, each[places].copy()) for each, places in self.changing_places(rows)
        ]
        attributes = {
            name: value.copy() if isinstance(value, list | dict) else value
            for name, value in vars(self).items()
        }

        def restore() -> None:
            for each, places, values in before:
                each[places] = values
            vars(self).update(attributes)

        return restore

    # On a cluster: a key is the number of a weight

    def layers(self) -> dict[str, Layer]:
        """What the partitions of a cluster mix: weights, and their variances if there are any."""
        layers = {"weights": Layer(self.weights.reshape(-1), [self.bias])}
        if "variances" in self.further:
            variances = self.further["variances"].reshape(-1)
            layers["variances"] = Layer(variances, [self.further["variance_of_bias"]])
        return layers

    def find_keys(self, rows: Array) -> tuple[Array, Array]:
        """The keys of some rows of the layers, sorted, and these rows."""
        return rows.astype(np.min_scalar_type(self.weights.size), copy=False), rows

    def find_rows(self, keys: Array, size: int, add: bool = True) -> tuple[Any, Array]:
        """Make room for ``size`` weights; return which keys have rows, and the rows of these."""
        self.widen(size // int(np.prod(self.weights.shape[1:])))
        return slice(None), keys

    def match(self, later: "Last") -> None:
        """Make room for the rows of a state that learnt more."""
        self.widen(len(later.weights))

    def refuse_overflow(self, rows: Rows) -> None:
        """Raise if the weights that some rows changed are not finite, or too small to count."""
        if not all(np.isfinite(each[places]).all() for each, places in self.changing_places(rows)):
            raise overflow(self.weights.dtype)
        refuse_lost(self.weights[find_columns(rows, len(self.weights))], self.mistakes, [rows])


def find_columns(rows: Rows, width: int) -> Any:
    """The columns in which rows have values; ``...`` for all, unless these are far more.

    Copying all columns takes the time of copying an eighth of them by number.
    """
    few = rows.indices is not None and 8 * rows.indices.size < width
    return rows.indices if few else ...


MANY_COLUMNS = 2**13  # more are kept sparse
NUMBERS_AT_ONCE = 2**22  # of rows, and of their products with mistaken rows, in a vote
LARGEST_GROWTH = 177.0  # e^177 is 2^255: sums of it are still far from overflow


@dataclass
class Average(Last):
    """The mean of the weights after each row seen (Freund & Schapire 1999; Collins 2002).

    ``missing`` is, in double precision, the sum of each update times the rows before it. With
    ``decay``, the weights after a row count less by that share with every later row.
    """

    missing: Array = array("weights", dtype=np.float64, init=False)
    missing_bias: Array = array("bias", dtype=np.float64, init=False)
    decay: float = counter(0.0, older=0.0)
    averages: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        self.missing = np.zeros(self.weights.shape)
        self.missing_bias = np.zeros(self.bias.shape)

    def sums(self) -> tuple[Array, Array]:
        return self.missing, self.missing_bias

    def record(self, task: LinearTask, order: Array, updates: Array) -> None:
        super().record(task, order, updates)
        if not self.rule.sums and len(updates):
            clock = self.clock(int(updates["position"][0]))
            task.add_missing(order, updates, clock, self.missing, self.missing_bias)

    def by_column(self) -> dict[str, Array]:
        return {"weights": self.weights, "missing": self.missing}

    def layers(self) -> dict[str, Layer]:
        sums = Layer(self.missing.reshape(-1), [self.missing_bias])
        return {**super().layers(), "sums": sums}

    def check(self) -> None:
        require(self.decay < 1, "decay is out of range")

    @np.errstate(over="ignore", invalid="ignore")  # callers refuse what is not finite
    def coefficients(self) -> tuple[Array, Array]:
        total = self.total()
        if self.rule.scale is not None and self.seen:
            scale = float(self.rule.scale.total(self.further, self.clock(-1), total))
            weights = (scale * self.weights - self.missing) / total
            bias = (scale * self.bias - self.missing_bias) / total
        else:
            weights = self.weights - self.missing / total
            bias = self.bias - self.missing_bias / total
        if "positive" in self.further:  # sums are rounded
            np.maximum(weights, 0.0, out=weights, where=self.further["positive"] > 0)
        return weights.astype(self.weights.dtype), bias.astype(self.bias.dtype)

    def score(self, rows: Rows, places: Array) -> Array:
        last = scores(rows, len(places), self.weights, self.bias)
        lacking = scores(rows, len(places), self.missing, self.missing_bias)
        clock = self.clock(int(places[-1]))
        totals = np.array([count_weight.py_func(clock, place) or 1.0 for place in places.tolist()])
        if last.ndim == 2:
            totals = totals[:, None]
        if self.rule.scale is not None and self.seen + places[-1] > 0:
            scales = self.rule.scale.total(self.further, clock, totals)
            return np.asarray((scales * last - lacking) / totals)
        return np.asarray(last - lacking / totals)

    def total(self) -> float:
        """The total weight of all rows seen."""
        return float(count_weight.py_func(self.clock(-1), 0.0)) if self.seen else 1.0

    # Decay: later rows count more, so sums grow. They are rescaled after each period of rows,
    # however these are cut into batches.

    @property
    def rate(self) -> float:
        """The rate of growth of the weights of rows."""
        return -math.log1p(-self.decay)

    @property
    def period(self) -> int:
        """The number of rows after which sums are rescaled."""
        return int(max(1.0, min(LARGEST_GROWTH / self.rate, 2.0**52)))

    def clock(self, position: int = 0) -> Clock:
        if not self.decay:
            return super().clock()
        periods = max(self.seen + position, 0) // self.period
        return Clock(float(self.seen), self.rate, float(periods * self.period))

    def pause(self, position: int, end: int) -> int:
        if not self.decay:
            return end
        now, period = self.seen + position, self.period
        if now and now % period == 0:
            shrunk = math.exp(-self.rate * period)
            self.missing *= shrunk
            self.missing_bias *= shrunk
            if self.rule.scale is not None:
                self.rule.scale.shrink(self.further, shrunk)
        return min(end, position + period - now % period)

    def local(self, rows: Rows) -> bool:
        brought_back = self.decay > 0 and -self.seen % self.period < n_rows(rows)
        return super().local(rows) and not brought_back


@dataclass
class Vote(Last):
    """The majority of all weights of the training; each has a vote per row it survived.

    The state has the first weights and the updates with their rows (Freund & Schapire 1999).
    ``coefficients`` gives the last weights; ``votes`` predicts.
    """

    first_weights: Array = array("weights", init=False)
    first_bias: Array = array("bias", init=False)
    supports: list[Any] = declare(DeclaredRows(listed=True), default_factory=list)
    updates: list[Updates] = declare(DeclaredUpdates(listed=True), default_factory=list)
    pending: list[Updates] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.first_weights, self.first_bias = self.weights.copy(), self.bias.copy()

    def record(self, task: LinearTask, order: Array, updates: Array) -> None:
        super().record(task, order, updates)
        if not len(updates):
            return
        positions, rivals = updates["position"].copy(), updates["rival"].copy()
        rows = order[positions]
        codes = task.examples.labels
        labels = rivals if codes is None else codes[rows].astype(np.intp)
        intercept_steps = np.full(len(rows), task.settings.intercept_step)
        made = rows, self.seen + positions, updates["step"].copy(), intercept_steps, labels, rivals
        self.pending.append(Updates(*made))

    def close(self, rows: Rows, width: int) -> None:
        if self.pending:
            updates = join_updates(self.pending)
            mistaken, which = np.unique(updates.rows, return_inverse=True)
            which += sum(support.shape[0] for support in self.supports)
            self.supports.append(to_matrix(rows, n_rows(rows), width)[mistaken])
            self.updates.append(updates._replace(rows=which))
            self.pending = []

    def widen(self, width: int) -> None:
        super().widen(width)
        self.supports = [with_columns(rows, width) for rows in self.supports]

    def by_column(self) -> dict[str, Array]:
        return {"weights": self.weights, "first_weights": self.first_weights}

    def after_loading(self) -> None:
        self.pending = []

    def check(self) -> None:
        require(not self.pending, "its vote was not closed after the last update")
        updates = join_updates(self.updates)
        n_rows = sum(rows.shape[0] for rows in self.supports)
        check_updates(updates, n_rows, len(self.bias), self.seen)
        require(np.all(np.diff(updates.times) >= 0), "its updates are out of order")

    def votes(self, X: Any, sign_of_zero: float = 0.0) -> Array:
        """The share of the votes for each class; for two, from -1 (all against) to 1."""
        out = np.zeros((len(self.bias), X.shape[0]))
        updates = join_updates(self.updates)
        survived = np.diff(updates.times, prepend=0, append=self.seen).astype(np.float64)
        n_support = sum(support.shape[0] for support in self.supports)
        width = min(X.shape[1], MANY_COLUMNS)
        at_once = int(np.clip(NUMBERS_AT_ONCE // max(n_support, width, 1), 4, 1024))
        for begin in range(0, X.shape[0], at_once):
            rows = upright(X[begin : begin + at_once])
            scores = (self.first_weights.T @ rows).reshape(len(out), -1)
            scores = (scores + self.first_bias[:, None]).astype(np.float64)
            share = np.zeros(scores.shape)
            parts = [to_dense(support @ rows) for support in self.supports]
            nothing = np.empty((0, scores.shape[1]))
            products = parts[0] if len(parts) == 1 else np.vstack([nothing, *parts])
            if self.weights.ndim == 1:
                given = scores[0], products, updates, survived
                linear.perceptron_votes(*given, sign_of_zero, share[0])
            else:
                linear.multiclass_votes(scores, products, updates, survived, share)
            out[:, begin : begin + at_once] = share
        return np.ascontiguousarray(out.T) / max(self.seen, 1)


def upright(block: Any) -> Any:
    """Rows as columns: an array, or a sparse matrix if that is smaller."""
    if hasattr(block, "indptr") and block.shape[1] > MANY_COLUMNS:
        return block.T.tocsr()
    return np.ascontiguousarray(to_dense(block).T)


@dataclass
class Pocket(Last):
    """The weights with the fewest training errors so far, with ratchet (Gallant 1990).

    Weights are measured on all rows once they have been right more often in a row than those in
    the pocket, and replace them when they make fewer errors.
    """

    best_weights: Array = array("weights", init=False)
    best_bias: Array = array("bias", init=False)
    best_run: int = counter(0)
    errors: float = counter(np.inf)
    run: int = counter(0)
    measured: bool = counter(False)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.best_weights, self.best_bias = self.weights.copy(), self.bias.copy()

    def sweep(self, task: Any, order: Array, most: int | None) -> Iterator[SweepResult]:
        position = 0
        while True:
            start = position
            position = task.learn(self, order, start, 0).position
            self.run += position - start
            self.offer(task)
            if position == len(order) or self.errors == 0:
                break
            learnt = task.learn(self, order[position : position + 1], 0, 1)
            learnt.updates["position"] = position
            self.record(task, order, learnt.updates)
            self.run, self.measured = 0, False
            position += 1
            yield learnt._replace(position=position, n_rows=position - start)
        self.seen += position
        yield SweepResult(position, NOTHING_LEARNT, 0, 0.0, len(order) - start)

    def offer(self, task: LinearTask) -> None:
        """Put the weights into the pocket if they have a longer run and fewer errors."""
        if self.run <= self.best_run or self.measured:
            return
        self.measured = True
        wrong = ~(task.margins(self) > task.sides())
        errors = np.abs(task.examples.steps[task.row_order[wrong]]).sum(dtype=np.float64)
        if errors < self.errors:
            self.put(float(errors))

    def put(self, errors: float) -> None:
        """Put the current weights into the pocket."""
        self.best_weights[...], self.best_bias[...] = self.present()
        self.best_run, self.errors = self.run, errors

    def by_column(self) -> dict[str, Array]:
        return {"weights": self.weights, "best_weights": self.best_weights}

    def renew(self) -> "Pocket":
        if self.rule.arrays:  # which belong to the last weights
            start = self.weights.copy(), self.bias.copy()
        else:
            start = self.best_weights.copy(), self.best_bias.copy()
        new = Pocket(*start, self.seen, self.mistakes, self.rule)
        new.further = copy.deepcopy(self.further)
        return new

    def stop_reason(self, clean: bool) -> str:
        if clean:  # by weights that may not have run long enough to be offered
            self.put(0.0)
        return clean_reason(self.best_weights) if self.errors == 0 else ""

    def coefficients(self) -> tuple[Array, Array]:
        return self.best_weights, self.best_bias


def clean_reason(weights: Array) -> str:
    """The stop reason of an epoch without mistakes; weights of 0 make none where ties are right."""
    return "separated" if weights.any() else "zero_weights"


NOTHING_LEARNT = np.empty(0, linear.UPDATE)
SOLUTIONS: dict[str, type[Last]] = {
    "last": Last,
    "average": Average,
    "vote": Vote,
    "pocket": Pocket,
}


def new_state(parameters: Mapping[str, Any], weights: Array, bias: Array, rule: UpdateRule) -> Last:
    """The state before the first row, by the parameters of an estimator."""
    state = SOLUTIONS[parameters["solution"]](weights, bias, rule=rule)
    if isinstance(state, Average):
        state.decay = float(parameters["average_decay"])
    if rule.draws and isinstance(parameters["random_state"], Integral):
        state.further["draws"][:] = int(parameters["random_state"])
    return state


def zeros(outputs: int | None, width: int, dtype: Any, n_biases: int = 1) -> tuple[Array, Array]:
    """Weights and biases of 0: one column, or one with its bias for each of ``outputs``."""
    shape = (width,) if outputs is None else (width, outputs)
    return np.zeros(shape, dtype), np.zeros(outputs or n_biases, dtype)


def add_rows(weights: Array, width: int) -> Array:
    """Weights with rows of zeros for more columns of X."""
    if width <= len(weights):
        return weights
    wider = np.zeros((width, *weights.shape[1:]), weights.dtype)
    wider[: len(weights)] = weights
    return wider
