"""Names, choices, ranges and defaults of all parameters, and what does not go together and why.

A refusal is a template: ``{order}`` stands for the parameter with its value, ``{order="each"}`` for
it with another one, ``{order?}`` for its name. Python reads ``order="each"``; the shell translates.
"""

import re
from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any, NamedTuple

SOLUTIONS = ("last", "average", "vote", "pocket")
ORDERS = ("each", "once", "fixed", "active", "first", "worst")
SIGN_OF_ZERO = {"mistake": 0.0, "positive": 1.0, "negative": -1.0, "correct": 0.0}
"""What an activation of exactly 0 counts as in a vote, by ``ties``."""
MODES = ("mixing", "sequential")
MIXES = ("uniform", "mistakes", "confidence")

TOKEN = re.compile(r'\{(\w+)(\?|=(?:"(\w+)"|(\w+)))?\}')


class ParameterError(ValueError):
    """A refusal that each face says in its own words.

    Parameters
    ----------
    template
        The sentence.
    **values
        The parameters that it speaks of.
    """

    def __init__(self, template: str, **values: Any) -> None:
        spoken_of = {token[1] for token in TOKEN.finditer(template)}
        self.template = template
        self.values = {name: values[name] for name in values if name in spoken_of}
        super().__init__(self.told(in_python))

    def told(self, spell: Callable[[str, Any], str]) -> str:
        """The sentence with parameters spelt by a function of a name and a value, or NAME_ONLY."""

        def spelt(token: re.Match[str]) -> str:
            name, kind, word, literal = token.groups()
            if kind is None:
                return spell(name, self.values[name]) if name in self.values else token[0]
            return spell(name, NAME_ONLY if kind == "?" else word or literal)

        return TOKEN.sub(spelt, self.template)

    def __reduce__(self) -> tuple[Any, ...]:
        return rebuilt, (type(self), self.template, self.values)


def rebuilt(kind: type[ParameterError], template: str, values: dict[str, Any]) -> ParameterError:
    """A refusal that came from another process."""
    return kind(template, **values)


NAME_ONLY = object()


def in_python(name: str, value: Any) -> str:
    """A parameter as it is written in Python.

    >>> in_python("order", "each"), in_python("early_stopping", True)
    ('order="each"', 'early_stopping=True')
    """
    if value is NAME_ONLY:
        return name
    literal = isinstance(value, str) and value not in ("True", "False", "None")
    return f'{name}="{value}"' if literal else f"{name}={value}"


class Parameter(NamedTuple):
    """What a parameter may be: one of some words, or what a test accepts."""

    default: Any
    wanted: str
    accepts: Callable[[Any], bool]
    words: tuple[str, ...] = ()


def positive_number(value: Any) -> bool:
    """Whether a parameter is a finite number above 0."""
    return value is not True and finite_number(value) and float(value) > 0


def finite_number(value: Any) -> bool:
    """Whether a parameter is a number that float64 can hold, neither NaN nor infinite."""
    try:
        return isinstance(value, Real) and abs(float(value)) < float("inf")
    except OverflowError:  # an integer such as 10**400
        return False


def whole_number(value: Any) -> bool:
    """Whether a parameter is an integer from 1 up."""
    return isinstance(value, Integral) and value is not True and int(value) >= 1


def choice(default: str, *words: str) -> Parameter:
    """One of some words."""
    wanted = f"one of {', '.join(map(repr, words))}"
    return Parameter(
        default, wanted, lambda value: isinstance(value, str) and value in words, words
    )


def above_0(default: float) -> Parameter:
    """A number above 0."""
    return Parameter(default, "a number above 0", positive_number)


def above_0_or_none() -> Parameter:
    """A number above 0, or None."""
    return Parameter(
        None, "a number above 0 or None", lambda value: value is None or positive_number(value)
    )


def from_0(default: float) -> Parameter:
    """A number that is not negative."""
    return Parameter(
        default, "a number from 0 up", lambda value: positive_number(value) or value == 0
    )


def below_1(default: float) -> Parameter:
    """A share that is not the whole."""
    return Parameter(
        default,
        "from 0 up and below 1",
        lambda value: value == 0 or (positive_number(value) and value < 1),
    )


def count(default: int | None, *others: None) -> Parameter:
    """A whole number from 1 up, or None where that is allowed."""
    wanted = "a whole number from 1 up" + (" or None" if others else "")
    return Parameter(default, wanted, lambda value: value in others or whole_number(value))


def flag(default: bool) -> Parameter:
    """True or False."""
    return Parameter(default, "True or False", lambda value: value in (True, False))


def anything(default: Any) -> Parameter:
    """What is looked at where it is used."""
    return Parameter(default, "", lambda value: True)


SHARED = {
    "fit_intercept": flag(True),
    "intercept_step": Parameter(
        1.0,
        'a number from 0 up or "radius"',
        lambda value: value in (0, "radius") or positive_number(value),
    ),
    "max_iter": count(100),
    "class_weight": anything(None),
    "random_state": anything(None),
    "verbose": anything(0),
}
THRESHOLD = {"margin": from_0(0.0), "ties": choice("mistake", *SIGN_OF_ZERO)}
BY_THRESHOLD = SHARED | THRESHOLD
ANY_RULE = SHARED | {
    "solution": choice("last", *SOLUTIONS),
    "average_decay": below_1(0.0),
    "order": choice("each", *ORDERS),
    "multi_class": choice("argmax", "argmax", "ovr"),
    "measure": flag(False),
    "early_stopping": flag(False),
    "calibrate": flag(False),
    "validation_fraction": Parameter(
        0.1, "between 0 and 1", lambda value: positive_number(value) and value < 1
    ),
    "n_iter_no_change": count(5),
    "warm_start": flag(False),
    "n_jobs": anything(None),
}
LINEAR: Mapping[str, Parameter] = ANY_RULE | THRESHOLD | {"eta0": above_0(1.0)}
LATER = ANY_RULE | {"max_iter": count(10)}
PASSIVE_AGGRESSIVE: Mapping[str, Parameter] = LATER | {
    "C": above_0(1.0),
    "loss": choice("hinge", "hinge", "squared_hinge", "hard"),
}
ALMA: Mapping[str, Parameter] = LATER | {
    "alpha": Parameter(
        0.9, "above 0 and at most 1", lambda value: positive_number(value) and value <= 1
    ),
    "B": above_0_or_none(),
    "C": above_0_or_none(),
}
ROMMA: Mapping[str, Parameter] = LATER | {"aggressive": flag(True)}
SECOND_ORDER: Mapping[str, Parameter] = LATER | {
    "a": above_0(1.0),
    "matrix": choice("auto", "auto", "full", "diagonal"),
}
AROW: Mapping[str, Parameter] = LATER | {"r": above_0(1.0)}
SCW: Mapping[str, Parameter] = LATER | {
    "C": above_0(1.0),
    "confidence": Parameter(
        0.75, "between 0.5 and 1", lambda value: positive_number(value) and 0.5 < value < 1
    ),
    "variant": choice("I", "I", "II"),
}
FAMILY: Mapping[str, tuple[str, Mapping[str, Parameter]]] = {
    "perceptron": ("Perceptron", LINEAR),
    "pa": ("PassiveAggressive", PASSIVE_AGGRESSIVE),
    "alma": ("ALMA", ALMA),
    "romma": ("ROMMA", ROMMA),
    "second-order": ("SecondOrderPerceptron", SECOND_ORDER),
    "arow": ("AROW", AROW),
    "scw": ("SCW", SCW),
}
"""By the name of an update rule: the linear estimator that learns by it, and its parameters."""
KERNELS = choice("rbf", "linear", "poly", "rbf", "sigmoid", "precomputed")
KERNEL: Mapping[str, Parameter] = BY_THRESHOLD | {
    "kernel": KERNELS._replace(accepts=lambda value: callable(value) or KERNELS.accepts(value)),
    "degree": above_0(3),
    "gamma": Parameter(
        "scale",
        'a number above 0, "scale", "auto" or None',
        lambda value: value in (None, "scale", "auto") or positive_number(value),
    ),
    "coef0": Parameter(1.0, "a finite number", finite_number),
    "solution": choice("last", "last", "average", "vote"),
    "normalize": flag(False),
    "order": choice("each", "each", "once", "fixed"),
    "multi_class": choice("ovr", "ovr", "argmax"),
    "budget": count(None, None),
    "budget_policy": choice("projectron", "projectron", "forgetron", "random", "stop"),
    "cache_size": Parameter(200, "a number of megabytes above 0", positive_number),
    "device": Parameter(
        None, '"cpu", "cuda" or None', lambda value: value in (None, "cpu", "cuda")
    ),
}
SEQUENCE: Mapping[str, Parameter] = {
    "markov": Parameter(1, "0, 1 or 2", lambda value: value in (0, 1, 2)),
    "search": choice("viterbi", "viterbi", "greedy"),
    "features": anything(None),
    "constraints": choice("auto", "auto", "none"),
    "margin": from_0(1.0),
    "rule": choice("perceptron", "perceptron", "pa"),
    "C": above_0(0.01),
    "solution": choice("average", "average", "last"),
    "order": choice("each", "each", "once", "fixed", "active"),
    "max_iter": count(10),
    "early_stopping": flag(False),
    "validation_fraction": ANY_RULE["validation_fraction"],
    "n_iter_no_change": count(3),
    "random_state": anything(None),
    "verbose": anything(0),
}
NETWORK: Mapping[str, Parameter] = {
    "growth": choice("upstart", "upstart", "tiling", "tower", "pyramid"),
    "unit": choice("pocket", "pocket", "thermal"),
    "lift": choice("auto", "auto", "sphere", "none"),
    "max_units": count(100),
    "patience": count(10),
    "max_iter": count(100),
    "early_stopping": flag(False),
    "validation_fraction": ANY_RULE["validation_fraction"],
    "random_state": anything(None),
    "verbose": anything(0),
}
FOR_FILES: dict[str, Any] = {
    "solution": "average",
    "max_iter": 10,
    "intercept_step": None,
    "random_state": 0,
}
"""Where the shell, which trains once on whatever it is given, differs from the textbook."""

FOR_ONE_PASS: dict[str, Any] = {"rule": "arow", "solution": "last"}
"""And what it learns by in one pass, unless told (docs/choosing.md says why)."""

FOLLOWING = "arow", "pa"
"""Where each next row is to be predicted: the one of these that does it best on the first rows."""

CLUSTER: Mapping[str, Parameter] = {
    "mode": choice("mixing", *MODES),
    "mix": choice("uniform", *MIXES),  # or by confidence, where a rule has some
}
FILES: Mapping[str, Parameter] = {
    "intercept_step": Parameter(
        None,
        "a number from 0 up",
        lambda value: value is None or value == 0 or positive_number(value),
    ),
    "window": Parameter(
        0, "a whole number from 0 up", lambda value: whole_number(value) or value == 0
    ),
    "holdout": below_1(0.0),
    "progress_every": Parameter(
        0, "a whole number from 0 up", lambda value: whole_number(value) or value == 0
    ),
    "random_state": Parameter(
        0,
        "a whole number from 0 up and below 2^32",
        lambda value: value == 0 or (whole_number(value) and value < 2**32),
    ),
}
"""Of training from a file, where a seed is a number, and the bias moves by the size of rows."""

Values = Mapping[str, Any]


def parameters_of(rule: str, **given: Any) -> dict[str, Any]:
    """All parameters of the estimator of a rule: as given, else as usual; others are refused."""
    estimator, table = FAMILY[rule]
    own = [name for name in table if name not in ANY_RULE]
    for name in given:
        if name not in table:
            raise ParameterError(
                f"{estimator} has no {{{name}?}}; its own parameters are {', '.join(own)}."
            )
    return defaults(table) | given


def parameters_for_files(rule: str = "perceptron", **given: Any) -> dict[str, Any]:
    """All parameters of the estimator of a rule: as given, else as suits a file.

    The order is None unless it is given: "each" in memory, "fixed" in a stream. So is the step of
    the bias, which then goes by the size of the rows, and the margin, which goes by what they hold.
    """
    unsettled = {name: None for name in ("order", "margin") if name in FAMILY[rule][1]}
    return parameters_of(rule, **(FOR_FILES | unsettled | given))


def with_margin(parameters: Values, texts: int = 0) -> dict[str, Any]:
    """Leave no question open about the margin: texts, which are of length 1, have one of 1.

    With it nearly every row is learnt from, and rare classes would be outvoted: unless weights are
    stated, classes then weigh the same (docs/data.md says by how much that is better).
    """
    if parameters.get("margin", 0.0) is not None:
        return dict(parameters)
    weighs = texts and parameters["class_weight"] is None
    return {**parameters, "margin": float(texts)} | ({"class_weight": "balanced"} if weighs else {})


def is_open(rule: str | None, given: Values) -> bool:
    """Whether nobody said by what rule to learn in one pass."""
    shared = ANY_RULE.keys() - {"solution", "average_decay"}
    return rule is None and given.keys() <= shared and given.get("max_iter") == 1


def how_to_learn(rule: str | None, **given: Any) -> tuple[str, dict[str, Any]]:
    """A rule with all its parameters: as given, else as suits a file, or one pass over it.

    What suits one pass is taken if neither the rule nor anything of one is given.
    """
    if is_open(rule, given):
        rule, given = FOR_ONE_PASS["rule"], given | {"solution": FOR_ONE_PASS["solution"]}
    rule = rule or "perceptron"
    return rule, parameters_for_files(rule, **given)


def defaults(table: Mapping[str, Parameter]) -> dict[str, Any]:
    """All parameters as they are unless given."""
    return {name: parameter.default for name, parameter in table.items()}


class Conflict(NamedTuple):
    """What does not go together: where, when, and why with what to do instead.

    ``where`` is "fit" for all training, "batch" for partial_fit, "stream" for files that are not
    kept in memory, "pieces" for such of sentences and for partial_fit of them, "cache" for those
    that are read from it, "problems" for several in one pass, "cluster", or "steps".
    """

    where: str
    when: Callable[[Values], bool]
    why: str


def batchwise(when: Callable[[Values], bool], what: str, instead: str) -> Conflict:
    """A parameter that needs all the data at once."""
    why = f"{what} needs all the data, and partial_fit sees only a batch; use {instead}."
    return Conflict("batch", when, why)


CONFLICTS: tuple[Conflict, ...] = (
    Conflict(
        "fit",
        lambda p: p["order"] in ("first", "worst") and p["solution"] in ("average", "vote"),
        "{solution} weighs weights by the rows that they survive, which {order} does not count; "
        'use {order="each"}, "once" or "fixed".',
    ),
    Conflict(
        "fit",
        lambda p: p["order"] in ("active", "first", "worst") and p["solution"] == "pocket",
        "{solution} needs runs over all rows, which {order} does not make; "
        'use {order="each"}, "once" or "fixed".',
    ),
    Conflict(
        "fit",
        lambda p: p.get("average_decay", 0) > 0 and p["solution"] != "average",
        '{average_decay} is what an average forgets; use {solution="average"}, or leave it out.',
    ),
    batchwise(lambda p: p["solution"] == "pocket", "{solution}", '{solution="average"}'),
    batchwise(
        lambda p: p["order"] in ("active", "first", "worst"),
        "{order}",
        '{order="fixed"} (partial_fit always takes the rows as they come)',
    ),
    batchwise(
        lambda p: p["intercept_step"] == "radius", "{intercept_step}", "the number R² itself"
    ),
    batchwise(lambda p: p["class_weight"] == "balanced", "{class_weight}", "a dict of weights"),
    batchwise(lambda p: bool(p.get("early_stopping")), "{early_stopping}", "fit"),
    batchwise(lambda p: bool(p.get("calibrate")), "{calibrate}", "fit"),
    batchwise(lambda p: p.get("kernel") == "precomputed", "{kernel}", "the kernel itself"),
    Conflict(
        "fit",
        lambda p: bool(p.get("normalize")) and p["solution"] == "vote",
        '{normalize} changes no vote; use {solution="average"} or "last".',
    ),
    Conflict(
        "fit",
        lambda p: p.get("budget") is not None and p["solution"] == "vote",
        "{solution} needs every mistake there was, which a budget does not keep; use "
        '{solution="last"} or "average".',
    ),
    Conflict(
        "fit",
        lambda p: p.get("budget") is not None and bool(p["normalize"]),
        "{normalize} needs every mistake there was, which a budget does not keep; leave it out.",
    ),
    Conflict(
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
        "fit",
        lambda p: "markov" in p and p["rule"] == "pa" and not p["margin"],
        "{rule} makes steps as long as a lead lacks, and with {margin} it lacks none; use "
        "{margin=1}.",
    ),
    Conflict(
        "pieces",
        lambda p: bool(p["early_stopping"]),
        "{early_stopping} needs all sentences in memory; leave it out.",
    ),
    Conflict(
        "pieces",
        lambda p: p["order"] == "active",
        '{order} needs all sentences in memory; use {order="each"} or "fixed".',
    ),
    Conflict(
        "stream",
        lambda p: p["progress_every"] > 0 and p["window"] > 0,
        "{progress_every?} takes the rows in their order, which {window?} changes; leave one out.",
    ),
    Conflict(
        "cache",
        lambda p: p["progress_every"] > 0,
        "{progress_every?} is for streams, and {cache?} makes none; leave one out.",
    ),
    Conflict(
        "cluster",
        lambda p: p.get("progress_every", 0) > 0,
        "{progress_every?} does not go with {cluster?}; leave one out.",
    ),
    Conflict(
        "stream",
        lambda p: p["window"] > 0 and p["order"] not in ("each", "once"),
        "{window} shuffles, which {order} does not; leave one out.",
    ),
    Conflict(
        "stream",
        lambda p: not p["window"] and p["order"] != "fixed",
        "{order} needs the rows in memory; use {window?} to shuffle within some rows, {cache?}, or "
        '{order="fixed"}.',
    ),
    Conflict(
        "stream",
        lambda p: p["solution"] not in ("last", "average"),
        '{solution} needs the rows in memory; use {solution="average"}, or {cache?}.',
    ),
    Conflict(
        "cache",
        lambda p: p["window"] > 0,
        "{window?} is for streams, and {cache?} makes none; leave one out.",
    ),
    Conflict(
        "cluster",
        lambda p: p["solution"] in ("vote", "pocket"),
        '{solution} needs all rows in one place; use {solution="average"}.',
    ),
    Conflict(
        "cluster",
        lambda p: p["order"] in ("active", "first", "worst"),
        '{order} chooses among all rows; use {order="each"}, "once" or "fixed".',
    ),
    Conflict(
        "cluster",
        lambda p: p["mode"] == "sequential" and p["order"] != "fixed",
        '{mode} goes through the rows as they lie; use {order="fixed"}.',
    ),
    Conflict(
        "cluster",
        lambda p: p.get("average_decay", 0) > 0 and p["mode"] == "mixing",
        "{average_decay} forgets in the order of the rows, and {mode} has none over all "
        'partitions; use {mode="sequential"}.',
    ),
    Conflict(
        "cluster",
        lambda p: bool(p.get("calibrate")),
        "{calibrate} is not known to a cluster; leave it out.",
    ),
    Conflict(
        "cluster",
        lambda p: bool(p["warm_start"]),
        "{warm_start} is not known to a cluster; use {checkpoint?} and {resume?}.",
    ),
    Conflict(
        "cluster",
        lambda p: p.get("window", 0) > 0,
        "{window?} does not go with {cluster?}; leave one out.",
    ),
    Conflict(
        "cluster",
        lambda p: p.get("holdout", 0) > 0,
        "{holdout?} does not go with {cluster?}; leave one out.",
    ),
    Conflict(
        "problems",
        lambda p: p["order"] in ("active", "first", "worst"),
        "{order} goes by the mistakes of one problem, and there is one for each label; use "
        '{order="each"}, "once" or "fixed".',
    ),
    Conflict(
        "problems",
        lambda p: p["progress_every"] > 0,
        "{progress_every?} tells of one problem, and there is one for each label; leave it out.",
    ),
    Conflict(
        "steps",
        lambda p: bool(p["early_stopping"]),
        "steps goes through all rows; {early_stopping} would hold some out.",
    ),
    Conflict(
        "steps",
        lambda p: bool(p.get("calibrate")),
        "steps goes through all rows; {calibrate} would hold some out.",
    ),
)


def check(values: Values, table: Mapping[str, Parameter], *where: str) -> None:
    """Refuse parameters that are out of range or do not go together.

    Parameters
    ----------
    values
        The parameters by name.
    table
        What each may be.
    *where
        What they are for besides training: one of the places of conflicts.
    """
    check_ranges(values, table)
    for conflict in CONFLICTS:
        if conflict.where in ("fit", *where) and conflict.when(values):
            raise ParameterError(conflict.why, **values)


def check_ranges(values: Values, table: Mapping[str, Parameter]) -> None:
    """Refuse parameters that are out of range."""
    for name, parameter in table.items():
        if not is_accepted(values[name], parameter):
            shown = repr(values[name])
            shown = shown if len(shown) <= 60 else f"{shown[:57]}..."
            raise ParameterError(f"{{{name}?}} must be {parameter.wanted}; got {shown}.")


def is_accepted(value: Any, parameter: Parameter) -> bool:
    """Whether a parameter may have a value; one that cannot be compared is refused."""
    try:
        return bool(parameter.accepts(value))
    except (TypeError, ValueError, ArithmeticError):  # an array, a Decimal that is not a number
        return False


def check_ties(ties: str, n_classes: int, one_vs_rest: bool) -> None:
    """Refuse to give a tie between several classes a sign."""
    if n_classes > 2 and not one_vs_rest and ties in ("positive", "negative"):
        raise ParameterError(
            f"{{ties}} has no meaning for {n_classes} classes at once; "
            'use {ties="mistake"} or "correct", or {multi_class="ovr"}.',
            ties=ties,
        )
