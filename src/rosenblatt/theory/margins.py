"""Radius and margins of rows, by a hyperplane that is given."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.extmath import row_norms

from ..rows import Array
from .problem import checked_rows, checked_weights, of_ordinary_size, problem_of


@np.errstate(all="ignore")  # what overflows is infinite
def radius(X: Any) -> float:
    """R, the largest Euclidean norm of a row.

    >>> radius([[3.0, 4.0], [1.0, 0.0]])
    5.0
    """
    X, power = of_ordinary_size(checked_rows(X))
    return float(np.ldexp(row_norms(X).max(initial=0.0), power))


def margins(X: Any, y: ArrayLike, weights: ArrayLike, bias: float = 0.0) -> Array:
    """The functional margin y(w·x + b) of every row; the larger label is +1.

    >>> margins([[2.0], [-1.0]], [1, 0], [3.0], -1.0)
    array([5., 4.])
    """
    problem = problem_of(X, y)
    return problem.margins(checked_weights(problem.X, weights), bias)


def margin(X: Any, y: ArrayLike, weights: ArrayLike, bias: float = 0.0) -> float:
    """The geometric margin: the least distance of a row from the boundary, -∞ if one is wrong.

    Parameters
    ----------
    X, y : array-like
        Rows and labels of two classes; the larger label is +1.
    weights, bias
        The hyperplane w·x + b = 0.

    Examples
    --------
    >>> margin([[2.0], [-1.0]], [1, 0], [3.0], -1.0)
    1.3333333333333333
    """
    problem = problem_of(X, y)
    return problem.margin(checked_weights(problem.X, weights), bias)


def training_error(X: Any, y: ArrayLike, weights: ArrayLike, bias: float = 0.0) -> float:
    """The share of rows on the wrong side of the boundary or on it.

    >>> training_error([[1.0], [0.0], [-1.0]], [1, 1, 0], [1.0])
    0.3333333333333333
    """
    return float(np.mean(margins(X, y, weights, bias) <= 0))
