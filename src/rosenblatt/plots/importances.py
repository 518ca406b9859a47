"""Draw the importances of the columns of a linear model."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from ..data.rows import Array
from ..jobs.importances import Importance
from .display import Display
from .drawing import COLOURS, choose_colour, label_axes

MOST = 30  # columns that a figure has room for


@dataclass(kw_only=True)
class ImportanceDisplay(Display):
    """Bars of weight × standard deviation of the most important columns of a linear model.

    A bar has the colour of the class whose score a larger value of the column raises. Create a
    display with ``from_importances``.

    Attributes
    ----------
    names : list of str
        The names of the columns, the most important first.
    importances : ndarray
        The length of each bar.
    classes : list of str
        The class whose score each column raises.

    See Also
    --------
    rosenblatt.importances : Computes the importances.

    Examples
    --------
    >>> found = [Importance(0, "size", [-2.0], 0.5, 1.0)]
    >>> ImportanceDisplay.from_importances(found, np.array(["large", "small"])).classes
    ['large']
    """

    names: list[str]
    importances: Array
    classes: list[str]
    title = "Importance of columns: weight × standard deviation"

    @classmethod
    def from_importances(cls, found: Sequence[Importance], classes: Array) -> Self:
        """Make the display of importances.

        Parameters
        ----------
        found : sequence of Importance
            The result of ``rosenblatt.importances``, the most important column first.
        classes : ndarray
            The classes of the model; empty for a regressor.

        Returns
        -------
        ImportanceDisplay
            The display.
        """
        some = [one for one in found if one.importance is not None][:MOST]
        if not some:
            raise ValueError(
                "The deviations of the columns are not known; measure them on a file of rows."
            )
        names = [str(each) for each in classes.tolist()] or ["a smaller number", "a larger number"]
        alone = len(some[0].weights) == 1
        speaks = [
            names[int(one.weights[0] > 0) if alone else int(np.argmax(one.weights))] for one in some
        ]
        sizes = np.array([one.importance for one in some], np.float64)
        return cls(names=[one.name for one in some], importances=sizes, classes=speaks)

    def draw(self, ax: Any) -> None:
        """Draw the bars.

        :meta private:
        """
        places, classes = np.arange(len(self.names))[::-1], np.array(self.classes)
        for code, name in enumerate(sorted(set(self.classes))):
            mine = classes == name
            label = f"more is {name}" if code < len(COLOURS) else None
            ax.barh(places[mine], self.importances[mine], color=choose_colour(code), label=label)
        names = [name if len(name) <= 32 else f"{name[:31]}…" for name in self.names]
        ax.set_yticks(places, names, fontsize="small" if len(names) > 15 else None)
        label_axes(ax, "change of the score by one deviation of the column")
