"""Choosing by the machine: rules, their parameters, the bias and what words weigh."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from math import ceil, inf
from typing import Any, NamedTuple

import numpy as np

from ..data.rows import Array, drop_empty_columns, n_rows, rows_where, to_matrix, view_rows
from ..data.targets import ClassTarget
from ..data.weights import balance, row_weights
from ..kernels.algebra import Rows
from ..learners.linear import LinearLearner, TrainingRows
from ..parameters import RULE_TABLE, ParameterError
from ..reading.reader import Reader, read_whole, read_with_restart
from ..reading.recipe import COUNTS
from ..training.plan import (
    IN_MEMORY_ROWS,
    Found,
    Plan,
    Request,
    make_plan,
    rules_with,
    usual_bias_step,
)
from ..training.report import Listener
from .files import IN_MEMORY, FileRows, OutgrownError, look, refuse_no_rows, watch
from .job import FileJob

BIAS_STEPS = (1 / 8, 8.0)  # times the usual one
RUNGS = ((8, 4), (4, 4), (2, 2), (1, 1))  # one of so many rows, in one of so many epochs
FINALISTS = 3
HELD_OUT = 0.2
FEW = 1_000  # rows that a rung learns from at least, where there are so many
ENOUGH, MOST_SPLITS = 20_000, 5  # fewer rows are split several times


class Candidate(NamedTuple):
    """One way to learn: a rule, the parameters chosen for it, and how texts are read."""

    rule: str
    parameters: Mapping[str, Any]
    reading: Mapping[str, Any]

    def plan(self, request: Request, found: Found) -> Plan:
        """The plan of a training in this way; what does not go together is refused."""
        return make_plan(request.with_rule(self.rule, **self.parameters), found)

    def as_dict(self, error: float) -> dict[str, Any]:
        """The candidate and its error as JSON values."""
        return {"error": error, "rule": self.rule, **self.parameters, **self.reading}


class Part(NamedTuple):
    """Some rows to learn from, of the columns that occur in them, and rows to test with."""

    given: TrainingRows
    test: Rows


@dataclass
class Material:
    """All rows of a file, read in some way, and those of a rung, by split."""

    given: TrainingRows
    target: ClassTarget
    found: Found
    rung: Any = None
    parts: dict[int, Part] = field(default_factory=dict)

    @cached_property
    def matrix(self) -> Any:
        """The rows as an array or a CSR matrix."""
        return to_matrix(self.given.rows, len(self.given.codes), self.given.width)

    @cached_property
    def of_class(self) -> Array:
        """What rows of each class weigh where all classes weigh the same."""
        classes = self.target.classes
        learnt = self.given.codes[self.given.row_order]
        return balance(classes, np.bincount(learnt, minlength=len(classes)))

    def part(self, some: Array, held: Array) -> Part:
        """Rows to learn from and to test with; weights of other columns would stay 0."""
        given, width = self.given, self.given.width
        rows, test = view_rows(self.matrix[some]), view_rows(self.matrix[held])
        if rows.indices is not None:
            rows, test, width = drop_empty_columns(rows, test, width)
        weights = None if given.weights is None else given.weights[some]
        learnt = TrainingRows.of(rows, given.codes[some], weights, width)
        return Part(learnt, test)

    @property
    def mean_square(self) -> float:
        """The mean squared length of the rows to learn from."""
        learnt = np.zeros(n_rows(self.given.rows), bool)
        learnt[self.given.row_order] = True
        values = rows_where(self.given.rows, learnt).values.astype(np.float64)
        return float(values @ values) / max(len(self.given.row_order), 1)


@dataclass
class Tuning:
    """Candidates compared on rows held out, by successive halving (Jamieson & Talwalkar 2016).

    Attributes
    ----------
    material
        Gives the rows as they are read with some options.
    request
        What the user stated, which stays.
    reading
        The options of reading that were stated.
    plan
        What a training without tuning would be.
    reporter
        Receives how many candidates were tried.
    """

    material: Callable[[Mapping[str, Any]], Material]
    request: Request
    reading: frozenset[str]
    plan: Plan
    reporter: Listener
    errors: dict[str, float] = field(default_factory=dict, init=False)
    tried: set[str] = field(default_factory=set, init=False)

    def __post_init__(self) -> None:
        self.here = self.material({})
        counting = self.here.given.row_order
        refuse_no_rows(len(counting))
        self.held = ceil(HELD_OUT * len(counting))
        splits = range(min(MOST_SPLITS, max(1, ENOUGH // len(counting))))
        seed = self.plan.split.seed
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
        last = [each.as_dict(self.error(each, RUNGS[-1])) for each in ranked]
        facts = {
            "tried": len(self.tried),
            "held_out": self.held,
            "splits": len(self.splits),
            "usual": usual.as_dict(self.error(usual, RUNGS[-1])),
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
        rule, given, as_usual = self.request.rule, self.request.parameters, self.plan.parameters
        usual, solution = self.plan.rule, as_usual["solution"]
        own = {
            name: as_usual[name]
            for name, each in RULE_TABLE[usual].own.items()
            if each.grid or as_usual[name] != each.default
        }
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
        stated = self.request.parameters
        free = {name: value for name, value in chosen.items() if name not in stated}
        return Candidate(rule, free, {})

    def possible(
        self, candidates: Iterator[Candidate], refused: list[ParameterError]
    ) -> Iterator[Candidate]:
        """The candidates that go together with what was stated."""
        for each in candidates:
            try:
                each.plan(self.request, IN_MEMORY_ROWS)
            except ParameterError as error:
                refused.append(error)
            else:
                yield each

    def variants(self, found: list[Candidate], text: bool) -> Iterator[Candidate]:
        """Candidates with other steps of the bias, and texts that are weighed otherwise."""
        step = usual_bias_step(self.here.found.mean_square or 0.0)
        stated = self.request.parameters
        moves = self.plan.parameters["fit_intercept"] and stated.get("intercept_step") is None
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
        if not text or name in self.reading:
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
                self.reporter.tried(done, sum(sizes))
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
        plan = candidate.plan(self.request, material.found)
        given, test = self.part(material, rung, split)
        if candidate.parameters.get("class_weight") == "balanced":
            weights = row_weights(given.codes, given.weights, material.of_class)
            given = given._replace(weights=weights)
        learner = LinearLearner.begin(
            plan.parameters,
            material.target.classes,
            (given.width, given.rows.values.dtype),
            rule=plan.choose_rule(given.width, len(material.target.classes)),
            multilabel=material.target.label_sets,
        )
        if len(learner.states) > 1:
            plan.check("problems")
        part, epochs = learner.part(given), ceil(plan.max_iter / rung[1])
        how = {"order": plan.parameters["order"], "seed": plan.split.seed}
        learner.states = learner.run(lambda: [part], epochs, **how).train().outcomes
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


def unique(candidates: Any) -> Iterator[Candidate]:
    """Candidates but for those that came before."""
    return iter({repr(each): each for each in candidates}.values())


def tune(
    reader: Reader, again: Callable[..., Reader], job: FileJob, reading: frozenset[str]
) -> tuple[Reader, FileJob]:
    """Choose how to learn from a file.

    Parameters
    ----------
    reader
        Of the file.
    again
        Gives another reader of it, with other options.
    job
        The training without tuning.
    reading
        The options of reading that were stated.

    Returns
    -------
    reader, job
        To learn with; the request states what was chosen, and the facts say what was tried.
    """
    refuse_what_cannot_be_tuned(reader, job)
    request, found = job.request, look(reader)
    plan = make_plan(request, replace(found, fits=True, measured_in_passing=True))
    weights = {"class_weight": request.parameters.get("class_weight")}  # those of errors
    coding = replace(plan, parameters={**plan.parameters, **weights})
    add = watch(Listener(), keeps=True)  # counts all that is kept together
    readers, kept = {"{}": reader}, dict[str, Material]()

    def material(options: Mapping[str, Any]) -> Material:
        key = repr(options)
        if key not in kept:
            if reader.source.start is not None:  # another reader begins where this one did
                reader.source.file.seek(reader.source.start)
            other = readers.setdefault(key, reader if not options else again(**options))
            other.hold_out(plan.split)
            try:
                whole = read_with_restart(other, lambda: read_whole(other, add))
            except OutgrownError:
                raise too_large(reader) from None
            rows = FileRows(other, whole, coding, Listener())
            rows.target = rows.find_target(job)
            found = replace(IN_MEMORY_ROWS, mean_square=other.mean_square())
            kept[key] = Material(rows.encode(whole.batch, 0), rows.target, found)
        return kept[key]

    if plan.unresolved:
        measured = replace(found, fits=True, mean_square=material({}).found.mean_square)
        plan = make_plan(request, replace(measured, measured_in_passing=True))
    tuning = Tuning(material, request, reading, plan, job.reporter)
    best, facts = tuning.best(bool(reader.parser.recipe.text))
    request = request.with_rule(best.rule, **best.parameters)
    facts = {**job.facts, "tuning": facts}
    return readers[repr(best.reading)], replace(job, request=request, facts=facts)


def too_large(reader: Reader) -> ParameterError:
    """What to say of rows that do not fit."""
    return ParameterError(
        f"{{tune?}} keeps all rows in memory, and those of {reader.source.name} are too many; tune "
        "on a part of them, and state what was taken.",
        code="tune-too-large",
    )


def refuse_what_cannot_be_tuned(reader: Reader, job: FileJob) -> None:
    """Refuse what is no open question, or cannot be held in memory and read again."""
    if job.begun is not None or job.initial is not None:
        raise ParameterError(
            "A model that goes on is what it is; leave {tune?} out.", code="tune-resume"
        )
    if job.request.window or job.request.progress_every:
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
