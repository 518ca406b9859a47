"""The record of a run: when it stops, and which state is the best."""

import numpy as np
import pytest
from sklearn.linear_model import Perceptron as ScikitPerceptron

from rosenblatt import Epoch, KernelPerceptron, Perceptron
from rosenblatt.training.training import ProblemRun, Training, merge_epochs

from ..conftest import FORMS, LAYOUTS, blobs


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("solution", ["last", "average", "pocket"])
def test_early_stopping_goes_back_to_the_best_epoch(solution, form):
    X, y = blobs(200, 4, classes=2 if form == "two" else 3, seed=3)
    chosen = {"solution": solution, "early_stopping": 3, "random_state": 0}
    if form == "ovr":  # each problem has its own best epoch, so one is looked at
        y = y == 0
    model = Perceptron(**chosen, max_iter=60).fit(X, y)
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
    model = Perceptron(early_stopping=50, random_state=0)
    model.fit(rows, rows[:, 0] > 0)
    scores = [epoch.validation_score for epoch in model.history_]
    assert model.stop_reason_ == "separated"
    assert scores[-1] == max(scores) in scores[:-1]
    assert model.score(rows, rows[:, 0] > 0) == 1


def test_validation_scores_are_the_accuracy_on_rows_that_were_held_out():
    X, y = blobs(40)
    model = Perceptron(early_stopping=True, max_iter=2, random_state=0)
    model.fit(X, y)
    assert all(epoch.rows == 36 for epoch in model.history_)
    assert all((epoch.validation_score * 4).is_integer() for epoch in model.history_)


def stop_by_loss(X, labels, tol, max_iter):
    """The textbook's loop in order, until for 5 epochs the loss was not tol a row below the least.

    Return the weights, the bias, and the loss of each epoch.
    """
    w, b, losses, least, waited = np.zeros(X.shape[1]), 0.0, [], np.inf, 0
    while len(losses) < max_iter and waited < 5:
        loss = 0.0
        for x, label in zip(X, labels, strict=True):
            margin = label * (w @ x + b)
            if margin <= 0:
                w, b, loss = w + label * x, b + label, loss - margin
        waited = waited + 1 if loss > least - tol * len(X) else 0
        least = min(least, loss)
        losses.append(loss)
    return w, b, losses


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("tol", [0.0, 0.02, 3.0])
@pytest.mark.parametrize("seed", range(3))
def test_tol_stops_when_the_loss_falls_too_little_as_in_scikit_learn(seed, tol, layout):
    rng = np.random.default_rng(seed)
    X, labels = rng.integers(-4, 5, (60, 3)).astype(float), rng.choice([-1, 1], 60)
    w, b, losses = stop_by_loss(X, labels, tol, 100)
    model = Perceptron(order="fixed", tol=tol).fit(LAYOUTS[layout](X), labels)
    assert [epoch.loss for epoch in model.history_] == losses
    assert (model.coef_.tolist(), model.intercept_.tolist()) == ([w.tolist()], [b])
    assert len(losses) < 100
    assert model.stop_reason_ == "no_improvement"
    assert ScikitPerceptron(tol=tol, shuffle=False).fit(X, labels).n_iter_ == len(losses)


def test_each_problem_stops_by_its_own_loss():
    X, y = blobs(100, 3, classes=3)
    chosen = {"tol": 0.01, "random_state": 0, "solution": "average"}
    model = Perceptron(**chosen, multi_class="ovr").fit(X, y)
    alone = [Perceptron(**chosen).fit(X, y == label) for label in range(3)]
    np.testing.assert_array_equal(model.coef_, np.vstack([one.coef_ for one in alone]))
    assert model.n_iter_ == max(one.n_iter_ for one in alone) < 100


# The record by itself


@pytest.mark.parametrize(
    ("reasons", "wanted"),
    [
        (["separated", "separated"], "separated"),
        (["separated", "max_iter"], "max_iter"),
        (["separated", "no_improvement"], "no_improvement"),
        (["separated", "zero_weights"], "zero_weights"),
        (["separated", ""], ""),
    ],
)
def test_several_problems_end_for_the_least_that_holds_for_all(reasons, wanted):
    problems = [ProblemRun(stop_reason=reason) for reason in reasons]
    assert Training(tuple, problems).stop_reason == wanted


def test_epochs_of_several_problems_are_summed():
    one = [Epoch(1, 10, 3, 2, 1.0, 0.5), Epoch(2, 10, 1, 1, 0.5, 0.75)]
    other = [Epoch(1, 10, 4, 4, 2.0, 1.0)]
    assert merge_epochs([one, other]) == [
        Epoch(1, 20, 7, 6, 3.0, 0.75),
        Epoch(2, 10, 1, 1, 0.5, 0.75),
    ]


@pytest.mark.parametrize("solution", ["last", "average", "pocket"])
@pytest.mark.parametrize("estimator", [Perceptron, KernelPerceptron])
def test_weights_of_0_separate_nothing_where_ties_are_right(estimator, solution):
    if estimator is KernelPerceptron and solution == "pocket":
        pytest.skip("the dual form has no pocket")
    X, y = blobs(20, 2, seed=0)
    model = estimator(solution=solution, ties="correct").fit(X, y)
    assert (model.stop_reason_, model.n_mistakes_) == ("zero_weights", 0)
