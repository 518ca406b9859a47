"""What a linear model has learnt so far: its weights, and what its solution and rule keep besides.

Each is the whole state of a model in training: named arrays and counters, declared by its fields so
that they can be copied, mixed, saved, checked and continued.
"""

import copy
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..data.rows import Array, overflow, read_only, refuse_lost
from ..data.targets import score_ranks
from ..kernels import scaled
from ..kernels.algebra import Rows
from ..kernels.loop import UPDATE, State
from ..kernels.scores import score_classes, score_rows
from ..parameters import ParameterError
from .rules import PERCEPTRON, UpdateRule, begin_arrays
from .state import DeclaredArray, array, counter, declared_arrays, require
from .training import LinearTask, SweepResult, Swept

NO_NUMBERS, NEXT = np.empty(0), np.zeros(1, np.intp)
MOST_WEIGHTS = 2**28  # 3 GB with their average


@dataclass
class LastWeights(Swept):
    """The weights after the last update (Rosenblatt 1958).

    ``weights`` has one column per class (none for two classes) and the dtype of X. The other arrays
    of the update rule are attributes, too, by their names in the kernels' state.
    """

    weights: Array = array("weights")
    bias: Array = array("bias")
    seen: int = counter(0)
    mistakes: int = counter(0)
    rule: UpdateRule = PERCEPTRON
    scale: Array = field(init=False, repr=False)
    """What rules keep that multiply all weights; others have none."""
    averages = False
    """Whether the mean of the weights predicts."""
    missing = missing_bias = NO_NUMBERS
    """Where kernels sum for an average."""

    def __post_init__(self) -> None:
        if self.rule.arrays:
            vars(self).update(begin_arrays(self.rule, self.weights, self.bias))

    @property
    def declared(self) -> dict[str, DeclaredArray]:
        """The declarations of all arrays, by name."""
        kind: Any = type(self)
        return declared_arrays(kind, self.rule)

    @property
    def has_coefficients(self) -> bool:
        """Whether the weights to predict with are kept, so that they cost nothing."""
        return not (self.averages or self.rule.is_scaled)

    def arrays(self) -> State:
        """All arrays, flat, as kernels take them."""
        linear = self.weights.reshape(-1), self.bias, self.missing.reshape(-1), self.missing_bias
        if not self.rule.arrays:
            return State(*linear)
        own = vars(self)
        return State(*linear, **{name: own[name].reshape(-1) for name in self.rule.arrays})

    def widen(self, width: int, lengthen: Callable[..., Array] | None = None) -> None:
        """Make room for more columns, with zero weights.

        ``lengthen`` adds rows to an array by its name, as ``add_rows`` does.
        """
        if width <= len(self.weights):
            return
        lengthen = lengthen or add_rows
        for name, one in self.declared.items():
            if one.by_column:
                setattr(self, name, lengthen(name, getattr(self, name), width, one.start))

    def renew(self) -> "LastWeights":
        """A copy to continue with other rows."""
        return copy.deepcopy(self)

    def check(self) -> None:
        """Refuse parts that do not fit together."""
        if self.rule.is_scaled:  # a rule would divide by 0, or weights would not be finite
            require(np.all(self.scale[np.array(scaled.START) > 0] > 0), "scale is out of range")
            with np.errstate(all="ignore"):
                finite = all(np.isfinite(part).all() for part in self.coefficients())
            require(finite, "scale is out of range")

    def stop_reason(self, clean: bool) -> str:
        """The reason to stop, or "" to continue; ``clean``: the epoch made no mistake."""
        return self.rule.labels.clean_reason(self.weights) if clean else ""

    def present(self, columns: Any = ...) -> tuple[Array, Array]:
        """The current weights, all or those of some columns, and the bias."""
        scale = float(self.scale[scaled.Z]) if self.rule.is_scaled else 1.0
        weights = self.weights[columns]
        return (weights, self.bias) if scale == 1 else (scale * weights, scale * self.bias)

    coefficients = present
    """The weights, all or those of some columns, and the bias to predict with."""

    def score(self, rows: Rows, places: Array = NEXT) -> Array:
        """The scores of rows at some places of the order, if no update comes before.

        It does not compute the coefficients of all columns. Place 0 is the start of the order.
        """
        return scores(rows, len(places), *self.coefficients())

    def changing_places(self, rows: Rows) -> list[tuple[Array, Any]]:
        """The arrays, each with the places that an update by some rows can change."""
        own, few = vars(self), ...
        if not self.rule.is_scaled:
            few = find_columns(rows.indices, len(self.weights))
        return [(own[name], few if one.by_column else ...) for name, one in self.declared.items()]

    def snapshot(self, rows: Rows) -> Callable[[], None]:
        """Return a function that undoes all changes by learning from some rows."""
        before = [
            (each, places, each[places].copy()) for each, places in self.changing_places(rows)
        ]
        attributes = dict(vars(self))

        def restore() -> None:
            for each, places, values in before:
                each[places] = values
            vars(self).update(attributes)

        return restore

    def refuse_overflow(self, rows: Rows) -> None:
        """Raise if the weights that some rows changed are not finite, or too small to count."""
        if not all(np.isfinite(each[places]).all() for each, places in self.changing_places(rows)):
            raise overflow(self.weights.dtype)
        refuse_lost(
            self.weights[find_columns(rows.indices, len(self.weights))], self.mistakes, [rows]
        )


@contextmanager
def undo_on_error(states: list[LastWeights], rows: Rows) -> Iterator[None]:
    """Undo after an error all changes of some states by learning from some rows."""
    undo = [state.snapshot(rows) for state in states]
    try:
        yield
    except BaseException:
        for restore in undo:
            restore()
        raise


def find_columns(indices: Array | None, width: int) -> Any:
    """The columns in which sparse rows have values; ``...`` for all, unless these are far more.

    Copying all columns takes the time of copying an eighth of them by number.
    """
    return indices if indices is not None and 8 * indices.size < width else ...


NUMBERS_AT_ONCE = 2**15  # in double precision, which stay in a processor's cache


@dataclass
class AverageWeights(LastWeights):
    """The mean of the weights after each row seen (Freund & Schapire 1999; Collins 2002).

    ``missing`` is, in double precision, the sum of each update times the rows before it.
    """

    missing: Array = array("weights", dtype=np.float64, init=False)
    missing_bias: Array = array("bias", dtype=np.float64, init=False)
    averages = True

    def __post_init__(self) -> None:
        super().__post_init__()
        self.missing = np.zeros(self.weights.shape)
        self.missing_bias = np.zeros(self.bias.shape)

    @np.errstate(over="ignore", invalid="ignore")  # callers refuse what is not finite
    def coefficients(self, columns: Any = ...) -> tuple[Array, Array]:
        total, scale = max(self.seen, 1), None
        if self.rule.is_scaled and self.seen:
            scale = float(self.sum_scale(total))

        def mean(weights: Array, missing: Array) -> Array:
            if scale is None:
                return np.asarray(weights - missing / total)
            return np.asarray((scale * weights - missing) / total)

        weights, missing = self.weights[columns], self.missing[columns]
        out = np.empty_like(weights)
        step = max(NUMBERS_AT_ONCE // max(weights[:1].size, 1), 1)
        for first in range(0, len(out), step):
            block = slice(first, first + step)
            out[block] = mean(weights[block], missing[block])
        return out, mean(self.bias, self.missing_bias).astype(self.bias.dtype)

    def score(self, rows: Rows, places: Array = NEXT) -> Array:
        n_rows, seen = len(places), self.seen + places
        last = scores(rows, n_rows, self.weights, self.bias)
        if rows.values.dtype != np.float64:
            rows = rows._replace(values=read_only(rows.values.astype(np.float64)))
        lacking = scores(rows, n_rows, self.missing, self.missing_bias)
        totals = np.maximum(seen, 1.0).reshape(-1, *(1,) * (last.ndim - 1))
        if self.rule.is_scaled and seen[-1] > 0:
            return np.asarray((self.sum_scale(totals) * last - lacking) / totals)
        return np.asarray(last - lacking / totals)

    def sum_scale(self, rows: Any) -> Any:
        """The sum of the number that multiplies all weights over all rows, by their number."""
        scale = self.scale
        return scale[scaled.T] + scale[scaled.Z] * (rows - scale[scaled.SEEN])


@dataclass
class PocketWeights(LastWeights):
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
            self.mistakes += len(learnt.updates)
            self.run, self.measured = 0, False
            position += 1
            yield learnt._replace(position=position, rows=position - start)
        self.seen += position
        yield SweepResult(position, NOTHING_LEARNT, len(order) - start, 0, 0, 0.0)

    def offer(self, task: LinearTask) -> None:
        """Put the weights into the pocket if they have a longer run and fewer errors."""
        if self.run <= self.best_run or self.measured:
            return
        self.measured = True
        wrong = ~(task.margins(self) > np.minimum(task.required(), 0))
        errors = np.abs(task.examples.steps[task.row_order[wrong]]).sum(dtype=np.float64)
        if errors < self.errors:
            self.put(float(errors))

    def put(self, errors: float) -> None:
        """Put the current weights into the pocket."""
        self.best_weights[...], self.best_bias[...] = self.present()
        self.best_run, self.errors = self.run, errors

    def renew(self) -> "PocketWeights":
        old = copy.deepcopy(self)
        start = old.best_weights, old.best_bias
        if self.rule.arrays:  # which belong to the last weights
            start = old.weights, old.bias
        new = PocketWeights(*start, self.seen, self.mistakes, self.rule)
        vars(new).update({name: getattr(old, name) for name in self.rule.arrays})
        return new

    def stop_reason(self, clean: bool) -> str:
        if clean:  # by weights that may not have run long enough to be offered
            self.put(0.0)
        return self.rule.labels.clean_reason(self.best_weights) if self.errors == 0 else ""

    def coefficients(self, columns: Any = ...) -> tuple[Array, Array]:
        return self.best_weights[columns], self.best_bias


NOTHING_LEARNT = np.empty(0, UPDATE)
SOLUTIONS: dict[str, type[LastWeights]] = {
    "last": LastWeights,
    "average": AverageWeights,
    "pocket": PocketWeights,
}


def refuse_too_many(width: int, n_classes: int) -> None:
    """Refuse more weights than there is memory for; numbers to predict have no classes."""
    weights = width * max(n_classes, 1)
    if weights > MOST_WEIGHTS:
        raise ParameterError(
            f"{width:,} columns for {n_classes} classes are {weights:,} weights, but at most "
            f"{MOST_WEIGHTS:,} are kept; hash into fewer columns with a smaller bits, or number "
            "them without gaps.",
            code="too-many-weights",
        )


def add_rows(name: str, weights: Array, width: int, start: float) -> Array:
    """Weights with rows for more columns of X."""
    wider = np.full((width, *weights.shape[1:]), start, weights.dtype)
    wider[: len(weights)] = weights
    return wider


def scores(rows: Rows, n_rows: int, weights: Array, bias: Array) -> Array:
    """The score of each row, with a column per class if there are more than two.

    Several biases of one column of weights are those of ranks.
    """
    if weights.ndim == 1 and len(bias) > 1:
        return score_ranks(scores(rows, n_rows, weights, np.zeros(1, weights.dtype)), bias)
    out = np.empty((n_rows, *weights.shape[1:]), weights.dtype)
    kernel = score_rows if weights.ndim == 1 else score_classes
    kernel(rows, np.ascontiguousarray(weights).reshape(-1), bias, out)
    return out
