"""Models, trainings and results in words, for people to read."""

import textwrap
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ..data.results import capitalize, clip as clip, count as count, name_figure, plain as plain
from ..parameters import RULE_TABLE
from ..slices import find_by_estimator, load
from .parameters import OPTIONS

if TYPE_CHECKING:
    from ..data.results import Result, Table
    from ..reading.recipe import FeatureRecipe
    from ..storage.model import Model

WIDTH = 80  # columns of a terminal
MOST_CLASSES, MOST_COLUMNS = 8, 100  # names in a line
MOST_LINES = 20  # of a table
SCALES = {
    "auto": "mean 0, deviation 1",
    "standard": "mean 0, deviation 1",
    "maxabs": "largest size 1",
    "none": "as they are",
}
STOP_REASONS = {
    "zero_weights": " All weights are 0: every row ties, and ties count as right.",
    "no_improvement": " The held-out score no longer improved; kept the best weights.",
    "tol": " The loss no longer fell by tol.",
    "max_iter": "",
    "within_epsilon": " Every number is within epsilon.",
}
FIGURES = "error", "value", "spread", "other"  # of a setting that was compared


def list_result(found: "Result", leave_out: Iterable[str] = ()) -> list[str]:
    """The figures that are not in the headline of a result, notes and tables, in lines.

    ``leave_out`` names tables.
    """
    figures = [f"{name_figure(name)} {value:.4f}" for name, value in found.other_figures().items()]
    text = ", ".join(figure.replace(" ", "\N{NO-BREAK SPACE}") for figure in figures)
    lines = textwrap.wrap(f"{capitalize(text)}.", WIDTH) if figures else []
    lines = [line.replace("\N{NO-BREAK SPACE}", " ") for line in lines]
    lines += found.notes()
    for table in found.tables():
        if table.name not in leave_out and table.rows:
            lines += ["", f"{table.title}:", *list_rows(table)]
    return lines


def list_rows(table: "Table") -> list[str]:
    """The rows of a table in lines, below the names of its columns."""
    cells = [[clip(name_figure(name)) for name in table.columns], *table.texts()[:MOST_LINES]]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    sides = [">" if form else "<" for form in table.columns.values()]
    lines = [
        "  ".join(
            f"{cell:{side}{width}}" for cell, side, width in zip(row, sides, widths, strict=True)
        ).rstrip()
        for row in cells
    ]
    more = len(table.rows) - MOST_LINES
    return [*lines, f"… and {more:,} more; --json has all."] if more > 0 else lines


def describe_training(name: str, model: "Model", seconds: float) -> list[str]:
    """How a training went, the size of its data, and its classes."""
    from ..data.targets import summarize_score

    facts, last = model.facts, model.history[-1:]
    updates, passes = count_updates(model), count(len(model.history), "epoch")
    in_last = f", {last[0].mistakes:,} in the last epoch" if len(model.history) > 1 else ""
    run = f"Trained {passes} in {seconds:.3f} s: {updates}{in_last}."
    reason = facts["stop_reason"]
    if reason == "no_improvement" and not model.parameters.get("early_stopping"):
        reason = "tol"
    if reason == "separated":
        run = f"Separated the training data after {updates} in {passes} ({seconds:.3f} s)."
    else:
        run += STOP_REASONS.get(reason, f" Stopped: {reason}.")
    own = find_by_estimator(model.estimator)
    if own is not None:
        return [run, f"{name}: {load(own.shell).summarize_data(model)}"]
    size = f"{count(facts['rows'], 'row')}, {count_features(model)}"
    lines = [run, f"{name}: {size}, {describe_target(model)}"]
    if "training_score" in facts:
        lines.append(f"On the training rows: {summarize_score(facts['training_score'])}.")
    moved = f", thresholds {facts['thresholds']}" if "thresholds" in facts else ""
    return [*lines, f"Rule {model.estimator}, solution {model.parameters['solution']}{moved}."]


def count_updates(model: "Model") -> str:
    """The updates of a training; they are mistakes unless some rows were right and too near."""
    updates = sum(state.mistakes for state in model.states)
    right = updates == sum(epoch.errors for epoch in model.history) and model.target != "numbers"
    return count(updates, "mistake" if right else "update")


def count_features(model: "Model") -> str:
    """The number of features; hashed ones are fewer or more than those that occur."""
    hashed = (model.features.get("recipe") or {}).get("bits") is not None
    return count(len(model.states[0].weights), "hashed feature" if hashed else "feature")


def describe_model(model: "Model") -> dict[str, Any]:
    """What a model is and how it was trained, as JSON values."""
    facts, own = model.facts, find_by_estimator(model.estimator)
    kept = ("rows", "class_rows", "held_out", "tuning", "numbers")
    found: dict[str, Any] = {
        "estimator": model.estimator,
        "parameters": dict(model.parameters),
        "classes": model.classes.tolist(),
        "stop_reason": facts.get("stop_reason"),
        "epochs": len(model.history),
        "mistakes": sum(state.mistakes for state in model.states),
        "history": [epoch._asdict() for epoch in model.history],
    }
    if own is not None:
        return {**found, **load(own.shell).list_facts(model)}
    return found | {
        "features": len(model.states[0].weights),
        "label": (model.features.get("recipe") or {}).get("label"),
        "probabilities": "calibration" in facts,
        "conformal_rows": len(facts["conformal"]["scores"]) if "conformal" in facts else 0,
        "training": facts.get("training_score"),
        **{name: facts.get(name) for name in kept},
    }


def join_names(names: Iterable[Any], most: int = MOST_CLASSES) -> str:
    """Names with commas between them; of many, the first and how many more there are.

    >>> join_names("abc"), join_names(range(60), most=3)
    ('a, b, c', '0, 1, 2 and 57 more')
    """
    names = [str(name) for name in names]
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more:,} more" if more > 0 else "")


def list_columns(recipe: "FeatureRecipe") -> dict[str, list[str]]:
    """The columns of a table by what becomes of them."""
    kinds: dict[str, list[str]] = {}
    for name, kind in recipe.columns or ():
        kinds.setdefault(kind, []).append(name)
    left_out = [*recipe.ignore, *([str(recipe.id)] if recipe.id is not None else [])]
    return kinds | ({"ignored": left_out} if left_out else {})


def describe_columns(recipe: "FeatureRecipe") -> list[str]:
    """What was done to the columns of a table, in a few lines."""
    texts = list[str]()
    for shortest, longest, characters in dict.fromkeys(map(recipe.resolve_ngrams, recipe.text)):
        of = "character" if characters else "word"
        size = f"{shortest}-{longest}" if longest > shortest else str(longest)
        texts.append(f"{size} {of}{'s' if longest > 1 else ''}")
    texts += [f"{recipe.counts} counts", *["tf-idf"] * recipe.weighs_rare]
    words = {
        "number": f"Numbers ({SCALES[recipe.scale]})",
        "category": "Categories",
        "text": f"Text ({', '.join(texts)})",
        "date": "Dates (their parts, and the time as a number)",
        "ignored": "Not used",
    }
    label = f"Label: {recipe.label}{' (numbers)' * bool(recipe.numbers)}"
    if recipe.labels_separator is not None:
        label = f"Labels: {recipe.label} (any number, with {recipe.labels_separator!r} between)"
    found = list_columns(recipe)
    lines = [
        f"{words[kind]}: {join_names(found[kind], MOST_COLUMNS)}" for kind in words if kind in found
    ]
    return [label, *lines] if isinstance(recipe.label, str) else lines


def describe_target(model: "Model") -> str:
    """The numbers that a model predicts, or its classes with the rows that each had in training.

    The largest come first, but ranks stay in their order.
    """
    if model.target == "numbers":
        scale = model.facts["numbers"]
        return f"numbers: mean {plain(scale['center'])}, deviation {plain(scale['scale'])}"
    names = [clip(str(name)) for name in model.classes.tolist()]
    rows = model.facts.get("class_rows") or []
    if len(rows) == len(names):
        pairs = list(zip(rows, names, strict=True))
        if model.target != "ranks":
            pairs.sort(key=lambda pair: -pair[0])
        names = [f"{name} ({n:,})" for n, name in pairs]
    kind = "labels" if model.is_multilabel else model.target
    return f"{len(names)} {kind}: {join_names(names)}"


def describe_held_out(facts: Mapping[str, Any]) -> str:
    """The errors on held-out rows in words."""
    from ..data.targets import summarize_score

    text = summarize_score(facts["held_out"], facts.get("class_rows") or ())
    figure = facts.get("held_out_figure")
    return f"{text}; {name_metric(figure)} {figure['value']:.4f}" if figure else text


def name_metric(facts: Mapping[str, Any]) -> str:
    """The name of a metric in a sentence, with the class that it is about."""
    from ..training.scoring import METRICS

    of = f" (of {clip(facts['positive_class'])})" if "positive_class" in facts else ""
    return METRICS[facts.get("metric", "error")].title + of


def describe_choice(facts: Mapping[str, Any]) -> list[str]:
    """The candidates that were compared with their figures, the chosen one first."""
    metric = facts["metric"]
    numbers = metric == "absolute-error"
    other, write = ("RMSE", plain) if numbers else ("error", "{:.2%}".format)
    own = write if numbers or metric == "error" else "{:.4f}".format
    base = "" if facts["baseline"] is None else f"; baseline {other} {write(facts['baseline'])}"
    columns = f"{name_metric(facts)} ± standard error" + f", {other}" * (metric != "error")
    lines = [
        f"Compared {count(facts['tried'], 'setting')} in up to {facts['folds']} folds of "
        f"{count(facts['rows'], 'row')}: {columns}{base}"
    ]
    for each in facts["best"]:
        figures = f"{own(each['value']):>8} ± {own(each['spread'])}"
        figures += "" if metric == "error" else f"{write(each['other']):>9}"
        chosen = "" if each != facts["best"][0] else "  (chosen)"
        lines.append(f"{figures}  {spell_setting(each) or '--no-tune (default)'}{chosen}")
    return lines


def describe_stream(facts: Mapping[str, Any]) -> list[str]:
    """The error of predictions of a stream, and the settings that predicted best."""
    rows, alarms = count(facts["rows"], "row"), count(len(facts["alarms"]), "drift alarm")
    numbers = RULE_TABLE[facts["best"][0]["rule"]].target == "numbers"
    write = plain if numbers else "{:.2%}".format
    of = "mean absolute error" if numbers else "error"
    lines = [
        f"Stream: {of} {write(facts['error'])} of {rows} before learning them (the label of the "
        f"row before: {write(facts['last_label'])}); {alarms}; {facts['tried']} settings:"
    ]
    for each in facts["best"]:
        last = "  (predicts the next row)" * (each is facts["best"][0])
        lines.append(f"{write(each['error']):>8}  {spell_setting(each)}{last}")
    return lines


def spell_setting(setting: Mapping[str, Any]) -> str:
    """The options of ``train`` that repeat a setting; none are the default."""
    words = []
    for name, value in setting.items():
        if name == "text":
            words += [f"--text {each}" for each in value]
        elif name not in FIGURES:
            shown = str(value).lower() if isinstance(value, bool) else value
            if name == "ngrams":
                shown = "-".join(map(str, value))
            words.append(f"{OPTIONS[name]} {shown}" if name in OPTIONS else f"--set {name}={shown}")
    is_fixed = "rule" in setting or not words
    return " ".join(words if is_fixed else ["--no-tune", *words])
