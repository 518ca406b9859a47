"""How the partitions of a cluster are mixed: the weights sent out, and the sums that come back.

The numbers of a state form layers: the weights, the variances of rules that have some, and the sums
of an average. For a variance S, 1/S - 1 is the evidence for a weight, which is 0 before the first
row. With variances, partitions are mixed by confidence: each of n partitions begins with its share
1/(nS) of the precision, and their weights are averaged with their precisions as weights (Scott et
al. 2016, "Bayes and big data: the consensus Monte Carlo algorithm").

Layers travel as the rows of a sparse matrix, in the precision of the weights.
"""

import copy
import math
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_matrix

from ..data.rows import Array
from ..training.training import Epoch, ProblemRun, Training, losses
from .partitions import name_partition

LAYERS = {"weights": ("b", "w"), "variances": ("Sb", "S"), "sums": ("ub", "u")}
"""The arrays of each layer, by their names in the state that kernels take."""


def get_layer(state: Any, name: str) -> Array:
    """A layer of a state in double precision: the numbers of the biases, then of the weights."""
    arrays = state.arrays()
    return np.concatenate([getattr(arrays, one) for one in LAYERS[name]], dtype=np.float64)


def set_layer(state: Any, name: str, values: Array) -> None:
    """Set the numbers of a layer."""
    of_biases, of_weights = (getattr(state.arrays(), one) for one in LAYERS[name])
    of_biases[:], of_weights[:] = np.split(values, [len(of_biases)])


def make_sparse(state: Any, layers: list[Array]) -> csr_matrix:
    """Layers of a state as they travel."""
    return csr_matrix(np.array(layers, state.weights.dtype))


def widen(state: Any, sparse: csr_matrix) -> None:
    """Give a state at least the columns of what was sent."""
    outputs = int(np.prod(state.weights.shape[1:]))
    state.widen((sparse.shape[1] - len(state.bias)) // outputs)


def pack(state: Any) -> csr_matrix:
    """The weights of a state, and the evidence for them if it has variances."""
    layers = [get_layer(state, "weights")]
    if state.rule.has_variances:
        layers.append(1 / get_layer(state, "variances") - 1)
    return make_sparse(state, layers)


def unpack(like: Any, sparse: csr_matrix, partitions: int = 1) -> Any:
    """A copy of a state without weights, with those that were sent.

    With one of several partitions it has its share of the precision.
    """
    state = copy.deepcopy(like)
    widen(state, sparse)
    weights, *evidence = sparse.toarray().astype(np.float64)
    set_layer(state, "weights", weights)
    if evidence:
        set_layer(state, "variances", partitions / (1 + evidence[0]))
    return state


class Sums(NamedTuple):
    """What the partitions of one problem add up to.

    ``vectors`` are Σ a·Δ and, for an average, Σ Q, where Δ is how far a partition moved the
    weights, a is 1, and Q sums over its rows how far the weights after each are from where the
    epoch started. By confidence, a is 1/S of each weight, and what that has grown by comes after
    Σ a·Δ.
    """

    vectors: csr_matrix
    epochs: tuple[Epoch, ...]


def compute_sums(state: Any, start: Any, epoch: Epoch) -> Sums:
    """How far a state is from the one that it started from."""
    start.widen(len(state.weights))
    moves = get_layer(state, "weights") - get_layer(start, "weights")
    layers = [moves]
    if state.rule.has_variances:
        precision, earlier = (1 / get_layer(one, "variances") for one in (state, start))
        layers = [precision * moves, precision - earlier]
    if state.averages:
        layers.append(state.seen * moves - get_layer(state, "sums"))
    return Sums(make_sparse(state, layers), (epoch,))


@np.errstate(over="ignore", invalid="ignore")  # the next epoch refuses what is not finite
def add_up(*reports: dict[int, Sums]) -> dict[int, Sums]:
    """Several reports by problem as one, added in double precision in the order of partitions.

    Some may know fewer columns.
    """
    found = {}
    for problem in reports[0]:
        vectors, epochs = zip(*(report[problem] for report in reports), strict=True)
        shape = max(one.shape for one in vectors)
        total = csr_matrix(shape)
        for one in vectors:
            total = total + csr_matrix((one.data, one.indices, one.indptr), shape)
        found[problem] = Sums(total.astype(vectors[0].dtype), sum(epochs, ()))
    return found


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
    widen(state, sums.vectors)
    moves, *others = sums.vectors.toarray().astype(np.float64)
    total: Any = max(sum(epoch.rows > 0 for epoch in sums.epochs), 1)
    if state.rule.has_variances:
        total = 1 / get_layer(state, "variances") + others.pop(0)
        set_layer(state, "variances", 1 / total)
    seen, n_rows = state.seen, sum(epoch.rows for epoch in sums.epochs)
    state.seen += n_rows
    state.mistakes += sum(epoch.mistakes for epoch in sums.epochs)
    before = get_layer(state, "weights")
    set_layer(state, "weights", before + moves / total)
    if state.averages:
        moved = get_layer(state, "weights") - before  # in the weights' precision
        k = count_earlier_rows(seen, n_rows, len(sums.epochs))
        share = state.seen / max(k + n_rows, 1)
        kept = share * k / max(seen, 1) * get_layer(state, "sums")
        set_layer(state, "sums", kept + state.seen * moved - share * others[0])


def count_earlier_rows(seen: int, n_rows: int, partitions: int) -> float:
    """How much the rows of earlier epochs count together, if each epoch divides it by partitions.

    >>> [count_earlier_rows(*given) for given in [(200, 100, 1), (200, 100, 10), (0, 100, 10)]]
    [200.0, 11.0, 0.0]
    """
    if partitions == 1:
        return float(seen)
    epochs = seen / max(n_rows, 1)
    return n_rows * (1 - math.pow(partitions, -epochs)) / (partitions - 1)


# What a worker does with a partition, which has a learner without weights

Weights = dict[int, csr_matrix]
Losses = tuple[int, float, bool]
"""Errors and loss on training rows, and whether all are right."""


def learn_epoch(part: Any, number: int, states: dict[int, Any], epoch: int) -> dict[int, Epoch]:
    """Change the states of some problems by one epoch over a partition; the others rest."""
    given, count = part.learner.parameters, len(part.learner.states)
    run = Training(
        part.parts,
        [
            ProblemRun(state=states.get(k), stop_reason="" if k in states else "max_iter")
            for k in range(count)
        ],
        order=given["order"],
        seed=given["random_state"],
        first_part=number,
    )
    run.epoch = epoch - 1  # its permutations depend on it
    with name_partition(number), np.errstate(over="ignore", invalid="ignore"):
        run.train()
    return {problem: run.problems[problem].epochs[0] for problem in states}


def learn(part: Any, number: int, weights: Weights, epoch: int, partitions: int) -> dict[int, Sums]:
    """Learn from a partition once, from the mixed weights; return how far they moved."""
    empty = part.learner.states
    states = {k: unpack(empty[k], sent, partitions) for k, sent in weights.items()}
    starts = copy.deepcopy(states)
    records = learn_epoch(part, number, states, epoch)
    return {k: compute_sums(states[k], starts[k], records[k]) for k in weights}


def learn_alone(
    part: Any, number: int, states: dict[int, Any], epoch: int
) -> tuple[dict[int, Any], dict[int, Epoch]]:
    """Learn from the only partition once; return the states, which need no mixing."""
    states = {k: state.renew() for k, state in states.items()}  # what arrives is read-only
    return states, learn_epoch(part, number, states, epoch)


def measure(part: Any, number: int, problem: int, weights: csr_matrix) -> Losses:
    """The losses of the weights of a problem on a partition."""
    (rows,) = part.parts()
    task, state = rows.task(problem), unpack(part.learner.states[problem], weights)
    with name_partition(number), np.errstate(over="ignore", invalid="ignore"):
        return losses(task, state)
