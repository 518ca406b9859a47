"""Request bodies as rows, and the texts that the log keeps of them."""

from typing import Any

import msgspec

JSON = "application/json"
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
    body: bytes | bytearray, content_type: str, most: int, of_lists: str | None = None
) -> list[Any]:
    """Parse a request body into rows, which are objects.

    Parameters
    ----------
    body, content_type
        As they were received.
    most
        The largest number of examples; more are refused.
    of_lists
        The entry that a list stands for, if an example may be a list instead of an object.
    """
    kind = content_type.partition(";")[0].strip().lower()
    if kind not in ("", JSON) and not (kind == FORM and body.lstrip()[:1] in (b"{", b"[")):
        sentence = f"Content-Type {kind[:80]} is not supported; send {JSON}."
        raise RequestError(415, "content-type", sentence)
    values = parse_json(body)
    found: list[Any] = values if isinstance(values, list) else [values]
    if of_lists is not None:
        found = [{of_lists: one} if type(one) is list else one for one in found]
    return check_values(found, most)


def check_values(values: list[Any], most: int) -> list[Any]:
    """Return rows; refuse an empty list, too many rows, and values that are not objects."""
    if len(values) > most:
        sentence = f"A request takes at most {most:,} rows; send several requests."
        raise RequestError(413, "too-many-rows", sentence)
    for row, value in enumerate(values, 1):
        if type(value) is not dict:
            raise BadExampleError("expected an object of columns", row)
    if not values:
        raise BadExampleError("The body has no rows.")
    return values


def parse_json(text: bytes | bytearray | str, row: int | None = None, kind: Any = Any) -> Any:
    """Parse JSON of a type, from a request or from the log.

    NaN, infinity and half characters are refused.
    """
    try:
        return msgspec.json.decode(text, type=kind)
    except RecursionError:
        raise BadExampleError("invalid JSON (it is nested too deeply)", row) from None
    except UnicodeDecodeError:
        raise BadExampleError("The body is not UTF-8.") from None
    except msgspec.DecodeError as error:
        raise BadExampleError(f"invalid JSON ({error})", row) from None
