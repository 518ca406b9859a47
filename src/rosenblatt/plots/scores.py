"""How classifiers score rows, and what part of that is linear."""

import warnings
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from ..data.rows import Array


class Linear(NamedTuple):
    """Weights (a row per class, or one row for two) and biases."""

    weights: Array
    bias: Array

    def scores(self, X: Any) -> Array:
        """Of each row, in the shape of a decision function."""
        scores = np.asarray(X @ self.weights.T + self.bias)
        return scores.ravel() if len(self.weights) == 1 else scores

    @property
    def length(self) -> float:
        """‖w‖, of all weights together."""
        return float(np.linalg.norm(self.weights))


def linear_part(estimator: Any, X: Any) -> Linear | None:
    """The weights by which an estimator scores rows; None when it does otherwise.

    Having ``coef_`` is not enough: a vote has one too.
    """
    if not hasattr(estimator, "coef_") or not hasattr(estimator, "decision_function"):
        return None
    coef = estimator.coef_.toarray() if issparse(estimator.coef_) else estimator.coef_
    weights = np.atleast_2d(np.asarray(coef, np.float64))
    bias = np.ravel(np.asarray(estimator.intercept_, np.float64))
    some = X[:100]
    if weights.shape[1] != some.shape[1] or len(bias) not in (1, len(weights)):
        return None
    found, scores = (
        Linear(weights, np.broadcast_to(bias, len(weights))),
        compute_scores(estimator, some),
    )
    expected = found.scores(some)
    same = expected.shape == scores.shape and np.allclose(
        expected, scores, rtol=1e-4, atol=1e-4 * float(np.abs(scores).max(initial=0.0))
    )
    return found if same else None


def compute_scores(estimator: Any, X: Any) -> Array:
    """A decision function's values, or 1 for the predicted class and 0 for the others."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        classes = np.asarray(estimator.classes_)
        if hasattr(estimator, "decision_function"):
            scores = np.asarray(estimator.decision_function(X))
            if scores.ndim == 1 or scores.shape[1] == len(classes):
                return scores
        return np.asarray(estimator.predict(X)[:, None] == classes, float)


def leads(scores: Array) -> Array:
    """By how much each class is ahead of the best other one: a column per class."""
    if scores.ndim == 1:
        return np.stack([-scores, scores], axis=1)
    order = np.sort(scores, axis=1)
    best = np.where(scores == order[:, -1:], order[:, -2:-1], order[:, -1:])
    return np.asarray(scores - best)


def own_leads(scores: Array, codes: Array) -> Array:
    """By how much each row's own class is ahead: of two, the label times the activation."""
    return np.asarray(leads(scores)[np.arange(len(codes)), codes])
