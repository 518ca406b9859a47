"""Training on a file or a built-in data set: the options, and what is printed."""

import csv
import re
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..parameters import CLASS_RULES, FEATURES, NUMBER_RULES, RANK_RULES, RULE_TABLE
from ..parameters.tables import RANK_METRIC
from ..slices import find_by_estimator, find_by_format, is_there, list_slices, load
from .commands import CommandError, command, option
from .data import (
    BUILT_IN,
    DATA,
    FORMAT_HELP,
    SetOptions,
    check_input,
    check_output,
    open_source,
    print_note,
)
from .format import (
    about_result,
    about_stated_metric,
    describe_model,
    held_out_line,
    list_columns,
    list_result,
)
from .forms import FORMS, SETTINGS, train_by_form
from .parameters import name_settings, parse_settings, settings_option, table_for_training
from .settings import about_stream

if TYPE_CHECKING:
    from ..jobs.job import FileJob
    from ..storage.model import Model

column = partial(option, group="What the columns are (detected)")
predicted = partial(option, group="What is predicted (detected)")
learning = partial(option, group="How it is learnt")
choice = partial(option, group="What is chosen and added")
quality = partial(option, group="How good it is")
files = partial(option, group="Odd files and large files")
written = partial(option, group="Output")

FOLDS = 5  # of a built-in set
NAMES = 100_000  # of features, that a model may show
MOST_RANKS = 999  # more look like measurements
OF_STREAMS = "window", "progress_every"
KINDS = {"separator": ("labels",), "ordinal": ("ranks",), "classes": ("classes", "labels")}
"""The targets that options are for."""
FOR_FILES = "skip_bad format no_header cluster test classes ordinal initial checkpoint resume"
COLUMNS = "label", "text", "category", "ignore", "id"
READING = *COLUMNS, "target", "separator", "format", "no_header", "encoding"
RULE_HELP = (
    f"{', '.join(CLASS_RULES)}; numbers: {', '.join(NUMBER_RULES)}; ranks: {', '.join(RANK_RULES)}."
)
METRIC_HELP = (
    "Choose by error, log-loss, auc, average-precision, f1, balanced or, of ranks, rank-error."
)


@dataclass
class TrainOptions:
    """What the columns are, how a model is learnt from them, and what becomes of it."""

    label: str | None = column("Label; name or number from 0.", "COLUMN", shown="by name, or last")
    text: tuple[str, ...] = column("Text; repeatable.", "COLUMN", ())
    category: tuple[str, ...] = column("Categories, even if numbers; repeatable.", "COLUMN", ())
    ignore: tuple[str, ...] = column("Leave out; repeatable.", "COLUMN", ())
    id: str | None = column("Name of each row, for predictions.", "COLUMN")
    target: str | None = predicted(
        "classes, labels (several per row), numbers or ranks.",
        "KIND",
        type=click.Choice(["classes", "labels", "numbers", "ranks"]),
    )
    separator: str | None = predicted("Separator of several labels in one cell, such as ;.", "TEXT")
    ordinal: str | None = predicted(
        "Ranks, the lowest first, such as low,high or 1..5.", "A,B,…", excludes="classes"
    )
    rule: str | None = learning(RULE_HELP, shown="pa; text and streams: arow")
    set: tuple[str, ...] = settings_option(
        "Set a parameter named below", "How it is learnt", table_for_training
    )
    form: str | None = learning(
        "Train exactly as this page of docs/textbook.md does.",
        "PAGE",
        type=click.Choice(FORMS),
    )
    epochs: int | None = learning("Largest number of epochs.", shown="10; of text: 3 or 5")
    seed: int = learning("Seed of the random orders, below 2^32.", default=0)
    initial: Path | None = learning("Start from the weights of a model file.")
    tune: bool | None = choice(
        "Compare many settings, or none.", flags=["--tune/--no-tune"], shown="a few"
    )
    metric: str | None = choice(
        METRIC_HELP, type=click.Choice(RANK_METRIC.choices), shown="log-loss"
    )
    probabilities: bool = choice("Calibrate scores to probabilities.", default=False)
    conformal: bool = choice(
        "Prediction sets or intervals (predict --coverage).",
        default=False,
        excludes="probabilities",
    )
    balanced: bool = choice("Weigh rare classes more.", default=False)
    test: str | None = quality("Print the error on the rows of FILE.", "FILE")
    holdout: float | None = quality("Hold out this share of the rows and test on them.", "SHARE")
    folds: int | None = quality(
        "Cross-validate with N folds.",
        type=click.IntRange(min=2),
        excludes="initial resume cluster",
    )
    format: str | None = files(FORMAT_HELP, shown="by the name of the file")
    no_header: bool = files("Row 1 has no names.", default=False, shown="detected")
    encoding: str | None = files("Encoding, such as latin-1.", shown="utf-8")
    skip_bad: int = files("Skip up to N malformed rows.", default=0, shown="0")
    classes: str | None = files("All labels.", "A,B,…", shown="those of the first rows")
    checkpoint: float | None = files(
        "Save the model every N seconds.", "N", type=click.FloatRange(min=0), needs="output"
    )
    resume: bool = files("Resume from the last checkpoint in -o.", default=False, needs="output")
    cluster: str | None = files(
        "Train with Dask: local:N, an address or a file.",
        "WHERE",
        excludes="plot initial tune resume",
    )
    output: Path | None = written("Write the model to FILE.", flags=["-o", "--output"])
    size: str | None = written(
        "Store the largest weights in 8 bits.",
        "2MB",
        needs="output",
        excludes="checkpoint resume",
    )
    plot: Path | None = written("Draw the boundary or the progress (.png, .svg …).")
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
            from ..storage.small import parse_size

            parse_size(self.size)
        if data == self.test == "-":
            raise CommandError(
                "Standard input (-) can be read only once; write it to a file first."
            )
        for name, targets in KINDS.items():
            if getattr(self, name) is not None and self.target not in (None, *targets):
                raise CommandError(f"--{name} is not for --target {self.target}; leave one out.")
        if self.target == "ranks" and self.ordinal is None:
            raise CommandError(
                "--target ranks needs all labels in order: name them with --ordinal."
            )
        if data in BUILT_IN and (
            self.of_streams or any(getattr(self, name) for name in FOR_FILES.split())
        ):
            raise CommandError(f"{data} is a built-in set; options for files do not apply to it.")
        if self.plot is not None:
            from ..plots import get_ending

            check_output(self.plot, data, self.test)
            if self.output is not None and self.plot.resolve() == self.output.resolve():
                raise CommandError("The model and the figure need different names.")
            get_ending(self.plot)

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

    def parse_ordinal(self) -> tuple[str, ...] | None:
        """Return the labels of ``--ordinal``; "1..5" are whole numbers in a row."""
        ends = re.fullmatch(r"\s*(-?\d{1,9})\s*\.\.\s*(-?\d{1,9})\s*", self.ordinal or "")
        if self.ordinal is None or ends is None:
            return split_labels(self.ordinal)
        first, last = map(int, ends.groups())
        if not first < last <= first + MOST_RANKS:
            raise CommandError(f"--ordinal {self.ordinal} must go up, by at most {MOST_RANKS:,}.")
        return tuple(map(str, range(first, last + 1)))

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
        features = dict(self.features)
        if features.get("ngrams") is not None:
            features["ngrams"] = parse_ngrams(str(features["ngrams"]))
        return options | features

    @property
    def stated(self) -> frozenset[str]:
        """The options of reading that the chooser leaves as they are."""
        return frozenset(self.features) | {name for name in COLUMNS[1:3] if getattr(self, name)}

    def reads_as_usual(self) -> bool:
        """Whether no option says how the file is read, but how fast."""
        usual = {each.name: each.default for each in fields(self)}
        return not self.features and all(getattr(self, name) == usual[name] for name in READING)


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
    from .report import print_line, read_clock

    if options.form is not None:
        train_by_form(data, options)
        return
    options.check(data)
    source = open_source(data)
    if data in BUILT_IN and options == TrainOptions() and is_there("theory"):
        from .builtin_report import show_perceptron

        usual = replace(options, folds=None if data == "xor" else FOLDS, quiet=True)
        for line in show_perceptron(data, validate(data, source, usual)[:1]):
            print_line(line)
        return
    report = validate(data, source, options)
    started = read_clock()
    model = (train_on_file if options.cluster is None else train_on_cluster)(data, source, options)
    print_result(data, model, read_clock() - started, options, report)
    if options.plot is not None:
        draw(options.plot, model, data)
        if not options.json:
            print(f"Wrote the figure to {options.plot}.")


def validate(data: str, source: Any, options: TrainOptions) -> list[str]:
    """Cross-validate if that was asked for; return the result in lines."""
    if options.folds is None:
        return []
    if find_by_format(data, options.format) is not None:
        raise CommandError("--folds is for files of rows; leave it out.")
    from ..jobs.folds import cross_validate
    from .report import print_event

    job = replace(make_job(options), checkpointer=None)
    try:
        found = cross_validate(source, options.reading, job, options.folds, options.stated)
    finally:
        job.reporter.close()
    if options.json:
        print_event("cross_validation", **found.as_dict())
    return [f"{found.headline()}.", *list_result(found)]


def make_job(options: TrainOptions, once: bool = False) -> "FileJob":
    """The training that the options ask for, and what reports it."""
    from ..jobs.job import Checkpointer, FileJob
    from ..training.plan import Request
    from .report import Printer

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
        ordinal=options.parse_ordinal(),
        **options.of_streams,
    )
    return FileJob(request, Printer(form, options.verbose), checkpointer)


def train_on_file(data: str, source: Any, options: TrainOptions) -> "Model":
    """Train on a file and save the model."""
    from ..jobs.choose import choose_and_train
    from ..jobs.data import ExampleFile, match_labels, open_file
    from ..storage.file import load_model, save_model
    from .report import print_event, print_line

    reading, initial, begun = options.reading, None, None
    if options.initial is not None:
        initial = load_model(options.initial)
        check_initial(initial, data, options)
        if "recipe" in initial.features:
            same = {name: reading[name] for name in ("skip_bad", "threads")}
            reading = {**match_labels(initial.features["recipe"]), **same}
    opened: Any = open_file(source, **reading, names=NAMES)
    has_rows = not isinstance(opened, ExampleFile)
    if options.plot is not None and not (has_rows and opened.has_classes):
        raise CommandError(
            f"--plot draws rows of one label each, but those of {data} are others; leave it out."
        )
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
    stream = model.facts.get("stream")
    if stream and options.json:
        print_event("stream", **stream)
    for line in about_stream(stream) if stream and not (options.json or options.quiet) else ():
        print_line(line)
    return model


def check_initial(initial: "Model", data: str, options: TrainOptions) -> None:
    """Refuse a model to start from that learns from other examples, or reads them otherwise."""
    path, of_file = options.initial, find_by_format(data, options.format)
    if find_by_estimator(initial.estimator) is not (of_file and of_file[0]):
        examples = of_file[0].examples if of_file else "rows"
        raise CommandError(
            f"{path} is a {initial.estimator}, which does not learn from files, or not from "
            f"{examples} as {data} has them; start from another model."
        )
    if of_file is None and "recipe" not in initial.features:
        raise CommandError(f"{path} was not trained from a file; use its partial_fit in Python.")
    if of_file is None and not options.reads_as_usual():
        raise CommandError(
            "--initial reads the file as the model's own; leave other options of reading out."
        )


def train_on_cluster(data: str, source: Any, options: TrainOptions) -> "Model":
    """Train on files with Dask and save the model."""
    from ..cluster.fitting import train as train_files
    from ..storage.file import save_model
    from .report import print_event

    def as_object(done: Any) -> None:
        epoch, shards, *_ = done
        print_event("epoch", **(done._asdict() | epoch._asdict()), mistakes_per_shard=shards)

    report: Callable[[Any], None] | None = as_object if options.json else None
    model = train_files(
        data,
        options.reading,
        make_job(options),
        str(options.cluster),
        (lambda _: None) if options.quiet else report,
        None if options.checkpoint is None else options.output,
    )
    if options.output is not None:
        save_model(options.output, model, options.size)
    return model


def print_result(
    name: str, model: "Model", seconds: float, options: TrainOptions, report: list[str]
) -> None:
    """Test a model if a file for that was named, and print the result of the training."""
    from .report import print_event, print_line

    found, lines = None, list[str]()
    if options.test is not None:
        from ..jobs.data import open_like
        from ..jobs.evaluate import evaluate
        from ..learners.kinds import make_learner
        from .score import note_rows

        opened = open_like(model, options.test, labels=True)
        positive = model.facts.get("tuning", {}).get("positive_class")
        found = evaluate(make_learner(model, name), opened, positive_class=positive)
        note_rows(options.test, opened, found)
        stated = about_stated_metric(found, model.parameters.get("metric", "error"))
        lines.append(f"Test {found.headline()}{stated}.")
    if options.json:
        from ..reading.recipe import FeatureRecipe

        about: dict[str, Any] = {"data": name, "model": options.output and str(options.output)}
        if "recipe" in model.features:
            about["columns"] = list_columns(FeatureRecipe(**model.features["recipe"]))
        tested = found and found.as_dict()
        print_event(
            "done", **about, **describe_model(model), seconds=round(seconds, 6), test=tested
        )
        return
    if "held_out" in model.facts:
        lines.append(f"Held-out {held_out_line(model.facts)}.")
    if options.size is not None:
        lines += describe_small(name, model, options)
    lines += [*report, *about_result(name, model, seconds)]
    measured = model.facts.keys() & {"held_out", "tuning", "stream", "cluster"}
    told = options.quiet or options.test or report or measured or "rows" not in model.facts
    if len(model.history) > 1 and not told:
        lines.append("Measure its error on other rows by --holdout 0.2, --folds 5 or --test FILE.")
    if options.output is not None:
        lines.append(f"Wrote the model to {options.output}.")
    for line in lines:
        print_line(line)


def describe_small(name: str, model: "Model", options: TrainOptions) -> list[str]:
    """Describe what a small file keeps of the weights, and its errors beside the whole model's."""
    import numpy as np

    from ..data.splits import HELD_OUT, Split
    from ..data.targets import summarize_score
    from ..jobs.data import open_like
    from ..jobs.evaluate import HeldOut, evaluate
    from ..learners.kinds import make_learner
    from ..storage.file import load_model

    small = load_model(str(options.output))
    learner, what = make_learner(small, name), f"with the weights in {options.output}"
    kept, whole = (
        sum(int(np.count_nonzero(state.coefficients()[0])) for state in one.states)
        for one in (small, model)
    )
    lines = [f"Kept {kept:,} of {whole:,} weights, the largest, in 8 bits."]
    if options.test is not None:
        stored = evaluate(learner, open_like(small, options.test, labels=True))
        lines.append(f"Test {stored.headline()}, {what}.")
    if "held_out" in model.facts and options.cluster is None:
        split = Split(options.holdout or HELD_OUT, options.seed)
        opened: Any = open_like(small, open_source(name), labels=True, format=options.format)
        held = HeldOut(opened, learner.target, split).score(learner)
        score = summarize_score(held.as_dict(), model.facts.get("class_rows") or ())
        lines.append(f"Held-out {score}, {what}.")
    return lines


def draw(figure: Path, model: "Model", data: str) -> None:
    """Draw the rows as a model sees them, or the progress alone if they do not fit in memory."""
    from ..estimators.pipeline import make_estimator
    from ..jobs.files import IN_MEMORY
    from ..plots import save_plot
    from .plot import read_rows_for_model

    X, y, names, path = None, None, dict[str, Any](), Path(data)
    if data in BUILT_IN or (path.is_file() and path.stat().st_size <= IN_MEMORY):
        X, y, names = read_rows_for_model(model, data, SetOptions())
    save_plot(figure, X, y, estimator=make_estimator(model, data), **names)
