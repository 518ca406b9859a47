"""Predict with a model, evaluate it, export it."""

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
from .format import summarize_evaluation, tabulate
from .options import output_option
from .panels import CommandError, DescribedArgument, command

if TYPE_CHECKING:
    from ..jobs.data import SentenceFile
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
    scores: bool = output_option(
        help="Write the scores of the classes instead of the label.", default=False
    )
    probabilities: bool = output_option(
        help="Write the probability of each class instead of the label; needs a model of train "
        "--probabilities.",
        default=False,
    )


@dataclass
class JsonOption:
    """How a result is printed."""

    json: bool = output_option(help="Print one JSON object.", default=False)


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
    from ..jobs.data import open_like

    check_output(given.output, model, data)
    if given.scores and given.probabilities:
        raise CommandError("--scores excludes --probabilities; leave one out.", "conflict")
    saved, learner = load_learner(model)
    opened = open_like(saved, data, labels=False, **given.options())
    kinds: dict[str, Callable[..., Iterator[bytes]]] = {
        "rows": predict_rows,
        "sentences": predict_sentences,
    }
    pieces = kinds[learner.reads]
    seen = sys.stderr.isatty() and not (given.output is None and sys.stdout.isatty())
    with open_output(given.output) as out:
        for piece in pieces(learner, opened, given, seen):
            out.write(piece)


def predict_rows(
    learner: Any, reader: "Reader", given: PredictOptions, seen: bool
) -> Iterator[bytes]:
    """The lines of the predictions for rows, batch by batch."""
    from ..jobs.evaluate import scored
    from .report import show_reading

    write = make_line_writer(learner, reader.parser.recipe.labels_separator)
    probable = compute_probabilities(learner) if given.probabilities else None
    with show_reading(reader.size, seen) as tell:
        for batch, activations in scored(learner, reader):
            tell(batch.bytes_read)
            if (given.scores and learner.target_kind == "classes") or given.probabilities:
                shown = activations if probable is None else probable(activations)
                table = shown.reshape(len(shown), -1).tolist()
                lines = [" ".join(f"{value:.9g}" for value in row) + "\n" for row in table]
            else:
                lines = write(learner.choose(activations))
            if batch.ids is not None:
                ids = (in_one_line(name).replace("\t", "\\t") for name in batch.ids)
                lines = [f"{name}\t{line}" for name, line in zip(ids, lines, strict=True)]
            yield "".join(lines).encode()


def predict_sentences(
    learner: Any, file: "SentenceFile", given: PredictOptions, seen: bool
) -> Iterator[bytes]:
    """A file with the predicted tags filled in, piece by piece."""
    from ..jobs.sentences import fill_in_tags
    from .report import show_reading

    if given.scores or given.probabilities:
        raise CommandError(
            "--scores and --probabilities are not for taggers; leave them out.", "sentences-option"
        )
    with show_reading(file.size, seen) as tell:
        yield from fill_in_tags(learner, file, tell)


def make_line_writer(learner: Any, separator: str | None) -> Callable[[Any], list[str]]:
    """Return a function that writes the labels of rows, one row per line."""
    if learner.target_kind == "numbers":
        return lambda numbers: [f"{number:.9g}\n" for number in numbers.tolist()]
    names = [in_one_line(name) for name in learner.classes.tolist()]
    if not learner.multilabel:
        return lambda codes: [f"{names[code]}\n" for code in codes.tolist()]

    def lines(chosen: Any) -> list[str]:
        pairs = (compress(names, row) for row in chosen.tolist())
        return [(separator or ",").join(labels) + "\n" for labels in pairs]

    return lines


def compute_probabilities(learner: Any) -> Callable[[Any], Any]:
    """Return the function from scores to probabilities of the classes."""
    calibration = getattr(learner, "calibration", None)
    if calibration is None:
        raise CommandError(
            "The model has no probabilities; train it with --probabilities.", "no-probabilities"
        )
    return lambda scores: calibration.probabilities(scores, learner.choose(scores))


def in_one_line(name: Any) -> str:
    """Write a label in one line; characters that would break it become escapes."""
    text = str(name)
    return text if text.isprintable() else "".join(map(escape, text))


def escape(letter: str) -> str:
    """A letter, or the escape of one that is not printed."""
    return letter if letter.isprintable() or letter == "\t" else repr(letter)[1:-1]


@command(MODEL, FILE, examples=["rosenblatt score model.safetensors test.csv"])
def score(model: Path, data: str, given: ScoreOptions, result: JsonOption) -> None:
    """Print the error of a model on a file, with precision, recall and F1 of each class.

    For numbers, print MAE, RMSE and R² beside the errors of predicting the median and the mean.
    """
    from ..jobs.data import open_like
    from ..jobs.evaluate import evaluate
    from .report import show_reading

    saved, learner = load_learner(model)
    opened = open_like(saved, data, labels=True, **given.options())
    with show_reading(opened.size, sys.stderr.isatty()) as tell:
        found = evaluate(learner, opened, tell)
    if result.json:
        print(json.dumps({"data": data, **found.as_dict()}))
        return
    print(f"{data}: {summarize_evaluation(found)}.")
    if learner.target_kind == "classes":
        print("\n".join(tabulate(found)))


@command(
    MODEL,
    DescribedArgument("output", "The ONNX file to write.", type=click.Path(path_type=Path)),
    examples=["rosenblatt export model.safetensors model.onnx"],
)
def export(model: Path, output: Path) -> None:
    """Export a model of numeric columns as an ONNX file."""
    from ..export import write_onnx
    from ..learners import load_model

    check_output(output, model)
    columns = write_onnx(output, load_model(model))
    print(f"{output}: {columns:,} columns in, labels and scores out.")


def load_learner(path: Path) -> "tuple[Model, Any]":
    """A model file, and its learner."""
    from ..learners import load_model
    from ..learners.kinds import make_learner

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
