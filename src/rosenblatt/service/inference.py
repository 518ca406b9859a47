"""The Open Inference Protocol (KServe v2, Triton): predictions of named tensors in JSON."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from msgspec import UNSET, Meta, Struct, UnsetType

from .requests import JSON, BadExampleError, RequestError, check_values, parse_json
from .responses import Call, Operation, Ready, encode_json

if TYPE_CHECKING:
    from .app import Service

TYPES = {bool: "BOOL", int: "INT64", float: "FP64", str: "BYTES"}


class InputTensor(Struct):
    """An input."""

    name: str
    shape: list[Annotated[int, Meta(ge=0)]]
    datatype: str
    data: list[Any]


class Inference(Struct):
    """A request of the protocol."""

    inputs: Annotated[list[InputTensor], Meta(min_length=1)]
    id: str | UnsetType | None = UNSET


class OutputTensor(Struct):
    """An output."""

    name: str
    datatype: str
    shape: list[int]
    data: list[Any]


class Inferred(Struct, omit_defaults=True):
    """A response of the protocol."""

    model_name: str
    outputs: list[OutputTensor]
    id: str | UnsetType | None = UNSET


class InferenceEndpoints:
    """The endpoints of the Open Inference Protocol, version 2, that predictions need."""

    def __init__(self, service: "Service") -> None:
        self.service = service

    def list_operations(self) -> list[Operation]:
        """The endpoints."""
        path = "/v2/models/{name}"
        return [
            Operation("GET", "/v2/health/live", "", self.live, JSON),
            Operation("GET", "/v2/health/ready", "", self.service.ready, Ready),
            Operation("GET", path, "predict", self.model, JSON),
            Operation("GET", f"{path}/ready", "", self.model_ready, JSON),
            Operation("POST", f"{path}/infer", "predict", self.infer, Inferred, body=Inference),
        ]

    async def live(self, call: Call) -> dict[str, Any]:
        """Tell that the server runs."""
        return {"live": True}

    def check_name(self, call: Call) -> str:
        """The name of the model; refuse a request for another one."""
        name = Path(self.service.current().served.name).stem
        if call.request.path_params["name"] != name:
            raise RequestError(404, "unknown-model", f"The model is called {name}.")
        return name

    async def model(self, call: Call) -> dict[str, Any]:
        """Describe the inputs and outputs of the model."""
        name, served = self.check_name(call), self.service.current().served
        classes = served.learner.classes.tolist()
        outputs = [describe("labels", "FP64" if served.has_numbers else find_type(classes))]
        if not served.has_numbers:
            outputs.append(describe("scores", "FP64", *[len(classes)][: len(classes) > 2]))
        inputs = [
            describe(one, "FP64" if kind == "number" else "BYTES")
            for one, kind in served.maker.columns
        ]
        about = {"name": name, "versions": [], "platform": "rosenblatt"}
        return about | {"inputs": inputs, "outputs": outputs}

    async def model_ready(self, call: Call) -> dict[str, Any]:
        """Tell whether the model is loaded: it is, if it has this name."""
        return {"name": self.check_name(call), "ready": True}

    async def infer(self, call: Call) -> Inferred:
        """Predict labels and scores of the rows that the inputs make together."""
        name = self.check_name(call)

        def predict() -> Inferred:
            asked, predictor = parse_json(call.body, kind=Inference), self.service.current()
            maker = predictor.served.maker
            columns = [name for name, _ in maker.columns]
            rows = check_values(join_tensors(asked.inputs, columns), self.service.limits.rows)
            call.request.scope["rows"] = len(rows)
            answer = predictor.answer(maker.make(rows, labelled=False))
            return Inferred(name, [make_output(*one) for one in answer.items()], asked.id)

        found: Inferred = await self.service.work(call, predict)
        return found


def describe(name: str, datatype: str, *width: int) -> dict[str, Any]:
    """The name, type and shape of an input or output."""
    return {"name": name, "datatype": datatype, "shape": [-1, *width]}


def join_tensors(tensors: list[InputTensor], columns: list[str]) -> list[Any]:
    """Rows: a tensor that is not named as a column has all columns in their order."""
    count, found = sum(tensors[0].shape[:1]), dict[str, Any]()
    for one in tensors:
        names, data = [one.name] if one.name in columns else columns, np.array(one.data, object)
        if not found.keys().isdisjoint(names):
            raise BadExampleError("Expected one input for each column.")
        shape = one.shape if len(one.shape) > 1 else [*one.shape, 1]
        if shape != [count, len(names)] or data.size != count * len(names):
            sentence = f"expected values with the shape [{count}, {len(names)}]"
            raise BadExampleError(sentence, column=one.name)
        found |= zip(names, data.reshape(count, len(names)).T.tolist(), strict=True)
    return [dict(zip(found, row, strict=True)) for row in zip(*found.values(), strict=True)]


def make_output(name: str, values: list[Any]) -> OutputTensor:
    """A list of values, or of lists of them, as an output tensor; a set of labels is JSON."""
    if name == "labels" and isinstance(values[0], list):
        values = [encode_json(one).decode() for one in values]
    array = np.array(values, object)
    flat = array.ravel().tolist()
    return OutputTensor(name, find_type(flat), list(array.shape), flat)


def find_type(values: list[Any]) -> str:
    """The datatype of values in Python."""
    kinds = {type(value) for value in values}
    return TYPES[kinds.pop()] if len(kinds) == 1 else "FP64"
