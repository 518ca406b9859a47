"""The description of the service in OpenAPI 3.1, made from its operations and their types."""

import inspect
import re
from typing import TYPE_CHECKING, Any

import msgspec

from .. import __version__
from .model import ServedModel
from .operations import BINARY, JSON, Operation
from .requests import CSV, LINES, NDJSON
from .responses import Failure

if TYPE_CHECKING:
    from .app import Service

LARGEST = 1e6  # of the numbers that every model takes
SPELLED = {
    "type": "string",
    "pattern": r"^(-?[0-9]{1,5}|true|false)?$",
    "description": "A number as text.",
}
PLACE = "#/components/schemas/{name}"
KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "description": "A second request with the same key gets the first answer and is not learnt.",
    "schema": {"type": "string", "maxLength": 255},
}
NUMBERS = r"^[1-9][0-9]{0,8}(,[1-9][0-9]{0,8}){0,9}$"  # ranges, too


def describe(service: "Service") -> dict[str, Any]:
    """The description."""
    operations, served = service.operations, service.current().served
    types = {one.result for one in operations if not isinstance(one.result, str)} | {Failure}
    types |= {
        one.body for one in operations if isinstance(one.body, type) and one.body is not bytes
    }
    ordered = sorted(types, key=lambda kind: kind.__name__)
    found, schemas = msgspec.json.schema_components(ordered, ref_template=PLACE)
    places = dict(zip(ordered, found, strict=True))
    row, labelled = describe_rows(served)
    bodies: dict[Any, Any] = {
        "rows": several_rows(row, service.limits.rows),
        "examples": several_rows(labelled, service.limits.rows),
        bytes: {BINARY: {"schema": {}}},
    } | {kind: {JSON: {"schema": place}} for kind, place in places.items()}
    paths: dict[str, Any] = {}
    for one in operations:
        kind = one.result if isinstance(one.result, str) else JSON
        content = {kind: {"schema": places.get(one.result, {})}}
        refused = {JSON: {"schema": places[Failure]}}
        statuses = list_refusals(service, one)
        entry: dict[str, Any] = {
            "summary": (inspect.getdoc(one.answer) or "").partition("\n")[0],
            "parameters": list_parameters(one, served),
            "responses": {str(one.status): {"description": "The answer.", "content": content}}
            | {str(n): {"description": why, "content": refused} for n, why in statuses.items()},
        }
        if one.path in ("/healthz", "/readyz", "/v2/health/ready"):
            entry["responses"]["503"] = {"description": "It does not.", "content": content}
        if one.body is not None:
            entry["requestBody"] = {"required": True, "content": bodies[one.body]}
            if isinstance(one.body, str):
                kinds = f"{NDJSON[0]} and {LINES if served.maker.of_lines else CSV}"
                entry["requestBody"]["description"] = f"The same as {kinds} is read, too."
        if not one.role:
            entry["security"] = []
        paths.setdefault(one.path, {})[one.method.lower()] = entry
    described: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {"title": "Rosenblatt", "version": __version__},
        "paths": paths,
        "components": {"schemas": schemas},
    }
    if service.tokens.roles:
        described["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        described["security"] = [{"token": []}]
    return described


def list_parameters(operation: Operation, served: ServedModel) -> list[dict[str, Any]]:
    """The parameters of the path, the query and the headers."""
    found: list[dict[str, Any]] = [
        {
            "name": name,
            "in": "path",
            "required": True,
            "schema": {"type": "string", "pattern": NUMBERS if name == "numbers" else "."},
        }
        for name in re.findall(r"{(\w+)}", operation.path)
    ]
    if operation.query is not None:
        _, schemas = msgspec.json.schema_components([operation.query])
        properties = schemas[operation.query.__name__]["properties"]
        found += [
            {"name": name, "in": "query", "schema": schema}
            for name, schema in properties.items()
            if name != "coverage" or served.learner.conformal is not None
        ]
    return found + ([KEY] if operation.role == "learn" else [])


def list_refusals(service: "Service", operation: Operation) -> dict[int, str]:
    """Why an operation is refused, by status."""
    limits, found = service.limits, {}
    if operation.query is not None or operation.body is not None or "{" in operation.path:
        found[400] = "The query, a row or a column cannot be used."
    if operation.body is not None:
        largest = operation.largest or limits.bytes
        found[413] = f"Over {largest:,} bytes or {limits.rows:,} rows."
        found |= {415: "The type of the body is not supported.", 429: "Too much is open."}
    if operation.role:
        found[503] = "The service starts or stops, or examples cannot be written."
    if operation.role and service.tokens.roles:
        found |= {401: "A token is required.", 403: "The token has another role."}
    if operation.role in ("learn", "admin"):
        found[403] = "The service does not learn, or the token has another role."
    if operation.role == "learn":
        found[409] = "The Idempotency-Key was used for other examples."
    if "{" in operation.path:
        found[404] = "There is no such model or example."
    if operation.role == "admin" and operation.method != "GET":
        found |= {409: "The log does not allow this change.", 422: "The model cannot be used."}
    return found


def several_rows(one: dict[str, Any], most: int) -> dict[str, Any]:
    """The request body of one row or several."""
    several = {"type": "array", "items": one, "minItems": 1, "maxItems": most}
    return {JSON: {"schema": {"anyOf": [one, several]}}}


def describe_rows(served: ServedModel) -> Any:
    """The schema of a row, and of one with its label."""
    maker, classes = served.maker, served.learner.classes.tolist()
    if maker.of_lines:
        line = {"type": "string", "description": f"A line of {maker.recipe.rows}."}
        return line, line
    label: dict[str, Any] = {"type": "number"} if served.has_numbers else {"enum": classes}
    if served.most_classes is not None:
        label = {}
    if maker.recipe.labels_separator is not None:
        label = {"type": "array", "items": label}
    number = {"type": "number", "minimum": -LARGEST, "maximum": LARGEST}
    columns: dict[str, Any] = {}
    for name, kind in maker.columns:
        if kind == "number":
            columns[name] = {"anyOf": [number, {"type": ["boolean", "null"]}, SPELLED]}
        elif kind == "date":
            columns[name] = {"type": ["string", "null"], "format": "date"}
        else:
            columns[name] = {"type": ["string", "number", "boolean", "null"]}
    names = list(columns)
    needed: dict[str, Any] = {"anyOf": [{"required": [name]} for name in names[:100]]}
    if maker.of_lists is not None:  # all numbers, by their names or as a list
        columns = dict.fromkeys(columns, number)
        size = {"minItems": len(names), "maxItems": len(names)}
        columns[maker.of_lists] = {"type": "array", "items": number, **size}
        needed = {"anyOf": [{"required": names}, {"required": [maker.of_lists]}]}
    row = {"type": "object", "properties": columns, **needed}
    labelled = row | {"properties": columns | {maker.label: label}, "required": [maker.label]}
    return row, labelled
