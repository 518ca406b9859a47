"""Choose rules, their parameters, bins, pairs and the weights of words by cross-validation."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from math import ceil, inf, sqrt
from typing import Any, NamedTuple, cast

import numpy as np

from ..data.metrics import average
from ..data.rows import Array, drop_empty_columns, n_rows, rows_where
from ..data.splits import Split
from ..data.targets import ClassTarget, LabelCounts, NumberTarget
from ..data.weights import balance, row_weights
from ..learners.linear import TrainingRows
from ..parameters import RULE_TABLE, InputError, ParameterError
from ..reading.batches import Batch, join_batches, known_labels, select_rows
from ..reading.reader import Reader, read_whole, read_with_restart
from ..reading.recipe import COUNTS, FeatureRecipe
from ..training.plan import (
    C_BY_SIZE,
    IN_MEMORY_ROWS,
    STEP_SHARE,
    Found,
    Plan,
    Request,
    make_plan,
    rules_with,
    usual_aggressiveness,
    usual_bias_step,
)
from ..training.report import Listener, Note
from ..training.scoring import ABSOLUTE, METRICS, Held
from .evaluate import name_rarer
from .files import IN_MEMORY, OutgrownError, look, refuse_no_rows, watch
from .fold_results import Result
from .job import FileJob, begin_learner, read_once_error

BIAS_STEPS = (1 / 8, 8.0)  # times the usual one
STEPS = (0.1, 10.0)  # times the usual C
READINGS: tuple[Mapping[str, Any], ...] = (
    {"bins": 8},
    {"bins": 32},
    {"pairs": True},
    {"bins": 8, "pairs": True},
)
"""Options that make a linear model of numbers less linear; the simplest first."""
MOST_PRODUCTS = 2_500  # of the features of a row
MOST_VALUES = 5 * 10**7  # of all rows that settings are compared on
MOST_ROWS = 20_000  # more are not compared on
MANY, MOST_FOLDS, FOLDS = 2_000, 10, 5  # fewer rows have more folds
FEWEST_ROWS = 4  # to tune on
POOLED = ("f1", "balanced")  # metrics of all folds together, as a fold may lack a class
FINALISTS = 3
QUICK = ((1, 4, 3), (2, 2, 9))  # rungs: folds, part of the epochs, and part of the settings


class Candidate(NamedTuple):
    """One setting to try.

    Attributes
    ----------
    rule, parameters
        The rule, and the parameters chosen for it.
    relative
        Parameters that are multiplied by the usual ones for the size of the rows.
    reading
        How texts and numbers become features.
    """

    rule: str
    parameters: Mapping[str, Any]
    reading: Mapping[str, Any]
    relative: Mapping[str, float]

    def resolve(self, mean_square: float) -> dict[str, Any]:
        """Return all chosen parameters for rows of a mean squared length."""
        usual = {
            "margin": mean_square or 1.0,
            "C": usual_aggressiveness(mean_square, C_BY_SIZE.get(self.rule, STEP_SHARE)),
            "intercept_step": usual_bias_step(mean_square),
        }
        scaled = {
            name: float(f"{share * usual[name]:.2g}") for name, share in self.relative.items()
        }
        return {**self.parameters, **scaled}


@dataclass
class TuningRows:
    """The rows to compare settings on, read with some options.

    Attributes
    ----------
    given, target
        The rows, and the encoding of their labels.
    request, found
        What the user stated, and what the rows look like.
    mean_square
        Their mean squared length.
    bins
        The number of columns that have bins.
    plans
        The plan of each setting.
    """

    given: TrainingRows
    target: ClassTarget | NumberTarget
    request: Request
    found: Found
    mean_square: float
    bins: int
    plans: dict[str, Plan] = field(default_factory=dict)

    def plan(self, candidate: Candidate) -> Plan:
        """Make the plan of a training with a setting, once; refuse what does not go together."""
        key = repr(candidate)
        if key not in self.plans:
            parameters = candidate.resolve(self.mean_square)
            plan = make_plan(self.request.with_rule(candidate.rule, **parameters), self.found)
            self.plans[key] = plan.complete(self.mean_square)
        return self.plans[key]

    @cached_property
    def class_weights(self) -> Array:
        """The weights of classes that balance the rows to learn from."""
        classes, learnt = self.target.classes, self.given.codes[self.given.row_order]
        return balance(classes, np.bincount(learnt, minlength=len(classes)))

    @property
    def features_per_row(self) -> float:
        """The mean number of features of a row."""
        return len(self.given.rows.values) / max(len(self.given.codes), 1)

    def cross_validate(self, candidate: Candidate, fold: tuple[Array, Array], epochs: int) -> Held:
        """Train on some rows, for a part of the epochs, and predict the others."""
        learnt, held = fold
        plan, given = self.plan(candidate), self.given
        if candidate.parameters.get("class_weight") == "balanced":
            weights = row_weights(given.codes, given.weights, self.class_weights)
            given = given._replace(weights=weights)
        learner = begin_learner(plan, self.target, (given.width, given.rows.values.dtype))
        if len(learner.states) > 1:
            plan.check("problems")
        how = {"order": plan.parameters["order"], "seed": plan.split.seed}
        learner.train(given._replace(row_order=learnt), ceil(plan.max_iter / epochs), **how)
        some = np.zeros(len(given.codes), bool)
        some[held] = True
        scores = learner.scores(rows_where(given.rows, some), given.width)
        weights = None if self.given.weights is None else self.given.weights[some]
        return Held(given.codes[some], scores, learner.choose(scores), weights)


@dataclass
class Tuning:
    """Compares settings on blocks of rows that are held out in turn.

    Of many settings, the worse ones are dropped after one or two folds and few epochs (successive
    halving, Jamieson & Talwalkar 2016); the last ones learn from all folds.

    Attributes
    ----------
    read
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

    read: Callable[[Mapping[str, Any]], TuningRows]
    request: Request
    reading: frozenset[str]
    plan: Plan
    reporter: Listener
    results: dict[str, Result] = field(default_factory=dict, init=False)
    tried: set[str] = field(default_factory=set, init=False)

    def __post_init__(self) -> None:
        self.rows = self.read({})
        rows = np.sort(self.rows.given.row_order)
        refuse_no_rows(len(rows))
        refuse_few_rows(self.rows.given.codes[rows])
        count = min(len(rows), MOST_FOLDS if len(rows) < MANY else FOLDS)
        numbers = self.plan.split.block_folds(self.rows.given.codes, rows, count)
        self.folds = [(rows[numbers != k], rows[numbers == k]) for k in range(count)]
        self.folds = [fold for fold in self.folds if all(map(len, fold))]
        of_numbers = self.plan.target == "numbers"
        self.metric = ABSOLUTE if of_numbers else str(self.plan.parameters["metric"])
        if self.rows.target.label_sets and self.metric in ("log-loss", "balanced"):
            raise ParameterError(
                f"metric={self.metric!r} is for rows of one label each, and these may have "
                'several; use metric="f1".',
                code="labels-option",
            )

    # Settings

    def find_best(self, recipe: FeatureRecipe) -> tuple[Candidate, dict[str, Any]]:
        """Return the best setting, and the facts that a model keeps of the choice."""
        settings = self.list_settings()
        usual = settings[0]
        readings = [usual._replace(reading=each) for each in self.list_readings(recipe)]
        best = self.choose([usual, *readings])
        settings = [each._replace(reading=best.reading) for each in settings[1:]]
        ranked = self.race(remove_repeated([usual, best, *settings]))
        best = self.choose([usual, *readings, *ranked])
        varied = list(self.vary(remove_repeated([best, *ranked])[:FINALISTS], bool(recipe.text)))
        if varied:
            ranked += self.race(remove_repeated([usual, best, *varied]))
        final = remove_repeated([usual, *readings, *ranked])
        return self.choose(final), self.list_facts(final)

    def list_settings(self) -> list[Candidate]:
        """List the default setting, then rules with their parameters and solutions.

        Settings that do not go together with what was stated are left out.
        """
        refused, found = list[ParameterError](), list[Candidate]()
        for each in self.combine_settings():
            try:
                self.rows.plan(each)
                found.append(each)
            except ParameterError as error:
                refused.append(error)
        if not found:
            raise refused[0]
        return remove_repeated(found)

    def combine_settings(self) -> Iterator[Candidate]:
        """Yield the default setting, and rules with all values of their parameters."""
        stated, usual, rule = self.request.parameters, self.plan.parameters, self.plan.rule
        own = {
            name: usual[name]
            for name, each in RULE_TABLE[rule].own.items()
            if each.grid or usual[name] != each.default
        }
        named = ("class_weight", "solution")
        own |= {name: usual[name] for name in named if usual.get(name) is not None}
        by_size = rule in C_BY_SIZE and self.request.rule is None and "C" not in stated
        own = {name: value for name, value in own.items() if name != "C" or not by_size}
        relative = {"C": 1.0} if by_size else {}
        if own.get("margin") == 0:  # as in the grid
            relative["margin"] = own.pop("margin")
        yield self.make_candidate(rule, own, relative)
        for share in STEPS if by_size else ():
            yield self.make_candidate(rule, own, {"C": share})
        solutions = [usual["solution"]] if "solution" in stated else ["last", "average"]
        is_stated = self.request.rule is not None  # pa has another name for numbers
        for each in [rule] if is_stated else rules_with(stated, self.plan.target):
            grid = {**RULE_TABLE[each].grid, "solution": solutions}
            for values in product(*grid.values()):
                chosen, relative = dict(zip(grid, values, strict=True)), {}
                if "margin" in chosen:
                    relative["margin"] = chosen.pop("margin")
                yield self.make_candidate(each, chosen, relative)

    def make_candidate(
        self, rule: str, chosen: dict[str, Any], relative: dict[str, float]
    ) -> Candidate:
        """Make a setting without the parameters that were stated."""
        stated = self.request.parameters
        parameters, scaled = (
            {name: value for name, value in each.items() if name not in stated}
            for each in (chosen, relative)
        )
        return Candidate(rule, parameters, {}, scaled)

    def list_readings(self, recipe: FeatureRecipe) -> list[Mapping[str, Any]]:
        """List the readings with bins and pairs that rows of numbers and words may have."""
        if recipe.text or recipe.cross or recipe.rows not in ("table", "svmlight"):
            return []
        numbers = "number" in dict(recipe.columns or ()).values()  # of a table
        allowed = [
            each
            for each in READINGS
            if not self.reading & each.keys() and (numbers or "bins" not in each)
        ]
        return [each for each in allowed if self.is_affordable(each)]

    def is_affordable(self, reading: Mapping[str, Any]) -> bool:
        """Whether a row has not too many features, by those of the rows read without pairs."""
        base = self.rows
        if base.given.rows.indices is None or "bins" in reading:  # hashed rows leave zeros out
            base = self.read(READINGS[0])
        size = base.features_per_row - (0 if "bins" in reading else base.bins)
        if "pairs" in reading:
            size *= (size + 1) / 2
        return 1 < size <= MOST_PRODUCTS and size * len(self.rows.given.codes) <= MOST_VALUES

    def vary(self, found: list[Candidate], text: bool) -> Iterator[Candidate]:
        """Yield settings with other weights of words, and with other steps of the bias."""
        is_open = self.request.parameters.get("intercept_step") is None
        steps = BIAS_STEPS if self.plan.parameters["fit_intercept"] and is_open else ()
        words = [
            counts | tfidf
            for counts, tfidf in product(
                self.list_values("counts", text, [each for each in COUNTS if each != "binary"]),
                self.list_values("tfidf", text, [False]),
            )
        ]
        for each in found:
            yield from (each._replace(reading={**each.reading, **some}) for some in words if some)
            for step in steps:
                yield each._replace(relative={**each.relative, "intercept_step": step})

    def list_values(self, name: str, text: bool, values: list[Any]) -> list[dict[str, Any]]:
        """List the values to try of an option of texts, as options; {} is the default."""
        is_open = text and name not in self.reading
        return [{}, *({name: value} for value in values if is_open)]

    # Comparing

    def race(self, candidates: list[Candidate]) -> list[Candidate]:
        """Return the settings that were compared on all folds; the first two always are."""
        left, sizes = candidates, [len(candidates)]
        for _, _, part in QUICK:
            sizes.append(min(sizes[-1], max(FINALISTS, ceil(len(candidates) / part))))
        done, total = 0, sum(sizes) + 2 * len(QUICK)
        for (folds, epochs, _), size in zip(QUICK, sizes[1:], strict=True):
            if len(left) > size:
                losses = {}
                for each in left:
                    losses[repr(each)] = self.compare(each, folds, epochs).mean
                    done += 1
                    self.reporter.tried(done, total)
                ranked = sorted(left, key=lambda each: losses[repr(each)])
                left = remove_repeated([*candidates[:2], *ranked[:size]])
        for each in left:
            self.compare(each)
            done += 1
            self.reporter.tried(done, max(total, done))
        self.reporter.tried(total, total)
        return left

    def compare(self, candidate: Candidate, folds: int | None = None, epochs: int = 1) -> Result:
        """Cross-validate a setting, on some or all folds, with all epochs or a part of them."""
        key = repr((candidate, folds, epochs))
        self.tried.add(repr(candidate))
        if key not in self.results:
            rows = self.read(candidate.reading)
            held = [rows.cross_validate(candidate, fold, epochs) for fold in self.folds[:folds]]
            guarded = folds is None and self.plan.target == "classes"
            losses = [self.measure(rows.target, one, guarded) for one in held]
            together = join_held(held)
            classes = np.arange(len(rows.target.classes))
            several = together.codes.ndim == 2
            named = together.chosen.any(0) if several else np.isin(classes, together.chosen)
            own, log_losses, areas = np.array(losses).T
            pooled = None
            if self.metric in POOLED:
                pooled = self.measure(rows.target, together, False)[0]
            self.results[key] = Result(own, log_losses, areas, np.asarray(named), pooled)
        return self.results[key]

    def measure(self, target: Any, held: Held, guarded: bool) -> list[float]:
        """Return the loss of held-out rows, and their log loss and ROC area if these matter."""
        if not np.isfinite(held.scores).all():
            return [inf, 0.0, 0.0]
        if isinstance(target, NumberTarget):
            return [average(target.row_errors(held.scores, held.codes), held.weights), 0.0, 0.0]
        guards = ("log-loss", "auc") if guarded and held.codes.ndim == 1 else ()
        found = [METRICS[name].as_loss(held.measure(name)) for name in (self.metric, *guards)]
        return [*found, *[0.0] * (3 - len(found))]

    def choose(self, candidates: list[Candidate]) -> Candidate:
        """Return the simplest setting whose loss is within one standard error of the least.

        The first one, the default, is the simplest; then those that read the rows as it does,
        with bins, with pairs, and with both. Unless a metric was stated, error and log loss must
        both be within a standard error, the log loss decides between equally simple settings, and
        one that is risky (``Result.is_risky``) is never chosen.
        """
        usual = self.compare(candidates[0])
        guarded = self.plan.target == "classes" and not self.rows.target.label_sets
        stated = "metric" in self.request.parameters or not guarded
        safe = [
            each
            for each in candidates
            if np.isfinite(self.compare(each).mean)
            and (stated or not self.compare(each).is_risky(usual))
        ] or candidates[:1]
        best = min(safe, key=lambda each: self.compare(each).mean)
        least = self.compare(best)
        near = [each for each in safe if not self.compare(each).is_worse(least, not stated)]

        def rank(each: Candidate) -> tuple[bool, int, float]:
            shape = each.reading.get("pairs", 0) * 2 + ("bins" in each.reading)
            result = self.compare(each)
            loss = result.mean if stated else float(result.log_losses.mean())
            return each != candidates[0], shape, loss

        return min(near, key=rank)

    # Facts

    def list_facts(self, final: list[Candidate]) -> dict[str, Any]:
        """Return the facts that a model keeps: the best settings, the chosen one first."""
        chosen, rows = self.choose(final), sum(len(held) for _, held in self.folds)

        def by_chance(error: float) -> float:
            """The binomial error, which folds with equal shares of a rare class do not show."""
            return sqrt(error * (1 - error) / rows) if self.metric == "error" else 0.0

        def describe(each: Candidate) -> dict[str, Any]:
            result, own = self.compare(each), self.read(each.reading)
            mean = METRICS[self.metric].as_loss(result.mean)
            figure = {"value": float(mean), "spread": max(result.spread, by_chance(mean))}
            parameters = each.resolve(own.mean_square)
            return {**figure, "rule": each.rule, **parameters, **each.reading}

        others = sorted(final, key=lambda each: self.compare(each).mean)
        best = remove_repeated([chosen, *others])[: 2 * FINALISTS]
        return {
            "tried": len(self.tried),
            "metric": self.metric,
            **name_rarer(self.metric, self.rows.given.codes, self.rows.target.classes),
            "rows": rows,
            "folds": len(self.folds),
            "usual": describe(final[0]),
            "best": [describe(each) for each in best],
        }

    def list_forgotten(self, candidate: Candidate) -> list[Any]:
        """List the classes of held-out rows that a setting never predicted."""
        codes = self.rows.given.codes[self.rows.given.row_order]
        if codes.ndim == 2 or self.plan.target == "numbers":
            return []
        there = np.isin(np.arange(len(self.rows.target.classes)), codes)
        missing = there & ~self.compare(candidate).predicted
        return list(self.rows.target.classes[missing].tolist())


def join_held(held: list[Held]) -> Held:
    """Join the held-out rows of several folds."""
    codes, scores, chosen = (np.concatenate(each) for each in list(zip(*held, strict=True))[:3])
    weights = [one.weights for one in held if one.weights is not None]
    return Held(codes, scores, chosen, np.concatenate(weights) if weights else None)


def refuse_few_rows(codes: Array) -> None:
    """Refuse rows that are too few to learn from some and to test on others."""
    count = len(codes)
    few, needed = count < FEWEST_ROWS, f"at least {FEWEST_ROWS} rows, and there are {count}"
    if codes.ndim == 1 and codes.dtype.kind != "f":
        few = int(np.count_nonzero(np.bincount(codes) > 1)) < 2
        needed = f"at least two classes with two rows each, and the {count} rows have fewer"
    if few:
        raise InputError(
            f"tune learns from some rows and tests on others, so it needs {needed}; add rows, "
            "or leave tune out.",
            code="tune-few-rows",
        )


def remove_repeated(candidates: list[Candidate]) -> list[Candidate]:
    """Return the different settings, in their order."""
    return list({repr(each): each for each in candidates}.values())


class RowsByReading:
    """Reads the rows of a file with several options; the same rows each time."""

    def __init__(self, reader: Reader, job: FileJob, plan: Plan) -> None:
        self.reader, self.job = reader, job
        self.readers, self.kept = {"{}": reader}, dict[str, TuningRows]()
        weights = {"class_weight": job.request.parameters.get("class_weight")}  # those of errors
        given = weights if "class_weight" in plan.parameters else {}
        self.plan = replace(plan, parameters={**plan.parameters, **given})
        self.sample = Split()  # the rows to leave out
        self.report = watch(Listener(), keeps=True)  # counts the bytes of all rows that are kept

    def __call__(self, options: Mapping[str, Any]) -> TuningRows:
        """Return the rows as they are read with some options."""
        key = repr(options)
        if key not in self.kept:
            start = self.reader.source.start
            if start is not None:  # another reader begins where this one did
                self.reader.source.file.seek(start)
            if key not in self.readers:
                self.readers[key] = self.reader.open_again(**options)
            reader = self.readers[key]
            reader.hold_out(self.plan.split)
            try:
                self.kept[key] = read_with_restart(reader, lambda: self.read(reader))
            except OutgrownError:
                raise too_large(self.reader) from None
        return self.kept[key]

    def read(self, reader: Reader) -> TuningRows:
        """Read the rows to learn from, or a sample of them if they are many."""
        if not self.kept:
            batches = [read_whole(reader, self.report)]
            share = 1 - MOST_ROWS / n_rows(batches[0].rows)
            self.sample = Split(max(share, 0.0), self.plan.split.seed)
        parts, row = list[Batch](), 0
        for batch in reader if self.kept else batches:
            count = n_rows(batch.rows)
            left_out = self.plan.split.held_out(row, count) | self.sample.held_out(row, count)
            parts.append(select_rows(batch, ~left_out) if left_out.any() else batch)
            if self.kept:
                self.report(parts[-1])
            row += count
        return self.encode(reader, join_batches(parts))

    def encode(self, reader: Reader, batch: Batch) -> TuningRows:
        """Encode the labels of rows, and drop empty columns."""
        labels = known_labels(batch)
        every, target = np.ones(n_rows(batch.rows), bool), cast(Any, None)
        if self.plan.target == "numbers":
            target = NumberTarget.measure(labels, every)
        else:
            counts = LabelCounts().add(labels, every)
            target = counts.target(self.plan.parameters, self.plan.request.classes, None)
        given = TrainingRows.encode(batch, target)
        if given.rows.indices is not None:
            rows, _, width = drop_empty_columns(given.rows, given.rows, given.width)
            given = given._replace(rows=rows, width=width)
        found = replace(IN_MEMORY_ROWS, numbers=reader.has_numbers)
        bins = reader.recipe.edges
        mean_square = reader.mean_square()
        return TuningRows(given, target, self.job.request, found, mean_square, len(bins or ()))


def tune(reader: Reader, job: FileJob, reading: frozenset[str]) -> tuple[Reader, FileJob]:
    """Choose how to learn from a file.

    Parameters
    ----------
    reader
        The reader of the file.
    job
        The training without tuning.
    reading
        The options of reading that were stated.

    Returns
    -------
    reader, job
        The reader and the job of the chosen setting; the facts of the job list what was tried.
    """
    refuse_untunable(reader, job)
    request = job.request
    found = replace(look(reader, request), fits=True, one_pass_statistics=True)
    plan = make_plan(request, found)
    rows = RowsByReading(reader, job, plan)
    plan = plan.complete(rows({}).mean_square)
    tuning = Tuning(rows, request, reading, plan, job.reporter)
    best, facts = tuning.find_best(reader.recipe)
    forgotten = tuning.list_forgotten(best)
    if forgotten:
        classes = ", ".join(map(str, forgotten[:3])) + ", …" * (len(forgotten) > 3)
        sentence = f"The model never predicts {classes} on held-out rows: the class is rare or hard"
        others = [name for name in ("balanced", "f1", "average-precision") if name != tuning.metric]
        remedy = f'Try metric {" or ".join(others)}, or class_weight="balanced"'
        job.reporter.note(Note(f"{sentence}. {remedy}.", "never-predicted"))
    parameters = best.resolve(rows(best.reading).mean_square)
    return rows.readers[repr(best.reading)], replace(
        job,
        request=request.with_rule(best.rule, **parameters),
        facts={**job.facts, "tuning": facts},
    )


def too_large(reader: Reader) -> ParameterError:
    """Return the error for rows that do not fit in memory."""
    return ParameterError(
        f"tune keeps all rows in memory, and those of {reader.source.name} are too many; tune "
        "on a part of them, and state the settings that it chooses.",
        code="tune-too-large",
    )


def refuse_untunable(reader: Reader, job: FileJob) -> None:
    """Refuse to tune a model that continues, a stream, and a file that can be read only once."""
    if job.begun is not None or job.initial is not None:
        raise ParameterError(
            "A model that continues keeps its settings; leave tune out.", code="tune-resume"
        )
    if job.request.window or job.request.progress_every or job.request.online:
        raise ParameterError(
            "tune needs rows in memory, not a stream; leave one out.", code="tune-stream"
        )
    if not reader.rereadable:
        raise read_once_error(reader.source.name, "tune")
    if reader.size is not None and reader.size > IN_MEMORY:
        raise too_large(reader)
