"""Faults under load: sync errors, a damaged write-ahead log, a learning thread that dies."""

import json
import random
import signal
import subprocess
import sys
import threading

import pytest

from rosenblatt.service.replay import log_path, read_log

from ..conftest import ROUNDS
from .conftest import examples, replayed, trained
from .test_crashes import Load
from .test_learning import silent

ERRORS = 10 * ROUNDS


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
def test_the_exit_status_after_a_dead_learning_thread_is_1(model):
    process = subprocess.Popen(
        [sys.executable, "-c", DYING, str(model)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    address = process.stdout.readline().partition("http://")[2].partition("/")[0]
    try:
        import urllib.error
        import urllib.request

        body = json.dumps(examples(1)).encode()
        kind = {"Content-Type": "application/json"}
        request = urllib.request.Request(f"http://{address}/learn", body, kind)
        with urllib.request.urlopen(request, timeout=30) as answer:
            assert answer.status == 202  # it is in the log, and learnt after a restart
        with pytest.raises(urllib.error.HTTPError, match="503"):
            urllib.request.urlopen(f"http://{address}/healthz", timeout=30)
        with pytest.raises(urllib.error.HTTPError, match="503"):
            urllib.request.urlopen(request, timeout=30)
    finally:
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 1, said
    assert "The learning thread ended" in said
    learning, _ = silent(model)
    assert learning.served.sequence == 1
    learning.stop()
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
    with read_log(log_path(model)) as log:
        rows = {one.sequence: one for entries in log.entries(0) for one in entries}
    for number, mark in load.acknowledged.items():
        kind = "forgotten" if number in forgotten else "example"
        assert rows[number].kind == kind
        assert (mark in rows[number].text) == (kind == "example")
    assert model.read_bytes() == replayed(model)


def test_two_changes_at_once_come_one_after_the_other(model):
    from rosenblatt.service import changes

    from .test_learning import taught

    learning, _ = silent(model)
    taught(learning, examples(20))
    threads = [threading.Thread(target=changes.forget, args=(learning, [k])) for k in (3, 9, 14)]
    for thread in threads:
        thread.start()
    assert taught(learning, examples(10, seed=2))[-1] == 30
    for thread in threads:
        thread.join()
    assert learning.served.progress.examples == 27
    learning.stop()
    assert model.read_bytes() == replayed(model)
