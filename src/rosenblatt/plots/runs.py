"""Runs of a Perceptron that are repeated to be drawn."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse

from ..estimators.perceptron import Perceptron
from ..estimators.steps import Step, steps
from .display import Display

MOST_UPDATES = 100_000
WORK = 200_000_000  # numbers to read while a run is measured or filmed: seconds


class TrainedDisplay(Display):
    """A display of a fitted classifier, which can be trained for it."""

    from_estimator: Any

    @classmethod
    def from_data(cls, X: Any, y: ArrayLike, **options: Any) -> Self:
        """Train a Perceptron (``random_state`` is 0 unless given) and make its display.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows to draw.
        y : array-like of shape (n_samples,)
            Their labels.
        **options
            Parameters of ``Perceptron`` and options of ``from_estimator``.

        Returns
        -------
        Display
            To be drawn or saved.
        """
        names = Perceptron().get_params().keys() & options.keys()
        parameters = {"random_state": 0} | {name: options.pop(name) for name in names}
        display: Self = cls.from_estimator(Perceptron(**parameters).fit(X, y), X, y, **options)
        return display


def repeated(
    model: Perceptron, X: Any, y: ArrayLike, every: str, most: int
) -> list[tuple[int, Step]]:
    """Repeat a fit, and keep some of its updates with their numbers: spread over it evenly.

    Those after which an epoch ends, or any.
    """
    if every not in ("update", "epoch"):
        raise ValueError(f"every must be 'update' or 'epoch'; got {every!r}.")
    updates = count_updates(model)
    if updates > MOST_UPDATES:
        raise ValueError(
            f"The run made {updates:,} updates, and at most {MOST_UPDATES:,} are "
            "followed one by one; lower max_iter or take fewer rows."
        )
    total = updates if every == "update" else model.n_iter_
    wanted = spread_over(total, min(most, affordable(X)))
    parameters = model.get_params() | {"warm_start": False, "verbose": 0}
    kept: dict[int, tuple[int, Step]] = {}
    number, weights = 0, np.zeros_like(model.coef_)
    for number, step in enumerate(steps(X, y, **parameters), start=1):
        weights = step.new_weights
        moment = number if every == "update" else step.epoch
        if moment in wanted:
            kept[moment] = number, step
    ends_alike = model.solution not in ("last", "vote") or (
        weights.shape == model.coef_.shape and np.allclose(weights, model.coef_)
    )
    if number != updates or not ends_alike:
        raise ValueError(
            "Repeating the fit made other updates: give the rows that the model was fitted on, and "
            "fit it with a number as random_state."
        )
    return list(kept.values())


def count_updates(model: Perceptron) -> int:
    """How often the weights of a fitted model changed; a batch changes them once."""
    if model.order == "batch":
        return sum(epoch.mistakes > 0 for epoch in model.history_)
    return model.n_mistakes_


def affordable(X: Any) -> int:
    """How many times rows can be measured and drawn in some seconds."""
    n_rows, columns = X.shape if hasattr(X, "shape") else np.shape(X)
    numbers = X.nnz if issparse(X) else n_rows * columns
    return max(20, WORK // int(numbers + 100 * columns))


def spread_over(total: int, most: int) -> set[int]:
    """At most so many numbers from 1 to a total, with the first and the last."""
    return set(np.linspace(1, total, min(total, most)).round().astype(int).tolist())
