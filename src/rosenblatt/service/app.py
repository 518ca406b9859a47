"""The HTTP application: endpoints, access checks and limits."""

import asyncio
import ipaddress
import itertools
import os
import re
import secrets
from collections.abc import AsyncIterator, Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any, BinaryIO
from urllib.parse import quote

try:
    import httptools  # noqa: F401
    import msgspec
    from prometheus_client.exposition import choose_encoder
    from starlette.exceptions import HTTPException
    from starlette.requests import ClientDisconnect, Request
    from starlette.responses import Response, StreamingResponse
    from starlette.routing import Route, Router
except ImportError as missing:
    raise ImportError(
        f"The service needs {missing.name}: pip install 'rosenblatt[serve]'."
    ) from missing

from ..access import Tokens, includes
from ..data.rows import n_rows
from ..reading.batches import Batch
from . import changes, responses
from .connection import MOST_CONNECTIONS, PIECE
from .inference import InferenceEndpoints
from .learning import Job, Learning
from .log import LARGEST_MODEL, LogError, hash_bytes
from .metrics import Metrics
from .model import Predictor, ServedModel
from .openapi import describe
from .replay import read_log
from .requests import JSON, RequestError, cut_texts, make_texts, parse_json, parse_values
from .responses import BINARY, Call, Health, Learnt, Listing, Operation, encode_json, to_response

SMALL = 1 << 17  # bytes of a body that is parsed at once; larger ones are parsed in a thread
PARSERS = 2  # threads: more would only compete for the interpreter
LONGEST_KEY = 255  # characters
PAGE = Path(__file__).parent / "page.html"
REQUEST_ID = re.compile(r"[\w.:/+=-]{1,128}", re.ASCII)
CHALLENGES = {401: {"WWW-Authenticate": "Bearer"}, 429: {"Retry-After": "1"}}
PAGE_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; "
    "script-src 'unsafe-inline'; connect-src 'self'; img-src data:",
    "X-Content-Type-Options": "nosniff",
}


@dataclass(frozen=True)
class Limits:
    """Limits of requests.

    Attributes
    ----------
    bytes, rows
        The largest size of one request.
    hosts
        The names that the Host header may have besides localhost and addresses; None for any.
    connections
        The largest number of connections.
    """

    bytes: int = 16 << 20
    rows: int = 10_000
    hosts: tuple[str, ...] | None = ()
    connections: int = MOST_CONNECTIONS


class PredictQuery(msgspec.Struct):
    """The coverage of prediction sets or intervals."""

    coverage: Annotated[float, msgspec.Meta(gt=0, lt=1)] | None = None


class ListQuery(msgspec.Struct):
    """Which rows of the log are listed."""

    after: Annotated[int, msgspec.Meta(ge=0, le=2**62)] = 0
    limit: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 100


class Rollback(msgspec.Struct):
    """The number of an example."""

    to: Annotated[float, msgspec.Meta(ge=0, le=2**53, multiple_of=1)]


@dataclass
class Budget:
    """The bytes of the bodies of open requests, up to a limit."""

    most: int
    bytes: int = 0


@dataclass(frozen=True)
class PathEndpoint:
    """The operations of one path, by method."""

    service: "Service"
    path: str
    operations: dict[str, Operation]

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request."""
        method = "GET" if scope["method"] == "HEAD" else scope["method"]
        response = await self.service.answer(Request(scope, receive), self.operations[method])
        await response(scope, receive, send)


class Service:
    """The ASGI application of a model.

    Parameters
    ----------
    current
        Returns the model and the weights to predict with; a request asks once. None until the
        model is loaded.
    learning
        The thread that learns, or None if nothing is learnt.
    limits, tokens
        The size of requests, and who may send them.
    say
        Reports events to the operator.
    log_request
        Called with what is known of each answered request, or None.
    """

    def __init__(
        self,
        current: Callable[[], Predictor] | None = None,
        learning: Learning | None = None,
        limits: Limits | None = None,
        tokens: Tokens | None = None,
        say: Callable[[str], None] = print,
        log_request: Callable[[dict[str, Any]], None] | None = None,
    ) -> None:
        self.say = say
        self.limits, self.tokens = limits or Limits(), tokens or Tokens()
        self.log_request = log_request
        self.rows_budget = Budget(4 * self.limits.bytes)
        self.model_budget = Budget(LARGEST_MODEL)  # apart, so that predictions continue
        self.stopping = False
        self.metrics = Metrics(self)
        self.parsers = ThreadPoolExecutor(PARSERS, "rosenblatt-parsing")
        self.run_name, self.numbers = secrets.token_hex(6), itertools.count(1)
        self.operations = (*self.list_operations(), *InferenceEndpoints(self).list_operations())
        by_path: dict[str, dict[str, Operation]] = {}
        for one in self.operations:
            by_path.setdefault(one.path, {})[one.method] = one
        routes = [
            Route(path, PathEndpoint(self, path, some), methods=[*some])
            for path, some in by_path.items()
        ]
        self.router = Router(routes, redirect_slashes=False)
        self.attach(current, learning)

    def attach(self, current: Callable[[], Predictor] | None, learning: Learning | None) -> None:
        """Answer with a model from now on; without one the service is not ready."""
        self.current, self.learning = current or refuse_early, learning
        self.is_loaded = current is not None
        if learning is not None:
            learning.on_sync = self.metrics.sync.observe

    def list_operations(self) -> tuple[Operation, ...]:
        """All endpoints but those of the inference protocol."""
        return (
            Operation("POST", "/predict", "predict", self.predict, responses.Prediction,
                      query=PredictQuery, body="rows"),
            Operation("POST", "/learn", "learn", self.learn, Learnt, 202, body="examples"),
            Operation("GET", "/model", "predict", self.describe_model, responses.ModelState),
            Operation("PUT", "/model", "admin", self.load, Learnt,
                      body=bytes, largest=LARGEST_MODEL),
            Operation("GET", "/model.safetensors", "admin", self.send_file, BINARY),
            Operation("POST", "/model/rollback", "admin", self.roll_back, Learnt, body=Rollback),
            Operation("GET", "/examples", "admin", self.list_examples, Listing, query=ListQuery),
            Operation("DELETE", "/examples/{numbers}", "admin", self.forget, Learnt),
            Operation("GET", "/metrics", "predict", self.send_metrics, "text/plain"),
            Operation("GET", "/healthz", "", self.health, Health),
            Operation("GET", "/readyz", "", self.ready, responses.Ready),
            Operation("GET", "/openapi.json", "predict", self.openapi, JSON),
            Operation("GET", "/", "", self.page, "text/html"),
        )  # fmt: skip

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request, count it and log it."""
        begun, status = perf_counter(), 500
        request = Request(scope, receive)
        given = request.headers.get("x-request-id", "")
        identity = given if REQUEST_ID.fullmatch(given) else f"{self.run_name}-{next(self.numbers)}"

        async def send_with_id(message: Any) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"].append((b"x-request-id", identity.encode()))
            await send(message)

        scope["app"] = self  # by which the router raises its refusals
        try:
            self.check_origin(request)
            await self.router(scope, receive, send_with_id)
        except ClientDisconnect:
            status = 499
        except Exception as error:
            response = self.to_refusal(error, f"{scope['path']!r} (request {identity})")
            await response(scope, receive, send_with_id)
        path = scope["endpoint"].path if "endpoint" in scope else "other"
        seconds, rows = perf_counter() - begun, scope.get("rows", 0)
        self.metrics.count(path, status, seconds, rows)
        if self.log_request is not None:
            client = scope["client"][0] if scope["client"] else ""
            entry = {"request_id": identity, "client": client, "method": scope["method"]}
            entry |= {"path": scope["path"], "status": status, "rows": rows}
            self.log_request(entry | {"seconds": round(seconds, 6)})

    def to_refusal(self, error: Exception, place: str) -> Response:
        """The response to a request that failed."""
        match error:
            case RequestError():
                body, status, headers = error.body, error.status, CHALLENGES.get(error.status)
            case HTTPException(status_code=404):
                body = {"error": "There is no such path.", "code": "unknown-path"}
                status, headers = 404, None
            case HTTPException():
                allowed = (error.headers or {}).get("Allow", "")
                body = {"error": f"The path takes {allowed}.", "code": "wrong-method"}
                status, headers = error.status_code, dict(error.headers or {})
            case _:  # a mistake of ours, which metrics must show
                self.say(f"{place} failed: {error!r}.")
                sentence = "An internal error; the service has logged it."
                body, status, headers = {"error": sentence, "code": "internal"}, 500, None
        return to_response(body, status, headers)

    def note_refusal(self, client: str, status: int, code: str) -> None:
        """Count and log a request that was refused before it was complete."""
        self.metrics.count("other", status, 0.0)
        if self.log_request is not None:
            self.log_request({"client": client, "status": status, "code": code})

    def check_origin(self, request: Request) -> None:
        """Refuse requests from pages of other sites, which a browser here may show.

        A site that gives its name our address (DNS rebinding) is noticed by its name.
        """
        host, origin = request.headers.get("host", ""), request.headers.get("origin")
        if origin and origin.partition("://")[2] != host:
            sentence = "Requests from pages of other sites are refused."
            raise RequestError(403, "other-origin", sentence)
        if self.limits.hosts is not None and not is_allowed(host, self.limits.hosts):
            sentence = "Call the service by its address, or allow the name at its start."
            raise RequestError(421, "other-host", sentence)

    def check_token(self, request: Request, role: str) -> None:
        """Refuse requests without a token of the role."""
        kind, _, given = request.headers.get("authorization", "").partition(" ")
        found = self.tokens.find_role(given.strip()) if kind.lower() == "bearer" else ""
        if not found:
            sentence = "A token is required: Authorization: Bearer TOKEN."
            raise RequestError(401, "token-required", sentence)
        if not includes(found, role):
            raise RequestError(403, "role-required", f"This needs a token for {role}.", role=role)

    # Request bodies

    async def answer(self, request: Request, operation: Operation) -> Response:
        """Check a request, read what it has, and answer it."""
        if operation.role and self.tokens.roles:
            self.check_token(request, operation.role)
        if operation.role and not self.is_loaded:
            refuse_early()
        body, query = bytearray(), None
        if operation.query is not None:
            query = read_query(request, operation.query)
        if operation.method == "GET":
            return to_response(await operation.answer(Call(request, body, query)))
        budget = self.rows_budget if operation.largest is None else self.model_budget
        try:
            await self.read(request, operation.largest or self.limits.bytes, budget, body)
            return to_response(await operation.answer(Call(request, body, query)), operation.status)
        finally:
            budget.bytes -= len(body)

    async def read(self, request: Request, most: int, budget: Budget, body: bytearray) -> None:
        """Read a body; refuse one that is too large."""
        if request.headers.get("content-encoding", "identity") not in ("", "identity"):
            raise RequestError(415, "encoding", "Send the body without compression.")
        sentence = f"A body has at most {most:,} bytes; send several requests."
        if int(request.headers.get("content-length", "0")) > most:
            raise RequestError(413, "too-many-bytes", sentence)
        async for piece in request.stream():
            body += piece
            budget.bytes += len(piece)
            if len(body) > most:
                raise RequestError(413, "too-many-bytes", sentence)
            if budget.bytes > budget.most:
                sentence = "The bodies of open requests are too large; try again."
                raise RequestError(429, "too-many-bytes", sentence)

    async def work(self, call: Call, function: Callable[[], Any]) -> Any:
        """Call a function: at once for a small body, otherwise in a thread."""
        if len(call.body) <= SMALL:
            return function()
        return await asyncio.get_running_loop().run_in_executor(self.parsers, function)

    # Endpoints

    async def predict(self, call: Call) -> Response:
        """Predict labels and scores of rows by the newest weights."""

        def predict() -> bytes:
            predictor = self.current()
            made, _ = self.parse(call, predictor.served, labelled=False)
            found = predictor.answer(made, call.query.coverage)
            return encode_json(found | {"sequence": predictor.sequence})

        return Response(await self.work(call, predict), media_type=JSON)

    def parse(self, call: Call, served: ServedModel, labelled: bool) -> tuple[Batch, list[str]]:
        """The rows of a request, and their texts for the log if they have labels."""
        maker, kind = served.maker, call.header("content-type")
        most, made = self.limits.rows, None
        if kind == JSON:
            made = maker.decode(call.body, labelled)
        if made is None or n_rows(made.rows) > most:
            values = parse_values(call.body, kind, most, maker.of_lists)
            made, texts = maker.make(values, labelled), make_texts(values) if labelled else []
        else:
            texts = cut_texts(call.body) if labelled else []
        call.request.scope["rows"] = n_rows(made.rows)
        return made, texts

    async def learn(self, call: Call) -> Learnt:
        """Learn examples; answer when they are on disk."""
        learning, key = self.check_learning(), read_key(call)

        def parse() -> Job:
            made, texts = self.parse(call, served := learning.served, labelled=True)
            return Job(texts, key, made, served.maker)

        job = await self.work(call, parse)
        try:
            return Learnt(await asyncio.wrap_future(learning.take(job)), len(job.texts))
        except RequestError:
            raise
        except (LogError, ValueError) as error:
            sentence = (
                f"{error} The examples of this request are not acknowledged; send them again. "
                "With an Idempotency-Key they are not learnt twice, whatever happens meanwhile."
            )
            raise RequestError(503, "cannot-write", sentence) from None

    def check_learning(self) -> Learning:
        """The thread that learns; refuse a request if there is none or it has ended."""
        learning = self.learning
        if learning is None:
            sentence = "This service does not learn; start it with the option learn."
            raise RequestError(403, "does-not-learn", sentence)
        if self.stopping or not learning.is_alive():
            sentence = learning.failure or "The service is stopping."
            raise RequestError(503, "cannot-learn", sentence)
        return learning

    async def describe_model(self, call: Call) -> responses.ModelState:
        """Describe the model, what it has learnt, and its errors."""
        return responses.about(self.current(), self.learning)

    async def send_file(self, call: Call) -> Response:
        """Send the model file, with all that was learnt before the request."""
        learning, path = self.learning, Path(self.current().served.name)
        try:
            if learning is not None:
                path = await asyncio.wrap_future(learning.call(learning.snapshot))
            file = path.open("rb")
        except (OSError, ValueError) as error:
            raise RequestError(503, "no-model-file", str(error)) from None
        headers = {
            "Content-Disposition": f"attachment; filename*=UTF-8''{quote(path.name)}",
            "Content-Length": str(os.fstat(file.fileno()).st_size),
        }
        return StreamingResponse(read_pieces(file), headers=headers, media_type=BINARY)

    async def list_examples(self, call: Call) -> Listing:
        """List rows of the log."""
        learning, query = self.check_learning(), call.query

        def read() -> Listing:
            with read_log(learning.log.path) as log:
                after = max(query.after, log.models()[0])
                last = min(after + query.limit, log.last)
                found = [
                    responses.LoggedExample(one.sequence, one.kind, one.read())
                    for entries in log.entries(after, last)
                    for one in entries
                ]
                return Listing(found, last if last < log.last else None)

        return await asyncio.to_thread(read)

    async def forget(self, call: Call) -> Learnt:
        """Forget examples: the model becomes one that never saw them, and they are erased."""
        numbers = changes.parse_numbers(call.request.path_params["numbers"])
        return await self.change(changes.forget, numbers)

    async def load(self, call: Call) -> Learnt:
        """Replace the model by the one in the body, a model file."""
        return await self.change(changes.load, bytes(call.body))

    async def roll_back(self, call: Call) -> Learnt:
        """Return to the model after an example."""
        return await self.change(changes.roll_back, int(parse_json(call.body, kind=Rollback).to))

    async def change(self, function: Callable[..., tuple[int, int]], *given: Any) -> Learnt:
        """Change the model in a thread; predictions and learning continue meanwhile."""
        learning = self.check_learning()
        try:
            return Learnt(*await asyncio.to_thread(function, learning, *given))
        except RequestError:
            raise
        except OSError as error:
            sentence = f"{error} The change may be incomplete; send the request again."
            raise RequestError(503, "cannot-write", sentence) from None
        except ValueError as error:
            raise RequestError(422, "bad-model", str(error)) from None

    async def send_metrics(self, call: Call) -> Response:
        """Send metrics in the text format of Prometheus or as OpenMetrics."""
        encode, kind = choose_encoder(call.header("accept"))
        return Response(encode(self.metrics.registry), media_type=kind)

    async def health(self, call: Call) -> Response:
        """Tell whether the service works: 503 if it should learn and cannot."""
        learning = self.learning
        failure = None if learning is None else learning.failure
        status = "failing" if failure else "ok" if self.is_loaded else "starting"
        return to_response(Health(status, learning is not None, failure), 503 if failure else 200)

    async def ready(self, call: Call) -> Response:
        """Tell whether to send requests here: 503 while the service starts or stops."""
        is_ready = self.is_loaded and not self.stopping
        return to_response(responses.Ready(is_ready), 200 if is_ready else 503)

    async def openapi(self, call: Call) -> dict[str, Any]:
        """Describe the service for programs."""
        return describe(self)

    async def page(self, call: Call) -> Response:
        """Show a page to try the model."""
        return Response(PAGE.read_bytes(), headers=PAGE_HEADERS, media_type="text/html")

    def reload(self, signal: int = 0) -> None:
        """Read the file of tokens again, after a signal."""
        try:
            self.tokens.reload()
        except (OSError, ValueError) as error:
            self.say(f"{error} The tokens are unchanged.")
        else:
            self.say("The tokens were read again.")


def is_allowed(host: str, names: Iterable[str]) -> bool:
    """Whether a Host header has an address, localhost, or one of some names."""
    name = host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]
    if name.lower() in ("localhost", *names):
        return True
    with suppress(ValueError):
        return bool(ipaddress.ip_address(name))
    return False


async def read_pieces(file: BinaryIO) -> AsyncIterator[bytes]:
    """The bytes of a file, which may be replaced meanwhile; the client sets the pace."""
    with file:
        while piece := await asyncio.to_thread(file.read, PIECE):
            yield piece


def read_query(request: Request, kind: Any) -> Any:
    """The query of a request as a type."""
    if not request.scope["query_string"]:
        return kind()
    try:
        return msgspec.convert(dict(request.query_params), kind, strict=False)
    except msgspec.ValidationError as error:
        raise RequestError(400, "bad-query", f"The query is refused: {error}.") from None


def read_key(call: Call) -> bytes | None:
    """A hash of the key that a request was sent with, if any."""
    given = call.header("idempotency-key")
    if len(given) > LONGEST_KEY:
        sentence = f"An Idempotency-Key has at most {LONGEST_KEY} characters."
        raise RequestError(400, "idempotency-key", sentence)
    return hash_bytes(given.encode()) if given else None


def refuse_early() -> Predictor:
    """Refuse a request that arrives before the model is loaded."""
    raise RequestError(503, "starting", "The service is loading its model; try again.")
