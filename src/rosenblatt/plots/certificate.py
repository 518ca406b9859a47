"""Draw the proof that two classes are inseparable, or the gap between them."""

from typing import Any, Self

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike
from scipy.spatial import ConvexHull, QhullError

from ..data.rows import Array
from ..theory.certificates import Inseparable, Undecided
from ..theory.margins import max_margin
from ..theory.separability import separability
from .data import MOST_COLUMNS, Data, Linear, check_data
from .display import Display
from .drawing import choose_colour, draw_points, format_number, ink, label_axes
from .planes import choose_plane, choose_plane_through, compute_limits


class CertificateDisplay(Display):
    """The proof that no hyperplane separates two classes, or the widest gap between them.

    Either the convex hulls of the classes meet in a point, or the distance of their two nearest
    points is twice the largest margin. Create a display with ``from_data``.

    Parameters
    ----------
    data : Data
        The checked rows.

    Attributes
    ----------
    support_rows : ndarray of shape (n_support,)
        The numbers of the rows of the certificate.
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

    def __init__(self, data: Data) -> None:
        data.check_two_classes()
        verdict, linear, margin = separability(data.X, data.signs), None, 0.0
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
            rows, shares, margin = widest.support, widest.shares, widest.attained
            linear = Linear(widest.weights[None], np.array([widest.bias]))
            plane = choose_plane(data, linear)
        self.data, self.verdict, self.plane, self.margin = data, verdict, plane, margin
        self.support_rows, self.shares = rows, shares
        places, codes = plane.place(data.X[rows]), data.codes[rows]
        self.nearest = np.stack([shares[codes == k] @ places[codes == k] for k in (0, 1)])
        self.normal = np.zeros(2) if linear is None else plane.restrict(linear).weights[0]
        verb = "A plane" if linear else "No plane"
        self.title = f"{verb} separates {data.class_names[0]} from {data.class_names[1]}"

    @classmethod
    def from_data(cls, X: Any, y: ArrayLike, **names: Any) -> Self:
        """Decide whether a hyperplane separates two classes, and make the display of the proof.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows to draw.
        y : array-like of shape (n_samples,)
            Their labels.
        **names
            ``class_names`` and ``feature_names``: sequences of str, names of the classes in the
            order of ``classes_``, and of the columns.

        Returns
        -------
        CertificateDisplay
            The display; ``plot`` draws it and ``save`` writes it to a file.
        """
        return cls(check_data(X, y, **names))

    def draw(self, ax: Axes) -> None:
        """Draw the hulls, the rows of the certificate and the nearest points.

        :meta private:
        """
        drawn = np.union1d(self.data.sample(), self.support_rows)
        places, codes = self.plane.place(self.data.X[drawn]), self.data.codes[drawn]
        support = self.plane.place(self.data.X[self.support_rows])
        for code, style in enumerate(["--", "-"]):
            around = find_corners(places[codes == code])
            look: dict[str, Any] = {"facecolor": choose_colour(code), "alpha": 0.14, "zorder": 0}
            ax.fill(*around.T, **look, edgecolor=choose_colour(code), linewidth=0.8)
            made = find_corners(support[self.data.codes[self.support_rows] == code])
            ax.fill(*made.T, fill=False, linestyle=style, edgecolor=ink(), linewidth=1.6, zorder=2)
        why = f"the {len(support)} rows that prove it"
        draw_points(ax, places, codes, self.data.class_names, support, why)
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
        compute_limits(places).apply(ax)
        label_axes(ax, *self.plane.labels)


def find_corners(places: Array) -> Array:
    """Return the corners of the convex hull of points, in order."""
    try:
        return np.asarray(places[ConvexHull(places).vertices])
    except (QhullError, ValueError):  # all on a line
        centred = places - places.mean(axis=0)
        along = centred @ np.linalg.svd(centred, full_matrices=False)[2][0]
        return np.asarray(places[[np.argmin(along), np.argmax(along)]])
