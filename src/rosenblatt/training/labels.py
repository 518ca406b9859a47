"""What labels are decides about weights, biases and codes, why training ends, and what is said."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..data.results import count
from ..data.rows import Array
from ..data.targets import ClassTarget, NumberTarget, RankTarget, score_ranks
from ..kernels.targets import Numbers, Ranks, SeveralClasses, TwoClasses
from .history import Epoch

TWO_CLASSES = TwoClasses()


class ClassLabels:
    """Labels are classes.

    Attributes
    ----------
    target
        The class of their encoding.
    per_class
        Whether each class may have weights of its own.
    any_start
        Whether training may start from any weights and biases.
    code_type
        The type in which kernels take codes.
    metric
        The only metric of early stopping, if there is no choice.
    """

    target: Any = ClassTarget
    per_class = any_start = True
    code_type: Any = np.uint32
    metric: str | None = None

    def n_biases(self, n_classes: int) -> int:
        """The number of biases of one column of weights."""
        return 1

    def add_bias(self, activations: Array, bias: Array) -> Array:
        """Scores from products with the weights."""
        return np.asarray(activations + bias)

    def kernel(self, codes: Any, outputs: int, dtype: Any, parameters: Mapping[str, Any]) -> Any:
        """What labels are, as kernels take it; ``codes`` is None for two classes."""
        return TWO_CLASSES if codes is None else SeveralClasses(np.empty(outputs, dtype))

    def clean_reason(self, weights: Array) -> str:
        """Why training ends after an epoch without updates; where ties are right, 0 makes none."""
        return "separated" if weights.any() else "zero_weights"

    def describe_counts(self, epoch: Epoch, rows: int) -> str:
        """The mistakes of an epoch over some rows."""
        errors, updates = epoch.errors, epoch.mistakes
        line = f"{errors:10,d} mistake{' ' if errors == 1 else 's'}  {errors / rows:7.2%}"
        return line if updates == errors else f"{line}  {count(updates, 'update')}"


class RankLabels(ClassLabels):
    """Labels are ranks, which thresholds divide."""

    target = RankTarget
    per_class = any_start = False

    def n_biases(self, n_classes: int) -> int:
        return n_classes - 1

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

    def describe_counts(self, epoch: Epoch, rows: int) -> str:
        ending = " " if epoch.mistakes == 1 else "s"
        return f"{epoch.mistakes:10,d} update{ending}  mean loss {epoch.loss / rows:.4g}"


LABELS = {"classes": ClassLabels(), "numbers": NumberLabels(), "ranks": RankLabels()}
"""By the names of what rules learn."""
