"""What a worker does with a partition: learn from it, or evaluate weights on it.

A task gets the model without its weights, which travel by themselves, packed and by problem.
"""

from typing import NamedTuple

import numpy as np

from ..learners.linear import LinearLearner
from ..training.history import Epoch, History
from ..training.run import Run, losses
from ..training.solutions import Last
from .mixing import SparseWeights, Sums, sums_of
from .partitions import LoadedPartition, Partition, in_partition

Weights = dict[int, SparseWeights]


def learn_epoch(
    part: Partition, number: int, learner: LinearLearner, problem: int, state: Last, epoch: int
) -> Epoch:
    """Change a state by one epoch over a partition."""
    run = Run(
        lambda: part.tasks(learner, problem),
        state,
        History(max_iter=1),
        order=learner.parameters["order"],
        seed=learner.parameters["random_state"],
        first_part=number,
    )
    run.epoch = epoch - 1  # which its permutations depend on
    with in_partition(number), np.errstate(over="ignore", invalid="ignore"):
        run.train()
    return run.history.epochs[0]


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
    sums = {}
    for problem, sparse in weights.items():
        like = learner.states[problem]
        start, state = (sparse.state(like, kind, partitions) for kind in (Last, type(like)))
        record = learn_epoch(part, number, learner, problem, state, epoch)
        sums[problem] = sums_of(state, start, record, mix)
    return sums


class Baton(NamedTuple):
    """What goes from partition to partition: states by problem, and what each epoch counted."""

    states: dict[int, Last]
    epochs: dict[int, tuple[Epoch, ...]]


def relay(part: Partition, number: int, baton: Baton, learner: LinearLearner, epoch: int) -> Baton:
    """Go through a partition from where the one before it left off."""
    states, epochs = {}, {}
    for problem, left in baton.states.items():
        states[problem] = state = left.renewed()  # what arrives is read-only
        record = learn_epoch(part, number, learner, problem, state, epoch)
        epochs[problem] = (*baton.epochs[problem], record)
    return Baton(states, epochs)


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
    found = {}
    for problem, sparse in weights.items():
        state = sparse.state(learner.states[problem], Last)
        (task,) = part.tasks(learner, problem)
        with in_partition(number), np.errstate(over="ignore", invalid="ignore"):
            least = float(task.margins(state).min(initial=np.inf))
            found[problem] = Losses(*losses(task, state), least)
    return found


def count_right(
    part: LoadedPartition, number: int, weights: Weights, learner: LinearLearner
) -> dict[int, tuple[int, int]]:
    """How many of the rows held out come out right, of how many."""
    counts, (given, held) = {}, part
    for problem, sparse in weights.items():
        state = sparse.state(learner.states[problem], Last)
        accuracy = learner.validator(given, held, problem)(state)
        counts[problem] = round(accuracy * len(held)), len(held)
    return counts
