"""Several processes: all predict, one learns, and none outlives it."""

import os
import signal
import subprocess
import time

import pytest

from .conftest import examples, replayed

pytestmark = pytest.mark.slow


def children(process):
    found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(process.pid)], capture_output=True)
    return [int(word) for word in found.stdout.split()]


def is_there(number):
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.fixture
def service(serve, model):
    started = serve(model, "--learn", "--workers", "3")
    started.until(lambda: len(children(started.process)) == 2)
    return started


def test_all_predict_and_one_learns(service, model):
    rows = examples(30)
    before = service.predict(rows)[1]["scores"]
    for begin in range(10):
        status, answer = service.learn(rows[:3])
        assert (status, answer["sequence"]) == (202, 3 * begin + 3)
    acknowledged = time.monotonic()
    service.until(
        lambda: all(service.predict(rows)[1]["sequence"] == 30 for _ in range(12)), seconds=10
    )
    assert service.predict(rows)[1]["scores"] != before
    assert len({str(service.predict(rows)[1]["scores"]) for _ in range(12)}) == 1
    assert time.monotonic() - acknowledged < 10
    for _ in range(6):
        assert service.model()["sequence"] == 30
        assert service.ask("GET", "/healthz")[1]["learning"] is True
        assert b"rosenblatt_sequence 30" in service.ask("GET", "/metrics")[1]
        assert service.learn([{"size": "x", "kind": "big"}])[0] == 400
    assert service.stop() == (0, f"rosenblatt: {model} has learnt 30 examples.\n")
    assert model.read_bytes() == replayed(model)


def test_a_process_that_ends_is_replaced(service):
    first, second = children(service.process)
    os.kill(first, signal.SIGKILL)
    service.until(lambda: len(set(children(service.process)) - {first, second}) == 1)
    for _ in range(8):
        assert service.predict(examples(2))[0] == 200


def test_none_outlives_the_one_that_learns(service, serve, model):
    others = children(service.process)
    service.learn(examples(5))
    service.stop(signal.SIGKILL)
    service.until(lambda: not any(map(is_there, others)))
    again = serve(model, "--learn")
    assert again.model()["sequence"] == 5
