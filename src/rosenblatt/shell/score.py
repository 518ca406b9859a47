"""Evaluate a model on a file, and compare two models."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .commands import CommandError, DescribedArgument, command
from .data import open_source
from .format import clip, count, list_result, list_rows
from .output import print_lines, print_note, show_reading
from .predict import FILE, ReadingOptions, load_learner, output_option

if TYPE_CHECKING:
    from ..data.results import Result

CURVES = ("top", "thresholds", "calibration", "worst")  # tables that are printed on request
FEW_ROWS = 20  # and fewer may all be predicted as one class by chance


@dataclass
class EvaluationOptions(ReadingOptions):
    """What is printed about an evaluation, and where."""

    curves: bool = output_option(
        "Also print precision and recall at several thresholds, or of the first k classes, the "
        "calibration curve, and the wrong rows that the model was most sure about.",
        default=False,
    )
    coverage: float | None = output_option(
        "Also test sets or intervals of this coverage (train --conformal).", "SHARE"
    )
    json: bool = output_option("Print one JSON object.", default=False)


@command(
    DescribedArgument(
        "models",
        "A model file written by train -o, or two to compare.",
        type=click.Path(path_type=Path),
        nargs=-1,
        required=True,
        metavar="MODEL [OTHER]",
    ),
    FILE,
)
def score(models: tuple[Path, ...], data: str, given: EvaluationOptions) -> None:
    """Print the error of a model on a file, with other metrics, or which of two models is better.

    Errors of two models are compared by the exact McNemar test, numbers by a paired t-test.

    Log loss, Brier score and calibration need a model of train --probabilities. Above 16 million
    scores, these and areas under curves are those of every second, fourth … row.

    Examples
    --------
    rosenblatt score model.safetensors test.csv
    rosenblatt score model.safetensors test.csv --curves --threshold 0.3
    rosenblatt score model.safetensors test.csv --curves --positive-class fraud
    rosenblatt score model.safetensors test.csv --coverage 0.9
    rosenblatt score old.safetensors new.safetensors test.csv
    """
    found, lines = (evaluate if len(models) == 1 else compare)(models, data, given)
    if given.json:
        named = {} if len(models) == 1 else {"models": [*map(str, models)]}
        print(json.dumps({"data": data, **named, **found.as_dict()}))
    else:
        print_lines(lines)


def evaluate(
    models: tuple[Path, ...], data: str, given: EvaluationOptions
) -> "tuple[Result, list[str]]":
    """Evaluate a model; return the result, and what is printed of it."""
    from ..jobs.data import ExampleFile, open_like
    from ..jobs.evaluate import evaluate as evaluate_learner

    saved, learner = load_learner(models[0])
    opened = open_like(saved, open_source(data), labels=True, **given.options())
    if isinstance(opened, ExampleFile):
        opened.refuse(coverage=given.coverage, curves=given.curves)
    with show_reading(opened.size) as tell:
        found = evaluate_learner(
            learner,
            opened,
            tell,
            threshold=given.threshold,
            coverage=given.coverage,
            positive_class=given.positive_class,
        )
    note_rows(data, opened, found)
    return found, [
        f"{data}: {found.headline()}.",
        *list_result(found, () if given.curves else CURVES),
    ]


def note_rows(data: str, opened: Any, found: "Result") -> None:
    """Note rows without a label, unknown labels, and rows that are all predicted as one class."""
    for notice in getattr(opened, "notices", []):
        if notice.code in ("label-missing", "header"):
            print_note(f"{data}: {notice}")
    if found.constant_class is not None and sum(found.class_rows) >= FEW_ROWS:
        print_note(
            f"All rows of {data} are predicted as {clip(found.constant_class)}. Train with "
            "--balanced or --tune --metric f1 to find rows of a rare class."
        )
    if found.full_stops:
        rows = count(found.full_stops, "row")
        print_note(f"The full stop at the end of the label is left out in {rows} of {data}.")
    if found.unknown:
        label = found.unknown_label
        remark = found.unknown_remark.format(
            example="" if label is None else f", such as {clip(label)!r},"
        )
        print_note(f"{count(found.unknown, 'row')} of {data} with labels {remark}.")


def compare(
    models: tuple[Path, ...], data: str, given: EvaluationOptions
) -> "tuple[Result, list[str]]":
    """Compare two models; return the result, and what is printed of it."""
    if len(models) > 2:
        raise CommandError("score takes one model, or two to compare.")
    names = "format", "no_header", "threads", "json"
    if given != EvaluationOptions(**{name: getattr(given, name) for name in names}):
        raise CommandError("Options for one model do not apply to two; leave all but --json out.")
    if data == "-":
        raise CommandError("Two models cannot read standard input, only once; write it to a file.")
    from ..jobs.compare import compare as compare_models
    from ..jobs.data import open_like

    (first, one), (second, other) = map(load_learner, models)
    source = open_source(data)
    files = [open_like(each, source, labels=True, **given.options()) for each in (first, second)]
    found = compare_models((one, other), (files[0], files[1]))
    note_rows(data, files[0], found)
    better = "nearer" if one.target_kind == "numbers" else "alone right"
    (left, right), (_, low, high, _) = found.better, found.difference
    rows = count(found.rows, getattr(files[0], "counted", "row"))
    return found, [
        f"A: {models[0]}",
        f"B: {models[1]}",
        f"{data}: {rows}; A {better} {left:,}, B {better} {right:,}.",
        *list_rows(found.tables()[0]),
        f"B − A: {found.of} {low:+.4f} to {high:+.4f} (95 % interval)",
        found.verdict(("A", "B")),
    ]
