"""Repeat the run of a Perceptron to draw it."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse

from ..estimators.perceptron import Perceptron
from ..estimators.steps import Step, steps

MOST_UPDATES = 100_000
WORK = 200_000_000  # numbers to read while a run is measured or animated: seconds


def repeat_run(model: Perceptron, X: Any, y: ArrayLike, most: int) -> list[tuple[int, Step]]:
    """Repeat a fit and return at most ``most`` of its updates with their numbers, evenly spread.

    For many rows it returns fewer of them, so that all rows can be scored after each within
    seconds, but at least 20.
    """
    passes = sum(epoch.mistakes > 0 for epoch in model.history_)
    updates = passes if model.order == "batch" else model.n_mistakes_
    if updates > MOST_UPDATES:
        raise ValueError(
            f"The run made {updates:,} updates; at most {MOST_UPDATES:,} can be repeated one by "
            "one. Lower max_iter or use fewer rows."
        )
    n_rows, columns = X.shape if hasattr(X, "shape") else np.shape(X)
    numbers = (X.nnz if issparse(X) else n_rows * columns) + 100 * columns
    count = min(updates, most, max(20, WORK // int(numbers)))
    wanted = set(np.linspace(1, updates, count).round().astype(int).tolist())
    parameters = model.get_params() | {"warm_start": False, "verbose": 0}
    kept: list[tuple[int, Step]] = []
    number, weights = 0, np.zeros_like(model.coef_)
    for number, step in enumerate(steps(X, y, **parameters), start=1):
        weights = step.new_weights
        if number in wanted:
            kept.append((number, step))
    ends_alike = model.solution != "last" or (
        weights.shape == model.coef_.shape and np.allclose(weights, model.coef_)
    )
    if number != updates or not ends_alike:
        raise ValueError(
            "Repeating the fit made other updates: pass the rows that the model was fitted on, and "
            "fit it with an integer as random_state."
        )
    return kept
