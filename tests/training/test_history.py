"""The record of a run: when it stops, and which state is the best."""

import numpy as np
import pytest

from rosenblatt import Perceptron

from ..conftest import FORMS, blobs


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("solution", ["last", "average", "vote", "pocket"])
def test_early_stopping_goes_back_to_the_best_epoch(solution, form):
    X, y = blobs(200, 4, classes=2 if form == "two" else 3, seed=3)
    chosen = {"solution": solution, "early_stopping": True, "random_state": 0}
    if form == "ovr":  # each problem has its own best epoch, so one is looked at
        y = y == 0
    model = Perceptron(**chosen, n_iter_no_change=3, max_iter=60).fit(X, y)
    scores = [epoch.validation_score for epoch in model.history_]
    best = int(np.argmax(scores)) + 1
    assert model.stop_reason_ == "no_improvement"
    assert model.n_iter_ == best + 3
    stopped_there = Perceptron(**chosen, max_iter=best).fit(X, y)
    np.testing.assert_array_equal(model.coef_, stopped_there.coef_)
    np.testing.assert_array_equal(model.predict(X), stopped_there.predict(X))


def test_early_stopping_prefers_separating_weights_to_earlier_ones_with_the_same_score():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(200, 3))
    rows = rows[abs(rows[:, 0]) > 0.1]
    model = Perceptron(early_stopping=True, n_iter_no_change=50, random_state=0)
    model.fit(rows, rows[:, 0] > 0)
    scores = [epoch.validation_score for epoch in model.history_]
    assert model.stop_reason_ == "separated"
    assert scores[-1] == max(scores) in scores[:-1]
    assert model.score(rows, rows[:, 0] > 0) == 1


def test_validation_scores_are_the_accuracy_on_rows_that_were_held_out():
    X, y = blobs(40)
    model = Perceptron(early_stopping=True, validation_fraction=0.25, max_iter=2, random_state=0)
    model.fit(X, y)
    assert all(epoch.rows == 30 for epoch in model.history_)
    assert all((epoch.validation_score * 10).is_integer() for epoch in model.history_)
