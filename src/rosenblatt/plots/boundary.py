"""Draw the boundary of a classifier in the plane."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Self, Unpack

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from ..data.rows import Array
from ..data.targets import choose_class
from ..estimators.perceptron import Perceptron
from ..theory.margins import margin
from .data import MOST_POINTS, Data, Names, check_data, check_fitted_data
from .drawing import (
    COLOURS,
    FAINT,
    draw_arrow,
    draw_legend,
    draw_points,
    draw_text,
    format_number,
    ink,
    label_axes,
)
from .planes import Limits, Plane, choose_plane, compute_limits
from .runs import TrainedDisplay
from .scores import (
    Linear,
    call_quietly,
    compute_leads,
    compute_own_leads,
    compute_scores,
    find_linear,
)


@dataclass(kw_only=True)
class BoundaryDisplay(TrainedDisplay):
    """The decision boundary of a classifier, the regions of its classes, and the rows.

    Rows of two columns are drawn as they are. Rows of more columns are projected onto the plane
    spanned by w and the first principal direction orthogonal to w; there the boundary is a line and
    distances to it are true. Create a display with ``from_estimator``, ``from_data`` or
    ``from_weights``.

    Attributes
    ----------
    places : ndarray of shape (n_drawn, 2)
        Positions of the rows that are drawn.
    codes : ndarray of shape (n_drawn,)
        The numbers of their classes.
    class_names : sequence of str
        Names of the classes.
    wrong : ndarray of bool, shape (n_drawn,)
        Whether each of them is misclassified.
    errors, n_rows : int
        Number of misclassified rows and of all rows.
    plane : Plane
        The plane of the plot.
    limits : Limits
        The visible part of the plane.
    leads : ndarray of shape (n_classes, resolution, resolution)
        The lead of each class over the best other class, on a grid within the limits.
    linear : Linear or None
        Weights and bias in the plane, if the boundary of two classes is a line.
    band : float
        The distance of the nearest row from the boundary; if rows are misclassified, the margin
        that training demanded.
    new_places : ndarray of shape (n_new, 2)
        Positions of the new rows.
    new_codes : ndarray of shape (n_new,)
        The numbers of the classes predicted for them.

    See Also
    --------
    ProjectionDisplay : The rows along w alone.
    LearningAnimation : The boundary after each update.

    Examples
    --------
    >>> from rosenblatt import Perceptron
    >>> X, y = [[2.0, 1.0], [-1.0, 1.0]], [1, -1]
    >>> display = BoundaryDisplay.from_estimator(Perceptron(order="fixed").fit(X, y), X, y)
    >>> float(display.band), display.errors
    (1.0, 0)
    """

    places: Array
    codes: Array
    class_names: Sequence[str]
    wrong: Array
    errors: int
    n_rows: int
    plane: Plane
    limits: Limits
    leads: Array
    linear: Linear | None
    band: float
    new_places: Array = field(default_factory=partial(np.empty, (0, 2)))
    new_codes: Array = field(default_factory=partial(np.empty, 0, np.intp))

    @property
    def title(self) -> str:  # type: ignore[override]
        """The title of the plot."""
        return f"Predicted classes; {self.errors:,} of {self.n_rows:,} rows are misclassified"

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        new: Any = None,
        most_points: int = MOST_POINTS,
        resolution: int = 200,
        **names: Unpack[Names],
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
        most_points : int, default=5000
            The largest number of rows to draw, chosen at random; the plot says if it leaves out
            rows.
        resolution : int, default=200
            Points per side of the grid on which a curved boundary is searched.
        **names
            ``class_names`` and ``feature_names``: sequences of str, names of the classes in the
            order of ``classes_``, and of the columns.

        Returns
        -------
        BoundaryDisplay
            The display; ``plot`` draws it and ``save`` writes it to a file.
        """
        data = check_fitted_data(estimator, X, y, **names)
        linear = find_linear(estimator, data.X)
        wrong = np.asarray(estimator.predict(X)) != data.classes[data.codes]
        scores, rows = partial(compute_scores, estimator), None
        if new is not None:
            new = new if hasattr(new, "shape") else np.atleast_2d(new)
            predicted = call_quietly(estimator.predict, new)
            rows = check_fitted_data(estimator, new, predicted, **names)
        display = cls._make(
            data, linear, scores, wrong, new=rows, most_points=most_points, resolution=resolution
        )
        if isinstance(estimator, Perceptron) and display.linear is not None and not display.band:
            display.band = estimator.margin / display.linear.length
        return display

    @classmethod
    def from_weights(
        cls,
        weights: ArrayLike,
        bias: ArrayLike,
        X: Any,
        y: ArrayLike,
        *,
        ties: str = "mistake",
        **names: Unpack[Names],
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
        return cls.from_linear(check_data(X, y, **names), linear, ties)

    @classmethod
    def from_linear(cls, data: Data, linear: Linear, ties: str, plane: Plane | None = None) -> Self:
        """Make the display of weights and biases for checked rows, in a given plane.

        :meta private:
        """
        scores = linear.scores(data.X)
        ahead = compute_own_leads(scores, data.codes)
        tie_is_wrong = (ties == "mistake") | (
            (ties != "correct") & (choose_class(scores, ties) != data.codes)
        )
        wrong = np.where(ahead == 0, tie_is_wrong, ahead < 0)
        return cls._make(data, linear, linear.scores, wrong, plane=plane)

    @classmethod
    def _make(
        cls,
        data: Data,
        linear: Linear | None,
        scores: Callable[[Array], Array],
        wrong: Array,
        *,
        plane: Plane | None = None,
        new: Data | None = None,
        most_points: int = MOST_POINTS,
        resolution: int = 200,
    ) -> Self:
        """Make the display of a scoring function and the rows that it misclassifies."""
        plane = plane or choose_plane(data, linear)
        drawn = data.sample(most_points)
        places = plane.place(data.X[drawn])
        new_places = plane.place(data.X[:0] if new is None else new.X)
        limits = compute_limits(np.vstack([places, new_places]))
        seen = None if linear is None else plane.restrict(linear)
        resolution = max(2, min(resolution, int(np.sqrt(1e8 / data.X.shape[1]))))
        grid = np.stack(np.meshgrid(*np.linspace(limits.low, limits.high, resolution).T), axis=-1)
        on_grid = [scores(plane.lift(line)) if seen is None else seen.scores(line) for line in grid]
        if seen is not None and (len(seen.weights) != 1 or seen.length == 0):
            seen = None
        band = 0.0
        if linear is not None and seen is not None and np.isclose(seen.length, linear.length):
            nearest = margin(data.X, data.signs, linear.weights, float(linear.bias[0]))
            band = max(nearest, 0.0)  # only in this plane are distances true
        return cls(
            places=places,
            codes=data.codes[drawn],
            class_names=data.class_names,
            wrong=wrong[drawn],
            errors=int(np.count_nonzero(wrong)),
            n_rows=len(wrong),
            plane=plane,
            limits=limits,
            leads=compute_leads(np.concatenate(on_grid)).T.reshape(-1, resolution, resolution),
            linear=seen,
            band=band,
            new_places=new_places,
            new_codes=data.codes[:0] if new is None else new.codes,
        )

    def plot(self, ax: Axes | None = None, *, legend: bool = True, weights: bool = True) -> Self:
        """Draw the regions, the boundary with w, shift and margin, and the rows.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            The axes to draw in; None makes a new figure.
        legend : bool, default=True
            Whether to draw a legend above the axes.
        weights : bool, default=True
            Whether to draw w and the shift by the bias.

        Returns
        -------
        self
            The display, with the attributes ``ax_`` and ``figure_``.
        """
        ax = self._one_axes(ax)
        self._draw_regions(ax)
        if self.linear is not None:
            self._draw_line(ax, self.linear, weights)
        circled, why = self.places[self.wrong], f"misclassified ({self.errors:,})"
        draw_points(ax, self.places, self.codes, self.class_names, circled, why)
        self._draw_new(ax)
        self.limits.apply(ax)
        label_axes(ax, self.plane.labels)
        if not self.plane.labels[1]:
            ax.set_yticks([])
        if len(self.places) < self.n_rows:
            count = f"{len(self.places):,} of {self.n_rows:,} rows"
            draw_text(ax, count, (0.99, 0.01), xycoords="axes fraction", ha="right", va="bottom")
        if legend:
            draw_legend(ax)
        return self

    def _draw_new(self, ax: Axes) -> None:
        """Draw new rows as grey triangles, each with the class predicted for it."""
        if len(self.new_places):
            x, y = self.new_places.T
            look: dict[str, Any] = {"color": FAINT, "edgecolors": ink(), "zorder": 5}
            ax.scatter(x, y, s=110, marker="^", label="new, with its prediction", **look)
        for place, code in zip(self.new_places.tolist(), self.new_codes.tolist(), strict=True):
            offset = {"xytext": (9, 9), "textcoords": "offset points"}
            draw_text(ax, f"→ {self.class_names[code]}", place, **offset)

    def _draw_regions(self, ax: Axes) -> None:
        """Shade the region of each class, with lines between them."""
        xs, ys = np.linspace(self.limits.low, self.limits.high, self.leads.shape[1]).T
        for code, ahead in enumerate(self.leads):
            if ahead.max() > 0:
                colour = COLOURS[code % len(COLOURS)]
                levels = [0, 2 * float(ahead.max())]
                ax.contourf(xs, ys, ahead, levels, colors=[colour], alpha=0.16, zorder=0)
            if self.linear is None and ahead.min() < 0 < ahead.max():
                ax.contour(xs, ys, ahead, [0], colors=ink(), linewidths=1.2, zorder=2)

    def _draw_line(self, ax: Axes, linear: Linear, weights: bool) -> None:
        """Draw the boundary, the band of the margin, the weights and the shift by the bias."""
        self._draw_level(ax, linear, 0.0, linewidth=1.8)
        size = float(np.max(self.limits.high - self.limits.low))
        if self.band > 0.008 * size:  # otherwise the three lines would look like one
            for side, label in (-1, None), (1, f"margin γ = {format_number(self.band)}"):
                look = {"linestyle": "--", "linewidth": 0.9, "label": label}
                self._draw_level(ax, linear, side * self.band, **look)
        ends = self.limits.clip_line(linear)
        if ends is None or not weights:
            return
        unit = linear.weights[0] / linear.length
        shift = -float(linear.bias[0]) / linear.length  # from the origin to the boundary, along w
        if self.limits.contains(np.zeros(2)) and self.limits.contains(shift * unit):
            from_shift = np.linalg.norm(ends - shift * unit, axis=1)
            ends = ends if from_shift[0] > from_shift[1] else ends[::-1]
            ax.plot(0, 0, "+", color=ink(), markersize=9, zorder=4)
            path, label = (
                np.outer([0, shift], unit).T,
                f"shift −b/‖w‖ = {format_number(shift, size)}",
            )
            ax.plot(*path, ":", color=ink(), linewidth=1.6, zorder=2, label=label)
        foot = 0.75 * ends[0] + 0.25 * ends[1]
        tip = foot + unit * size * 0.15
        draw_arrow(ax, foot, tip, mutation_scale=16)
        draw_text(ax, "w", tuple(tip), xytext=tuple(11 * unit), textcoords="offset points",
             ha="center", va="center", fontweight="bold")  # fmt: skip

    def _draw_level(self, ax: Axes, linear: Linear, distance: float, **look: Any) -> None:
        """Draw the line at a distance from the boundary, if it is visible."""
        ends = self.limits.clip_line(linear, distance * linear.length)
        if ends is not None:
            ax.axline(*ends, color=ink(), zorder=2, **look)
