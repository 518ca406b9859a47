"""The state of the dual form: the rows once mistaken, and how far each moved which output."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, TypedDict

import numpy as np

from ..data.rows import Array
from ..training.state import DeclaredRows, Sizes, array, counter, declare, require
from ..training.training import SweepResult
from .kernels import cpu
from .kernels.cpu import FIGURES, NUMBERS, UPDATES


def join_updates(parts: list[Any]) -> Array:
    """Join several arrays of updates, much faster than NumPy, which compares their fields."""
    return np.frombuffer(bytearray().join(parts), UPDATES)


def sum_steps(updates: Array, steps: Array, outputs: int, support: int) -> Array:
    """Return the sum of steps for each output and support row; rivals move the other way."""
    pairs = updates[updates["rival"] != updates["label"]]
    both = np.concatenate([updates["label"], pairs["rival"]]) * support
    both += np.concatenate([updates["place"], pairs["place"]])
    signed = np.concatenate([steps, -steps[updates["rival"] != updates["label"]]])
    sums = np.bincount(both, signed, outputs * support)  # integers, if there are no updates
    return sums.astype(np.float64).reshape(outputs, support)


class DualFacts(TypedDict):
    """What a model file says of the dual form besides its state."""

    width: Annotated[int, lambda width: width > 0]
    gamma: float
    intercept_step: float


@dataclass
class DualState:
    """The support rows and their coefficients.

    Outputs are classes, or the problems of one-vs-rest (one for two classes). A column of ``coef``
    belongs to a support row; ``missing`` is that of ``Average``. Without a budget ``moves`` and
    ``steps`` keep the numbers and figures of every update. With one, ``matrix`` has the
    coefficients of an orthonormal basis of the span of the support, one row each. ``given`` counts
    the rows of all calls.
    """

    numbers: Array = array("support", dtype=np.int64)
    support: Any = declare(DeclaredRows())
    coef: Array = array("outputs", "support", dtype=np.float64)
    missing: Array = array("outputs", "support", dtype=np.float64)
    bias: Array = array("outputs", dtype=np.float64)
    missing_bias: Array = array("outputs", dtype=np.float64)
    seen: Array = array("outputs", dtype=np.int64)
    matrix: Array = array("squared", "squared", dtype=np.float64)
    moves: Array = array("updates", "numbers", dtype=np.int64)
    steps: Array = array("updates", "figures", dtype=np.float64)
    mistakes: int = counter(0)
    given: int = counter(0)

    facts: ClassVar = (DualFacts,)

    @classmethod
    def sizes(cls, model: Any) -> tuple[Sizes, Any]:
        """The sizes that its arrays must have."""
        width, count = model.facts.get("width"), len(model.classes)
        require(type(width) is int and 0 < width < 2**63, "its number of columns is out of range")
        require(len(model.states) == 1, "it has several states")
        outputs, columns = (1 if count == 2 else count,), {"numbers": (4,), "figures": (2,)}
        return {"width": (width,), "outputs": outputs, **columns}, None

    @classmethod
    def empty(cls, outputs: int, support: Any) -> "DualState":
        """Return the function that is 0 everywhere; ``support`` has no rows, in the layout of X."""
        nothing, zeros, numbers = np.zeros((outputs, 0)), np.zeros(outputs), np.zeros(0, np.int64)
        seen, matrix = np.zeros(outputs, np.int64), np.zeros((0, 0))
        updates = np.zeros((0, len(NUMBERS)), np.int64), np.zeros((0, len(FIGURES)))
        return cls(numbers, support, nothing, nothing, zeros, zeros, seen, matrix, *updates)

    @property
    def updates(self) -> Array:
        """The updates, as kernels log them, without positions and margins."""
        found = np.zeros(len(self.moves), UPDATES)
        for names, columns in (NUMBERS, self.moves), (FIGURES, self.steps):
            for name, column in zip(names, columns.T, strict=True):
                found[name] = column
        return found

    def sweep(self, task: Any, order: Array, _: int | None) -> Iterator[SweepResult]:
        """Learn from the rows in an order, block by block; the task has this state."""
        position = 0
        while position < len(order):
            learnt = task.learn(order, position)
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
        size, updates = len(self.numbers), self.updates
        require(len(updates) in (0, self.mistakes), "its updates are not its mistakes")
        require(len(self.matrix) in (0, size), "matrix does not fit or is not finite")
        require(self.support.shape[0] == size, "its rows do not fit")
        require(np.all(self.numbers < self.given), "its numbers of rows do not exist")
        for name, end in (("place", size), ("label", len(self.bias)), ("rival", len(self.bias))):
            require(np.all(updates[name] < end), f"a {name} of its updates does not exist")
        grouped = updates[np.lexsort((np.arange(len(updates)), updates["label"]))]
        forward = (np.diff(grouped["time"]) >= 0) | (np.diff(grouped["label"]) != 0)
        timely = updates["time"] <= self.seen[updates["label"]]
        require(forward.all() and timely.all(), "its updates are out of order")

    def with_updates(self, updates: Array) -> "DualState":
        """Return the state with other updates, and the coefficients that they give the support."""
        shape, late = (len(self.bias), len(self.numbers)), updates["step"] * updates["time"]
        return replace(
            self,
            moves=np.stack([updates[name] for name in NUMBERS], axis=1),
            steps=np.stack([updates[name] for name in FIGURES], axis=1),
            mistakes=len(updates),
            coef=sum_steps(updates, updates["step"], *shape),
            missing=sum_steps(updates, late, *shape),
            missing_bias=sum_steps(updates, late * updates["bias_step"], *shape).sum(axis=1),
        )

    # Predicting

    def group_updates(self, together: bool) -> list[Array]:
        """Return the numbers of the updates of each problem that has some."""
        labels = self.updates["label"]
        problems = [np.full(len(labels), True)] if together else labels == np.c_[: len(self.bias)]
        return [np.flatnonzero(own) for own in problems if own.any()]

    def coefficients(self, average: bool) -> tuple[Array, Array]:
        """Return the coefficients and biases to predict with: the last ones or their average."""
        if not average:
            return self.coef, self.bias
        seen = np.maximum(self.seen, 1)
        return self.coef - self.missing / seen[:, None], self.bias - self.missing_bias / seen

    def votes(
        self, products: Any, together: bool, sign: float, xp: Any = np, vote: Any = cpu.vote
    ) -> Any:
        """Return the share of the votes for each output, from kernel values of the support.

        ``sign`` is that of a score of 0; ``vote`` is a kernel for arrays of ``xp``.
        """
        updates, last = self.updates, self.seen.astype(np.float64)
        times, lasted = updates["time"], np.empty(len(updates))
        for group in self.group_updates(together):
            lasted[group] = np.diff(times[group], prepend=0)
            last[... if together else updates["label"][group[0]]] -= times[group[-1]]
        names, count = ("place", "step", "bias_step", "label", "rival"), products.shape[1]
        parts = [xp.asarray(np.ascontiguousarray(updates[name])) for name in names]
        scores, votes = xp.zeros((2, len(last), count))
        best = xp.zeros(count, np.int64)
        vote(products, *parts, xp.asarray(lasted), sign, scores, best, votes)
        if together:
            votes[best, xp.arange(count)] += last[0]
        else:
            signs = xp.where(scores == 0, sign, xp.sign(scores))
            votes += xp.asarray(last)[:, None] * signs
        return votes / xp.asarray(np.maximum(self.seen, 1))[:, None]
