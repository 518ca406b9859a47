"""From scores to probabilities, fitted on rows that were not learnt from."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..data.rows import Array

MOST_STEPS = 100


@dataclass(frozen=True)
class Calibration:
    """A sigmoid of the score (Platt 1999), or with several classes a softmax of all scores.

    Attributes
    ----------
    slope : float
        What scores are multiplied by, those of all classes alike.
    offsets : ndarray of shape (1,) or (n_classes,)
        What is added to them.
    """

    slope: float
    offsets: Array

    def probabilities(self, scores: Array) -> Array:
        """The probability of every class for each row, from scores as ``decision_function`` has."""
        return softmax(self.slope * columns(scores) + self.offsets)

    def as_dict(self) -> dict[str, Any]:
        """As it is kept in a model file."""
        return {"slope": self.slope, "offsets": self.offsets.tolist()}

    @classmethod
    def of(cls, kept: dict[str, Any]) -> "Calibration":
        """As it was kept."""
        return cls(float(kept["slope"]), np.array(kept["offsets"], np.float64))


def columns(scores: Array) -> Array:
    """Scores with a column per class, or one for two classes."""
    return np.asarray(scores, np.float64).reshape(len(scores), -1)


def softmax(scores: Array) -> Array:
    """Probabilities that grow with the scores; of two classes the first has score 0."""
    if scores.shape[1] == 1:
        scores = np.hstack([np.zeros_like(scores), scores])
    grown = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(grown / grown.sum(axis=1, keepdims=True))


def calibrated(scores: Array, codes: Array, n_classes: int) -> Calibration:
    """The calibration under which held-out labels are the most likely.

    Each label counts as a little uncertain, as in Platt (1999), so that no probability becomes 0
    or 1; offsets are thought to be of size 1 or so beforehand, so that few rows do not turn what
    scores choose. By Newton's method with backtracking, as in Lin, Lin & Weng (2007).

    Parameters
    ----------
    scores : ndarray of shape (n_rows,) or (n_rows, n_classes)
        Of rows that were not learnt from.
    codes : ndarray of shape (n_rows,)
        The numbers of their classes.
    n_classes : int
        How many classes there are.
    """
    given = columns(scores)
    size = float(np.abs(given).max(initial=0.0)) or 1.0
    problem = Likelihood(given / size, targets(codes, n_classes))
    theta = newton(problem, np.zeros(1 + given.shape[1]))
    return Calibration(float(theta[0] / size), theta[1:])


def targets(codes: Array, n_classes: int) -> Array:
    """How sure each label is: (n + 1)/(n + 2) for one that n rows have, the rest for the others."""
    counts = np.bincount(codes, minlength=n_classes)[codes]
    doubt = 1.0 / (counts + 2.0)
    wanted = np.repeat(doubt[:, None] / (n_classes - 1), n_classes, axis=1)
    wanted[np.arange(len(codes)), codes] = 1.0 - doubt
    return wanted


@dataclass(frozen=True)
class Likelihood:
    """Minus the logarithm of how likely labels and offsets are, by row, and its derivatives."""

    scores: Array
    wanted: Array

    def probabilities(self, theta: Array) -> Array:
        """Of every class."""
        return softmax(theta[0] * self.scores + theta[1:])

    def value(self, theta: Array) -> float:
        """What is to be made small."""
        likely = np.maximum(self.probabilities(theta), np.finfo(float).tiny)
        unlikely = -float((self.wanted * np.log(likely)).sum()) + float(theta[1:] @ theta[1:]) / 2
        return unlikely / len(likely)

    def derivatives(self, theta: Array) -> tuple[Array, Array]:
        """The gradient and the matrix of second derivatives."""
        n, outputs = self.scores.shape
        P = self.probabilities(theta)[:, -outputs:]
        lack = P - self.wanted[:, -outputs:]
        gradient = np.concatenate([[np.sum(lack * self.scores)], lack.sum(axis=0) + theta[1:]]) / n
        expected = (P * self.scores).sum(axis=1, keepdims=True)
        spread = P * (self.scores - expected)  # P of two classes is that of one, whose rest is 0
        H = np.empty((1 + outputs, 1 + outputs))
        H[0, 0] = np.sum(spread * self.scores) / n
        H[0, 1:] = H[1:, 0] = spread.sum(axis=0) / n
        H[1:, 1:] = (np.diag(P.sum(axis=0) + 1.0) - P.T @ P) / n
        return gradient, H


def newton(problem: Likelihood, theta: Array) -> Array:
    """The place where a convex problem is least."""
    value = problem.value(theta)
    for _ in range(MOST_STEPS):
        gradient, H = problem.derivatives(theta)
        if np.abs(gradient).max() < 1e-10:
            break
        H[np.diag_indices_from(H)] += 1e-12 * max(1.0, H.diagonal().max())
        step = np.linalg.lstsq(H, gradient, rcond=None)[0]
        length = 1.0
        while length > 1e-10:
            moved = theta - length * step
            new = problem.value(moved)
            if new < value - 1e-4 * length * float(gradient @ step):
                break
            length /= 2
        else:
            break
        theta, value = moved, new
    return theta
