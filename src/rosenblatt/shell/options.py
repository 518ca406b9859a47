"""The options of ``train``, and what they ask for."""

import csv
import re
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..parameters import CLASS_RULES, FEATURES, NUMBER_RULES, RANK_RULES, RULE_NAMES, RULE_TABLE
from ..parameters.tables import RANK_METRIC
from ..slices import list_slices, load
from .commands import CommandError, option
from .data import FORMAT_HELP, check_input, check_output
from .forms import FORMS, SETTINGS
from .parameters import parse_settings, settings_option, table_for_training

if TYPE_CHECKING:
    from ..storage.model import Model

column = partial(option, group="What the columns are (detected)")
predicted = partial(option, group="What is predicted (detected)")
learning = partial(option, group="How it is learnt")
choice = partial(option, group="What is chosen and added")
quality = partial(option, group="How good it is")
files = partial(option, group="Odd files and large files")
written = partial(option, group="Output")

MOST_RANKS = 999  # more look like measurements
OF_STREAMS = "window", "progress_every", "validation"
RULE_HELP = (
    f"{', '.join(CLASS_RULES)}; numbers: {', '.join(NUMBER_RULES)}; ranks: {', '.join(RANK_RULES)}."
)
METRIC_HELP = (
    "Choose by error, log-loss, auc, average-precision, f1, balanced or, of ranks, rank-error."
)
READING = (
    *("label", "text", "category", "ignore", "id", "target", "separator"),
    *("format", "no_header", "encoding"),
)
KINDS = click.Choice(["classes", "labels", "numbers", "ranks"])


@dataclass
class TrainOptions:
    """What the columns are, how a model is learnt from them, and what becomes of it."""

    label: str | None = column("Label; name or number from 0.", "COLUMN", shown="by name, or last")
    text: list[str] | None = column("Text; repeatable.", "COLUMN")
    category: list[str] | None = column("Categories, even if numbers; repeatable.", "COLUMN")
    ignore: list[str] | None = column("Leave out; repeatable.", "COLUMN")
    id: str | None = column("Name of each row, for predictions.", "COLUMN")
    target: str | None = predicted(
        "classes, labels (several per row), numbers or ranks.", "KIND", type=KINDS
    )
    separator: str | None = predicted("Separator of several labels in one cell, such as ;.", "TEXT")
    ordinal: str | None = predicted("Ranks, the lowest first, such as low,high or 1..5.", "A,B,…")
    rule: str | None = learning(RULE_HELP, shown="pa; text and streams: arow")
    set: list[str] | None = settings_option(
        "Set a parameter named below", "How it is learnt", table_for_training
    )
    form: str | None = learning(
        "Train on small data exactly as a page of docs/textbook.md does.",
        "PAGE",
        type=click.Choice(FORMS),
    )
    epochs: int | None = learning("Largest number of epochs.", shown="10; of text: 3 or 5")
    seed: int = learning("Seed of the random orders, below 2^32.", default=0)
    initial: Path | None = learning("Start from the weights of a model file.")
    tune: bool | None = choice(
        "Compare many settings, or none.", flags=["--tune/--no-tune"], shown="a few"
    )
    metric: str | None = choice(METRIC_HELP, type=click.Choice(RANK_METRIC.choices), shown="error")
    probabilities: bool = choice("Calibrate scores to probabilities.", default=False)
    conformal: bool = choice("Prediction sets or intervals (predict --coverage).", default=False)
    balanced: bool = choice("Weigh rare classes more.", default=False)
    test: str | None = quality("Print the error on the rows of FILE.", "FILE")
    holdout: float | None = quality("Hold out this share of the rows and test on them.", "SHARE")
    folds: int | None = quality(
        "Cross-validate with N folds.", shown="built-in sets: 5", type=click.IntRange(min=2)
    )
    format: str | None = files(FORMAT_HELP, shown="by the name of the file")
    no_header: bool = files("Row 1 has no names.", default=False, shown="detected")
    encoding: str | None = files("Encoding, such as latin-1.", shown="utf-8")
    skip_bad: int = files("Skip up to N malformed rows.", default=0)
    classes: str | None = files("All labels.", "A,B,…", shown="those of the first rows")
    checkpoint: float | None = files("Save the model every N seconds.", "N")
    resume: bool = files("Resume from the last checkpoint in -o.", default=False)
    cluster: str | None = files("Train with Dask: local:N, an address or a file.", "WHERE")
    output: Path | None = written("Write the model to FILE.", flags=["-o", "--output"])
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
        given = parse_settings(self.set or (), table)
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
        check_input(self.of_streams.get("validation"))
        check_output(self.output, data, self.test)
        inputs = [data, self.test, self.of_streams.get("validation")]
        if inputs.count("-") > 1:
            raise CommandError(
                "Standard input (-) can be read only once; write it to a file first.", "read-once"
            )
        if self.output is None and (self.checkpoint is not None or self.resume):
            raise CommandError(
                "--checkpoint and --resume need a model file: name it with -o.", "no-output"
            )
        if self.checkpoint is not None and not self.checkpoint >= 0:
            raise CommandError(
                f"--checkpoint {self.checkpoint} must be 0 seconds or more.", "out-of-range"
            )
        if self.plot is not None:
            from ..plots import MOVING, STILL, get_ending

            check_output(self.plot, data, self.test)
            if self.output is not None and self.plot.resolve() == self.output.resolve():
                raise CommandError(
                    f"The model and the figure need different names; both are {self.output}.",
                    "output",
                )
            get_ending(self.plot, (*STILL, *MOVING))

    def adopt_rule(self, initial: "Model") -> None:
        """Set the rule to that of a model; the job takes over its parameters."""
        rule = RULE_NAMES[initial.estimator]
        if self.rule not in (None, rule):
            raise CommandError(
                f"The initial model has --rule {rule}; use the same rule.", "initial-rule"
            )
        self.rule = rule
        for name in ("solution", "average_decay"):
            if name in initial.parameters:
                self.settings.setdefault(name, initial.parameters[name])

    def to_parameters(self, once: bool) -> dict[str, Any]:
        """Return the given parameters by their names in Python.

        ``once``: the source can be read only once, so that the default is one epoch.
        """
        if self.conformal and self.probabilities:
            raise CommandError(
                "--conformal also gives probabilities of classes; leave --probabilities out.",
                "conflict",
            )
        given: dict[str, Any] = {
            "class_weight": "balanced" if self.balanced else None,
            "max_iter": 1 if self.epochs is None and once else self.epochs,
            "metric": self.metric,
            "calibrate": "conformal" if self.conformal else self.probabilities or None,
            "random_state": self.seed,
        }
        return {name: value for name, value in given.items() if value is not None} | self.settings

    def parse_classes(self) -> tuple[str, ...] | None:
        """Return the labels of ``--classes``; None if they were not given."""
        return split_labels(self.classes) if self.classes else None

    def parse_ordinal(self) -> tuple[str, ...] | None:
        """Return the labels of ``--ordinal``; "1..5" are whole numbers in a row."""
        if self.ordinal is None:
            if self.target == "ranks":
                raise CommandError(
                    "--target ranks needs all labels in order: name them with --ordinal.",
                    "no-ordinal",
                )
            return None
        if self.classes is not None or self.target not in (None, "ranks"):
            raise CommandError(
                "--ordinal names all ranks; leave --classes and --target out.", "conflict"
            )
        ends = re.fullmatch(r"\s*(-?\d{1,9})\s*\.\.\s*(-?\d{1,9})\s*", self.ordinal)
        if ends is None:
            return split_labels(self.ordinal)
        first, last = map(int, ends.groups())
        if not first < last <= first + MOST_RANKS:
            raise CommandError(
                f"--ordinal {self.ordinal} must go up, by at most {MOST_RANKS:,}.", "out-of-range"
            )
        return tuple(map(str, range(first, last + 1)))

    @property
    def reading(self) -> dict[str, Any]:
        """The keyword arguments of ``read``; named classes or ranks are not numbers."""
        named = self.classes is not None or self.ordinal is not None
        if named and self.target == "numbers":
            raise CommandError(
                "--target numbers excludes --classes and --ordinal; leave one out.", "conflict"
            )
        if self.separator is not None and self.target not in (None, "labels"):
            raise CommandError(
                f"--separator divides several labels; leave --target {self.target} out.", "conflict"
            )
        options: dict[str, Any] = {
            "label": self.label,
            "id": self.id,
            "format": self.format,
            "encoding": self.encoding,
            "skip_bad": self.skip_bad,
            "threads": self.threads,
            "labels_separator": self.separator or ("," if self.target == "labels" else None),
        }
        for name in ("text", "category", "ignore"):
            options[name] = tuple(getattr(self, name) or ())
        if self.no_header:
            options["header"] = False
        if named or self.target is not None:
            options["numbers"] = self.target == "numbers"
        features = dict(self.features)
        if features.get("ngrams") is not None:
            features["ngrams"] = parse_ngrams(str(features["ngrams"]))
        return options | features

    def reads_as_usual(self) -> bool:
        """Whether no option says how the file is read, but how fast."""
        usual = {each.name: each.default for each in fields(self)}
        return not self.features and all(getattr(self, name) == usual[name] for name in READING)


def split_labels(text: str) -> tuple[str, ...]:
    """Return the labels of a list with commas; those that have commas are in double quotes.

    >>> split_labels('"a, b", c')
    ('a, b', 'c')
    """
    return tuple(word.strip() for word in next(csv.reader([text], skipinitialspace=True)))


def parse_ngrams(text: str) -> tuple[int, int]:
    """Return the shortest and the longest n-gram of "1-2" or "2"."""
    least, _, most = text.partition("-")
    if not least.isdecimal() or not (most or least).isdecimal():
        raise CommandError(
            f"ngrams={text} must be a number or a range such as 1-2.", "out-of-range"
        )
    return int(least), int(most or least)
