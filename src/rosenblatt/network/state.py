"""The units of a network, their inputs, and the outputs of the network."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, NamedTuple, TypedDict

import numpy as np

from ..data.rows import Array
from ..storage.facts import Finite
from ..training.state import Sizes, array, require


class Unit(NamedTuple):
    """A perceptron of a network, which is on where its activation is above 0.

    Attributes
    ----------
    weights, bias
        Of its inputs: the columns of a row, then the units before it, or the layer before.
    layer
        The number of units, or layers, before it; in an upstart network that of parents.
    parent, sign
        In an upstart network the unit that it corrects, or -1, and whether it turns it on or off.
    """

    weights: Array
    bias: float
    layer: int
    parent: int = -1
    sign: int = 1


def threshold(activations: Array) -> Array:
    """Return the outputs 1 and -1 of units with some activations."""
    return np.where(activations > 0, 1.0, -1.0)


def compute_outputs(growth: str, units: Sequence[Unit], rows: Array) -> tuple[Array, Array]:
    """Return the outputs 1 or -1 of a network, and the activations of the unit that decides.

    That is the first unit of an upstart network, or else the first of the last layer. A daughter
    turns its parent on or off; two daughters cancel each other.
    """
    own = np.empty((len(rows), len(units)))
    for number, unit in enumerate(units):
        seen = rows
        if growth == "tiling" and unit.layer:
            before = [place for place, one in enumerate(units) if one.layer == unit.layer - 1]
            seen = threshold(own[:, before])
        elif len(unit.weights) > rows.shape[1]:
            first = number + rows.shape[1] - len(unit.weights)
            seen = np.hstack([rows, threshold(own[:, first:number])])
        own[:, number] = seen @ unit.weights + unit.bias
    if growth != "upstart":
        master = [unit.layer for unit in units].index(units[-1].layer)
        return threshold(own[:, master]), own[:, master]
    pushes = np.zeros_like(own)
    for number in range(len(units) - 1, -1, -1):
        decided = np.where(pushes[:, number] == 0, own[:, number], pushes[:, number])
        if number:
            pushes[:, units[number].parent] += units[number].sign * (decided > 0)
    return threshold(decided), own[:, 0]


class Lift(NamedTuple):
    """Columns of mean 0 and deviation 1, projected onto a sphere; or rows as they are.

    The stereographic projection takes a point z of a plane to (2z, ‖z‖² - 1)/(‖z‖² + 1), a point
    of the unit sphere around the origin of one dimension more. There a plane can separate each row
    from all others.
    """

    sphere: bool
    centre: list[Finite]
    scale: list[Annotated[float, lambda scale: 0 < scale < math.inf]]

    def rows(self, X: Array) -> Array:
        """Return the transformed rows in double precision."""
        X = X.astype(np.float64, copy=False)
        if not self.sphere:
            return X
        z = (X - np.array(self.centre)) / np.array(self.scale)
        square = np.einsum("ij,ij->i", z, z)[:, None]
        return np.asarray(np.hstack([2 * z, square - 1]) / (square + 1))


def make_lift(X: Array, kind: str) -> Lift:
    """Choose a lift for rows like those of X; "auto" is "none" if all columns are binary."""
    width = X.shape[1]
    binary = all(np.isin(column, [column.min(), column.max()]).all() for column in X.T)
    if kind == "none" or (kind == "auto" and binary):
        return Lift(False, [0.0] * width, [1.0] * width)
    exponents = np.frexp(np.abs(X).max(axis=0).astype(np.float64))[1]
    unit = np.ldexp(1.0, exponents - 1)  # a power of two changes no digit, and squares stay finite
    centre, spread = (X / unit).mean(axis=0), (X / unit).std(axis=0)
    scale = np.where(spread > 0, spread * unit, 1.0) * np.sqrt(width)  # most rows are about 1 long
    return Lift(True, (centre * unit).tolist(), scale.tolist())


class NetworkFacts(TypedDict):
    """What a model file says of a network besides its units."""

    width: int
    lift: Lift


@dataclass(kw_only=True)
class NetworkState:
    """A network as a model file stores it: the weights of all units one after the other.

    ``places`` has of each unit the number of weights, the layer, one more than the number of the
    parent (0 for none), and whether it turns its parent on.
    """

    packed: Array = array("weights of all units", dtype=np.float64)
    biases: Array = array("units", dtype=np.float64)
    places: Array = array("units", "numbers", dtype=np.int64)

    facts: ClassVar = (NetworkFacts,)

    @classmethod
    def of(cls, units: Sequence[Unit]) -> "NetworkState":
        """Pack units into arrays."""
        places = [(len(one.weights), one.layer, one.parent + 1, one.sign > 0) for one in units]
        weights = np.concatenate([one.weights for one in units])
        biases = np.array([one.bias for one in units])
        return cls(packed=weights, biases=biases, places=np.array(places, np.int64))

    def units(self) -> list[Unit]:
        """Unpack the units."""
        weights = np.split(self.packed, np.cumsum(self.places[:, 0])[:-1])
        places = zip(weights, self.biases.tolist(), self.places[:, 1:].tolist(), strict=True)
        return [
            Unit(own, bias, layer, parent - 1, 2 * on - 1)
            for own, bias, (layer, parent, on) in places
        ]

    @classmethod
    def sizes(cls, model: Any) -> tuple[Sizes, Any]:
        """The sizes that its arrays must have."""
        count = len(model.classes)
        require(len(model.states) == (1 if count == 2 else count), "it lacks networks")
        return {"numbers": (4,)}, None

    def check(self) -> None:
        """Refuse units that are not in order."""
        _, layers, parents, signs = self.places.T
        before = np.arange(len(layers))
        fitting = np.all((layers <= before) & (parents <= before) & (signs <= 1))
        require(len(before) and fitting, "its units are not in order")

    def check_inputs(self, growth: str, width: int) -> None:
        """Refuse units whose inputs do not exist, for rows of some width."""
        lengths, layers, parents, _ = self.places.T
        before, counts, placed = np.arange(len(layers)), np.bincount(layers), True
        if growth == "tiling":
            placed = bool(np.all(np.diff(layers, prepend=0) >= 0) and counts.all())
            wanted = np.where(layers == 0, width, counts[layers - 1])
        else:
            wanted = width + np.minimum(before, {"upstart": 0, "tower": 1}.get(growth, before))
        if growth == "upstart":
            placed = bool(parents[0] == 0 and parents[1:].all())
        whole = np.array_equal(lengths, wanted) and lengths.sum() == len(self.packed)
        require(placed and whole, "its units do not fit together")
