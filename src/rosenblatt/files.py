"""From a file to a model, and from a model to predictions: in batches, without scikit-learn."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from .cache import origin_of, read_cached
from .kernels import algebra
from .reading.batches import Batch, one_batch, part_of
from .reading.reader import Reader, WholeFile, no_rows, read_whole
from .rows import encode, matrix_of, n_rows
from .storage import Model
from .training import (
    START,
    Array,
    Bookmark,
    Epoch,
    Last,
    NotFiniteError,
    Run,
    Task,
    Vote,
    check_combination,
    chosen,
    new_solution,
    rule_of,
    scores,
    task_of,
    widened,
)

IN_MEMORY = 2**30  # bytes of a file that is parsed once and kept for further epochs
HELD_OUT = 0.1  # of the rows, when early stopping does not say how many
MOST_WEIGHTS = 2**28  # 3 GB with their average
PATIENCE = 5  # epochs without a better score on the rows held out


class Lesson(NamedTuple):
    """How to learn from a file.

    Attributes
    ----------
    solution, order, margin
        Those of Perceptron; without an order ``each`` in memory and ``fixed`` in a stream.
    epochs
        The most passes.
    seed
        For the random orders and the choice of rows to hold out.
    classes
        All labels, where the first rows may not have them all.
    window
        Shuffle a stream within this many rows.
    holdout
        The share of rows not to learn from, on which the model is tested.
    early_stopping
        Stop when the rows held out have not come out better for five epochs, and take the best.
    balanced
        Weigh each row by the rarity of its class.
    """

    solution: str = "average"
    order: str | None = None
    epochs: int = 10
    margin: float = 0.0
    seed: int = 0
    classes: list[str] | None = None
    window: int = 0
    holdout: float = 0.0
    early_stopping: bool = False
    balanced: bool = False


class Tally(NamedTuple):
    """How far a pass has come: each row is predicted before it is learnt.

    ``mistakes`` is None while a file is only read.
    """

    rows: int
    bytes_read: int
    mistakes: int | None


class Watch:
    """What can be heard of a training; this one does not listen."""

    def batch(self, tally: Tally) -> None:
        """A batch is done."""

    def epoch(self, epoch: Epoch) -> None:
        """An epoch is done."""

    def note(self, sentence: str) -> None:
        """Something is otherwise than one might think."""

    def checkpoint(self, unfinished: Callable[[], Model]) -> None:
        """Here the run can be left; the model so far can be had, to go on from."""


def train(
    reader: Reader,
    lesson: Lesson,
    watch: Watch | None = None,
    begun: Model | None = None,
    cache: bool = False,
) -> Model:
    """Learn from a file: in memory when it fits and the lesson wants it, else as a stream.

    Parameters
    ----------
    reader
        Of the file.
    lesson
        How to learn.
    watch
        Hears how it goes.
    begun
        The unfinished model of such a run, to go on from.
    cache
        Keep the parsed rows beside the file, or use those that an earlier run kept.
    """
    watch = watch or Watch()
    lesson, streams = settled(lesson, reader, cache)
    if begun is not None:
        check_begun(begun, reader, lesson)
        if begun.bookmark is None:
            watch.note("The run is complete.")
            return begun
    try:
        if streams:
            model = train_as_stream(reader, lesson, watch, begun)
            notices, bad = reader.notices, reader.bad
        else:
            whole = (read_cached if cache else read_whole)(reader, told(reader, watch))
            model = train_in_memory(reader, whole, lesson, watch, begun)
            notices, bad = whole.notices, whole.bad
    except NotFiniteError:
        raise overflow() from None
    for notice in notices:
        watch.note(str(notice))
    if bad:
        watch.note(f"{bad:,} broken row{'' if bad == 1 else 's'} left out.")
    return model


def settled(lesson: Lesson, reader: Reader, cache: bool) -> tuple[Lesson, bool]:
    """A lesson without open questions, and whether it is learnt from a stream."""
    check_combination(lesson.solution, lesson.order or "fixed")
    if lesson.early_stopping and not lesson.holdout:
        lesson = lesson._replace(holdout=HELD_OUT)
    fits = reader.size is not None and reader.size <= IN_MEMORY
    several = lesson.epochs > 1
    if lesson.window and cache:
        raise ValueError("--window is for streams, and --cache makes none; leave one out.")
    if lesson.window:
        streams, order = True, lesson.order or "each"
    else:
        simple = lesson.order in (None, "fixed") and lesson.solution in ("last", "average")
        streams = not cache and not (fits and (several or not simple))
        order = lesson.order or ("each" if fits and several else "fixed")
    lesson = lesson._replace(order=order)
    if streams:
        check_stream(lesson, reader)
    return lesson, streams


def check_stream(lesson: Lesson, reader: Reader) -> None:
    """Refuse what cannot be done batch by batch."""
    if lesson.window and lesson.order not in ("each", "once"):
        raise ValueError(
            f"--window shuffles, which --order {lesson.order} does not; leave one out."
        )
    if not lesson.window and lesson.order != "fixed":
        raise ValueError(
            f"--order {lesson.order} needs the rows in memory; use --window to shuffle within some "
            "rows, --cache, or --order fixed."
        )
    if lesson.solution not in ("last", "average"):
        raise ValueError(
            f"--solution {lesson.solution} needs the rows in memory; use average, or --cache."
        )
    wishes = {
        "--epochs": lesson.epochs > 1,
        "--holdout": lesson.holdout > 0,
        "--class-weight": lesson.balanced,
    }
    for option, wanted in wishes.items():
        if wanted and not reader.rereadable:
            raise ValueError(
                f"{reader.source.name} can be read only once, and {option} needs to read it again; "
                "write it to a file first."
            )


def check_begun(begun: Model, reader: Reader, lesson: Lesson) -> None:
    """Refuse to go on with another lesson or another file."""
    before, now = begun.facts.get("lesson"), as_json(lesson._asdict())
    if not isinstance(before, dict) or before.keys() != now.keys():
        raise ValueError("The model does not say how it was trained; it cannot be resumed.")
    for name, value in now.items():
        if before[name] != value:
            raise ValueError(
                f"The run began with {name} = {before[name]}, not {value}; resume it with the same "
                "options."
            )
    if as_json(begun.features.get("recipe")) != as_json(reader.features()):
        raise ValueError("The run began with other features; resume it with the same options.")
    size = reader.options.batch_bytes
    if begun.facts.get("batch_bytes", size) != size:
        raise ValueError("The run began with another batch_bytes; resume it with the same.")
    if begun.facts.get("origin") not in (None, origin_of(reader)):
        raise ValueError(f"{reader.source.name} has changed since the run began; begin it anew.")


def as_json(value: Any) -> Any:
    """A value as it comes back from a file."""
    return json.loads(json.dumps(value))


def overflow() -> ValueError:
    """What to say when weights are no longer finite."""
    return ValueError("The weights overflowed; scale the numbers in the file down.")


NO_WEIGHT = "There are no rows to learn from: all have the weight 0 or are held out."


# A plan: what rows of labels mean


class Plan(NamedTuple):
    """The classes, how much a row of each weighs, and how to learn."""

    classes: Array
    of_class: Array | None
    lesson: Lesson

    def task(self, batch: Batch, row: int) -> Task:
        """What to learn from a batch that begins at some row of its file."""
        if batch.width * len(self.classes) > MOST_WEIGHTS:
            raise ValueError(
                f"{batch.width:,} columns and {len(self.classes)} classes need more weights than "
                f"{MOST_WEIGHTS:,}; number the columns without gaps, or let them be hashed."
            )
        codes = codes_of(labels_of(batch, row), self.classes, row)
        weights = batch.weights
        if self.of_class is not None:
            weights = self.of_class[codes] * (1.0 if weights is None else weights)
        if self.lesson.holdout:
            held = held_out(row, len(codes), self.lesson)
            weights = np.where(held, 0.0, 1.0 if weights is None else weights)
        rule = rule_of(self.lesson.margin, "mistake", 1.0)
        return task_of(batch.rows, codes, weights, len(self.classes), rule)

    def score(self, solution: Last, batches: Iterable[Batch]) -> "Score":
        """How many of the rows held out a solution gets wrong."""
        result, row = Score(), 0
        for batch, activations in activations_of(solution, batches):
            codes = codes_of(labels_of(batch, row), self.classes, row)
            held = held_out(row, len(codes), self.lesson)
            result.rows += int(np.count_nonzero(held))
            result.errors += int(np.count_nonzero((chosen(activations) != codes) & held))
            row += len(codes)
        if not result.rows:
            raise ValueError(
                f"--holdout {self.lesson.holdout} held no row out; take a larger share."
            )
        return result


def held_out(row: int, count: int, lesson: Lesson) -> Array:
    """Which of the rows from some row on are not learnt from: a coin per row number and seed."""
    numbers = np.arange(row + 1, row + count + 1, dtype=np.uint64)
    numbers = numbers * np.uint64(0x9E3779B97F4A7C15) + np.uint64(lesson.seed << 32)
    coins = algebra.mix.py_func(numbers)  # it takes arrays, too
    return np.asarray(coins < np.uint64(lesson.holdout * 2.0**64))


def planned(batches: Iterable[Batch], lesson: Lesson) -> Plan:
    """A plan from the labels of batches: of all there are if the classes are to be balanced."""
    counts: dict[Any, int] = {}
    row = 0
    for batch in batches:
        labels = labels_of(batch, row)
        kinds, codes = encode(labels)
        for label, count in zip(kinds.tolist(), np.bincount(codes).tolist(), strict=True):
            counts[label] = counts.get(label, 0) + count
        row += len(labels)
    met = np.array(list(counts), labels.dtype)
    names = lesson.classes
    classes = met_classes(met) if names is None else named_classes(names, met.dtype)
    if not lesson.balanced:
        return Plan(classes, None, lesson)
    of_class = np.bincount(codes_of(met, classes, 0), list(counts.values()), len(classes))
    if not of_class.all():
        raise ValueError(f"No row has the label {classes[np.argmin(of_class)]} to balance.")
    return Plan(classes, row / (len(classes) * of_class), lesson)


# Learning


def train_in_memory(
    reader: Reader, whole: WholeFile, lesson: Lesson, watch: Watch, begun: Model | None = None
) -> Model:
    """Go through rows at hand in any order."""
    if begun is not None and begun.bookmark is not None and begun.bookmark.parts:
        raise ValueError("The run began as a stream; resume it without --cache.")
    batch, rows = whole.batch, n_rows(whole.batch.rows)
    plan = planned([batch], lesson)
    task = plan.task(batch, 0)
    if not len(task.everything):
        raise ValueError(NO_WEIGHT)
    run = Run(task, **settings(plan, [batch], batch, begun))
    if len(run.mistaken) <= int(task.everything.max()):
        raise ValueError("The model to resume was trained on fewer rows; begin anew.")

    def model() -> Model:
        return model_of(run, plan, reader, whole.names, rows)

    def report(epoch: Epoch) -> None:
        watch.epoch(epoch)
        if not run.stop_reason:
            watch.checkpoint(model)

    run.report = report
    run.train()
    if isinstance(run.solution, Vote):  # alone in keeping rows, which takes a copy of them all
        run.solution.close(matrix_of(batch.rows, rows, batch.width))
    return tested(model(), plan, [batch])


def train_as_stream(
    reader: Reader, lesson: Lesson, watch: Watch, begun: Model | None = None
) -> Model:
    """Go through a file in its order, as often as there are epochs, in constant memory."""
    batches = Peeked(reader)
    try:
        if begun is not None and not lesson.balanced:
            plan = Plan(begun.classes, None, lesson)
        else:
            plan = planned(reader if lesson.balanced else [batches.first], lesson)
        return learnt(reader, batches, plan, watch, begun)
    except LateLabelError as late:
        if lesson.classes is not None or not reader.rereadable:
            raise
        watch.note(f"{late} All labels are looked up first, and the run begins again.")
    return learnt(reader, Peeked(reader), planned(reader, lesson), watch, None)


class Peeked:
    """The batches of a reader, of which the first is known beforehand."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.begun: Iterator[Batch] | None = iter(reader)
        first = next(self.begun, None)
        if first is None:
            raise no_rows(reader)
        self.first: Batch = first

    def __iter__(self) -> Iterator[Batch]:
        begun, self.begun = self.begun, None
        return iter(self.reader) if begun is None else chain([self.first], begun)


def learnt(reader: Reader, batches: Peeked, plan: Plan, watch: Watch, begun: Model | None) -> Model:
    """The model of a run over batches."""

    def model() -> Model:
        return model_of(run, plan, reader, reader.names, max(run.file_rows, run.rows))

    def listen(tally: Tally) -> None:
        watch.batch(tally)
        watch.checkpoint(model)

    run = StreamRun(
        plan.task(batches.first, 0),
        **settings(plan, batches, batches.first, begun),
        report=watch.epoch,
        plan=plan,
        batches=batches,
        listen=listen,
    )
    run.train()
    if not run.solution.seen:
        raise ValueError(NO_WEIGHT)
    return tested(model(), plan, batches)


@dataclass
class StreamRun(Run):
    """A run over batches from a file: the task is the batch at hand."""

    plan: Plan = field(kw_only=True)
    batches: Iterable[Batch] = field(kw_only=True)
    listen: Callable[[Tally], None] = field(kw_only=True)
    file_rows: int = 0

    def sweeps(self) -> Iterator[Array]:
        """Every row of a batch that counts, batch by batch."""
        row = 0
        for number, batch in enumerate(windows(self.batches, self.plan.lesson.window)):
            if number >= self.parts:  # else it was learnt before the run was left
                self.task = self.plan.task(batch, row)
                self.solution.widen(batch.width)
                yield self.shuffled(number)
                self.listen(Tally(self.rows, batch.bytes_read, self.mistakes))
            row += n_rows(batch.rows)
        self.file_rows = row

    def shuffled(self, number: int) -> Array:
        """The rows at hand, in an order of their own if there are windows."""
        order = self.task.everything
        if self.plan.lesson.window:
            order = order.copy()
            epoch = self.epoch if self.order == "each" else 0
            algebra.shuffle(order, self.seed, epoch << 32 | number)
        return order


def windows(batches: Iterable[Batch], size: int) -> Iterator[Batch]:
    """Batches of so many rows each, or as they come if the size is 0."""
    if not size:
        yield from batches
        return
    waiting: list[Batch] = []
    count = 0
    for batch in batches:
        waiting.append(batch)
        count += n_rows(batch.rows)
        if count >= size:
            whole, full = one_batch(waiting), count - count % size
            for begin in range(0, full, size):
                yield part_of(whole, begin, begin + size)
            waiting, count = [part_of(whole, full, count)], count - full
    if count:
        yield one_batch(waiting)


def settings(
    plan: Plan, batches: Iterable[Batch], first: Batch, begun: Model | None
) -> dict[str, Any]:
    """What runs in memory and over streams have in common."""
    lesson = plan.lesson
    start: Bookmark | None = START
    history: list[Epoch] = []
    if begun is None:
        kind = first.rows.values.dtype
        solution = new_solution(lesson.solution, len(plan.classes), first.width, kind)
    else:
        (solution,), start, history = begun.solutions, begun.bookmark, list(begun.history)

    def validate(solution: Last) -> float:
        return 1 - plan.score(solution, batches).error

    return {
        "solution": solution,
        "order": lesson.order,
        "max_iter": lesson.epochs,
        "seed": lesson.seed,
        "validate": validate if lesson.early_stopping else None,
        "patience": PATIENCE,
        "start": start,
        "history": history,
    }


def told(reader: Reader, watch: Watch) -> Iterator[Batch]:
    """The batches of a reader, while somebody hears how far it got."""
    rows = 0
    for batch in reader:
        rows += n_rows(batch.rows)
        watch.batch(Tally(rows, batch.bytes_read, None))
        yield batch


def model_of(run: Run, plan: Plan, reader: Reader, names: Mapping[int, str], rows: int) -> Model:
    """What to keep in a file: the state, how it was trained, and how features are made."""
    lesson, solution = plan.lesson, run.solution
    parameters: dict[str, Any] = {
        "solution": lesson.solution,
        "order": lesson.order,
        "margin": lesson.margin,
        "max_iter": lesson.epochs,
        "random_state": lesson.seed,
        "class_weight": None,
    }
    if plan.of_class is not None:
        pairs = zip(plan.classes.tolist(), plan.of_class.tolist(), strict=True)
        parameters["class_weight"] = dict(pairs)
    weights, _ = solution.answer()
    if not np.isfinite(weights).all():
        raise overflow()
    facts = {
        "stop_reason": run.stop_reason or "unfinished",
        "rows": rows,
        "lesson": lesson._asdict(),
        "origin": origin_of(reader) if reader.size is not None else None,
        "intercept_step": 1.0,
        "plain": False,
    }
    features = {
        "recipe": reader.features(),
        "format": reader.format,
        "largest": named(weights, names),
    }
    bookmark = None if run.stop_reason else run.bookmark()
    if bookmark is not None:
        facts["batch_bytes"] = reader.options.batch_bytes  # its parts are batches
    return Model(parameters, plan.classes, [solution], features, facts, run.history, bookmark)


def tested(model: Model, plan: Plan, batches: Iterable[Batch]) -> Model:
    """A model with its errors on the rows held out, if there are such rows."""
    if plan.lesson.holdout:
        model.facts["held_out"] = asdict(plan.score(model.solutions[0], batches))
    return model


def named(weights: Array, names: Mapping[int, str], most: int = 1000) -> list[Any]:
    """The names of the columns with the largest weights."""
    if not names:
        return []
    known = np.array(sorted(names), np.intp)
    known = known[known < len(weights)]
    sizes = np.abs(weights[known]).reshape(len(known), -1).max(axis=1, initial=0.0)
    chosen = known[np.argsort(-sizes, kind="stable")[:most]]
    return [[int(column), names[int(column)]] for column in chosen]


# Predicting


@dataclass
class Score:
    """How many rows of a file a model gets wrong."""

    rows: int = 0
    errors: int = 0

    @property
    def error(self) -> float:
        """The share of wrong rows."""
        return self.errors / self.rows if self.rows else float("nan")


def score(model: Model, reader: Reader) -> Score:
    """Compare predictions with the labels of a file."""
    result = Score()
    for batch, predicted in predictions(model, reader):
        labels = labels_of(batch, result.rows)
        right = predicted.astype(str) == as_words(labels, model.classes)
        result.rows += len(right)
        result.errors += int(np.count_nonzero(~right))
    return result


def predictions(model: Model, reader: Reader) -> Iterator[tuple[Batch, Array]]:
    """The predicted label of every row, batch by batch."""
    for batch, activations in activations_of(model.solutions[0], reader):
        yield batch, model.classes[chosen(activations)]


def activations_of(solution: Last, batches: Iterable[Batch]) -> Iterator[tuple[Batch, Array]]:
    """The scores of every row, batch by batch."""
    weights, bias = solution.answer()
    known = len(weights)
    for batch in batches:
        count = n_rows(batch.rows)
        if isinstance(solution, Vote):
            X = matrix_of(batch.rows, count, max(known, batch.width))[:, :known]
            votes = solution.votes(X)
            yield batch, votes.ravel() if len(bias) == 1 else votes
        else:
            weights = widened(weights, batch.width)
            yield batch, scores(batch.rows, weights, bias, count)


# Labels


class LateLabelError(ValueError):
    """A label that the first rows do not have."""


def labels_of(batch: Batch, row: int = 0) -> Array:
    """The labels of a batch after so many rows; all must be known."""
    if batch.labels is None:
        raise ValueError("The file has no labels.")
    if batch.labels.dtype.kind == "f":
        unknown = np.flatnonzero(np.isnan(batch.labels))
        if len(unknown):
            raise ValueError(f"Row {row + unknown[0] + 1} has no label.")
    return batch.labels


def met_classes(labels: Array) -> Array:
    """The distinct labels, in order; there must be two, and not too many."""
    classes = np.unique(tidy(labels))
    if len(classes) < 2:
        raise LateLabelError(
            f"Only the label {classes[0]} was met; a model needs two (name more with --classes)."
        )
    if labels.dtype.kind in "iuf" and len(classes) > 1000:
        raise ValueError(
            f"{len(classes)} different numbers as labels look like no classes; name another column "
            "with --label."
        )
    return classes


def named_classes(names: list[str], dtype: Any) -> Array:
    """The classes that were named, of the kind that the labels are."""
    try:
        named = np.array([name.strip() for name in names]).astype(dtype)
        if named.dtype.kind == "f" and not np.all(np.abs(named) < 2.0**53):
            raise ValueError
        classes = np.unique(tidy(named))
    except ValueError:
        raise ValueError(
            f"--classes {','.join(names)} are not all numbers below 2^53, as the labels of the "
            "file are."
        ) from None
    if len(classes) < 2:
        raise ValueError("--classes must name at least two different labels.")
    return classes


def tidy(labels: Array) -> Array:
    """Labels as integers where they are whole, and words as words."""
    if labels.dtype.kind == "f" and np.all(labels == np.round(labels)):
        return labels.astype(np.int64)
    return labels.astype(str) if labels.dtype == object else labels


def codes_of(labels: Array, classes: Array, row: int) -> Array:
    """Each label's number among the classes."""
    labels = tidy(labels)
    codes = np.clip(np.searchsorted(classes, labels), 0, len(classes) - 1)
    new = np.flatnonzero(classes[codes] != labels)
    if len(new):
        raise LateLabelError(
            f"Row {row + new[0] + 1} has the label {labels[new[0]]}, which was not among the first "
            "rows or the classes named; name all labels with --classes."
        )
    return codes


def as_words(labels: Array, classes: Array) -> Array:
    """Labels written as the model writes its classes."""
    if labels.dtype.kind == "f" and classes.dtype.kind in "iu":
        whole = labels == np.round(labels)
        return np.where(whole, labels.astype(np.int64).astype(str), labels.astype(str))
    return labels.astype(str)


def matrix_and_labels(reader: Reader) -> tuple[Any, Array]:
    """A whole file as an array or a CSR matrix, and its labels."""
    batch = read_whole(reader, reader).batch
    labels = tidy(labels_of(batch))
    return matrix_of(batch.rows, len(labels), batch.width), labels
