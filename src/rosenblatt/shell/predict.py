"""Predict with a model."""

import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .commands import CommandError, DescribedArgument, command, option
from .data import FORMAT_HELP, check_output, input_option, open_source, print_note

if TYPE_CHECKING:
    from ..reading.reader import Reader
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
class ScoreOptions:
    """How a file is read that a model is used on."""

    format: str | None = input_option(FORMAT_HELP, shown="that of the training file")
    no_header: bool = input_option("Row 1 has no names.", default=False, shown="detected")
    threads: int | None = input_option("Number of threads that read.", shown="all cores")

    def options(self) -> dict[str, Any]:
        """The options of ``read``."""
        header = False if self.no_header else None
        return {"format": self.format, "header": header, "threads": self.threads}


@dataclass
class ThresholdOption:
    """How scores become decisions."""

    threshold: float | None = output_option(
        "Predict the positive one of two classes above this probability, or above this score "
        "if the model gives no probabilities; of label sets, each label above this score.",
        shown="probability 0.5, score 0",
    )
    positive_class: str | None = output_option(
        "The one of two classes that thresholds, curves and average precision are about.",
        metavar="LABEL",
        shown="the class that sorts last",
    )

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
class PredictOptions(ScoreOptions):
    """What is written about each row, and where."""

    output: Path | None = output_option(
        "Write to FILE.", flags=["-o", "--output"], shown="standard output"
    )
    output_format: str | None = output_option(
        "Format of the output: text (one label per line), csv or tsv (with a header), jsonl "
        "(one JSON object per line).",
        type=click.Choice(["text", "csv", "tsv", "jsonl"]),
        shown="by the name of -o, else text; csv with --append",
    )
    append: bool = output_option(
        "Write the columns of the input file before the predictions.", default=False
    )
    scores: bool = output_option(
        "Write the scores of the classes, in sorted order, or of two that of the last: in "
        "text instead of the label, else beside it.",
        default=False,
    )
    probabilities: bool = output_option(
        "Write the probability of each class, in sorted order: in text instead of the label, "
        "else beside it. Needs a model of train --probabilities.",
        default=False,
    )
    coverage: float | None = output_option(
        "Write the set of classes, or the interval of numbers, that has the true label with "
        "this probability: in text instead of the label (of an interval its low and high end), "
        "else beside it. Needs a model of train --conformal.",
        metavar="SHARE",
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
                "another format; choose another name, or state --output-format.",
                "output-format",
            )
        return named if named in ("csv", "tsv", "jsonl") else "csv" if self.append else "text"


@dataclass
class JsonOption:
    """How a result is printed."""

    json: bool = output_option("Print one JSON object.", default=False)


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
def predict(model: Path, data: str, given: PredictOptions, decision: ThresholdOption) -> None:
    """Write the predicted label of every row of a file, one per line or as a table.

    A model of sentences writes the file with its tags filled in.
    """
    from ..jobs.data import ExampleFile, open_like
    from .report import show_reading

    check_output(given.output, model, data)
    form = given.find_format()
    wanted = {
        "--scores": given.scores,
        "--probabilities": given.probabilities,
        "--coverage": given.coverage is not None,
    }
    instead = [name for name, is_wanted in wanted.items() if is_wanted]
    if form == "text" and len(instead) > 1:
        raise CommandError(
            f"{instead[0]} excludes {instead[1]} in text; leave one out, or choose --output-format "
            "csv.",
            "conflict",
        )
    if form == "text" and given.append:
        raise CommandError(
            "--append needs a table; choose --output-format csv, tsv or jsonl.", "conflict"
        )
    saved, learner = load_learner(model)
    opened = open_like(saved, open_source(data), labels=False, **given.options())
    if isinstance(opened, ExampleFile):
        opened.refuse(**{name: getattr(given, name) for name in ROWS_ONLY}, **vars(decision))
    else:
        check_coverage(given.coverage, learner, model)
    seen = sys.stderr.isatty() and not (given.output is None and sys.stdout.isatty())
    with open_output(given.output) as out, show_reading(opened.size, seen) as tell:
        if isinstance(opened, ExampleFile):
            pieces = opened.predict(learner, tell)
        else:
            pieces = write_rows(learner, opened, given, decision, tell)
        for piece in pieces:
            out.write(piece)


def check_coverage(coverage: float | None, learner: Any, model: Path) -> None:
    """Refuse prediction sets or intervals of a model that gives none."""
    if coverage is None or getattr(learner, "conformal", None):
        return
    what = "intervals" if learner.target_kind == "numbers" else "sets"
    raise CommandError(
        f"{model} gives no prediction {what}; train it with --conformal.", "no-conformal"
    )


def write_rows(
    learner: Any,
    reader: "Reader",
    given: PredictOptions,
    decision: ThresholdOption,
    tell: Callable[[int], None],
) -> Iterator[bytes]:
    """The predictions for rows, batch by batch."""
    from ..jobs.predictions import (
        Contents,
        list_outputs,
        predict_rows,
        tabulate_predictions,
        write_table,
    )

    form = given.find_format()
    contents = Contents(
        given.scores,
        given.probabilities,
        given.append,
        decision.threshold,
        decision.positive_class,
        given.coverage,
        typed=form == "jsonl",
    )
    decision.note_positive(learner)
    if form != "text":
        yield from write_table(tabulate_predictions(learner, reader, contents, tell), form)
        return
    numbers = (given.scores or given.probabilities) and learner.target_kind != "numbers"
    separator = reader.recipe.labels_separator or ","
    columns = list_outputs(learner, contents)
    if len(columns) > 2 and given.output is None and sys.stdout.isatty():
        print_note(f"The columns are {', '.join(columns[1:])}.")
    for batch, rows in predict_rows(learner, reader, contents, separator):
        tell(batch.bytes_read)
        if numbers:
            lines = [" ".join(f"{value:.9g}" for value in row[1:]) + "\n" for row in rows]
        else:
            lines = [f"{in_one_line(row[0])}\n" for row in rows]
        if given.coverage is not None:
            lines = [f"{' '.join(map(in_one_line, row[1:]))}\n" for row in rows]
        if batch.ids is not None:
            ids = (in_one_line(name).replace("\t", "\\t") for name in batch.ids)
            lines = [f"{name}\t{line}" for name, line in zip(ids, lines, strict=True)]
        yield "".join(lines).encode()


def in_one_line(name: Any) -> str:
    """Write a label in one line; characters that would break it become escapes."""
    text = str(name)
    return text if text.isprintable() else "".join(map(escape, text))


def escape(letter: str) -> str:
    """A letter, or the escape of one that is not printed."""
    return letter if letter.isprintable() or letter == "\t" else repr(letter)[1:-1]


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
            raise CommandError("Standard output is closed; name a file with -o.", "no-output")
        sys.stdout.flush()
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    from ..disk import replace_file

    with replace_file(path) as temporary, temporary.open("wb") as out:
        yield out
