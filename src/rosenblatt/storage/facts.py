"""Types of the entries of a model file, checked before anything uses them.

A type is one of ``int``, ``float``, ``list[str]``, ``tuple[int, str]``,
``dict[str, float]``, a union, or ``Annotated`` with a function that the value must pass. A
``TypedDict`` or dataclass stands for a JSON object, a ``NamedTuple`` for a JSON array.
"""

import math
from collections.abc import Mapping
from functools import lru_cache
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    NotRequired,
    TypedDict,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

import numpy as np

from ..reading.recipe import FeatureRecipe
from ..training.conformal import TARGETS
from ..training.state import require

Count = Annotated[int, lambda number: number >= 0]
Finite = Annotated[float, math.isfinite]
Positive = Annotated[Finite, lambda number: number > 0]


class Counted(TypedDict):
    """What became of held-out rows with classes, label sets or ranks."""

    rows: Count
    errors: Count
    hits: NotRequired[Count]
    labels: NotRequired[Count]
    distance: NotRequired[Count]


class Measured(TypedDict):
    """What became of held-out rows with numbers; other entries are further errors."""

    mae: Finite | None


class Softmax(TypedDict):
    """Probabilities from scores: a slope and an offset for each class, or pairs for each label."""

    slopes: list[Positive] | list[list[Positive]]
    offsets: list[Finite] | list[list[Finite]]


class Kept(TypedDict, total=False):
    """The errors that a service has counted."""

    examples: Count
    errors: Annotated[Finite, lambda errors: errors >= 0]
    refused: Count
    recent: str
    step: Annotated[int, lambda step: step >= 1]
    curve: list[tuple[int, float]]


class Service(TypedDict, total=False):
    """The position of a service in its log."""

    log: Count
    sequence: Count
    progress: Kept | None


class Cluster(TypedDict):
    """How a training on a cluster was done."""

    partitions: list[int]


class Scores(TypedDict):
    """The scores that the last rows of a stream had before they were learnt, and their classes."""

    scores: list[Finite] | list[list[Finite]]
    codes: list[Count] | list[list[Count]]


class ConformalScores(TypedDict):
    """The nonconformity of rows before they were learnt, and the levels of a stream."""

    scores: list[Finite]
    levels: Annotated[list[Finite], lambda levels: len(levels) == len(TARGETS)]
    rows: Count


class Numbers(TypedDict):
    """The scale of labels that are numbers."""

    center: Finite
    scale: Positive
    median: Finite


class Facts(TypedDict, total=False):
    """Facts that a model of any kind may have; other entries are kept and not used."""

    stop_reason: str
    plain: bool
    grows: bool
    multilabel: bool
    intercept_step: Finite
    numbers: Numbers
    rows: Count
    class_rows: list[Count] | None
    recent_scores: Scores
    conformal: ConformalScores
    batch_bytes: Count
    training: dict[str, Any]
    held_out: Counted | Measured
    calibration: Softmax
    service: Service | None
    cluster: Cluster


class Features(TypedDict, total=False):
    """How the rows of a model are made."""

    names: list[str]
    format: str | None
    recipe: FeatureRecipe
    largest: list[tuple[int, str]]
    deviations: list[Finite]


def check_entries(part: str, entries: Any, *wanted: Any) -> None:
    """Refuse a part of a model if an entry is not of its declared type, and name the entry."""
    for kind in wanted:
        for name, hint in declared_types(kind).items():
            if isinstance(entries, dict) and name in entries:
                require(fits(entries[name], hint), f"{name} of its {part} is not what it should be")
        require(fits(entries, kind), f"its {part} are incomplete")


def fits(value: Any, wanted: Any) -> bool:
    """Whether a JSON value is of a type."""
    if isinstance(value, np.generic):  # of a model that is about to be saved
        value = value.item()
    if wanted is Any:
        return True
    if wanted is float:
        return type(value) is float or fits(value, int)
    if wanted is int:
        return type(value) is int and -(2**63) <= value < 2**63
    if wanted in (str, bool, NoneType):
        return type(value) is wanted
    origin, parts = get_origin(wanted), get_args(wanted)
    if origin in (Union, UnionType):
        return any(fits(value, part) for part in parts)
    if origin in (NotRequired, Annotated):
        return fits(value, parts[0]) and all(accepts(value) for accepts in parts[1:])
    if origin in (dict, Mapping):
        return isinstance(value, dict) and all(
            fits(key, parts[0]) and fits(one, parts[1]) for key, one in value.items()
        )
    if origin is None:
        return fits_fields(value, wanted)
    if not isinstance(value, list | tuple):
        return False
    if origin is tuple and parts[-1] is not Ellipsis:
        return len(value) == len(parts) and all(map(fits, value, parts))
    if parts[0] is str:  # names by the million
        return all(isinstance(one, str) for one in value)
    return all(fits(one, parts[0]) for one in value)


def fits_fields(value: Any, wanted: Any) -> bool:
    """Whether a value has the fields that a class declares; those of a NamedTuple by place."""
    types = declared_types(wanted)
    required: Any = getattr(wanted, "__required_keys__", frozenset())
    if (defaults := getattr(wanted, "_field_defaults", None)) is not None:
        required = types.keys() - defaults
        if not isinstance(value, list | tuple) or len(value) > len(types):
            return False
        value = dict(zip(types, value, strict=False))
    known = isinstance(value, dict) and required <= value.keys()
    known = known and (is_typeddict(wanted) or value.keys() <= types.keys())
    return known and all(fits(value[name], types[name]) for name in types.keys() & value.keys())


@lru_cache
def declared_types(kind: Any) -> dict[str, Any]:
    """The declared types of a class, by name."""
    return get_type_hints(kind, include_extras=True) if isinstance(kind, type) else {}
