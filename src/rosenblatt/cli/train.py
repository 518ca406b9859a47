"""Training on a file or a built-in data set."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .data import (
    DATA,
    SetOptions,
    check_input,
    has_sentences,
    is_builtin_set,
    open_source,
    print_note,
)
from .format import (
    about_columns,
    about_feedback,
    about_folds,
    about_labels,
    about_margin,
    about_result,
    about_stated_metric,
    as_result,
    held_out_line,
    summarize_evaluation,
)
from .options import (
    FEATURE_PANEL,
    ORDER_PANEL,
    RULES_PANEL,
    STREAM_PANEL,
    TAGGING_PANEL,
    LearningOptions,
    OutputOptions,
    ReadingOptions,
)
from .panels import CommandError, command
from .settings import about_online, about_tuning

if TYPE_CHECKING:
    from ..jobs.folds import CrossValidation
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
    further=(RULES_PANEL, ORDER_PANEL, FEATURE_PANEL, STREAM_PANEL, TAGGING_PANEL),
)
def train(
    data: str, result: OutputOptions, learning: LearningOptions, reading: ReadingOptions
) -> None:
    """Train a model on a file or a built-in data set."""
    from .report import read_clock

    result.check(data)
    check_input(learning.validation)
    check_standard_input(data, result.test, learning.validation)
    if not has_sentences(data, reading.format):
        learning.refuse_tagging(data)
    study = make_report(data, result, learning, reading) if is_builtin_set(data) else None
    validation = validate(data, result, learning, reading, study)
    make = train_on_cluster if learning.cluster is not None else train_on_file
    started = read_clock()
    model = make(data, result, learning, reading)
    seconds = read_clock() - started
    if study is not None and result.json:
        study.say(model)
    report = about_folds(validation, result.folds is not None) if validation is not None else []
    if study is not None and not result.json:
        report += study.lines(model)
    print_result(data, model, seconds, result, report)
    if result.plot is not None:
        draw(result.plot, model, data)
        if not result.json:
            print(f"Wrote the figure to {result.plot}.")
    if study is not None and not (result.json or result.quiet):
        study.print_next_steps()


def check_standard_input(data: str, test: str | None, validation: str | None) -> None:
    """Raise CommandError if several files are standard input."""
    if [data, test, validation].count("-") > 1:
        raise CommandError(
            "Standard input (-) can be read only once; write it to a file first.", "read-once"
        )


def make_report(
    data: str, result: OutputOptions, learning: LearningOptions, reading: ReadingOptions
) -> "Study | None":
    """The results about a built-in set that are found before it is learnt and timed.

    They are about its classes: where something else is learnt, there are none.
    """
    from .builtin_report import Study

    files = reading.cache, reading.skip_bad, reading.format, learning.window, learning.cluster
    others = learning.named, learning.initial, result.checkpoint, result.progress_every
    streams = learning.online, learning.validation, result.resume, result.test
    if any(files) or any(others) or any(streams):
        raise CommandError(
            f"{data} is a built-in set; options for files do not apply to it.", "builtin-option"
        )
    others_learnt = reading.label not in (None, "class") or reading.numbers or reading.group
    return None if others_learnt else Study(data)


def validate(
    data: str,
    result: OutputOptions,
    learning: LearningOptions,
    reading: ReadingOptions,
    study: "Study | None",
) -> "CrossValidation | None":
    """Cross-validate if that was asked for, or for a built-in set with enough rows."""
    from .builtin_report import FOLDS

    folds, chosen = result.folds, learning.tune or learning.early_stopping or learning.probabilities
    if folds is None and study is not None and not (result.holdout or chosen):
        folds = FOLDS if study.has_enough_rows() else None
    if folds is None:
        return None
    if has_sentences(data, reading.format) or learning.cluster is not None:
        raise CommandError(
            "--folds is for files of rows, without --cluster; leave it out.", "folds-option"
        )
    if learning.initial is not None or result.resume:
        raise CommandError(
            "--folds trains new models; leave --initial and --resume out.", "folds-option"
        )
    from ..jobs.folds import cross_validate
    from .report import print_event

    job = make_job(replace(result, checkpoint=None, progressive=None), learning, reading.cache)
    stated = reading.list_given_features()
    try:
        options = reading.options(learning.named)
        found = cross_validate(open_source(data), options, job, folds, stated)
    finally:
        job.reporter.close()
    if result.json:
        print_event("cross_validation", **found.as_dict())
    return found


def make_job(
    result: OutputOptions, learning: LearningOptions, cache: bool = False, once: bool = False
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
    rule, stated = learning.to_parameters(once)
    request = Request(
        rule,
        stated,
        classes=learning.parse_classes(),
        window=learning.window,
        holdout=result.holdout,
        cache=cache,
        progress_every=result.progress_every or 0,
        online=learning.online,
        tune=learning.tune,
        validation=learning.validation,
        labels_budget=learning.labels_budget,
        ordinal=learning.parse_ordinal(),
    )
    return FileJob(request, listener, checkpointer)


def make_listener(result: OutputOptions) -> "Quiet":
    """The reporter: JSON if asked for, a bar at a terminal, else lines."""
    from . import report

    if result.quiet:
        return report.Quiet()
    if result.json:
        return report.AsJson()
    every = result.verbose
    return report.Bar(every) if sys.stdout.isatty() else report.Printed(every)


def train_on_file(
    data: str, result: OutputOptions, learning: LearningOptions, reading: ReadingOptions
) -> "Model":
    """Train on a file and save the model."""
    from ..jobs.data import SentenceFile, match_labels, open_file
    from ..jobs.files import train as train_file
    from ..jobs.online import train_online

    options = reading.options(learning.named)
    initial = None if learning.initial is None else load_initial(data, learning, reading)
    if initial is not None and "recipe" in initial.features:
        same = {name: options[name] for name in ("skip_bad", "threads")}
        options = {**match_labels(initial.features["recipe"]), **same}
    opened: Any = open_file(open_source(data), **options, names=NAMES)
    sentences = isinstance(opened, SentenceFile)
    if result.plot is not None and (sentences or not opened.has_classes):
        raise CommandError(
            f"--plot draws rows of one label each, and those of {data} are others; leave it out.",
            "plot-labels",
        )
    once = not sentences and not opened.rereadable
    begun = load_begun(result.output) if result.resume else None
    job = make_job(result, learning, reading.cache, once)
    job = replace(job, initial=initial, begun=begun)
    try:
        if not sentences:
            opened, job = tune_and_open(opened, job, result, reading)
        if job.request.online and not sentences:
            model = train_online(opened, job)
        else:
            model = train_file(opened, job)
    finally:
        job.reporter.close()
    save(model, None if model is begun else result.output)
    if "online" in model.facts:
        print_facts("online", model.facts["online"], result, about_online)
    return model


def tune_and_open(
    reader: "Reader", job: "FileJob", result: OutputOptions, reading: ReadingOptions
) -> "tuple[Reader, FileJob]":
    """Choose settings if asked to, and have the reporter begin with what is done to the columns."""
    from ..jobs.files import look

    if job.request.tune:
        from ..jobs.tuning import tune

        reader, job = tune(reader, job, reading.list_given_features())
        print_facts("tuned", job.facts["tuning"], result, about_tuning)
    if not result.json:
        lines = about_columns(reader.parser.recipe)
        stated = job.initial is not None or job.request.online
        if not stated and job.request.parameters.get("margin") is None:
            parameters = job.plan(look(reader, job.request)).parameters
            lines += about_margin(parameters) if "margin" in parameters else []
        job.reporter.opening = lines
    return reader, job


def print_facts(
    event: str,
    facts: dict[str, Any],
    result: OutputOptions,
    describe: Callable[[dict[str, Any], Callable[[str, Any], str]], list[str]],
) -> None:
    """Print the settings that were tried and chosen."""
    from .app import in_shell
    from .report import print_event, print_line

    if result.json:
        print_event(event, **facts)
    elif not result.quiet:
        for line in describe(facts, in_shell):
            print_line(line)


def load_initial(data: str, learning: LearningOptions, reading: ReadingOptions) -> "Model":
    """The model to start from; it keeps its features and its solution."""
    from ..learners import load_model
    from ..learners.kinds import learner_class

    path = learning.initial
    assert path is not None
    initial = load_model(path)
    reads = learner_class(initial.estimator).reads
    wanted = "sentences" if has_sentences(data, reading.format) else "rows"
    if reads != wanted:
        raise CommandError(
            f"{path} is a {initial.estimator}, which learns from {reads}, and {data} has "
            f"{wanted}; start from another model.",
            "initial-kind",
        )
    if reads == "sentences":
        return initial
    if "recipe" not in initial.features:
        raise CommandError(
            f"{path} was not trained from a file; use its partial_fit in Python.", "no-recipe"
        )
    if replace(reading, cache=False, skip_bad=0, threads=None) != ReadingOptions():
        raise CommandError(
            "--initial reads the file as the model's own; leave other options of reading out.",
            "initial-reading",
        )
    if learning.solution is None:
        learning.solution = initial.parameters["solution"]
    if learning.average_decay is None:
        learning.average_decay = initial.parameters.get("average_decay")
    learning.adopt_rule(initial)
    return initial


def load_begun(path: Path | None) -> "Model | None":
    """The model of a run to resume, if there is one."""
    from ..learners import load_model

    if path is None or not path.exists():
        print_note(f"There is no {path} to resume; the run starts from the beginning.")
        return None
    begun = load_model(path)
    if "training" not in begun.facts or "origin" not in begun.facts:
        raise CommandError(
            f"{path} was not trained from a file; leave --resume out.", "resume-not-file"
        )
    return begun


def save(model: "Model", output: Path | None) -> None:
    """Write a model, if a file for it was named."""
    from ..storage.file import save_model

    if output is not None:
        save_model(output, model)


def train_on_cluster(
    data: str, result: OutputOptions, learning: LearningOptions, reading: ReadingOptions
) -> "Model":
    """Train on files with Dask and save the model."""
    alone = {
        "--cache": reading.cache,
        "--plot": result.plot,
        "--initial": learning.initial,
        "--tune": learning.tune,
        "--validation": learning.validation,
        "--positive COLUMN": "*" not in (learning.positive or "*"),
    }
    for option, wanted in alone.items():
        if wanted:
            raise CommandError(
                f"{option} does not go with --cluster; leave one out.", "cluster-option"
            )
    from ..cluster.from_files import train as train_files
    from .report import print_event

    def as_object(done: Any) -> None:
        epoch, shards, *_ = done
        print_event("epoch", **(done._asdict() | epoch._asdict()), mistakes_per_shard=shards)

    report: Callable[[Any], None] | None = as_object if result.json else None
    kept = result.output if result.checkpoint is not None or result.resume else None
    model = train_files(
        data,
        reading.options(learning.named),
        make_job(result, learning),
        str(learning.cluster),
        (lambda _: None) if result.quiet else report,
        (kept, result.resume),
    )
    save(model, result.output)
    return model


def print_result(
    name: str, model: "Model", seconds: float, result: OutputOptions, report: Sequence[str]
) -> None:
    """Test a model if a file for that was named, and print the result of the training."""
    from ..jobs.data import open_like
    from ..jobs.evaluate import evaluate
    from ..learners.kinds import make_learner
    from .report import print_event, print_line
    from .score import note_rows

    found = None
    if result.test is not None:
        opened = open_like(model, result.test, labels=True)
        positive = model.facts.get("tuning", {}).get("positive_class")
        found = evaluate(make_learner(model, name), opened, positive_class=positive)
        note_rows(result.test, opened, found)
    if result.json:
        print_event("done", **as_result(name, model, seconds, found, result.output))
        return
    lines = []
    if found is not None:
        stated = about_stated_metric(found, model.parameters.get("metric", "error"))
        lines.append(f"Test {summarize_evaluation(found)}{stated}.")
    if "asked" in model.facts:
        lines.append(about_labels(model.facts["asked"]))
    if "feedback" in model.facts:
        lines.append(about_feedback(model.facts["feedback"]))
    if "held_out" in model.facts:
        lines.append(f"Held-out {held_out_line(model.facts)}.")
    lines += [*report, *about_result(name, model, seconds)]
    if not (result.quiet or result.test or report) and is_unmeasured(model):
        lines.append("Measure its error on other rows by --holdout 0.2, --folds 5 or --test FILE.")
    if result.output is not None:
        lines.append(f"Wrote the model to {result.output}.")
    for line in lines:
        print_line(line)


def is_unmeasured(model: "Model") -> bool:
    """Whether a training over several epochs has found no error on rows that it did not learn."""
    others = {"held_out", "tuning", "asked", "feedback", "online", "cluster", "sentences"}
    return len(model.history) > 1 and not others & model.facts.keys()


def draw(figure: Path, model: "Model", data: str) -> None:
    """Draw the rows as a model sees them, or the progress alone if they do not fit in memory."""
    from ..estimators.pipeline import make_estimator
    from ..jobs.files import IN_MEMORY
    from ..plots import save_plot
    from .draw import read_rows_for_model

    X, y, names, path = None, None, dict[str, Any](), Path(data)
    if is_builtin_set(data) or (path.is_file() and path.stat().st_size <= IN_MEMORY):
        X, y, names = read_rows_for_model(model, data, SetOptions())
    save_plot(figure, X, y, estimator=make_estimator(model, data), **names)
