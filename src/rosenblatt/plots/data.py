"""Rows and labels that can be drawn."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse
from sklearn.utils import check_array, check_consistent_length, column_or_1d
from sklearn.utils.validation import check_is_fitted

from ..labels import encode
from ..rows import Array, refuse_not_finite

MOST_POINTS = 5_000
LARGEST = 1e100  # a number whose square is still finite


class Data(NamedTuple):
    """Rows that can be drawn."""

    X: Any
    classes: Array
    codes: Array  # each row's number among the classes
    names: tuple[str, ...] | None  # of the columns, where they have some

    @property
    def signs(self) -> Array:
        """+1 for the second of two classes, else -1."""
        return np.where(self.codes == 1, 1.0, -1.0)

    def sample(self, most: int) -> Array:
        """The numbers of the rows to draw: all, or so many by chance."""
        count = len(self.codes)
        if count <= most:
            return np.arange(count)
        return np.sort(np.random.default_rng(0).choice(count, most, replace=False))


def drawable(X: Any, y: ArrayLike, classes: Array | None = None) -> Data:
    """Check rows and labels; the labels must be among the classes, where these are known."""
    names = tuple(map(str, X.columns)) if hasattr(X, "columns") else None
    X = check_array(X, accept_sparse="csr", dtype=np.float64, ensure_all_finite=False)
    refuse_not_finite(X)
    if np.abs(X.data if issparse(X) else X).max(initial=0.0) > LARGEST:
        raise ValueError(f"X has numbers above {LARGEST:g}, too large to draw; scale them down.")
    labels = np.asarray(column_or_1d(y))
    check_consistent_length(X, labels)
    if any(label is None or label != label for label in set(labels.tolist())):
        raise ValueError("y contains NaN or None; labels must be known.")
    if classes is None:
        return Data(X, *encode(labels), names)
    known = {label: code for code, label in enumerate(classes.tolist())}
    strange = set(labels.tolist()) - set(known)
    if strange:
        raise ValueError(
            f"y has the label {min(strange, key=str)!r}, and the estimator knows "
            f"{', '.join(map(repr, known))}; give rows of its classes."
        )
    return Data(X, classes, np.array([known[label] for label in labels.tolist()]), names)


def drawable_for(estimator: Any, X: Any, y: ArrayLike) -> Data:
    """Check rows and labels for a fitted classifier."""
    check_is_fitted(estimator)
    if not hasattr(estimator, "classes_"):
        raise ValueError(f"{type(estimator).__name__} is no fitted classifier; fit one first.")
    return drawable(X, y, np.asarray(estimator.classes_))
