"""Parameters that ``--set NAME=VALUE`` takes, and how they are listed."""

from collections.abc import Mapping, Sequence
from typing import Any

import click

from ..parameters import FEATURES, FILES, RULE_TABLE, Parameter, suggest_name
from ..slices import list_slices, load
from .commands import CommandError

OPTIONS = {
    "max_iter": "--epochs",
    "random_state": "--seed",
    "class_weight": "--balanced",
    "calibrate": "--probabilities or --conformal",
    "metric": "--metric",
    "ranks": "--ordinal",
    "rule": "--rule",
    "labels_separator": "--separator",
    "numbers": "--target numbers or --target classes",
    "header": "--no-header",
    "skip_bad": "--skip-bad N",
}
"""Parameters that have options of other names, or of rules that have options; not for ``--set``."""
SAME = {"label", "text", "category", "ignore", "id", "ordinal", "format", "encoding"}
SAME |= {"threshold", "holdout", "coverage"}
"""Parameters of Python that have options of the same name."""
SWITCHES = {
    "numbers=False": "--target classes",
    "numbers=True": "--target numbers",
    "header=False": "--no-header",
    "tune=False": "--no-tune",
    'class_weight="balanced"': "--balanced",
    'calibrate="conformal"': "--conformal",
}
"""Values of parameters that are options."""
PYTHON_ONLY = {"measure", "warm_start", "verbose", "rule", "constraints"}
THREADS = Parameter(None, help="Number of threads that read", default_text="all cores", type=int)
WORDS = {"true": True, "false": False, "none": None}


def spell_parameter(name: str, value: str | None = None) -> str:
    """Return how ``train`` spells a parameter of Python; "" for other words.

    >>> spell_parameter("max_iter", "3"), spell_parameter("margin", "1"), spell_parameter("colour")
    ('--epochs 3', '--set margin=1', '')
    """
    if f"{name}={value}" in SWITCHES:
        return SWITCHES[f"{name}={value}"]
    if name in table_for_training():
        return f"--set {name}={value or 'VALUE'}"
    option = f"--{name}" if name in SAME else OPTIONS.get(name, "")
    return f"{option} {value}" if option and value else option


def table_for_rules() -> dict[str, Parameter]:
    """The parameters of all rules by name; of those of the same name, the first."""
    found: dict[str, Parameter] = {}
    for entry in RULE_TABLE.values():
        found = {**entry.parameters, **found}
    return {name: one for name, one in found.items() if name not in PYTHON_ONLY | OPTIONS.keys()}


def table_for_training() -> dict[str, Parameter]:
    """All parameters that ``train --set`` takes."""
    others: dict[str, Parameter] = {name: FILES[name] for name in ("window", "progress_every")}
    others["threads"] = THREADS
    for one in list_slices():
        others |= load(one.shell).SETTINGS if one.shell else {}
    return {**others, **FEATURES, **table_for_rules()}


def parse_settings(words: Sequence[str], table: Mapping[str, Parameter]) -> dict[str, Any]:
    """Return the values of ``--set NAME=VALUE`` by name.

    Whether they are in range is checked where they are used, as in Python.

    >>> parse_settings(["C=0.1", "intercept-step=radius"], table_for_rules())
    {'C': 0.1, 'intercept_step': 'radius'}
    """
    given: dict[str, Any] = {}
    for word in words:
        name, equals, text = word.partition("=")
        name = name.strip().replace("-", "_")
        if not equals:
            raise CommandError(f"--set {word} must be NAME=VALUE.")
        if name in OPTIONS:
            raise CommandError(f"{name} is set by {OPTIONS[name]}.")
        if name not in table:
            raise CommandError(f"There is no parameter {name} to set.{suggest_name(name, table)}")
        if name in given:
            raise CommandError(f"--set {name} is given twice; leave one out.")
        given[name] = parse_value(text.strip(), table[name])
    return given


def parse_value(text: str, parameter: Parameter) -> Any:
    """Return a word of the parameter, a truth value, a number, several of them, or the text."""
    if text in parameter.choices:
        return text
    if text.lower() in WORDS:
        return WORDS[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    if parameter.type is float and "," in text:
        return tuple(parse_value(part, parameter) for part in text.split(","))
    return text


def show_settings(
    context: click.Context, _: click.Parameter, words: Sequence[str]
) -> Sequence[str]:
    """Print all parameters and end if a word is "help"; else return the words."""
    if "help" in words:
        click.echo("\n".join(list_settings(table_for_training())))
        context.exit()
    return words


def list_settings(table: Mapping[str, Parameter]) -> list[str]:
    """The parameters of a table, a line for each; those of some rules only begin with these."""
    found: dict[tuple[str, str], list[str]] = {}
    for rule, entry in RULE_TABLE.items():
        for name, one in entry.own.items():
            if name in table and name not in OPTIONS:
                found.setdefault((name, describe(one)), []).append(rule)
    lines = [(name, f"{', '.join(rules)}: {text}") for (name, text), rules in found.items()]
    own = {name for name, _ in lines} | PYTHON_ONLY | OPTIONS.keys()
    lines += [(name, describe(one)) for name, one in table.items() if name not in own]
    wide = max(len(name) for name, _ in lines)
    return [f"{name:<{wide}}  {text}" for name, text in lines]


def describe(parameter: Parameter) -> str:
    """The help of a parameter and its default in a line."""
    default = parameter.default_text or parameter.default
    shown = "none" if default in (None, ()) else str(default).removesuffix(".0")
    shown = shown.lower() if isinstance(default, bool) else shown
    return f"{parameter.help} [{shown}]"
