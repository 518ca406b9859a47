"""Predictions as a table: ids, labels, scores and probabilities, alone or beside the input."""

import csv
import io
import json
from collections.abc import Callable, Iterator, Sequence
from itertools import compress, islice
from math import isfinite
from typing import Any, NamedTuple

from ..data.rows import Array, n_rows
from ..learners.conformal import make_sets
from ..parameters import InputError
from ..reading.batches import Batch
from ..reading.reader import Reader
from ..reading.records import list_record_columns, read_records
from .decisions import find_positive, make_decision, require_probabilities
from .evaluate import scored

DELIMITERS = {"csv": ",", "tsv": "\t"}


class Contents(NamedTuple):
    """What is written about each row.

    Attributes
    ----------
    scores, probabilities
        Whether to add the score and the probability of each class.
    append
        Whether to write the columns of the input before the predictions.
    threshold
        The decision threshold, as for ``make_decision``.
    positive_class
        The one of two classes that the threshold is about; the second one by default.
    coverage
        That of prediction sets or intervals to add, or None.
    typed
        Whether cells are values of JSON: numbers of the input are not text, a set is a list, and an
        end of an interval that is infinite is null.
    """

    scores: bool = False
    probabilities: bool = False
    append: bool = False
    threshold: float | None = None
    positive_class: Any = None
    coverage: float | None = None
    typed: bool = False


def list_outputs(learner: Any, contents: Contents) -> list[str]:
    """Return the names of the predicted columns."""
    names = list(map(str, learner.classes.tolist()))
    found = ["predicted"]
    if learner.target_kind == "numbers":
        return found if contents.coverage is None else [*found, "low", "high"]
    if contents.scores:
        alone = len(names) == 2 and not learner.multilabel
        found += [f"score_{name}" for name in (names[1:] if alone else names)]
    if contents.probabilities:
        found += [f"probability_{name}" for name in names]
    return found if contents.coverage is None else [*found, "set"]


def predict_rows(
    learner: Any, reader: Reader, contents: Contents, separator: str = ","
) -> Iterator[tuple[Batch, list[list[Any]]]]:
    """Yield each batch with the predicted columns of its rows, as lists of plain values.

    Labels of label sets are joined by ``separator``.
    """
    positive = find_positive(learner, contents.positive_class)
    decide = make_decision(learner, contents.threshold, positive)
    chances = require_probabilities(learner) if contents.probabilities else None
    sets = None if contents.coverage is None else make_sets(learner, contents.coverage)
    names, labels = learner.classes.tolist(), list[Any]()
    for batch, scores in scored(learner, reader):
        chosen = decide(scores)
        if learner.target_kind == "numbers":
            labels = shorten(chosen[:, None], 15)[0]
        elif learner.multilabel:
            labels = join_labels(names, chosen, separator)
        else:
            labels = [names[code] for code in chosen.tolist()]
        columns = [labels]
        if contents.scores and learner.target_kind != "numbers":
            columns += shorten(scores.reshape(len(scores), -1))
        if chances is not None:
            columns += shorten(chances(scores))
        if sets is not None and learner.target_kind == "numbers":
            ends = shorten(sets(scores), 15)
            columns += [[as_limit(end, contents.typed) for end in each] for each in ends]
        elif sets is not None and contents.typed:
            columns.append([[*compress(names, row)] for row in sets(scores).tolist()])
        elif sets is not None:
            columns.append(join_labels(names, sets(scores), separator))
        yield batch, [list(row) for row in zip(*columns, strict=True)]


def join_labels(names: list[Any], flags: Array, separator: str) -> list[str]:
    """Return the names that each row of flags has."""
    return [separator.join(map(str, compress(names, row))) for row in flags.tolist()]


def as_limit(end: float, typed: bool) -> float | str | None:
    """Return the end of an interval; JSON (``typed``) has no infinite number."""
    return end if isfinite(end) else None if typed else str(end)


def shorten(table: Array, digits: int = 9) -> list[list[float]]:
    """Return the columns of a matrix, each number with at most some digits."""
    return [[float(f"{value:.{digits}g}") for value in column] for column in table.T.tolist()]


class Table(NamedTuple):
    """A table of predictions: the names of its columns, and its rows in parts."""

    names: list[str]
    parts: Iterator[list[Sequence[Any]]]


def tabulate_predictions(
    learner: Any, reader: Reader, contents: Contents, tell: Callable[[int], None] | None = None
) -> Table:
    """Return the predictions of a file as a table, after its own columns if these are wanted.

    ``tell`` receives the bytes read so far. Only a part of the file is in memory at a time.
    """
    own = list_record_columns(reader) if contents.append else []
    outputs = list_outputs(learner, contents)
    twice = [name for name in outputs if name in own]
    if twice:
        raise InputError(
            f"{reader.source.name} has a column {twice[0]!r}, which predictions would repeat; "
            "rename it.",
            code="column-twice",
            column=twice[0],
        )
    separator = reader.recipe.labels_separator or ","
    row_id = None if contents.append else find_id(reader)
    records = read_records(reader, contents.typed) if contents.append else iter(())

    def parts() -> Iterator[list[Sequence[Any]]]:
        for batch, rows in predict_rows(learner, reader, contents, separator):
            if tell is not None:
                tell(batch.bytes_read)
            if contents.append:
                copied = list(islice(records, n_rows(batch.rows)))
                check_records(len(copied) == len(rows), reader)
                yield [
                    [*(record.get(name) for name in own), *row]
                    for record, row in zip(copied, rows, strict=True)
                ]
            elif row_id is not None and batch.ids is not None:
                yield [[name, *row] for name, row in zip(batch.ids.tolist(), rows, strict=True)]
            else:
                yield [*rows]
        check_records(next(records, None) is None, reader)

    return Table([*own, *([] if row_id is None else [row_id]), *outputs], parts())


def find_id(reader: Reader) -> str | None:
    """Return the name of the column that names the rows, if the file has it."""
    known = getattr(reader.parser, "id", None) is not None
    return str(reader.recipe.id) if known else None


def check_records(same: bool, reader: Reader) -> None:
    """Raise InputError if the rows that were predicted and those to copy are not the same."""
    if not same:
        raise InputError(
            f"The rows of {reader.source.name} cannot be matched with their predictions: quotes or "
            "line ends are irregular. Predict without the input columns.",
            code="records",
            file=reader.source.name,
        )


def write_table(table: Table, form: str) -> Iterator[bytes]:
    """Yield a table as CSV, TSV or JSON lines, part by part; CSV and TSV have a header."""
    if form == "jsonl":
        for part in table.parts:
            rows = (dict(zip(table.names, row, strict=True)) for row in part)
            yield "".join(f"{json.dumps(row, default=str)}\n" for row in rows).encode()
        return
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, delimiter=DELIMITERS[form], lineterminator="\n")
    writer.writerow(table.names)
    for part in table.parts:
        writer.writerows(part)
        yield buffer.getvalue().encode()
        buffer.seek(0)
        buffer.truncate()
    yield buffer.getvalue().encode()
