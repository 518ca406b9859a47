"""Training on a file or a built-in data set: the options, and what is printed."""

import csv
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..parameters import CLASS_RULES, FEATURES, NUMBER_RULES, RANK_RULES, RULE_TABLE
from ..parameters.tables import RANK_METRIC
from ..slices import find_by_estimator, find_by_format, is_there, list_slices, load
from .commands import CommandError, command, option
from .data import BUILT_IN, DATA, FORMAT_HELP, check_input, check_output, load_builtin, open_source
from .format import (
    count,
    describe_held_out,
    describe_model,
    describe_stream,
    describe_training,
    list_columns,
    list_result,
    name_metric,
)
from .forms import FORMS, SETTINGS, train_by_form
from .output import print_event, print_lines, print_note
from .parameters import parse_settings, show_settings, table_for_training

if TYPE_CHECKING:
    from ..data.results import Result
    from ..jobs.job import FileJob
    from ..storage.model import Model

column = partial(option, group="What the columns are (detected)")
predicted = partial(option, group="What is predicted (detected)")
learning = partial(option, group="How it is learnt")
choice = partial(option, group="What is chosen and added")
quality = partial(option, group="How good it is")
files = partial(option, group="Odd files and large files")
written = partial(option, group="Output")

FOLDS, EPOCHS = 5, 100  # for a built-in set
NAMES = 100_000  # of features, that a model may show
OF_STREAMS = "window", "progress_every"
KINDS = {
    "separator": ("labels",),
    "ordinal": ("ranks",),
    "classes": ("classes", "labels"),
    "size": ("classes", "labels"),
}
"""The targets that options are for."""
COLUMNS = "label", "text", "category", "ignore", "id"
READING = *COLUMNS, "target", "separator", "format", "no_header", "encoding"
FORM_HELP = f"Train as a page of docs/textbook.md does: {', '.join(FORMS)}."
SET_HELP = "Set a parameter; repeatable. --set help lists them."
TARGETS = click.Choice(["classes", "labels", "numbers", "ranks"])
METRICS = click.Choice(RANK_METRIC.choices)
METRIC_HELP = "error, log-loss, auc, average-precision, f1, balanced; for ranks: rank-error."
RULE_HELP = (
    f"{', '.join(CLASS_RULES)}; numbers: {', '.join(NUMBER_RULES)}; ranks: {', '.join(RANK_RULES)}."
)


@dataclass
class TrainOptions:
    """What the columns are, how a model is learnt from them, and what becomes of it."""

    label: str | None = column("Label; name or number from 0.", "COLUMN", shown="by name, or last")
    text: tuple[str, ...] = column("Text; repeatable.", "COLUMN", ())
    category: tuple[str, ...] = column("Categories, even if numbers; repeatable.", "COLUMN", ())
    ignore: tuple[str, ...] = column("Leave out; repeatable.", "COLUMN", ())
    id: str | None = column("Name of each row, for predictions.", "COLUMN")
    target: str | None = predicted("classes, labels, numbers or ranks.", "KIND", type=TARGETS)
    separator: str | None = predicted("Separator of several labels in a cell, such as ;.", "TEXT")
    ordinal: str | None = predicted("Ranks, the lowest first.", "A,B,…", excludes="classes")
    rule: str | None = learning(RULE_HELP, shown="pa; text and streams: arow")
    set: tuple[str, ...] = learning(
        SET_HELP, "NAME=VALUE", (), is_eager=True, callback=show_settings
    )
    form: str | None = learning(FORM_HELP, "PAGE", type=click.Choice(FORMS))
    epochs: int | None = learning("Largest number of epochs.", shown="10; for text: 3 or 5")
    seed: int = learning("Seed of the random orders, below 2^32.", default=0)
    initial: Path | None = learning("Start from the weights of a model file.")
    tune: bool | None = choice(
        "Compare many settings, or none.", flags=["--tune/--no-tune"], shown="a few"
    )
    metric: str | None = choice(f"Choose by {METRIC_HELP}", type=METRICS, shown="log-loss")
    probabilities: bool = choice("Calibrate scores to probabilities.", default=False)
    conformal: bool = choice(
        "Prediction sets or intervals (predict --coverage).", None, False, excludes="probabilities"
    )
    balanced: bool = choice("Weigh rare classes more.", default=False)
    test: str | None = quality("Print the error on the rows of FILE.", "FILE")
    holdout: float | None = quality("Hold out this share of the rows and test on them.", "SHARE")
    folds: int | None = quality(
        "Cross-validate with N folds.", type=click.IntRange(2), excludes="initial resume cluster"
    )
    format: str | None = files(FORMAT_HELP, shown="by the name of the file")
    no_header: bool = files("Row 1 has no names.", default=False, shown="detected")
    encoding: str | None = files("Encoding, such as latin-1.", shown="utf-8")
    skip_bad: int = files("Skip up to N malformed rows.", default=0, shown="0")
    classes: str | None = files("All labels.", "A,B,…", shown="those of the first rows")
    checkpoint: float | None = files(
        "Save the model every N seconds.", "N", type=click.FloatRange(0), needs="output"
    )
    resume: bool = files("Resume from the last checkpoint in -o.", None, False, needs="output")
    cluster: str | None = files(
        "Train with Dask: local:N, an address or a file.", "WHERE", excludes="initial tune resume"
    )
    output: Path | None = written("Write the model to FILE.", flags=["-o", "--output"])
    size: str | None = written(
        "Store the largest weights in 8 bits.", "2MB", needs="output", excludes="checkpoint resume"
    )
    quiet: bool = written("Print only the result.", default=False, flags=["-q", "--quiet"])
    verbose: bool = written(
        "Print every epoch; with --form, every update.",
        default=False,
        flags=["-v", "--verbose", "--steps"],
    )
    json: bool = written("Print one JSON object per line.", default=False)

    def __post_init__(self) -> None:
        """Divide what ``--set`` sets; a rule of another package brings its parameters."""
        if self.rule is not None:
            RULE_TABLE[self.rule]
        table = table_for_training() | (SETTINGS if self.form else {})
        given = parse_settings(self.set, table)
        self.features = {name: given.pop(name) for name in FEATURES.keys() & given.keys()}
        if self.features.get("ngrams") is not None:
            self.features["ngrams"] = parse_ngrams(str(self.features["ngrams"]))
        self.threads = given.pop("threads", None)
        self.of_streams = {name: given.pop(name) for name in OF_STREAMS if name in given}
        for one in list_slices():
            for name, parse in load(one.shell).PARSERS.items() if one.shell else ():
                if given.get(name) is not None:
                    given[name] = parse(str(given[name]))
        self.settings = given

    def check(self, data: str) -> None:
        """Raise CommandError before training for what would fail after it."""
        check_input(self.test)
        check_output(self.output, data, self.test)
        if self.size is not None:
            from ..storage.small import LEAST_SIZE, parse_size

            if parse_size(self.size) < LEAST_SIZE:
                raise CommandError(f"--size must be at least {LEAST_SIZE} bytes; texts need more.")
        if data == self.test == "-":
            raise CommandError("Standard input can be read only once; write it to a file first.")
        for name, targets in KINDS.items():
            if getattr(self, name) is not None and self.target not in (None, *targets):
                raise CommandError(f"--{name} is not for --target {self.target}; leave one out.")
        if self.target == "ranks" and self.ordinal is None:
            raise CommandError("--target ranks needs --ordinal with all labels in order.")

    def to_parameters(self, once: bool) -> dict[str, Any]:
        """Return the given parameters by their names in Python.

        ``once``: the source can be read only once, so that the default is one epoch.
        """
        given: dict[str, Any] = {
            "class_weight": "balanced" if self.balanced else None,
            "max_iter": 1 if self.epochs is None and once else self.epochs,
            "metric": self.metric,
            "calibrate": "conformal" if self.conformal else self.probabilities or None,
            "random_state": self.seed,
        }
        return {name: value for name, value in given.items() if value is not None} | self.settings

    @property
    def reading(self) -> dict[str, Any]:
        """The keyword arguments of ``read``; named classes or ranks are not numbers."""
        names = *COLUMNS, "format", "encoding", "skip_bad", "threads"
        options: dict[str, Any] = {name: getattr(self, name) for name in names}
        options["labels_separator"] = self.separator or ("," if self.target == "labels" else None)
        if self.no_header:
            options["header"] = False
        if self.target is not None or self.classes is not None or self.ordinal is not None:
            options["numbers"] = self.target == "numbers"
        return options | self.features

    @property
    def stated(self) -> frozenset[str]:
        """The options of reading that the chooser leaves as they are."""
        return frozenset(self.features) | {name for name in COLUMNS[1:3] if getattr(self, name)}


def split_labels(text: str | None) -> tuple[str, ...] | None:
    """Return the labels of a list with commas; those that have commas are in double quotes.

    >>> split_labels('"a, b", c')
    ('a, b', 'c')
    """
    if not text:
        return None
    return tuple(word.strip() for word in next(csv.reader([text], skipinitialspace=True)))


def parse_ngrams(text: str) -> tuple[int, int]:
    """Return the shortest and the longest n-gram of "1-2" or "2"."""
    least, _, most = text.partition("-")
    if not least.isdecimal() or not (most or least).isdecimal():
        raise CommandError(f"ngrams={text} must be a number or a range such as 1-2.")
    return int(least), int(most or least)


@command(DATA)
def train(data: str, options: TrainOptions) -> None:
    """Train a model on a file or a built-in data set.

    Examples
    --------
    rosenblatt train iris
    rosenblatt train reviews.csv --text text --test new.csv -o model
    rosenblatt train huge.svm.gz --epochs 1 --holdout 0.1 --checkpoint 60 -o model
    """
    from .progress import read_clock

    if options.form is not None:
        train_by_form(data, options)
        return
    options.check(data)
    source = open_source(data)
    if data in BUILT_IN and options == TrainOptions() and is_there("theory"):
        lines = show_perceptron(data)
        if len(source) > FOLDS:
            usual = cross_validate(data, source, replace(options, folds=FOLDS, quiet=True))[0]
            lines.append(f"Files are learnt by PassiveAggressive without --rule. {usual}")
        print_lines(lines)
        return
    lines = [] if options.folds is None else cross_validate(data, source, options)
    started = read_clock()
    train_rows = train_on_file if options.cluster is None else train_on_cluster
    model = train_rows(data, source, options)
    seconds = read_clock() - started
    tested = None if options.test is None else test(model, options)
    if options.json:
        print_done(data, model, seconds, tested, options)
        return
    if "stream" in model.facts and not options.quiet:
        print_lines(describe_stream(model.facts["stream"]))
    measured = tested or lines or model.facts.keys() & {"held_out", "tuning", "stream", "cluster"}
    if tested is not None:
        metric = model.parameters.get("metric", "error")
        value = tested.figures().get(tested.metrics.get(metric, ""))
        chosen_by = "" if value is None else f"; {name_metric({'metric': metric})} {value:.4f}"
        lines.insert(0, f"Test {tested.headline()}{chosen_by}.")
    if "held_out" in model.facts:
        lines.append(f"Held-out {describe_held_out(model.facts)}.")
    lines += describe_training(data, model, seconds)
    if not (options.quiet or measured) and len(model.history) > 1 and "rows" in model.facts:
        lines.append("Measure its error on other rows by --holdout 0.2, --folds 5 or --test FILE.")
    if options.size is not None:
        lines.append(describe_small(model, str(options.output)))
        if tested is not None:
            whole = test(model, replace(options, size=None))
            lines.append(f"With all weights: {whole.headline()}.")
    if options.output is not None:
        lines.append(f"Wrote the model to {options.output}.")
    print_lines(lines)


def cross_validate(data: str, source: Any, options: TrainOptions) -> list[str]:
    """Cross-validate; return the result in lines."""
    if find_by_format(data, options.format) is not None:
        raise CommandError("--folds is for files of rows; leave it out.")
    from ..jobs.folds import cross_validate as validate

    job = replace(make_job(options), checkpointer=None)
    try:
        found = validate(source, options.reading, job, options.folds or 0, options.stated)
    finally:
        job.reporter.close()
    if options.json:
        print_event("cross_validation", **found.as_dict())
    return [f"{found.headline()}.", *list_result(found)]


def make_job(options: TrainOptions, once: bool = False) -> "FileJob":
    """The training that the options ask for, and what reports it."""
    from ..jobs.job import Checkpointer, FileJob
    from ..training.plan import Request
    from .progress import ProgressPrinter

    form = "quiet" if options.quiet else "json" if options.json else "lines"
    checkpointer = None
    if options.checkpoint is not None and options.output is not None:
        checkpointer = Checkpointer(options.output, options.checkpoint)
    request = Request(
        options.rule,
        options.to_parameters(once),
        classes=split_labels(options.classes),
        holdout=options.holdout,
        tune=options.tune,
        ordinal=split_labels(options.ordinal),
        **options.of_streams,
    )
    return FileJob(request, ProgressPrinter(form, options.verbose), checkpointer)


def train_on_file(data: str, source: Any, options: TrainOptions) -> "Model":
    """Train on a file and save the model."""
    from ..jobs.choose import choose_and_train
    from ..jobs.data import ExampleFile, match_labels, open_file
    from ..storage.file import load_model, save_model

    reading, initial, begun = options.reading, None, None
    if options.initial is not None:
        initial = load_model(options.initial)
        check_initial(initial, data, options)
        if "recipe" in initial.features:
            same = {name: reading[name] for name in ("skip_bad", "threads")}
            reading = {**match_labels(initial.features["recipe"]), **same}
    opened: Any = open_file(source, **reading, names=NAMES)
    has_rows = not isinstance(opened, ExampleFile)
    if options.resume and options.output is not None and options.output.exists():
        begun = load_model(options.output)
        if "training" not in begun.facts or "origin" not in begun.facts:
            raise CommandError(f"{options.output} was not trained from a file; leave --resume out.")
    elif options.resume:
        print_note(f"There is no {options.output} to resume; the run starts from the beginning.")
    job = make_job(options, once=has_rows and not opened.rereadable)
    job = replace(job, initial=initial, begun=begun)
    try:
        model = choose_and_train(opened, job, options.stated) if has_rows else opened.train(job)
    finally:
        job.reporter.close()
    if options.output is not None and model is not begun:
        save_model(options.output, model, options.size)
    if "stream" in model.facts and options.json:
        print_event("stream", **model.facts["stream"])
    return model


def check_initial(initial: "Model", data: str, options: TrainOptions) -> None:
    """Refuse a model to start from that learns from other examples, or reads them otherwise."""
    of_file = find_by_format(data, options.format)
    same = find_by_estimator(initial.estimator) is (of_file and of_file[0])
    if not same or (of_file is None and "recipe" not in initial.features):
        raise CommandError(
            f"{options.initial} is a {initial.estimator} that was not trained from a file like "
            f"{data}; start from another model."
        )
    usual = {each.name: each.default for each in fields(options)}
    changed = any(getattr(options, name) != usual[name] for name in READING) or options.features
    if of_file is None and changed:
        raise CommandError("--initial reads the file as its model's; leave out how it is read.")


def train_on_cluster(data: str, source: Any, options: TrainOptions) -> "Model":
    """Train on files with Dask and save the model."""
    from ..cluster.fitting import train as train_files
    from ..storage.file import save_model

    job = make_job(options)
    checkpoint = None if options.checkpoint is None else options.output
    try:
        model = train_files(data, options.reading, job, str(options.cluster), checkpoint)
    finally:
        job.reporter.close()
    if options.output is not None:
        save_model(options.output, model, options.size)
    return model


def test(model: "Model", options: TrainOptions) -> "Result":
    """Evaluate a model, as it is stored with ``--size``, on the rows of ``--test``."""
    from ..jobs.data import open_like
    from ..jobs.evaluate import evaluate
    from ..learners.kinds import make_learner
    from ..storage.file import load_model
    from .score import note_rows

    stored = model if options.size is None else load_model(str(options.output))
    opened = open_like(stored, open_source(str(options.test)), labels=True)
    positive = model.facts.get("tuning", {}).get("positive_class")
    found = evaluate(make_learner(stored, "the model"), opened, positive_class=positive)
    note_rows(str(options.test), opened, found)
    return found


def print_done(
    data: str, model: "Model", seconds: float, tested: "Result | None", options: TrainOptions
) -> None:
    """Print the result of a training as the last event of JSON."""
    from ..reading.recipe import FeatureRecipe

    about: dict[str, Any] = {"data": data, "model": options.output and str(options.output)}
    if "recipe" in model.features:
        about["columns"] = list_columns(FeatureRecipe(**model.features["recipe"]))
    about |= {"seconds": round(seconds, 6), "test": tested and tested.as_dict()}
    print_event("done", **describe_model(model), **about)


def describe_small(model: "Model", path: str) -> str:
    """How many of the weights of a model a small file keeps."""
    from ..storage.file import load_model

    kept, whole = (
        sum(int((state.coefficients()[0] != 0).sum()) for state in one.states)
        for one in (load_model(path), model)
    )
    return f"Kept {kept:,} of {whole:,} weights, the largest, in 8 bits."


def show_perceptron(data: str) -> list[str]:
    """Run the perceptron on each class of a built-in set: what it did, and what is proved."""
    import numpy as np

    from ..theory.bounds import mistake_bound
    from ..theory.certificates import Inseparable, Separable
    from ..theory.margins import solve_max_margin
    from ..theory.problem import Problem
    from ..theory.separability import decide, start_perceptron

    rows = load_builtin(data)
    labels = rows.list_labels()
    size = f"{count(len(rows.X), 'row')}, {count(rows.X.shape[1], 'feature')}"
    lines = [f"Perceptron (a mistake adds yx to w and y to b) on {data}: {size}"]
    for label in labels[len(labels) == 2 :]:
        problem = Problem(rows.X, np.where(rows.y == label, 1.0, -1.0))
        run, proof = start_perceptron(problem, 1.0, EPOCHS, "each").train(), decide(problem)
        updates = count(sum(epoch.mistakes for epoch in run.epochs), "update")
        said = f"separated after {updates} in {count(len(run.epochs), 'epoch')}"
        if run.stop_reason != "separated":
            said = f"{updates} in {EPOCHS} epochs, {run.epochs[-1].mistakes} in the last"
        proved = "whether a plane separates it is undecided"
        if isinstance(proof, Separable):
            lifted = Problem(np.column_stack([rows.X, np.ones(len(rows.X))]), problem.signs, False)
            size, margin = np.linalg.norm(lifted.X, axis=1).max(), solve_max_margin(lifted, 1e-3)
            most = mistake_bound(size, margin.attained)
            proved = f"every run ends after at most {most:,.0f} (proved)"
        elif isinstance(proof, Inseparable):
            proved = "no plane separates it (proved exactly)"
        lines.append(f"  {label}: {said}; {proved}")
    named = "" if len(labels) == 2 else f" --positive-class {labels[-1]}"
    return [*lines, f"See a proof with: rosenblatt prove {data}{named}"]
