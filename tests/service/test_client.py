"""rosenblatt.Client: time-outs, retries and keys; examples are learnt once in any case."""

import http.server
import json
import signal
import subprocess
import sys
import threading

import numpy as np
import pandas
import pytest

import rosenblatt
from rosenblatt.service.client import to_records
from rosenblatt.service.log import Log
from rosenblatt.service.replay import log_path

from .conftest import examples, replayed

OK = 200, {"labels": ["big"]}


class Scripted(http.server.BaseHTTPRequestHandler):
    """Answers requests by a script: a status and JSON, or None to close the connection."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.seen.append((dict(self.headers), json.loads(body)))
        answer = self.server.script.pop(0)
        if answer is None:
            self.close_connection = True
            return
        status, content = answer
        data = json.dumps(content).encode() if isinstance(content, dict) else content
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        if status == 429:
            self.send_header("Retry-After", "0")
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *arguments):
        pass


@pytest.fixture
def scripted():
    """A server that answers by a script, and its client."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Scripted)
    server.daemon_threads = True
    server.script, server.seen = [], []
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    client = rosenblatt.Client(
        f"http://127.0.0.1:{server.server_port}", token="secret", retries=3, backoff=0.001
    )
    yield server, client
    client.close()
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize("failure", [None, (429, {}), (503, {"error": "full"}), (502, b"<html>")])
def test_what_may_pass_is_tried_again(scripted, failure):
    server, client = scripted
    server.script[:] = [failure, failure, OK]
    assert client.predict({"size": 1}) == ["big"]
    assert len(server.seen) == 3
    headers, body = server.seen[0]
    assert headers["Authorization"] == "Bearer secret"
    assert body == [{"size": 1}]


def test_a_retry_has_the_same_key_and_a_new_request_another(scripted):
    server, client = scripted
    learnt = 202, {"sequence": 7, "examples": 1}
    server.script[:] = [None, learnt, learnt, learnt]
    assert client.learn({"size": 1, "kind": "big"}) == 7
    client.learn({"size": 1, "kind": "big"})
    client.learn({"size": 1, "kind": "big"}, key="mine")
    first, second, third, fourth = [headers["Idempotency-Key"] for headers, _ in server.seen]
    assert first == second != third
    assert fourth == "mine"


def test_errors_that_stay_are_raised(scripted):
    server, client = scripted
    server.script[:] = [(400, {"error": "row 1: no", "code": "bad-example"})]
    with pytest.raises(rosenblatt.ServiceError, match="row 1: no") as error:
        client.predict({"size": 1})
    assert (error.value.status, error.value.code) == (400, "bad-example")
    server.script[:] = [(503, {"error": "full", "code": "cannot-write"})] * 4
    with pytest.raises(rosenblatt.ServiceError, match="full"):
        client.learn({"size": 1})
    server.script[:] = [None] * 4
    with pytest.raises(ConnectionError, match="did not answer"):
        client.learn({"size": 1})
    assert len(server.seen) == 9


def test_an_address_is_checked():
    for address in ("127.0.0.1:8080", "ftp://x", "http://"):
        with pytest.raises(ValueError, match="Expected an address"):
            rosenblatt.Client(address)


def test_rows_are_plain_whatever_they_were():
    table = pandas.DataFrame({"a": [1.5, np.nan], "b": ["x", None], "c": [1, 2]})
    assert to_records(table) == [{"a": 1.5, "b": "x", "c": 1}, {"c": 2}]
    polars = pytest.importorskip("polars")
    assert to_records(polars.DataFrame({"a": [1, None]})) == [{"a": 1}, {}]
    assert to_records({"a": pandas.NA, "b": [1]}) == [{"b": [1]}]
    assert to_records("1 | a") == ["1 | a"]
    assert to_records([["the", "dog"]]) == [["the", "dog"]]


def test_against_a_real_service(serve, model):
    service = serve(model, "--learn")
    client = rosenblatt.Client(f"http://{service.address}")
    rows = pandas.DataFrame(examples(5))
    assert client.learn(rows) == 5
    assert set(client.predict(rows)) <= {"big", "small"}
    assert client.model()["sequence"] >= 0
    with pytest.raises(rosenblatt.ServiceError) as error:
        client.learn({"size": "tall", "kind": "big"})
    assert (error.value.status, error.value.code) == (400, "bad-example")
    client.close()


@pytest.mark.slow
def test_a_service_that_is_killed_before_it_answers_learns_once(serve, model):
    """Requests are sent while the service is killed and started again; each is learnt once."""
    service = serve(model, "--learn")
    port, marks, failures = service.port, [], []
    client = rosenblatt.Client(f"http://{service.address}", timeout=5, retries=60, backoff=0.02)

    def learn(thread):
        for number in range(40):
            mark = f"{thread}.{number}"
            try:
                client.learn(examples(1, seed=number)[0] | {"mark": mark})
                marks.append(mark)
            except Exception as error:
                failures.append(error)

    threads = [threading.Thread(target=learn, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for wanted in (10, 80):
        service.until(lambda wanted=wanted: len(marks) >= wanted)
        service.stop(signal.SIGKILL)
        service = serve(model, "--learn", "--port", str(port))
    for thread in threads:
        thread.join()
    client.close()
    assert failures == []
    assert service.stop()[0] == 0
    log = Log(log_path(model), writes=False)
    learnt = [json.loads(one.text)["mark"] for entries in log.entries(0) for one in entries]
    log.close()
    assert sorted(learnt) == sorted(marks)
    assert len(learnt) == len(set(learnt)) == 160
    assert model.read_bytes() == replayed(model)


def test_forgetting(serve, model):
    service = serve(model, "--learn")
    with rosenblatt.Client(f"http://{service.address}") as client:
        assert client.learn(examples(3)) == 3
        assert client.forget(2)["sequence"] >= 3
        with pytest.raises(rosenblatt.ServiceError) as error:
            client.forget(99)
    assert error.value.code == "unknown-example"


def test_importing_the_client_imports_nothing_heavy():
    script = "import sys, rosenblatt; rosenblatt.Client; print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert not {"numpy", "numba", "starlette", "msgspec"} & set(ran.stdout.split())
