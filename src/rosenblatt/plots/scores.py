"""Scores of rows by any classifier, and its weights if it is linear."""

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from ..data.rows import Array


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


def find_linear(estimator: Any, X: Any) -> Linear | None:
    """Return the weights by which an estimator scores rows; None if it is not linear.

    Having ``coef_`` is not enough: other classifiers may use it in another way.
    """
    if not hasattr(estimator, "coef_") or not hasattr(estimator, "decision_function"):
        return None
    coef = estimator.coef_.toarray() if issparse(estimator.coef_) else estimator.coef_
    weights = np.atleast_2d(np.asarray(coef, np.float64))
    bias = np.ravel(np.asarray(estimator.intercept_, np.float64))
    some = X[:100]
    if weights.shape[1] != some.shape[1] or len(bias) not in (1, len(weights)):
        return None
    found = Linear(weights, np.broadcast_to(bias, len(weights)))
    scores, expected = compute_scores(estimator, some), found.scores(some)
    same = expected.shape == scores.shape and np.allclose(
        expected, scores, rtol=1e-4, atol=1e-4 * float(np.abs(scores).max(initial=0.0))
    )
    return found if same else None


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
