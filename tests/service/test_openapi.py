"""Schemathesis sends what the OpenAPI description allows, and what it does not."""

import subprocess
import sys

import pytest

from ..conftest import ROUNDS
from .conftest import trained

CONFIG = """
[[operations]]
include-path-regex = "^/(predict|learn)$"
checks.negative_data_rejection.enabled = false  # numbers above a million may be taken, too

[[operations]]
include-path = "/model"
include-method = "PUT"
checks.positive_data_acceptance.enabled = false  # no schema tells which bytes are a model
"""


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["table", "numbers"])
def test_the_description_is_what_the_service_does(serve, tmp_path, kind):
    pytest.importorskip("schemathesis", reason="this test needs schemathesis")
    rows = [{"a": k, "b": k % 5, "kind": k % 3} for k in range(30)]
    options = {"table": (), "numbers": (rows,)}[kind]
    given = {} if kind == "table" else {"text": (), "bits": None}
    service = serve(trained(tmp_path / "model.safetensors", *options, **given), "--learn")
    (tmp_path / "schemathesis.toml").write_text(CONFIG)
    command = [sys.executable, "-m", "schemathesis.cli", "--config-file", "schemathesis.toml"]
    command += ["run", f"http://{service.address}/openapi.json", "--seed", "1"]
    command += ["--phases", "coverage,fuzzing", "--max-examples", str(10 * ROUNDS)]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert ran.returncode == 0, ran.stdout[-6000:]
    assert service.ask("GET", "/healthz")[0] == 200
    assert service.stop()[0] == 0
