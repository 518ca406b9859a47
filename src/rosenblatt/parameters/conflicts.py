"""Combinations of parameters that are refused, with the reason and an alternative."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from .errors import ParameterError
from .tables import Parameter, Values


class Conflict(NamedTuple):
    """Parameters that do not go together: a code, where, when, and the message.

    ``where`` is "fit" for all training, "batch" for partial_fit, "stream" for files that are not
    kept in memory, "pieces" for streams of sentences and partial_fit of them, "cache" for rows from
    the cache, "problems" for several problems in one pass, "cluster", or "steps".
    """

    code: str
    where: str
    when: Callable[[Values], bool]
    why: str


def tolerates(values: Values) -> bool:
    """Whether rows that cause many updates are tolerated."""
    return bool(values.get("slack")) or values.get("max_row_updates") is not None


def needs_all_rows(name: str, when: Callable[[Values], bool], instead: str) -> Conflict:
    """A conflict of a parameter with partial_fit, and what to use instead."""
    why = f"{{{name}}} needs all the data, and partial_fit sees only a batch; use {instead}."
    return Conflict(f"batch-{name.replace('_', '-')}", "batch", when, why)


def not_on_cluster(code: str, name: str) -> Conflict:
    """A conflict of an option with training on a cluster."""
    why = f"{{{name}?}} cannot be used with {{cluster?}}; leave one out."
    return Conflict(code, "cluster", lambda p: bool(p.get(name)), why)


def not_cached(code: str, name: str) -> Conflict:
    """A conflict of an option of streams with rows that are kept in a cache."""
    why = f"{{{name}?}} is for streams, and {{cache?}} keeps the rows; leave one out."
    return Conflict(code, "cache", lambda p: bool(p[name]), why)


CONFLICTS: tuple[Conflict, ...] = (
    Conflict(
        "batch-vote",
        "fit",
        lambda p: p["order"] == "batch" and p["solution"] in ("vote", "pocket"),
        "{solution} counts the rows that weights get right one after the other, and {order} takes "
        'all at once; use {solution="average"} or "last".',
    ),
    Conflict(
        "batch-decay",
        "fit",
        lambda p: p["order"] == "batch" and p.get("average_decay", 0) > 0,
        "{average_decay} forgets row by row, and {order} takes all rows at once; leave one out.",
    ),
    Conflict(
        "batch-tolerance",
        "fit",
        lambda p: p["order"] == "batch" and tolerates(p),
        "{slack?} and {max_row_updates?} count the updates of each row, and {order} makes one of "
        'all rows; use {order="each"}.',
    ),
    Conflict(
        "positive-tolerance",
        "fit",
        lambda p: p.get("positive", False) is not False and tolerates(p),
        "{positive?} cannot be used with {slack?} or {max_row_updates?}; leave one out.",
    ),
    Conflict(
        "order-average",
        "fit",
        lambda p: p["order"] in ("first", "worst") and p["solution"] in ("average", "vote"),
        "{solution} counts the rows that weights survive, and {order} reads only some rows; "
        'use {order="each"}, "once" or "fixed".',
    ),
    Conflict(
        "order-pocket",
        "fit",
        lambda p: p["order"] in ("active", "first", "worst") and p["solution"] == "pocket",
        "{solution} needs runs over all rows, and {order} reads only some rows; "
        'use {order="each"}, "once" or "fixed".',
    ),
    Conflict(
        "ranks-without-bias",
        "fit",
        lambda p: "ranks" in p and (not p["fit_intercept"] or p["intercept_step"] == 0),
        "The thresholds between ranks are biases, which have to move; leave {fit_intercept?} and "
        "{intercept_step?} out.",
    ),
    Conflict(
        "decay-without-average",
        "fit",
        lambda p: p.get("average_decay", 0) > 0 and p["solution"] != "average",
        '{average_decay} is for averages; use {solution="average"}, or leave it out.',
    ),
    needs_all_rows("solution", lambda p: p["solution"] == "pocket", '{solution="average"}'),
    needs_all_rows(
        "order",
        lambda p: p["order"] in ("replacement", "batch", "active", "first", "worst"),
        '{order="fixed"} (partial_fit always takes the rows as they come)',
    ),
    needs_all_rows(
        "intercept_step", lambda p: p.get("intercept_step") == "radius", "the number R² itself"
    ),
    needs_all_rows("early_stopping", lambda p: bool(p.get("early_stopping")), "fit"),
    needs_all_rows("kernel", lambda p: p.get("kernel") == "precomputed", "the kernel itself"),
    Conflict(
        "normalize-vote",
        "fit",
        lambda p: bool(p.get("normalize")) and p["solution"] == "vote",
        '{normalize} has no effect on votes; use {solution="average"} or "last".',
    ),
    Conflict(
        "budget-vote",
        "fit",
        lambda p: p.get("budget") is not None and p["solution"] == "vote",
        "{solution} needs all mistaken rows, which a budget does not keep; use "
        '{solution="last"} or "average".',
    ),
    Conflict(
        "budget-normalize",
        "fit",
        lambda p: p.get("budget") is not None and bool(p["normalize"]),
        "{normalize} needs all mistaken rows, which a budget does not keep; leave it out.",
    ),
    Conflict(
        "budget-average",
        "fit",
        lambda p: (
            p.get("budget") is not None
            and p["solution"] == "average"
            and p["budget_policy"] in ("forgetron", "random")
        ),
        "The average needs the rows that {budget_policy} discards; use "
        '{solution="last"} or {budget_policy="projectron"}.',
    ),
    Conflict(
        "pa-without-margin",
        "fit",
        lambda p: "markov" in p and p["rule"] == "pa" and not p["margin"],
        "{rule} makes steps up to the margin, and with {margin} there are none; use {margin=1}.",
    ),
    Conflict(
        "pieces-early-stopping",
        "pieces",
        lambda p: bool(p["early_stopping"]),
        "{early_stopping} needs all sentences in memory; leave it out.",
    ),
    Conflict(
        "pieces-order",
        "pieces",
        lambda p: p["order"] == "active",
        '{order} needs all sentences in memory; use {order="each"} or "fixed".',
    ),
    Conflict(
        "progress-window",
        "stream",
        lambda p: p["progress_every"] > 0 and p["window"] > 0,
        "{progress_every?} reads the rows in their order, which {window?} changes; leave one out.",
    ),
    not_cached("progress-cache", "progress_every"),
    Conflict(
        "labels-budget",
        "fit",
        lambda p: p.get("labels_budget", 0) > 0 and p["class_weight"] == "balanced",
        "{labels_budget?} asks for few labels, and balanced classes need all; leave one out.",
    ),
    Conflict(
        "labels-budget-stream",
        "stream",
        lambda p: p.get("labels_budget", 0) > 0,
        "{labels_budget?} needs all rows in memory, and these are learnt as a stream.",
    ),
    not_on_cluster("labels-budget-cluster", "labels_budget"),
    not_on_cluster("progress-cluster", "progress_every"),
    Conflict(
        "online-window",
        "stream",
        lambda p: p["online"] and p["window"] > 0,
        "{online?} reads the rows in their order, which {window?} changes; leave one out.",
    ),
    Conflict(
        "online-epochs",
        "stream",
        lambda p: p["online"] and p["max_iter"] > 1,
        "{online?} makes one pass; use {max_iter=1}, or leave it out.",
    ),
    Conflict(
        "online-early-stopping",
        "stream",
        lambda p: p["online"] and bool(p["early_stopping"]),
        "{online?} makes one pass, and {early_stopping} needs several; leave one out.",
    ),
    not_cached("online-cache", "online"),
    not_on_cluster("online-cluster", "online"),
    Conflict(
        "window-order",
        "stream",
        lambda p: p["window"] > 0 and p["order"] not in ("each", "once"),
        "{window} shuffles, which {order} does not; leave one out.",
    ),
    Conflict(
        "stream-order",
        "stream",
        lambda p: not p["window"] and p["order"] != "fixed",
        "{order} needs the rows in memory; use {window?} to shuffle within some rows, {cache?}, or "
        '{order="fixed"}.',
    ),
    Conflict(
        "stream-solution",
        "stream",
        lambda p: p["solution"] not in ("last", "average"),
        '{solution} needs the rows in memory; use {solution="average"}, or {cache?}.',
    ),
    Conflict(
        "stream-tolerance",
        "stream",
        lambda p: p["max_iter"] > 1 and tolerates(p),
        "{slack?} and {max_row_updates?} count the updates of each row, which needs the rows in "
        "memory; use {cache?}, or leave both out.",
    ),
    not_cached("window-cache", "window"),
    Conflict(
        "cluster-solution",
        "cluster",
        lambda p: p["solution"] in ("vote", "pocket"),
        '{solution} needs all rows in one place; use {solution="average"}.',
    ),
    Conflict(
        "cluster-tolerance",
        "cluster",
        tolerates,
        "{slack?} and {max_row_updates?} count the updates of each row, which a cluster does not; "
        "leave both out.",
    ),
    Conflict(
        "cluster-order",
        "cluster",
        lambda p: p["order"] in ("replacement", "batch", "active", "first", "worst"),
        '{order} chooses among all rows; use {order="each"}, "once" or "fixed".',
    ),
    Conflict(
        "sequential-order",
        "cluster",
        lambda p: p["mode"] == "sequential" and p["order"] != "fixed",
        '{mode} reads the rows in their order; use {order="fixed"}.',
    ),
    Conflict(
        "mixing-decay",
        "cluster",
        lambda p: p.get("average_decay", 0) > 0 and p["mode"] == "mixing",
        "{average_decay} needs an order of all rows, and {mode} reads partitions at once; use "
        '{mode="sequential"}.',
    ),
    Conflict(
        "cluster-calibrate",
        "cluster",
        lambda p: bool(p.get("calibrate")),
        "{calibrate} cannot be used on a cluster; leave it out.",
    ),
    Conflict(
        "cluster-metric",
        "cluster",
        lambda p: p.get("metric", "error") != "error",
        "{metric} cannot be used on a cluster, where partitions count errors; leave it out.",
    ),
    Conflict(
        "cluster-warm-start",
        "cluster",
        lambda p: bool(p["warm_start"]),
        "{warm_start} cannot be used on a cluster; use {checkpoint?} and {resume?}.",
    ),
    not_on_cluster("cluster-window", "window"),
    not_on_cluster("cluster-holdout", "holdout"),
    Conflict(
        "labels-progress",
        "problems",
        lambda p: p["progress_every"] > 0,
        "{progress_every?} is for one problem, and there is one for each label; leave it out.",
    ),
    Conflict(
        "conformal-progress",
        "problems",
        lambda p: p.get("calibrate") == "conformal" and not p["holdout"],
        "{calibrate} needs held-out rows where there is a problem for each class, and this source "
        "can be read only once; write it to a file first.",
    ),
    Conflict(
        "steps-early-stopping",
        "steps",
        lambda p: bool(p["early_stopping"]),
        "steps reads all rows, and {early_stopping} would hold some out; leave it out.",
    ),
    Conflict(
        "steps-calibrate",
        "steps",
        lambda p: bool(p.get("calibrate")),
        "steps reads all rows, and {calibrate} would hold some out; leave it out.",
    ),
)


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
    for conflict in CONFLICTS:
        if conflict.where in ("fit", *where) and conflict.when(values):
            raise ParameterError(conflict.why, code=conflict.code, **values)
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
        if not is_accepted(value, parameter):
            shown = repr(value)
            shown = shown if len(shown) <= 60 else f"{shown[:57]}..."
            raise ParameterError(
                f"{{{name}?}} must be {parameter.wanted}; got {shown}.",
                code="out-of-range",
                **{name: value},
            )


def is_accepted(value: Any, parameter: Parameter) -> bool:
    """Whether a parameter accepts a value; a value that cannot be compared is refused."""
    try:
        return bool(parameter.accepts(value))
    except (TypeError, ValueError, ArithmeticError):  # an array, or a Decimal that is not a number
        return False


def check_signs(values: Values, n_classes: int, one_vs_rest: bool) -> None:
    """Refuse parameters about positive or negative rows if there are several classes at once."""
    if n_classes <= 2 or one_vs_rest:
        return
    if values.get("negative_margin") is not None:
        raise ParameterError(
            f"{{negative_margin?}} is the margin of negative rows, and {n_classes} classes at once "
            'have none; use {multi_class="ovr"}.',
            code="negative-margin-of-many",
        )
    ties = values.get("ties", "mistake")
    if ties in ("positive", "negative"):
        raise ParameterError(
            f"{{ties}} has no meaning for {n_classes} classes at once; "
            'use {ties="mistake"} or "correct", or {multi_class="ovr"}.',
            code="ties-of-many",
            ties=ties,
        )
