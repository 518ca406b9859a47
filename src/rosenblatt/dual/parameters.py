"""The parameters of kernel perceptrons; standard library only."""

from collections.abc import Mapping

from ..parameters import tables as table
from ..parameters.conflicts import Conflict, check_ranges, refuse_conflicts, refuse_values

KERNELS = table.choice("rbf", "linear", "poly", "sigmoid", "precomputed")
PARAMETERS: Mapping[str, table.Parameter] = table.SHARED | {
    "margin": table.MARGIN,
    "ties": table.TIES,
    "kernel": table.Parameter(
        "rbf",
        KERNELS.wanted,
        lambda value: callable(value) or KERNELS.accepts(value),
        KERNELS.choices,
        "Kernel function",
        str,
    ),
    "degree": table.positive(3, "Degree > 0 of the polynomial kernel"),
    "gamma": table.Parameter(
        "scale",
        'a number above 0, "scale", "auto" or None',
        lambda value: value in (None, "scale", "auto") or table.positive_number(value),
        help="Factor > 0 of the kernel's products or distances",
    ),
    "coef0": table.number(1.0, "a finite number", "Constant of the polynomial and sigmoid kernel"),
    "solution": table.choice("last", "average", "vote", help="Weights to predict with"),
    "normalize": table.flag(False, "Divide scores by the length of the weights"),
    "order": table.choice("each", "once", "fixed", help="Order of the rows in an epoch"),
    "multi_class": table.choice("ovr", "argmax", help="One problem for each class, or one for all"),
    "budget": table.or_none(table.count(1, "Largest number of support rows")),
    "cache_size": table.positive(200, "Megabytes > 0 for kernel values"),
    "device": table.or_none(table.choice("cpu", "cuda", help="Where kernel values are computed")),
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


def check_parameters(values: table.Values, *where: str) -> None:
    """Refuse parameters that are out of range or do not go together."""
    check_ranges(values, PARAMETERS)
    refuse_conflicts(CONFLICTS, values, *where)
    for place in where:
        refuse_values(values, place)
