"""Settings that were compared, with their figures, in words."""

from collections.abc import Mapping
from typing import Any

from ..parameters import RULE_TABLE
from .format import count, name_metric, plain
from .parameters import OPTIONS

FIGURES = "error", "value", "spread", "other"
NUMBERS = "absolute-error"


def about_tuning(facts: Mapping[str, Any]) -> list[str]:
    """The candidates that were compared with their figures, the chosen one first."""
    metric, chosen = facts["metric"], facts["best"][0]
    rows, folds = count(facts["rows"], "row"), facts["folds"]
    other, write = ("RMSE", plain) if metric == NUMBERS else ("error", "{:.2%}".format)
    columns = name_metric(facts) + ("" if metric == "error" else f", {other}")
    tried = count(facts["tried"], "setting")
    base = "" if facts["baseline"] is None else f"; baseline {other} {write(facts['baseline'])}"
    lines = [
        f"Compared {tried} in up to {folds} folds of {rows}: {columns} (± standard error{base})"
    ]
    for each in facts["best"]:
        said = spell(each) or "--no-tune (default)"
        figures = format_figure(each, metric)
        if metric != "error":
            figures += f"{write(each['other']):>9}"
        lines.append(f"{figures}  {said}{'  (chosen)' * (each == chosen)}")
    return lines


def about_choice(facts: dict[str, Any]) -> str:
    """The figure of the setting that was chosen beside the default's, in a line."""
    best, usual = (
        format_figure(each, facts["metric"]).strip() for each in (facts["best"][0], facts["usual"])
    )
    tried = count(facts["tried"], "setting")
    return f"Best of {tried}: cross-validated {name_metric(facts)} {best}, by default {usual}"


def format_figure(each: dict[str, Any], metric: str) -> str:
    """A figure and its standard error; errors are in per cent."""
    if metric == "error":
        return f"{each['value']:8.2%} ± {each['spread']:.2%}"
    if metric == NUMBERS:
        return f"{plain(each['value']):>8} ± {plain(each['spread'], 3)}"
    return f"{each['value']:8.4f} ± {each['spread']:.4f}"


def about_stream(facts: dict[str, Any]) -> list[str]:
    """The error of predictions of a stream, and the settings that predicted best."""
    lines = list[str]()
    for each in facts["best"]:
        numbers = RULE_TABLE[each["rule"]].target == "numbers"
        error = f"{plain(each['error']):>8}" if numbers else f"{each['error']:8.2%}"
        lines.append(f"{error}  {spell(each)}{'  (predicts the next row)' * (not lines)}")
    return [f"{summarize_stream(facts)}; {facts['tried']} settings:", *lines]


def summarize_stream(facts: dict[str, Any]) -> str:
    """The error of predictions of a stream, and its drift alarms, in a line."""
    rows, alarms = count(facts["rows"], "row"), count(len(facts["alarms"]), "drift alarm")
    if RULE_TABLE[facts["best"][0]["rule"]].target == "numbers":
        error, last = plain(facts["error"]), plain(facts["last_label"])
        said = f"mean absolute error {error} of {rows} before learning them"
    else:
        last = f"{facts['last_label']:.2%}"
        said = f"{facts['error']:.2%} of {rows} were wrong before they were learnt"
    return f"Stream: {said} (the label of the row before: {last}); {alarms}"


def spell(setting: dict[str, Any]) -> str:
    """The options of ``train`` that repeat a setting; none are the default."""
    words = []
    for name, value in setting.items():
        if name == "text":
            words += [f"--text {each}" for each in value]
        elif name not in FIGURES:
            shown = str(value).lower() if isinstance(value, bool) else value
            words.append(f"{OPTIONS[name]} {shown}" if name in OPTIONS else f"--set {name}={shown}")
    is_fixed = "rule" in setting or not words
    return " ".join(words if is_fixed else ["--no-tune", *words])
