"""The parameters of kernel perceptrons; standard library only."""

from collections.abc import Mapping

from ..parameters import tables as table
from ..parameters.conflicts import CONFLICTS as CONFLICTS_OF_ALL, Conflict

PARAMETERS: Mapping[str, table.Parameter] = table.SHARED | {
    "margin": table.MARGIN,
    "ties": table.TIES,
    "kernel": table.choice(
        "rbf", "linear", "poly", "sigmoid", "precomputed", help="Kernel function"
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
    "order": table.choice("each", "once", "fixed", help="Order of the rows in an epoch"),
    "multi_class": table.choice("ovr", "argmax", help="One problem for each class, or one for all"),
    "budget": table.or_none(table.count(1, "Largest number of support rows")),
    "device": table.or_none(table.choice("cpu", "cuda", help="Where kernel values are computed")),
}
CONFLICTS = (
    *CONFLICTS_OF_ALL,
    Conflict(
        "kernel-rows",
        "fit",
        lambda p: p["budget"] is not None and p["solution"] == "vote",
        'A budget keeps too few of the mistaken rows for solution="vote"; leave one out.',
    ),
)
