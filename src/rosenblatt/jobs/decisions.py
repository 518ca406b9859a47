"""Decisions and probabilities from the scores of a model."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..data.rows import Array
from ..learners.base import WITHOUT_CLASSES
from ..parameters import ParameterError


def make_decision(learner: Any, threshold: float | None = None) -> Callable[[Array], Array]:
    """Return the function from scores to class numbers, or to flags of label sets.

    With a threshold the second of two classes is predicted where its probability is above it, or
    its score if the model gives no probabilities. Of label sets it applies to each score.
    """
    if threshold is None:
        choose: Callable[[Array], Array] = learner.choose
        return choose
    if learner.target_kind in WITHOUT_CLASSES:
        raise ParameterError(
            "{threshold?} decides between classes, and the model "
            f"{WITHOUT_CLASSES[learner.target_kind]}; leave it out.",
            code="threshold-classes",
        )
    if not learner.multilabel and len(learner.classes) != 2:
        raise ParameterError(
            f"{{threshold?}} is for two classes or label sets, and the model has "
            f"{len(learner.classes)} classes; leave it out.",
            code="threshold-classes",
        )
    if learner.multilabel:
        return lambda scores: scores > threshold
    chances = find_probabilities(learner)
    if chances is None:
        return lambda scores: (scores > threshold).astype(np.intp)
    if not 0 <= threshold <= 1:
        raise ParameterError(
            "{threshold} must be a probability from 0 to 1.",
            code="out-of-range",
            threshold=threshold,
        )
    return lambda scores: (chances(scores)[:, 1] > threshold).astype(np.intp)


def find_probabilities(learner: Any) -> Callable[[Array], Array] | None:
    """Return the function from scores to probabilities of the classes; None if there is none."""
    calibration = getattr(learner, "calibration", None)
    if calibration is None:
        return None
    return lambda scores: calibration.probabilities(scores, learner.choose(scores))


def require_probabilities(learner: Any) -> Callable[[Array], Array]:
    """Return the function from scores to probabilities; refuse a model without them."""
    found = find_probabilities(learner)
    if learner.target_kind in WITHOUT_CLASSES:
        raise ParameterError(
            f"The model {WITHOUT_CLASSES[learner.target_kind]}, and has no probabilities of "
            "classes.",
            code="no-probabilities",
        )
    if found is None:
        raise ParameterError(
            "The model has no probabilities; train it with {calibrate?}.", code="no-probabilities"
        )
    return found
