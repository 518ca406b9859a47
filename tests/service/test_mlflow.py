"""Bodies of MLflow's and TensorFlow Serving's clients give the predictions of our own form."""

import json

import pytest

import rosenblatt

from .conftest import examples
from .test_app import client, client_of  # noqa: F401

COLUMNS = ["size", "colour", "note"]
ROWS = examples(4, labelled=False)
LISTS = [[row[name] for name in COLUMNS] for row in ROWS]
SPLIT = {"index": [0, 1, 2, 3], "columns": COLUMNS, "data": LISTS}
BODIES = {
    "split": {"dataframe_split": SPLIT},
    "records": {"dataframe_records": ROWS},
    "instances": {"instances": ROWS},
    "lists": {"instances": LISTS},
    "columns": {"inputs": {name: [row[name] for row in ROWS] for name in COLUMNS}},
    "tensors": {"inputs": {name: [[row[name]] for row in ROWS] for name in COLUMNS}},
    "params": {"dataframe_split": SPLIT, "params": {}},
}


@pytest.fixture
def wanted(client):  # noqa: F811
    return client.post("/predict", json=ROWS).json()["labels"]


def test_the_order_of_lists_is_that_of_the_model(client):  # noqa: F811
    columns = client.get("/model").json()["columns"]
    assert [column["name"] for column in columns] == COLUMNS


@pytest.mark.parametrize("form", BODIES)
def test_every_form_of_mlflow(client, wanted, form):  # noqa: F811
    answer = client.post("/invocations", json=BODIES[form])
    assert answer.status_code == 200
    assert answer.json()["predictions"] == wanted


def test_instances_in_predict_are_those_of_tensorflow_serving(client, wanted):  # noqa: F811
    for rows in (ROWS, LISTS):
        body = {"signature_name": "serving_default", "instances": rows}
        answer = client.post("/predict", json=body).json()
        assert answer["predictions"] == wanted
        assert len(answer["scores"]) == len(rows)
    assert "labels" in client.post("/predict", json=ROWS[0] | {"instances": 1}).json()


def test_csv_and_nan_are_read_as_mlflow_does(client, wanted):  # noqa: F811
    table = "size,colour,note\n" + "".join(f"{a},{b},{c}\n" for a, b, c in LISTS)
    answer = client.post("/invocations", content=table, headers={"content-type": "text/csv"})
    assert answer.json()["predictions"] == wanted
    missing = json.dumps({"dataframe_records": [ROWS[0] | {"size": float("nan")}]})
    kind = {"content-type": "application/json; charset=utf-8"}
    answer = client.post("/invocations", content=missing, headers=kind).json()
    (label,) = client.post("/predict", json=ROWS[0] | {"size": None}).json()["labels"]
    assert answer == answer | {"predictions": [label]}
    infinite = missing.replace("NaN", "-Infinity")
    assert client.post("/invocations", content=infinite, headers=kind).status_code == 400


@pytest.mark.parametrize(
    "body",
    [
        [],
        {},
        {"rows": ROWS},
        {"instances": ROWS, "inputs": ROWS},
        {"dataframe_split": ROWS},
        {"dataframe_split": {"columns": [1, 2, 3], "data": LISTS}},
        {"dataframe_split": {"columns": ["size"], "data": LISTS}},
        {"instances": [[1, 2]]},
        {"instances": 7},
        {"instances": []},
        {"inputs": {"size": [1, 2], "colour": ["red"]}},
        {"inputs": {"size": [1, 2], "colour": "red"}},
        {"instances": ROWS, "params": {"temperature": 1}},
    ],
)
def test_other_bodies_are_refused_with_a_code(client, body):  # noqa: F811
    answer = client.post("/invocations", json=body)
    assert (answer.status_code, answer.json()["code"]) == (400, "bad-example")


def test_health_and_version(client):  # noqa: F811
    assert client.get("/ping").status_code == client.get("/health").status_code == 200
    assert client.get("/version").text == rosenblatt.__version__


def test_too_many_rows(learning):
    answer = client_of(learning, rows=3).post("/invocations", json={"instances": ROWS})
    assert (answer.status_code, answer.json()["code"]) == (413, "too-many-rows")
