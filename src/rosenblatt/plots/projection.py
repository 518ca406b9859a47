"""Draw rows along w."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self, Unpack

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from ..data.rows import Array
from .data import Names, check_fitted_data
from .drawing import (
    COLOURS,
    FAINT,
    draw_arrow,
    draw_legend,
    draw_points,
    format_number,
    ink,
    label_axes,
)
from .runs import TrainedDisplay
from .scores import compute_scores, find_linear


@dataclass(kw_only=True)
class ProjectionDisplay(TrainedDisplay):
    """The rows projected onto w, with the threshold between the classes.

    A linear classifier of two classes uses only the projection of a row onto w; the bias moves the
    threshold away from zero. For other classifiers the axis is their score. Create a display with
    ``from_estimator`` or ``from_data``.

    Attributes
    ----------
    positions : ndarray of shape (n_samples,)
        The projection w·x/‖w‖ of every row, or its score if the classifier is not linear.
    threshold : float
        The position of the boundary: -b/‖w‖, or 0 for scores.
    codes : ndarray of shape (n_samples,)
        The numbers of the rows' classes.
    class_names : sequence of str
        Names of the classes.
    wrong : ndarray of bool, shape (n_samples,)
        Whether each row is misclassified.
    label : str
        The label of the axis.

    See Also
    --------
    BoundaryDisplay : The rows in a plane.

    Examples
    --------
    >>> from rosenblatt import Perceptron
    >>> X, y = [[3.0, 4.0], [-1.0, 0.0]], [1, -1]
    >>> display = ProjectionDisplay.from_estimator(Perceptron(order="fixed").fit(X, y), X, y)
    >>> display.positions.tolist(), float(display.threshold)
    ([5.0, -0.6], -0.2)
    """

    positions: Array
    threshold: float
    codes: Array
    class_names: Sequence[str]
    wrong: Array
    label: str
    title = "The rows along w, and the threshold"

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: ArrayLike, **names: Unpack[Names]) -> Self:
        """Make the display of a fitted classifier of two classes.

        Parameters
        ----------
        estimator : classifier
            A fitted classifier of two classes.
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows to draw.
        y : array-like of shape (n_samples,)
            Their labels.
        **names
            ``class_names`` and ``feature_names``: sequences of str, names of the classes in the
            order of ``classes_``, and of the columns.

        Returns
        -------
        ProjectionDisplay
            The display; ``plot`` draws it and ``save`` writes it to a file.
        """
        data = check_fitted_data(estimator, X, y, **names)
        data.check_two_classes()
        linear = find_linear(estimator, data.X)
        if linear is not None and linear.length > 0:
            positions = np.asarray(data.X @ linear.weights[0] / linear.length)
            threshold, label = -float(linear.bias[0]) / linear.length, "w·x / ‖w‖"
        else:
            positions, threshold, label = compute_scores(estimator, data.X), 0.0, "score"
        return cls(
            positions=positions if positions.ndim == 1 else positions[:, 1] - 0.5,
            threshold=threshold,
            codes=data.codes,
            class_names=data.class_names,
            wrong=np.asarray(estimator.predict(X)) != data.classes[data.codes],
            label=label,
        )

    def plot(self, ax: Axes | None = None, *, bins: int = 60) -> Self:
        """Draw the positive class above the axis and the negative class below.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            The axes to draw in; None makes a new figure.
        bins : int, default=60
            Number of bins. The points of a bin are stacked; high stacks are drawn as bars.

        Returns
        -------
        self
            The display, with the attributes ``ax_`` and ``figure_``.
        """
        ax = self._one_axes(ax)
        places, why = self._stack(bins), f"misclassified ({self.wrong.sum():,})"
        height = max(float(np.abs(places[:, 1]).max()), 5.0)
        if height <= 20:
            draw_points(ax, places, self.codes, self.class_names, places[self.wrong], why)
        else:
            height = self._draw_bars(ax, bins, why)
        self._draw_threshold(ax)
        ax.set_ylim(-1.1 * height, 1.1 * height)
        ax.set_yticks([])
        label_axes(ax, (self.label, ""))
        ax.spines["left"].set_visible(False)
        draw_legend(ax)
        return self

    def _compute_edges(self, bins: int) -> Array:
        """Compute the edges of the bins; the threshold is one of them."""
        low, high = self.positions.min(), self.positions.max()
        width = (high - low) / bins or 1.0
        first = np.floor((low - self.threshold) / width)
        last = max(np.ceil((high - self.threshold) / width), first + 1)
        return np.asarray(self.threshold + width * np.arange(first, last + 1))

    def _stack(self, bins: int) -> Array:
        """Stack the rows: position and height of each in the stack of its class."""
        part = np.searchsorted(self._compute_edges(bins), self.positions, side="right")
        stack = part * 2 + (self.codes == 1)
        order = np.lexsort((self.positions, stack))
        begins = np.flatnonzero(np.diff(stack[order], prepend=-1))
        counts = np.diff(begins, append=len(order))
        heights = np.empty(len(order))
        heights[order] = np.arange(len(order)) - np.repeat(begins, counts) + 0.7
        return np.column_stack([self.positions, np.where(self.codes == 1, heights, -heights)])

    def _draw_bars(self, ax: Axes, bins: int, why: str) -> float:
        """Draw bars instead of stacks, hatched where rows are misclassified; return the height."""
        edges, highest = self._compute_edges(bins), 0.0
        look: dict[str, Any] = {"edgecolor": ink(), "linewidth": 0.4}
        for code, name in enumerate(self.class_names):
            of_class, named = self.codes == code, {"label": name}
            for rows, more in (of_class, named), (of_class & self.wrong, {"hatch": "xxxx"}):
                counts = np.histogram(self.positions[rows], edges)[0] * (1 if code else -1)
                if counts.any():
                    ax.stairs(counts, edges, fill=True, facecolor=COLOURS[code], **look | more)
                highest = max(highest, float(np.abs(counts).max()))
        if self.wrong.any():
            ax.fill([], [], facecolor="none", edgecolor=ink(), hatch="xxxx", label=why)
        return highest

    def _draw_threshold(self, ax: Axes) -> None:
        """Draw the axis, the regions of both classes, zero, and the threshold."""
        everything = np.append(self.positions, self.threshold)
        low, high = everything.min(), everything.max()
        if 1.5 * low - 0.5 * high <= 0 <= 1.5 * high - 0.5 * low:
            low, high = min(low, 0.0), max(high, 0.0)
        room = 0.06 * (high - low) or 1.0
        low, high = low - room, high + room
        ax.set_xlim(low, high)
        for code, sides in enumerate([(low, self.threshold), (self.threshold, high)]):
            ax.axvspan(*sides, color=COLOURS[code], alpha=0.16, zorder=0, linewidth=0)
        ax.axhline(0, color=ink(), linewidth=0.8, zorder=2)
        value = (
            f" −b/‖w‖ = {format_number(self.threshold, high - low)}" if self.label[0] == "w" else ""
        )
        ax.axvline(self.threshold, color=ink(), linewidth=1.8, zorder=2, label="threshold" + value)
        if low < 0 < high and abs(self.threshold) > 0.02 * (high - low):
            ax.axvline(0, color=FAINT, linestyle=":", linewidth=1.2, zorder=2)
            draw_arrow(ax, np.zeros(2), np.array([self.threshold, 0.0]), mutation_scale=12)
