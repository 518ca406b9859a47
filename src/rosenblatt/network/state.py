"""The units of a network, their inputs, and the outputs of the network."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, NamedTuple, NotRequired, TypedDict

import numpy as np

from ..data.rows import Array
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


class Answers(NamedTuple):
    """The outputs 1 or -1 of a network, and the activations of the unit that decides."""

    outputs: Array
    activations: Array


def compute_activations(growth: str, units: Sequence[Unit], rows: Array) -> Array:
    """Return the activations of all units, a column for each."""
    found = np.empty((len(rows), len(units)))
    for number, unit in enumerate(units):
        seen = rows
        if growth == "tiling" and unit.layer:
            before = [place for place, one in enumerate(units) if one.layer == unit.layer - 1]
            seen = threshold(found[:, before])
        elif len(unit.weights) > rows.shape[1]:
            first = number + rows.shape[1] - len(unit.weights)
            seen = np.hstack([rows, threshold(found[:, first:number])])
        found[:, number] = seen @ unit.weights + unit.bias
    return found


def compute_answers(growth: str, units: Sequence[Unit], rows: Array) -> Answers:
    """Return the outputs of a network: of its first unit, or of the first of the last layer."""
    own = compute_activations(growth, units, rows)
    if growth == "upstart":
        return Answers(threshold(combine_daughters(units, own)), own[:, 0])
    layers = [unit.layer for unit in units]
    master = layers.index(layers[-1])
    return Answers(threshold(own[:, master]), own[:, master])


def combine_daughters(units: Sequence[Unit], own: Array) -> Array:
    """Return the first unit's activation; a daughter turns its parent on or off, two cancel."""
    pushes = np.zeros_like(own)
    for number in range(len(units) - 1, -1, -1):
        decided = np.where(pushes[:, number] == 0, own[:, number], pushes[:, number])
        if number:
            pushes[:, units[number].parent] += units[number].sign * (decided > 0)
    return np.asarray(decided)


class LiftFacts(TypedDict):
    """How rows are lifted."""

    sphere: bool
    centre: list[float]
    scale: list[float]


class NetworkFacts(TypedDict):
    """What a model file says of a network besides its units."""

    width: Annotated[int, lambda width: width > 0]
    lift: LiftFacts
    growth: list[tuple[int, int, int | None, int]]
    rows_checksum: NotRequired[int | None]


@dataclass(kw_only=True)
class NetworkState:
    """A network as a model file stores it: the weights of all units one after the other."""

    packed: Array = array("packed", dtype=np.float64)
    ends: Array = array("units", dtype=np.int64)
    biases: Array = array("units", dtype=np.float64)
    layers: Array = array("units", dtype=np.int64)
    parents: Array = array("units", dtype=np.int64)
    """One more than the number of the parent; 0 for none."""
    signs: Array = array("units", dtype=np.int64)
    """1 for a daughter that turns its parent on, else 0."""

    @classmethod
    def of(cls, units: Sequence[Unit]) -> "NetworkState":
        """Pack units into arrays."""
        return cls(
            packed=np.concatenate([unit.weights for unit in units]),
            ends=np.cumsum([len(unit.weights) for unit in units]),
            biases=np.array([unit.bias for unit in units]),
            layers=np.array([unit.layer for unit in units], np.int64),
            parents=np.array([unit.parent + 1 for unit in units], np.int64),
            signs=np.array([int(unit.sign > 0) for unit in units], np.int64),
        )

    def units(self) -> list[Unit]:
        """Unpack the units."""
        weights = np.split(self.packed, self.ends[:-1])
        numbers = self.biases, self.layers, self.parents - 1, 2 * self.signs - 1
        return [
            Unit(own, *each)
            for own, each in zip(
                weights, zip(*(part.tolist() for part in numbers), strict=True), strict=True
            )
        ]

    facts: ClassVar = (NetworkFacts,)

    @classmethod
    def sizes(cls, model: Any) -> tuple[Sizes, Any]:
        """The sizes that its arrays must have."""
        count = len(model.classes)
        require(len(model.states) == (1 if count == 2 else count), "it lacks networks")
        return {}, None

    def check(self) -> None:
        """Refuse units whose inputs do not exist."""
        require(len(self.ends) > 0, "it has no unit")
        ends = np.concatenate([[0], self.ends])
        require(np.all(np.diff(ends) > 0) and ends[-1] == len(self.packed), "its units do not fit")
        before = np.arange(len(self.ends))
        require(np.all(self.parents <= before), "its units have no parents")
        require(np.all(self.layers <= before), "its units have no layers")
        require(np.all(self.signs <= 1), "signs is out of range")

    def fits(self, growth: str, width: int) -> bool:
        """Whether the inputs of each unit exist, for rows of some width."""
        units = self.units()
        counts = np.bincount(self.layers, minlength=1)
        if growth == "tiling":
            forward = np.all(np.diff(self.layers) >= 0) and np.all(counts > 0)
            seen = [width if unit.layer == 0 else counts[unit.layer - 1] for unit in units]
            return bool(forward) and all(
                len(unit.weights) == wide for unit, wide in zip(units, seen, strict=True)
            )
        rooted = growth != "upstart" or bool(self.parents[0] == 0 and np.all(self.parents[1:] > 0))
        before = {"upstart": 0, "tower": 1}.get(growth, len(units))
        return rooted and all(
            len(unit.weights) == width + min(number, before) for number, unit in enumerate(units)
        )
