"""The error on rows before they were learnt from, over the rows."""

import csv
import os
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from matplotlib.ticker import EngFormatter, PercentFormatter

from ..data.rows import Array
from ..disk import explain_errors
from ..estimators.progressive import Progressive
from ..training.report import COLUMNS
from .display import Display
from .drawing import COLOURS, ink, tidy


@dataclass(kw_only=True)
class ProgressiveDisplay(Display):
    """How often rows were wrong before they were learnt from, so far and in windows of rows.

    Where the second rises, the data have changed. Make one with ``from_progressive``, or
    with ``from_csv`` from the log of a training.

    Attributes
    ----------
    rows : ndarray
        After how many rows the errors were taken.
    error : ndarray
        The share of all rows so far.
    window_error : ndarray
        That of the rows since the last moment.

    See Also
    --------
    rosenblatt.progressive : Finds the errors.

    Examples
    --------
    >>> seen = Progressive(np.array([True, True, False, False, True, False]))
    >>> ProgressiveDisplay.from_progressive(seen, window=2).window_error.tolist()
    [1.0, 0.0, 0.5]
    """

    rows: Array
    error: Array
    window_error: Array
    title = "Errors on rows that were predicted before they were learnt from"

    @classmethod
    def from_progressive(cls, seen: Progressive, *, window: int | None = None) -> Self:
        """See what ``progressive`` found.

        Parameters
        ----------
        seen : Progressive
            What it returned.
        window : int, optional
            How many rows at a time; by default a hundredth of all.

        Returns
        -------
        ProgressiveDisplay
            To be drawn or saved.
        """
        window = window or max(1, len(seen.wrong) // 100)
        sizes = seen.over(window)
        rows = np.minimum(window * np.arange(1, len(sizes) + 1), len(seen.wrong))
        return cls(rows=rows, error=seen.so_far()[rows - 1], window_error=sizes)

    @classmethod
    def from_csv(cls, path: str | os.PathLike[str]) -> Self:
        """See what a training wrote.

        Parameters
        ----------
        path : str or path-like
            A file with the columns rows, error and window_error.

        Returns
        -------
        ProgressiveDisplay
            To be drawn or saved.
        """
        with explain_errors(path, "read"), open(path, encoding="utf-8", newline="") as file:
            header, *lines = [*csv.reader(file)] or [[]]
        try:
            table = np.array(lines, float).reshape(-1, len(COLUMNS))
        except ValueError:
            table = np.empty((0, len(COLUMNS)))
        if tuple(header) != COLUMNS or not len(table):
            raise ValueError(f"{path} is no progressive error: a table of {', '.join(COLUMNS)}.")
        return cls(**dict(zip(COLUMNS, table.T, strict=True)))

    def plot(self, ax: Any = None) -> Self:
        """Draw both errors.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; in a new figure unless given.

        Returns
        -------
        self
            With ``ax_`` and ``figure_``, what it was drawn in.
        """
        ax = self._one_axes(ax)
        look = {"color": COLOURS[1], "linewidth": 1.2}
        ax.plot(self.rows, self.window_error, **look, label="in each window")
        ax.plot(self.rows, self.error, color=ink(), linewidth=2, label="so far")
        ax.set_ylim(0, None if np.any(self.window_error) else 1)
        ax.xaxis.set_major_formatter(EngFormatter(sep=""))
        ax.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=None))
        ax.legend(frameon=False)
        tidy(ax, ("rows", "wrong before they were learnt from"))
        return self
