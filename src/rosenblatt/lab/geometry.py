"""Geometry: lines and curves that reach beyond the view, so that a page only has to draw."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.ndimage import zoom

from ..data.rows import Array
from .work import Tell, nobody

GRID = 56  # cells along each side of the picture of a curved boundary
FINER = 3  # dots between two of them, where the score is interpolated as the curves are
GRID_REACH = 1.6  # how far it reaches, in halves of the view
PLACES = GRID * GRID


@dataclass(frozen=True)
class View:
    """A square with all points and the origin."""

    x: float = 0.0
    y: float = 0.0
    half: float = 2.5


def view_of(X: Array) -> View:
    """What to look at."""
    if not len(X):
        return View()
    low, high = np.minimum(X.min(axis=0), 0), np.maximum(X.max(axis=0), 0)
    centre, half = (low + high) / 2, float((high - low).max()) / 2
    return View(float(centre[0]), float(centre[1]), 1.12 * half or 1.0)


def lines(name: str, W: Array, b: Array, view: View) -> dict[str, Array]:
    """The ends of each boundary w·x + b = 0, and a vector from it far into its positive side."""
    normal, distance = unit(W, b, view)
    foot = np.array([view.x, view.y]) - distance[:, None] * normal
    along = np.column_stack([-normal[:, 1], normal[:, 0]])
    reach = 8 * view.half
    start, end = foot - reach * along, foot + reach * along
    far = (reach + np.abs(distance))[:, None] * normal
    named = {"x0": start[:, 0], "y0": start[:, 1], "x1": end[:, 0], "y1": end[:, 1]}
    named |= {"fx": far[:, 0], "fy": far[:, 1]}
    return {f"{name}_{key}": value for key, value in named.items()}


def unit(W: Array, b: Array, view: View) -> tuple[Array, Array]:
    """The normals of length one, and the view's centre's distances; NaN where w is zero."""
    length = np.linalg.norm(W, axis=1)
    length = np.where(length > 0, length, np.nan)
    return W / length[:, None], (W @ [view.x, view.y] + b) / length


def bands(W: Array, b: Array, margins: Array, demanded: float, view: View) -> dict[str, Array]:
    """How far the margin reaches on both sides of each boundary, as a vector.

    The margin that was demanded, or once every row is right the one that was reached.
    """
    normal, _ = unit(W, b, view)
    length = np.linalg.norm(W, axis=1)
    length = np.where(length > 0, length, np.nan)
    least = margins.min(axis=1)
    reached = np.where(least > 0, least, np.nan) / length
    vector = normal * (demanded / length if demanded > 0 else reached)[:, None]
    return {"m_x": vector[:, 0], "m_y": vector[:, 1], "margin": reached}


def curved(
    scores: list[Callable[[Array], Array]], view: View, tell: Tell = nobody
) -> tuple[list[Array], list[list[Array]]]:
    """The region of each side, and the line between them, where a score is not that of a line.

    The first of both is empty, for nothing learnt.
    """
    reach = GRID_REACH * view.half
    x = np.linspace(view.x - reach, view.x + reach, GRID)
    y = np.linspace(view.y - reach, view.y + reach, GRID)
    places = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    regions, curves = [np.zeros((1, 1), np.int8)], [[np.empty((0, 2))]]
    for number, score in enumerate(scores):
        tell("Drawing", number / len(scores))
        values = score(places).reshape(GRID, GRID)
        regions.append(np.sign(zoom(values, FINER, order=1)).astype(np.int8))
        curves.append(contours(x, y, values))
    return regions, curves


def contours(x: Array, y: Array, values: Array) -> list[Array]:
    """The lines on which values of a grid are 0."""
    from contourpy import contour_generator

    found: Any = contour_generator(x, y, values).lines(0.0)
    return list(found)
