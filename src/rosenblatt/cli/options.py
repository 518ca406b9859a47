"""The options of training, in groups, and their translation for the library."""

import csv
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..parameters import (
    ANY_RULE,
    CLASS_RULES,
    FEEDBACK_RULES,
    FILES,
    NUMBER_RULES,
    RANK_RULES,
    RULE_NAMES,
    RULE_TABLE,
    SEQUENCE,
    find_declared_rules,
)
from .data import FileOptions, check_input, check_output, input_option
from .panels import (
    CommandError,
    PanelOption,
    option,
    options_by_name,
    parameter_option,
    sentence,
    with_default,
)

if TYPE_CHECKING:
    from ..storage.model import Model

RULES_PANEL, ORDER_PANEL, STREAM_PANEL = "Update rules", "Order and bias", "Large files"
FEATURE_PANEL, TAGGING_PANEL = "Features", "Sequence tagging"
output_option = partial(option, panel="Output")
training_option = partial(option, panel="Training")
stream_option = partial(option, panel=STREAM_PANEL)
feature_option = partial(option, panel=FEATURE_PANEL)
tagging_option = partial(option, panel=TAGGING_PANEL)

MOST_RANKS = 999  # more look like measurements
FOR_FILES_SHOWN = {
    "margin": "0; text and tags: 1; ranks: 0",
    "C": "1; without --rule, for numbers and with groups, by the size of rows; tags: 0.01",
    "loss": "PA-I; without --rule PA-II for classes",
    "epsilon": "0",
}
"""Defaults of rules' parameters that depend on the file."""


def rule_options(shown: Mapping[str, str]) -> list[PanelOption]:
    """An option for each parameter that not all rules have; its help names the rules.

    ``shown`` has defaults in words, where they are not those of the rules.
    """
    users: dict[str, list[str]] = {}
    for rule, entry in RULE_TABLE.items():
        for name in entry.own:
            users.setdefault(name, []).append(rule)
    options = []
    for name, rules in users.items():
        parameters = [RULE_TABLE[rule].own[name] for rule in rules]
        words = tuple(dict.fromkeys(chain.from_iterable(one.choices for one in parameters)))
        text = compose_help(name, rules, shown)
        parameter = replace(parameters[0], choices=words)
        options.append(parameter_option(name, parameter, RULES_PANEL, help=text))
    return options


def compose_help(name: str, rules: list[str], shown: Mapping[str, str]) -> str:
    """Compose the help of a parameter from a sentence per rule; ``shown`` has defaults in words."""
    sentences: dict[str, list[str]] = {}
    for rule in rules:
        parameter = RULE_TABLE[rule].own[name]
        default = parameter.default_text or shown.get(name)
        text = with_default(sentence(parameter), parameter.default, default)
        sentences.setdefault(text[0].lower() + text[1:], []).append(rule)
    return " ".join(f"{', '.join(users)}: {text}" for text, users in sentences.items())


def name_other_rules() -> str:
    """A sentence that names the rules of other packages that are installed, if there are any."""
    others = sorted(find_declared_rules().keys() - RULE_TABLE.keys())
    return f" Installed: {', '.join(others)}." if others else ""


def shared_option(name: str, shown: str, default: Any = None, panel: str = "Training") -> Any:
    """Declare the option of a parameter that all rules share, with its default for files."""
    parameter = {**ANY_RULE, **FILES}[name]
    given = {"type": click.Choice(parameter.choices)} if parameter.choices else {}
    return option(help=sentence(parameter), default=default, shown=shown, panel=panel, **given)


@dataclass
class OutputOptions:
    """What becomes of the model, and what is printed."""

    output: Path | None = output_option("-o", "--output", help="Write the model to FILE.")
    test: str | None = output_option(help="Print the error on the rows of FILE.", metavar="FILE")
    holdout: float | None = output_option(
        help=FILES["holdout"].help + ".", metavar="SHARE", shown="0.0"
    )
    folds: int | None = output_option(
        help="Print the error by cross-validation with N folds, and its spread.",
        metavar="N",
        shown="off; 5 for a built-in set",
        type=click.IntRange(min=2),
    )
    checkpoint: float | None = stream_option(
        help="Save the model every N seconds during training.", metavar="N", shown="off"
    )
    resume: bool = stream_option(help="Resume from the last checkpoint in -o.", default=False)
    plot: Path | None = output_option(
        help="Draw the boundary, or for large files the progress, to FILE (.png, .svg, .pdf, "
        ".gif …)."
    )
    verbose: bool = output_option("-v", "--verbose", help="Print every epoch.", default=False)
    quiet: bool = output_option("-q", "--quiet", help="Print only the result.", default=False)
    json: bool = output_option(help="Print one JSON object per line.", default=False)
    progressive: Path | None = stream_option(
        help="Write the progressive error, of rows before they are learnt, to FILE as CSV."
    )
    progress_every: int | None = stream_option(
        "-P",
        "--progress-every",
        help="Print the progressive error every N rows, which are then learnt in their order.",
        shown="1000 with --progressive, else off",
    )

    def check(self, data: str) -> None:
        """Raise CommandError before training for what would fail after it; complete the options."""
        check_input(self.test)
        if self.progressive is not None and self.progress_every is None:
            self.progress_every = 1000
        if self.progress_every is not None and self.progress_every < 1:
            raise CommandError(
                f"--progress-every {self.progress_every} must be 1 row or more.", "out-of-range"
            )
        check_output(self.output, data, self.test)
        check_output(self.progressive, data, self.test, self.output)
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


@dataclass
class RuleOptions:
    """The update rule, and the parameters that only some rules have."""

    rule: str | None = training_option(
        help=f"Update rule: {', '.join(CLASS_RULES)}; numbers: {', '.join(NUMBER_RULES)}; "
        f"ranks: {', '.join(RANK_RULES)}; feedback: {', '.join(FEEDBACK_RULES)}.",
        type=click.Choice(list(RULE_TABLE)),
        shown="pa; text, stream: arow",
        more=name_other_rules,
    )
    own: dict[str, Any] = options_by_name(rule_options(FOR_FILES_SHOWN))

    def adopt_rule(self, initial: "Model") -> None:
        """Set the rule to that of a model; the job takes over its parameters."""
        rule = RULE_NAMES[initial.estimator]
        if self.rule not in (None, rule):
            raise CommandError(
                f"The initial model has --rule {rule}; use the same rule.", "initial-rule"
            )
        self.rule = rule


@dataclass
class LearningOptions(RuleOptions):
    """The parameters that all rules share, and how a file is gone through."""

    epochs: int | None = shared_option("max_iter", "10; text: 5; label sets of text: 3")
    solution: str | None = shared_option("solution", "average; last for text and --epochs 1")
    early_stopping: bool = shared_option("early_stopping", "off", False)
    probabilities: bool = shared_option("calibrate", "off", False)
    conformal: bool = training_option(
        help="Hold out rows for prediction sets or intervals (predict --coverage).", default=False
    )
    class_weight: str | None = training_option(
        help="Weights of the classes: balanced weighs rare classes more.",
        type=click.Choice(["balanced"]),
        shown="equal; perceptron with text: balanced",
    )
    tune: bool = training_option(
        help="Choose the settings that are not given, rule, bins and pairs included, by "
        "cross-validation.",
        default=False,
    )
    metric: str | None = training_option(
        help=ANY_RULE["metric"].help + "; of ranks also rank-error.",
        type=click.Choice(RULE_TABLE["prank"].parameters["metric"].choices),
        shown="error; ranks: rank-error",
    )
    validation: str | None = training_option(help="Stop early by the rows of FILE.", metavar="FILE")
    labels_budget: float = stream_option(
        help=FILES["labels_budget"].help + ".", default=0.0, metavar="N", shown="all labels"
    )
    seed: int = training_option(help="Seed of the random orders, below 2³².", default=0)
    positive: list[str] | None = training_option(
        help="Column whose weight is never negative, or * for all; repeatable.",
        metavar="COLUMN",
        shown="any sign",
    )
    initial: Path | None = training_option(help="Start from the weights of a model file.")
    cluster: str | None = stream_option(
        help="Train on a Dask cluster: local:N, an address, or a scheduler file.", metavar="WHERE"
    )
    order: str | None = shared_option("order", "each; fixed for streams", panel=ORDER_PANEL)
    average_decay: float | None = shared_option("average_decay", "0", panel=ORDER_PANEL)
    bias_step: float | None = shared_option(
        "intercept_step", "by the size of the rows", panel=ORDER_PANEL
    )
    no_bias: bool = option(
        help="Learn no bias.", default=False, panel=ORDER_PANEL, also=["--no-fit-intercept"]
    )
    online: bool = stream_option(
        help="Choose everything that is not given for the prediction of each next row: rule, "
        "parameters, products of columns; warn of drift. One epoch.",
        default=False,
    )
    window: int = stream_option(
        help="Shuffle a stream within N rows.", default=0, shown="no shuffling"
    )
    classes: str | None = stream_option(
        help="All labels, separated by commas; those with commas in quotes.",
        metavar="A,B,…",
        shown="labels of the first rows",
    )
    ordinal: str | None = training_option(
        help="Learn ranks: all labels, the lowest first, such as low,high or 1..5; those with "
        "commas in quotes.",
        metavar="A,B,…",
    )

    markov: int | None = tagging_option(
        help=SEQUENCE["markov"].help + ".", metavar="0|1|2", shown="1"
    )
    search: str | None = tagging_option(
        help="Search for the best tags of a sentence: viterbi, greedy.",
        type=click.Choice(SEQUENCE["search"].choices),
        shown="viterbi",
    )
    templates: Path | None = tagging_option(
        help="File of feature templates, one per line, or of CRF++.", shown="built-in templates"
    )

    def to_parameters(self, once: bool) -> tuple[str | None, dict[str, Any]]:
        """Return the rule and the given parameters by their names in Python.

        ``once``: the source can be read only once, so that the default is one epoch.
        """
        if self.no_bias and self.bias_step is not None:
            raise CommandError("--no-bias excludes --bias-step; leave one out.", "conflict")
        if self.conformal and self.probabilities:
            raise CommandError(
                "--conformal also gives probabilities of classes; leave --probabilities out.",
                "conflict",
            )
        given: dict[str, Any] = {
            "solution": self.solution,
            "average_decay": self.average_decay,
            "order": self.order,
            "class_weight": self.class_weight,
            "max_iter": 1 if self.epochs is None and once else self.epochs,
            "early_stopping": self.early_stopping or None,
            "metric": self.metric,
            "calibrate": "conformal" if self.conformal else self.probabilities or None,
            "intercept_step": self.bias_step,
            "fit_intercept": False if self.no_bias else None,
            "random_state": self.seed,
            "positive": True if "*" in (self.positive or ()) else self.positive,
            "markov": self.markov,
            "search": self.search,
            "features": None if self.templates is None else read_templates(self.templates),
        }
        stated = {name: value for name, value in given.items() if value is not None}
        return self.rule, stated | self.own

    def refuse_tagging(self, data: str) -> None:
        """Raise CommandError if options of taggers are given for a file of rows."""
        given = {
            "--markov": self.markov,
            "--search": self.search,
            "--templates": self.templates,
        }
        for name, value in given.items():
            if value is not None:
                raise CommandError(
                    f"{name} is for files of sentences, and {data} is not one; if it is, name "
                    "its format: --format conllu, conll or tagged.",
                    "rows-option",
                )

    def parse_classes(self) -> tuple[str, ...] | None:
        """Return the labels of ``--classes``; None if they were not given."""
        return split_labels(self.classes) if self.classes else None

    def parse_ordinal(self) -> tuple[str, ...] | None:
        """Return the labels of ``--ordinal``; "1..5" are whole numbers in a row."""
        if self.ordinal is None:
            return None
        if self.classes is not None:
            raise CommandError("--ordinal names all labels; leave --classes out.", "conflict")
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
    def named(self) -> str | None:
        """The labels that are named, in an order or not."""
        return self.classes if self.ordinal is None else self.ordinal


@dataclass
class ReadingOptions(FileOptions):
    """How a file becomes rows."""

    text: list[str] | None = input_option(
        help="Column of text; repeatable.", metavar="COLUMN", shown="detected"
    )
    category: list[str] | None = input_option(
        help="Column of categories, even if they are numbers; repeatable.",
        metavar="COLUMN",
        shown="detected",
    )
    ignore: list[str] | None = input_option(
        help="Column to leave out; repeatable.", metavar="COLUMN"
    )
    id: str | None = input_option(
        help="Column that names the rows in predictions.", metavar="COLUMN"
    )
    labels_separator: str | None = input_option(
        help="Separator of several labels in one cell, such as ;.", metavar="TEXT"
    )
    numbers: bool | None = input_option(
        "--numbers/--no-numbers",
        help="Whether labels are numbers to predict.",
        shown="detected; not with --classes",
    )
    group: str | None = input_option(
        help="Column of groups to rank.", metavar="COLUMN", shown="none or qid"
    )
    encoding: str | None = input_option(help="Encoding, such as latin-1.", shown="utf-8")
    threads: int | None = stream_option(help="Number of threads that read.", shown="all cores")
    skip_bad: int = stream_option(help="Skip up to N malformed rows.", default=0)
    cache: bool = stream_option(help="Keep the parsed rows beside the file.", default=False)
    ngrams: str | None = feature_option(
        help="Words or characters per n-gram: a number or a range.",
        metavar="N-M",
        shown="1-2; with label sets 1; characters: 2-4",
    )
    characters: bool = feature_option(
        help="Make n-grams of characters instead of words.", default=False
    )
    counts: str | None = feature_option(
        help="Weight of an n-gram in a text: binary (1), raw (its count n), sublinear (1 + log n).",
        shown="binary",
    )
    tfidf: bool | None = feature_option(
        "--tfidf/--no-tfidf",
        help="Give rare n-grams more weight.",
        shown="on if all rows can be read twice",
    )
    bits: int | None = feature_option(
        help="Hash features to 2^N columns, N from 1 to 31.",
        shown="18; text with one label per row: 20",
    )
    cross: list[str] | None = feature_option(
        help="Add the products of the features of two columns; repeatable.", metavar="A,B"
    )
    pairs: bool = feature_option(help="Add the product of every two features.", default=False)
    bins: int = feature_option(
        help="Add N quantile bins of each column of numbers, 2 to 255, as categories.",
        default=0,
        shown="no bins",
    )
    scale: str = feature_option(
        help="Scale of numbers: standard (mean 0, deviation 1), maxabs (largest size 1), robust "
        "(median 0, quartiles 1 apart), none, or auto (standard for tables; for svmlight and VW, "
        "maxabs if columns differ widely in size).",
        default="auto",
    )

    def list_given_features(self) -> frozenset[str]:
        """Return which options of features were given; ``--tune`` does not change these."""
        names = {"counts": None, "tfidf": None, "bins": 0, "pairs": False}
        return frozenset(name for name, usual in names.items() if getattr(self, name) != usual)

    def options(self, classes: Any = None) -> dict[str, Any]:
        """Return the keyword arguments of ``read``; named classes or ranks are not numbers."""
        given = {each.name: getattr(self, each.name) for each in fields(self)}
        del given["cache"]
        for name in ("text", "category", "cross", "ignore"):
            given[name] = tuple(given[name] or ())
        ngrams = None if self.ngrams is None else parse_ngrams(self.ngrams)
        if classes is not None and self.numbers:
            raise CommandError(
                "--numbers excludes --classes and --ordinal; leave one out.", "conflict"
            )
        if classes is not None and self.group is not None:
            raise CommandError(
                "--group excludes --classes and --ordinal; leave one out.", "conflict"
            )
        numbers = self.numbers if classes is None else False
        return given | {"ngrams": ngrams, "counts": self.counts or "binary", "numbers": numbers}


def split_labels(text: str) -> tuple[str, ...]:
    """Return the labels of a list with commas; those that have commas are in double quotes.

    >>> split_labels('"a, b", c')
    ('a, b', 'c')
    """
    return tuple(word.strip() for word in next(csv.reader([text], skipinitialspace=True)))


def read_templates(path: Path) -> Any:
    """Return the templates of a file, one per line; for a file of CRF++, return its path."""
    check_input(str(path))
    lines = [line.strip() for line in path.read_text("utf-8").splitlines()]
    lines = [line for line in lines if line and not line.startswith("#")]
    return str(path) if any("%x[" in line for line in lines) else lines


def parse_ngrams(text: str) -> tuple[int, int]:
    """Return the shortest and the longest n-gram of "1-2" or "2"."""
    least, _, most = text.partition("-")
    if not least.isdecimal() or not (most or least).isdecimal():
        raise CommandError(
            f"--ngrams {text} must be a number or a range such as 1-2.", "out-of-range"
        )
    return int(least), int(most or least)
