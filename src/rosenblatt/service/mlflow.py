"""The scoring protocols of MLflow and TensorFlow Serving, so that their clients work unchanged."""

import json
from typing import Any

from .. import __version__
from .http import Endpoints, Request, Response, Route, to_json
from .requests import CSV, BadExampleError, check_type, check_values, decode, parse_csv, parse_json

FORMS = ("dataframe_split", "dataframe_records", "instances", "inputs")
PREDICTED = ("labels", "tags", "scores")
BESIDE = {"instances", "signature_name", "parameters"}  # the keys of TensorFlow Serving


class MLflowEndpoints(Endpoints):
    """The endpoints of MLflow's scoring server."""

    def routes(self) -> list[Route]:
        """The endpoints of the protocol."""
        health = self.service.health
        summary = "Predictions, as from MLflow's scoring server."
        return [
            Route("POST", "/invocations", "predict", self.invoke, summary),
            Route("GET", "/ping", "", health, "As /healthz, for MLflow."),
            Route("GET", "/health", "", health, "As /healthz, for MLflow."),
            Route("GET", "/version", "predict", self.version, "The version, for MLflow."),
        ]

    async def invoke(self, request: Request) -> Response:
        """Predictions of a data frame, of instances or of inputs."""

        def predict() -> dict[str, Any]:
            predictor = self.service.current()
            values = read_invocation(request, predictor.served.maker, self.service.limits.rows)
            request.rows = len(values)
            return to_predictions(predictor.answer(values))

        return to_json(await self.service.work(request, predict))

    async def version(self, request: Request) -> Response:
        """The version of this package as text."""
        return Response(__version__.encode(), kind="text/plain; charset=utf-8")


def to_predictions(answer: dict[str, Any]) -> dict[str, Any]:
    """An answer with the labels, the tags or the scores of a ranker as ``predictions``."""
    predictions = answer.pop(next(name for name in PREDICTED if name in answer))
    return {"predictions": predictions, **answer}


def read_instances(body: bytes, maker: Any, most: int) -> list[Any] | None:
    """The rows of ``{"instances": rows}``, or None if the body has another form."""
    if b'"instances"' not in body or "instances" in maker.names:
        return None
    document = parse_json(body)
    if not isinstance(document, dict) or not {"instances"} <= document.keys() <= BESIDE:
        return None
    return make_rows(document["instances"], maker, most)


def read_invocation(request: Request, maker: Any, most: int) -> list[Any]:
    """The rows of a request to ``/invocations``, in one of MLflow's four forms or CSV."""
    kind = check_type(request.header(b"content-type"))
    if kind == CSV and not maker.of_lines:
        return check_values(parse_csv(decode(request.body)), most, dict)
    document = parse_json_with_nan(request.body)
    given = [name for name in FORMS if isinstance(document, dict) and name in document]
    if len(given) != 1:
        raise BadExampleError(f"Expected one of {', '.join(FORMS)} in a JSON object.")
    if document.get("params"):
        raise BadExampleError("The model takes no params; leave them out.", column="params")
    data = document[given[0]]
    if given[0] == "dataframe_split":
        if not isinstance(data, dict) or not {"columns", "data"} <= data.keys():
            raise BadExampleError("dataframe_split has columns and data.")
        return make_rows(data["data"], maker, most, data["columns"])
    return make_rows(data, maker, most)


def parse_json_with_nan(body: bytes) -> Any:
    """Parse JSON as Python writes it: NaN is a missing value."""
    if b"NaN" not in body:
        return parse_json(body)
    try:
        return json.loads(decode(body), parse_constant=read_constant)
    except (ValueError, RecursionError):
        return parse_json(body)  # which says where


def read_constant(name: str) -> None:
    """A missing value for NaN; infinities are refused."""
    if name != "NaN":
        raise ValueError(name)


def make_rows(data: Any, maker: Any, most: int, columns: Any = None) -> list[Any]:
    """Rows of objects, of lists in the order of columns, of single values, or of whole columns.

    Parameters
    ----------
    data
        A list of rows, or an object with a list for each column.
    maker
        Makes rows of the model.
    most
        The largest number of rows.
    columns
        The names of the values of a row; those of the model by default.
    """
    if isinstance(data, dict):
        data = transpose(data)
    if not isinstance(data, list):
        raise BadExampleError("Expected a list of rows.")
    if maker.of_lines:
        return check_values((unwrap(one) for one in data), most, str)
    if maker.of_lists is not None and not maker.columns:  # sentences
        found = ({maker.of_lists: one} if isinstance(one, list) else one for one in data)
        return check_values(found, most, dict)
    names = [name for name, _ in maker.columns] if columns is None else columns
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise BadExampleError("Expected a list of names of columns.")
    return check_values(
        (name_values(one, names, row) for row, one in enumerate(data, 1)), most, dict
    )


def name_values(one: Any, names: list[str], row: int) -> Any:
    """A row as an object, from an object or from values in the order of the names."""
    if isinstance(one, dict):
        return one
    values = one if isinstance(one, list) else [one]
    if len(values) != len(names):
        sentence = f"there are {len(values)} values for {len(names)} columns"
        raise BadExampleError(f"{sentence} ({', '.join(names[:10])})", row)
    return dict(zip(names, values, strict=True))


def transpose(columns: dict[str, Any]) -> list[Any]:
    """The rows of an object of columns, or of a single row."""
    if not any(isinstance(values, list) for values in columns.values()):
        return [columns]
    counts = {len(values) if isinstance(values, list) else -1 for values in columns.values()}
    if len(counts) != 1:
        raise BadExampleError("The columns have different numbers of rows.")
    rows = zip(*columns.values(), strict=True)
    return [dict(zip(columns, map(unwrap, row), strict=True)) for row in rows]


def unwrap(value: Any) -> Any:
    """A value without a list around it: tensors of one column have one around each value."""
    return value[0] if isinstance(value, list) and len(value) == 1 else value
