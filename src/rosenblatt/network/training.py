"""Two ways to train a unit so that it makes few mistakes on rows that no plane separates."""

import numpy as np

from ..data.rows import Array, view_rows
from ..kernels.algebra import shuffle
from ..learners.linear import LinearLearner, TrainingRows
from ..parameters import LINEAR, defaults
from .growth import Weights
from .kernels import thermal

POCKET = defaults(LINEAR) | {"solution": "pocket", "ties": "negative"}  # a unit is off at 0
HEAT = 0.3  # the first temperature, in mean squared lengths of rows; see docs/networks.md


def train_pocket(rows: Array, steps: Array, max_iter: int, seed: int) -> Weights:
    """Return the weights with the fewest mistakes that the rule met (Gallant 1990).

    A step is the weight of a row, negative for the target -1.
    """
    given, width = view_rows(np.ascontiguousarray(rows)), rows.shape[1]
    examples = TrainingRows.of(given, (steps > 0).astype(np.intp), np.abs(steps), width)
    learner = LinearLearner.begin(POCKET, np.array([-1, 1]), (width, rows.dtype))
    learner.train(examples, seed, max_iter=max_iter)
    weights, bias = learner.states[0].coefficients()
    return weights.astype(np.float64), float(bias[0])


def train_thermal(rows: Array, steps: Array, max_iter: int, seed: int) -> Weights:
    """Return the weights after T and α fell to 0 linearly (Frean 1992)."""
    heat = HEAT * float(np.mean(np.einsum("ij,ij->i", rows, rows) + 1))
    given, order = view_rows(np.ascontiguousarray(rows)), np.arange(len(rows), dtype=np.uint32)
    weights, bias = np.zeros(rows.shape[1]), np.zeros(1)
    for epoch in range(max_iter):
        shuffle(order, seed, epoch)
        warmth = 1 - epoch / max_iter
        if not thermal(given, steps, order, weights, bias, heat * warmth, warmth):
            break
    return weights, float(bias[0])


TRAININGS = {"pocket": train_pocket, "thermal": train_thermal}
