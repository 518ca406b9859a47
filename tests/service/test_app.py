"""Endpoints, tokens and limits; what is refused changes nothing."""

import asyncio
import threading

import pytest

import rosenblatt
from rosenblatt.access import Tokens
from rosenblatt.service.app import Limits, Service
from rosenblatt.service.log import LogError

from .conftest import HOST, Client, client_of, current_of, examples, job_of, sequence_in

JSON = {"content-type": "application/json"}
SECRET = "a secret of some length"


def test_predictions_are_those_of_the_model(client, model):
    rows = examples(20, labelled=False)
    answer = client.post("/predict", json=rows).json()
    loaded = rosenblatt.load(model)
    assert answer["labels"] == loaded.predict(rows).tolist()
    assert answer["scores"] == pytest.approx(loaded.decision_function(rows).tolist(), abs=1e-5)
    assert answer["sequence"] == 0
    one = client.post("/predict", json=rows[0]).json()
    assert (one["labels"], one["scores"]) == (answer["labels"][:1], answer["scores"][:1])


def test_learning_is_acknowledged_and_seen(client, learning, tmp_path):
    rows = examples(30)
    before = client.post("/predict", json=rows).json()
    answer = client.post("/learn", json=rows)
    assert (answer.status_code, answer.json()) == (202, {"sequence": 30, "examples": 30})
    assert client.post("/learn", json=rows[0]).json()["sequence"] == 31
    learning.call(learning.publish).result(30)
    after = client.post("/predict", json=rows).json()
    assert after["sequence"] == 31
    assert after["scores"] != before["scores"]
    about = client.get("/model").json()
    assert (about["sequence"], about["classes"], about["label"]) == (31, ["big", "small"], "kind")
    assert about["error"]["all"] == about["error"]["1000"] == learning.served.progress.errors / 31
    (tmp_path / "got").write_bytes(client.get("/model.safetensors").content)
    assert sequence_in(tmp_path / "got") == 31


# What is refused


@pytest.mark.parametrize(
    ("rows", "row", "column"),
    [
        ([*examples(3), {"size": "tall", "kind": "big"}], 4, "size"),
        ([*examples(3), {"size": 1, "kind": "giant"}], 4, "kind"),
        ([*examples(3), {"size": 1}], 4, "kind"),
        ([{"size": 1, "kind": "big"}, 7], 2, None),
    ],
)
def test_a_request_is_learnt_whole_or_not_at_all(client, learning, rows, row, column):
    answer = client.post("/learn", json=rows)
    assert answer.status_code == 400
    assert (answer.json()["row"], answer.json()["column"]) == (row, column)
    learning.call(lambda: None).result(10)
    assert (learning.log.last, learning.served.sequence) == (0, 0)


def test_limits(learning):
    client = client_of(learning, bytes=1000, rows=3)
    many, long = examples(4), [{"size": 1, "kind": "big", "note": "x" * 2000}]
    for rows in (many, long):
        assert client.post("/learn", json=rows).status_code == 413

    async def parts():  # of unknown length
        for _ in range(5):
            yield b"x" * 400

    kind = {"content-type": "application/json"}
    assert client.post("/learn", content=parts(), headers=kind).status_code == 413
    assert learning.log.last == 0


def test_bodies_count_until_they_are_answered(learning):
    service = Service(current_of(learning), learning, Limits(bytes=1000))
    client, seen, budget = Client(service), [], service.rows_budget
    append = learning.log.append
    learning.log.append = lambda texts, requests: (
        seen.append(service.rows_budget.bytes > 0) or append(texts, requests)
    )
    assert client.post("/learn", json=examples(1)).status_code == 202
    assert client.post("/learn", content="{", headers=JSON).status_code == 400
    assert client.post("/learn", content="x" * 2000, headers=JSON).status_code == 413
    assert seen == [True]
    assert budget.bytes == 0
    budget.bytes = 5000
    answer = client.post("/predict", json=examples(1))
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "1")


def test_kinds_that_are_not_read(client):
    form = "application/x-www-form-urlencoded"
    for kind, body in (("text/html", "{}"), ("text/plain", "{}"), (form, "a=1&b=2")):
        answer = client.post("/learn", content=body, headers={"content-type": kind})
        assert answer.status_code == 415
    elsewhere = {"content-type": form, "origin": "https://evil.example"}
    assert client.post("/learn", content="{}", headers=elsewhere).status_code == 403
    zipped = {"content-type": "application/json", "content-encoding": "gzip"}
    assert client.post("/learn", content=b"x", headers=zipped).status_code == 415
    answer = client.get("/learn")
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
    assert client.get("/nothing").status_code == 404
    assert client.get("/../../etc/passwd").status_code == 404


def write_tokens(folder, **tokens):
    """Tokens by role."""
    path = folder / "tokens"
    path.write_text("".join(f"{role} {token}\n" for role, token in tokens.items()))
    return Tokens(path)


def test_a_token_is_asked_for(learning, tmp_path):
    client = client_of(learning, tokens=write_tokens(tmp_path, admin=SECRET))
    assert client.get("/healthz").status_code == client.get("/").status_code == 200
    for headers in ({}, {"authorization": "Bearer no"}, {"authorization": f"Basic {SECRET}"}):
        for path in ("/model", "/metrics", "/model.safetensors", "/openapi.json"):
            assert client.get(path, headers=headers).status_code == 401
        assert client.post("/learn", json=examples(1), headers=headers).status_code == 401
    right = {"authorization": f"Bearer {SECRET}"}
    assert client.post("/learn", json=examples(1), headers=right).status_code == 202
    paths = client.get("/openapi.json", headers=right).json()["paths"]
    assert paths["/learn"]["post"]["security"] == [{"token": []}]
    assert "security" not in paths["/healthz"]["get"]


def test_pages_of_other_sites_are_refused(client):
    for headers in ({"origin": "https://evil.example"}, {"host": "evil.example"}):
        assert client.post("/learn", json=examples(1), headers=headers).status_code in (403, 421)
    assert client.post("/learn", json=examples(1), headers={"origin": HOST}).status_code == 202


def test_while_nothing_can_be_written_predictions_go_on(client, learning):
    def full(texts, requests):
        raise LogError("m.log cannot be written (database or disk is full).")

    append, learning.log.append = learning.log.append, full
    answer = client.post("/learn", json=examples(2))
    assert answer.status_code == 503
    assert (
        "disk is full). The examples of this request are not acknowledged" in answer.json()["error"]
    )
    assert client.post("/predict", json=examples(2)).status_code == 200
    assert "full" in client.get("/healthz").json()["failure"]
    assert "rosenblatt_writable 0.0\n" in client.get("/metrics").text
    learning.log.append = append
    assert client.post("/learn", json=examples(2)).json()["sequence"] == 2
    assert client.get("/healthz").json()["failure"] is None


def test_an_outcome_that_nobody_waits_for_harms_nothing(learning):
    held, release = threading.Event(), threading.Event()
    learning.call(lambda: (held.set(), release.wait(30)))
    assert held.wait(30)

    async def leave():
        written = asyncio.wrap_future(learning.take(job_of(examples(1))))
        await asyncio.sleep(0)
        written.cancel()

    asyncio.run(leave())  # the loop is closed before the example is written
    release.set()
    learning.stop()
    assert (learning.failure, learning.served.sequence) == (None, 1)
