"""What a worker does with a partition: learn from it, or evaluate weights on it.

A partition has a learner without weights; the weights of each problem travel separately.
"""

import copy
from typing import Any, NamedTuple

import numpy as np

from ..training.training import Epoch, ProblemRun, Training, losses
from .mixing import SparseWeights, Sums, compute_sums, unpack
from .partitions import name_partition

Weights = dict[int, SparseWeights]


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


def unpack_all(part: Any, weights: Weights, partitions: int = 1) -> dict[int, Any]:
    """The states of some problems with the weights that were sent."""
    empty = part.learner.states
    return {k: unpack(empty[k], sparse, partitions) for k, sparse in weights.items()}


def learn(
    part: Any, number: int, weights: Weights, epoch: int, mix: str, partitions: int
) -> dict[int, Sums]:
    """Learn from a partition once, from the mixed weights; return how far they moved."""
    states = unpack_all(part, weights, partitions)
    starts = copy.deepcopy(states)
    records = learn_epoch(part, number, states, epoch)
    return {k: compute_sums(states[k], starts[k], records[k], mix) for k in weights}


class Handover(NamedTuple):
    """What one partition passes to the next: states by problem, and the counts of each epoch."""

    states: dict[int, Any]
    epochs: dict[int, tuple[Epoch, ...]]


def relay(part: Any, number: int, before: Handover, epoch: int) -> Handover:
    """Learn from a partition with the states that the one before it left."""
    states = {k: left.renew() for k, left in before.states.items()}  # what arrives is read-only
    records = learn_epoch(part, number, states, epoch)
    return Handover(states, {k: (*before.epochs[k], records[k]) for k in states})


class Losses(NamedTuple):
    """Errors and loss of weights on training rows, and their least margin."""

    errors: int
    loss: float
    separated: bool
    least_margin: float

    @classmethod
    def combine(cls, parts: list["Losses"]) -> "Losses":
        """The losses on several partitions together."""
        errors, loss, separated, least = zip(*parts, strict=True)
        return cls(sum(errors), sum(loss), all(separated), min(least))


def measure(part: Any, number: int, weights: Weights) -> dict[int, Losses]:
    """The losses of weights on a partition."""
    found, (rows,) = {}, part.parts()
    for problem, state in unpack_all(part, weights).items():
        task = rows.task(problem)
        with name_partition(number), np.errstate(over="ignore", invalid="ignore"):
            least = float(task.margins(state).min(initial=np.inf))
            found[problem] = Losses(*losses(task, state), least)
    return found
