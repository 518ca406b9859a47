"""The batch perceptron: weights stay for a pass, then move by the sum over its mistakes."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..data.rows import Array
from ..kernels.loop import UPDATE, Clock, compile_loop, count_weight
from ..kernels.perceptron import Batch
from .tasks import SweepResult, WrappedTask


@dataclass
class BatchTask(WrappedTask):
    """A task whose rows are all judged by the same weights, which then move once."""

    def learn(
        self, state: Any, order: Array, start: int = 0, most: int | None = None
    ) -> SweepResult:
        """Move the weights once, by all rows of an order that are mistaken."""
        task, log = self.task, np.zeros(len(order), UPDATE)
        arrays = state.arrays()
        total, total_of_bias = np.zeros(len(arrays.w)), np.zeros(len(arrays.b))
        given = task.target, Batch(*task.settings), task.examples, order, 0
        resting = arrays._replace(u=total, ub=total_of_bias)
        done = compile_loop(Batch)(*given, resting, Clock(0.0, 0.0, 0.0), log)
        learnt: SweepResult = task.finish_sweep(done, order, 0, log)
        arrays.w[:] += total
        arrays.b[:] += total_of_bias
        if len(arrays.u):  # all rows of the pass count with the weights after it
            lack = count_weight.py_func(state.clock(), 0.0)
            arrays.u[:] += lack * total
            arrays.ub[:] += lack * total_of_bias
        return learnt
