"""On points with decimals, whose sums are rounded, the page's lines of Python make its very run."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from ..conftest import ROUNDS
from .test_engine import draw_settings, pytestmark, run_cases  # noqa: F401

PLAIN = """
import json, sys
sys.path.insert(0, {root!r})
from tests.lab.test_decimals import learn
print(json.dumps([learn(case) for case in json.load(open({cases!r}))]))
"""


def draw_case(rng):
    """Points with three decimals, as the page makes and takes them, and rates that round."""
    n = int(rng.integers(4, 40))
    X = rng.normal(size=(n, 2)).round(3)
    y = np.where(X @ rng.normal(size=2) + rng.normal(0, 0.3) + rng.normal(0, 0.3, n) > 0, 1, -1)
    y[:2] = 1, -1
    settings = draw_settings(rng) | {"eta0": float(rng.choice([1, 0.1, 0.3]))}
    points = {"X": X.tolist(), "y": y.tolist()}
    return {"kind": "linear", "points": points, "settings": settings}


def learn(case):
    """What `Perceptron` makes of a case."""
    from rosenblatt import Perceptron

    from .test_engine import to_features, to_parameters, to_start

    settings, y = case["settings"], np.array(case["points"]["y"])
    X = to_features(settings, np.array(case["points"]["X"]))
    model = Perceptron(**to_parameters(settings)).fit(X, y, **to_start(settings))
    return [model.n_iter_, model.n_mistakes_, *model.coef_[0].tolist(), *model.intercept_.tolist()]


def test_runs_on_decimals_are_those_of_plain_python(tmp_path):
    rng = np.random.default_rng(5)
    cases = [draw_case(rng) for _ in range(300 * ROUNDS)]
    results = run_cases(cases, tmp_path)
    path = tmp_path / "plain.json"
    path.write_text(json.dumps(cases))
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    script = PLAIN.format(root=root, cases=str(path))
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "ROSENBLATT_KERNELS": "python"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    plain = json.loads(done.stdout)
    differ = []
    for case, found, expected in zip(cases, results, plain, strict=True):
        made = sum(epoch["mistakes"] for epoch in found["epochs"])
        own = [len(found["epochs"]), made, *found["found"]["weights"][-1]]
        own += found["found"]["bias"][-1]
        if own != expected:
            differ.append((case["settings"], own, expected))
    assert differ == [], f"{len(differ)} of {len(cases)}"


@pytest.mark.parametrize("decimals", [True, False])
def test_lines_ask_for_plain_python_where_sums_are_rounded(decimals, tmp_path):
    points = "0.1,0.2,+;1,2,-" if decimals else "0.5,0.25,+;1,2,-"
    state = f"data=points&points={points}"
    (lines,) = run_cases([{"kind": "python", "address": state}], tmp_path)
    assert ("ROSENBLATT_KERNELS" in lines) == decimals
