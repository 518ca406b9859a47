"""Requests of the operator, retries with a key, and models of other kinds, over HTTP."""

import json

import numpy as np
import pytest

import rosenblatt
from rosenblatt import AROW, Perceptron
from rosenblatt.service.replay import Replay
from rosenblatt.storage.file import load_model

from .conftest import answer_of, client_of, examples, replayed, started, trained

quiet = lambda sentence: None  # noqa: E731


# Keys


def test_a_key_makes_a_request_safe_to_repeat(client, learning):
    rows, key = examples(3), {"Idempotency-Key": "7f3a"}
    first = client.post("/learn", json=rows, headers=key)
    assert (first.status_code, first.json()) == (202, {"sequence": 3, "examples": 3})
    client.post("/learn", json=rows)
    again = client.post("/learn", content=json.dumps(rows, indent=1), headers=key)
    assert (again.status_code, again.json()) == (202, first.json())
    other = client.post("/learn", json=rows[:2], headers=key)
    assert (other.status_code, other.json()["code"]) == (409, "key-reused")
    long = client.post("/learn", json=rows, headers={"Idempotency-Key": "x" * 256})
    assert (long.status_code, long.json()["code"]) == (400, "idempotency-key")
    assert learning.log.last == 6


def test_a_key_of_a_refused_request_is_free(client, learning):
    key = {"Idempotency-Key": "a"}
    assert client.post("/learn", json={"size": 1}, headers=key).status_code == 400
    assert client.post("/learn", json=examples(1), headers=key).json()["sequence"] == 1


# Changes


def test_forgetting_over_http(client, learning):
    client.post("/learn", json=examples(9))
    answer = client.ask("DELETE", "/examples/3,5-6")
    assert (answer.status_code, answer.json()) == (200, {"sequence": 9, "examples": 3})
    about, progress = client.get("/model").json(), learning.served.progress
    assert (about["sequence"], about["examples"], progress.examples) == (9, 6, 6)
    assert about["error"]["all"] == progress.errors / 6
    assert f"rosenblatt_errors_total {progress.errors:.1f}" in client.get("/metrics").text
    for numbers, status, code in (
        ("12", 404, "unknown-example"),
        ("x", 400, "bad-numbers"),
        ("0", 404, "unknown-example"),
    ):
        answer = client.ask("DELETE", f"/examples/{numbers}")
        assert (answer.status_code, answer.json()["code"]) == (status, code)


def test_rolling_back_over_http(client, learning):
    rows = examples(9)
    client.post("/learn", json=rows)
    then = Replay(learning.log, quiet).rebuild(4)
    answer = client.post("/model/rollback", json={"to": 4})
    assert (answer.status_code, answer.json()) == (200, {"sequence": 10, "examples": 0})
    found = client.post("/predict", json=rows).json()
    assert found["sequence"] == 10
    assert found["scores"] == answer_of(then, rows)["scores"]
    for body, status, code in (
        ({"to": 99}, 409, "impossible-change"),
        ({"to": "4"}, 400, "bad-example"),
        ([], 400, "bad-example"),
    ):
        answer = client.post("/model/rollback", json=body)
        assert (answer.status_code, answer.json()["code"]) == (status, code)


def test_loading_over_http(client, learning, tmp_path):
    new = trained(tmp_path / "new", examples(90, seed=5), rule="arow")
    rows = examples(5)
    assert client.ask("PUT", "/model", content=new.read_bytes()).json()["sequence"] == 1
    assert client.get("/model").json()["estimator"] == "AROW"
    scores = rosenblatt.load(new).decision_function(rows)
    found = client.post("/predict", json=rows).json()
    np.testing.assert_allclose(found["scores"], scores, rtol=1e-6)
    answer = client.ask("PUT", "/model", content=b"no model")
    assert (answer.status_code, answer.json()["code"]) == (422, "bad-model")
    assert learning.log.last == 1


def test_a_service_that_does_not_learn_does_not_change(learning):
    client = client_of(learning, learns=False)
    for method, path in (("POST", "/learn"), ("DELETE", "/examples/1"), ("PUT", "/model")):
        answer = client.ask(method, path, content=b"{}")
        assert (answer.status_code, answer.json()["code"]) == (403, "does-not-learn")


# Kinds of models


def test_probabilities_of_a_calibrated_model_until_it_learns(tmp_path):
    path = trained(tmp_path / "m", examples(200), calibrate=True)
    rows = examples(9, seed=3, labelled=False)
    learning, client = started(path)
    answer = client.post("/predict", json=rows).json()
    wanted = rosenblatt.load(path).predict_proba(rows)
    np.testing.assert_allclose(answer["probabilities"], wanted, rtol=1e-6)
    assert client.post("/learn", json=examples(1)).status_code == 202
    learning.call(learning.publish).result(30)
    assert "probabilities" not in client.post("/predict", json=rows).json()
    learning.stop()
    assert "calibration" not in load_model(path).facts
    assert path.read_bytes() == replayed(path)


def test_prediction_sets_follow_what_is_learnt_and_are_replayed(tmp_path):
    path = trained(tmp_path / "m", examples(200), calibrate="conformal")
    rows = examples(9, seed=3, labelled=False)
    learning, client = started(path)
    held = len(load_model(path).facts["conformal"]["scores"])
    answer = client.post("/predict?coverage=0.8", json=rows).json()
    model = rosenblatt.load(path)
    flags = model.predict_set(rows, 0.8)
    assert answer["sets"] == [model.classes_[one].tolist() for one in flags]
    assert "sets" not in client.post("/predict", json=rows).json()
    for some in (examples(5, seed=4), examples(40, seed=5)):
        assert client.post("/learn", json=some).status_code == 202
    learning.call(learning.publish).result(30)
    answer = client.post("/predict?coverage=0.8", json=rows).json()
    for odd in ("1", "٣", "9" * 5000):
        refused = client.post(f"/predict?coverage={odd}", json=rows)
        assert (refused.status_code, refused.json()["code"]) == (400, "bad-query")
    learning.stop()
    kept = load_model(path).facts["conformal"]
    assert (kept["rows"], len(kept["scores"])) == (45, 45 + held)
    learnt = rosenblatt.load(path)
    assert answer["sets"] == [model.classes_[one].tolist() for one in learnt.predict_set(rows, 0.8)]
    assert path.read_bytes() == replayed(path)  # whatever came together
    _, client = started(trained(tmp_path / "plain"))
    refused = client.post("/predict?coverage=0.9", json=rows)
    assert (refused.status_code, refused.json()["code"]) == (400, "no-conformal")


def test_label_sets_are_served_and_learnt(tmp_path):
    chance = np.random.default_rng(0)
    rows = [{"a": round(a, 3), "b": round(b, 3)} for a, b in chance.normal(size=(200, 2))]
    labels = [[n for n, yes in (("x", r["a"] > 0), ("y", r["b"] > 0)) if yes] for r in rows]
    given = [row | {"kind": ";".join(some)} for row, some in zip(rows, labels, strict=True)]
    path = trained(tmp_path / "m", given[:50], text=(), labels_separator=";")
    learning, client = started(path)
    answer = client.post("/predict", json=rows[:9]).json()
    wanted = rosenblatt.load(path).predict(rows[:9])
    assert answer["labels"] == [
        [name for name, yes in zip("xy", flags, strict=True) if yes] for flags in wanted.tolist()
    ]
    assert [len(scores) for scores in answer["scores"]] == [2] * 9
    taught = [row | {"kind": some} for row, some in zip(rows, labels, strict=True)]
    assert client.post("/learn", json=taught[50:150]).json()["sequence"] == 100
    assert client.post("/learn", json=given[150:]).json()["sequence"] == 150
    for odd, status in (({"kind": ["z"]}, 400), ({"kind": None}, 400), ({"kind": [[]]}, 400)):
        assert client.post("/learn", json=rows[0] | odd).status_code == status
    learning.stop()
    assert path.read_bytes() == replayed(path)
    assert learning.served.progress.error() < 0.2


@pytest.mark.parametrize("kind", [Perceptron, AROW])
@pytest.mark.parametrize("names", [None, ["width", "height", "label"]])
def test_models_of_arrays_are_served_and_learn_as_in_python(tmp_path, kind, names):
    pandas = pytest.importorskip("pandas")
    chance = np.random.default_rng(1)
    X = chance.normal(size=(90, 3))
    y = np.array(["a", "b", "c"])[(X @ [[1], [2], [0]]).ravel().astype(int) % 3]
    table = X if names is None else pandas.DataFrame(X, columns=names)
    model = kind(solution="last").fit(table[:50], y[:50])
    model.save(tmp_path / "m")
    learning, client = started(tmp_path / "m")
    label = learning.served.maker.label
    assert label == ("label" if names is None else "class")
    answer = client.post("/predict", json=X[50:].tolist()).json()
    assert answer["labels"] == model.predict(table[50:]).tolist()
    columns = names or ["x0", "x1", "x2"]
    rows = [dict(zip(columns, row, strict=True)) for row in X[50:].tolist()]
    assert client.post("/predict", json=rows).json() == answer
    lists = [{"x": row, label: one} for row, one in zip(X[50:].tolist(), y[50:], strict=True)]
    assert client.post("/learn", json=lists[:20]).status_code == 202
    named = [row | {label: one} for row, one in zip(rows, y[50:], strict=True)]
    assert client.post("/learn", json=named[20:]).json()["sequence"] == 40
    for k in range(50, 90):
        model.partial_fit(table[k : k + 1], y[k : k + 1])
    learning.call(learning.publish).result(30)
    scores = client.post("/predict", json=X.tolist()).json()["scores"]
    np.testing.assert_allclose(scores, model.decision_function(table), rtol=1e-8, atol=1e-12)
    for odd in ([1, 2], [1, 2, None], [1, 2, "x"], {"x": 3}, {columns[0]: 1}):
        answer = client.post("/predict", json=[odd])
        assert (answer.status_code, answer.json()["code"]) == (400, "bad-example")
    learning.stop()
    assert learning.path.read_bytes() == replayed(learning.path)


def test_an_array_of_label_sets(tmp_path):
    chance = np.random.default_rng(2)
    X = chance.normal(size=(60, 2))
    model = Perceptron(solution="last").fit(X, X > 0)
    model.save(tmp_path / "m")
    learning, client = started(tmp_path / "m")
    answer = client.post("/predict", json=X.tolist()).json()
    flags = model.predict(X)
    assert answer["labels"] == [np.flatnonzero(row).tolist() for row in flags]
    assert client.post("/learn", json={"x": [1, 2], "label": [0, 1]}).status_code == 202
    assert client.post("/learn", json={"x": [1, 2], "label": [7]}).status_code == 400
    schema = client.get("/openapi.json").json()["paths"]["/learn"]["post"]["requestBody"]
    row = schema["content"]["application/json"]["schema"]["anyOf"][0]["properties"]
    assert row["label"] == {"type": "array", "items": {"enum": [0, 1]}}
    assert row.keys() == {"x0", "x1", "x", "label"}
    learning.stop()
    assert learning.path.read_bytes() == replayed(learning.path)


def test_ranks_are_served(tmp_path):
    X = np.random.default_rng(0).integers(-5, 6, (100, 2))
    names = ["low", "medium", "high"]
    grades = np.array(names)[np.searchsorted([-4, 3], X @ [1, -2])]
    both = zip(X.tolist(), grades.tolist(), strict=True)
    rows = [{"a": a, "b": b, "grade": grade} for (a, b), grade in both]
    given = {"label": "grade", "text": (), "bits": None, "ordinal": names}
    learning, client = started(trained(tmp_path / "model", rows[:60], **given))
    answer = client.post("/predict", json=[{"a": -5, "b": 5}, {"a": 5, "b": -5}]).json()
    assert (answer["labels"], len(answer["scores"][0])) == (["low", "high"], 3)
    refused = client.post("/learn", json=rows[0] | {"grade": "huge"})
    assert "'huge' is not among low, medium, high" in refused.json()["error"]
    assert client.post("/learn", json=rows[60:]).status_code == 202
    learning.call(learning.publish).result(30)
    about = client.get("/model").json()
    assert (about["target"], about["classes"], about["sequence"]) == ("ranks", names, 40)
    learning.stop()
    assert learning.path.read_bytes() == replayed(learning.path)
