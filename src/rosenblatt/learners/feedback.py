"""Feedback on predictions: right or wrong, and the label only where these two tell it."""

from typing import Any

import numpy as np

from ..data.rows import Array
from ..kernels.algebra import mix
from ..kernels.feedback import STRIDE, UNIT, Judged
from ..parameters import InputError, collect_parameters
from ..training.history import Count
from .linear import LinearLearner, TrainingRows


def draw_numbers(learner: LinearLearner, count: int) -> Array:
    """Draw numbers in [0, 1) from the generator of a learner, as its kernel does."""
    draws: Array = learner.states[0].further["draws"]
    states = draws + STRIDE * np.arange(count + 1, dtype=np.uint64)
    draws[:], states = states[-1], states[1:]
    return np.asarray((mix.py_func(states) >> np.uint64(11)).astype(np.float64) * UNIT)


def explore(best: Array, n_classes: int, exploration: float, numbers: Array) -> tuple[Array, Array]:
    """Draw a class for each row; return the classes and their probabilities.

    The best class is replaced by one of all classes where a number is in the last ``exploration``
    of [0, 1). With two classes a wrong prediction says which is right, so that nothing is drawn.

    >>> classes, probabilities = explore(np.array([2, 2]), 4, 0.2, np.array([0.5, 0.9]))
    >>> classes.tolist(), probabilities.round(2).tolist()
    ([2, 1], [0.85, 0.05])
    """
    if n_classes <= 2 or not exploration:
        return best, np.ones(len(best))
    rest = numbers - (1.0 - exploration)
    others = np.minimum((rest / exploration * n_classes).astype(np.intp), n_classes - 1)
    drawn = np.where(rest < 0, best, others)
    kept = np.where(drawn == best, 1.0 - exploration, 0.0)
    return drawn, np.asarray(kept + exploration / n_classes)


def can_learn_wrong(learner: LinearLearner) -> bool:
    """Whether a wrong prediction teaches the learner: by its rule, or by the other class."""
    return learner.rule.draws or len(learner.classes) <= 2


def check_judged(learner: LinearLearner, right: Any) -> None:
    """Refuse a wrong prediction that tells nothing: one of several classes."""
    if not np.all(right) and not can_learn_wrong(learner):
        raise InputError(
            f"A wrong prediction among {len(learner.classes)} classes does not tell the label, "
            f"and the rule {learner.rule.name} learns from labels only; give the label, or use "
            "the rule banditron.",
            code="wrong-without-label",
        )


def learn_judged(
    learner: LinearLearner,
    given: TrainingRows,
    right: Array,
    probabilities: Array,
    wrong: Array | None = None,
) -> Count:
    """Learn from rows with predicted classes, each right or wrong; all or nothing.

    ``probabilities`` are those with which the classes were drawn. Where right and wrong tell the
    label, that is learnt.
    """
    check_judged(learner, right)
    if learner.rule.draws and len(learner.classes) > 2:

        def judge(task: Any) -> None:
            rows, steps, labels = task.examples
            signed, chances = np.where(right, steps, -steps), probabilities.astype(np.float64)
            task.examples, task.kernel = Judged(rows, signed, labels, chances), task.rule.judged

        return learner.learn(given, wrong, judge)
    codes = np.where(right, given.codes, 1 - given.codes)
    return learner.learn(given._replace(codes=codes), wrong)


class FullInformation:
    """A perceptron that learns the labels of the same rows, to compare with.

    Attributes
    ----------
    errors : int
        How many rows it predicted wrong before it learnt them.
    """

    def __init__(self, learner: LinearLearner) -> None:
        shape, step = (learner.width, learner.dtype), learner.intercept_step
        parameters = collect_parameters("perceptron")
        self.learner = LinearLearner.begin(parameters, learner.classes, shape, step)
        self.errors = 0

    def learn(self, given: TrainingRows) -> None:
        """Learn from more rows."""
        self.errors += self.learner.learn(given).errors
