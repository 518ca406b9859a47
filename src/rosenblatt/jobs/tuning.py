"""Choose rules, their parameters, the bias step and the weights of words on held-out rows."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from math import ceil, inf
from typing import Any, NamedTuple

import numpy as np

from ..data.rows import Array, drop_empty_columns, n_rows, rows_where, to_matrix, view_rows
from ..data.targets import ClassTarget, NumberTarget
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
Rung = tuple[int, int]
"""Learn from one of N rows, in one of N epochs."""
RUNGS: tuple[Rung, ...] = ((8, 4), (4, 4), (2, 2), (1, 1))
FINALISTS = 3
HELD_OUT = 0.2
FEW = 1_000  # rows that a rung learns from at least, if there are as many
ENOUGH, MOST_SPLITS = 20_000, 5  # fewer rows are split several times


class Candidate(NamedTuple):
    """One setting to try: a rule, the parameters chosen for it, and how texts are read."""

    rule: str
    parameters: Mapping[str, Any]
    reading: Mapping[str, Any]

    def plan(self, request: Request, found: Found) -> Plan:
        """Make the plan of a training with this setting; refuse what does not go together."""
        return make_plan(request.with_rule(self.rule, **self.parameters), found)

    def as_dict(self, error: float) -> dict[str, Any]:
        """Return the setting and its error as JSON values."""
        return {"error": error, "rule": self.rule, **self.parameters, **self.reading}


class Part(NamedTuple):
    """Some rows to learn from, with the columns that occur in them, and rows to test with."""

    given: TrainingRows
    test: Rows


@dataclass
class Material:
    """All rows of a file, read with some options."""

    given: TrainingRows
    target: ClassTarget | NumberTarget
    found: Found

    @cached_property
    def matrix(self) -> Any:
        """The rows as an array or a CSR matrix."""
        return to_matrix(self.given.rows, len(self.given.codes), self.given.width)

    @cached_property
    def class_weights(self) -> Array:
        """The weights of classes that balance the rows to learn from."""
        classes, learnt = self.target.classes, self.given.codes[self.given.row_order]
        return balance(classes, np.bincount(learnt, minlength=len(classes)))

    def select(self, some: Array, held: Array) -> Part:
        """Return rows to learn from and rows to test with, without columns that stay at 0."""
        given, width = self.given, self.given.width
        rows, test = view_rows(self.matrix[some]), view_rows(self.matrix[held])
        if rows.indices is not None:
            rows, test, width = drop_empty_columns(rows, test, width)
        weights = None if given.weights is None else given.weights[some]
        return Part(TrainingRows.of(rows, given.codes[some], weights, width), test)

    @property
    def mean_square(self) -> float:
        """The mean squared length of the rows to learn from."""
        learnt = np.zeros(n_rows(self.given.rows), bool)
        learnt[self.given.row_order] = True
        values = rows_where(self.given.rows, learnt).values.astype(np.float64)
        return float(values @ values) / max(len(self.given.row_order), 1)


@dataclass
class Tuning:
    """Compares settings on held-out rows by successive halving (Jamieson & Talwalkar 2016).

    Attributes
    ----------
    material
        Returns the rows as they are read with some options.
    request
        What the user stated, which is not changed.
    reading
        The options of reading that were stated.
    plan
        The plan of a training without tuning.
    reporter
        Receives how many settings were tried.
    """

    material: Callable[[Mapping[str, Any]], Material]
    request: Request
    reading: frozenset[str]
    plan: Plan
    reporter: Listener
    errors: dict[str, float] = field(default_factory=dict, init=False)
    tried: set[str] = field(default_factory=set, init=False)
    rung: Rung = field(default=(0, 0), init=False)
    parts: dict[str, Part] = field(default_factory=dict, init=False)

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
                "{tune?} holds rows out, so it needs at least two.", code="tune-one-row"
            )

    def find_best(self, text: bool) -> tuple[Candidate, dict[str, Any]]:
        """Return the best setting, and the facts that a model keeps of the choice."""
        first = self.list_settings()
        usual, ranked = first[0], self.halve(first)
        second = list(self.vary(ranked[:FINALISTS], text))
        if second != ranked[:FINALISTS]:
            ranked = self.halve(remove_repeated([usual, *second]))
        last = [each.as_dict(self.error(each, RUNGS[-1])) for each in ranked]
        facts = {
            "tried": len(self.tried),
            "held_out": self.held,
            "splits": len(self.splits),
            "usual": usual.as_dict(self.error(usual, RUNGS[-1])),
            "best": last[: 2 * FINALISTS],
        }
        return ranked[0], facts

    def list_settings(self) -> list[Candidate]:
        """List the default setting, then rules with their parameters and solutions.

        Settings that do not go together with what was stated are left out.
        """
        refused, found = list[ParameterError](), list[Candidate]()
        for each in self.combine_settings():
            try:
                each.plan(self.request, self.here.found)
                found.append(each)
            except ParameterError as error:
                refused.append(error)
        if not found:
            raise refused[0]
        return remove_repeated(found)

    def combine_settings(self) -> Iterator[Candidate]:
        """Yield rules with all values of their parameters and solutions."""
        stated, usual = self.request.parameters, self.plan.parameters
        solution = usual["solution"]
        own = {
            name: usual[name]
            for name, each in RULE_TABLE[self.plan.rule].own.items()
            if each.grid or usual[name] != each.default
        }
        if usual.get("class_weight") is not None:
            own["class_weight"] = usual["class_weight"]
        yield self.make_candidate(self.plan.rule, own | {"solution": solution})
        solutions = [solution] if "solution" in stated else ["last", "average"]
        rule, numbers = self.request.rule, self.plan.target == "numbers"
        rule = self.plan.rule if rule is not None else None  # pa has another name for numbers
        for each in [rule] if rule is not None else rules_with(stated, numbers):
            grid = {**RULE_TABLE[each].grid, "solution": solutions}
            for values in product(*grid.values()):
                chosen = dict(zip(grid, values, strict=True))
                if "margin" in chosen:
                    chosen["margin"] = float(f"{chosen['margin'] * self.here.mean_square:.2g}")
                yield self.make_candidate(each, chosen)

    def make_candidate(self, rule: str, chosen: dict[str, Any]) -> Candidate:
        """Make a setting without the parameters that were stated."""
        stated = self.request.parameters
        return Candidate(rule, {k: value for k, value in chosen.items() if k not in stated}, {})

    def vary(self, found: list[Candidate], text: bool) -> Iterator[Candidate]:
        """Yield settings with other weights of words, and with other steps of the bias."""
        step = usual_bias_step(self.here.found.mean_square or 0.0)
        is_open = self.request.parameters.get("intercept_step") is None
        steps = BIAS_STEPS if self.plan.parameters["fit_intercept"] and is_open else ()
        changes: list[tuple[dict[str, Any], dict[str, Any]]] = [
            ({}, counts | tfidf)
            for counts, tfidf in product(
                self.list_values("counts", text, [each for each in COUNTS if each != "binary"]),
                self.list_values("tfidf", text, [False]),
            )
        ]
        changes += [({"intercept_step": step * each}, {}) for each in steps]
        for each, (bias, reading) in product(found, changes):
            yield Candidate(each.rule, {**each.parameters, **bias}, reading)

    def list_values(self, name: str, text: bool, values: list[Any]) -> list[dict[str, Any]]:
        """List the values to try of an option of texts, as options; {} is the default."""
        is_open = text and name not in self.reading
        return [{}, *({name: value} for value in values if is_open)]

    def halve(self, candidates: list[Candidate]) -> list[Candidate]:
        """Return the settings of the last rung, the best first; the first one is always kept."""
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

    def error(self, candidate: Candidate, rung: Rung) -> float:
        """Return the error of a setting on the held-out rows of all splits."""
        key = repr((candidate, rung))
        if key not in self.errors:
            pairs = [self.test(candidate, rung, split) for split in range(len(self.splits))]
            wrong, weight = map(sum, zip(*pairs, strict=True))
            self.errors[key] = wrong / weight if weight else inf
        return self.errors[key]

    def test(self, candidate: Candidate, rung: Rung, split: int) -> tuple[float, float]:
        """Return the weight of the held-out rows that are wrong, and of all of them."""
        material = self.material(candidate.reading)
        plan = candidate.plan(self.request, material.found)
        given, test = self.select(material, candidate.reading, rung, split)
        if candidate.parameters.get("class_weight") == "balanced":
            weights = row_weights(given.codes, given.weights, material.class_weights)
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
        how = {"order": plan.parameters["order"], "seed": plan.split.seed}
        learner.train(given, ceil(plan.max_iter / rung[1]), **how)
        scores, every = learner.scores(test, given.width), material.given
        if not np.isfinite(scores).all():
            return inf, 1.0
        held = self.splits[split][: self.held]
        weights = np.ones(len(held)) if every.weights is None else every.weights[held]
        errors = material.target.row_errors(scores, every.codes[held], learner.ties)
        return float(weights @ errors), float(weights.sum())

    def select(
        self, material: Material, reading: Mapping[str, Any], rung: Rung, split: int
    ) -> Part:
        """Return the rows of a split for a rung; they are kept until the next rung."""
        if self.rung != rung:
            self.rung, self.parts = rung, {}
        key = repr((reading, split))
        if key not in self.parts:
            held, rest = np.split(self.splits[split], [self.held])
            some = np.sort(rest[: max(len(rest) // rung[0], min(FEW, len(rest)))])
            self.parts[key] = material.select(some, held)
        return self.parts[key]


def remove_repeated(candidates: list[Candidate]) -> list[Candidate]:
    """Return the different settings, in their order."""
    return list({repr(each): each for each in candidates}.values())


def tune(
    reader: Reader, again: Callable[..., Reader], job: FileJob, reading: frozenset[str]
) -> tuple[Reader, FileJob]:
    """Choose how to learn from a file.

    Parameters
    ----------
    reader
        The reader of the file.
    again
        Returns another reader of the file, with other options.
    job
        The training without tuning.
    reading
        The options of reading that were stated.

    Returns
    -------
    reader, job
        The reader and the job of the best setting; the facts of the job list what was tried.
    """
    refuse_untunable(reader, job)
    request, found = job.request, look(reader)
    plan = make_plan(request, replace(found, fits=True, one_pass_statistics=True))
    weights = {"class_weight": request.parameters.get("class_weight")}  # those of errors
    given = weights if plan.target == "classes" else {}
    coding = replace(plan, parameters={**plan.parameters, **given})
    add = watch(Listener(), keeps=True)  # counts the bytes of all rows that are kept
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
            found = replace(
                IN_MEMORY_ROWS, mean_square=other.mean_square(), numbers=other.has_numbers
            )
            kept[key] = Material(rows.encode(whole.batch, 0), rows.target, found)
        return kept[key]

    if plan.unresolved:
        measured = replace(found, fits=True, mean_square=material({}).found.mean_square)
        plan = make_plan(request, replace(measured, one_pass_statistics=True))
    tuning = Tuning(material, request, reading, plan, job.reporter)
    best, facts = tuning.find_best(bool(reader.parser.recipe.text))
    request = request.with_rule(best.rule, **best.parameters)
    return readers[repr(best.reading)], replace(
        job, request=request, facts={**job.facts, "tuning": facts}
    )


def too_large(reader: Reader) -> ParameterError:
    """Return the error for rows that do not fit in memory."""
    return ParameterError(
        f"{{tune?}} keeps all rows in memory, and those of {reader.source.name} are too many; tune "
        "on a part of them, and state the settings that it chooses.",
        code="tune-too-large",
    )


def refuse_untunable(reader: Reader, job: FileJob) -> None:
    """Refuse to tune a model that continues, a stream, and a file that can be read only once."""
    if job.begun is not None or job.initial is not None:
        raise ParameterError(
            "A model that continues keeps its settings; leave {tune?} out.", code="tune-resume"
        )
    if job.request.window or job.request.progress_every or job.request.online:
        raise ParameterError(
            "{tune?} needs rows in memory, not a stream; leave one out.", code="tune-stream"
        )
    if not reader.rereadable:
        raise ParameterError(
            f"{reader.source.name} can be read only once, and {{tune?}} needs to read it again; "
            "write it to a file first.",
            code="read-once",
        )
    if reader.size is not None and reader.size > IN_MEMORY:
        raise too_large(reader)
