"""The proof that two classes cannot be separated, or how far apart they are."""

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
from .data import MOST_COLUMNS, MOST_POINTS, Names, drawable
from .display import Display
from .drawing import COLOURS, draw_points, ink, legend_above, rounded, tidy
from .planes import Plane, choose_plane, compute_limits, plane_through
from .scores import Linear


@dataclass(kw_only=True)
class CertificateDisplay(Display):
    """Why two classes cannot be separated, or how far apart they are.

    The convex hulls of two classes meet in a point that rows of both make, or their two nearest
    points are twice the largest margin apart. Make one with ``from_data``.

    Attributes
    ----------
    places : ndarray of shape (n_drawn, 2)
        Where the drawn rows are.
    codes : ndarray of shape (n_drawn,)
        Their numbers among the classes.
    class_names : sequence of str
        What the classes are called.
    support : ndarray of shape (n_support, 2)
        Where the rows of the certificate are.
    support_rows, support_codes : ndarray of shape (n_support,)
        Their numbers in X, and those of their classes.
    shares : ndarray of shape (n_support,)
        How much each has of its class's point; those of a class sum to 1.
    nearest : ndarray of shape (2, 2)
        Where the point of each class is; the same if the hulls meet.
    verdict : Separable or Inseparable
        The proof.
    plane : Plane
        What the axes mean.
    normal : ndarray of shape (2,)
        The direction across the widest gap, as the plane shows it; zeros if there is none. It comes
        from the weights: between nearest points that almost agree, rounding would decide it.
    margin : float
        The largest margin γ; 0 if the hulls meet.

    See Also
    --------
    rosenblatt.separability : The proof without a picture.
    rosenblatt.max_margin : How far apart they are.

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
        """What the picture shows."""
        one, other = self.class_names
        if isinstance(self.verdict, Inseparable):
            return f"No plane separates {one} from {other}"
        return f"A plane separates {one} from {other}"

    @classmethod
    def from_data(
        cls, X: Any, y: ArrayLike, *, most_points: int = MOST_POINTS, **names: Unpack[Names]
    ) -> Self:
        """Decide whether a hyperplane separates two classes, and keep the proof.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows to draw.
        y : array-like of shape (n_samples,)
            Their labels.
        most_points : int, default=5000
            Of more rows so many are drawn, besides those of the certificate.
        **names
            ``class_names`` and ``feature_names``, sequences of str: what to call the classes, in
            the order of ``classes_``, and the columns.

        Returns
        -------
        CertificateDisplay
            To be drawn or saved.
        """
        data = drawable(X, y, **names)
        if len(data.classes) != 2:
            raise ValueError(
                f"y has {len(data.classes)} classes, and a certificate is about two; set one label "
                "against all others."
            )
        verdict = separability(data.X, data.signs)
        linear, margin = None, 0.0
        if isinstance(verdict, Undecided):
            raise ValueError("Neither could be proved for these rows, so there is nothing to draw.")
        if isinstance(verdict, Inseparable):
            rows, shares = np.array(verdict.support), 2 * np.array(verdict.weights, np.float64)
            plane = plane_through(data, rows)
        elif data.X.shape[1] > MOST_COLUMNS:
            raise ValueError(
                f"The rows are separable, but with {data.X.shape[1]:,} columns their hulls' "
                "nearest points are out of reach; draw a boundary instead."
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
            normal=np.zeros(2) if linear is None else plane.seen(linear).weights[0],
            margin=margin,
        )

    def plot(self, ax: Axes | None = None, *, legend: bool = True) -> Self:
        """Draw the hulls, the rows of the certificate, and the points that these make.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; in a new figure unless given.
        legend : bool, default=True
            Whether a legend stands above.

        Returns
        -------
        self
            With ``ax_`` and ``figure_``, what it was drawn in.
        """
        ax = self._one_axes(ax)
        for code, style in enumerate(["--", "-"]):
            colour = COLOURS[code]
            around = outline(self.places[self.codes == code])
            ax.fill(*around.T, color=colour, alpha=0.14, linewidth=0, zorder=0)
            ax.plot(*closed(around).T, color=colour, linewidth=0.8, zorder=1)
            made = outline(self.support[self.support_codes == code])
            ax.plot(*closed(made).T, style, color=ink(), linewidth=1.6, zorder=2)
        why = f"the {len(self.support)} rows that prove it"
        draw_points(ax, self.places, self.codes, self.class_names, self.support, why)
        self._draw_nearest(ax)
        compute_limits(self.places).set(ax)
        tidy(ax, self.plane.labels)
        if legend:
            legend_above(ax)
        return self

    def _draw_nearest(self, ax: Axes) -> None:
        """The point where the hulls meet, or the two that are nearest."""
        meet = isinstance(self.verdict, Inseparable)
        label = "the hulls meet" if meet else f"2γ = {rounded(2 * self.margin)} apart"
        stars = self.nearest[: 1 if meet else 2].T
        ax.plot(*stars, "*", color=ink(), markeredgecolor=ax.get_facecolor(), markersize=17,
                zorder=5, label=label)  # fmt: skip
        if not meet:
            ax.plot(*self.nearest.T, ":", color=ink(), zorder=2)
            middle = self.nearest.mean(axis=0)
            across = np.array([-self.normal[1], self.normal[0]])
            ax.axline(tuple(middle), tuple(middle + across), color=ink(), linewidth=1.8, zorder=2)


def outline(places: Array) -> Array:
    """The corners of the convex hull of some points, in turn."""
    try:
        return np.asarray(places[ConvexHull(places).vertices])
    except (QhullError, ValueError):  # all on a line
        centred = places - places.mean(axis=0)
        along = centred @ np.linalg.svd(centred, full_matrices=False)[2][0]
        return np.asarray(places[[np.argmin(along), np.argmax(along)]])


def closed(corners: Array) -> Array:
    """The corners and the first again; a line is there and back already."""
    return corners if len(corners) == 2 else np.vstack([corners, corners[:1]])
