"""Training on a file or a built-in data set."""

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .data import DATA, SetOptions, is_builtin_set, open_source
from .format import (
    about_classes,
    about_columns,
    about_margin,
    about_tuning,
    count,
    errors,
    fold,
    list_columns,
    list_kinds,
    summarize_run,
)
from .options import LearningOptions, OutputOptions, ReadingOptions
from .panels import command
from .sequences import SequenceOptions, is_of_sentences, train_sequences

if TYPE_CHECKING:
    from ..data.targets import Score
    from ..jobs.job import FileJob
    from ..reading.reader import Reader
    from ..storage.model import Model
    from .builtin_report import Study
    from .report import Quiet

NAMES = 100_000  # of features, that a model may show


@command(
    DATA,
    examples=[
        "rosenblatt train iris",
        "rosenblatt train reviews.csv --text text --test new.csv -o model",
        "rosenblatt train huge.svm.gz --epochs 1 --holdout 0.1 --checkpoint 60 -o model",
        "rosenblatt train train.conllu --label upos --test test.conllu -o tagger",
    ],
)
def train(
    data: str,
    result: OutputOptions,
    learning: LearningOptions,
    reading: ReadingOptions,
    sequence: SequenceOptions,
) -> None:
    """Train a model on a file or a built-in data set."""
    result.check(data)
    if is_of_sentences(data, reading.format):
        train_sequences(data, result, learning, reading, sequence)
        return
    if sequence != SequenceOptions():
        raise ValueError(
            f"--markov, --search and --templates are for files of sentences, and {data} is none; "
            "say which with --format conllu, conll or tagged."
        )
    study = make_report(data, result, learning, reading) if is_builtin_set(data) else None
    make = train_on_cluster if learning.cluster is not None else train_on_file
    started = time.perf_counter()
    model = make(data, result, learning, reading)
    seconds = time.perf_counter() - started
    if study is not None and result.json:
        study.say(model)
    report = study.lines(model) if study is not None and not result.json else []
    tell(data, model, seconds, result, reading.threads, report)
    if result.plot is not None:
        draw(result.plot, model, data)
        if not result.json:
            print(f"Wrote the figure to {result.plot}.")
    if study is not None and not (result.json or result.quiet):
        study.tell_what_next()


def make_report(
    data: str, result: OutputOptions, learning: LearningOptions, reading: ReadingOptions
) -> "Study":
    """What there is to say of a built-in set, found out before it is learnt and timed."""
    from ..training.plan import Request
    from .builtin_report import Study

    files = reading.cache, reading.skip_bad, reading.format, learning.window, learning.cluster
    others = learning.classes, learning.initial, result.checkpoint, result.progress_every
    if any(files) or any(others) or result.resume or result.test:
        raise ValueError(f"{data} is a built-in set; options for files do not apply to it.")
    study = Study(data, reading.options())
    chosen = learning.tune or learning.early_stopping or learning.probabilities
    if not (result.holdout or chosen):
        rule, stated = learning.stated(once=False)
        study.hold_out(Request(rule, stated))
    return study


def make_job(
    result: OutputOptions, learning: LearningOptions, cache: bool, once: bool
) -> "FileJob":
    """The training that the options ask for, and what reports it."""
    from ..jobs.job import Checkpointer, FileJob
    from ..training.plan import Request

    checkpointer = None
    if result.checkpoint is not None and result.output is not None:
        checkpointer = Checkpointer(result.output, result.checkpoint)
    listener = make_listener(result)
    if result.progressive is not None:
        listener.log = result.progressive.open("w", encoding="utf-8")
    rule, stated = learning.stated(once)
    request = Request(
        rule,
        stated,
        classes=learning.names(),
        window=learning.window,
        holdout=result.holdout,
        cache=cache,
        progress_every=result.progress_every or 0,
        tune=learning.tune,
    )
    return FileJob(request, listener, checkpointer)


def make_listener(result: OutputOptions) -> "Quiet":
    """Who tells how it goes: JSON if asked for, a bar for a person, lines for a file."""
    from . import report as progress

    if result.quiet:
        return progress.Quiet()
    if result.json:
        return progress.AsJson()
    every = result.verbose
    return progress.Bar(every) if sys.stdout.isatty() else progress.Printed(every)


def train_on_file(
    data: str, result: OutputOptions, learning: LearningOptions, reading: ReadingOptions
) -> "Model":
    """Train on a file and keep the model."""
    from ..jobs.files import train as train_file

    initial = None if learning.initial is None else initial_model(learning, reading)
    options = reading.options()
    if initial is not None:
        same = {name: options[name] for name in ("skip_bad", "threads")}
        options = {"features": initial.features["recipe"], **same}
    source = open_source(data)
    reader = read_otherwise(source, options)
    if result.plot is not None and reader.multilabel:
        raise ValueError("--plot draws rows of one label each, and these may have several.")
    job = make_job(result, learning, reading.cache, not reader.rereadable)
    begun = begun_model(result.output) if result.resume else None
    job = replace(job, initial=initial, begun=begun)
    try:
        if learning.tune:
            from ..jobs.tuning import tune

            again = partial(read_otherwise, source, options)
            reader, job = tune(reader, again, job, reading.stated())
            tell_tuning(job.facts["tuning"], result)
        if not result.json:
            job.reporter.opening = opening_lines(reader, job)
        model = train_file(reader, job)
    finally:
        job.reporter.close()
    keep(model, None if model is begun else result.output)
    return model


def opening_lines(reader: "Reader", job: "FileJob") -> list[str]:
    """The notes on columns before training, and on a margin that was not stated."""
    from ..jobs.files import look

    lines = [*map(fold, about_columns(reader.parser.recipe))]
    if job.initial is None and job.request.parameters.get("margin") is None:
        parameters = job.plan(look(reader)).parameters
        lines += about_margin(parameters) if "margin" in parameters else []
    return lines


def read_otherwise(data: Any, options: dict[str, Any], **others: Any) -> "Reader":
    """A reader of a file with some other options."""
    from ..reading.reader import read

    return read(data, **options | others, names=NAMES)


def tell_tuning(facts: dict[str, Any], result: OutputOptions) -> None:
    """Say what was tried and what was taken."""
    from .app import in_shell
    from .report import print_event, print_line

    if result.json:
        print_event("tuned", **facts)
    elif not result.quiet:
        for line in about_tuning(facts, in_shell):
            print_line(line)


def initial_model(learning: LearningOptions, reading: ReadingOptions) -> "Model":
    """The model to go on with, whose features and solution are kept."""
    from .predict import linear_model

    assert learning.initial is not None
    initial = linear_model(learning.initial)
    if "recipe" not in initial.features:
        raise ValueError(f"{learning.initial} was not trained from a file; go on in Python.")
    if replace(reading, cache=False, skip_bad=0, threads=None) != ReadingOptions():
        raise ValueError("--initial has its way of reading; leave out what says another.")
    if learning.solution is None:
        learning.solution = initial.parameters["solution"]
    if learning.average_decay is None:
        learning.average_decay = initial.parameters.get("average_decay")
    learning.like(initial)
    return initial


def begun_model(path: Path | None) -> "Model | None":
    """The model of a run to go on with, if there is one."""
    from ..learners import load_model

    if path is None or not path.exists():
        print(
            f"Note: There is no {path} to resume; the run starts from the beginning.",
            file=sys.stderr,
        )
        return None
    begun = load_model(path)
    if "training" not in begun.facts or "origin" not in begun.facts:
        raise ValueError(f"{path} was not trained from a file; there is nothing to resume.")
    return begun


def keep(model: "Model", output: Path | None) -> None:
    """Write a model, if a place for it was named."""
    from ..storage.file import save_model

    if output is not None:
        save_model(output, model)


def train_on_cluster(
    data: str, result: OutputOptions, learning: LearningOptions, reading: ReadingOptions
) -> "Model":
    """Train on files with Dask and keep the model."""
    from ..cluster.from_files import train as train_files
    from .report import print_event

    alone = {
        "--cache": reading.cache,
        "--plot": result.plot,
        "--initial": learning.initial,
        "--tune": learning.tune,
    }
    for option, wanted in alone.items():
        if wanted:
            raise ValueError(f"{option} does not go with --cluster; leave one out.")

    def as_object(done: Any) -> None:
        epoch, shards, *_ = done
        print_event("epoch", **(done._asdict() | epoch._asdict()), mistakes_per_shard=shards)

    report: Callable[[Any], None] | None = as_object if result.json else None
    kept = result.output if result.checkpoint is not None or result.resume else None
    model = train_files(
        data,
        reading.options(),
        make_job(result, learning, cache=False, once=False),
        str(learning.cluster),
        (lambda _: None) if result.quiet else report,
        (kept, result.resume),
    )
    keep(model, result.output)
    return model


def tell(
    name: str,
    model: "Model",
    seconds: float,
    result: OutputOptions,
    threads: int | None,
    report: Sequence[str],
) -> None:
    """Evaluate a model on the test file, if there is one, and print the result of the training."""
    from ..jobs.evaluate import evaluate
    from ..learners.linear import LinearLearner
    from ..reading.reader import read

    tested = None
    if result.test is not None:
        reader = read(result.test, features=model.features["recipe"], threads=threads)
        found = evaluate(LinearLearner.from_model(model), reader)
        tested, unknown = found.score, found.unknown
        if unknown:
            those = f"{count(unknown, 'row')} of {result.test}"
            sentence = f"{those} with labels that the model does not know count as errors."
            print(f"Note: {sentence}", file=sys.stderr)
    if result.json:
        tell_json(name, model, seconds, tested, result.output)
    else:
        tell_words(name, model, seconds, tested, result.output, report)


def tell_words(
    name: str,
    model: "Model",
    seconds: float,
    tested: "Score | None",
    output: Path | None,
    report: Sequence[str] = (),
) -> None:
    """Print the result of a training, the errors on new rows first."""
    from ..data.targets import Score
    from .report import print_line

    lines = []
    if tested is not None:
        lines.append(f"Test {errors(tested)}.")
    if "held_out" in model.facts:
        lines.append(f"Held-out {errors(Score(**model.facts['held_out']))}.")
    lines += report
    updates = sum(state.mistakes for state in model.states)
    made = "mistake" if updates == sum(epoch.errors for epoch in model.history) else "update"
    last = model.history[-1].mistakes if model.history else None
    run = model.facts["stop_reason"], updates, last, len(model.history), seconds, made
    lines.append(summarize_run(*run))
    rows, features = count(model.facts["rows"], "row"), len(model.states[0].weights)
    classes = f"{len(model.classes)} {list_kinds(model)}: {about_classes(model)}"
    lines.append(f"{name}: {rows}, {features:,} features, {classes}")
    if model.estimator != "Perceptron":
        lines.append(f"Rule {model.estimator}, solution {model.parameters['solution']}.")
    if output is not None:
        lines.append(f"Wrote the model to {output}.")
    for line in lines:
        print_line(fold(line))


def tell_json(
    name: str, model: "Model", seconds: float, tested: "Score | None", output: Path | None
) -> None:
    """Print the result of a training as an object."""
    from ..reading.recipe import FeatureRecipe
    from .report import print_event

    recipe = FeatureRecipe(**model.features.get("recipe", {}))
    print_event(
        "done",
        data=name,
        model=None if output is None else str(output),
        rows=model.facts["rows"],
        features=len(model.states[0].weights),
        label=recipe.label,
        classes=model.classes.tolist(),
        class_rows=model.facts.get("class_rows"),
        columns=list_columns(recipe),
        stop_reason=model.facts["stop_reason"],
        epochs=len(model.history),
        mistakes=sum(state.mistakes for state in model.states),
        seconds=round(seconds, 6),
        held_out=model.facts.get("held_out"),
        test=tested and tested.as_dict(),
    )


def draw(figure: Path, model: "Model", data: str) -> None:
    """Draw the rows as a model sees them, or the progress alone if they do not fit in memory."""
    from ..estimators.pipeline import make_estimator
    from ..jobs.files import IN_MEMORY
    from ..plots import save_plot
    from .draw import rows_for_model

    X, y, names, path = None, None, dict[str, Any](), Path(data)
    if is_builtin_set(data) or (path.is_file() and path.stat().st_size <= IN_MEMORY):
        X, y, names = rows_for_model(model, data, SetOptions())
    save_plot(figure, X, y, estimator=make_estimator(model, data), **names)
