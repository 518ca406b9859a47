"""Every row on the line along w."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self, Unpack

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from ..data.rows import Array
from .data import Names, check_drawable
from .drawing import COLOURS, FAINT, arrow, draw_points, ink, legend_above, rounded, tidy
from .runs import TrainedDisplay
from .scores import compute_scores, linear_part


@dataclass(kw_only=True)
class ProjectionDisplay(TrainedDisplay):
    """Every row as a point on the line along w, with the threshold between the classes.

    A linear classifier of two classes sees no more of a row than its projection on w; the bias
    moves the threshold away from zero. For other classifiers the line is that of their scores.
    Make one with ``from_estimator`` or ``from_data``.

    Attributes
    ----------
    positions : ndarray of shape (n_samples,)
        w·x/‖w‖ of every row, or its score where there is no w.
    threshold : float
        Where the boundary is: -b/‖w‖, or 0.
    codes : ndarray of shape (n_samples,)
        Each row's number among the classes.
    class_names : sequence of str
        What the classes are called.
    wrong : ndarray of bool, shape (n_samples,)
        Which rows are misclassified.
    label : str
        Of the axis.

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
    title = "All rows along w, and the threshold"

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: ArrayLike, **names: Unpack[Names]) -> Self:
        """Project rows as a fitted classifier of two classes does.

        Parameters
        ----------
        estimator : classifier
            Fitted, of two classes.
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows to draw.
        y : array-like of shape (n_samples,)
            Their labels.
        **names
            ``class_names`` and ``feature_names``, sequences of str: what to call the classes, in
            the order of ``classes_``, and the columns.

        Returns
        -------
        ProjectionDisplay
            To be drawn or saved.
        """
        data = check_drawable(estimator, X, y, **names)
        if len(data.classes) != 2:
            raise ValueError(
                f"The estimator knows {len(data.classes)} classes, and a projection shows two; set "
                "one label against all others."
            )
        linear = linear_part(estimator, data.X)
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
        """Draw the positive class above the line and the negative one below.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; in a new figure unless given.
        bins : int, default=60
            Into how many parts the line is divided: points of one part are put on one another, and
            where that grows too high, bars are drawn.

        Returns
        -------
        self
            With ``ax_`` and ``figure_``, what it was drawn in.
        """
        ax = self._one_axes(ax)
        places, why = self._stacked(bins), f"misclassified ({self.wrong.sum():,})"
        height = max(float(np.abs(places[:, 1]).max()), 5.0)
        if height <= 20:
            draw_points(ax, places, self.codes, self.class_names, places[self.wrong], why)
        else:
            height = self._draw_bars(ax, bins, why)
        self._draw_threshold(ax)
        ax.set_ylim(-1.1 * height, 1.1 * height)
        ax.set_yticks([])
        tidy(ax, (self.label, ""))
        ax.spines["left"].set_visible(False)
        legend_above(ax)
        return self

    def _edges(self, bins: int) -> Array:
        """Where the parts of the line begin and end; none holds both sides of the threshold."""
        low, high = self.positions.min(), self.positions.max()
        width = (high - low) / bins or 1.0
        first = np.floor((low - self.threshold) / width)
        last = max(np.ceil((high - self.threshold) / width), first + 1)
        return np.asarray(self.threshold + width * np.arange(first, last + 1))

    def _stacked(self, bins: int) -> Array:
        """Each row's position, and its height in the pile of its class."""
        part = np.searchsorted(self._edges(bins), self.positions, side="right")
        pile = part * 2 + (self.codes == 1)
        order = np.lexsort((self.positions, pile))
        begins = np.flatnonzero(np.diff(pile[order], prepend=-1))
        counts = np.diff(begins, append=len(order))
        heights = np.empty(len(order))
        heights[order] = np.arange(len(order)) - np.repeat(begins, counts) + 0.7
        return np.column_stack([self.positions, np.where(self.codes == 1, heights, -heights)])

    def _draw_bars(self, ax: Axes, bins: int, why: str) -> float:
        """Bars in place of piles, hatched where rows are misclassified; return the highest."""
        edges, highest = self._edges(bins), 0.0
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
        """The line, its two sides, zero, and how far the bias moves the threshold from there."""
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
        value = f" −b/‖w‖ = {rounded(self.threshold, high - low)}" if self.label[0] == "w" else ""
        ax.axvline(self.threshold, color=ink(), linewidth=1.8, zorder=2, label="threshold" + value)
        if low < 0 < high and abs(self.threshold) > 0.02 * (high - low):
            ax.axvline(0, color=FAINT, linestyle=":", linewidth=1.2, zorder=2)
            arrow(ax, np.zeros(2), np.array([self.threshold, 0.0]), mutation_scale=12)
