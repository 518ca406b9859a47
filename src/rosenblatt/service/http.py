"""Requests, responses and routes over plain ASGI.

A web framework would take as much time for a small prediction as the prediction itself.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple
from urllib.parse import parse_qsl

import orjson

if TYPE_CHECKING:
    from .app import Service

JSON = "application/json"
PIECE = 1 << 20  # bytes of a file that are sent at once
CHALLENGES = {401: {"WWW-Authenticate": "Bearer"}, 429: {"Retry-After": "1"}}

Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]


class RequestError(Exception):
    """A request that is refused: the status, a stable code, why, and where in the request."""

    def __init__(self, status: int, code: str, sentence: str, **where: Any) -> None:
        super().__init__(sentence)
        self.status, self.code = status, code
        self.body = {"error": sentence, "code": code, **where}

    def to_response(self) -> "Response":
        """The response that says so."""
        return to_json(self.body, self.status, CHALLENGES.get(self.status))


class DisconnectedError(Exception):
    """The client closed the connection before its request was complete."""


class Request:
    """A request: method, path, headers, and the body once it has been read.

    Attributes
    ----------
    method, path : str
        As they were sent; the path is decoded.
    headers : dict of bytes to bytes
        Names are in lower case.
    parameters : dict of str to str
        The parts of the path that its route leaves open.
    body : bytes
        Empty until ``read`` has returned.
    identity : str
        The request id, for logs.
    """

    def __init__(self, scope: dict[str, Any], receive: Receive) -> None:
        self.method, self.path = scope["method"], scope["path"]
        self.headers: dict[bytes, bytes] = dict(scope["headers"])
        self.query_string: bytes = scope["query_string"]
        self.client: str = scope["client"][0] if scope.get("client") else ""
        self.parameters: dict[str, str] = {}
        self.receive, self.body, self.identity, self.rows = receive, b"", "", 0

    def header(self, name: bytes) -> str:
        """A header, or an empty string."""
        return self.headers.get(name, b"").decode("latin-1")

    def query(self, name: str, default: str) -> str:
        """A parameter of the query string."""
        if not self.query_string:
            return default
        return dict(parse_qsl(self.query_string.decode("latin-1"), True)).get(name, default)

    async def read(self, admit: Callable[[int, int], None]) -> None:
        """Read the body; ``admit`` is called with the size of each piece and of all so far."""
        pieces, size, more = [], 0, True
        while more:
            message = await self.receive()
            if message["type"] != "http.request":
                raise DisconnectedError
            piece, more = message.get("body", b""), message.get("more_body", False)
            pieces.append(piece)
            size += len(piece)
            admit(len(piece), size)
        self.body = pieces[0] if len(pieces) == 1 else b"".join(pieces)


class Response:
    """A response: a status, headers, and a body in one piece or as an open file."""

    def __init__(
        self,
        body: bytes | BinaryIO,
        status: int = 200,
        kind: str = JSON,
        headers: dict[str, str] | None = None,
    ) -> None:
        self.body, self.status = body, status
        self.headers = [(b"content-type", kind.encode())]
        if isinstance(body, bytes):
            self.headers.append((b"content-length", b"%d" % len(body)))
        for name, value in (headers or {}).items():
            self.headers.append((name.lower().encode(), value.encode("latin-1")))

    async def send(self, send: Send) -> None:
        """Send the status, the headers and the body."""
        await send({"type": "http.response.start", "status": self.status, "headers": self.headers})
        if isinstance(self.body, bytes):
            await send({"type": "http.response.body", "body": self.body})
            return
        with self.body as file:
            while piece := await asyncio.to_thread(file.read, PIECE):
                await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body"})


def to_json(value: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """A response in JSON."""
    return Response(orjson.dumps(value, option=orjson.OPT_SERIALIZE_NUMPY), status, JSON, headers)


class Route(NamedTuple):
    """An endpoint.

    Attributes
    ----------
    method, path
        What it answers; a part of the path in braces matches anything.
    role
        The role that a token must have, or "" for no token.
    answer
        Makes the response.
    summary
        One sentence for the OpenAPI description.
    largest
        The largest size of a body in bytes, or None for that of the service.
    """

    method: str
    path: str
    role: str
    answer: Callable[[Request], Awaitable[Response]]
    summary: str
    largest: int | None = None


class Endpoints:
    """Some endpoints of a service."""

    def __init__(self, service: "Service") -> None:
        self.service = service


class Router:
    """Finds the route of a request."""

    def __init__(self, routes: Iterable[Route]) -> None:
        self.exact: dict[str, dict[str, Route]] = {}
        self.open: dict[str, dict[str, Route]] = {}
        for route in routes:
            table = self.open if "{" in route.path else self.exact
            table.setdefault(route.path, {})[route.method] = route

    def find(self, request: Request) -> Route:
        """The route of a request; what its path leaves open is stored in the request."""
        found = self.exact.get(request.path) or self.match(request)
        if found is None:
            raise RequestError(404, "unknown-path", "There is no such path.")
        method = "GET" if request.method == "HEAD" else request.method
        if method not in found:
            sentence = f"The path takes {' and '.join(found)}."
            raise RequestError(405, "wrong-method", sentence)
        return found[method]

    def match(self, request: Request) -> dict[str, Route] | None:
        """The routes whose open path matches, by method."""
        parts = request.path.split("/")
        for path, routes in self.open.items():
            names = path.split("/")
            if len(names) == len(parts) and all(
                name == part or (name.startswith("{") and part)
                for name, part in zip(names, parts, strict=True)
            ):
                pairs = zip(names, parts, strict=True)
                request.parameters = {name[1:-1]: part for name, part in pairs if name[:1] == "{"}
                return routes
        return None
