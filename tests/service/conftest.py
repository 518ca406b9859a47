"""A model to serve, the service as a process, and what to send it."""

import asyncio
import http.client
import json
import signal
import subprocess
import sys
import time
import warnings

import httpx
import numpy as np
import pytest

pytest.importorskip("prometheus_client", reason="the service needs prometheus-client")
pytest.importorskip("starlette", reason="the service needs starlette")

import rosenblatt
from rosenblatt.service.app import Limits, Service
from rosenblatt.service.learning import Job, Keeping, Learning
from rosenblatt.service.replay import Replay, log_path, read_log
from rosenblatt.service.requests import make_texts
from rosenblatt.storage.file import load_model, save_model

HOST = "http://127.0.0.1"
COLOURS = ["red", "green", "blue"]


def examples(count, seed=0, labelled=True):
    """Rows of a number, a category and a text, with labels that are mostly learnable."""
    random = np.random.default_rng(seed)
    rows = []
    for _ in range(count):
        size, colour = round(float(random.normal()), 3), COLOURS[random.integers(3)]
        big = size + (colour == "red") + random.normal() / 3 > 0.3
        row = {"size": size, "colour": colour, "note": f"a {colour} one of {round(size)}"}
        rows.append(row | ({"kind": "big" if big else "small"} if labelled else {}))
    return rows


def trained(path, rows=None, **options):
    """A model file."""
    options = {"label": "kind", "text": "note", "bits": 12, "max_iter": 2} | options
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # notes on what was read
        model = rosenblatt.train(examples(50, seed=9) if rows is None else rows, **options)
    rosenblatt.save(model, path)
    return path


@pytest.fixture
def model(tmp_path):
    return trained(tmp_path / "model.safetensors")


@pytest.fixture
def learning(model):
    """The thread that learns, of a model of its own."""
    started = Learning(model, Keeping(), say=lambda sentence: None)
    started.start()
    yield started
    if started.is_alive():
        started.stop()
    started.log.close()  # after an error it is open


class Client:
    """Sends requests to an application without a network."""

    def __init__(self, app):
        self.app = app

    def ask(self, method, path, **request):
        async def asked():
            through = httpx.ASGITransport(self.app)
            async with httpx.AsyncClient(transport=through, base_url=HOST) as client:
                return await client.request(method, path, **request)

        return asyncio.run(asked())

    def get(self, path, **request):
        return self.ask("GET", path, **request)

    def post(self, path, **request):
        return self.ask("POST", path, **request)


def current_of(learning):
    return lambda: learning.predictor


def client_of(learning, learns=True, tokens=None, **limits):
    chosen = learning if learns else None
    return Client(Service(current_of(learning), chosen, Limits(**limits), tokens))


def started(path):
    """A learning thread of a model, and its client."""
    learning = Learning(path, say=print)
    learning.start()
    return learning, client_of(learning)


@pytest.fixture
def client(learning):
    return client_of(learning)


def job_of(rows, key=None):
    """A request to learn rows."""
    return Job(make_texts(rows), key)


def answer_of(served, rows):
    """The predictions of a served model."""
    return served.make_predictor().answer(served.maker.make(rows, labelled=False))


def replayed(path, until=None):
    """The bytes of the model that the log of a model makes."""
    with read_log(log_path(path)) as log:
        replay, first = Replay(log), log.models()[0]
        served = replay.run(replay.open_model(first), until)
    other = path.with_name("replayed.safetensors")
    save_model(other, served.model())
    return other.read_bytes()


class Running:
    """The service as a process."""

    def __init__(self, path, *options, command=None):
        self.path = path
        command = command or ["-m", "rosenblatt", "serve", str(path), "--port", "0", *options]
        self.process = subprocess.Popen(
            [sys.executable, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        line = self.process.stdout.readline()
        if "is served at" not in line:
            raise AssertionError(line + self.process.communicate()[1])
        self.address = line.partition("http://")[2].partition("/")[0]
        self.host, _, port = self.address.rpartition(":")
        self.port = int(port)

    def ask(self, method, path, body=None, kind="application/json", timeout=20, **headers):
        """The status and the JSON of an answer."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=timeout)
        try:
            if body is not None and not isinstance(body, str | bytes):
                body = json.dumps(body)
            if body is not None:
                headers["Content-Type"] = kind
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            text = answer.read()
        finally:
            connection.close()
        is_json = answer.headers["Content-Type"] == "application/json"
        return answer.status, json.loads(text) if is_json else text

    def learn(self, rows, **options):
        return self.ask("POST", "/learn", rows, **options)

    def predict(self, rows, **options):
        return self.ask("POST", "/predict", rows, **options)

    def model(self):
        return self.ask("GET", "/model")[1]

    def until(self, condition, seconds=20):
        """Wait for something."""
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end
            time.sleep(0.01)

    def stop(self, number=signal.SIGTERM):
        """End it; the exit status and what it said on standard error."""
        self.process.send_signal(number)
        _, err = self.process.communicate(timeout=60)
        return self.process.returncode, err


@pytest.fixture
def serve():
    """Starts services, and ends those that are left."""
    running = []

    def start(path, *options, **more):
        running.append(Running(path, *options, **more))
        return running[-1]

    yield start
    for one in running:
        if one.process.poll() is None:
            one.process.kill()
        one.process.communicate()


def sequence_in(path):
    return load_model(path).facts["service"]["sequence"]
