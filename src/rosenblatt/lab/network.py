"""A network as arrays: after each unit, what it answers all over the plane, and the unit's line."""

from typing import Any

import numpy as np
from scipy.ndimage import gaussian_filter

from ..data.rows import Array
from ..estimators.network import follow
from ..learners.network.lifting import Lift
from ..learners.network.state import Unit, activations, answers
from .choices import Choices
from .data import Points
from .geometry import GRID_REACH, View, contours
from .trace import Trace, packed, wrong_of
from .work import Tell

GRID = 321  # places along each side, as answers jump where units do


def network_trace(points: Points, n_rows: int, choices: Choices, view: View, tell: Tell) -> Trace:
    """Every unit, grown from the first rows, so many, and what the network answers for all."""
    model = choices.estimator()
    grower, lift = follow(model, points.X[:n_rows], points.y[:n_rows])
    for record in grower.grow():
        tell("Growing", record.units / model.max_units)
    units, count = grower.units, len(grower.units) + 1
    x, y, places = places_of(view)
    rows, seen = lift.rows(places), lift.rows(points.X)
    own = activations(model.growth, units, rows).T.reshape(-1, GRID, GRID)
    regions, curves = [np.zeros((1, 1), np.int8)], [[np.empty((0, 2))]]
    outputs = [np.zeros(len(points.y))]
    for number in range(1, count):
        tell("Drawing", number / count)
        answer = answers(model.growth, units[:number], rows).outputs.reshape(GRID, GRID)
        regions.append(answer.astype(np.int8))
        if model.growth == "upstart":
            answer = continuous(units[:number], own)
        else:
            answer = without_stairs(answer)
        curves.append(contours(x, y, answer))
        outputs.append(answers(model.growth, units[:number], seen).outputs)
    wrong = wrong_of(points.y * np.array(outputs), np.zeros(len(points.y)))
    moments = np.arange(count)
    columns = {
        "epoch": np.zeros(count),
        "row": np.full(count, -1),
        "mistakes": moments,
        "errors": wrong[:, :n_rows].sum(axis=1),
        "held_errors": wrong[:, n_rows:].sum(axis=1),
        "snapshot": moments,
        "pictured": moments,
    }
    visits = {"row": np.full(count, -1), "epoch": np.zeros(count, int), "moment": moments}
    drawn = []
    for number, (unit, values) in enumerate(zip(units, own, strict=True)):
        jumps = unit.layer > 0 and model.growth != "upstart"  # where units before it do
        line = contours(x, y, without_stairs(values) if jumps else values)
        place = name_place(line, (x, y, values), view, number)
        drawn.append(unit_facts(unit, lift, line) | {"place": place})
    ending = 0, grower.stop_reason, None, tuple(drawn)
    visits["met"] = np.full(count, np.nan)
    return Trace(columns, visits, packed(wrong), regions, curves, *ending)


def without_stairs(values: Array) -> Array:
    """Values with the same signs, but for a few places, between which lines are smooth."""
    return np.asarray(gaussian_filter(np.sign(values), 2.5))


def continuous(units: list[Unit], own: Array, number: int = 0) -> Array:
    """A score that is positive where an upstart network is on, and crosses 0 where that ends."""
    off, on = np.full_like(own[0], -np.inf), np.full_like(own[0], -np.inf)
    for place, unit in enumerate(units):
        if place and unit.parent == number:
            score = continuous(units, own, place)
            off, on = (score, on) if unit.sign < 0 else (off, score)
    alone = np.minimum(own[number], np.maximum(-off, on))  # as it is, unless one of them is on
    return np.asarray(np.maximum(alone, np.minimum(on, -off)))


def places_of(view: View) -> tuple[Array, Array, Array]:
    """A grid of places beyond the view: its columns, its lines, and all of them as rows."""
    reach = GRID_REACH * view.half
    x = np.linspace(view.x - reach, view.x + reach, GRID)
    y = np.linspace(view.y - reach, view.y + reach, GRID)
    return x, y, np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)


def name_place(
    line: list[Array], field: tuple[Array, Array, Array], view: View, number: int
) -> list[float] | None:
    """Where a unit's name stands: at its line, on the side where it is on, if that is in view."""
    centre, near = np.array([view.x, view.y]), 0.9 * view.half
    seen = [part[np.all(np.abs(part - centre) < near, axis=1)] for part in line]
    longest = max(seen, key=len, default=np.empty((0, 2)))
    if not len(longest):
        return None
    share = 0.3 + 0.4 * (0.37 * number % 1)  # names of many units are not all in one place
    spot, (x, y, values) = longest[int(share * len(longest))], field
    i, j = np.abs(y - spot[1]).argmin(), np.abs(x - spot[0]).argmin()
    up = values[min(i + 1, GRID - 1), j] - values[max(i - 1, 0), j]
    across = values[i, min(j + 1, GRID - 1)] - values[i, max(j - 1, 0)]
    slope = np.array([across, up])
    length = np.linalg.norm(slope) or 1.0
    return [float(part) for part in spot + 0.07 * view.half * slope / length]


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
