"""Pictures: figures and films, and the lab in the browser."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .data import (
    Drawable,
    SetOptions,
    check_output,
    column_names,
    refuse_many_classes,
    rows_and_labels,
    source_of,
)
from .groups import grouped
from .options import LEARNING, Order, Solution

if TYPE_CHECKING:
    from ..storage.model import Model


class Idea(StrEnum):
    """What a picture is about."""

    BOUNDARY = "boundary"
    PROJECTION = "projection"
    PROGRESS = "progress"
    PROGRESSIVE = "progressive"
    ORDERS = "orders"
    CERTIFICATE = "certificate"


class Every(StrEnum):
    """The steps of time."""

    UPDATE = "update"
    EPOCH = "epoch"


@grouped
def plot(
    source: Annotated[
        str,
        typer.Argument(
            help="DATA to learn from, a MODEL, or a log.", metavar="DATA|MODEL", show_default=False
        ),
    ],
    rows: Annotated[
        str | None,
        typer.Argument(
            help="After a MODEL: the rows to draw.", metavar="[DATA]", show_default=False
        ),
    ] = None,
    *,
    given: SetOptions,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            help="The figure: .png, .svg, .pdf; .gif, .mp4, .html to see it learn.",
            show_default=False,
        ),
    ],
    what: Annotated[
        Idea | None,
        typer.Option(
            help="The idea to draw (boundary; of a MODEL alone progress).", show_default=False
        ),
    ] = None,
    every: Annotated[
        Every, typer.Option(help="The steps of an animation and of progress.")
    ] = Every.UPDATE,
    solution: Annotated[
        Solution | None, typer.Option(help="Which weights to keep (last).", **LEARNING)
    ] = None,
    order: Annotated[
        Order | None, typer.Option(help="How rows are gone through (each).", **LEARNING)
    ] = None,
    epochs: Annotated[int, typer.Option(min=1, help="The most passes (100).", **LEARNING)] = 100,
    margin: Annotated[float, typer.Option(min=0.0, help="Demand a margin.", **LEARNING)] = 0.0,
    seed: Annotated[
        int, typer.Option(min=0, max=2**32 - 1, help="For the random orders.", **LEARNING)
    ] = 0,
) -> None:
    """Draw what was learnt, or learning itself.

    rosenblatt plot iris -o iris.png

    rosenblatt plot iris --positive 0 -o learning.gif

    rosenblatt plot xor --what certificate -o xor.svg

    rosenblatt plot model.safetensors unseen.csv -o boundary.pdf

    rosenblatt plot errors.csv --what progressive -o errors.png
    """
    check_output(output, source, rows)
    from ..plots import ProgressiveDisplay, save_plot

    if what == Idea.PROGRESSIVE:
        ProgressiveDisplay.from_csv(source).save(output)
    elif is_model(source):
        from ..storage.file import load_model
        from ..storage.registry import estimator_of

        saved = load_model(source)
        X, y, names = rows_for_model(saved, rows, given) if rows is not None else (None, None, {})
        estimator = estimator_of(saved, source)
        save_plot(output, X, y, estimator=estimator, what=what, every=every.value, **names)
    elif rows is not None:
        raise ValueError(f"{source} is no model (.safetensors), so {rows} has no place beside it.")
    else:
        X, y, names = rows_and_labels(source, given).against_others(given.positive, source)
        if what in (Idea.PROJECTION, Idea.CERTIFICATE):
            refuse_many_classes(y, source)
        parameters: dict[str, Any] = {"max_iter": epochs, "margin": margin}
        if what != Idea.ORDERS:
            parameters |= {"order": order or "each", "solution": solution or "last"}
            parameters["random_state"] = seed
        save_plot(output, X, y, what=what, every=every.value, **names, **parameters)
    print(f"The figure is in {output}.")


def is_model(path: str) -> bool:
    """Whether a name is that of a model file."""
    return path.endswith(".safetensors")


def rows_for_model(saved: "Model", data: str, given: SetOptions) -> Drawable:
    """The rows and names of a file as a model sees them, and labels as it writes them."""
    import numpy as np

    from ..data.labels import as_words
    from ..reading.reader import read, read_matrix

    recipe = saved.features.get("recipe")
    if recipe is not None:
        reader = read(source_of(data), features=recipe, **(given.options() | {"first": None}))
        X, y = read_matrix(reader)
        names = column_names(reader, X.shape[1])
    else:
        X, y, names = rows_and_labels(data, given)
    width = saved.states[0].weights.shape[0] if saved.is_linear else saved.facts["width"]
    if hasattr(X, "indptr") and X.shape[1] != width:
        X.resize(X.shape[0], width)  # columns that only one of the two knows say nothing
    words = {str(value): value for value in saved.classes.tolist()}
    labels = as_words(y, saved.classes).tolist()
    strange = sorted(set(labels) - set(words))
    if strange:
        raise ValueError(f"{data} has the label {strange[0]}, which the model does not know.")
    if len(names.get("class_names", ())) != len(words):
        names.pop("class_names", None)
    return Drawable(X, np.array([words[value] for value in labels], saved.classes.dtype), names)


def lab(
    data: Annotated[
        str,
        typer.Argument(
            metavar="[DATA]", help="A set of the page, or a file of up to 2 MB.", show_default=False
        ),
    ] = "blobs",
    port: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=65535,
            help="Port on this computer. [default: 5006, or a free one]",
            show_default=False,
        ),
    ] = None,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Print the address and open no browser.")
    ] = False,
    save: Annotated[
        Path | None,
        typer.Option(
            help="Write the page as one HTML file instead of serving it.",
            metavar="FILE",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Open the lab in the browser: place points and watch every update. Ctrl-C ends it.

    The page runs in the browser; this command only serves its files, to this computer.

    rosenblatt lab

    rosenblatt lab iris

    rosenblatt lab points.csv --port 8080 --no-browser

    rosenblatt lab xor --save lab.html
    """
    from ..lab.bundle import build_page
    from ..lab.serving import read_state, serve

    if save is None:
        serve(data, port, not no_browser)
    else:
        save.write_text(build_page(read_state(data)), encoding="utf-8")
        print(f"Wrote {save}; open it in a browser.")
