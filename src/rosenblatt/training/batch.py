"""The batch perceptron: weights stay for a pass, then move by the sum over its mistakes."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..data.rows import Array, not_finite
from ..kernels import linear
from ..kernels.linear import UPDATE, Clock, count_weight
from .tasks import SweepResult, WrappedTask

FIRST_ROW_ONLY = Clock(1.0, -1000.0, 0.0)
"""Later rows count nothing, so that all rows up to any place count 1 together."""


@dataclass
class BatchTask(WrappedTask):
    """A task whose rows are all judged by the same weights, which then move once.

    The kernels do it: margins find the mistakes, and the sum that an average would lack of them, in
    double precision, is the update.
    """

    def __post_init__(self) -> None:
        self.total, self.total_of_bias = np.empty(0), np.empty(0)
        """What the last pass added to weights and bias."""

    def learn(
        self, state: Any, order: Array, start: int = 0, most: int | None = None
    ) -> SweepResult:
        """Move the weights once, by all rows of an order that are mistaken."""
        updates = self.find_mistakes(state, order)
        self.total, self.total_of_bias = np.zeros(state.weights.shape), np.zeros(state.bias.shape)
        self.task.add_missing(order, updates, FIRST_ROW_ONLY, self.total, self.total_of_bias)
        state.weights += self.total
        state.bias += self.total_of_bias
        errors = len(self.task.find_mistaken(updates))
        loss = float(np.maximum(-updates["margin"], 0.0).sum())
        return SweepResult(len(order), updates, errors, loss, len(order))

    def find_mistakes(self, state: Any, order: Array) -> Array:
        """The updates that single mistakes ask for, all by the same weights."""
        task = self.task
        if task.many:  # a kernel without steps changes nothing, and tells the rivals
            resting = task.examples._replace(steps=np.zeros_like(task.examples.steps))
            updates = np.zeros(len(order), UPDATE)
            given = resting, order, 0, state.weights, state.bias, task.settings, updates
            position, made, _ = linear.multiclass(*given)
            if position < len(order):
                raise not_finite(task.examples.rows, int(order[position]))
            updates = updates[:made]
        else:
            margins = task.margins(state)
            wrong = np.flatnonzero(~(margins > task.required()))
            updates = np.zeros(len(wrong), UPDATE)
            updates["position"], updates["margin"] = wrong, margins[wrong]
        updates["step"] = task.examples.steps[order[updates["position"]]]
        return updates

    def add_missing(
        self, order: Array, updates: Array, clock: Clock, missing: Array, missing_bias: Array
    ) -> None:
        """Sum what earlier weights lack: all rows of a pass count with the weights after it."""
        lack = count_weight.py_func(clock, 0.0)
        missing += lack * self.total
        missing_bias += lack * self.total_of_bias
