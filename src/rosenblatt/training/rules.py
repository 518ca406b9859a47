"""Update rules by name, and what their labels decide.

The class of a rule's settings says what it does (kernels/loop.py).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..data.results import count
from ..data.rows import Array
from ..data.targets import ClassTarget, NumberTarget, RankTarget, score_ranks
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
from ..kernels.targets import Numbers, Ranks, SeveralClasses, TwoClasses
from ..parameters import RULE_TABLE, import_rule, refuse_rule
from .state import DeclaredArray

if TYPE_CHECKING:
    from .training import Epoch


TWO_CLASSES = TwoClasses()


class ClassLabels:
    """Labels are classes.

    Attributes
    ----------
    target
        The class of their encoding.
    per_class
        Whether each class may have its own weights.
    has_thresholds
        Whether one column of weights has several biases.
    any_start
        Whether training may start from any weights and biases.
    code_type
        The type in which kernels take codes.
    metric
        The only metric of early stopping, if there is no choice.
    """

    target: Any = ClassTarget
    per_class = any_start = True
    has_thresholds = False
    code_type: Any = np.uint32
    metric: str | None = None

    def add_bias(self, activations: Array, bias: Array) -> Array:
        """Scores from products with the weights."""
        return np.asarray(activations + bias)

    def kernel(self, codes: Any, outputs: int, dtype: Any, parameters: Mapping[str, Any]) -> Any:
        """What labels are, as kernels take it; ``codes`` is None for two classes."""
        return TWO_CLASSES if codes is None else SeveralClasses(np.empty(outputs, dtype))

    def clean_reason(self, weights: Array) -> str:
        """Why training ends after an epoch without updates; where ties are right, 0 makes none."""
        return "separated" if weights.any() else "zero_weights"

    def describe_counts(self, epoch: "Epoch", rows: int) -> str:
        """The mistakes of an epoch over some rows."""
        errors, updates = epoch.errors, epoch.mistakes
        line = f"{errors:10,d} mistake{' ' if errors == 1 else 's'}  {errors / rows:7.2%}"
        return line if updates == errors else f"{line}  {count(updates, 'update')}"


class RankLabels(ClassLabels):
    """Labels are ranks, which thresholds divide."""

    target = RankTarget
    per_class = any_start = False
    has_thresholds = True

    def add_bias(self, activations: Array, bias: Array) -> Array:
        return score_ranks(activations, bias)

    def kernel(self, codes: Any, outputs: int, dtype: Any, parameters: Mapping[str, Any]) -> Any:
        return Ranks()


class NumberLabels(ClassLabels):
    """Labels are numbers."""

    target = NumberTarget
    per_class = False
    code_type = np.float64
    metric = "r2"

    def kernel(self, codes: Any, outputs: int, dtype: Any, parameters: Mapping[str, Any]) -> Any:
        return Numbers(float(parameters.get("epsilon", 0.0)))

    def clean_reason(self, weights: Array) -> str:
        return "within_epsilon"

    def describe_counts(self, epoch: "Epoch", rows: int) -> str:
        ending = " " if epoch.mistakes == 1 else "s"
        return f"{epoch.mistakes:10,d} update{ending}  mean loss {epoch.loss / rows:.4g}"


LABELS = {"classes": ClassLabels(), "numbers": NumberLabels(), "ranks": RankLabels()}
"""By the names of what rules learn."""


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
        Whether it can learn several classes at once; else each is one problem.
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
    def arrays(self) -> dict[str, DeclaredArray]:
        """The arrays of the state that it keeps besides weights and biases, by name."""
        found = {}
        for name, start in getattr(self.kind, "keeps", ()):
            one = DeclaredArray(dtype=np.float64, start=start, signed=name != "S", prefix="kept.")
            if isinstance(start, tuple):
                found[name] = one
            else:
                found[name] = replace(one, shape=("weights",))
                found[f"{name}b"] = replace(one, shape=("bias",))
        return found

    @cached_property
    def is_scaled(self) -> bool:
        """Whether all weights are to be multiplied by a number, which the state keeps."""
        return "scale" in self.arrays

    @property
    def has_variances(self) -> bool:
        """Whether it keeps a variance of each weight."""
        return "S" in self.arrays and self.arrays["S"].start == 1

    @property
    def can_mix(self) -> bool:
        """Whether its models can be averaged: it keeps no more than weights and variances."""
        return self.has_variances or not self.arrays

    @property
    def from_anywhere(self) -> bool:
        """Whether weights are all that it needs to begin with."""
        return self.labels.any_start and not {"scale", "z"} & self.arrays.keys()

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

    def shapes(
        self, n_classes: int, problems: list[int | None]
    ) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The shapes of the weights of a column, and of the biases, of one problem."""
        if self.labels.per_class and problems == [None]:
            return (n_classes,), (n_classes,)
        return (), (n_classes - 1 if self.labels.has_thresholds else 1,)

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
    shapes: Any = {("weights",): weights.shape, ("bias",): bias.shape, (): None}
    return {
        name: np.full(shapes[one.shape] or np.shape(one.start), one.start, np.float64)
        for name, one in rule.arrays.items()
    }
