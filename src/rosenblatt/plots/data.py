"""The rows, labels and scores of a plot."""

import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse
from sklearn.linear_model._base import LinearClassifierMixin
from sklearn.utils import check_array, check_consistent_length, column_or_1d
from sklearn.utils.validation import check_is_fitted

from ..data.labels import encode, find_codes, make_labels
from ..data.rows import Array, refuse_not_finite, to_dense
from ..estimators.linear import LinearClassifier

MOST_POINTS = 5_000  # that are drawn
MOST_COLUMNS = 2_000  # for which the largest margin is computed
LARGEST = 1e100  # numbers up to this one have finite squares


class Data(NamedTuple):
    """Checked rows and labels of a plot.

    Attributes
    ----------
    X : ndarray or csr_matrix
        The rows.
    classes : ndarray
        All classes.
    codes : ndarray
        The number of each row's class.
    class_names : sequence of str
        The names of the classes.
    feature_names : sequence of str or None
        The names of the columns.
    """

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

    def sample(self) -> Array:
        """Choose the rows to draw: all, or some at random."""
        count = len(self.codes)
        if count <= MOST_POINTS:
            return np.arange(count)
        return np.sort(np.random.default_rng(0).choice(count, MOST_POINTS, replace=False))


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


def check_fitted_data(estimator: Any, X: Any, y: ArrayLike, **names: Any) -> Data:
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


class Linear(NamedTuple):
    """Weights (one row per class, or one row for two classes) and biases."""

    weights: Array
    bias: Array

    def scores(self, X: Any) -> Array:
        """Score rows, in the shape of ``decision_function``."""
        scores = np.asarray(X @ self.weights.T + self.bias)
        return scores.ravel() if len(self.weights) == 1 else scores

    @property
    def length(self) -> float:
        """The length ‖w‖ of all weights together."""
        return float(np.linalg.norm(self.weights))


def find_linear(estimator: Any) -> Linear | None:
    """Return the weights by which an estimator scores rows; None if it is not linear."""
    if not isinstance(estimator, LinearClassifier | LinearClassifierMixin):
        return None
    coef = to_dense(estimator.coef_)
    bias = np.broadcast_to(np.ravel(estimator.intercept_), len(coef))
    return Linear(np.asarray(coef, np.float64), np.asarray(bias, np.float64))


def compute_scores(estimator: Any, X: Any) -> Array:
    """Score rows by ``decision_function``; without it 1 for the predicted class, 0 for others."""
    classes = np.asarray(estimator.classes_)
    if hasattr(estimator, "decision_function"):
        scores = np.asarray(call_quietly(estimator.decision_function, X))
        if scores.ndim == 1 or scores.shape[1] == len(classes):
            return scores
    return np.asarray(call_quietly(estimator.predict, X)[:, None] == classes, float)


def call_quietly(method: Callable[[Any], Any], X: Any) -> Any:
    """Call a method of an estimator with rows that may lack the names of their columns."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        return method(X)


def compute_leads(scores: Array) -> Array:
    """Compute the lead of each class over the best other class: one column per class."""
    if scores.ndim == 1:
        return np.stack([-scores, scores], axis=1)
    order = np.sort(scores, axis=1)
    best = np.where(scores == order[:, -1:], order[:, -2:-1], order[:, -1:])
    return np.asarray(scores - best)


def compute_own_leads(scores: Array, codes: Array) -> Array:
    """Compute the lead of each row's own class; for two classes, y times the activation."""
    return np.asarray(compute_leads(scores)[np.arange(len(codes)), codes])
