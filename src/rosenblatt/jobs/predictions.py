"""Predictions: ids, labels, scores and probabilities, alone or beside the input, as text."""

import csv
import io
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import compress, islice
from math import isfinite
from typing import Any

from ..data.rows import Array, n_rows
from ..learners.conformal import make_sets
from ..parameters import InputError
from ..reading.fasttext import PREFIX
from ..reading.reader import Reader
from ..reading.records import list_record_columns, read_records
from .decisions import find_positive, make_decision, require_probabilities
from .evaluate import scored

DELIMITERS = {"csv": ",", "tsv": "\t"}


@dataclass(frozen=True)
class Contents:
    """What is written about each row.

    Attributes
    ----------
    form
        "text" with a line for each row, "fasttext", "csv", "tsv" or "jsonl". Text has the label, or
        instead of it what was asked for; fastText's labels have a prefix, and with ``append`` the
        text after them. In JSON numbers of the input are not text, a set is a list, and an
        end of an interval that is infinite is null.
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
    """

    form: str = "text"
    scores: bool = False
    probabilities: bool = False
    append: bool = False
    threshold: float | None = None
    positive_class: Any = None
    coverage: float | None = None


Columns = dict[tuple[str, ...], Callable[[Array], list[list[Any]]]]
"""The functions from scores to columns of predictions, by the names of these."""


def plan_columns(learner: Any, contents: Contents, separator: str = ",") -> Columns:
    """Return how the predicted columns are made of scores; label sets have ``separator``."""
    names = learner.classes.tolist()
    if contents.form == "fasttext":
        separator, names = " ", [mark_label(str(name)) for name in names]
    words, typed = list(map(str, names)), contents.form == "jsonl"
    numbers = learner.target_kind == "numbers"
    positive = find_positive(learner, contents.positive_class)
    decide = make_decision(learner, contents.threshold, positive)

    def join(flags: Array) -> list[str]:
        return [separator.join(compress(words, row)) for row in flags.tolist()]

    def label(scores: Array) -> list[list[Any]]:
        chosen = decide(scores)
        if numbers:
            return shorten(chosen[:, None], 15)
        return [join(chosen) if learner.multilabel else [names[code] for code in chosen.tolist()]]

    found: Columns = {("predicted",): label}
    if contents.scores and not numbers:
        own = words[len(words) == 2 and not learner.multilabel :]
        listed = tuple(f"score_{name}" for name in own)
        found[listed] = lambda scores: shorten(scores.reshape(len(scores), -1))
    if contents.probabilities:
        chances = require_probabilities(learner)
        listed = tuple(f"probability_{name}" for name in words)
        found[listed] = lambda scores: shorten(chances(scores))
    if contents.coverage is not None:
        sets = make_sets(learner, contents.coverage)
        if numbers:
            found["low", "high"] = lambda scores: [
                [end if isfinite(end) else None if typed else str(end) for end in ends]
                for ends in shorten(sets(scores), 15)
            ]
        elif typed:
            found[("set",)] = lambda scores: [
                [[*compress(names, row)] for row in sets(scores).tolist()]
            ]
        else:
            found[("set",)] = lambda scores: [join(sets(scores))]
    return found


def mark_label(name: str) -> str:
    """Return a label as fastText writes it; it cannot have blanks."""
    if name.split() != [name]:
        raise InputError(
            f"The label {name!r} is empty or has a blank, which fastText's labels cannot have; "
            "write another format.",
            code="label-blank",
        )
    return PREFIX + name


def shorten(table: Array, digits: int = 9) -> list[list[float]]:
    """Return the columns of a matrix, each number with at most some digits."""
    return [[float(f"{value:.{digits}g}") for value in column] for column in table.T.tolist()]


def predict_rows(
    learner: Any, reader: Reader, contents: Contents, tell: Callable[[int], None] | None = None
) -> Iterator[bytes]:
    """Yield the predictions of a file, part by part, as text.

    ``tell`` receives the bytes read so far. Only a part of the file is in memory at a time.
    """
    columns = plan_columns(learner, contents, reader.recipe.labels_separator or ",")
    outputs = [name for names in columns for name in names]
    own = list_record_columns(reader) if contents.append else []
    if contents.form == "fasttext" and own:
        own = [*reader.recipe.text]
    for name in set(outputs) & set(own):
        raise InputError(
            f"{reader.source.name} has a column {name!r}, which predictions would repeat; "
            "rename it.",
            code="column-twice",
            column=name,
        )
    named = getattr(reader.parser, "id", None) is not None and not contents.append
    records = read_records(reader, contents.form == "jsonl") if contents.append else iter(())
    write = make_writer([*own, *([str(reader.recipe.id)] if named else []), *outputs], contents)
    yield write(None)
    for batch, scores in scored(learner, reader):
        if tell is not None:
            tell(batch.bytes_read)
        made = [column for make in columns.values() for column in make(scores)]
        if contents.append:
            copied = list(islice(records, n_rows(batch.rows)))
            check_records(len(copied) == len(scores), reader)
            made = [*([record.get(name) for record in copied] for name in own), *made]
        if named:
            made.insert(0, batch.ids.tolist() if batch.ids is not None else [""] * len(scores))
        yield write(list(zip(*made, strict=True)), named)
    check_records(next(records, None) is None, reader)


def check_records(same: bool, reader: Reader) -> None:
    """Raise InputError if the rows that were predicted and those to copy are not the same."""
    if not same:
        raise InputError(
            f"The rows of {reader.source.name} cannot be matched with their predictions: quotes or "
            "line ends are irregular. Predict without the input columns.",
            code="records",
            file=reader.source.name,
        )


def make_writer(names: list[str], contents: Contents) -> Callable[..., bytes]:
    """Return the function from rows to text; that of None is the header, if there is one."""
    form = contents.form

    def write(rows: Sequence[Sequence[Any]] | None, named: bool = False) -> bytes:
        if form == "jsonl":
            objects = (dict(zip(names, row, strict=True)) for row in rows or ())
            return "".join(f"{json.dumps(row, default=str)}\n" for row in objects).encode()
        if form == "fasttext":  # the labels are the last column, and names of rows the first
            lines = (" ".join(map(in_one_line, [row[-1], *row[named:-1]])) for row in rows or ())
            return "".join(f"{line}\n" for line in lines).encode()
        if form == "text":
            return "".join(format_row(row[named:], row[:named]) for row in rows or ()).encode()
        text = io.StringIO(newline="")
        writer = csv.writer(text, delimiter=DELIMITERS[form], lineterminator="\n")
        writer.writerows([names] if rows is None else rows)
        return text.getvalue().encode()

    return write


def format_row(cells: Sequence[Any], ids: Sequence[Any]) -> str:
    """Return a line with an id, if there is one, and what was asked for, or else the label."""
    words = [f"{cell:.15g}" if isinstance(cell, float) else cell for cell in cells[1:]]
    line = " ".join(map(in_one_line, words or cells))
    return "".join(in_one_line(name).replace("\t", "\\t") + "\t" for name in ids) + f"{line}\n"


def in_one_line(cell: Any) -> str:
    """Return a cell in one line; characters that would break it become escapes."""
    text = str(cell)
    if text.isprintable():
        return text
    letters = (one if one.isprintable() or one == "\t" else repr(one)[1:-1] for one in text)
    return "".join(letters)
