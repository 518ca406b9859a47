"""A training, fully resolved: what the user stated and what the data look like become one plan."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..data.splits import Split
from ..parameters import (
    ANY_RULE,
    FILES,
    FOR_ONE_PASS,
    RULE_TABLE,
    STREAM_RULES,
    Parameter,
    ParameterError,
    check_parameters,
    parameters_for_files,
)
from .rules import RULES

HELD_OUT = 0.1  # share of the rows, where early stopping or calibration of a stream need some
BIAS_SHARE = 0.1  # of the squared length of rows, that the bias moves by; benchmarks/defaults.py


@dataclass(frozen=True)
class Request:
    """What the user stated; ``make_plan`` resolves the rest.

    Attributes
    ----------
    rule
        The name of the update rule, or None.
    parameters
        The parameters of the estimator that were stated.
    classes
        All labels, where the first rows may not have them all.
    window
        Shuffle a stream within this many rows.
    holdout
        The share of rows to test the model on instead of learning from them.
    cache
        Keep the parsed rows beside the file, or use those that an earlier run kept.
    progress_every
        Predict each row of the first pass before learning from it, and report the error after this
        many rows; 0 for not at all.
    tune
        Choose by error on held-out rows what was not stated.
    """

    rule: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    classes: tuple[Any, ...] | None = None
    window: int = 0
    holdout: float = 0.0
    cache: bool = False
    progress_every: int = 0
    tune: bool = False

    @property
    def options(self) -> dict[str, Any]:
        """What is stated besides the rule and its parameters."""
        names = ("classes", "window", "holdout", "cache", "progress_every")
        return {name: getattr(self, name) for name in names}

    @property
    def is_open(self) -> bool:
        """Whether a single pass is asked for without a rule or a parameter of one."""
        shared = ANY_RULE.keys() - {"solution", "average_decay"}
        once = self.parameters.get("max_iter") == 1
        return self.rule is None and once and self.parameters.keys() <= shared

    def with_rule(self, rule: str, **parameters: Any) -> "Request":
        """The request as if the rule and some more parameters had been stated."""
        return replace(self, rule=rule, parameters={**self.parameters, **parameters}, tune=False)


@dataclass(frozen=True)
class Found:
    """What the data look like, as far as a plan depends on it.

    Attributes
    ----------
    rereadable
        Whether the data can be read more than once.
    fits
        Whether all rows fit in memory.
    texts
        The number of columns of text.
    label_sets
        Whether a row may have any number of labels.
    measured_in_passing
        Whether rows in memory are read once where a stream has to measure them first.
    mean_square
        The mean squared length of the rows to learn from; None before they are read.
    """

    rereadable: bool = True
    fits: bool = True
    texts: int = 0
    label_sets: bool = False
    measured_in_passing: bool = False
    mean_square: float | None = None


IN_MEMORY_ROWS = Found(measured_in_passing=True)
"""Rows that are in memory, so that one pass is not made as a stream."""


@dataclass(frozen=True)
class Plan:
    """A training with nothing left open but what is only known after reading.

    Attributes
    ----------
    rule
        The name of the update rule.
    parameters
        All parameters of its estimator.
    split
        The rows to test on.
    stream
        Whether rows are learnt as they are read, and not kept.
    classes, window, cache, progress_every
        As in the request.
    rules
        The rules of which the one that predicts the first rows of a stream best is taken.
    """

    rule: str
    parameters: Mapping[str, Any]
    split: Split = field(default_factory=Split)
    stream: bool = False
    classes: tuple[Any, ...] | None = None
    window: int = 0
    cache: bool = False
    progress_every: int = 0
    rules: tuple[str, ...] = ()

    @property
    def estimator(self) -> str:
        """The name of the estimator that a model becomes in Python."""
        return RULE_TABLE[self.rule].estimator

    @property
    def table(self) -> Mapping[str, Parameter]:
        """The parameters of the estimator, by name."""
        return RULE_TABLE[self.rule].parameters

    @property
    def max_iter(self) -> int:
        """The largest number of epochs."""
        return int(self.parameters["max_iter"])

    def check(self, *where: str) -> None:
        """Refuse parameters that are out of range or do not go together."""
        names = ("classes", "window", "cache", "progress_every")
        values = {name: getattr(self, name) for name in names} | {"holdout": self.split.share}
        table = {**self.table, **FILES}
        check_parameters({**self.parameters, **values}, table, *where)

    def as_dict(self) -> dict[str, Any]:
        """The plan as JSON values: what a run must share with one that it resumes."""
        options = {
            "classes": self.classes,
            "window": self.window,
            "holdout": self.split.share,
            "cache": False,
            "progress_every": self.progress_every,
        }
        found: dict[str, Any] = as_json({"rule": self.rule, **self.parameters, **options})
        return found

    def __str__(self) -> str:
        usual = {**{name: each.default for name, each in FILES.items()}, "classes": None}
        usual |= {name: each.default for name, each in self.table.items()}
        always = "solution", "order", "max_iter"
        chosen = [
            f"{name}={value}"
            for name, value in self.as_dict().items()
            if name in always or (name in usual and value != usual[name])
        ]
        return f"{self.estimator}({', '.join(chosen)}), {'stream' if self.stream else 'in memory'}"

    def refuse_other_plan(self, before: Mapping[str, Any]) -> None:
        """Refuse to resume a run that was begun with another plan; open values agree with any."""
        now = self.as_dict()
        if before.keys() != now.keys():
            raise ValueError("The model does not say how it was trained; it cannot be resumed.")
        for name, value in now.items():
            if before[name] != value and (name != "intercept_step" or value is not None):
                raise ParameterError(
                    f"The run began with {{{name}?}} = {before[name]}, not {value}; resume it with "
                    "the same options.",
                    code="resume-changed",
                )


def as_json(value: Any) -> Any:
    """A value as it comes back from a file."""
    return json.loads(json.dumps(value))


def make_plan(request: Request, found: Found) -> Plan:
    """Resolve what was not stated, and refuse what does not go together.

    The same arguments give the same plan; when more is found out, make another.
    """
    rule, parameters = resolve_rule(request)
    parameters = resolve_margin(parameters, request, found)
    parameters = resolve_bias_step(parameters, found)
    stream, order = resolve_order(parameters, request, found)
    needs = parameters["early_stopping"] or (stream and parameters["calibrate"])
    share = request.holdout or (HELD_OUT if needs else 0.0)
    open_rule = request.is_open and request.progress_every and not request.tune
    plan = Plan(
        rule,
        {**parameters, "order": order},
        Split(share, parameters["random_state"]),
        stream,
        request.classes,
        request.window,
        request.cache,
        request.progress_every,
        STREAM_RULES if open_rule else (),
    )
    plan.check(*(["stream"] if stream else ["cache"] if request.cache else []))
    RULES[rule].check(parameters["solution"])
    return plan


def resolve_rule(request: Request) -> tuple[str, dict[str, Any]]:
    """The rule and all its parameters, with None for what depends on the data.

    For a single pass, that is AROW and its last weights (docs/choosing.md says why). Where a rule
    is to be tuned, it is the first that has the parameters that were stated.
    """
    rule, stated = request.rule, dict(request.parameters)
    if request.is_open:
        rule, stated = FOR_ONE_PASS["rule"], stated | {"solution": FOR_ONE_PASS["solution"]}
    if rule is None and request.tune:
        rules = rules_with(stated)
        rule = rules[0] if rules and "perceptron" not in rules else None
    rule = rule or "perceptron"
    return rule, parameters_for_files(rule, **stated)


def rules_with(parameters: Mapping[str, Any]) -> list[str]:
    """The rules to tune that have some parameters; those that seldom win only if no other has."""
    table = RULE_TABLE.items()
    having = [rule for rule, entry in table if parameters.keys() <= entry.parameters.keys()]
    return [rule for rule in having if RULE_TABLE[rule].tuned] or having


def resolve_margin(parameters: Mapping[str, Any], request: Request, found: Found) -> dict[str, Any]:
    """Parameters with a margin; the default is 1 for texts, whose rows have length 1, else 0.

    With it nearly every row is learnt from, and rare classes would be outvoted: unless weights are
    stated, classes then weigh the same (docs/how-defaults-were-chosen.md has the measurements). All
    labels must be known for that.
    """
    if parameters.get("margin", 0.0) is not None:
        return dict(parameters)
    all_labels = request.classes is None and not found.label_sets and found.rereadable
    texts = found.texts if all_labels else 0
    weighs = texts and parameters["class_weight"] is None
    return {**parameters, "margin": float(texts)} | ({"class_weight": "balanced"} if weighs else {})


def resolve_bias_step(parameters: Mapping[str, Any], found: Found) -> dict[str, Any]:
    """Parameters with the amount by which an update moves the bias, by the size of the rows."""
    step = parameters["intercept_step"]
    if step is None and not parameters["fit_intercept"]:
        step = 1.0
    if step is None and found.mean_square is not None:
        step = usual_bias_step(found.mean_square)
    return {**parameters, "intercept_step": step}


def resolve_order(
    parameters: Mapping[str, Any], request: Request, found: Found
) -> tuple[bool, str]:
    """Whether to learn from a stream, and the order of the rows.

    A single pass needs no memory, unless something must be measured before it.
    """
    order, several = parameters["order"], parameters["max_iter"] > 1
    if request.progress_every:
        return not request.cache, order or "fixed"
    if request.window:
        return not request.cache, order or "each"
    plain = order in (None, "fixed") and parameters["solution"] in ("last", "average")
    once = not several and plain and not found.measured_in_passing
    stream = not request.cache and not (found.fits and not once)
    return stream, order or ("each" if found.fits and several else "fixed")


def usual_bias_step(mean_square: float) -> float:
    """The default amount by which an update moves the bias, for rows of a mean squared length.

    The bias is one more coordinate of the rows, about a third as long as they are; its square is a
    power of 2, so that sums of it stay exact.

    >>> usual_bias_step(1.0), usual_bias_step(54.0)
    (0.125, 4.0)
    """
    share = BIAS_SHARE * mean_square
    return float(2.0 ** np.round(np.log2(share))) if 0 < share < np.inf else 1.0
