"""A run over the partitions of a cluster, on the driver."""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ..jobs.files import refuse_no_rows
from ..storage.model import Model
from ..theory.bounds import radius_with_bias, weights_with_bias
from ..training import state as states
from ..training.training import Epoch, ProblemRun, Training
from .client import Cluster
from .mixing import add_up, mix_into, pack
from .rounds import Mixing, Round, weighted_mistakes
from .worker_tasks import Handover, Losses, Weights, learn, measure, relay

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
    """

    learner: Any
    partitions: list[Any]
    sizes: list[int]
    plain: bool = False
    squared_radius: float = 0.0
    facts: Mapping[str, Any] = {}


class ClusterRun(Training):
    """A run whose epochs go through all partitions of a cluster, and mix what they learn.

    Attributes
    ----------
    prepared
        The model and the partitions.
    mode, mix
        As given to ``fit``.
    relays
        Whether the model goes from partition to partition, so that nothing is mixed.
    rounds
        What happened in each epoch.
    rows
        The rows of each partition in an epoch.
    after_round
        Called when a round is done.
    """

    def __init__(self, cluster: Cluster, prepared: Prepared, mode: str, mix: str) -> None:
        settings = prepared.learner.parameters
        super().__init__(
            tuple,
            list(map(ProblemRun, prepared.learner.states)),
            settings["max_iter"],
            measure=bool(settings.get("measure")),
        )
        self.cluster, self.prepared, self.mode, self.mix = cluster, prepared, mode, mix
        self.relays = mode == "sequential" or len(prepared.partitions) == 1  # nothing to mix
        self.rounds, self.rows, self.moved = list[Round](), tuple[int, ...](), 0
        self.after_round: Callable[[Round], None] = lambda _: None

    def updates(self, pool: Any = None) -> Iterator[Any]:
        """Train until all problems have stopped; yield nothing."""
        while self.active:
            started, self.moved = time.perf_counter(), 0
            self.epoch += 1
            work = self.relay_once if self.relays else self.mix_once
            counted = self.cluster.retry_when_lost(work)
            for number, epochs in counted.items():
                for epoch in epochs:
                    self.problems[number].add(epoch)
                refuse_no_rows(self.problems[number].count.rows)
            self.end_epoch()
            self.add_round(counted, time.perf_counter() - started)
        yield from ()

    def end_epoch(self) -> None:
        """Measure the mixed weights if that is asked for, and decide which problems stop."""
        self.measured = self.find_losses(self.active) if self.measure else {}
        super().end_epoch()

    def measure_losses(self, number: int) -> tuple[int, float, bool]:
        """Return errors, loss and whether a problem is separated, as measured by ``end_epoch``."""
        return self.measured[number][:3]

    def add_round(self, counted: Counted, seconds: float) -> None:
        """Record an epoch of all problems."""
        by_part = zip(*counted.values(), strict=True)
        mistakes = tuple(sum(epoch.mistakes for epoch in part) for part in by_part)
        self.rows = tuple(epoch.rows for epoch in next(iter(counted.values())))
        weighted = weighted_mistakes((sum(mistakes),) if self.relays else mistakes, self.mix)
        self.rounds.append(Round(self.epochs[-1], mistakes, weighted, self.moved, seconds))
        self.after_round(self.rounds[-1])

    # An epoch; nothing changes before all results are there

    def mix_once(self) -> Counted:
        """Learn from all partitions at once; add up in a tree that depends on their number."""
        weights, moved = self.send({k: self.problems[k].state for k in self.active})
        parts, cluster = self.prepared.partitions, self.cluster
        settings = weights, self.epoch, self.mix, len(parts)
        reports = cluster.submit_each("learn", learn, parts, *settings)
        while len(reports) > 1:
            groups = range(0, len(reports), MIXED_AT_ONCE)
            reports = [
                cluster.submit("mix", add_up, *reports[i : i + MIXED_AT_ONCE]) for i in groups
            ]
        (report,) = cluster.get_results(reports)
        for problem, sums in report.items():
            mix_into(self.problems[problem].state, sums)
        self.moved += moved + sum(sums.sent for sums in report.values())
        return {problem: sums.epochs for problem, sums in report.items()}

    def relay_once(self) -> Counted:
        """Learn from one partition after the other."""
        start = {k: self.problems[k].state for k in self.active}
        first = Handover(start, dict.fromkeys(start, ()))
        parts, left = self.prepared.partitions, self.cluster.share(first, everywhere=False)
        for i, (part, where) in enumerate(
            zip(parts, self.cluster.find_holders(parts), strict=True)
        ):
            left = self.cluster.submit("relay", relay, part, i, left, self.epoch, where=where)
        (last,) = self.cluster.get_results([left])
        for problem, state in last.states.items():
            self.problems[problem].state = state.renew()  # what arrives is read-only
            size = sum(array.nbytes for array in states.pack_state(state)[0].values())
            self.moved += size * (len(parts) + 1)
        return dict(last.epochs)

    # Evaluation

    def find_losses(self, problems: list[int]) -> dict[int, Losses]:
        """The losses of the last weights on all rows."""

        def ask() -> tuple[list[Any], int]:
            weights, moved = self.send({k: self.problems[k].state for k in problems})
            parts = self.prepared.partitions
            tasks = self.cluster.submit_each("measure", measure, parts, weights)
            return self.cluster.get_results(tasks), moved

        found, moved = self.cluster.retry_when_lost(ask)
        self.moved += moved
        return {k: Losses.combine([losses[k] for losses in found]) for k in problems}

    def send(self, kept: dict[int, Any]) -> tuple[Any, int]:
        """Send the weights of some states to all workers; return them and the bytes sent."""
        weights: Weights = {problem: pack(state) for problem, state in kept.items()}
        size = sum(sparse.nbytes for sparse in weights.values())
        return self.cluster.share(weights), size * self.cluster.count_workers()

    # The result

    def finish(self) -> Any:
        """The learner with what was learnt so far."""
        states = self.outcomes if self.stop_reason else [one.state for one in self.problems]
        return replace(self.prepared.learner, states=states)

    def build_model(self) -> Model:
        """The model so far, finished or not, as a file holds it."""
        about = {"mode": self.mode, "mix": self.mix, "partitions": self.prepared.sizes}
        facts = {
            "stop_reason": self.stop_reason or "unfinished",
            "rows": sum(self.rows),
            "plain": False,
            "cluster": about,
            **self.prepared.facts,
        }
        model: Model = self.finish().to_model(facts, self.epochs)
        return model

    def summarize(self) -> Mixing:
        """How the model was made, with the margin that it attains if two classes are separated."""
        weighted = sum(one.weighted_mistakes for one in self.rounds)
        made = Mixing(self.mode, self.mix, self.rows, tuple(self.rounds), weighted)
        learner, state = self.prepared.learner, self.problems[0].state
        if not self.prepared.plain or len(self.problems) > 1 or self.stop_reason != "separated":
            return made
        if learner.ties != "mistake" or state.weights.ndim != 1:
            return made
        step, losses = learner.intercept_step, self.find_losses([0])
        size = np.linalg.norm(weights_with_bias(state.weights, state.bias[0], step))
        radius = radius_with_bias(float(np.sqrt(self.prepared.squared_radius)), step)
        return made._replace(radius=radius, margin=float(losses[0].least_margin / size))
