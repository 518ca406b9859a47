"""The plane that rows are projected on, and the part of it that is seen."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from scipy.sparse import issparse
from scipy.sparse.linalg import LinearOperator, eigsh

from ..data.rows import Array
from .data import Data
from .scores import Linear

CROWDED = 0.05  # the share of a picture in which most rows should not all be
SHAPE = 1.25  # width to height of limits with one scale


@dataclass(frozen=True)
class Plane:
    """Two orthogonal directions to draw rows in, and a point that the plane goes through."""

    directions: Array
    through: Array
    labels: tuple[str, str]

    def place(self, X: Any) -> Array:
        """Where rows are drawn: their projections on the plane."""
        return np.asarray(X @ self.directions.T)

    def lift(self, places: Array) -> Array:
        """The points of the plane as rows."""
        return np.asarray(places @ self.directions + self.through)

    def seen(self, linear: Linear) -> Linear:
        """The same scores on the plane, as a function of the place."""
        weights = linear.weights @ self.directions.T
        weights[np.abs(weights) < 1e-12 * linear.length] = 0.0  # what is left is rounding
        return Linear(weights, linear.bias + linear.weights @ self.through)


def choose_plane(data: Data, linear: Linear | None) -> Plane:
    """The two columns; of more, the plane in which a linear boundary is still a line.

    For two classes it is spanned by w and the first principal direction orthogonal to w, so that
    distances to the boundary are true. Three weight vectors span a plane, outside of which nothing
    changes their order. Else it is a slice through the mean of the rows.
    """
    width = data.X.shape[1]
    if width <= 2:
        names = data.feature_names or ("x₁", "x₂")
        return Plane(np.eye(2)[:, :width], np.zeros(width), (names[0], (*names, "")[1]))
    weights = np.zeros((1, width)) if linear is None else linear.weights
    spread = weights - weights.mean(axis=0)
    if len(weights) == 1 and weights.any():
        along = weights / np.linalg.norm(weights)
        directions = np.vstack([along, principal_direction(data.X, along)])
        labels = "w·x / ‖w‖ (distances to the boundary are true)", "first principal direction ⊥ w"
        return plane_along(data, directions, labels)
    if np.linalg.matrix_rank(spread) >= 2:
        directions = np.linalg.svd(spread, full_matrices=False)[2][:2]
        what = f"main direction of the {len(weights)} weight vectors"
        what += "" if len(weights) == 3 else " (a slice through the mean)"
    else:
        first = principal_direction(data.X, np.empty((0, width)))
        directions = np.vstack([first, principal_direction(data.X, first[None])])
        what = "principal direction (a slice through the mean)"
    return plane_along(data, directions, (f"first {what}", f"second {what}"))


def plane_through(data: Data, rows: Array) -> Plane:
    """The plane in which some rows differ most; what is between rows is between their places."""
    if data.X.shape[1] <= 2 or len(rows) < 3:
        return choose_plane(data, None)
    some = data.X[rows].toarray() if issparse(data.X) else data.X[rows]
    directions = np.linalg.svd(some - some.mean(axis=0), full_matrices=False)[2][:2]
    what = "principal direction of the rows that prove it"
    return plane_along(data, directions, (f"first {what}", f"second {what}"))


def plane_along(data: Data, directions: Array, labels: tuple[str, str]) -> Plane:
    """The plane of two directions through the mean; its labels tell columns that stand out."""
    mean, names = np.asarray(data.X.mean(axis=0)).ravel(), data.feature_names
    largest = np.argmax(directions**2, axis=1).tolist()
    first, second = (
        f"{label}, mostly {names[column]}" if names and along[column] ** 2 > 0.5 else label
        for along, label, column in zip(directions, labels, largest, strict=True)
    )
    return Plane(directions, mean - (directions @ mean) @ directions, (first, second))


def principal_direction(X: Any, away: Array) -> Array:
    """The direction in which rows vary most among those orthogonal to some unit vectors."""
    mean = np.asarray(X.mean(axis=0)).ravel()

    def outside(v: Array) -> Array:
        return np.asarray(v - away.T @ (away @ v))

    def spread(v: Array) -> Array:
        v = outside(np.ravel(v))
        products = X @ v - mean @ v
        return outside(X.T @ products - mean * products.sum())

    start = outside(np.random.default_rng(0).standard_normal(X.shape[1]))
    found = start
    if np.linalg.norm(spread(start)) > 1e-12 * np.linalg.norm(start):
        shape = X.shape[1], X.shape[1]
        operator = LinearOperator(shape, matvec=spread, dtype=np.float64)
        found = outside(eigsh(operator, k=1, v0=start, tol=1e-6)[1][:, 0])
    found = found / np.linalg.norm(found)
    return np.asarray(found * np.sign(found[np.argmax(np.abs(found))]))


class Limits(NamedTuple):
    """The part of the plane to draw, and whether both axes can have one scale."""

    low: Array
    high: Array
    equal: bool
    hint: str = ""
    """What to do about rows that are squeezed into a corner."""

    def hold(self, place: Array) -> bool:
        """Whether a place is inside."""
        return bool(np.all((self.low <= place) & (place <= self.high)))

    def set(self, ax: Axes) -> None:
        """Make axes show this part."""
        ax.set_xlim(self.low[0], self.high[0])
        ax.set_ylim(self.low[1], self.high[1])
        ax.set_aspect("equal" if self.equal else "auto")
        if self.hint:
            ax.text(0.99, 0.01, self.hint, transform=ax.transAxes, fontsize="small", ha="right")

    def chord(self, linear: Linear, level: float = 0.0) -> Array | None:
        """The two ends of the visible part of the line on which a score has a level."""
        (w,), (b,) = linear
        centre = (self.low + self.high) / 2
        foot = centre - (w @ centre + b - level) / (w @ w) * w
        along = np.array([-w[1], w[0]]) / np.linalg.norm(w)
        enter, leave = -np.inf, np.inf
        for axis in np.flatnonzero(np.abs(along) > 1e-12):
            edges = sorted((np.array([self.low, self.high])[:, axis] - foot[axis]) / along[axis])
            enter, leave = max(enter, edges[0]), min(leave, edges[1])
        ends = foot + np.outer([enter, leave], along)
        return ends if enter < leave and self.hold(ends.mean(axis=0)) else None


def compute_limits(places: Array) -> Limits:
    """Limits around all the places, and the origin unless it is far off."""
    low, high = places.min(axis=0), places.max(axis=0)
    near = np.all((low - 0.5 * (high - low) <= 0) & (high + 0.5 * (high - low) >= 0))
    if near:
        low, high = np.minimum(low, 0), np.maximum(high, 0)
    size = high / 2 - low / 2
    size[size == 0] = size.max() or max(1.0, float(np.abs(high).max()))
    equal = bool(size.max() <= 6 * size.min())
    if equal:  # always of one shape, so that pictures beside each other agree
        size = max(size[0] / SHAPE, size[1]) * np.array([SHAPE, 1.0])
    centre = high / 2 + low / 2
    return Limits(centre - 1.1 * size, centre + 1.1 * size, equal, measure_crowding(places, size))


def measure_crowding(places: Array, size: Array) -> str:
    """A hint if most rows lie in a small part of the picture, as unscaled columns make them."""
    low, high = np.quantile(places, [0.05, 0.95], axis=0)
    share = float(np.prod(np.clip((high - low) / (2.2 * size), 0, 1)))
    if share >= CROWDED or len(places) < 20:
        return ""
    return f"most rows lie in {max(100 * share, 0.1):.1g} % of this picture; scale the columns"
