"""Evaluate a model on a file, and compare two models."""

import json
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .data import check_input, check_output, open_source, print_note
from .format import (
    LISTED,
    about_coverage,
    clip,
    count,
    fold,
    summarize_evaluation,
    tabulate,
    tabulate_curves,
)
from .options import output_option
from .panels import CommandError, DescribedArgument, command
from .predict import (
    FILE,
    MODEL,
    JsonOption,
    ScoreOptions,
    ThresholdOption,
    check_coverage,
    load_learner,
)

if TYPE_CHECKING:
    from ..jobs.compare import Comparison

FEW_ROWS = 20  # and fewer may all be predicted as one class by chance


@dataclass
class EvaluationOptions(JsonOption):
    """What is printed about an evaluation, and where."""

    curves: bool = output_option(
        help="Also print precision and recall at several thresholds, and the calibration curve.",
        default=False,
    )
    coverage: float | None = output_option(
        help="Also print the share of rows whose label is in its prediction set, or interval, of "
        "this coverage, and their mean size. Needs a model of train --conformal.",
        metavar="SHARE",
        shown="off",
    )
    report: Path | None = output_option(
        help="Write a report to FILE as one HTML page: curves, confusion, importances, and the "
        "errors that the model was most sure about.",
        shown="off",
    )


@command(
    MODEL,
    FILE,
    examples=[
        "rosenblatt score model.safetensors test.csv",
        "rosenblatt score model.safetensors test.csv --curves --threshold 0.3",
        "rosenblatt score model.safetensors test.csv --curves --positive-class fraud",
        "rosenblatt score model.safetensors test.csv --coverage 0.9",
        "rosenblatt score model.safetensors test.csv --report report.html",
    ],
)
def score(
    model: Path,
    data: str,
    given: ScoreOptions,
    decision: ThresholdOption,
    result: EvaluationOptions,
) -> None:
    """Print the error of a model on a file, with other metrics, in total and by class.

    Log loss, Brier score and calibration need a model of train --probabilities. ROC and
    precision-recall areas are exact up to 16 million scores; above, scores are counted in 4,096
    bins.
    """
    from ..jobs.data import open_like
    from ..jobs.evaluate import evaluate
    from .report import show_reading

    check_output(result.report, model, data)
    saved, learner = load_learner(model)
    check_coverage(result.coverage, learner, model)
    if result.curves:
        refuse_curves(learner)
    opened = open_like(saved, open_source(data), labels=True, **given.options())
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
    if decision.positive_class is None and hasattr(found, "positive"):
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
    lines = [f"{data}: {summarize_evaluation(found)}.", *tabulate(found)]
    lines += about_coverage(found) if result.coverage is not None else []
    lines += tabulate_curves(found) if result.curves else []
    lines += [f"Wrote the report to {result.report}."] if result.report is not None else []
    print("\n".join(map(fold, lines)))


def refuse_curves(learner: Any) -> None:
    """Refuse --curves for a model whose scores have neither thresholds nor probabilities."""
    from ..jobs.decisions import find_probabilities

    single = learner.reads == "rows" and learner.target_kind == "classes" and not learner.multilabel
    two = single and len(learner.classes) == 2
    if not (two or (single and find_probabilities(learner) is not None)):
        raise CommandError(
            "--curves is for two classes, or for models of train --probabilities with one label "
            "per row; leave it out.",
            "curves-classes",
        )


def note_frequent(found: Any) -> None:
    """Note if average precision and curves are about a class with twice the rows of the other."""
    rows = [one.rows for one in found.by_class()]
    if len(rows) == 2 and rows[1] > 2 * rows[0]:
        first, second = map(str, found.classes.tolist())
        print_note(
            f"Average precision, curves and thresholds are about {clip(second)}, the more frequent "
            f"class; --positive-class {shlex.quote(first)} makes them about {clip(first)}."
        )


def note_one_class(data: str, found: Any) -> None:
    """Note if rows of several classes are all predicted as one."""
    actual, predicted = found.confusion[:-1].sum(axis=1), found.confusion.sum(axis=0)
    if actual.sum() >= FEW_ROWS and (actual > 0).sum() > 1 == (predicted > 0).sum():
        name = clip(str(found.classes[predicted.argmax()]))
        print_note(
            f"All rows of {data} are predicted as {name}. Train with --class-weight balanced or "
            "--tune --metric f1 to find rows of a rare class."
        )


def note_rows(data: str, opened: Any, found: Any = None) -> None:
    """Note the rows that have no label, or one that the model does not know."""
    if hasattr(found, "confusion"):
        note_one_class(data, found)
    for notice in getattr(opened, "notices", []):
        if notice.code == "label-missing":
            print_note(f"{data}: {notice}")
    if not getattr(found, "unknown", 0) or hasattr(found, "tokens"):
        return
    who = "one of the models" if hasattr(found, "better") else "the model"
    label = getattr(found, "unknown_label", None)
    example = "" if label is None else f", such as {clip(label)!r},"
    told = f"{count(found.unknown, 'row')} of {data} with labels that {who} does not know{example}"
    others = ", and not in the other figures" * hasattr(found, "better")
    others = ", and not in the rank error" if hasattr(found, "rank_figures") else others
    print_note(f"{told} count as errors{others}.")


@dataclass
class CompareOptions(ScoreOptions, JsonOption):
    """What two models are compared on."""

    test: str = output_option(
        help="File with labels to compare the models on.", metavar="FILE", required=True
    )


@command(
    DescribedArgument("first", "A model file (A).", type=click.Path(path_type=Path)),
    DescribedArgument("second", "Another model file (B).", type=click.Path(path_type=Path)),
    examples=["rosenblatt compare old.safetensors new.safetensors --test test.csv"],
)
def compare(first: Path, second: Path, given: CompareOptions) -> None:
    """Print which of two models is better on a file, and whether that could be chance.

    Errors are compared by the exact McNemar test. Intervals are those of a paired bootstrap.
    """
    from ..jobs.compare import compare as compare_models
    from ..jobs.data import open_like
    from .report import show_reading

    check_input(given.test)
    if given.test == "-":
        raise CommandError(
            "Standard input can be read only once, and two models read it; write it to a file "
            "first.",
            "read-once",
        )
    pairs = [load_learner(path) for path in (first, second)]
    files = [open_like(saved, given.test, labels=True, **given.options()) for saved, _ in pairs]
    with show_reading(files[0].size, sys.stderr.isatty()) as tell:
        found = compare_models((pairs[0][1], pairs[1][1]), (files[0], files[1]), tell)
    note_rows(given.test, files[0], found)
    if given.json:
        print(
            json.dumps({"data": given.test, "models": [str(first), str(second)], **found.as_dict()})
        )
        return
    counted = "token" if pairs[0][1].reads == "sentences" else "row"
    one, other = ("only A right", "only B right")
    if pairs[0][1].target_kind == "numbers":
        one, other = ("A nearer", "B nearer")
    only = f"{one} {found.better[0]:,}, {other} {found.better[1]:,}"
    lines = [
        f"A: {first}",
        f"B: {second}",
        f"{given.test}: {count(found.rows, counted)}; {only}.",
        *tabulate_differences(found),
        found.verdict(("A", "B")),
    ]
    print("\n".join(map(fold, lines)))


def tabulate_differences(found: "Comparison") -> list[str]:
    """The mean losses of both models, their difference and its interval."""
    lines = [f"{'':<10}{'A':>10}{'B':>10}{'B − A':>10}   95 % interval"]
    for name, one in found.differences().items():
        form = ".2%" if name == "error" else ".4f"
        numbers = "".join(f"{value:>10{form}}" for value in one[:2])
        signed = [f"{value:+{form}}" for value in one[2:5]]
        lines.append(f"{name:<10}{numbers}{signed[0]:>10}   {signed[1]} to {signed[2]}")
    return lines
