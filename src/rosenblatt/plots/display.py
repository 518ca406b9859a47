"""The base of all displays: axes, figures and image files."""

import os
from pathlib import Path
from typing import Any, Self

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from ..data.rows import Array
from ..disk import replace_file
from ..estimators.perceptron import Perceptron
from .drawing import draw_legend

FORMATS = (".png", ".svg", ".pdf", ".jpg", ".webp")


class Display:
    """A plot with its data; ``ax_`` and ``figure_`` are where it was last drawn."""

    ax_: Any
    figure_: Any
    n_axes = 1
    title = ""
    """What the plot shows; written above new figures."""
    has_legend = True
    """Whether a legend above the axes names what is drawn."""

    def draw(self, ax: Any) -> None:
        """Draw in axes; in an array of axes if the plot has several."""
        raise NotImplementedError

    def plot(self, ax: Any = None, *, legend: bool = True) -> Self:
        """Draw the plot.

        Parameters
        ----------
        ax : matplotlib Axes or sequence of them, default=None
            Where to draw; None makes a new figure of pyplot.
        legend : bool, default=True
            Whether to draw a legend above the axes.

        Returns
        -------
        self
            The display, with the attributes ``ax_`` and ``figure_``.
        """
        if ax is None:
            from matplotlib import pyplot

            ax = self._add_axes(pyplot.figure(**self._choose_shape()))
        axes = np.ravel(np.asarray(ax, object))
        if len(axes) != self.n_axes:
            raise ValueError(f"ax has {len(axes)} axes; this plot needs {self.n_axes}.")
        self.ax_, self.figure_ = (axes if self.n_axes > 1 else axes[0]), axes[0].figure
        self.draw(self.ax_)
        if legend and self.has_legend:
            for each in axes:
                draw_legend(each)
        return self

    def save(self, path: str | os.PathLike[str], *, dpi: int = 150) -> None:
        """Draw the plot and write it to a file; the suffix chooses the format.

        Parameters
        ----------
        path : str or path-like
            The file to write: ``.png``, ``.svg``, ``.pdf``, ``.jpg`` or ``.webp``. It is replaced
            only when the new one is complete.
        dpi : int, default=150
            Resolution in dots per inch.
        """
        suffix = get_ending(path)
        figure = Figure(**self._choose_shape())
        self.plot(self._add_axes(figure))
        with replace_file(path) as temporary:
            figure.savefig(temporary, format=suffix[1:], dpi=dpi, bbox_inches="tight")

    def _choose_shape(self) -> dict[str, Any]:
        """Choose the size of a new figure, as arguments of ``Figure``."""
        size = (6.4, 5.8) if self.n_axes == 1 else (9.0, 3.3 * ((self.n_axes + 1) // 2))
        return {"figsize": size, "layout": "constrained"}

    def _add_axes(self, figure: Figure) -> Array:
        """Add title and axes to a figure, two in a row; an odd last one has the whole row."""
        if self.title:
            figure.suptitle(self.title, x=0.01, horizontalalignment="left", fontsize="large")
        last = self.n_axes - 1
        rows: list[Any] = [[first, min(first + 1, last)] for first in range(0, self.n_axes, 2)]
        return np.array(list(figure.subplot_mosaic(rows).values()), object)


class TrainedDisplay(Display):
    """A display of a fitted classifier, or of a Perceptron that it trains."""

    from_estimator: Any

    @classmethod
    def from_data(cls, X: Any, y: ArrayLike, **options: Any) -> Self:
        """Train a Perceptron and make its display; ``random_state`` is 0 by default.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows to draw.
        y : array-like of shape (n_samples,)
            Their labels.
        **options
            Parameters of ``Perceptron`` and options of ``from_estimator``.

        Returns
        -------
        Display
            The display; ``plot`` draws it and ``save`` writes it to a file.
        """
        names = Perceptron().get_params().keys() & options.keys()
        parameters = {"random_state": 0} | {name: options.pop(name) for name in names}
        display: Self = cls.from_estimator(Perceptron(**parameters).fit(X, y), X, y, **options)
        return display


def get_ending(path: str | os.PathLike[str]) -> str:
    """Return the suffix of a figure's name in lower case; raise ValueError if it is not known.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    str
        The suffix with its dot.

    See Also
    --------
    save_plot : Draws a figure in the format that the suffix names.

    Examples
    --------
    >>> get_ending("boundary.PNG")
    '.png'
    """
    suffix = Path(path).suffix.lower()
    if suffix not in FORMATS:
        raise ValueError(f"{path} must end in {', '.join(FORMATS)}, which chooses the format.")
    return suffix
