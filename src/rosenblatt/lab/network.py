"""A network as arrays: after each unit, what it answers all over the plane, and the unit's line."""

from typing import Any

import numpy as np
from scipy.ndimage import gaussian_filter

from ..networks.classifier import follow
from ..networks.lifting import Lift
from ..networks.state import Unit, activations, answers
from ..rows import Array
from .choices import Choices
from .data import Points
from .geometry import GRID_REACH, View, contours
from .trace import Trace, packed, wrong_of
from .work import Tell

GRID = 321  # places along each side, as answers jump where units do


def network_trace(points: Points, choices: Choices, view: View, tell: Tell) -> Trace:
    """Every unit, and what the network answers with it."""
    model = choices.estimator()
    nursery, lift = follow(model, points.X, points.y)
    for record in nursery.grow():
        tell("Growing", record.units / model.max_units)
    units, count = nursery.units, len(nursery.units) + 1
    x, y, places = places_of(view)
    rows, seen = lift.rows(places), lift.rows(points.X)
    own = activations(model.growth, units, rows).T.reshape(-1, GRID, GRID)
    regions, curves = [np.zeros((1, 1), np.int8)], [[np.empty((0, 2))]]
    outputs = [np.zeros(len(points.y))]
    for number in range(1, count):
        tell("Drawing", number / count)
        answer = answers(model.growth, units[:number], rows).outputs.reshape(GRID, GRID)
        regions.append(answer.astype(np.int8))
        curves.append(contours(x, y, gaussian_filter(answer, 1.5)))  # lines without stairs
        outputs.append(answers(model.growth, units[:number], seen).outputs)
    wrong = wrong_of(points.y * np.array(outputs), np.zeros(len(points.y)))
    moments = np.arange(count)
    columns = {
        "epoch": np.zeros(count),
        "row": np.full(count, -1),
        "mistakes": moments,
        "errors": wrong.sum(axis=1),
        "snapshot": moments,
        "pictured": moments,
    }
    visits = {"row": np.full(count, -1), "epoch": np.zeros(count, int), "moment": moments}
    drawn = tuple(
        unit_facts(unit, lift, contours(x, y, values))
        for unit, values in zip(units, own, strict=True)
    )
    ending = 0, nursery.stop_reason, None, drawn
    visits["met"] = np.full(count, np.nan)
    return Trace(columns, visits, packed(wrong), regions, curves, *ending)


def places_of(view: View) -> tuple[Array, Array, Array]:
    """A grid of places beyond the view: its columns, its lines, and all of them as rows."""
    reach = GRID_REACH * view.half
    x = np.linspace(view.x - reach, view.x + reach, GRID)
    y = np.linspace(view.y - reach, view.y + reach, GRID)
    return x, y, np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)


def unit_facts(unit: Unit, lift: Lift, line: list[Array]) -> dict[str, Any]:
    """What the page draws of a unit and says about it."""
    return {
        "weights": unit.weights.tolist(),
        "bias": unit.bias,
        "layer": unit.layer,
        "parent": unit.parent,
        "sign": unit.sign,
        "width": lift.width,
        "line": [part.T.round(4).tolist() for part in line],
    }
