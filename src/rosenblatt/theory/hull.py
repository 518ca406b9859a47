"""The point of a convex hull that is nearest to the origin, by Wolfe's method."""

from contextlib import suppress
from fractions import Fraction

import numpy as np
from scipy.linalg import qr_delete, qr_insert
from scipy.linalg.lapack import dtrtrs

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


def widest_gap(problem: Problem, support: Array, shares: Array) -> float:
    """Bound the margin of all hyperplanes by the points that the shares of rows define.

    The bound is computed exactly and rounded up; shares are divided by their sum.
    """
    if not np.isfinite(shares).all():
        return np.inf
    signs = problem.signs[support]
    weights = np.array([Fraction(share) for share in shares.tolist()], object)
    for side in (signs > 0, signs < 0) if problem.fit_intercept else (signs != 0,):
        if not weights[side].sum():
            return np.inf
        weights[side] /= weights[side].sum()
    point = problem._replace(fit_intercept=False).add_up(support, weights.tolist())
    squared = sum((value**2 for value in point), Fraction(0))
    return round_root(squared / 4 if problem.fit_intercept else squared, up=True)


def solve_triangular(R: Array, right: Array, transposed: int = 0) -> Array:
    """Solve a system with R, or with Rᵀ; zeros on the diagonal give anything."""
    return np.asarray(dtrtrs(R, right, trans=transposed)[0])


class Corral:
    """The vertices that span the point nearest to the origin, and their shares in it.

    ``rows`` lists the vertices, one row of each group. ``normal`` is p/‖p‖² for the point p, and
    ``lowest`` the minimum of each group along it, where the vertices are at 1. Q and R factor the
    matrix whose columns are the vertices, without the last one if it lies in the span of the
    others. They are updated when a vertex comes or goes; after
    10,000 moves Q is still orthogonal to 14 digits.
    """

    normal: Array
    lowest: list[float]

    def __init__(self, rows: tuple[int, ...], vertex: Array) -> None:
        self.rows, self.vertices, self.weights = [rows], vertex[None], np.ones(1)
        self.Q, self.R = np.linalg.qr(self.vertices.T)

    def shares(self) -> tuple[Array, Array]:
        """Return the rows that span the nearest point, and their shares."""
        support, where = np.unique(np.array(self.rows, np.intp), return_inverse=True)
        return support, np.bincount(where.ravel(), np.repeat(self.weights, len(self.rows[0])))

    def is_independent(self) -> bool:
        """Whether no vertex lies in the span of the others."""
        sizes = np.abs(np.diag(self.R))
        return len(sizes) == len(self.rows) and bool(sizes.min() > ZERO * sizes.max())

    def find_normal(self) -> Array | None:
        """Solve for the shortest v with v·z = 1 for every vertex z; None if there is none.

        Near the origin a sum of the vertices would cancel, so v is solved for directly.
        """
        if not self.is_independent():
            return None
        return np.asarray(self.Q @ solve_triangular(self.R, np.ones(len(self.R)), 1))

    def minimize_affine(self) -> Array | None:
        """Weigh the vertices for the nearest point of their affine hull; None if not unique."""
        if self.is_independent():
            half = solve_triangular(self.R, np.ones(len(self.R)), 1)
            weights = solve_triangular(self.R, half / np.abs(half).max())  # squares may overflow
        else:  # the origin is in the hull: a sum of the others is the newest vertex
            Q, R = (each[:, : len(self.rows) - 1] for each in (self.Q, self.R))
            shares = solve_triangular(R[: len(self.rows) - 1], Q.T @ self.vertices[-1])
            weights = np.append(-shares, 1.0)
        total = weights.sum()
        if not (np.isfinite(weights).all() and abs(total) > 1e-14 * np.abs(weights).max()):
            return None
        return np.asarray(weights / total)

    def add(self, rows: tuple[int, ...], vertex: Array) -> None:
        """Add a vertex, and move to the point nearest to the origin, dropping others."""
        self.rows, self.vertices = [*self.rows, rows], np.vstack([self.vertices, vertex])
        self.weights = np.append(self.weights, 0.0)
        self.insert()
        while (target := self.minimize_affine()) is not None and target.min() <= 1e-14:
            down = target <= 1e-14
            least = self.weights[down] - target[down]
            step = np.min(self.weights[down] / np.maximum(least, 1e-300))
            self.weights = np.maximum((1 - step) * self.weights + step * target, 0.0)
            keep = self.weights > 1e-14
            keep[np.argmax(self.weights)] = True
            if keep.all():
                keep[np.flatnonzero(down)[np.argmin(self.weights[down])]] = False
            self.drop(keep)
        if target is None and len(self.rows) > 1:  # the newest vertex depends on the others
            self.drop(np.arange(1, len(self.rows) + 1) < len(self.rows))
        elif target is not None:
            self.weights = target

    def drop(self, keep: Array) -> None:
        """Keep some of the vertices."""
        for number in np.flatnonzero(~keep)[::-1].tolist():
            if number < self.R.shape[1]:
                Q, R = qr_delete(self.Q, self.R, number, 1, "col", check_finite=False)
                self.Q, self.R = Q[:, : R.shape[1]], R[: R.shape[1]]
        self.rows = [rows for rows, kept in zip(self.rows, keep, strict=True) if kept]
        self.vertices = self.vertices[keep]
        self.weights = self.weights[keep] / self.weights[keep].sum()
        if self.R.shape[1] < len(self.rows):
            self.insert()

    def insert(self) -> None:
        """Update Q and R for the newest vertex, unless it lies in the span of the others."""
        vertex, count = self.vertices[-1], len(self.R)
        if not count:
            self.Q, self.R = np.linalg.qr(vertex[:, None])
        elif count < len(vertex) and vertex.any():
            with suppress(np.linalg.LinAlgError):
                self.Q, self.R = qr_insert(self.Q, self.R, vertex, count, "col", check_finite=False)


def nearest_to_origin(hull: Hull, tolerance: float | None = None) -> Corral:
    """Find the point of a hull nearest to the origin (Wolfe 1976, Mathematical Programming 11).

    Without a tolerance the search ends as soon as the normal separates all rows from the origin;
    with one, when no vertex is below 1 - tolerance along it.
    """
    normal, length = np.zeros(hull.width), 0.0
    hull.bring_in(normal)
    corral = Corral(*hull.find_lowest(normal))
    size = max(float(np.abs(vectors).max(initial=0.0)) for vectors in hull.vectors)
    for _ in range(MOST_MOVES):
        found = corral.find_normal()
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
        if rows in corral.rows:
            break  # no progress within rounding
        corral.add(rows, vertex)
    corral.normal, corral.lowest = normal, hull.bring_in(normal)
    return corral
