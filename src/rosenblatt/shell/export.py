"""Export a model to another format."""

from dataclasses import dataclass
from pathlib import Path

import click

from .commands import CommandError, DescribedArgument, command, option
from .data import check_output
from .predict import MODEL


@dataclass
class ExportOptions:
    """What an export needs besides the model."""

    words: str | None = option(
        "File like that of the training, for the words of columns of categories.",
        metavar="FILE",
        shown="the words that the model file names",
    )


@command(
    MODEL, DescribedArgument("output", "The ONNX file to write.", type=click.Path(path_type=Path))
)
def export(model: Path, output: Path, given: ExportOptions) -> None:
    """Export a model of numbers and categories as an ONNX file.

    Words that are not in the table of their column count as missing.

    Examples
    --------
    rosenblatt export model.safetensors model.onnx
    rosenblatt export model.safetensors model.onnx --words train.csv
    """
    from ..export import MissingWordsError, collect_words, list_columns, write_onnx
    from ..storage.file import load_model

    check_output(output, model, given.words)
    saved = load_model(model)
    words = None if given.words is None else collect_words(saved, given.words)
    try:
        columns = write_onnx(output, saved, words)
    except MissingWordsError as error:
        raise CommandError(f"{error} Name it with --words.") from None
    categories = len(list_columns(saved, "category"))
    of = f", {categories:,} of them categories" if categories else ""
    print(f"{output}: {columns:,} columns in{of}, labels and scores out.")
