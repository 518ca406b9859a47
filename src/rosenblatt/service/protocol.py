"""HTTP connections with limits: the size of headers, the time for them, connections per address."""

import asyncio
from collections import Counter
from http import HTTPStatus
from typing import Any, ClassVar

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from .metrics import Metrics

HEADER_BYTES = 1 << 16
HEADER_SECONDS = 10.0
CONNECTIONS_PER_ADDRESS = 512
RESPONSE = (
    b"HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n"
    b"Connection: close\r\n\r\n%s"
)


class LimitedProtocol(HttpToolsProtocol):
    """A connection that is closed when its headers are too long or too slow.

    Uvicorn itself waits for headers without a limit, so that some hundred half-sent requests would
    block every other client.
    """

    connections_of: ClassVar[Counter[str]] = Counter()
    most_connections: ClassVar[int] = 1024
    metrics: ClassVar[Metrics | None] = None
    deadline: asyncio.TimerHandle | None = None
    header_bytes = 0
    reads_headers = True

    def connection_made(self, transport: Any) -> None:
        """Count the connection, and close it if its address has too many."""
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
        """Forget the connection."""
        self.stop_deadline()
        self.connections_of[self.address] -= 1
        if not self.connections_of[self.address]:
            del self.connections_of[self.address]
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse what arrived; refuse headers that do not end."""
        super().data_received(data)
        if self.reads_headers and not self.transport.is_closing():
            self.header_bytes += len(data)
            if self.header_bytes > HEADER_BYTES:
                self.refuse(431, "long-headers", "The headers are longer than 64 kB.")

    def on_message_begin(self) -> None:
        """Begin to read headers."""
        self.reads_headers, self.header_bytes = True, 0
        self.start_deadline()
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """Headers have arrived in time."""
        self.reads_headers = False
        self.stop_deadline()
        super().on_headers_complete()

    def start_deadline(self) -> None:
        """Allow some seconds for headers."""
        if self.deadline is None:
            self.deadline = self.loop.call_later(HEADER_SECONDS, self.close_slow)

    def stop_deadline(self) -> None:
        """No headers are waited for."""
        if self.deadline is not None:
            self.deadline.cancel()
            self.deadline = None

    def close_slow(self) -> None:
        """Close a connection whose headers did not arrive."""
        self.refuse(408, "slow-headers", "The headers did not arrive in time.")

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
