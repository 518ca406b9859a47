"""Predict with a model."""

import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .commands import CommandError, DescribedArgument, command, option
from .data import FORMAT_HELP, check_output, input_option, open_source, print_note

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
TABLES = ("parquet", "arrow", "feather", "xlsx")
"""Endings of tables that predictions are not written as."""


@dataclass
class ReadingOptions:
    """How a file is read that a model is used on, and how scores become decisions."""

    format: str | None = input_option(FORMAT_HELP, shown="that of the training file")
    no_header: bool = input_option("Row 1 has no names.", default=False, shown="detected")
    threads: int | None = input_option("Number of threads that read.", shown="all cores")
    threshold: float | None = output_option(
        "Predict the positive class above this probability, or above this score if the model has "
        "no probabilities; for label sets, predict each label above this score.",
        shown="0.5, or score 0",
    )
    positive_class: str | None = output_option(
        "Class of two that thresholds, curves and average precision describe.",
        "LABEL",
        shown="the class that sorts last",
    )

    def options(self) -> dict[str, Any]:
        """The options of ``read``."""
        header = False if self.no_header else None
        return {"format": self.format, "header": header, "threads": self.threads}

    def note_positive(self, learner: Any) -> None:
        """Print which class a threshold is about, unless that was stated."""
        two = len(learner.classes) == 2 and not learner.multilabel
        if self.threshold is None or self.positive_class is not None or not two:
            return
        first, second = map(str, learner.classes.tolist())
        what = "score" if getattr(learner, "calibration", None) is None else "probability"
        print_note(
            f"{second} is predicted where its {what} is above {self.threshold:g}; --positive-class "
            f"{shlex.quote(first)} decides by that of {first}."
        )


@dataclass
class PredictOptions(ReadingOptions):
    """What is written about each row, and where."""

    output: Path | None = output_option(
        "Write to FILE.", flags=["-o", "--output"], shown="standard output"
    )
    output_format: str | None = output_option(
        "Format: text (one label per line), csv or tsv (with a header), jsonl (JSON lines).",
        type=click.Choice(["text", "csv", "tsv", "jsonl"]),
        shown="by the name of -o, else text; csv with --append",
    )
    append: bool = output_option(
        "Write the columns of the input before the predictions.", default=False
    )
    scores: bool = output_option(
        "Write one score per class, in sorted order (for two classes, only the second's score). "
        "Text output has scores in place of the label; tables have both.",
        default=False,
    )
    probabilities: bool = output_option(
        "Write the probability of each class. Needs a model of train --probabilities.",
        default=False,
    )
    coverage: float | None = output_option(
        "Write prediction sets, or intervals of numbers, that contain the true label with this "
        "probability. Needs a model of train --conformal.",
        "SHARE",
        shown="off",
    )

    def find_format(self) -> str:
        """Return the format of the output: the stated one, else by the name of the file."""
        if self.output_format is not None:
            return self.output_format
        named = "" if self.output is None else self.output.suffix.lower().lstrip(".")
        named = {"ndjson": "jsonl"}.get(named, named)
        if named in TABLES:
            raise CommandError(
                f"Predictions are written as text, csv, tsv or jsonl, and {self.output} names "
                "another format; choose another name, or state --output-format."
            )
        return named if named in ("csv", "tsv", "jsonl") else "csv" if self.append else "text"


@command(
    MODEL,
    FILE,
    examples=[
        "rosenblatt predict model.safetensors new.csv -o labels.txt",
        "rosenblatt predict model.safetensors new.csv --probabilities -o new.jsonl",
        "rosenblatt predict model.safetensors new.csv --coverage 0.9 -o new.csv",
        "rosenblatt predict model.safetensors new.csv --append -o with_labels.csv",
    ],
)
def predict(model: Path, data: str, given: PredictOptions) -> None:
    """Write the predicted label of every row of a file, one per line or as a table.

    A model of sentences writes the file with its tags filled in.
    """
    from ..jobs.data import ExampleFile, open_like
    from .report import show_reading

    check_output(given.output, model, data)
    form = given.find_format()
    wanted = {"--scores": given.scores, "--probabilities": given.probabilities}
    wanted["--coverage"] = given.coverage is not None
    instead = [name for name, is_wanted in wanted.items() if is_wanted]
    if form == "text" and len(instead) > 1:
        raise CommandError(
            f"{instead[0]} excludes {instead[1]} in text; leave one out, or choose --output-format "
            "csv."
        )
    if form == "text" and given.append:
        raise CommandError("--append needs a table; choose --output-format csv, tsv or jsonl.")
    saved, learner = load_learner(model)
    opened = open_like(saved, open_source(data), labels=False, **given.options())
    seen = sys.stderr.isatty() and not (given.output is None and sys.stdout.isatty())
    with open_output(given.output) as out, show_reading(opened.size, seen) as tell:
        if isinstance(opened, ExampleFile):
            refused = (*ROWS_ONLY, "threshold", "positive_class")
            opened.refuse(**{name: getattr(given, name) for name in refused})
            pieces = opened.predict(learner, tell)
        else:
            pieces = predict_table(learner, opened, given, tell)
        for piece in pieces:
            out.write(piece)


def predict_table(learner: Any, reader: Any, given: PredictOptions, tell: Any) -> Iterator[bytes]:
    """The predictions for rows, part by part; notes say what columns and thresholds mean."""
    from ..jobs.predictions import Contents, plan_columns, predict_rows

    names = (*ROWS_ONLY[:4], "threshold", "positive_class")
    contents = Contents(given.find_format(), **{name: getattr(given, name) for name in names})
    given.note_positive(learner)
    outputs = [name for names in plan_columns(learner, contents) for name in names]
    at_terminal = given.output is None and sys.stdout.isatty()
    if contents.form == "text" and len(outputs) > 2 and at_terminal:
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
