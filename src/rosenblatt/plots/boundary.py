"""The boundary of a classifier in the plane."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Self, Unpack

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from ..data.rows import Array
from ..data.targets import choose_class
from ..estimators.perceptron import Perceptron
from ..theory.margins import margin
from .data import MOST_POINTS, Data, Names, check_drawable, drawable
from .drawing import COLOURS, arrow, draw_points, ink, legend_above, note, rounded, tidy
from .planes import Limits, Plane, choose_plane, compute_limits
from .runs import TrainedDisplay
from .scores import Linear, compute_scores, leads, linear_part, own_leads


@dataclass(kw_only=True)
class BoundaryDisplay(TrainedDisplay):
    """The boundary of a classifier, the half-planes on its sides, and the rows.

    Two columns are drawn as they are. More are projected on the plane spanned by w and the first
    principal direction orthogonal to it: the boundary is still a line there, and distances to it
    are true. Make one with ``from_estimator``, ``from_data`` or ``from_weights``.

    Attributes
    ----------
    places : ndarray of shape (n_drawn, 2)
        Where the drawn rows are.
    codes : ndarray of shape (n_drawn,)
        Their numbers among the classes.
    class_names : sequence of str
        What the classes are called.
    wrong : ndarray of bool, shape (n_drawn,)
        Which of the drawn rows are misclassified.
    errors, n_rows : int
        How many of all rows are misclassified, and how many there are.
    plane : Plane
        What the axes mean.
    limits : Limits
        The part of the plane that is seen.
    leads : ndarray of shape (n_classes, resolution, resolution)
        On a grid within the limits, how far each class is ahead of the best other.
    linear : Linear or None
        w and b as functions of the place, if a line tells two classes apart.
    band : float
        The distance of the nearest row; or the margin demanded, if rows are wrong.

    See Also
    --------
    ProjectionDisplay : The same along w alone.
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

    @property
    def title(self) -> str:  # type: ignore[override]
        """What the picture shows."""
        return f"What is predicted where; {self.errors:,} of {self.n_rows:,} rows are wrong"

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        most_points: int = MOST_POINTS,
        resolution: int = 200,
        **names: Unpack[Names],
    ) -> Self:
        """See how a fitted classifier, linear or not, divides the plane.

        Parameters
        ----------
        estimator : classifier
            Fitted; anything with ``predict``, better also ``decision_function``.
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows to draw.
        y : array-like of shape (n_samples,)
            Their labels.
        most_points : int, default=5000
            Of more rows so many are drawn, chosen by chance; the picture says so.
        resolution : int, default=200
            How fine the grid is on which a boundary that is no line is sought.
        **names
            ``class_names`` and ``feature_names``, sequences of str: what to call the classes, in
            the order of ``classes_``, and the columns.

        Returns
        -------
        BoundaryDisplay
            To be drawn or saved.
        """
        data = check_drawable(estimator, X, y, **names)
        linear = linear_part(estimator, data.X)
        wrong = np.asarray(estimator.predict(X)) != data.classes[data.codes]
        scores = partial(compute_scores, estimator)
        display = cls._of(data, linear, scores, wrong, None, most_points, resolution)
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
        """See how weights in the shapes of ``coef_`` and ``intercept_`` divide the plane.

        Parameters
        ----------
        weights : array-like of shape (1, n_features) or (n_classes, n_features)
            As ``coef_``.
        bias : array-like of shape (1,) or (n_classes,)
            As ``intercept_``.
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows to draw.
        y : array-like of shape (n_samples,)
            Their labels.
        ties : {"mistake", "positive", "negative", "correct"}, default="mistake"
            What an activation of exactly 0 counts as, as for ``Perceptron``.
        **names
            ``class_names`` and ``feature_names``, sequences of str: what to call the classes, in
            the order of ``classes_``, and the columns.

        Returns
        -------
        BoundaryDisplay
            To be drawn or saved.
        """
        linear = Linear(np.atleast_2d(np.asarray(weights, np.float64)), np.ravel(bias))
        return cls.from_linear(drawable(X, y, **names), linear, ties)

    @classmethod
    def from_linear(cls, data: Data, linear: Linear, ties: str, plane: Plane | None = None) -> Self:
        """The same for rows that have been checked, in a plane of one's choice.

        :meta private:
        """
        scores = linear.scores(data.X)
        ahead = own_leads(scores, data.codes)
        tie_is_wrong = (ties == "mistake") | (
            (ties != "correct") & (choose_class(scores, ties) != data.codes)
        )
        wrong = np.where(ahead == 0, tie_is_wrong, ahead < 0)
        return cls._of(data, linear, linear.scores, wrong, plane)

    @classmethod
    def _of(
        cls,
        data: Data,
        linear: Linear | None,
        scores: Callable[[Array], Array],
        wrong: Array,
        plane: Plane | None = None,
        most_points: int = MOST_POINTS,
        resolution: int = 200,
    ) -> Self:
        """The display of a scoring function and the rows that it gets wrong."""
        plane = plane or choose_plane(data, linear)
        drawn = data.sample(most_points)
        places = plane.place(data.X[drawn])
        limits = compute_limits(places)
        seen = None if linear is None else plane.seen(linear)
        resolution = max(2, min(resolution, int(np.sqrt(1e8 / data.X.shape[1]))))
        grid = np.stack(np.meshgrid(*np.linspace(limits.low, limits.high, resolution).T), axis=-1)
        ahead = [
            leads(scores(plane.lift(line)) if seen is None else seen.scores(line)) for line in grid
        ]
        if seen is not None and (len(seen.weights) != 1 or seen.length == 0):
            seen = None
        band = 0.0
        if linear is not None and seen is not None and np.isclose(seen.length, linear.length):
            nearest = margin(data.X, data.signs, linear.weights, float(linear.bias[0]))
            band = max(nearest, 0.0)  # elsewhere in space distances on the plane are not true
        return cls(
            places=places,
            codes=data.codes[drawn],
            class_names=data.class_names,
            wrong=wrong[drawn],
            errors=int(np.count_nonzero(wrong)),
            n_rows=len(wrong),
            plane=plane,
            limits=limits,
            leads=np.concatenate(ahead).T.reshape(-1, resolution, resolution),
            linear=seen,
            band=band,
        )

    def plot(self, ax: Axes | None = None, *, legend: bool = True, weights: bool = True) -> Self:
        """Draw it, with or without a legend above, and w, the bias's shift and the margin.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; in a new figure unless given.
        legend : bool, default=True
            Whether a legend stands above.
        weights : bool, default=True
            Whether to draw w, the shift by the bias, and the margin.

        Returns
        -------
        self
            With ``ax_`` and ``figure_``, what it was drawn in.
        """
        ax = self._one_axes(ax)
        self._draw_sides(ax)
        if self.linear is not None:
            self._draw_line(ax, self.linear, weights)
        circled, why = self.places[self.wrong], f"misclassified ({self.errors:,})"
        draw_points(ax, self.places, self.codes, self.class_names, circled, why)
        self.limits.set(ax)
        tidy(ax, self.plane.labels)
        if not self.plane.labels[1]:
            ax.set_yticks([])
        if len(self.places) < self.n_rows:
            count = f"{len(self.places):,} of {self.n_rows:,} rows"
            note(ax, count, (0.99, 0.01), xycoords="axes fraction", ha="right", va="bottom")
        if legend:
            legend_above(ax)
        return self

    def _draw_sides(self, ax: Axes) -> None:
        """Shade where each class is predicted, with lines between."""
        xs, ys = np.linspace(self.limits.low, self.limits.high, self.leads.shape[1]).T
        for code, ahead in enumerate(self.leads):
            if ahead.max() > 0:
                colour = COLOURS[code % len(COLOURS)]
                levels = [0, 2 * float(ahead.max())]
                ax.contourf(xs, ys, ahead, levels, colors=[colour], alpha=0.16, zorder=0)
            if self.linear is None and ahead.min() < 0 < ahead.max():
                ax.contour(xs, ys, ahead, [0], colors=ink(), linewidths=1.2, zorder=2)

    def _draw_line(self, ax: Axes, linear: Linear, weights: bool) -> None:
        """Draw the boundary, the margin's band, the weight vector and the bias's shift."""
        self._draw_level(ax, linear, 0.0, linewidth=1.8)
        size = float(np.max(self.limits.high - self.limits.low))
        if self.band > 0.008 * size:  # else the three lines would be one
            for side, label in (-1, None), (1, f"margin γ = {rounded(self.band)}"):
                look = {"linestyle": "--", "linewidth": 0.9, "label": label}
                self._draw_level(ax, linear, side * self.band, **look)
        ends = self.limits.chord(linear)
        if ends is None or not weights:
            return
        unit = linear.weights[0] / linear.length
        shift = -float(linear.bias[0]) / linear.length  # from the origin to the boundary, along w
        if self.limits.hold(np.zeros(2)) and self.limits.hold(shift * unit):
            from_shift = np.linalg.norm(ends - shift * unit, axis=1)
            ends = ends if from_shift[0] > from_shift[1] else ends[::-1]
            ax.plot(0, 0, "+", color=ink(), markersize=9, zorder=4)
            path, label = np.outer([0, shift], unit).T, f"shift −b/‖w‖ = {rounded(shift, size)}"
            ax.plot(*path, ":", color=ink(), linewidth=1.6, zorder=2, label=label)
        foot = 0.75 * ends[0] + 0.25 * ends[1]
        tip = foot + unit * size * 0.15
        arrow(ax, foot, tip, mutation_scale=16)
        note(ax, "w", tuple(tip), xytext=tuple(11 * unit), textcoords="offset points",
             ha="center", va="center", fontweight="bold")  # fmt: skip

    def _draw_level(self, ax: Axes, linear: Linear, distance: float, **look: Any) -> None:
        """Draw the line at a distance from the boundary, if it can be seen."""
        ends = self.limits.chord(linear, distance * linear.length)
        if ends is not None:
            ax.axline(*ends, color=ink(), zorder=2, **look)
