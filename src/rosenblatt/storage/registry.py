"""Which estimator a model file becomes, and which states it holds."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .model import Model

ESTIMATORS = {
    "Perceptron": ("..classifiers.perceptron", "..training.solutions:SOLUTIONS"),
    "PassiveAggressive": ("..classifiers.family", "..training.solutions:SOLUTIONS"),
    "ALMA": ("..classifiers.family", "..training.solutions:SOLUTIONS"),
    "ROMMA": ("..classifiers.family", "..training.solutions:SOLUTIONS"),
    "SecondOrderPerceptron": ("..classifiers.family", "..training.solutions:SOLUTIONS"),
    "AROW": ("..classifiers.family", "..training.solutions:SOLUTIONS"),
    "SCW": ("..classifiers.family", "..training.solutions:SOLUTIONS"),
    "KernelPerceptron": ("..dual.classifier", "..dual.state:STATES"),
    "PerceptronNetwork": ("..networks.classifier", "..networks.state:STATES"),
    "SequencePerceptron": ("..sequences.classifier", "..sequences.state:STATES"),
}
"""By name: the room of an estimator, imported when a file asks for it; its states by solution."""


def estimator_of(model: "Model", name: Any) -> Any:
    """The fitted estimator that a model becomes; ``name`` is what an error calls it."""
    room, _ = ESTIMATORS[model.estimator]
    kind = getattr(import_module(room, __package__), model.estimator)
    try:
        return kind._restored(model)
    except (TypeError, ValueError) as reason:
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
