"""A run over the partitions of a cluster, on the driver."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ..jobs.files import refuse_no_rows
from ..storage.model import Model
from ..theory.bounds import radius_with_bias, weights_with_bias
from ..training.report import Note
from ..training.training import Epoch, ProblemRun, Training
from .client import Cluster
from .mixing import add_up, mix_into, pack
from .rounds import Mixing, Round
from .worker_tasks import Losses, learn, learn_alone, measure

MIXED_AT_ONCE = 8  # reports that one task of the tree adds up

Counted = dict[int, tuple[Epoch, ...]]
"""What happened on each partition, by problem."""


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
    plain
        Whether all rows count alike, as the theory of the perceptron has it.
    squared_radius
        The largest squared length of a row.
    facts
        What the model is to keep about the data.
    notes
        What the user should know of the data.
    """

    learner: Any
    partitions: list[Any]
    sizes: list[int]
    plain: bool = False
    squared_radius: float = 0.0
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

    def measure_losses(self, number: int) -> tuple[int, float, bool]:
        """Return errors, loss and whether a problem is separated by the mixed weights."""
        return self.find_losses(number)[:3]

    def find_losses(self, problem: int) -> Losses:
        """The losses of the last weights on all rows."""
        parts, cluster, state = self.prepared.partitions, self.cluster, self.problems[problem].state

        def ask() -> list[Any]:
            weights = cluster.share(pack(state))
            return cluster.get_results(cluster.submit_each(measure, parts, problem, weights))

        found = cluster.retry_when_lost(ask)
        errors, loss, separated, least = zip(*found, strict=True)
        return sum(errors), sum(loss), all(separated), min(least)

    # The result

    def finish(self) -> Any:
        """The learner with what was learnt so far."""
        states = self.outcomes if self.stop_reason else [one.state for one in self.problems]
        return replace(self.prepared.learner, states=states)

    def build_model(self) -> Model:
        """The model so far, finished or not, as a file holds it."""
        facts = {
            "stop_reason": self.stop_reason or "unfinished",
            "rows": sum(self.rows),
            "plain": False,
            "cluster": {"partitions": self.prepared.sizes},
            **self.prepared.facts,
        }
        model: Model = self.finish().to_model(facts, self.epochs)
        return model

    def summarize(self) -> Mixing:
        """How the model was made, with the margin that it attains if two classes are separated."""
        made = Mixing(self.rows, tuple(self.rounds))
        learner, state = self.prepared.learner, self.problems[0].state
        if not self.prepared.plain or len(self.problems) > 1 or self.stop_reason != "separated":
            return made
        if learner.ties != "mistake" or state.weights.ndim != 1:
            return made
        step, losses = learner.intercept_step, self.find_losses(0)
        size = np.linalg.norm(weights_with_bias(state.weights, state.bias[0], step))
        radius = radius_with_bias(float(np.sqrt(self.prepared.squared_radius)), step)
        return made._replace(radius=radius, margin=float(losses[-1] / size))
