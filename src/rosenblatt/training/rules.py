"""Update rules: what a row does to the weights, as kernels with their state and settings."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..kernels import linear
from ..kernels.linear import Settings
from ..parameters import ParameterError
from ..rows import Array


class Further(NamedTuple):
    """An array that a rule keeps beside weights and bias.

    ``like`` is "weights" or "bias", whose shape it has; ``start`` is what it is filled with.
    """

    name: str
    like: str
    dtype: Any
    start: float


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
        activation is not finite.
    settings : callable
        Makes of the parameters what the kernels take; ``above`` and ``below`` say what an
        activation must exceed in a positive row, and stay under in a negative one, to be right.
        Rows that are right change nothing.
    further : tuple of Further
        The state that the rule keeps besides.
    additive : bool
        Whether an update only adds the logged step times the row (for two classes to the weights,
        for more to the label's column and negated to the rival's) and the step times the settings'
        ``intercept_step`` to the bias, so that averages and votes can be had from the log.
    local : bool
        Whether a row changes nothing in columns that it has no value in.
    """

    name: str
    two: Callable[..., tuple[int, int, float]]
    many: Callable[..., tuple[int, int, float]] | None
    settings: Callable[[Mapping[str, Any], float], Any]
    further: tuple[Further, ...] = ()
    additive: bool = True
    local: bool = True

    def problems(self, n_classes: int, multi_class: str) -> list[int | None]:
        """The class that counts as positive in each problem; None for all classes at once."""
        if n_classes == 2:
            return [1]
        return list(range(n_classes)) if multi_class == "ovr" or self.many is None else [None]

    def check(self, solution: str) -> None:
        """Refuse a solution that reads the log of a rule whose updates are not in it."""
        if solution in ("average", "vote") and not self.additive:
            raise ParameterError(
                f"{{solution}} adds up updates, which those of {self.name} do not allow; use "
                '{solution="last"}.',
                solution=solution,
            )

    def __reduce__(self) -> tuple[Any, ...]:
        return rule_named, (self.name,)  # kernels do not travel: other processes have them

    def start(self, weights: Array, bias: Array) -> dict[str, Array]:
        """What the rule keeps besides weights and bias, before the first row."""
        shapes = {"weights": weights.shape, "bias": bias.shape}
        return {
            one.name: np.full(shapes[one.like], one.start, one.dtype or weights.dtype)
            for one in self.further
        }


def perceptron_settings(parameters: Mapping[str, Any], intercept_step: float) -> Settings:
    """When a row is right: thresholds that include zero or not, as ``ties`` says."""
    margin, ties = float(parameters["margin"]), parameters["ties"]
    above, below = margin, -margin
    if margin == 0 and ties in ("positive", "correct"):
        above = float(np.nextafter(0.0, -1.0))
    if margin == 0 and ties in ("negative", "correct"):
        below = float(np.nextafter(0.0, 1.0))
    return Settings(above, below, float(intercept_step))


PERCEPTRON = UpdateRule("perceptron", linear.perceptron, linear.multiclass, perceptron_settings)


def rule_named(name: str) -> UpdateRule:
    """The rule of a name."""
    return RULES[name]


RULES = {rule.name: rule for rule in (PERCEPTRON,)}
