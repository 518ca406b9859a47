"""The HTTP application: endpoints, access checks and limits."""

import asyncio
import os
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, BinaryIO, NamedTuple

try:
    import orjson
    from starlette.applications import Starlette
    from starlette.exceptions import HTTPException
    from starlette.requests import ClientDisconnect, Request
    from starlette.responses import Response, StreamingResponse
    from starlette.routing import Route
except ImportError as missing:
    raise ImportError(
        "The service needs starlette and uvicorn: pip install 'rosenblatt[serve]'."
    ) from missing

from ..access import admits
from .learning import Job, Learning, Published
from .log import LogError
from .model import ServedModel
from .requests import (
    BadExampleError,
    Example,
    TooManyRowsError,
    UnknownTypeError,
    parse_examples,
)
from .responses import about, metrics, openapi

SMALL = 1 << 16  # bytes of a body that is read at once; others are read beside
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
PAGE = Path(__file__).parent / "page.html"


@dataclass(frozen=True)
class Doors:
    """Who may ask, and how much.

    Attributes
    ----------
    bytes, rows
        The most of one request.
    open
        The most requests at a time.
    seconds
        In which a body must come.
    token
        What requests must know, or None.
    any_host
        Whether the service may be called by any name, not only as this computer.
    """

    bytes: int = 16 << 20
    rows: int = 10_000
    open: int = 256
    seconds: float = 60.0
    token: str | None = None
    any_host: bool = False


class Refusal(Exception):  # noqa: N818
    """A request that is not done: the status, why, and where in it."""

    def __init__(self, status: int, sentence: str, **where: Any) -> None:
        super().__init__(sentence)
        self.status, self.body = status, {"error": sentence, **where}
        self.headers = {401: {"WWW-Authenticate": "Bearer"}, 429: {"Retry-After": "1"}}.get(status)


class Current(NamedTuple):
    """The model, which makes rows, and the weights to predict with."""

    served: ServedModel
    published: Published


class Service:
    """What answers: a model, who learns it if anybody does, and the limits.

    Parameters
    ----------
    current
        Gives the model and the weights to predict with; a request asks once.
    learning
        The thread that learns, or None where nothing is learnt.
    doors
        Who may ask, and how much.
    say
        Reports errors to the operator.
    """

    def __init__(
        self,
        current: Callable[[], Current],
        learning: Learning | None = None,
        doors: Doors | None = None,
        say: Callable[[str], None] = print,
    ) -> None:
        self.current, self.learning, self.say = current, learning, say
        self.doors = doors or Doors()
        self.open = self.open_bytes = 0
        self.answered: Counter[tuple[str, int]] = Counter()
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self.rows: Counter[str] = Counter()
        self.stopping = False

    def app(self) -> Starlette:
        """The application."""
        routes: dict[str, tuple[str, Callable[[Request], Awaitable[Response]]]] = {
            "/predict": ("POST", self.predict),
            "/learn": ("POST", self.learn),
            "/model": ("GET", self.model),
            "/model.safetensors": ("GET", self.model_file),
            "/metrics": ("GET", self.metrics),
            "/healthz": ("GET", self.health),
            "/openapi.json": ("GET", self.openapi),
            "/": ("GET", self.page),
        }
        return Starlette(
            routes=[
                Route(path, self.guarded(path, answer), methods=[method])
                for path, (method, answer) in routes.items()
            ],
            exception_handlers={HTTPException: self.refuse_route},
        )

    async def refuse_route(self, request: Request, error: Exception) -> Response:
        """Answer a request for an unknown path or with a wrong method."""
        status = error.status_code if isinstance(error, HTTPException) else 500
        self.answered["other", status] += 1
        sentence = {404: "There is no such path.", 405: "The path does not take this method."}
        return as_json({"error": sentence.get(status, "The request is not served.")}, status)

    def guarded(
        self, path: str, answer: Callable[[Request], Awaitable[Response]]
    ) -> Callable[[Request], Awaitable[Response]]:
        """An endpoint that only those use who may, and whose refusals are sentences."""
        free = path in ("/healthz", "/")

        async def endpoint(request: Request) -> Response:
            begun = perf_counter()
            try:
                self.check_origin(request)
                if not free:
                    self.check_token(request)
                response = await answer(request)
            except Refusal as refusal:
                response = as_json(refusal.body, refusal.status, refusal.headers)
            except ClientDisconnect:
                response = as_json({"error": "The client went away."}, 499)
            except Exception as error:  # a mistake of ours, which must not hide from metrics
                self.say(f"{path} failed: {error!r}.")
                response = as_json({"error": "An internal error; the service has logged it."}, 500)
            self.answered[path, response.status_code] += 1
            self.seconds[path] += perf_counter() - begun
            return response

        return endpoint

    def check_origin(self, request: Request) -> None:
        """Refuse pages of others, which a browser on this computer may show."""
        host, origin = header(request, b"host"), header(request, b"origin")
        if origin and origin.partition("://")[2] != host:
            raise Refusal(403, "Requests from pages of other sites are refused.")
        if (
            not self.doors.any_host
            and host.rpartition(":")[0] not in LOOPBACK
            and host not in LOOPBACK
        ):
            raise Refusal(421, f"The service is called {' or '.join(LOOPBACK)} here.")

    def check_token(self, request: Request) -> None:
        """Refuse those who do not have the token, in the same time whatever they have."""
        if self.doors.token is None:
            return
        kind, _, given = header(request, b"authorization").partition(" ")
        if not admits(self.doors.token, given.strip()) or kind.lower() != "bearer":
            raise Refusal(401, "A token is required: Authorization: Bearer TOKEN.")

    # What comes in

    @asynccontextmanager
    async def admitted(self, request: Request) -> AsyncIterator[bytes]:
        """The body of a request, which is open until the block ends."""
        if self.open >= self.doors.open:
            raise Refusal(429, f"Over {self.doors.open:,} requests are open; try again.")
        length = header(request, b"content-length") or "0"
        if not length.isdecimal() or int(length) > self.doors.bytes:
            raise Refusal(413, self.too_long)
        if header(request, b"content-encoding") not in ("", "identity"):
            raise Refusal(415, "Compressed bodies are not read here.")
        parts: list[bytes] = []
        self.open += 1
        try:
            async with asyncio.timeout(self.doors.seconds):
                async for part in request.stream():
                    parts.append(part)
                    self.admit(len(part), sum(map(len, parts)))
            yield b"".join(parts)
        except TimeoutError:
            raise Refusal(408, "The body did not come in time.") from None
        finally:
            self.open -= 1
            self.open_bytes -= sum(map(len, parts))

    @property
    def too_long(self) -> str:
        """What is said of a body that is too long."""
        return f"A body has at most {self.doors.bytes:,} bytes; send several requests."

    def admit(self, more: int, size: int) -> None:
        """Count bytes that came, of a body that has this size by now."""
        self.open_bytes += more
        if size > self.doors.bytes:
            raise Refusal(413, self.too_long)
        if self.open_bytes > 4 * self.doors.bytes:
            raise Refusal(429, "The bodies of open requests are too large; try again.")

    async def made(self, work: Callable[[bytes, str], Any], body: bytes, request: Request) -> Any:
        """What some work makes of a body: at once of a small one, else beside others."""
        kind = header(request, b"content-type")
        try:
            if len(body) <= SMALL:
                return work(body, kind)
            return await asyncio.to_thread(work, body, kind)
        except BadExampleError as error:
            raise malformed(error) from None
        except UnknownTypeError as error:
            raise Refusal(415, str(error)) from None
        except TooManyRowsError as error:
            raise Refusal(413, str(error)) from None

    def parse(self, body: bytes, kind: str, served: ServedModel) -> list[Example]:
        """The examples of a body."""
        maker = served.maker
        return parse_examples(body, kind, self.doors.rows, maker.of_lines, maker.of_lists)

    # The endpoints

    async def predict(self, request: Request) -> Response:
        """Labels and scores, by the newest weights."""
        loudest = wanted_features(request)

        def work(body: bytes, kind: str) -> dict[str, Any]:
            served, published = self.current()
            values = [one.value for one in self.parse(body, kind, served)]
            self.rows["/predict"] += len(values)
            answer = served.answer(published.learner, values, loudest)
            return answer | {"sequence": published.sequence}

        async with self.admitted(request) as body:
            return as_json(await self.made(work, body, request))

    async def learn(self, request: Request) -> Response:
        """Take examples with labels; answer when they are on disk."""
        learning = self.learning
        if learning is None:
            raise Refusal(403, "This service does not learn; it was started without learning.")
        if self.stopping or not learning.is_alive():
            raise Refusal(503, learning.failure or "The service is stopping.")

        def work(body: bytes, kind: str) -> Job:
            found = self.parse(body, kind, learning.served)
            texts, values = [one.text for one in found], [one.value for one in found]
            served = learning.served
            rows = served.make_learnable(values) if len(body) > SMALL else None
            return Job(texts, values, nobody, rows=rows, served=served)

        async with self.admitted(request) as body:
            job = await self.made(work, body, request)
            sequence = await self.written(job, learning)
        self.rows["/learn"] += len(job.texts)
        return as_json({"sequence": sequence, "examples": len(job.texts)}, 202)

    async def written(self, job: Job, learning: Learning) -> int:
        """Wait until examples are on disk; the sequence number of the last."""
        loop = asyncio.get_running_loop()
        written: asyncio.Future[int] = loop.create_future()

        def tell(outcome: int | Exception) -> None:
            with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                loop.call_soon_threadsafe(resolve, written, outcome)

        learning.take(job._replace(tell=tell))
        try:
            return await written
        except BadExampleError as error:
            raise malformed(error) from None
        except (LogError, ValueError) as error:
            raise Refusal(
                503, f"{error} The examples of this request are not acknowledged; send them again."
            ) from None

    async def model(self, request: Request) -> Response:
        """What the model is, and how well it does."""
        return as_json(about(*self.current(), self.learning))

    async def model_file(self, request: Request) -> Response:
        """The model as a file, with all that was learnt before the request."""
        learning, path = self.learning, Path(self.current().served.name)
        try:
            if learning is not None:
                path = await asyncio.wrap_future(learning.call(learning.snapshot))
            file = open(path, "rb")  # noqa: SIM115
        except (OSError, ValueError) as error:
            raise Refusal(503, str(error)) from None
        return StreamingResponse(
            read_pieces(file),
            media_type="application/octet-stream",
            headers={
                "Content-Length": str(os.fstat(file.fileno()).st_size),
                "Content-Disposition": f'attachment; filename="{path.name}"',
            },
        )

    async def metrics(self, request: Request) -> Response:
        """Counters for Prometheus."""
        text = metrics(self, about(*self.current(), self.learning))
        return Response(text, media_type="text/plain; version=0.0.4")

    async def health(self, request: Request) -> Response:
        """Whether it answers, and whether it can learn: 503 if it should learn and cannot."""
        learning = self.learning
        failure = None if learning is None else learning.failure
        if learning is not None and not learning.is_alive() and not self.stopping:
            failure = failure or "The learning thread has ended."
        status = {"status": "failing" if failure else "ok", "learning": learning is not None}
        return as_json(status | {"failure": failure}, 503 if failure else 200)

    async def openapi(self, request: Request) -> Response:
        """How to call the service, for programs."""
        return as_json(openapi(self.current().served, self.doors))

    async def page(self, request: Request) -> Response:
        """A page with the error over time and a form to try the model."""
        policy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
        headers = {
            "Content-Security-Policy": policy + "connect-src 'self'; img-src data:",
            "X-Content-Type-Options": "nosniff",
        }
        return Response(PAGE.read_bytes(), media_type="text/html", headers=headers)


def malformed(error: BadExampleError) -> Refusal:
    """What is said of examples that cannot be used."""
    return Refusal(400, str(error), row=error.row, column=error.column)


def wanted_features(request: Request) -> int:
    """How many features a prediction is to be explained by."""
    asked = request.query_params.get("explain", "0")
    if not asked.isascii() or not asked.isdecimal() or len(asked) > 3 or int(asked) > 100:
        raise Refusal(400, "explain must be a whole number from 0 to 100.")
    return int(asked)


def header(request: Request, name: bytes) -> str:
    """A header of a request, or nothing; Starlette's own way takes several times as long."""
    return next(
        (given.decode("latin-1") for key, given in request.scope["headers"] if key == name), ""
    )


def read_pieces(file: BinaryIO) -> Iterator[bytes]:
    """The bytes of an open file, which a replacement of its name does not change."""
    with file:
        while piece := file.read(1 << 20):
            yield piece


def nobody(outcome: int | Exception) -> None:
    """Tells no one."""


def resolve(future: "asyncio.Future[int]", outcome: int | Exception) -> None:
    """Tell whoever waits what became of the examples."""
    if not future.done():
        if isinstance(outcome, Exception):
            future.set_exception(outcome)
        else:
            future.set_result(outcome)


def as_json(value: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """An answer in JSON."""
    content = orjson.dumps(value, option=orjson.OPT_SERIALIZE_NUMPY)
    return Response(content, status, headers, "application/json")
