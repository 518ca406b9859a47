"""Whatever ends the service or its disk: what was acknowledged is there, once, and learnt."""

import contextlib
import http.client
import json
import os
import random
import signal
import subprocess
import threading
import time

import httpx
import pytest

from rosenblatt.service.replay import log_path, read_log

from ..conftest import ROUNDS
from ..test_docs import ROOT, python_blocks
from .conftest import examples, replayed, sequence_in, trained
from .test_learning import silent

CLIENTS = 8
ROWS = examples(200)


class Load:
    """Clients that learn and predict until the service is gone, and keep what was acknowledged."""

    def __init__(self, service, name):
        self.service, self.name = service, name
        self.acknowledged, self.others = {}, []
        self.threads = [threading.Thread(target=self.run, args=(k,)) for k in range(CLIENTS)]
        for thread in self.threads:
            thread.start()

    def run(self, client):
        address = self.service.host, self.service.port
        connection = http.client.HTTPConnection(*address, timeout=30)
        gone = contextlib.suppress(OSError, http.client.HTTPException, ValueError)
        with contextlib.closing(connection), gone:
            for number in range(10**6):
                mark = f"{self.name}.{client}.{number}"
                status, answer = self.ask(connection, "/learn", ROWS[number % 200] | {"mark": mark})
                if status == 202:
                    self.acknowledged[answer["sequence"]] = mark
                else:
                    self.others.append((status, answer))
                status, answer = self.ask(connection, "/predict", ROWS[number % 200])
                if status != 200:
                    self.others.append((status, answer))

    def ask(self, connection, path, row):
        connection.request("POST", path, json.dumps(row), {"Content-Type": "application/json"})
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())

    def end(self):
        for thread in self.threads:
            thread.join(60)


def marks_in(path):
    """By sequence number: the marks of the examples in the log of a model."""
    with read_log(log_path(path)) as log:
        entries = [one for some in log.entries(0) for one in some]
    return {one.sequence: json.loads(one.text)["mark"] for one in entries}


@pytest.mark.slow
def test_kill_9_loses_nothing_and_learns_nothing_twice(serve, model):
    chance, known = random.Random(0), {}
    for round_ in range(3 * ROUNDS):
        service = serve(model, "--learn", "--save-seconds", "0.1")
        load = Load(service, round_)
        time.sleep(chance.uniform(0.1, 0.8))
        service.stop(signal.SIGKILL)
        load.end()
        assert load.others == []
        known |= load.acknowledged
        marks = marks_in(model)
        assert known.items() <= marks.items()
        assert len(set(marks.values())) == len(marks)
    assert known
    learning, _ = silent(model)
    learning.stop()
    assert sequence_in(model) == len(marks)
    assert model.read_bytes() == replayed(model)


@pytest.mark.slow
def test_the_client_of_the_page_learns_once_while_the_service_is_killed(serve, model):
    (_, block) = next(python_blocks(ROOT / "docs/service.md"))
    service, marks = serve(model, "--learn"), []

    def learn(thread):
        names = {}
        exec(compile(block, "service.md", "exec"), names)
        with httpx.Client(base_url=f"http://{service.address}") as names["service"]:
            for number in range(20):
                mark = f"{thread}.{number}"
                names["learn"](ROWS[number] | {"mark": mark})
                marks.append(mark)

    threads = [threading.Thread(target=learn, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for wanted in (10, 40):
        service.until(lambda wanted=wanted: len(marks) >= wanted)
        service.stop(signal.SIGKILL)
        service = serve(model, "--learn", "--port", str(service.port))
    for thread in threads:
        thread.join()
    assert service.stop()[0] == 0
    assert sorted(marks_in(model).values()) == sorted(marks)
    assert len(marks) == len(set(marks)) == 80
    assert model.read_bytes() == replayed(model)


@pytest.mark.slow
def test_changes_under_load_drop_no_request(serve, model, tmp_path):
    new = trained(tmp_path / "new", examples(90, seed=5), rule="arow").read_bytes()
    service = serve(model, "--learn", "--save-seconds", "0.1")
    load, forgotten = Load(service, "load"), set()
    for round_ in range(4):
        count = len(load.acknowledged)
        service.until(lambda n=count: len(load.acknowledged) > n + 20)
        numbers = random.Random(round_).sample(sorted(load.acknowledged), 3)
        requests = [
            ("DELETE", f"/examples/{','.join(map(str, numbers))}", None),
            ("POST", "/model/rollback", {"to": max(numbers)}),
            ("PUT", "/model", new),
        ]
        for method, path, body in requests:
            status, answer = service.ask(method, path, body, timeout=60)
            assert status == 200, answer
        forgotten |= set(numbers)
    status, said = service.stop()
    load.end()
    assert status == 0, said
    assert all(code == 503 for code, _ in load.others)  # of the end
    assert not log_path(model).with_name(f"{log_path(model).name}-wal").exists()
    with read_log(log_path(model)) as log:
        rows = {one.sequence: one for entries in log.entries(0) for one in entries}
        assert sequence_in(model) == log.last  # all that is in the log is in the model
    for number, mark in load.acknowledged.items():
        kind = "forgotten" if number in forgotten else "example"
        assert rows[number].kind == kind
        assert (mark in rows[number].text) == (kind == "example")
    assert model.read_bytes() == replayed(model)


DYING = """
import sys
from pathlib import Path
from rosenblatt.service.model import ServedModel
from rosenblatt.service.learning import Keeping
from rosenblatt.service.server import serve

def fail(served, given):
    raise RuntimeError("a mistake of ours")

ServedModel.learn = fail
sys.exit(serve(Path(sys.argv[1]), keeping=Keeping(), port=0))
"""


@pytest.mark.slow
def test_the_exit_status_after_a_dead_learning_thread_is_1(serve, model):
    service = serve(model, command=["-c", DYING, str(model)])
    assert service.learn(examples(1))[0] == 202  # it is in the log, and learnt after a restart
    service.until(lambda: service.ask("GET", "/healthz")[0] == 503)
    status, answer = service.learn(examples(1))
    assert (status, "learning thread ended" in answer["error"]) == (503, True)
    assert service.predict(examples(1))[0] == 200
    status, said = service.stop()
    assert (status, "The learning thread ended" in said) == (1, True)
    learning, _ = silent(model)
    assert learning.served.sequence == 1
    learning.stop()
    assert model.read_bytes() == replayed(model)


def fill(path):
    """Leave no room on a disk."""
    file = path.open("wb", buffering=0)
    with contextlib.suppress(OSError):
        while file.write(b"x" * 4096) == 4096:
            pass
    file.close()


@pytest.fixture
def small_disk(tmp_path):
    """A folder on a disk of four megabytes."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(folder)]
    if os.name != "posix" or os.geteuid() or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("only root can make a small disk")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.mark.slow
def test_a_full_disk(small_disk, serve):
    model = trained(small_disk / "model.safetensors")
    service = serve(model, "--learn", "--save-seconds", "0.1")
    ballast = small_disk / "ballast"
    assert service.learn(ROWS[:10])[0] == 202
    fill(ballast)
    acknowledged, refusals = 10, 0
    for row in ROWS[10:60]:
        status, answer = service.learn([row] * 20)
        acknowledged += 20 * (status == 202)
        refusals += status == 503
        if status == 503:
            assert "full" in answer["error"]
            assert "are not acknowledged" in answer["error"]
        assert service.predict(ROWS[:3])[0] == 200
    assert refusals > 0
    assert service.model()["failure"]
    assert service.ask("GET", "/healthz")[0] == 503
    ballast.unlink()
    assert service.learn(ROWS[0]) == (202, {"sequence": acknowledged + 1, "examples": 1})
    assert service.model()["failure"] is None
    status, err = service.stop()
    assert (status, "Traceback" in err) == (0, False)
    assert sequence_in(model) == acknowledged + 1
    assert model.read_bytes() == replayed(model)
