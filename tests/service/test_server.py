"""The process: where it listens, whom it lets in, and how it ends."""

import json
import re
import signal
import subprocess
import sys

import pytest

import rosenblatt
from rosenblatt.service.server import bind_socket

from ..shell.conftest import run
from ..test_docs import ROOT, python_blocks
from .conftest import examples, replayed, sequence_in


def test_an_orderly_end_learns_the_rest_and_writes_the_model(serve, model):
    service = serve(model, "--learn")
    assert service.learn(examples(20)) == (202, {"sequence": 20, "examples": 20})
    assert service.predict(examples(1))[0] == 200
    status, err = service.stop(signal.SIGTERM)
    assert (status, err) == (0, f"rosenblatt: {model} has learnt 20 examples.\n")
    assert sequence_in(model) == 20
    assert model.read_bytes() == replayed(model)
    again = serve(model, "--learn")
    assert again.model()["sequence"] == 20
    assert again.learn(examples(5)) == (202, {"sequence": 25, "examples": 5})
    status, err = again.stop(signal.SIGINT)
    assert (status, err) == (0, f"rosenblatt: {model} has learnt 25 examples.\n")
    assert model.read_bytes() == replayed(model)


def test_the_answers_of_the_page(serve, tmp_path, monkeypatch):
    """The page trains on the tutorial's file; its steps give the answers that it shows."""
    monkeypatch.chdir(tmp_path)
    _, block = next(python_blocks(ROOT / "docs/tutorial.md"))
    exec(compile(block, "tutorial.md", "exec"), {})
    rosenblatt.save(rosenblatt.train("mushrooms.csv"), "model.safetensors")
    service = serve(tmp_path / "model.safetensors", "--learn")
    page = (ROOT / "docs/service.md").read_text("utf-8")
    shown = re.findall(r"localhost:8080(/\w+) .* -d '(.*)'\n(\{.*\})", page)
    shown = [each for each in shown if "cap" in each[1]]  # others are about another file
    assert len(shown) == 2
    for path, body, answer in shown:
        answered = service.ask("POST", path, body.encode())[1]
        expected = json.loads(answer)
        if "scores" in expected:  # sums of float32 differ in the last digit between machines
            assert answered.pop("scores") == pytest.approx(expected.pop("scores"), rel=1e-6)
        assert answered == expected


def test_without_learn_nothing_is_written(serve, model):
    before = model.read_bytes()
    service = serve(model)
    assert service.predict(examples(3))[0] == 200
    assert service.learn(examples(3))[0] == 403
    assert service.ask("GET", "/model.safetensors")[1] == before
    assert service.stop() == (0, "")
    assert [path.name for path in model.parent.iterdir()] == [model.name]


def test_others_need_a_token_unless_it_is_said(capsys, model, tmp_path, serve):
    status, _, err = run(capsys, "serve", model, "--host", "0.0.0.0")
    assert status == 2
    assert "--token-file" in err
    short = tmp_path / "short"
    short.write_text("abc\n")
    assert run(capsys, "serve", model, "--token-file", short)[0] == 2
    secret = tmp_path / "secret"
    secret.write_text("a long enough token\n")
    status, _, err = run(capsys, "serve", model, "--token-file", secret, "--no-token")
    assert (status, err.count("\n")) == (2, 1)
    service = serve(model, "--host", "0.0.0.0", "--token-file", str(secret))
    assert service.ask("GET", "/model")[0] == 401
    assert service.ask("GET", "/model", Authorization="Bearer a long enough token")[0] == 200


def test_a_port_that_is_taken_is_named():
    taken = bind_socket("127.0.0.1", 0)
    port = taken.getsockname()[1]
    with pytest.raises(ValueError, match=f"127.0.0.1:{port} cannot be listened to"):
        bind_socket("127.0.0.1", port)
    taken.close()


def test_without_its_packages_the_command_says_what_to_install(tmp_path):
    for absent in ("msgspec", "prometheus_client", "starlette", "httptools"):
        script = (
            f"import sys; sys.modules['{absent}'] = None\n"
            "from rosenblatt.shell.app import main; main()"
        )
        ran = subprocess.run(
            [sys.executable, "-c", script, "serve", "m"], capture_output=True, text=True, timeout=60
        )
        assert ran.returncode == 2
        assert ran.stderr.endswith("pip install 'rosenblatt[serve]'.\n")


def test_a_model_that_is_not_there(capsys, tmp_path):
    for options in ((), ("--learn",)):
        status, _, err = run(capsys, "serve", tmp_path / "none", "--port", 0, *options)
        assert status == 2
        assert err.count("\n") == 1
