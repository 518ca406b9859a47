"""Print what a model is, how it was trained, and its largest weights."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .format import (
    LISTED,
    about_choice,
    about_classes,
    about_columns,
    count,
    count_features,
    count_updates,
    errors,
    fold,
    list_kinds,
)
from .options import output_option
from .panels import CommandError, command
from .predict import MODEL, load_learner

if TYPE_CHECKING:
    from ..storage.model import Model


@dataclass
class InspectOptions:
    """How much of a model is printed."""

    top: int = output_option(
        help="Number of columns to print, by largest weight; for taggers, of features per tag.",
        default=10,
        type=click.IntRange(min=0),
    )
    all: bool = output_option(help="Print all columns and classes.", default=False)


@command(
    MODEL,
    examples=[
        "rosenblatt inspect model.safetensors --top 20",
        "rosenblatt inspect model.safetensors --all",
    ],
)
def inspect(model: Path, given: InspectOptions) -> None:
    """Print what a model is, how it was trained, and its largest weights."""
    saved, learner = load_learner(model)
    describe = {"linear": inspect_linear, "sequence": inspect_tagger}.get(learner.kind)
    if describe is None:
        raise CommandError(
            f"{model} is a {saved.estimator}, and inspect describes linear models and taggers; "
            "use rosenblatt.load in Python.",
            "model-kind",
        )
    describe(saved, learner, given)


def inspect_linear(saved: "Model", learner: Any, given: InspectOptions) -> None:
    """Print what a linear model is, and its largest weights."""
    import numpy as np

    from ..reading.units import in_file_units

    coef, bias = learner.coefficients()
    about = about_model(saved, coef, None if given.all else LISTED)
    print("\n".join(map(fold, [*about, *about_scores(saved)])))
    names = column_names(saved)
    sizes = np.abs(coef).max(axis=0)  # of columns of one size, which can be compared
    largest = np.argsort(-sizes, kind="stable")[: given.top]
    recipe = saved.features.get("recipe")
    raw, raw_bias = (coef, bias) if recipe is None else in_file_units(recipe, coef, bias)
    for k in largest[sizes[largest] > 0].tolist():
        print(f"  {names(k)}: {format_weights(raw[:, k], coef[:, k])}")
    print(f"  bias: {format_weights(raw_bias, bias)}")


def column_names(model: "Model") -> Callable[[int], str]:
    """What columns are called: by name, or as the file numbers them."""
    known = dict(model.features.get("largest", []))
    known |= dict(enumerate(model.features.get("names", [])))
    first = (model.features.get("recipe") or {}).get("first")
    if first is not None:
        return lambda column: f"index {column + first}"
    return lambda column: known.get(column, f"column {column}")


def format_signed(numbers: Any) -> str:
    """Numbers with their signs."""
    return " ".join(f"{number:+.6g}" for number in numbers.tolist())


def format_weights(raw: Any, scaled: Any) -> str:
    """Weights in the units of the file and, where they differ, those of the scaled columns."""
    same = format_signed(raw) == format_signed(scaled)
    return format_signed(raw) if same else f"{format_signed(raw)} (scaled: {format_signed(scaled)})"


def about_model(model: "Model", coef: Any, most: int | None = None) -> list[str]:
    """What a model is and how it was trained; at most some of many names, unless None."""
    from ..data.targets import Score
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
        f"{kind} for {len(model.classes)} {list_kinds(model)}: {about_classes(model, most)}",
        *about_columns(FeatureRecipe(**model.features.get("recipe", {})), most),
        f"{count(coef.shape[1], 'feature')}, {coef.dtype}; solution {parameters['solution']}",
        "; ".join(f"{name} {value}" for name, value in how.items() if value is not None),
        f"{count(updates, made)} in {count(seen, 'row')} seen; stopped: {facts.get('stop_reason')}",
    ]
    if model.history:
        first, last = model.history[0], model.history[-1]
        shares = [f"{epoch.errors / max(epoch.rows, 1):.2%}" for epoch in (first, last)]
        lines.append(
            f"{count(last.epoch, 'epoch')}; mistakes in the first {shares[0]}, in the last "
            f"{shares[1]} of the rows"
        )
    if "calibration" in facts:
        lines.append("Gives probabilities (predict --probabilities)")
    if "tuning" in facts:
        lines.append(about_choice(facts["tuning"]))
    if "held_out" in facts:
        lines.append(f"Held-out {errors(Score(**facts['held_out']))}")
    return lines


def about_scores(model: "Model") -> list[str]:
    """How a score comes about and what it says."""
    if model.parameters["solution"] == "vote":
        return ["A score is the share of votes of all weights. The last weights:"]
    first, second = (str(label) for label in (*model.classes[:2], "")[:2])
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
        f"The largest weights{units}:",
    ]


def inspect_tagger(model: "Model", learner: Any, options: InspectOptions) -> None:
    """Print what a tagger is, and for each tag the features with the largest weights."""
    from ..learners.sequence.explaining import best_predecessors

    given, top = model.parameters, options.top
    search = "greedy" if learner.greedy else "Viterbi"
    print(
        f"{model.estimator} for {count(len(learner.classes), 'tag')}, {search}, order of tags "
        f"{given['markov']}; solution {given['solution']}"
    )
    templates = learner.templates
    print(
        f"Tokens have {', '.join(learner.columns)}; {count_features(model):,} features of "
        f"{count(len(templates), 'template')}: {' '.join(templates)}"
    )
    if learner.tags.scheme is not None:
        print(f"Chunks in {learner.tags.scheme.name}; inside, IOBES.")
    updates, epochs = count(learner.state.mistakes, "update"), count(len(model.history), "epoch")
    print(f"{updates} in {epochs}; stopped: {model.facts.get('stop_reason', 'max_iter')}")
    if learner.refusal("learn"):
        print(learner.refusal("learn"))
    names = [*learner.tags.names, "the start"]
    for tag, name in enumerate(learner.tags.names):
        loud = learner.loudest_features(tag, top)
        print(f"{name}: " + ", ".join(f"{feature} {weight:+.4g}" for feature, weight in loud))
        if given["markov"]:
            weights, settings = learner.coefficients(), learner.settings
            after = best_predecessors(weights, settings, tag, min(top, 5))
            print("  after " + ", ".join(f"{names[p]} {weight:+.4g}" for p, weight in after))
