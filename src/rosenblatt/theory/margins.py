"""Margins of rows, and the hyperplane with the largest margin."""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..data.rows import Array, to_dense
from ..parameters.tables import SIGN_OF_ZERO
from .certificates import Separable
from .exact import MOST_WORK, Effort
from .hull import Hull, nearest_to_origin, widest_gap
from .problem import Problem, check_problem, check_weights, is_mistake, length
from .separability import decide


def margins(X: Any, y: ArrayLike, weights: ArrayLike, bias: float = 0.0) -> Array:
    """Compute the functional margin y(w·x + b) of every row.

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
        Positive where the row is on the right side.

    See Also
    --------
    margin : The smallest of them, as a distance.

    Examples
    --------
    >>> margins([[2.0], [-1.0]], [1, 0], [3.0], -1.0)
    array([5., 4.])
    """
    problem = check_problem(X, y)
    return problem.margins(check_weights(problem.X, weights), bias)


def margin(X: Any, y: ArrayLike, weights: ArrayLike, bias: float = 0.0) -> float:
    """Compute the geometric margin: the smallest distance of a row from the boundary.

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
        The distance, or -∞ if a row is on the wrong side or on the boundary.

    See Also
    --------
    margins : The margin of every row.
    max_margin : The largest margin of all hyperplanes.

    Examples
    --------
    >>> margin([[2.0], [-1.0]], [1, 0], [3.0], -1.0)
    1.3333333333333333
    """
    problem = check_problem(X, y)
    return problem.margin(check_weights(problem.X, weights), bias)


class Losses(NamedTuple):
    """The losses of a hyperplane on some rows.

    Attributes
    ----------
    errors : int
        J₁, the number of misclassified rows.
    loss : float
        J, the sum of -y(w·x + b) over them.
    gradient : ndarray of shape (n_features,)
        The gradient of J by w: minus the sum of y·x over the misclassified rows. J has a kink where
        a row lies on the boundary; there it is the gradient of the side that ``ties`` names.
    bias_gradient : float
        The derivative of J by b.
    training_error : float
        Eₙ, the share of rows on the wrong side or on the boundary, whatever ``ties`` says.
    rows : ndarray of int
        The numbers of the misclassified rows, from 0.

    See Also
    --------
    losses : Computes them.

    Examples
    --------
    >>> losses([[1.0], [0.0], [-1.0]], [1, 1, 0], [2.0], ties="positive").training_error
    0.3333333333333333
    """

    errors: int
    loss: float
    gradient: Array
    bias_gradient: float
    training_error: float
    rows: Array


def losses(
    X: Any, y: ArrayLike, weights: Any, bias: float = 0.0, *, ties: str = "mistake"
) -> Losses:
    """Compute the losses J₁ and J of a hyperplane, the gradient of J, and the training error.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The rows.
    y : array-like of shape (n_samples,)
        Labels of two classes; the larger is +1.
    weights : array-like of shape (n_features,) or fitted classifier
        The weights w of the hyperplane w·x + b = 0, of any length. A fitted linear classifier of
        two classes brings its weights, its bias and its ``ties``.
    bias : float, default=0.0
        Its bias b.
    ties : {"mistake", "positive", "negative", "correct"}, default="mistake"
        What an activation of exactly 0 counts as, as for ``Perceptron``.

    Returns
    -------
    Losses
        The losses, the gradient, and the misclassified rows.

    See Also
    --------
    margins : The margin of every row.
    rosenblatt.plots.BoundaryDisplay.from_weights : Draws a given line.

    Examples
    --------
    >>> found = losses([[2.0, 1.0], [-1.0, 3.0], [1.0, 2.0]], [1, 0, 0], [1.0, 1.0])
    >>> found.errors, found.loss, found.rows.tolist()
    (2, 5.0, [1, 2])
    >>> found.gradient.tolist(), found.bias_gradient
    ([0.0, 5.0], 2.0)
    """
    problem = check_problem(X, y)
    if hasattr(weights, "coef_"):
        bias, ties = np.ravel(weights.intercept_)[0], getattr(weights, "ties", ties)
        weights = to_dense(weights.coef_)
    if ties not in SIGN_OF_ZERO:
        raise ValueError(f"ties must be one of {', '.join(map(repr, SIGN_OF_ZERO))}; got {ties!r}.")
    functional = problem.margins(check_weights(problem.X, weights), float(bias))
    rows = np.flatnonzero(is_mistake(functional, problem.signs, ties))
    signs = problem.signs[rows]
    return Losses(
        errors=len(rows),
        loss=float(-functional[rows].sum()) + 0.0,
        gradient=np.asarray(-signs @ problem.X[rows]) + 0.0,
        bias_gradient=-float(signs.sum()),
        training_error=float(np.mean(functional <= 0)),
        rows=rows,
    )


def normalize_weights(estimator: Any) -> tuple[Array, Array]:
    """Return the weights and biases of a linear classifier divided by the length of the weights.

    The hyperplane stays the same, and X @ weights.T + bias is the signed distance of each row from
    it. With several classes every class has a hyperplane, and each is divided by its own length;
    predictions with ``multi_class="argmax"`` need the original scores.

    Parameters
    ----------
    estimator : classifier or Pipeline
        A fitted linear classifier with ``coef_`` and ``intercept_``, or a pipeline that ends with
        one, such as ``load`` returns.

    Returns
    -------
    weights : ndarray of shape (1, n_features) or (n_classes, n_features)
        ``coef_`` divided by the lengths of its rows.
    bias : ndarray of shape (1,) or (n_classes,)
        ``intercept_`` divided by the same numbers.

    See Also
    --------
    margin : The smallest distance of a row from a hyperplane.

    Examples
    --------
    >>> from rosenblatt import Perceptron
    >>> model = Perceptron(order="fixed").fit([[3.0, 4.0], [-3.0, -4.0]], [1, 0])
    >>> weights, bias = normalize_weights(model)
    >>> weights.tolist(), bias.tolist()
    ([[0.6, 0.8]], [0.2])
    """
    model = estimator[-1] if hasattr(estimator, "steps") else estimator
    if not hasattr(model, "coef_") or hasattr(model, "thresholds_"):
        kind = type(model).__name__
        raise ValueError(f"Expected a fitted linear classifier of classes, got {kind}.")
    weights = np.atleast_2d(to_dense(model.coef_).astype(np.float64))
    lengths = length(weights)
    if not np.all((lengths > 0) & (lengths < np.inf)):
        raise ValueError("All weights of a class are zero; a hyperplane needs one that is not.")
    bias = np.broadcast_to(np.ravel(model.intercept_), len(weights))
    return weights / lengths[:, None], bias / lengths


@dataclass(frozen=True)
class MaxMargin:
    """A hyperplane whose margin is close to the largest, with an upper bound on all margins.

    Attributes
    ----------
    weights : ndarray of shape (n_features,)
        The weights of the hyperplane, of length 1.
    bias : float
        The bias of the hyperplane.
    attained : float
        The margin of this hyperplane, rounded down; -∞ if it does not separate the rows.
    upper : float
        An upper bound on the margin of all hyperplanes, rounded up: half the distance of two points
        of the convex hulls of the classes, or without a bias that of one point from the origin.
    support : ndarray of int
        The rows that span those points.
    shares : ndarray
        Their shares; those of each class sum to 1, without a bias all of them.
    fit_intercept : bool
        Whether a bias was allowed.

    See Also
    --------
    max_margin : Computes it.

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
        """Return whether ``attained`` and ``upper`` hold on rows, in exact arithmetic.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their labels.

        Returns
        -------
        bool
            True if both hold.
        """
        problem = check_problem(X, y, self.fit_intercept)
        positive = problem.signs[self.support] == 1
        totals = [self.shares[positive].sum(), self.shares[~positive].sum()]
        totals = totals if self.fit_intercept else [sum(totals)]
        if self.shares.min(initial=0.0) < 0 or not np.allclose(totals, 1):
            return False
        return (self.attained == -np.inf or self.plane.holds(problem)) and (
            widest_gap(problem, self.support, self.shares) <= self.upper
        )

    @property
    def plane(self) -> Separable:
        """The hyperplane as a certificate.

        :meta private:
        """
        weights = tuple(np.asarray(self.weights, np.float64).tolist())
        return Separable(weights, float(self.bias), self.attained, self.fit_intercept)


def max_margin(
    X: Any, y: ArrayLike, *, tolerance: float = 1e-3, fit_intercept: bool = True
) -> MaxMargin:
    """Find a hyperplane with at least (1 - tolerance) times the largest possible margin.

    Wolfe's (1976) method finds the nearest points of the convex hulls of the two classes. Their
    distance bounds every margin from above, so the result carries its own proof.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The rows.
    y : array-like of shape (n_samples,)
        Labels of two classes; the larger is +1.
    tolerance : float, default=1e-3
        Relative accuracy of the margin, in (0, 1).
    fit_intercept : bool, default=True
        Whether the hyperplane may have a bias; False: only hyperplanes through the origin.

    Returns
    -------
    MaxMargin
        The hyperplane, its margin, and the bound on all margins.

    See Also
    --------
    separability : Decides in exact arithmetic whether a hyperplane separates the rows.
    ALMA : Approaches the largest margin in few passes.

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
        raise ValueError("All rows have the same label; max_margin needs rows of two classes.")
    return solve_max_margin(problem, tolerance)


@np.errstate(all="ignore")  # overflow gives infinity
def solve_max_margin(problem: Problem, tolerance: float) -> MaxMargin:
    """Find a hyperplane near the largest margin, for checked rows."""
    hull = Hull(problem, distances=True)
    nearest = nearest_to_origin(hull, tolerance)
    weights, bias = hull.plane(nearest.normal)
    weights = weights / (float(length(weights)) or 1.0)
    if problem.fit_intercept:
        functional = problem.margins(weights)
        low, high = (float(functional[problem.signs == sign].min()) for sign in (1, -1))
        bias = high / 2 - low / 2
    support, shares = nearest.shares()
    upper = widest_gap(problem, support, shares)
    found = MaxMargin(weights, bias, -np.inf, upper, support, shares, problem.fit_intercept)
    if not found.plane.separates(problem):  # lost to rounding: any separator is better than none
        verdict = decide(problem, Effort(MOST_WORK / 10))  # less than for a certificate
        weights, bias = np.zeros(problem.X.shape[1]), 0.0
        if isinstance(verdict, Separable):
            weights = np.array(verdict.weights, np.float64)
            size = float(length(weights))
            weights, bias = weights / size, float(verdict.bias) / size
        found = replace(found, weights=weights, bias=bias)
    return replace(found, attained=found.plane.measure(problem))
