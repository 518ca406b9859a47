"""The states that the models of each estimator have; learners register those of their kind."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from ..parameters import RULE_NAMES, InputError
from ..training.solutions import SOLUTIONS

if TYPE_CHECKING:
    from .model import Model

T = TypeVar("T")

STATES: dict[str, Callable[[], Mapping[str, type]]] = dict.fromkeys(RULE_NAMES, lambda: SOLUTIONS)
"""By the name of an estimator: a function that returns the class of its states by solution."""


def state_class(estimator: str, solution: str) -> type:
    """The class of the states that a model has."""
    if estimator not in STATES:
        raise ValueError(f"it is a {estimator[:40]}, which is not known here")
    return STATES[estimator]()[solution]


def restore(make: Callable[["Model"], T], model: "Model", name: Any) -> T:
    """Make something of a model; an error calls the model ``name``."""
    try:
        return make(model)
    except (TypeError, ValueError, LookupError, AttributeError, OverflowError) as reason:
        raise InputError(
            f"{name} is not a {model.estimator} of this version of rosenblatt ({reason}); update "
            "or train again.",
            code="model-inconsistent",
            file=str(name),
        ) from None
