"""How a unit is trained: by the perceptron rule, for the fewest mistakes where some must remain."""

from collections.abc import Callable

import numpy as np

from ...data.rows import Array, rows_of
from ...estimators.perceptron import Perceptron
from ...kernels.algebra import shuffle
from ...kernels.thermal import thermal
from .growth import Weights

HEAT = 0.3  # the first temperature, in mean squared lengths of rows; see docs/networks.md


def pocket(rows: Array, targets: Array, max_iter: int, seed: int) -> Weights:
    """The best weights that the rule met (Gallant 1990)."""
    unit = Perceptron(
        solution="pocket",
        ties="negative",  # as a unit is off at 0
        max_iter=max_iter,
        random_state=seed,
    )
    unit.fit(rows, targets)
    return unit.coef_[0].astype(np.float64), float(unit.intercept_[0])


def cooled(rows: Array, targets: Array, max_iter: int, seed: int) -> Weights:
    """The weights at the end of a cooling, in which T and α fall to 0 in a line (Frean 1992)."""
    heat = HEAT * float(np.mean(np.einsum("ij,ij->i", rows, rows) + 1))
    given, order = rows_of(np.ascontiguousarray(rows)), np.arange(len(rows), dtype=np.uint32)
    weights, bias = np.zeros(rows.shape[1]), np.zeros(1)
    for epoch in range(max_iter):
        shuffle(order, seed, epoch)
        warmth = 1 - epoch / max_iter
        if not thermal(given, targets, order, weights, bias, heat * warmth, warmth):
            break
    return weights, float(bias[0])


TRAININGS: dict[str, Callable[[Array, Array, int, int], Weights]] = {
    "pocket": pocket,
    "thermal": cooled,
}
