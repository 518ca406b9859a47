"""Update rules: what a row does to the weights, as kernels with their state and settings."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from ..data.rows import Array
from ..kernels import first_order, linear, second_order
from ..kernels.first_order import (
    HARD,
    HINGE,
    SQUARED_HINGE,
    AggressiveSettings,
    AlmaSettings,
    RommaSettings,
)
from ..kernels.linear import Settings
from ..kernels.second_order import ConfidenceSettings
from ..parameters import ParameterError


class Further(NamedTuple):
    """An array that a rule keeps beside weights and bias.

    ``like`` is "weights" or "bias", whose shape it has; "square" for a matrix over all columns and
    the bias; or "numbers" for as many as there are in ``start``. Else ``start`` is what the array
    is filled with, or the diagonal of the matrix. Sums are needed for an average only; variances
    are never negative.
    """

    name: str
    like: str
    dtype: Any
    start: float | tuple[float, ...]
    is_sum: bool = False
    is_variance: bool = False

    def shape(self, weights: Array, bias: Array, sums: bool) -> tuple[int, ...]:
        """The shape that it must have; without sums to keep, theirs have no rows."""
        if isinstance(self.start, tuple):
            return (len(self.start),)
        if self.like == "square":
            return (len(weights) + 1, len(weights) + 1)
        whole: tuple[int, ...] = weights.shape if self.like == "weights" else bias.shape
        return (0, *whole[1:]) if self.is_sum and not sums else whole

    def begin(self, weights: Array, bias: Array, sums: bool) -> Array:
        """The array before the first row."""
        shape, dtype = self.shape(weights, bias, sums), self.dtype or weights.dtype
        if self.like == "square":
            return np.eye(shape[0], dtype=dtype) * self.start
        return np.full(shape, self.start, dtype)

    def widened(self, array: Array, weights: Array, bias: Array, sums: bool) -> Array:
        """The array with places for the columns that weights have by now."""
        wider = self.begin(weights, bias, sums)
        if self.like == "square":
            old = np.r_[: len(array) - 1, len(wider) - 1]  # the bias stays last
            wider[np.ix_(old, old)] = array
        else:
            wider[: len(array)] = array
        return wider


SUMS = (
    Further("missing", "weights", np.float64, 0.0, is_sum=True),
    Further("missing_bias", "bias", np.float64, 0.0, is_sum=True),
)
"""Where a kernel sums for the average what the log does not tell."""


@dataclass(frozen=True)
class UpdateRule:
    """How one row changes the weights.

    Attributes
    ----------
    name : str
        As in the model file.
    two, many : callable
        The kernels for two classes, and for more at once or None if each class is a problem of its
        own: ``kernel(examples, order, start, weights, bias, *further, settings, log)`` changes the
        state in place, writes every update with its step into the log, and returns how far it got,
        how many updates it made and their loss. It stops when the log is full, or at a row whose
        activation is not finite. One that keeps sums is told before the settings how rows are
        counted, by the ``Clock`` of kernels/linear.py.
    settings : callable
        Makes of the parameters what the kernels take; ``above`` and ``below`` say what an
        activation must exceed in a positive row, and stay under in a negative one, to be right.
        Rows that are right change nothing, unless the rule is demanding.
    further : tuple of Further
        The state that the rule keeps besides.
    additive : bool
        Whether an update only adds the logged step times the row (for two classes to the weights,
        for more to the label's column and negated to the rival's) and the step times the settings'
        ``intercept_step`` to the bias, so that averages and votes can be had from the log.
    local : bool
        Whether a row changes nothing in columns that it has no value in.
    demanding : bool
        Whether it learns from rows that are right, too, if it is not sure enough of them.
    scaled : bool
        Whether all weights and biases are to be multiplied by the first number of the array
        ``scale``; the two after it are T and n in kernels/first_order.py.
    """

    name: str
    two: Callable[..., tuple[int, int, float]]
    many: Callable[..., tuple[int, int, float]] | None
    settings: Callable[[Mapping[str, Any], float], Any]
    further: tuple[Further, ...] = ()
    additive: bool = True
    local: bool = True
    demanding: bool = False
    scaled: bool = False

    @property
    def family(self) -> str:
        """The name in the table of rules, which two forms of a rule share."""
        return self.name.removesuffix("-full")

    def problems(
        self, n_classes: int, multi_class: str, multilabel: bool = False
    ) -> list[int | None]:
        """The class that counts as positive in each problem; None for all classes at once."""
        if n_classes <= 2 and not multilabel:  # one until learn_one meets a second
            return [1]
        apart = multilabel or multi_class == "ovr" or self.many is None
        return list(range(n_classes)) if apart else [None]

    @property
    def sums(self) -> bool:
        """Whether the kernels sum for the average what the log does not tell."""
        return any(one.name == "missing" for one in self.further)

    @property
    def has_variances(self) -> bool:
        """Whether it knows how sure it is of each weight."""
        return any(one.is_variance for one in self.further)

    @property
    def from_anywhere(self) -> bool:
        """Whether weights are all that it needs to begin with."""
        return not self.scaled

    def scale(self, further: Mapping[str, Array]) -> float:
        """What the weights and biases are to be multiplied by."""
        return float(further["scale"][0]) if self.scaled else 1.0

    def check(self, solution: str) -> None:
        """Refuse a solution that reads the log of a rule whose updates are not in it."""
        if not self.additive and (solution == "vote" or (solution == "average" and not self.sums)):
            raise ParameterError(
                f"{{solution}} adds up updates, which those of {self.name} do not allow; use "
                '{solution="last"}.',
                solution=solution,
            )

    def __reduce__(self) -> tuple[Any, ...]:
        return rule_named, (self.name,)  # kernels do not travel: other processes have them

    def start(self, weights: Array, bias: Array, sums: bool) -> dict[str, Array]:
        """What the rule keeps besides weights and bias, before the first row."""
        return {one.name: one.begin(weights, bias, sums) for one in self.further}


def perceptron_settings(parameters: Mapping[str, Any], intercept_step: float) -> Settings:
    """When a row is right: thresholds that include zero or not, as ``ties`` says."""
    margin, ties = float(parameters["margin"]), parameters["ties"]
    above, below = margin, -margin
    if margin == 0 and ties in ("positive", "correct"):
        above = float(np.nextafter(0.0, -1.0))
    if margin == 0 and ties in ("negative", "correct"):
        below = float(np.nextafter(0.0, 1.0))
    return Settings(above, below, float(intercept_step))


def aggressive_settings(parameters: Mapping[str, Any], intercept_step: float) -> Any:
    """Of the passive-aggressive rule: margin 1, C, and which of the three losses."""
    losses = {"hard": HARD, "hinge": HINGE, "squared_hinge": SQUARED_HINGE}
    loss, C = losses[parameters["loss"]], float(parameters["C"])
    return AggressiveSettings(JUST_1, -JUST_1, float(intercept_step), C, loss)


def alma_settings(parameters: Mapping[str, Any], intercept_step: float) -> Any:
    """Of ALMA: α, and B and C as the paper's theorem has them unless they are given."""
    alpha = float(parameters["alpha"])
    B, C = parameters["B"], parameters["C"]
    B = math.sqrt(8.0) / alpha if B is None else float(B)
    C = math.sqrt(2.0) if C is None else float(C)
    return AlmaSettings(0.0, 0.0, float(intercept_step), alpha, B, C)


def romma_settings(parameters: Mapping[str, Any], intercept_step: float) -> Any:
    """Of ROMMA: right is above 0, or if aggressive from 1 on."""
    above = JUST_1 if parameters["aggressive"] else 0.0
    return RommaSettings(above, -above, float(intercept_step))


def second_order_settings(parameters: Mapping[str, Any], intercept_step: float) -> Any:
    """Of the second-order perceptron: a."""
    a = float(parameters["a"])
    return ConfidenceSettings(0.0, 0.0, float(intercept_step), a, 0.0, 1.0, False)


def arow_settings(parameters: Mapping[str, Any], intercept_step: float) -> Any:
    """Of AROW: r."""
    r = float(parameters["r"])
    return ConfidenceSettings(JUST_1, -JUST_1, float(intercept_step), r, 0.0, 1.0, False)


def scw_settings(parameters: Mapping[str, Any], intercept_step: float) -> Any:
    """Of SCW: φ, the quantile of the confidence, C, and whether the loss is squared."""
    phi, C = NormalDist().inv_cdf(float(parameters["confidence"])), float(parameters["C"])
    squared = parameters["variant"] == "II"
    return ConfidenceSettings(0.0, 0.0, float(intercept_step), 1.0, phi, C, squared)


JUST_1 = float(np.nextafter(1.0, 0.0))  # what a margin of 1 exceeds
VARIANCES = (
    Further("variances", "weights", np.float64, 1.0, is_variance=True),
    Further("variance_of_bias", "bias", np.float64, 1.0, is_variance=True),
    *SUMS,
)
SCALED = (Further("scale", "numbers", np.float64, (1.0, 0.0, 0.0, 0.0, 1.0)), *SUMS)
PERCEPTRON = UpdateRule("perceptron", linear.perceptron, linear.multiclass, perceptron_settings)
RULES = {
    rule.name: rule
    for rule in (
        PERCEPTRON,
        UpdateRule(
            "pa",
            first_order.passive_aggressive,
            first_order.passive_aggressive_many,
            aggressive_settings,
        ),
        UpdateRule(
            "alma",
            first_order.alma,
            first_order.alma_many,
            alma_settings,
            SCALED,
            additive=False,
            local=False,
            demanding=True,
            scaled=True,
        ),
        UpdateRule(
            "romma",
            first_order.romma,
            first_order.romma_many,
            romma_settings,
            SCALED,
            additive=False,
            local=False,
            scaled=True,
        ),
        UpdateRule(
            "second-order",
            second_order.second_order,
            second_order.second_order_many,
            second_order_settings,
            VARIANCES,
            additive=False,
        ),
        UpdateRule(
            "second-order-full",
            second_order.second_order_whole,
            None,
            second_order_settings,
            (Further("inverse", "square", np.float64, 1.0), *SUMS),
            additive=False,
            local=False,
        ),
        UpdateRule(
            "arow",
            second_order.arow,
            second_order.arow_many,
            arow_settings,
            VARIANCES,
            additive=False,
        ),
        UpdateRule(
            "scw",
            second_order.scw,
            second_order.scw_many,
            scw_settings,
            VARIANCES,
            additive=False,
            demanding=True,
        ),
    )
}


def rule_named(name: str) -> UpdateRule:
    """The rule of a name."""
    return RULES[name]


MOST_COLUMNS = 100  # whose whole matrix "auto" keeps


def rule_for(
    rule: UpdateRule, parameters: Mapping[str, Any], width: int, n_classes: int
) -> UpdateRule:
    """The form of a rule for some data: with all of a matrix, or its diagonal."""
    matrix, few = parameters.get("matrix"), width <= MOST_COLUMNS and n_classes == 2
    whole = matrix == "full" or (matrix == "auto" and few)
    return RULES["second-order-full"] if whole else rule
