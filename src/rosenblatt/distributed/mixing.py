"""How partitions are mixed: the weights that go out, and the sums that come back."""

from typing import NamedTuple

import numpy as np

from ..rows import Array
from ..training.history import Epoch
from ..training.solutions import Average, Last, widened


class SparseWeights(NamedTuple):
    """Weights, or what is to be added to them, as they travel: at some places, and 0 elsewhere.

    ``values`` begin with the biases; ``size`` is that of all weights.
    """

    size: int
    places: Array
    values: Array

    @classmethod
    def at(cls, places: Array, size: int, values: Array) -> "SparseWeights":
        """Values at places, whose numbers are kept as small as they can be."""
        return cls(size, places.astype(np.min_scalar_type(size), copy=False), values)

    @classmethod
    def of(cls, weights: Array, bias: Array) -> "SparseWeights":
        """All weights that are not zero."""
        places = np.flatnonzero(weights)
        return cls.at(places, weights.size, taken(places, weights, bias))

    @property
    def nbytes(self) -> int:
        """What it takes to send them."""
        return self.places.nbytes + self.values.nbytes

    def state(self, like: Last, kind: type[Last]) -> Last:
        """A state of a kind that starts from here, for the problem of another state."""
        outputs = len(like.bias)
        weights = np.zeros(self.size, self.values.dtype)
        weights[self.places] = self.values[outputs:]
        shape = -1, *like.weights.shape[1:]
        return kind(weights.reshape(shape), self.values[:outputs].copy(), rule=like.rule)


def taken(places: Array, weights: Array, bias: Array) -> Array:
    """The biases, and the weights at some places."""
    return np.concatenate([bias, weights.reshape(-1)[places]])


def put(values: Array, places: Array, weights: Array, bias: Array) -> None:
    """Set the biases, and the weights at some places."""
    bias[...] = values[: len(bias)]
    weights.reshape(-1)[places] = values[len(bias) :]


class Sums(NamedTuple):
    """What the partitions of one problem add up to.

    ``share`` is Σ a, where a is 1 or a partition's mistakes. ``vectors`` are Σ a·Δ and, for an
    average, Σ Q, where Δ is how far a partition moved the weights, and Q sums over its rows how far
    the weights after each are from where the epoch started. They travel in the precision of the
    weights and are summed in double precision. ``sent`` counts the bytes that travelled.
    """

    share: float
    vectors: SparseWeights
    epochs: tuple[Epoch, ...]
    sent: int


def sums_of(state: Last, start: Last, epoch: Epoch, mix: str) -> Sums:
    """How far a state is from the one that it started from."""
    share = float(epoch.mistakes if mix == "mistakes" else epoch.rows > 0)
    before = widened(start.weights, len(state.weights))
    touched = state.weights != before
    if isinstance(state, Average):
        touched |= state.missing != 0
    places = np.flatnonzero(touched)
    moves = taken(places, state.weights, state.bias).astype(np.float64)
    moves -= taken(places, before, start.bias)
    values = [share * moves]
    if isinstance(state, Average):
        missing = taken(places, state.missing, state.missing_bias)
        values.append(state.seen * moves - missing)
    told = np.array(values, state.weights.dtype)
    vectors = SparseWeights.at(places, state.weights.size, told)
    return Sums(share, vectors, (epoch,), vectors.nbytes)


def add_up(*reports: dict[int, Sums]) -> dict[int, Sums]:
    """Several reports by problem as one, added in their order whoever was first."""
    return {problem: total([report[problem] for report in reports]) for problem in reports[0]}


@np.errstate(over="ignore", invalid="ignore")  # the next epoch will tell
def total(parts: list[Sums]) -> Sums:
    """The sums of several, of which some may know fewer columns."""
    shares, vectors, epochs, sent = zip(*parts, strict=True)
    size, first = max(one.size for one in vectors), vectors[0]
    outputs, dtype = first.values.shape[1] - len(first.places), first.values.dtype
    biases, touched = np.zeros((len(first.values), outputs)), np.zeros(size, bool)
    weights = np.zeros((len(biases), size))
    for one in vectors:
        touched[one.places] = True
        biases += one.values[:, :outputs]
        for row, more in zip(weights, one.values[:, outputs:], strict=True):
            row[one.places] += more
    places = np.flatnonzero(touched)
    values = np.hstack([biases, weights[:, places]]).astype(dtype, copy=False)
    result = SparseWeights.at(places, size, values)
    return Sums(sum(shares), result, sum(epochs, ()), sum(sent) + result.nbytes)


@np.errstate(over="ignore", invalid="ignore")
def mix_into(state: Last, sums: Sums) -> None:
    """Move a state to the mixed weights.

    With c rows seen before the epoch, m in it, and D = Σ a·Δ / Σ a, the weights become w + D. The
    average is over the weights after every row seen on any partition, so their sum c·w - u must
    grow by m·w + Σ Q. Hence u becomes u + (c + m)·D - Σ Q.
    """
    size, places, (moves, *excess) = sums.vectors
    state.widen(size // int(np.prod(state.weights.shape[1:])))
    state.seen += sum(epoch.rows for epoch in sums.epochs)
    state.mistakes += sum(epoch.mistakes for epoch in sums.epochs)
    before = taken(places, state.weights, state.bias).astype(np.float64)
    put(before + moves / (sums.share or 1.0), places, state.weights, state.bias)
    if isinstance(state, Average):
        moved = taken(places, state.weights, state.bias) - before  # in the weights' precision
        missing = taken(places, state.missing, state.missing_bias)
        missing += state.seen * moved - excess[0]
        put(missing, places, state.missing, state.missing_bias)
