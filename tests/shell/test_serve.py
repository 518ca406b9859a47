"""The log of a service in the shell: any past model, and where two part."""

import json
from contextlib import closing

import pytest

pytest.importorskip("msgspec", reason="the service needs msgspec")

from rosenblatt.service.log import Log
from rosenblatt.service.model import ServedModel
from rosenblatt.service.replay import find_difference
from rosenblatt.storage.file import load_model, save_model

from .conftest import run, trained

ROWS = [{"petal": k % 9, "sepal": 9 - k % 7, "kind": "setosa"} for k in range(50)]


@pytest.fixture
def log(capsys, folder):
    """A log of fifty examples, and the model after them."""
    path = trained(capsys)
    model = ServedModel(load_model(path), path)
    made = Log.create(folder / "m.log", (folder / path).read_bytes())
    model.log = made.identity
    for row in ROWS:
        made.append([json.dumps(row)])
        model.learn(model.maker.make([row], labelled=True))
        if model.sequence == 20:
            save_model("then.safetensors", model.model())
    save_model(path, model.model())
    made.close()
    return folder / "m.log"


def test_any_past_model_is_rebuilt_to_the_last_bit(capsys, log, folder):
    status, out, _ = run(capsys, "replay", log, "--to", 20, "-o", "again.safetensors")
    assert status == 0
    assert out.splitlines()[0].startswith("20 examples, ")
    assert (folder / "again.safetensors").read_bytes() == (folder / "then.safetensors").read_bytes()
    assert run(capsys, "replay", log, "-o", "again.safetensors")[0] == 0
    assert (folder / "again.safetensors").read_bytes() == (folder / "m.safetensors").read_bytes()
    status, _, err = run(capsys, "replay", log, "--to", 51)
    assert (status, err.count("\n")) == (2, 1)


def test_a_model_without_some_examples_never_saw_them(capsys, log, folder):
    status, out, _ = run(capsys, "replay", log, "--without", "3,7-9,50", "-o", "a.safetensors")
    assert status == 0
    assert out.splitlines()[0].startswith("45 examples, ")
    with closing(Log.create(folder / "other.log", Log(log, writes=False).model(0))) as other:
        left = [row for number, row in enumerate(ROWS, 1) if number not in (3, 7, 8, 9, 50)]
        other.append([json.dumps(row) for row in left])
    assert run(capsys, "replay", "other.log", "-o", "b.safetensors")[0] == 0
    assert find_difference(load_model("a.safetensors"), load_model("b.safetensors")) is None
    for odd in ("51", "x", "0"):
        status, _, err = run(capsys, "replay", log, "--without", odd)
        assert (status, err.count("\n")) == (2, 1)


def test_two_that_agree(capsys, log):
    status, out, _ = run(capsys, "replay", log, "--check", "m.safetensors")
    assert status == 0
    assert "first 50 examples, to the bit" in out


def test_it_is_told_how_two_disagree(capsys, log):
    model = load_model("m.safetensors")
    model.states[0].weights[0] += 1
    save_model("other.safetensors", model)
    status, out, _ = run(capsys, "replay", log, "--check", "other.safetensors")
    assert status == 1
    assert "other.safetensors is not what " in out
    assert ": weights" in out
    kept = load_model("then.safetensors")
    kept.states[0].mistakes += 1
    save_model("then.safetensors", kept)
    status, out, _ = run(capsys, "replay", log, "--check", "then.safetensors")
    assert (status, "mistakes" in out) == (1, True)


def test_options_that_do_not_go_together(capsys, log):
    assert run(capsys, "replay", log, "--check", "m.safetensors", "--to", 3)[0] == 2
    assert run(capsys, "replay", "none.log")[0] == 2
