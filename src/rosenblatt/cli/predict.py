"""What a model says, how well, and what it is."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .data import FORMAT_HELP, Header, Threads, check_output
from .format import about_classes, about_columns, count, errors, kinds_in, table, table_of_labels
from .sequences import inspect_sequences, predict_sequences, score_sequences, tagger_in

if TYPE_CHECKING:
    from ..learners.linear import LinearLearner
    from ..reading.reader import Reader
    from ..storage.model import Model

FILE_HELP = "A file like the one that the model was trained on, or -."
ModelFile = Annotated[Path, typer.Argument(help="A model from train -o.", show_default=False)]
File = Annotated[str, typer.Argument(help=FILE_HELP, show_default=False)]
Format = Annotated[str | None, typer.Option("--format", help=FORMAT_HELP)]


def predict(
    model: ModelFile,
    data: File,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write here, not to standard output.")
    ] = None,
    show_scores: Annotated[
        bool, typer.Option("--scores", help="Scores (not probabilities) instead of labels.")
    ] = False,
    show_probabilities: Annotated[
        bool,
        typer.Option("--probabilities", help="The probability of each class instead of labels."),
    ] = False,
    kind: Format = None,
    header: Header = None,
    threads: Threads = None,
) -> None:
    """Predict the label of every row of a file, in its order, a line each; fill in tags."""
    from ..jobs.evaluate import scored
    from ..training.report import bar_of_reading

    check_output(output, model, data)
    if show_scores and show_probabilities:
        raise ValueError("--scores or --probabilities: leave one out.")
    tagger = tagger_in(model)
    if tagger is not None:
        options: dict[str, Any] = {"scores": show_scores, "probabilities": show_probabilities}
        refuse_for_taggers(**options, header=header, threads=threads)
        predict_sequences(tagger, data, output, kind)
        return
    given: dict[str, Any] = {"format": kind, "header": header, "threads": threads}
    learner, reader = learner_and_reader(model, data, labels=False, **given)
    say = lines_for(learner, reader.parser.recipe.labels_separator)
    probable = probabilities_of(learner, model) if show_probabilities else None
    seen = sys.stderr.isatty() and not (output is None and sys.stdout.isatty())
    with open_output(output) as out, bar_of_reading(reader.size, seen) as tell:
        for batch, activations in scored(learner, reader):
            tell(batch.bytes_read)
            if show_scores or show_probabilities:
                shown = activations if probable is None else probable(activations)
                table = shown.reshape(len(shown), -1).tolist()
                lines = [" ".join(f"{value:.9g}" for value in row) + "\n" for row in table]
            else:
                lines = say(learner.choose(activations))
            if batch.ids is not None:
                ids = (in_one_line(name).replace("\t", "\\t") for name in batch.ids)
                lines = [f"{name}\t{line}" for name, line in zip(ids, lines, strict=True)]
            out.write("".join(lines))


def lines_for(learner: "LinearLearner", separator: str | None) -> Callable[[Any], list[str]]:
    """What writes the labels that were chosen, a row in a line, with the separator between."""
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


def probabilities_of(learner: "LinearLearner", path: Path) -> Callable[[Any], Any]:
    """What a model says of the probabilities of classes, from its scores."""
    if learner.calibration is None:
        raise ValueError(f"{path} knows no probabilities; train it with --probabilities.")
    calibration = learner.calibration
    return lambda scores: calibration.probabilities(scores, learner.choose(scores))


def in_one_line(name: Any) -> str:
    """A label as a line of its own: what would break it is written as an escape."""
    text = str(name)
    return text if text.isprintable() else "".join(map(escaped, text))


def escaped(letter: str) -> str:
    """A letter, or the escape of one that is not printed."""
    return letter if letter.isprintable() or letter == "\t" else repr(letter)[1:-1]


def score(
    model: ModelFile,
    data: File,
    kind: Format = None,
    header: Header = None,
    threads: Threads = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """Tell the share of rows that a model gets wrong, and how well it finds each class."""
    from ..jobs.evaluate import evaluate
    from ..training.report import bar_of_reading

    tagger = tagger_in(model)
    if tagger is not None:
        refuse_for_taggers(header=header, threads=threads)
        score_sequences(tagger, data, kind, as_json)
        return
    given: dict[str, Any] = {"format": kind, "header": header, "threads": threads}
    learner, reader = learner_and_reader(model, data, labels=True, **given)
    with bar_of_reading(reader.size, sys.stderr.isatty()) as tell:
        found = evaluate(learner, reader, tell)
    if as_json:
        print(json.dumps({"data": data, **found.as_dict()}))
        return
    print(f"{data}: {errors(found.score)}.")
    print("\n".join(table_of_labels(found) if learner.multilabel else table(found)))


def inspect(
    model: ModelFile,
    top: Annotated[int, typer.Option(min=0, help="How many of the largest weights.")] = 10,
) -> None:
    """Tell what a model is, how it was trained, and its largest weights."""
    import numpy as np

    from ..learners.linear import LinearLearner
    from ..reading.units import in_file_units

    tagger = tagger_in(model)
    if tagger is not None:
        inspect_sequences(tagger, top)
        return
    saved = linear_model(model)
    coef, bias = LinearLearner.from_model(saved).coefficients()
    print("\n".join(about_model(saved, coef)))
    print("\n".join(about_scores(saved)))
    names = column_names(saved)
    sizes = np.abs(coef).max(axis=0)  # of columns of one size, which can be compared
    largest = np.argsort(-sizes, kind="stable")[:top]
    recipe = saved.features.get("recipe")
    if recipe is not None:
        coef, bias = in_file_units(recipe, coef, bias)
    for k in largest[sizes[largest] > 0].tolist():
        print(f"  {names(k)}: {signed(coef[:, k])}")
    print(f"  bias: {signed(bias)}")


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


def about_model(model: "Model", coef: Any) -> list[str]:
    """What a model is and how it was trained."""
    from ..jobs.evaluate import Score
    from ..parameters import RULE_NAMES, RULE_TABLE
    from ..reading.recipe import FeatureRecipe

    facts, parameters = model.facts, model.parameters
    mistakes = sum(state.mistakes for state in model.states)
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
        f"{kind} for {len(model.classes)} {kinds_in(model)}: {about_classes(model)}",
        *about_columns(FeatureRecipe(**model.features.get("recipe", {}))),
        f"{count(coef.shape[1], 'feature')}, {coef.dtype}; solution {parameters['solution']}",
        "; ".join(f"{name} {value}" for name, value in how.items() if value is not None),
        f"{count(mistakes, 'mistake')} in {count(seen, 'row')} seen; stopped: "
        f"{facts.get('stop_reason')}",
    ]
    if model.history:
        first, last = model.history[0], model.history[-1]
        shares = [f"{epoch.mistakes / max(epoch.rows, 1):.2%}" for epoch in (first, last)]
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
        lines.append(f"The best of {tried}: error {best:.2%} on rows held out, usual {usual:.2%}")
    if "held_out" in facts:
        lines.append(f"Held-out {errors(Score(**facts['held_out']))}")
    return lines


def about_scores(model: "Model") -> list[str]:
    """How a score comes about and what it says."""
    if model.parameters["solution"] == "vote":
        return ["A score is the share of votes of all weights there were; the last of them:"]
    first, second = (str(label) for label in (*model.classes[:2], "")[:2])
    if model.is_multilabel:
        says = f"one for each label ({first}, …), and above 0 a row has it"
    elif len(model.classes) == 2:
        says = f"above 0 says {second}, else {first}"
    else:
        says = f"one for each class ({first}, {second}, …), and the largest wins"
    return [
        f"A score is the bias and the sum of weight × feature: {says}.",
        "Its size is no probability, but a larger one is further from the boundary. The largest "
        "weights:",
    ]


def export(
    model: ModelFile,
    output: Annotated[Path, typer.Argument(help="The ONNX file to write.", show_default=False)],
) -> None:
    """Write a model of columns of numbers as an ONNX file."""
    from ..export import write_onnx
    from ..storage.file import load_model

    check_output(output, model)
    columns = write_onnx(output, load_model(model))
    print(f"{output}: {columns:,} columns in, labels and scores out.")


def linear_model(path: Path) -> "Model":
    """A saved model with weights, which the commands need."""
    from ..storage.file import load_model

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
    from ..disk import replacing

    with replacing(path) as temporary, temporary.open("w", encoding="utf-8") as out:
        yield out
