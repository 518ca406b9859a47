"""The base of all displays: figures, axes and image files."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ..data.rows import Array
from ..disk import replace_file

STILL = (".png", ".svg", ".pdf", ".jpg", ".webp")
MOVING = (".gif", ".mp4", ".html")


class Display:
    """A plot with its data; ``ax_`` and ``figure_`` are where it was last drawn."""

    ax_: Any
    figure_: Any
    n_axes = 1
    title = ""
    """What the plot shows; written above new figures."""

    def plot(self, ax: Any = None) -> Self:
        """Draw the plot in axes, or in a new figure."""
        raise NotImplementedError

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
        suffix = get_ending(path, STILL)
        figure = Figure(**choose_shape(self.n_axes))
        self.plot(make_axes(figure, self.n_axes))
        self._add_title(figure)
        with replace_file(path) as temporary:
            figure.savefig(temporary, format=suffix[1:], dpi=dpi, bbox_inches="tight")

    def _add_title(self, figure: Any) -> None:
        """Write the title above a figure."""
        if self.title:
            figure.suptitle(self.title, x=0.01, horizontalalignment="left", fontsize="large")

    def _one_axes(self, ax: Axes | None) -> Any:
        """Return the axes given, or those of a new figure of pyplot."""
        (self.ax_,) = self._all_axes(ax, 1)
        return self.ax_

    def _all_axes(self, ax: Any, count: int) -> Array:
        """Return ``count`` axes to draw in: those given, or those of a new figure of pyplot."""
        if ax is None:
            from matplotlib import pyplot

            figure = pyplot.figure(**choose_shape(count))
            ax = make_axes(figure, count)
            self._add_title(figure)
        axes = np.ravel(np.asarray(ax, object))
        if len(axes) != count:
            raise ValueError(f"ax has {len(axes)} axes; this plot needs {count}.")
        self.ax_, self.figure_ = axes, axes[0].figure
        return axes


def choose_shape(count: int) -> dict[str, Any]:
    """Choose the size of a figure with ``count`` axes, as arguments of ``Figure``."""
    size = (6.4, 5.8) if count == 1 else (9.0, 3.3 * ((count + 1) // 2))
    return {"figsize": size, "layout": "constrained"}


def make_axes(figure: Figure, count: int) -> Array:
    """Add ``count`` axes to a figure, two in a row; an odd last one has the whole row."""
    grid = figure.add_gridspec((count + 1) // 2, 2)
    alone = [grid[-1, :]] if count % 2 else []
    places = [grid[number // 2, number % 2] for number in range(count - len(alone))]
    return np.array([figure.add_subplot(place) for place in (*places, *alone)], object)


def get_ending(path: str | os.PathLike[str], known: Sequence[str]) -> str:
    """Return the suffix of a file name in lower case; raise ValueError if it is not known.

    Parameters
    ----------
    path : str or path-like
        The file.
    known : sequence of str
        The suffixes to accept, as in ``STILL`` and ``MOVING``.

    Returns
    -------
    str
        The suffix with its dot.

    See Also
    --------
    save_plot : Chooses by the suffix what to draw.

    Examples
    --------
    >>> get_ending("boundary.PNG", STILL)
    '.png'
    """
    suffix = Path(path).suffix.lower()
    if suffix not in known:
        raise ValueError(f"{path} must end in {', '.join(known)}, which chooses the format.")
    return suffix
