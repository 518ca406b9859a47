"""From a file to a model, and from a model to predictions: in batches, without scikit-learn."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .kernels import Rows
from .readers import Batch, Reader
from .rows import encode, read_only
from .storage import Model
from .training import (
    Array,
    Epoch,
    Last,
    NotFiniteError,
    Run,
    Stream,
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


class Lesson(NamedTuple):
    """How to learn from a file."""

    solution: str = "average"
    order: str | None = None
    epochs: int = 10
    margin: float = 0.0
    seed: int = 0
    classes: list[str] | None = None


class Tally(NamedTuple):
    """How far a pass has come: each row is predicted before it is learnt."""

    rows: int
    bytes_read: int
    mistakes: int


def train(
    reader: Reader,
    lesson: Lesson,
    on_epoch: Callable[[Epoch], None] = lambda epoch: None,
    on_batch: Callable[[Tally], None] = lambda tally: None,
) -> Model:
    """Learn from a file: in memory when it fits and the lesson wants it, else as a stream."""
    check_combination(lesson.solution, lesson.order or "fixed")
    fits = reader.size is not None and reader.size <= IN_MEMORY
    streams = lesson.order in (None, "fixed") and lesson.solution in ("last", "average")
    try:
        if fits and (lesson.epochs > 1 or not streams):
            order = lesson.order or ("each" if lesson.epochs > 1 else "fixed")
            return train_in_memory(reader, lesson._replace(order=order), on_epoch)
        return train_as_stream(reader, lesson, on_epoch, on_batch)
    except NotFiniteError:
        raise overflow() from None


def overflow() -> ValueError:
    """What to say when weights are no longer finite."""
    return ValueError("The weights overflowed; scale the numbers in the file down.")


def train_in_memory(reader: Reader, lesson: Lesson, on_epoch: Callable[[Epoch], None]) -> Model:
    """Parse a file once and go through its rows in any order."""
    batches = list(reader)
    labels, weights = labels_of(batches), weights_of(batches)
    classes, codes = numbered(labels, lesson)
    width = max(batch.width for batch in batches)
    rows = joined([batch.rows for batch in batches])
    solution = new_solution(lesson.solution, len(classes), width, rows.values.dtype)
    rule = rule_of(lesson.margin, "mistake", 1.0)
    task = task_of(rows, codes, weights, len(classes), rule)
    if not len(task.everything):
        raise ValueError(NO_WEIGHT)
    order, seed = lesson.order or "each", lesson.seed
    run = Run(task, solution, order=order, max_iter=lesson.epochs, seed=seed, report=on_epoch)
    run.train()
    if isinstance(solution, Vote):  # alone in keeping rows, which takes a copy of them all
        solution.close(matrix_of(rows, len(codes), width))
    facts = {"stop_reason": run.stop_reason, "rows": len(codes)}
    return model_of(reader, lesson, classes, run.solution, run.history, facts)


def train_as_stream(
    reader: Reader,
    lesson: Lesson,
    on_epoch: Callable[[Epoch], None],
    on_batch: Callable[[Tally], None],
) -> Model:
    """Go through a file in its order, as often as there are epochs, in constant memory."""
    if lesson.order not in (None, "fixed"):
        raise ValueError(f"--order {lesson.order} needs the rows in memory; use --order fixed.")
    if lesson.solution not in ("last", "average"):
        raise ValueError(f"--solution {lesson.solution} needs the rows in memory; use average.")
    stream: Stream | None = None
    classes = np.empty(0)
    history: list[Epoch] = []
    for number in range(1, lesson.epochs + 1):
        tally = Tally(0, 0, 0)
        for batch in reader:
            if stream is None:
                classes, _ = numbered(labels_of([batch]), lesson)
                kind = batch.rows.values.dtype
                start = new_solution(lesson.solution, len(classes), batch.width, kind)
                stream = Stream(len(classes), start, rule_of(lesson.margin, "mistake", 1.0))
            codes = codes_of(labels_of([batch], tally.rows), classes, tally.rows)
            mistakes = stream.learn(batch.rows, codes, batch.weights, batch.width)
            tally = Tally(tally.rows + len(codes), batch.bytes_read, tally.mistakes + mistakes)
            on_batch(tally)
        if stream is None:
            raise ValueError("There are no rows to learn from.")
        history.append(Epoch(number, tally.rows, tally.mistakes, tally.mistakes, 0.0))
        on_epoch(history[-1])
        if not tally.mistakes:
            break
    assert stream is not None
    if not stream.solution.seen:
        raise ValueError(NO_WEIGHT)
    reason = "max_iter" if history[-1].mistakes else "separated"
    facts = {"stop_reason": reason, "rows": history[-1].rows}
    return model_of(reader, lesson, classes, stream.solution, history, facts)


NO_WEIGHT = "There are no rows to learn from: all have the weight 0."


def model_of(
    reader: Reader,
    lesson: Lesson,
    classes: Array,
    solution: Last,
    history: list[Epoch],
    facts: dict[str, Any],
) -> Model:
    """What to keep in a file: the state, how it was trained, and how features are made."""
    parameters = {
        "solution": lesson.solution,
        "order": lesson.order or "fixed",
        "margin": lesson.margin,
        "max_iter": lesson.epochs,
        "random_state": lesson.seed,
    }
    features = {"recipe": reader.features(), "format": reader.format}
    weights, _ = solution.answer()
    if not np.isfinite(weights).all():
        raise overflow()
    facts = {**facts, "intercept_step": 1.0, "plain": False}
    features["largest"] = named(weights, reader.names, classes)
    return Model(parameters, classes, [solution], features, facts, history)


def named(weights: Array, names: dict[int, str], classes: Array, most: int = 1000) -> list[Any]:
    """The names of the columns with the largest weights."""
    if not names:
        return []
    known = np.array(sorted(names), np.intp)
    known = known[known < len(weights)]
    sizes = np.abs(weights[known]).reshape(len(known), -1).max(axis=1, initial=0.0)
    chosen = known[np.argsort(-sizes, kind="stable")[:most]]
    return [[int(column), names[int(column)]] for column in chosen]


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
        labels = labels_of([batch], result.rows)
        right = predicted.astype(str) == as_words(labels, model.classes)
        result.rows += len(right)
        result.errors += int(np.count_nonzero(~right))
    return result


def predictions(model: Model, reader: Reader) -> Iterator[tuple[Batch, Array]]:
    """The predicted label of every row, batch by batch."""
    for batch, activations in activations_of(model, reader):
        yield batch, model.classes[chosen(activations)]


def activations_of(model: Model, reader: Reader) -> Iterator[tuple[Batch, Array]]:
    """The scores of every row, batch by batch."""
    (solution,) = model.solutions
    weights, bias = solution.answer()
    known = len(weights)
    for batch in reader:
        count = count_rows(batch.rows)
        if isinstance(solution, Vote):
            X = matrix_of(batch.rows, count, max(known, batch.width))[:, :known]
            votes = solution.votes(X)
            yield batch, votes.ravel() if len(bias) == 1 else votes
        else:
            weights = widened(weights, batch.width)
            yield batch, scores(batch.rows, weights, bias, count)


# Labels


def labels_of(batches: list[Batch], row: int = 0) -> Array:
    """The labels of some batches after so many rows; all must be known."""
    if not batches:
        raise ValueError("There are no rows to learn from.")
    if any(batch.labels is None for batch in batches):
        raise ValueError("The file has no labels.")
    labels = np.concatenate([batch.labels for batch in batches])
    if labels.dtype.kind == "f":
        unknown = np.flatnonzero(np.isnan(labels))
        if len(unknown):
            raise ValueError(f"Row {row + unknown[0] + 1} has no label.")
    return labels


def numbered(labels: Array, lesson: Lesson) -> tuple[Array, Array]:
    """The distinct labels, in order, and each row's number among them."""
    if lesson.classes is not None:
        classes = named_classes(lesson.classes, labels.dtype)
        return classes, codes_of(labels, classes, 0)
    classes, codes = encode(tidy(labels))
    if len(classes) < 2:
        raise ValueError(
            f"Only the label {classes[0]} was met; a model needs two (name more with --classes)."
        )
    if labels.dtype.kind == "f" and len(classes) > 1000:
        raise ValueError(f"{len(classes)} different numbers as labels look like no classes.")
    return classes, codes


def named_classes(names: list[str], dtype: Any) -> Array:
    """The classes that were named, of the kind that the labels are."""
    try:
        classes = np.unique(tidy(np.array([name.strip() for name in names]).astype(dtype)))
    except ValueError:
        raise ValueError(
            f"--classes {','.join(names)} are not all numbers, as the labels of the file are."
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
        raise ValueError(
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


def weights_of(batches: list[Batch]) -> Array | None:
    """The weights of rows, or None when all are 1."""
    if all(batch.weights is None for batch in batches):
        return None
    parts = [
        np.ones(count_rows(batch.rows)) if batch.weights is None else batch.weights
        for batch in batches
    ]
    return np.concatenate(parts)


# Rows


def count_rows(rows: Rows) -> int:
    """How many rows there are."""
    if rows.indices is not None:
        return len(rows.starts) - 1
    return len(rows.values) // int(rows.starts[0])


def matrix_and_labels(reader: Reader) -> tuple[Any, Array]:
    """A whole file as an array or a CSR matrix, and its labels."""
    batches = list(reader)
    labels = tidy(labels_of(batches))
    rows = joined([batch.rows for batch in batches])
    return matrix_of(rows, len(labels), max(batch.width for batch in batches)), labels


def joined(parts: list[Rows]) -> Rows:
    """The rows of several batches, one after the other."""
    values = read_only(np.concatenate([part.values for part in parts]))
    if parts[0].indices is None:
        return Rows(values, None, parts[0].starts)
    indices = read_only(np.concatenate([part.indices for part in parts]))
    lengths = np.concatenate([np.diff(part.starts) for part in parts])
    starts = np.concatenate([np.zeros(1, np.uint64), np.cumsum(lengths, dtype=np.uint64)])
    return Rows(values, indices, read_only(starts))


def matrix_of(rows: Rows, count: int, width: int) -> Any:
    """Rows as an array or a CSR matrix."""
    if rows.indices is None:
        return rows.values.reshape(count, width)
    from scipy.sparse import csr_array

    parts = rows.values, rows.indices.astype(np.int64), rows.starts.astype(np.int64)
    return csr_array(parts, shape=(count, width))
