"""Feedback on predictions: drawn, judged, learnt once, and replayed to the last bit."""

import json

import numpy as np
import pytest

from rosenblatt import Banditron, Client, save
from rosenblatt.service import feedback
from rosenblatt.service.learning import Learning
from rosenblatt.service.replay import log_path
from rosenblatt.service.shadow import Shadow

from .conftest import examples, replayed, trained
from .test_app import client_of

ROWS = examples(100, seed=4, labelled=False)


def three_classes(path, **options):
    rows = [row | {"kind": row["colour"]} for row in examples(60, seed=1)]
    return trained(path, rows, max_iter=1, **options)


def bandit(path):
    return three_classes(path, rule="banditron", exploration=0.3, random_state=0)


def started(path):
    learning = Learning(path, say=lambda sentence: None)
    learning.start()
    return learning


def give(client, name, right):
    answer = client.post("/feedback", json={"id": name, "right": right})
    return answer.status_code, answer.json()


def test_drawn_predictions_are_judged_learnt_and_replayed(tmp_path):
    learning = started(bandit(tmp_path / "m"))
    client, drawn, wrong = client_of(learning), [], 0
    for row in ROWS:
        answer = client.post("/predict", json=row).json()
        (label,), (p,), (name,) = answer["labels"], answer["draw_probabilities"], answer["ids"]
        drawn.append(round(p, 9))
        wrong += label != row["colour"]
        assert give(client, name, label == row["colour"])[0] == 202
        learning.call(learning.publish).result(30)
    assert set(drawn) == {0.8, 0.1}
    about = client.get("/model").json()
    assert about["error"]["all"] == pytest.approx(wrong / 100)
    labels = [row | {"kind": row["colour"]} for row in ROWS[:20]]
    assert client.post("/learn", json=labels).status_code == 202
    names = client.post("/predict", json=ROWS[:9]).json()["ids"]
    several = [{"id": name, "right": k % 3 == 0} for k, name in enumerate(names)]
    answer = client.post("/feedback", json=several)
    assert answer.json() == {"sequence": 129, "examples": 9}
    learning.stop()
    assert learning.path.read_bytes() == replayed(learning.path)
    assert learning.served.learner.states[0].mistakes > 100


def test_the_log_has_what_the_estimator_is_told(tmp_path):
    model = Banditron(0.4, random_state=3)
    X = np.random.default_rng(0).normal(size=(40, 2)).astype(np.float32)
    model.act(X, classes=["a", "b", "c"])
    save(model, tmp_path / "m")
    learning = started(tmp_path / "m")
    client = client_of(learning)
    answer = client.post("/predict", json=X.tolist()).json()
    right = np.arange(40) % 3 == 0
    judged = [{"id": one, "right": bool(ok)} for one, ok in zip(answer["ids"], right, strict=True)]
    assert client.post("/feedback", json=judged).status_code == 202
    learning.stop()
    model.feedback(X, answer["labels"], right, answer["draw_probabilities"])
    served = learning.served.learner.coefficients()[0]
    np.testing.assert_array_equal(served, model.coef_)


def test_feedback_is_learnt_once(tmp_path):
    learning = started(bandit(tmp_path / "m"))
    client = client_of(learning)
    name = client.post("/predict", json=ROWS[0]).json()["ids"][0]
    assert give(client, name, True) == (202, {"sequence": 1, "examples": 1})
    assert give(client, name, True) == (202, {"sequence": 1, "examples": 1})
    status, answer = give(client, name, False)
    assert (status, answer["code"]) == (409, "judged-before")
    again = client_of(learning)  # as after a restart
    assert give(again, name, True) == (202, {"sequence": 1, "examples": 1})
    assert give(again, name, False)[0] == 409
    assert learning.log.last == 1
    other, more = client.post("/predict", json=ROWS[1:3]).json()["ids"]
    for judged in ([(other, True), (other, False)], [(more, True), (name, False)]):
        body = [{"id": one, "right": right} for one, right in judged]
        answer = client.post("/feedback", json=body)
        assert (answer.status_code, answer.json()["code"]) == (409, "judged-before")
        assert learning.log.last == 1  # all or nothing
    twice = [{"id": other, "right": True}] * 2
    assert client.post("/feedback", json=twice).json() == {"sequence": 2, "examples": 1}
    for unknown in ("x", f"{name}0", ""):
        status, answer = give(client, unknown, True)
        assert (status, answer["code"]) == (404, "unknown-prediction")
    for body in ({}, [], {"id": name}, {"id": 3, "right": True}, {"id": name, "right": 1}, "x"):
        answer = client.post("/feedback", json=body)
        assert (answer.status_code, answer.json()["code"]) == (400, "bad-body")
    learning.stop()


def test_waiting_predictions_are_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(feedback, "MOST_WAITING", 5)
    learning = started(bandit(tmp_path / "m"))
    client = client_of(learning)
    names = client.post("/predict", json=ROWS[:9]).json()["ids"]
    assert len(client.app.predictions.open) == 5
    assert give(client, names[3], True)[1]["code"] == "unknown-prediction"
    assert give(client, names[4], True)[0] == 202
    learning.stop()


def test_two_classes_of_any_rule_learn_the_label(learning):
    client = client_of(learning)
    answer = client.post("/predict", json=ROWS[:2]).json()
    assert "ids" not in answer
    answer = client.post("/predict?feedback=1", json=ROWS[:2]).json()
    assert "draw_probabilities" not in answer
    assert give(client, answer["ids"][0], True)[0] == give(client, answer["ids"][1], False)[0]
    entries = next(learning.log.entries(0))
    other = {"big": "small", "small": "big"}
    wanted = [answer["labels"][0], other[answer["labels"][1]]]
    assert [json.loads(entry.text)["kind"] for entry in entries] == wanted


def test_several_classes_of_other_rules_refuse_wrong(tmp_path):
    learning = started(three_classes(tmp_path / "m"))
    client = client_of(learning)
    names = client.post("/predict?feedback=1", json=ROWS[:2]).json()["ids"]
    assert give(client, names[0], True)[0] == 202
    status, answer = give(client, names[1], False)
    assert (status, answer["code"]) == (422, "wrong-without-label")
    silent = client_of(learning, learns=False)
    assert give(silent, names[1], True)[1]["code"] == "does-not-learn"
    for one, query in ((silent, "1"), (client, "x")):
        assert one.post(f"/predict?feedback={query}", json=ROWS[:2]).status_code == 400
    learning.stop()


def test_another_model_learns_what_it_can_of_the_same_log(tmp_path):
    learning = started(bandit(tmp_path / "m"))
    client = client_of(learning)
    answer = client.post("/predict", json=ROWS[:60]).json()
    for row, label, name in zip(ROWS, answer["labels"], answer["ids"], strict=False):
        give(client, name, label == row["colour"])
    right = sum(a == row["colour"] for a, row in zip(answer["labels"], ROWS, strict=False))
    for name, learnt in (("other", right), ("two", 0)):
        make = three_classes if name == "other" else trained
        path = make(tmp_path / name, rule="perceptron", solution="last")
        shadow = Shadow(path, log_path(learning.path), say=lambda sentence: None)
        before = shadow.served.learner.states[0].seen
        served = shadow.catch_up()
        assert (served.sequence, served.progress.examples) == (60, 60)
        assert served.learner.states[0].seen == before + learnt
        shadow.log.close()
    learning.stop()


def test_the_client_acts_and_tells(tmp_path, serve):
    client = Client(f"http://{serve(bandit(tmp_path / 'm'), '--learn').address}")
    first, second = client.act(ROWS[:2])
    assert first["label"] in ("red", "green", "blue")
    assert first["probability"] in (pytest.approx(0.8), pytest.approx(0.1))
    assert client.feedback(first["id"], right=True) == 1
    assert client.feedback(second["id"], right=False) == 2
    assert client.feedback(first["id"], right=True) == 1
    client.close()
