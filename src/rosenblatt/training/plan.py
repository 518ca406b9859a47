"""Plans: trainings fully resolved from what the user stated and what the data look like."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..data.splits import HELD_OUT, Split
from ..parameters import (
    ANY_RULE,
    FILES,
    FOR_LABEL_SETS,
    FOR_NUMBERS,
    FOR_ONE_PASS,
    FOR_RANKS,
    FOR_TABLES,
    FOR_TEXTS,
    RULE_TABLE,
    TEXTBOOK,
    Parameter,
    ParameterError,
    check_parameters,
    parameters_for_files,
)

BIAS_SHARE = 0.1  # of the squared length of rows, that the bias moves by
STEP_SHARE = 0.3  # aggressiveness C for rows of length 1; docs/how-defaults-were-chosen.md
NUMBER_STEP_SHARE = 1.0  # the same for numbers of deviation 1
C_BY_SIZE = {FOR_TABLES["rule"]: STEP_SHARE, FOR_NUMBERS["rule"]: NUMBER_STEP_SHARE}
"""The rules whose C depends on the size of the rows, with the C for rows of length 1."""
FOR_TARGETS = {"numbers": FOR_NUMBERS, "ranks": FOR_RANKS}
"""The defaults for labels that are not classes."""


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
        The share of rows to test the model on instead of learning from them; None is 0, or a
        tenth where other options need such rows.
    progress_every
        Predict each row of the first pass before learning from it, and report the error after this
        many rows; 0 for not at all.
    tune
        Choose what was not stated: True among many candidates, None among a few unless a rule is
        stated, False not at all. Of a stream, for the prediction of each next row.
    ordinal
        All labels in their order, the lowest first, if they are ranks.
    """

    rule: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    classes: tuple[Any, ...] | None = None
    window: int = 0
    holdout: float | None = None
    progress_every: int = 0
    tune: bool | None = None
    ordinal: tuple[Any, ...] | None = None

    @property
    def options(self) -> dict[str, Any]:
        """The options besides the rule and its parameters."""
        names = "classes", "window", "progress_every"
        return {name: getattr(self, name) for name in names} | {"holdout": self.holdout or 0.0}

    @property
    def is_open(self) -> bool:
        """Whether the user stated a single pass, and neither a rule nor its parameters."""
        shared = ANY_RULE.keys() - {"solution"}
        once = self.parameters.get("max_iter") == 1
        return self.rule is None and once and self.parameters.keys() <= shared

    def with_rule(self, rule: str | None, **parameters: Any) -> "Request":
        """The request with a rule and more parameters stated."""
        return replace(self, rule=rule, parameters={**self.parameters, **parameters}, tune=False)


@dataclass(frozen=True)
class DataProfile:
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
    one_pass_statistics
        Whether rows in memory are read once where a stream has to measure them first.
    numbers
        Whether labels are numbers to predict.
    """

    rereadable: bool = True
    fits: bool = True
    texts: int = 0
    label_sets: bool = False
    one_pass_statistics: bool = False
    numbers: bool = False


IN_MEMORY_ROWS = DataProfile(one_pass_statistics=True)
"""Rows that are in memory, so that one pass is not made as a stream."""


@dataclass(frozen=True)
class Plan:
    """A training with nothing left open but what ``complete`` sets once the rows are read.

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
    request
        What the user stated.
    """

    rule: str
    parameters: Mapping[str, Any]
    split: Split = field(default_factory=Split)
    stream: bool = False
    request: Request = field(default_factory=Request)

    @property
    def estimator(self) -> str:
        """The name of the estimator that a model becomes in Python."""
        return RULE_TABLE[self.rule].estimator

    @property
    def table(self) -> Mapping[str, Parameter]:
        """The parameters of the estimator, by name."""
        return RULE_TABLE[self.rule].parameters

    @property
    def target(self) -> str:
        """What labels are: "classes", "numbers" or "ranks"."""
        return RULE_TABLE[self.rule].target

    @property
    def max_iter(self) -> int:
        """The largest number of epochs."""
        return int(self.parameters["max_iter"])

    @property
    def unresolved(self) -> list[str]:
        """The parameters that depend on the size of the rows, which is not known yet."""
        names = ["intercept_step", *(["C"] if self.rule in C_BY_SIZE else [])]
        return [name for name in names if self.parameters.get(name, 0) is None]

    def complete(self, mean_square: float) -> "Plan":
        """The plan with all parameters, by the mean squared length of the rows to learn from."""
        sizes = {
            "intercept_step": usual_bias_step(mean_square),
            "C": usual_aggressiveness(mean_square, C_BY_SIZE.get(self.rule, STEP_SHARE)),
        }
        found = {name: sizes[name] for name in self.unresolved}
        return replace(self, parameters={**self.parameters, **found})

    def check(self, *where: str) -> None:
        """Refuse parameters that are out of range or do not go together."""
        values = {**self.request.options, "holdout": self.split.share}
        table = {**self.table, **FILES}
        usual = {name: table[name].default for name in self.unresolved}
        given = {**self.parameters, **values, **usual}
        check_parameters(given, {name: table[name] for name in table if name in given}, *where)

    def as_dict(self) -> dict[str, Any]:
        """The plan as JSON values; a run to resume must have the same."""
        options = {**self.request.options, "holdout": self.split.share}
        return dict(as_json({"rule": self.rule, **self.parameters, **options}))

    def refuse_other_plan(self, before: Mapping[str, Any]) -> None:
        """Refuse to resume a run of another plan; values that are still None match any."""
        now = self.as_dict()
        for name, value in now.items():
            if before.get(name, value) != value and name not in self.unresolved:
                raise ParameterError(
                    f"The run began with {name} = {before[name]}, not {value}; resume it with "
                    "the same options.",
                    code="resume-changed",
                )
        if before.keys() != now.keys():
            raise ParameterError(
                "The model does not say how it was trained; it cannot be resumed.",
                code="resume-unknown-plan",
            )


def as_json(value: Any) -> Any:
    """A value as JSON reads it back."""
    return json.loads(json.dumps(value))


def make_plan(request: Request, found: DataProfile) -> Plan:
    """Resolve what was not stated, and refuse what does not go together.

    The same arguments give the same plan.
    """
    rule, parameters = resolve_rule(request, found)
    parameters = resolve_margin(parameters, request, found)
    if parameters.get("intercept_step", 0.0) is None and not parameters["fit_intercept"]:
        parameters["intercept_step"] = 1.0
    stream, order = resolve_order(parameters, request, found)
    stops = parameters["early_stopping"]
    calibrates = parameters.get("calibrate")
    needs = stops or calibrates == "conformal" or (stream and calibrates)
    if needs and request.holdout == 0:
        raise ParameterError(
            f"holdout=0 holds no rows out, but {'early_stopping' if stops else 'calibrate'} needs "
            "some; leave it out to hold out a tenth.",
            code="holdout-needed",
        )
    share = request.holdout or (HELD_OUT if needs else 0.0)
    split = Split(share, parameters["random_state"])
    plan = Plan(rule, {**parameters, "order": order}, split, stream, request)
    plan.check(*(["stream"] if stream else []))
    return plan


def resolve_rule(request: Request, found: DataProfile) -> tuple[str, dict[str, Any]]:
    """Choose the rule and all its parameters, with None for those that depend on the data.

    For a single pass, that is AROW and its last weights (docs/measured.md says why); for
    several passes over rows without text, averaged PA-II; for texts with any number of labels, AROW
    (docs/how-defaults-were-chosen.md).
    """
    rule, stated = request.rule, dict(request.parameters)
    target = "numbers" if found.numbers else "classes"
    if request.ordinal is not None:
        target = "ranks"
        if found.label_sets:
            raise ParameterError(
                "ordinal is for rows of one label each, and labels_separator for several "
                "labels; leave one out.",
                code="conflict",
            )
    refuse_other_target(request, target)
    if target in FOR_TARGETS:
        return resolve_for_target(request, target)
    if request.is_open:
        rule, stated = FOR_ONE_PASS["rule"], stated | {"solution": FOR_ONE_PASS["solution"]}
    elif rule is None:
        usual = choose_defaults(request, found)
        rule = usual.pop("rule")
        stated = usual | stated
    return rule, parameters_for_files(rule, **stated)


def refuse_other_target(request: Request, target: str) -> None:
    """Refuse a rule for other labels, and options that are about classes if labels are not."""
    if FOR_TARGETS.get(target) is FOR_NUMBERS and request.parameters.get("calibrate") is True:
        raise ParameterError(
            "calibrate is for classes, but the labels are numbers; leave it out.",
            code="numbers-option",
        )
    rule = request.rule
    learns = target if rule is None else RULE_TABLE[rule].target
    if learns != target and rule not in forms_for(target):
        raise ParameterError(
            f"rule {rule} learns {learns}, but the labels are {target}; use "
            f"{' or '.join(rules_with({}, target))}, or state what labels are with "
            "numbers=True or numbers=False or ordinal.",
            code="rule-of-target",
        )


def forms_for(target: str) -> dict[str | None, str]:
    """The rules for a target by the rules for classes whose forms they are."""
    table = RULE_TABLE.items()
    return {one.form_of: rule for rule, one in table if one.target == target and one.form_of}


def resolve_for_target(request: Request, target: str) -> tuple[str, dict[str, Any]]:
    """Choose the rule for other labels than classes, and its parameters.

    The name of a rule for classes stands for its form for the target.
    """
    rule, stated, usual = request.rule, dict(request.parameters), FOR_TARGETS[target]
    rule = forms_for(target).get(rule, rule)
    if rule is None:
        having = [usual["rule"], *rules_with(stated, target)]
        table = RULE_TABLE
        known = (each for each in having if stated.keys() <= table[each].parameters.keys())
        rule = next(known, usual["rule"])
    if rule == usual["rule"]:
        stated = {name: one for name, one in usual.items() if name != "rule"} | stated
    if request.ordinal is not None:
        names = {str(label) for label in request.ordinal}
        if len(names) < max(2, len(request.ordinal)) or "" in names:
            raise ParameterError(
                "ordinal must name two or more different labels, the lowest first: "
                'ordinal=["low", "high"] in Python.',
                code="ranks-named",
            )
        stated["ranks"] = list(request.ordinal)
    return rule, parameters_for_files(rule, **stated)


def choose_defaults(request: Request, found: DataProfile) -> dict[str, Any]:
    """The rule for several passes where none is stated, and its parameters.

    It is the first that has the parameters that are stated.
    """
    stated, plain = request.parameters, {"rule": "perceptron"}
    textbook = any(stated.get(name) in values for name, values in TEXTBOOK.items())
    usual = [FOR_TABLES, plain]
    if textbook:
        usual.reverse()
    elif found.texts:
        usual = [FOR_LABEL_SETS if found.label_sets else FOR_TEXTS, *reversed(usual)]
    usual += [{"rule": rule} for rule in rules_with(stated)] if request.tune else []
    for each in usual:
        if stated.keys() <= RULE_TABLE[each["rule"]].parameters.keys():
            return dict(each)
    return plain


def rules_with(parameters: Mapping[str, Any], target: str = "classes") -> list[str]:
    """Rules with these parameters that tuning tries; those that rarely win, only without others."""
    having = [
        rule
        for rule, entry in RULE_TABLE.items()
        if entry.target == target and parameters.keys() <= entry.parameters.keys()
    ]
    return [rule for rule in having if RULE_TABLE[rule].tuned] or having


def resolve_margin(
    parameters: Mapping[str, Any], request: Request, found: DataProfile
) -> dict[str, Any]:
    """Set the margin; the default is 1 for texts, whose rows have length 1, else 0.

    With a margin of 1 nearly every row causes an update, and frequent classes would dominate:
    unless weights are stated, classes are then balanced (docs/how-defaults-were-chosen.md has the
    measurements). All labels must be known for that.
    """
    if parameters.get("margin", 0.0) is not None:
        return dict(parameters)
    knows_labels = request.classes is None and not found.label_sets and found.rereadable
    texts = found.texts if knows_labels else 0
    weighs = texts and parameters.get("class_weight", "none") is None
    return {**parameters, "margin": float(texts)} | ({"class_weight": "balanced"} if weighs else {})


def resolve_order(
    parameters: Mapping[str, Any], request: Request, found: DataProfile
) -> tuple[bool, str]:
    """Decide whether to stream, and the order of the rows.

    A single pass needs no memory, unless something must be measured before it.
    """
    order, several = parameters["order"], parameters["max_iter"] > 1
    if request.progress_every or request.window:
        return True, order or ("each" if request.window else "fixed")
    plain = order in (None, "fixed") and parameters["solution"] in ("last", "average")
    once = not several and plain and not found.one_pass_statistics
    stream = once or not found.fits
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


def usual_aggressiveness(mean_square: float, share: float = STEP_SHARE) -> float:
    """The default C of the passive-aggressive rule, for rows of a mean squared length.

    A step τ = loss / (‖x‖² + 1/(2C)) is then damped as much for long rows as for short ones.

    >>> usual_aggressiveness(1.0), usual_aggressiveness(54.0)
    (0.3, 0.0056)
    """
    return float(f"{share / mean_square:.2g}") if 0 < mean_square < np.inf else 1.0
