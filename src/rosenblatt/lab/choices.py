"""One run's choices: a form, and the parameters of the estimator that makes it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..data.rows import Array
from ..estimators.kernel import KernelPerceptron
from ..estimators.network import PerceptronNetwork
from ..estimators.perceptron import Perceptron
from ..parameters import KERNEL, LINEAR, NETWORK, Parameter, check_ranges, choice, whole_number

MOST_EPOCHS = 1_000
MOST_UNITS = 40
LARGEST_START = 1e6
FORMS = {
    "bias": "with a bias",
    "origin": "through the origin",
    "lifted": "with a third feature",
    "kernel": "dual, with a kernel",
    "network": "network that grows",
}
DOCUMENTS: dict[str, dict[str, str]] = {  # docs/textbook.md has the whole table
    "000": {"form": "bias", "order": "each", "ties": "positive", "intercept_step": "1"},
    "001": {"form": "origin", "order": "first", "ties": "negative"},
    "002": {"form": "bias", "order": "fixed", "ties": "mistake", "intercept_step": "radius"},
    "003": {"form": "origin", "order": "fixed", "ties": "mistake"},
    "004": {"form": "bias", "order": "each", "ties": "mistake", "intercept_step": "1"},
}
DOCUMENT_WORDS = {
    "000": "lecture notes with the loss J (000)",
    "001": "threshold, first mistake (001)",
    "002": "primal form with R² (002)",
    "003": "through the origin (003)",
    "004": "PerceptronTrain, a new order each pass (004)",
}
HINTS = {
    "form": "Whether the line may pass anywhere, only through the origin, or be bent by a kernel.",
    "order": "In which order each epoch goes through the rows.",
    "solution": "Which weights predict: the last ones, their average, their vote, or the best.",
    "multi_class": "Whether three classes learn together, or each against the rest.",
    "ties": "What an activation of exactly 0 counts as.",
    "eta0": "A mistake adds η·y·x; from zero weights η only scales them.",
    "margin": "A row is a mistake until y·activation exceeds this.",
    "intercept_step": "By how much a mistake moves the bias b.",
    "kernel": "What takes the place of the dot product between two rows.",
    "gamma": "The larger, the closer a Gaussian kernel follows single points.",
    "degree": "The degree of the polynomial kernel.",
    "start": "Where learning starts; empty is zero. The handles on the plane set it, too.",
    "third": "What is added to x₁ and x₂, so that a plane in space bends the line.",
    "growth": "What a new unit of the network is for, and what it sees.",
    "unit": "How each unit of the network is trained.",
    "lift": "Whether units see points of the plane, or of a sphere, where their lines are circles.",
    "max_units": "The network stops to grow at so many units.",
    "max_iter": "The run stops after so many epochs, separated or not.",
    "random_state": "The same seed gives the same permutations.",
}
KERNELS = KERNEL["kernel"]
THIRDS: dict[str, Callable[[Array], Array]] = {  # of a point of the plane
    "product": lambda X: X[:, 0] * X[:, 1],
    "square": lambda X: X[:, 0] * X[:, 0] + X[:, 1] * X[:, 1],
}


def start_of(text: str) -> tuple[float, float, float] | None:
    """The weights and the bias that a text names; None for zeros, or if it names none."""
    try:
        w1, w2, b = (float(part) for part in text.split(","))
    except ValueError:
        return None
    return (w1, w2, b) if abs(w1) + abs(w2) + abs(b) <= LARGEST_START else None


TABLE: Mapping[str, Parameter] = {  # the estimators' own, but for what a page needs
    "form": choice("bias", *FORMS),
    **{name: LINEAR[name] for name in ("order", "solution", "ties", "eta0", "margin")},
    "multi_class": LINEAR["multi_class"],
    "intercept_step": choice("1", "1", "radius"),
    "kernel": choice(KERNELS.default, *(word for word in KERNELS.choices if word != "precomputed")),
    "gamma": replace(KERNEL["gamma"], default=1.0),
    "degree": replace(KERNEL["degree"], default=2),
    "start": Parameter(
        "",
        f"w₁,w₂,b, three numbers up to {LARGEST_START:,.0f}, or empty",
        lambda text: not text or start_of(text) is not None,
    ),
    "third": choice("product", *THIRDS),
    **{name: NETWORK[name] for name in ("growth", "unit", "lift")},
    "max_units": Parameter(
        20,
        f"1 to {MOST_UNITS} units",
        lambda value: whole_number(value) and value <= MOST_UNITS,
    ),
    "max_iter": replace(
        LINEAR["max_iter"],
        wanted=f"1 to {MOST_EPOCHS:,} epochs",
        accepts=lambda value: whole_number(value) and value <= MOST_EPOCHS,
    ),
    "random_state": Parameter(0, "a seed from 0 to 2³² − 1", lambda value: 0 <= value < 2**32),
}
DEFAULTS = {name: parameter.default for name, parameter in TABLE.items()}


@dataclass(frozen=True)
class Choices:
    """A value for every name in the table, in range; the estimator says what goes together."""

    values: Mapping[str, Any] = field(default_factory=lambda: DEFAULTS)

    def __post_init__(self) -> None:
        check_ranges(self.values, TABLE)

    def __getitem__(self, name: str) -> Any:
        return self.values[name]

    @property
    def straight(self) -> bool:
        """Whether the boundary is a line, in the dual form too, or a plane of three features."""
        return bool(
            self["form"] in ("bias", "origin", "lifted")
            or (self["form"] == "kernel" and self["kernel"] == "linear")
        )

    def rows(self, X: Array) -> Array:
        """Points of the plane as the estimator sees them."""
        if self["form"] != "lifted":
            return X
        return np.column_stack([X, THIRDS[self["third"]](X)])

    @property
    def start(self) -> tuple[Any, Any]:
        """``coef_init`` and ``intercept_init`` of ``fit``: a line to start from, or None twice."""
        found = start_of(self["start"]) if self["form"] in ("bias", "origin") else None
        if found is None:
            return None, None
        return [list(found[:2])], None if self["form"] == "origin" else [found[2]]

    def parameters(self) -> dict[str, Any]:
        """Of the estimator, those that differ from its defaults."""
        table = {"kernel": KERNEL, "network": NETWORK}.get(self["form"], LINEAR)
        unused = {"degree"} if self["kernel"] != "poly" else set()
        if self["form"] not in ("bias", "origin"):
            unused.add("multi_class")
        if self["form"] == "origin" or self["intercept_step"] == "1":
            unused.add("intercept_step")
        chosen = {"fit_intercept": self["form"] != "origin", **self.values}
        return {
            name: value
            for name, value in chosen.items()
            if name in table and name not in unused and value != table[name].default
        }

    def estimator_class(self) -> Any:
        """Perceptron, its dual form, or a network of them."""
        others: dict[str, Any] = {"kernel": KernelPerceptron, "network": PerceptronNetwork}
        return others.get(self["form"], Perceptron)

    def estimator(self, **changed: Any) -> Any:
        """What makes this run when it is fitted."""
        return self.estimator_class()(**{**self.parameters(), **changed})
