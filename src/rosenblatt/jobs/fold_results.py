"""Results of a setting on the folds of a cross-validation, compared fold by fold."""

from math import inf, sqrt
from typing import NamedTuple

import numpy as np

from ..data.rows import Array


class Result(NamedTuple):
    """The results of a setting on each fold.

    Attributes
    ----------
    losses, log_losses, auc_losses
        By the metric, the log loss, and 1 less the ROC area.
    predicted
        The classes that were ever predicted, as flags.
    pooled
        The loss of the rows of all folds together, for metrics that are no mean of folds.
    """

    losses: Array
    log_losses: Array
    auc_losses: Array
    predicted: Array
    pooled: float | None = None

    @property
    def mean(self) -> float:
        """The loss of all folds together, or the mean of the folds that define it."""
        if self.pooled is not None:
            return self.pooled
        known = self.losses[~np.isnan(self.losses)]
        return float(known.mean()) if len(known) else inf

    @property
    def spread(self) -> float:
        """The standard error of the mean."""
        return standard_error(self.losses)

    def is_worse(self, other: "Result", and_log_loss: bool) -> bool:
        """Whether a loss is above another's by more than the standard error of the difference."""
        worse = exceeds(self.losses, other.losses)
        return worse or (and_log_loss and exceeds(self.log_losses, other.log_losses))

    def is_risky(self, usual: "Result") -> bool:
        """Whether log loss or ROC area are worse than usual, or a class is never predicted now."""
        forgets = bool(np.any(usual.predicted & ~self.predicted))
        worse = exceeds(self.log_losses, usual.log_losses)
        return forgets or worse or exceeds(self.auc_losses, usual.auc_losses)


def standard_error(values: Array) -> float:
    """Return the standard error of the mean over folds, whose training rows overlap.

    The variance is multiplied by 1/k + 1/(k - 1) instead of 1/k (Nadeau & Bengio 2003).
    """
    known = values[~np.isnan(values)]
    k = len(known)
    return float(known.std(ddof=1) * sqrt(1 / k + 1 / (k - 1))) if k > 1 else 0.0


def exceeds(one: Array, other: Array) -> bool:
    """Whether one mean is above another by more than the standard error of their difference."""
    difference = (one - other)[~np.isnan(one - other)]
    return len(difference) > 0 and float(difference.mean()) > standard_error(difference)
