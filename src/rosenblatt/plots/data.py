"""Rows and labels that can be drawn."""

from collections.abc import Sequence
from typing import Any, NamedTuple, TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse
from sklearn.utils import check_array, check_consistent_length, column_or_1d
from sklearn.utils.validation import check_is_fitted

from ..data.labels import encode, refuse_missing
from ..data.rows import Array, refuse_not_finite

MOST_POINTS = 5_000
MOST_COLUMNS = 2_000  # with which the best separator is sought
LARGEST = 1e100  # a number whose square is still finite


class Names(TypedDict, total=False):
    """What to call classes, in the order of ``classes_``, and columns, where they do not say so."""

    class_names: Sequence[str] | None
    feature_names: Sequence[str] | None


class Data(NamedTuple):
    """Rows that can be drawn."""

    X: Any
    classes: Array
    codes: Array  # each row's number among the classes
    class_names: Sequence[str]
    feature_names: Sequence[str] | None

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


def drawable(
    X: Any,
    y: ArrayLike,
    classes: Array | None = None,
    *,
    class_names: Sequence[str] | None = None,
    feature_names: Sequence[str] | None = None,
) -> Data:
    """Check rows and labels; the labels must be among the classes, where these are known."""
    if feature_names is None:
        feature_names = getattr(X, "columns", None)
    X = check_array(X, accept_sparse="csr", dtype=np.float64, ensure_all_finite=False)
    refuse_not_finite(X)
    if np.abs(X.data if issparse(X) else X).max(initial=0.0) > LARGEST:
        raise ValueError(f"X has numbers above {LARGEST:g}, too large to draw; scale them down.")
    labels = np.asarray(column_or_1d(y))
    check_consistent_length(X, labels)
    refuse_missing(labels)
    if classes is None:
        classes, codes = encode(labels)
    else:
        known = {label: code for code, label in enumerate(classes.tolist())}
        strange = set(labels.tolist()) - set(known)
        if strange:
            raise ValueError(
                f"y has the label {min(strange, key=str)!r}, and the estimator knows "
                f"{', '.join(map(repr, known))}; give rows of its classes."
            )
        codes = np.array([known[label] for label in labels.tolist()])
    class_names = classes.tolist() if class_names is None else class_names
    if len(class_names) != len(classes):
        raise ValueError(f"There are {len(classes)} classes, and {len(class_names)} class_names.")
    if feature_names is not None and len(feature_names) != X.shape[1]:
        raise ValueError(f"X has {X.shape[1]} columns, and {len(feature_names)} feature_names.")
    named = None if feature_names is None else tuple(map(str, feature_names))
    return Data(X, classes, codes, tuple(map(str, class_names)), named)


def check_drawable(estimator: Any, X: Any, y: ArrayLike, **names: Unpack[Names]) -> Data:
    """Check rows and labels for a fitted classifier."""
    check_is_fitted(estimator)
    if not hasattr(estimator, "classes_"):
        raise ValueError(f"{type(estimator).__name__} is no fitted classifier; fit one first.")
    if getattr(estimator, "multilabel_", False):
        raise ValueError("Rows of one label each can be drawn, and this estimator gives several.")
    if names.get("feature_names") is None and not hasattr(X, "columns"):
        names["feature_names"] = getattr(estimator, "feature_names_in_", None)
    return drawable(X, y, np.asarray(estimator.classes_), **names)
