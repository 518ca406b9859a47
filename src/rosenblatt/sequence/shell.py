"""Taggers in the shell: options of training, results in words, and what ``inspect`` prints."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..data.results import count
from ..parameters import Parameter
from ..shell.data import check_input

if TYPE_CHECKING:
    from ..shell.inspect import InspectOptions
    from ..storage.model import Model


def read_templates(path: str) -> list[str]:
    """Return the templates of a file, one per line."""
    check_input(path)
    lines = [line.strip() for line in Path(path).read_text("utf-8").splitlines()]
    return [line for line in lines if line and not line.startswith("#")]


SETTINGS = {"features": Parameter(None, help="File of templates of features, one per line")}
"""Parameters that ``train --set`` takes for files of sentences."""
PARSERS = {"features": read_templates}
"""How the values of some of them are made of text."""


def list_facts(model: "Model") -> dict[str, Any]:
    """What a training found, as JSON values."""
    known = [name for name in ("sentences", "tokens") if name in model.facts]
    return {
        **{name: model.facts[name] for name in known},
        "features": len(model.states[0].emissions),
        "scheme": model.features["scheme"],
    }


def summarize_data(model: "Model") -> str:
    """How much a training read, and what it found, in a line."""
    facts, scheme = model.facts, model.features["scheme"]
    size = f"{count(facts['sentences'], 'sentence')}, {count(facts['tokens'], 'token')}"
    chunks = "" if scheme is None else f" (chunks in {scheme})"
    features = f"{len(model.states[0].emissions):,} features"
    return f"{size}, {count(len(model.classes), 'tag')}{chunks}, {features}"


def inspect(model: "Model", learner: Any, options: "InspectOptions") -> None:
    """Print what a tagger is, and for each tag the features with the largest weights."""
    from ..shell.format import describe_model

    top = options.top
    if options.json:
        features = {
            str(name): [
                [feature, float(weight)] for feature, weight in learner.loudest_features(tag, top)
            ]
            for tag, name in enumerate(learner.tags.names)
        }
        print(json.dumps({**describe_model(model), "features": features}, default=str))
        return
    print(
        f"{model.estimator} for {count(len(learner.classes), 'tag')}; solution "
        f"{model.parameters['solution']}"
    )
    templates = learner.templates
    print(
        f"Tokens have {', '.join(learner.columns)}; {len(model.states[0].emissions):,} features of "
        f"{count(len(templates), 'template')}: {' '.join(templates)}"
    )
    if learner.tags.scheme is not None:
        print(f"Chunks in {learner.tags.scheme}; inside, IOBES.")
    updates, epochs = count(learner.state.mistakes, "update"), count(len(model.history), "epoch")
    print(f"{updates} in {epochs}; stopped: {model.facts.get('stop_reason', 'max_iter')}")
    if learner.refusal("learn"):
        print(learner.refusal("learn"))
    names = [*learner.tags.names, "the start"]
    for tag, name in enumerate(learner.tags.names):
        loud = learner.loudest_features(tag, top)
        print(f"{name}: " + ", ".join(f"{feature} {weight:+.4g}" for feature, weight in loud))
        after = learner.best_predecessors(tag, min(top, 5))
        print("  after " + ", ".join(f"{names[p]} {weight:+.4g}" for p, weight in after))
