"""Decisions and probabilities from the scores of a model."""

from collections.abc import Callable
from math import isnan
from typing import Any

import numpy as np

from ..data.rows import Array
from ..parameters import ParameterError


def find_positive(learner: Any, positive_class: Any = None) -> int:
    """Return the number of the positive one of two classes: the named one, else the second."""
    if positive_class is None:
        return 1
    names = [] if learner.multilabel else list(map(str, learner.classes.tolist()))
    if len(names) != 2:
        raise ParameterError(
            "positive_class is for models of two classes; leave it out.",
            code="positive-class",
        )
    if str(positive_class) not in names:
        raise ParameterError(
            f"positive_class={positive_class!r} is not a class of the model; these are "
            + " and ".join(names)
            + ".",
            code="positive-class",
        )
    return names.index(str(positive_class))


def make_decision(
    learner: Any, threshold: float | None = None, positive: int = 1
) -> Callable[[Array], Array]:
    """Return the function from scores to class numbers, or to flags of label sets.

    With a threshold the positive one of two classes is predicted where its probability is above it,
    or its score if the model gives no probabilities. Of label sets it applies to each score.
    """
    if threshold is None:
        choose: Callable[[Array], Array] = learner.choose
        return choose
    if isnan(threshold):
        raise ParameterError("threshold=nan must be a number.", code="out-of-range")
    several = not learner.multilabel and len(learner.classes) != 2
    if learner.target_kind == "numbers" or several:
        raise ParameterError(
            "threshold is for models of two classes or of label sets; leave it out.",
            code="threshold-classes",
        )
    if learner.multilabel:
        return lambda scores: scores > threshold
    chances = find_probabilities(learner)
    if chances is None:
        above = (lambda scores: scores) if positive else np.negative
        return lambda scores: np.where(above(scores) > threshold, positive, 1 - positive)
    if not 0 <= threshold <= 1:
        raise ParameterError(
            f"threshold={threshold!r} must be a probability from 0 to 1.", code="out-of-range"
        )
    return lambda scores: np.where(chances(scores)[:, positive] > threshold, positive, 1 - positive)


def find_probabilities(learner: Any) -> Callable[[Array], Array] | None:
    """Return the function from scores to probabilities of the classes; None if there is none."""
    calibration = getattr(learner, "calibration", None)
    if calibration is None:
        return None
    return lambda scores: calibration.probabilities(scores, learner.choose(scores))


def require_probabilities(learner: Any) -> Callable[[Array], Array]:
    """Return the function from scores to probabilities; refuse a model without them."""
    found = find_probabilities(learner)
    if found is None:
        raise ParameterError(
            "The model has no probabilities of classes; train it with calibrate.",
            code="no-probabilities",
        )
    return found
