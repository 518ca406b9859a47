"""Parameters of all estimators and of training from files: default, range, help, tuning grid.

Constructors of estimators, options of the shell and the documentation derive from these tables or
are checked against them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any

SOLUTIONS = ("last", "average", "pocket")
IN_ROWS = ("each", "once", "fixed", "active", "first", "worst")
"""The orders of rules that learn from one row at a time."""
ORDERS = (*IN_ROWS, "batch")
SIGN_OF_ZERO = {"mistake": 0.0, "positive": 1.0, "negative": -1.0, "correct": 0.0}
"""The sign that an activation of exactly 0 has in a vote, by ``ties``."""

Values = Mapping[str, Any]


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
    accepts: Callable[[Any], bool] = lambda value: True
    choices: tuple[str, ...] = ()
    help: str = ""
    type: type = float
    grid: tuple[Any, ...] = ()
    default_text: str = ""


def finite_number(value: Any) -> bool:
    """Whether a value is a number that float64 can hold, neither NaN nor infinite."""
    try:
        return isinstance(value, Real) and abs(float(value)) < float("inf")
    except OverflowError:  # an integer such as 10**400
        return False


def positive_number(value: Any) -> bool:
    """Whether a value is a finite number above 0."""
    return value is not True and finite_number(value) and float(value) > 0


def from_0(value: Any) -> bool:
    """Whether a value is a finite number from 0 up."""
    return positive_number(value) or value == 0


def whole(least: int, most: float = float("inf")) -> Callable[[Any], bool]:
    """Return a function that tells whether a value is an integer in a range; True is none."""
    return lambda value: (
        isinstance(value, Integral) and value is not True and least <= int(value) <= most
    )


def pair(accepts: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """Return a function that tells whether a value is a list or tuple of two accepted values."""
    return lambda value: (
        isinstance(value, tuple | list) and len(value) == 2 and all(map(accepts, value))
    )


RANGES: dict[str, Callable[[Any], bool]] = {
    "a finite number": finite_number,
    "a number above 0": positive_number,
    "a number from 0 up": from_0,
    "a number from 1 up": lambda value: positive_number(value) and value >= 1,
    "from 0 up and below 1": lambda value: from_0(value) and value < 1,
    "above 0 and at most 1": lambda value: positive_number(value) and value <= 1,
    "between 0.5 and 1": lambda value: positive_number(value) and 0.5 < value < 1,
    "a whole number from 1 up": whole(1),
    "a whole number from 0 up": whole(0),
    "a whole number from 0 up and below 2^32": whole(0, 2**32 - 1),
    "1 to 31": whole(1, 31),
    "0 or 1": lambda value: value in (0, 1),
    "two whole numbers from 1 up, the least first": lambda value: (
        pair(whole(1))(value) and value[0] <= value[1]
    ),
    'a number from 0 up or "radius"': lambda value: value == "radius" or from_0(value),
    "True or False": lambda value: value in (True, False),
    'True, False or "conformal"': lambda value: value in (True, False, "conformal"),
    'False or "conformal"': lambda value: value in (False, "conformal"),
}
"""The ranges of parameters in words."""


def number(
    default: float | None,
    wanted: str,
    help: str = "",
    grid: tuple[Any, ...] = (),
    type: type = float,
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
    return Parameter(
        default=choices[0],
        wanted=f"one of {', '.join(map(repr, choices))}",
        accepts=lambda value: isinstance(value, str) and value in choices,
        choices=choices,
        help=help,
        type=str,
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


def is_number_of_bins(value: Any) -> bool:
    """Whether a value is 0, for no bins, or a number of bins."""
    return value == 0 or whole(2, MOST_BINS)(value)


def find_patience(values: Values) -> int:
    """The number of epochs without improvement after which early stopping ends a training."""
    stated = values.get("early_stopping", False)
    return 5 if stated is True or stated is False else int(stated)


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


def drop(table: Mapping[str, Parameter], *names: str) -> dict[str, Parameter]:
    """A table without some parameters."""
    return {name: parameter for name, parameter in table.items() if name not in names}


SHARED = {
    "fit_intercept": flag(True, "Learn a bias"),
    "intercept_step": number(
        1.0, 'a number from 0 up or "radius"', "Amount ≥ 0 by which an update moves the bias"
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
    "order": choice(*IN_ROWS, help="Order: each, once, fixed, active, first, worst"),
    "multi_class": choice("argmax", "ovr", help="One problem for all classes, or one for each"),
    "measure": flag(False, "Measure the error of the weights after every epoch"),
    "tol": or_none(non_negative(0.0, "Stop after 5 epochs without a loss per row less by this")),
    "early_stopping": Parameter(
        False,
        "True, False or a whole number of epochs from 1 up",
        lambda value: value in (True, False) or whole(1)(value),
        help="Epochs without a better metric to stop after (true: 5)",
        type=bool,
    ),
    "metric": METRIC,
    "calibrate": number(
        False,
        'True, False or "conformal"',
        "Calibrate scores to probabilities by cross-fitting",
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
ANY_RANK_RULE = drop(ANY_RULE, "multi_class") | ONE_COLUMN | {"metric": RANK_METRIC}
"""What the estimators of all rules for ranks have."""
ANY_NUMBER_RULE = drop(ANY_RANK_RULE, "class_weight", "metric") | {
    "calibrate": number(
        False,
        'False or "conformal"',
        "Hold out rows, and keep their errors for prediction intervals",
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
    "random_state": number(
        0, "a whole number from 0 up and below 2^32", "Seed of the random orders", type=int
    ),
}
"""Training from a file: the seed is a number, and the step of the bias depends on the rows."""

FEATURES: Mapping[str, Parameter] = {
    "ngrams": or_none(
        number(
            None,
            "two whole numbers from 1 up, the least first",
            "Words or characters per n-gram, N or N-M",
        ),
        "1-2",
    ),
    "characters": flag(False, "Make n-grams of characters instead of words"),
    "counts": choice("binary", "raw", "sublinear", help="Weight: binary, raw or sublinear"),
    "tfidf": or_none(flag(True, "Give rare n-grams more weight"), "on if read twice"),
    "bits": or_none(
        number(None, "1 to 31", "Hash features to 2^bits columns, 1 to 31"), "18; text: 20"
    ),
    "pairs": flag(False, "Add the product of every two features"),
    "bins": Parameter(
        0,
        f"0, or a whole number from 2 to {MOST_BINS}",
        is_number_of_bins,
        help=f"Add quantile bins of columns of numbers, 2 to {MOST_BINS}",
    ),
    "scale": choice("auto", "none", "standard", "maxabs", help="How to scale columns"),
    "first": or_none(
        number(None, "0 or 1", "Number of the first column in svmlight, 0 or 1"), "detected"
    ),
}
"""How features are made from a file."""


def defaults(table: Mapping[str, Parameter]) -> dict[str, Any]:
    """The default of every parameter of a table."""
    return {name: parameter.default for name, parameter in table.items()}
