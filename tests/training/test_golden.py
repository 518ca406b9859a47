"""Every linear rule learns what it learnt when ``golden.json`` was written, in every layout."""

import json

import numpy as np
import pytest

from rosenblatt.parameters import CLASS_RULES, NUMBER_RULES, RANK_RULES

from .golden import LAYOUTS, PATH, outcome, trainings

GOLDEN = json.loads(PATH.read_text("utf-8"))
TRAININGS = list(trainings())
TOLERANCES = {"float32": 2e-3, "float64": 1e-7}


def is_same(found, wanted, tolerance):
    """Whether all is equal, the loss and the sums of weights up to rounding."""
    losses, sums = ([facts[key] for facts in (found, wanted)] for key in ("loss", "sums"))
    atol = tolerance * max(map(abs, sums[1]), default=0)
    close = np.allclose(*losses, rtol=tolerance) and np.allclose(*sums, rtol=0, atol=atol)
    return close and {**found, "loss": losses[1], "sums": sums[1]} == wanted


def test_golden_holds_all_trainings():
    assert list(GOLDEN) == [training.name for training in TRAININGS]


def test_every_rule_is_trained():
    known = {**CLASS_RULES, **NUMBER_RULES, **RANK_RULES}.values()
    assert {entry.estimator for entry in known} == {training.estimator for training in TRAININGS}


@pytest.mark.parametrize("dtype", TOLERANCES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_rule_learns_what_it_learnt_before(layout, dtype):
    changed = [
        training.name
        for training in TRAININGS
        if not is_same(outcome(training, layout, dtype), GOLDEN[training.name], TOLERANCES[dtype])
    ]
    assert not changed
