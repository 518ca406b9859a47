"""Results in words, for people to read."""

import io
import re
import shutil
import sys
import textwrap
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TextIO

from ..data.results import capitalize, clip as clip, count as count, name_figure, plain as plain
from ..slices import find_by_estimator, load

if TYPE_CHECKING:
    from ..data.results import Result, Table
    from ..reading.recipe import FeatureRecipe
    from ..storage.model import Model
    from ..training.plan import Plan

WIDTH = 80  # columns of a terminal
LISTED, COLUMNS = 8, 100  # names of classes and of columns in a line, unless all are asked for
MOST_LINES = 20  # of a table
SCALES = {
    "auto": "mean 0, deviation 1",
    "standard": "mean 0, deviation 1",
    "maxabs": "largest size 1",
    "none": "as they are",
}
OPTION_SPELLINGS = {
    "labels_separator=": "--separator ",
    "label=": "--label ",
    "text=": "--text ",
    "numbers=False": "--target classes",
    "numbers=True": "--target numbers",
    "tune=False": "--no-tune",
    **{f"{name} to ": f"--{name} to " for name in ("label", "text", "ignore", "ordinal")},
    "skip_bad to ": "--skip-bad N to ",
}
ADVICE = re.compile(rf"\b([Uu]se|with|and|or) ({'|'.join(OPTION_SPELLINGS)})")


def name_options(sentence: str) -> str:
    """Spell the parameters that a sentence advises to use as options of the shell.

    >>> name_options("Use label='0' and labels_separator=';' to learn each of its labels.")
    "Use --label '0' and --separator ';' to learn each of its labels."
    """
    return ADVICE.sub(lambda found: f"{found[1]} {OPTION_SPELLINGS[found[2]]}", sentence)


def fold(line: str, stream: TextIO | None = None) -> str:
    """Break a line between words where a terminal would break it within one.

    ``stream`` is standard output unless another one is given. The settings of a rule continue
    below the first one.
    """
    stream = stream or sys.stdout
    if not stream.isatty():
        return line
    width, place = shutil.get_terminal_size().columns, line.find("  rule=") + 2
    indent = place if 2 < place < width // 2 else 2
    return textwrap.fill(
        line, width, subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False
    )


def list_result(found: "Result", leave_out: Iterable[str] = ()) -> list[str]:
    """The figures that are not in the headline of a result, notes and tables, in lines.

    ``leave_out`` names tables.
    """
    figures = [f"{name_figure(name)} {value:.4f}" for name, value in found.other_figures().items()]
    figures = [figure.replace(" ", "\N{NO-BREAK SPACE}") for figure in figures]
    text = f"{capitalize(', '.join(figures))}." if figures else ""
    lines = [line.replace("\N{NO-BREAK SPACE}", " ") for line in textwrap.wrap(text, WIDTH)]
    lines += found.notes()
    for table in found.tables():
        if table.name not in leave_out and table.rows:
            lines += ["", f"{table.title}:", *list_rows(table)]
    return lines


def list_rows(table: "Table") -> list[str]:
    """The rows of a table in lines, below the names of its columns."""
    from rich.console import Console
    from rich.table import Table as Grid
    from rich.text import Text

    grid = Grid(box=None, pad_edge=False, header_style="")
    for name, form in table.columns.items():
        side: Any = "right" if form else "left"
        grid.add_column(Text(clip(name_figure(name))), justify=side, no_wrap=True)
    for cells in table.texts()[:MOST_LINES]:
        grid.add_row(*map(Text, cells))
    written = io.StringIO()
    Console(file=written, width=WIDTH, color_system=None).print(grid)
    lines = [line.rstrip() for line in written.getvalue().splitlines()]
    more = len(table.rows) - MOST_LINES
    return [*lines, f"… and {more:,} more; --json has all."] if more > 0 else lines


def about_stated_metric(found: "Result", metric: str) -> str:
    """The metric that settings or epochs were chosen by, as the end of a line; "" for the error."""
    value = found.figures().get(found.metrics.get(metric, ""))
    if value is None:
        return ""
    two = metric == "average-precision" and found.positive_class is not None
    about = {"metric": metric} | ({"positive_class": found.positive_class} if two else {})
    return f"; {name_metric(about)} {value:.4f}"


def summarize_run(model: "Model", seconds: float) -> str:
    """How a training went, in a line."""
    updates, last = count(*count_updates(model)), model.history[-1:]
    passes, reason = count(len(model.history), "epoch"), model.facts["stop_reason"]
    if reason == "separated":
        return f"Separated the training data after {updates} in {passes} ({seconds:.3f} s)."
    in_last = f", {last[0].mistakes:,} in the last epoch" if len(model.history) > 1 else ""
    reasons = {
        "zero_weights": " All weights are 0: every row ties, and ties count as right.",
        "no_improvement": f" The held-out {about_metric(model)}; kept the best weights.",
        "max_iter": "",
        "within_epsilon": " Every number is within epsilon.",
    }
    done = f"Trained {passes} in {seconds:.3f} s: {updates}{in_last}."
    return done + reasons.get(reason, f" Stopped: {reason}.")


def count_updates(model: "Model") -> tuple[int, str]:
    """The updates of a training; they are mistakes unless some rows were right and too near."""
    updates = sum(state.mistakes for state in model.states)
    right = updates == sum(epoch.errors for epoch in model.history) and model.target != "numbers"
    return updates, "mistake" if right else "update"


def about_metric(model: "Model") -> str:
    """The metric of early stopping, and that it no longer became better."""
    from ..training.scoring import METRICS

    if model.target == "numbers":
        return "R² no longer rose"
    metric = METRICS[model.parameters.get("metric", "error")]
    return f"{metric.title} no longer {'rose' if metric.more_is_better else 'fell'}"


def about_result(name: str, model: "Model", seconds: float) -> list[str]:
    """How a training went, the size of its data, and its classes."""
    from ..data.targets import summarize_score

    run, facts, own = summarize_run(model, seconds), model.facts, find_by_estimator(model.estimator)
    if own is not None:
        return [run, f"{name}: {load(own.shell).summarize_data(model)}"]
    features = count(len(model.states[0].weights), "feature")
    lines = [run, f"{name}: {count(facts['rows'], 'row')}, {features}, {about_target(model)}"]
    if "training_score" in facts:
        lines.append(f"On the training rows: {summarize_score(facts['training_score'])}.")
    moved = f", thresholds {facts['thresholds']}" if "thresholds" in facts else ""
    return [*lines, f"Rule {model.estimator}, solution {model.parameters['solution']}{moved}."]


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
        "mistakes": count_updates(model)[0],
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


def join_names(names: Iterable[Any], most: int | None = LISTED) -> str:
    """Names with commas between them; of many, the first and how many more there are.

    >>> join_names("abc"), join_names(range(60), most=3)
    ('a, b, c', '0, 1, 2 and 57 more')
    """
    names = [str(name) for name in names]
    shown = ", ".join(names[:most])
    more = 0 if most is None else len(names) - most
    return f"{shown} and {more:,} more" if more > 0 else shown


def list_columns(recipe: "FeatureRecipe") -> dict[str, list[str]]:
    """The columns of a table by what becomes of them."""
    kinds: dict[str, list[str]] = {}
    for name, kind in recipe.columns or ():
        kinds.setdefault(kind, []).append(name)
    left_out = [*recipe.ignore, *([str(recipe.id)] if recipe.id is not None else [])]
    return kinds | ({"ignored": left_out} if left_out else {})


def about_columns(recipe: "FeatureRecipe", most: int | None = COLUMNS) -> list[str]:
    """What was done to the columns of a table, in a few lines."""
    words = {
        "number": f"Numbers ({SCALES[recipe.scale]})",
        "category": "Categories",
        "text": f"Text ({about_text(recipe)})",
        "date": "Dates (their parts, and the time as a number)",
        "ignored": "Not used",
    }
    found, label = (
        list_columns(recipe),
        f"Label: {recipe.label}{' (numbers)' * bool(recipe.numbers)}",
    )
    if recipe.labels_separator is not None:
        label = f"Labels: {recipe.label} (any number, with {recipe.labels_separator!r} between)"
    lines = [f"{words[kind]}: {join_names(found[kind], most)}" for kind in words if kind in found]
    return [label, *lines] if isinstance(recipe.label, str) else lines


def about_margin(plan: "Plan | None") -> list[str]:
    """The margin and the class weights that texts get by default, if there are texts."""
    parameters = {} if plan is None else plan.parameters
    if plan is None or plan.request.parameters.get("margin") or not parameters.get("margin"):
        return []
    weights = ", classes of equal weight" * (parameters.get("class_weight") == "balanced")
    return [f"Texts: margin {parameters['margin']:g}{weights} (turn off with --set margin=0)."]


def about_text(recipe: "FeatureRecipe") -> str:
    """What becomes of texts."""
    said = []
    for shortest, longest, characters in dict.fromkeys(map(recipe.resolve_ngrams, recipe.text)):
        of = "character" if characters else "word"
        size = f"{shortest}-{longest}" if longest > shortest else str(longest)
        said.append(f"{size} {of}{'s' if longest > 1 else ''}")
    return ", ".join([*said, f"{recipe.counts} counts", *["tf-idf"] * recipe.weighs_rare])


def about_target(model: "Model", most: int | None = LISTED) -> str:
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
    return f"{len(names)} {kind}: {join_names(names, most)}"


def held_out_line(facts: Mapping[str, Any]) -> str:
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


def join_words(names: list[str], last: str) -> str:
    """Names in a row.

    >>> join_words(["a"], "and"), join_words(["a", "b", "c"], "or")
    ('a', 'a, b or c')
    """
    return f" {last} ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
