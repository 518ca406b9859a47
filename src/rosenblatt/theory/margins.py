"""Radius and margins of rows, and the hyperplane with the largest margin."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.extmath import row_norms

from ..data.rows import Array
from .certificates import Separable
from .exact import MOST_WORK, Effort
from .hull import Hull, nearest_to_origin, widest_gap
from .problem import Problem, check_problem, checked_rows, checked_weights, length
from .separability import decide


@np.errstate(all="ignore")  # what overflows is infinite
def radius(X: Any) -> float:
    """R, the largest Euclidean norm of a row.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The rows.

    Returns
    -------
    float
        The radius of the smallest ball around the origin that holds all rows.

    See Also
    --------
    mistake_bounds : What follows from it and a margin.

    Examples
    --------
    >>> radius([[3.0, 4.0], [1.0, 0.0]])
    5.0
    """
    rows, power = Problem(checked_rows(X), np.empty(0)).of_ordinary_size()
    return float(np.ldexp(row_norms(rows.X).max(), power))


def margins(X: Any, y: ArrayLike, weights: ArrayLike, bias: float = 0.0) -> Array:
    """The functional margin y(w·x + b) of every row; the larger label is +1.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The rows.
    y : array-like of shape (n_samples,)
        Labels of two classes; the larger is +1.
    weights : array-like of shape (n_features,)
        The weights w of the hyperplane w·x + b = 0, of any length.
    bias : float, default=0.0
        Its bias b.

    Returns
    -------
    ndarray of shape (n_samples,)
        Above 0 where the row is on its side.

    See Also
    --------
    margin : The least of them, as a distance.

    Examples
    --------
    >>> margins([[2.0], [-1.0]], [1, 0], [3.0], -1.0)
    array([5., 4.])
    """
    problem = check_problem(X, y)
    return problem.margins(checked_weights(problem.X, weights), bias)


def margin(X: Any, y: ArrayLike, weights: ArrayLike, bias: float = 0.0) -> float:
    """The geometric margin: the least distance of a row from the boundary, -∞ if one is wrong.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The rows.
    y : array-like of shape (n_samples,)
        Labels of two classes; the larger is +1.
    weights : array-like of shape (n_features,)
        The weights w of the hyperplane w·x + b = 0, of any length.
    bias : float, default=0.0
        Its bias b.

    Returns
    -------
    float
        The distance, or -∞.

    See Also
    --------
    margins : Of every row.
    max_margin : The largest that a hyperplane can have.

    Examples
    --------
    >>> margin([[2.0], [-1.0]], [1, 0], [3.0], -1.0)
    1.3333333333333333
    """
    problem = check_problem(X, y)
    return problem.margin(checked_weights(problem.X, weights), bias)


def training_error(X: Any, y: ArrayLike, weights: ArrayLike, bias: float = 0.0) -> float:
    """The share of rows on the wrong side of the boundary or on it.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The rows.
    y : array-like of shape (n_samples,)
        Labels of two classes; the larger is +1.
    weights : array-like of shape (n_features,)
        The weights w of the hyperplane w·x + b = 0, of any length.
    bias : float, default=0.0
        Its bias b.

    Returns
    -------
    float
        From 0 to 1.

    See Also
    --------
    margins : Of every row.

    Examples
    --------
    >>> training_error([[1.0], [0.0], [-1.0]], [1, 1, 0], [1.0])
    0.3333333333333333
    """
    return float(np.mean(margins(X, y, weights, bias) <= 0))


@dataclass(frozen=True)
class MaxMargin:
    """A hyperplane that is close to the widest, and the proof that none is much wider.

    Attributes
    ----------
    weights : ndarray
        Of length one.
    bias : float
        The bias that goes with them.
    attained : float
        The margin of this hyperplane; -∞ when it does not separate.
    upper : float
        No hyperplane has a larger margin: half the distance of two points of the classes' convex
        hulls, or without a bias the distance of one point from the origin.
    support : ndarray of int
        The rows that make those points.
    shares : ndarray
        Their shares; those of each class (without a bias, all) sum to 1.
    fit_intercept : bool
        Whether a bias was allowed.

    See Also
    --------
    max_margin : Finds it.

    Examples
    --------
    >>> found = max_margin([[0.0], [3.0]], [0, 1])
    >>> found.attained, found.bias, found.verify([[0.0], [3.0]], [0, 1])
    (1.5, -1.5, True)
    """

    weights: Array
    bias: float
    attained: float
    upper: float
    support: Array
    shares: Array
    fit_intercept: bool = True

    def verify(self, X: Any, y: ArrayLike) -> bool:
        """Whether both ends of the bracket hold, up to rounding.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows that it is about.
        y : array-like of shape (n_samples,)
            Their labels.

        Returns
        -------
        bool
            Whether it is so.
        """
        problem, power = check_problem(X, y, self.fit_intercept).of_ordinary_size()
        positive = problem.signs[self.support] == 1
        totals = [self.shares[positive].sum(), self.shares[~positive].sum()]
        totals = totals if self.fit_intercept else [sum(totals)]
        if self.shares.min(initial=0.0) < 0 or not np.allclose(totals, 1):
            return False
        distance = np.ldexp(widest_gap(problem, self.support, self.shares), power)
        reached = np.ldexp(problem.margin(self.weights, np.ldexp(self.bias, -power)), power)
        return bool(reached >= self.attained * (1 - 1e-9) and distance <= self.upper * (1 + 1e-9))


def max_margin(
    X: Any, y: ArrayLike, *, tolerance: float = 1e-3, fit_intercept: bool = True
) -> MaxMargin:
    """Find a hyperplane with at least (1 - tolerance) times the largest margin there is.

    The nearest points of the two classes' convex hulls by Wolfe's (1976) method; every corral it
    passes bounds the margin from above, so that the answer carries its own proof.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The rows.
    y : array-like of shape (n_samples,)
        Labels of two classes; the larger is +1.
    tolerance : float, default=1e-3
        How far below the largest margin the answer may be, as a share of it.
    fit_intercept : bool, default=True
        False asks about hyperplanes through the origin.

    Returns
    -------
    MaxMargin
        The hyperplane, its margin, and the bound on all margins.

    See Also
    --------
    separability : Whether there is a margin, in exact arithmetic.
    ALMA : Comes near it in few passes.

    References
    ----------
    Wolfe (1976), "Finding the nearest point in a polytope", Mathematical Programming 11, 128-149.

    Examples
    --------
    >>> found = max_margin([[0.0, 0.0], [0.0, 2.0], [4.0, 1.0]], [0, 0, 1])
    >>> round(found.attained, 9), round(found.upper, 9)
    (2.0, 2.0)
    """
    if not 0 < float(tolerance) < 1:
        raise ValueError(f"tolerance must be between 0 and 1; got {tolerance!r}.")
    problem = check_problem(X, y, fit_intercept)
    if fit_intercept and np.all(problem.signs == problem.signs[0]):
        raise ValueError("All rows have the same label, so any margin can be attained.")
    return widest(problem, tolerance)


@np.errstate(all="ignore")  # what overflows is infinite
def widest(problem: Problem, tolerance: float) -> MaxMargin:
    """The bracket on the margin of checked rows."""
    problem, power = problem.of_ordinary_size()
    hull = Hull(problem, distances=True)
    nearest = nearest_to_origin(hull, tolerance)
    weights, bias = hull.plane(nearest.normal)
    weights = weights / (float(length(weights)) or 1.0)
    if problem.fit_intercept:
        functional = problem.margins(weights)
        low, high = (float(functional[problem.signs == sign].min()) for sign in (1, -1))
        bias = (high - low) / 2
    attained = problem.margin(weights, bias)
    if attained < 0:  # rounding hid the way: any separator is better than none
        weights, bias, attained = proved_separator(problem)
    support, shares = nearest.shares()
    upper = widest_gap(problem, support, shares)
    bias, attained, upper = (float(np.ldexp(value, power)) for value in (bias, attained, upper))
    return MaxMargin(weights, bias, attained, upper, support, shares, problem.fit_intercept)


def proved_separator(problem: Problem) -> tuple[Array, float, float]:
    """Some hyperplane of unit length that separates, and its margin: -∞ if there is none."""
    verdict = decide(problem, Effort(MOST_WORK / 10))  # no certificate is asked for
    if not isinstance(verdict, Separable):
        return np.zeros(problem.X.shape[1]), 0.0, -np.inf
    weights = np.array(verdict.weights, np.float64)
    size = float(length(weights))
    return weights / size, float(verdict.bias) / size, verdict.margin
