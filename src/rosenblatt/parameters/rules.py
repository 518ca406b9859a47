"""The table of update rules: estimator, own parameters with range and help, tuning grid.

The model registry, ``--rule`` and its options, the grids of ``--tune`` and the lazy names of the
package derive from it.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any, NoReturn

from . import tables as table
from .errors import ParameterError, suggest_name


class RuleEntry:
    """One update rule.

    Attributes
    ----------
    estimator
        The name of its class.
    own
        The parameters that it has besides those of all rules; each is an option of the shell, and
        ``--tune`` tries their grids.
    tuned
        Whether ``--tune`` tries the rule when none is stated.
    target
        What its labels are: "classes", "numbers" or "ranks".
    form_of
        The rule for classes that it is the form of; its name stands for this one.
    """

    def __init__(
        self,
        estimator: str,
        tuned: bool = True,
        target: str = "classes",
        form_of: str = "",
        **own: table.Parameter,
    ) -> None:
        self.estimator, self.own = estimator, own
        self.tuned, self.target, self.form_of = tuned, target, form_of

    @property
    def shared(self) -> Mapping[str, table.Parameter]:
        """The parameters that all rules for the same target have."""
        return table.SHARED_BY_TARGET[self.target]

    @cached_property
    def parameters(self) -> Mapping[str, table.Parameter]:
        """All parameters of the class by name."""
        return {**self.shared, **self.own}

    @property
    def grid(self) -> dict[str, tuple[Any, ...]]:
        """The values that ``--tune`` tries, by parameter."""
        return {name: each.grid for name, each in self.own.items() if each.grid}


def are_ranks(value: Any) -> bool:
    """Whether a value is None, or a sequence of two or more different labels."""
    if value is None:
        return True
    labels = value.tolist() if hasattr(value, "tolist") else value  # an array
    return type(labels) in (list, tuple) and len(labels) > 1 and len(set(labels)) == len(labels)


CONFIDENCE = table.number(0.75, "between 0.5 and 1", "Probability in (0.5, 1) of being right")
ENTRIES = {
    "perceptron": RuleEntry(
        "Perceptron",
        margin=table.Parameter(
            0.0,
            "a number from 0 up, or two: of positive and of negative rows",
            lambda value: table.from_0(value) or table.pair(table.from_0)(value),
            help="Margin ≥ 0 to exceed, or POSITIVE,NEGATIVE",
            grid=(0.0, 0.25, 1.0),  # times the rows' mean square
        ),
        ties=table.TIES,
        eta0=table.positive(1.0, "Size > 0 of an update"),
        max_iter=table.SHARED["max_iter"],
        order=table.choice(*table.ORDERS, help="Order of the rows, or all at once: batch"),
    ),
    "pa": RuleEntry(
        "PassiveAggressive",
        C=table.positive(1.0, "Largest step C > 0", (0.01, 0.1, 1.0)),
        loss=table.choice("hinge", "squared_hinge", "hard", help="PA-I, PA-II, hard"),
    ),
    "alma": RuleEntry(
        "ALMA",
        alpha=table.number(
            0.9, "above 0 and at most 1", "Margin found ≥ (1 − alpha) × largest", (0.5, 0.9)
        ),
        B=table.or_none(table.positive(1.0, "Factor B > 0 of the margin to reach"), "√8 / alpha"),
        C=table.or_none(table.positive(1.0, "Factor C > 0 of the steps"), "√2"),
    ),
    "romma": RuleEntry(
        "ROMMA",
        tuned=False,
        aggressive=table.flag(True, "Also update on rows with a margin below 1"),
    ),
    "shifting": RuleEntry(
        "ShiftingPerceptron",
        tuned=False,
        lam=table.number(
            2.0, "a number from 1 up", "Larger: older mistakes count less", (1.0, 2.0, 5.0)
        ),
    ),
    "second-order": RuleEntry(
        "SecondOrderPerceptron",
        tuned=False,
        a=table.positive(1.0, "Regularization > 0; larger: smaller updates", (0.1, 1.0, 10.0)),
    ),
    "arow": RuleEntry(
        "AROW",
        r=table.positive(1.0, "Regularization > 0; larger: smaller updates", (0.1, 1.0, 10.0)),
    ),
    "scw": RuleEntry(
        "SCW",
        C=table.positive(1.0, "Largest step C > 0", (0.1, 1.0)),
        confidence=CONFIDENCE,
        variant=table.choice("I", "II", help="I (linear loss) or II (squared loss)"),
    ),
    "nherd": RuleEntry(
        "NHERD",
        tuned=False,
        C=table.positive(1.0, "Aggressiveness C > 0; larger: larger updates", (0.1, 1.0)),
    ),
    "cw": RuleEntry(
        "CW",
        tuned=False,
        confidence=replace(CONFIDENCE, grid=(0.55, 0.75, 0.95)),
    ),
    "ftrl": RuleEntry(
        "FTRL",
        tuned=False,
        alpha=table.positive(0.1, "Learning rate alpha > 0 of a column", (0.03, 0.1, 1.0)),
        beta=table.positive(1.0, "Offset > 0; larger: smaller updates"),
        l1=table.non_negative(0.0, "L1 regularization ≥ 0; larger: more weights of 0"),
        l2=table.non_negative(0.0, "L2 regularization ≥ 0; larger: smaller weights"),
    ),
    "adagrad": RuleEntry(
        "AdaGrad",
        tuned=False,
        alpha=table.positive(0.3, "Learning rate alpha > 0 of a column", (0.1, 0.3, 1.0)),
        beta=table.positive(0.1, "Offset > 0; larger: smaller updates"),
        decay=table.number(0.001, "from 0 up and below 1", "Decay per row of the sums"),
    ),
    "pa-regression": RuleEntry(
        "PassiveAggressiveRegressor",
        target="numbers",
        form_of="pa",
        C=table.positive(1.0, "Largest step C > 0", (0.001, 0.01, 0.1)),
        loss=table.choice(
            *("epsilon_insensitive", "squared_epsilon_insensitive", "hard"),
            help="PA-I, PA-II, hard",
        ),
        epsilon=table.non_negative(0.1, "Error ≥ 0 that causes no update"),
    ),
    "adaline": RuleEntry(
        "Adaline",
        target="numbers",
        eta0=table.positive(0.1, "Learning rate eta0 > 0", (0.01, 0.1)),
        normalized=table.flag(True, "Divide steps by the squared length of rows"),
    ),
    "prank": RuleEntry(
        "PRank",
        target="ranks",
        margin=replace(table.MARGIN, grid=(0.0, 0.3, 1.0)),  # times the rows' mean square
        ranks=table.Parameter(
            None,
            "a list of two or more different labels, the lowest first, or None",
            are_ranks,
            help="Labels in their order, the lowest first",
        ),
    ),
}


class RuleTable(dict[str, RuleEntry]):
    """Entries by the names of update rules; rules of other packages are found when named."""

    def __missing__(self, rule: str) -> RuleEntry:
        import_rule(rule)
        return self[rule] if rule in self else refuse_rule(rule)


def find_declared_rules() -> dict[str, Any]:
    """The entry points of the rules that installed packages declare, by name; imports none.

    Looking them up takes 0.1 s: do so when a rule is not known, or for help.
    """
    from importlib.metadata import entry_points

    return {each.name: each for each in entry_points(group="rosenblatt.rules")}


def import_rule(name: str) -> None:
    """Import the package that declares a rule, or the rule that ``name`` is a form of, if any."""
    for rule, declared in find_declared_rules().items():
        if f"{name}-".startswith(f"{rule}-"):
            try:
                declared.load()
            except Exception as error:  # of a module of another package
                reason = str(error).rstrip(".") or type(error).__name__
                raise ImportError(
                    f"The rule {rule} cannot be imported from {declared.value}: {reason}."
                ) from error


def refuse_rule(name: str) -> NoReturn:
    """Raise ParameterError with the names of all rules."""
    known = dict.fromkeys([*RULE_TABLE, *find_declared_rules()])
    raise ParameterError(
        f"rule={name!r} is not known.{suggest_name(name, known)} The rules are {', '.join(known)}. "
        "Install the package of any other rule, or register it (rosenblatt.register_rule).",
        code="unknown-rule",
    )


RULE_TABLE = RuleTable()
"""By the name of an update rule."""
RULE_NAMES: dict[str, str] = {}
"""The name of the rule by the class that learns by it."""
RULES_BY_TARGET: dict[str, dict[str, RuleEntry]] = {target: {} for target in table.SHARED_BY_TARGET}
CLASS_RULES, NUMBER_RULES, RANK_RULES = RULES_BY_TARGET.values()


def add_entry(rule: str, entry: RuleEntry) -> None:
    """Add an update rule to the tables."""
    RULE_TABLE[rule] = entry
    RULE_NAMES[entry.estimator] = rule
    RULES_BY_TARGET[entry.target][rule] = entry


for _rule, _entry in ENTRIES.items():
    add_entry(_rule, _entry)
LINEAR = RULE_TABLE["perceptron"].parameters


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

TEXTBOOK = {"solution": ("last", "pocket"), "order": ("batch", "active", "first", "worst")}
"""Values that state the textbook's perceptron where no rule is stated."""

ONLINE_SETTINGS: tuple[tuple[str, table.Values], ...] = (
    ("arow", {}),
    ("pa", {}),
    *(
        ("adagrad", {"alpha": alpha, "decay": decay})
        for alpha, decay in ((0.1, 0.0), (0.3, 0.001), (1.0, 0.001), (3.0, 0.01))
    ),
    ("shifting", {}),
)
"""Rules and parameters that a stream is tuned by where no rule is stated."""

ONLINE_NUMBER_SETTINGS: tuple[tuple[str, table.Values], ...] = (
    *(("adaline", {"eta0": eta0}) for eta0 in (0.03, 0.003, 0.01, 0.1, 0.3)),
    ("pa-regression", {}),
    ("pa-regression", {"loss": "squared_epsilon_insensitive"}),
)
"""The same for numbers; the steps of both rules do not depend on the size of the rows."""


def parameters_for_files(rule: str = "perceptron", **given: Any) -> dict[str, Any]:
    """All parameters of a rule's estimator, given or by the defaults for files.

    None stands for what depends on the data: the order ("each" in memory, "fixed" in a stream), the
    step of the bias (by the size of the rows) and the margin (by the kind of columns). A parameter
    that the rule does not have is refused.
    """
    entry = RULE_TABLE[rule]
    for name in [name for name in given if name not in entry.parameters]:
        own = ", ".join(each for each in entry.parameters if each not in entry.shared)
        others = [
            each
            for each, one in RULE_TABLE.items()
            if one.target == entry.target and name in one.parameters
        ]
        known = f", which is for rule {', '.join(others)}" if others else ""
        raise ParameterError(
            f"{entry.estimator} has no {name}{known}; its own parameters are {own}.",
            code="not-of-rule",
        )
    usual = table.defaults(entry.parameters) | FOR_FILES | {"order": None, "margin": None}
    return {name: usual[name] for name in entry.parameters} | given
