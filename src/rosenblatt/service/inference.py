"""The Open Inference Protocol (KServe v2, Triton): predictions of named tensors in JSON."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from .. import __version__
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


class OutputName(Struct):
    """An output that is asked for."""

    name: Literal["labels", "scores", "probabilities"]


class Inference(Struct):
    """A request of the protocol."""

    inputs: Annotated[list[InputTensor], Meta(min_length=1)]
    outputs: list[OutputName] = []
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
    """The endpoints of the Open Inference Protocol, version 2."""

    def __init__(self, service: "Service") -> None:
        self.service = service

    def list_operations(self) -> list[Operation]:
        """The endpoints."""
        path = "/v2/models/{name}"
        return [
            Operation("GET", "/v2", "predict", self.server, JSON),
            Operation("GET", "/v2/health/live", "", self.live, JSON),
            Operation("GET", "/v2/health/ready", "", self.service.ready, Ready),
            Operation("GET", path, "predict", self.model, JSON),
            Operation("GET", f"{path}/ready", "", self.model_ready, JSON),
            Operation("POST", f"{path}/infer", "predict", self.infer, Inferred, body=Inference),
        ]

    async def server(self, call: Call) -> dict[str, Any]:
        """Tell the name and version of the server."""
        return {"name": "rosenblatt", "version": __version__, "extensions": []}

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
        columns = served.maker.columns or [("rows", "text")]
        classes = served.learner.classes.tolist()
        outputs = [describe("labels", "FP64" if served.has_numbers else find_type(classes))]
        if not served.has_numbers:
            outputs.append(describe("scores", "FP64", *[len(classes)][: len(classes) > 2]))
        inputs = [describe(one, "FP64" if kind == "number" else "BYTES") for one, kind in columns]
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
            values = join_tensors(asked.inputs, maker, self.service.limits.rows)
            call.request.scope["rows"] = len(values)
            answer = predictor.answer(maker.make(values, labelled=False))
            names = [one.name for one in asked.outputs] or list(answer)
            for absent in {*names} - {*answer}:
                known = ", ".join(answer)
                raise BadExampleError(f"There is no output {absent!r}; there are {known}.")
            return Inferred(name, [make_output(one, answer[one]) for one in names], asked.id)

        found: Inferred = await self.service.work(call, predict)
        return found


def describe(name: str, datatype: str, *width: int) -> dict[str, Any]:
    """The name, type and shape of an input or output."""
    return {"name": name, "datatype": datatype, "shape": [-1, *width]}


def flatten(data: list[Any]) -> list[Any]:
    """The values of nested lists, in order."""
    while any(isinstance(one, list) for one in data):
        data = [value for one in data for value in (one if isinstance(one, list) else [one])]
    return data


def join_tensors(tensors: list[InputTensor], maker: Any, most: int) -> list[Any]:
    """Rows: of one tensor with all columns in their order, or of a tensor for each column."""
    first, columns = tensors[0], [name for name, _ in maker.columns]
    is_whole = len(tensors) == 1 and (first.name not in columns or len(first.shape) > 1)
    names = columns if is_whole else [one.name for one in tensors]
    width, count = max(len(columns), 1) if is_whole else 1, sum(first.shape[:1])
    if len({*names}) < len(names) or (maker.of_lines and not is_whole):
        raise BadExampleError("Expected inputs with different names, or one input.")
    parts: list[Any] = []
    for one in tensors:
        parts.append(flatten(one.data))
        shape = one.shape if len(one.shape) > 1 else [*one.shape, 1]
        if shape != [count, width] or len(parts[-1]) != count * width:
            sentence = f"expected {count * width} values with the shape [{count}, {width}]"
            raise BadExampleError(sentence, column=one.name)
    by_row = zip(*([iter(parts[0])] * width if is_whole else parts), strict=True)
    if maker.of_lines:
        return check_values((line for (line,) in by_row), most, str)
    return check_values((dict(zip(names, row, strict=True)) for row in by_row), most, dict)


def make_output(name: str, values: list[Any]) -> OutputTensor:
    """A list of values, or of lists of them, as an output tensor; a set of labels is JSON."""
    if name == "labels" and isinstance(values[0], list):
        values = [encode_json(one).decode() for one in values]
    flat, shape = flatten(values), [len(values)]
    if isinstance(values[0], list):
        shape.append(len(values[0]))
    return OutputTensor(name, find_type(flat), shape, flat)


def find_type(values: list[Any]) -> str:
    """The datatype of values in Python."""
    kinds = {type(value) for value in values}
    return TYPES[kinds.pop()] if len(kinds) == 1 else "FP64"
