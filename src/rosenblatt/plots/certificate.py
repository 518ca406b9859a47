"""Draw the proof that two classes are inseparable, or the gap between them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self, Unpack

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike
from scipy.spatial import ConvexHull, QhullError

from ..data.rows import Array
from ..theory.certificates import Inseparable, Separable, Undecided
from ..theory.margins import max_margin
from ..theory.separability import separability
from .data import MOST_COLUMNS, MOST_POINTS, Names, check_data
from .display import Display
from .drawing import COLOURS, draw_legend, draw_points, format_number, ink, label_axes
from .planes import Plane, choose_plane, choose_plane_through, compute_limits
from .scores import Linear


@dataclass(kw_only=True)
class CertificateDisplay(Display):
    """The proof that no hyperplane separates two classes, or the widest gap between them.

    Either the convex hulls of the classes meet in a point, or the distance of their two nearest
    points is twice the largest margin. Create a display with ``from_data``.

    Attributes
    ----------
    places : ndarray of shape (n_drawn, 2)
        Positions of the rows that are drawn.
    codes : ndarray of shape (n_drawn,)
        The numbers of their classes.
    class_names : sequence of str
        Names of the classes.
    support : ndarray of shape (n_support, 2)
        Positions of the rows of the certificate.
    support_rows, support_codes : ndarray of shape (n_support,)
        Their numbers in X, and the numbers of their classes.
    shares : ndarray of shape (n_support,)
        Their shares in the point of their class; the shares of a class sum to 1.
    nearest : ndarray of shape (2, 2)
        Position of the point of each class; equal if the hulls meet.
    verdict : Separable or Inseparable
        The proof.
    plane : Plane
        The plane of the plot.
    normal : ndarray of shape (2,)
        The direction across the widest gap, projected onto the plane; zeros if the hulls meet.
    margin : float
        The largest margin γ; 0 if the hulls meet.

    See Also
    --------
    rosenblatt.separability : The proof without a plot.
    rosenblatt.max_margin : The largest margin.

    Examples
    --------
    >>> display = CertificateDisplay.from_data([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0])
    >>> display.nearest.tolist()
    [[0.5, 0.5], [0.5, 0.5]]
    """

    places: Array
    codes: Array
    class_names: Sequence[str]
    support: Array
    support_rows: Array
    support_codes: Array
    shares: Array
    nearest: Array
    verdict: Separable | Inseparable
    plane: Plane
    normal: Array
    margin: float

    @property
    def title(self) -> str:  # type: ignore[override]
        """The title of the plot."""
        one, other = self.class_names
        if isinstance(self.verdict, Inseparable):
            return f"No plane separates {one} from {other}"
        return f"A plane separates {one} from {other}"

    @classmethod
    def from_data(
        cls, X: Any, y: ArrayLike, *, most_points: int = MOST_POINTS, **names: Unpack[Names]
    ) -> Self:
        """Decide whether a hyperplane separates two classes, and make the display of the proof.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows to draw.
        y : array-like of shape (n_samples,)
            Their labels.
        most_points : int, default=5000
            The largest number of rows to draw, besides those of the certificate.
        **names
            ``class_names`` and ``feature_names``: sequences of str, names of the classes in the
            order of ``classes_``, and of the columns.

        Returns
        -------
        CertificateDisplay
            The display; ``plot`` draws it and ``save`` writes it to a file.
        """
        data = check_data(X, y, **names)
        data.check_two_classes()
        verdict = separability(data.X, data.signs)
        linear, margin = None, 0.0
        if isinstance(verdict, Undecided):
            raise ValueError(
                "Separability could not be decided for these rows, so there is nothing to draw."
            )
        if isinstance(verdict, Inseparable):
            rows, shares = np.array(verdict.support), 2 * np.array(verdict.weights, np.float64)
            plane = choose_plane_through(data, rows)
        elif data.X.shape[1] > MOST_COLUMNS:
            raise ValueError(
                f"The rows are separable, but {data.X.shape[1]:,} columns are too many to find the "
                "nearest points of their hulls; draw a boundary instead."
            )
        else:
            widest = max_margin(data.X, data.signs)
            rows, shares = widest.support, widest.shares
            linear = Linear(widest.weights[None], np.array([widest.bias]))
            plane, margin = choose_plane(data, linear), widest.attained
        places, codes = plane.place(data.X[rows]), data.codes[rows]
        drawn = np.union1d(data.sample(most_points), rows)
        return cls(
            places=plane.place(data.X[drawn]),
            codes=data.codes[drawn],
            class_names=data.class_names,
            support=places,
            support_rows=rows,
            support_codes=codes,
            shares=shares,
            nearest=np.stack([shares[codes == k] @ places[codes == k] for k in (0, 1)]),
            verdict=verdict,
            plane=plane,
            normal=np.zeros(2) if linear is None else plane.restrict(linear).weights[0],
            margin=margin,
        )

    def plot(self, ax: Axes | None = None, *, legend: bool = True) -> Self:
        """Draw the hulls, the rows of the certificate and the nearest points.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            The axes to draw in; None makes a new figure.
        legend : bool, default=True
            Whether to draw a legend above the axes.

        Returns
        -------
        self
            The display, with the attributes ``ax_`` and ``figure_``.
        """
        ax = self._one_axes(ax)
        for code, style in enumerate(["--", "-"]):
            colour = COLOURS[code]
            around = find_corners(self.places[self.codes == code])
            ax.fill(*around.T, color=colour, alpha=0.14, linewidth=0, zorder=0)
            ax.plot(*close_path(around).T, color=colour, linewidth=0.8, zorder=1)
            made = find_corners(self.support[self.support_codes == code])
            ax.plot(*close_path(made).T, style, color=ink(), linewidth=1.6, zorder=2)
        why = f"the {len(self.support)} rows that prove it"
        draw_points(ax, self.places, self.codes, self.class_names, self.support, why)
        self._draw_nearest(ax)
        compute_limits(self.places).apply(ax)
        label_axes(ax, self.plane.labels)
        if legend:
            draw_legend(ax)
        return self

    def _draw_nearest(self, ax: Axes) -> None:
        """Draw the point where the hulls meet, or the two nearest points and the gap."""
        meet = isinstance(self.verdict, Inseparable)
        label = "the hulls meet" if meet else f"2γ = {format_number(2 * self.margin)} apart"
        stars = self.nearest[: 1 if meet else 2].T
        ax.plot(*stars, "*", color=ink(), markeredgecolor=ax.get_facecolor(), markersize=17,
                zorder=5, label=label)  # fmt: skip
        if not meet:
            ax.plot(*self.nearest.T, ":", color=ink(), zorder=2)
            middle = self.nearest.mean(axis=0)
            across = np.array([-self.normal[1], self.normal[0]])
            ax.axline(tuple(middle), tuple(middle + across), color=ink(), linewidth=1.8, zorder=2)


def find_corners(places: Array) -> Array:
    """Return the corners of the convex hull of points, in order."""
    try:
        return np.asarray(places[ConvexHull(places).vertices])
    except (QhullError, ValueError):  # all on a line
        centred = places - places.mean(axis=0)
        along = centred @ np.linalg.svd(centred, full_matrices=False)[2][0]
        return np.asarray(places[[np.argmin(along), np.argmax(along)]])


def close_path(corners: Array) -> Array:
    """Append the first corner; a line segment stays as it is."""
    return corners if len(corners) == 2 else np.vstack([corners, corners[:1]])
