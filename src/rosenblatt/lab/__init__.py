"""The lab: a web page with the engine in it (web/), as one file, in a notebook, or on a server."""

import html
import sys
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import quote

import numpy as np
from numpy.typing import ArrayLike

from .bundle import build_page

MOST_POINTS = 1_000
LARGEST = 1e6
SIGNS = "+-*"
HEIGHT = 720  # of the frame in a notebook, in pixels


class Lab:
    """The lab with some points: shown in a notebook, or saved as one file.

    Parameters
    ----------
    address : str
        The state of the page, as its address has it after the ``#``.
    """

    def __init__(self, address: str) -> None:
        self.address = address

    def save(self, path: str | Path) -> None:
        """Write the page as one HTML file, which needs no server and no network.

        Parameters
        ----------
        path : str or Path
            The file to write.
        """
        Path(path).write_text(build_page(self.address), encoding="utf-8")

    def _repr_html_(self) -> str:
        page = html.escape(build_page(self.address), quote=True)
        style = f"width: 100%; height: {HEIGHT}px; border: 1px solid #ccc"
        return f'<iframe srcdoc="{page}" style="{style}" title="Rosenblatt lab"></iframe>'

    def __repr__(self) -> str:
        return f"Lab({self.address[:60]!r})"


def lab(X: ArrayLike, y: ArrayLike, **settings: Any) -> Lab:
    """Show points of the plane in the lab: a notebook displays the page.

    Parameters
    ----------
    X : array-like of shape (n_samples, 2)
        Up to 1,000 points.
    y : array-like of shape (n_samples,)
        Their labels, of two or three classes. With two labels, the larger is +1.
    **settings
        Settings of the page by their names in its address, for example ``order="fixed"`` or
        ``form="kernel"``.

    Returns
    -------
    Lab
        Displays itself in a notebook; ``save`` writes it as one HTML file.

    See Also
    --------
    Perceptron : Learns the same.
    steps : The updates as Python objects.

    Examples
    --------
    >>> import rosenblatt
    >>> rosenblatt.lab([[2, 1], [-1, 1]], [1, 0], order="fixed")
    Lab('data=points&points=2,1,+;-1,1,-&classes=1;0&order=fixed')
    """
    given = {"classes": ";".join(plain(label) for label in named_classes(y)), **settings}
    more = "".join(f"&{name}={quote(str(value), safe=',;')}" for name, value in given.items())
    return Lab(f"data=points&points={write_points(X, y)}{more}")


def named_classes(y: ArrayLike) -> list[Any]:
    """The labels in the order of the page's classes: of two, the larger one first."""
    labels: list[Any] = np.unique(np.asarray(y)).tolist()
    if len(labels) not in (2, 3):
        raise ValueError(f"The lab shows two or three classes; y has {len(labels)}.")
    return labels[::-1] if len(labels) == 2 else labels


def write_points(X: ArrayLike, y: ArrayLike) -> str:
    """Points as x,y,sign joined by semicolons, to the last bit."""
    places, labels, classes = np.asarray(X, float), np.asarray(y).tolist(), named_classes(y)
    if places.ndim != 2 or places.shape != (len(labels), 2):
        raise ValueError(
            f"The lab draws rows of two columns; X has shape {places.shape} for {len(labels)} "
            "labels. Choose two columns, for example X[:, :2]."
        )
    if len(labels) > MOST_POINTS:
        raise ValueError(
            f"The lab shows up to {MOST_POINTS:,} points; X has {len(labels):,}. Take some of the "
            "rows, for example X[:1000]."
        )
    bad = np.flatnonzero(~(np.abs(places) <= LARGEST).all(axis=1))
    if len(bad):
        raise ValueError(
            f"Row {bad[0]} of X has NaN, infinity or a number above {LARGEST:,.0f}; scale it."
        )
    signs = (SIGNS[classes.index(label)] for label in labels)
    pairs: Iterable[list[float]] = places.tolist()
    return ";".join(f"{x:.17g},{z:.17g},{sign}" for (x, z), sign in zip(pairs, signs, strict=True))


def plain(label: Any) -> str:
    """A label that an address can hold."""
    return " ".join(str(label).replace(";", ",").split())[:40]


class _Callable(ModuleType):
    """The module itself, which can be called: ``rosenblatt.lab(X, y)``."""

    __call__ = staticmethod(lab)


sys.modules[__name__].__class__ = _Callable
