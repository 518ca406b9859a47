"""A run over the partitions of a cluster, on the driver, and a record of each epoch."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from ..jobs.files import refuse_no_rows
from ..learners.linear import LinearLearner
from ..storage.model import Model
from ..training.report import Note
from ..training.scoring import format_epoch
from ..training.training import Epoch, ProblemRun, Training
from .client import Cluster
from .mixing import Losses, add_up, learn, learn_alone, measure, mix_into, pack

MIXED_AT_ONCE = 8  # reports that one task of the tree adds up

Counted = dict[int, tuple[Epoch, ...]]
"""What happened on each partition, by problem."""


class Round(NamedTuple):
    """What happened in one epoch on the cluster.

    Attributes
    ----------
    epoch : Epoch
        The counts of all partitions together.
    mistakes : tuple of int
        Updates made on each partition.
    seconds : float
        Duration of the epoch.

    See Also
    --------
    Mixing : All rounds of a model.

    Examples
    --------
    >>> one = Round(Epoch(1, 100, 7, 7, 3.5), (4, 3), 0.02)
    >>> sum(one.mistakes) == one.epoch.mistakes
    True
    """

    epoch: Epoch
    mistakes: tuple[int, ...]
    seconds: float


class Mixing(NamedTuple):
    """How a model was trained on a cluster: the attribute ``mixing_`` after ``fit``.

    Attributes
    ----------
    rows : tuple of int
        Rows of each partition that has any, in an epoch.
    rounds : tuple of Round
        One per epoch.

    See Also
    --------
    fit : Sets the attribute ``mixing_``.

    Examples
    --------
    >>> made = Mixing((50, 50), ())
    >>> sum(made.rows)
    100
    """

    rows: tuple[int, ...]
    rounds: tuple[Round, ...]


def print_round(target: str, done: Round) -> None:
    """Print what happened in an epoch in one line; ``target`` is what labels are.

    >>> print_round("classes", Round(Epoch(3, 200, 10, 8, 2.5), (4, 6), 0.5))
    epoch    3           8 mistakes    4.00%  10 updates (4-6 per shard)    0.50 s
    """
    each = f"({min(done.mistakes):,d}-{max(done.mistakes):,d} per shard)"
    print(f"{format_epoch(done.epoch, target)} {each}  {done.seconds:6.2f} s", flush=True)


class Prepared(NamedTuple):
    """A learner, and the partitions that are ready to train it.

    Attributes
    ----------
    learner
        The model to train.
    partitions
        Tasks that hold the partitions; each has a copy of the learner without weights.
    sizes
        The rows of each.
    facts
        What the model is to keep about the data.
    notes
        What the user should know of the data.
    """

    learner: LinearLearner
    partitions: list[Any]
    sizes: list[int]
    facts: Mapping[str, Any] = {}
    notes: Sequence[Note] = ()


class ClusterRun(Training):
    """A run whose epochs go through all partitions of a cluster, and mix what they learn.

    Attributes
    ----------
    prepared
        The model and the partitions.
    rounds
        What happened in each epoch.
    rows
        The rows of each partition in an epoch.
    """

    def __init__(self, cluster: Cluster, prepared: Prepared) -> None:
        settings = prepared.learner.parameters
        super().__init__(
            tuple,
            list(map(ProblemRun, prepared.learner.states)),
            settings["max_iter"],
            tol=settings.get("tol"),
            measure=bool(settings.get("measure")),
        )
        self.cluster, self.prepared = cluster, prepared
        self.rounds, self.rows = list[Round](), tuple[int, ...]()

    def updates(self, pool: Any = None) -> Iterator[Any]:
        """Train until all problems have stopped; yield a record of each epoch."""
        while active := self.active:
            started = time.perf_counter()
            self.epoch += 1
            work = self.mix_once if len(self.prepared.partitions) > 1 else self.learn_alone
            counted = self.cluster.retry_when_lost(work)
            for number, epochs in counted.items():
                for epoch in epochs:
                    self.problems[number].add(epoch)
                refuse_no_rows(self.problems[number].count.rows)
            self.end_epoch(active)
            by_part = zip(*counted.values(), strict=True)
            mistakes = tuple(sum(epoch.mistakes for epoch in part) for part in by_part)
            self.rows = tuple(epoch.rows for epoch in next(iter(counted.values())))
            done = Round(self.epochs[-1], mistakes, time.perf_counter() - started)
            self.rounds.append(done)
            yield done

    # An epoch; nothing changes before all results are there

    def mix_once(self) -> Counted:
        """Learn from all partitions at once; add up in a tree that depends on their number."""
        parts, cluster = self.prepared.partitions, self.cluster
        weights = cluster.share({k: pack(self.problems[k].state) for k in self.active})
        reports = cluster.submit_each(learn, parts, weights, self.epoch, len(parts))
        while len(reports) > 1:
            starts = range(0, len(reports), MIXED_AT_ONCE)
            groups = [reports[i : i + MIXED_AT_ONCE] for i in starts]
            reports = [cluster.client.submit(add_up, *group, pure=False) for group in groups]
        (report,) = cluster.get_results(reports)
        for problem, sums in report.items():
            mix_into(self.problems[problem].state, sums)
        return {problem: sums.epochs for problem, sums in report.items()}

    def learn_alone(self) -> Counted:
        """Learn from the only partition, with all that a state keeps: as one machine does."""
        sent = self.cluster.share({k: self.problems[k].state for k in self.active})
        task = self.cluster.submit_each(learn_alone, self.prepared.partitions, sent, self.epoch)
        ((left, epochs),) = self.cluster.get_results(task)
        for problem, state in left.items():
            self.problems[problem].state = state.renew()  # what arrives is read-only
        return {problem: (epoch,) for problem, epoch in epochs.items()}

    # Evaluation

    def measure_losses(self, number: int) -> Losses:
        """Return errors, loss and whether a problem is separated by the mixed weights."""
        parts, cluster, state = self.prepared.partitions, self.cluster, self.problems[number].state

        def ask() -> list[Any]:
            weights = cluster.share(pack(state))
            return cluster.get_results(cluster.submit_each(measure, parts, number, weights))

        errors, loss, separated = zip(*cluster.retry_when_lost(ask), strict=True)
        return sum(errors), sum(loss), all(separated)

    # The result

    def finish(self) -> LinearLearner:
        """The learner with what was learnt so far."""
        return replace(self.prepared.learner, states=self.states)

    def build_model(self) -> Model:
        """The model so far, finished or not, as a file holds it."""
        facts = {
            **self.prepared.facts,
            "stop_reason": self.stop_reason or "unfinished",
            "rows": sum(self.rows),
            "cluster": {"partitions": self.prepared.sizes},
            "plain": False,
        }
        return self.finish().to_model(facts, self.epochs)
