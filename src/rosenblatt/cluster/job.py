"""A training on a cluster, seen from the driver: epochs until all problems have stopped."""

import time
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from ..jobs.files import refuse_no_rows
from ..learners.linear import LinearLearner
from ..theory.bounds import radius_with_bias, weights_with_bias
from ..training import state as states
from ..training.history import Count, Epoch, History, merge_epochs
from ..training.rules import PERCEPTRON
from ..training.run import Problem
from ..training.solutions import Last
from .client import Cluster
from .mixing import SparseWeights, add_up, get_parts, mix_into
from .partitions import FilePartition
from .rounds import Mixing, Round, weighted_mistakes
from .statistics import Found
from .worker_tasks import Baton, Losses, count_right, learn, measure, relay

MIXED_AT_ONCE = 8  # reports that one task of the tree adds up

Counted = dict[int, tuple[Epoch, ...]]
"""What happened on each partition, by problem."""


class Job:
    """Partitions on a cluster, what was found in them, and a model that learns from them."""

    def __init__(
        self,
        cluster: Cluster,
        parts: list[Any],
        found: list[Found],
        learner: LinearLearner,
        mode: str,
        mix: str,
    ) -> None:
        self.cluster, self.parts, self.found, self.learner = cluster, parts, found, learner
        self.mode, self.mix = mode, mix
        self.relays = mode == "sequential" or len(parts) == 1  # nothing to mix
        settings = learner.parameters["max_iter"], learner.parameters["n_iter_no_change"]
        self.problems = [Problem(state, History(*settings)) for state in learner.states]
        self.rounds, self.rows = list[Round](), tuple[int, ...]()
        self.mixing: Mixing | None = None

    @cached_property
    def empty(self) -> LinearLearner:
        """The model without its weights, to be sent with every task."""
        return without_weights(self.learner)

    def unfinished(self) -> list[int]:
        """The problems that go on."""
        return [k for k, one in enumerate(self.problems) if not one.history.stop_reason]

    @property
    def histories(self) -> list[History]:
        """The epochs of each problem."""
        return [problem.history for problem in self.problems]

    def outcomes(self) -> list[Last]:
        """The state to keep of each problem."""
        return [problem.history.chosen(problem.state) for problem in self.problems]

    def train(self, after: Callable[["Job"], None]) -> None:
        """Go through epochs until all problems have stopped; then say how the model was made."""
        settings, again = self.learner.parameters, self.cluster.again_when_lost
        while problems := self.unfinished():
            started, measured, scores = time.perf_counter(), dict[int, Losses](), dict[int, float]()
            counted, moved = again(self.relay_once if self.relays else self.mix_once)
            if settings.get("measure"):
                measured, more = again(lambda: self.losses(problems))
                moved += more
            if settings["early_stopping"]:
                scores, more = again(lambda: self.scores(problems))
                moved += more
            for problem in problems:
                self.close(problem, counted[problem], measured.get(problem), scores.get(problem))
            self.keep_round(counted, moved, time.perf_counter() - started)
            after(self)
        self.mixing = self.summary()

    def close(
        self, problem: int, parts: tuple[Epoch, ...], measured: Losses | None, score: float | None
    ) -> None:
        """Write the epoch of a problem down and decide whether it goes on."""
        count = Count()
        for part in parts:
            count.add(part)
        refuse_no_rows(count.rows)
        separated = count.mistakes == 0
        if measured is not None:
            count.errors, count.loss, separated, _ = measured
        one = self.problems[problem]
        one.history.close(count, one.state, separated, score)

    def keep_round(self, counted: Counted, moved: int, seconds: float) -> None:
        """Write down what happened in the epoch of all problems."""
        by_part = zip(*counted.values(), strict=True)
        mistakes = tuple(sum(epoch.mistakes for epoch in part) for part in by_part)
        self.rows = tuple(epoch.rows for epoch in next(iter(counted.values())))
        record = merge_epochs([history.epochs for history in self.histories])[-1]
        weighted = weighted_mistakes((sum(mistakes),) if self.relays else mistakes, self.mix)
        self.rounds.append(Round(record, mistakes, weighted, moved, seconds))

    # An epoch; nothing is changed before all is there

    def mix_once(self) -> tuple[Counted, int]:
        """One epoch on all partitions at once, added up in a tree that depends on their number."""
        weights, moved = self.send(self.unfinished())
        settings = weights, self.empty, len(self.rounds) + 1, self.mix, len(self.parts)
        reports = self.cluster.on_each("learn", learn, self.parts, *settings)
        while len(reports) > 1:
            groups = range(0, len(reports), MIXED_AT_ONCE)
            reports = [
                self.cluster.submit("mix", add_up, *reports[i : i + MIXED_AT_ONCE]) for i in groups
            ]
        (report,) = self.cluster.results(reports)
        for problem, sums in report.items():
            mix_into(self.problems[problem].state, sums)
            moved += sums.sent
        return {problem: sums.epochs for problem, sums in report.items()}, moved

    def relay_once(self) -> tuple[Counted, int]:
        """One epoch from partition to partition."""
        problems = self.unfinished()
        start = {problem: self.problems[problem].state for problem in problems}
        baton = self.cluster.share(Baton(start, dict.fromkeys(problems, ())), everywhere=False)
        places, moved = self.cluster.holders(self.parts), 0
        for i, part in enumerate(self.parts):
            lap = part, i, baton, self.empty, len(self.rounds) + 1
            baton = self.cluster.submit("relay", relay, *lap, where=places[i])
        (last,) = self.cluster.results([baton])
        for problem, state in last.states.items():
            self.problems[problem].state = state.renew()  # what arrives is read-only
            size = sum(array.nbytes for array in states.pack_state(state)[0].values())
            moved += size * (len(self.parts) + 1)
        return last.epochs, moved

    # Evaluations, each with the bytes that it took

    def losses(self, problems: list[int]) -> tuple[dict[int, Losses], int]:
        """What the last weights are worth on all rows."""
        weights, moved = self.send(problems)
        found = self.ask(measure, weights)
        return {k: Losses.together([losses[k] for losses in found]) for k in problems}, moved

    def scores(self, problems: list[int]) -> tuple[dict[int, float], int]:
        """The accuracy of the model so far on the rows held out."""
        weights, moved = self.send(problems, to_predict=True)
        found = self.ask(count_right, weights)
        counts = {k: np.sum([counts[k] for counts in found], axis=0).tolist() for k in problems}
        return {problem: right / n_rows for problem, (right, n_rows) in counts.items()}, moved

    def ask(self, function: Callable[..., Any], weights: Any) -> list[Any]:
        """What a function finds in each partition."""
        tasks = self.cluster.on_each("evaluate", function, self.parts, weights, self.empty)
        return self.cluster.results(tasks)

    def send(self, problems: list[int], to_predict: bool = False) -> tuple[Any, int]:
        """The weights that problems go on from, or predict with, on their way to all workers."""
        weights = {}
        for problem in problems:
            state = self.problems[problem].state
            pairs = [state.coefficients()] if to_predict else get_parts(state)
            weights[problem] = SparseWeights.of(*pairs)
        size = sum(sparse.nbytes for sparse in weights.values())
        return self.cluster.share(weights), size * self.cluster.workers()

    # What came of it

    @property
    def plain(self) -> bool:
        """Whether all steps were alike, as the theory wants them."""
        given = self.learner.parameters
        weighted = given["class_weight"] is not None or any(one.weighted for one in self.found)
        known = not isinstance(self.parts[0], FilePartition)  # nobody has seen all weights of rows
        usual = self.learner.rule is PERCEPTRON and given["margin"] == 0
        return usual and not given["early_stopping"] and known and not weighted

    def summary(self) -> Mixing:
        """How the model was made, with the margin that it attains if two classes are separated."""
        weighted = sum(one.weighted_mistakes for one in self.rounds)
        made = Mixing(self.mode, self.mix, self.rows, tuple(self.rounds), weighted)
        (first, *more), state = self.problems, self.problems[0].state
        if not self.plain or more or first.history.stop_reason != "separated":
            return made
        step = self.learner.intercept_step
        if self.learner.ties != "mistake" or state.weights.ndim != 1:
            return made
        losses, _ = self.cluster.again_when_lost(lambda: self.losses([0]))
        size = np.linalg.norm(weights_with_bias(state.weights, state.bias[0], step))
        radius = float(np.sqrt(max(one.squared_radius for one in self.found)))
        margin = float(losses[0].least_margin / size)
        return made._replace(radius=radius_with_bias(radius, step), margin=margin)


def without_weights(learner: LinearLearner) -> LinearLearner:
    """The same model before any column was met, to be sent with every task."""
    shape = 0, learner.dtype
    settings = learner.parameters, learner.classes, shape, learner.intercept_step
    return LinearLearner.begin(*settings, rule=learner.rule)
