"""The parameters of kernel perceptrons; standard library only."""

from collections.abc import Mapping

from ..parameters import tables as table
from ..parameters.conflicts import CONFLICTS as CONFLICTS_OF_ALL, Conflict

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
    *CONFLICTS_OF_ALL,
    Conflict(
        "kernel-rows",
        "fit",
        lambda p: (p["budget"] is not None) + bool(p["normalize"]) + (p["solution"] == "vote") > 1,
        'normalize has no effect on solution="vote", and a budget keeps too few of the mistaken '
        "rows for both; use one of the three.",
    ),
)
