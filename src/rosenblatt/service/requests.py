"""Request bodies as rows, and the texts that the log keeps of them."""

import re
from collections.abc import Iterable
from typing import Any

import msgspec

JSON = "application/json"
NDJSON = ("application/x-ndjson", "application/ndjson", "application/jsonl")
LINES = "text/plain"
BOM = b"\xef\xbb\xbf"
FORM = "application/x-www-form-urlencoded"
"""What ``curl -d`` states whatever it sends. Pages of other sites, which may send this type without
asking, are refused by their origin."""


class RequestError(ValueError):
    """A request that is refused: the status, a stable code, why, and where in the request."""

    def __init__(self, status: int, code: str, sentence: str, **where: Any) -> None:
        super().__init__(sentence)
        self.status, self.body = status, {"error": sentence, "code": code, **where}


class BadExampleError(RequestError):
    """An example that cannot be used: why, in which row (from 1 on) and in which column."""

    def __init__(self, sentence: str, row: int | None = None, column: str | None = None) -> None:
        where = [] if row is None else [f"row {row}"]
        where += [] if column is None else [f"column {column!r}"]
        said = f"{', '.join(where)}: {sentence}" if where else sentence
        super().__init__(400, "bad-example", said, row=row, column=column)
        self.row, self.column = row, column


def make_texts(values: list[Any]) -> list[str]:
    """The texts of examples for the log."""
    return [msgspec.json.encode(value).decode() for value in values]


def cut_texts(body: bytes | bytearray) -> list[str]:
    """The texts of examples in a JSON document that was parsed before, as they were sent."""
    found = msgspec.json.decode(body, type=list[msgspec.Raw]) if body[:1] == b"[" else [body]
    return [str(one, "utf-8").strip().replace("\n", " ") for one in found]  # each on one line


def parse_values(
    body: bytes | bytearray,
    content_type: str,
    most: int,
    of_lines: bool,
    of_lists: str | None = None,
) -> list[Any]:
    """Parse a request body into rows: objects, or lines of text.

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
    kind = check_type(content_type)
    if body.startswith(BOM):
        body = body[len(BOM) :]
    if kind == JSON or (kind == FORM and body.lstrip()[:1] in (b"{", b"[")):
        values = parse_json(body)
        found: Iterable[Any] = values if isinstance(values, list) else [values]
    elif kind in NDJSON:
        lines = (line for line in body.split(b"\n") if line.strip())
        found = (parse_json(line, row) for row, line in enumerate(lines, 1))
    elif kind == LINES and of_lines:
        found = (line.rstrip("\r") for line in decode(body).split("\n") if line.strip())
    else:
        names = f"{JSON} or {LINES if of_lines else NDJSON[0]}"
        sentence = f"Content-Type {kind[:80]} is not supported; send {names}."
        raise RequestError(415, "content-type", sentence)
    if of_lists is not None:
        found = ({of_lists: one} if type(one) is list else one for one in found)
    return check_values(found, most, str if of_lines else dict)


def check_type(content_type: str) -> str:
    """The media type of a body, JSON if none is stated; refuse character sets except UTF-8."""
    if content_type == JSON:
        return JSON
    kind, _, details = content_type.partition(";")
    charset = re.search(r"charset=\"?([\w-]+)", details)
    if charset is not None and charset[1].lower() not in ("utf-8", "utf8", "us-ascii"):
        raise RequestError(415, "content-type", f"The body is in {charset[1]}; send UTF-8.")
    return kind.strip().lower() or JSON


def decode(body: bytes | bytearray) -> str:
    """The text of a body."""
    try:
        return body.decode()
    except UnicodeDecodeError as error:
        raise BadExampleError(f"The body is not UTF-8 (byte {error.start + 1}).") from None


def check_values(values: Iterable[Any], most: int, kind: type) -> list[Any]:
    """Return rows of one type; refuse none or too many."""
    taken: list[Any] = []
    for value in values:
        if len(taken) == most:
            sentence = f"A request takes at most {most:,} rows; send several requests."
            raise RequestError(413, "too-many-rows", sentence)
        if type(value) is not kind:
            wanted = "an object of columns" if kind is dict else "a line of text"
            raise BadExampleError(f"expected {wanted}", len(taken) + 1)
        taken.append(value)
    if not taken:
        raise BadExampleError("The body has no rows.")
    return taken


def parse_json(text: bytes | bytearray | str, row: int | None = None, kind: Any = Any) -> Any:
    """Parse JSON of a type, from a request or from the log.

    NaN, infinity and half characters are refused.
    """
    try:
        return msgspec.json.decode(text, type=kind)
    except RecursionError:
        raise BadExampleError("invalid JSON (it is nested too deeply)", row) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        if not isinstance(text, str):
            decode(text)
        raise BadExampleError(f"invalid JSON ({error})", row) from None
