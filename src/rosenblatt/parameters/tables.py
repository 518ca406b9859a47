"""Parameters of all estimators and of training from files: default, range, help, tuning grid.

Constructors of estimators, options of the shell and the documentation derive from these tables or
are checked against them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any

SOLUTIONS = ("last", "average", "pocket")
ORDERS = ("each", "once", "fixed", "batch", "active", "first", "worst")
SIGN_OF_ZERO = {"mistake": 0.0, "positive": 1.0, "negative": -1.0, "correct": 0.0}
"""The sign that an activation of exactly 0 has in a vote, by ``ties``."""

Values = Mapping[str, Any]


def accept_anything(value: Any) -> bool:
    """Accept a value that is checked where it is used."""
    return True


@dataclass(frozen=True)
class Parameter:
    """One parameter.

    Attributes
    ----------
    default
        The value unless another one is given.
    wanted
        The range in words, as in "margin must be a number from 0 up".
    accepts
        Whether a value is in the range.
    choices
        The words that it may be, if it is one of some words.
    help
        The quantity with its range, in a phrase that begins a sentence.
    type
        What the shell parses.
    grid
        The values that ``--tune`` tries.
    default_text
        The default in words, if it is computed.
    """

    default: Any
    wanted: str = ""
    accepts: Callable[[Any], bool] = accept_anything
    choices: tuple[str, ...] = ()
    help: str = ""
    type: type = float
    grid: tuple[Any, ...] = ()
    default_text: str = ""


def without(table: Mapping[str, Parameter], *names: str) -> dict[str, Parameter]:
    """A table without some parameters."""
    return {name: parameter for name, parameter in table.items() if name not in names}


def positive_number(value: Any) -> bool:
    """Whether a value is a finite number above 0."""
    return value is not True and finite_number(value) and float(value) > 0


def finite_number(value: Any) -> bool:
    """Whether a value is a number that float64 can hold, neither NaN nor infinite."""
    try:
        return isinstance(value, Real) and abs(float(value)) < float("inf")
    except OverflowError:  # an integer such as 10**400
        return False


def whole_number(value: Any) -> bool:
    """Whether a value is an integer from 1 up."""
    return isinstance(value, Integral) and value is not True and int(value) >= 1


def from_0(value: Any) -> bool:
    """Whether a value is a finite number from 0 up."""
    return positive_number(value) or value == 0


RANGES: dict[str, Callable[[Any], bool]] = {
    "a finite number": finite_number,
    "a number above 0": positive_number,
    "a number from 0 up": from_0,
    "a number from 1 up": lambda value: positive_number(value) and value >= 1,
    "from 0 up and below 1": lambda value: from_0(value) and value < 1,
    "above 0 and at most 1": lambda value: positive_number(value) and value <= 1,
    "between 0.5 and 1": lambda value: positive_number(value) and 0.5 < value < 1,
    "a whole number from 1 up": whole_number,
    "a whole number from 0 up": lambda value: whole_number(value) or value == 0,
    "True or False": lambda value: value in (True, False),
}
"""The ranges of parameters in words."""


def number(
    default: float, wanted: str, help: str = "", grid: tuple[Any, ...] = (), type: type = float
) -> Parameter:
    """A number, or True or False, in one of the ranges."""
    return Parameter(default, wanted, RANGES[wanted], help=help, grid=grid, type=type)


def positive(default: float, help: str = "", grid: tuple[float, ...] = ()) -> Parameter:
    """A number above 0."""
    return number(default, "a number above 0", help, grid)


def non_negative(default: float, help: str = "", grid: tuple[float, ...] = ()) -> Parameter:
    """A number that is 0 or more."""
    return number(default, "a number from 0 up", help, grid)


def count(default: int, help: str = "") -> Parameter:
    """A whole number from 1 up."""
    return number(default, "a whole number from 1 up", help, type=int)


def count_from_0(help: str = "") -> Parameter:
    """A whole number from 0 up, by default 0."""
    return number(0, "a whole number from 0 up", help, type=int)


def flag(default: bool, help: str = "") -> Parameter:
    """True or False, or 1 or 0."""
    return number(default, "True or False", help, type=bool)


def choice(*choices: str, help: str = "") -> Parameter:
    """One of some words, by default the first."""
    wanted = f"one of {', '.join(map(repr, choices))}"
    return Parameter(
        choices[0],
        wanted,
        lambda value: isinstance(value, str) and value in choices,
        choices,
        help,
        str,
    )


def anything(default: Any, help: str = "") -> Parameter:
    """A value that is checked where it is used."""
    return Parameter(default, help=help, type=str)


def or_none(one: Parameter, default_text: str = "") -> Parameter:
    """A parameter that may also be None (the default), which stands for ``default_text``."""
    return replace(
        one,
        default=None,
        wanted=f"{one.wanted} or None",
        accepts=lambda value: value is None or one.accepts(value),
        default_text=default_text,
    )


MOST_BINS = 255


def is_range(value: Any) -> bool:
    """Whether a parameter is two whole numbers from 1 up, the least first, or is left out."""
    if value is None:
        return True
    two = isinstance(value, tuple | list) and len(value) == 2
    return two and all(map(whole_number, value)) and value[0] <= value[1]


def is_number_of_bins(value: Any) -> bool:
    """Whether a value is 0, for no bins, or a number of bins."""
    return value == 0 or (whole_number(value) and 2 <= value <= MOST_BINS)


def is_margin(value: Any) -> bool:
    """Whether a value is a margin, or a pair of them: of positive and of negative rows."""
    sides = value if isinstance(value, tuple | list) else (value, value)
    return len(sides) == 2 and all(map(from_0, sides))


def find_patience(values: Values) -> int:
    """The number of epochs without improvement after which early stopping ends a training."""
    stated = values.get("early_stopping", False)
    return 5 if stated is True or stated is False else int(stated)


EARLY_STOPPING = Parameter(
    False,
    "True, False or a whole number of epochs from 1 up",
    lambda value: value in (True, False) or whole_number(value),
    help="Epochs without a better metric to stop after (true: 5)",
    type=bool,
)
METRICS = ("error", "log-loss", "auc", "average-precision", "f1", "balanced")
METRIC = choice(
    *METRICS,
    help="Metric on held-out rows by which tuning and early stopping choose: error, log-loss, auc "
    "(ROC area), average-precision, f1 (mean of the classes), balanced (accuracy)",
)
RANK_METRIC = choice(
    "rank-error",
    *METRICS,
    help="Metric on held-out rows by which tuning and early stopping choose: rank-error (mean "
    "difference of ranks), or one for classes",
)
RANDOM_STATE = anything(None, "Seed of the random orders")
VERBOSE = anything(0, "Print every epoch")

SHARED = {
    "fit_intercept": flag(True, "Learn a bias"),
    "intercept_step": Parameter(
        1.0,
        'a number from 0 up or "radius"',
        lambda value: value in (0, "radius") or positive_number(value),
        help="Amount ≥ 0 by which an update moves the bias",
    ),
    "max_iter": count(100, "Largest number of epochs"),
    "class_weight": anything(None, "Weights of the classes"),
    "random_state": RANDOM_STATE,
    "verbose": VERBOSE,
}
MARGIN = non_negative(0.0, "Margin ≥ 0 that a row must exceed")
TIES = choice(*SIGN_OF_ZERO, help="What an activation of exactly 0 counts as")
ANY_RULE = SHARED | {
    "max_iter": count(10, "Largest number of epochs"),
    "solution": replace(
        choice(*SOLUTIONS, help="Weights that predict: last, average, pocket"),
        wanted="one of 'last', 'average', 'pocket' (KernelPerceptron(\"linear\") also votes)",
    ),
    "average_decay": number(0.0, "from 0 up and below 1", "Decay of the average per row"),
    "order": choice(*ORDERS, help="Order: each, once, fixed, batch, active, first, worst"),
    "multi_class": choice("argmax", "ovr", help="One problem for all classes, or one for each"),
    "measure": flag(False, "Measure the error of the weights after every epoch"),
    "early_stopping": EARLY_STOPPING,
    "metric": METRIC,
    "calibrate": Parameter(
        False,
        'True, False or "conformal"',
        lambda value: value in (True, False, "conformal"),
        help="Calibrate scores to probabilities by cross-fitting",
        type=bool,
    ),
    "warm_start": flag(False, "Start from the weights of the last fit"),
}
"""What the estimators of all rules for classes have; parameters/rules.py has the rules' own."""

ONE_COLUMN = {
    "solution": choice("last", "average", help="Weights that predict: last, average"),
    "order": choice("each", "once", "fixed", help="Order: each, once, fixed"),
}
"""The solutions and orders of rules with one column of weights for all labels."""
ANY_RANK_RULE = without(ANY_RULE, "multi_class") | ONE_COLUMN | {"metric": RANK_METRIC}
"""What the estimators of all rules for ranks have."""
ANY_NUMBER_RULE = without(ANY_RANK_RULE, "class_weight", "metric") | {
    "calibrate": Parameter(
        False,
        'False or "conformal"',
        lambda value: value in (False, "conformal"),
        help="Hold out rows, and keep their errors for prediction intervals",
        type=bool,
    )
}
"""What the estimators of all rules for numbers have."""
SHARED_BY_TARGET = {
    "classes": ANY_RULE,
    "numbers": ANY_NUMBER_RULE,
    "ranks": ANY_RANK_RULE,
}
"""What the estimators of all rules have, by what their labels are."""

CLUSTER: Mapping[str, Parameter] = {
    "mode": choice("mixing", "sequential", help="Whether partitions are learnt at once or in turn"),
    "mix": choice("uniform", "mistakes", "confidence", help="How weights are averaged"),
}
FILES: Mapping[str, Parameter] = {
    "intercept_step": replace(
        or_none(non_negative(0.0, "Amount ≥ 0 by which an update moves the bias")),
        wanted="a number from 0 up",
    ),
    "window": count_from_0("Shuffle a stream within this number of rows"),
    "holdout": number(
        0.0, "from 0 up and below 1", "Share of the rows, in [0, 1), to hold out and test on"
    ),
    "progress_every": count_from_0("Rows between reports of the error before learning"),
    "random_state": Parameter(
        0,
        "a whole number from 0 up and below 2^32",
        lambda value: value == 0 or (whole_number(value) and value < 2**32),
        help="Seed of the random orders",
        type=int,
    ),
}
"""Training from a file: the seed is a number, and the step of the bias depends on the rows."""

FEATURES: Mapping[str, Parameter] = {
    "ngrams": Parameter(
        None,
        "two whole numbers from 1 up, the least first",
        is_range,
        help="Words or characters per n-gram, N or N-M",
        default_text="1-2",
    ),
    "characters": flag(False, "Make n-grams of characters instead of words"),
    "counts": choice("binary", "raw", "sublinear", help="Weight: binary, raw or sublinear"),
    "tfidf": or_none(flag(True, "Give rare n-grams more weight"), "on if read twice"),
    "bits": or_none(
        Parameter(
            None,
            "1 to 31",
            lambda value: whole_number(value) and value <= 31,
            help="Hash features to 2^bits columns, 1 to 31",
        ),
        "18; text: 20",
    ),
    "cross": anything((), "Add products of two columns, A,B; repeatable"),
    "pairs": flag(False, "Add the product of every two features"),
    "bins": Parameter(
        0,
        f"0, or a whole number from 2 to {MOST_BINS}",
        is_number_of_bins,
        help=f"Add quantile bins of columns of numbers, 2 to {MOST_BINS}",
    ),
    "scale": choice("auto", "none", "standard", "maxabs", "robust", help="How to scale columns"),
    "first": Parameter(
        None,
        "0 or 1",
        lambda value: value in (None, 0, 1),
        help="Number of the first column in svmlight, 0 or 1",
        default_text="detected",
    ),
}
"""How features are made from a file."""

FOR_FILES: dict[str, Any] = {
    "solution": "average",
    "max_iter": 10,
    "intercept_step": None,
    "random_state": 0,
}
"""Defaults of training from a file where they differ from the textbook's."""

FOR_ONE_PASS: dict[str, Any] = {"rule": "arow", "solution": "last"}
"""Defaults for a single pass over a file (docs/measured.md gives the reasons)."""

FOR_TABLES: dict[str, Any] = {"rule": "pa", "loss": "squared_hinge", "C": None}
"""Defaults for several passes over rows without text; C depends on their size."""

FOR_TEXTS: dict[str, Any] = {"rule": "arow", "r": 1.0, "max_iter": 5, "solution": "last"}
"""Defaults for several passes over rows with text (docs/how-defaults-were-chosen.md)."""

FOR_LABEL_SETS: dict[str, Any] = {"rule": "arow", "r": 0.1, "max_iter": 3, "solution": "last"}
"""Defaults for texts with any number of labels (docs/how-defaults-were-chosen.md)."""

FOR_NUMBERS: dict[str, Any] = {
    "rule": "pa-regression",
    "loss": "epsilon_insensitive",
    "C": None,
    "epsilon": 0.0,
}
"""Defaults for numbers, scaled to deviation 1; C depends on the size of the rows."""

FOR_RANKS: dict[str, Any] = {"rule": "prank", "margin": 0.0}
"""Defaults for labels in a stated order (docs/numbers.md gives the reasons)."""

TEXTBOOK = {"solution": ("last", "pocket"), "order": ("active", "first", "worst")}
"""Values that state the textbook's perceptron where no rule is stated."""

ONLINE_SETTINGS: tuple[tuple[str, Values], ...] = (
    ("arow", {}),
    ("pa", {}),
    *(
        ("adagrad", {"alpha": alpha, "decay": decay})
        for alpha, decay in ((0.1, 0.0), (0.3, 0.001), (1.0, 0.001), (3.0, 0.01))
    ),
    ("shifting", {}),
)
"""Rules and parameters that a stream is tuned by where no rule is stated."""

ONLINE_NUMBER_SETTINGS: tuple[tuple[str, Values], ...] = (
    *(("adaline", {"eta0": eta0}) for eta0 in (0.03, 0.003, 0.01, 0.1, 0.3)),
    ("pa-regression", {}),
    ("pa-regression", {"loss": "squared_epsilon_insensitive"}),
)
"""The same for numbers; the steps of both rules do not depend on the size of the rows."""


def defaults(table: Mapping[str, Parameter]) -> dict[str, Any]:
    """The default of every parameter of a table."""
    return {name: parameter.default for name, parameter in table.items()}
