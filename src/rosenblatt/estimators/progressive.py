"""Progressive validation: every row is predicted before it is learnt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import is_regressor

from ..data.labels import check_classes, encode, number_labels
from ..data.rows import Array
from ..parameters import ParameterError


@dataclass(frozen=True)
class Progressive:
    """The errors of predictions that were made before each row was learnt.

    Attributes
    ----------
    wrong : ndarray of bool, shape (n_samples,)
        Whether the prediction of each row was wrong.

    See Also
    --------
    progressive : Computes them from a model and rows.

    Examples
    --------
    >>> seen = Progressive(np.array([True, True, False, False]))
    >>> seen.error, seen.so_far().round(2).tolist(), seen.over(2).tolist()
    (0.5, [1.0, 1.0, 0.67, 0.5], [1.0, 0.0])
    """

    wrong: Array

    @property
    def error(self) -> float:
        """The share of wrong predictions."""
        return float(self.wrong.mean())

    def so_far(self) -> Array:
        """Return the error so far, after each row.

        Returns
        -------
        ndarray of shape (n_samples,)
            The share of wrong predictions up to each row.
        """
        return np.asarray(np.cumsum(self.wrong) / np.arange(1, len(self.wrong) + 1))

    def over(self, window: int) -> Array:
        """Return the error in consecutive windows of rows; the last one may be shorter.

        Parameters
        ----------
        window : int
            Number of rows in a window.

        Returns
        -------
        ndarray of shape (n_windows,)
            The share of wrong predictions in each window.
        """
        starts = np.arange(0, len(self.wrong), window)
        counts = np.diff(starts, append=len(self.wrong))
        return np.asarray(np.add.reduceat(self.wrong.astype(int), starts) / counts)


def progressive(
    model: Any,
    X: Any,
    y: ArrayLike,
    *,
    classes: ArrayLike | None = None,
    batch_size: int = 100,
) -> Progressive:
    """Estimate the error on a stream: predict each batch of rows, then learn from it.

    This needs no test set. Where the error rises, the data have drifted (Blum, Kalai & Langford
    1999; "prequential" in Dawid 1984).

    Parameters
    ----------
    model : estimator
        A classifier with ``partial_fit`` and ``predict``, new or fitted.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The rows, in order of time.
    y : array-like of shape (n_samples,)
        Their labels.
    classes : array-like of shape (n_classes,), default=None
        All labels; None means those of y.
    batch_size : int, default=100
        Number of rows to predict before they are learnt. For a new model the first class counts as
        the prediction of the first batch.

    Returns
    -------
    Progressive
        The errors.

    See Also
    --------
    AROW : A rule for one pass.

    References
    ----------
    Blum, Kalai & Langford (1999), "Beating the hold-out: bounds for k-fold and progressive
    cross-validation", Proceedings of COLT.

    Dawid (1984), "Present position and potential developments: the prequential approach", Journal
    of the Royal Statistical Society A 147(2), 278-292.

    Examples
    --------
    >>> from rosenblatt import AROW
    >>> X, y = np.tile([[2.0, 1.0], [-1.0, 1.0]], (200, 1)), np.tile([1, 0], 200)
    >>> seen = progressive(AROW(), X, y, batch_size=10)
    >>> seen.error, seen.over(200).tolist()
    (0.0125, [0.025, 0.0])
    """
    if is_regressor(model):
        raise ParameterError(
            f"progressive counts wrong labels, and {type(model).__name__} predicts numbers; use a "
            "classifier.",
            code="progressive-numbers",
        )
    X, y = X if hasattr(X, "shape") else np.asarray(X), np.asarray(y)
    if batch_size < 1 or y.ndim != 1 or X.shape[0] != len(y) or not len(y):
        raise ValueError("Expected rows with one label each, and a batch_size from 1 up.")
    known = encode(y)[0] if classes is None else check_classes(np.asarray(classes))
    number_labels(y, known)
    wrong = np.zeros(len(y), bool)
    fitted = hasattr(model, "classes_")
    for begin in range(0, len(y), batch_size):
        at = slice(begin, begin + batch_size)
        predicted = model.predict(X[at]) if fitted else known[0]
        wrong[at] = predicted != y[at]
        model.partial_fit(X[at], y[at], **({} if fitted else {"classes": known}))
        fitted = True
    return Progressive(wrong)
