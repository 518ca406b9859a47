"""Holes that were found in a running service, each with what closes it."""

import io
import json
import os
import threading
from contextlib import closing

import pytest

from rosenblatt.service.learning import Learning
from rosenblatt.service.log import Log, LogError, lock_log
from rosenblatt.service.replay import compare_with_log, find_difference, log_path
from rosenblatt.storage.file import load_model, save_model

from .conftest import client_of, examples, job_of, replayed, started, trained
from .test_learning import silent, taught

EVIL = {"host": "evil.example:8080", "origin": "http://evil.example:8080"}


# Two services at once


def test_a_log_is_locked_before_it_is_looked_at(model):
    lock = lock_log(log_path(model))
    with pytest.raises(ValueError, match="Another service writes"):
        Learning(model, say=print)
    assert not log_path(model).exists()
    lock.close()
    learning, _ = silent(model)
    learning.stop()


def test_services_that_start_at_once_are_one(model):
    for _ in range(8):
        found, barrier = [], threading.Barrier(4)

        def begin(found=found, barrier=barrier):
            barrier.wait()
            try:
                found.append(Learning(model, say=lambda sentence: None))
            except ValueError as error:
                found.append(error)

        threads = [threading.Thread(target=begin) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        (winner,) = [one for one in found if isinstance(one, Learning)]
        assert all("Another service" in str(one) for one in found if one is not winner)
        winner.start()
        assert taught(winner, examples(1)) == [1]
        winner.stop()
        again = Learning(model, say=print)
        assert again.served.sequence == 1
        again.log.close()
        for path in model.parent.glob(f"{model.name}.log*"):
            path.unlink()
        trained(model)


def test_a_log_is_not_renamed_over_another(model, monkeypatch):
    """Where there are no locks, the name of the file must do."""
    monkeypatch.setattr("rosenblatt.service.log.lock_log", lambda path: io.BytesIO())
    first = Log.create(log_path(model), model.read_bytes())
    first.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    first.close()
    before = log_path(model).read_bytes()
    with pytest.raises(ValueError, match="has just begun"):
        Log.create(log_path(model), model.read_bytes())
    assert log_path(model).read_bytes() == before


# Names that lead here


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "", "localhost.evil.example"])
def test_without_tokens_a_name_must_be_allowed(learning, host):
    client = client_of(learning)
    headers = {"host": host, "origin": f"http://{host}"}
    for method, path in (
        ("POST", "/learn"),
        ("GET", "/model"),
        ("GET", "/model.safetensors"),
        ("DELETE", "/examples/1"),
        ("POST", "/model/rollback"),
    ):
        answer = client.ask(method, path, headers=headers, content=b"{}")
        assert answer.status_code == 421, (method, path)
    for own in ("localhost:8080", "127.0.0.1", "[::1]:8080", "192.168.0.7:8080"):
        assert client.get("/model", headers={"host": own}).status_code == 200
    allowed = client_of(learning, hosts=("evil.example",))
    if host.startswith("evil"):
        assert allowed.get("/model", headers={"host": host}).status_code == 200


def test_the_documented_container_is_not_open_to_other_sites(serve, model):
    open_to_all = "--host", "0.0.0.0", "--no-token", "--allow-host", "Name"
    service = serve(model, "--learn", *open_to_all)
    assert service.ask("POST", "/learn", examples(1), Host="evil.example")[0] == 421
    assert service.ask("GET", "/model")[0] == 200
    assert service.ask("GET", "/model", Host="name:80")[0] == 200


# Bodies


def test_a_model_that_is_sent_leaves_room_for_predictions(learning):
    client = client_of(learning, bytes=1000)
    client.app.model_budget.bytes += 800 << 20
    assert client.post("/predict", json=examples(1)).status_code == 200
    body = b"x" * (150 << 20)
    assert client.ask("PUT", "/model", content=body).status_code == 429


def test_a_model_of_any_name_is_sent(tmp_path):
    learning, client = started(trained(tmp_path / 'мо"дель\n.safetensors'))
    answer = client.get("/model.safetensors")
    learning.stop()
    assert answer.status_code == 200
    assert "%D0%BC%D0%BE%22" in answer.headers["content-disposition"]


@pytest.mark.parametrize("rule", ["perceptron", "arow"])
def test_numbers_that_are_not_scaled_are_limited_too(tmp_path, rule):
    rows = [{"x": 0, "kind": "a"}, {"x": 1, "kind": "b"}]
    path = trained(tmp_path / "m", rows, text=(), bits=None, scale="none", rule=rule)
    learning, client = started(path)
    answer = client.post("/learn", json={"x": 1e15, "kind": "a"})
    assert (answer.status_code, "1e+15" in answer.json()["error"]) == (400, True)
    assert client.post("/learn", json={"x": 1e5, "kind": "a"}).status_code == 202
    learning.stop()


# The log


def test_a_refused_request_that_is_in_the_log_is_deleted_with_its_key(learning, monkeypatch):
    """As after a failed sync: the rows are there, and the client heard of an error."""
    taught(learning, examples(2))
    acknowledge = learning.log.acknowledge

    def fail(sequence):
        learning.log.acknowledge = acknowledge
        raise LogError("the disk failed")

    learning.log.acknowledge = fail
    jobs = [job_of(examples(1), b"k" * 16) for _ in range(2)]
    assert isinstance(learning.take(jobs[0]).exception(30), LogError)
    assert learning.take(jobs[1]).result(30) == 3
    learning.stop()
    assert learning.path.read_bytes() == replayed(learning.path)


def damaged(model, change):
    """A log of nine examples of which some are damaged: its model and what was said."""
    log = Log.create(log_path(model), model.read_bytes())
    log.append([json.dumps(row) for row in examples(9)])
    change(log)
    log.close()
    said = []
    learning = Learning(model, say=said.append)
    learning.start()
    assert taught(learning, examples(1)) == [10]
    learning.stop()
    assert learning.served.sequence == 10
    assert model.read_bytes() == replayed(model)
    return learning.served.progress, said


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM examples WHERE sequence IN (4, 5)",
        "UPDATE examples SET example = NULL WHERE sequence IN (4, 5)",
        "UPDATE examples SET example = 7 WHERE sequence IN (4, 5)",
        "UPDATE examples SET example = x'ff00' WHERE sequence IN (4, 5)",
        "UPDATE examples SET example = CAST(x'7bff7d' AS TEXT) WHERE sequence IN (4, 5)",
        "UPDATE examples SET example = 'no JSON', checksum = NULL WHERE sequence IN (4, 5)",
        """UPDATE examples SET example = '{"kind": "big", "size": [1]}', checksum = NULL
        WHERE sequence IN (4, 5)""",
    ],
)
def test_a_damaged_row_is_skipped_and_said(model, statement):
    progress, said = damaged(model, lambda log: log.connection.execute(statement))
    assert (progress.examples, progress.refused) == (8, 2)
    assert ["example 4 is skipped" in said[1], "example 5 is skipped" in said[2]] == [True, True]


@pytest.mark.parametrize("is_header", [False, True])
def test_a_damaged_page_costs_the_rows_on_it(model, is_header):
    log = Log.create(log_path(model), model.read_bytes())
    log.append([json.dumps(row | {"more": "x" * 500}) for row in examples(200)])
    log.close()
    data = bytearray(log_path(model).read_bytes())
    place = data.index(b'"more": "xxx', len(data) // 2)
    place = place // 4096 * 4096 if is_header else place
    data[place : place + 64] = os.urandom(64)
    log_path(model).write_bytes(data)
    said = []
    learning = Learning(model, say=said.append)
    progress = learning.served.progress
    assert learning.served.sequence == 200
    assert 0 < progress.refused < 30
    assert progress.examples + progress.refused == 200
    assert sum("is skipped" in one for one in said) == progress.refused
    learning.log.close()


# Replay after an upgrade


def test_last_bits_are_told_from_damage(model):
    learning, _ = silent(model)
    taught(learning, examples(30))
    learning.stop()
    kept = load_model(model)
    weights = kept.states[0].weights
    place = int(abs(weights).argmax())
    weights.flat[place] *= 1 + 2e-7
    found = find_difference(load_model(model), kept)
    assert found.is_rounding
    save_model(model, kept)
    with closing(Log(log_path(model), writes=False)) as log:
        difference, _ = compare_with_log(log, model)
    assert difference.is_rounding
    weights.flat[place] *= 1.1
    assert not find_difference(load_model(model), kept).is_rounding
    kept.states[0].mistakes += 1
    assert not find_difference(load_model(model), kept).is_rounding


def test_the_rows_of_the_log_are_listed(learning):
    client, rows = client_of(learning), examples(5)
    client.post("/learn", json=rows)
    client.ask("DELETE", "/examples/2")
    client.post("/model/rollback", json={"to": 4})
    found = client.get("/examples?after=1&limit=4").json()
    assert [one["kind"] for one in found["examples"]] == ["forgotten", *["example"] * 3]
    third = {"sequence": 3, "kind": "example", "example": rows[2]}
    assert (found["examples"][1], found["next"]) == (third, 5)
    change = {"sequence": 6, "kind": "change", "example": "@rollback 4"}
    assert client.get("/examples?after=5").json() == {"examples": [change], "next": None}
