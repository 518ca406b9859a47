"""Evaluate a model on a file, and compare two models."""

import json
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .commands import CommandError, DescribedArgument, command
from .data import check_input, check_output, open_source, print_note
from .format import LISTED, clip, count, fold, list_result, list_rows
from .predict import (
    FILE,
    JsonOption,
    ScoreOptions,
    ThresholdOption,
    check_coverage,
    load_learner,
    output_option,
)

if TYPE_CHECKING:
    from ..data.results import Result

CURVES = ("thresholds", "calibration")  # tables that are printed on request
FEW_ROWS = 20  # and fewer may all be predicted as one class by chance


@dataclass
class EvaluationOptions(JsonOption):
    """What is printed about an evaluation, and where."""

    curves: bool = output_option(
        "Also print precision and recall at several thresholds, and the calibration curve.",
        default=False,
    )
    coverage: float | None = output_option(
        "Also print the share of rows whose label is in its prediction set, or interval, of "
        "this coverage, and their mean size. Needs a model of train --conformal.",
        metavar="SHARE",
        shown="off",
    )
    report: Path | None = output_option(
        "Write a report to FILE as one HTML page: curves, confusion, importances, and the "
        "errors that the model was most sure about.",
        shown="off",
    )


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
    examples=[
        "rosenblatt score model.safetensors test.csv",
        "rosenblatt score model.safetensors test.csv --curves --threshold 0.3",
        "rosenblatt score model.safetensors test.csv --curves --positive-class fraud",
        "rosenblatt score model.safetensors test.csv --coverage 0.9",
        "rosenblatt score model.safetensors test.csv --report report.html",
        "rosenblatt score old.safetensors new.safetensors test.csv",
    ],
)
def score(
    models: tuple[Path, ...],
    data: str,
    given: ScoreOptions,
    decision: ThresholdOption,
    result: EvaluationOptions,
) -> None:
    """Print the error of a model on a file, with other metrics, or which of two models is better.

    Errors of two models are compared by the exact McNemar test, numbers by a paired t-test.

    Log loss, Brier score and calibration need a model of train --probabilities. ROC and
    precision-recall areas are exact up to 16 million scores; above, scores are counted in 4,096
    bins.
    """
    if len(models) > 1:
        compare(models, data, given, decision, result)
        return
    from ..jobs.data import ExampleFile, open_like
    from ..jobs.evaluate import evaluate
    from .report import show_reading

    model = models[0]
    check_output(result.report, model, data)
    saved, learner = load_learner(model)
    opened = open_like(saved, open_source(data), labels=True, **given.options())
    if isinstance(opened, ExampleFile):
        opened.refuse(coverage=result.coverage, curves=result.curves)
    else:
        check_coverage(result.coverage, learner, model)
        if result.curves:
            refuse_curves(learner)
    with show_reading(opened.size, sys.stderr.isatty()) as tell:
        found = evaluate(
            learner,
            opened,
            tell,
            decision.threshold,
            coverage=result.coverage,
            positive_class=decision.positive_class,
        )
    note_rows(data, opened, found)
    if decision.positive_class is None and found.positive_class is not None:
        note_frequent(found)
    if result.report is not None:
        from ..jobs.report_page import write_report
        from .inspect import about_model

        linear = learner.kind == "linear"
        facts = about_model(saved, learner.coefficients()[0], LISTED) if linear else []
        names, parts = (model.name, data), (saved, learner, opened)
        write_report(result.report, names, parts, found, facts)
    if result.json:
        print(json.dumps({"data": data, **found.as_dict()}))
        return
    left_out = () if result.curves else CURVES
    lines = [f"{data}: {found.headline()}.", *list_result(found, left_out)]
    lines += [f"Wrote the report to {result.report}."] if result.report is not None else []
    print("\n".join(map(fold, lines)))


def refuse_curves(learner: Any) -> None:
    """Refuse --curves for a model whose scores have neither thresholds nor probabilities."""
    from ..jobs.decisions import find_probabilities

    single = learner.target_kind == "classes" and not learner.multilabel
    two = single and len(learner.classes) == 2
    if not (two or (single and find_probabilities(learner) is not None)):
        raise CommandError(
            "--curves is for two classes, or for models of train --probabilities with one label "
            "per row; leave it out.",
            "curves-classes",
        )


def note_frequent(found: Any) -> None:
    """Note if average precision and curves are about a class with twice the rows of the other."""
    rows = found.class_rows
    if rows[1] > 2 * rows[0]:
        first, second = map(str, found.classes.tolist())
        print_note(
            f"Average precision, curves and thresholds are about {clip(second)}, the more frequent "
            f"class; --positive-class {shlex.quote(first)} makes them about {clip(first)}."
        )


def note_rows(data: str, opened: Any, found: "Result | None" = None) -> None:
    """Note rows without a label, unknown labels, and rows that are all predicted as one class."""
    for notice in getattr(opened, "notices", []):
        if notice.code == "label-missing":
            print_note(f"{data}: {notice}")
    if found is None:
        return
    if found.constant_class is not None and sum(found.class_rows) >= FEW_ROWS:
        print_note(
            f"All rows of {data} are predicted as {clip(found.constant_class)}. Train with "
            "--balanced or --tune --metric f1 to find rows of a rare class."
        )
    if found.unknown:
        label = found.unknown_label
        remark = found.unknown_remark.format(
            example="" if label is None else f", such as {clip(label)!r},"
        )
        print_note(f"{count(found.unknown, 'row')} of {data} with labels {remark}.")


def compare(
    models: tuple[Path, ...],
    data: str,
    given: ScoreOptions,
    decision: ThresholdOption,
    result: EvaluationOptions,
) -> None:
    """Print which of two models is better on a file, and whether that could be chance."""
    if len(models) > 2:
        raise CommandError("score takes one model, or two to compare.", "models")
    if decision != ThresholdOption() or result != EvaluationOptions(json=result.json):
        raise CommandError(
            "Options for one model do not apply to two; leave all but --json out.", "conflict"
        )
    from ..jobs.compare import compare as compare_models
    from ..jobs.data import open_like
    from .report import show_reading

    check_input(data)
    if data == "-":
        raise CommandError(
            "Standard input can be read only once, and two models read it; write it to a file "
            "first.",
            "read-once",
        )
    pairs = [load_learner(path) for path in models]
    files = [open_like(saved, data, labels=True, **given.options()) for saved, _ in pairs]
    with show_reading(files[0].size, sys.stderr.isatty()) as tell:
        found = compare_models((pairs[0][1], pairs[1][1]), (files[0], files[1]), tell)
    note_rows(data, files[0], found)
    if result.json:
        print(json.dumps({"data": data, "models": [*map(str, models)], **found.as_dict()}))
        return
    one, other = ("only A right", "only B right")
    if pairs[0][1].target_kind == "numbers":
        one, other = ("A nearer", "B nearer")
    only = f"{one} {found.better[0]:,}, {other} {found.better[1]:,}"
    lines = [
        f"A: {models[0]}",
        f"B: {models[1]}",
        f"{data}: {count(found.rows, found.counted)}; {only}.",
        *list_rows(found.tables()[0]),
        found.verdict(("A", "B")),
    ]
    print("\n".join(map(fold, lines)))
