"""The commands. Each imports what it needs when it runs, so that --help answers at once."""

import shlex
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import __version__

if TYPE_CHECKING:
    from .files import Lesson, Tally
    from .readers import Reader
    from .storage import Model
    from .theory import Inseparable, Separable
    from .training import Epoch

app = typer.Typer(
    help="The perceptron, from the textbook page to files larger than memory.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


DATA_HELP = "A file (svmlight, VW, CSV, Parquet …, also .gz, .zst), - or a built-in set."
FILE_HELP = "A file like the one that the model was trained on, or -."
LEARNING: dict[str, Any] = {"rich_help_panel": "Learning", "show_default": False}
READING: dict[str, Any] = {"rich_help_panel": "Reading", "show_default": False}
FORMAT_HELP = "svmlight, vw, csv, tsv, parquet or arrow, if the name does not tell."
LABEL_HELP = "The label's column: name or number."
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
    data: Annotated[str, typer.Argument(help=DATA_HELP, show_default=False)],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write the model here.", rich_help_panel="Output"),
    ] = None,
    test: Annotated[
        str | None, typer.Option(help="Tell the error on this file.", rich_help_panel="Output")
    ] = None,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Only the verdict.", rich_help_panel="Output")
    ] = False,
    solution: Annotated[
        Solution | None,
        typer.Option(help="Which weights to keep (average; for built-in sets last).", **LEARNING),
    ] = None,
    order: Annotated[
        Order | None,
        typer.Option(help="How rows are gone through (each; fixed in a stream).", **LEARNING),
    ] = None,
    epochs: Annotated[
        int | None,
        typer.Option(min=1, help="The most passes (10; for built-in sets 100).", **LEARNING),
    ] = None,
    margin: Annotated[float, typer.Option(min=0.0, help="Demand a margin.", **LEARNING)] = 0.0,
    seed: Annotated[
        int, typer.Option(min=0, max=2**32 - 1, help="For the random orders.", **LEARNING)
    ] = 0,
    classes: Annotated[
        str | None, typer.Option(help="All labels, with commas between.", **LEARNING)
    ] = None,
    label: Annotated[
        str | None, typer.Option(help="The label's column: name or number.", **READING)
    ] = None,
    text: Annotated[
        list[str] | None, typer.Option(help="A column of text (repeatable).", **READING)
    ] = None,
    ngrams: Annotated[str, typer.Option(help="Words at a time: 1, 2, 1-2 …", **READING)] = "1",
    characters: Annotated[
        bool, typer.Option("--characters", help="N-grams of characters.", **READING)
    ] = False,
    bits: Annotated[
        int | None, typer.Option(help="Hash to 2^bits columns (18; 20 with text).", **READING)
    ] = None,
    cross: Annotated[
        list[str] | None, typer.Option(help="Products of columns A,B (repeatable).", **READING)
    ] = None,
    pairs: Annotated[
        bool, typer.Option("--pairs", help="Products of every two features.", **READING)
    ] = False,
    kind: Annotated[str | None, typer.Option("--format", help=FORMAT_HELP, **READING)] = None,
    skip_bad: Annotated[int, typer.Option(min=0, help="Leave out broken rows.", **READING)] = 0,
) -> None:
    """Train on a file or a built-in data set and say what came of it.

    rosenblatt train iris

    rosenblatt train reviews.csv --text text --ngrams 1-2 --test unseen.csv -o model.safetensors

    rosenblatt train huge.svm.gz --epochs 1 -o model.safetensors
    """
    check_places(test, output)
    if margin == float("inf"):
        raise ValueError("--margin must be a finite number.")
    if data in set(BuiltIn):
        if any((test, classes, label, text, cross, pairs, characters, bits, kind, skip_bad)):
            raise ValueError(f"{data} is a built-in set; options for files do not apply to it.")
        chosen = solution or Solution.LAST
        train_built_in(
            BuiltIn(data), chosen, order or Order.EACH, epochs, margin, seed, quiet, output
        )
        return
    from .files import Lesson
    from .readers import read

    options: dict[str, Any] = {
        "format": kind,
        "label": column(label),
        "text": tuple(text or ()),
        "ngrams": lengths(ngrams),
        "characters": characters,
        "bits": bits,
        "cross": tuple(cross or ()),
        "pairs": pairs,
        "skip_bad": skip_bad,
        "names": 100_000,
    }
    reader = read(data, **options)
    lesson = Lesson(
        (solution or Solution.AVERAGE).value,
        order and order.value,
        epochs or (1 if reader.size is None else 10),
        margin,
        seed,
        classes.split(",") if classes else None,
    )
    train_file(reader, data, lesson, test, output, quiet)


def train_file(
    reader: "Reader",
    data: str,
    lesson: "Lesson",
    test: str | None,
    output: Path | None,
    quiet: bool,
) -> None:
    """Train on a file, print how it goes, keep and test the model."""
    from . import storage
    from .files import score, train
    from .readers import read

    started = time.perf_counter()
    show = Progress(reader.size, quiet)
    model = train(reader, lesson, show.epoch, show.batch)
    for notice in [*reader.notices, *([f"{reader.bad} broken rows left out"] * bool(reader.bad))]:
        print(f"Note: {notice}", file=sys.stderr)
    seconds = time.perf_counter() - started
    (solution,) = model.solutions
    rows, passes = model.facts["rows"], len(model.history)
    print(
        f"{data}: {rows:,} rows, {len(solution.weights):,} features, {len(model.classes)} classes\n"
        f"{why(model.facts['stop_reason'], solution.mistakes, passes, seconds)}"
    )
    if output is not None:
        storage.save(output, model)
        print(f"The model is in {output}.")
    if test is not None:
        told = told_format(test, reader.format)
        result = score(model, read(test, features=model.features["recipe"], format=told))
        print(f"Test error {result.error:.2%}: {result.errors:,} of {result.rows:,} rows.")


class Progress:
    """Prints how training goes: a line per epoch, and one a second within a long pass."""

    def __init__(self, size: int | None, quiet: bool) -> None:
        self.size, self.quiet = size, quiet
        self.started = self.said = time.perf_counter()

    def epoch(self, epoch: "Epoch") -> None:
        """Say what happened in an epoch."""
        if not self.quiet:
            share = epoch.mistakes / epoch.rows
            print(
                f"epoch {epoch.epoch:4d}  {epoch.mistakes:10,d} mistakes  {share:7.2%}", flush=True
            )

    def batch(self, tally: "Tally") -> None:
        """Say how far a pass has come, once a second."""
        now = time.perf_counter()
        if self.quiet or now - self.said < 1:
            return
        self.said = now
        seconds = now - self.started
        done = f"{tally.bytes_read / self.size:4.0%}  " if self.size else ""
        print(
            f"  {done}{tally.rows:12,d} rows  {tally.rows / seconds:10,.0f} rows/s"
            f"  {tally.bytes_read / seconds / 1e6:6,.0f} MB/s"
            f"  {tally.mistakes / tally.rows:7.2%} progressive error",
            flush=True,
        )


@app.command()
def predict(
    model: Annotated[Path, typer.Argument(help="A model from train -o.", show_default=False)],
    data: Annotated[str, typer.Argument(help=FILE_HELP, show_default=False)],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write here, not to standard output.")
    ] = None,
    show_scores: Annotated[
        bool, typer.Option("--scores", help="Scores (not probabilities) instead of labels.")
    ] = False,
    kind: Annotated[str | None, typer.Option("--format", help=FORMAT_HELP)] = None,
) -> None:
    """Predict the label of every row of a file, in its order, a line each."""
    from .files import activations_of
    from .training import chosen

    saved, reader = model_and_reader(model, data, kind, labels=False)
    names = saved.classes.astype(str)
    with open_output(output) as out:
        for _, activations in activations_of(saved, reader):
            if show_scores:
                table = activations.reshape(len(activations), -1)
                lines = [" ".join(f"{value:.9g}" for value in row) for row in table]
            else:
                lines = names[chosen(activations)].tolist()
            out.write("".join(f"{line}\n" for line in lines))


@app.command()
def score(
    model: Annotated[Path, typer.Argument(help="A model from train -o.", show_default=False)],
    data: Annotated[str, typer.Argument(help=FILE_HELP, show_default=False)],
    kind: Annotated[str | None, typer.Option("--format", help=FORMAT_HELP)] = None,
) -> None:
    """Tell the share of rows that a model gets wrong."""
    from .files import score as score_file

    saved, reader = model_and_reader(model, data, kind, labels=True)
    result = score_file(saved, reader)
    print(f"{data}: error {result.error:.2%}, {result.errors:,} of {result.rows:,} rows wrong.")


@app.command()
def inspect(
    model: Annotated[Path, typer.Argument(help="A model from train -o.", show_default=False)],
    top: Annotated[int, typer.Option(min=0, help="How many of the largest weights.")] = 10,
) -> None:
    """Tell what a model is, how it was trained, and its largest weights."""
    import numpy as np

    from . import storage

    saved = storage.load(model)
    solution, names = saved.solutions[0], dict(saved.features.get("largest", []))
    weights, bias = solution.answer()
    shown = ", ".join(map(str, saved.classes[:10].tolist()))
    print(f"A perceptron for {len(saved.classes)} classes ({shown})")
    print(
        f"{weights.shape[0]:,} features, {weights.dtype}; solution {saved.parameters['solution']}"
    )
    print(
        f"{solution.mistakes:,} mistakes in {solution.seen:,} rows seen; stopped: "
        f"{saved.facts.get('stop_reason')}"
    )
    table = weights.reshape(len(weights), -1)
    sizes = np.abs(table).max(axis=1)
    largest = np.argsort(-sizes, kind="stable")[:top]
    for k in largest[sizes[largest] > 0].tolist():
        values = " ".join(f"{value:+.6g}" for value in table[k].tolist())
        print(f"  {names.get(k, f'column {k}')}: {values}")
    print(f"  bias: {' '.join(f'{value:+.6g}' for value in bias.tolist())}")


def model_and_reader(
    path: Path, data: str, kind: str | None, labels: bool
) -> "tuple[Model, Reader]":
    """A saved model, and a file read as the model's own was."""
    from . import storage
    from .readers import read

    saved = storage.load(path)
    recipe = saved.features.get("recipe")
    if recipe is None or len(saved.solutions) != 1:
        raise ValueError(f"{path} was not trained from a file; use rosenblatt.load in Python.")
    options: dict[str, Any] = {} if labels else {"label": False}
    told = kind or told_format(data, str(saved.features["format"]))
    return saved, read(data, features=recipe, format=told, **options)


def told_format(path: str, otherwise: str) -> str | None:
    """None when the name of a file tells its format, else the one of the training file."""
    from .readers import FORMATS

    endings = [ending[1:].lower() for ending in Path(path).suffixes]
    return None if any(ending in FORMATS for ending in endings) else otherwise


def check_places(test: str | None, output: Path | None) -> None:
    """Refuse before training what would fail after it."""
    if test is not None and test != "-" and not glob(test):
        raise ValueError(f"There is no file {test}.")
    if output is not None and not output.absolute().parent.is_dir():
        raise ValueError(f"There is no folder {output.parent} to write to.")
    if output is not None and output.is_dir():
        raise ValueError(f"{output} is a folder; name a file to write to.")


@contextmanager
def open_output(path: Path | None) -> Iterator[Any]:
    """Standard output, or a file that appears when it is complete."""
    if path is None:
        yield sys.stdout
        return
    from .storage import replacing

    with replacing(path) as temporary, temporary.open("w", encoding="utf-8") as out:
        yield out


def column(text: str | None) -> str | int | None:
    """A column by number or by name."""
    return int(text) if text is not None and text.lstrip("-").isdigit() else text


def lengths(text: str) -> tuple[int, int]:
    """The least and the most words of an n-gram: "1-2" or "2"."""
    least, _, most = text.partition("-")
    if not least.isdecimal() or not (most or least).isdecimal():
        raise ValueError(f"--ngrams {text} must be a number or two with a dash between, as 1-2.")
    return int(least), int(most or least)


def train_built_in(
    name: BuiltIn,
    solution: Solution,
    order: Order,
    epochs: int | None,
    margin: float,
    seed: int,
    quiet: bool,
    output: Path | None,
) -> None:
    """Train on a built-in data set, with the training error of every epoch."""
    from .classifiers import Perceptron

    X, y = built_in(name)
    shape = f"{len(y)} rows, {X.shape[1]} features, {len(set(y.tolist()))} classes"
    print(f"{name}: {shape}", flush=True)
    model = Perceptron(
        solution=solution.value,
        order=order.value,
        margin=margin,
        max_iter=epochs or 100,
        random_state=seed,
        measure=True,
        verbose=not quiet,
    )
    started = time.perf_counter()
    model.fit(X, y)
    seconds = time.perf_counter() - started
    print(why(model.stop_reason_, model.n_mistakes_, model.n_iter_, seconds))
    accuracy = model.score(X, y)
    print(f"The {solution} weights classify {accuracy:.2%} of the training rows correctly.")
    if output is not None:
        model.save(output)


def why(stop_reason: str, mistakes: int, epochs: int, seconds: float) -> str:
    """What a run has shown, in a line."""
    plural = "epoch" if epochs == 1 else "epochs"
    reasons = {
        "separated": "a pass without mistakes",
        "max_iter": f"{epochs} {plural} {'is' if epochs == 1 else 'are'} over",
    }
    found = "Separated" if stop_reason == "separated" else "Not separated"
    return (
        f"{found} after {mistakes:,} mistakes in {epochs} {plural} ({seconds:.3f} s): "
        f"{reasons[stop_reason]}."
    )


@app.command()
def prove(
    data: Annotated[str, typer.Argument(help=DATA_HELP, show_default=False)],
    certificate: Annotated[
        Path | None, typer.Option(help="Write the proof to this JSON file.", show_default=False)
    ] = None,
    label: Annotated[str | None, typer.Option(help=LABEL_HELP, show_default=False)] = None,
    positive: Annotated[str | None, typer.Option(help=POSITIVE_HELP, show_default=False)] = None,
    kind: Annotated[str | None, typer.Option("--format", help=FORMAT_HELP)] = None,
    origin: Annotated[
        bool, typer.Option("--origin", help="Only planes through the origin.")
    ] = False,
) -> None:
    """Decide whether two classes can be separated, and prove it.

    Exit status 0: separable. 1: not. 3: undecided.
    """
    from .theory import Inseparable, Separable, save_certificate, separability

    check_places(None, certificate)
    X, y = two_classes(data, label, positive, kind)
    found = separability(X, y, fit_intercept=not origin)
    print(f"{data}: {X.shape[0]} rows, {X.shape[1]} features")
    if isinstance(found, Separable):
        print(about_separable(X, y, found))
    elif isinstance(found, Inseparable):
        print(about_inseparable(y, positive, found))
    else:
        print(f"Undecided: a proof is out of reach; no margin can exceed {found.upper:.3g}.")
        raise typer.Exit(3)
    if certificate is not None:
        save_certificate(found, certificate)
        given = {"--label": label, "--positive": positive, "--format": kind}
        words = [word for pair in given.items() if pair[1] is not None for word in map(str, pair)]
        command = shlex.join(["rosenblatt", "verify", data, str(certificate), *words])
        print(f"The proof is in {certificate}; check it with: {command}")
    raise typer.Exit(0 if isinstance(found, Separable) else 1)


@app.command()
def verify(
    data: Annotated[str, typer.Argument(help=DATA_HELP, show_default=False)],
    file: Annotated[Path, typer.Argument(help="A certificate from prove.", show_default=False)],
    label: Annotated[str | None, typer.Option(help=LABEL_HELP, show_default=False)] = None,
    positive: Annotated[str | None, typer.Option(help=POSITIVE_HELP, show_default=False)] = None,
    kind: Annotated[str | None, typer.Option("--format", help=FORMAT_HELP)] = None,
) -> None:
    """Check a certificate against the data, in exact arithmetic and from scratch.

    Exit status 0: it holds. 1: it does not.
    """
    from .theory import load_certificate

    X, y = two_classes(data, label, positive, kind)
    proof = load_certificate(file)
    claim = type(proof).__name__.lower()
    holds = proof.verify(X, y)
    print(f"{file} {'proves' if holds else 'does not prove'} that {data} is {claim}.")
    raise typer.Exit(0 if holds else 1)


def two_classes(
    data: str, label: str | None, positive: str | None, kind: str | None
) -> tuple[Any, Any]:
    """The rows of a data set, and labels of two classes."""
    X, y = built_in(BuiltIn(data)) if data in set(BuiltIn) else whole_file(data, label, kind)
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


def whole_file(path: str, label: str | None, kind: str | None) -> tuple[Any, Any]:
    """All rows of a file in double precision, and its labels."""
    import numpy as np

    from .files import matrix_and_labels
    from .readers import read

    reader = read(path, label=column(label), format=kind, dtype=np.float64)
    if reader.hashed and reader.format != "vw":
        raise ValueError(f"{path} has columns of words; a proof needs numbers, so encode them.")
    found = matrix_and_labels(reader)
    for notice in reader.notices:
        if "Missing" in notice:
            raise ValueError(f"{path} has missing numbers; a proof needs them all, so fill them.")
        print(f"Note: {notice}", file=sys.stderr)
    return found


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


def about_inseparable(y: Any, positive: str | None, found: "Inseparable", shown: int = 8) -> str:
    """Which rows clash, and how."""
    lines = ["Inseparable: the convex hulls of the classes meet (checked exactly)."]
    if found.fit_intercept:
        lines.append(f"{len(found.support)} rows clash; with these weights both sides balance:")
    else:
        lines.append(f"{len(found.support)} rows clash; with these weights they sum to zero:")
    for row, weight in list(zip(found.support, found.weights, strict=True))[:shown]:
        exact = str(weight) if len(str(weight)) <= 20 else f"about {float(weight):.6g}"
        label = y[row] if positive is None else positive if y[row] else f"not {positive}"
        lines.append(f"  row {row + 1}, class {label}: {exact}")
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
