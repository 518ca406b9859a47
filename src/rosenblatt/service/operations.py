"""What an endpoint takes and gives: the table from which requests are routed and described."""

from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

import msgspec
from starlette.requests import Request
from starlette.responses import Response

JSON = "application/json"
BINARY = "application/octet-stream"


def encode_array(value: Any) -> Any:
    """Numbers and arrays of NumPy as those of Python."""
    return value.tolist()


encode_json = msgspec.json.Encoder(enc_hook=encode_array).encode


class RequestError(Exception):
    """A request that is refused: the status, a stable code, why, and where in the request."""

    def __init__(self, status: int, code: str, sentence: str, **where: Any) -> None:
        super().__init__(sentence)
        self.status, self.body = status, {"error": sentence, "code": code, **where}


class Call(NamedTuple):
    """A request, its body, and its query as the type of its operation."""

    request: Request
    body: bytearray
    query: Any = None

    def header(self, name: str) -> str:
        """A header, or an empty string."""
        return self.request.headers.get(name, "")


class Operation(NamedTuple):
    """An endpoint.

    Attributes
    ----------
    method, path
        What it answers; a part of the path in braces matches anything.
    role
        The role that a token must have, or "" for no token.
    answer
        Makes the result. The first line of its docstring is the summary.
    result
        The type of the result: it is sent as JSON, unless it is a response. A string is the media
        type of a response.
    status
        Of the response.
    query
        The type of the query.
    body
        The type of the body, or "rows" or "examples", which the model describes.
    largest
        The largest size of a body in bytes, or None for that of the service.
    """

    method: str
    path: str
    role: str
    answer: Callable[[Call], Awaitable[Any]]
    result: Any
    status: int = 200
    query: Any = None
    body: Any = None
    largest: int | None = None


def to_response(result: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """A result as JSON, unless it is a response."""
    if isinstance(result, Response):
        return result
    return Response(encode_json(result), status, headers, JSON)
