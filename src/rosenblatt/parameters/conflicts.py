"""Combinations of parameters that are refused, with the reason and an alternative."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from .errors import ParameterError
from .tables import Parameter, Values


class Conflict(NamedTuple):
    """Parameters that do not go together: a code, where, when, and the message.

    ``where`` is "fit" for all training, "batch" for partial_fit, "stream" for files that are not
    kept in memory, "problems" for several problems in one pass, "cluster", or "steps". A parameter
    in braces stands for its value in the message.
    """

    code: str
    where: str
    when: Callable[[Values], bool]
    why: str


def has_value(name: str, some: tuple[Any, ...], values: Values) -> bool:
    """Whether a parameter has one of some values, or without these any but the default."""
    value = values.get(name)
    return value in some if some else bool(value)


def refuse_values(place: str, reason: str, **refused: tuple[Any, ...]) -> list[Conflict]:
    """The conflicts of a place of training with values of parameters, by name."""
    return [
        Conflict(
            f"{place}-{name.replace('_', '-')}",
            place,
            partial(has_value, name, some),
            f"{name}={{{name}!r}} {reason}; use another value, or leave it out.",
        )
        for name, some in refused.items()
    ]


BOTH, LAST = ("last", "average"), ("last",)
IN_ORDER = {"batch": BOTH, "active": BOTH, "first": LAST, "worst": LAST}
"""The solutions of orders that do not read all rows one after the other in every epoch."""

CONFLICTS: tuple[Conflict, ...] = (
    Conflict(
        "order-solution",
        "fit",
        lambda p: p.get("order") in IN_ORDER and p["solution"] not in IN_ORDER[p["order"]],
        "solution needs every row in every epoch, and order takes all at once or leaves some out; "
        'use order="each", "once" or "fixed".',
    ),
    Conflict(
        "order-tol",
        "fit",
        lambda p: p.get("tol") is not None and p["order"] in ("active", "first", "worst"),
        "tol compares epochs that go through every row once, and order={order!r} chooses rows; "
        "leave one out.",
    ),
    Conflict(
        "ranks-without-bias",
        "fit",
        lambda p: "ranks" in p and (not p["fit_intercept"] or p["intercept_step"] == 0),
        "The thresholds between ranks are biases, which have to move; leave fit_intercept and "
        "intercept_step out.",
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
    *refuse_values(
        "batch",
        "needs all the data, and partial_fit sees only a batch",
        solution=("pocket",),
        order=tuple(IN_ORDER),
        intercept_step=("radius",),
        early_stopping=(),
        kernel=("precomputed",),
    ),
    *refuse_values("stream", "needs the rows in memory", solution=("pocket",), measure=()),
    *refuse_values(
        "cluster",
        "cannot be used on a cluster",
        solution=("pocket",),
        order=tuple(IN_ORDER),
        calibrate=(),
        early_stopping=(),
        holdout=(),
        warm_start=(),
        progress_every=(),
        window=(),
    ),
    *refuse_values(
        "steps",
        "would hold rows out, and steps reads all of them",
        early_stopping=(),
        calibrate=(),
    ),
)


def check_parameters(
    values: Values,
    table: Mapping[str, Parameter],
    *where: str,
    conflicts: Sequence[Conflict] = CONFLICTS,
) -> None:
    """Refuse parameters that are out of range or do not go together.

    Parameters
    ----------
    values
        The parameters by name.
    table
        The range of each.
    *where
        Their uses besides training: places of conflicts.
    conflicts
        The combinations to refuse; always the same for a table.
    """
    plain = tuple(values.values())
    kinds = tuple(map(type, plain))  # 1 and True are equal, and not the same
    known = (where, tuple(values), plain, kinds) if PLAIN.issuperset(kinds) else None
    if known is not None and ACCEPTED.get(known) is table:
        return
    check_ranges(values, table)
    for conflict in conflicts:
        if conflict.where in ("fit", *where) and conflict.when(values):
            raise ParameterError(conflict.why.format_map(values), code=conflict.code)
    if known is not None:
        if len(ACCEPTED) >= MOST_ACCEPTED:
            ACCEPTED.clear()
        ACCEPTED[known] = table


PLAIN = frozenset({bool, int, float, str, type(None)})
ACCEPTED: dict[Any, Mapping[str, Parameter]] = {}
"""Parameters that were accepted, with the table of their ranges: a check takes half as long as a
fit of a few rows."""
MOST_ACCEPTED = 1000


def check_ranges(values: Values, table: Mapping[str, Parameter]) -> None:
    """Refuse parameters that are out of range."""
    for name, parameter in table.items():
        value = values[name]
        try:
            accepted = bool(parameter.accepts(value))
        except (TypeError, ValueError, ArithmeticError):  # an array, or a Decimal that is NaN
            accepted = False
        if not accepted:
            shown = repr(value)
            shown = shown if len(shown) <= 60 else f"{shown[:57]}..."
            raise ParameterError(
                f"{name} must be {parameter.wanted}; got {shown}.", code="out-of-range"
            )


def describe_sides(values: Values) -> str:
    """The parameter that is about positive and negative rows, with its value; "" if none is."""
    margin, ties = values.get("margin"), values.get("ties")
    if isinstance(margin, tuple | list):
        return f"margin={margin}"
    return f"ties={ties!r}" if ties in ("positive", "negative") else ""


def check_signs(values: Values, n_classes: int, one_vs_rest: bool) -> None:
    """Refuse parameters about positive or negative rows if there are several classes at once."""
    if n_classes > 2 and not one_vs_rest and (stated := describe_sides(values)):
        raise ParameterError(
            f"{stated} is about positive and negative rows, but {n_classes} classes at once have "
            'none; leave it out, or use multi_class="ovr".',
            code="sides-of-many",
        )
