"""The options of training, in groups, and what they mean to the library."""

from dataclasses import dataclass, fields
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..parameters import ORDERS, RULE_NAMES, RULE_TABLE, SOLUTIONS
from .data import FORMAT_HELP, READING, First, Header, Label, Threads, check_input, check_output

if TYPE_CHECKING:
    from ..storage.model import Model

RESULT: dict[str, Any] = {"rich_help_panel": "Result", "show_default": False}
LEARNING: dict[str, Any] = {"rich_help_panel": "Learning", "show_default": False}
RULE: dict[str, Any] = {"rich_help_panel": "Rule", "show_default": False}


LOSSES = RULE_TABLE["pa"].own["loss"].choices
MATRICES = RULE_TABLE["second-order"].own["matrix"].choices
VARIANTS = RULE_TABLE["scw"].own["variant"].choices
Solution = StrEnum("Solution", {name.upper(): name for name in SOLUTIONS})  # type: ignore[misc]
Order = StrEnum("Order", {name.upper(): name for name in ORDERS})  # type: ignore[misc]
Rule = StrEnum("Rule", {name.upper(): name for name in RULE_TABLE})  # type: ignore[misc]
Loss = StrEnum("Loss", {name.upper(): name for name in LOSSES})  # type: ignore[misc]
Matrix = StrEnum("Matrix", {name.upper(): name for name in MATRICES})  # type: ignore[misc]
Variant = StrEnum("Variant", {name: name for name in VARIANTS})  # type: ignore[misc]


class ClassWeight(StrEnum):
    """How much the rows of each class weigh."""

    BALANCED = "balanced"


@dataclass
class ResultOptions:
    """What becomes of the model."""

    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write the model here.", metavar="FILE", **RESULT),
    ] = None
    test: Annotated[
        str | None, typer.Option(help="Tell the error on this file.", metavar="FILE", **RESULT)
    ] = None
    holdout: Annotated[
        float, typer.Option(help="Test on this share of the rows.", metavar="SHARE", **RESULT)
    ] = 0.0
    progressive: Annotated[
        Path | None,
        typer.Option(help="Write the error before learning, as CSV.", metavar="FILE", **RESULT),
    ] = None
    progress_every: Annotated[
        int | None,
        typer.Option(
            "--progress-every",
            "-P",
            help="Tell it every so many rows (1000).",
            metavar="ROWS",
            **RESULT,
        ),
    ] = None
    checkpoint: Annotated[
        float | None,
        typer.Option(help="Write it every so many seconds.", metavar="SECONDS", **RESULT),
    ] = None
    resume: Annotated[
        bool,
        typer.Option("--resume", help="Go on from the last checkpoint.", metavar=" ", **RESULT),
    ] = False
    plot: Annotated[
        Path | None, typer.Option(help="Draw what was learnt.", metavar="FILE", **RESULT)
    ] = None
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Every epoch.", metavar=" ", **RESULT)
    ] = False
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Only the verdict.", metavar=" ", **RESULT)
    ] = False
    json: Annotated[
        bool, typer.Option("--json", help="JSON, a line each.", metavar=" ", **RESULT)
    ] = False

    def check(self, data: str) -> None:
        """Refuse before training what would fail after it."""
        check_input(self.test)
        if self.progressive is not None and self.progress_every is None:
            self.progress_every = 1000
        if self.progress_every is not None and self.progress_every < 1:
            raise ValueError(f"--progress-every {self.progress_every} must be 1 row or more.")
        check_output(self.output, data, self.test)
        check_output(self.progressive, data, self.test, self.output)
        if self.output is None and (self.checkpoint is not None or self.resume):
            raise ValueError("--checkpoint and --resume need a model file: name it with -o.")
        if self.checkpoint is not None and not self.checkpoint >= 0:
            raise ValueError(f"--checkpoint {self.checkpoint} must be 0 seconds or more.")
        if self.plot is not None:
            from ..plots import MOVING, STILL, ending_of

            check_output(self.plot, data, self.test)
            if self.output is not None and self.plot.resolve() == self.output.resolve():
                raise ValueError(
                    f"The model and the figure need names of their own; both are {self.output}."
                )
            ending_of(self.plot, (*STILL, *MOVING))


@dataclass
class RuleOptions:
    """What a row does to the weights, and the parameters that are a rule's own."""

    rule: Annotated[
        Rule | None,
        typer.Option(
            help="perceptron (one pass: arow), pa, alma, romma, second-order, scw.",
            metavar="NAME",
            **RULE,
        ),
    ] = None
    margin: Annotated[
        float | None,
        typer.Option(help="perceptron: demand a margin (0; text: 1).", metavar="NUMBER", **RULE),
    ] = None
    C: Annotated[
        float | None,
        typer.Option("--C", help="pa, scw: what a row may do (1).", metavar="NUMBER", **RULE),
    ] = None
    loss: Annotated[
        Loss | None,
        typer.Option(help="pa: hinge, squared_hinge, hard.", metavar="NAME", **RULE),
    ] = None
    alpha: Annotated[
        float | None,
        typer.Option(help="alma: margin to give up (0.9).", metavar="NUMBER", **RULE),
    ] = None
    aggressive: Annotated[
        bool | None,
        typer.Option(help="romma: small margins too (yes).", metavar=" ", **RULE),
    ] = None
    a: Annotated[
        float | None,
        typer.Option("--a", help="second-order: how calm (1).", metavar="NUMBER", **RULE),
    ] = None
    matrix: Annotated[
        Matrix | None,
        typer.Option(help="second-order: full or diagonal.", metavar="NAME", **RULE),
    ] = None
    r: Annotated[
        float | None, typer.Option("--r", help="arow: how calm (1).", metavar="NUMBER", **RULE)
    ] = None
    confidence: Annotated[
        float | None, typer.Option(help="scw: from 0.5 to 1 (0.75).", metavar="NUMBER", **RULE)
    ] = None
    variant: Annotated[
        Variant | None, typer.Option(help="scw: I or II.", metavar="NAME", **RULE)
    ] = None

    def like(self, initial: "Model") -> None:
        """Take over from a model what was not given."""
        begun = Rule(RULE_NAMES[initial.estimator])
        if self.rule not in (None, begun):
            raise ValueError(f"The initial model is of --rule {begun}; go on with the same.")
        self.rule = begun
        for field in fields(RuleOptions)[1:]:
            if getattr(self, field.name) is None:
                setattr(self, field.name, initial.parameters.get(field.name))

    def of_rule(self) -> dict[str, Any]:
        """The parameters of the rule that were given."""
        given = {field.name: getattr(self, field.name) for field in fields(RuleOptions)[1:]}
        return {
            name: value.value if isinstance(value, StrEnum) else value
            for name, value in given.items()
            if value is not None
        }


@dataclass
class LearningOptions(RuleOptions):
    """The parameters of the estimator, and how a file is gone through."""

    solution: Annotated[
        Solution | None,
        typer.Option(
            help="average, last, vote, pocket (average; one pass: last).",
            metavar="WHICH",
            **LEARNING,
        ),
    ] = None
    average_decay: Annotated[
        float | None,
        typer.Option(
            help="average: forget, 0.001 after about 1,000 rows (0).", metavar="SHARE", **LEARNING
        ),
    ] = None
    order: Annotated[
        Order | None,
        typer.Option(help="each, once, fixed … (each; stream: fixed).", metavar="HOW", **LEARNING),
    ] = None
    epochs: Annotated[
        int | None, typer.Option(help="The most passes (10).", metavar="N", **LEARNING)
    ] = None
    early_stopping: Annotated[
        bool,
        typer.Option(
            "--early-stopping", help="Until held-out rows gain no more.", metavar=" ", **LEARNING
        ),
    ] = False
    probabilities: Annotated[
        bool,
        typer.Option(
            "--probabilities",
            help="Fit probabilities of the classes, by cross-fitting.",
            metavar=" ",
            **LEARNING,
        ),
    ] = False
    bias_step: Annotated[
        float | None,
        typer.Option(help="A mistake moves the bias so far.", metavar="NUMBER", **LEARNING),
    ] = None
    no_bias: Annotated[
        bool, typer.Option("--no-bias", help="Without a bias.", metavar=" ", **LEARNING)
    ] = False
    class_weight: Annotated[
        ClassWeight | None,
        typer.Option(help="Rare classes weigh more.", metavar="balanced", **LEARNING),
    ] = None
    window: Annotated[
        int, typer.Option(help="Shuffle a stream within so many rows.", metavar="ROWS", **LEARNING)
    ] = 0
    seed: Annotated[int, typer.Option(help="For the random orders.", metavar="N", **LEARNING)] = 0
    classes: Annotated[
        str | None,
        typer.Option(help="All labels, if the first rows lack some.", metavar="A,B,…", **LEARNING),
    ] = None
    initial: Annotated[
        Path | None, typer.Option(help="Go on with this model.", metavar="FILE", **LEARNING)
    ] = None
    tune: Annotated[
        bool,
        typer.Option(
            "--tune", help="Try what was not stated, on held-out rows.", metavar=" ", **LEARNING
        ),
    ] = False
    cluster: Annotated[
        str | None,
        typer.Option(help="Dask: local:N, tcp://… or a file.", metavar="WHERE", **LEARNING),
    ] = None

    def stated(self, once: bool) -> tuple[str | None, dict[str, Any]]:
        """The rule and the parameters that were given; a source that can be read once only is."""
        given: dict[str, Any] = {"early_stopping": self.early_stopping, "random_state": self.seed}
        named = {"solution": self.solution, "order": self.order, "class_weight": self.class_weight}
        given |= {name: value.value for name, value in named.items() if value is not None}
        given["calibrate"] = self.probabilities
        if self.no_bias and self.bias_step is not None:
            raise ValueError("--no-bias has no --bias-step; leave one out.")
        given |= {"intercept_step": self.bias_step, "fit_intercept": not self.no_bias}
        if self.average_decay is not None:
            given["average_decay"] = self.average_decay
        if self.epochs is not None or once:
            given["max_iter"] = 1 if self.epochs is None else self.epochs
        rule = None if self.rule is None else str(self.rule.value)
        return rule, given | self.of_rule()

    def names(self) -> tuple[str, ...] | None:
        """The labels that were named."""
        return tuple(self.classes.split(",")) if self.classes else None


@dataclass
class ReadingOptions:
    """How a file becomes rows."""

    label: Label = None
    labels_separator: Annotated[
        str | None,
        typer.Option(help="Between several labels, as ;.", metavar="TEXT", **READING),
    ] = None
    text: Annotated[
        list[str] | None,
        typer.Option(help="A column of text (repeatable).", metavar="COLUMN", **READING),
    ] = None
    category: Annotated[
        list[str] | None,
        typer.Option(help="A column of words, not numbers.", metavar="COLUMN", **READING),
    ] = None
    ngrams: Annotated[
        str | None, typer.Option(help="Words at a time: 1, 2 … (1-2).", metavar="N", **READING)
    ] = None
    characters: Annotated[
        bool, typer.Option("--characters", help="N-grams of characters.", metavar=" ", **READING)
    ] = False
    counts: Annotated[
        str | None, typer.Option(help="raw, sublinear (binary).", metavar="HOW", **READING)
    ] = None
    tfidf: Annotated[
        bool | None, typer.Option(help="Rare n-grams weigh more (yes).", metavar=" ", **READING)
    ] = None
    bits: Annotated[
        int | None,
        typer.Option(help="2^N columns (18; text 20).", metavar="N", **READING),
    ] = None
    cross: Annotated[
        list[str] | None,
        typer.Option(help="Products of A,B (repeatable).", metavar="A,B", **READING),
    ] = None
    pairs: Annotated[
        bool,
        typer.Option("--pairs", help="Products of every two features.", metavar=" ", **READING),
    ] = False
    scale: Annotated[
        str,
        typer.Option(help="standard, maxabs, robust, none (auto)", metavar="HOW", **READING),
    ] = "auto"
    ignore: Annotated[
        list[str] | None,
        typer.Option(help="Leave out (repeatable).", metavar="COLUMN", **READING),
    ] = None
    id: Annotated[
        str | None,
        typer.Option(help="Names the rows in predictions.", metavar="COLUMN", **READING),
    ] = None
    format: Annotated[str | None, typer.Option(help=FORMAT_HELP, metavar="NAME", **READING)] = None
    header: Header = None
    encoding: Annotated[
        str | None, typer.Option(help="Of text, as latin-1 (UTF-8).", metavar="NAME", **READING)
    ] = None
    first: First = None
    skip_bad: Annotated[
        int, typer.Option(help="Leave out broken rows.", metavar="N", **READING)
    ] = 0
    cache: Annotated[
        bool,
        typer.Option("--cache", help="Keep the rows beside the file.", metavar=" ", **READING),
    ] = False
    threads: Threads = None

    def stated(self) -> frozenset[str]:
        """What was given of how texts are weighed."""
        return frozenset(name for name in ("counts", "tfidf") if getattr(self, name) is not None)

    def options(self) -> dict[str, Any]:
        """The options of ``read``."""
        return {
            "format": self.format,
            "label": self.label,
            "labels_separator": self.labels_separator,
            "text": tuple(self.text or ()),
            "category": tuple(self.category or ()),
            "ngrams": None if self.ngrams is None else lengths(self.ngrams),
            "characters": self.characters,
            "counts": self.counts or "binary",
            "tfidf": self.tfidf,
            "bits": self.bits,
            "cross": tuple(self.cross or ()),
            "pairs": self.pairs,
            "scale": self.scale,
            "ignore": tuple(self.ignore or ()),
            "id": self.id,
            "header": self.header,
            "encoding": self.encoding,
            "first": self.first,
            "skip_bad": self.skip_bad,
            "threads": self.threads,
        }


def lengths(text: str) -> tuple[int, int]:
    """The least and the most words of an n-gram: "1-2" or "2"."""
    least, _, most = text.partition("-")
    if not least.isdecimal() or not (most or least).isdecimal():
        raise ValueError(f"--ngrams {text} must be a number or two with a dash between, as 1-2.")
    return int(least), int(most or least)
