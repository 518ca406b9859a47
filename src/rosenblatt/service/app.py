"""The HTTP application: endpoints, access checks and limits."""

import asyncio
import itertools
import os
import re
import secrets
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

try:
    import orjson  # noqa: F401
    import prometheus_client  # noqa: F401
    import uvicorn  # noqa: F401
except ImportError as missing:
    raise ImportError(
        f"The service needs {missing.name}: pip install 'rosenblatt[serve]'."
    ) from missing

from ..access import Tokens, includes
from .admin import AdminEndpoints, load_beside
from .asking import AskEndpoints, Questions, can_ask
from .feedback import FeedbackEndpoints, Predictions, wants_feedback
from .http import (
    DisconnectedError,
    Receive,
    Request,
    RequestError,
    Response,
    Route,
    Router,
    Send,
    to_json,
)
from .inference import InferenceEndpoints
from .learning import Job, KeyReusedError, Learning
from .log import LogError, hash_bytes
from .metrics import Metrics
from .mlflow import MLflowEndpoints, read_instances, to_predictions
from .model import Predictor, ServedModel
from .requests import BadExampleError, Examples, parse_examples, parse_values
from .responses import about, openapi

SMALL = 1 << 16  # bytes of a body that is parsed at once; larger ones are parsed in a thread
PARSERS = 2  # threads: more would only compete for the interpreter
LONGEST_KEY = 255  # characters
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
PAGE = Path(__file__).parent / "page.html"
REQUEST_ID = re.compile(r"[\w.:/+=-]{1,128}", re.ASCII)
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
    open
        The largest number of requests at a time.
    seconds
        The time for a body to arrive, which the connection checks.
    any_host
        Whether the Host header may name any host, not only this computer.
    """

    bytes: int = 16 << 20
    rows: int = 10_000
    open: int = 256
    seconds: float = 60.0
    any_host: bool = False


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
        Called for each answered request, or None.
    """

    def __init__(
        self,
        current: Callable[[], Predictor] | None = None,
        learning: Learning | None = None,
        limits: Limits | None = None,
        tokens: Tokens | None = None,
        say: Callable[[str], None] = print,
        log_request: Callable[[Request, int, float], None] | None = None,
    ) -> None:
        self.say = say
        self.limits, self.tokens = limits or Limits(), tokens or Tokens()
        self.log_request = log_request
        self.open = self.open_bytes = 0
        self.stopping = False
        self.metrics = Metrics(self)
        self.router = Router(self.routes())
        self.questions: Questions | None = None  # if labels are asked for
        self.parsers = ThreadPoolExecutor(PARSERS, "rosenblatt-parsing")
        self.run_name, self.numbers = secrets.token_hex(6), itertools.count(1)
        self.predictions = Predictions(self.run_name)
        self.attach(current, learning)

    def attach(self, current: Callable[[], Predictor] | None, learning: Learning | None) -> None:
        """Answer with a model from now on; without one the service is not ready."""
        self.current, self.learning = current or refuse_early, learning
        self.is_loaded = current is not None
        if learning is not None:
            learning.on_sync = self.metrics.sync.add

    def routes(self) -> Iterable[Route]:
        """All endpoints."""
        return (
            Route("POST", "/predict", "predict", self.predict, "Labels and scores of rows."),
            Route("POST", "/learn", "learn", self.learn, "Learn examples."),
            Route("GET", "/model", "predict", self.model, "Describe the model and its errors."),
            Route("GET", "/model.safetensors", "admin", self.model_file, "The model file."),
            Route("GET", "/metrics", "predict", self.send_metrics, "Metrics for Prometheus."),
            Route("GET", "/healthz", "", self.health, "Whether the service works."),
            Route("GET", "/readyz", "", self.ready, "Whether to send requests to the service."),
            Route("GET", "/openapi.json", "predict", self.openapi, "This description."),
            Route("GET", "/", "", self.page, "A page to try the model."),
            *MLflowEndpoints(self).routes(),
            *InferenceEndpoints(self).routes(),
            *AdminEndpoints(self).routes(),
            *AskEndpoints(self).routes(),
            *FeedbackEndpoints(self).routes(),
        )

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        """Answer a request."""
        begun, path = perf_counter(), "other"
        request = Request(scope, receive)
        request.identity = self.identify(request)
        try:
            self.check_origin(request)
            route = self.router.find(request)
            path = route.path
            if route.role and self.tokens.files:
                self.check_token(request, route.role)
            if route.role and not self.is_loaded:
                refuse_early()
            response = await self.answer(request, route)
        except RequestError as error:
            response = error.to_response()
        except DisconnectedError:
            response = RequestError(499, "disconnected", "The client went away.").to_response()
        except Exception as error:  # a mistake of ours, which metrics must show
            self.say(f"{path} failed: {error!r} (request {request.identity}).")
            sentence = "An internal error; the service has logged it."
            response = RequestError(500, "internal", sentence).to_response()
        response.headers.append((b"x-request-id", request.identity.encode()))
        await response.send(send)
        seconds = perf_counter() - begun
        self.metrics.count(path, response.status, seconds, request.rows)
        if self.log_request is not None:
            self.log_request(request, response.status, seconds)

    def identify(self, request: Request) -> str:
        """The id that a request was sent with, or a new one."""
        given = request.header(b"x-request-id")
        if given and REQUEST_ID.fullmatch(given):
            return given
        return f"{self.run_name}-{next(self.numbers)}"

    def check_origin(self, request: Request) -> None:
        """Refuse requests from pages of other sites, which a browser here may show."""
        host, origin = request.header(b"host"), request.header(b"origin")
        if origin and origin.partition("://")[2] != host:
            sentence = "Requests from pages of other sites are refused."
            raise RequestError(403, "other-origin", sentence)
        if self.limits.any_host or host in LOOPBACK or host.rpartition(":")[0] in LOOPBACK:
            return
        raise RequestError(421, "other-host", f"Call the service {' or '.join(LOOPBACK)}.")

    def check_token(self, request: Request, role: str) -> None:
        """Refuse requests without a token of the role."""
        kind, _, given = request.header(b"authorization").partition(" ")
        found = self.tokens.find_role(given.strip()) if kind.lower() == "bearer" else ""
        if not found:
            sentence = "A token is required: Authorization: Bearer TOKEN."
            raise RequestError(401, "token-required", sentence)
        if not includes(found, role):
            raise RequestError(403, "role-required", f"This needs a token for {role}.", role=role)

    # Request bodies

    async def answer(self, request: Request, route: Route) -> Response:
        """Read the body of a request, if it has one, and answer it."""
        if route.method == "GET":
            return await route.answer(request)
        if self.open >= self.limits.open:
            sentence = f"Over {self.limits.open:,} requests are open; try again."
            raise RequestError(429, "too-many-requests", sentence)
        largest = route.largest or self.limits.bytes
        length = request.header(b"content-length") or "0"
        if not length.isdecimal() or int(length) > largest:
            raise too_large(largest)
        if request.header(b"content-encoding") not in ("", "identity"):
            raise RequestError(415, "encoding", "Send the body without compression.")
        received = 0

        def admit(more: int, size: int) -> None:
            nonlocal received
            received += more
            self.open_bytes += more
            if size > largest:
                raise too_large(largest)
            if self.open_bytes > 4 * max(largest, self.limits.bytes):
                sentence = "The bodies of open requests are too large; try again."
                raise RequestError(429, "too-many-bytes", sentence)

        self.open += 1
        try:
            await request.read(admit)
            return await route.answer(request)
        except BadExampleError as error:
            details = {"row": error.row, "column": error.column}
            raise RequestError(error.status, error.code, str(error), **details) from None
        finally:
            self.open -= 1
            self.open_bytes -= received

    async def work(self, request: Request, function: Callable[[], Any]) -> Any:
        """Call a function: at once for a small body, otherwise in a thread."""
        if len(request.body) <= SMALL:
            return function()
        return await asyncio.get_running_loop().run_in_executor(self.parsers, function)

    # Endpoints

    async def predict(self, request: Request) -> Response:
        """Labels and scores, by the newest weights."""
        features, coverage = read_explain(request), read_coverage(request)

        def predict() -> dict[str, Any]:
            predictor = self.current()
            served = predictor.served
            instances = read_instances(request.body, served.maker, self.limits.rows)
            values = instances or self.parse(request, served, parse_values)
            request.rows = len(values)
            judged = instances is None and wants_feedback(request, served, self.learning)
            answer: dict[str, Any] = predictor.answer(values, features, coverage)
            answer["sequence"] = predictor.sequence
            if instances is not None:
                return to_predictions(answer)
            if judged:
                self.predictions.add(served, values, answer)
            if self.questions is not None and can_ask(served):
                sets = predictor.learner.multilabel
                given = answer["labels"], answer["scores"], sets
                answer["ask"] = self.questions.choose(values, *given)
            return answer

        return to_json(await self.work(request, predict))

    def parse(self, request: Request, served: ServedModel, parse: Callable[..., Any]) -> Any:
        """The rows of a request."""
        maker, kind = served.maker, request.header(b"content-type")
        found = parse(request.body, kind, self.limits.rows, maker.of_lines, maker.of_lists)
        request.rows = len(found)
        return found

    async def learn(self, request: Request) -> Response:
        """Take examples with labels; answer when they are on disk."""
        learning, key = self.check_learning(), read_key(request)

        def make_job() -> Job:
            served = learning.served
            found: Examples = self.parse(request, served, parse_examples)
            rows = None
            if len(request.body) > SMALL:
                with suppress(BadExampleError):  # unless it is a retry, the thread refuses it, too
                    rows = served.make_learnable(found.values)
            return Job(found.texts, found.values, key=key, rows=rows, served=served)

        job = await self.work(request, make_job)
        sequence = await self.write(job, learning)
        return to_json({"sequence": sequence, "examples": len(job.texts)}, 202)

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

    async def write(self, job: Job, learning: Learning) -> int:
        """Wait until examples are on disk; return the sequence number of the last."""
        loop = asyncio.get_running_loop()
        written: asyncio.Future[int] = loop.create_future()

        def tell(outcome: int | Exception) -> None:
            with suppress(RuntimeError):  # the loop is closed: no one waits any more
                loop.call_soon_threadsafe(resolve, written, outcome)

        learning.take(job._replace(tell=tell))
        try:
            return await written
        except BadExampleError:
            raise
        except KeyReusedError as error:
            raise RequestError(422, "key-reused", str(error)) from None
        except (LogError, ValueError) as error:
            sentence = (
                f"{error} The examples of this request are not acknowledged; send them again."
            )
            raise RequestError(503, "cannot-write", sentence) from None

    async def model(self, request: Request) -> Response:
        """Describe the model and how well it does."""
        asking = None if self.questions is None else self.questions.about()
        return to_json(about(self.current(), self.learning) | {"asking": asking})

    async def model_file(self, request: Request) -> Response:
        """The model as a file, with all that was learnt before the request."""
        learning, path = self.learning, Path(self.current().served.name)
        try:
            if learning is not None:
                path = await asyncio.wrap_future(learning.call(learning.snapshot))
            file = open(path, "rb")  # noqa: SIM115
        except (OSError, ValueError) as error:
            raise RequestError(503, "no-model-file", str(error)) from None
        headers = {
            "Content-Length": str(os.fstat(file.fileno()).st_size),
            "Content-Disposition": f'attachment; filename="{path.name}"',
        }
        return Response(file, kind="application/octet-stream", headers=headers)

    async def send_metrics(self, request: Request) -> Response:
        """Metrics for Prometheus."""
        return self.metrics.to_response()

    async def health(self, request: Request) -> Response:
        """Whether the service works: 503 if it should learn and cannot."""
        learning = self.learning
        failure = None if learning is None else learning.failure
        if learning is not None and not learning.is_alive() and not self.stopping:
            failure = failure or "The learning thread has ended."
        status = "failing" if failure else "ok" if self.is_loaded else "starting"
        about = {"status": status, "learning": learning is not None, "failure": failure}
        return to_json(about, 503 if failure else 200)

    async def ready(self, request: Request) -> Response:
        """Whether to send requests here: 503 while the service starts or stops."""
        is_ready = self.is_loaded and not self.stopping
        return to_json({"ready": is_ready}, 200 if is_ready else 503)

    async def openapi(self, request: Request) -> Response:
        """The description of the service, for programs."""
        return to_json(openapi(self))

    async def page(self, request: Request) -> Response:
        """A page with the error over time and a form to try the model."""
        return Response(PAGE.read_bytes(), kind="text/html; charset=utf-8", headers=PAGE_HEADERS)

    def reload(self) -> None:
        """Read the files of tokens again; a file that cannot be used leaves the old tokens."""
        try:
            self.tokens.reload()
        except (OSError, ValueError) as error:
            self.say(f"{error} The tokens are unchanged.")
        else:
            self.say("The tokens were read again.")
        if self.learning is not None:
            threading.Thread(target=load_beside, args=(self.learning,)).start()


def too_large(largest: int) -> RequestError:
    """The refusal of a body that is too large."""
    sentence = f"A body has at most {largest:,} bytes; send several requests."
    return RequestError(413, "too-many-bytes", sentence)


def read_key(request: Request) -> bytes | None:
    """A hash of the key that a request was sent with, if any."""
    given = request.header(b"idempotency-key")
    if len(given) > LONGEST_KEY:
        sentence = f"An Idempotency-Key has at most {LONGEST_KEY} characters."
        raise RequestError(400, "idempotency-key", sentence)
    return hash_bytes(given.encode()) if given else None


def refuse_early() -> Predictor:
    """Refuse a request that arrives before the model is loaded."""
    raise RequestError(503, "starting", "The service is loading its model; try again.")


def read_explain(request: Request) -> int:
    """How many features each prediction is to be explained by."""
    asked = request.query("explain", "0")
    if not asked.isascii() or not asked.isdecimal() or len(asked) > 3 or int(asked) > 100:
        raise RequestError(400, "explain", "explain must be a whole number from 0 to 100.")
    return int(asked)


def read_coverage(request: Request) -> float | None:
    """The coverage of prediction sets or intervals that are asked for, if any are."""
    asked = request.query("coverage", "")
    if not asked:
        return None
    with suppress(ValueError):
        if 0 < float(asked) < 1:
            return float(asked)
    raise RequestError(400, "coverage", "coverage must be a number above 0 and below 1.")


def resolve(future: "asyncio.Future[int]", outcome: int | Exception) -> None:
    """Give the outcome of a job to the request that waits for it."""
    if not future.done():
        if isinstance(outcome, Exception):
            future.set_exception(outcome)
        else:
            future.set_result(outcome)
