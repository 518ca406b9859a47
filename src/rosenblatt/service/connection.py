"""HTTP/1.1 connections in which every part of a request is bounded: bytes, time and number.

Streams of asyncio hold at most twice their limit, and nothing is read before it is needed, so that
a client that sends more has to wait. Heads are parsed by llhttp (httptools). No ASGI server that
was measured bounds all of headers, trailers, chunk extensions, pipelined requests, slow requests
and connections; ``docs/operations.md`` has the figures.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable
from contextlib import suppress
from http import HTTPStatus
from typing import Any
from urllib.parse import unquote

import httptools

OVERHEAD = 1 << 16  # bytes of a head, and of the chunk sizes and trailers of a body
PIECE = 1 << 16  # bytes of a body that are read at once
CHECK = 0.5  # seconds between two looks at the deadlines
MOST_CONNECTIONS = 512  # one more closes the one that has waited longest for its client
HEADER_SECONDS, BODY_SECONDS = 10.0, 60.0  # for these to arrive; for an answer to leave, the latter
IDLE_SECONDS = 75.0  # between two requests
LINGER = 2.0  # seconds in which a client that still sends can read why it was refused
CHUNK = re.compile(rb"([0-9a-fA-F]{1,15})[ \t]*(;[^\r\n]*)?\r\n")
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
LINES = {one.value: f"HTTP/1.1 {one.value} {one.phrase}\r\n".encode() for one in HTTPStatus}

App = Callable[[Any, Any, Any], Awaitable[None]]


class RefusedError(Exception):
    """A request that does not reach the application, or not as a whole: status, code, why."""


NOT_HTTP = RefusedError(400, "not-http", "The request is not valid HTTP.")
TOO_LONG = RefusedError(431, "long-headers", "Headers, chunks and trailers have at most 64 kB.")
TOO_MANY = RefusedError(503, "too-many-connections", "Too many connections are open; try again.")


class Server:
    """Accepts connections and passes their requests to an ASGI application.

    Parameters
    ----------
    app
        The application.
    most
        The largest number of connections at a time.
    on_refusal
        Called with the address, status and code of a request that did not reach the application.
    """

    def __init__(
        self,
        app: App,
        most: int = MOST_CONNECTIONS,
        on_refusal: Callable[[str, int, str], None] = lambda client, status, code: None,
    ) -> None:
        self.app, self.most, self.on_refusal = app, most, on_refusal
        self.connections: dict[Connection, asyncio.Task[None]] = {}
        self.is_stopping = False

    async def serve(self, listening: Any, stop: asyncio.Event, grace: float) -> None:
        """Answer requests until an event is set; then finish those that are open."""
        self.loop = asyncio.get_running_loop()
        server = await asyncio.start_server(self.begin, sock=listening, limit=OVERHEAD)
        checking = asyncio.create_task(self.check_deadlines())
        await stop.wait()
        self.is_stopping = True
        server.close()
        for connection in list(self.connections):
            if connection.part in ("headers", "nothing"):
                connection.writer.close()
        if self.connections:
            await asyncio.wait(self.connections.values(), timeout=grace)
        for task in list(self.connections.values()):
            task.cancel()
        checking.cancel()
        await asyncio.sleep(0)

    def begin(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Take a connection; the one that has waited longest for its client may have to go."""
        connection, refusal = Connection(self, reader, writer), None
        if len(self.connections) >= self.most:
            waiting = [one for one in self.connections if one.part]
            if waiting:
                min(waiting, key=lambda one: one.since).writer.transport.abort()
            else:
                refusal = TOO_MANY
        task = self.loop.create_task(connection.run(refusal))
        self.connections[connection] = task
        task.add_done_callback(lambda task: self.connections.pop(connection))

    async def check_deadlines(self) -> None:
        """Close the connections whose time is over."""
        while True:
            await asyncio.sleep(CHECK)
            now = self.loop.time()
            for connection in [one for one in self.connections if one.until < now]:
                connection.expire()


class Connection:
    """One connection: its requests one after the other, each as an ASGI call.

    Attributes
    ----------
    part : str
        What the client is to send: "headers", "body", "nothing" between requests, or "" if the
        application is to answer.
    since, until : float
        When that began, and when the client is late.
    """

    def __init__(
        self, server: Server, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.server, self.reader, self.writer = server, reader, writer
        peer = writer.get_extra_info("peername")
        self.client = (str(peer[0]), int(peer[1])) if isinstance(peer, tuple) else ("", 0)
        self.is_closing = self.is_answered = self.is_complete = False
        self.expect("headers", HEADER_SECONDS)

    def expect(self, part: str, seconds: float = float("inf")) -> None:
        """Wait for a part of a request, or with "" for the application."""
        self.part, self.since = part, self.server.loop.time()
        self.until = self.since + seconds

    def expire(self) -> None:
        """Close the connection, because its client is too slow."""
        if self.is_closing or self.part in ("", "nothing"):
            self.writer.transport.abort()
        else:
            late = f"The {self.part} did not arrive in time."
            self.refuse(RefusedError(408, f"slow-{self.part}", late))
            self.writer.close()

    async def run(self, refusal: RefusedError | None) -> None:
        """Answer the requests; a client that is gone is no error."""
        with suppress(OSError, asyncio.IncompleteReadError):
            try:
                if refusal is not None:
                    raise refusal
                while not self.is_closing:
                    await self.answer()
            except (asyncio.LimitOverrunError, RefusedError) as error:
                self.refuse(error)
            await self.close()
        self.writer.transport.abort()

    async def answer(self) -> None:
        """Read one head and let the application answer."""
        first = await self.reader.readexactly(1)
        if self.part == "nothing":
            self.expect("headers", HEADER_SECONDS)
        scope = self.parse(first + await self.reader.readuntil(b"\r\n\r\n"))
        self.is_head, self.head = scope["method"] == "HEAD", b""
        self.is_answered, self.is_complete = False, not (self.is_chunked or self.left)
        self.expect("")
        await self.server.app(scope, self.receive, self.send)
        self.is_closing |= self.server.is_stopping or not self.is_answered or not self.is_complete
        self.expect("nothing", IDLE_SECONDS)
        await asyncio.sleep(0)  # a client that sends many requests at once has to take turns

    async def close(self) -> None:
        """Close the connection once its client has read the answer.

        What still comes is dropped: a client that sends could not read the answer otherwise.
        """
        self.is_closing, self.until = True, self.server.loop.time() + LINGER
        await self.writer.drain()
        if not self.is_complete:
            self.writer.write_eof()
            while await self.reader.read(PIECE):
                pass
        self.writer.close()
        await self.writer.wait_closed()

    def refuse(self, refusal: Exception) -> None:
        """Answer in one piece, unless the application did; what overran a limit is too long."""
        status, code, sentence = (refusal if isinstance(refusal, RefusedError) else TOO_LONG).args
        self.server.on_refusal(self.client[0], status, code)
        body = b'{"error": "%s", "code": "%s"}' % (sentence.encode(), code.encode())
        head = b"content-type: application/json\r\nconnection: close\r\ncontent-length: %d\r\n\r\n"
        if not self.is_answered:
            self.writer.write(LINES[status] + head % len(body) + body)
        self.is_answered = self.is_closing = True

    # The head

    def parse(self, head: bytes) -> dict[str, Any]:
        """The request for the application."""
        self.target, self.headers = b"", list[tuple[bytes, bytes]]()
        self.parser = parser = httptools.HttpRequestParser(self)
        try:
            parser.feed_data(head)
        except httptools.HttpParserUpgrade:
            self.is_closing = True  # another protocol is not spoken; the request is answered
        except httptools.HttpParserError:
            raise NOT_HTTP from None
        found = dict(self.headers)
        coding = found.get(b"transfer-encoding", b"").lower()
        if coding not in (b"", b"chunked") or not self.target:
            raise NOT_HTTP
        self.is_chunked, self.left = bool(coding), int(found.get(b"content-length", 0))
        self.overhead, self.expects = 0, found.get(b"expect", b"").lower() == b"100-continue"
        raw, _, query = self.target.partition(b"?")
        if not raw.startswith(b"/"):  # of a proxy: http://host/path
            raw = b"/" + raw.partition(b"://")[2].partition(b"/")[2]
        return {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.4"},
            "method": parser.get_method().decode("latin-1"),
            "path": unquote(raw.decode("latin-1")),
            "query_string": query,
            "headers": self.headers,
            "client": self.client,
        }

    def on_url(self, url: bytes) -> None:
        """Take the target, for the parser."""
        self.target += url

    def on_header(self, name: bytes, value: bytes | None) -> None:
        """Take a header, for the parser."""
        self.headers.append((name.lower(), value or b""))

    def on_headers_complete(self) -> None:
        """Note what the client wants, for the parser, which forgets it after the request."""
        self.is_closing |= not self.parser.should_keep_alive()

    # What the application calls

    async def receive(self) -> dict[str, Any]:
        """The next piece of the body."""
        if not self.is_complete and not self.part:
            self.expect("body", BODY_SECONDS)
        if self.expects and not self.is_complete:
            self.expects = False
            self.writer.write(CONTINUE)
        try:
            body = b"" if self.is_complete else await self.read_piece()
        except (asyncio.LimitOverrunError, RefusedError) as error:
            self.refuse(error)
        except (OSError, asyncio.IncompleteReadError):
            self.is_answered = self.is_closing = True
        if self.is_answered:
            return {"type": "http.disconnect"}
        if self.is_complete:
            self.expect("")
        return {"type": "http.request", "body": body, "more_body": not self.is_complete}

    async def read_piece(self) -> bytes:
        """Read some of the body, and the size of a chunk before or the trailers after it."""
        if self.is_chunked and not self.left:
            size = CHUNK.fullmatch(await self.read_line())
            if size is None:
                raise NOT_HTTP
            self.left = int(size[1], 16)
            if not self.left:
                while await self.read_line() != b"\r\n":
                    pass
                self.is_complete = True
                return b""
        piece = await self.reader.read(min(self.left, PIECE))
        if not piece:
            raise asyncio.IncompleteReadError(piece, self.left)
        self.left -= len(piece)
        if self.is_chunked:  # as many bytes as a body has may go into its chunks
            self.overhead = max(self.overhead - len(piece), 0)
            if not self.left and await self.read_line() != b"\r\n":
                raise NOT_HTTP
        else:
            self.is_complete = not self.left
        return piece

    async def read_line(self) -> bytes:
        """Read the size of a chunk, its end, or a trailer, which is dropped."""
        line = await self.reader.readuntil(b"\r\n")
        self.overhead += len(line)
        if self.overhead > OVERHEAD:
            raise TOO_LONG
        return line

    async def send(self, message: Any) -> None:
        """Write the answer: its headers together with the first of its body.

        A process that is killed in between would leave its client with half an answer.
        """
        if self.is_answered or self.writer.is_closing():
            raise OSError("The client closed the connection.")
        if message["type"] == "http.response.start":
            lines = [b"%s: %s\r\n" % header for header in message["headers"]]
            self.is_closing |= not self.is_complete or self.server.is_stopping
            if self.is_closing:
                lines.append(b"connection: close\r\n")
            self.head = b"".join((LINES[message["status"]], *lines, b"\r\n"))
            return
        self.is_answered = not message.get("more_body", False)
        self.writer.write(self.head + (b"" if self.is_head else message.get("body", b"")))
        self.head = b""
        self.until = self.server.loop.time() + BODY_SECONDS
        await self.writer.drain()
