"""The states that the models of each estimator have."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from ..parameters import RULE_NAMES, InputError
from ..slices import load_learner
from ..training.solutions import SOLUTIONS

if TYPE_CHECKING:
    from .model import Model

T = TypeVar("T")


def state_class(estimator: str, solution: str) -> type:
    """The class of the states that a model has."""
    linear = estimator in RULE_NAMES
    known = SOLUTIONS if linear else load_learner(estimator).state_types
    found: type = known[solution]
    return found


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
