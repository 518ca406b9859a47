"""The description of the service in OpenAPI 3.1, made from its operations and their types."""

import inspect
import re
from typing import TYPE_CHECKING, Any

import msgspec

from .. import __version__
from .model import ServedModel
from .requests import JSON
from .responses import BINARY, Failure, Operation

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
    served, most = service.current().served, service.limits.rows
    kinds = {kind for one in service.operations for kind in (one.result, one.body)} | {Failure}
    ordered = sorted((one for one in kinds if is_struct(one)), key=lambda one: one.__name__)
    found, schemas = msgspec.json.schema_components(ordered, ref_template=PLACE)
    places = dict(zip(ordered, found, strict=True))
    row, labelled = describe_rows(served)
    bodies: dict[Any, Any] = {
        "rows": {JSON: {"schema": several_rows(row, most)}},
        "examples": {JSON: {"schema": several_rows(labelled, most)}},
        bytes: {BINARY: {"schema": {}}},
    } | {kind: {JSON: {"schema": place}} for kind, place in places.items()}
    refusal = {"description": "Why not.", "content": {JSON: {"schema": places[Failure]}}}
    paths: dict[str, Any] = {}
    for one in service.operations:
        kind = one.result if isinstance(one.result, str) else JSON
        answer = {
            "description": "The answer.",
            "content": {kind: {"schema": places.get(one.result, {})}},
        }
        entry: dict[str, Any] = {
            "summary": (inspect.getdoc(one.answer) or "").partition("\n")[0],
            "parameters": list_parameters(one, served),
            "responses": {
                str(one.status): answer,
                "default": refusal if one.role or "{" in one.path else answer,
            },
        }
        if one.body is not None:
            entry["requestBody"] = {"required": True, "content": bodies[one.body]}
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


def is_struct(kind: Any) -> bool:
    """Whether a type is described among the components."""
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct)


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


def several_rows(one: dict[str, Any], most: int) -> dict[str, Any]:
    """One row or several."""
    return {"anyOf": [one, {"type": "array", "items": one, "minItems": 1, "maxItems": most}]}


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
