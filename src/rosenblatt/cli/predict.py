"""Predict with a model, evaluate it, print what it is, export it."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .data import FORMAT_HELP, check_output, input_option
from .format import (
    LISTED,
    about_classes,
    about_columns,
    count,
    errors,
    fold,
    list_kinds,
    table,
    table_of_labels,
)
from .options import output_option
from .panels import DescribedArgument, command
from .sequences import inspect_sequences, load_tagger, predict_sequences, score_sequences

if TYPE_CHECKING:
    from ..learners.linear import LinearLearner
    from ..reading.reader import Reader
    from ..storage.model import Model

MODEL = DescribedArgument(
    "model", "A model file written by train -o.", type=click.Path(path_type=Path)
)
FILE = DescribedArgument(
    "data", "A file like the one that the model was trained on, or - for standard input."
)


@dataclass
class ScoreOptions:
    """How a file is read that a model is used on."""

    format: str | None = input_option(help=FORMAT_HELP, shown="that of the training file")
    header: bool | None = input_option(
        "--header/--no-header", help="Whether the first row has names.", shown="detected"
    )
    threads: int | None = input_option(help="Number of threads that read.", shown="all cores")

    def options(self) -> dict[str, Any]:
        """The options of ``read``."""
        return {"format": self.format, "header": self.header, "threads": self.threads}


@dataclass
class PredictOptions(ScoreOptions):
    """What is written about each row, and where."""

    output: Path | None = output_option(
        "-o", "--output", help="Write to FILE.", shown="standard output"
    )
    scores: bool = output_option(help="Write the scores of the classes.", default=False)
    probabilities: bool = output_option(
        help="Write the probability of each class; needs train --probabilities.", default=False
    )


@dataclass
class JsonOption:
    """How a result is printed."""

    json: bool = output_option(help="Print one JSON object.", default=False)


@dataclass
class InspectOptions:
    """How much of a model is printed."""

    top: int = output_option(
        help="Number of the largest weights to print.", default=10, type=click.IntRange(min=0)
    )
    all: bool = output_option(help="Print all columns and classes.", default=False)


@command(
    MODEL,
    FILE,
    examples=[
        "rosenblatt predict model.safetensors new.csv -o labels.txt",
        "rosenblatt predict model.safetensors new.csv --probabilities",
    ],
)
def predict(model: Path, data: str, given: PredictOptions) -> None:
    """Write the predicted label of every row of a file, one per line.

    A tagger writes the file with its tags filled in.
    """
    from ..jobs.evaluate import scored
    from .report import show_reading

    check_output(given.output, model, data)
    if given.scores and given.probabilities:
        raise ValueError("--scores or --probabilities: leave one out.")
    tagger = load_tagger(model)
    if tagger is not None:
        options = {"scores": given.scores, "probabilities": given.probabilities}
        refuse_for_taggers(**options, header=given.header, threads=given.threads)
        predict_sequences(tagger, data, given.output, given.format)
        return
    learner, reader = learner_and_reader(model, data, labels=False, **given.options())
    say = make_line_writer(learner, reader.parser.recipe.labels_separator)
    probable = compute_probabilities(learner, model) if given.probabilities else None
    seen = sys.stderr.isatty() and not (given.output is None and sys.stdout.isatty())
    with open_output(given.output) as out, show_reading(reader.size, seen) as tell:
        for batch, activations in scored(learner, reader):
            tell(batch.bytes_read)
            if given.scores or given.probabilities:
                shown = activations if probable is None else probable(activations)
                table = shown.reshape(len(shown), -1).tolist()
                lines = [" ".join(f"{value:.9g}" for value in row) + "\n" for row in table]
            else:
                lines = say(learner.choose(activations))
            if batch.ids is not None:
                ids = (in_one_line(name).replace("\t", "\\t") for name in batch.ids)
                lines = [f"{name}\t{line}" for name, line in zip(ids, lines, strict=True)]
            out.write("".join(lines))


def make_line_writer(learner: "LinearLearner", separator: str | None) -> Callable[[Any], list[str]]:
    """Return a function that writes the labels of rows, one row per line."""
    names = [in_one_line(name) for name in learner.classes.tolist()]
    if not learner.multilabel:
        return lambda codes: [f"{names[code]}\n" for code in codes.tolist()]

    def lines(chosen: Any) -> list[str]:
        pairs = (compress(names, row) for row in chosen.tolist())
        return [(separator or ",").join(labels) + "\n" for labels in pairs]

    return lines


def refuse_for_taggers(**options: Any) -> None:
    """Refuse options that would do nothing for a tagger."""
    for option, given in options.items():
        if given:
            raise ValueError(f"--{option} is not for taggers; leave it out.")


def compute_probabilities(learner: "LinearLearner", path: Path) -> Callable[[Any], Any]:
    """Return the function from scores to probabilities of the classes."""
    if learner.calibration is None:
        raise ValueError(f"{path} has no probabilities; train it with --probabilities.")
    calibration = learner.calibration
    return lambda scores: calibration.probabilities(scores, learner.choose(scores))


def in_one_line(name: Any) -> str:
    """Write a label in one line; characters that would break it become escapes."""
    text = str(name)
    return text if text.isprintable() else "".join(map(escaped, text))


def escaped(letter: str) -> str:
    """A letter, or the escape of one that is not printed."""
    return letter if letter.isprintable() or letter == "\t" else repr(letter)[1:-1]


@command(MODEL, FILE, examples=["rosenblatt score model.safetensors test.csv"])
def score(model: Path, data: str, given: ScoreOptions, result: JsonOption) -> None:
    """Print the error of a model on a file, with precision, recall and F1 of each class."""
    from ..jobs.evaluate import evaluate
    from .report import show_reading

    tagger = load_tagger(model)
    if tagger is not None:
        refuse_for_taggers(header=given.header, threads=given.threads)
        score_sequences(tagger, data, given.format, result.json)
        return
    learner, reader = learner_and_reader(model, data, labels=True, **given.options())
    with show_reading(reader.size, sys.stderr.isatty()) as tell:
        found = evaluate(learner, reader, tell)
    if result.json:
        print(json.dumps({"data": data, **found.as_dict()}))
        return
    print(f"{data}: {errors(found.score)}.")
    print("\n".join(table_of_labels(found) if learner.multilabel else table(found)))


@command(
    MODEL,
    examples=[
        "rosenblatt inspect model.safetensors --top 20",
        "rosenblatt inspect model.safetensors --all",
    ],
)
def inspect(model: Path, given: InspectOptions) -> None:
    """Print what a model is, how it was trained, and its largest weights."""
    import numpy as np

    from ..learners.linear import LinearLearner
    from ..reading.units import in_file_units

    tagger = load_tagger(model)
    if tagger is not None:
        inspect_sequences(tagger, given.top)
        return
    saved = linear_model(model)
    coef, bias = LinearLearner.from_model(saved).coefficients()
    about = about_model(saved, coef, None if given.all else LISTED)
    print("\n".join(map(fold, [*about, *about_scores(saved)])))
    names = column_names(saved)
    sizes = np.abs(coef).max(axis=0)  # of columns of one size, which can be compared
    largest = np.argsort(-sizes, kind="stable")[: given.top]
    recipe = saved.features.get("recipe")
    raw, raw_bias = (coef, bias) if recipe is None else in_file_units(recipe, coef, bias)
    for k in largest[sizes[largest] > 0].tolist():
        print(f"  {names(k)}: {with_scaled(raw[:, k], coef[:, k])}")
    print(f"  bias: {with_scaled(raw_bias, bias)}")


def column_names(model: "Model") -> Callable[[int], str]:
    """What columns are called: by name, or as the file numbers them."""
    known = dict(model.features.get("largest", []))
    known |= dict(enumerate(model.features.get("names", [])))
    first = (model.features.get("recipe") or {}).get("first")
    if first is not None:
        return lambda column: f"index {column + first}"
    return lambda column: known.get(column, f"column {column}")


def signed(numbers: Any) -> str:
    """Numbers with their signs."""
    return " ".join(f"{number:+.6g}" for number in numbers.tolist())


def with_scaled(raw: Any, scaled: Any) -> str:
    """Weights in the units of the file and, where they differ, those of the scaled columns."""
    same = signed(raw) == signed(scaled)
    return signed(raw) if same else f"{signed(raw)} (scaled: {signed(scaled)})"


def about_model(model: "Model", coef: Any, most: int | None = None) -> list[str]:
    """What a model is and how it was trained; at most some of many names, unless None."""
    from ..data.targets import Score
    from ..parameters import RULE_NAMES, RULE_TABLE
    from ..reading.recipe import FeatureRecipe

    facts, parameters = model.facts, model.parameters
    updates = sum(state.mistakes for state in model.states)
    made = "mistake" if updates == sum(epoch.errors for epoch in model.history) else "update"
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
        best, usual = (
            each["error"] for each in (facts["tuning"]["best"][0], facts["tuning"]["usual"])
        )
        tried = f"{facts['tuning']['tried']} settings"
        lines.append(f"Best of {tried}: held-out error {best:.2%}, by default {usual:.2%}")
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


@command(
    MODEL,
    DescribedArgument("output", "The ONNX file to write.", type=click.Path(path_type=Path)),
    examples=["rosenblatt export model.safetensors model.onnx"],
)
def export(model: Path, output: Path) -> None:
    """Write a model of columns of numbers as an ONNX file."""
    from ..export import write_onnx
    from ..learners import load_model

    check_output(output, model)
    columns = write_onnx(output, load_model(model))
    print(f"{output}: {columns:,} columns in, labels and scores out.")


def linear_model(path: Path) -> "Model":
    """A saved model with weights, which the commands need."""
    from ..learners import load_model

    saved = load_model(path)
    if not saved.is_linear:
        raise ValueError(
            f"{path} is a {saved.estimator}, and this command works with linear models; use "
            "rosenblatt.load in Python."
        )
    return saved


def learner_and_reader(
    path: Path, data: str, labels: bool, **options: Any
) -> "tuple[LinearLearner, Reader]":
    """A saved model, and a file read as the model's own was."""
    from ..learners.linear import LinearLearner
    from ..reading.reader import read

    saved = linear_model(path)
    recipe = saved.features.get("recipe")
    if recipe is None:
        raise ValueError(f"{path} was not trained from a file; use rosenblatt.load in Python.")
    options |= {} if labels else {"label": False}
    return LinearLearner.from_model(saved), read(data, features=recipe, **options)


@contextmanager
def open_output(path: Path | None) -> Iterator[Any]:
    """Standard output, or a file that appears when it is complete."""
    if path is None:
        if sys.stdout is None:
            raise ValueError("Standard output is closed; name a file with -o.")
        yield sys.stdout
        return
    from ..disk import replace_file

    with replace_file(path) as temporary, temporary.open("w", encoding="utf-8") as out:
        yield out
