"""Choosing by the machine: rules, their parameters, the bias and what words weigh."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from math import ceil, inf
from typing import Any, NamedTuple

import numpy as np

from ..data.rows import Array, matrix_of, n_rows, occurring, rows_of, rows_where
from ..data.weights import balanced, row_weights
from ..kernels.algebra import Rows
from ..learners.linear import TrainingRows, usual_bias_step
from ..parameters import RULE_TABLE, ParameterError, how_to_learn, parameters_for_files, with_margin
from ..reading.batches import Batch
from ..reading.reader import Reader, read_again_if_need_be, read_whole
from ..reading.recipe import COUNTS
from ..training.report import Listener
from ..training.rules import RULES
from .files import (
    IN_MEMORY,
    FileTraining,
    OutgrownError,
    coder_of,
    learner_of,
    refuse_no_rows,
    told,
)

BIAS_STEPS = (1 / 8, 8.0)  # times the usual one
RUNGS = ((8, 4), (4, 4), (2, 2), (1, 1))  # one of so many rows, in one of so many epochs
FINALISTS = 3
HELD_OUT = 0.2
FEW = 1_000  # rows that a rung learns from at least, where there are so many
ENOUGH, MOST_SPLITS = 20_000, 5  # fewer rows are split several times


class Stated(NamedTuple):
    """What was asked for and stays: a rule, parameters, and options of reading."""

    rule: str | None
    parameters: Mapping[str, Any]
    reading: frozenset[str] = frozenset()


class Candidate(NamedTuple):
    """One way to learn: a rule, what is chosen of its parameters, and how texts are read."""

    rule: str
    parameters: Mapping[str, Any]
    reading: Mapping[str, Any]

    def training(self, stated: Stated, like: FileTraining) -> FileTraining:
        """A training in this way; what does not go together is refused."""
        parameters = parameters_for_files(self.rule, **{**stated.parameters, **self.parameters})
        several = parameters["max_iter"] > 1
        order = parameters["order"] or ("each" if several else "fixed")
        training = FileTraining(parameters | {"order": order}, like.options, rule=self.rule)
        training.check()
        RULES[self.rule].check(parameters["solution"])
        return training

    def told(self, error: float) -> dict[str, Any]:
        """The candidate and its error as JSON values."""
        return {"error": error, "rule": self.rule, **self.parameters, **self.reading}


class Part(NamedTuple):
    """Some rows to learn from, of the columns that occur in them, and rows to test with."""

    batch: Batch
    given: TrainingRows
    test: Rows


@dataclass
class Material:
    """All rows of a file, read in some way, and those of a rung, by split."""

    batch: Batch
    given: TrainingRows
    classes: Any  # the coder
    step: float  # of the bias, unless stated
    rung: Any = None
    parts: dict[int, Part] = field(default_factory=dict)

    @cached_property
    def matrix(self) -> Any:
        """The rows as an array or a CSR matrix."""
        return matrix_of(self.given.rows, len(self.given.codes), self.given.width)

    @cached_property
    def of_class(self) -> Array:
        """What rows of each class weigh where all classes weigh the same."""
        classes = self.classes.classes
        learnt = self.given.codes[self.given.everything]
        return balanced(classes, np.bincount(learnt, minlength=len(classes)))

    def part(self, some: Array, held: Array) -> Part:
        """Rows to learn from and to test with; weights of other columns would stay 0."""
        given, width = self.given, self.given.width
        rows, test = rows_of(self.matrix[some]), rows_of(self.matrix[held])
        if rows.indices is not None:
            rows, test, width = occurring(rows, test, width)
        weights = None if given.weights is None else given.weights[some]
        learnt = TrainingRows.of(rows, given.codes[some], weights, width)
        return Part(self.batch._replace(rows=rows, width=width), learnt, test)

    @property
    def mean_square(self) -> float:
        """The mean squared length of the rows to learn from."""
        learnt = np.zeros(n_rows(self.given.rows), bool)
        learnt[self.given.everything] = True
        values = rows_where(self.given.rows, learnt).values.astype(np.float64)
        return float(values @ values) / max(len(self.given.everything), 1)


@dataclass
class Tuning:
    """Candidates compared on rows held out, by successive halving (Jamieson & Talwalkar 2016).

    Attributes
    ----------
    material
        Gives the rows as they are read with some options.
    training
        What a training without tuning would be.
    stated
        What stays.
    """

    material: Callable[[Mapping[str, Any]], Material]
    training: FileTraining
    stated: Stated
    errors: dict[str, float] = field(default_factory=dict, init=False)
    tried: set[str] = field(default_factory=set, init=False)

    def __post_init__(self) -> None:
        self.listener: Listener = self.training.listener
        self.here = self.material({})
        counting = self.here.given.everything
        refuse_no_rows(len(counting))
        self.held = ceil(HELD_OUT * len(counting))
        splits = range(min(MOST_SPLITS, max(1, ENOUGH // len(counting))))
        seed = self.training.parameters["random_state"]
        self.splits = [np.random.default_rng([seed, k]).permutation(counting) for k in splits]
        if self.held == len(counting):
            raise ParameterError(
                "One row is too few for {tune?}, which holds some out.", code="tune-one-row"
            )

    def best(self, text: bool) -> tuple[Candidate, dict[str, Any]]:
        """The candidate to take, and what to remember of the choice."""
        first = list(self.ways())
        usual, ranked = first[0], self.halved(first)
        second = list(self.variants(ranked[:FINALISTS], text))
        if second != ranked[:FINALISTS]:
            ranked = self.halved(list(unique([usual, *second])))
        last = [each.told(self.error(each, RUNGS[-1])) for each in ranked]
        facts = {
            "tried": len(self.tried),
            "held_out": self.held,
            "splits": len(self.splits),
            "usual": usual.told(self.error(usual, RUNGS[-1])),
            "best": last[: 2 * FINALISTS],
        }
        return ranked[0], facts

    def ways(self) -> Iterator[Candidate]:
        """The usual way first, then rules with their parameters and solutions."""
        refused: list[ParameterError] = []
        found = list(unique(self.possible(self.every_way(), refused)))
        if not found:
            raise refused[0]
        return iter(found)

    def every_way(self) -> Iterator[Candidate]:
        """Rules with their parameters and solutions, whether these go together or not."""
        rule, given = self.stated.rule, self.stated.parameters
        usual, solution = self.training.rule, self.training.parameters["solution"]
        as_usual = with_margin(self.training.parameters)
        own = {name: as_usual[name] for name in RULE_TABLE[usual].grid}
        if as_usual["class_weight"] is not None:
            own["class_weight"] = as_usual["class_weight"]
        yield self.way(usual, own, solution)
        solutions = [solution] if "solution" in given else ["last", "average"]
        for each in [rule] if rule is not None else rules_with(given):
            grid = RULE_TABLE[each].grid
            for values in product(*grid.values(), solutions):
                chosen = dict(zip(grid, values, strict=False))
                if "margin" in chosen:
                    chosen["margin"] = float(f"{chosen['margin'] * self.here.mean_square:.2g}")
                yield self.way(each, chosen, values[-1])

    def way(self, rule: str, own: dict[str, Any], solution: str) -> Candidate:
        """A candidate, but for what was stated."""
        chosen = own | {"solution": solution}
        given = self.stated.parameters
        free = {name: value for name, value in chosen.items() if name not in given}
        return Candidate(rule, free, {})

    def possible(
        self, candidates: Iterator[Candidate], refused: list[ParameterError]
    ) -> Iterator[Candidate]:
        """The candidates that go together with what was stated."""
        for each in candidates:
            try:
                each.training(self.stated, self.training)
            except ParameterError as error:
                refused.append(error)
            else:
                yield each

    def variants(self, found: list[Candidate], text: bool) -> Iterator[Candidate]:
        """Candidates with other steps of the bias, and texts that are weighed otherwise."""
        given, step = self.training.parameters, self.here.step
        moves = given["fit_intercept"] and given["intercept_step"] is None
        steps = [{"intercept_step": step * each} for each in BIAS_STEPS]
        readings = [
            {name: value for name, value in choice if value is not None}
            for choice in product(
                [("counts", each) for each in self.open("counts", text, COUNTS, "binary")],
                [("tfidf", each) for each in self.open("tfidf", text, (False,), None)],
            )
        ]
        others: list[tuple[Any, Any]] = [(bias, {}) for bias in steps if moves]
        for each, (bias, reading) in product(found, [*(({}, one) for one in readings), *others]):
            yield Candidate(each.rule, {**each.parameters, **bias}, reading)

    def open(self, name: str, text: bool, values: tuple[Any, ...], usual: Any) -> list[Any]:
        """What to try of an option of texts: None is the usual."""
        if not text or name in self.stated.reading:
            return [None]
        return [None, *(value for value in values if value != usual)]

    def halved(self, candidates: list[Candidate]) -> list[Candidate]:
        """The candidates that are left at last, the best first; the first of all always is."""
        self.tried.update(map(repr, candidates))
        sizes = [len(candidates)]
        for _ in RUNGS[1:]:
            sizes.append(min(sizes[-1], max(FINALISTS, ceil(sizes[-1] / 2))))
        done, ranked = 0, candidates
        for rung, size in zip(RUNGS, sizes, strict=True):
            left = ranked[:size]
            if candidates[0] not in left:
                left[-1] = candidates[0]
            left = [each for each in candidates if each in left]  # of equals the first is better
            for each in left:
                self.error(each, rung)
                done += 1
                self.listener.tried(done, sum(sizes))
            ranked = sorted(left, key=lambda each: self.error(each, rung))
        return ranked

    def error(self, candidate: Candidate, rung: tuple[int, int]) -> float:
        """The error of a candidate on the rows held out."""
        key = repr((candidate, rung))
        if key not in self.errors:
            material = self.material(candidate.reading)
            pairs = [self.wrong(candidate, rung, material, k) for k in range(len(self.splits))]
            wrong, weight = map(sum, zip(*pairs, strict=True))
            self.errors[key] = wrong / weight if weight else inf
        return self.errors[key]

    def wrong(
        self, candidate: Candidate, rung: tuple[int, int], material: Material, split: int
    ) -> tuple[float, float]:
        """What the wrong ones of the rows held out weigh, and all of them."""
        training = candidate.training(self.stated, self.training)
        stated, parameters = training.parameters["intercept_step"], training.parameters
        training.step = material.step if stated is None else float(stated)
        batch, given, test = self.part(material, rung, split)
        if candidate.parameters.get("class_weight") == "balanced":
            weights = row_weights(given.codes, given.weights, material.of_class)
            given = given._replace(weights=weights)
        learner = learner_of(material.classes, batch, training)
        part = learner.part(given)
        epochs, seed = ceil(parameters["max_iter"] / rung[1]), parameters["random_state"]
        run = learner.run(lambda: [part], epochs, order=parameters["order"], seed=seed)
        learner.states = run.train().outcomes
        scores, all_rows = learner.scores(test, given.width), material.given
        held = self.splits[split][: self.held]
        weights = np.ones(len(held)) if all_rows.weights is None else all_rows.weights[held]
        if not np.isfinite(scores).all():
            return inf, 1.0
        wrong = learner.choose(scores) != all_rows.codes[held]
        share = wrong if wrong.ndim == 1 else wrong.mean(axis=1)  # of the labels
        return float(weights @ share), float(weights.sum())

    def part(self, material: Material, rung: tuple[int, int], split: int) -> Part:
        """The rows of a rung, which are kept until another begins."""
        if material.rung != rung:
            material.rung, material.parts = rung, {}
        if split not in material.parts:
            held, rest = np.split(self.splits[split], [self.held])
            some = np.sort(rest[: max(len(rest) // rung[0], min(FEW, len(rest)))])
            material.parts[split] = material.part(some, held)
        return material.parts[split]


def rules_with(parameters: Mapping[str, Any]) -> list[str]:
    """The rules to try that have some parameters."""
    having = [
        rule for rule, entry in RULE_TABLE.items() if parameters.keys() <= entry.parameters.keys()
    ]
    return [rule for rule in having if RULE_TABLE[rule].tuned] or having


def usual_way(stated: Stated) -> tuple[str, dict[str, Any]]:
    """How to learn without tuning: by the first rule that has what was stated."""
    rules, rule = rules_with(stated.parameters), stated.rule
    if rule is None and rules and "perceptron" not in rules:
        rule = rules[0]
    return how_to_learn(rule, **stated.parameters)


def unique(candidates: Any) -> Iterator[Candidate]:
    """Candidates but for those that came before."""
    return iter({repr(each): each for each in candidates}.values())


def tune(
    reader: Reader, again: Callable[..., Reader], training: FileTraining, stated: Stated
) -> Reader:
    """Choose how to learn from a file, and let the training be so; the reader to learn with.

    Parameters
    ----------
    reader
        Of the file.
    again
        Gives another reader of it, with other options.
    training
        What it would be without tuning; it gets the rule, the parameters and the facts.
    stated
        What stays.
    """
    refuse_what_cannot_be_tuned(reader, training)
    training.settle_margin(reader)
    training.settle_holdout()
    weights = {"class_weight": stated.parameters.get("class_weight")}  # those of errors
    coding = replace(training, parameters=training.parameters | weights)
    hear = told(Listener(), keeps=True)  # counts all that is kept together
    readers, kept = {"{}": reader}, dict[str, Material]()

    def material(reading: Mapping[str, Any]) -> Material:
        key = repr(reading)
        if key not in kept:
            if reader.source.start is not None:  # another reader begins where this one did
                reader.source.file.seek(reader.source.start)
            other = readers.setdefault(key, reader if not reading else again(**reading))
            other.hold_out(training.split)
            try:
                whole = read_again_if_need_be(other, lambda: read_whole(other, hear))
            except OutgrownError:
                raise too_large(reader) from None
            kept[key] = material_of(whole.batch, coding, usual_bias_step(other.mean_square()))
        return kept[key]

    found = tune_on(material, training, stated, bool(reader.parser.recipe.text))
    return readers[repr(found.reading)]


def tune_on(
    material: Callable[[Mapping[str, Any]], Material],
    training: FileTraining,
    stated: Stated,
    text: bool = False,
) -> Candidate:
    """Choose how to learn from rows that can be had, and let a training be so."""
    replace(training).settle_in_memory()  # which refuses what does not go together
    found, facts = Tuning(material, training, stated).best(text)
    given = {**stated.parameters, **found.parameters}
    training.rule, training.parameters = how_to_learn(found.rule, **given)
    training.facts = training.facts | {"tuning": facts}
    return found


def material_of(batch: Batch, training: FileTraining, step: float) -> Material:
    """Rows to try candidates on; those that the user holds out are not among them."""
    coder = coder_of([batch], training)
    return Material(batch, coder.rows(batch, 0), coder, step)


def too_large(reader: Reader) -> ParameterError:
    """What to say of rows that do not fit."""
    return ParameterError(
        f"{{tune?}} keeps all rows in memory, and those of {reader.source.name} are too many; tune "
        "on a part of them, and state what was taken.",
        code="tune-too-large",
    )


def refuse_what_cannot_be_tuned(reader: Reader, training: FileTraining) -> None:
    """Refuse what is no open question, or cannot be held in memory and read again."""
    if training.begun is not None or training.initial is not None:
        raise ParameterError(
            "A model that goes on is what it is; leave {tune?} out.", code="tune-resume"
        )
    if training.options.window or training.options.progress_every:
        raise ParameterError(
            "{tune?} is about rows in memory, not a stream; leave one out.", code="tune-stream"
        )
    if not reader.rereadable:
        raise ParameterError(
            f"{reader.source.name} can be read only once, and {{tune?}} needs to read it again; "
            "write it to a file first.",
            code="read-once",
        )
    if reader.size is not None and reader.size > IN_MEMORY:
        raise too_large(reader)
