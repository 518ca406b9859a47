"""Prediction sets and intervals of a learner."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ..data.rows import Array
from ..parameters import ParameterError, finite_number
from ..training.conformal import count_needed


class TooFewRowsWarning(UserWarning):
    """The model has kept too few rows for a coverage."""


def make_sets(learner: Any, coverage: float, warns: bool = True) -> Callable[[Array], Array]:
    """Return the function from scores to prediction sets or intervals of a coverage.

    A set is a flag per class, and always has the predicted class. An interval is a low and a high
    number.

    Parameters
    ----------
    learner
        A model that was trained with ``calibrate="conformal"``; others are refused.
    coverage
        The share of rows whose label is to be in its set or interval.
    warns
        Whether to warn if the model has kept too few rows.
    """
    conformal, numbers = getattr(learner, "conformal", None), not len(learner.classes)
    if conformal is None:
        raise ParameterError(
            f"The model gives no prediction {'intervals' if numbers else 'sets'}; train it with "
            'calibrate="conformal".',
            code="no-conformal",
        )
    if not (finite_number(coverage) and 0 < coverage < 1):
        raise ParameterError(
            f"coverage={coverage!r} must be above 0 and below 1.", code="out-of-range"
        )
    known, needed = len(conformal.ordered), count_needed(coverage)
    if warns and known < needed:
        every = "interval is infinite" if numbers else "set holds all classes"
        warnings.warn(
            f"A coverage of {coverage:g} needs {needed:,} rows that were not learnt from, and the "
            f"model has {known:,}: every {every}.",
            TooFewRowsWarning,
            stacklevel=2,
        )
    threshold = conformal.threshold(coverage)

    def make_intervals(scores: Array) -> Array:
        reach = max(threshold, 0.0)
        ends = np.stack([scores.astype(np.float64) - reach, scores.astype(np.float64) + reach])
        return np.asarray(learner.choose(ends.T))

    def make_class_sets(scores: Array) -> Array:
        flags = learner.target.class_nonconformity(scores) <= threshold
        flags[np.arange(len(flags)), learner.choose(scores)] = True
        return np.asarray(flags)

    return make_intervals if numbers else make_class_sets
