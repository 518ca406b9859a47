"""Thresholds and probabilities of a model's scores."""

from types import SimpleNamespace

import numpy as np
import pytest

from rosenblatt.jobs.decisions import find_probabilities, make_decision
from rosenblatt.training.calibration import Calibration

SCORES = np.array([-2.0, -0.1, 0.0, 0.5, 3.0])


def learner(classes=2, multilabel=False, calibration=None):
    return SimpleNamespace(
        classes=np.arange(classes),
        multilabel=multilabel,
        target_kind="classes",
        calibration=calibration,
        choose=lambda scores: (scores > 0).astype(int),
    )


@pytest.mark.parametrize("threshold", [-1.0, 0.0, 0.4])
def test_a_threshold_of_scores(threshold):
    found = make_decision(learner(), threshold)(SCORES)
    assert found.tolist() == (threshold < SCORES).astype(int).tolist()
    flags = np.column_stack([SCORES, -SCORES])
    found = make_decision(learner(2, multilabel=True), threshold)(flags)
    assert found.tolist() == (flags > threshold).tolist()


def test_a_threshold_of_probabilities():
    known = learner(calibration=Calibration(np.array([1.0, 2.0]), np.zeros(2)))
    chances = find_probabilities(known)(SCORES)[:, 1]
    for threshold in (0.2, 0.5, 0.9):
        found = make_decision(known, threshold)(SCORES)
        assert found.tolist() == (chances > threshold).astype(int).tolist()
    assert make_decision(known, 0.5)(SCORES).tolist() == known.choose(SCORES).tolist()


def test_a_threshold_is_a_number():
    with pytest.raises(ValueError, match="threshold=nan must be a number"):
        make_decision(learner(), float("nan"))
