"""Draw the boundary of a classifier in the plane, or the rows along w."""

from typing import Any, Self

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike

from ..data.rows import Array
from ..data.targets import choose_class
from ..estimators.perceptron import Perceptron
from ..theory.margins import margin
from .data import (
    Data,
    Linear,
    call_quietly,
    check_data,
    check_fitted_data,
    compute_leads,
    compute_own_leads,
    compute_scores,
    find_linear,
)
from .display import TrainedDisplay
from .drawing import (
    COLOURS,
    FAINT,
    choose_colour,
    draw_arrow,
    draw_points,
    draw_text,
    format_number,
    ink,
    label_axes,
)
from .planes import Limits, choose_plane, compute_limits

BINS = 60
RESOLUTION = 200  # points per side of the grid on which a curved boundary is searched


class BoundaryDisplay(TrainedDisplay):
    """The decision boundary of a classifier, the regions of its classes, and the rows.

    Rows of two columns are drawn as they are. Rows of more columns are projected onto the plane
    spanned by w and the first principal direction orthogonal to w; there the boundary is a line and
    distances to it are true. Above 5,000 rows, a sample is drawn. Create a display with
    ``from_estimator``, ``from_data`` or ``from_weights``.

    Parameters
    ----------
    data : Data
        The checked rows.
    linear : Linear or None
        The weights, if the classifier is linear.
    wrong : ndarray of bool, shape (n_samples,)
        Whether each row is misclassified.
    estimator : classifier, default=None
        The classifier, if it is not linear.
    new : Data, default=None
        New rows, with the classes predicted for them.

    Attributes
    ----------
    errors, n_rows : int
        The number of misclassified rows and of all rows.
    drawn : ndarray
        The numbers of the rows that are drawn.
    places : ndarray of shape (n_drawn, 2)
        Their positions.
    limits : Limits
        The visible part of the plane.
    leads : ndarray of shape (n_classes, resolution, resolution)
        The lead of each class over the best other class, on a grid within the limits.
    linear : Linear or None
        Weights and bias in the plane, if the boundary of two classes is a line.
    band : float
        The distance of the nearest row from the boundary; if rows are misclassified, the margin
        that training demanded.

    See Also
    --------
    ProjectionDisplay : The rows along w alone.

    Examples
    --------
    >>> from rosenblatt import Perceptron
    >>> X, y = [[2.0, 1.0], [-1.0, 1.0]], [1, -1]
    >>> display = BoundaryDisplay.from_estimator(Perceptron(order="fixed").fit(X, y), X, y)
    >>> float(display.band), display.errors
    (1.0, 0)
    """

    def __init__(
        self,
        data: Data,
        linear: Linear | None,
        wrong: Array,
        *,
        estimator: Any = None,
        new: Data | None = None,
    ) -> None:
        self.data, self.wrong, self.new = data, wrong, new
        self.errors, self.n_rows = int(np.count_nonzero(wrong)), len(wrong)
        self.title = f"Predicted classes; {self.errors:,} of {self.n_rows:,} rows are misclassified"
        self.plane = choose_plane(data, linear)
        self.drawn = data.sample()
        self.places = self.plane.place(data.X[self.drawn])
        new_places = self.plane.place(data.X[:0] if new is None else new.X)
        self.limits = compute_limits(np.vstack([self.places, new_places]))
        self.linear, self.band = None, 0.0
        seen = None if linear is None else self.plane.restrict(linear)
        self.leads = self._compute_leads(seen, estimator)
        if linear is None or seen is None or len(seen.weights) != 1 or seen.length == 0:
            return
        self.linear = seen
        if np.isclose(seen.length, linear.length):  # else distances in the plane are not true
            nearest = margin(data.X, data.signs, linear.weights, float(linear.bias[0]))
            demanded = np.min(estimator.margin) if isinstance(estimator, Perceptron) else 0.0
            self.band = nearest if nearest > 0 else demanded / seen.length

    def _compute_leads(self, seen: Linear | None, estimator: Any) -> Array:
        """Compute the leads on a grid by weights in the plane, or else by an estimator."""
        size = max(2, min(RESOLUTION, int(np.sqrt(1e8 / self.data.X.shape[1]))))
        corners = np.linspace(self.limits.low, self.limits.high, size)
        grid = np.stack(np.meshgrid(*corners.T), axis=-1)
        if seen is None:
            scores = [compute_scores(estimator, self.plane.lift(line)) for line in grid]
        else:
            scores = [seen.scores(line) for line in grid]
        return compute_leads(np.concatenate(scores)).T.reshape(-1, size, size)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: ArrayLike, *, new: Any = None, **names: Any
    ) -> Self:
        """Make the display of a fitted classifier, linear or not.

        Parameters
        ----------
        estimator : classifier
            A fitted classifier with ``predict`` and, for smooth regions, ``decision_function``.
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows to draw.
        y : array-like of shape (n_samples,)
            Their labels.
        new : array-like of shape (n_new, n_features), default=None
            Rows without labels, drawn as grey triangles with the class that is predicted for them.
        **names
            ``class_names`` and ``feature_names``: sequences of str, names of the classes in the
            order of ``classes_``, and of the columns.

        Returns
        -------
        BoundaryDisplay
            The display; ``plot`` draws it and ``save`` writes it to a file.
        """
        data = check_fitted_data(estimator, X, y, **names)
        linear = find_linear(estimator)
        wrong = np.asarray(estimator.predict(X)) != data.classes[data.codes]
        if new is not None:
            new = new if hasattr(new, "shape") else np.atleast_2d(new)
            predicted = call_quietly(estimator.predict, new)
            new = check_fitted_data(estimator, new, predicted, **names)
        return cls(data, linear, wrong, estimator=estimator, new=new)

    @classmethod
    def from_weights(
        cls,
        weights: ArrayLike,
        bias: ArrayLike,
        X: Any,
        y: ArrayLike,
        *,
        ties: str = "mistake",
        **names: Any,
    ) -> Self:
        """Make the display of weights and biases.

        Parameters
        ----------
        weights : array-like of shape (1, n_features) or (n_classes, n_features)
            The weights, in the shape of ``coef_``.
        bias : array-like of shape (1,) or (n_classes,)
            The biases, in the shape of ``intercept_``.
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows to draw.
        y : array-like of shape (n_samples,)
            Their labels.
        ties : {"mistake", "positive", "negative", "correct"}, default="mistake"
            What an activation of exactly 0 counts as, as for ``Perceptron``.
        **names
            ``class_names`` and ``feature_names``: sequences of str, names of the classes in the
            order of ``classes_``, and of the columns.

        Returns
        -------
        BoundaryDisplay
            The display; ``plot`` draws it and ``save`` writes it to a file.
        """
        linear = Linear(np.atleast_2d(np.asarray(weights, np.float64)), np.ravel(bias))
        data = check_data(X, y, **names)
        scores = linear.scores(data.X)
        ahead = compute_own_leads(scores, data.codes)
        tie_is_wrong = (ties == "mistake") | (
            (ties != "correct") & (choose_class(scores, ties) != data.codes)
        )
        return cls(data, linear, np.where(ahead == 0, tie_is_wrong, ahead < 0))

    def draw(self, ax: Axes) -> None:
        """Draw the regions, the boundary with w, shift and margin, and the rows.

        :meta private:
        """
        self._draw_regions(ax)
        if self.linear is not None:
            self._draw_line(ax, self.linear)
        circled, why = self.places[self.wrong[self.drawn]], f"misclassified ({self.errors:,})"
        codes, names = self.data.codes[self.drawn], self.data.class_names
        draw_points(ax, self.places, codes, names, circled, why)
        if self.new is not None:
            self._draw_new(ax, self.new)
        self.limits.apply(ax)
        label_axes(ax, *self.plane.labels)
        if not self.plane.labels[1]:
            ax.set_yticks([])
        if len(self.drawn) < self.n_rows:
            count = f"{len(self.drawn):,} of {self.n_rows:,} rows"
            draw_text(ax, count, (0.99, 0.01), xycoords="axes fraction", ha="right", va="bottom")

    def _draw_new(self, ax: Axes, new: Data) -> None:
        """Draw new rows as grey triangles, each with the class predicted for it."""
        places = self.plane.place(new.X)
        look: dict[str, Any] = {"color": FAINT, "edgecolors": ink(), "zorder": 5}
        x, y = places.T
        ax.scatter(x, y, s=110, marker="^", label="new, with its prediction", **look)
        for place, code in zip(places.tolist(), new.codes.tolist(), strict=True):
            offset = {"xytext": (9, 9), "textcoords": "offset points"}
            draw_text(ax, f"→ {new.class_names[code]}", place, **offset)

    def _draw_regions(self, ax: Axes) -> None:
        """Shade the region of each class, with lines between them."""
        xs, ys = np.linspace(self.limits.low, self.limits.high, self.leads.shape[1]).T
        for code, ahead in enumerate(self.leads):
            if ahead.max() > 0:
                levels = [0, 2 * float(ahead.max())]
                ax.contourf(xs, ys, ahead, levels, colors=[choose_colour(code)], alpha=0.16,
                            zorder=0)  # fmt: skip
            if self.linear is None and ahead.min() < 0 < ahead.max():
                ax.contour(xs, ys, ahead, [0], colors=ink(), linewidths=1.2, zorder=2)

    def _draw_line(self, ax: Axes, linear: Linear) -> None:
        """Draw the boundary, the band of the margin, the weights and the shift by the bias."""
        draw_level(ax, self.limits, linear, 0.0, linewidth=1.8)
        size = float(np.max(self.limits.high - self.limits.low))
        if self.band > 0.008 * size:  # otherwise the three lines would look like one
            look: dict[str, Any] = {"linestyle": "--", "linewidth": 0.9}
            draw_level(ax, self.limits, linear, -self.band, **look)
            look["label"] = f"margin γ = {format_number(self.band)}"
            draw_level(ax, self.limits, linear, self.band, **look)
        foot, unit = self.limits.find_foot(linear), linear.weights[0] / linear.length
        if foot is None:
            return
        shift = -float(linear.bias[0]) / linear.length  # from the origin to the boundary, along w
        if self.limits.contains(np.zeros(2)) and self.limits.contains(shift * unit):
            ax.plot(0, 0, "+", color=ink(), markersize=9, zorder=4)
            label = f"shift −b/‖w‖ = {format_number(shift, size)}"
            path = np.outer([0, shift], unit).T
            ax.plot(*path, ":", color=ink(), linewidth=1.6, zorder=2, label=label)
        start = foot + 0.2 * size * np.array([unit[1], -unit[0]])  # beside the shift
        tip = start + unit * size * 0.15
        draw_arrow(ax, start, tip, 16)
        draw_text(ax, "w", tuple(tip), xytext=tuple(11 * unit), textcoords="offset points",
             ha="center", va="center", fontweight="bold")  # fmt: skip


def draw_level(ax: Axes, limits: Limits, linear: Linear, distance: float, **look: Any) -> None:
    """Draw the line at a distance from the boundary, if it is visible."""
    foot, (w,) = limits.find_foot(linear, distance), linear.weights / linear.length
    if foot is not None:
        look = {"color": ink(), "linewidth": 1.2, "zorder": 2, **look}
        ax.axline(tuple(foot), (foot[0] - w[1], foot[1] + w[0]), **look)


class ProjectionDisplay(TrainedDisplay):
    """The rows projected onto w, with the threshold between the classes.

    A linear classifier of two classes uses only the projection of a row onto w; the bias moves the
    threshold away from zero. For other classifiers the axis is their score. Create a display with
    ``from_estimator`` or ``from_data``.

    Parameters
    ----------
    data : Data
        The checked rows.
    estimator : classifier
        A fitted classifier of two classes.
    wrong : ndarray of bool, shape (n_samples,)
        Whether each row is misclassified.

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

    title = "The rows along w, and the threshold"

    def __init__(self, data: Data, estimator: Any, wrong: Array) -> None:
        data.check_two_classes()
        self.codes, self.class_names, self.wrong = data.codes, data.class_names, wrong
        linear = find_linear(estimator)
        if linear is not None and linear.length > 0:
            self.positions = np.asarray(data.X @ linear.weights[0] / linear.length)
            self.threshold, self.label = -float(linear.bias[0]) / linear.length, "w·x / ‖w‖"
        else:
            scores = compute_scores(estimator, data.X)
            self.positions = scores if scores.ndim == 1 else scores[:, 1] - 0.5
            self.threshold, self.label = 0.0, "score"

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: ArrayLike, **names: Any) -> Self:
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
        wrong = np.asarray(estimator.predict(X)) != data.classes[data.codes]
        return cls(data, estimator, wrong)

    def draw(self, ax: Axes) -> None:
        """Draw bars of rows: the positive class above the axis, the negative class below.

        :meta private:
        """
        everything = np.append(self.positions, self.threshold)
        low, high = everything.min(), everything.max()
        width = float(high - low) / BINS or 1.0
        first, last = (np.array([low, high]) - self.threshold) / width
        edges = self.threshold + width * np.arange(np.floor(first), np.ceil(last) + 2)
        if edges[0] - 0.5 * (high - low) <= 0 <= edges[-1] + 0.5 * (high - low):
            low, high = min(low, 0.0), max(high, 0.0)
        room = 0.06 * (high - low) or 1.0
        ax.set_xlim(low - room, high + room)
        look: dict[str, Any] = {"fill": True, "edgecolor": ink(), "linewidth": 0.4}
        for code, side in enumerate((-1, 1)):
            colour, of_class = COLOURS[code], self.codes == code
            beyond = (high if code else low) + side * room
            ax.axvspan(self.threshold, beyond, color=colour, alpha=0.16, zorder=0, linewidth=0)
            look |= {"facecolor": colour, "label": self.class_names[code]}
            ax.stairs(side * np.histogram(self.positions[of_class], edges)[0], edges, **look)
            look |= {"hatch": "xxxx", "label": None}
            missed = np.histogram(self.positions[of_class & self.wrong], edges)[0]
            ax.stairs(side * missed, edges, **look)
            look.pop("hatch")
        if self.wrong.any():
            why = f"misclassified ({self.wrong.sum():,})"
            ax.fill([], [], facecolor="none", edgecolor=ink(), hatch="xxxx", label=why)
        ax.axhline(0, color=ink(), linewidth=0.8, zorder=2)
        label = "threshold"
        if self.label != "score":
            label += f" −b/‖w‖ = {format_number(self.threshold, high - low)}"
        ax.axvline(self.threshold, color=ink(), linewidth=1.8, zorder=2, label=label)
        if low < 0 < high and abs(self.threshold) > 0.02 * (high - low):
            ax.axvline(0, color=FAINT, linestyle=":", linewidth=1.2, zorder=2)
            draw_arrow(ax, np.zeros(2), np.array([self.threshold, 0.0]), 12)
        ax.yaxis.set_major_locator(MaxNLocator(integer=True))
        ax.yaxis.set_major_formatter(lambda count, _: f"{abs(count):,.0f}")
        label_axes(ax, self.label, "rows")
