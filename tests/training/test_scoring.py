"""Metrics by name: the same for tuning and early stopping, and more is better for stopping."""

import numpy as np
import pytest
from sklearn import metrics as peers

from rosenblatt.parameters.tables import METRICS as NAMES
from rosenblatt.training.scoring import (
    ABSOLUTE,
    METRICS,
    Held,
    describe_unranked,
    score_for_stopping,
)


def make_held(n_classes, n=400, seed=0):
    """Scores that tell the classes apart, with noise."""
    random = np.random.default_rng(seed)
    codes = random.integers(0, n_classes, n)
    if n_classes == 2:
        scores = 2.0 * codes - 1 + random.normal(size=n)
        return Held(codes, scores, (scores > 0).astype(int))
    scores = 2 * np.eye(n_classes)[codes] + random.normal(size=(n, n_classes))
    return Held(codes, scores, scores.argmax(axis=1))


def test_the_option_lists_all_metrics():
    assert tuple(METRICS) == (*NAMES, "rank-error", "r2", ABSOLUTE)


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("metric", NAMES)
def test_better_scores_have_a_better_metric(metric, n_classes):
    held = make_held(n_classes)
    worse = held._replace(scores=-held.scores, chosen=(held.chosen + 1) % n_classes)
    assert score_for_stopping(metric, held) > score_for_stopping(metric, worse)
    better, less = (METRICS[metric].as_loss(one.measure(metric)) for one in (held, worse))
    assert better < less


def test_values_are_those_of_scikit_learn():
    held = make_held(2)
    assert held.measure("auc") == pytest.approx(peers.roc_auc_score(held.codes, held.scores))
    assert held.measure("error") == np.mean(held.codes != held.chosen)
    assert score_for_stopping("error", held) == np.mean(held.codes == held.chosen)
    loss = peers.log_loss(held.codes, held.probabilities[:, 1])
    assert held.measure("log-loss") == pytest.approx(loss)
    assert loss < 0.45  # calibrated: the scores themselves are no probabilities


def test_probabilities_do_not_know_their_own_row():
    """Random labels: probabilities fitted to the same rows would look better than chance."""
    losses = []
    for seed in range(20):
        random = np.random.default_rng(seed)
        codes, scores = random.integers(0, 2, 40), random.normal(size=40)
        losses.append(Held(codes, scores, (scores > 0).astype(int)).measure("log-loss"))
    assert np.mean(losses) > np.log(2) - 0.005


def test_what_is_not_defined_does_not_stop_early():
    held = Held(np.zeros(3, int), np.arange(3.0), np.zeros(3, int))
    assert np.isnan(held.measure("auc"))
    assert np.isnan(score_for_stopping("auc", held))
    counts = np.array([3, 2, 0]), 5, np.array(["a", "b", "c"])
    assert "is of c, so ROC AUC leaves that out" in str(describe_unranked("auc", *counts))
    assert describe_unranked("error", *counts) is None
