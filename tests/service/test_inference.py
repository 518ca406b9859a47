"""Requests of the Open Inference Protocol, as KServe's and Triton's clients send them."""

import json

import numpy as np
import pytest

from rosenblatt import Perceptron

from .conftest import examples, started, trained

ROWS = examples(4, labelled=False)
KINDS = {"size": "FP64", "colour": "BYTES", "note": "BYTES"}
INFER = "/v2/models/model/infer"


def make_inputs(rows=ROWS, shape=()):
    """An input for each column."""
    size = {"shape": [len(rows), *shape]}
    return [
        {"name": name, "datatype": kind, "data": [row[name] for row in rows]} | size
        for name, kind in KINDS.items()
    ]


def outputs(answer):
    """The values of each output."""
    assert answer.status_code == 200, answer.text
    return {one["name"]: one["data"] for one in answer.json()["outputs"]}


def test_an_input_for_each_column(client):
    wanted = client.post("/predict", json=ROWS).json()
    for shape in ((), (1,)):
        body = {"id": "a1", "inputs": make_inputs(shape=shape)}
        answer = client.post(INFER, json=body)
        assert outputs(answer) == {"labels": wanted["labels"], "scores": wanted["scores"]}
        assert answer.json() == answer.json() | {"id": "a1", "model_name": "model"}
        kinds = [(one["datatype"], one["shape"]) for one in answer.json()["outputs"]]
        assert kinds == [("BYTES", [4]), ("FP64", [4])]


@pytest.fixture
def numbers(tmp_path):
    """A client of a model of three classes and two numbers."""
    rows = [{"a": k, "b": k % 5, "kind": k % 3} for k in range(30)]
    learning, client = started(trained(tmp_path / "iris.safetensors", rows, text=(), bits=None))
    yield client
    learning.stop()


@pytest.mark.parametrize("kind", ["FP32", "INT64", "UINT8"])
def test_one_tensor_with_all_columns(numbers, kind):
    rows = [[3, 3], [10, 0], [200, 4]]
    wanted = numbers.post("/predict", json=[{"a": a, "b": b} for a, b in rows]).json()
    tensor = {"name": "input-0", "shape": [3, 2], "datatype": kind}
    for data in (rows, [value for row in rows for value in row]):
        body = {"inputs": [tensor | {"data": data}]}
        answer = numbers.post("/v2/models/iris/infer", json=body)
        labels, scores = answer.json()["outputs"]
        assert (labels["datatype"], labels["data"]) == ("INT64", wanted["labels"])
        assert scores["shape"] == [3, 3]
        assert scores["data"] == [score for one in wanted["scores"] for score in one]


def test_metadata_and_health(numbers):
    assert numbers.get("/v2/health/live").json() == {"live": True}
    assert numbers.get("/v2/health/ready").json() == {"ready": True}
    assert numbers.get("/v2/models/iris/ready").json() == {"name": "iris", "ready": True}
    about = numbers.get("/v2/models/iris").json()
    assert about["inputs"][0] == {"name": "a", "datatype": "FP64", "shape": [-1]}
    assert about["outputs"] == [
        {"name": "labels", "datatype": "INT64", "shape": [-1]},
        {"name": "scores", "datatype": "FP64", "shape": [-1, 3]},
    ]
    for path in ("", "/ready"):
        answer = numbers.get(f"/v2/models/other{path}")
        assert (answer.status_code, answer.json()["code"]) == (404, "unknown-model")


def test_arrays_and_label_sets(tmp_path):
    X = np.random.default_rng(0).normal(size=(40, 2))
    for name, y in (("flags", X > 0), ("codes", (X > 0).sum(1))):
        path = tmp_path / f"{name}.safetensors"
        Perceptron(solution="last").fit(X, y).save(path)
        learning, client = started(path)
        wanted = client.post("/predict", json=X[:4].tolist()).json()["labels"]
        tensor = {"name": "input-0", "shape": [4, 2], "datatype": "FP64", "data": X[:4].tolist()}
        answer = client.post(f"/v2/models/{name}/infer", json={"inputs": [tensor]})
        labels = outputs(answer)["labels"]
        assert (labels if name == "codes" else [*map(json.loads, labels)]) == wanted
        assert client.get(f"/v2/models/{name}").status_code == 200
        learning.stop()


TENSOR = {"name": "size", "shape": [1], "datatype": "FP64", "data": [1]}


@pytest.mark.parametrize(
    "body",
    [
        [],
        {},
        {"inputs": []},
        {"inputs": [7]},
        {"inputs": [TENSOR | {"datatype": []}]},
        {"inputs": [TENSOR | {"shape": [2]}]},
        {"inputs": [TENSOR | {"shape": [-1]}]},
        {"inputs": [TENSOR | {"shape": [10**9, 10**9]}]},
        {"inputs": [TENSOR | {"data": 1}]},
        {"inputs": [{name: TENSOR[name] for name in ("name", "shape", "datatype")}]},
        {"inputs": [TENSOR, TENSOR]},
        {"inputs": [TENSOR, TENSOR | {"name": "colour", "shape": [2], "data": ["red", "red"]}]},
        {"inputs": [TENSOR | {"name": "input-0", "shape": [1, 2], "data": [1, 2]}]},
        {"inputs": [TENSOR | {"shape": [1, 2], "data": [1, 2]}]},
        {"inputs": [TENSOR | {"name": "input-0", "shape": [1, 3], "data": [[1, 2], [3]]}]},
        {"inputs": [TENSOR | {"shape": [0], "data": []}]},
    ],
)
def test_other_bodies_are_refused_with_a_code(client, body):
    answer = client.post(INFER, json=body)
    assert (answer.status_code, answer.json()["code"]) == (400, "bad-example")
