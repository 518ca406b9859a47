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
    LISTED,
    about_columns,
    about_target,
    clip,
    count,
    count_updates,
    fold,
    held_out_line,
)
from .predict import MODEL, load_learner, output_option
from .settings import about_choice, summarize_stream

if TYPE_CHECKING:
    from ..jobs.importances import Importance
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
        metavar="FILE",
        shown="those of the first training rows",
    )
    plot: Path | None = output_option(
        "Draw the importances to FILE (.png, .svg, .pdf …).", shown="off"
    )
    json: bool = output_option(
        "Print one JSON object, with all columns unless --top is given.", default=False
    )

    def count_columns(self) -> int | None:
        """Return the number of columns to print; None for all."""
        return None if self.all or (self.json and self.top is None) else self.top_or_default()

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
            "in Python.",
            "model-kind",
        )
    describe = inspect_linear if own is None else load(own.shell).inspect
    describe(saved, learner, given)


def inspect_linear(saved: "Model", learner: Any, given: InspectOptions) -> None:
    """Print what a linear model is, and its most important columns."""
    from ..jobs.importances import rank_columns

    coef, bias = learner.coefficients()
    deviations = None if given.data is None else read_deviations(saved, given.data, coef.shape[1])
    ranked = rank_columns(saved, coef, deviations, given.count_columns())
    if given.plot is not None:
        from ..plots import ImportanceDisplay

        ImportanceDisplay.from_importances(ranked, saved.classes).save(given.plot)
    if given.json:
        print_linear(saved, coef, bias, ranked)
        return
    about = about_model(saved, coef, None if given.all else LISTED)
    print("\n".join(map(fold, [*about, *about_scores(saved)])))
    raw, raw_bias = to_file_units(saved, coef, bias)
    if ranked and ranked[0].importance is not None:
        print("Importance is the largest weight × the standard deviation of the column:")
    for line in tabulate_importances(ranked):
        column, text = line
        print(fold(f"{text}: {format_weights(raw[:, column], coef[:, column])}"))
    if saved.target == "ranks":
        print(fold(f"  thresholds: {format_weights(-raw_bias, -bias)}"))
    else:
        print(fold(f"  bias: {format_weights(raw_bias, bias)}"))
    if given.plot is not None:
        print(f"Wrote the figure to {given.plot}.")


def to_file_units(saved: "Model", coef: Any, bias: Any) -> tuple[Any, Any]:
    """The weights and biases in the units of the file, where the model has scaled columns."""
    from ..reading.units import in_file_units

    recipe = saved.features.get("recipe")
    raw, raw_bias = (coef, bias) if recipe is None else in_file_units(recipe, coef, bias)
    if saved.target == "numbers":
        scale = saved.facts["numbers"]
        raw, raw_bias = raw * scale["scale"], raw_bias * scale["scale"] + scale["center"]
    return raw, raw_bias


def read_deviations(saved: "Model", data: str, width: int) -> Any:
    """The standard deviations of columns over all rows of a file."""
    from ..jobs.data import open_like
    from ..jobs.importances import measure_deviations

    rows: Any = open_like(saved, data, labels=False)
    return measure_deviations(rows, width)


def tabulate_importances(ranked: "list[Importance]") -> list[tuple[int, str]]:
    """The number of each column, and its importance, a bar and its name."""
    known = [one.importance for one in ranked if one.importance is not None]
    most = max(known, default=0.0) or 1.0
    lines = []
    for one in ranked:
        if one.importance is None:
            lines.append(
                (one.column, f"  {one.name}" if not known else f"{'–':>10}{'':15}{one.name}")
            )
            continue
        bar = "█" * round(12 * one.importance / most)
        lines.append((one.column, f"{one.importance:10.4g} {bar:<12}  {one.name}"))
    return lines


def print_linear(saved: "Model", coef: Any, bias: Any, ranked: "list[Importance]") -> None:
    """Print a linear model as one JSON object."""
    raw, raw_bias = to_file_units(saved, coef, bias)
    columns = [{**one._asdict(), "file_weights": raw[:, one.column].tolist()} for one in ranked]
    recipe = saved.features.get("recipe") or {}
    print(
        json.dumps(
            {
                **describe_model(saved),
                "label": recipe.get("label"),
                "n_features": coef.shape[1],
                "bias": bias.tolist(),
                "file_bias": raw_bias.tolist(),
                "columns": columns,
            },
            default=str,
        )
    )


def describe_model(saved: "Model") -> dict[str, Any]:
    """What a model is and how it was trained, as JSON values."""
    facts = saved.facts
    kept = ("rows", "class_rows", "stop_reason", "held_out", "tuning")
    return {
        "estimator": saved.estimator,
        "parameters": dict(saved.parameters),
        "classes": saved.classes.tolist(),
        "probabilities": "calibration" in facts,
        "conformal_rows": len(facts["conformal"]["scores"]) if "conformal" in facts else 0,
        **{name: facts[name] for name in kept if name in facts},
        "history": [epoch._asdict() for epoch in saved.history],
    }


def format_signed(numbers: Any) -> str:
    """Numbers with their signs."""
    return " ".join(f"{number:+.6g}" for number in numbers.tolist())


def format_weights(raw: Any, scaled: Any) -> str:
    """Weights in the units of the file and, where they differ, those of the scaled columns."""
    same = format_signed(raw) == format_signed(scaled)
    return format_signed(raw) if same else f"{format_signed(raw)} (scaled: {format_signed(scaled)})"


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
        *about_columns(FeatureRecipe(**model.features.get("recipe", {})), most),
        f"{count(coef.shape[1], 'feature')}, {coef.dtype}; solution {parameters['solution']}",
        "; ".join(f"{name} {value}" for name, value in how.items() if value is not None),
        f"{count(updates, made)} in {count(seen, 'row')} seen; stopped: {facts.get('stop_reason')}",
    ]
    lines += about_epochs(model)
    if "calibration" in facts:
        lines.append("Gives probabilities (predict --probabilities)")
    if "conformal" in facts:
        what = "sets" if model.target != "numbers" else "intervals"
        known = count(len(facts["conformal"]["scores"]), "row")
        lines.append(
            f"Gives prediction {what} (predict --coverage) from {known} that it had not learnt"
        )
    if "tuning" in facts:
        lines.append(about_choice(facts["tuning"]))
    if "stream" in facts:
        stream = facts["stream"]
        alarms = count(len(stream["alarms"]), "drift alarm")
        lines.append(f"{summarize_stream(stream)}; {alarms}")
    if "held_out" in facts:
        lines.append(f"Held-out {held_out_line(facts)}")
    return lines


def about_epochs(model: "Model") -> list[str]:
    """The number of epochs, and the errors in the first and the last."""
    if not model.history:
        return []
    first, last = model.history[0], model.history[-1]
    epochs = count(last.epoch, "epoch")
    if model.target == "numbers":
        losses = [f"{epoch.loss / max(epoch.rows, 1):.4g}" for epoch in (first, last)]
        between = f"mean loss in the first {losses[0]}, in the last {losses[1]}, in deviations"
        return [f"{epochs}; {between}"]
    shares = [f"{epoch.errors / max(epoch.rows, 1):.2%}" for epoch in (first, last)]
    return [f"{epochs}; mistakes in the first {shares[0]}, in the last {shares[1]} of the rows"]


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
