"""Responses besides predictions: the state of the model, and the OpenAPI description."""

import re
from typing import TYPE_CHECKING, Any

from .. import __version__
from ..learners.base import WITHOUT_CLASSES
from .http import JSON, Route
from .learning import Learning
from .model import WINDOWS, Predictor, Progress, ServedModel
from .requests import CSV, LINES, NDJSON

if TYPE_CHECKING:
    from .app import Service

ERROR = {
    "type": "object",
    "properties": {"error": {"type": "string"}, "code": {"type": "string"}},
    "required": ["error", "code"],
}
KINDS = {
    "/model.safetensors": "application/octet-stream",
    "/metrics": LINES,
    "/": "text/html",
    "/ask": "text/html",
}
PATH_PARAMETER = {"in": "path", "required": True, "schema": {"type": "string"}}
EXPLAIN = {
    "name": "explain",
    "in": "query",
    "description": "How many features to explain each prediction by; values are scaled as the "
    "model scales its columns, and a contribution is a value times its scaled weight.",
    "schema": {"type": "integer", "maximum": 100},
}
COVERAGE = {
    "name": "coverage",
    "in": "query",
    "description": "The probability with which the true label is to be in its prediction set, or "
    "interval of numbers; the model needs conformal training.",
    "schema": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
}
KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "description": "A second request with the same key gets the first answer and is not learnt.",
    "schema": {"type": "string", "maxLength": 255},
}
FILE = "application/octet-stream"
NUMBER = {"type": "object", "properties": {"to": {"type": "integer"}}, "required": ["to"]}
LABEL = {"type": "object", "properties": {"label": {}}, "required": ["label"]}
JUDGED = {
    "type": "object",
    "properties": {"id": {"type": "string"}, "right": {"type": "boolean"}},
    "required": ["id", "right"],
}
BODIES: dict[str, Any] = {
    "/feedback": {
        "required": True,
        "content": {JSON: {"schema": {"oneOf": [JUDGED, {"type": "array", "items": JUDGED}]}}},
    },
    "/model": {"required": True, "content": {FILE: {"schema": {}}}},
    "/model/rollback": {"required": True, "content": {JSON: {"schema": NUMBER}}},
    "/ask/{number}": {"required": True, "content": {JSON: {"schema": LABEL}}},
}
FEEDBACK = {
    "name": "feedback",
    "in": "query",
    "description": "1 to get an id with each prediction, for POST /feedback; models that learn "
    "from feedback only always give them.",
    "schema": {"type": "integer", "enum": [0, 1]},
}
PARAMETERS = {"/predict": [EXPLAIN, COVERAGE, FEEDBACK], "/learn": [KEY]}


def find_errors(served: ServedModel, learning: Learning | None) -> Progress:
    """The errors of the answers before examples were learnt; else those of the last weights."""
    answers = None if learning is None else learning.answers
    return served.progress if answers is None else answers


def about(predictor: Predictor, learning: Learning | None) -> dict[str, Any]:
    """A description of the model, what it has learnt, and its errors before learning."""
    served, learner, published = predictor
    progress, counted = served.progress, find_errors(served, learning)
    solution = served.learner.parameters["solution"]
    shadow = None
    if learning is not None and learning.shadow is not None:
        shadow = learning.shadow.compare(served)
    errors = {"all": counted.error()} | {str(last): counted.error(last) for last in WINDOWS}
    weights = "answers" if solution == "last" else "last weights"
    return {
        "estimator": served.kept.estimator,
        "solution": solution,
        "classes": learner.classes.tolist(),
        "label": served.maker.label,
        "rows": served.maker.recipe.rows,
        "columns": [{"name": name, "kind": kind} for name, kind in served.maker.columns],
        "features": served.width,
        "learning": learning is not None,
        "sequence": served.sequence,
        "logged": served.sequence if learning is None else learning.log.last,
        "published": published,
        "saved": served.sequence if learning is None else learning.saved_sequence,
        "mistakes": sum(state.mistakes for state in served.learner.states),
        "examples": progress.examples,
        "refused": progress.refused,
        "error": errors,
        "error_of": weights if counted is progress else "answers since the start",
        "class_error": {
            name: errors / examples for name, (examples, errors) in counted.classes.items()
        },
        "target": learner.target_kind,
        **({"numbers": learner.numbers.as_dict()} if served.has_numbers else {}),
        "curve": counted.curve,
        "failure": None if learning is None else learning.failure,
        "shadow": shadow,
        "version": __version__,
    }


def openapi(service: "Service") -> dict[str, Any]:
    """The description of the service in OpenAPI 3.1, made from its routes."""
    served = service.current().served
    row, labelled = schemas(served)
    bodies = BODIES | {
        "/predict": describe_body(served, row),
        "/learn": describe_body(served, labelled),
    }
    paths: dict[str, Any] = {}
    for route in service.routes():
        names = re.findall(r"{(\w+)}", route.path)
        parameters = [PATH_PARAMETER | {"name": name} for name in names]
        entry = {
            "summary": route.summary,
            "parameters": parameters + PARAMETERS.get(route.path, []),
            "responses": describe_responses(service, route),
        }
        if route.method in ("POST", "PUT"):
            entry["requestBody"] = bodies.get(route.path, {"content": {JSON: {"schema": {}}}})
        if not route.role:
            entry["security"] = []
        paths.setdefault(route.path, {})[route.method.lower()] = entry
    found: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {"title": "Rosenblatt", "version": __version__},
        "paths": paths,
    }
    if service.tokens.files:
        found["components"] = {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}}
        found["security"] = [{"token": []}]
    return found


def describe_body(served: ServedModel, one: dict[str, Any]) -> dict[str, Any]:
    """The request body of one row or several, in all types that are read."""
    several = {"oneOf": [one, {"type": "array", "items": one}]}
    kinds = {JSON: {"schema": several}, NDJSON[0]: {"schema": {"type": "string"}}}
    if served.maker.of_lists is None:
        kinds[LINES if served.maker.of_lines else CSV] = {"schema": {"type": "string"}}
    return {"required": True, "content": kinds}


def describe_responses(service: "Service", route: Route) -> dict[str, Any]:
    """The responses of a route, by status."""
    limits = service.limits
    refusals = {}
    if route.method != "GET":
        refusals = {
            "400": "A row or a column cannot be used.",
            "413": f"Over {limits.bytes:,} bytes or {limits.rows:,} rows.",
            "415": "The type of the body is not supported.",
            "429": "Too many requests are open.",
        }
    if route.role and service.tokens.files:
        refusals |= {"401": "A token is required.", "403": "The token has another role."}
    if route.role == "learn":
        refusals["422"] = "The Idempotency-Key was used for other examples."
        refusals["503"] = "Examples cannot be written at the moment."
    if route.path == "/feedback":
        refusals["404"] = "There is no such prediction, or no longer."
        refusals["409"] = "The prediction was judged otherwise, or the model was replaced."
        refusals["422"] = "Wrong does not tell the label, and the rule needs it."
    if route.role == "admin" and route.method != "GET":
        refusals |= {
            "404": "There is no such example.",
            "409": "The log does not allow this change.",
            "422": "The model cannot be used.",
            "503": "The change cannot be written at the moment.",
        }
    kind = KINDS.get(route.path, JSON)
    answer = {"description": route.summary, "content": {kind: {"schema": {}}}}
    learns = route.method == "POST" and route.role == "learn"
    return {"202" if learns else "200": answer} | {
        status: {"description": why, "content": {JSON: {"schema": ERROR}}}
        for status, why in refusals.items()
    }


def schemas(served: ServedModel) -> Any:
    """The schema of a row, and of one with its label."""
    maker, label = served.maker, dict[str, Any](enum=served.learner.classes.tolist())
    if served.learner.target_kind in WITHOUT_CLASSES:
        label = {"type": "number"}
    if maker.of_lines:
        line = {"type": "string", "description": f"A line of {maker.recipe.rows}."}
        return line, line
    if not maker.columns:
        return maker.schemas(served.learner.classes)
    kinds = {"number": ["number", "null"]}
    columns: dict[str, Any] = {
        name: {"type": kinds.get(kind, ["string", "null"])} for name, kind in maker.columns
    }
    if maker.of_lists is not None:  # a list of numbers instead of the columns
        columns[maker.of_lists] = {"type": "array", "items": {"type": "number"}}
    if maker.recipe.labels_separator is not None:
        label = {"type": "array", "items": label}
    return (
        {"type": "object", "properties": columns},
        {
            "type": "object",
            "properties": columns | {maker.label: label},
            "required": [maker.label],
        },
    )
