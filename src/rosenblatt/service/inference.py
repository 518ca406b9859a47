"""The Open Inference Protocol (KServe v2, Triton): predictions of named tensors."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from .. import __version__
from .requests import JSON, BadExampleError, RequestError, check_values, parse_json
from .responses import Call, Operation, Ready, encode_json

if TYPE_CHECKING:
    from .app import Service

DATATYPES = (
    "BOOL", "BYTES", "FP16", "FP32", "FP64", "INT8", "INT16", "INT32", "INT64", "UINT8", "UINT16",
    "UINT32", "UINT64",
)  # fmt: skip
TYPES = {bool: "BOOL", int: "INT64", float: "FP64", str: "BYTES"}
VERSION = "1"  # of the protocol's; numbers of examples tell models apart
Size = Annotated[int, Meta(ge=0)]


class InputTensor(Struct):
    """An input."""

    name: str
    shape: list[Size]
    datatype: Literal[DATATYPES]  # type: ignore[valid-type]
    data: list[Any]


class OutputName(Struct):
    """An output that is asked for."""

    name: Literal["labels", "scores", "probabilities"]


class Inference(Struct):
    """A request of the protocol."""

    inputs: list[InputTensor]
    outputs: list[OutputName] | None = None
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
    model_version: str
    outputs: list[OutputTensor]
    id: str | UnsetType | None = UNSET


class InferenceEndpoints:
    """The endpoints of the Open Inference Protocol, version 2."""

    def __init__(self, service: "Service") -> None:
        self.service = service

    def list_operations(self) -> list[Operation]:
        """The endpoints; those of the model also with its version in the path."""
        found = [
            Operation("GET", "/v2", "predict", self.server, JSON),
            Operation("GET", "/v2/health/live", "", self.live, JSON),
            Operation("GET", "/v2/health/ready", "", self.service.ready, Ready),
        ]
        for path in ("/v2/models/{name}", "/v2/models/{name}/versions/{version}"):
            found += [
                Operation("POST", f"{path}/infer", "predict", self.infer, Inferred, body=Inference),
                Operation("GET", path, "predict", self.model, JSON),
                Operation("GET", f"{path}/ready", "", self.model_ready, JSON),
            ]
        return found

    async def server(self, call: Call) -> dict[str, Any]:
        """Tell the name and version of the server."""
        return {"name": "rosenblatt", "version": __version__, "extensions": []}

    async def live(self, call: Call) -> dict[str, Any]:
        """Tell that the server runs."""
        return {"live": True}

    def check_name(self, call: Call) -> str:
        """The name of the model; refuse a request for another one or another version."""
        name, given = Path(self.service.current().served.name).stem, call.request.path_params
        if given["name"] != name:
            raise RequestError(404, "unknown-model", f"The model is called {name}.")
        if given.get("version", VERSION) != VERSION:
            raise RequestError(404, "unknown-version", f"The model has the version {VERSION}.")
        return name

    async def model(self, call: Call) -> dict[str, Any]:
        """Describe the inputs and outputs of the model."""
        name, served = self.check_name(call), self.service.current().served
        columns = served.maker.columns or [("rows", "text")]
        classes = served.learner.classes.tolist()
        kind = "FP64" if served.has_numbers else find_type(classes)
        outputs = [describe("labels", kind)]
        if not served.has_numbers:
            outputs.append(describe("scores", "FP64", *[len(classes)][: len(classes) > 2]))
        return {
            "name": name,
            "versions": [VERSION],
            "platform": "rosenblatt",
            "inputs": [describe(one, "FP64" if of == "number" else "BYTES") for one, of in columns],
            "outputs": outputs,
        }

    async def model_ready(self, call: Call) -> dict[str, Any]:
        """Tell whether the model is loaded: it is, if it has this name."""
        return {"name": self.check_name(call), "ready": True}

    async def infer(self, call: Call) -> Inferred:
        """Predict labels and scores of the rows that the inputs make together."""
        name = self.check_name(call)

        def predict() -> Inferred:
            asked, predictor = read_tensors(call), self.service.current()
            values = join_tensors(asked.inputs, predictor.served.maker, self.service.limits.rows)
            call.request.scope["rows"] = len(values)
            answer = predictor.answer(values)
            names: list[str] = [one.name for one in asked.outputs or ()]
            names = names or list(answer)
            absent = sorted({*names} - {*answer})
            if absent:
                known = ", ".join(answer)
                raise BadExampleError(f"There is no output {absent[0]!r}; there are {known}.")
            outputs = [make_output(output, answer[output]) for output in names]
            return Inferred(name, VERSION, outputs, asked.id)

        found: Inferred = await self.service.work(call, predict)
        return found


def describe(name: str, datatype: str, *width: int) -> dict[str, Any]:
    """The name, type and shape of an input or output."""
    return {"name": name, "datatype": datatype, "shape": [-1, *width]}


def read_tensors(call: Call) -> Inference:
    """The document of a request, whose inputs have flat values."""
    asked = parse_json(call.body, kind=Inference)
    for one in asked.inputs:
        one.data = flatten(one.data)
        if len(one.data) != math.prod(one.shape):
            sentence = f"there are {len(one.data)} values for the shape {one.shape}"
            raise BadExampleError(sentence, column=one.name)
    return asked  # type: ignore[no-any-return]


def flatten(data: list[Any]) -> list[Any]:
    """The values of nested lists, in order."""
    flat = data
    while any(isinstance(one, list) for one in flat):
        flat = [value for one in flat for value in (one if isinstance(one, list) else [one])]
    return flat


def join_tensors(tensors: list[InputTensor], maker: Any, most: int) -> list[Any]:
    """Rows: of one tensor with all columns in their order, or of a tensor for each column."""
    names, columns = [one.name for one in tensors], [name for name, _ in maker.columns]
    if not tensors or len({*names}) < len(names):
        raise BadExampleError("Expected inputs with different names.")
    first = tensors[0]
    if len(tensors) == 1 and (first.name not in maker.names or len(columns) > 1 < len(first.shape)):
        width = math.prod(first.shape[1:])
        rows = [first.data[k : k + width] for k in range(0, len(first.data), max(width, 1))]
        if maker.of_lines:
            return check_values((row[0] if width == 1 else row for row in rows), most, str)
        if rows and width != len(columns):
            sentence = f"there are {width} values for {len(columns)} columns"
            raise BadExampleError(f"{sentence} ({', '.join(columns[:10])})", 1)
        return check_values((dict(zip(columns, row, strict=True)) for row in rows), most, dict)
    for tensor in tensors:
        if not tensor.shape or math.prod(tensor.shape[1:]) != 1:
            raise BadExampleError("expected the shape [rows] or [rows, 1]", column=tensor.name)
    if len({len(tensor.data) for tensor in tensors}) > 1:
        raise BadExampleError("The inputs have different numbers of rows.")
    if maker.of_lines:
        raise BadExampleError("Expected one input, with a line of text for each row.")
    by_row = zip(*(tensor.data for tensor in tensors), strict=True)
    return check_values((dict(zip(names, row, strict=True)) for row in by_row), most, dict)


def make_output(name: str, values: list[Any]) -> OutputTensor:
    """A list of values, or of lists of them, as an output tensor; a set of labels is JSON."""
    if name == "labels" and isinstance(values[0], list):
        values = [encode_json(one).decode() for one in values]
    is_matrix = isinstance(values[0], list)
    shape = [len(values), len(values[0])] if is_matrix else [len(values)]
    flat = flatten(values)
    return OutputTensor(name, find_type(flat), shape, flat)


def find_type(values: list[Any]) -> str:
    """The datatype of values in Python."""
    kinds = {type(value) for value in values}
    return TYPES[kinds.pop()] if len(kinds) == 1 else "FP64"
