"""What a worker does with a partition: learn from it, or evaluate weights on it.

A task gets the model without its weights, which travel by themselves, packed and by problem.
"""

from typing import NamedTuple

import numpy as np

from ..data.rows import to_matrix
from ..learners.linear import LinearLearner
from ..training.history import Epoch, History
from ..training.run import Problem, Run, losses
from ..training.solutions import Last
from .mixing import SparseWeights, Sums, compute_sums
from .partitions import LoadedPartition, Partition, in_partition

Weights = dict[int, SparseWeights]


def learn_epoch(
    part: Partition, number: int, learner: LinearLearner, states: dict[int, Last], epoch: int
) -> dict[int, Epoch]:
    """Change the states of some problems by one epoch over a partition; the others rest."""
    reasons = ["" if k in states else "max_iter" for k in range(len(learner.states))]
    run = Run(
        lambda: part.parts(learner),
        [
            Problem(states.get(k), History(max_iter=1, stop_reason=reason))
            for k, reason in enumerate(reasons)
        ],
        order=learner.parameters["order"],
        seed=learner.parameters["random_state"],
        first_part=number,
    )
    run.epoch = epoch - 1  # which its permutations depend on
    with in_partition(number), np.errstate(over="ignore", invalid="ignore"):
        run.train()
    return {problem: run.problems[problem].history.epochs[0] for problem in states}


def learn(
    part: Partition,
    number: int,
    weights: Weights,
    learner: LinearLearner,
    epoch: int,
    mix: str,
    partitions: int,
) -> dict[int, Sums]:
    """Go through a partition once, from the mixed weights, and tell how far they moved."""
    like = learner.states
    starts = {k: sparse.state(like[k], Last, partitions) for k, sparse in weights.items()}
    states = {k: sparse.state(like[k], type(like[k]), partitions) for k, sparse in weights.items()}
    records = learn_epoch(part, number, learner, states, epoch)
    return {k: compute_sums(states[k], starts[k], records[k], mix) for k in weights}


class Baton(NamedTuple):
    """What goes from partition to partition: states by problem, and what each epoch counted."""

    states: dict[int, Last]
    epochs: dict[int, tuple[Epoch, ...]]


def relay(part: Partition, number: int, baton: Baton, learner: LinearLearner, epoch: int) -> Baton:
    """Go through a partition from where the one before it left off."""
    states = {k: left.renew() for k, left in baton.states.items()}  # what arrives is read-only
    records = learn_epoch(part, number, learner, states, epoch)
    return Baton(states, {k: (*baton.epochs[k], records[k]) for k in states})


class Losses(NamedTuple):
    """What weights are worth on rows to learn from."""

    errors: int
    loss: float
    separated: bool
    least_margin: float

    @classmethod
    def together(cls, parts: list["Losses"]) -> "Losses":
        """What they are worth on several partitions."""
        errors, loss, separated, least = zip(*parts, strict=True)
        return cls(sum(errors), sum(loss), all(separated), min(least))


def measure(
    part: LoadedPartition, number: int, weights: Weights, learner: LinearLearner
) -> dict[int, Losses]:
    """The losses of weights on a partition."""
    found, (rows,) = {}, part.parts(learner)
    for problem, sparse in weights.items():
        state, task = sparse.state(learner.states[problem], Last), rows.task(problem)
        with in_partition(number), np.errstate(over="ignore", invalid="ignore"):
            least = float(task.margins(state).min(initial=np.inf))
            found[problem] = Losses(*losses(task, state), least)
    return found


def count_right(
    part: LoadedPartition, number: int, weights: Weights, learner: LinearLearner
) -> dict[int, tuple[int, int]]:
    """How many of the rows held out come out right, of how many."""
    counts, (given, held) = {}, part
    rows = to_matrix(given.rows, len(given.codes), given.width)[held]
    for problem, sparse in weights.items():
        state = sparse.state(learner.states[problem], Last)
        accuracy = learner.accuracy(problem, state, rows, given.codes[held])
        counts[problem] = round(accuracy * len(held)), len(held)
    return counts
