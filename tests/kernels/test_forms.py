"""Every kernel declares the types that it is compiled for."""

import runpy
from pathlib import Path

import numpy as np
import pytest

from rosenblatt.kernels import compiling, loop
from rosenblatt.training.rules import RULES, begin_arrays

BUILDER = runpy.run_path(str(Path(__file__).parents[2] / "library/compile.py"))
FORMS = list(BUILDER["list_forms"]())


def test_every_kernel_has_forms_and_each_has_a_key_of_its_own():
    keys = [(name, key.replace("w]", "r]")) for name, _, key, _ in FORMS]
    assert len(set(keys)) == len(keys)
    assert {name for name, _ in keys} == compiling.KERNELS.keys()


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.name)
def test_the_state_of_a_form_is_that_of_the_rule(rule, kind):
    weights, bias = np.zeros(3, kind), np.zeros(1, kind)
    sums = {"u": np.zeros(3), "ub": np.zeros(1)}
    state = loop.State(w=weights, b=bias, **sums | begin_arrays(rule, weights, bias))
    make_key, typeof = BUILDER["make_key"], BUILDER["typeof"]
    wanted = make_key(typeof(state))
    targets = {"classes": ["Two", "Several"], "numbers": ["Numbers"], "ranks": ["Ranks"]}
    for target in targets[rule.target][: 1 + rule.together]:
        keys = [key for name, _, key, _ in FORMS if name == "kernels.loop.learn"]
        keys = [key for key in keys if key.startswith(f"<rosenblatt.kernels.targets.{target}")]
        keys = [key for key in keys if f".{rule.kind.__name__}>" in key and wanted in key]
        assert len(keys) == 2  # dense and sparse
