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

PLACE = "#/components/schemas/{name}"
KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "description": "A second request with the same key gets the first answer and is not learnt.",
    "schema": {"type": "string", "maxLength": 255},
}
NUMBERS = r"^[1-9][0-9]{0,8}(,[1-9][0-9]{0,8}){0,9}$"  # ranges, too
NUMBER = {"type": "number", "minimum": -1e6, "maximum": 1e6}  # which every model takes
CELLS: dict[str, Any] = {
    "number": NUMBER | {"type": ["number", "boolean", "null"]},
    "date": {"type": ["string", "null"], "format": "date"},
}
WORD = {"type": ["string", "number", "boolean", "null"]}


def describe(service: "Service") -> dict[str, Any]:
    """The description."""
    served, paths = service.current().served, dict[str, Any]()
    kinds = {kind for one in service.operations for kind in (one.result, one.body)} | {Failure}
    structs = [one for one in kinds if isinstance(one, type) and issubclass(one, msgspec.Struct)]
    ordered = sorted(structs, key=lambda one: one.__name__)
    found, schemas = msgspec.json.schema_components(ordered, ref_template=PLACE)
    places: dict[Any, Any] = dict(zip(ordered, found, strict=True))
    for name, row in zip(("rows", "examples"), describe_rows(served), strict=True):
        several = {"type": "array", "items": row, "minItems": 1, "maxItems": service.limits.rows}
        places[name] = {"anyOf": [row, several]}
    refusal = {"description": "Why not.", "content": {JSON: {"schema": places[Failure]}}}
    for one in service.operations:
        kind = one.result if isinstance(one.result, str) else JSON
        content = {kind: {"schema": places.get(one.result, {})}}
        answer = {"description": "The answer.", "content": content}
        is_refused = one.role or "{" in one.path
        entry: dict[str, Any] = {
            "summary": (inspect.getdoc(one.answer) or "").partition("\n")[0],
            "parameters": list_parameters(one, served),
            "responses": {str(one.status): answer, "default": refusal if is_refused else answer},
        }
        if one.body is not None:
            kind = BINARY if one.body is bytes else JSON
            content = {kind: {"schema": places.get(one.body, {})}}
            entry["requestBody"] = {"required": True, "content": content}
        if one.role and service.tokens.roles:
            entry["security"] = [{"token": []}]
        paths.setdefault(one.path, {})[one.method.lower()] = entry
    token = {"token": {"type": "http", "scheme": "bearer"}}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Rosenblatt", "version": __version__},
        "paths": paths,
        "components": {"schemas": schemas, "securitySchemes": token},
    }


def list_parameters(operation: Operation, served: ServedModel) -> list[dict[str, Any]]:
    """The parameters of the path, the query and the headers."""
    found: list[dict[str, Any]] = []
    for name in re.findall(r"{(\w+)}", operation.path):
        schema: Any = {"type": "string", "pattern": NUMBERS if name == "numbers" else "."}
        found.append({"name": name, "in": "path", "required": True, "schema": schema})
    if operation.query is not None:
        _, schemas = msgspec.json.schema_components([operation.query])
        for name, schema in schemas[operation.query.__name__]["properties"].items():
            if name != "coverage" or served.learner.conformal is not None:
                found.append({"name": name, "in": "query", "schema": schema})
    return found + ([KEY] if operation.role == "learn" else [])


def describe_rows(served: ServedModel) -> Any:
    """The schema of a row, and of one with its label."""
    maker = served.maker
    label: dict[str, Any] = {"enum": served.learner.classes.tolist()}
    if served.has_numbers or served.most_classes is not None:
        label = {"type": "number"} if served.has_numbers else {}
    if maker.recipe.labels_separator is not None:
        label = {"type": "array", "items": label}
    columns = {name: CELLS.get(kind, WORD) for name, kind in maker.columns}
    names = list(columns)
    needed = [{"required": [name]} for name in names[:100]]
    if maker.of_lists is not None:  # all numbers, by their names or as a list
        columns = dict.fromkeys(columns, NUMBER)
        size = {"minItems": len(names), "maxItems": len(names)}
        columns[maker.of_lists] = {"type": "array", "items": NUMBER, **size}
        needed = [{"required": names}, {"required": [maker.of_lists]}]
    row = {"type": "object", "properties": columns, "anyOf": needed}
    labelled = row | {"properties": columns | {maker.label: label}, "required": [maker.label]}
    return row, labelled
