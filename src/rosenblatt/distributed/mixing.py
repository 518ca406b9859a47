"""How partitions are mixed: the weights that go out, and the sums that come back.

Biases and weights are one vector, the biases first, since columns may be added at its end.
"""

from typing import NamedTuple

import numpy as np

from ..rows import Array
from ..training.history import Epoch
from ..training.solutions import Average, Last


class Sparse(NamedTuple):
    """Vectors of a size as they travel: their values at some places, and 0 elsewhere."""

    size: int
    places: Array
    values: Array

    @classmethod
    def of(cls, values: Array, size: int, places: Array) -> "Sparse":
        """Values at places, whose numbers are kept as small as they can be."""
        return cls(size, places.astype(np.min_scalar_type(size), copy=False), values)

    @property
    def nbytes(self) -> int:
        """What it takes to send them."""
        return self.places.nbytes + self.values.nbytes

    def vector(self) -> Array:
        """The whole of a vector that is alone."""
        whole = np.zeros(self.size, self.values.dtype)
        whole[self.places] = self.values
        return whole


def flattened(weights: Array, bias: Array) -> Array:
    """Biases and weights as one vector."""
    return np.concatenate([bias, weights.reshape(-1)])


def packed(weights: Array, bias: Array) -> Sparse:
    """Biases and weights, those that are not zero."""
    vector = flattened(weights, bias)
    places = np.flatnonzero(vector)
    return Sparse.of(vector[places], len(vector), places)


def state_at(vector: Array, like: Last, kind: type[Last]) -> Last:
    """A state of a kind that starts from a vector, for the problem of another state."""
    outputs = len(like.bias)
    weights = vector[outputs:].reshape(-1, *like.weights.shape[1:])
    return kind(weights.copy(), vector[:outputs].copy(), rule=like.rule)


def write_back(vector: Array, weights: Array, bias: Array) -> None:
    """Set biases and weights to those of a vector."""
    bias[...] = vector[: len(bias)]
    weights.reshape(-1)[...] = vector[len(bias) :]


class Sums(NamedTuple):
    """What the partitions of one problem add up to.

    ``share`` is Σ a, where a is 1 or a partition's mistakes. ``vectors`` are Σ a·Δ and, for an
    average, Σ Q, where Δ is how far a partition moved the weights, and Q sums over its rows how far
    the weights after each are from where the epoch started. They travel in the precision of the
    weights and are summed in double precision. ``sent`` counts the bytes that travelled.
    """

    share: float
    vectors: Sparse
    epochs: tuple[Epoch, ...]
    sent: int


def sums_of(state: Last, start: Array, epoch: Epoch, mix: str) -> Sums:
    """How a state differs from the vector that it started from."""
    share = float(epoch.mistakes if mix == "mistakes" else epoch.rows > 0)
    after = flattened(state.weights, state.bias)
    before = np.zeros_like(after)
    before[: len(start)] = start
    touched, missing = after != before, None
    if isinstance(state, Average):
        missing = flattened(state.missing, state.missing_bias)
        touched |= missing != 0
    places = np.flatnonzero(touched)
    moves = after[places].astype(np.float64) - before[places]
    values = [share * moves]
    if missing is not None:
        values.append(state.seen * moves - missing[places])
    vectors = Sparse.of(np.array(values, after.dtype), len(after), places)
    return Sums(share, vectors, (epoch,), vectors.nbytes)


def add_up(*reports: dict[int, Sums]) -> dict[int, Sums]:
    """Several reports by problem as one, added in their order whoever was first."""
    return {problem: total([report[problem] for report in reports]) for problem in reports[0]}


@np.errstate(over="ignore", invalid="ignore")  # the next epoch will tell
def total(parts: list[Sums]) -> Sums:
    """The sums of several, of which some may know fewer columns."""
    shares, sparse, epochs, sent = zip(*parts, strict=True)
    size, first = max(one.size for one in sparse), sparse[0].values
    values, touched = np.zeros((len(first), size)), np.zeros(size, bool)
    for one in sparse:
        touched[one.places] = True
        values[:, one.places] += one.values
    places = np.flatnonzero(touched)
    vectors = Sparse.of(values[:, places].astype(first.dtype, copy=False), size, places)
    return Sums(sum(shares), vectors, sum(epochs, ()), sum(sent) + vectors.nbytes)


@np.errstate(over="ignore", invalid="ignore")
def mix_into(state: Last, sums: Sums) -> None:
    """Move a state to the mixed weights.

    With c rows seen before the epoch, m in it, and D = Σ a·Δ / Σ a, the weights become w + D. The
    average is over the weights after every row seen on any partition, so their sum c·w - u must
    grow by m·w + Σ Q. Hence u becomes u + (c + m)·D - Σ Q.
    """
    size, places, (moves, *excess) = sums.vectors
    outputs = len(state.bias)
    state.widen((size - outputs) // (outputs if state.weights.ndim > 1 else 1))
    state.seen += sum(epoch.rows for epoch in sums.epochs)
    state.mistakes += sum(epoch.mistakes for epoch in sums.epochs)
    vector = flattened(state.weights, state.bias)
    before = vector[places].astype(np.float64)
    vector[places] = before + moves / (sums.share or 1.0)
    write_back(vector, state.weights, state.bias)
    if isinstance(state, Average):
        missing = flattened(state.missing, state.missing_bias)
        moved = vector[places] - before  # in the precision of the weights
        missing[places] += state.seen * moved - excess[0]
        write_back(missing, state.missing, state.missing_bias)
