"""Print what a model is, how it was trained, and its most important columns."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..slices import find_by_estimator, load
from .commands import CommandError, command
from .data import check_output
from .format import (
    COLUMNS,
    LISTED,
    about_columns,
    about_target,
    clip,
    count,
    count_updates,
    describe_model,
    fold,
    held_out_line,
)
from .predict import MODEL, load_learner, output_option
from .settings import about_choice, summarize_stream

if TYPE_CHECKING:
    from ..storage.model import Model

TOP = 10  # columns that are printed


@dataclass
class InspectOptions:
    """How much of a model is printed."""

    top: int | None = output_option(
        "Number of columns to print, by importance.", shown=str(TOP), type=click.IntRange(min=0)
    )
    all: bool = output_option("Print all columns and classes.", default=False)
    data: str | None = output_option(
        "Measure the deviations of columns on all rows of FILE.",
        "FILE",
        shown="those of the first training rows",
    )
    plot: Path | None = output_option(
        "Draw the importances to FILE (.png, .svg, .pdf …).", shown="off"
    )
    json: bool = output_option(
        "Print one JSON object, with all columns unless --top is given.", default=False
    )

    def top_or_default(self) -> int:
        """Return the number of columns or features to print."""
        return TOP if self.top is None else self.top


@command(
    MODEL,
    examples=[
        "rosenblatt inspect model.safetensors --top 20",
        "rosenblatt inspect model.safetensors --json",
        "rosenblatt inspect model.safetensors --plot importances.png",
    ],
)
def inspect(model: Path, given: InspectOptions) -> None:
    """Print what a model is, how it was trained, and its most important columns."""
    check_output(given.plot, model, given.data)
    saved, learner = load_learner(model)
    own = find_by_estimator(saved.estimator)
    if own is not None and not own.shell:
        raise CommandError(
            f"{model} is a {saved.estimator}, which inspect does not describe; use rosenblatt.load "
            "in Python."
        )
    describe = inspect_linear if own is None else load(own.shell).inspect
    describe(saved, learner, given)


def inspect_linear(saved: "Model", learner: Any, given: InspectOptions) -> None:
    """Print what a linear model is, and its most important columns."""
    from ..jobs.data import open_like
    from ..jobs.importances import measure_deviations, rank_columns

    coef, bias = learner.coefficients()
    deviations = None
    if given.data is not None:
        rows: Any = open_like(saved, given.data, labels=False)
        deviations = measure_deviations((each.rows for each in rows), coef.shape[1])
    most = None if given.all or (given.json and given.top is None) else given.top_or_default()
    ranked = rank_columns(saved, coef, deviations, most)
    if given.plot is not None:
        from ..plots import ImportanceDisplay

        ImportanceDisplay.from_importances(ranked, saved.classes).save(given.plot)
    raw, raw_bias = to_file_units(saved, coef, bias)
    if given.json:
        about = {
            **describe_model(saved),
            "bias": bias.tolist(),
            "file_bias": raw_bias.tolist(),
            "columns": [
                {**one._asdict(), "file_weights": raw[:, one.column].tolist()} for one in ranked
            ],
        }
        print(json.dumps(about, default=str))
        return
    lines = [*about_model(saved, coef, None if given.all else LISTED), *about_scores(saved)]
    largest = max((one.importance or 0.0 for one in ranked), default=0.0) or 1.0
    if ranked and ranked[0].importance is not None:
        lines.append("Importance is the largest weight × the standard deviation of the column:")
    for one in ranked:
        measured = "" if ranked[0].importance is None else f"{'–':>10} {'':12}  "
        if one.importance is not None:
            bar = "█" * round(12 * one.importance / largest)
            measured = f"{one.importance:10.4g} {bar:<12}  "
        weights = format_weights(raw[:, one.column], coef[:, one.column])
        lines.append(f"{measured or '  '}{one.name}: {weights}")
    ranks = saved.target == "ranks"
    told, sign = ("thresholds", -1) if ranks else ("bias", 1)
    lines.append(f"  {told}: {format_weights(sign * raw_bias, sign * bias)}")
    if given.plot is not None:
        lines.append(f"Wrote the figure to {given.plot}.")
    print("\n".join(map(fold, lines)))


def to_file_units(saved: "Model", coef: Any, bias: Any) -> tuple[Any, Any]:
    """The weights and biases in the units of the file, where the model has scaled columns."""
    from ..reading.arrow import in_file_units

    recipe = saved.features.get("recipe")
    raw, raw_bias = (coef, bias) if recipe is None else in_file_units(recipe, coef, bias)
    if saved.target == "numbers":
        scale = saved.facts["numbers"]
        raw, raw_bias = raw * scale["scale"], raw_bias * scale["scale"] + scale["center"]
    return raw, raw_bias


def format_weights(raw: Any, scaled: Any) -> str:
    """Weights in the units of the file and, where they differ, those of the scaled columns."""
    first, second = (" ".join(f"{each:+.6g}" for each in one.tolist()) for one in (raw, scaled))
    return first if first == second else f"{first} (scaled: {second})"


def about_model(model: "Model", coef: Any, most: int | None = None) -> list[str]:
    """What a model is and how it was trained; at most some of many names, unless None."""
    from ..parameters import RULE_NAMES, RULE_TABLE
    from ..reading.recipe import FeatureRecipe

    facts, parameters = model.facts, model.parameters
    updates, made = count_updates(model)
    seen = sum(state.seen for state in model.states)
    own = RULE_TABLE[RULE_NAMES[model.estimator]].own
    how = {
        "order": parameters.get("order"),
        "average decay": parameters.get("average_decay") or None,
        **{name: parameters.get(name) or None for name in sorted(own)},
        "bias step": model.facts.get("intercept_step"),
        "seed": parameters.get("random_state"),
        "class weights": parameters.get("class_weight"),
    }
    kind = "A perceptron" if model.estimator == "Perceptron" else model.estimator
    lines = [
        f"{kind} for {about_target(model, most)}",
        *about_columns(FeatureRecipe(**model.features.get("recipe", {})), most and COLUMNS),
        f"{count(coef.shape[1], 'feature')}, {coef.dtype}; solution {parameters['solution']}",
        "; ".join(f"{name} {value}" for name, value in how.items() if value is not None),
        f"{count(updates, made)} in {count(seen, 'row')} seen; stopped: {facts.get('stop_reason')}",
    ]
    if model.history:
        first, last = model.history[0], model.history[-1]
        ends = f"{count(last.epoch, 'epoch')}; {{}} in the first {{}}, in the last {{}}".format
        if model.target == "numbers":
            losses = (f"{epoch.loss / max(epoch.rows, 1):.4g}" for epoch in (first, last))
            lines.append(f"{ends('mean loss', *losses)}, in deviations")
        else:
            shares = (f"{epoch.errors / max(epoch.rows, 1):.2%}" for epoch in (first, last))
            lines.append(f"{ends('mistakes', *shares)} of the rows")
    if "calibration" in facts:
        lines.append("Gives probabilities (predict --probabilities)")
    if "conformal" in facts:
        what = "sets" if model.target != "numbers" else "intervals"
        known = count(len(facts["conformal"]["scores"]), "row")
        lines.append(
            f"Gives prediction {what} (predict --coverage) from {known} that it had not learnt"
        )
    lines += [about_choice(facts["tuning"])] if "tuning" in facts else []
    lines += [summarize_stream(facts["stream"])] if "stream" in facts else []
    lines += [f"Held-out {held_out_line(facts)}"] if "held_out" in facts else []
    return lines


def about_scores(model: "Model") -> list[str]:
    """How a score comes about and what it says."""
    if model.target == "numbers":
        return [
            "A prediction is the bias and the sum of weight × feature, in the units of the file.",
            "The largest weights (scaled: as train learnt them, for numbers of deviation 1):",
        ]
    if model.target == "ranks":
        return [
            "The sum of weight × feature is compared with the thresholds; from the first on, the "
            f"rank is {model.classes[1]}.",
            "The weights of the most important columns:",
        ]
    first, second = (clip(str(label)) for label in (*model.classes[:2], "")[:2])
    if model.is_multilabel:
        says = f"one for each label ({first}, …), and above 0 a row has it"
    elif len(model.classes) == 2:
        says = f"above 0 says {second}, else {first}"
    else:
        says = f"one for each class ({first}, {second}, …), and the largest wins"
    scaled = bool((model.features.get("recipe") or {}).get("scales"))
    units = ", in the units of the file (scaled: as train learnt them)" if scaled else ""
    return [
        f"A score is the bias and the sum of weight × feature: {says}.",
        "It is not a probability; a larger score is further from the boundary.",
        f"The weights of the most important columns{units}:",
    ]
