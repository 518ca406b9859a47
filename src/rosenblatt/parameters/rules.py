"""The table of update rules: estimator, own parameters with range and help, tuning grid.

The model registry, ``--rule`` and its options, the grids of ``--tune`` and the lazy names of the
package derive from it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NoReturn

from .errors import ParameterError
from .tables import (
    ANY_FEEDBACK_RULE,
    FOR_FEEDBACK,
    FOR_FILES,
    MARGIN,
    POSITIVE,
    SHARED,
    SHARED_BY_TARGET,
    TIES,
    Parameter,
    choice,
    count,
    defaults,
    flag,
    non_negative,
    or_none,
    positive,
    positive_number,
    share,
)


@dataclass(frozen=True)
class RuleEntry:
    """One update rule.

    Attributes
    ----------
    estimator
        The name of its class.
    own
        The parameters that it has besides those of all rules; each is an option of the shell, and
        ``--tune`` tries their grids.
    python_only
        Parameters besides these that only the class has.
    tuned
        Whether ``--tune`` tries the rule when none is stated.
    loop
        The loop of training/rules.py that it learns by; ``full`` is that of its form with a full
        matrix.
    step
        The step in that loop: a name in capitals of its file of kernels.
    keeps
        Names of the numbers that the rule keeps of each weight and bias, 0 at first, if these are
        not those of its loop.
    one_vs_rest
        Whether several classes are one two-class problem each, whatever ``multi_class`` says.
    target
        What its labels are: "classes", "numbers", "ranks", or "ranking" for relevance in groups.
    form_of
        The rule for classes that it is the form of; its name stands for this one.
    feedback
        Whether it learns from predictions that are drawn by chance and judged right or wrong.
    """

    estimator: str
    own: Mapping[str, Parameter]
    python_only: Mapping[str, Parameter] = field(default_factory=dict)
    tuned: bool = True
    loop: str = "perceptron"
    step: str = ""
    full: str = ""
    keeps: tuple[str, ...] = ()
    one_vs_rest: bool = False
    target: str = "classes"
    form_of: str = ""
    feedback: bool = False

    @property
    def shared(self) -> Mapping[str, Parameter]:
        """The parameters that all rules for the same target have."""
        return ANY_FEEDBACK_RULE if self.feedback else SHARED_BY_TARGET[self.target]

    @cached_property
    def parameters(self) -> Mapping[str, Parameter]:
        """All parameters of the class by name."""
        return {**self.shared, **self.own, **self.python_only}

    @property
    def grid(self) -> dict[str, tuple[Any, ...]]:
        """The values that ``--tune`` tries, by parameter."""
        return {name: each.grid for name, each in self.own.items() if each.grid}


def are_ranks(value: Any) -> bool:
    """Whether a value is a sequence of two or more different labels."""
    labels = value.tolist() if hasattr(value, "tolist") else value  # an array
    return type(labels) in (list, tuple) and len(labels) > 1 and len(set(labels)) == len(labels)


CONFIDENCE = Parameter(
    0.75,
    "between 0.5 and 1",
    lambda value: positive_number(value) and 0.5 < value < 1,
    help="Probability in (0.5, 1) with which a row must be right",
)
ENTRIES = {
    "perceptron": RuleEntry(
        "Perceptron",
        own={
            "margin": replace(MARGIN, grid=(0.0, 0.25, 1.0)),  # times the rows' mean square
            "negative_margin": or_none(
                non_negative(0.0, "Margin ≥ 0 of rows of the negative class, for uneven classes"),
                "the margin",
            ),
            "slack": non_negative(
                0.0, "Slack ≥ 0 by which each update lowers the margin that its row must exceed"
            ),
            "max_row_updates": or_none(count(1, "Largest number of updates by one row")),
        },
        python_only={
            "ties": TIES,
            "eta0": positive(1.0, "Size > 0 of an update"),
            "max_iter": SHARED["max_iter"],
            "positive": POSITIVE,
        },
    ),
    "pa": RuleEntry(
        "PassiveAggressive",
        loop="passive_aggressive",
        python_only={"positive": POSITIVE},
        own={
            "C": positive(1.0, "Aggressiveness C > 0, the largest step", (0.01, 0.1, 1.0)),
            "loss": choice(
                "hinge",
                "hinge",
                "squared_hinge",
                "hard",
                help="Loss: hinge (PA-I), squared_hinge (PA-II), hard (no limit to the step)",
            ),
        },
    ),
    "alma": RuleEntry(
        "ALMA",
        loop="scaled",
        step="ALMA",
        own={
            "alpha": Parameter(
                0.9,
                "above 0 and at most 1",
                lambda value: positive_number(value) and value <= 1,
                help="Approximation in (0, 1]; the margin found is at least 1 − alpha times the "
                "largest",
                grid=(0.5, 0.9),
            ),
            "B": or_none(positive(1.0, "Factor B > 0 of the margin to reach"), "√8 / alpha"),
            "C": or_none(positive(1.0, "Factor C > 0 of the steps"), "√2"),
        },
    ),
    "romma": RuleEntry(
        "ROMMA",
        loop="scaled",
        step="ROMMA",
        own={"aggressive": flag(True, "Also update on correct rows with a margin below 1")},
        tuned=False,
    ),
    "shifting": RuleEntry(
        "ShiftingPerceptron",
        loop="scaled",
        step="SHIFTING",
        own={
            "lam": Parameter(
                2.0,
                "a number from 1 up",
                lambda value: positive_number(value) and value >= 1,
                help="Shift λ ≥ 1; larger means that older mistakes count less, 1 that all count "
                "the same",
                grid=(1.0, 2.0, 5.0),
            )
        },
        tuned=False,
    ),
    "second-order": RuleEntry(
        "SecondOrderPerceptron",
        loop="coordinate",
        step="SECOND_ORDER",
        full="second_order_full",
        own={
            "a": positive(
                1.0, "Regularization a > 0; larger means smaller updates", (0.1, 1.0, 10.0)
            ),
            "matrix": choice(
                "auto",
                "auto",
                "full",
                "diagonal",
                help="Correlation matrix: full, diagonal, auto (full up to 100 columns)",
            ),
        },
        tuned=False,
    ),
    "arow": RuleEntry(
        "AROW",
        loop="confidence",
        step="AROW",
        own={
            "r": positive(
                1.0, "Regularization r > 0; larger means smaller updates", (0.1, 1.0, 10.0)
            )
        },
    ),
    "scw": RuleEntry(
        "SCW",
        loop="confidence",
        step="SCW",
        own={
            "C": positive(1.0, "Aggressiveness C > 0, the largest step", (0.1, 1.0)),
            "confidence": CONFIDENCE,
            "variant": choice("I", "I", "II", help="Variant: I (linear loss), II (squared loss)"),
        },
    ),
    "nherd": RuleEntry(
        "NHERD",
        loop="confidence",
        step="NHERD",
        own={"C": positive(1.0, "Aggressiveness C > 0; larger means larger updates", (0.1, 1.0))},
        tuned=False,
    ),
    "cw": RuleEntry(
        "CW",
        loop="confidence",
        step="CW",
        own={"confidence": replace(CONFIDENCE, grid=(0.55, 0.75, 0.95))},
        tuned=False,
    ),
    "ftrl": RuleEntry(
        "FTRL",
        loop="coordinate",
        step="FTRL",
        keeps=("squares", "gradients"),
        one_vs_rest=True,
        own={
            "alpha": positive(0.1, "Learning rate alpha > 0 of a column", (0.03, 0.1, 1.0)),
            "beta": positive(1.0, "Offset beta > 0 of the rate; larger means smaller updates"),
            "l1": non_negative(0.0, "L1 regularization l1 ≥ 0; larger means more weights of 0"),
            "l2": non_negative(0.0, "L2 regularization l2 ≥ 0; larger means smaller weights"),
        },
        tuned=False,
    ),
    "adagrad": RuleEntry(
        "AdaGrad",
        loop="coordinate",
        step="ADAGRAD",
        keeps=("squares",),
        one_vs_rest=True,
        own={
            "alpha": positive(0.3, "Learning rate alpha > 0 of a column", (0.1, 0.3, 1.0)),
            "beta": positive(0.1, "Offset beta > 0 of the rate; larger means smaller updates"),
            "decay": share(
                0.001, "Decay in [0, 1), per row, of the squared gradients that lower the rate"
            ),
        },
        tuned=False,
    ),
    "pa-regression": RuleEntry(
        "PassiveAggressiveRegressor",
        loop="regression",
        target="numbers",
        form_of="pa",
        python_only={"positive": POSITIVE},
        own={
            "C": positive(1.0, "Aggressiveness C > 0, the largest step", (0.001, 0.01, 0.1)),
            "loss": choice(
                "epsilon_insensitive",
                "epsilon_insensitive",
                "squared_epsilon_insensitive",
                "hard",
                help="Loss: epsilon_insensitive (PA-I), squared_epsilon_insensitive (PA-II), hard "
                "(no limit to the step)",
            ),
            "epsilon": non_negative(0.1, "Error epsilon ≥ 0 up to which a row causes no update"),
        },
    ),
    "adaline": RuleEntry(
        "Adaline",
        loop="regression",
        step="LMS",
        target="numbers",
        python_only={"positive": POSITIVE},
        own={
            "eta0": positive(0.1, "Learning rate eta0 > 0", (0.01, 0.1)),
            "normalized": flag(True, "Divide each step by the squared length of its row"),
        },
    ),
    "perceptron-ranking": RuleEntry(
        "PerceptronRanker",
        loop="ranking",
        step="UNIT_STEP",
        target="ranking",
        form_of="perceptron",
        own={
            "margin": non_negative(
                0.0,
                "Margin ≥ 0 that a pair must exceed, else it causes an update",
                (0.0, 0.25, 1.0),
            )
        },
    ),
    "pa-ranking": RuleEntry(
        "PassiveAggressiveRanker",
        loop="ranking",
        target="ranking",
        form_of="pa",
        own={
            "C": positive(1.0, "Aggressiveness C > 0, the largest step", (0.01, 0.1, 1.0)),
            "loss": choice(
                "hinge",
                "hinge",
                "squared_hinge",
                "hard",
                help="Loss: hinge (PA-I), squared_hinge (PA-II), hard (no limit to the step)",
            ),
        },
    ),
    "prank": RuleEntry(
        "PRank",
        loop="ordinal",
        target="ranks",
        own={"margin": replace(MARGIN, grid=(0.0, 0.3, 1.0))},  # times the rows' mean square
        python_only={
            "ranks": Parameter(
                None,
                "a list of two or more different labels, the lowest first, or None",
                lambda value: value is None or are_ranks(value),
                help="Labels in their order, the lowest first",
            )
        },
    ),
    "banditron": RuleEntry(
        "Banditron",
        loop="bandit",
        own={
            "exploration": share(
                0.1, "Exploration in [0, 1): share of the predictions that are drawn at random"
            )
        },
        tuned=False,
        feedback=True,
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
    known = ", ".join(dict.fromkeys([*RULE_TABLE, *find_declared_rules()]))
    raise ParameterError(
        f"{{rule}} is not known; the rules are {known}. Install the package of any other rule, or "
        "register it (rosenblatt.register_rule).",
        code="unknown-rule",
        rule=name,
    )


RULE_TABLE = RuleTable()
"""By the name of an update rule."""
RULE_NAMES: dict[str, str] = {}
"""The name of the rule by the class that learns by it."""
CLASS_RULES: dict[str, RuleEntry] = {}
NUMBER_RULES: dict[str, RuleEntry] = {}
RANKING_RULES: dict[str, RuleEntry] = {}
RANK_RULES: dict[str, RuleEntry] = {}
FEEDBACK_RULES: dict[str, RuleEntry] = {}
RULES_BY_TARGET = {
    "classes": CLASS_RULES,
    "numbers": NUMBER_RULES,
    "ranking": RANKING_RULES,
    "ranks": RANK_RULES,
}


def add_entry(rule: str, entry: RuleEntry) -> None:
    """Add an update rule to the tables."""
    RULE_TABLE[rule] = entry
    RULE_NAMES[entry.estimator] = rule
    (FEEDBACK_RULES if entry.feedback else RULES_BY_TARGET[entry.target])[rule] = entry


for _rule, _entry in ENTRIES.items():
    add_entry(_rule, _entry)
LINEAR = RULE_TABLE["perceptron"].parameters


def collect_parameters(rule: str, **given: Any) -> dict[str, Any]:
    """All parameters of a rule's estimator, given or by default; unknown ones are refused."""
    entry = RULE_TABLE[rule]
    for name in given:
        if name not in entry.parameters:
            own = ", ".join(f"{{{each}?}}" for each in entry.parameters if each not in entry.shared)
            alike = {each: one for each, one in RULE_TABLE.items() if one.target == entry.target}
            others = [each for each, one in alike.items() if name in one.parameters]
            known = f", which is for {{rule?}} {', '.join(others)}" if others else ""
            raise ParameterError(
                f"{entry.estimator} has no {{{name}?}}{known}; its own parameters are {own}.",
                code="not-of-rule",
                **given,
            )
    return defaults(entry.parameters) | given


def parameters_for_files(rule: str = "perceptron", **given: Any) -> dict[str, Any]:
    """All parameters of a rule's estimator, given or by the defaults for files.

    None stands for what depends on the data: the order ("each" in memory, "fixed" in a stream), the
    step of the bias (by the size of the rows) and the margin (by the kind of columns).
    """
    entry = RULE_TABLE[rule]
    usual = FOR_FILES | (FOR_FEEDBACK if entry.feedback else {}) | {"order": None, "margin": None}
    known = {name: usual[name] for name in usual if name in entry.parameters}
    return collect_parameters(rule, **(known | given))
