"""The plane onto which rows are projected, and its visible part."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from scipy.sparse import issparse
from scipy.sparse.linalg import LinearOperator, eigsh

from ..data.rows import Array
from .data import Data, Linear

SHAPE = 1.25  # width / height of limits with equal scales


@dataclass(frozen=True)
class Plane:
    """A plane: two orthogonal directions, a point, and the labels of the axes."""

    directions: Array
    through: Array
    labels: tuple[str, str]

    def place(self, X: Any) -> Array:
        """Project rows onto the plane."""
        return np.asarray(X @ self.directions.T)

    def lift(self, places: Array) -> Array:
        """Return points of the plane as rows."""
        return np.asarray(places @ self.directions + self.through)

    def restrict(self, linear: Linear) -> Linear:
        """Return the weights and bias that give the same scores in the plane."""
        weights = linear.weights @ self.directions.T
        weights[np.abs(weights) < 1e-12 * linear.length] = 0.0  # rounding errors
        return Linear(weights, linear.bias + linear.weights @ self.through)


def choose_plane(data: Data, linear: Linear | None) -> Plane:
    """Choose the plane to draw: the two columns, or one in which a linear boundary is a line.

    For two classes it is spanned by w and the first principal direction orthogonal to w, so that
    distances to the boundary are true. For three classes it is the plane of their weight vectors.
    Otherwise it is a slice through the mean of the rows.
    """
    width = data.X.shape[1]
    if width <= 2:
        names = data.feature_names or ("x₁", "x₂")
        return Plane(np.eye(2)[:, :width], np.zeros(width), (names[0], (*names, "")[1]))
    weights = np.zeros((1, width)) if linear is None else linear.weights
    spread = weights - weights.mean(axis=0)
    what: str | tuple[str, str]
    if np.linalg.matrix_rank(spread) >= 2:
        what = f"main direction of the {len(weights)} weight vectors"
        what += "" if len(weights) == 3 else " (a slice through the mean)"
        return make_plane(data, find_main_directions(spread), what)
    if len(weights) == 1 and weights.any():
        along = weights / np.linalg.norm(weights)
        what = "w·x / ‖w‖ (distances to the boundary are true)", "first principal direction ⊥ w"
    else:
        along = find_principal_direction(data.X, np.empty((0, width)))[None]
        what = "principal direction (a slice through the mean)"
    return make_plane(data, np.vstack([along, find_principal_direction(data.X, along)]), what)


def choose_plane_through(data: Data, rows: Array) -> Plane:
    """Choose the plane in which some rows differ most."""
    if data.X.shape[1] <= 2 or len(rows) < 3:
        return choose_plane(data, None)
    some = data.X[rows].toarray() if issparse(data.X) else data.X[rows]
    directions = find_main_directions(some - some.mean(axis=0))
    return make_plane(data, directions, "principal direction of the rows that prove it")


def find_main_directions(vectors: Array) -> Array:
    """Find the two directions in which vectors are longest."""
    return np.asarray(np.linalg.svd(vectors, full_matrices=False)[2][:2])


def make_plane(data: Data, directions: Array, what: str | tuple[str, str]) -> Plane:
    """Make the plane of two directions through the mean; labels name dominant columns."""
    labels = (f"first {what}", f"second {what}") if isinstance(what, str) else what
    mean, names = np.asarray(data.X.mean(axis=0)).ravel(), data.feature_names
    largest = np.argmax(directions**2, axis=1).tolist()
    first, second = (
        f"{label}, mostly {names[column]}" if names and along[column] ** 2 > 0.5 else label
        for along, label, column in zip(directions, labels, largest, strict=True)
    )
    return Plane(directions, mean - (directions @ mean) @ directions, (first, second))


def find_principal_direction(X: Any, away: Array) -> Array:
    """Find the direction of largest variance orthogonal to some unit vectors."""
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
    """The visible part of the plane, and whether both axes have the same scale."""

    low: Array
    high: Array
    equal: bool

    def contains(self, place: Array) -> bool:
        """Whether a point is inside."""
        return bool(np.all((self.low <= place) & (place <= self.high)))

    def apply(self, ax: Axes) -> None:
        """Set the limits of axes."""
        ax.set_xlim(self.low[0], self.high[0])
        ax.set_ylim(self.low[1], self.high[1])
        ax.set_aspect("equal" if self.equal else "auto")

    def find_foot(self, linear: Linear, distance: float = 0.0) -> Array | None:
        """Find the point at a distance from the boundary that is nearest to the centre.

        None if it is outside.
        """
        (w,), (b,) = linear
        centre = (self.low + self.high) / 2
        foot = centre - ((w @ centre + b) / linear.length - distance) * w / linear.length
        return foot if self.contains(foot) else None


def compute_limits(places: Array) -> Limits:
    """Compute limits around all points, and around the origin unless it is far away."""
    low, high = places.min(axis=0), places.max(axis=0)
    near = np.all((low - 0.5 * (high - low) <= 0) & (high + 0.5 * (high - low) >= 0))
    if near:
        low, high = np.minimum(low, 0), np.maximum(high, 0)
    size = high / 2 - low / 2
    size[size == 0] = size.max() or max(1.0, float(np.abs(high).max()))
    equal = bool(size.max() <= 6 * size.min())
    if equal:  # always the same shape, so that plots side by side agree
        size = max(size[0] / SHAPE, size[1]) * np.array([SHAPE, 1.0])
    centre = high / 2 + low / 2
    return Limits(centre - 1.1 * size, centre + 1.1 * size, equal)
