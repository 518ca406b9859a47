"""Learn from rows one at a time: all but the row is made once, and undone for the row alone."""

import math
from operator import is_
from typing import TYPE_CHECKING, Any

import numpy as np

from ..data.rows import Array, not_finite
from ..kernels.algebra import Rows
from ..kernels.loop import UPDATE, Clock, Examples, compile_loop
from ..kernels.scores import score_rows
from ..training.linear_state import AverageWeights, LastWeights, find_columns

if TYPE_CHECKING:
    from .linear import LinearLearner

FIRST_ROW = np.zeros(1, np.uint32)
EMPTY_ROW = Rows(np.empty(0), np.empty(0, np.uint32), np.zeros(2, np.uint64))
NO_LOG = np.zeros(0, UPDATE)
NOT_LOST = 1e-30  # a sum of squares far above those of weights that are lost
FEW = 1000  # more are multiplied in threads, which takes longer

Change = tuple[Array, Any, Array]
"""An array, some places in it, and what they held."""


def are_safe(changes: list[Change]) -> bool:
    """Whether a few changed numbers are known to be finite and, of the weights, not lost."""
    parts = [each[places].ravel() for each, places, _ in changes]
    if parts[0].size > FEW:
        return False
    with np.errstate(over="ignore", invalid="ignore"):
        squares = [part.dot(part) for part in parts]
    return math.isfinite(sum(squares)) and bool(squares[0] > NOT_LOST)


class OneProblem:
    """One problem of a learner: its arrays, and what its kernel takes besides a row."""

    def __init__(self, learner: "LinearLearner", number: int) -> None:
        self.state, self.positive = learner.states[number], learner.problems[number]
        self.weights, rule = self.state.weights, learner.rule
        several, outputs = self.positive is None, len(self.state.bias)
        self.steps = np.zeros(1, learner.dtype)
        self.labels = np.zeros(1, rule.labels.code_type) if several else None
        self.loop = compile_loop(rule.kind)
        self.settings = rule.kind.of(learner.parameters, learner.intercept_step)
        self.target = rule.labels.kernel(self.labels, outputs, learner.dtype, learner.parameters)
        self.arrays, self.log = self.state.arrays(), np.zeros(1, UPDATE)
        places = self.state.changing_places(EMPTY_ROW)
        self.by_column = [each for each, some in places if some is not ...]
        self.others = [each for each, some in places if some is ...]
        state, two = self.state, self.positive == 1 and len(learner.classes) == 2
        known = type(state) in (LastWeights, AverageWeights) and not state.rule.is_scaled
        exact = not state.averages or learner.dtype == np.float64
        self.has_one_score = two and known and exact

    def learn(self, rows: Rows, code: float, size: float, changes: list[Change]) -> None:
        """Learn from a row by a step of some size; add what changes to ``changes``."""
        state = self.state
        self.steps[0] = size if self.positive is None or self.positive == code else -size
        if self.labels is not None:
            self.labels[0] = code
        examples = Examples(rows, self.steps, self.labels)
        clock = Clock(float(state.seen), 0.0, 0.0)
        given = self.target, self.settings, examples, FIRST_ROW, 0, self.arrays, clock
        if not self.loop(*given, NO_LOG)[0]:  # the row causes an update
            before = self.copy_places(rows, code)
            changes += before
            if not self.loop(*given, self.log)[1]:
                raise not_finite(rows, 0)
            state.mistakes += 1
            if not are_safe(before):
                state.refuse_overflow(rows)
        state.seen += 1

    def score(self, rows: Rows) -> float:
        """Return the score of a row, as its state does, if ``has_one_score``."""
        arrays, out = self.arrays, np.empty(1, self.steps.dtype)
        score_rows(rows, arrays.w, arrays.b, out)
        score = float(out.item())
        if self.state.averages:
            score_rows(rows, arrays.u, arrays.ub, out)
            score -= out.item() / max(self.state.seen, 1)
        return score

    def copy_places(self, rows: Rows, code: float) -> list[Change]:
        """Copy what learning from a row can change; the weights come first."""
        places: Any = ...
        if not self.state.rule.is_scaled:
            places = find_columns(rows.indices, len(self.weights))
            if self.labels is not None and self.weights.ndim == 2:  # of a class and its rival
                others = self.target.scores.copy()
                others[code] = -math.inf
                pair = [code, others.argmax()]
                places = (..., pair) if places is ... else (places[:, None], pair)
        found = [(each, places, each[places].copy()) for each in self.by_column]
        return found + [(each, ..., each.copy()) for each in self.others]


class OneRow:
    """Learns from single rows, as ``LinearLearner.learn`` does from a batch of one."""

    def __init__(self, learner: "LinearLearner") -> None:
        self.states, self.eta0 = learner.states, learner.parameters.get("eta0", 1.0)
        self.problems = [OneProblem(learner, number) for number in range(len(self.states))]
        self.refusal = learner.refusal("stream")

    def is_current(self, learner: "LinearLearner") -> bool:
        """Whether the learner still has the same states with the same weights."""
        known = [one.weights for one in self.problems]
        return self.states is learner.states and all(
            map(is_, [state.weights for state in self.states], known)
        )

    def learn(self, rows: Rows, code: float, weight: float) -> None:
        """Learn from a row with the code of its label; after an error nothing has changed."""
        if self.refusal:
            raise ValueError(self.refusal)
        changes, size = list[Change](), self.eta0 * weight
        counts = [(state, state.seen, state.mistakes) for state in self.states]
        try:
            for problem in self.problems:
                problem.learn(rows, code, size, changes)
        except BaseException:
            for each, places, values in reversed(changes):
                each[places] = values
            for state, seen, mistakes in counts:
                state.seen, state.mistakes = seen, mistakes
            raise
