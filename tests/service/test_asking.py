"""The service asks for labels: marked predictions, the queue, and answers that are learnt."""

import json
import signal

import pytest

from rosenblatt.access import Tokens
from rosenblatt.service import asking
from rosenblatt.service.app import Service
from rosenblatt.service.asking import Questions, check_asking
from rosenblatt.service.learning import Learning

from .conftest import examples, replayed, trained
from .test_app import Client, client_of

ROWS = examples(200, seed=4, labelled=False)


@pytest.fixture
def client(learning):
    made = client_of(learning)
    made.app.questions = Questions(0.2)
    return made


def test_about_a_share_of_predictions_is_marked_near_the_boundary(client, learning):
    client.post("/learn", json=examples(300))
    learning.call(learning.publish).result(30)
    asked, other = [], []
    for _ in range(5):
        answer = client.post("/predict", json=ROWS).json()
        for score, is_asked in zip(answer["scores"], answer["ask"], strict=True):
            (asked if is_asked else other).append(abs(score))
    assert 0.1 < len(asked) / 1000 < 0.3
    assert sum(asked) / len(asked) < sum(other) / len(other)
    about = client.get("/model").json()["asking"]
    assert (about["predictions"], about["asked"]) == (1000, len(asked))
    assert about["waiting"] <= 200  # the same row once
    metrics = client.get("/metrics").text
    assert f"rosenblatt_asked_labels_total {len(asked)}.0" in metrics
    assert f"rosenblatt_waiting_labels {about['waiting']}.0" in metrics


def test_an_answer_is_learnt_and_leaves_the_queue(client, learning):
    client.post("/predict", json=ROWS)
    found = client.get("/ask/rows").json()
    first, second = found["questions"][:2]
    assert first["number"] > second["number"]
    assert first["row"] in ROWS
    answer = client.post(f"/ask/{first['number']}", json={"label": "big"})
    assert (answer.status_code, answer.json()) == (202, {"sequence": 1, "examples": 1})
    again = client.post(f"/ask/{first['number']}", json={"label": "big"})
    assert (again.status_code, again.json()["code"]) == (404, "unknown-question")
    assert client.ask("DELETE", f"/ask/{second['number']}").status_code == 200
    left = client.get("/ask/rows").json()
    assert left["waiting"] == found["waiting"] - 2
    assert left["answered"] == 1
    (entry,) = next(learning.log.entries(0))
    assert first["row"] | {"kind": "big"} == json.loads(entry.text)
    learning.stop()
    assert learning.path.read_bytes() == replayed(learning.path)


@pytest.mark.parametrize(
    ("body", "code"),
    [({"label": "huge"}, "bad-example"), ({"label": None}, "bad-example"), ({}, "bad-body")],
)
def test_a_bad_answer_leaves_the_question(client, body, code):
    client.post("/predict", json=ROWS)
    (first, *_) = before = client.get("/ask/rows").json()["questions"]
    answer = client.post(f"/ask/{first['number']}", json=body)
    assert (answer.status_code, answer.json()["code"]) == (400, code)
    after = client.get("/ask/rows").json()["questions"]
    assert sorted(one["number"] for one in after) == sorted(one["number"] for one in before)
    for number in ("x", "0", "9" * 30, "¹"):
        assert client.post(f"/ask/{number}", json={"label": "big"}).status_code == 404


def test_the_queue_is_bounded(monkeypatch):
    monkeypatch.setattr(asking, "MOST_OPEN", 5)
    questions = Questions(0.5)
    for number in range(20):
        questions.add({"x": number}, "a")
    assert [one["row"]["x"] for one in questions.newest()] == [19, 18, 17, 16, 15]
    questions.add({"x": 19}, "a")
    assert len(questions.open) == 5
    monkeypatch.setattr(asking, "MOST_BYTES", 100)
    for number in range(20):
        questions.add({"x": "y" * 60, "n": number}, "a")
    assert len(questions.open) == 1
    assert questions.open.size == sum(one.size for one in questions.open.values())


def test_a_service_that_does_not_ask(learning):
    client = client_of(learning)
    assert "ask" not in client.post("/predict", json=ROWS[0]).json()
    assert client.get("/model").json()["asking"] is None
    assert client.get("/ask/rows").json()["code"] == "does-not-ask"
    assert client.post("/ask/1", json={"label": "big"}).json()["code"] == "does-not-ask"
    assert client.get("/ask").status_code == 200


def test_rows_need_a_token_to_learn(learning, tmp_path):
    files = {role: tmp_path / role for role in ("predict", "learn")}
    for role, path in files.items():
        path.write_text(f"a token to {role}, long enough")
    service = Service(lambda: learning.predictor, learning, tokens=Tokens(files))
    service.questions = Questions(0.5)
    client = Client(service)
    for method, path in (("GET", "/ask/rows"), ("POST", "/ask/1"), ("DELETE", "/ask/1")):
        assert client.ask(method, path).status_code == 401
        token = {"authorization": f"Bearer {files['predict'].read_text()}"}
        assert client.ask(method, path, headers=token).status_code == 403
        token = {"authorization": f"Bearer {files['learn'].read_text()}"}
        assert client.ask(method, path, headers=token).status_code not in (401, 403, 500)


def test_label_sets_and_several_classes_are_asked_for(tmp_path):
    rows = [row | {"kind": f"{row['kind']};{row['colour']}"} for row in examples(80)]
    path = trained(tmp_path / "m", rows, labels_separator=";")
    learning = Learning(path, say=lambda sentence: None)
    learning.start()
    client = client_of(learning)
    client.app.questions = Questions(0.5)
    assert len(client.post("/predict", json=ROWS).json()["ask"]) == 200
    (first, *_) = client.get("/ask/rows").json()["questions"]
    assert isinstance(first["label"], list)
    answer = client.post(f"/ask/{first['number']}", json={"label": ["big", "red"]})
    assert answer.status_code == 202
    learning.stop()


def test_lines_are_not_asked_for(tmp_path):
    import rosenblatt

    (tmp_path / "data.svm").write_text("".join(f"{k % 2} 1:{k}\n" for k in range(20)))
    rosenblatt.save(rosenblatt.train(tmp_path / "data.svm"), tmp_path / "m")
    learning = Learning(tmp_path / "m", say=lambda sentence: None)
    with pytest.raises(ValueError, match="not for lines"):
        check_asking(learning.served)
    client = client_of(learning)
    client.app.questions = Questions(0.5)  # as if such a model had replaced one of columns
    answer = client.post("/predict", json=["1:3"])
    assert answer.status_code == 200
    assert "ask" not in answer.json()
    learning.log.close()


def test_numbers_are_not_asked_for(tmp_path):
    rows = [{"a": k, "b": k % 3, "y": 2.5 * k} for k in range(30)]
    path = trained(tmp_path / "m", rows, label="y", text=(), bits=None, numbers=True)
    learning = Learning(path, say=lambda sentence: None)
    with pytest.raises(ValueError, match="or numbers"):
        check_asking(learning.served)
    learning.log.close()


@pytest.mark.slow
def test_the_command_asks(serve, model):
    service = serve(model, "--learn", "--ask", "0.3")
    assert any(service.predict(ROWS)[1]["ask"])
    (one, *_) = service.ask("GET", "/ask/rows")[1]["questions"]
    assert service.ask("POST", f"/ask/{one['number']}", {"label": "small"})[0] == 202
    assert service.stop(signal.SIGTERM)[0] == 0
    assert model.read_bytes() == replayed(model)
