"""Choose how columns become features, the rule and its parameters, by folds of training rows.

A plain training compares a few candidates on a sample of its rows, ``tune`` many.
"""

import io
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import product
from math import ceil, inf, sqrt
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np

from ..data import metrics
from ..data.labels import UnknownLabelError
from ..data.rows import Array, drop_empty_columns, n_rows, rows_where
from ..data.splits import Split
from ..data.targets import ClassTarget, LabelCounts, NumberTarget
from ..data.weights import balance, row_weights
from ..learners.linear import TrainingRows
from ..parameters import (
    ANY_RULE,
    FOR_TABLES,
    FOR_TEXTS,
    RULE_TABLE,
    TEXTBOOK,
    InputError,
    ParameterError,
)
from ..reading.batches import Batch, known_labels, select_rows
from ..reading.delimited import TextProfile, row_ends
from ..reading.formats import DELIMITERS
from ..reading.lists import count_places
from ..reading.reader import Reader, read_whole
from ..reading.recipe import FeatureRecipe
from ..reading.sources import PACKINGS, Source
from ..reading.tables import TableSource
from ..storage.model import Model
from ..training.linear_state import refuse_too_many
from ..training.plan import (
    C_BY_SIZE,
    Plan,
    make_plan,
    rules_with,
    usual_aggressiveness,
    usual_bias_step,
)
from ..training.scoring import ABSOLUTE, METRICS, Held
from .evaluate import name_rarer
from .files import look, train
from .job import FileJob, begin_learner
from .stream import train_stream

BINS: tuple[Mapping[str, Any], ...] = ({"bins": 8}, {"bins": 32}, {"bins": 8, "pairs": True})
"""Options that make a linear model of numbers less linear; the simplest first."""
SHORT = ":c1-5"  # n-grams of characters, of names and short texts
LETTERS = 12  # times as many n-grams as of words and pairs of words
SUBLINEAR: Mapping[str, Any] = {"counts": "sublinear"}
NOISY: Mapping[str, Any] = {"rule": FOR_TEXTS["rule"], "r": 10.0, "solution": "last"}
"""The rule of texts with small steps, for topics that overlap."""
TABLE: Mapping[str, Any] = {**FOR_TABLES, "solution": "average"}
WORSE = 3.0  # standard errors; candidates that are worse by more on some folds are dropped
EMBEDDING = 100  # numbers of a list; shorter ones may be measurements, which bins may help
MOST_PRODUCTS = 2_500  # of the features of a row
FEWEST_ROWS = 4  # to tune on
MOST_KEPT = 1 << 26  # bytes of a file whose decoded cells are kept for all candidates
QUICK_FEWEST_ROWS = 200  # fewer take the fixed default
FINALISTS = 3
MANY, MOST_FOLDS = 2_000, 10  # fewer rows have twice as many folds
BIAS_STEPS = (1 / 8, 8.0)  # times the usual one
STEPS = (0.1, 10.0)  # times the usual C
NEUTRAL = ANY_RULE.keys() - {"solution", "order", "multi_class", "intercept_step"}
"""Parameters that may be stated and leave the rule open."""


class Budget(NamedTuple):
    """How much is compared: folds, rows, bytes of text or a share of them, and feature values.

    ``trained`` is the largest number of feature values of the whole file that products may make:
    they would take far more time and memory than the default.
    """

    folds: int
    rows: int
    text_bytes: int
    text_share: float
    values: float
    trained: float


QUICK = Budget(3, 10_000, 1 << 20, 1 / 8, 1e7, 5e7)
THOROUGH = Budget(5, 20_000, 1 << 26, 1.0, 5e7, inf)


class Candidate(NamedTuple):
    """One way to train.

    Attributes
    ----------
    settings
        The rule and its parameters, by name; none are those of the default.
    reading
        Options of reading.
    """

    settings: Mapping[str, Any] = {}
    reading: Mapping[str, Any] = {}

    @property
    def complexity(self) -> tuple[bool, int]:
        """Its rank by simplicity: the default first, then without bins, with bins, with pairs."""
        shape = self.reading.get("pairs", 0) * 2 + ("bins" in self.reading)
        return self != Candidate(), shape


class Result(NamedTuple):
    """The loss of a candidate on held-out rows.

    Attributes
    ----------
    loss
        By the metric, of all folds together.
    parts
        The loss of each row where the metric is a mean over rows, else that of each fold.
    other
        The share of wrong rows or, of numbers, the root of the mean squared error.
    """

    loss: float
    parts: Array
    other: float

    def is_near(self, best: "Result", errors: float = 1.0) -> bool:
        """Whether the loss is within some standard errors of the least; rows are paired."""
        return self.loss - best.loss <= errors * standard_error(self.parts - best.parts)


def standard_error(parts: Array) -> float:
    """Return the standard error of a mean over rows or folds.

    The training rows of folds overlap, so that their variance is multiplied by 1/k + 1/(k - 1)
    instead of 1/k (Nadeau & Bengio 2003).
    """
    known = parts[np.isfinite(parts)]
    k = len(known)
    overlap = 1 / (k - 1) if 1 < k <= MOST_FOLDS else 0.0
    return float(known.std(ddof=1) * sqrt(1 / k + overlap)) if k > 1 else 0.0


def measure_rows(metric: str, held: Held) -> Array | None:
    """Return the loss of each row; None if the metric is no mean over rows."""
    if metric == "error":
        wrong = held.chosen != held.codes
        return np.asarray(wrong if wrong.ndim == 1 else wrong.any(axis=1), float)
    if metric == "rank-error":
        return np.asarray(np.abs(held.chosen - held.codes), float)
    if metric == "log-loss":
        chances = held.probabilities[np.arange(len(held.codes)), held.codes]
        return np.asarray(-np.log(np.maximum(chances, metrics.LEAST)))
    return None


def measure(metric: str, target: Any, held: list[Held]) -> Result:
    """Return the result of the held-out rows of some folds."""
    codes, scores, chosen = (np.concatenate(each) for each in list(zip(*held, strict=True))[:3])
    given = [one.weights for one in held if one.weights is not None]
    rows = Held(codes, scores, chosen, np.concatenate(given) if given else None)
    if not np.isfinite(scores).all():
        return Result(inf, np.full(len(held), inf), inf)
    if isinstance(target, NumberTarget):
        errors = target.row_errors(scores, codes)
        other = sqrt(metrics.average(errors**2, rows.weights))
        return Result(metrics.average(errors, rows.weights), errors, other)
    other, parts = rows.measure("error"), measure_rows(metric, rows)
    if parts is not None:
        return Result(metrics.average(parts, rows.weights), parts, other)
    as_loss = METRICS[metric].as_loss
    parts = np.array([as_loss(one.measure(metric)) for one in held])
    loss = float(as_loss(rows.measure(metric)))
    return Result(inf if np.isnan(loss) else loss, parts, other)


class Sample(NamedTuple):
    """Rows to compare candidates on, of how many, their mean squared length, and what read them.

    ``whole`` has all rows of the file as they were read, if all are compared.
    """

    reader: Reader
    given: TrainingRows
    target: ClassTarget | NumberTarget
    mean_square: float
    rows: int
    whole: Batch | None

    def cross_validate(self, plan: Plan, learnt: Array, held: Array) -> Held:
        """Train on some rows, and predict the others."""
        given = self.given
        if plan.parameters.get("class_weight") and "class_weight" not in plan.request.parameters:
            classes = self.target.classes  # of texts, with a margin
            balanced = balance(classes, np.bincount(given.codes, minlength=len(classes)))
            given = given._replace(weights=row_weights(given.codes, given.weights, balanced))
        learner = begin_learner(plan, self.target, (given.width, given.rows.values.dtype))
        if len(learner.states) > 1:
            plan.check("problems")
        learner.train(given._replace(row_order=learnt), plan.split.seed)
        some = np.zeros(len(given.codes), bool)
        some[held] = True
        scores = learner.scores(rows_where(given.rows, some), given.width)
        weights = None if self.given.weights is None else self.given.weights[some]
        return Held(given.codes[some], scores, learner.choose(scores), weights)


class Choice:
    """Compares candidates on blocks of rows that are held out in turn.

    Parameters
    ----------
    reader, job
        The reader of the file, and the training, with its plan.
    stated
        The options of reading that the user stated.
    budget
        How much is compared.
    """

    def __init__(
        self, reader: Reader, job: FileJob, stated: frozenset[str], budget: Budget
    ) -> None:
        self.reader, self.job, self.stated, self.budget = reader, job, stated, budget
        self.plan, self.request = cast(Plan, job.plan), job.request
        self.found = look(reader)
        self.part: Source | None
        self.part, self.file_rows = take_part(reader, self.plan.split, budget) or (None, 0)
        self.split = self.plan.split if self.part is None else Split()
        self.samples: dict[str, Sample] = {}
        self.held: dict[str, list[Held]] = {}
        self.results: dict[tuple[str, int], Result] = {}
        self.expected = 0

    def begin(self) -> bool:
        """Divide the rows into folds; return whether there are enough for a plain training."""
        try:
            self.base = self.read({})
        except InputError:  # the whole file has the right number of the line
            if self.part is None:
                raise
            self.part, self.split = None, self.plan.split
            return self.begin()
        except UnknownLabelError as error:  # the training tells whether other rows have another
            if self.budget is QUICK:
                return False
            raise InputError(
                f"tune compares settings on some of the rows, but these are too few: {error}",
                code="tune-few-rows",
            ) from None
        codes, sets = self.base.given.codes, self.base.target.label_sets
        usual = {"numbers": ABSOLUTE, "ranks": "rank-error"}.get(self.plan.target, "log-loss")
        metric = self.request.parameters.get("metric", "error" if sets else usual)
        self.metric = ABSOLUTE if self.plan.target == "numbers" else str(metric)
        if sets and self.metric in ("log-loss", "balanced"):
            raise ParameterError(
                f"metric={metric!r} is for rows of one label each, but these may have several; "
                'use metric="f1".',
                code="labels-option",
            )
        rows = np.sort(self.base.given.row_order)
        known, count = codes[rows], self.budget.folds * (1 + (len(rows) < MANY))
        of_classes = codes.ndim == 1 and codes.dtype.kind != "f"
        few = of_classes and int(np.count_nonzero(np.bincount(known) > 1)) < 2
        if self.budget is not QUICK and (few or len(rows) < FEWEST_ROWS):
            raise InputError(
                f"tune learns from some rows and tests on others, so it needs at least "
                f"{FEWEST_ROWS} rows, and two classes with two rows each; there are {len(rows)} "
                "rows. Add rows, or leave tune out.",
                code="tune-few-rows",
            )
        numbers = self.plan.split.block_folds(codes, rows, min(count, max(len(rows), 1)))
        folds = [(rows[numbers != k], rows[numbers == k]) for k in range(count)]
        self.rows, self.folds = len(rows), [fold for fold in folds if all(map(len, fold))]
        size = len(self.base.given.rows.values) * max(len(self.base.target.classes) - 1, 1)
        return not few and len(rows) >= QUICK_FEWEST_ROWS and size <= 4 * self.budget.values

    # Reading

    def read(self, reading: Mapping[str, Any]) -> Sample:
        """Return the rows as they are read with some options; few are decoded only once."""
        key = repr(reading)
        if not self.samples:
            large = self.reader.size is None or self.reader.size > MOST_KEPT
            keep = self.part is not None or not large
            self.rows_read = self.reader.keep_cells(self.part) if keep else self.reader
        if key not in self.samples:
            reader = self.rows_read.vary(**reading) if reading else self.rows_read
            reader.hold_out(self.split)
            self.samples[key] = self.encode(reader)
        return self.samples[key]

    def encode(self, reader: Reader) -> Sample:
        """Read at most as many rows as are compared on; encode labels, drop empty columns."""
        batch = whole = read_whole(reader)
        left_out = self.split.held_out(0, n_rows(batch.rows))
        share = 1 - self.budget.rows / max(int(np.count_nonzero(~left_out)), 1)
        if share > 0:
            left_out |= Split(share, self.split.seed).held_out(0, len(left_out))
        batch = select_rows(batch, ~left_out) if left_out.any() else batch
        labels, every = known_labels(batch), np.ones(n_rows(batch.rows), bool)
        target: Any = None
        if self.plan.target == "numbers":
            target = NumberTarget.measure(labels, every)
        else:
            weights = {"class_weight": self.request.parameters.get("class_weight")}
            counts = LabelCounts().add(labels, every)
            target = counts.target({**self.plan.parameters, **weights}, self.request.classes, None)
        given = TrainingRows.encode(batch, target)
        refuse_too_many(given.width, len(target.classes))
        if given.rows.indices is not None:
            rows, width = drop_empty_columns(given.rows, given.width)
            given = given._replace(rows=rows, width=width)
        values = given.rows.values
        squares = np.einsum("i,i->", values, values, dtype=np.float64) / max(len(given.codes), 1)
        is_whole = self.part is None and share <= 0
        kept = whole if is_whole else None
        return Sample(reader, given, target, float(squares), len(left_out), kept)

    def make_plan(self, candidate: Candidate) -> Plan:
        """Make the plan of a training with a candidate; refuse what does not go together."""
        settings, found = dict(candidate.settings), look(self.read(candidate.reading).reader)
        same = replace(self.found, texts=found.texts)
        if not settings and same == self.found:
            return self.plan
        request = self.request
        if settings:
            request = request.with_rule(settings.pop("rule"), **settings)
        return make_plan(request, same)

    # Candidates

    def compare_few(self) -> list[Candidate]:
        """Compare the default with other ways to read texts, then the best of these with bins.

        Where texts stand among other columns, or columns of names may be texts, the rule of tables
        is compared, too. Embeddings need no bins, but perhaps smaller or larger steps.
        """
        recipe, classes = self.base.reader.recipe, self.plan.target == "classes"
        if has_embeddings_only(recipe):
            return [Candidate(), *self.list_steps(Candidate())]
        short = find_short(self.base.reader)
        texts = self.list_texts(recipe, short)
        found = [Candidate(reading=each) for each in ({}, *texts)]
        mixed = short or (recipe.text and len(recipe.columns or ()) > len(recipe.text))
        open_rule = classes and self.request.rule is None
        if open_rule and mixed:
            found += [Candidate(TABLE, each.reading) for each in found]
        best = found[0] if len(found) == 1 else min(self.race(found), key=self.loss)
        if open_rule and recipe.text and not NOISY.keys() & self.request.parameters.keys():
            found.append(best._replace(settings=NOISY))
        if not recipe.text or best.settings:
            bins = self.list_bins(recipe)
            found += [best._replace(reading={**best.reading, **each}) for each in bins]
        return found

    def list_texts(self, recipe: FeatureRecipe, short: list[str]) -> list[Mapping[str, Any]]:
        """List other n-grams and counts of texts: single words, or the characters of short texts.

        ``short`` are columns of names.
        """
        rows, whole = self.base.rows, self.file_rows or self.base.rows
        grams = LETTERS * np.count_nonzero(self.base.given.rows.values)
        is_cheap = grams <= self.budget.values and grams * whole / rows <= self.budget.trained
        texts = recipe.text if is_cheap else []
        found: list[Any] = []
        if short or texts:
            characters = {"text": [f"{name}{SHORT}" for name in (*texts, *short)]}
            found = [{**SUBLINEAR, **characters} if texts else characters]
        if recipe.text:
            found += [SUBLINEAR, {**SUBLINEAR, "ngrams": (1, 1)}]
        stated = self.stated if recipe.grams else self.stated - {"text"}
        return [each for each in found if not stated & each.keys()]

    def allow(self, readings: list[Any]) -> list[Any]:
        """Return the readings that change nothing that was stated."""
        return [each for each in readings if not self.stated & each.keys()]

    def list_bins(self, recipe: FeatureRecipe) -> list[Mapping[str, Any]]:
        """List the bins and pairs that rows may have without too many features."""
        given, kinds = self.base.given, [kind for _, kind in recipe.columns or ()]
        rows = max(len(given.codes), 1)
        own = float(np.count_nonzero(given.rows.values)) / rows
        numbers = kinds.count("number")
        whole = self.base.rows if self.part is None else self.file_rows

        def is_possible(bins: int = 0, pairs: bool = False) -> bool:
            size = own + numbers * (bins > 0)
            size *= (size + 1) / 2 if pairs else 1
            possible = (numbers or not bins) and not (recipe.text and pairs)
            possible = possible and not (pairs and size * whole > self.budget.trained)
            return bool(possible and 1 < size <= min(MOST_PRODUCTS, self.budget.values / rows))

        if recipe.rows not in ("table", "svmlight"):
            return []
        found = self.allow([*BINS, *([] if self.budget is QUICK else [{"pairs": True}])])
        return [each for each in found if is_possible(**each)]

    def list_settings(self, best: Candidate) -> list[Candidate]:
        """List rules with all values of their parameters that go with what was stated."""
        usual, rule, stated = self.plan.parameters, self.plan.rule, self.request.parameters
        found, refused = self.list_steps(best), list[ParameterError]()
        solutions = [usual["solution"]] if "solution" in stated else ["last", "average"]
        square = self.read(best.reading).mean_square or 1.0
        for each in rules_with(stated, self.plan.target) if self.request.rule is None else [rule]:
            grid = {**RULE_TABLE[each].grid, "solution": solutions}
            for values in product(*grid.values()):
                own = dict(zip(grid, values, strict=True))
                if "margin" in own:
                    own["margin"] = shorten(own["margin"] * square)
                free = {name: value for name, value in own.items() if name not in stated}
                found.append(Candidate({"rule": each, **free}, best.reading))
                try:
                    self.make_plan(found[-1])
                except ParameterError as error:
                    refused.append(error)
                    found.pop()
        if not found:
            raise refused[0]
        return found

    def list_steps(self, best: Candidate) -> list[Candidate]:
        """List the usual rule with smaller and larger steps, if neither is stated."""
        usual, rule, stated = self.plan.parameters, self.plan.rule, self.request.parameters
        if rule not in C_BY_SIZE or self.request.rule is not None or "C" in stated:
            return []
        names = {"loss", "epsilon", "solution"} & usual.keys() - stated.keys()
        own = {name: usual[name] for name in sorted(names)}
        size = usual_aggressiveness(self.read(best.reading).mean_square, C_BY_SIZE[rule])
        return [
            Candidate({"rule": rule, **own, "C": shorten(share * size)}, best.reading)
            for share in STEPS
        ]

    def vary(self, found: list[Candidate]) -> Iterator[Candidate]:
        """Yield candidates with other weights of words, and with other steps of the bias."""
        words: list[Any] = [SUBLINEAR, {"tfidf": False}, {**SUBLINEAR, "tfidf": False}]
        words = self.allow(words if self.base.reader.recipe.text else [])
        is_open = self.request.parameters.get("intercept_step") is None
        steps = BIAS_STEPS if self.plan.parameters["fit_intercept"] and is_open else ()
        for each in found:
            yield from (each._replace(reading={**each.reading, **some}) for some in words)
            usual = usual_bias_step(self.read(each.reading).mean_square)
            for step in steps if each.settings else ():
                yield each._replace(settings={**each.settings, "intercept_step": step * usual})

    # Comparing

    def search(self) -> tuple[Candidate, list[Candidate]]:
        """Compare candidates by the budget; return the chosen one, and those that were near."""
        final = self.compare_few()
        chosen = self.choose(final)
        if self.budget is not QUICK:
            settings = self.list_settings(chosen)
            self.expected = len(self.results) + len(settings) * 4 // 3 + 3 * FINALISTS
            ranked = self.race(settings, 1 / 3)
            leaders = remove_repeated(sorted([chosen, *ranked], key=self.loss))[:FINALISTS]
            varied = self.race(list(self.vary(leaders)), 1 / 3)
            final = remove_repeated([*final, *ranked, *varied])
            chosen = self.choose(final)
        return chosen, final

    def race(self, candidates: list[Candidate], share: float = 1.0) -> list[Candidate]:
        """Compare candidates on a third of the folds; return a share of them, the best first.

        Those that are worse by three standard errors are dropped. That is a step of successive
        halving (Jamieson & Talwalkar 2016).
        """
        few = ceil(len(self.folds) / 3)
        ranked = sorted(candidates, key=lambda each: self.compare(each, few).loss)
        least = self.compare(ranked[0], few) if ranked else None
        near = [each for each in ranked if least and self.compare(each, few).is_near(least, WORSE)]
        return near[: max(FINALISTS, ceil(len(ranked) * share))]

    def choose(self, candidates: list[Candidate]) -> Candidate:
        """Return the simplest candidate whose loss is within one standard error of the least."""
        left = self.race(candidates)
        if len(left) == 1:
            return left[0]
        least = self.compare(min(left, key=self.loss))
        near = [each for each in left if self.compare(each).is_near(least)]
        return min(near, key=lambda each: (each.complexity, self.loss(each)))

    def loss(self, candidate: Candidate) -> float:
        """Return the loss of a candidate on all folds."""
        return self.compare(candidate).loss

    def compare(self, candidate: Candidate, folds: int | None = None) -> Result:
        """Cross-validate a candidate, on all folds or on the first ones."""
        key, count = repr(candidate), folds or len(self.folds)
        if (key, count) not in self.results:
            sample, held = self.read(candidate.reading), self.held.setdefault(key, [])
            if len(held) < count:
                plan = self.make_plan(candidate).complete(sample.mean_square)
                held += [
                    sample.cross_validate(plan, *fold) for fold in self.folds[len(held) : count]
                ]
            self.results[key, count] = measure(self.metric, sample.target, held[:count])
            self.job.reporter.tried(len(self.results), max(len(self.results), self.expected))
        return self.results[key, count]

    def get_result(self, candidate: Candidate) -> Result:
        """Return the result of a candidate on the folds that it was compared on."""
        return self.results[repr(candidate), len(self.held[repr(candidate)])]

    # Facts

    def list_facts(self, chosen: Candidate, final: list[Candidate]) -> dict[str, Any]:
        """Return the facts that a model keeps: the best candidates, the chosen one first."""

        def describe(each: Candidate) -> dict[str, Any]:
            result, as_loss = self.get_result(each), METRICS[self.metric].as_loss
            figures = {
                "value": float(as_loss(result.loss)),
                "spread": standard_error(result.parts),
                "other": float(result.other),
            }
            return {**figures, **each.settings, **each.reading}

        best = sorted(final, key=lambda each: self.get_result(each).loss)[: 2 * FINALISTS]
        codes, classes = self.base.given.codes, self.base.target.classes
        return {
            "tried": len(self.held),
            "metric": self.metric,
            **name_rarer(self.metric, codes, classes),
            "rows": self.rows,
            "folds": len(self.folds),
            "baseline": self.measure_baseline(),
            "usual": describe(Candidate()),
            "best": [describe(each) for each in remove_repeated([chosen, *best, Candidate()])],
        }

    def measure_baseline(self) -> float | None:
        """Return the error of the most frequent class, or the RMSE of the mean of numbers."""
        codes, target = self.base.given.codes[self.base.given.row_order], self.base.target
        if isinstance(target, NumberTarget):
            return float(codes.std() * target.scale)
        return None if codes.ndim == 2 else float(1 - np.bincount(codes).max() / len(codes))


def shorten(value: float) -> float:
    """Return a number with two significant digits, which can be typed."""
    return float(f"{value:.2g}")


def remove_repeated(candidates: list[Candidate]) -> list[Candidate]:
    """Return the different candidates, in their order."""
    return list({repr(each): each for each in candidates}.values())


def find_short(reader: Reader) -> list[str]:
    """Find the columns of short strings that mostly differ, such as names."""
    kinds = dict(reader.recipe.columns or ())
    notices = (one for one in reader.notices if one.code == "words-short")
    return [one.column for one in notices if kinds.get(one.column) == "category"]


def has_embeddings_only(recipe: FeatureRecipe) -> bool:
    """Whether all columns are places of long lists of numbers."""
    names = [name for name, _ in recipe.columns or ()]
    lengths = count_places(names).values()
    return min(lengths, default=0) >= EMBEDDING and sum(lengths) == len(names)


def take_part(reader: Reader, split: Split, budget: Budget) -> tuple[Source, int] | None:
    """Return evenly spaced rows of a large file or table, and how many it has.

    None for a source to read whole: numbers of rows decide what is held out, if anything is.
    """
    source, recipe = reader.source, reader.recipe
    if split or reader.options.fold is not None or not source.size:
        return None
    texts = recipe.rows == "table" and (recipe.text or find_short(reader))
    most = max(budget.text_bytes / source.size, budget.text_share) if texts else 1.0

    def pick(take: Callable[[Array], Source], known: int, count: int) -> tuple[Source, int] | None:
        wanted = int(min(budget.rows, most * count))
        if count <= 1.2 * wanted:
            return None
        return take(np.unique(np.linspace(0, known - 1, wanted).astype(np.intp))), count

    if isinstance(source, TableSource):
        table = source.table
        rows = table.num_rows
        return pick(lambda rows: TableSource(table.take(rows)), rows, rows)
    lines = (*DELIMITERS, "svmlight", "vw", "jsonl", "fasttext")
    odd = source.file is not None or source.encoding or len(source.files) != 1
    if odd or reader.format not in lines:
        return None
    with Path(source.files[0]).open("rb") as file:
        text = mmap(file.fileno(), 0, access=ACCESS_READ)
    if text[:6].startswith(tuple(PACKINGS)):
        return None
    profile = reader.profile
    if isinstance(profile, TextProfile) and text.find(b'"') >= 0:  # a row may have several lines
        ends = row_ends(text, profile.dialect)[0]
        starts = np.append(0, ends)[int(bool(recipe.header)) :]
        begins, ends, count = starts[:-1], starts[1:], len(starts) - 1
    else:
        first = text.find(b"\n") + 1 if recipe.header else 0
        places = np.linspace(first, len(text), 5 * budget.rows // 4, endpoint=False).astype(np.intp)
        begins = np.unique([first, *(text.find(b"\n", place) + 1 for place in places.tolist())])
        begins = begins[(begins >= first) & (begins < len(text))]
        ends = np.array([text.find(b"\n", begin) + 1 or len(text) for begin in begins.tolist()])
        count = int((len(text) - first) / max((ends - begins).mean(), 1))

    def join(rows: Array) -> Source:
        found = [text[begin:end] for begin, end in zip(begins[rows], ends[rows], strict=True)]
        return Source(io.BytesIO(b"".join([text[: begins[0]], *found])))

    return pick(join, len(begins), count)


def is_open(reader: Reader, job: FileJob) -> bool:
    """Whether a plain training compares candidates: if its rule is open and it is not a stream."""
    request, found, stated = job.request, look(reader), job.request.parameters
    textbook = any(stated.get(name) in values for name, values in TEXTBOOK.items())
    streams = request.window or request.progress_every or stated.get("max_iter") == 1
    is_fixed = request.tune is False or request.rule is not None or textbook or streams
    continues = job.before is not None or job.checkpointer is not None
    open_sets = found.rereadable and found.fits and not found.label_sets
    return not is_fixed and not continues and open_sets and stated.keys() <= NEUTRAL


def choose(reader: Reader, job: FileJob, stated: frozenset[str]) -> tuple[Reader, FileJob]:
    """Choose what the user left open about how to learn from a file.

    Parameters
    ----------
    reader
        The reader of the file.
    job
        The training. If its request tunes, many candidates are compared; if that is left open, a
        few, unless a rule is stated.
    stated
        The options of reading that the user stated.

    Returns
    -------
    reader, job
        Those of the chosen candidate; the facts of the job list what was compared.
    """
    job = replace(job, plan=job.make_plan(look(reader)))
    if job.request.tune and job.before is not None:
        raise ParameterError(
            "A model that continues keeps its settings; leave tune out.", code="tune-resume"
        )
    if job.request.tune and job.request.window:
        raise ParameterError(
            "tune compares whole rows, not windows of a stream; leave one out.", code="tune-stream"
        )
    if not job.request.tune and not is_open(reader, job):
        return reader, job
    choice = Choice(reader, job, stated, THOROUGH if job.request.tune else QUICK)
    is_enough = choice.begin()
    if not is_enough and not job.request.tune:
        base = choice.samples.get("{}")
        if base is None or base.whole is None:
            return reader, job
        return base.reader, replace(job, whole=base.whole)
    best, final = choice.search()
    facts = {**job.facts, "tuning": choice.list_facts(best, final)}
    sample, plan = choice.read(best.reading), choice.make_plan(best)
    if choice.part is not None:
        sample = sample._replace(reader=reader.vary(**best.reading) if best.reading else reader)
    return sample.reader, replace(job, facts=facts, plan=plan, whole=sample.whole)


def choose_and_train(reader: Reader, job: FileJob, stated: frozenset[str]) -> Model:
    """Train on a file with what is chosen for it; a stream that is tuned chooses while it is read.

    ``stated`` are the options of reading that the user stated.
    """
    once = job.request.parameters.get("max_iter") == 1 or job.request.progress_every
    if job.request.tune and (once or not reader.rereadable):
        job.reporter.chose(reader.recipe, {})
        return train_stream(reader, job)
    reader, job = choose(reader, job, stated)
    job.reporter.chose(reader.recipe, job.facts.get("tuning", {}))
    return train(reader, job)
