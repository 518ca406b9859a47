"""Checked rows of two classes for proofs: exact numbers, and labels as signs."""

import math
import sys
from collections.abc import Iterable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..data.labels import encode, make_labels
from ..data.rows import Array, is_sparse, to_canonical, to_dense
from ..parameters.tables import SIGN_OF_ZERO


def to_integers(values: Iterable[Any]) -> tuple[list[int], int]:
    """Return integers and the smallest denominator that they have in common."""
    exact = [Fraction(value) for value in values]
    common = math.lcm(*(value.denominator for value in exact))
    return [value.numerator * (common // value.denominator) for value in exact], common


class Problem(NamedTuple):
    """Checked rows, their signs, and whether a hyperplane may have a bias."""

    X: Any
    signs: Array
    fit_intercept: bool = True

    def margins(self, weights: Array, bias: float = 0.0) -> Array:
        """Compute the functional margin y(w·x + b) of every row; overflow gives infinity."""
        with np.errstate(all="ignore"):
            return np.asarray(self.signs * (self.X @ weights + bias))

    def bound_margins(self, weights: Array, bias: float = 0.0) -> tuple[Array, Array]:
        """Bound y(w·x + b) of every row from below and above, in spite of rounding.

        A sum of m products in any order is off by at most m·u/(1 - m·u) times the sum of their
        sizes (Higham 2002, section 3.1), u = 2⁻⁵³, plus what underflows; both are taken twice here.
        """
        terms = 2.0 * (len(weights) + 4)
        with np.errstate(all="ignore"):
            sizes = abs(self.X) @ abs(weights)
            bound = terms * 2.0**-53 * (sizes + abs(bias)) + terms * 2.0**-1074
            margins = self.margins(weights, bias)
            return margins - bound, margins + bound

    def margin(self, weights: Array, bias: float = 0.0) -> float:
        """Compute the smallest distance of a row from a hyperplane; -∞ if a row is not right."""
        least = float(self.margins(weights, bias).min(initial=np.inf))
        if not least > 0:
            return -np.inf
        size = float(length(weights))
        return least / size if size else np.inf

    def entries_of(self, rows: Array) -> tuple[Array, Array, Array, Array]:
        """The nonzero entries of [x, 1] of some rows: n·2ᵉ with integers n, as Python has them.

        Returns the place of the row, the column (the last one for the bias), n, and e of each.
        """
        from scipy.sparse import coo_matrix

        part = coo_matrix(self.X[rows])
        places, columns, values = part.row, part.col, part.data
        if self.fit_intercept:
            places = np.append(places, np.arange(len(rows)))
            columns = np.append(columns, np.full(len(rows), self.X.shape[1]))
            values = np.append(values, np.ones(len(rows)))
        kept = values != 0
        mantissas, powers = np.frexp(values[kept])
        numbers = np.ldexp(mantissas, 53).astype(np.int64)
        zeros = np.frexp((numbers & -numbers).astype(np.float64))[1] - 1  # at the end of each
        return places[kept], columns[kept], (numbers >> zeros).astype(object), powers - 53 + zeros

    def add_up(self, rows: Array, factors: Iterable[Any], by_row: bool = False) -> Array:
        """Sum y[x, 1] of some rows times fractions, exactly.

        Returns the sums of columns that are not 0, with a factor for each row; or the sum of each
        row, with one for each column and for the bias.
        """
        whole, common = to_integers(factors)
        places, columns, numbers, powers = self.entries_of(rows)
        least = int(powers.min(initial=0))
        numbers = np.where(self.signs[rows][places] > 0, numbers, -numbers)
        sums = np.zeros(len(rows) if by_row else self.X.shape[1] + 1, object)
        chosen, into = (columns, places) if by_row else (places, columns)
        scaled = (numbers << (powers - least).astype(object)) * np.array(whole, object)[chosen]
        np.add.at(sums, into, scaled)
        return np.asarray(Fraction(2) ** least / common * (sums if by_row else sums[sums != 0]))


def check_problem(X: Any, y: ArrayLike, fit_intercept: bool = True) -> Problem:
    """Check rows and labels.

    The larger of two labels is +1. A single label is +1 unless it is 0 or -1.
    """
    from sklearn.utils.validation import check_consistent_length, column_or_1d  # takes a second

    X, labels = check_rows(X), column_or_1d(make_labels(y))
    check_consistent_length(X, labels)
    classes, codes = encode(labels)
    if len(classes) > 2:
        raise ValueError(f"y has {len(classes)} classes; expected two. Pass y == label for one.")
    positive = len(classes) == 2 or classes[0] not in (-1, 0)
    signs = np.where(codes == len(classes) - 1, 1.0, -1.0) if positive else -np.ones(len(codes))
    return Problem(X, signs, fit_intercept)


@np.errstate(all="ignore")  # the sum by which scikit-learn finds infinities may overflow
def check_rows(X: Any) -> Any:
    """Return X as a float64 array or CSR matrix; raise ValueError if that would round a number."""
    from sklearn.utils.validation import check_array

    given: Any = X if is_sparse(X) else np.asarray(X)
    X = check_array(given, accept_sparse="csr", dtype=np.float64, order="C", ensure_min_features=0)
    numbers = given.tocsr().data if is_sparse(given) else np.ravel(given)
    if numbers.dtype.kind in "iu":
        numbers = numbers[(numbers > 2**53) | (numbers < -(2**53))]
    elif numbers.dtype.kind != "O" and numbers.dtype.itemsize <= 8:
        return to_canonical(X)
    if any(float(value) != value for value in numbers.tolist()):  # Python compares exactly
        raise ValueError("X has numbers that float64 cannot hold exactly; scale or shift them.")
    return to_canonical(X)


def is_mistake(functional: Any, signs: Any, ties: str) -> Any:
    """Whether y(w·x + b) is a mistake, for one row or an array; ``ties`` decides about 0."""
    on_boundary = (ties == "mistake") | (signs == -SIGN_OF_ZERO[ties])
    return (functional < 0) | ((functional == 0) & on_boundary)


def check_weights(X: Any, weights: ArrayLike) -> Array:
    """Return weights as a vector with one number per column of X."""
    w = np.ravel(np.asarray(weights, np.float64))
    if len(w) != X.shape[1] or not np.isfinite(w).all():
        raise ValueError(f"weights must be {X.shape[1]} finite numbers, one per column of X.")
    return w


def length(vectors: Array) -> Any:
    """Compute the Euclidean length of a vector, or of each row, without overflow or underflow."""
    return np.hypot.reduce(vectors, axis=-1)


def round_root(square: Fraction, *, up: bool = False) -> float:
    """Return the root of a fraction, rounded to a float below, or above.

    >>> round_root(Fraction(2)), round_root(Fraction(2), up=True)
    (1.414213562373095, 1.4142135623730951)
    """
    half = (square.numerator.bit_length() - square.denominator.bit_length()) // 2
    with np.errstate(all="ignore"):
        root = float(np.ldexp(math.sqrt(square / Fraction(4) ** half), half))
    root = root if up else min(root, sys.float_info.max)
    while root < np.inf and (Fraction(root) ** 2 < square if up else Fraction(root) ** 2 > square):
        root = math.nextafter(root, np.inf if up else 0.0)
    return root


# Scaling by powers of two is exact


def exponents(X: Any, axis: int) -> Array:
    """Find the exponent of the largest magnitude of each column (axis 0) or row (axis 1)."""
    if not X.shape[1]:
        return np.zeros(X.shape[1 - axis], int)
    high, low = (to_dense(each).ravel() for each in (X.max(axis=axis), X.min(axis=axis)))
    return np.asarray(np.frexp(np.maximum(high, -low))[1])


def scale_by_powers(X: Any, powers: Array) -> Any:
    """Multiply the columns of X by powers of two; underflow gives 0."""
    if not is_sparse(X):
        return np.ldexp(X, powers)
    X = X.copy()
    X.data = np.ldexp(X.data, powers[X.indices])
    return X


LARGE = 300  # exponents up to this one can be squared without overflow


def exponent(X: Any) -> int:
    """Find the exponent of the largest magnitude of all numbers; 0 for zeros."""
    return int(np.frexp(max(X.max(), -X.min()))[1]) if X.shape[1] else 0


@np.errstate(all="ignore")  # overflow gives infinity
def radius(X: Any) -> float:
    """Compute R, the largest Euclidean norm of a row.

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
    mistake_bounds : Bounds by the radius and a margin.

    Examples
    --------
    >>> radius([[3.0, 4.0], [1.0, 0.0]])
    5.0
    """
    from sklearn.utils.extmath import row_norms  # slow to import

    X = check_rows(X)
    power = exponent(X)  # squares could overflow or vanish
    scaled = scale_by_powers(X, np.full(X.shape[1], -power))
    return float(np.ldexp(row_norms(scaled).max(), power))
