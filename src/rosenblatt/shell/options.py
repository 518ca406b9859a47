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
from .data import FORMAT_HELP, check_input, check_output
from .panels import CommandError, option
from .parameters import parse_settings, table_for_training

if TYPE_CHECKING:
    from ..storage.model import Model

column_option = partial(option, panel="What the columns are (detected)")
target_option = partial(option, panel="What is predicted (detected)")
learning_option = partial(option, panel="How it is learnt")
choice_option = partial(option, panel="What is chosen and added")
quality_option = partial(option, panel="How good it is")
file_option = partial(option, panel="Odd files and large files")
output_option = partial(option, panel="Output")

MOST_RANKS = 999  # more look like measurements
OF_STREAMS = "window", "progress_every", "validation"
METRICS = "error, log-loss, auc, average-precision, f1, balanced; ranks: rank-error"
READING = (
    *("label", "text", "category", "ignore", "id", "target", "separator"),
    *("format", "no_header", "encoding"),
)


@dataclass
class TrainOptions:
    """What the columns are, how a model is learnt from them, and what becomes of it."""

    label: str | None = column_option(
        help="Label; name or number from 0.",
        metavar="COLUMN",
        shown="label, class, target, y or last",
    )
    text: list[str] | None = column_option(help="Text; repeatable.", metavar="COLUMN")
    category: list[str] | None = column_option(
        help="Categories, even if they are numbers; repeatable.", metavar="COLUMN"
    )
    ignore: list[str] | None = column_option(help="Leave out; repeatable.", metavar="COLUMN")
    id: str | None = column_option(help="Name of each row, for predictions.", metavar="COLUMN")
    target: str | None = target_option(
        help="classes, labels (several per row), numbers or ranks.",
        metavar="KIND",
        type=click.Choice(["classes", "labels", "numbers", "ranks"]),
    )
    separator: str | None = target_option(
        help="Separator of several labels in one cell, such as ;.", metavar="TEXT"
    )
    ordinal: str | None = target_option(
        help="Ranks, the lowest first, such as low,high or 1..5.",
        metavar="A,B,…",
    )
    rule: str | None = learning_option(
        help=f"{', '.join(CLASS_RULES)}; numbers: {', '.join(NUMBER_RULES)}; ranks: "
        f"{', '.join(RANK_RULES)}.",
        shown="pa; text and streams: arow",
    )
    set: list[str] | None = learning_option(
        help="Set a parameter that is listed below; repeatable.", metavar="NAME=VALUE"
    )
    epochs: int | None = learning_option(
        help="Largest number of epochs.", shown="10; text: 5; text with label sets: 3"
    )
    seed: int = learning_option(help="Seed of the random orders, below 2^32.", default=0)
    initial: Path | None = learning_option(help="Start from the weights of a model file.")
    tune: bool = choice_option(
        "--tune/--no-tune",
        help="Choose what is not given by cross-validation.",
        default=False,
        shown="no-tune",
    )
    online: bool = choice_option(
        help="One pass; the best setting so far predicts the next row.",
        default=False,
    )
    metric: str | None = choice_option(
        help=f"Metric to choose by: {METRICS}.",
        type=click.Choice(RANK_METRIC.choices),
        metavar="NAME",
        shown="error",
    )
    probabilities: bool = choice_option(help="Calibrate scores to probabilities.", default=False)
    conformal: bool = choice_option(
        help="Prediction sets or intervals (predict --coverage).", default=False
    )
    balanced: bool = choice_option(help="Weigh rare classes more.", default=False)
    test: str | None = quality_option(help="Print the error on the rows of FILE.", metavar="FILE")
    holdout: float | None = quality_option(
        help="Share of the rows in [0, 1) to hold out and test on.", metavar="SHARE", shown="0"
    )
    folds: int | None = quality_option(
        help="Print the error by cross-validation with N folds.",
        shown="built-in: 5, else off",
        type=click.IntRange(min=2),
        metavar="N",
    )
    format: str | None = file_option(help=FORMAT_HELP, shown="by the name of the file")
    no_header: bool = file_option(help="Row 1 has no names.", default=False, shown="detected")
    encoding: str | None = file_option(help="Encoding, such as latin-1.", shown="utf-8")
    skip_bad: int = file_option(help="Skip up to N malformed rows.", default=0)
    classes: str | None = file_option(
        help="All labels.",
        metavar="A,B,…",
        shown="those of the first rows",
    )
    threads: int | None = file_option(help="Number of threads that read.", shown="all cores")
    checkpoint: float | None = file_option(
        help="Save the model every N seconds.", metavar="N", shown="off"
    )
    resume: bool = file_option(help="Resume from the last checkpoint in -o.", default=False)
    cluster: str | None = file_option(
        help="Train with Dask: local:N, an address or a scheduler file.", metavar="WHERE"
    )
    output: Path | None = output_option("-o", "--output", help="Write the model to FILE.")
    plot: Path | None = output_option(
        help="Draw the boundary or the progress to FILE (.png, .svg …)."
    )
    quiet: bool = output_option("-q", "--quiet", help="Print only the result.", default=False)
    verbose: bool = output_option("-v", "--verbose", help="Print every epoch.", default=False)
    json: bool = output_option(help="Print one JSON object per line.", default=False)

    def __post_init__(self) -> None:
        """Divide what ``--set`` sets; a rule of another package brings its parameters."""
        if self.rule is not None:
            RULE_TABLE[self.rule]
        given = parse_settings(self.set or (), table_for_training())
        self.features = {name: given.pop(name) for name in FEATURES.keys() & given.keys()}
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
