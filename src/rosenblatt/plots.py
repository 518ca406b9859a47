"""Displays and animations of what the engine did; matplotlib is needed only here."""

import os
import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse
from scipy.sparse.linalg import LinearOperator, eigsh
from scipy.spatial import ConvexHull, QhullError
from sklearn.utils.validation import (
    check_array,
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
)

from .classifiers.perceptron import Perceptron
from .classifiers.steps import Step, steps
from .disk import replacing
from .labels import encode
from .rows import Array, refuse_not_finite
from .theory import (
    Inseparable,
    Separable,
    Undecided,
    largest_margin,
    margin,
    margins,
    max_margin,
    radius,
    separability,
    square,
    with_coordinate,
)
from .training.solutions import chosen

try:
    from matplotlib import rc_context
    from matplotlib.animation import FFMpegWriter, FuncAnimation, PillowWriter
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.ticker import MaxNLocator
except ImportError as missing:
    raise ImportError("Plots need matplotlib: pip install 'rosenblatt[plots]'.") from missing

# Okabe & Ito's palette, which the colour-blind can tell apart, with markers for print in grey; the
# first two differ in lightness as well.
COLOURS = ("#E69F00", "#0072B2", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#F0E442", "#999999")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">")
INK = "0.15"
FAINT = "0.45"
SHAPE = 1.25  # width to height of a view with one scale
MOST_POINTS = 5_000
MOST_UPDATES = 100_000
MOST_COLUMNS = 2_000  # with which the best separator is sought
WORK = 200_000_000  # numbers to read while a run is measured or filmed: seconds
LARGEST = 1e100  # a number whose square is still finite
STILL = (".png", ".svg", ".pdf", ".jpg", ".webp")
MOVING = (".gif", ".mp4", ".html")


# What comes in


class Data(NamedTuple):
    """Rows that can be drawn."""

    X: Any
    classes: Array
    codes: Array
    """Each row's number among the classes."""
    names: tuple[str, ...] | None
    """Of the columns, where they have some."""

    @property
    def signs(self) -> Array:
        """+1 for the second of two classes, else -1."""
        return np.where(self.codes == 1, 1.0, -1.0)


def drawable(X: Any, y: ArrayLike, classes: Array | None = None) -> Data:
    """Check rows and labels; the labels must be among the classes, where these are known."""
    names = tuple(map(str, X.columns)) if hasattr(X, "columns") else None
    X = check_array(X, accept_sparse="csr", dtype=np.float64, ensure_all_finite=False)
    refuse_not_finite(X)
    if np.abs(X.data if issparse(X) else X).max(initial=0.0) > LARGEST:
        raise ValueError(f"X has numbers above {LARGEST:g}, too large to draw; scale them down.")
    labels = np.asarray(column_or_1d(y))
    check_consistent_length(X, labels)
    if any(label is None or label != label for label in set(labels.tolist())):
        raise ValueError("y contains NaN or None; labels must be known.")
    if classes is None:
        return Data(X, *encode(labels), names)
    known = {label: code for code, label in enumerate(classes.tolist())}
    strange = set(labels.tolist()) - set(known)
    if strange:
        raise ValueError(
            f"y has the label {min(strange, key=str)!r}, and the estimator knows "
            f"{', '.join(map(repr, known))}; give rows of its classes."
        )
    return Data(X, classes, np.array([known[label] for label in labels.tolist()]), names)


def classes_of(estimator: Any) -> Array:
    """The labels that a fitted classifier predicts."""
    check_is_fitted(estimator)
    if not hasattr(estimator, "classes_"):
        raise ValueError(f"{type(estimator).__name__} is no fitted classifier; fit one first.")
    return np.asarray(estimator.classes_)


class Linear(NamedTuple):
    """Weights (a row per class, or one row for two) and biases."""

    weights: Array
    bias: Array

    def scores(self, X: Any) -> Array:
        """Of each row, in the shape of a decision function."""
        scores = np.asarray(X @ self.weights.T + self.bias)
        return scores.ravel() if len(self.weights) == 1 else scores

    @property
    def length(self) -> float:
        """‖w‖, of all weights together."""
        return float(np.linalg.norm(self.weights))


def linear_part(estimator: Any, X: Any) -> Linear | None:
    """The weights by which an estimator scores rows; None when it does otherwise.

    Having ``coef_`` is not enough: a vote has one too.
    """
    if not hasattr(estimator, "coef_") or not hasattr(estimator, "decision_function"):
        return None
    coef = estimator.coef_.toarray() if issparse(estimator.coef_) else estimator.coef_
    weights = np.atleast_2d(np.asarray(coef, np.float64))
    bias = np.ravel(np.asarray(estimator.intercept_, np.float64))
    some = X[:100]
    if weights.shape[1] != some.shape[1] or len(bias) not in (1, len(weights)):
        return None
    found, scores = Linear(weights, np.broadcast_to(bias, len(weights))), scores_of(estimator, some)
    expected = found.scores(some)
    same = expected.shape == scores.shape and np.allclose(
        expected, scores, rtol=1e-4, atol=1e-4 * float(np.abs(scores).max(initial=0.0))
    )
    return found if same else None


def scores_of(estimator: Any, X: Any) -> Array:
    """A decision function's values, or 1 for the predicted class and 0 for the others."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        classes = np.asarray(estimator.classes_)
        if hasattr(estimator, "decision_function"):
            scores = np.asarray(estimator.decision_function(X))
            if scores.ndim == 1 or scores.shape[1] == len(classes):
                return scores
        return np.asarray(estimator.predict(X)[:, None] == classes, float)


def leads(scores: Array) -> Array:
    """By how much each class is ahead of the best other one: a column per class."""
    if scores.ndim == 1:
        return np.stack([-scores, scores], axis=1)
    order = np.sort(scores, axis=1)
    best = np.where(scores == order[:, -1:], order[:, -2:-1], order[:, -1:])
    return np.asarray(scores - best)


# Where it is drawn


@dataclass(frozen=True)
class Plane:
    """Two orthogonal directions to draw rows in, and a point that the plane goes through."""

    directions: Array
    through: Array
    labels: tuple[str, str]

    def place(self, X: Any) -> Array:
        """Where rows are drawn: their projections on the plane."""
        return np.asarray(X @ self.directions.T)

    def lift(self, places: Array) -> Array:
        """The points of the plane as rows."""
        return np.asarray(places @ self.directions + self.through)

    def seen(self, linear: Linear) -> Linear:
        """The same scores, as a function of the place."""
        weights, bias = linear
        return Linear(weights @ self.directions.T, bias + weights @ self.through)


def plane_of(data: Data, linear: Linear | None) -> Plane:
    """The two columns; of more, the plane in which a linear boundary is still a line.

    For two classes it is spanned by w and the first principal direction orthogonal to w, so that
    distances to the boundary are true. Three weight vectors span a plane, outside of which nothing
    changes their order. Else it is a slice through the mean of the rows.
    """
    width = data.X.shape[1]
    if width <= 2:
        names = data.names or ("x₁", "x₂")
        return Plane(np.eye(2)[:, :width], np.zeros(width), (names[0], (*names, "")[1]))
    if linear is not None and len(linear.weights) == 1 and linear.length > 0:
        along = linear.weights / linear.length
        across = principal_direction(data.X, along)
        labels = "w·x / ‖w‖ (distances to the boundary are true)", "first principal direction ⊥ w"
        return Plane(np.vstack([along, across]), np.zeros(width), labels)
    mean = np.asarray(data.X.mean(axis=0)).ravel()
    ordinals = "first", "second"
    spread = None if linear is None else linear.weights - linear.weights.mean(axis=0)
    if spread is not None and np.linalg.matrix_rank(spread) >= 2:
        directions = np.linalg.svd(spread, full_matrices=False)[2][:2]
        slice_ = "" if len(spread) == 3 else " (a slice through the mean)"
        what = f"main direction of the {len(spread)} weight vectors{slice_}"
    else:
        first = principal_direction(data.X, np.empty((0, width)))
        directions = np.vstack([first, principal_direction(data.X, first[None])])
        what = "principal direction (a slice through the mean)"
    through = mean - (directions @ mean) @ directions
    return Plane(directions, through, (f"{ordinals[0]} {what}", f"{ordinals[1]} {what}"))


def principal_direction(X: Any, away: Array) -> Array:
    """The direction in which rows vary most among those orthogonal to some unit vectors."""
    mean = np.asarray(X.mean(axis=0)).ravel()

    def outside(v: Array) -> Array:
        return np.asarray(v - away.T @ (away @ v))

    def spread(v: Array) -> Array:
        v = outside(np.ravel(v))
        products = X @ v - mean @ v
        return outside(X.T @ products - mean * products.sum())

    start = outside(np.random.default_rng(0).standard_normal(X.shape[1]))
    found = start
    if np.linalg.norm(spread(start)) > 1e-12 * np.linalg.norm(start):
        shape = X.shape[1], X.shape[1]
        operator = LinearOperator(shape, matvec=spread, dtype=np.float64)
        found = outside(eigsh(operator, k=1, v0=start, tol=1e-6)[1][:, 0])
    found = found / np.linalg.norm(found)
    return np.asarray(found * np.sign(found[np.argmax(np.abs(found))]))


class View(NamedTuple):
    """The part of the plane to draw, and whether both axes can have one scale."""

    low: Array
    high: Array
    equal: bool

    def holds(self, place: Array) -> bool:
        """Whether a place is inside."""
        return bool(np.all((self.low <= place) & (place <= self.high)))

    def set(self, ax: Axes) -> None:
        """Make axes show this part."""
        ax.set_xlim(self.low[0], self.high[0])
        ax.set_ylim(self.low[1], self.high[1])
        ax.set_aspect("equal" if self.equal else "auto")

    def chord(self, linear: Linear, level: float = 0.0) -> Array | None:
        """The two ends of the visible part of the line on which a score has a level."""
        (w,), (b,) = linear
        centre = (self.low + self.high) / 2
        foot = centre - (w @ centre + b - level) / (w @ w) * w
        along = np.array([-w[1], w[0]]) / np.linalg.norm(w)
        enter, leave = -np.inf, np.inf
        for axis in np.flatnonzero(np.abs(along) > 1e-12):
            edges = sorted((np.array([self.low, self.high])[:, axis] - foot[axis]) / along[axis])
            enter, leave = max(enter, edges[0]), min(leave, edges[1])
        ends = foot + np.outer([enter, leave], along)
        return ends if enter < leave and self.holds(ends.mean(axis=0)) else None


def view_of(places: Array) -> View:
    """A view with all the places, and the origin unless it is far off."""
    low, high = places.min(axis=0), places.max(axis=0)
    near = np.all((low - 0.5 * (high - low) <= 0) & (high + 0.5 * (high - low) >= 0))
    if near:
        low, high = np.minimum(low, 0), np.maximum(high, 0)
    size = high / 2 - low / 2
    size[size == 0] = size.max() or max(1.0, float(np.abs(high).max()))
    equal = bool(size.max() <= 6 * size.min())
    if equal:  # always of one shape, so that pictures beside each other agree
        size = max(size[0] / SHAPE, size[1]) * np.array([SHAPE, 1.0])
    centre = high / 2 + low / 2
    return View(centre - 1.1 * size, centre + 1.1 * size, equal)


def new_axes(count: int = 1) -> Array:
    """Axes in a new figure of pyplot, two beside each other."""
    from matplotlib import pyplot

    return axes_in(pyplot.figure(**shape_of(count)), count)


def shape_of(count: int) -> dict[str, Any]:
    """The arguments of a figure for so many axes."""
    size = (6.4, 5.8) if count == 1 else (9.0, 3.3 * ((count + 1) // 2))
    return {"figsize": size, "layout": "constrained"}


def axes_in(figure: Figure, count: int) -> Array:
    """So many axes in a figure."""
    grid = figure.subplots((count + 1) // 2, min(count, 2), squeeze=False).ravel()
    for ax in grid[count:]:
        ax.remove()
    return np.asarray(grid[:count])


def given_axes(ax: Any, count: int) -> Array:
    """The axes to draw in: those given, one for each idea, or new ones."""
    if ax is None:
        return new_axes(count)
    axes = np.ravel(np.asarray(ax, object))
    if len(axes) != count:
        raise ValueError(f"ax has {len(axes)} axes, and there is something for {count}.")
    return axes


def tidy(ax: Axes) -> None:
    """Leave out the lines that say nothing."""
    ax.spines[["top", "right"]].set_visible(False)


def legend_above(ax: Axes) -> None:
    """A legend that covers nothing."""
    named = zip(*ax.get_legend_handles_labels(), strict=True)
    points_first = sorted(named, key=lambda pair: isinstance(pair[0], Line2D))
    handles, labels = zip(*points_first, strict=True)
    ax.legend(
        handles,
        labels,
        loc="lower left",
        bbox_to_anchor=(0, 1),
        ncols={4: 2, 3: 3, 5: 3, 6: 3}.get(len(handles), 5),
        fontsize="small",
        frameon=False,
        borderaxespad=0.2,
        handletextpad=0.4,
        columnspacing=1.2,
    )


def note(ax: Axes, text: str, place: Any, **options: Any) -> None:
    """A word in the picture, readable on any ground."""
    ground = {"facecolor": "white", "alpha": 0.75, "edgecolor": "none", "pad": 1.0}
    ax.annotate(text, place, bbox=ground, color=INK, annotation_clip=True, **options)


def arrow(ax: Axes, start: Array, end: Array, style: str = "-|>", **options: Any) -> None:
    """An arrow between two places."""
    look = {"arrowstyle": style, "color": INK, "shrinkA": 0, "shrinkB": 0, **options}
    ax.annotate("", tuple(end), tuple(start), arrowprops=look, annotation_clip=True)


def some_rows(count: int, most: int) -> Array:
    """The numbers of the rows to draw: all, or so many by chance."""
    if count <= most:
        return np.arange(count)
    return np.sort(np.random.default_rng(0).choice(count, most, replace=False))


def draw_points(ax: Axes, places: Array, codes: Array, classes: Array) -> float:
    """Points with a colour and a marker for each class; return the area of one."""
    area = float(np.clip(12_000 / max(len(places), 1), 6, 42))
    for code, label in enumerate(classes.tolist()):
        of_class = codes == code
        if of_class.any():
            ax.scatter(
                places[of_class, 0],
                places[of_class, 1],
                s=area,
                color=COLOURS[code % len(COLOURS)],
                marker=MARKERS[code % len(MARKERS)],
                edgecolors=INK,
                linewidths=0.6 if area > 12 else 0.2,
                label=str(label),
                zorder=3,
                rasterized=len(places) > 2_000,
            )
    return area


def draw_circles(ax: Axes, places: Array, area: float, label: str) -> None:
    """A circle around each of some points."""
    ax.scatter(
        places[:, 0],
        places[:, 1],
        s=area * 3 + 20,
        facecolors="none",
        edgecolors="black",
        linewidths=1.2 if len(places) <= 100 else 0.5,
        label=label,
        zorder=4,
        rasterized=len(places) > 2_000,
    )


# Displays


@dataclass(kw_only=True)
class BoundaryDisplay:
    """The boundary of a classifier, the half-planes on its sides, and the rows.

    Two columns are drawn as they are. More are projected on the plane spanned by w and the first
    principal direction orthogonal to it: the boundary is still a line there, and distances to it
    are true. Make one with ``from_estimator`` or ``from_weights``.

    Attributes
    ----------
    places : ndarray of shape (n_drawn, 2)
        Where the rows are.
    codes, classes : ndarray
        Each drawn row's number among the classes, and their labels.
    wrong : ndarray of bool
        Which of the drawn rows are misclassified.
    errors, rows : int
        How many of all rows are misclassified, and how many there are.
    plane : Plane
        What the axes mean.
    view : View
        The part of the plane that is seen.
    leads : ndarray of shape (n_classes, n, n)
        On a grid over the view, by how much each class is ahead of the best other.
    linear : Linear or None
        w and b as functions of the place, when two classes are told apart by a line.
    band : float
        The distance of the nearest row, or what ``margin`` demands if some are wrong; else 0.
    ax_, figure_
        What it was last drawn in.

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
    classes: Array
    wrong: Array
    errors: int
    rows: int
    plane: Plane
    view: View
    leads: Array
    linear: Linear | None
    band: float
    ax_: Axes = field(init=False, repr=False)
    figure_: Any = field(init=False, repr=False)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        most_points: int = MOST_POINTS,
        resolution: int = 200,
    ) -> Self:
        """See how a fitted classifier, linear or not, divides the plane.

        Parameters
        ----------
        estimator : classifier
            Fitted; anything with ``predict``, better also ``decision_function``.
        X, y : array-like
            The rows to draw, with two columns or more, and their labels.
        most_points : int, default=5000
            Of more rows so many are drawn, chosen by chance; the picture says so.
        resolution : int, default=200
            How fine the grid is on which a boundary that is no line is sought.
        """
        given, data = X, drawable(X, y, classes_of(estimator))
        linear = linear_part(estimator, data.X)
        wrong = np.asarray(estimator.predict(given)) != data.classes[data.codes]
        demanded = getattr(estimator, "margin", 0.0) if isinstance(estimator, Perceptron) else 0.0

        def scores(rows: Array) -> Array:
            return scores_of(estimator, rows)

        return cls._of(data, linear, scores, wrong, demanded, most_points, resolution)

    @classmethod
    def from_weights(
        cls,
        weights: ArrayLike,
        bias: ArrayLike,
        X: Any,
        y: ArrayLike,
        *,
        ties: str = "mistake",
        most_points: int = MOST_POINTS,
    ) -> Self:
        """See how some weights divide the plane, such as those of a ``Step``.

        Parameters
        ----------
        weights, bias : array-like
            In the shapes of ``coef_`` and ``intercept_``.
        X, y, most_points
            As for ``from_estimator``.
        ties : {"mistake", "positive", "negative", "correct"}, default="mistake"
            What an activation of exactly 0 counts as.
        """
        data = drawable(X, y)
        linear = Linear(np.atleast_2d(np.asarray(weights, np.float64)), np.ravel(bias))
        return cls._of_linear(data, linear, ties, most_points)

    @classmethod
    def _of_linear(cls, data: Data, linear: Linear, ties: str, most_points: int) -> Self:
        """The display of weights, with the rows that are wrong as ``ties`` says."""
        scores = linear.scores(data.X)
        ahead = leads(scores)[np.arange(len(data.codes)), data.codes]
        wrong = np.where(
            ahead == 0,
            (ties == "mistake") | ((ties != "correct") & (chosen(scores, ties) != data.codes)),
            ahead < 0,
        )
        return cls._of(data, linear, linear.scores, wrong, 0.0, most_points, 200)

    @classmethod
    def _of(
        cls,
        data: Data,
        linear: Linear | None,
        scores: Callable[[Array], Array],
        wrong: Array,
        demanded: float,
        most_points: int,
        resolution: int,
    ) -> Self:
        """The display of a scoring function and the rows that it gets wrong."""
        plane = plane_of(data, linear)
        drawn = some_rows(len(wrong), most_points)
        places = plane.place(data.X[drawn])
        view = view_of(places)
        on_plane = None if linear is None else plane.seen(linear)
        resolution = max(2, min(resolution, int(np.sqrt(1e8 / data.X.shape[1]))))
        grid = np.stack(np.meshgrid(*np.linspace(view.low, view.high, resolution).T), axis=-1)
        ahead = np.concatenate(
            [
                leads(scores(plane.lift(line)) if on_plane is None else on_plane.scores(line))
                for line in grid
            ]
        )
        line = on_plane is not None and len(on_plane.weights) == 1 and on_plane.length > 0
        band = 0.0
        if line and linear is not None:
            least = margin(data.X, data.signs, linear.weights, float(linear.bias[0]))
            band = least if least > 0 else demanded / linear.length
        return cls(
            places=places,
            codes=data.codes[drawn],
            classes=data.classes,
            wrong=wrong[drawn],
            errors=int(np.count_nonzero(wrong)),
            rows=len(wrong),
            plane=plane,
            view=view,
            leads=ahead.T.reshape(-1, resolution, resolution),
            linear=on_plane if line else None,
            band=band,
        )

    def plot(self, ax: Axes | None = None, *, legend: bool = True, weights: bool = True) -> Self:
        """Draw it.

        Parameters
        ----------
        ax : Axes, optional
            Where; by default in a new figure.
        legend : bool, default=True
            Whether to name the classes above the picture.
        weights : bool, default=True
            Whether to draw the weight vector, the bias's shift and the margin.
        """
        (self.ax_,) = (ax,) = given_axes(ax, 1)
        self.figure_ = ax.figure
        self._draw_sides(ax)
        if self.linear is not None:
            self._draw_line(ax, self.linear, weights)
        area = draw_points(ax, self.places, self.codes, self.classes)
        if self.wrong.any():
            draw_circles(ax, self.places[self.wrong], area, f"misclassified ({self.errors:,})")
        self.view.set(ax)
        ax.set_xlabel(self.plane.labels[0])
        ax.set_ylabel(self.plane.labels[1])
        if not self.plane.labels[1]:
            ax.set_yticks([])
        tidy(ax)
        if len(self.places) < self.rows:
            count = f"{len(self.places):,} of {self.rows:,} rows"
            note(ax, count, (0.99, 0.01), xycoords="axes fraction", ha="right", va="bottom")
        if legend:
            legend_above(ax)
        return self

    def _draw_sides(self, ax: Axes) -> None:
        """Shade where each class is predicted, with lines between."""
        xs, ys = np.linspace(self.view.low, self.view.high, self.leads.shape[1]).T
        for code, ahead in enumerate(self.leads):
            if ahead.max() > 0:
                colour = COLOURS[code % len(COLOURS)]
                levels = [0, 2 * float(ahead.max())]
                ax.contourf(xs, ys, ahead, levels, colors=[colour], alpha=0.16, zorder=0)
            if self.linear is None and ahead.min() < 0 < ahead.max():
                ax.contour(xs, ys, ahead, [0], colors=INK, linewidths=1.2, zorder=2)

    def _draw_line(self, ax: Axes, linear: Linear, weights: bool) -> None:
        """Draw the boundary, the margin's band, the weight vector and the bias's shift."""
        self._draw_level(ax, linear, 0.0, linewidth=1.8)
        size = float(np.max(self.view.high - self.view.low))
        if self.band > 0.008 * size:  # else the three lines would be one
            look = {"linestyle": "--", "linewidth": 0.9}
            self._draw_level(ax, linear, -self.band, **look)
            self._draw_level(ax, linear, self.band, label=f"margin γ = {self.band:.3g}", **look)
        ends = self.view.chord(linear)
        if ends is None or not weights:
            return
        unit = linear.weights[0] / linear.length
        shift = -float(linear.bias[0]) / linear.length  # from the origin to the boundary, along w
        if self.view.holds(np.zeros(2)) and self.view.holds(shift * unit):
            from_shift = np.linalg.norm(ends - shift * unit, axis=1)
            ends = ends if from_shift[0] > from_shift[1] else ends[::-1]
            ax.plot(0, 0, "+", color=INK, markersize=9, zorder=4)
            path, label = np.outer([0, shift], unit).T, f"shift −b/‖w‖ = {shift:.3g}"
            ax.plot(*path, ":", color=INK, linewidth=1.6, zorder=2, label=label)
        foot = 0.75 * ends[0] + 0.25 * ends[1]
        tip = foot + unit * size * 0.15
        arrow(ax, foot, tip, linewidth=2, mutation_scale=16)
        note(ax, "w", tuple(tip), xytext=tuple(11 * unit), textcoords="offset points",
             ha="center", va="center", fontweight="bold")  # fmt: skip

    def _draw_level(self, ax: Axes, linear: Linear, distance: float, **look: Any) -> None:
        """Draw the line at a distance from the boundary, if it can be seen."""
        ends = self.view.chord(linear, distance * linear.length)
        if ends is not None:
            ax.axline(*ends, color=INK, zorder=2, **look)


@dataclass(kw_only=True)
class ProjectionDisplay:
    """Every row as a point on the line along w, with the threshold between the classes.

    A linear classifier of two classes sees no more of a row than its projection on w; the bias
    moves the threshold away from zero. For other classifiers the line is that of their scores.
    Make one with ``from_estimator``.

    Attributes
    ----------
    positions : ndarray
        w·x/‖w‖ of every row, or its score where there is no w.
    threshold : float
        Where the boundary is: -b/‖w‖, or 0.
    codes, classes, wrong : ndarray
        Each row's class number, the labels, and which rows are misclassified.
    label : str
        Of the axis.
    ax_, figure_
        What it was last drawn in.

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
    classes: Array
    wrong: Array
    label: str
    ax_: Axes = field(init=False, repr=False)
    figure_: Any = field(init=False, repr=False)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: ArrayLike) -> Self:
        """Project rows as a fitted classifier of two classes does.

        Parameters
        ----------
        estimator : classifier
            Fitted on two classes.
        X, y : array-like
            The rows to draw and their labels.
        """
        given, data = X, drawable(X, y, classes_of(estimator))
        if len(data.classes) != 2:
            raise ValueError(
                f"The estimator knows {len(data.classes)} classes, and a projection shows two; fit "
                "it on y == label for one of them."
            )
        linear = linear_part(estimator, data.X)
        positions, threshold, label = scores_of(estimator, data.X), 0.0, "score"
        if linear is not None and linear.length > 0:
            positions = np.asarray(data.X @ linear.weights[0] / linear.length)
            threshold = -float(linear.bias[0]) / linear.length
            label = "w·x / ‖w‖"
        return cls(
            positions=positions if positions.ndim == 1 else positions[:, 1] - 0.5,
            threshold=threshold,
            codes=data.codes,
            classes=data.classes,
            wrong=np.asarray(estimator.predict(given)) != data.classes[data.codes],
            label=label,
        )

    def plot(self, ax: Axes | None = None, *, bins: int = 60) -> Self:
        """Draw the positive class above the line and the negative one below.

        Parameters
        ----------
        ax : Axes, optional
            Where; by default in a new figure.
        bins : int, default=60
            Into how many parts the line is divided: points of one part are put on one another, and
            where that grows too high, bars are drawn.
        """
        (self.ax_,) = (ax,) = given_axes(ax, 1)
        self.figure_ = ax.figure
        places = self._stacked(bins)
        height = max(float(np.abs(places[:, 1]).max()), 5.0)
        if height <= 20:
            area = draw_points(ax, places, self.codes, self.classes)
            if self.wrong.any():
                count = int(np.count_nonzero(self.wrong))
                draw_circles(ax, places[self.wrong], area, f"misclassified ({count:,})")
        else:
            height = self._draw_bars(ax, bins)
        self._draw_threshold(ax, height)
        ax.set_xlabel(self.label)
        ax.set_ylim(-1.1 * height, 1.1 * height)
        ax.set_yticks([])
        tidy(ax)
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

    def _draw_bars(self, ax: Axes, bins: int) -> float:
        """Bars in place of piles; return the highest."""
        edges, highest = self._edges(bins), 0.0
        for code, label in enumerate(self.classes.tolist()):
            of_class = self.codes == code
            for rows, hatch, name in [
                (of_class, None, str(label)),
                (of_class & self.wrong, "xxxx", None),
            ]:
                counts = np.histogram(self.positions[rows], edges)[0] * (1 if code else -1)
                if counts.any():
                    look: dict[str, Any] = {
                        "hatch": hatch,
                        "edgecolor": INK,
                        "linewidth": 0.4,
                        "label": name,
                    }
                    ax.stairs(counts, edges, fill=True, facecolor=COLOURS[code], **look)
                highest = max(highest, float(np.abs(counts).max()))
        wrong = int(np.count_nonzero(self.wrong))
        if wrong:
            label = f"misclassified ({wrong:,})"
            ax.fill([], [], facecolor="white", edgecolor=INK, hatch="xxxx", label=label)
        return highest

    def _draw_threshold(self, ax: Axes, height: float) -> None:
        """The line, its two sides, zero, and how far the bias moves the threshold from there."""
        low, high = (
            min(self.positions.min(), self.threshold),
            max(self.positions.max(), self.threshold),
        )
        if 1.5 * low - 0.5 * high <= 0 <= 1.5 * high - 0.5 * low:
            low, high = min(low, 0.0), max(high, 0.0)
        room = 0.06 * (high - low) or 1.0
        low, high = low - room, high + room
        ax.set_xlim(low, high)
        ax.axvspan(low, self.threshold, color=COLOURS[0], alpha=0.16, zorder=0, linewidth=0)
        ax.axvspan(self.threshold, high, color=COLOURS[1], alpha=0.16, zorder=0, linewidth=0)
        ax.axhline(0, color=INK, linewidth=0.8, zorder=2)
        label = f"threshold −b/‖w‖ = {self.threshold:.3g}" if self.label[0] == "w" else "threshold"
        ax.axvline(self.threshold, color=INK, linewidth=1.8, zorder=2, label=label)
        if low < 0 < high and abs(self.threshold) > 0.02 * (high - low):
            ax.axvline(0, color=FAINT, linestyle=":", linewidth=1.2, zorder=2)
            shift = np.array([[0.0, self.threshold], [0.0, 0.0]])
            arrow(ax, *shift.T, linewidth=2, mutation_scale=12)


# Runs, repeated


def followed(
    model: Perceptron, X: Any, y: ArrayLike, every: str, most: int
) -> list[tuple[int, Step]]:
    """Repeat a fit, and keep some of its updates with their numbers: spread over it evenly.

    Those after which an epoch ends, or any.
    """
    if every not in ("update", "epoch"):
        raise ValueError(f"every must be 'update' or 'epoch'; got {every!r}.")
    if model.n_mistakes_ > MOST_UPDATES:
        raise ValueError(
            f"The run made {model.n_mistakes_:,} updates, and at most {MOST_UPDATES:,} are "
            "followed one by one; lower max_iter or take fewer rows."
        )
    total = model.n_mistakes_ if every == "update" else model.n_iter_
    wanted = spread_over(total, min(most, affordable(X)))
    parameters = model.get_params() | {"warm_start": False, "verbose": 0}
    kept: list[tuple[int, Step]] = []
    number, weights = 0, np.zeros_like(model.coef_)
    for number, step in enumerate(steps(X, y, **parameters), start=1):
        weights = step.new_weights
        if every == "update" and number in wanted:
            kept.append((number, step))
        elif every == "epoch" and step.epoch in wanted:
            if kept and kept[-1][1].epoch == step.epoch:
                kept.pop()
            kept.append((number, step))
    ends_alike = model.solution not in ("last", "vote") or (
        weights.shape == model.coef_.shape and np.allclose(weights, model.coef_)
    )
    if number != model.n_mistakes_ or not ends_alike:
        raise ValueError(
            "Repeating the fit made other updates: give the rows that the model was fitted on, and "
            "fit it with a number as random_state."
        )
    return kept


def affordable(X: Any) -> int:
    """How many times rows can be measured and drawn in some seconds."""
    rows, columns = X.shape if hasattr(X, "shape") else np.shape(X)
    numbers = X.nnz if issparse(X) else rows * columns
    return max(20, WORK // int(numbers + 100 * columns))


def spread_over(total: int, most: int) -> set[int]:
    """At most so many numbers from 1 to a total, with the first and the last."""
    return set(np.linspace(1, total, min(total, most)).round().astype(int).tolist())


def fitted(X: Any, y: ArrayLike, parameters: dict[str, Any]) -> Perceptron:
    """A Perceptron whose run can be repeated."""
    return Perceptron(**{"random_state": 0, **parameters}).fit(X, y)


class Squeeze(NamedTuple):
    """What the convergence theorem says of a run: γM ≤ ‖w‖/η ≤ R√M, so that M ≤ (R/γ)².

    All with the bias as a coordinate of the rows, of the size that makes its steps.
    """

    radius: float
    margin: float
    """Of the best separator that was found."""
    best: Array
    """Its weights, of length one."""
    coordinate: float
    """What the bias is multiplied by in a row; 0 without a bias."""
    eta0: float

    @property
    def bound(self) -> float:
        """The most mistakes that there can be."""
        return square(self.radius, self.margin)

    def __str__(self) -> str:
        return f"{self.bound:,.0f}" if 100 <= self.bound < 1e9 else f"{self.bound:.3g}"

    def lifted(self, weights: Array, bias: Array) -> Array:
        """The weights with the bias as a coordinate, in steps of 1."""
        w = np.ravel(weights)
        with_bias = np.append(w, bias / self.coordinate) if self.coordinate else w
        return np.asarray(with_bias, np.float64) / self.eta0


def squeeze_of(model: Perceptron, data: Data) -> Squeeze | None:
    """The theorem's numbers for a run; None where it does not speak of such a run.

    Nor where the rows are so wide that the best separator is out of reach.
    """
    if data.X.shape[1] > MOST_COLUMNS:
        return None
    try:
        _, _, step = model.last_weights()
    except ValueError:
        return None
    coordinate = float(np.sqrt(step))
    rows = with_coordinate(data.X, coordinate)
    best = largest_margin(rows, data.signs, 1e-3, fit_intercept=False)
    return Squeeze(radius(rows), best.attained, best.weights, coordinate, float(model.eta0))


@dataclass(kw_only=True)
class ProgressDisplay:
    """How a run went: mistakes, both losses, the length of w and its angle to the best separator.

    The convergence theorem (Novikoff 1962) holds the length between γM and R√M after M mistakes;
    where the two meet, at (R/γ)², is the most that there can be. Make one with ``from_estimator``
    or ``from_data``.

    Attributes
    ----------
    over : {"updates", "epochs"}
        What time is counted in.
    time : dict of str to ndarray
        For each quantity, when it was taken.
    curves : dict of str to ndarray
        "mistakes" so far (M), "errors" (J₁, the misclassified rows), "loss" (J, the sum of
        -y·activation over them), "length" (‖w‖/η) and "angle" (in degrees, to the best separator);
        those that the run allows. The last two count the bias as a coordinate of w.
    squeeze : Squeeze or None
        R, γ and the bound, where the theorem speaks of such a run (two classes, no margin or
        weights), the rows are separable and have at most 2,000 columns.
    ax_, figure_
        The axes that it was last drawn in, one for each quantity.

    Examples
    --------
    >>> X, y = [[2.0, 1.0], [-1.0, 1.0]], [1, -1]
    >>> display = ProgressDisplay.from_data(X, y, order="fixed")
    >>> display.curves["errors"].tolist(), round(display.squeeze.bound, 6)
    ([1, 0], 3.0)
    """

    over: str
    time: dict[str, Array]
    curves: dict[str, Array]
    squeeze: Squeeze | None = None
    ax_: Array = field(init=False, repr=False)
    figure_: Any = field(init=False, repr=False)

    @classmethod
    def from_data(
        cls, X: Any, y: ArrayLike, *, over: str = "updates", most: int = 1_000, **parameters: Any
    ) -> Self:
        """Train a Perceptron and see how it went.

        Parameters
        ----------
        X, y, over, most
            As for ``from_estimator``.
        **parameters
            As for ``Perceptron``; ``random_state`` is 0 unless given.
        """
        return cls.from_estimator(fitted(X, y, parameters), X, y, over=over, most=most)

    @classmethod
    def from_estimator(
        cls,
        estimator: Perceptron,
        X: Any = None,
        y: ArrayLike | None = None,
        *,
        over: str | None = None,
        most: int = 1_000,
    ) -> Self:
        """See how the run of a fitted Perceptron went; with its rows the run is repeated.

        Parameters
        ----------
        estimator : Perceptron
            Fitted, with a number as ``random_state`` if its order is random.
        X, y : array-like, optional
            What it was fitted on. Without them there is what ``history_`` has, over epochs.
        over : {"updates", "epochs"}, optional
            What to count time in; by default updates, or epochs without rows.
        most : int, default=1000
            How many moments to look at, spread evenly; fewer, but at least 20, of many rows.
        """
        over = over or ("epochs" if X is None else "updates")
        if over not in ("updates", "epochs"):
            raise ValueError(f"over must be 'updates' or 'epochs'; got {over!r}.")
        check_is_fitted(estimator)
        if not isinstance(estimator, Perceptron) or not estimator.history_:
            raise ValueError("Progress is that of a fitted Perceptron with epochs in history_.")
        if X is not None and y is not None:
            return cls._measured(estimator, X, y, over, most)
        if over == "updates":
            raise ValueError(
                "Progress over updates needs the rows, X and y; or take over='epochs'."
            )
        history = estimator.history_
        curves = {
            "mistakes": np.cumsum([epoch.mistakes for epoch in history]),
            "errors": np.array([epoch.errors for epoch in history]),
            "loss": np.array([epoch.loss for epoch in history]),
        }
        epochs = np.array([epoch.epoch for epoch in history])
        return cls(over=over, time=dict.fromkeys(curves, epochs), curves=curves)

    @classmethod
    def _measured(cls, model: Perceptron, X: Any, y: ArrayLike, over: str, most: int) -> Self:
        """The run, repeated, with all rows measured after some of its updates."""
        data = drawable(X, y, classes_of(model))
        kept = followed(model, X, y, "update" if over == "updates" else "epoch", most)
        squeeze = squeeze_of(model, data)
        table: dict[str, list[float]] = {name: [] for name in ("errors", "loss", "length")}
        if squeeze is not None and squeeze.margin > 0:
            table["angle"] = []
        for _, step in kept:
            functional = margins_of(data, step.new_weights, step.new_bias)
            wrong = functional[functional <= 0]
            table["errors"].append(len(wrong))
            table["loss"].append(-float(wrong.sum()) + 0.0)
            if squeeze is None:
                table["length"].append(float(np.linalg.norm(step.new_weights)) / model.eta0)
                continue
            lifted = squeeze.lifted(step.new_weights, step.new_bias)
            table["length"].append(float(np.linalg.norm(lifted)))
            if "angle" in table:
                table["angle"].append(angle(lifted, squeeze.best))
        curves = {name: np.array(values) for name, values in table.items()}
        when = np.array([number if over == "updates" else step.epoch for number, step in kept])
        if over == "epochs" and len(when) and when[-1] < model.n_iter_:
            when = np.append(when, model.n_iter_)  # the last epoch changed nothing
            curves = {name: np.append(curve, curve[-1]) for name, curve in curves.items()}
        time = dict.fromkeys(curves, when)
        if over == "epochs":
            time["mistakes"] = np.array([epoch.epoch for epoch in model.history_])
            curves["mistakes"] = np.cumsum([epoch.mistakes for epoch in model.history_])
        separable = squeeze is not None and squeeze.margin > 0
        return cls(over=over, time=time, curves=curves, squeeze=squeeze if separable else None)

    def plot(self, ax: Any = None, *, quantities: Sequence[str] | None = None) -> Self:
        """Draw a curve for each quantity.

        Parameters
        ----------
        ax : Axes or sequence of Axes, optional
            Where, one for each quantity; by default in a new figure.
        quantities : sequence of str, optional
            Which of the curves; by default all but one: over updates their number is no news, and
            over epochs the length is left out.
        """
        shown = self.quantities if quantities is None else list(quantities)
        unknown = [name for name in shown if name not in self.curves]
        if unknown:
            raise ValueError(
                f"There is no curve of {unknown[0]!r} for this run; there is "
                f"{', '.join(self.curves)}."
            )
        self.ax_ = given_axes(ax, len(shown))
        self.figure_ = self.ax_[0].figure
        drawing = {"mistakes": self._draw_mistakes, "length": self._draw_length}
        for axis, name in zip(self.ax_, shown, strict=True):
            axis.set_xlabel("updates M" if self.over == "updates" else "epoch")
            axis.xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
            axis.set_title(TITLES[name], loc="left", fontsize="medium")
            drawing.get(name, self._draw_curve)(axis, name)
            tidy(axis)
        return self

    @property
    def quantities(self) -> list[str]:
        """The curves that are drawn unless others are asked for."""
        order = ["mistakes", "errors", "loss", "length", "angle"]
        unless = "length" if self.over == "epochs" and "angle" in self.curves else ""
        return [name for name in order if name in self.curves and name != unless]

    def _draw_curve(self, ax: Axes, name: str) -> None:
        """A quantity as it went."""
        time, curve = self.time[name], self.curves[name]
        marker = "o" if len(time) <= 60 else ""
        ax.plot(time, curve, color=COLOURS[1], marker=marker, markersize=4, clip_on=False)
        ax.set_ylim(0, None if np.any(curve) else 1)
        if name == "errors":
            ax.yaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))

    def _draw_mistakes(self, ax: Axes, name: str) -> None:
        """The mistakes so far, below the most that there can be."""
        self._draw_curve(ax, name)
        if self.squeeze is not None:
            bound, made = self.squeeze.bound, self.curves[name].max()
            ax.axhline(bound, color=INK, linestyle="--", linewidth=1.2)
            ax.annotate(f"(R/γ)² = {self.squeeze}", (0.98, bound), (0, -4), ha="right", va="top",
                        xycoords=("axes fraction", "data"), textcoords="offset points")  # fmt: skip
            if bound > 5 * made:
                ax.set_yscale("log")
                ax.set_ylim(max(0.5, self.curves[name].min() / 2), 2 * bound)

    def _draw_length(self, ax: Axes, name: str) -> None:
        """The length of w, between the two curves of the theorem up to where they meet."""
        if self.squeeze is None or self.over == "epochs":
            self._draw_curve(ax, name)
            return
        bound, R, gamma = self.squeeze.bound, self.squeeze.radius, self.squeeze.margin
        M = np.geomspace(1, max(bound, 2), 50)
        ax.fill_between(M, gamma * M, R * np.sqrt(M), color="0.92", zorder=0, linewidth=0)
        ax.plot(M, R * np.sqrt(M), "--", color=INK, linewidth=1.2, label="R√M")
        ax.plot(M, gamma * M, ":", color=INK, linewidth=1.5, label="γM")
        ax.plot(self.time[name], self.curves[name], color=COLOURS[1], linewidth=2, label="‖w‖/η")
        ax.plot(bound, R * np.sqrt(bound), "o", color=INK)
        ax.annotate(f"(R/γ)² = {self.squeeze}", (bound, R * np.sqrt(bound)), (-6, 4), ha="right",
                    textcoords="offset points")  # fmt: skip
        ax.set_xscale("log")
        ax.set_yscale("log")
        ax.legend(frameon=False, loc="lower right")


TITLES = {
    "mistakes": "mistakes so far, M",
    "errors": "misclassified rows, J₁",
    "loss": "sum of −y·activation over them, J",
    "length": "length of w",
    "angle": "angle to the best separator, in degrees",
}


def margins_of(data: Data, weights: Array, bias: Array) -> Array:
    """Every row's label times activation, or the lead of its class."""
    if len(weights) == 1:
        return margins(data.X, data.signs, weights, float(bias[0]))
    scores = Linear(weights, bias).scores(data.X)
    return np.asarray(leads(scores)[np.arange(len(data.codes)), data.codes])


def angle(v: Array, w: Array) -> float:
    """Between two vectors, in degrees; NaN when one is zero."""
    lengths = float(np.linalg.norm(v)) * float(np.linalg.norm(w))
    return float(np.degrees(np.arccos(np.clip(v @ w / lengths, -1, 1)))) if lengths else np.nan


@dataclass(kw_only=True)
class OrderDisplay:
    """How often the rows had to be read, and how many mistakes were made, in different orders.

    Make one with ``from_data``.

    Attributes
    ----------
    reads, mistakes : dict of str to ndarray
        For each order, a number per seed: rows gone through as a share of all, and updates.
    separated : dict of str to ndarray of bool
        Whether the run ended with a pass without mistakes.
    ax_, figure_
        The axes that it was last drawn in, one for each quantity.

    Examples
    --------
    >>> display = OrderDisplay.from_data([[2.0, 1.0], [-1.0, 1.0]], [1, -1], seeds=range(3))
    >>> display.reads["fixed"].tolist(), display.mistakes["fixed"].tolist()
    ([2.0], [2])
    """

    reads: dict[str, Array]
    mistakes: dict[str, Array]
    separated: dict[str, Array]
    ax_: Array = field(init=False, repr=False)
    figure_: Any = field(init=False, repr=False)

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
        """Train in each order; in those that chance decides, once for each seed.

        Parameters
        ----------
        X, y : array-like
            Rows and labels.
        orders : sequence of str, default=("fixed", "once", "each", "active")
            As for ``Perceptron``.
        seeds : sequence of int, default=range(20)
            Values of ``random_state``.
        **parameters
            Of ``Perceptron``, for all runs; ``max_iter`` is 1000 unless given.
        """
        chance = {"each", "once"}
        parameters = {"max_iter": 1000, **parameters}
        runs = {
            order: [
                Perceptron(order=order, random_state=seed, **parameters).fit(X, y)
                for seed in (list(seeds) if order in chance else [0])
            ]
            for order in orders
        }
        count = np.shape(y)[0]
        return cls(
            reads={
                order: np.array([sum(epoch.rows for epoch in m.history_) / count for m in models])
                for order, models in runs.items()
            },
            mistakes={
                order: np.array([m.n_mistakes_ for m in models]) for order, models in runs.items()
            },
            separated={
                order: np.array([m.stop_reason_ == "separated" for m in models])
                for order, models in runs.items()
            },
        )

    def plot(self, ax: Any = None, *, quantities: Sequence[str] = ("reads", "mistakes")) -> Self:
        """Draw a dot for each run, open if it did not separate the rows, and their means.

        Parameters
        ----------
        ax : Axes or sequence of Axes, optional
            Where, one for each quantity; by default in a new figure.
        quantities : sequence of {"reads", "mistakes"}
            What to draw.
        """
        self.ax_ = given_axes(ax, len(quantities))
        self.figure_ = self.ax_[0].figure
        titles = {"reads": "reads of the data", "mistakes": "mistakes"}
        for axis, name in zip(self.ax_, quantities, strict=True):
            for place, (order, values) in enumerate(getattr(self, name).items()):
                self._draw_runs(axis, place, values, self.separated[order])
            orders = list(self.reads)
            axis.set_yticks(range(len(orders)), orders)
            axis.set_ylim(len(orders) - 0.5, -0.5)
            axis.set_xlim(left=0)
            everywhere = all(done.all() for done in self.separated.values())
            until = " until separated" if everywhere else " (open: not separated)"
            axis.set_title(titles[name] + until, loc="left", fontsize="medium")
            axis.tick_params(axis="y", length=0)
            axis.grid(axis="x", color="0.9")
            axis.set_axisbelow(True)
            tidy(axis)
        return self

    def _draw_runs(self, ax: Axes, place: int, values: Array, separated: Array) -> None:
        """The runs in one order, and their mean with twice its standard error."""
        heights = place + 0.22 * np.sin(
            2.4 * np.arange(len(values))
        )  # apart, but the same each time
        colours = np.where(separated, COLOURS[1], "white")
        ax.scatter(values, heights, s=22, c=colours, edgecolors=COLOURS[1], alpha=0.7, zorder=2)
        mean = values.mean()
        error = 2 * values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else 0.0
        ax.errorbar(mean, place, xerr=error, fmt="D", color=INK, capsize=4, markersize=6, zorder=3)


@dataclass(kw_only=True)
class CertificateDisplay:
    """Why two classes cannot be separated, or how far apart they are.

    The convex hulls of two classes meet in a point that rows of both make, or their two nearest
    points are twice the largest margin apart. Make one with ``from_data``.

    Attributes
    ----------
    places, codes, classes : ndarray
        Where the drawn rows are, their class numbers, and the labels.
    support : ndarray of shape (n_support, 2)
        Where the rows of the certificate are.
    support_rows, support_codes : ndarray
        Their numbers in X, and classes.
    shares : ndarray
        How much each has of its class's point; those of a class sum to 1.
    nearest : ndarray of shape (2, 2)
        Where the point of each class is. With a certificate of inseparability they are the same.
    verdict : Separable, Inseparable
        What was proved.
    plane : Plane
        What the axes mean.
    ax_, figure_
        What it was last drawn in.

    Examples
    --------
    >>> display = CertificateDisplay.from_data([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0])
    >>> display.nearest.tolist()
    [[0.5, 0.5], [0.5, 0.5]]
    """

    places: Array
    codes: Array
    classes: Array
    support: Array
    support_rows: Array
    support_codes: Array
    shares: Array
    nearest: Array
    verdict: Separable | Inseparable
    plane: Plane
    ax_: Axes = field(init=False, repr=False)
    figure_: Any = field(init=False, repr=False)

    @classmethod
    def from_data(cls, X: Any, y: ArrayLike, *, most_points: int = MOST_POINTS) -> Self:
        """Decide whether a hyperplane separates two classes, and keep the proof.

        Parameters
        ----------
        X, y : array-like
            Rows and labels of two classes.
        most_points : int, default=5000
            Of more rows so many are drawn, besides those of the certificate.
        """
        data = drawable(X, y)
        if len(data.classes) != 2:
            raise ValueError(
                f"y has {len(data.classes)} classes, and a certificate is about two; give "
                "y == label for one of them."
            )
        verdict = separability(data.X, data.signs)
        if isinstance(verdict, Undecided):
            raise ValueError("Neither could be proved for these rows, so there is nothing to draw.")
        if isinstance(verdict, Separable):
            if data.X.shape[1] > MOST_COLUMNS:
                raise ValueError(
                    f"The rows are separable, but with {data.X.shape[1]:,} columns their hulls' "
                    "nearest points are out of reach; draw a boundary instead."
                )
            widest = max_margin(data.X, data.signs)
            rows, shares = widest.support, widest.shares
            plane = plane_of(data, Linear(widest.weights[None], np.array([widest.bias])))
        else:
            rows, shares = np.array(verdict.support), 2 * np.array(verdict.weights, np.float64)
            plane = plane_through(data, rows)
        places, codes = plane.place(data.X[rows]), data.codes[rows]
        drawn = np.union1d(some_rows(len(data.codes), most_points), rows)
        return cls(
            places=plane.place(data.X[drawn]),
            codes=data.codes[drawn],
            classes=data.classes,
            support=places,
            support_rows=rows,
            support_codes=codes,
            shares=shares,
            nearest=np.stack([shares[codes == k] @ places[codes == k] for k in (0, 1)]),
            verdict=verdict,
            plane=plane,
        )

    def plot(self, ax: Axes | None = None, *, legend: bool = True) -> Self:
        """Draw the hulls, the rows of the certificate, and the points that these make.

        Parameters
        ----------
        ax : Axes, optional
            Where; by default in a new figure.
        legend : bool, default=True
            Whether to name the classes above the picture.
        """
        (self.ax_,) = (ax,) = given_axes(ax, 1)
        self.figure_ = ax.figure
        for code in (0, 1):
            colour = COLOURS[code]
            around = outline(self.places[self.codes == code])
            ax.fill(*around.T, color=colour, alpha=0.14, linewidth=0, zorder=0)
            ax.plot(*np.vstack([around, around[:1]]).T, color=colour, linewidth=0.8, zorder=1)
            made = outline(self.support[self.support_codes == code])
            style = "-" if code else "--"
            closed = made if len(made) == 2 else np.vstack([made, made[:1]])
            ax.plot(*closed.T, style, color=INK, linewidth=1.6, zorder=2)
        area = draw_points(ax, self.places, self.codes, self.classes)
        draw_circles(ax, self.support, area, f"the {len(self.support)} rows that prove it")
        self._draw_nearest(ax)
        view_of(self.places).set(ax)
        ax.set_xlabel(self.plane.labels[0])
        ax.set_ylabel(self.plane.labels[1])
        tidy(ax)
        if legend:
            legend_above(ax)
        return self

    def _draw_nearest(self, ax: Axes) -> None:
        """The point where the hulls meet, or the two that are nearest."""
        meet = isinstance(self.verdict, Inseparable)
        look: dict[str, Any] = {
            "markersize": 17,
            "markeredgecolor": "white",
            "color": "black",
            "linestyle": "",
        }
        apart = np.diff(self.nearest, axis=0)[0]
        label = "the hulls meet" if meet else f"2γ = {np.linalg.norm(apart):.3g} apart"
        ax.plot(*self.nearest[: 1 if meet else 2].T, marker="*", zorder=5, label=label, **look)
        if not meet:
            ax.plot(*self.nearest.T, ":", color=INK, zorder=2)
            middle = self.nearest.mean(axis=0)
            across = np.array([-apart[1], apart[0]])
            ax.axline(tuple(middle), tuple(middle + across), color=INK, linewidth=1.8, zorder=2)


def plane_through(data: Data, rows: Array) -> Plane:
    """The plane in which some rows differ most; what is between rows is between their places."""
    width = data.X.shape[1]
    if width <= 2 or len(rows) < 3:
        return plane_of(data, None)
    some = data.X[rows].toarray() if issparse(data.X) else data.X[rows]
    directions = np.linalg.svd(some - some.mean(axis=0), full_matrices=False)[2][:2]
    what = "principal direction of the rows that prove it"
    return Plane(directions, np.zeros(width), (f"first {what}", f"second {what}"))


def outline(places: Array) -> Array:
    """The corners of the convex hull of some points, in turn."""
    try:
        return np.asarray(places[ConvexHull(places).vertices])
    except (QhullError, ValueError):  # all on a line
        centred = places - places.mean(axis=0)
        along = centred @ np.linalg.svd(centred, full_matrices=False)[2][0]
        return np.asarray(places[[np.argmin(along), np.argmax(along)]])


# Animation


class Frame(NamedTuple):
    """A moment of learning: the weights, and the update that led to them (None at the start)."""

    number: int
    linear: Linear
    step: Step | None


class LearningAnimation:
    """Learning as a film: the boundary after each update, or after each epoch.

    In Jupyter it shows itself, with controls. Make one with ``from_estimator`` or ``from_data``.

    Parameters
    ----------
    X, y : array-like
        The rows and their labels.
    frames : list of Frame
        What to show, in turn.
    model : Perceptron
        The run that is shown.

    Attributes
    ----------
    ax_, figure_
        What a frame was last drawn in.

    Examples
    --------
    >>> film = LearningAnimation.from_data([[2.0, 1.0], [-1.0, 1.0]], [1, -1], order="fixed")
    >>> [frame.linear.weights.tolist() for frame in film.frames]
    [[[0.0, 0.0]], [[2.0, 1.0]], [[3.0, 0.0]]]
    """

    def __init__(self, X: Any, y: ArrayLike, frames: list[Frame], model: Perceptron) -> None:
        self.data = drawable(X, y, classes_of(model))
        self.frames = frames
        self.model = model
        self.ax_: Axes | None = None
        self.figure_: Any = None

    @classmethod
    def from_data(
        cls,
        X: Any,
        y: ArrayLike,
        *,
        every: str = "update",
        most_frames: int = 150,
        **parameters: Any,
    ) -> Self:
        """Train a Perceptron and film it.

        Parameters
        ----------
        X, y, every, most_frames
            As for ``from_estimator``.
        **parameters
            As for ``Perceptron``; ``random_state`` is 0 unless given.
        """
        model = fitted(X, y, parameters)
        return cls.from_estimator(model, X, y, every=every, most_frames=most_frames)

    @classmethod
    def from_estimator(
        cls,
        estimator: Perceptron,
        X: Any,
        y: ArrayLike,
        *,
        every: str = "update",
        most_frames: int = 150,
    ) -> Self:
        """Repeat the run of a fitted Perceptron and film it.

        Parameters
        ----------
        estimator : Perceptron
            Fitted, with a number as ``random_state`` if its order is random.
        X, y : array-like
            What it was fitted on.
        every : {"update", "epoch"}, default="update"
            What a frame shows the end of.
        most_frames : int, default=150
            Of longer runs so many moments are shown, spread evenly; fewer, but at least 20, of
            many rows.
        """
        check_is_fitted(estimator)
        if not isinstance(estimator, Perceptron):
            raise ValueError("An animation repeats the run of a fitted Perceptron.")
        kept = followed(estimator, X, y, every, most_frames)
        frames = [
            Frame(number, Linear(step.new_weights, step.new_bias), step) for number, step in kept
        ]
        if every == "update":
            zero = Linear(0.0 * estimator.coef_, 0.0 * estimator.intercept_)
            frames.insert(0, Frame(0, zero, None))
        return cls(X, y, frames, estimator)

    def plot(self, ax: Axes | None = None, *, frame: int = -1) -> Self:
        """Draw one frame: the new boundary, the old one, and the row that was used.

        Parameters
        ----------
        ax : Axes, optional
            Where; by default in a new figure.
        frame : int, default=-1
            Which.
        """
        (ax,) = given_axes(ax, 1)
        self.ax_, self.figure_ = ax, ax.figure
        moment = self.frames[frame]
        display = BoundaryDisplay._of_linear(
            self.data, moment.linear, self.model.ties, MOST_POINTS
        ).plot(ax, legend=False)
        if moment.step is not None:
            self._draw_update(ax, display, moment.step)
        ax.set_title(self._title(moment, display.errors), loc="left", fontsize="medium")
        return self

    def _draw_update(self, ax: Axes, display: BoundaryDisplay, step: Step) -> None:
        """Mark the row that was used, and the boundary before it was."""
        before = display.plane.seen(Linear(step.weights, step.bias))
        ends = None
        if display.linear is not None and before.length > 0:
            ends = display.view.chord(before)
        if ends is not None:
            ax.axline(*ends, color=FAINT, linestyle=(0, (5, 3)), linewidth=1.2, zorder=2)
        x, y = display.plane.place(self.data.X[[step.row]]).T
        ax.scatter(x, y, s=320, facecolors="none", edgecolors="black", linewidths=2.2, zorder=5)
        ax.scatter(x, y, s=300, facecolors="none", edgecolors="white", linewidths=0.8, zorder=6)

    def _title(self, moment: Frame, errors: int) -> str:
        """What happened, in two lines."""
        wrong = f"{errors:,} of {len(self.data.codes):,} rows misclassified"
        if moment.step is None:
            return f"Start: w = 0, b = 0\n{wrong}"
        step, total = moment.step, self.model.n_mistakes_
        sign = "+" if step.rival is not None or step.label == self.data.classes[-1] else "−"
        eta = "" if self.model.eta0 == 1 else "η"
        rule = (
            f"w ← w {sign} {eta}x" if step.rival is None else f"from {step.rival} to {step.label}"
        )
        return (
            f"Update {moment.number:,} of {total:,}, epoch {step.epoch}: row {step.row}, "
            f"activation {step.activation:.3g}, {rule}\n{wrong}"
        )

    def to_html(self, *, fps: int = 4) -> str:
        """The film with buttons and a slider, complete in itself: nothing is loaded from anywhere.

        Parameters
        ----------
        fps : int, default=4
            Frames in a second.
        """
        with rc_context({"animation.embed_limit": 200.0, "savefig.dpi": 90}):
            page = self._film(hold=0).to_jshtml(fps=fps, default_mode="once")
        page = re.sub(r"<link rel=.stylesheet.\s[^>]*>", "", page)
        return re.sub(r'<i class="fa ([^"]+)"></i>', lambda icon: SIGNS[icon[1]], page)

    def save(self, path: str | os.PathLike[str], *, fps: int = 4) -> None:
        """Write the film to a file, whole or not at all.

        Parameters
        ----------
        path : str or path-like
            Its ending decides: ``.gif``, ``.mp4`` (needs the program ffmpeg) or ``.html``.
        fps : int, default=4
            Frames in a second.
        """
        ending = ending_of(path, MOVING)
        if ending == ".mp4" and not FFMpegWriter.isAvailable():
            raise ValueError(
                "An .mp4 file needs the program ffmpeg, which is not installed; write .gif or "
                ".html, or install ffmpeg."
            )
        with replacing(path) as temporary, TemporaryDirectory() as folder:
            if ending == ".html":
                head = (
                    '<!doctype html><html lang="en"><meta charset="utf-8"><title>Learning</title>'
                )
                temporary.write_text(head + self.to_html(fps=fps), encoding="utf-8")
                return
            writer = PillowWriter(fps=fps) if ending == ".gif" else FFMpegWriter(fps=fps)
            named = Path(folder) / f"film{ending}"  # the writers look at the ending
            self._film(hold=2 * fps).save(named, writer, dpi=90)
            temporary.write_bytes(named.read_bytes())

    def _film(self, hold: int) -> FuncAnimation:
        """The animation, with its last frame held for so many more."""
        figure = Figure(figsize=shape_of(1)["figsize"])
        ax = figure.add_axes((0.13, 0.1, 0.84, 0.8))  # a layout would move from frame to frame

        def show(number: int) -> list[Any]:
            ax.clear()
            self.plot(ax, frame=number)
            return []

        last = len(self.frames) - 1
        numbers = [*range(last + 1), *[last] * hold]
        return FuncAnimation(figure, show, frames=numbers, init_func=list, blit=False)

    def _repr_html_(self) -> str:
        """Itself, in a notebook."""
        return self.to_html()


SIGNS = {
    "fa-minus": "−",
    "fa-fast-backward": "⏮",
    "fa-step-backward": "‹",
    "fa-play fa-flip-horizontal": "◀",
    "fa-pause": "‖",
    "fa-play": "▶",
    "fa-step-forward": "›",
    "fa-fast-forward": "⏭",
    "fa-plus": "+",
}


# Files

IDEAS = ("boundary", "projection", "progress", "orders", "certificate")


def save_plot(
    path: str | os.PathLike[str],
    X: Any = None,
    y: Any = None,
    *,
    estimator: Any = None,
    what: str | None = None,
    every: str = "update",
    dpi: int = 150,
    **parameters: Any,
) -> None:
    """Draw one idea, or learning itself, to a file that appears when it is complete.

    Parameters
    ----------
    path : str or path-like
        Its ending decides: ``.png``, ``.svg``, ``.pdf``, ``.jpg`` or ``.webp`` for a picture,
        ``.gif``, ``.mp4`` or ``.html`` for an animation of learning.
    X, y : array-like, optional
        Rows and labels. Without them there is only the progress of an estimator.
    estimator : classifier, optional
        Fitted; by default a Perceptron is trained on X and y.
    what : {"boundary", "projection", "progress", "orders", "certificate"}, optional
        The idea; by default the boundary, or without rows the progress.
    every : {"update", "epoch"}, default="update"
        What the steps of time are, in an animation and in the progress.
    dpi : int, default=150
        Dots per inch of a picture of dots.
    **parameters
        Of the Perceptron, where one is trained; ``random_state`` is 0 unless given.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_plot(f"{folder}/two.png", [[2.0, 1.0], [-1.0, 1.0]], [1, -1], order="fixed")
    ...     Path(f"{folder}/two.png").read_bytes()[1:4]
    b'PNG'
    """
    ending = ending_of(path, (*STILL, *MOVING))
    what = what or ("progress" if X is None else "boundary")
    if what not in IDEAS:
        raise ValueError(f"what must be one of {', '.join(IDEAS)}; got {what!r}.")
    if X is None and (what != "progress" or estimator is None or ending in MOVING):
        raise ValueError(
            "Without rows only the progress of an estimator can be drawn; give X and y."
        )
    if estimator is None and what not in ("orders", "certificate"):
        estimator = fitted(X, y, parameters)
    if ending in MOVING:
        LearningAnimation.from_estimator(estimator, X, y, every=every).save(path)
        return
    display = display_of(what, estimator, X, y, every, parameters)
    count = len(display.quantities) if isinstance(display, ProgressDisplay) else 1
    count = 2 if isinstance(display, OrderDisplay) else count
    figure = Figure(**shape_of(count))
    axes = axes_in(figure, count)
    display.plot(axes if count > 1 else axes[0])
    with replacing(path) as temporary:
        figure.savefig(temporary, format=ending[1:], dpi=dpi, bbox_inches="tight")


def display_of(
    what: str, estimator: Any, X: Any, y: Any, every: str, parameters: dict[str, Any]
) -> Any:
    """The display of an idea."""
    if what == "boundary":
        return BoundaryDisplay.from_estimator(estimator, X, y)
    if what == "projection":
        return ProjectionDisplay.from_estimator(estimator, X, y)
    if what == "progress":
        over = "epochs" if X is None else f"{every}s"
        return ProgressDisplay.from_estimator(estimator, X, y, over=over)
    if what == "orders":
        return OrderDisplay.from_data(X, y, **parameters)
    return CertificateDisplay.from_data(X, y)


def ending_of(path: str | os.PathLike[str], known: Sequence[str]) -> str:
    """How a file's name ends, if it is one of those known."""
    ending = Path(path).suffix.lower()
    if ending not in known:
        raise ValueError(f"{path} should end in {', '.join(known)}; its ending decides the format.")
    return ending
