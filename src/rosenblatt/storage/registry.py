"""Which estimator a model file becomes, and which states it holds."""

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

from ..parameters import RULE_NAMES

if TYPE_CHECKING:
    from .model import Model

T = TypeVar("T")

ESTIMATORS = {
    **dict.fromkeys(RULE_NAMES, ("..estimators.family", "..training.solutions:SOLUTIONS")),
    "Perceptron": ("..estimators.perceptron", "..training.solutions:SOLUTIONS"),
    "KernelPerceptron": ("..estimators.kernel", "..learners.dual.state:STATES"),
    "PerceptronNetwork": ("..estimators.network", "..learners.network.state:STATES"),
    "SequencePerceptron": ("..estimators.sequence", "..learners.sequence.arrays:STATES"),
}
"""By name: the room of an estimator, imported when a file asks for it; its states by solution."""


def make_estimator(model: "Model", name: Any) -> Any:
    """The fitted estimator that a model becomes; ``name`` is what an error calls it."""
    room, _ = ESTIMATORS[model.estimator]
    kind = getattr(import_module(room, __package__), model.estimator)
    return restore(kind.from_model, model, name)


def restore(make: Callable[["Model"], T], model: "Model", name: Any) -> T:
    """What a function makes of a model; a model that is not consistent is refused by its name."""
    try:
        return make(model)
    except (TypeError, ValueError, LookupError, AttributeError, OverflowError) as reason:
        raise ValueError(
            f"{name} is no {model.estimator} of this rosenblatt ({reason}); update or train again."
        ) from None


def state_class(estimator: str, solution: str) -> type:
    """The class of the states that a model has."""
    if estimator not in ESTIMATORS:
        raise ValueError(f"it is a {estimator[:40]}, which is not known here")
    room, _, name = ESTIMATORS[estimator][1].partition(":")
    kinds: dict[str, type] = getattr(import_module(room, __package__), name)
    return kinds[solution]
