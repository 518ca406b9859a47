"""Running the service: readiness, metrics, logs, tokens, and the files that deploy it."""

import configparser
import json
import re
import signal
import socket
import subprocess
import sys
import time

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from rosenblatt.service.app import Service

from ..test_docs import ROOT
from .conftest import Client, client_of, current_of, examples
from .test_app import write_tokens

FILES = ROOT / "docs" / "operations"
TOKENS = {role: f"the token of {role}s" for role in ("predict", "learn", "admin")}


def read_metrics(client):
    """The samples of all metrics, by name and labels."""
    text = client.get("/metrics").text
    families = list(text_string_to_metric_families(text))
    return {
        (sample.name, *sorted(sample.labels.items())): sample.value
        for family in families
        for sample in family.samples
    }


def test_a_service_that_stops_is_not_ready_but_healthy(learning):
    service = Service(current_of(learning), learning)
    asked = Client(service)
    assert asked.get("/readyz").json() == {"ready": True}
    service.stopping = True
    assert (asked.get("/readyz").status_code, asked.get("/healthz").status_code) == (503, 200)
    assert asked.get("/v2/health/ready").status_code == 503
    assert asked.ask("HEAD", "/healthz").status_code == 200


SLOW_START = """
import sys, time
from pathlib import Path
from rosenblatt.service import server
from rosenblatt.service.learning import Keeping

path, port, gate = sys.argv[1:]

class Late(server.Learning):
    def __init__(self, *given):
        while not Path(gate).exists():
            time.sleep(0.01)
        super().__init__(*given)

server.Learning = Late
sys.exit(server.serve(Path(path), keeping=Keeping(), port=int(port)))
"""


def test_a_service_that_starts_is_healthy_but_not_ready(model, tmp_path):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-c", SLOW_START, str(model), str(port), str(tmp_path / "gate")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    transport = httpx.HTTPTransport(retries=10)
    with httpx.Client(transport=transport, base_url=f"http://127.0.0.1:{port}") as asked:
        try:
            assert asked.get("/healthz", timeout=60).json()["status"] == "starting"
            assert asked.get("/readyz").json() == {"ready": False}
            for path in ("/learn", "/predict"):
                answer = asked.post(path, json=examples(1))
                assert (answer.status_code, answer.json()["code"]) == (503, "starting")
            for path in ("/model", "/metrics", "/v2/models/model/ready"):
                assert asked.get(path).status_code == 503
            (tmp_path / "gate").touch()
            assert b"is served at" in process.stdout.readline()
            assert asked.get("/readyz").json() == {"ready": True}
            assert asked.post("/learn", json=examples(1)).status_code == 202
        finally:
            process.terminate()
            assert process.wait(60) == 0
            process.stdout.close()


def test_metrics_count_times_and_rows(client, learning):
    rows = examples(30)
    client.post("/learn", json=rows)
    client.post("/predict", json=rows[:7])
    client.post("/predict", content="{")
    client.get("/nowhere")
    learning.call(lambda: None).result(30)
    found = read_metrics(client)
    predicted = ("path", "/predict")
    assert found["rosenblatt_requests_total", predicted, ("status", "200")] == 1
    assert found["rosenblatt_requests_total", predicted, ("status", "400")] == 1
    assert found["rosenblatt_requests_total", ("path", "other"), ("status", "404")] == 1
    assert found["rosenblatt_rows_total", predicted] == 7
    assert found["rosenblatt_request_seconds_count", predicted] == 2
    assert found["rosenblatt_request_seconds_bucket", ("le", "+Inf"), predicted] == 2
    assert found["rosenblatt_sync_seconds_count",] == 1
    assert found["rosenblatt_queue_requests",] == 0
    assert found["rosenblatt_snapshot_age_seconds",] >= 0
    progress = learning.served.progress
    for name, (count, errors) in progress.classes.items():
        assert found["rosenblatt_class_examples_total", ("class", name)] == count
        assert found["rosenblatt_class_errors_total", ("class", name)] == errors
    assert sum(count for count, _ in progress.classes.values()) == 30
    assert sum(errors for _, errors in progress.classes.values()) == progress.errors
    assert found["rosenblatt_errors_total",] == learning.served.progress.errors


def test_request_ids_are_echoed_or_made(client):
    answer = client.get("/healthz", headers={"x-request-id": "abc-1.2:3"})
    assert answer.headers["x-request-id"] == "abc-1.2:3"
    made = {client.get("/nowhere").headers["x-request-id"] for _ in range(3)}
    assert len(made) == 3
    for hostile in ("a b", "x" * 200, 'a"b'):
        answer = client.get("/healthz", headers={"x-request-id": hostile})
        assert answer.headers["x-request-id"] != hostile


def test_json_logs_have_a_line_for_each_request(serve, model):
    service = serve(model, "--learn", "--log-format", "json")
    assert service.predict(examples(3), **{"X-Request-ID": "mine"})[0] == 200
    assert service.ask("POST", "/predict", "{")[0] == 400
    with socket.create_connection((service.host, service.port), timeout=20) as connection:
        connection.sendall(b"nonsense\r\n\r\n")
        assert connection.recv(4096).startswith(b"HTTP/1.1 400 ")
    status, err = service.stop()
    assert status == 0
    first, second, third, *_, last = [json.loads(line) for line in err.splitlines()]
    assert first.pop("seconds") >= 0
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00", first.pop("time"))
    logged = {"level": "info", "message": "request", "request_id": "mine", "client": "127.0.0.1"}
    assert first == logged | {"method": "POST", "path": "/predict", "status": 200, "rows": 3}
    assert second["status"] == 400
    assert (third["status"], third["code"]) == (400, "not-http")
    assert "has learnt 0 examples" in last["message"]


# Tokens with roles


@pytest.mark.parametrize(
    ("method", "path", "role"),
    [
        ("POST", "/predict", "predict"),
        ("POST", "/v2/models/model/infer", "predict"),
        ("GET", "/model", "predict"),
        ("GET", "/metrics", "predict"),
        ("POST", "/learn", "learn"),
        ("GET", "/model.safetensors", "admin"),
        ("GET", "/examples", "admin"),
        ("DELETE", "/examples/1", "admin"),
        ("PUT", "/model", "admin"),
        ("POST", "/model/rollback", "admin"),
    ],
)
def test_a_token_allows_what_its_role_may(learning, tmp_path, method, path, role):
    asked = client_of(learning, tokens=write_tokens(tmp_path, **TOKENS))
    statuses = {
        name: asked.ask(method, path, headers={"authorization": f"Bearer {token}"}).status_code
        for name, token in TOKENS.items()
    }
    roles = list(TOKENS)
    for name, status in statuses.items():
        assert (status == 403) == (roles.index(name) < roles.index(role))
        assert status != 401
    assert asked.ask(method, path).status_code == 401


def test_every_route_has_a_role_or_says_nothing_of_the_model(learning):
    service = Service(current_of(learning), learning)
    free = {route.path for route in service.operations if not route.role}
    health = {"/healthz", "/readyz", "/v2/health/live", "/v2/health/ready"}
    assert free == health | {"/v2/models/{name}/ready", "/"}  # a page that is empty without a token


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="Windows has no SIGHUP")
def test_tokens_are_read_again_on_sighup(serve, model, tmp_path):
    path = tmp_path / "token"
    path.write_text("the first of two tokens\n" * 2)
    service = serve(model, "--token-file", str(path))

    def status(token):
        return service.ask("GET", "/model", Authorization=f"Bearer {token}")[0]

    assert status("the first of two tokens") == 200
    path.write_text("the second of two tokens")
    service.process.send_signal(signal.SIGHUP)
    service.until(lambda: status("the second of two tokens") == 200)
    assert status("the first of two tokens") == 401
    path.write_text("short")
    service.process.send_signal(signal.SIGHUP)
    assert status("the second of two tokens") == 200
    _, err = service.stop()
    assert "The tokens were read again." in err
    assert "The tokens are unchanged." in err


# The files that deploy it


def test_alerts_and_panels_use_metrics_that_exist(client):
    client.post("/learn", json=examples(3))
    client.post("/predict", json=examples(3))
    known = set()
    for _ in range(200):  # until the examples are learnt
        known = {name for name, *_ in read_metrics(client)}
        if "rosenblatt_error_ratio" in known:
            break
        time.sleep(0.05)
    rules = (FILES / "alerts.yml").read_text("utf-8")
    board = json.loads((FILES / "grafana.json").read_text("utf-8"))
    queries = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    for text in (rules, *queries):
        assert set(re.findall(r"\brosenblatt_\w+", text)) <= known
    assert len(queries) >= 7
    assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"])


def read_unit():
    """The settings of the systemd unit; several of one name are joined."""
    settings = {}
    text = (FILES / "rosenblatt.service").read_text("utf-8").replace("\\\n", " ")
    for line in text.splitlines():
        if "=" in line and not line.startswith("#"):
            name, _, value = line.partition("=")
            settings[name] = f"{settings.get(name, '')} {value}".strip()
    configparser.ConfigParser(strict=False, interpolation=None).read_string(text)
    return settings


def parse_options(words):
    """Parse the options of ``rosenblatt serve`` as the shell does."""
    import click

    from rosenblatt.shell.app import app

    command = app.get_command(click.Context(app), "serve")
    return command.make_context("serve", list(words), resilient_parsing=False).params


def test_the_systemd_unit_starts_the_service_and_confines_it():
    unit = read_unit()
    program, command, *words = unit["ExecStart"].split()
    assert (program.rsplit("/", 1)[1], command) == ("rosenblatt", "serve")
    given = parse_options(words)
    assert given["learn"]
    assert str(given["model"]).startswith("/var/lib/" + unit["StateDirectory"])
    wanted = {"NoNewPrivileges": "yes", "ProtectSystem": "strict", "CapabilityBoundingSet": ""}
    assert unit.items() >= wanted.items()
    assert "MemoryDenyWriteExecute" not in unit  # of libffi


def test_the_image_is_pinned_and_not_root():
    lines = (ROOT / "Dockerfile").read_text("utf-8").replace("\\\n", " ").splitlines()
    steps = [line.split(maxsplit=1) for line in lines if line and not line.startswith("#")]
    values = dict(steps)
    assert re.fullmatch(r"python:3\.\d+\.\d+-slim-\w+", values["FROM"])
    assert values["USER"] == "rosenblatt"
    words = json.loads(values["ENTRYPOINT"]) + json.loads(values["CMD"])
    assert words[:2] == ["rosenblatt", "serve"]
    assert parse_options(words[2:])["token_file"]
    (check,) = [line for line in lines if "urlopen" in line]
    assert "/readyz" in check


def test_every_code_of_an_error_is_on_the_page():
    page = (ROOT / "docs" / "operations.md").read_text("utf-8")
    codes = set()
    for path in (ROOT / "src/rosenblatt/service").glob("*.py"):
        text = path.read_text("utf-8")
        codes |= set(re.findall(r"(?:RequestError|refuse)\(\s*\d+, \"([a-z-]+)\"", text))
    assert len(codes) > 20
    assert {code for code in codes if f"`{code}`" not in page} == set()
