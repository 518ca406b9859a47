"""Where a model and its log part."""

from pathlib import Path

import numpy as np

from ..storage.file import load_model
from ..storage.model import Model
from ..training import state as states
from .log import Log
from .model import load_model_bytes, open_model


def first_difference(log: Log, path: Path) -> tuple[str | None, int]:
    """The first difference between a model and what its log makes, if any, and until where.

    The log is replayed from its beginning, and compared with every model on the way.
    """
    wanted = open_model(load_model(path), str(path))
    if wanted.log not in (0, log.identity):
        return f"{path} is not of {log.path}.", wanted.sequence
    if wanted.sequence > log.last:
        text = f"{path} knows {wanted.sequence:,} examples, and {log.path} has {log.last:,}."
        return text, wanted.sequence
    first, *kept = log.models()
    name = f"the model after example {first:,} in {log.path}"
    served = open_model(load_model_bytes(log.model(first), name), name)
    served.log, served.sequence = log.identity, first
    before = first
    for stop in [number for number in kept if number < wanted.sequence] + [wanted.sequence]:
        for _ in served.replay(log, stop):
            pass
        last = stop == wanted.sequence
        other = wanted.kept if last else load_model_bytes(log.model(stop), str(log.path))
        found = difference(served.model(), other)
        if found is not None:
            what = str(path) if last else f"the model after example {stop:,} in the log"
            return f"{what} parts from the log after example {before:,}: {found}.", stop
        before = stop
    return None, wanted.sequence


def difference(one: Model, other: Model) -> str | None:
    """What differs first in two models, or None if they are equal to the last bit."""
    if one.classes.tolist() != other.classes.tolist():
        return f"the classes are {one.classes.tolist()} and {other.classes.tolist()}"
    for number, pair in enumerate(zip(one.states, other.states, strict=True)):
        (arrays, counts), (others, other_counts) = map(states.packed, pair)
        for name in counts:
            if counts[name] != other_counts[name]:
                return f"{name} of problem {number} is {counts[name]} and {other_counts[name]}"
        for name, array in arrays.items():
            same = array.shape == others[name].shape
            if not same or array.tobytes() != others[name].tobytes():
                place = np.argwhere(array != others[name])[0].tolist() if same else "the shape"
                return f"{name} of problem {number} differs, first at {place}"
    return None
