"""The point of a convex hull that is nearest to the origin, by Wolfe's method."""

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from ..data.rows import Array, to_dense
from .problem import LARGE, Problem, exponent, exponents, round_root, scale_by_powers

WIDEST_MAP = 2000  # columns; a hull that can be stretched keeps a dense matrix of this size
MOST_MOVES = 100_000  # of the nearest point: a limit against rounding that never settles
ZERO = 1e-15  # distances from the origin below this, in units of the rows, are rounding


class Hull:
    """The convex hull of the rows y[x, 1]; with ``distances``, the difference of the two hulls.

    The search looks at a few extreme rows at a time; one pass over all rows brings in the next
    ones. Rows are scaled by powers of two, which is exact. Where distances do not matter, every row
    and column has its own power: that moves no row across a hyperplane.
    """

    def __init__(self, problem: Problem, *, distances: bool) -> None:
        self.X, self.signs, _ = problem
        all_rows, d = np.arange(len(self.signs)), self.X.shape[1]
        self.augmented = problem.fit_intercept and not distances
        self.groups = [all_rows]
        if problem.fit_intercept and distances:
            self.groups = [all_rows[self.signs == sign] for sign in (1, -1)]
        self.width = d + self.augmented
        self.exponents = exponents(self.X, 0)
        if distances:
            self.exponents[:] = exponent(self.X)
        powers = -self.exponents
        if np.abs(powers).max(initial=0) > LARGE:  # too large as factors of the weights
            self.X, powers = scale_by_powers(self.X, powers), np.zeros(d, int)
        self.columns = np.ldexp(1.0, powers)
        self.row_scale, self.map = np.ones(len(self.signs)), None
        if not distances:
            sizes = exponents(scale_by_powers(self.X, powers), 1)
            self.row_scale = np.ldexp(1.0, -np.maximum(sizes, 1) if self.augmented else -sizes)
            self.map = np.eye(self.width) if self.width <= WIDEST_MAP else None
        self.rows = [np.empty(0, np.intp) for _ in self.groups]
        self.vectors = [np.empty((0, self.width)) for _ in self.groups]
        self.at_once = int(np.clip(4_000_000 // (self.width + 1), 4, 200))

    def plane(self, point: Array) -> tuple[Array, float]:
        """Return weights and bias in the units of the rows, the largest about 1."""
        point = point if self.map is None else self.map @ point
        mantissas, powers = np.frexp(point)
        powers[: len(self.exponents)] -= self.exponents
        powers -= powers[mantissas != 0].max(initial=-5000)
        found = np.ldexp(mantissas, powers)
        return (found[:-1], float(found[-1])) if self.augmented else (found, 0.0)

    def stretch(self, normal: Array) -> None:
        """Widen the hull along a normal where it is too flat for floating point.

        An invertible linear map takes separating hyperplanes to separating hyperplanes.
        """
        length = float(np.linalg.norm(normal))
        if self.map is not None and 0 < length < np.inf:
            along = normal / length
            widen = np.eye(self.width) + (max(length, 1.0) - 1) * np.outer(along, along)
            self.map = self.map @ widen
            self.vectors = [vectors @ widen for vectors in self.vectors]

    def products(self, point: Array) -> Array:
        """Compute the product of every row's vector with a point."""
        point = point if self.map is None else self.map @ point
        weights = point[: len(self.columns)] * self.columns
        bias = point[-1] if self.augmented else 0.0
        return np.asarray(self.signs * (self.X @ weights + bias) * self.row_scale)

    def bring_in(self, point: Array) -> list[float]:
        """Add the rows that are lowest along a point; return the minimum of each group."""
        products = self.products(point)
        lowest = []
        for number, group in enumerate(self.groups):
            values = products[group]
            count = min(self.at_once, len(values))
            fresh = group[np.argpartition(values, count - 1)[:count]]
            fresh = np.setdiff1d(fresh, self.rows[number])
            self.rows[number] = np.concatenate([self.rows[number], fresh])
            self.vectors[number] = np.vstack([self.vectors[number], self.scale_vectors(fresh)])
            lowest.append(float(values.min()))
        return lowest

    def scale_vectors(self, rows: Array) -> Array:
        """Return rows as scaled vectors."""
        part = to_dense(self.X[rows]) * self.columns
        if self.augmented:
            part = np.hstack([part, np.ones((len(rows), 1))])
        part = part * (self.signs[rows] * self.row_scale[rows])[:, None]
        return np.asarray(part if self.map is None else part @ self.map)

    def find_lowest(self, point: Array) -> tuple[tuple[int, ...], Array]:
        """Find the lowest vertex along a point among the rows brought in."""
        chosen = [int(np.argmin(vectors @ point)) for vectors in self.vectors]
        rows = tuple(int(self.rows[g][k]) for g, k in enumerate(chosen))
        return rows, np.sum([self.vectors[g][k] for g, k in enumerate(chosen)], axis=0)


Corral = list[tuple[int, ...]]


class Nearest(NamedTuple):
    """The point p of a hull that is nearest to the origin, kept as its normal p/‖p‖².

    ``corral`` lists the vertices that span it (one row of each group) and ``weights`` their shares.
    ``lowest`` is the minimum of each group along the normal, where the corral is at 1.
    """

    normal: Array
    corral: Corral
    weights: Array
    lowest: list[float]

    def shares(self) -> tuple[Array, Array]:
        """Return the rows that span the nearest point, and their shares."""
        rows = np.array(self.corral, np.intp)
        support, where = np.unique(rows, return_inverse=True)
        return support, np.bincount(where.ravel(), np.repeat(self.weights, rows.shape[1]))


def widest_gap(problem: Problem, support: Array, shares: Array) -> float:
    """Bound the margin of all hyperplanes by the points that the shares of rows define.

    The bound is computed exactly and rounded up; shares are divided by their sum.
    """
    if not np.isfinite(shares).all():
        return np.inf
    sides: dict[float, list[tuple[int, Fraction]]] = {}
    for row, share in zip(support.tolist(), map(Fraction, shares.tolist()), strict=True):
        sides.setdefault(problem.signs[row] * problem.fit_intercept, []).append((row, share))
    wholes = [sum(share for _, share in side) for side in sides.values()]
    if not all(wholes) or len(sides) < 1 + problem.fit_intercept:
        return np.inf
    found = zip(sides.values(), wholes, strict=True)
    weights = [(row, share / whole) for side, whole in found for row, share in side]
    point = problem._replace(fit_intercept=False).add_up(weights)
    squared = sum((value**2 for value in point.values()), Fraction(0))
    return round_root(squared / 4 if problem.fit_intercept else squared, up=True)


def nearest_to_origin(hull: Hull, tolerance: float | None = None) -> Nearest:
    """Find the point of a hull nearest to the origin (Wolfe 1976, Mathematical Programming 11).

    Without a tolerance the search ends as soon as the normal separates all rows from the origin;
    with one, when no vertex is below 1 - tolerance along it.
    """
    normal, length = np.zeros(hull.width), 0.0
    hull.bring_in(normal)
    rows, vertex = hull.find_lowest(normal)
    corral, vertices, weights = [rows], vertex[None], np.ones(1)
    size = max(float(np.abs(vectors).max(initial=0.0)) for vectors in hull.vectors)
    for _ in range(MOST_MOVES):
        found = find_normal(vertices)
        if found is None or not length < np.linalg.norm(found) < 1 / (ZERO * size):
            break  # the origin itself, or no progress within rounding
        normal, length = found, float(np.linalg.norm(found))
        rows, vertex = hull.find_lowest(normal)
        if vertex @ normal >= 1 - (tolerance or 1e-3):
            lowest = hull.bring_in(normal)
            if tolerance is None and min(lowest) > 0:
                break
            rows, vertex = hull.find_lowest(normal)
            if vertex @ normal >= 1 - (tolerance or 0):
                break
        if rows in corral:
            break  # no progress within rounding
        corral, vertices, weights = reduce_corral(
            [*corral, rows], np.vstack([vertices, vertex]), np.append(weights, 0.0)
        )
    return Nearest(normal, corral, weights, hull.bring_in(normal))


def find_normal(vertices: Array) -> Array | None:
    """Solve for the shortest v with v·z = 1 for every vertex z; None if there is none.

    Near the origin a sum of the vertices would cancel, so v is solved for directly.
    """
    Q, R = factor(vertices.T, ZERO)
    return None if R is None else np.asarray(Q @ np.linalg.solve(R.T, np.ones(len(R))))


def factor(columns: Array, least: float) -> tuple[Array, Array | None]:
    """Factor a matrix into Q and R; without R if its columns depend on each other."""
    Q, R = np.linalg.qr(columns)
    sizes = np.abs(np.diag(R))
    independent = len(R) == columns.shape[1] and sizes.min() > least * sizes.max()
    return Q, R if independent else None


def reduce_corral(corral: Corral, vertices: Array, weights: Array) -> tuple[Corral, Array, Array]:
    """Move to the point of the corral's affine hull nearest to the origin, dropping vertices."""
    while True:
        target = minimize_affine(vertices)
        if target is None:  # the newest vertex depends on the others
            return corral[:-1], vertices[:-1], weights[:-1] / weights[:-1].sum()
        if np.all(target > 1e-14):
            return corral, vertices, target
        down = target <= 1e-14
        step = np.min(weights[down] / np.maximum(weights[down] - target[down], 1e-300))
        weights = np.maximum((1 - step) * weights + step * target, 0.0)
        keep = weights > 1e-14
        keep[np.argmax(weights)] = True
        if keep.all():
            keep[np.flatnonzero(down)[np.argmin(weights[down])]] = False
        corral = [rows for rows, kept in zip(corral, keep, strict=True) if kept]
        vertices, weights = vertices[keep], weights[keep] / weights[keep].sum()


def minimize_affine(vertices: Array) -> Array | None:
    """Weigh the vertices for the nearest point of their affine hull; None if not unique."""
    lifted = np.hstack([vertices, np.ones((len(vertices), 1))]).T
    _, R = factor(lifted, 1e-14)
    if R is None:
        return None
    weights = np.linalg.solve(R, np.linalg.solve(R.T, np.ones(len(vertices))))
    if not np.isfinite(weights).all():
        return None
    return np.asarray(weights / weights.sum())
