"""Add a class to a linear model: states as if they had always known a label without examples."""

import copy
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..data.rows import Array
from ..kernels.scaled import SEEN, SQUARE
from ..parameters import describe_sides
from ..training.linear_state import SOLUTIONS, AverageWeights, LastWeights
from ..training.state import DeclaredArray

if TYPE_CHECKING:
    from .linear import LinearLearner

Change = Callable[[Array, DeclaredArray], Array]
"""Takes an array and its declaration."""


class Codes(NamedTuple):
    """The numbers of labels in the order in which they came, and the places of these in order.

    A label that comes between others changes places only, which takes a hundredth of the time.

    >>> codes = Codes.of(["a", "c"]).insert("b", 1)
    >>> [codes.find(label) for label in "abcd"]
    [0, 1, 2, None]
    """

    numbers: dict[Any, int]
    places: Array

    @classmethod
    def of(cls, labels: list[Any]) -> "Codes":
        """Number sorted labels."""
        return cls({label: number for number, label in enumerate(labels)}, np.arange(len(labels)))

    def find(self, label: Any) -> int | None:
        """Return the place of a label; None if it is not known."""
        number = self.numbers.get(label)
        return None if number is None else self.places.item(number)

    def insert(self, label: Any, place: int) -> "Codes":
        """Return the codes with a further label at a place."""
        numbers = self.numbers.copy()
        numbers[label] = len(numbers)
        return Codes(numbers, np.append(self.places + (self.places >= place), place))


def refusal(learner: "LinearLearner") -> str:
    """Return why a linear model cannot learn a further label; "" if it can."""
    if sides := describe_sides(learner.parameters):
        return f"{sides} is about the sides of two classes"
    if type(learner.states[0]) not in (LastWeights, AverageWeights):
        return f"the solution {learner.parameters['solution']} keeps rows of known classes"
    return ""


def make_states(learner: "LinearLearner", label: Any) -> tuple[Array, list[LastWeights]]:
    """Return the classes with a further label, and the states with zero weights for it.

    For two classes one vector tells the difference: w for the second is -w for the first, which is
    what the rules for several classes would have made of the same rows.
    """
    place = int(np.searchsorted(learner.classes, label))
    *known, new = np.split(np.append(learner.classes, label), [place, -1])
    classes = np.concatenate([known[0], new, *known[1:]])
    states = learner.states
    if len(learner.classes) == 1:  # the state says "not the second class" of rows of the first
        return classes, [mirror(states[0]) if place == 0 else states[0]]
    one_by_one = learner.rule.problems(len(classes), learner.parameters["multi_class"]) != [None]
    if one_by_one:
        if len(states) == 1:
            states = [mirror(states[0]), states[0]]
        return classes, [*states[:place], begin_problem(learner, states[0]), *states[place:]]
    (state,) = states
    if len(learner.classes) == 2:
        state = divide(state)
    return classes, [insert_class(state, place)]


def change_arrays(state: LastWeights, change: Change) -> LastWeights:
    """Return a copy of a state with each array changed."""
    new = copy.copy(state)
    for name, one in state.declared.items():
        array = getattr(state, name)
        setattr(new, name, change(array, one) if one.shape else array.copy())
    return new


def mirror(state: LastWeights) -> LastWeights:
    """Return the state for the other of two classes."""
    return change_arrays(state, lambda array, one: -array if one.signed else array.copy())


def divide(state: LastWeights) -> LastWeights:
    """Return the state of two classes with a column for each."""
    share = getattr(state.rule.kind, "share", 1.0)

    def double(array: Array, one: DeclaredArray) -> Array:
        own = (share * array).astype(array.dtype) if one.signed else array
        both = [-own if one.signed else own, own]
        return np.ascontiguousarray(np.stack(both, -1) if one.by_column else np.concatenate(both))

    new = change_arrays(state, double)
    if state.rule.is_scaled:
        new.scale[SQUARE] *= 2 * share * share
    return new


def insert_class(state: LastWeights, place: int) -> LastWeights:
    """Return a state with a column for a further class."""

    def insert(array: Array, one: DeclaredArray) -> Array:
        wider = np.empty((*array.shape[:-1], array.shape[-1] + 1), array.dtype)
        wider[..., :place], wider[..., place] = array[..., :place], one.start
        wider[..., place + 1 :] = array[..., place:]
        return wider

    return change_arrays(state, insert)


def begin_problem(learner: "LinearLearner", like: LastWeights) -> LastWeights:
    """Return the state of a problem that has seen as many rows as others, and no mistake."""
    weights, bias = np.zeros_like(like.weights), np.zeros_like(like.bias)
    state = SOLUTIONS[learner.parameters["solution"]](weights, bias, rule=like.rule)
    state.seen = like.seen
    if like.rule.is_scaled:
        state.scale[SEEN] = like.seen
    return state
