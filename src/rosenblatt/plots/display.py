"""What all displays share: figures, axes and picture files."""

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
    """Something that can be drawn; ``ax_`` and ``figure_`` are what it was last drawn in."""

    ax_: Any
    figure_: Any
    n_axes = 1
    title = ""
    """What the picture shows; drawn above figures that are made for it."""

    def plot(self, ax: Any = None) -> Self:
        """Draw it in some axes, or in a new figure."""
        raise NotImplementedError

    def save(self, path: str | os.PathLike[str], *, dpi: int = 150) -> None:
        """Draw it to a file, which appears when it is complete; its ending decides the format.

        Parameters
        ----------
        path : str or path-like
            Where to: ``.png``, ``.svg``, ``.pdf``, ``.jpg`` or ``.webp``.
        dpi : int, default=150
            Dots to an inch.
        """
        ending = get_ending(path, STILL)
        figure = Figure(**get_shape(self.n_axes))
        self.plot(make_axes(figure, self.n_axes))
        self._add_title(figure)
        with replace_file(path) as temporary:
            figure.savefig(temporary, format=ending[1:], dpi=dpi, bbox_inches="tight")

    def _add_title(self, figure: Any) -> None:
        """Say above a figure what it shows."""
        if self.title:
            figure.suptitle(self.title, x=0.01, horizontalalignment="left", fontsize="large")

    def _one_axes(self, ax: Axes | None) -> Any:
        """The axes to draw in: those given, or those of a new figure of pyplot."""
        (self.ax_,) = self._all_axes(ax, 1)
        return self.ax_

    def _all_axes(self, ax: Any, count: int) -> Array:
        """So many axes to draw in."""
        if ax is None:
            from matplotlib import pyplot

            figure = pyplot.figure(**get_shape(count))
            ax = make_axes(figure, count)
            self._add_title(figure)
        axes = np.ravel(np.asarray(ax, object))
        if len(axes) != count:
            raise ValueError(f"ax has {len(axes)} axes, and there is something for {count}.")
        self.ax_, self.figure_ = axes, axes[0].figure
        return axes


def get_shape(count: int) -> dict[str, Any]:
    """The arguments of a figure for so many axes."""
    size = (6.4, 5.8) if count == 1 else (9.0, 3.3 * ((count + 1) // 2))
    return {"figsize": size, "layout": "constrained"}


def make_axes(figure: Figure, count: int) -> Array:
    """So many axes in a figure, two beside each other; an odd one has a row for itself."""
    grid = figure.add_gridspec((count + 1) // 2, 2)
    alone = [grid[-1, :]] if count % 2 else []
    places = [grid[number // 2, number % 2] for number in range(count - len(alone))]
    return np.array([figure.add_subplot(place) for place in (*places, *alone)], object)


def get_ending(path: str | os.PathLike[str], known: Sequence[str]) -> str:
    """How a file's name ends, if it is one of those known.

    Parameters
    ----------
    path : str or path-like
        The file.
    known : sequence of str
        Endings, as in ``STILL`` and ``MOVING``.

    Returns
    -------
    str
        The ending, in small letters.

    See Also
    --------
    save_plot : Chooses by the ending what to draw.

    Examples
    --------
    >>> get_ending("boundary.PNG", STILL)
    '.png'
    """
    ending = Path(path).suffix.lower()
    if ending not in known:
        raise ValueError(f"{path} should end in {', '.join(known)}; its ending decides the format.")
    return ending
