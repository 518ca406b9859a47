"""Combinations of parameters that are refused, with the reason and an alternative."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from .errors import ParameterError
from .tables import Parameter, Values


class Conflict(NamedTuple):
    """Parameters that do not go together: a code, where, when, and the message.

    ``where`` is "fit" for all training, "batch" for partial_fit, "stream" for files that are not
    kept in memory, "problems" for several problems in one pass, "cluster", or "steps".
    """

    code: str
    where: str
    when: Callable[[Values], bool]
    why: str


IN_ORDER = {
    "batch": ("last", "average"),
    "active": ("last", "average"),
    "first": ("last",),
    "worst": ("last",),
}
"""The solutions of orders that do not read all rows one after the other in every epoch."""

CONFLICTS: tuple[Conflict, ...] = (
    Conflict(
        "order-solution",
        "fit",
        lambda p: p["solution"] not in IN_ORDER.get(p["order"], (p["solution"],)),
        "solution needs every row in every epoch, and order takes all at once or leaves some out; "
        'use order="each", "once" or "fixed".',
    ),
    Conflict(
        "ranks-without-bias",
        "fit",
        lambda p: "ranks" in p and (not p["fit_intercept"] or p["intercept_step"] == 0),
        "The thresholds between ranks are biases, which have to move; leave fit_intercept and "
        "intercept_step out.",
    ),
    Conflict(
        "decay-without-average",
        "fit",
        lambda p: (
            p.get("average_decay", 0) > 0 and (p["solution"] != "average" or p["order"] == "batch")
        ),
        'average_decay is for averages row by row; use solution="average" and another order than '
        '"batch", or leave it out.',
    ),
    Conflict(
        "rows-in-order",
        "stream",
        lambda p: p["window"] > 0 and p["progress_every"] > 0,
        "progress_every reads the rows in their order, which window changes; leave one out.",
    ),
    Conflict(
        "stream-order",
        "stream",
        lambda p: p["order"] not in (("each", "once") if p["window"] else ("fixed",)),
        'A stream is read in its order, with order="fixed", or shuffled within some rows, with '
        'window and order="each" or "once"; leave the order out.',
    ),
    Conflict(
        "sequential-order",
        "cluster",
        lambda p: p["mode"] == "sequential" and p["order"] != "fixed",
        'mode="sequential" reads the rows in their order; use order="fixed".',
    ),
    Conflict(
        "mixing-decay",
        "cluster",
        lambda p: p.get("average_decay", 0) > 0 and p["mode"] == "mixing",
        "average_decay needs an order of all rows, and mixing reads partitions at once; use "
        'mode="sequential".',
    ),
    Conflict(
        "labels-progress",
        "problems",
        lambda p: p["progress_every"] > 0,
        "progress_every is for one problem, and there is one for each label; leave it out.",
    ),
    Conflict(
        "conformal-progress",
        "problems",
        lambda p: p.get("calibrate") == "conformal" and not p["holdout"],
        'calibrate="conformal" needs held-out rows where there is a problem for each class, and '
        "this source can be read only once; write it to a file first.",
    ),
)

ANY = ()  # every value but the default
CHOOSING = ("batch", "active", "first", "worst")
REFUSED: dict[str, tuple[str, dict[str, tuple[Any, ...]]]] = {
    "batch": (
        "needs all the data, and partial_fit sees only a batch",
        {
            "solution": ("pocket",),
            "order": CHOOSING,
            "intercept_step": ("radius",),
            "early_stopping": ANY,
        },
    ),
    "stream": ("needs the rows in memory", {"solution": ("pocket",)}),
    "cluster": (
        "cannot be used on a cluster",
        {
            "solution": ("pocket",),
            "order": CHOOSING,
            "calibrate": ANY,
            "early_stopping": ANY,
            "warm_start": ANY,
            "progress_every": ANY,
            "window": ANY,
            "holdout": ANY,
        },
    ),
    "steps": (
        "would hold rows out, and steps reads all of them",
        {"early_stopping": ANY, "calibrate": ANY},
    ),
}
"""By place of training, a reason, and the values of parameters that it refuses."""


def check_parameters(values: Values, table: Mapping[str, Parameter], *where: str) -> None:
    """Refuse parameters that are out of range or do not go together.

    Parameters
    ----------
    values
        The parameters by name.
    table
        The range of each.
    *where
        Their uses besides training: places of conflicts.
    """
    plain = tuple(values.values())
    kinds = tuple(map(type, plain))  # 1 and True are equal, and not the same
    known = (where, tuple(values), plain, kinds) if PLAIN.issuperset(kinds) else None
    if known is not None and ACCEPTED.get(known) is table:
        return
    check_ranges(values, table)
    refuse_conflicts(CONFLICTS, values, *where)
    for place in where:
        refuse_values(values, place)
    if known is not None:
        if len(ACCEPTED) >= MOST_ACCEPTED:
            ACCEPTED.clear()
        ACCEPTED[known] = table


def refuse_conflicts(conflicts: Iterable[Conflict], values: Values, *where: str) -> None:
    """Refuse parameters that do not go together."""
    for conflict in conflicts:
        if conflict.where in ("fit", *where) and conflict.when(values):
            raise ParameterError(conflict.why, code=conflict.code)


PLAIN = frozenset({bool, int, float, str, type(None)})
ACCEPTED: dict[Any, Mapping[str, Parameter]] = {}
"""Parameters that were accepted, with the table of their ranges: a check takes half as long as a
fit of a few rows."""
MOST_ACCEPTED = 1000


def refuse_values(values: Values, place: str) -> None:
    """Refuse the values of parameters that a place of training does not take."""
    reason, refused = REFUSED.get(place, ("", {}))
    for name, some in refused.items():
        value = values.get(name)
        if (value in some) if some else bool(value):
            raise ParameterError(
                f"{name}={value!r} {reason}; use another value, or leave it out.",
                code=f"{place}-{name.replace('_', '-')}",
            )


def check_ranges(values: Values, table: Mapping[str, Parameter]) -> None:
    """Refuse parameters that are out of range."""
    for name, parameter in table.items():
        value = values[name]
        if not is_accepted(value, parameter):
            shown = repr(value)
            shown = shown if len(shown) <= 60 else f"{shown[:57]}..."
            raise ParameterError(
                f"{name} must be {parameter.wanted}; got {shown}.", code="out-of-range"
            )


def is_accepted(value: Any, parameter: Parameter) -> bool:
    """Whether a parameter accepts a value; a value that cannot be compared is refused."""
    try:
        return bool(parameter.accepts(value))
    except (TypeError, ValueError, ArithmeticError):  # an array, or a Decimal that is not a number
        return False


def describe_sides(values: Values) -> str:
    """The parameter that is about positive and negative rows, with its value; "" if none is."""
    margin, ties = values.get("margin"), values.get("ties")
    if isinstance(margin, tuple | list):
        return f"margin={margin}"
    return f"ties={ties!r}" if ties in ("positive", "negative") else ""


def check_signs(values: Values, n_classes: int, one_vs_rest: bool) -> None:
    """Refuse parameters about positive or negative rows if there are several classes at once."""
    stated = describe_sides(values)
    if stated and n_classes > 2 and not one_vs_rest:
        raise ParameterError(
            f"{stated} is about positive and negative rows, and {n_classes} classes at once have "
            'none; leave it out, or use multi_class="ovr".',
            code="sides-of-many",
        )
