"""Draw figures of models and of data."""

import warnings
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .commands import CommandError, DescribedArgument, command, option
from .data import Drawable, SetOptions, check_output, column_names, open_source, read_rows
from .output import print_note

if TYPE_CHECKING:
    from ..storage.model import Model


STILL_WRONG = "The last epoch made mistakes; whether more can help is decided by rosenblatt prove"
drawing_option = partial(option, group="Drawing")


@dataclass
class PlotOptions(SetOptions):
    """What is drawn, where, and how the perceptron learns that is trained on data."""

    output: Path | None = drawing_option(
        "Figure to write: .png, .svg, .pdf, .jpg or .webp. [required]",
        flags=["-o", "--output"],
        required=True,
    )
    what: str | None = drawing_option(
        "boundary, projection (rows along the weights), progress (mistakes and bounds during "
        "training), orders (compares orders of the rows), certificate (proof that no plane "
        "separates the classes, or the gap).",
        type=click.Choice(["boundary", "projection", "progress", "orders", "certificate"]),
        shown="boundary; progress for a MODEL alone",
    )
    epochs: int = drawing_option("Largest number of epochs.", default=100, type=click.IntRange(1))


@command(
    DescribedArgument(
        "source", "A file or a built-in set to train on, or a model file.", metavar="SOURCE"
    ),
    DescribedArgument(
        "rows", "With a model file: the rows to draw.", metavar="[DATA]", required=False
    ),
)
def plot(source: str, rows: str | None, given: PlotOptions) -> None:
    """Draw a model, its data, or the course of training.

    Examples
    --------
    rosenblatt plot iris -o iris.png
    rosenblatt plot iris --positive-class setosa --what progress -o learning.png
    rosenblatt plot xor --what certificate -o xor.svg
    rosenblatt plot model.safetensors unseen.csv -o boundary.pdf
    """
    output, what = given.output, given.what
    assert output is not None
    check_output(output, source, rows)
    import numpy as np
    from sklearn.exceptions import ConvergenceWarning

    from ..plots import save_plot

    how: dict[str, Any] = {"what": what}
    if is_model(source):
        from ..estimators.pipeline import make_estimator
        from ..storage.file import load_model

        if rows is None and what not in (None, "progress"):
            raise CommandError(f"--what {what} draws rows; name the rows to draw after the model.")
        if rows is not None and what == "progress":
            raise CommandError(f"--what progress draws a model alone; leave {rows} out.")
        saved = load_model(source)
        found = Drawable(None, None, {})
        if rows is not None:
            found = read_rows_for_model(saved, rows, given)
        how["estimator"] = make_estimator(saved, source)
    elif rows is not None:
        raise CommandError(f"{source} is not a model; leave {rows} out, or name a model first.")
    else:
        found = read_rows(source, given)
        if given.positive_class is not None:
            chosen = found.is_label(given.positive_class, source)
            found = found._replace(y=np.where(chosen, given.positive_class, "others"))
        elif what in ("projection", "certificate"):
            found.refuse_many_classes(source)
        how["max_iter"] = given.epochs
    with warnings.catch_warnings(record=True) as caught:
        save_plot(output, found.X, found.y, **how, **found.names)
    notes = {
        f"{STILL_WRONG} {rows or source}."
        if each.category is ConvergenceWarning
        else str(each.message)
        for each in caught
    }
    for note in sorted(notes):
        print_note(note)
    print(f"Wrote the figure to {output}.")


def is_model(path: str) -> bool:
    """Whether a file is a model, by its ending or its first bytes: the size of a JSON header."""
    if path.endswith(".safetensors") or not Path(path).is_file():
        return path.endswith(".safetensors")
    with Path(path).open("rb") as file:
        head = file.read(9)
    return head[4:] == b"\0\0\0\0{"


def read_rows_for_model(saved: "Model", data: str, given: SetOptions) -> Drawable:
    """The rows and names of a file as a model sees them, and labels as it writes them."""
    import numpy as np

    from ..data.labels import as_words
    from ..reading.reader import read, read_matrix

    if saved.target not in ("classes", "ranks"):
        raise CommandError(f"plot draws rows of classes, but the model is of {saved.target}.")
    recipe = saved.features.get("recipe")
    if recipe is not None:
        reader = read(open_source(data), features=recipe, **given.options())
        X, y = read_matrix(reader)
        names = column_names(reader, X.shape[1])
    else:
        X, y, names = read_rows(data, given)
    width = saved.states[0].weights.shape[0] if saved.is_linear else saved.facts["width"]
    if hasattr(X, "indptr") and X.shape[1] != width:
        X.resize(X.shape[0], width)  # columns that only one of the two knows say nothing
    words = {str(value): value for value in saved.classes.tolist()}
    labels = as_words(y, saved.classes).tolist()
    strange = sorted(set(labels) - set(words))
    if strange:
        raise CommandError(f"{data} has the label {strange[0]}, which the model does not know.")
    return Drawable(X, np.array([words[value] for value in labels], saved.classes.dtype), names)
