"""What an endpoint takes and gives: the table from which requests are routed and described."""

from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

import msgspec
from msgspec import UNSET, Struct, UnsetType
from starlette.requests import Request
from starlette.responses import Response

from .. import __version__
from .learning import Learning
from .model import WINDOWS, Predictor
from .requests import JSON

BINARY = "application/octet-stream"


encode_json = msgspec.json.Encoder(enc_hook=lambda value: value.tolist()).encode  # of NumPy


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


class Failure(Struct, omit_defaults=True):
    """Why a request is refused: a sentence, a stable code, and where in the request."""

    error: str
    code: str
    row: int | None = None
    column: str | None = None
    role: str | None = None


class Prediction(Struct, omit_defaults=True):
    """Predictions of rows, and the last example that the weights have learnt."""

    labels: list[Any]
    sequence: int
    scores: list[float | list[float]] | UnsetType = UNSET
    probabilities: list[list[float]] | UnsetType = UNSET
    sets: list[list[Any]] | UnsetType = UNSET
    intervals: list[list[float | None]] | UnsetType = UNSET


class Learnt(Struct):
    """The number of the last example of a request, and how many examples it had."""

    sequence: int
    examples: int


class LoggedExample(Struct):
    """A row of the log: an example, a forgotten one, or a change of the model."""

    sequence: int
    kind: str
    example: Any = None


class Listing(Struct):
    """Rows of the log, and the number after which the next page begins, if there is one."""

    examples: list[LoggedExample]
    next: int | None = None


class Health(Struct):
    """Whether the service works, whether it learns, and why it cannot."""

    status: str
    learning: bool
    failure: str | None


class Ready(Struct):
    """Whether to send requests to the service."""

    ready: bool


class ModelState(Struct):
    """The model, what it has learnt, and its errors before learning."""

    estimator: str
    solution: str
    classes: list[Any]
    label: str
    columns: list[dict[str, str]]
    learning: bool
    sequence: int
    logged: int
    published: int
    saved: int
    mistakes: int
    examples: int
    refused: int
    error: dict[str, float | None]
    target: str
    curve: list[list[float]]
    failure: str | None
    version: str = __version__


def about(predictor: Predictor, learning: Learning | None) -> ModelState:
    """A description of the model, what it has learnt, and its errors before learning."""
    served, learner, published = predictor
    progress = served.progress
    return ModelState(
        estimator=served.kept.estimator,
        solution=learner.parameters["solution"],
        classes=learner.classes.tolist(),
        label=served.maker.label,
        columns=[{"name": name, "kind": kind} for name, kind in served.maker.columns],
        learning=learning is not None,
        sequence=served.sequence,
        logged=served.sequence if learning is None else learning.log.last,
        published=published,
        saved=served.sequence if learning is None else learning.saved_sequence,
        mistakes=sum(state.mistakes for state in served.learner.states),
        examples=progress.examples,
        refused=progress.refused,
        error={"all": progress.error()} | {str(last): progress.error(last) for last in WINDOWS},
        target=learner.target_kind,
        curve=progress.curve,
        failure=None if learning is None else learning.failure,
    )
