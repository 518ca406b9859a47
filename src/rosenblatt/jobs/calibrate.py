"""Probabilities of a model that was trained from a file, fitted on all its rows."""

from collections.abc import Callable

from ..data.rows import Array
from ..learners.linear import LinearLearner, TrainingRows
from ..training.calibration import Calibration, cross_fit
from ..training.plan import Plan


def calibrate_in_memory(
    rows: TrainingRows, begin: Callable[[], LinearLearner], plan: Plan
) -> Calibration:
    """Calibrate by cross-fitting: each part of the rows is scored by a model of the others.

    Parameters
    ----------
    rows
        All rows.
    begin
        Makes a learner that has seen nothing.
    plan
        How to learn.
    """

    def score(learnt: Array, held: Array) -> Array:
        learner = begin()
        part = learner.part(rows._replace(row_order=learnt))
        how = {"order": plan.parameters["order"], "seed": plan.split.seed}
        learner.states = learner.run(lambda: [part], plan.max_iter, **how).train().outcomes
        return learner.scores(rows.rows, rows.width)[held]

    given = rows.codes, rows.row_order, len(begin().classes)
    return cross_fit(*given, plan.split.seed, score)
