"""Update rules: kernels with their arrays and settings.

A rule of the table in parameters/rules.py names a loop of this module, and a step of it. A loop is
a pair of kernels that several rules share.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from ..data.rows import Array
from ..kernels import (
    confidence,
    coordinate,
    feedback,
    linear,
    ordinal,
    passive_aggressive,
    positive,
    ranking,
    regression,
    scaled,
    second_order_full,
)
from ..kernels.linear import Clock, Settings, count_weight
from ..parameters import RULE_TABLE, ParameterError, RuleEntry, import_rule, refuse_rule


class RuleArray(NamedTuple):
    """An array that a rule keeps besides weights and bias.

    ``like`` is "weights" or "bias", whose shape it has; "square" for a matrix over all columns and
    the bias; or "numbers" for as many as there are in ``start``. Else ``start`` is what the array
    is filled with, or the diagonal of the matrix. Variances are never negative. Signed arrays
    change their sign with the class. Constant arrays are not changed by learning.
    """

    name: str
    like: str
    dtype: Any
    start: float | tuple[float, ...]
    is_variance: bool = False
    is_signed: bool = False
    is_constant: bool = False

    def shape(self, weights: Array, bias: Array) -> tuple[int, ...]:
        """The shape of the array for some weights and biases."""
        if isinstance(self.start, tuple):
            return (len(self.start),)
        if self.like == "square":
            return (len(weights) + 1, len(weights) + 1)
        whole: tuple[int, ...] = weights.shape if self.like == "weights" else bias.shape
        return whole

    def begin(self, weights: Array, bias: Array) -> Array:
        """The array before the first row."""
        shape, dtype = self.shape(weights, bias), self.dtype or weights.dtype
        if self.like == "square":
            return np.eye(shape[0], dtype=dtype) * self.start
        return np.full(shape, self.start, dtype)

    def widen(self, array: Array, weights: Array, bias: Array) -> Array:
        """The array with places for the columns that the weights have now."""
        wider = self.begin(weights, bias)
        if self.like == "square":
            old = np.r_[: len(array) - 1, len(wider) - 1]  # the bias stays last
            wider[np.ix_(old, old)] = array
        else:
            wider[: len(array)] = array
        return wider


class Scale:
    """A factor of all weights and biases, kept in an array of a rule.

    The state keeps v. The weights are ``now`` · v, and their sum over all rows ``total`` · v less
    the sums of an average (kernels/scaled.py).
    """

    array = RuleArray("scale", "numbers", np.float64, (1.0, 0.0, 0.0, 0.0, 1.0))

    def now(self, arrays: Mapping[str, Array]) -> float:
        """The scale after the last update."""
        return float(arrays["scale"][scaled.Z])

    def total(self, arrays: Mapping[str, Array], clock: Clock, rows: Any) -> Any:
        """The sum of the scale over all rows, whose total weight is ``rows``."""
        scale = arrays["scale"]
        before = count_weight.py_func(clock, scale[scaled.SEEN] - clock.seen)
        return scale[scaled.T] + scale[scaled.Z] * (rows - before)

    def shrink(self, arrays: Mapping[str, Array], factor: float) -> None:
        """Multiply the sum so far, for an average with decay."""
        arrays["scale"][scaled.T] *= factor

    def begin(self, arrays: Mapping[str, Array], seen: int) -> None:
        """Count from here on, after some rows without an update."""
        arrays["scale"][scaled.SEEN] = seen

    def divide(self, arrays: Mapping[str, Array], settings: Any) -> float:
        """Divide the weights of two classes into a column for each; return the share of each.

        What is learnt is then the difference of two rows, √2 times as long. ALMA's margin is
        measured in this length, so that the norm of the weights stays; ROMMA's is 1. The shifting
        perceptron has none, so that its weights stay.
        """
        share = {scaled.ALMA: math.sqrt(0.5), scaled.ROMMA: 0.5}.get(settings.rule, 1.0)
        arrays["scale"][scaled.SQUARE] *= 2 * share * share
        return share


@dataclass(frozen=True)
class UpdateRule:
    """An update rule: how one row changes the weights.

    Attributes
    ----------
    name : str
        As in the model file.
    binary, multiclass : callable
        The kernels for two classes, and for more at once or None if each class is a problem of its
        own: ``kernel(examples, order, start, weights, bias, *arrays, settings, log)`` changes the
        state in place, writes every update with its step into the log, and returns how far it got,
        how many updates it made and their loss. It stops when the log is full, or at a row whose
        activation is not finite.
    settings : callable
        Makes of the parameters and the step of the bias what the kernels take; ``above`` and
        ``below`` say what an activation must exceed in a positive row, and stay under in a negative
        one, to be right. Rows that are right change nothing, unless the rule is demanding.
    arrays : tuple of RuleArray
        What the rule keeps besides weights and bias.
    binary_arrays : int
        How many arrays ``binary`` takes where a rule may keep fewer: the others are empty.
    additive : bool
        Whether an update only adds the logged step times the row (for two classes to the weights,
        for more to the label's column and negated to the rival's) and the step times the settings'
        ``intercept_step`` to the bias, so that averages and votes can be had from the log.
    sums : bool
        Whether the kernels sum what an average needs: after the arrays they take those of the
        average, which are empty if there is none, and a ``Clock`` (kernels/linear.py).
    local : bool
        Whether a row changes nothing in columns that it has no value in.
    demanding : bool
        Whether it learns from rows that are right, too, if it is not sure enough of them.
    scale : Scale or None
        Tells the number that all weights are to be multiplied by, if there is one.
    from_anywhere : bool
        Whether weights are all that it needs to begin with.
    target : str
        What its labels are: "classes", "numbers", "ranks", or "ranking" for relevance in groups.
        Kernels of the last three take all labels, and have one column of weights; of ranks with a
        bias for each but the first.
    form_of : str
        The name in the table of rules of the rule that it is a form of.
    judged : callable or None
        The kernel for several classes that learns from predictions which were judged right or
        wrong (kernels/feedback.py), if the rule draws predictions by chance. ``multiclass`` then
        uses labels only to judge the predictions that it draws.
    """

    name: str
    binary: Callable[..., tuple[int, int, float]]
    multiclass: Callable[..., tuple[int, int, float]] | None
    settings: Callable[..., Any]
    arrays: tuple[RuleArray, ...] = ()
    binary_arrays: int = 0
    additive: bool = True
    sums: bool = False
    local: bool = True
    demanding: bool = False
    scale: Scale | None = None
    from_anywhere: bool = True
    target: str = "classes"
    form_of: str = ""
    judged: Callable[..., tuple[int, int, float]] | None = None

    @property
    def draws(self) -> bool:
        """Whether predictions are drawn by chance, and judged right or wrong."""
        return self.judged is not None

    @property
    def family(self) -> str:
        """The name in the table of rules, which the forms of a rule share."""
        return self.form_of or self.name

    def problems(
        self, n_classes: int, multi_class: str, multilabel: bool = False
    ) -> list[int | None]:
        """The class that counts as positive in each problem; None for all labels at once."""
        if self.target != "classes":
            return [None]
        if n_classes <= 2 and not multilabel:  # one until learn_one meets a second
            return [1]
        one_by_one = multilabel or multi_class == "ovr" or self.multiclass is None
        return list(range(n_classes)) if one_by_one else [None]

    def n_biases(self, n_classes: int) -> int:
        """The number of biases of one column of weights: of ranks one for each but the first."""
        return n_classes - 1 if self.target == "ranks" else 1

    @property
    def has_variances(self) -> bool:
        """Whether it keeps a variance of each weight."""
        return any(one.is_variance for one in self.arrays)

    @property
    def can_mix(self) -> bool:
        """Whether its models can be averaged: it keeps no more than weights and variances."""
        return self.has_variances or all(one.is_constant for one in self.arrays)

    def check(self, solution: str, order: str = "") -> None:
        """Refuse a solution or an order that needs updates which only other rules make."""
        if order == "batch" and self.binary is not linear.perceptron:
            raise ParameterError(
                f"{{order}} adds up the mistakes of a pass, and {self.name} takes them one by one; "
                'use {order="each"}, or the perceptron.',
                code="order-of-rule",
                order=order,
            )
        if not self.additive and (solution == "vote" or (solution == "average" and not self.sums)):
            raise ParameterError(
                f"{{solution}} adds up updates, which those of {self.name} do not allow; use "
                '{solution="last"}.',
                code="solution-of-rule",
                solution=solution,
            )

    def __reduce__(self) -> tuple[Any, ...]:
        return get_rule, (self.name,)  # kernels are not pickled: other processes have them

    def start(self, weights: Array, bias: Array) -> dict[str, Array]:
        """The arrays of the rule before the first row, by name."""
        return {one.name: one.begin(weights, bias) for one in self.arrays}


# Settings of the kernels of each loop, filled from parameters by name; ``step``, for the rules that
# have one, is one of the names in capitals of the kernels' module.

JUST_1 = float(np.nextafter(1.0, 0.0))  # what a margin of 1 exceeds
JUST_0 = float(np.nextafter(0.0, -1.0))  # and one of 0


def perceptron_settings(parameters: Mapping[str, Any], intercept_step: float) -> Settings:
    """Thresholds by the margin; they include 0 or not, by ``ties``."""
    margin, ties = float(parameters["margin"]), parameters["ties"]
    negative = parameters.get("negative_margin")
    above, below = margin, -(margin if negative is None else float(negative))
    if above == 0 and ties in ("positive", "correct"):
        above = float(np.nextafter(0.0, -1.0))
    if below == 0 and ties in ("negative", "correct"):
        below = float(np.nextafter(0.0, 1.0))
    return Settings(above, below, float(intercept_step))


def aggressive_settings(parameters: Mapping[str, Any], intercept_step: float) -> Any:
    """A margin of 1, C, and one of three losses."""
    loss = getattr(passive_aggressive, parameters["loss"].upper())
    return passive_aggressive.AggressiveSettings(
        JUST_1, -JUST_1, float(intercept_step), float(parameters["C"]), loss
    )


def scaled_settings(parameters: Mapping[str, Any], intercept_step: float, step: str) -> Any:
    """A margin of 1 if aggressive; α, and B and C, by default as in the theorem; λ."""
    above, alpha = JUST_1 if parameters.get("aggressive") else 0.0, parameters.get("alpha", 1.0)
    B, C = parameters.get("B"), parameters.get("C")
    B = math.sqrt(8.0) / alpha if B is None else B
    C = math.sqrt(2.0) if C is None else C
    numbers = map(float, (alpha, B, C, parameters.get("lam", 1.0)))
    rule = getattr(scaled, step)
    return scaled.ScaledSettings(above, -above, float(intercept_step), rule, *numbers)


def confidence_settings(parameters: Mapping[str, Any], intercept_step: float, step: str) -> Any:
    """The rule with its variant, r, the quantile φ of the required confidence, and C."""
    asked = parameters.get("confidence")
    phi = 0.0 if asked is None else NormalDist().inv_cdf(float(asked))
    above = JUST_1 if asked is None else 0.0
    rule = getattr(confidence, "_".join(filter(None, (step, parameters.get("variant")))))
    r, C = float(parameters.get("r", 1.0)), float(parameters.get("C", 1.0))
    return confidence.ConfidenceSettings(above, -above, float(intercept_step), rule, r, phi, C)


def coordinate_settings(parameters: Mapping[str, Any], intercept_step: float, step: str) -> Any:
    """The rule, and its parameters by name."""
    usual = {"a": 1.0, "alpha": 1.0, "beta": 1.0, "l1": 0.0, "l2": 0.0, "decay": 0.0}
    numbers = [float(parameters.get(name, value)) for name, value in usual.items()]
    rule = getattr(coordinate, step)
    return coordinate.CoordinateSettings(0.0, 0.0, float(intercept_step), rule, *numbers)


def regression_settings(
    parameters: Mapping[str, Any], intercept_step: float, step: str = ""
) -> Any:
    """ε and C of the passive-aggressive rule, with one of three losses; or those of Adaline."""
    loss = parameters.get("loss") or ("normalized_lms" if parameters["normalized"] else step)
    return regression.RegressionSettings(
        JUST_0,
        -JUST_0,
        float(intercept_step),
        float(parameters.get("epsilon", 0.0)),
        float(parameters.get("C", 1.0)),
        getattr(regression, loss.upper()),
    )


def ranking_settings(parameters: Mapping[str, Any], intercept_step: float, step: str = "") -> Any:
    """The margin of the perceptron, or 1 with C and one of three losses."""
    margin = float(parameters.get("margin", JUST_1))
    loss = getattr(ranking, (parameters.get("loss") or step).upper())
    return ranking.RankingSettings(margin, -margin, 0.0, float(parameters.get("C", 1.0)), loss)


def ordinal_settings(parameters: Mapping[str, Any], intercept_step: float) -> Any:
    """The margin."""
    margin = float(parameters["margin"])
    return ordinal.OrdinalSettings(margin, -margin, float(intercept_step))


def positive_settings(base: Callable[..., Any], *given: Any, **step: str) -> Any:
    """The settings of a rule in the form that its kernels with constraints take."""
    made = base(*given, **step)
    usual = regression.RegressionSettings(0.0, 0.0, 0.0, 0.0, 1.0, positive.PERCEPTRON)
    return usual._replace(**made._asdict())


def bandit_settings(parameters: Mapping[str, Any], intercept_step: float) -> Any:
    """The exploration γ."""
    exploration = float(parameters["exploration"])
    return feedback.BanditSettings(0.0, 0.0, float(intercept_step), exploration)


def full_settings(parameters: Mapping[str, Any], intercept_step: float, step: str) -> Any:
    """The regularization a."""
    return second_order_full.FullSettings(0.0, 0.0, float(intercept_step), float(parameters["a"]))


# Loops: what the rules that share one have in common.

VARIANCES = (
    RuleArray("variances", "weights", np.float64, 1.0, is_variance=True),
    RuleArray("variance_of_bias", "bias", np.float64, 1.0, is_variance=True),
)
LOOPS: Mapping[str, UpdateRule] = {
    loop.name: loop
    for loop in (
        UpdateRule("perceptron", linear.perceptron, linear.multiclass, perceptron_settings),
        UpdateRule(
            "passive_aggressive",
            passive_aggressive.passive_aggressive,
            passive_aggressive.passive_aggressive_multiclass,
            aggressive_settings,
        ),
        UpdateRule(
            "scaled",
            scaled.scaled,
            scaled.scaled_multiclass,
            scaled_settings,
            arrays=(Scale.array,),
            additive=False,
            sums=True,
            local=False,
            demanding=True,
            scale=Scale(),
            from_anywhere=False,
        ),
        UpdateRule(
            "confidence",
            confidence.confidence,
            confidence.confidence_multiclass,
            confidence_settings,
            arrays=VARIANCES,
            additive=False,
            sums=True,
            demanding=True,
        ),
        UpdateRule(
            "coordinate",
            coordinate.coordinate,
            coordinate.coordinate_multiclass,
            coordinate_settings,
            arrays=VARIANCES,
            binary_arrays=4,
            additive=False,
            sums=True,
            demanding=True,
        ),
        UpdateRule(
            "second_order_full",
            second_order_full.second_order_full,
            None,
            full_settings,
            arrays=(RuleArray("inverse", "square", np.float64, 1.0),),
            additive=False,
            sums=True,
            local=False,
        ),
        UpdateRule(
            "regression", regression.regression, None, regression_settings, target="numbers"
        ),
        UpdateRule(
            "ranking",
            ranking.ranking,
            None,
            ranking_settings,
            additive=False,
            sums=True,
            target="ranking",
        ),
        UpdateRule(
            "ordinal",
            ordinal.ordinal,
            None,
            ordinal_settings,
            additive=False,
            sums=True,
            from_anywhere=False,
            target="ranks",
        ),
        UpdateRule(
            "bandit",
            feedback.banditron,
            feedback.banditron_multiclass,
            bandit_settings,
            arrays=(RuleArray("draws", "numbers", np.uint64, (0,)),),
            additive=False,
            sums=True,
            demanding=True,
            judged=feedback.banditron_judged,
        ),
    )
}


def make_rules(
    name: str, entry: RuleEntry, loops: Mapping[str, UpdateRule] = LOOPS
) -> dict[str, UpdateRule]:
    """The rule of an entry of the table by name, and its form with a full matrix if it has one."""
    forms = {name: entry.loop, **({f"{name}-full": entry.full} if entry.full else {})}
    found = {}
    for each, loop in forms.items():
        rule = loops[loop]
        found[each] = replace(
            rule,
            name=each,
            form_of=name,
            settings=partial(rule.settings, step=entry.step) if entry.step else rule.settings,
            multiclass=None if entry.one_vs_rest else rule.multiclass,
            arrays=tuple(chain.from_iterable(map(make_arrays, entry.keeps))) or rule.arrays,
            from_anywhere=rule.from_anywhere and "gradients" not in entry.keeps,
        )
    if "positive" in entry.parameters:
        found |= make_positive_forms(found[name])
    return found


POSITIVE = {"positive": 1.0, "positive-columns": 0.0}
"""Forms of a rule with weights ≥ 0, and whether columns that are new have such weights."""


def make_positive_forms(rule: UpdateRule) -> dict[str, UpdateRule]:
    """The forms of a rule whose weights are ≥ 0 in all columns, or in some."""
    numbers = rule.target == "numbers"
    form = replace(
        rule,
        binary=positive.positive_numbers if numbers else positive.positive_classes,
        multiclass=None,
        settings=partial(positive_settings, rule.settings),
        additive=False,
        sums=True,
    )
    return {
        f"{rule.name}-{suffix}": replace(
            form,
            name=f"{rule.name}-{suffix}",
            arrays=(RuleArray("positive", "weights", np.int8, start, is_constant=True),),
        )
        for suffix, start in POSITIVE.items()
    }


def make_arrays(name: str) -> tuple[RuleArray, RuleArray]:
    """Arrays with a number for each weight and each bias, 0 at first."""
    signed = name == "gradients"  # sums of squares are not
    of_bias = RuleArray(f"{name}_of_bias", "bias", np.float64, 0.0, is_signed=signed)
    return RuleArray(name, "weights", np.float64, 0.0, is_signed=signed), of_bias


class Rules(dict[str, UpdateRule]):
    """Rules and their forms by name; those of other packages are found when named."""

    def __missing__(self, name: str) -> UpdateRule:
        import_rule(name)
        return self[name] if name in self else refuse_rule(name)


RULES = Rules()
for _name, _entry in RULE_TABLE.items():
    RULES |= make_rules(_name, _entry)
PERCEPTRON = RULES["perceptron"]


def get_rule(name: str) -> UpdateRule:
    """The rule with a name."""
    return RULES[name]


MOST_COLUMNS = 100  # whose whole matrix "auto" keeps


def choose_rule_form(
    rule: UpdateRule, parameters: Mapping[str, Any], width: int, n_classes: int
) -> UpdateRule:
    """The form of a rule for some data: with weights ≥ 0, with a full matrix, or its diagonal."""
    asked = parameters.get("positive", False)
    if asked is not False:
        return RULES[f"{rule.family}-{'positive' if asked is True else 'positive-columns'}"]
    matrix, few = parameters.get("matrix"), width <= MOST_COLUMNS and n_classes == 2
    full = matrix == "full" or (matrix == "auto" and few)
    return RULES[f"{rule.family}-full"] if full else rule
