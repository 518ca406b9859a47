"""The commands. Each imports what it needs when it runs, so that --help answers at once."""

import sys
import time
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import __version__

if TYPE_CHECKING:
    from .classifiers import Perceptron

app = typer.Typer(
    help="The perceptron, from the textbook page to files larger than memory.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


class BuiltIn(StrEnum):
    """Data sets that come with the package."""

    IRIS = "iris"
    XOR = "xor"
    DIGITS = "digits"
    BREAST_CANCER = "breast-cancer"
    WINE = "wine"


class Solution(StrEnum):
    """Which weights become the model."""

    LAST = "last"
    AVERAGE = "average"
    VOTE = "vote"
    POCKET = "pocket"


class Order(StrEnum):
    """How the rows are gone through."""

    EACH = "each"
    ONCE = "once"
    FIXED = "fixed"
    ACTIVE = "active"
    FIRST = "first"
    WORST = "worst"


def main() -> None:
    """Run a command; turn bad input into one line and exit status 2."""
    try:
        app()
    except ValueError as error:
        print(f"rosenblatt: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("rosenblatt: interrupted", file=sys.stderr)
        sys.exit(130)


def show_version(asked: bool) -> None:
    """Print the version and stop."""
    if asked:
        print(f"rosenblatt {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=show_version, is_eager=True, help="Show version.")
    ] = False,
) -> None:
    """The perceptron, from the textbook page to files larger than memory."""


@app.command()
def train(
    data: Annotated[BuiltIn, typer.Argument(help="A built-in data set.", show_default=False)],
    solution: Annotated[
        Solution, typer.Option(help="Which weights become the model.", rich_help_panel="Learning")
    ] = Solution.LAST,
    order: Annotated[
        Order, typer.Option(help="How rows are gone through.", rich_help_panel="Learning")
    ] = Order.EACH,
    epochs: Annotated[
        int, typer.Option(min=1, help="The most passes.", rich_help_panel="Learning")
    ] = 100,
    margin: Annotated[
        float, typer.Option(min=0.0, help="Demand this margin.", rich_help_panel="Learning")
    ] = 0.0,
    seed: Annotated[
        int, typer.Option(min=0, help="Decides the random orders.", rich_help_panel="Learning")
    ] = 0,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Only the verdict.", rich_help_panel="Output")
    ] = False,
) -> None:
    """Train on a data set and say what came of it.

    Prints a line per epoch, then whether the data were separated and why training ended.
    """
    from .classifiers import Perceptron

    X, y = built_in(data)
    shape = f"{len(y)} rows, {X.shape[1]} features, {len(set(y.tolist()))} classes"
    print(f"{data}: {shape}", flush=True)
    model = Perceptron(
        solution=solution.value,
        order=order.value,
        margin=margin,
        max_iter=epochs,
        random_state=seed,
        measure=True,
        verbose=not quiet,
    )
    started = time.perf_counter()
    model.fit(X, y)
    print(verdict(model, model.score(X, y), time.perf_counter() - started))


def built_in(name: BuiltIn) -> tuple[Any, Any]:
    """The rows and labels of a built-in data set."""
    import numpy as np

    if name is BuiltIn.XOR:
        return np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), np.array([0, 1, 1, 0])
    from sklearn import datasets

    load = getattr(datasets, f"load_{name.value.replace('-', '_')}")
    X, y = load(return_X_y=True)
    return X, y


def verdict(model: "Perceptron", accuracy: float, seconds: float) -> str:
    """What a run has shown, in two lines."""
    reasons = {
        "separated": "no row is misclassified any more",
        "max_iter": f"{model.n_iter_} epochs are over",
        "no_improvement": "the held-out accuracy stopped rising",
    }
    found = "Separated" if model.stop_reason_ == "separated" else "Not separated"
    return (
        f"{found} after {model.n_mistakes_} mistakes in {model.n_iter_} epochs"
        f" ({seconds:.3f} s): {reasons[model.stop_reason_]}.\n"
        f"The {model.solution} weights classify {accuracy:.2%} of the training rows correctly."
    )
