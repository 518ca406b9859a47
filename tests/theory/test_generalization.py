"""Bounds on the error on new rows hold where rows are drawn independently."""

import numpy as np
import pytest

from rosenblatt import Perceptron, report, steps
from rosenblatt.theory.bounds import generalization

from .conftest import separated


def draw(rng, n, noise=0.0):
    """Rows on two sides of a gap, with some labels turned."""
    X = rng.normal(size=(n, 3))
    X[:, 0] += np.where(X[:, 0] > 0, 0.3, -0.3)
    y = np.where((X[:, 0] > 0) != (rng.random(n) < noise), 1, -1)
    return X, y


def test_only_mistaken_rows_can_be_wrong_when_they_are_left_out():
    """The lemma, row by row: without a row that was never mistaken all weights are the same."""
    X, y = draw(np.random.default_rng(0), 40)
    model = Perceptron(order="fixed", max_iter=10_000).fit(X, y)
    mistaken = {step.row for step in steps(X, y, order="fixed", max_iter=10_000)}
    assert len(mistaken) <= model.n_mistakes_
    wrong = set()
    for i in range(40):
        rest = np.arange(40) != i
        without = Perceptron(order="fixed", max_iter=10_000).fit(X[rest], y[rest])
        if i not in mistaken:
            np.testing.assert_array_equal(without.coef_, model.coef_)
        if without.predict(X[[i]])[0] != y[i]:
            wrong.add(i)
    assert wrong <= mistaken


def test_the_expected_error_stays_below_leave_one_out():
    rng, bounds, errors = np.random.default_rng(1), [], []
    for seed in range(60):
        X, y = draw(rng, 60)
        model = Perceptron(random_state=seed, max_iter=10_000).fit(X, y)
        bounds.append(report(model, X, y).generalization.left_out)
        fewer = Perceptron(random_state=seed, max_iter=10_000).fit(X[:59], y[:59])
        errors.append(1 - fewer.score(*draw(rng, 2000)))
    assert np.mean(errors) < np.mean(bounds)
    assert np.mean(bounds) < 0.5  # it says something


@pytest.mark.parametrize("noise", [0.0, 0.2])
def test_online_to_batch_holds_as_often_as_it_says(noise):
    """For the mean error of the weights that a first pass met, by 2,000 new rows."""
    rng, held = np.random.default_rng(2), []
    for seed in range(100):
        X, y = draw(rng, 100, noise)
        model = Perceptron(random_state=seed, max_iter=3).fit(X, y)
        epoch = model.history_[0]
        found = generalization(model, 100, delta=0.2)
        assert found.online == pytest.approx(epoch.mistakes / 100 + np.sqrt(np.log(5) / 200))
        new, labels = draw(rng, 2000, noise)
        weights, bias, before, total = np.zeros(3), 0.0, 0, 0.0
        for step in [*steps(X, y, random_state=seed, max_iter=1), None]:
            survived = 100 - before if step is None else step.position + 1 - before
            total += survived * np.mean(np.where(new @ weights + bias > 0, 1, -1) != labels)
            if step is not None:
                weights, bias = step.new_weights[0], step.new_bias[0]
                before = step.position + 1
        held.append(total / 100 <= found.online)
    assert np.mean(held) >= 0.8


@pytest.mark.parametrize("order", ["batch", "active", "first", "worst"])
def test_orders_that_do_not_meet_every_row_once_are_not_spoken_of(order):
    X, y = separated(60, 4, gap=0.3)
    found = report(Perceptron(order=order, max_iter=5000, random_state=0).fit(X, y), X, y)
    assert found.generalization[1:3] == (None, None)
    assert "new rows" not in str(found)


def test_without_separation_there_is_no_leave_one_out():
    X, y = draw(np.random.default_rng(3), 80, noise=0.2)
    found = report(Perceptron(random_state=0, max_iter=5).fit(X, y), X, y).generalization
    assert found.left_out is None
    assert found.online is not None
