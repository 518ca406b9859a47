"""The convergence theorem, γM ≤ ‖w‖ ≤ R√M, and the bounds on mistakes that follow from it.

The bias is one more coordinate of every row, of the size √``intercept_step``: a mistake moves the
bias by that step, as it moves the other weights by their coordinates.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from ..rows import Array
from .margins import radius
from .problem import checked_weights, length, problem_of


def rows_with_bias(X: Any, intercept_step: float) -> Any:
    """X with the coordinate of the bias, if it moves."""
    if not intercept_step:
        return X
    column = np.full((X.shape[0], 1), np.sqrt(intercept_step))
    return sparse.hstack([X, column], "csr") if sparse.issparse(X) else np.hstack([X, column])


def radius_with_bias(radius: float, intercept_step: float) -> float:
    """R of the rows with the coordinate of the bias, from that without it."""
    return float(np.hypot(radius, np.sqrt(intercept_step)))


def weights_with_bias(weights: Array, bias: Any, intercept_step: float) -> Array:
    """The weights of one or more moments with the bias as the last coordinate, if it moves.

    >>> weights_with_bias(np.array([3.0, 4.0]), 6.0, 4.0)
    array([3., 4., 3.])
    """
    weights = np.asarray(weights, np.float64)
    if not intercept_step:
        return weights
    last = np.broadcast_to(np.asarray(bias) / np.sqrt(intercept_step), weights.shape[:-1])
    return np.concatenate([weights, last[..., None]], axis=-1)


@np.errstate(all="ignore")  # what overflows is infinite
def mistake_bound(radius: float, margin: float) -> float:
    """(R/γ)², the most mistakes; infinite when nothing is separated.

    >>> mistake_bound(3.0, 0.5)
    36.0
    """
    return float(np.square(radius / margin)) if margin > 0 else float("inf")


class MistakeBounds(NamedTuple):
    """The most mistakes that a perceptron from zero can make on these rows, in any order.

    The last two are for one pass, the others for any number of passes.

    Attributes
    ----------
    novikoff : float
        (R/γ)², through the origin: for ``fit_intercept=False``.
    radius_step : float
        (2R/γ)², for ``intercept_step="radius"`` (more if the plane misses the ball of the rows).
    unit_step : float
        (R² + 1)(1 + b²)/γ², for a bias that moves by 1.
    unit_rows : float
        1/γ², when no row is longer than 1, through the origin.
    squared_hinge : float
        ((R + D)/γ)² (Freund & Schapire 1999), for any rows.
    hinge : float
        L + a²/2 + a√(L + a²/4), a = R/γ (Gentile 2003), for any rows.
    """

    novikoff: float
    radius_step: float
    unit_step: float
    unit_rows: float
    squared_hinge: float
    hinge: float


@np.errstate(all="ignore")  # what overflows is infinite
def mistake_bounds(
    X: Any, y: ArrayLike, weights: ArrayLike, bias: float = 0.0, *, gamma: float | None = None
) -> MistakeBounds:
    """Bound the mistakes by what a hyperplane achieves on the rows.

    The first four are infinite unless the hyperplane separates (those through the origin, unless
    its bias is 0). The last two hold for one pass with the default bias, for any hyperplane and
    any target margin γ; by default the γ that makes each least is used.

    Parameters
    ----------
    X, y : array-like
        Rows and labels of two classes; the larger label is +1.
    weights, bias
        The hyperplane, of any length.
    gamma : float, optional
        The margin γ that the last two forms aim at.

    Examples
    --------
    >>> round(mistake_bounds([[3.0, 0.0], [0.0, -2.0]], [1, 0], [1.0, 1.0]).novikoff, 9)
    4.5
    """
    problem = problem_of(X, y)
    w = checked_weights(problem.X, weights)
    size = float(length(w))
    if not size:
        raise ValueError("weights are all zero, which is no hyperplane.")
    if gamma is not None and not 0 < gamma < np.inf:
        raise ValueError(f"gamma must be a finite number above 0; got {gamma!r}.")
    w, b = w / size, bias / size
    R, reached = radius(problem.X), problem.margin(w, b)
    origin = reached if b == 0 else -np.inf
    lifted, u = radius_with_bias(R, 1.0), float(np.hypot(1, b))
    functional = problem.margins(w, b) / u
    targets = positive_quantiles(functional) if gamma is None else np.array([gamma])
    return MistakeBounds(
        novikoff=mistake_bound(R, origin),
        radius_step=mistake_bound(float(np.sqrt(2) * np.hypot(R, max(R, abs(b)))), reached),
        unit_step=mistake_bound(lifted * u, reached),
        unit_rows=mistake_bound(1.0, origin) if R <= 1 + 1e-12 else np.inf,
        squared_hinge=min(squared_hinge_bound(functional, lifted, float(t)) for t in targets),
        hinge=min(hinge_bound(functional, lifted, float(t)) for t in targets),
    )


def squared_hinge_bound(functional: Array, R: float, gamma: float) -> float:
    """((R + D)/γ)² with D² = Σ max(0, γ - margin)²."""
    D = float(np.linalg.norm(np.maximum(0.0, gamma - functional)))
    return ((R + D) / gamma) ** 2


def hinge_bound(functional: Array, R: float, gamma: float) -> float:
    """L + a²/2 + a√(L + a²/4) with L = Σ max(0, 1 - margin/γ)."""
    L, a = float(np.maximum(0.0, 1 - functional / gamma).sum()), R / gamma
    return L + a * a / 2 + a * float(np.sqrt(L + a * a / 4))


def positive_quantiles(functional: Array) -> Array:
    """Target margins to try: some of the rows' own."""
    positive = functional[functional > 0]
    if not len(positive):
        return np.array([max(float(np.abs(functional).max(initial=0.0)), 1.0)])
    return np.quantile(positive, np.linspace(0, 1, 33))
