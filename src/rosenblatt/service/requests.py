"""Request bodies as examples, each with the text that the log keeps of it."""

import csv
import io
import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import orjson

JSON = "application/json"
NDJSON = ("application/x-ndjson", "application/ndjson", "application/jsonl")
CSV = "text/csv"
LINES = "text/plain"


class BadExampleError(ValueError):
    """Something that cannot be used: what, in which row (from 1 on) and in which column."""

    def __init__(self, sentence: str, row: int | None = None, column: str | None = None) -> None:
        where = [] if row is None else [f"row {row}"]
        where += [] if column is None else [f"column {column!r}"]
        super().__init__(f"{', '.join(where)}: {sentence}" if where else sentence)
        self.row, self.column = row, column


class UnknownTypeError(ValueError):
    """A body of a kind that is not read here."""


class Example(NamedTuple):
    """One example: the text that the log keeps, and what it says."""

    text: str
    value: Any


def parse_examples(
    body: bytes, content_type: str, most: int, of_lines: bool, of_lists: str | None = None
) -> list[Example]:
    """Parse a request body into examples.

    Parameters
    ----------
    body, content_type
        As they were received.
    most
        The largest number of examples; more are refused.
    of_lines
        Whether an example is a line of text (svmlight, Vowpal Wabbit) and not an object.
    of_lists
        The entry that a list stands for, if an example may be a list instead of an object.
    """
    kind, _, details = content_type.partition(";")
    kind = kind.strip().lower() or JSON
    charset = re.search(r"charset=\"?([\w-]+)", details)
    if charset is not None and charset[1].lower() not in ("utf-8", "utf8", "us-ascii"):
        raise UnknownTypeError(f"The body is in {charset[1]}; send UTF-8.")
    body = body.removeprefix(b"\xef\xbb\xbf")
    try:
        text = body.decode()
    except UnicodeDecodeError as error:
        raise BadExampleError(f"The body is not UTF-8 (byte {error.start + 1}).") from None
    if kind == JSON:
        values = parse_json(body)
        found: Iterable[Any] = values if isinstance(values, list) else [values]
    elif kind in NDJSON:
        found = parse_json_lines(text)
    elif kind == CSV and not of_lines:
        found = parse_csv(text)
    elif kind == LINES and of_lines:
        found = (line.rstrip("\r") for line in text.split("\n") if line.strip())
    else:
        kinds = [JSON, NDJSON[0], LINES if of_lines else CSV]
        names = f"{', '.join(kinds[:-1])} or {kinds[-1]}"
        raise UnknownTypeError(f"Content-Type {kind[:80]} is not supported; send {names}.")
    if of_lists is not None:
        found = ({of_lists: one} if type(one) is list else one for one in found)
    return check_examples(found, most, str if of_lines else dict)


def check_examples(values: Iterable[Any], most: int, kind: type) -> list[Example]:
    """Return examples of one kind with their texts; refuse none or too many."""
    taken: list[Example] = []
    for value in values:
        if len(taken) == most:
            raise TooManyRowsError(f"A request takes at most {most:,} rows; send several requests.")
        if type(value) is not kind:
            wanted = "an object of columns" if kind is dict else "a line of text"
            raise BadExampleError(f"expected {wanted}", len(taken) + 1)
        taken.append(Example(orjson.dumps(value).decode(), value))
    if not taken:
        raise BadExampleError("The body has no rows.")
    return taken


class TooManyRowsError(ValueError):
    """More rows than one request may have."""


def parse_json(text: bytes | str, row: int | None = None) -> Any:
    """Parse JSON, from a request or from the log.

    NaN, infinity and half characters are refused; integers beyond 64 bits become floats.
    """
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        where = f"line {error.lineno}, character {error.colno}"
        raise BadExampleError(f"invalid JSON at {where} ({error.msg})", row) from None


def parse_json_lines(text: str) -> Iterator[Any]:
    """Parse one JSON value per line."""
    lines = (line for line in text.split("\n") if line.strip())
    for row, line in enumerate(lines, 1):
        yield parse_json(line, row)


def parse_csv(text: str) -> Iterator[dict[str, str]]:
    """Parse rows below a line of names; each is an object of strings."""
    rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        names = [name.strip() for name in next(rows, [])]
        if len(set(names)) < len(names):
            raise BadExampleError("The first line of the CSV names a column twice.")
        for number, cells in enumerate((row for row in rows if row), 1):
            if len(cells) != len(names):
                sentence = f"there are {len(cells)} cells, and the first line names {len(names)}"
                raise BadExampleError(sentence, number)
            yield dict(zip(names, cells, strict=True))
    except csv.Error as error:
        raise BadExampleError(f"invalid CSV ({error})", rows.line_num) from None
