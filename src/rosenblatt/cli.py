"""The commands. Each imports what it needs when it runs, so that --help answers at once."""

import sys
import time
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import __version__

if TYPE_CHECKING:
    from .classifiers import Perceptron
    from .theory import Inseparable, Separable

app = typer.Typer(
    help="The perceptron, from the textbook page to files larger than memory.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


LABEL_HELP = "The column with the labels; by default the last."
POSITIVE_HELP = "The label to set against all others; needed with over two."


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
    except (ValueError, OSError) as error:
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


@app.command()
def prove(
    data: Annotated[
        str, typer.Argument(help="A CSV file or a built-in data set.", show_default=False)
    ],
    certificate: Annotated[
        Path | None, typer.Option(help="Write the proof to this JSON file.", show_default=False)
    ] = None,
    label: Annotated[str | None, typer.Option(help=LABEL_HELP, show_default=False)] = None,
    positive: Annotated[str | None, typer.Option(help=POSITIVE_HELP, show_default=False)] = None,
    origin: Annotated[
        bool, typer.Option("--origin", help="Only planes through the origin.")
    ] = False,
) -> None:
    """Decide whether two classes can be separated, and prove it.

    Exit status 0: separable. 1: not. 3: undecided.
    """
    from .theory import Inseparable, Separable, save_certificate, separability

    X, y = two_classes(data, label, positive)
    found = separability(X, y, fit_intercept=not origin)
    print(f"{data}: {X.shape[0]} rows, {X.shape[1]} features")
    if isinstance(found, Separable):
        print(about_separable(X, y, found))
    elif isinstance(found, Inseparable):
        print(about_inseparable(X, y, found))
    else:
        print(f"Undecided: a proof is out of reach; no margin can exceed {found.upper:.3g}.")
        raise typer.Exit(3)
    if certificate is not None:
        save_certificate(found, certificate)
        print(
            f"The proof is in {certificate}; check it with: rosenblatt verify {data} {certificate}"
        )
    raise typer.Exit(0 if isinstance(found, Separable) else 1)


@app.command()
def verify(
    data: Annotated[
        str, typer.Argument(help="A CSV file or a built-in data set.", show_default=False)
    ],
    file: Annotated[Path, typer.Argument(help="A certificate from prove.", show_default=False)],
    label: Annotated[str | None, typer.Option(help=LABEL_HELP, show_default=False)] = None,
    positive: Annotated[str | None, typer.Option(help=POSITIVE_HELP, show_default=False)] = None,
) -> None:
    """Check a certificate against the data, in exact arithmetic and from scratch.

    Exit status 0: it holds. 1: it does not.
    """
    from .theory import load_certificate

    X, y = two_classes(data, label, positive)
    proof = load_certificate(file)
    claim = type(proof).__name__.lower()
    holds = proof.verify(X, y)
    print(f"{file} {'proves' if holds else 'does not prove'} that {data} is {claim}.")
    raise typer.Exit(0 if holds else 1)


def two_classes(data: str, label: str | None, positive: str | None) -> tuple[Any, Any]:
    """The rows of a data set, and labels of two classes."""
    X, y = built_in(BuiltIn(data)) if data in set(BuiltIn) else table(data, label)
    labels = sorted(set(y.tolist()))
    if positive is not None:
        known = {str(value): value for value in labels}
        if positive not in known:
            raise ValueError(f"{data} has no label {positive}; it has {', '.join(known)}.")
        return X, y == known[positive]
    if len(labels) > 2:
        listed = ", ".join(map(str, labels[:10]))
        raise ValueError(
            f"{data} has {len(labels)} classes ({listed}); name one with --positive to set it "
            "against the others."
        )
    return X, y


def table(path: str, label: str | None) -> tuple[Any, Any]:
    """The rows and labels of a CSV file with a header."""
    import numpy as np
    from pyarrow import ArrowInvalid, csv

    if not Path(path).is_file():
        sets = ", ".join(BuiltIn)
        raise ValueError(f"{path} is neither a file nor a built-in data set ({sets}).")
    try:
        columns = csv.read_csv(path)
    except ArrowInvalid as error:
        raise ValueError(f"{path} cannot be read as CSV: {error}".splitlines()[0]) from None
    names = columns.column_names
    chosen = label if label is not None else names[-1]
    if chosen not in names:
        raise ValueError(f"{path} has no column {chosen}; it has {', '.join(names[:20])}.")
    rows = columns.drop_columns([chosen])
    for name, column in zip(rows.column_names, rows.columns, strict=True):
        if str(column.type) not in ("int64", "double", "bool"):
            raise ValueError(f"{path}: column {name} is not numeric; remove or encode it.")
        if column.null_count:
            raise ValueError(f"{path}: column {name} has missing values; fill them first.")
    arrays = [column.cast("double").to_numpy() for column in rows.columns]
    X = np.column_stack(arrays) if arrays else np.empty((columns.num_rows, 0))
    return np.ascontiguousarray(X), np.asarray(columns[chosen].to_pylist())


def about_separable(X: Any, y: Any, found: "Separable") -> str:
    """What it means that a hyperplane was found."""
    from .theory import max_margin, mistake_bounds

    lines = ["Separable: a hyperplane has every row strictly on its side (checked exactly)."]
    if len(set(y.tolist())) == 2:
        widest = max_margin(X, y, fit_intercept=found.fit_intercept)
        bounds = mistake_bounds(X, y, widest.weights, widest.bias)
        most = bounds.unit_step if found.fit_intercept else bounds.novikoff
        lines += [
            f"The margin is between {widest.attained:.6g}, which is attained, and "
            f"{widest.upper:.6g}, which none can exceed.",
            f"A perceptron from zero makes at most {most:,.0f} mistakes, in any order.",
        ]
    return "\n".join(lines)


def about_inseparable(X: Any, y: Any, found: "Inseparable", shown: int = 8) -> str:
    """Which rows clash, and how."""
    lines = ["Inseparable: the convex hulls of the classes meet (checked exactly)."]
    if found.fit_intercept:
        lines.append(f"{len(found.support)} rows clash; with these weights both sides balance:")
    else:
        lines.append(f"{len(found.support)} rows clash; with these weights they sum to zero:")
    for row, weight in list(zip(found.support, found.weights, strict=True))[:shown]:
        exact = str(weight) if len(str(weight)) <= 20 else f"about {float(weight):.6g}"
        lines.append(f"  row {row + 1}, class {y[row]}: {exact}")
    if len(found.support) > shown:
        lines.append(f"  and {len(found.support) - shown} more")
    return "\n".join(lines)


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
