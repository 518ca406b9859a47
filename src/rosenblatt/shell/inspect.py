"""Print what a model is, how it was trained, and its most important columns."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..slices import find_by_estimator, load
from .commands import CommandError, command
from .format import (
    clip,
    count,
    count_features,
    count_updates,
    describe_choice,
    describe_columns,
    describe_held_out,
    describe_model,
    describe_stream,
    describe_target,
)
from .output import print_lines
from .predict import MODEL, load_learner, output_option

if TYPE_CHECKING:
    from ..storage.model import Model


@dataclass
class InspectOptions:
    """How much of a model is printed."""

    top: int = output_option(
        "Number of columns to print, by importance.", default=10, type=click.IntRange(min=0)
    )
    json: bool = output_option("Print one JSON object, with all columns.", default=False)


@command(MODEL)
def inspect(model: Path, given: InspectOptions) -> None:
    """Print what a model is, how it was trained, and its most important columns.

    Examples
    --------
    rosenblatt inspect model.safetensors --top 20
    rosenblatt inspect model.safetensors --json
    """
    saved, learner = load_learner(model)
    own = find_by_estimator(saved.estimator)
    if own is not None and not own.shell:
        raise CommandError(f"{model} is a {saved.estimator}; inspect is for linear models.")
    describe = inspect_linear if own is None else load(own.shell).inspect
    describe(saved, learner, given)


def inspect_linear(saved: "Model", learner: Any, given: InspectOptions) -> None:
    """Print what a linear model is, and its most important columns."""
    from ..jobs.importances import rank_columns

    coef, bias = learner.coefficients()
    ranked = rank_columns(saved, coef, None, None if given.json else given.top)
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
    lines = [*describe_linear(saved, coef), describe_scores(saved)]
    largest = max((one.importance or 0.0 for one in ranked), default=0.0) or 1.0
    known = bool(ranked) and ranked[0].importance is not None
    lines.append("Importance (weight × deviation), and weights in the units of the file:")
    for one in ranked:
        bar = "█" * round(12 * (one.importance or 0.0) / largest)
        size = "–" if one.importance is None else f"{one.importance:.4g}"
        measured = f"{size:>10} {bar:<12}" if known else ""
        lines.append(f"{measured}  {one.name}: {format_weights(raw[:, one.column])}")
    name, sign = ("thresholds", -1) if saved.target == "ranks" else ("bias", 1)
    lines.append(f"  {name}: {format_weights(sign * raw_bias)}")
    print_lines(lines)


def to_file_units(saved: "Model", coef: Any, bias: Any) -> tuple[Any, Any]:
    """The weights and biases in the units of the file, where the model has scaled columns."""
    from ..reading.arrow import in_file_units

    recipe = saved.features.get("recipe")
    raw, raw_bias = (coef, bias) if recipe is None else in_file_units(recipe, coef, bias)
    if saved.target == "numbers":
        scale = saved.facts["numbers"]
        raw, raw_bias = raw * scale["scale"], raw_bias * scale["scale"] + scale["center"]
    return raw, raw_bias


def format_weights(weights: Any) -> str:
    """Weights with their signs."""
    return " ".join(f"{each:+.6g}" for each in weights.tolist())


def describe_linear(model: "Model", coef: Any) -> list[str]:
    """What a linear model is and how it was trained."""
    from ..parameters import RULE_NAMES, RULE_TABLE
    from ..reading.recipe import FeatureRecipe
    from ..training.scoring import format_epoch

    facts, parameters, history = model.facts, model.parameters, model.history
    own = RULE_TABLE[RULE_NAMES[model.estimator]].own
    how = {
        "order": parameters.get("order"),
        **{name: parameters.get(name) or None for name in sorted(own)},
        "bias step": facts.get("intercept_step"),
        "seed": parameters.get("random_state"),
        "class weights": parameters.get("class_weight"),
    }
    seen = count(sum(state.seen for state in model.states), "row")
    lines = [
        f"{model.estimator} for {describe_target(model)}",
        *describe_columns(FeatureRecipe(**model.features.get("recipe", {}))),
        f"{count_features(model)}, {coef.dtype}; solution {parameters['solution']}",
        "; ".join(f"{name} {value}" for name, value in how.items() if value is not None),
        f"{count_updates(model)} in {seen} seen; stopped: {facts.get('stop_reason')}",
    ]
    lines += [format_epoch(each, model.target) for each in (*history[:1], *history[1:][-1:])]
    if "calibration" in facts:
        lines.append("Gives probabilities (predict --probabilities)")
    if "conformal" in facts:
        what = "sets" if model.target != "numbers" else "intervals"
        known = count(len(facts["conformal"]["scores"]), "row")
        lines.append(
            f"Gives prediction {what} (predict --coverage) from {known} that it had not learnt"
        )
    lines += describe_choice(facts["tuning"])[:2] if "tuning" in facts else []
    lines += describe_stream(facts["stream"])[:1] if "stream" in facts else []
    lines += [f"Held-out {describe_held_out(facts)}"] if "held_out" in facts else []
    return lines


def describe_scores(model: "Model") -> str:
    """How a score comes about and what it says."""
    score = "A score, no probability, is the bias and the sum of weight × feature"
    if model.target == "numbers":
        return "A prediction is the bias and the sum of weight × feature."
    if model.target == "ranks":
        return f"{score}. It is compared with the thresholds."
    if model.is_multilabel or len(model.classes) != 2:
        rule = "above 0 a row has the label" if model.is_multilabel else "the largest wins"
        return f"{score}: one for each {'label' if model.is_multilabel else 'class'}, and {rule}."
    first, second = (clip(str(label)) for label in model.classes)
    return f"{score}: above 0 says {second}, else {first}."
