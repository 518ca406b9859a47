"""One class more: states as if they had always known a label that they have not met."""

import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from ..data.rows import Array
from ..training.rules import UpdateRule
from ..training.solutions import Average, Last, new_state

if TYPE_CHECKING:
    from .linear import LinearLearner


def refusal(learner: "LinearLearner") -> str:
    """Return why a linear model cannot learn a further label; "" if it can."""
    two = len(learner.classes) == 2
    if learner.ties in ("positive", "negative"):
        return f"ties={learner.ties} has no meaning for more than two classes"
    if type(learner.states[0]) not in (Last, Average):
        return f"the solution {learner.parameters['solution']} keeps rows of two classes"
    if learner.rule.multiclass is None or (two and learner.rule.scale is not None):
        return f"the rule {learner.rule.name} keeps something for two classes that has no third"
    return ""


def states_with(learner: "LinearLearner", label: Any) -> tuple[Array, list[Last]]:
    """The classes with a further label, and the states with zero weights for it.

    For two classes one vector tells the difference: w for the second is -w for the first, which is
    what the rules for several classes would have made of the same rows.
    """
    classes = np.unique(np.append(learner.classes, label))
    place = int(np.searchsorted(classes, label))
    states = learner.states
    if len(learner.classes) == 1:  # the state says "not the second class" of rows of the first
        return classes, [mirrored(states[0]) if place == 0 else states[0]]
    one_by_one = learner.rule.problems(len(classes), learner.parameters["multi_class"]) != [None]
    if one_by_one:
        if len(states) == 1:
            states = [mirrored(states[0]), states[0]]
        return classes, [*states[:place], begun(learner, states[0]), *states[place:]]
    (state,) = states
    if len(learner.classes) == 2:
        state = doubled(state)
    return classes, [inserted(state, place)]


def changed(state: Last, change: Any) -> Last:
    """A copy of a state, each array changed by a function.

    The function takes the array, what a new class starts with, whether the array changes its sign
    with the class, and whether it belongs to the bias.
    """
    new = copy.copy(state)
    names = ["weights", "bias"]
    if isinstance(state, Average):
        names += ["missing", "missing_bias"]
    for name in names:
        setattr(new, name, change(getattr(state, name), 0.0, True, "bias" in name))
    new.further = {}
    for one in state.rule.arrays:
        kept = state.further[one.name]
        if one.like in ("weights", "bias"):
            kept = change(kept, one.start, one.is_signed, one.like == "bias")
        else:
            kept = kept.copy()
        new.further[one.name] = kept
    return new


def mirrored(state: Last) -> Last:
    """A state for the other of two classes."""
    return changed(state, lambda array, start, signed, of_bias: -array if signed else array.copy())


def doubled(state: Last) -> Last:
    """The state of two classes with a column for each."""

    def double(array: Array, start: float, signed: bool, of_bias: bool) -> Array:
        other = -array if signed else array
        return np.concatenate([other, array]) if of_bias else stacked(other, array)

    return changed(state, double)


def stacked(one: Array, other: Array) -> Array:
    """Two arrays as columns."""
    return np.ascontiguousarray(np.stack([one, other], axis=-1))


def inserted(state: Last, place: int) -> Last:
    """A state with a column for a further class."""

    def insert(array: Array, start: float, signed: bool, of_bias: bool) -> Array:
        return np.ascontiguousarray(np.insert(array, place, start, axis=-1))

    return changed(state, insert)


def begun(learner: "LinearLearner", like: Last) -> Last:
    """The state of a problem of its own that has seen as many rows as others, and no mistake."""
    rule: UpdateRule = like.rule
    weights, bias = np.zeros_like(like.weights), np.zeros_like(like.bias)
    state = new_state(learner.parameters, weights, bias, rule)
    state.seen = like.seen
    for name, kept in like.further.items():
        if kept.ndim == 1 and name == "scale":
            state.further[name][2] = like.seen
    return state
