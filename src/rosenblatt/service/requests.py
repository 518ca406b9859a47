"""What a request says: its body as examples, each with the text that the log keeps of it."""

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ..kernels.addresses import COMMA, NEWLINE
from ..kernels.objects import find_objects

JSON = "application/json"
NDJSON = ("application/x-ndjson", "application/ndjson", "application/jsonl")
CSV = "text/csv"
LINES = "text/plain"
BLANK = re.compile(r"[ \t\r\n]*")


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


def examples_in(body: bytes, content_type: str, most: int, of_lines: bool) -> list[Example]:
    """The examples of a body, at most so many.

    Parameters
    ----------
    body, content_type
        As they came.
    most
        More are refused.
    of_lines
        Whether an example is a line of text (svmlight, Vowpal Wabbit) and not an object.
    """
    kind, _, details = content_type.partition(";")
    kind = kind.strip().lower() or JSON
    charset = re.search(r"charset=\"?([\w-]+)", details)
    if charset is not None and charset[1].lower() not in ("utf-8", "utf8", "us-ascii"):
        raise UnknownTypeError(f"The body is in {charset[1]}; send UTF-8.")
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadExampleError(f"The body is not UTF-8 (byte {error.start + 1}).") from None
    if kind == JSON:
        found = in_json(text)
    elif kind in NDJSON:
        found = in_lines_of_json(text)
    elif kind == CSV and not of_lines:
        found = in_csv(text)
    elif kind == LINES and of_lines:
        found = in_lines(text)
    else:
        kinds = [JSON, NDJSON[0], LINES if of_lines else CSV]
        raise UnknownTypeError(f"Content-Type {kind[:80]} is not read here; send {listed(kinds)}.")
    return checked(found, most, str if of_lines else dict)


def checked(found: Iterable[Example], most: int, kind: type) -> list[Example]:
    """Examples that are all of one kind, at least one and at most so many."""
    taken: list[Example] = []
    for example in found:
        if len(taken) == most:
            raise TooManyRowsError(f"A request takes at most {most:,} rows; send several requests.")
        if type(example.value) is not kind:
            wanted = "an object of columns" if kind is dict else "a line of text"
            raise BadExampleError(f"this is not {wanted}", len(taken) + 1)
        taken.append(example)
    if not taken:
        raise BadExampleError("The body has no rows.")
    return taken


class TooManyRowsError(ValueError):
    """More rows than one request may have."""


def listed(kinds: list[str]) -> str:
    """Some names, the last after an "or"."""
    return ", ".join(kinds[:-1]) + f" or {kinds[-1]}"


# JSON


def refused_constant(name: str) -> Any:
    """Refuse NaN and Infinity, which JSON does not have."""
    raise BadExampleError(f"JSON has no {name}; leave the column out or send null.")


DECODER = json.JSONDecoder(parse_constant=refused_constant)


def decoded(text: str, at: int, row: int | None = None) -> tuple[Any, int]:
    """The value at some place of a text, and where it ends."""
    try:
        return DECODER.raw_decode(text, at)
    except json.JSONDecodeError as error:
        raise malformed(text, error.pos, row) from None
    except BadExampleError as error:
        raise BadExampleError(str(error), row) from None
    except RecursionError:
        raise BadExampleError("the JSON is nested too deeply", row) from None
    except ValueError:  # Python reads no integers of thousands of digits
        raise BadExampleError("a number has too many digits", row) from None


def malformed(text: str, at: int, row: int | None) -> BadExampleError:
    """What to say of a text that is no JSON."""
    line, begin = text.count("\n", 0, at) + 1, text.rfind("\n", 0, at) + 1
    return BadExampleError(
        f"the body is not JSON from line {line}, character {at - begin + 1} on", row
    )


def in_json(text: str) -> Iterator[Example]:
    """One value, or those of a list."""
    at = end_of_blanks(text, 0)
    if not text.startswith("[", at):
        value, end = decoded(text, at)
        refuse_rest(text, end)
        yield Example(text[at:end], value)
        return
    at, row = end_of_blanks(text, at + 1), 1
    if text.startswith("]", at):
        refuse_rest(text, at + 1)
        return
    while True:
        value, end = decoded(text, at, row)
        yield Example(text[at:end], value)
        at = end_of_blanks(text, end)
        if text.startswith("]", at):
            refuse_rest(text, at + 1)
            return
        if not text.startswith(",", at):
            raise malformed(text, at, row)
        at, row = end_of_blanks(text, at + 1), row + 1


def in_lines_of_json(text: str) -> Iterator[Example]:
    """A value in each line."""
    row = 0
    for line in text.split("\n"):
        whole = line.strip(" \t\r")
        if whole:
            row += 1
            value, end = decoded(whole, 0, row)
            if end < len(whole):
                raise BadExampleError("something follows the JSON of this line", row)
            yield Example(whole, value)


def end_of_blanks(text: str, at: int) -> int:
    """Where something else than blanks begins."""
    found = BLANK.match(text, at)
    return at if found is None else found.end()


def refuse_rest(text: str, end: int) -> None:
    """Refuse anything but blanks after the last value."""
    at = end_of_blanks(text, end)
    if at < len(text):
        raise malformed(text, at, None)


def flat_objects(body: bytes, content_type: str, most: int) -> list[str] | None:
    """The texts of a body's objects, if they are so plain that Arrow reads them as Python does.

    None if it is not sure, or if there are more.
    """
    kind = content_type.partition(";")[0].strip().lower()
    if kind not in (JSON, *NDJSON):
        return None
    body, separator = body.strip(b" \n"), NEWLINE
    if kind == JSON:
        if not (body.startswith(b"[") and body.endswith(b"]")):
            return None
        body, separator = body[1:-1], COMMA
    places = np.empty((2, min(most, len(body) // 2)), np.int64)
    count = find_objects(np.frombuffer(body, np.uint8), separator, *places)
    try:
        texts = [body[begin:end].decode() for begin, end in places[:, : max(count, 0)].T.tolist()]
    except UnicodeDecodeError:
        return None
    return texts or None


# Other forms


def in_csv(text: str) -> Iterator[Example]:
    """Rows below a line of names; the log keeps them as objects of words."""
    rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        names = [name.strip() for name in next(rows, [])]
        if len(set(names)) < len(names):
            raise BadExampleError("The first line of the CSV names a column twice.")
        for number, cells in enumerate((row for row in rows if row), 1):
            if len(cells) != len(names):
                sentence = f"there are {len(cells)} cells, and the first line names {len(names)}"
                raise BadExampleError(sentence, number)
            value = dict(zip(names, cells, strict=True))
            yield Example(json.dumps(value, ensure_ascii=False), value)
    except csv.Error as error:
        raise BadExampleError(f"the CSV is malformed ({error})", rows.line_num) from None


def in_lines(text: str) -> Iterator[Example]:
    """A line each, as svmlight and Vowpal Wabbit have them."""
    for line in text.split("\n"):
        whole = line.rstrip("\r")
        if whole.strip():
            yield Example(json.dumps(whole, ensure_ascii=False), whole)
