"""Which learner a model file becomes, imported when a file asks for it."""

from typing import Any

from ..parameters import RULE_NAMES
from ..slices import load_learner
from ..storage.model import Model, restore
from .base import Learner


def learner_class(estimator: str) -> type[Learner]:
    """Return the class of the learner of an estimator, by its name."""
    if estimator in RULE_NAMES:
        from .linear import LinearLearner

        return LinearLearner
    found: type[Learner] = load_learner(estimator)
    return found


def make_learner(model: Model, name: Any) -> Any:
    """Make the learner of a model; ``name`` is what an error calls its file."""
    return restore(learner_class(model.estimator).from_model, model, name)
