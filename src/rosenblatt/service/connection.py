"""HTTP/1.1 connections in which every part of a request is bounded: bytes, time and number.

The parser is llhttp (httptools). No ASGI server that was measured bounds all of headers, trailers,
chunk extensions, pipelined requests, slow requests and connections; ``docs/operations.md`` has the
figures.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from urllib.parse import unquote

import httptools

OVERHEAD = 1 << 16  # bytes of a request besides its body: request line, headers, chunks, trailers
WAITING = 1 << 18  # bytes of a body that wait for the application, before the client has to wait
CHECK = 0.5  # seconds between two looks at the deadlines
LINGER = 2.0  # seconds in which a client that still sends can read why it was refused
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
LINES = {one.value: f"HTTP/1.1 {one.value} {one.phrase}\r\n".encode() for one in HTTPStatus}

App = Callable[[Any, Any, Any], Awaitable[None]]


@dataclass(frozen=True)
class ConnectionLimits:
    """Limits of connections.

    Attributes
    ----------
    connections
        The largest number at a time. One more closes the one that has waited longest for its
        client.
    header_seconds, body_seconds
        How long the headers and the body of a request may take to arrive, and an answer to leave.
    idle_seconds
        How long a connection stays open between two requests.
    """

    connections: int = 1024
    header_seconds: float = 10.0
    body_seconds: float = 60.0
    idle_seconds: float = 75.0


class Server:
    """Accepts connections and passes their requests to an ASGI application.

    Parameters
    ----------
    app
        The application.
    limits
        The limits of connections.
    on_refusal
        Called with the address, status and code of a request that did not reach the application.
    """

    def __init__(
        self,
        app: App,
        limits: ConnectionLimits | None = None,
        on_refusal: Callable[[str, int, str], None] = lambda client, status, code: None,
    ) -> None:
        self.app, self.limits, self.on_refusal = app, limits or ConnectionLimits(), on_refusal
        self.connections: set[Connection] = set()
        self.tasks: set[asyncio.Task[None]] = set()
        self.is_stopping = False

    async def serve(self, listening: Any, stop: asyncio.Event, grace: float) -> None:
        """Answer requests until an event is set; then finish those that are open."""
        self.loop = asyncio.get_running_loop()
        server = await self.loop.create_server(lambda: Connection(self), sock=listening)
        checking = asyncio.create_task(self.check_deadlines())
        await stop.wait()
        self.is_stopping = True
        server.close()
        for connection in list(self.connections):
            if connection.exchange is None:
                connection.transport.close()
        if self.tasks:
            await asyncio.wait(self.tasks, timeout=grace)
        for connection in list(self.connections):
            connection.transport.close()
        checking.cancel()
        await asyncio.sleep(0)

    async def check_deadlines(self) -> None:
        """Close the connections whose time is over."""
        while True:
            await asyncio.sleep(CHECK)
            now = self.loop.time()
            for connection in [one for one in self.connections if one.until < now]:
                connection.expire()

    def make_room(self) -> bool:
        """Return whether one more connection fits; close the one that waits longest for that."""
        if len(self.connections) < self.limits.connections:
            return True
        waiting = [one for one in self.connections if one.part]
        if waiting:
            min(waiting, key=lambda one: one.since).transport.abort()
        return bool(waiting)


class Connection(asyncio.Protocol):
    """One connection.

    Attributes
    ----------
    part : str
        What the client is to send: "headers", "body", "nothing" between requests, or "" if the
        application is to answer.
    since, until : float
        When that began, and when the client is late.
    """

    def __init__(self, server: Server) -> None:
        self.server, self.loop = server, server.loop
        self.parser = httptools.HttpRequestParser(self)
        self.exchange: Exchange | None = None
        self.target = b""
        self.headers: list[tuple[bytes, bytes]] = []
        self.is_closing = False
        self.overhead = self.head_bytes = 0
        self.can_write = asyncio.Event()
        self.can_write.set()

    # Of the transport

    def connection_made(self, transport: Any) -> None:
        """Take the connection, unless all others are busy."""
        self.transport = transport
        peer = transport.get_extra_info("peername")
        self.client = (str(peer[0]), int(peer[1])) if isinstance(peer, tuple) else ("", 0)
        self.expect("headers", self.server.limits.header_seconds)
        has_room = self.server.make_room()
        self.server.connections.add(self)
        if not has_room:
            self.refuse(503, "too-many-connections", "Too many connections are open; try again.")

    def connection_lost(self, error: Exception | None) -> None:
        """Tell the application that its client is gone."""
        self.server.connections.discard(self)
        self.is_closing = True
        self.can_write.set()
        if self.exchange is not None:
            self.exchange.end()

    def data_received(self, data: bytes) -> None:
        """Parse what arrived, and refuse what is too long."""
        if self.is_closing:
            return
        if self.part == "":  # a request before the answer to the last one
            self.is_closing = True
            return
        if self.part == "nothing":
            self.expect("headers", self.server.limits.header_seconds)
        self.overhead += len(data)
        try:
            try:
                self.parser.feed_data(data)
            except httptools.HttpParserUpgrade as upgrade:
                self.decline_upgrade(data[upgrade.args[0] :])
        except (httptools.HttpParserError, httptools.HttpParserUpgrade):
            self.refuse(400, "not-http", "The request is not valid HTTP.")
            return
        self.overhead = max(self.overhead, 0)
        if self.head_bytes > OVERHEAD or (self.part and self.overhead > OVERHEAD):
            self.refuse(431, "long-headers", "Headers, chunks and trailers have at most 64 kB.")
        elif self.exchange is not None and not self.exchange.is_started:
            self.exchange.start()

    def decline_upgrade(self, rest: bytes) -> None:
        """Parse a request again as if it had not asked for another protocol, and then its body.

        Some clients ask for HTTP/2 with their first request, and the parser skips its body.
        """
        method = self.parser.get_method()
        lines = [
            b"%s: %s\r\n" % (name, value)
            for name, value in self.headers
            if name not in (b"upgrade", b"connection")
        ]
        self.parser, self.exchange = httptools.HttpRequestParser(self), None
        head = b"%s %s HTTP/1.1\r\nconnection: close\r\n" % (method, self.target)
        self.parser.feed_data(b"".join((head, *lines, b"\r\n", rest)))

    def eof_received(self) -> bool:
        """Answer a client that has sent its request and will send no other."""
        self.is_closing = True
        return self.exchange is not None and self.exchange.is_complete

    def pause_writing(self) -> None:
        """Let the application wait until the client has read."""
        self.can_write.clear()
        self.until = self.loop.time() + self.server.limits.body_seconds

    def resume_writing(self) -> None:
        """Let the application write again."""
        self.can_write.set()
        self.until = float("inf")

    def expect(self, part: str, seconds: float) -> None:
        """Wait for a part of a request."""
        self.part, self.since = part, self.loop.time()
        self.until = self.since + seconds

    def expire(self) -> None:
        """Close the connection, because its client is too slow."""
        if self.is_closing or self.part in ("", "nothing"):
            self.transport.abort()
        else:
            self.refuse(408, f"slow-{self.part}", f"The {self.part} did not arrive in time.")

    # Of the parser

    def on_message_begin(self) -> None:
        """Begin a request; one that follows another without waiting is not read."""
        self.is_closing = self.is_closing or self.exchange is not None
        if not self.is_closing:
            self.target, self.headers, self.head_bytes = b"", [], 0

    def on_url(self, url: bytes) -> None:
        """Take a part of the target."""
        if not self.is_closing:
            self.target += url
            self.head_bytes += len(url)

    def on_header(self, name: bytes, value: bytes | None) -> None:
        """Take a header; trailers are dropped."""
        if self.exchange is None:
            self.headers.append((name.lower(), value or b""))
            self.head_bytes += len(name) + len(value or b"")

    def on_headers_complete(self) -> None:
        """Make the request for the application."""
        if self.is_closing:
            return
        raw, _, query = self.target.partition(b"?")
        if not raw.startswith(b"/"):  # of a proxy: http://host/path
            raw = b"/" + raw.partition(b"://")[2].partition(b"/")[2]
        path = raw.decode("latin-1")
        scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.4"},
            "http_version": self.parser.get_http_version(),
            "method": self.parser.get_method().decode("latin-1"),
            "scheme": "http",
            "path": unquote(path) if "%" in path else path,
            "raw_path": raw,
            "query_string": query,
            "root_path": "",
            "headers": self.headers,
            "client": self.client,
            "server": None,
        }
        self.exchange = Exchange(self, scope)
        self.expect("body", self.server.limits.body_seconds)

    def on_body(self, body: bytes) -> None:
        """Take a part of the body; as many bytes as it has may go into its chunks."""
        if self.exchange is not None and not self.exchange.is_complete:
            self.overhead -= 2 * len(body)
            self.exchange.take(body)

    def on_message_complete(self) -> None:
        """Wait for the answer."""
        if self.exchange is not None and not self.exchange.is_complete:
            self.part, self.until = "", float("inf")
            self.exchange.complete()

    # Answers

    def begin_next(self) -> None:
        """Wait for another request, or close the connection."""
        self.exchange, self.overhead = None, 0
        if self.part or self.is_closing or self.server.is_stopping:
            self.close()
        else:
            self.expect("nothing", self.server.limits.idle_seconds)

    def refuse(self, status: int, code: str, sentence: str) -> None:
        """Answer in one piece, and close the connection."""
        self.server.on_refusal(self.client[0], status, code)
        body = b'{"error": "%s", "code": "%s"}' % (sentence.encode(), code.encode())
        head = b"content-type: application/json\r\nconnection: close\r\ncontent-length: %d\r\n\r\n"
        if self.exchange is None or not self.exchange.is_answered:
            self.transport.write(LINES[status] + head % len(body) + body)
        if self.exchange is not None:
            self.exchange.end()
        self.close()

    def close(self) -> None:
        """Close the connection once its client has read the answer.

        What still comes is dropped: a client that sends could not read the answer otherwise.
        """
        self.is_closing = True
        self.until = self.loop.time() + LINGER
        with suppress(OSError, RuntimeError):
            if self.part in ("headers", "body"):
                self.transport.write_eof()
                return
        self.transport.close()


class Exchange:
    """A request and its answer, as ``receive`` and ``send`` of an ASGI application."""

    def __init__(self, connection: Connection, scope: dict[str, Any]) -> None:
        self.connection, self.scope = connection, scope
        self.pieces: list[bytes] = []
        self.waiting = 0  # bytes
        self.arrived = asyncio.Event()
        self.head = b""
        self.is_started = self.is_complete = self.is_answered = self.is_ended = False
        self.keeps_alive = connection.parser.should_keep_alive()
        self.expects = (b"expect", b"100-continue") in scope["headers"]

    def start(self) -> None:
        """Call the application."""
        self.is_started, server = True, self.connection.server
        task = self.connection.loop.create_task(self.run())
        server.tasks.add(task)
        task.add_done_callback(server.tasks.discard)

    async def run(self) -> None:
        """Call the application; a client that is gone is no error."""
        with suppress(OSError):
            await self.connection.server.app(self.scope, self.receive, self.send)

    def take(self, body: bytes) -> None:
        """Take a part of the body; make the client wait if the application does not read it."""
        self.pieces.append(body)
        self.waiting += len(body)
        self.arrived.set()
        if self.waiting > WAITING:
            self.connection.transport.pause_reading()

    def complete(self) -> None:
        """Note that the body has arrived."""
        self.is_complete = True
        self.arrived.set()

    def end(self) -> None:
        """Note that the client is gone."""
        self.is_ended = True
        self.arrived.set()

    async def receive(self) -> dict[str, Any]:
        """What has come of the body."""
        if not (self.pieces or self.is_complete or self.is_ended):
            if self.expects:
                self.expects = False
                self.connection.transport.write(CONTINUE)
            self.arrived.clear()
            await self.arrived.wait()
        if self.is_ended:
            return {"type": "http.disconnect"}
        body = self.pieces[0] if len(self.pieces) == 1 else b"".join(self.pieces)
        self.pieces.clear()
        if self.waiting > WAITING:
            self.connection.transport.resume_reading()
        self.waiting = 0
        return {"type": "http.request", "body": body, "more_body": not self.is_complete}

    async def send(self, message: Any) -> None:
        """Write the answer: its headers together with the first of its body.

        A process that is killed in between would leave its client with half an answer.
        """
        connection = self.connection
        if self.is_ended:
            raise OSError("The client closed the connection.")
        if message["type"] == "http.response.start":
            lines = [b"%s: %s\r\n" % header for header in message["headers"]]
            if not self.keeps_alive or connection.is_closing or not self.is_complete:
                connection.is_closing = True
                lines.append(b"connection: close\r\n")
            self.head = b"".join((LINES[message["status"]], *lines, b"\r\n"))
            return
        body = b"" if self.scope["method"] == "HEAD" else message.get("body", b"")
        self.is_answered = True
        connection.transport.write(self.head + body)
        self.head = b""
        if not connection.can_write.is_set():
            await connection.can_write.wait()
        if not message.get("more_body", False):
            self.is_ended = True
            connection.begin_next()
