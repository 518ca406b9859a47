"""What a worker does with a partition: learn from it, or evaluate weights on it.

A partition has a learner without weights; the weights of each problem travel separately.
"""

import copy
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from ..training.training import Epoch, ProblemRun, Training, losses
from .mixing import Sums, compute_sums, unpack
from .partitions import name_partition

Weights = dict[int, csr_matrix]
Losses = tuple[int, float, bool, float]
"""Errors and loss on training rows, whether all are right, and the least margin."""


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
        return (*losses(task, state), float(task.margins(state).min(initial=np.inf)))
