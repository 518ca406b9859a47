"""Kernel values: blocks of the Gram matrix, always in double precision."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..data.rows import Array, to_dense

ROWS_AT_ONCE = 1024  # of a block: enough for full matrix speed
SUPPORT_AT_ONCE = 512  # rows whose kernel values with a block stay in the processor's cache
MOST_BYTES = 200 * 2**20  # of kernel values, or of support rows that are made dense


@dataclass(frozen=True)
class Gram:
    """Computes blocks of the Gram matrix, always in double precision.

    Raw pixels to the sixth power are beyond float32, and their products are exact only in float64.
    """

    kernel: str
    degree: float
    gamma: float
    coef0: float

    def pick(self, X: Any, numbers: Array) -> Any:
        """Return the rows with some numbers, in the form in which they become support."""
        return numbers if self.kernel == "precomputed" else X[numbers]

    def __call__(self, support: Any, rows: Any) -> Array:
        """Return K(s, x) for every support row s and row x."""
        if self.kernel == "precomputed":
            return as_dense(rows[:, support]).T.astype(np.float64)
        values = inner_products(support, rows)
        if self.kernel == "rbf":
            values *= -2.0
            values += squared_norms(support)[:, None]
            values += squared_norms(rows)
            np.maximum(values, 0.0, out=values)
            values *= -self.gamma
            return np.exp(values, out=values)
        return self.apply_kernel(values)

    def apply_kernel(self, values: Array) -> Array:
        """Apply a kernel of the inner product, linear, polynomial or sigmoid, in place."""
        if self.kernel == "linear":
            return values
        if self.gamma != 1:
            values *= self.gamma
        values += self.coef0
        if self.kernel == "sigmoid":
            return np.tanh(values, out=values)
        return power(values, self.degree)

    def diagonal(self, X: Any, numbers: Array) -> Array:
        """Return K(x, x) for the rows with some numbers."""
        if self.kernel == "precomputed":
            return np.asarray([X[number, number] for number in numbers], np.float64)
        if self.kernel == "rbf":
            return np.ones(len(numbers))
        return self.apply_kernel(squared_norms(X[numbers]))


def as_dense(rows: Any) -> Array:
    """Return rows, sparse or not, as an array of NumPy or CuPy."""
    return rows if hasattr(rows, "__cuda_array_interface__") else to_dense(rows)


def inner_products(support: Any, rows: Any) -> Array:
    """Return the inner products of two sets of rows, dense or sparse."""
    left = as_dense(support).astype(np.float64, copy=False)
    if hasattr(rows, "indptr") and 16 * rows.nnz < rows.shape[0] * rows.shape[1]:
        return np.asarray(rows @ np.ascontiguousarray(left.T)).T
    # Dense rows are faster, unless they are very sparse.
    values: Array = left @ as_dense(rows).astype(np.float64, copy=False).T
    return values


def squared_norms(rows: Any) -> Array:
    """Return ‖x‖² of every row."""
    if hasattr(rows, "indptr"):
        rows = rows.astype(np.float64)
        return np.asarray(rows.multiply(rows).sum(axis=1)).ravel()
    rows = rows.astype(np.float64, copy=False)
    norms: Array = np.einsum("ij,ij->i", rows, rows)
    return norms


def power(values: Array, degree: float) -> Array:
    """Raise values to a power in place: by squaring if it is whole, which is faster than pow."""
    exponent = int(degree)
    if exponent != degree or exponent < 1:
        return np.power(values, degree, out=values)
    factors = f"{exponent:b}"[1:]
    base = values.copy() if "1" in factors else values
    for bit in factors:
        values *= values
        if bit == "1":
            values *= base
    return values


def slice_support(
    count: int, width: int, most: int = SUPPORT_AT_ONCE, most_bytes: int = MOST_BYTES
) -> list[slice]:
    """Return slices of the support whose rows and kernel values with a block fit into memory."""
    at_once = min(max(most_bytes // (16 * max(width, ROWS_AT_ONCE)), 1), most)
    return [slice(begin, min(begin + at_once, count)) for begin in range(0, count, at_once)]


def overflow_error(row: int) -> ValueError:
    """Return the error for scores that are not finite."""
    return ValueError(
        f"The scores of row {row} are beyond what float64 can hold (infinity); scale X down or use "
        "a smaller degree, gamma or coef0."
    )


def resolve_gamma(gamma: float | str | None, kernel: str, X: Any) -> float:
    """Return the parameter gamma as a number, for rows to learn from."""
    if gamma == "scale" and kernel not in ("rbf", "poly", "sigmoid"):
        return 1.0  # without meaning for this kernel
    if gamma == "scale":
        with np.errstate(over="ignore", invalid="ignore"):
            spread = variance(X)
        if not np.isfinite(spread):
            raise ValueError(
                'gamma="scale" needs the variance of X, which is beyond what float64 can hold; '
                "scale the columns, or give a number."
            )
        return 1 / (X.shape[1] * spread) if spread > 0 else 1.0
    return 1 / X.shape[1] if gamma in (None, "auto") else float(gamma)


def variance(X: Any) -> float:
    """Return the variance of all numbers of X, in double precision."""
    size = X.shape[0] * X.shape[1]
    values = X.data if hasattr(X, "indptr") else X
    mean = float(values.sum(dtype=np.float64)) / size
    total = 0.0
    for begin in range(0, len(values), ROWS_AT_ONCE):  # without a copy of the whole
        apart = values[begin : begin + ROWS_AT_ONCE].astype(np.float64).ravel() - mean
        total += float(apart @ apart)
    return float((total + (size - values.size) * mean * mean) / size)
