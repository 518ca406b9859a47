"""The Open Inference Protocol (KServe v2, Triton): predictions of named tensors."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import orjson

from .. import __version__
from .http import Endpoints, Request, RequestError, Response, Route, to_json
from .mlflow import make_rows, parse_json_with_nan
from .requests import BadExampleError

INTEGERS = {
    f"{sign}INT{8 * size}": f"<{kind}{size}"
    for sign, kind in (("", "i"), ("U", "u"))
    for size in (1, 2, 4, 8)
}
NUMBERS = {"BOOL": "?", "FP16": "<f2", "FP32": "<f4", "FP64": "<f8", **INTEGERS}
TYPES = {bool: "BOOL", int: "INT64", float: "FP64", str: "BYTES"}
VERSION = "1"  # of the protocol's; numbers of examples tell models apart
HEADER_LENGTH = b"inference-header-content-length"


class Tensor(NamedTuple):
    """An input: its name, its shape and its values in one list."""

    name: str
    shape: tuple[int, ...]
    values: list[Any]


class InferenceEndpoints(Endpoints):
    """The endpoints of the Open Inference Protocol, version 2."""

    def routes(self) -> list[Route]:
        """The endpoints of the protocol."""
        model = "/v2/models/{name}"
        return [
            Route("GET", "/v2", "predict", self.server, "Name and version of the server."),
            Route("GET", "/v2/health/live", "", self.live, "Whether the server runs."),
            Route("GET", "/v2/health/ready", "", self.service.ready, "As /readyz."),
            *(
                route
                for path in (model, f"{model}/versions/{{version}}")
                for route in self.model_routes(path)
            ),
        ]

    def model_routes(self, path: str) -> list[Route]:
        """The endpoints of a model, with or without its version in the path."""
        return [
            Route("GET", path, "predict", self.model, "Inputs and outputs of the model."),
            Route("GET", f"{path}/ready", "", self.model_ready, "Whether the model is loaded."),
            Route("POST", f"{path}/infer", "predict", self.infer, "Predictions of tensors."),
        ]

    async def server(self, request: Request) -> Response:
        """Name, version and extensions."""
        about = {"name": "rosenblatt", "version": __version__}
        return to_json(about | {"extensions": ["binary_tensor_data"]})

    async def live(self, request: Request) -> Response:
        """Whether the server runs: it does, or it would not answer."""
        return to_json({"live": True})

    def check_name(self, request: Request) -> str:
        """The name of the model; refuse a request for another one or another version."""
        name, asked = Path(self.service.current().served.name).stem, request.parameters["name"]
        if asked != name:
            raise RequestError(404, "unknown-model", f"The model is called {name}.")
        if request.parameters.get("version", VERSION) != VERSION:
            raise RequestError(404, "unknown-version", f"The model has the version {VERSION}.")
        return name

    async def model(self, request: Request) -> Response:
        """The name, inputs and outputs of the model."""
        name, served = self.check_name(request), self.service.current().served
        columns = served.maker.columns or [("rows", "text")]
        inputs = [
            {"name": one, "datatype": "FP64" if kind == "number" else "BYTES", "shape": [-1]}
            for one, kind in columns
        ]
        classes = served.learner.classes.tolist()
        numbers = served.has_numbers
        kind = "FP64" if numbers else find_type(classes)
        labels = {"name": "labels", "datatype": kind, "shape": [-1]}
        width = [] if len(classes) <= 2 else [len(classes)]
        scores = {"name": "scores", "datatype": "FP64", "shape": [-1, *width]}
        about = {"name": name, "versions": [VERSION], "platform": "rosenblatt"}
        ranks = served.learner.target_kind == "ranking"
        outputs = [labels] if numbers else [scores] if ranks else [labels, scores]
        return to_json(about | {"inputs": inputs, "outputs": outputs})

    async def model_ready(self, request: Request) -> Response:
        """Whether the model is loaded: it is, if it has this name."""
        return to_json({"name": self.check_name(request), "ready": True})

    async def infer(self, request: Request) -> Response:
        """Labels and scores of the rows that the inputs make together."""
        name = self.check_name(request)

        def predict() -> dict[str, Any]:
            document, tensors = read_tensors(request)
            predictor = self.service.current()
            values = join_tensors(tensors, predictor.served.maker, self.service.limits.rows)
            request.rows = len(values)
            answer = predictor.answer(values)
            outputs = [
                make_output(output, answer[output]) for output in choose_outputs(document, answer)
            ]
            given = {"id": document["id"]} if "id" in document else {}
            return {"model_name": name, "model_version": VERSION, **given, "outputs": outputs}

        return to_json(await self.service.work(request, predict))


def read_tensors(request: Request) -> tuple[dict[str, Any], list[Tensor]]:
    """The JSON document of a request, and its inputs; binary values follow the document."""
    length, body = request.header(HEADER_LENGTH), request.body
    if length and not (length.isdecimal() and len(length) < 12 and int(length) <= len(body)):
        raise BadExampleError("Inference-Header-Content-Length is not the size of the JSON.")
    size = int(length) if length else len(body)
    document, binary = parse_json_with_nan(body[:size]), body[size:]
    inputs = document.get("inputs") if isinstance(document, dict) else None
    if not isinstance(inputs, list) or not all(isinstance(one, dict) for one in inputs):
        raise BadExampleError("Expected an object with a list of inputs.")
    tensors = []
    for one in inputs:
        name, shape, kind = (one.get(key) for key in ("name", "shape", "datatype"))
        if not isinstance(name, str) or kind not in (*NUMBERS, "BYTES"):
            raise BadExampleError(f"an input needs a name and a known datatype, not {kind!r}")
        if not isinstance(shape, list) or not all(type(n) is int and n >= 0 for n in shape):
            raise BadExampleError("the shape is not a list of whole numbers", column=name)
        parameters = one.get("parameters") or {}
        if not isinstance(parameters, dict):
            raise BadExampleError("the parameters are not an object", column=name)
        bytes_here = parameters.get("binary_data_size")
        if bytes_here is None:
            values = flatten(one.get("data"))
        elif type(bytes_here) is int and 0 <= bytes_here <= len(binary):
            values = decode_binary(binary[:bytes_here], kind, name)
            binary = binary[bytes_here:]
        else:
            raise BadExampleError("binary_data_size is more than was sent", column=name)
        if len(values) != math.prod(shape):
            sentence = f"there are {len(values)} values for the shape {shape}"
            raise BadExampleError(sentence, column=name)
        tensors.append(Tensor(name, tuple(shape), values))
    return document, tensors


def flatten(data: Any) -> list[Any]:
    """The values of nested lists, in order."""
    if not isinstance(data, list):
        raise BadExampleError("An input has a list as its data.")
    flat: list[Any] = data
    while any(isinstance(one, list) for one in flat):
        flat = [value for one in flat for value in (one if isinstance(one, list) else [one])]
    return flat


def decode_binary(data: bytes, kind: str, name: str) -> list[Any]:
    """The values of a binary tensor: little-endian numbers, or strings after their lengths."""
    try:
        if kind != "BYTES":
            found: list[Any] = np.frombuffer(data, NUMBERS[kind]).tolist()
            return [None if value != value else value for value in found]
        values, at = [], 0
        while at < len(data):
            end = at + 4 + int.from_bytes(data[at : at + 4], "little")
            if end > len(data):
                raise ValueError("a string is cut")
            values.append(data[at + 4 : end].decode())
            at = end
        return values
    except ValueError as error:  # also of bytes that are not UTF-8
        raise BadExampleError(f"the binary data are not {kind} ({error})", column=name) from None


def join_tensors(tensors: Sequence[Tensor], maker: Any, most: int) -> list[Any]:
    """Rows: of one tensor with all columns, or of a tensor for each column."""
    if maker.recipe.rows == "sentences":
        raise BadExampleError("Sentences are not tensors; send them to /predict.")
    names = [tensor.name for tensor in tensors]
    if not tensors or len(set(names)) < len(names):
        raise BadExampleError("Expected inputs with different names.")
    first, count = tensors[0], len(maker.columns) or 1
    if len(tensors) == 1 and (first.name not in maker.names or count > 1 < len(first.shape)):
        width = math.prod(first.shape[1:])
        rows = [first.values[k : k + width] for k in range(0, len(first.values), max(width, 1))]
        return make_rows(rows, maker, most)
    for tensor in tensors:
        if not tensor.shape or math.prod(tensor.shape[1:]) != 1:
            raise BadExampleError("expected the shape [rows] or [rows, 1]", column=tensor.name)
    return make_rows({tensor.name: tensor.values for tensor in tensors}, maker, most)


def choose_outputs(document: dict[str, Any], answer: dict[str, Any]) -> list[str]:
    """The names of the outputs that a request asks for; all by default."""
    asked = document.get("outputs") or [{"name": name} for name in answer]
    listed = asked if isinstance(asked, list) else [asked]
    names: list[Any] = [one.get("name") if isinstance(one, dict) else None for one in listed]
    for name in names:
        if name not in list(answer):
            raise BadExampleError(f"There is no output {name!r}; there are {', '.join(answer)}.")
    return names


def make_output(name: str, values: list[Any]) -> dict[str, Any]:
    """A list of values, or of lists of them, as an output tensor; a set of labels is JSON."""
    if name == "labels" and isinstance(values[0], list):
        values = [orjson.dumps(one).decode() for one in values]
    is_matrix = isinstance(values[0], list)
    shape = [len(values), len(values[0])] if is_matrix else [len(values)]
    flat = flatten(values)
    return {"name": name, "datatype": find_type(flat), "shape": shape, "data": flat}


def find_type(values: list[Any]) -> str:
    """The datatype of values in Python."""
    kinds = {type(value) for value in values}
    return TYPES[kinds.pop()] if len(kinds) == 1 else "FP64"
