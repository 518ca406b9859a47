"""The content of a model file, and the checks when it is saved or loaded."""

import re
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ..data.rows import Array
from ..data.targets import NumberTarget, RankTarget
from ..parameters import RULE_NAMES, RULE_TABLE, InputError
from ..reading.recipe import check_stored_recipe
from ..slices import load_learner
from ..training import state as states
from ..training.linear_state import SOLUTIONS
from ..training.rules import LABELS
from ..training.state import Sizes, require
from ..training.training import REASONS, Checkpoint, Epoch
from .facts import Count, Facts, Features, Finite, check_entries, fits

LABEL_TYPES = re.compile(r"[<>|]([biuf][1248]|U\d{1,9}|O)")
LABEL_BYTES = 2**28
MISMATCH = (TypeError, ValueError, LookupError, AttributeError, OverflowError)
T = TypeVar("T")


class Model(NamedTuple):
    """All that is needed to predict and to continue training.

    Attributes
    ----------
    estimator : str
        The name of its class.
    parameters : dict
        Those of the estimator, among them ``solution`` and ``multi_class``.
    classes : ndarray
        The labels, sorted unless they are ranks: numbers, booleans or text.
    states : list
        The states, one per problem.
    features : dict
        How rows were made: names, columns or hash settings.
    facts : dict
        Other facts, as JSON values.
    history : sequence of Epoch
        One record per epoch.
    checkpoint : Checkpoint or None
        The progress of an unfinished run.
    """

    estimator: str
    parameters: dict[str, Any]
    classes: Array
    states: list[Any]
    features: dict[str, Any]
    facts: dict[str, Any]
    history: Sequence[Epoch] = ()
    checkpoint: Checkpoint | None = None

    @property
    def is_multilabel(self) -> bool:
        """Whether a row may have any number of labels."""
        return self.facts.get("multilabel") is True

    @property
    def target(self) -> str:
        """What its labels are: "classes", "numbers" or "ranks"."""
        rule = RULE_NAMES.get(self.estimator)
        return "classes" if rule is None else RULE_TABLE[rule].target

    @property
    def is_linear(self) -> bool:
        """Whether it has weights for columns."""
        return hasattr(self.states[0], "weights")


def state_class(estimator: str, solution: str) -> Any:
    """The class of the states that a model has."""
    linear = estimator in RULE_NAMES
    return (SOLUTIONS if linear else load_learner(estimator).state_types)[solution]


def restore(make: Callable[[Model], T], model: Model, name: Any) -> T:
    """Make something of a model; an error calls the model ``name``."""
    try:
        return make(model)
    except MISMATCH as reason:
        raise InputError(
            f"{name} is not a {model.estimator} of this version of rosenblatt ({reason}); update "
            "or train again.",
            code="model-inconsistent",
            file=str(name),
        ) from None


def check_model(model: Model) -> None:
    """Refuse a model whose parts do not fit together: kernels do not check."""
    parts = (model.parameters, model.features, model.facts)
    require(all(isinstance(part, dict) for part in parts), "its parts are not all dicts")
    kind = state_class(model.estimator, model.parameters.get("solution", ""))
    check_entries("facts", model.facts, Facts, *getattr(kind, "facts", ()))
    check_entries("features", model.features, Features, *getattr(kind, "features", ()))
    target = LABELS[model.target].target
    if target is NumberTarget:
        require(not len(model.classes), "it predicts no classes, and has labels")
    else:
        check_labels(model.classes, 1 if model.is_multilabel else 2, target is RankTarget)
    calibration, counts = model.facts.get("calibration", {}), model.facts.get("class_rows")
    lengths = {len(each) for each in (*calibration.values(), counts or model.classes)}
    require(lengths == {len(model.classes)}, "its facts do not fit its classes")
    each = chain.from_iterable(calibration.values())
    pairs = {len(one) if isinstance(one, list) else 0 for one in each}
    require(pairs <= {2 * model.is_multilabel}, "its calibration does not fit its classes")
    require(model.states, "it has no state")
    kept, checkpoint = list(model.states), model.checkpoint
    if checkpoint is not None:
        fitting = len(checkpoint.problems) == len(kept)
        require(fitting, "its checkpoint is not of its problems")
        require(checkpoint.epoch == len(model.history), "its checkpoint is not in its history")
        check_checkpoint(checkpoint)
        kept += [one.best for one in checkpoint.problems if one.best is not None]
    sizes, dtype = kind.sizes(model) if hasattr(kind, "sizes") else expected_sizes(model)
    for state in kept:
        require(type(state) is kind, "its states are not those of its solution")
        states.check_state(state, dict(sizes), dtype)
        if target is RankTarget:
            require(np.all(np.diff(state.bias) <= 0), "its thresholds are not in order")
    if "recipe" in model.features:
        width = len(model.states[0].weights) if model.is_linear else model.facts["width"]
        check_stored_recipe(model.features["recipe"], width)


def expected_sizes(model: Model) -> tuple[Sizes, Any]:
    """The sizes and the type of the arrays of a linear model."""
    count, first = len(model.classes), model.states[0]
    how = str(model.parameters.get("multi_class")), model.is_multilabel
    problems = first.rule.problems(count, *how)
    fitting = len(model.states) == len(problems)
    require(fitting, "solution or multi_class are not those of its weights")
    outputs, biases = first.rule.shapes(count, problems)
    dtype = first.weights.dtype
    require(dtype in (np.float32, np.float64), "its weights are not floating-point numbers")
    width = first.weights.shape[:1]
    require(any(width), "its weights have no columns")
    return {"weights": (*width, *outputs), "bias": biases, "width": width}, dtype


def check_checkpoint(checkpoint: Checkpoint) -> None:
    """Refuse a checkpoint with values out of range."""
    counts = [checkpoint.parts]
    for one in checkpoint.problems:
        counts += [*one.count[:4], one.best_epoch]
        fitting = fits([one.count.loss, one.best_score], list[Finite])
        require(fitting and fits(one.count, Epoch), "its checkpoint is wrong")
        require(one.stop_reason in REASONS, "the stop reason of its checkpoint is unknown")
        fitting = one.mistaken.dtype == bool and one.mistaken.ndim == 1
        require(fitting, "its mistaken rows are malformed")
    require(fits(counts, list[Count]), "the counts of its checkpoint are out of range")


def check_labels(classes: Array, least: int = 2, ranks: bool = False) -> None:
    """Refuse labels that are not distinct and sorted, or of another type than files can hold.

    Ranks have an order of their own.
    """
    label_type(classes.dtype.str, len(classes))
    known = classes.dtype != object or all(isinstance(label, str) for label in classes)
    require(known and classes.ndim == 1, "its labels are neither numbers nor text")
    rising = np.sort(classes) if ranks else classes
    ordered = len(classes) >= least and np.all(rising[:-1] < rising[1:])
    require(ordered, "its labels are too few, not distinct or not in order")


def label_type(dtype: str, count: int) -> np.dtype[Any]:
    """The type of ``count`` labels; refuse types that a file cannot hold."""
    require(LABEL_TYPES.fullmatch(dtype), f"it has no place for labels of type {dtype[:20]!r}")
    require(np.dtype(dtype).itemsize * count <= LABEL_BYTES, "its labels are too long")
    return np.dtype(dtype)
