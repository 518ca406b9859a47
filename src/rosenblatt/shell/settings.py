"""Settings that tuning or a stream tried, with their figures, in words."""

from typing import Any

from ..parameters import RULE_TABLE
from .format import count, name_metric, plain
from .parameters import OPTIONS


def about_tuning(facts: dict[str, Any]) -> list[str]:
    """The settings that were tried with their figures, the chosen one first, and a caution."""
    rows, chosen, usual = count(facts["rows"], "row"), facts["best"][0], facts["usual"]
    tried = count(facts["tried"], "setting")
    title = name_metric(facts)
    lines = [f"Tuning: {tried} by {title}, {facts['folds']} folds of {rows}; ± standard error."]
    for each in facts["best"] + ([] if usual in facts["best"] else [usual]):
        marks = ["chosen"] * (each == chosen) + ["default"] * (each == usual)
        said = spell(each)
        marked = f"  ({', '.join(marks)})" if marks else ""
        lines.append(f"{format_figure(each, facts['metric'])}  {said}{marked}")
    if any(is_better(each, chosen, facts["metric"]) for each in facts["best"]):
        lines.append("The chosen setting is the simplest within one standard error of the best.")
    if len(facts["best"]) > 1 and chosen != usual:
        lines.append(
            f"The figure of the best of {tried} is a little too good; --holdout or --test measure "
            "the model on other rows."
        )
    return lines


def is_better(one: dict[str, Any], other: dict[str, Any], metric: str) -> bool:
    """Whether a setting has the better figure."""
    from ..training.scoring import METRICS

    loss = METRICS[metric].as_loss
    return bool(loss(one["value"]) < loss(other["value"]))


def about_choice(facts: dict[str, Any]) -> str:
    """The figure of the setting that tuning chose beside the default's, in a line."""
    metric = facts.get("metric", "error")
    figures = [
        {"value": each.get("value", each.get("error")), "spread": each.get("spread", 0.0)}
        for each in (facts["best"][0], facts["usual"])
    ]
    best, usual = (format_figure(each, metric).strip() for each in figures)
    kind = "cross-validated" if "folds" in facts else "held-out"
    tried = count(facts["tried"], "setting")
    return f"Best of {tried}: {kind} {name_metric(facts)} {best}, by default {usual}"


def format_figure(each: dict[str, Any], metric: str) -> str:
    """A figure of tuning and its standard error; errors are in per cent."""
    if metric == "error":
        return f"{each['value']:8.2%} ± {each['spread']:.2%}"
    if metric == "absolute-error":
        return f"{plain(each['value']):>8} ± {plain(each['spread'], 3)}"
    return f"{each['value']:8.4f} ± {each['spread']:.4f}"


def about_online(facts: dict[str, Any]) -> list[str]:
    """The error of predictions of a stream, and the settings that predicted best."""
    alarms = count(len(facts["alarms"]), "drift alarm")
    shown = [
        format_setting(each, ["predicts the next row"] * (number == 0))
        for number, each in enumerate(facts["best"])
    ]
    return [f"{summarize_online(facts)}; {alarms}; {facts['tried']} settings:", *shown]


def summarize_online(facts: dict[str, Any]) -> str:
    """The error of predictions of a stream in a line."""
    rows = count(facts["rows"], "row")
    if RULE_TABLE[facts["best"][0]["rule"]].target == "numbers":
        return (
            f"Online: mean absolute error {plain(facts['error'])} of {rows} before they were learnt"
        )
    return f"Online: {facts['error']:.2%} of {rows} were wrong before they were learnt"


def format_setting(setting: dict[str, Any], marks: list[str]) -> str:
    """A setting that was tried, with its error, in a line."""
    said = spell(setting)
    numbers = RULE_TABLE[setting["rule"]].target == "numbers"
    error = f"{plain(setting['error']):>8}" if numbers else f"{setting['error']:8.2%}"
    return f"{error}  {said}{'  (' + ', '.join(marks) + ')' if marks else ''}"


def spell(setting: dict[str, Any]) -> str:
    """The options of ``train`` that repeat a setting."""
    return " ".join(
        f"{OPTIONS[name]} {value}" if name in OPTIONS else f"--set {name}={value}"
        for name, value in setting.items()
        if name not in ("error", "value", "spread")
    )
