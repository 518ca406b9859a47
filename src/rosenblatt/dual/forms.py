"""The two forms of the dual algorithm: what is a mistake, and what it moves."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..data.rows import Array
from ..kernels.algebra import best_other
from ..kernels.perceptron import Perceptron
from .kernels import cpu
from .kernels.cpu import KernelValues, Updates

if TYPE_CHECKING:
    from .task import DualTask

NOTHING = np.empty((0, 0))


@dataclass
class Block:
    """Some rows of an epoch's order, and what is known of them while they are learnt."""

    numbers: Array
    offset: int
    """The number of rows of the epoch before it."""
    version: int = 0
    """The number of pieces of updates that the scores contain."""
    index: Any = None
    """The numbers as an index of the scores."""
    scores: Array = field(default_factory=lambda: NOTHING)
    steps: Array = field(default_factory=lambda: NOTHING)
    rows: Any = None


@dataclass
class EachClass:
    """Two classes, or one problem per class, each with its own mistakes on the shared rows."""

    codes: Array
    weights: Array | None
    positive: Array
    """The class that counts as positive in each problem."""

    def steps(self, numbers: Array) -> Array:
        """Return how far each row moves each problem."""
        weights = np.ones(len(numbers)) if self.weights is None else self.weights[numbers]
        return np.where(self.codes[numbers] == self.positive[:, None], weights, -weights)

    def replay(
        self, task: "DualTask", block: Block, start: int, values: KernelValues
    ) -> tuple[int, int, float]:
        """Learn from a block from a row on; stop at a mistake without kernel values."""
        given = values, block.steps, task.learning, start, block.scores, task.state.bias
        t, updates, loss = cpu.dual_perceptron(*given, task.settings, task.log)
        return t, updates, loss

    def excess(self, task: "DualTask", block: Block) -> Array:
        """Return how far each row exceeds what it needs to be right, in its worst problem."""
        a, settings = block.scores + task.state.bias[:, None], task.settings
        excess = np.where(block.steps > 0, a - settings.above, settings.below - a)
        return np.asarray(excess[task.learning].min(axis=0))

    def updates(self, task: "DualTask", block: Block, log: Array) -> Updates:
        """Return the logged updates, with the numbers of their rows."""
        at, problems = log["position"], log["rival"].copy()
        times = task.state.seen[problems] + block.offset + at
        bias_steps = np.full(len(at), task.settings.bias)
        steps = block.steps[problems, at]
        return Updates(block.numbers[at], times, steps, bias_steps, problems, problems)

    def change(self, task: "DualTask", block: Block, t: int) -> tuple[Array, Array]:
        """Return how far a mistaken row t moves each output, and its margins."""
        a, step, settings = block.scores[:, t] + task.state.bias, block.steps[:, t], task.settings
        wrong = task.learning & ~np.where(step > 0, a > settings.above, a < settings.below)
        return np.where(wrong, step, 0.0), np.where(step > 0, a, -a)[wrong]


@dataclass
class AllClasses:
    """All classes at once: the right one against its best rival."""

    codes: Array
    weights: Array | None

    def steps(self, numbers: Array) -> Array:
        """Return how far each row moves two classes."""
        return np.ones(len(numbers)) if self.weights is None else self.weights[numbers]

    def replay(
        self, task: "DualTask", block: Block, start: int, values: KernelValues
    ) -> tuple[int, int, float]:
        """Learn from a block from a row on; stop at a mistake without kernel values."""
        given = values, block.steps, self.codes[block.numbers], start, block.scores, task.state.bias
        t, updates, loss = cpu.dual_multiclass(*given, given[-1].copy(), task.settings, task.log)
        return t, updates, loss

    def excess(self, task: "DualTask", block: Block) -> Array:
        """Return how far the lead of each row exceeds what it needs to be right."""
        scores, settings = block.scores + task.state.bias[:, None], task.settings
        return self.margins(scores, block.numbers, settings) - settings.above

    def margins(self, scores: Array, numbers: Array, settings: Perceptron) -> Array:
        """Return the lead of every row's class over its best rival."""
        labels = self.codes[numbers][None]
        own, others = np.take_along_axis(scores, labels, axis=0)[0], scores.copy()
        np.put_along_axis(others, labels, -np.inf, axis=0)
        return np.asarray(own - others.max(axis=0))

    def updates(self, task: "DualTask", block: Block, log: Array) -> Updates:
        """Return the logged updates, with the numbers of their rows."""
        at, rivals = log["position"], log["rival"].copy()
        numbers, times = block.numbers[at], task.state.seen[0] + block.offset + at
        bias_steps = np.full(len(at), task.settings.bias)
        return Updates(numbers, times, block.steps[at], bias_steps, self.codes[numbers], rivals)

    def change(self, task: "DualTask", block: Block, t: int) -> tuple[Array, Array]:
        """Return how far a mistaken row t moves each output, and its lead."""
        a, label = block.scores[:, t] + task.state.bias, int(self.codes[block.numbers[t]])
        rival, change = best_other.py_func(a, label), np.zeros(len(a))
        change[label], change[rival] = block.steps[t], -block.steps[t]
        return change, a[[label]] - a[rival]
