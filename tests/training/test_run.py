"""The outer loop: how a run ends, what it tells, and how it goes on after a break."""

import numpy as np

from rosenblatt import Perceptron


def test_a_clean_pass_ends_the_run_and_says_so():
    X, y = np.array([[1.0], [-1.0]]), [1, 0]
    model = Perceptron(order="fixed").fit(X, y)
    assert (model.stop_reason_, model.n_iter_) == ("separated", len(model.history_))
    assert [epoch.mistakes for epoch in model.history_] == [2, 0]


def test_a_run_that_never_ends_stops_at_max_iter():
    X = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]])
    model = Perceptron(max_iter=7).fit(X, [0, 1, 1, 0])
    assert (model.stop_reason_, model.n_iter_) == ("max_iter", 7)


def test_measuring_ends_a_run_without_another_clean_pass():
    X, y = np.array([[1.0], [-1.0]]), [1, 0]
    met, measured = Perceptron(order="fixed").fit(X, y), Perceptron(order="fixed", measure=True)
    measured.fit(X, y)
    assert measured.stop_reason_ == met.stop_reason_ == "separated"
    assert measured.n_iter_ == met.n_iter_ - 1
    assert (measured.history_[-1].errors, measured.history_[-1].loss) == (0, 0)
