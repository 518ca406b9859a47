"""Training on a file or a built-in data set."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..slices import find_by_estimator, find_by_format, is_there
from .commands import CommandError, command
from .data import DATA, SetOptions, is_builtin_set, open_source, print_note
from .format import (
    about_result,
    about_stated_metric,
    as_result,
    held_out_line,
    list_result,
)
from .forms import train_by_form
from .options import TrainOptions
from .parameters import name_settings
from .settings import about_stream

if TYPE_CHECKING:
    from ..jobs.folds import CrossValidation
    from ..jobs.job import FileJob
    from ..storage.model import Model
    from .builtin_report import Study
    from .report import Quiet

NAMES = 100_000  # of features, that a model may show
STATED = "text", "category"  # options of reading besides those that are set


@command(
    DATA,
    examples=[
        "rosenblatt train iris",
        "rosenblatt train reviews.csv --text text --test new.csv -o model",
        "rosenblatt train huge.svm.gz --epochs 1 --holdout 0.1 --checkpoint 60 -o model",
    ],
    end=name_settings,
)
def train(data: str, options: TrainOptions) -> None:
    """Train a model on a file or a built-in data set."""
    from .report import read_clock

    if options.form is not None:
        train_by_form(data, options)
        return
    options.check(data)
    if is_builtin_set(data) and options.tune is None:
        options.tune = False  # these show the rule as it is
    study = make_report(data, options) if is_builtin_set(data) else None
    if study is not None and options == TrainOptions():
        show_perceptron(study, options)
        return
    validation = validate(data, options, study)
    make = train_on_cluster if options.cluster is not None else train_on_file
    started = read_clock()
    model = make(data, options)
    seconds = read_clock() - started
    if study is not None and options.json:
        study.say(model)
    report = []
    if validation is not None:
        spread = list_result(validation) if options.folds is not None else []
        report = [f"{validation.headline()}.", *spread]
    if study is not None and not options.json:
        report += study.lines(model)
    print_result(data, model, seconds, options, report)
    if options.plot is not None:
        draw(options.plot, model, data)
        if not options.json:
            print(f"Wrote the figure to {options.plot}.")
    if study is not None and not (options.json or options.quiet):
        study.print_next_steps()


def show_perceptron(study: "Study", options: TrainOptions) -> None:
    """Print what the perceptron does on a built-in set, and how well a file would be learnt."""
    from .report import print_line

    for line in study.run_perceptron():
        print_line(line)
    found = validate(study.data, replace(options, quiet=True), study)
    if found is not None:
        print_line(
            "A file is learnt by PassiveAggressive with averages unless --rule names another. "
            f"{found.headline()}."
        )
    study.print_next_steps()


def make_report(data: str, options: TrainOptions) -> "Study | None":
    """The results about a built-in set that are found before it is learnt and timed.

    They are about its classes: where something else is learnt, there are none.
    """
    from .builtin_report import Study

    files = options.skip_bad, options.format, options.no_header, options.cluster, options.test
    others = options.classes, options.ordinal, options.initial, options.checkpoint
    if any(files) or any(others) or options.of_streams or options.resume:
        raise CommandError(
            f"{data} is a built-in set; options for files do not apply to it.", "builtin-option"
        )
    others_learnt = options.label not in (None, "class") or options.target == "numbers"
    return None if others_learnt or not is_there("theory") else Study(data)


def validate(data: str, options: TrainOptions, study: "Study | None") -> "CrossValidation | None":
    """Cross-validate if that was asked for, or for a built-in set with enough rows."""
    from .builtin_report import FOLDS

    folds = options.folds
    chosen = options.tune or options.probabilities or options.settings.get("early_stopping")
    if folds is None and study is not None and not (options.holdout or chosen):
        folds = FOLDS if study.has_enough_rows() else None
    if folds is None:
        return None
    if find_by_format(data, options.format) is not None or options.cluster is not None:
        raise CommandError(
            "--folds is for files of rows, without --cluster; leave it out.", "folds-option"
        )
    if options.initial is not None or options.resume:
        raise CommandError(
            "--folds trains new models; leave --initial and --resume out.", "folds-option"
        )
    from ..jobs.folds import cross_validate
    from .report import print_event

    job = replace(make_job(options), checkpointer=None)
    stated = frozenset(options.features)
    try:
        found = cross_validate(open_source(data), options.reading, job, folds, stated)
    finally:
        job.reporter.close()
    if options.json:
        print_event("cross_validation", **found.as_dict())
    return found


def make_job(options: TrainOptions, once: bool = False) -> "FileJob":
    """The training that the options ask for, and what reports it."""
    from ..jobs.job import Checkpointer, FileJob
    from ..training.plan import Request

    checkpointer = None
    if options.checkpoint is not None and options.output is not None:
        checkpointer = Checkpointer(options.output, options.checkpoint)
    request = Request(
        options.rule,
        options.to_parameters(once),
        classes=options.parse_classes(),
        holdout=options.holdout,
        tune=options.tune,
        ordinal=options.parse_ordinal(),
        **options.of_streams,
    )
    return FileJob(request, make_listener(options), checkpointer)


def make_listener(options: TrainOptions) -> "Quiet":
    """The reporter: JSON if asked for, a bar at a terminal, else lines."""
    from . import report

    if options.quiet:
        return report.Quiet()
    if options.json:
        return report.AsJson()
    every = options.verbose
    return report.Bar(every) if sys.stdout.isatty() else report.Printed(every)


def train_on_file(data: str, options: TrainOptions) -> "Model":
    """Train on a file and save the model."""
    from ..jobs.choose import choose_and_train
    from ..jobs.data import ExampleFile, match_labels, open_file
    from .report import print_event, print_line

    reading = options.reading
    initial = None if options.initial is None else load_initial(data, options)
    if initial is not None and "recipe" in initial.features:
        same = {name: reading[name] for name in ("skip_bad", "threads")}
        reading = {**match_labels(initial.features["recipe"]), **same}
    opened: Any = open_file(open_source(data), **reading, names=NAMES)
    has_rows = not isinstance(opened, ExampleFile)
    if options.plot is not None and not (has_rows and opened.has_classes):
        raise CommandError(
            f"--plot draws rows of one label each, and those of {data} are others; leave it out.",
            "plot-labels",
        )
    once = has_rows and not opened.rereadable
    begun = load_begun(options.output) if options.resume else None
    job = make_job(options, once)
    job = replace(job, initial=initial, begun=begun)
    try:
        stated = frozenset(options.features) | {name for name in STATED if getattr(options, name)}
        model = choose_and_train(opened, job, stated) if has_rows else opened.train(job)
    finally:
        job.reporter.close()
    save(model, None if model is begun else options.output)
    if "stream" in model.facts:
        if options.json:
            print_event("stream", **model.facts["stream"])
        elif not options.quiet:
            for line in about_stream(model.facts["stream"]):
                print_line(line)
    return model


def load_initial(data: str, options: TrainOptions) -> "Model":
    """The model to start from; it keeps its features and its solution."""
    from ..storage.file import load_model

    path = options.initial
    assert path is not None
    initial = load_model(path)
    own, of_file = find_by_estimator(initial.estimator), find_by_format(data, options.format)
    reads = "rows" if own is None else own.examples or "rows"
    wanted = "rows" if of_file is None else of_file[0].examples
    if reads != wanted:
        raise CommandError(
            f"{path} is a {initial.estimator}, which learns from {reads}, and {data} has "
            f"{wanted}; start from another model.",
            "initial-kind",
        )
    if of_file is not None:
        return initial
    if "recipe" not in initial.features:
        raise CommandError(
            f"{path} was not trained from a file; use its partial_fit in Python.", "no-recipe"
        )
    if not options.reads_as_usual():
        raise CommandError(
            "--initial reads the file as the model's own; leave other options of reading out.",
            "initial-reading",
        )
    options.adopt_rule(initial)
    return initial


def load_begun(path: Path | None) -> "Model | None":
    """The model of a run to resume, if there is one."""
    from ..storage.file import load_model

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


def train_on_cluster(data: str, options: TrainOptions) -> "Model":
    """Train on files with Dask and save the model."""
    alone = {
        "--plot": options.plot,
        "--initial": options.initial,
        "--tune": options.tune,
        "--set validation": options.of_streams.get("validation"),
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

    report: Callable[[Any], None] | None = as_object if options.json else None
    kept = options.output if options.checkpoint is not None or options.resume else None
    model = train_files(
        data,
        options.reading,
        make_job(options),
        str(options.cluster),
        (lambda _: None) if options.quiet else report,
        (kept, options.resume),
    )
    save(model, options.output)
    return model


def print_result(
    name: str, model: "Model", seconds: float, options: TrainOptions, report: Sequence[str]
) -> None:
    """Test a model if a file for that was named, and print the result of the training."""
    from ..jobs.data import open_like
    from ..jobs.evaluate import evaluate
    from ..learners.kinds import make_learner
    from .report import print_event, print_line
    from .score import note_rows

    found = None
    if options.test is not None:
        opened = open_like(model, options.test, labels=True)
        positive = model.facts.get("tuning", {}).get("positive_class")
        found = evaluate(make_learner(model, name), opened, positive_class=positive)
        note_rows(options.test, opened, found)
    if options.json:
        print_event("done", **as_result(name, model, seconds, found, options.output))
        return
    lines = []
    if found is not None:
        stated = about_stated_metric(found, model.parameters.get("metric", "error"))
        lines.append(f"Test {found.headline()}{stated}.")
    if "held_out" in model.facts:
        lines.append(f"Held-out {held_out_line(model.facts)}.")
    lines += [*report, *about_result(name, model, seconds)]
    if not (options.quiet or options.test or report) and is_unmeasured(model):
        lines.append("Measure its error on other rows by --holdout 0.2, --folds 5 or --test FILE.")
    if options.output is not None:
        lines.append(f"Wrote the model to {options.output}.")
    for line in lines:
        print_line(line)


def is_unmeasured(model: "Model") -> bool:
    """Whether a training over several epochs has found no error on rows that it did not learn."""
    others = {"held_out", "tuning", "stream", "cluster"}
    return len(model.history) > 1 and "rows" in model.facts and not others & model.facts.keys()


def draw(figure: Path, model: "Model", data: str) -> None:
    """Draw the rows as a model sees them, or the progress alone if they do not fit in memory."""
    from ..estimators.pipeline import make_estimator
    from ..jobs.files import IN_MEMORY
    from ..plots import save_plot
    from .plot import read_rows_for_model

    X, y, names, path = None, None, dict[str, Any](), Path(data)
    if is_builtin_set(data) or (path.is_file() and path.stat().st_size <= IN_MEMORY):
        X, y, names = read_rows_for_model(model, data, SetOptions())
    save_plot(figure, X, y, estimator=make_estimator(model, data), **names)
