"""Probabilities of a model that was trained from a file, fitted on all its rows."""

from collections.abc import Callable
from typing import Any

from ..data.rows import Array
from ..learners.linear import LinearLearner, TrainingRows
from ..reading.batches import Batch
from ..training.calibration import Calibration, cross_fitted
from ..training.run import Run


def calibrate_in_memory(
    batch: Batch,
    rows: TrainingRows,
    begin: Callable[[Any], LinearLearner],
    start: Callable[[LinearLearner, Callable[[], list[Any]], Any], Run],
    training: Any,
) -> Calibration:
    """Calibrate by cross-fitting: each part of the rows is scored by a model of the others.

    Parameters
    ----------
    batch, rows
        All rows, as read and as they are learnt from.
    begin
        Makes a learner that has seen nothing, for a training.
    start
        Makes the run of a learner, of a function that returns its tasks, and of a training.
    training
        How to learn.
    """
    learner = begin(training)

    def score(learnt: Array, held: Array) -> Array:
        learner, others = begin(training), rows._replace(everything=learnt)
        run = start(learner, [learner.part(others)].copy, training)
        learner.states = run.train().outcomes
        return learner.scores(batch.rows, batch.width)[held]

    given = rows.codes, rows.everything, len(learner.classes)
    return cross_fitted(*given, learner.parameters["random_state"], score)
