"""The state of the dual form: the rows once mistaken, and how far each moved which output."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, TypedDict

import numpy as np

from ..data.rows import Array
from ..training.state import (
    Declared,
    DeclaredRows,
    Sizes,
    array,
    counter,
    declare,
    require,
)
from ..training.tasks import SweepResult, Task
from .kernels import cpu
from .kernels.cpu import Updates
from .moves import group_updates, sum_by_place, sum_coefficients, to_moves

UPDATE_TYPES = (np.intp, np.intp, np.float64, np.float64, np.intp, np.intp)


@dataclass(frozen=True)
class DeclaredUpdates(Declared):
    """The declaration of updates."""

    def pack(self, name: str, value: Any) -> tuple[dict[str, Array], dict[str, Any]]:
        return {f"{name}.{part}": array for part, array in value._asdict().items()}, {}

    def unpack(self, name: str, arrays: dict[str, Array], numbers: Any, width: int | None) -> Any:
        return Updates(*(arrays.pop(f"{name}.{part}") for part in Updates._fields))

    def check(self, name: str, value: Any, default: Any, sizes: Sizes, dtype: Any) -> None:
        fitting = [array.dtype for array in value] == [np.dtype(one) for one in UPDATE_TYPES]
        fitting &= all(array.ndim == 1 for array in value)
        require(fitting and len(set(map(len, value))) == 1, "its updates are malformed")
        finite = np.isfinite(value.steps) & np.isfinite(value.intercept_steps)
        require(finite.all(), "its updates are not finite")


def join_updates(parts: list[Updates]) -> Updates:
    """Join several lists of updates."""
    nothing = Updates(*(np.empty(0, kind) for kind in UPDATE_TYPES))
    return Updates(*map(np.concatenate, zip(nothing, *parts, strict=True)))


def check_updates(updates: Updates, n_rows: int, outputs: int, seen: int) -> None:
    """Refuse updates with rows, times or classes out of range."""
    ends = {"rows": n_rows, "times": seen + 1, "labels": outputs, "rivals": outputs}
    for name, end in ends.items():
        numbers = getattr(updates, name)
        require(np.all((numbers >= 0) & (numbers < end)), f"the {name} of its updates do not exist")


class DualFacts(TypedDict):
    """What a model file says of the dual form besides its state."""

    width: Annotated[int, lambda width: width > 0]
    gamma: float
    intercept_step: float
    together: bool


@dataclass(kw_only=True)
class DualState:
    """The support rows and their coefficients.

    Outputs are classes, or the problems of one-vs-rest (one for two classes). A column of ``coef``
    belongs to a support row; ``missing`` is that of ``Average``. Without a budget ``updates`` keeps
    every mistake and ``norms`` the squared norm of the function after each. With one, ``matrix``
    has the coefficients of an orthonormal basis of the span of the support, one row each. ``given``
    counts the rows of all calls.
    """

    numbers: Array = array("support", dtype=np.int64)
    support: Any = declare(DeclaredRows())
    coef: Array = array("outputs", "support", dtype=np.float64)
    missing: Array = array("outputs", "support", dtype=np.float64)
    bias: Array = array("outputs", dtype=np.float64)
    missing_bias: Array = array("outputs", dtype=np.float64)
    seen: Array = array("outputs", dtype=np.int64)
    matrix: Array = array("squared", "squared", dtype=np.float64)
    norms: Array = array("mistakes kept", dtype=np.float64)
    updates: Updates = declare(DeclaredUpdates())
    mistakes: int = counter(0)
    given: int = counter(0)

    facts: ClassVar = (DualFacts,)

    @classmethod
    def empty(cls, outputs: int, support: Any) -> "DualState":
        """Return the function that is 0 everywhere; ``support`` has no rows, in the layout of X."""
        nothing, numbers = np.zeros((outputs, 0)), np.zeros(0, np.int64)
        return cls(
            numbers=numbers,
            support=support,
            coef=nothing,
            missing=nothing,
            bias=np.zeros(outputs),
            missing_bias=np.zeros(outputs),
            seen=np.zeros(outputs, np.int64),
            matrix=np.zeros((0, 0)),
            norms=np.zeros(0),
            updates=join_updates([]),
        )

    def sweep(self, task: Task, order: Array, most: int | None) -> Iterator[SweepResult]:
        """Learn from the rows in an order, block by block."""
        position = 0
        while position < len(order):
            learnt = task.learn(self, order, position, most)
            position = learnt.position
            yield learnt

    def widen(self, width: int) -> None:
        """Do nothing: there are no weights of columns."""

    def stop_reason(self, clean: bool) -> str:
        """Return the reason to stop, or "" to continue; ``clean``: the epoch made no mistake."""
        if not clean:
            return ""
        return "separated" if self.mistakes else "zero_weights"  # where ties are right

    def check(self) -> None:
        """Refuse parts that do not fit together."""
        size, mistakes = len(self.numbers), len(self.norms)
        require(mistakes in (0, self.mistakes), "its arrays do not fit")
        require(len(self.matrix) in (0, size), "matrix does not fit or is not finite")
        require(self.support.shape[0] == size, "its rows do not fit")
        require(np.all(self.numbers < self.given), "its numbers of rows do not exist")
        check_updates(self.updates, size, len(self.bias), int(self.seen.max()))
        require(len(self.updates.rows) == mistakes, "its updates are malformed")
        grouped = np.lexsort((np.arange(mistakes), self.updates.labels))
        labels, times = self.updates.labels[grouped], self.updates.times[grouped]
        forward = (np.diff(times) >= 0) | (np.diff(labels) != 0)
        timely = self.updates.times <= self.seen[self.updates.labels]
        require(forward.all() and timely.all(), "its updates are out of order")

    def with_updates(self, updates: Updates, together: bool) -> "DualState":
        """Return the state with other updates, and the coefficients that they give the support."""
        shape, late = (len(self.bias), len(self.numbers)), updates.steps * updates.times
        lack = to_moves(updates, late * updates.intercept_steps, together)
        return replace(
            self,
            updates=updates,
            mistakes=len(updates.rows),
            coef=sum_coefficients(to_moves(updates, updates.steps, together), *shape),
            missing=sum_coefficients(to_moves(updates, late, together), *shape),
            missing_bias=sum_by_place(lack.outputs, lack.steps, shape[0]),
        )

    # Predicting

    def coefficients(self, average: bool) -> tuple[Array, Array]:
        """Return the coefficients and biases to predict with: the last ones or their average."""
        if not average:
            return self.coef, self.bias
        seen = np.maximum(self.seen, 1)
        return self.coef - self.missing / seen[:, None], self.bias - self.missing_bias / seen

    def normalize(self, average: bool, together: bool) -> tuple[Array, Array]:
        """Return the last function divided by its norm, or the average of all, each divided."""
        updates, shares = self.updates, np.zeros(len(self.norms))
        for group in group_updates(updates, together, len(self.bias)):
            norms = np.sqrt(np.maximum(self.norms[group], 0))
            seen = self.seen[updates.labels[group[0]]]
            inverse = np.divide(1.0, norms, out=np.zeros(len(norms)), where=norms > 0)
            survived = np.diff(updates.times[group], append=seen)
            tails = np.cumsum((survived * inverse)[::-1])[::-1] / seen
            shares[group] = tails if average else inverse[-1]
        moves = to_moves(updates, updates.steps * shares, together)
        lifts = to_moves(updates, updates.steps * shares * updates.intercept_steps, together)
        outputs = len(self.bias)
        coef = sum_coefficients(moves, outputs, len(self.numbers))
        return coef, sum_by_place(lifts.outputs, lifts.steps, outputs)

    def votes(self, products: Array, together: bool, sign_of_zero: float) -> Array:
        """Return the share of the votes for each output, from kernel values of the support."""
        outputs, updates = len(self.bias), self.updates
        out, best = np.zeros((outputs, products.shape[1])), np.zeros(products.shape[1], np.int64)
        if together:
            survived = np.diff(updates.times, prepend=0, append=self.seen[0]).astype(np.float64)
            cpu.multiclass_votes(np.zeros_like(out), products, updates, survived, best, out)
            return np.ascontiguousarray(out.T) / max(int(self.seen[0]), 1)
        for problem in range(outputs):
            own = Updates(*(part[updates.labels == problem] for part in updates))
            survived = np.diff(own.times, prepend=0, append=self.seen[problem]).astype(np.float64)
            scores = np.zeros(products.shape[1])
            cpu.perceptron_votes(scores, products, own, survived, sign_of_zero, out[problem])
            out[problem] /= max(int(self.seen[problem]), 1)
        return np.ascontiguousarray(out.T)
