"""Draw the error on rows before they are learnt."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from matplotlib.ticker import EngFormatter, PercentFormatter

from ..data.rows import Array
from ..estimators.progressive import Progressive
from .display import Display
from .drawing import COLOURS, ink, label_axes


@dataclass(kw_only=True)
class ProgressiveDisplay(Display):
    """The error of predictions made before each row was learnt: so far, and in windows of rows.

    A rising error in the windows shows that the data have changed. Create a display with
    ``from_progressive``.

    Attributes
    ----------
    rows : ndarray
        Number of rows at each point of the curves.
    error : ndarray
        The error over all rows so far.
    window_error : ndarray
        The error over the rows since the last point.

    See Also
    --------
    rosenblatt.progressive : Computes the errors.

    Examples
    --------
    >>> seen = Progressive(np.array([True, True, False, False, True, False]))
    >>> ProgressiveDisplay.from_progressive(seen, window=2).window_error.tolist()
    [1.0, 0.0, 0.5]
    """

    rows: Array
    error: Array
    window_error: Array
    title = "Errors on rows that were predicted before they were learnt"

    @classmethod
    def from_progressive(cls, seen: Progressive, *, window: int | None = None) -> Self:
        """Make the display of a result of ``progressive``.

        Parameters
        ----------
        seen : Progressive
            The result of ``progressive``.
        window : int, default=None
            Number of rows in a window; None means a hundredth of all rows.

        Returns
        -------
        ProgressiveDisplay
            The display; ``plot`` draws it and ``save`` writes it to a file.
        """
        window = window or max(1, len(seen.wrong) // 100)
        sizes = seen.over(window)
        rows = np.minimum(window * np.arange(1, len(sizes) + 1), len(seen.wrong))
        return cls(rows=rows, error=seen.so_far()[rows - 1], window_error=sizes)

    def plot(self, ax: Any = None) -> Self:
        """Draw both errors over the rows.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            The axes to draw in; None makes a new figure.

        Returns
        -------
        self
            The display, with the attributes ``ax_`` and ``figure_``.
        """
        ax = self._one_axes(ax)
        look = {"color": COLOURS[1], "linewidth": 1.2}
        ax.plot(self.rows, self.window_error, **look, label="in each window")
        ax.plot(self.rows, self.error, color=ink(), linewidth=2, label="so far")
        ax.set_ylim(0, None if np.any(self.window_error) else 1)
        ax.xaxis.set_major_formatter(EngFormatter(sep=""))
        ax.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=None))
        ax.legend(frameon=False)
        label_axes(ax, ("rows", "error before learning"))
        return self
