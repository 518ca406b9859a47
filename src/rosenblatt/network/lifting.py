"""Transform rows so that a plane can separate each one from all others."""

from typing import Any, NamedTuple

import numpy as np

from ..data.rows import Array


class Lift(NamedTuple):
    """Columns of mean 0 and deviation 1, projected onto a sphere; or rows as they are.

    The stereographic projection takes a point z of a plane to (2z, ‖z‖² - 1)/(‖z‖² + 1), a point
    of the unit sphere around the origin of one dimension more.
    """

    sphere: bool
    centre: Array
    scale: Array

    @property
    def width(self) -> int:
        """The number of columns after the transformation."""
        return len(self.centre) + self.sphere

    def rows(self, X: Array) -> Array:
        """Return the transformed rows in double precision."""
        X = X.astype(np.float64, copy=False)
        if not self.sphere:
            return X
        z = (X - self.centre) / self.scale
        square = np.einsum("ij,ij->i", z, z)[:, None]
        return np.asarray(np.hstack([2 * z, square - 1]) / (square + 1))

    def as_dict(self) -> dict[str, Any]:
        """Return the numbers that a model file keeps."""
        return {"sphere": self.sphere, "centre": self.centre.tolist(), "scale": self.scale.tolist()}

    @classmethod
    def from_dict(cls, kept: Any, width: int) -> "Lift":
        """Make a lift from the numbers of a model file; refuse those that do not fit."""
        numbers = (np.array(kept[name], np.float64) for name in ("centre", "scale"))
        lift = cls(kept["sphere"] is True, *numbers)
        fitting = lift.centre.shape == lift.scale.shape == (width,)
        if not (fitting and np.isfinite(lift.centre).all() and np.all(lift.scale > 0)):
            raise ValueError("its lift does not fit or is not finite")
        return lift


def make_lift(X: Array, kind: str) -> Lift:
    """Choose a lift for rows like those of X; "auto" is "none" if all columns are binary."""
    width = X.shape[1]
    binary = all(np.isin(column, [column.min(), column.max()]).all() for column in X.T)
    if kind == "none" or (kind == "auto" and binary):
        return Lift(False, np.zeros(width), np.ones(width))
    exponents = np.frexp(np.abs(X).max(axis=0).astype(np.float64))[1]
    unit = np.ldexp(1.0, exponents - 1)  # a power of two changes no digit, and squares stay finite
    small = X / unit
    centre, spread = small.mean(axis=0), small.std(axis=0)
    spread = np.where(spread > 0, spread * unit, 1.0)
    return Lift(True, centre * unit, spread * np.sqrt(width))  # so that most rows are about 1 long
