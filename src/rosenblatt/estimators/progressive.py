"""Progressive validation: every row is predicted before it is learnt from."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..data.labels import check_classes, encode, number_labels
from ..data.rows import Array
from ..training.report import Windows


@dataclass(frozen=True)
class Progressive:
    """What became of rows that were predicted before they were learnt from.

    Attributes
    ----------
    wrong : ndarray of bool, shape (n_samples,)
        Whether each row was predicted wrongly, in the order of the rows.

    See Also
    --------
    progressive : Makes these of a model and rows.
    rosenblatt.plots.ProgressiveDisplay : Draws them.

    Examples
    --------
    >>> seen = Progressive(np.array([True, True, False, False]))
    >>> seen.error, seen.so_far().round(2).tolist(), seen.over(2).tolist()
    (0.5, [1.0, 1.0, 0.67, 0.5], [1.0, 0.0])
    """

    wrong: Array

    @property
    def error(self) -> float:
        """The share of all rows that were wrong."""
        return float(self.wrong.mean())

    def so_far(self) -> Array:
        """The error after each row.

        Returns
        -------
        ndarray of shape (n_samples,)
            The share of the rows up to each that were wrong.
        """
        return np.asarray(np.cumsum(self.wrong) / np.arange(1, len(self.wrong) + 1))

    def over(self, window: int) -> Array:
        """The error in each window of so many rows; the last may have fewer.

        Parameters
        ----------
        window : int
            How many rows.

        Returns
        -------
        ndarray of shape (n_windows,)
            The share of each window's rows that were wrong.
        """
        told = [(0, 0)]
        windows = Windows(window, lambda rows, wrong: told.append((rows, wrong)))
        windows.add(self.wrong)
        windows.close()
        rows, wrong = np.diff(told, axis=0).T
        return np.asarray(wrong / rows)


def progressive(
    model: Any,
    X: Any,
    y: ArrayLike,
    *,
    classes: ArrayLike | None = None,
    batch_size: int = 100,
) -> Progressive:
    """Go through rows in their order; predict some, then learn from them, and so on.

    Without a test set this tells the error to expect on rows to come, and where it rises the data
    have drifted (Blum, Kalai & Langford 1999; "prequential" in Dawid 1984).

    Parameters
    ----------
    model : estimator
        Anything with ``partial_fit`` and ``predict``; it goes on from what it knows.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The rows, in the order in which they came.
    y : array-like of shape (n_samples,)
        Their labels.
    classes : array-like of shape (n_classes,), default=None
        All labels, if y lacks some.
    batch_size : int, default=100
        How many rows are predicted before they are learnt from. A model that has seen nothing
        predicts the first class.

    Returns
    -------
    Progressive
        Which rows were wrong.

    See Also
    --------
    AROW : What to take for one pass.
    rosenblatt.plots.ProgressiveDisplay : Draws the error over the rows.

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
    X, y = X if hasattr(X, "shape") else np.asarray(X), np.asarray(y)
    if batch_size < 1 or y.ndim != 1 or X.shape[0] != len(y) or not len(y):
        raise ValueError("progressive needs rows, one label of each, and a batch_size from 1 up.")
    known = encode(y)[0] if classes is None else check_classes(np.asarray(classes))
    number_labels(y, known, where="y: ")
    wrong = np.zeros(len(y), bool)
    fitted = hasattr(model, "classes_")
    for begin in range(0, len(y), batch_size):
        at = slice(begin, begin + batch_size)
        predicted = model.predict(X[at]) if fitted else known[0]
        wrong[at] = predicted != y[at]
        model.partial_fit(X[at], y[at], **({} if fitted else {"classes": known}))
        fitted = True
    return Progressive(wrong)
