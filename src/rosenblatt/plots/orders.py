"""Compare the orders in which rows are learnt."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike

from ..data.rows import Array
from ..estimators.perceptron import Perceptron
from .display import Display
from .drawing import COLOURS, ink, label_axes

TITLES = {"reads": "reads of the data", "mistakes": "mistakes"}


@dataclass(kw_only=True)
class OrderDisplay(Display):
    """Passes over the rows and mistakes of a Perceptron, for several orders of the rows.

    Create a display with ``from_data``.

    Attributes
    ----------
    reads : dict of ndarray
        By order, for each seed: the number of rows read, divided by the number of rows.
    mistakes : dict of ndarray
        The number of mistakes.
    separated : dict of ndarray of bool
        Whether the run ended with a pass without mistakes.

    See Also
    --------
    rosenblatt.Perceptron : The estimator, with the parameter ``order``.

    Examples
    --------
    >>> display = OrderDisplay.from_data([[2.0, 1.0], [-1.0, 1.0]], [1, -1], seeds=range(3))
    >>> display.reads["fixed"].tolist(), display.mistakes["fixed"].tolist()
    ([2.0], [2])
    """

    n_axes = 2
    title = "The same rows in different orders"
    reads: dict[str, Array]
    mistakes: dict[str, Array]
    separated: dict[str, Array]

    @classmethod
    def from_data(
        cls,
        X: Any,
        y: ArrayLike,
        *,
        orders: Sequence[str] = ("fixed", "once", "each", "active"),
        seeds: Sequence[int] = range(20),
        **parameters: Any,
    ) -> Self:
        """Train in each order, for random orders once for each seed, and make the display.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their labels.
        orders : sequence of str, default=("fixed", "once", "each", "active")
            Values of the parameter ``order`` of ``Perceptron``.
        seeds : sequence of int, default=range(20)
            Values of the parameter ``random_state``.
        **parameters
            Other parameters of ``Perceptron``; ``max_iter`` is 1000 by default.

        Returns
        -------
        OrderDisplay
            The display; ``plot`` draws it and ``save`` writes it to a file.
        """
        display = cls(reads={}, mistakes={}, separated={})
        parameters = {"max_iter": 1000, **parameters}
        for order in orders:
            models = [
                Perceptron(order=order, random_state=seed, **parameters).fit(X, y)
                for seed in (seeds if order in ("each", "once") else [0])
            ]
            reads = [sum(epoch.rows for epoch in model.history_) for model in models]
            display.reads[order] = np.array(reads) / np.shape(y)[0]
            display.mistakes[order] = np.array([model.n_mistakes_ for model in models])
            ends = [model.stop_reason_ == "separated" for model in models]
            display.separated[order] = np.array(ends)
        return display

    def plot(self, ax: Any = None) -> Self:
        """Draw a dot for each run, open if it did not separate the rows, and the means.

        Parameters
        ----------
        ax : sequence of matplotlib Axes, default=None
            The two axes to draw in; None makes a new figure.

        Returns
        -------
        self
            The display, with the attributes ``ax_`` and ``figure_``.
        """
        everywhere = all(done.all() for done in self.separated.values())
        until = " until separated" if everywhere else " (open: not separated)"
        for axis, name in zip(self._all_axes(ax, 2), TITLES, strict=True):
            for place, (order, values) in enumerate(getattr(self, name).items()):
                draw_runs(axis, place, values, self.separated[order])
            axis.set_yticks(range(len(self.reads)), list(self.reads))
            axis.set_ylim(len(self.reads) - 0.5, -0.5)
            axis.set_xlim(left=0)
            axis.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
            axis.set_title(TITLES[name] + until, loc="left", fontsize="medium")
            axis.tick_params(axis="y", length=0)
            axis.grid(axis="x", alpha=0.3)
            axis.set_axisbelow(True)
            label_axes(axis, ("", ""))
        return self


def draw_runs(ax: Axes, place: int, values: Array, separated: Array) -> None:
    """Draw the runs in one order, and their mean with two standard errors."""
    heights = place + 0.22 * np.sin(2.4 * np.arange(len(values)))  # deterministic jitter
    for chosen, fill in ((separated, COLOURS[1]), (~separated, "none")):
        alpha = None if fill == "none" else 0.7  # alpha would fill open dots
        x, y = values[chosen], heights[chosen]
        ax.scatter(x, y, s=22, facecolors=fill, edgecolors=COLOURS[1], alpha=alpha, zorder=2)
    error = 2 * values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else 0.0
    ax.errorbar(values.mean(), place, xerr=error, fmt="D", color=ink(), capsize=4, markersize=6,
                zorder=3)  # fmt: skip
