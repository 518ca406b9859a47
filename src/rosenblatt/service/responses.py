"""What the service says besides predictions: the state of the model, metrics, OpenAPI."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from .. import __version__
from .learning import Learning, Published
from .model import WINDOWS, ServedModel
from .requests import CSV, JSON, LINES, NDJSON

if TYPE_CHECKING:
    from .app import Doors, Service


EXPLAIN = {
    "name": "explain",
    "in": "query",
    "description": "How many features to explain each prediction by; values are scaled as the "
    "model scales its columns, and a contribution is a value times its scaled weight.",
    "schema": {"type": "integer", "maximum": 100},
}


def about(served: ServedModel, published: Published, learning: Learning | None) -> dict[str, Any]:
    """What the model is, what it has learnt, and how often it was wrong before it did."""
    learner, progress = published.learner, served.progress
    solution = served.learner.parameters["solution"]
    shadow = None
    if learning is not None and learning.shadow is not None:
        shadow = learning.shadow.compare(served)
    errors = {"all": progress.error()} | {str(last): progress.error(last) for last in WINDOWS}
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
        "published": published.sequence,
        "saved": served.sequence if learning is None else learning.saved_sequence,
        "mistakes": sum(state.mistakes for state in served.learner.states),
        "refused": progress.refused,
        "error": errors,
        "curve": progress.curve,
        "failure": None if learning is None else learning.failure,
        "shadow": shadow,
        "version": __version__,
    }


def metrics(service: "Service", model: dict[str, Any]) -> str:
    """All counters in the text form of Prometheus."""
    lines: list[str] = []

    def tell(name: str, kind: str, meaning: str, values: Iterable[tuple[str, Any]]) -> None:
        lines.append(f"# HELP rosenblatt_{name} {meaning}\n# TYPE rosenblatt_{name} {kind}")
        lines.extend(f"rosenblatt_{name}{labels} {value}" for labels, value in values)

    answered = sorted(service.answered.items())
    tell(
        "requests_total",
        "counter",
        "Requests answered.",
        ((f'{{path="{path}",status="{status}"}}', n) for (path, status), n in answered),
    )
    seconds = ((f'{{path="{path}"}}', f"{n:.6g}") for path, n in sorted(service.seconds.items()))
    tell("request_seconds_total", "counter", "Time spent on requests.", seconds)
    rows = ((f'{{path="{path}"}}', n) for path, n in sorted(service.rows.items()))
    tell("rows_total", "counter", "Rows of requests.", rows)
    tell("open_requests", "gauge", "Requests being read.", [("", service.open)])
    tell("sequence", "gauge", "The last example learnt.", [("", model["sequence"])])
    tell("published_sequence", "gauge", "The last in predictions.", [("", model["published"])])
    tell("saved_sequence", "gauge", "The last in the model file.", [("", model["saved"])])
    tell("updates_total", "counter", "Updates of the weights.", [("", model["mistakes"])])
    tell(
        "errors_total",
        "counter",
        "Wrong before learnt.",
        [("", service.current().served.progress.errors)],
    )
    tell("writable", "gauge", "Whether examples are taken.", [("", int(not model["failure"]))])
    shares = (
        (f'{{last="{last}"}}', f"{share:.6g}")
        for last, share in model["error"].items()
        if share is not None
    )
    tell("error_ratio", "gauge", "Share of examples wrong before they were learnt.", shares)
    if service.learning is not None:
        tell("log_bytes", "gauge", "The log on disk.", [("", service.learning.log.size)])
    return "\n".join(lines) + "\n"


def openapi(served: ServedModel, doors: "Doors") -> dict[str, Any]:
    """The description of the service in OpenAPI 3.1."""
    row, labelled = schemas(served)
    error = {"type": "object", "properties": {"error": {"type": "string"}}}
    statuses = {
        "400": "Malformed: which row and column.",
        "413": f"Over {doors.bytes:,} bytes or {doors.rows:,} rows.",
        "415": "A kind of body that is not read.",
        "429": "Too many open requests.",
    }

    def body(one: dict[str, Any]) -> dict[str, Any]:
        several = {"oneOf": [one, {"type": "array", "items": one}]}
        kinds = {JSON: {"schema": several}, NDJSON[0]: {"schema": {"type": "string"}}}
        if served.maker.of_lists is None:
            kinds[LINES if served.maker.of_lines else CSV] = {"schema": {"type": "string"}}
        return {"required": True, "content": kinds}

    def answer(meaning: str, kind: str = JSON) -> dict[str, Any]:
        return {"description": meaning, "content": {kind: {"schema": {}}}}

    refusals = {
        status: {"description": why, "content": {JSON: {"schema": error}}}
        for status, why in statuses.items()
    }
    posts = {
        "/predict": {
            "summary": "Labels and scores of rows, or tags of sentences.",
            "parameters": [EXPLAIN],
            "requestBody": body(row),
            "responses": {"200": answer("labels and scores, or tags; sequence")} | refusals,
        },
        "/learn": {
            "summary": "Learn examples; answered when they are on disk.",
            "requestBody": body(labelled),
            "responses": {"202": answer("the sequence number of the last"), "503": refusals["400"]}
            | refusals,
        },
    }
    gets = {
        "/model": ("What the model is and how well it does.", JSON),
        "/model.safetensors": ("The model file.", "application/octet-stream"),
        "/metrics": ("Counters for Prometheus.", LINES),
        "/healthz": ("Whether it answers.", JSON),
    }
    paths: dict[str, Any] = {path: {"post": one} for path, one in posts.items()}
    for path, (meaning, kind) in gets.items():
        paths[path] = {"get": {"summary": meaning, "responses": {"200": answer(meaning, kind)}}}
    found: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {"title": "Rosenblatt", "version": __version__},
        "paths": paths,
    }
    if doors.token is not None:
        found["components"] = {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}}
        found["security"] = [{"token": []}]
    return found


def schemas(served: ServedModel) -> Any:
    """The schema of a row, and of one with its label."""
    if served.maker.of_lists is not None:
        return served.maker.schemas(served.learner.classes)
    if served.maker.of_lines:
        line = {"type": "string", "description": f"A line of {served.maker.recipe.rows}."}
        return line, line
    kinds = {"number": ["number", "null"]}
    columns = {
        name: {"type": kinds.get(kind, ["string", "null"])} for name, kind in served.maker.columns
    }
    label = {served.maker.label: {"enum": served.learner.classes.tolist()}}
    return (
        {"type": "object", "properties": columns},
        {"type": "object", "properties": columns | label, "required": [served.maker.label]},
    )
