"""The parameters of kernel perceptrons; standard library only."""

from collections.abc import Mapping

from ..parameters.conflicts import Conflict, check_ranges, refuse_conflicts, refuse_values
from ..parameters.tables import (
    MARGIN,
    SHARED,
    TIES,
    Parameter,
    Values,
    choice,
    count,
    flag,
    number,
    or_none,
    positive,
    positive_number,
)

KERNELS = choice("rbf", "linear", "poly", "sigmoid", "precomputed")
PARAMETERS: Mapping[str, Parameter] = SHARED | {
    "margin": MARGIN,
    "ties": TIES,
    "kernel": Parameter(
        "rbf",
        KERNELS.wanted,
        lambda value: callable(value) or KERNELS.accepts(value),
        KERNELS.choices,
        "Kernel function",
        str,
    ),
    "degree": positive(3, "Degree > 0 of the polynomial kernel"),
    "gamma": Parameter(
        "scale",
        'a number above 0, "scale", "auto" or None',
        lambda value: value in (None, "scale", "auto") or positive_number(value),
        help="Factor > 0 of the kernel's products or distances",
    ),
    "coef0": number(1.0, "a finite number", "Constant of the polynomial and sigmoid kernel"),
    "solution": choice("last", "average", "vote", help="Weights to predict with"),
    "normalize": flag(False, "Divide scores by the length of the weights"),
    "order": choice("each", "once", "fixed", help="Order of the rows in an epoch"),
    "multi_class": choice("ovr", "argmax", help="One problem for each class, or one for all"),
    "budget": or_none(count(1, "Largest number of support rows")),
    "cache_size": Parameter(
        200, "a number of megabytes above 0", positive_number, help="Megabytes for kernel values"
    ),
    "device": Parameter(
        None,
        '"cpu", "cuda" or None',
        lambda value: value in (None, "cpu", "cuda"),
        help="Where kernel values are computed",
        type=str,
    ),
}
CONFLICTS = (
    Conflict(
        "normalize-vote",
        "fit",
        lambda p: bool(p["normalize"]) and p["solution"] == "vote",
        'normalize has no effect on votes; use solution="average" or "last".',
    ),
    Conflict(
        "budget-rows",
        "fit",
        lambda p: p["budget"] is not None and (p["solution"] == "vote" or bool(p["normalize"])),
        "Votes and normalize need all mistaken rows, which a budget does not keep; use "
        'solution="last" or "average", without normalize.',
    ),
    Conflict(
        "batch-kernel",
        "batch",
        lambda p: p["kernel"] == "precomputed",
        "kernel='precomputed' needs all the data, and partial_fit sees only a batch; use another "
        "value, or leave it out.",
    ),
)


def check_parameters(values: Values, *where: str) -> None:
    """Refuse parameters that are out of range or do not go together."""
    check_ranges(values, PARAMETERS)
    refuse_conflicts(CONFLICTS, values, *where)
    for place in where:
        refuse_values(values, place)
