"""HTTP connections with limits: the size of headers, the time of a request, connections."""

import asyncio
from collections import Counter
from http import HTTPStatus
from typing import Any, ClassVar

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from .metrics import Metrics

HEADER_BYTES = 1 << 16
HEADER_SECONDS = 10.0
CONNECTIONS_PER_ADDRESS = 512
CONTINUE = b"HTTP/1.1 100 "
RESPONSE = (
    b"HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n"
    b"Connection: close\r\n\r\n%s"
)


class ResponseWriter:
    """The transport of one response: it writes the headers together with the first of the body.

    Uvicorn writes them one after the other. That costs a second system call, and a process that is
    killed in between leaves its client with half a response.
    """

    def __init__(self, transport: Any) -> None:
        self.transport = transport
        self.headers: bytes | None = None  # that are held; empty once they are written

    def write(self, data: bytes) -> None:
        """Hold the headers until the body comes."""
        if self.headers is None and not data.startswith(CONTINUE):
            self.headers = data
        elif self.headers:
            self.transport.write(self.headers + data)
            self.headers = b""
        else:
            self.transport.write(data)

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the transport."""
        return getattr(self.transport, name)


class LimitedProtocol(HttpToolsProtocol):
    """A connection that is closed when a request is too long or arrives too slowly.

    Uvicorn itself waits for headers without a limit, so that some hundred half-sent requests would
    block every other client.
    """

    connections_of: ClassVar[Counter[str]] = Counter()
    most_connections: ClassVar[int] = 1024
    body_seconds: ClassVar[float] = 60.0
    metrics: ClassVar[Metrics | None] = None
    deadline: asyncio.TimerHandle | None = None
    header_bytes = 0
    part = "headers"  # of the request that is being received, or ""

    def connection_made(self, transport: Any) -> None:
        """Count the connection, and close it if there are too many."""
        super().connection_made(transport)
        self.address = str(self.client[0]) if self.client else ""
        self.connections_of[self.address] += 1
        if len(self.connections) > self.most_connections:
            self.refuse(503, "too-many-connections", "Too many connections are open; try again.")
        elif self.connections_of[self.address] > CONNECTIONS_PER_ADDRESS:
            self.refuse(429, "too-many-connections", "Your address has too many connections.")
        else:
            self.start_deadline()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop counting the connection."""
        self.stop_deadline()
        self.connections_of[self.address] -= 1
        if not self.connections_of[self.address]:
            del self.connections_of[self.address]
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse what arrived; refuse headers that do not end, and wait for the rest not too long.

        Most requests arrive in one piece, for which no deadline is needed.
        """
        super().data_received(data)
        if not self.part or self.transport.is_closing():
            self.stop_deadline()
            return
        self.start_deadline()
        if self.part == "headers":
            self.header_bytes += len(data)
            if self.header_bytes > HEADER_BYTES:
                self.refuse(431, "long-headers", "The headers are longer than 64 kB.")

    def on_message_begin(self) -> None:
        """Begin to receive the headers of a request."""
        self.part, self.header_bytes = "headers", 0
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """Begin to receive the body of a request."""
        self.part = "body"
        self.stop_deadline()
        super().on_headers_complete()
        if self.scope["method"] != "HEAD":  # which has no body
            self.cycle.transport = ResponseWriter(self.transport)  # type: ignore[assignment]

    def on_message_complete(self) -> None:
        """Wait for the next request."""
        self.part = ""
        super().on_message_complete()

    def start_deadline(self) -> None:
        """Allow some seconds for the part that is being received."""
        if self.deadline is None:
            seconds = HEADER_SECONDS if self.part == "headers" else self.body_seconds
            self.deadline = self.loop.call_later(seconds, self.close_slow)

    def stop_deadline(self) -> None:
        """Wait without a limit: uvicorn closes connections that are idle."""
        if self.deadline is not None:
            self.deadline.cancel()
            self.deadline = None

    def close_slow(self) -> None:
        """Close a connection whose request did not arrive in time."""
        self.refuse(408, f"slow-{self.part}", f"The {self.part} did not arrive in time.")

    def send_400_response(self, msg: str) -> None:
        """Answer bytes that are not HTTP."""
        self.refuse(400, "not-http", "The request is not valid HTTP.")

    def refuse(self, status: int, code: str, sentence: str) -> None:
        """Answer in one piece, count the answer, and close."""
        self.stop_deadline()
        if not self.transport.is_closing():
            body = b'{"error": "%s", "code": "%s"}' % (sentence.encode(), code.encode())
            line = f"{status} {HTTPStatus(status).phrase}".encode()
            self.transport.write(RESPONSE % (line, len(body), body))
            self.transport.close()
            if self.metrics is not None:
                self.metrics.count("other", status, 0.0)
