"""Update rules by name: the class of a rule's settings says what it does (kernels/loop.py)."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..data.rows import Array
from ..kernels import (
    confidence,
    gradients,
    least_squares,
    passive_aggressive,
    perceptron,
    ranks,
    scaled,
    second_order,
)
from ..parameters import RULE_TABLE, ParameterError, import_rule, refuse_rule
from .labels import LABELS, ClassLabels


@dataclass(frozen=True)
class UpdateRule:
    """An update rule: how one row changes the weights.

    Attributes
    ----------
    name : str
        As in the model file.
    kind : type
        A NamedTuple of settings, with its functions ``is_right`` and ``update``. ``kind.of`` makes
        it of the parameters and the step of the bias; its field ``above`` says what a margin must
        exceed in a row that is right. ``kind.keeps`` are the arrays that it keeps besides weights
        and biases, and what they begin with.
    target : str
        What its labels are: "classes", "numbers" or "ranks".
    together : bool
        Whether it can learn several classes at once; else each is a problem of its own.
    """

    name: str
    kind: Any
    target: str = "classes"
    together: bool = True

    @cached_property
    def labels(self) -> ClassLabels:
        """What its labels decide."""
        return LABELS[self.target]

    @cached_property
    def keeps(self) -> tuple[tuple[str, Any], ...]:
        """The names of the arrays of the state that it keeps, and what they begin with."""
        return getattr(self.kind, "keeps", ())

    @cached_property
    def demanding(self) -> bool:
        """Whether it learns from rows that are right, too, if it is not sure enough of them."""
        return getattr(self.kind, "demanding", False)

    @cached_property
    def is_scaled(self) -> bool:
        """Whether all weights are to be multiplied by a number, which the state keeps."""
        return any(name == "scale" for name, _ in self.keeps)

    @property
    def has_variances(self) -> bool:
        """Whether it keeps a variance of each weight."""
        return ("S", 1.0) in self.keeps

    @property
    def can_mix(self) -> bool:
        """Whether its models can be averaged: it keeps no more than weights and variances."""
        return self.has_variances or not self.keeps

    @property
    def from_anywhere(self) -> bool:
        """Whether weights are all that it needs to begin with."""
        return self.labels.any_start and not {"scale", "z"} & dict(self.keeps).keys()

    def problems(
        self, n_classes: int, multi_class: str, multilabel: bool = False
    ) -> list[int | None]:
        """The class that counts as positive in each problem; None for all labels at once."""
        if not self.labels.per_class:
            return [None]
        if n_classes <= 2 and not multilabel:  # one until learn_one meets a second
            return [1]
        one_by_one = multilabel or multi_class == "ovr" or not self.together
        return list(range(n_classes)) if one_by_one else [None]

    def n_outputs(self, n_classes: int, problems: list[int | None]) -> int | None:
        """The number of columns of weights of a problem, or None for one."""
        return n_classes if self.labels.per_class and problems == [None] else None

    def check(self, order: str) -> None:
        """Refuse an order that only the perceptron has."""
        if order == "batch" and self.name != "perceptron":
            raise ParameterError(
                f"order={order!r} adds up the mistakes of a pass, and {self.name} takes them one "
                'by one; use order="each", or the perceptron.',
                code="order-of-rule",
            )

    def settings(self, parameters: Mapping[str, Any], bias: float) -> Any:
        """What the kernel takes, made of parameters and the step of the bias."""
        return self.kind.of(parameters, bias)

    def __reduce__(self) -> tuple[Any, ...]:
        return get_rule, (self.name,)  # other processes have the functions


class Rules(dict[str, UpdateRule]):
    """Rules by name; those of other packages are found when named."""

    def __missing__(self, name: str) -> UpdateRule:
        import_rule(name)
        return self[name] if name in self else refuse_rule(name)


KINDS = {
    "perceptron": perceptron.Perceptron,
    "pa": passive_aggressive.PassiveAggressive,
    "alma": scaled.ALMA,
    "romma": scaled.ROMMA,
    "shifting": scaled.Shifting,
    "second-order": second_order.SecondOrder,
    "arow": confidence.AROW,
    "scw": confidence.SCW,
    "nherd": confidence.NHERD,
    "cw": confidence.CW,
    "ftrl": gradients.FTRL,
    "adagrad": gradients.AdaGrad,
    "pa-regression": passive_aggressive.PassiveAggressive,
    "adaline": least_squares.Adaline,
    "prank": ranks.PRank,
}
"""The classes of settings."""
RULES = Rules(
    {
        name: UpdateRule(name, kind, RULE_TABLE[name].target, name not in ("ftrl", "adagrad"))
        for name, kind in KINDS.items()
    }
)
PERCEPTRON = RULES["perceptron"]


def get_rule(name: str) -> UpdateRule:
    """The rule with a name."""
    return RULES[name]


def begin_arrays(rule: UpdateRule, weights: Array, bias: Array) -> dict[str, Array]:
    """The arrays that a rule keeps besides weights and biases, before the first row."""
    arrays = {}
    for name, start in rule.keeps:
        if isinstance(start, tuple):
            arrays[name] = np.array(start)
        else:
            arrays[name] = np.full(weights.shape, start)
            arrays[f"{name}b"] = np.full(bias.shape, start)
    return arrays
