"""The commands. Each imports what it needs when it runs, so that --help answers at once."""

import shlex
import signal
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
    from .files import Lesson, Score
    from .progress import Quiet
    from .reading.reader import Reader
    from .storage import Model
    from .theory.certificates import Inseparable, Separable

app = typer.Typer(
    help="The perceptron, from the textbook page to files larger than memory.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


DATA_HELP = "A file (svmlight, VW, CSV, Parquet …, .gz, .zst), - or a set."
FILE_HELP = "A file like the one that the model was trained on, or -."
RESULT: dict[str, Any] = {"rich_help_panel": "Result", "show_default": False}
LEARNING: dict[str, Any] = {"rich_help_panel": "Learning", "show_default": False}
READING: dict[str, Any] = {"rich_help_panel": "Reading", "show_default": False}
FORMAT_HELP = "svmlight, vw, csv, tsv, parquet or arrow."
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


class ClassWeight(StrEnum):
    """How much the rows of each class weigh."""

    BALANCED = "balanced"


def main() -> None:
    """Run a command; turn bad input into one line and exit status 2."""
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))  # and tidy up
    try:
        app()
    except OSError as error:
        said = f"{error.strerror}." if error.strerror else error
        said = f"{error.filename}: {said}" if error.filename else said
        print(f"rosenblatt: {said}", file=sys.stderr)
        sys.exit(2)
    except (ValueError, ImportError) as error:
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
    data: Annotated[str, typer.Argument(metavar="DATA", help=DATA_HELP, show_default=False)],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write the model here.", metavar="FILE", **RESULT),
    ] = None,
    test: Annotated[
        str | None, typer.Option(help="Tell the error on this file.", metavar="FILE", **RESULT)
    ] = None,
    holdout: Annotated[
        float,
        typer.Option(help="Test on this share of the rows.", metavar="SHARE", **RESULT),
    ] = 0.0,
    checkpoint: Annotated[
        float | None,
        typer.Option(help="Write it every so many seconds.", metavar="SECONDS", **RESULT),
    ] = None,
    resume: Annotated[
        bool,
        typer.Option("--resume", help="Go on from the last checkpoint.", metavar=" ", **RESULT),
    ] = False,
    plot_file: Annotated[
        Path | None,
        typer.Option("--plot", help="Draw what was learnt.", metavar="FILE", **RESULT),
    ] = None,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Only the verdict.", metavar=" ", **RESULT)
    ] = (False),
    as_json: Annotated[
        bool, typer.Option("--json", help="JSON, a line each.", metavar=" ", **RESULT)
    ] = False,
    solution: Annotated[
        Solution | None,
        typer.Option(
            help="average, last, vote or pocket (average).",
            metavar="WHICH",
            **LEARNING,
        ),
    ] = None,
    order: Annotated[
        Order | None,
        typer.Option(
            help="each, once, fixed, active … (each; stream: fixed).",
            metavar="HOW",
            **LEARNING,
        ),
    ] = None,
    epochs: Annotated[
        int | None,
        typer.Option(help="The most passes (10; built-in sets 100).", metavar="N", **LEARNING),
    ] = None,
    early_stopping: Annotated[
        bool,
        typer.Option(
            "--early-stopping", help="Until held-out rows gain no more.", metavar=" ", **LEARNING
        ),
    ] = False,
    margin: Annotated[
        float, typer.Option(help="Demand a margin.", metavar="NUMBER", **LEARNING)
    ] = 0.0,
    class_weight: Annotated[
        ClassWeight | None,
        typer.Option(help="Rare classes weigh more.", metavar="balanced", **LEARNING),
    ] = None,
    window: Annotated[
        int,
        typer.Option(help="Shuffle a stream within so many rows.", metavar="ROWS", **LEARNING),
    ] = 0,
    seed: Annotated[
        int,
        typer.Option(help="For the random orders.", metavar="N", **LEARNING),
    ] = 0,
    classes: Annotated[
        str | None,
        typer.Option(help="All labels, if the first rows lack some.", metavar="A,B,…", **LEARNING),
    ] = None,
    label: Annotated[
        str | None,
        typer.Option(help="The label's column: name or number.", metavar="COLUMN", **READING),
    ] = None,
    text: Annotated[
        list[str] | None,
        typer.Option(help="A column of text (repeatable).", metavar="COLUMN", **READING),
    ] = None,
    category: Annotated[
        list[str] | None,
        typer.Option(help="A column of words, not numbers.", metavar="COLUMN", **READING),
    ] = None,
    ngrams: Annotated[
        str, typer.Option(help="Words at a time: 1, 2, 1-2 …", metavar="N", **READING)
    ] = "1",
    characters: Annotated[
        bool, typer.Option("--characters", help="N-grams of characters.", metavar=" ", **READING)
    ] = False,
    bits: Annotated[
        int | None,
        typer.Option(help="Hash to 2^bits columns (18; 20 with text).", metavar="N", **READING),
    ] = None,
    cross: Annotated[
        list[str] | None,
        typer.Option(help="Products of columns A,B (repeatable).", metavar="A,B", **READING),
    ] = None,
    pairs: Annotated[
        bool,
        typer.Option("--pairs", help="Products of every two features.", metavar=" ", **READING),
    ] = False,
    kind: Annotated[
        str | None, typer.Option("--format", help=FORMAT_HELP, metavar="NAME", **READING)
    ] = None,
    skip_bad: Annotated[
        int, typer.Option(help="Leave out broken rows.", metavar="N", **READING)
    ] = 0,
    cache: Annotated[
        bool,
        typer.Option(
            "--cache", help="Keep the parsed rows beside the file.", metavar=" ", **READING
        ),
    ] = False,
    cluster: Annotated[
        str | None,
        typer.Option(help="Dask: local:N, tcp://… or a file.", metavar="WHERE", **LEARNING),
    ] = None,
) -> None:
    """Train on a file or a built-in data set and say what came of it.

    rosenblatt train iris

    rosenblatt train reviews.csv --text text --ngrams 1-2 --test new.csv -o model

    rosenblatt train huge.svm.gz --epochs 1 --holdout 0.1 --checkpoint 60 -o model
    """
    check_places(test, output)
    check_numbers(
        {
            "--epochs": (epochs, 1, 2**31),
            "--margin": (margin, 0, float("inf")),
            "--seed": (seed, 0, 2**32),
            "--window": (window, 0, 2**31),
            "--holdout": (holdout, 0, 1),
            "--checkpoint": (checkpoint, 0, float("inf")),
            "--skip-bad": (skip_bad, 0, 2**63),
        }
    )
    if output is None and (checkpoint is not None or resume):
        raise ValueError("--checkpoint and --resume need a model file: name it with -o.")
    if checkpoint is not None and solution is Solution.VOTE:
        raise ValueError(
            "--checkpoint cannot keep a vote that is not closed; use another solution."
        )
    if plot_file is not None:
        check_figure(plot_file)
    weigh = class_weight and class_weight.value
    if data in set(BuiltIn):
        of_files = (
            test,
            classes,
            label,
            text,
            category,
            cross,
            pairs,
            characters,
            bits,
            kind,
            skip_bad,
        )
        if any((*of_files, holdout, window, cache, cluster, checkpoint, resume, as_json)):
            raise ValueError(f"{data} is a built-in set; options for files do not apply to it.")
        train_built_in(
            BuiltIn(data),
            output,
            plot_file,
            solution=(solution or Solution.LAST).value,
            order=(order or Order.EACH).value,
            margin=margin,
            max_iter=epochs or 100,
            early_stopping=early_stopping,
            class_weight=weigh,
            random_state=seed,
            verbose=not quiet,
        )
        return
    from .files import Lesson
    from .reading.reader import read

    reading: dict[str, Any] = {
        "format": kind,
        "label": column(label),
        "text": tuple(text or ()),
        "category": tuple(category or ()),
        "ngrams": lengths(ngrams),
        "characters": characters,
        "bits": bits,
        "cross": tuple(cross or ()),
        "pairs": pairs,
        "skip_bad": skip_bad,
    }
    lesson = Lesson(
        (solution or Solution.AVERAGE).value,
        order and order.value,
        epochs or 10,
        margin,
        seed,
        classes.split(",") if classes else None,
        window,
        holdout,
        early_stopping,
        bool(weigh),
    )
    if cluster is not None:
        for option, wanted in {"--cache": cache, "--plot": plot_file is not None}.items():
            if wanted:
                raise ValueError(f"{option} does not go with --cluster; leave one out.")
        kept = output if checkpoint is not None or resume else None
        train_on_cluster(data, reading, lesson, cluster, quiet, as_json, kept, resume, test, output)
        return
    reader = read(data, **reading, names=100_000)
    if epochs is None and not reader.rereadable:
        lesson = lesson._replace(epochs=1)
    begun = begun_model(output) if resume else None
    watch = watch_of(quiet, as_json)(reader.size, lesson.epochs, output, checkpoint)
    model = train_file(reader, lesson, watch, begun, cache, test, output, as_json)
    if plot_file is not None:
        draw_file(plot_file, model, data, reader)
        if not as_json:
            print(f"The figure is in {plot_file}.")


def check_numbers(options: dict[str, tuple[float | None, float, float]]) -> None:
    """Refuse numbers out of range; typer would too, but its help would no longer fit a screen."""
    for option, (value, least, below) in options.items():
        if value is not None and not least <= value < below:
            raise ValueError(f"{option} {value} must be {least} or more and below {below}.")


def begun_model(path: Path | None) -> "Model | None":
    """The model of a run to go on with, if there is one."""
    from . import storage

    if path is None or not path.exists():
        print(f"Note: There is no {path} to resume; the run begins anew.", file=sys.stderr)
        return None
    begun = storage.load(path)
    if "lesson" not in begun.facts or "rows" not in begun.facts:
        raise ValueError(f"{path} was not trained from a file; there is nothing to resume.")
    return begun


def watch_of(quiet: bool, as_json: bool) -> "type[Quiet]":
    """Who tells how it goes: JSON if asked for, a bar for a person, lines for a file."""
    from . import progress

    if quiet:
        return progress.Quiet
    if as_json:
        return progress.Json
    return progress.Bar if sys.stdout.isatty() else progress.Lines


def train_file(
    reader: "Reader",
    lesson: "Lesson",
    watch: "Quiet",
    begun: "Model | None",
    cache: bool,
    test: str | None,
    output: Path | None,
    as_json: bool,
) -> "Model":
    """Train on a file, print how it goes, keep and test the model."""
    from .files import train

    started = time.perf_counter()
    try:
        model = train(reader, lesson, watch, begun, cache)
    finally:
        watch.done()
    seconds = time.perf_counter() - started
    keep(model, None if model is begun else output)
    tell_result(reader.source.name, model, seconds, test, output, as_json)
    return model


def keep(model: "Model", output: Path | None) -> None:
    """Write a model, if a place for it was named."""
    from . import storage

    if output is not None:
        storage.save(output, model)


def tell_result(
    name: str,
    model: "Model",
    seconds: float,
    test: str | None,
    output: Path | None,
    as_json: bool,
) -> None:
    """Test a model, if on a file, and print what came of the training."""
    from .files import score
    from .reading.reader import read

    tested = None
    if test is not None:
        told = told_format(test, str(model.features["format"]))
        tested = score(model, read(test, features=model.features["recipe"], format=told))
    (tell_json if as_json else tell_words)(name, model, seconds, tested, output)


def check_figure(path: Path) -> None:
    """Refuse before training a figure that could not be drawn after it."""
    from .plots import MOVING, STILL, ending_of

    check_places(None, path)
    ending_of(path, (*STILL, *MOVING))


def draw_file(figure: Path, model: "Model", data: str, reader: "Reader") -> None:
    """Draw the rows as a model sees them, or the progress alone if they do not fit in memory."""
    from .classifiers import restored
    from .files import IN_MEMORY
    from .plots import save_plot

    X = y = None
    names: dict[str, Any] = {}
    if reader.size is not None and reader.size <= IN_MEMORY:
        X, y, names = rows_for_model(model, data, reader.format)
    save_plot(figure, X, y, estimator=restored(data, model), **names)


def train_on_cluster(
    data: str,
    reading: dict[str, Any],
    lesson: "Lesson",
    address: str,
    quiet: bool,
    as_json: bool,
    checkpoint: Path | None,
    resume: bool,
    test: str | None,
    output: Path | None,
) -> None:
    """Train on files with Dask, print how it goes, keep and test the model."""
    from .distributed import Round, train
    from .progress import say

    def as_object(done: Round) -> None:
        epoch, shards, *_ = done
        say("epoch", **(done._asdict() | epoch._asdict()), mistakes_per_shard=shards)

    report = (lambda _: None) if quiet else as_object if as_json else None
    started = time.perf_counter()
    model = train(data, reading, lesson, address, report, checkpoint, resume)
    seconds = time.perf_counter() - started
    keep(model, output)
    tell_result(data, model, seconds, test, output, as_json)


def tell_words(
    name: str, model: "Model", seconds: float, tested: "Score | None", output: Path | None
) -> None:
    """Print what came of a training."""
    from .files import Score

    (solution,) = model.solutions
    rows, features = count(model.facts["rows"], "row"), len(solution.weights)
    print(f"{name}: {rows}, {features:,} features, {len(model.classes)} classes")
    print(why(model.facts["stop_reason"], solution.mistakes, len(model.history), seconds))
    if output is not None:
        print(f"The model is in {output}.")
    if "held_out" in model.facts:
        print(f"Held-out {errors(Score(**model.facts['held_out']))}.")
    if tested is not None:
        print(f"Test {errors(tested)}.")


def tell_json(
    name: str, model: "Model", seconds: float, tested: "Score | None", output: Path | None
) -> None:
    """Print what came of a training as an object."""
    from .progress import say

    (solution,) = model.solutions
    say(
        "done",
        data=name,
        model=None if output is None else str(output),
        rows=model.facts["rows"],
        features=len(solution.weights),
        classes=model.classes.tolist(),
        stop_reason=model.facts["stop_reason"],
        epochs=len(model.history),
        mistakes=solution.mistakes,
        seconds=round(seconds, 6),
        held_out=model.facts.get("held_out"),
        test=tested and {"rows": tested.rows, "errors": tested.errors},
    )


def errors(score: "Score") -> str:
    """An error in words."""
    return f"error {score.error:.2%}: {score.errors:,} of {count(score.rows, 'row')}"


def count(number: int, thing: str) -> str:
    """So many things: "1 row", "2 rows"."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


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

    check_places(None, output)
    saved, reader = model_and_reader(model, data, kind, labels=False)
    names = [f"{name}\n" for name in saved.classes.tolist()]
    with open_output(output) as out:
        for _, activations in activations_of(saved.solutions[0], reader):
            if show_scores:
                table = activations.reshape(len(activations), -1).tolist()
                out.writelines(" ".join(f"{value:.9g}" for value in row) + "\n" for row in table)
            else:
                out.write("".join([names[code] for code in chosen(activations).tolist()]))


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
    print(f"{data}: {errors(result)}.")


@app.command()
def inspect(
    model: Annotated[Path, typer.Argument(help="A model from train -o.", show_default=False)],
    top: Annotated[int, typer.Option(min=0, help="How many of the largest weights.")] = 10,
) -> None:
    """Tell what a model is, how it was trained, and its largest weights."""
    import numpy as np

    saved = linear_model(model)
    answers = [solution.answer() for solution in saved.solutions]
    table = np.column_stack([weights for weights, _ in answers])
    bias = np.concatenate([bias for _, bias in answers])
    print("\n".join(about_model(saved, table)))
    print("\n".join(about_scores(saved)))
    names = dict(saved.features.get("largest", []))
    sizes = np.abs(table).max(axis=1)
    largest = np.argsort(-sizes, kind="stable")[:top]
    for k in largest[sizes[largest] > 0].tolist():
        print(f"  {names.get(k, f'column {k}')}: {signed(table[k])}")
    print(f"  bias: {signed(bias)}")


def signed(numbers: Any) -> str:
    """Numbers with their signs."""
    return " ".join(f"{number:+.6g}" for number in numbers.tolist())


def about_model(model: "Model", table: Any) -> list[str]:
    """What a model is and how it was trained."""
    from .files import Score

    facts, parameters = model.facts, model.parameters
    shown = ", ".join(map(str, model.classes[:10].tolist()))
    more = ", …" if len(model.classes) > 10 else ""
    mistakes = sum(solution.mistakes for solution in model.solutions)
    seen = sum(solution.seen for solution in model.solutions)
    how = {
        "order": parameters.get("order"),
        "margin": parameters.get("margin") or None,
        "seed": parameters.get("random_state"),
        "class weights": parameters.get("class_weight"),
    }
    lines = [
        f"A perceptron for {len(model.classes)} classes ({shown}{more})",
        f"{count(len(table), 'feature')}, {table.dtype}; solution {parameters['solution']}",
        "; ".join(f"{name} {value}" for name, value in how.items() if value is not None),
        f"{count(mistakes, 'mistake')} in {count(seen, 'row')} seen; stopped: "
        f"{facts.get('stop_reason')}",
    ]
    if model.history:
        first, last = model.history[0], model.history[-1]
        shares = [f"{epoch.mistakes / max(epoch.rows, 1):.2%}" for epoch in (first, last)]
        lines.append(
            f"{count(last.epoch, 'epoch')}; mistakes in the first {shares[0]}, in the last "
            f"{shares[1]} of the rows"
        )
    if "held_out" in facts:
        lines.append(f"Held-out {errors(Score(**facts['held_out']))}")
    return lines


def about_scores(model: "Model") -> list[str]:
    """How a score comes about and what it says."""
    if model.parameters["solution"] == "vote":
        return ["A score is the share of votes of all weights there were; the last of them:"]
    first, second = (str(label) for label in model.classes[:2])
    if len(model.classes) == 2:
        says = f"above 0 says {second}, else {first}"
    else:
        says = f"one for each class ({first}, {second}, …), and the largest wins"
    return [
        f"A score is the bias and the sum of weight × feature: {says}.",
        "Its size is no probability, but a larger one is further from the boundary. The largest "
        "weights:",
    ]


def linear_model(path: Path) -> "Model":
    """A saved model with weights, which the commands need."""
    from . import storage

    saved = storage.load(path)
    if storage.is_dual(saved):
        raise ValueError(
            f"{path} is a KernelPerceptron, and the commands work with linear models; use "
            "rosenblatt.load in Python."
        )
    return saved


def model_and_reader(
    path: Path, data: str, kind: str | None, labels: bool
) -> "tuple[Model, Reader]":
    """A saved model, and a file read as the model's own was."""
    from .reading.reader import read

    saved = linear_model(path)
    recipe = saved.features.get("recipe")
    if recipe is None or len(saved.solutions) != 1:
        raise ValueError(f"{path} was not trained from a file; use rosenblatt.load in Python.")
    options: dict[str, Any] = {} if labels else {"label": False}
    told = kind or told_format(data, str(saved.features["format"]))
    return saved, read(data, features=recipe, format=told, **options)


def told_format(path: str, otherwise: str) -> str | None:
    """None when the name of a file tells its format, else the one of the training file."""
    from .reading.reader import format_told_by

    return None if format_told_by(path) else otherwise


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
    from .disk import replacing

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
    name: BuiltIn, output: Path | None, figure: Path | None, **parameters: Any
) -> None:
    """Train on a built-in data set, with the training error of every epoch."""
    from .classifiers import Perceptron

    X, y = built_in(name)
    shape = f"{len(y)} rows, {X.shape[1]} features, {len(set(y.tolist()))} classes"
    print(f"{name}: {shape}", flush=True)
    model = Perceptron(measure=True, **parameters)
    started = time.perf_counter()
    model.fit(X, y)
    seconds = time.perf_counter() - started
    print(why(model.stop_reason_, model.n_mistakes_, model.n_iter_, seconds))
    share = f"{model.score(X, y):.2%}"
    print(f"The {model.solution} weights classify {share} of the training rows correctly.")
    if output is not None:
        model.save(output)
    if figure is not None:
        from .plots import save_plot

        save_plot(figure, X, y, estimator=model, **built_in_names(name))
        print(f"The figure is in {figure}.")


def why(stop_reason: str, mistakes: int, epochs: int, seconds: float) -> str:
    """What a run has shown, in a line."""
    passes = count(epochs, "epoch")
    reasons = {
        "separated": "a pass without mistakes",
        "max_iter": f"{passes} {'is' if epochs == 1 else 'are'} over",
        "no_improvement": "the held-out rows gained no more, and the best weights were taken",
    }
    found = "Separated" if stop_reason == "separated" else "Not separated"
    done = f"{count(mistakes, 'mistake')} in {passes} ({seconds:.3f} s)"
    return f"{found} after {done}: {reasons.get(stop_reason, stop_reason)}."


@app.command()
def prove(
    data: Annotated[str, typer.Argument(metavar="DATA", help=DATA_HELP, show_default=False)],
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
    from .theory.certificates import Inseparable, Separable, save_certificate
    from .theory.separability import separability

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
    data: Annotated[str, typer.Argument(metavar="DATA", help=DATA_HELP, show_default=False)],
    file: Annotated[Path, typer.Argument(help="A certificate from prove.", show_default=False)],
    label: Annotated[str | None, typer.Option(help=LABEL_HELP, show_default=False)] = None,
    positive: Annotated[str | None, typer.Option(help=POSITIVE_HELP, show_default=False)] = None,
    kind: Annotated[str | None, typer.Option("--format", help=FORMAT_HELP)] = None,
) -> None:
    """Check a certificate against the data, in exact arithmetic and from scratch.

    Exit status 0: it holds. 1: it does not.
    """
    from .theory.certificates import load_certificate

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
    if positive is not None:
        return X, is_label(y, positive, data)
    labels = sorted(set(y.tolist()))
    if len(labels) > 2:
        listed = ", ".join(map(str, labels[:10]))
        raise ValueError(
            f"{data} has {len(labels)} classes ({listed}); name one with --positive to set it "
            "against the others."
        )
    return X, y


def is_label(y: Any, positive: str, data: str) -> Any:
    """Which labels are the one that was named."""
    known = {str(value): value for value in sorted(set(y.tolist()))}
    if positive not in known:
        raise ValueError(f"{data} has no label {positive}; it has {', '.join(known)}.")
    return y == known[positive]


def whole_file(path: str, label: str | None, kind: str | None) -> tuple[Any, Any]:
    """All rows of a file in double precision, and its labels."""
    import numpy as np

    from .files import matrix_and_labels
    from .reading.notices import NoticeKind
    from .reading.reader import read

    reader = read(path, label=column(label), format=kind, dtype=np.float64)
    if reader.hashed and reader.format != "vw":
        raise ValueError(f"{path} has columns of words; a proof needs numbers, so encode them.")
    found = matrix_and_labels(reader)
    for notice in reader.notices:
        if notice.kind is NoticeKind.MISSING:
            raise ValueError(f"{path} has missing numbers; a proof needs them all, so fill them.")
        print(f"Note: {notice}", file=sys.stderr)
    return found


def about_separable(X: Any, y: Any, found: "Separable") -> str:
    """What it means that a hyperplane was found."""
    from .theory.bounds import mistake_bounds
    from .theory.widest import max_margin

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


def built_in_names(name: BuiltIn) -> dict[str, Any]:
    """The names of a built-in data set's classes and columns, where it has some."""
    if name is BuiltIn.XOR:
        return {}
    from sklearn import datasets

    loaded = getattr(datasets, f"load_{name.value.replace('-', '_')}")()
    return {"class_names": loaded.target_names, "feature_names": loaded.feature_names}


@app.command()
def export(
    model: Annotated[Path, typer.Argument(help="A model from train -o.", show_default=False)],
    output: Annotated[Path, typer.Argument(help="The ONNX file to write.", show_default=False)],
) -> None:
    """Write a model of columns of numbers as an ONNX file."""
    from .export import write_onnx

    check_places(None, output)
    saved = linear_model(model)
    if output.exists() and output.samefile(model):
        raise ValueError(f"{output} is the model itself; give the ONNX file another name.")
    write_onnx(output, saved)
    print(f"{output}: {saved.solutions[0].weights.shape[0]:,} columns in, labels and scores out.")


class Idea(StrEnum):
    """What a picture is about."""

    BOUNDARY = "boundary"
    PROJECTION = "projection"
    PROGRESS = "progress"
    ORDERS = "orders"
    CERTIFICATE = "certificate"


class Every(StrEnum):
    """The steps of time."""

    UPDATE = "update"
    EPOCH = "epoch"


@app.command()
def plot(
    source: Annotated[
        str,
        typer.Argument(
            help="DATA to learn from, or a MODEL.", metavar="DATA|MODEL", show_default=False
        ),
    ],
    rows: Annotated[
        str | None,
        typer.Argument(
            help="After a MODEL: the rows to draw.", metavar="[DATA]", show_default=False
        ),
    ] = None,
    *,
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
        Every, typer.Option(help="The steps of a film and of progress.")
    ] = Every.UPDATE,
    solution: Annotated[
        Solution, typer.Option(help="Which weights to keep.", **LEARNING)
    ] = Solution.LAST,
    order: Annotated[
        Order, typer.Option(help="How rows are gone through (each).", **LEARNING)
    ] = Order.EACH,
    epochs: Annotated[int, typer.Option(min=1, help="The most passes (100).", **LEARNING)] = 100,
    margin: Annotated[float, typer.Option(min=0.0, help="Demand a margin.", **LEARNING)] = 0.0,
    seed: Annotated[
        int, typer.Option(min=0, max=2**32 - 1, help="For the random orders.", **LEARNING)
    ] = 0,
    label: Annotated[str | None, typer.Option(help=LABEL_HELP, **READING)] = None,
    positive: Annotated[
        str | None, typer.Option(help="The label to set against all others.", **READING)
    ] = None,
    kind: Annotated[str | None, typer.Option("--format", help=FORMAT_HELP, **READING)] = None,
) -> None:
    """Draw what was learnt, or learning itself.

    rosenblatt plot iris -o iris.png

    rosenblatt plot iris --positive 0 -o learning.gif

    rosenblatt plot xor --what certificate -o xor.svg

    rosenblatt plot model.safetensors unseen.csv -o boundary.pdf
    """
    check_places(None, output)
    from .plots import save_plot

    if is_model(source):
        from . import storage
        from .dual import load

        saved = storage.load(source)
        X, y, names = (None, None, {}) if rows is None else rows_for_model(saved, rows, kind)
        save_plot(output, X, y, estimator=load(source), what=what, every=every.value, **names)
    elif rows is not None:
        raise ValueError(f"{source} is no model (.safetensors), so {rows} has no place beside it.")
    else:
        X, y, names = rows_to_draw(source, label, positive, kind)
        parameters: dict[str, Any] = {"max_iter": epochs, "margin": margin}
        if what != Idea.ORDERS:
            parameters |= {"order": order.value, "random_state": seed, "solution": solution.value}
        save_plot(output, X, y, what=what, every=every.value, **names, **parameters)
    print(f"The figure is in {output}.")


def is_model(path: str) -> bool:
    """Whether a name is that of a model file."""
    return path.endswith(".safetensors")


def rows_to_draw(
    data: str, label: str | None, positive: str | None, kind: str | None
) -> tuple[Any, Any, dict[str, Any]]:
    """The rows, labels and names of a data set; two classes if one is set against the others."""
    if data in set(BuiltIn):
        X, y = built_in(BuiltIn(data))
        names = built_in_names(BuiltIn(data))
    else:
        from .files import matrix_and_labels
        from .reading.reader import read

        reader = read(data, label=column(label), format=kind)
        X, y = matrix_and_labels(reader)
        for notice in reader.notices:
            print(f"Note: {notice}", file=sys.stderr)
        names = column_names(reader, X)
    if positive is None:
        return X, y, names
    chosen = is_label(y, positive, data)
    known = sorted(set(y.tolist()))
    called = dict(zip(map(str, known), names.get("class_names", known), strict=True))[positive]
    return X, chosen.astype(int), names | {"class_names": ("others", called)}


def column_names(reader: "Reader", X: Any) -> dict[str, Any]:
    """The names of a table's columns, where each of them is a feature."""
    names = [name for name, kind in reader.columns or () if kind == "number"]
    return {"feature_names": names} if len(names) == X.shape[1] else {}


def rows_for_model(saved: "Model", data: str, kind: str | None) -> tuple[Any, Any, dict[str, Any]]:
    """The rows and names of a file as a model sees them, and labels as it writes them."""
    from .files import as_words, matrix_and_labels
    from .reading.reader import read
    from .storage import is_dual

    recipe = saved.features.get("recipe")
    if recipe is not None:
        told = kind or told_format(data, str(saved.features["format"]))
        reader = read(data, features=recipe, format=told)
        X, y = matrix_and_labels(reader)
        names = column_names(reader, X)
    else:
        X, y, names = rows_to_draw(data, None, None, kind)
    dual = is_dual(saved)
    width = saved.facts["width"] if dual else saved.solutions[0].weights.shape[0]
    if hasattr(X, "indptr") and X.shape[1] != width:
        X.resize(X.shape[0], width)  # columns that only one of the two knows say nothing
    words = {str(value): value for value in saved.classes.tolist()}
    labels = as_words(y, saved.classes).tolist()
    strange = sorted(set(labels) - set(words))
    if strange:
        raise ValueError(f"{data} has the label {strange[0]}, which the model does not know.")
    import numpy as np

    if len(names.get("class_names", ())) != len(words):
        names.pop("class_names", None)
    return X, np.array([words[value] for value in labels], saved.classes.dtype), names


@app.command()
def lab(
    data: Annotated[
        str, typer.Argument(metavar="[DATA]", help="A CSV file or a set.", show_default=False)
    ] = "blobs",
    port: Annotated[
        int | None,
        typer.Option(min=1, max=65535, help="5006, or a free one.", show_default=False),
    ] = None,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Only print the address.")
    ] = False,
) -> None:
    """Place points and watch it learn, on a page in the browser; Ctrl-C ends it.

    rosenblatt lab

    rosenblatt lab iris

    rosenblatt lab points.csv --port 8080 --no-browser
    """
    from .lab.server import serve
    from .lab.state import of_data

    start = of_data(data)
    serve(start, port, not no_browser)
