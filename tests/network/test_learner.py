"""A network continues only with the rows that it was grown from."""

import numpy as np
import pytest

from rosenblatt.network.learner import NetworkLearner
from rosenblatt.network.parameters import PARAMETERS
from rosenblatt.parameters import defaults

CASES = ["upstart", "tiling", "tower", "pyramid"]


def grown(growth, X, codes):
    parameters = defaults(PARAMETERS) | {"growth": growth, "max_units": 3, "max_iter": 10}
    learner = NetworkLearner.begin(parameters, np.unique(codes), X)
    learner.grow(X, codes, seed=0)
    return learner


@pytest.mark.parametrize("growth", CASES)
@pytest.mark.parametrize("loaded", [False, True])
def test_other_rows_and_labels_are_refused(growth, loaded):
    random = np.random.default_rng(0)
    X, codes = random.normal(size=(40, 3)), random.integers(0, 2, 40)
    learner = grown(growth, X, codes)
    if loaded:
        learner = NetworkLearner.from_model(learner.to_model({}))
    before = learner.networks
    for rows, labels in ((X[::-1], codes[::-1]), (X * 1.001, codes), (X, 1 - codes)):
        with pytest.raises(ValueError, match="grown from other rows"):
            learner.grow(rows, labels, seed=0)
    assert learner.networks is before
    learner.grow(X, codes, seed=0)


def test_a_file_that_does_not_know_its_rows_continues():
    random = np.random.default_rng(0)
    X, codes = random.normal(size=(40, 3)), random.integers(0, 2, 40)
    model = grown("tower", X, codes).to_model({})
    facts = {name: fact for name, fact in model.facts.items() if name != "rows_checksum"}
    learner = NetworkLearner.from_model(model._replace(facts=facts))
    learner.grow(X, codes, seed=0)
    assert learner.checksum is not None
