"""Checks of the rows and labels of a plot."""

from collections.abc import Sequence
from typing import Any, NamedTuple, TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse
from sklearn.utils import check_array, check_consistent_length, column_or_1d
from sklearn.utils.validation import check_is_fitted

from ..data.labels import encode, find_codes, make_labels
from ..data.rows import Array, refuse_not_finite

MOST_POINTS = 5_000
MOST_COLUMNS = 2_000  # for which the largest margin is computed
LARGEST = 1e100  # numbers up to this one have finite squares


class Names(TypedDict, total=False):
    """Names of the classes, in the order of ``classes_``, and of the columns."""

    class_names: Sequence[str] | None
    feature_names: Sequence[str] | None


class Data(NamedTuple):
    """Checked rows and labels of a plot; ``codes`` are the numbers of the rows' classes."""

    X: Any
    classes: Array
    codes: Array
    class_names: Sequence[str]
    feature_names: Sequence[str] | None

    @property
    def signs(self) -> Array:
        """The labels as signs: +1 for the second of two classes, else -1."""
        return np.where(self.codes == 1, 1.0, -1.0)

    def check_two_classes(self) -> None:
        """Raise ValueError unless there are two classes."""
        if len(self.classes) != 2:
            raise ValueError(
                f"There are {len(self.classes)} classes; expected two. Pass y == label for one of "
                "them."
            )

    def sample(self, most: int) -> Array:
        """Choose at most ``most`` rows to draw, at random."""
        count = len(self.codes)
        if count <= most:
            return np.arange(count)
        return np.sort(np.random.default_rng(0).choice(count, most, replace=False))


def check_data(
    X: Any,
    y: ArrayLike,
    classes: Array | None = None,
    *,
    class_names: Sequence[str] | None = None,
    feature_names: Sequence[str] | None = None,
) -> Data:
    """Check rows and labels; where the classes are known, labels must be among them."""
    if feature_names is None:
        feature_names = getattr(X, "columns", None)
    X = check_array(X, accept_sparse="csr", dtype=np.float64, ensure_all_finite=False)
    refuse_not_finite(X)
    if np.abs(X.data if issparse(X) else X).max(initial=0.0) > LARGEST:
        raise ValueError(f"X has numbers above {LARGEST:g}, too large to draw; scale them down.")
    labels = column_or_1d(make_labels(y))
    check_consistent_length(X, labels)
    if classes is None:
        classes, codes = encode(labels)
    else:
        codes = find_codes(labels, classes)
        if codes.min(initial=0) < 0:
            raise ValueError(
                f"y has the label {labels.tolist()[int(np.argmin(codes))]!r}; the estimator knows "
                f"{', '.join(map(repr, classes.tolist()))}. Pass rows of its classes."
            )
    class_names = classes.tolist() if class_names is None else class_names
    if len(class_names) != len(classes):
        raise ValueError(f"There are {len(classes)} classes, but {len(class_names)} class_names.")
    if feature_names is not None and len(feature_names) != X.shape[1]:
        raise ValueError(f"X has {X.shape[1]} columns, but {len(feature_names)} feature_names.")
    named = None if feature_names is None else tuple(map(str, feature_names))
    return Data(X, classes, codes, tuple(map(str, class_names)), named)


def check_fitted_data(estimator: Any, X: Any, y: ArrayLike, **names: Unpack[Names]) -> Data:
    """Check rows and labels of a plot of a fitted classifier."""
    check_is_fitted(estimator)
    if not hasattr(estimator, "classes_"):
        raise ValueError(
            f"Expected a fitted classifier, got {type(estimator).__name__} without classes_."
        )
    if getattr(estimator, "multilabel_", False):
        raise ValueError(
            "This estimator gives a row several labels; plots show rows with one label each."
        )
    if names.get("feature_names") is None and not hasattr(X, "columns"):
        names["feature_names"] = getattr(estimator, "feature_names_in_", None)
    return check_data(X, y, np.asarray(estimator.classes_), **names)
