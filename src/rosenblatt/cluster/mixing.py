"""How partitions are mixed: the weights that go out, and the sums that come back.

A rule that knows how sure it is of each weight has variances S, and 1/S - 1 is the evidence for a
weight: 0 before the first row. It is mixed by confidence: of n partitions each begins with its
share 1/(nS) of what was known, and their weights are weighed by their precisions, which add up
(the weighted average of Scott et al. 2016, "Bayes and big data: the consensus Monte Carlo
algorithm").
"""

import math
from typing import NamedTuple

import numpy as np

from ..data.rows import Array
from ..training.history import Epoch
from ..training.solutions import Average, Last

Pair = tuple[Array, Array]
"""Something of each weight, and of each bias."""


class SparseWeights(NamedTuple):
    """Weights, or what is to be added to them, as they travel: at some places, and 0 elsewhere.

    ``values`` has a row for the weights, and one for the evidence for them if there is any; each
    begins with the biases. ``size`` is that of all weights.
    """

    size: int
    places: Array
    values: Array

    @classmethod
    def at(cls, places: Array, size: int, values: Array) -> "SparseWeights":
        """Values at places, whose numbers are kept as small as they can be."""
        return cls(size, places.astype(np.min_scalar_type(size), copy=False), values)

    @classmethod
    def of(cls, *pairs: Pair) -> "SparseWeights":
        """All weights and evidence that are not zero."""
        weights, _ = pairs[0]
        places = np.flatnonzero(np.any([one != 0 for one, _ in pairs], axis=0))
        values = np.array([taken(places, *pair) for pair in pairs], weights.dtype)
        return cls.at(places, weights.size, values)

    @property
    def nbytes(self) -> int:
        """What it takes to send them."""
        return self.places.nbytes + self.values.nbytes

    def state(self, like: Last, kind: type[Last], partitions: int = 1) -> Last:
        """A state of a kind that starts from here, for the problem of another state.

        With one of several partitions it has its share of the precision.
        """
        outputs, pairs = len(like.bias), list[Pair]()
        for row in self.values:
            weights = np.zeros(self.size, row.dtype)
            weights[self.places] = row[outputs:]
            pairs.append((weights.reshape(-1, *like.weights.shape[1:]), row[:outputs].copy()))
        state = kind(*pairs[0], rule=like.rule)
        for pair, variances in zip(pairs[1:], get_variances(state), strict=False):
            for evidence, kept in zip(pair, variances, strict=True):
                kept[...] = partitions / (1 + evidence.astype(np.float64))
        return state


def get_variances(state: Last) -> list[Pair]:
    """The variances of weights and biases, if a state has some."""
    further = state.further
    has = "variances" in further
    return [(further["variances"], further["variance_of_bias"])] if has else []


def get_parts(state: Last) -> list[Pair]:
    """The weights and biases of a state, and the evidence for them."""
    evidence = [(1 / weights - 1, 1 / biases - 1) for weights, biases in get_variances(state)]
    return [(state.weights, state.bias), *evidence]


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
    the weights after each are from where the epoch started. By confidence, a is 1/S of each weight,
    and what that has grown by comes after Σ a·Δ. Vectors travel in the precision of the weights and
    are summed in double precision. ``sent`` counts the bytes that travelled.
    """

    share: float
    vectors: SparseWeights
    epochs: tuple[Epoch, ...]
    sent: int


def compute_sums(state: Last, start: Last, epoch: Epoch, mix: str) -> Sums:
    """How far a state is from the one that it started from."""
    share = float(epoch.mistakes if mix == "mistakes" else epoch.rows > 0)
    start.widen(len(state.weights))
    touched = state.weights != start.weights
    for (now, _), (before, _) in zip(get_variances(state), get_variances(start), strict=True):
        touched |= now != before
    if isinstance(state, Average):
        touched |= state.missing != 0
    places = np.flatnonzero(touched)
    moves = taken(places, state.weights, state.bias).astype(np.float64)
    moves -= taken(places, start.weights, start.bias)
    values = [share * moves]
    if mix == "confidence":
        now, before = (1 / taken(places, *get_variances(one)[0]) for one in (state, start))
        values = [now * moves, now - before]
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

    With c rows seen before the epoch, m in it, and D = Σ a·Δ / Σ a, the weights become w + D. By
    confidence Σ a is the precision before and what it has grown by in all partitions. The average
    is over the weights after every row seen on any partition, so their sum c·w - u must grow by
    m·w + Σ Q. Hence u becomes u + (c + m)·D - Σ Q, with one partition. With n of them the weights
    get only an n-th as far in an epoch, and those of the first ones would hold the average back:
    rows of the epochs before count an n-th of what they did, k together instead of c.
    """
    size, places, (moves, *others) = sums.vectors
    state.widen(size // int(np.prod(state.weights.shape[1:])))
    total = np.asarray(sums.share or 1.0)
    for variances in get_variances(state):
        total = 1 / taken(places, *variances) + others.pop(0)
        put(1 / total, places, *variances)
    seen, n_rows = state.seen, sum(epoch.rows for epoch in sums.epochs)
    state.seen += n_rows
    state.mistakes += sum(epoch.mistakes for epoch in sums.epochs)
    before = taken(places, state.weights, state.bias).astype(np.float64)
    put(before + moves / total, places, state.weights, state.bias)
    if isinstance(state, Average):
        moved = taken(places, state.weights, state.bias) - before  # in the weights' precision
        k = counted(seen, n_rows, len(sums.epochs))
        share = state.seen / max(k + n_rows, 1)
        for each in (state.missing, state.missing_bias):
            each *= share * k / max(seen, 1)
        missing = taken(places, state.missing, state.missing_bias)
        missing += state.seen * moved - share * others[0]
        put(missing, places, state.missing, state.missing_bias)


def counted(seen: int, n_rows: int, partitions: int) -> float:
    """What the rows of earlier epochs count together, if each epoch makes them an n-th of that.

    >>> counted(200, 100, 1), counted(200, 100, 10), counted(0, 100, 10)
    (200.0, 11.0, 0.0)
    """
    if partitions == 1:
        return float(seen)
    epochs = seen / max(n_rows, 1)
    return n_rows * (1 - math.pow(partitions, -epochs)) / (partitions - 1)
