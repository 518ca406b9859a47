"""Predict with a model."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .commands import CommandError, DescribedArgument, command, option
from .data import FORMAT_HELP, check_output, input_option, open_source
from .output import print_note, show_reading

if TYPE_CHECKING:
    from ..storage.model import Model

output_option = partial(option, group="Output")

MODEL = DescribedArgument(
    "model", "A model file written by train -o.", type=click.Path(path_type=Path)
)
FILE = DescribedArgument(
    "data",
    "A file like the one that the model was trained on, a built-in set, or - for standard input.",
)
ROWS_ONLY = ("scores", "probabilities", "coverage", "append", "output_format")
"""Options that are not for files of other examples."""


@dataclass
class ReadingOptions:
    """How a file is read that a model is used on, and how scores become decisions."""

    format: str | None = input_option(FORMAT_HELP, shown="that of the training file")
    no_header: bool = input_option("Row 1 has no names.", default=False, shown="detected")
    threads: int | None = input_option("Number of threads that read.", shown="all cores")
    threshold: float | None = output_option(
        "Predict the positive class above this probability, or above this score if the model has "
        "no probabilities.",
        shown="0.5, or score 0",
    )
    positive_class: str | None = output_option(
        "Class that a threshold, curves and average precision are about.",
        "LABEL",
        shown="the one of two that sorts last",
    )

    def options(self) -> dict[str, Any]:
        """The options of ``read``."""
        header = False if self.no_header else None
        return {"format": self.format, "header": header, "threads": self.threads}


@dataclass
class PredictOptions(ReadingOptions):
    """What is written about each row, and where."""

    output: Path | None = output_option(
        "Write to FILE.", flags=["-o", "--output"], shown="standard output"
    )
    output_format: str | None = output_option(
        "text (a line for each row), fasttext, csv, tsv or jsonl.",
        type=click.Choice(["text", "fasttext", "csv", "tsv", "jsonl"]),
        shown="by the name of -o, else text; csv with --append",
    )
    append: bool = output_option("Write the columns of the input first.", default=False)
    scores: bool = output_option(
        "Write a score for each class, in order; with two classes, that of the second.",
        default=False,
    )
    probabilities: bool = output_option(
        "Write the probability of each class (train --probabilities).", default=False
    )
    coverage: float | None = output_option(
        "Write sets or intervals with the true label in this share of rows (train --conformal).",
        "SHARE",
    )

    def find_format(self) -> str:
        """Return the format of the output: the stated one, else by the name of the file."""
        extra = [name for name in ROWS_ONLY[:4] if getattr(self, name) not in (None, False)]
        form = "csv" if self.append else "text"
        if self.output_format is not None:
            form = self.output_format
        elif self.output is not None:
            named = self.output.suffix.lower().lstrip(".").replace("ndjson", "jsonl")
            if named in ("parquet", "arrow", "feather", "xlsx"):
                raise CommandError(f"{self.output} names another format than csv, tsv or jsonl.")
            form = named if named in ("csv", "tsv", "jsonl") else form
        if form == "fasttext" and {*extra} - {"append"}:
            raise CommandError(f"fastText's lines have labels only; leave --{extra[0]} out.")
        if form == "text" and (self.append or len(extra) > 1):
            raise CommandError(
                f"Text has one thing in a line; leave all but one of --{', --'.join(extra)} out, "
                "or choose --output-format csv, tsv or jsonl."
            )
        return form


@command(MODEL, FILE)
def predict(model: Path, data: str, given: PredictOptions) -> None:
    """Write the predicted label of every row of a file, one per line or as a table.

    A model of sentences writes the file with its tags filled in.

    Examples
    --------
    rosenblatt predict model.safetensors new.csv -o labels.txt
    rosenblatt predict model.safetensors new.csv --probabilities -o new.jsonl
    rosenblatt predict model.safetensors new.csv --coverage 0.9 -o new.csv
    rosenblatt predict model.safetensors new.csv --append -o with_labels.csv
    """
    from ..jobs.data import ExampleFile, open_like

    check_output(given.output, model, data)
    form = given.find_format()
    saved, learner = load_learner(model)
    opened = open_like(saved, open_source(data), labels=False, **given.options())
    with (
        show_reading(opened.size, given.output is not None) as tell,
        open_output(given.output) as out,
    ):
        if isinstance(opened, ExampleFile):
            refused = (*ROWS_ONLY, "threshold", "positive_class")
            opened.refuse(**{name: getattr(given, name) for name in refused})
            pieces = opened.predict(learner, tell)
        else:
            pieces = predict_table(learner, opened, given, form, tell)
        for piece in pieces:
            out.write(piece)


def predict_table(
    learner: Any, reader: Any, given: PredictOptions, form: str, tell: Any
) -> Iterator[bytes]:
    """The predictions for rows, part by part; at a terminal, a note names the columns of text."""
    from ..jobs.predictions import Contents, plan_columns, predict_rows

    names = (*ROWS_ONLY[:4], "threshold", "positive_class")
    contents = Contents(form, **{name: getattr(given, name) for name in names})
    outputs = [name for names in plan_columns(learner, contents) for name in names]
    at_terminal = given.output is None and sys.stdout.isatty()
    if form == "text" and len(outputs) > 2 and at_terminal:
        print_note(f"The columns are {', '.join(outputs[1:])}.")
    return predict_rows(learner, reader, contents, tell)


def load_learner(path: Path) -> "tuple[Model, Any]":
    """A model file, and its learner."""
    from ..learners.kinds import make_learner
    from ..storage.file import load_model

    saved = load_model(path)
    return saved, make_learner(saved, path)


@contextmanager
def open_output(path: Path | None) -> Iterator[Any]:
    """Standard output, or a file that appears when it is complete; both take bytes."""
    if path is None:
        if sys.stdout is None:
            raise CommandError("Standard output is closed; name a file with -o.")
        sys.stdout.flush()
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    from ..disk import replace_file

    with replace_file(path) as temporary, temporary.open("wb") as out:
        yield out
