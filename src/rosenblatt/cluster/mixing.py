"""How the partitions of a cluster are mixed: the weights sent out, and the sums that come back.

A state gives its numbers in layers: the weights, the variances of rules that have some, and the
sums of an average (``training.state.Layer``). For a variance S, 1/S - 1 is the evidence for a
weight, which is 0 before the first row. With variances, partitions are mixed by confidence: each of
n partitions begins with its share 1/(nS) of the precision, and their weights are averaged with
their precisions as weights (Scott et al. 2016, "Bayes and big data: the consensus Monte Carlo
algorithm").
"""

import copy
import math
from typing import Any, NamedTuple

import numpy as np

from ..data.rows import Array
from ..training.training import Epoch


class SparseWeights(NamedTuple):
    """Layers of numbers as they travel: those of columns only where they are not zero.

    Attributes
    ----------
    size
        How many weights the sender has.
    keys
        The numbers of weights, sorted.
    values
        One row per layer: first the numbers without a key, then those of the keys.
    """

    size: int
    keys: Array
    values: Array

    @classmethod
    def of(cls, state: Any, keys: Array, layers: list[Array]) -> "SparseWeights":
        """Numbers for some keys of a state, in the precision of its weights."""
        rows = state.layers()["weights"].rows
        keys = keys.astype(np.min_scalar_type(rows.size), copy=False)
        return cls(rows.size, keys, np.array(layers, rows.dtype))

    @property
    def nbytes(self) -> int:
        """The number of bytes that travel."""
        return self.keys.nbytes + self.values.nbytes

    def split(self) -> tuple[Array, Array]:
        """The numbers without a key, and those of the keys."""
        shared, rows = np.split(self.values, [self.values.shape[1] - len(self.keys)], axis=1)
        return shared, rows


def pack(state: Any) -> SparseWeights:
    """The weights of a state and the evidence for them, where one of them is not zero."""
    layers = state.layers()
    weights, variances = layers["weights"], layers.get("variances")
    used = weights.rows != 0
    if variances is not None:
        used |= variances.rows != 1
    rows = np.flatnonzero(used)
    evidence = [] if variances is None else [1 / variances.take(rows) - 1]
    return SparseWeights.of(state, rows, [weights.take(rows), *evidence])


def unpack(like: Any, sparse: SparseWeights, partitions: int = 1) -> Any:
    """A copy of a state without weights, with those that were sent.

    With one of several partitions it has its share of the precision.
    """
    state = copy.deepcopy(like)
    state.make_room(sparse.size)
    layers, rows, values = state.layers(), sparse.keys, sparse.values
    layers["weights"].put(rows, values[0])
    if len(values) > 1:
        layers["variances"].rows[...] = partitions
        layers["variances"].put(rows, partitions / (1 + values[1].astype(np.float64)))
    return state


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


def compute_sums(state: Any, start: Any, epoch: Epoch, mix: str) -> Sums:
    """How far a state is from the one that it started from."""
    share = float(epoch.mistakes if mix == "mistakes" else epoch.rows > 0)
    start.widen(len(state.weights))
    now, before = state.layers(), start.layers()
    sums = now.pop("sums", None)
    changed = [now[name].rows != before[name].rows for name in now]
    changed += [] if sums is None else [sums.rows != 0]
    rows = np.flatnonzero(np.logical_or.reduce(changed))
    moves = now["weights"].take(rows).astype(np.float64)
    moves -= before["weights"].take(rows)
    values = [share * moves]
    if mix == "confidence":
        precision, earlier = (1 / one["variances"].take(rows) for one in (now, before))
        values = [precision * moves, precision - earlier]
    if sums is not None:
        values.append(state.seen * moves - sums.take(rows))
    vectors = SparseWeights.of(state, rows, values)
    return Sums(share, vectors, (epoch,), vectors.nbytes)


def add_up(*reports: dict[int, Sums]) -> dict[int, Sums]:
    """Several reports by problem as one, added in the order of the partitions."""
    return {problem: add_sums([report[problem] for report in reports]) for problem in reports[0]}


@np.errstate(over="ignore", invalid="ignore")  # the next epoch refuses what is not finite
def add_sums(parts: list[Sums]) -> Sums:
    """The sums of several parts; some may know fewer columns."""
    shares, vectors, epochs, sent = zip(*parts, strict=True)
    first, size = vectors[0], max(one.size for one in vectors)
    keys, places = unite_keys([one.keys for one in vectors], size)
    shared, _ = first.split()
    total, rows = np.zeros(shared.shape), np.zeros((len(shared), len(keys)))
    for one, where in zip(vectors, places, strict=True):
        own, by_key = one.split()
        total += own
        for layer, more in zip(rows, by_key, strict=True):
            layer[where] += more
    values = np.hstack([total, rows]).astype(first.values.dtype, copy=False)
    result = SparseWeights(size, keys.astype(np.min_scalar_type(size), copy=False), values)
    return Sums(sum(shares), result, sum(epochs, ()), sum(sent) + result.nbytes)


def unite_keys(lists: list[Array], size: int) -> tuple[Array, list[Array]]:
    """All keys of some sorted lists, and where each list has its place among them.

    >>> unite_keys([np.array([1, 5]), np.array([0, 5])], 6)
    (array([0, 1, 5]), [array([1, 2]), array([0, 2])])
    """
    used = np.zeros(size, bool)
    for one in lists:
        used[one] = True
    numbers = np.cumsum(used) - 1
    return np.flatnonzero(used), [numbers[one] for one in lists]


@np.errstate(over="ignore", invalid="ignore")
def mix_into(state: Any, sums: Sums) -> None:
    """Move a state to the mixed weights.

    With c rows seen before the epoch, m in it, and D = Σ a·Δ / Σ a, the weights become w + D. By
    confidence Σ a is the precision before and what it has grown by in all partitions. The average
    is over the weights after every row seen on any partition, so their sum c·w - u must grow by
    m·w + Σ Q. Hence u becomes u + (c + m)·D - Σ Q, with one partition. With n of them the weights
    get only an n-th as far in an epoch, and those of the first ones would hold the average back:
    rows of the epochs before count an n-th of what they did, k together instead of c.
    """
    (moves, *others), rows = sums.vectors.values, sums.vectors.keys
    state.make_room(sums.vectors.size)
    layers, total = state.layers(), np.asarray(sums.share or 1.0)
    if "variances" in layers:
        total = 1 / layers["variances"].take(rows) + others.pop(0)
        layers["variances"].put(rows, 1 / total)
    seen, n_rows = state.seen, sum(epoch.rows for epoch in sums.epochs)
    state.seen += n_rows
    state.mistakes += sum(epoch.mistakes for epoch in sums.epochs)
    before = layers["weights"].take(rows).astype(np.float64)
    layers["weights"].put(rows, before + moves / total)
    if "sums" in layers:
        moved = layers["weights"].take(rows) - before  # in the weights' precision
        k = count_earlier_rows(seen, n_rows, len(sums.epochs))
        share, sums_of = state.seen / max(k + n_rows, 1), layers["sums"]
        for each in (sums_of.rows, *sums_of.shared):
            each *= share * k / max(seen, 1)
        sums_of.put(rows, sums_of.take(rows) + state.seen * moved - share * others[0])


def count_earlier_rows(seen: int, n_rows: int, partitions: int) -> float:
    """How much the rows of earlier epochs count together, if each epoch divides it by partitions.

    >>> [count_earlier_rows(*given) for given in [(200, 100, 1), (200, 100, 10), (0, 100, 10)]]
    [200.0, 11.0, 0.0]
    """
    if partitions == 1:
        return float(seen)
    epochs = seen / max(n_rows, 1)
    return n_rows * (1 - math.pow(partitions, -epochs)) / (partitions - 1)
