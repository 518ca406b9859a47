"""With a budget: what a mistake does to a full support, and what that promises."""

import tracemalloc

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_moons
from sklearn.metrics.pairwise import pairwise_kernels

from rosenblatt import KernelPerceptron
from rosenblatt.dual.budget import BudgetedTask

from ..conftest import FORMS, LAYOUTS, blobs
from .twins import XOR, by_row, compute_scores, pair


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("seed", range(3))
def test_a_budget_does_what_its_naive_twin_does(form, seed, monkeypatch):
    monkeypatch.setattr(BudgetedTask, "most_rows", 10)
    X, y = blobs(40, 3, classes=2 if form == "two" else 3, seed=seed)
    multi_class = form.replace("two", "ovr")
    chosen = {"budget": 6, "multi_class": multi_class, "max_iter": 3}
    model, twin = pair("rbf", random_state=seed, **chosen)
    model.fit(X, y)
    twin.fit(X, y)
    assert model.support_.tolist() == twin.places
    assert [epoch[:4] for epoch in model.history_] == [epoch[:4] for epoch in twin.history_]
    assert model.stop_reason_ == twin.stop_reason_
    np.testing.assert_allclose(by_row(model, 40), twin.coef, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(model.intercept_, twin.bias, rtol=1e-6, atol=1e-9)
    found = compute_scores(model, X, solution="average")
    np.testing.assert_allclose(found, twin.scores(X, "average"), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("layout", ["dense", "int32"])
def test_an_endless_stream_never_exceeds_the_budget(layout):
    rng = np.random.default_rng(0)
    model = KernelPerceptron(gamma=1.0, budget=10, random_state=0)
    for _ in range(20):
        X = rng.normal(size=(50, 2))
        y = (X[:, 0] * X[:, 1] > 0) ^ (rng.random(50) < 0.1)
        model.partial_fit(LAYOUTS[layout](X), y, classes=[False, True])
        assert len(model.support_) == model.support_vectors_.shape[0] <= 10
        arrays = [
            value for value in vars(model._learner.state).values() if isinstance(value, np.ndarray)
        ]
        assert max(array.size for array in arrays) <= 100
        assert len(model._learner.state.updates) == 0
    assert len(model.support_) == 10
    assert model.support_.max() < 1000


def test_memory_is_for_the_rows_and_not_for_the_budget():
    X, y = load_iris(return_X_y=True)
    tracemalloc.start()
    model = KernelPerceptron(budget=100_000, random_state=0).fit(X, y)
    model.partial_fit(X, y)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20 * 2**20
    bound = KernelPerceptron(budget=150, random_state=0).fit(X, y)
    np.testing.assert_array_equal(bound.partial_fit(X, y).dual_coef_, model.dual_coef_)


def test_a_budget_that_is_never_reached_changes_nothing():
    X, y = blobs(50, 4, classes=3)
    free = KernelPerceptron(random_state=0, max_iter=10).fit(X, y)
    bound = KernelPerceptron(random_state=0, max_iter=10, budget=50)
    bound.fit(X, y)
    assert bound.history_[-1][:4] == free.history_[-1][:4]
    np.testing.assert_array_equal(bound.support_, free.support_)
    np.testing.assert_allclose(bound.dual_coef_, free.dual_coef_)


@pytest.mark.parametrize("seed", range(3))
def test_the_projectron_keeps_its_bound(seed):
    X, y = make_moons(200, noise=0.1, random_state=seed)
    signs = np.where(y == 1, 1, -1)
    model = KernelPerceptron(gamma=1.0, budget=25, fit_intercept=False, max_iter=1, order="fixed")
    model.fit(X, y)
    support = model.support_vectors_
    inside = pairwise_kernels(support, metric="rbf", gamma=1.0)
    across = pairwise_kernels(support, X, metric="rbf", gamma=1.0)
    distances = 1 - np.sum(across * np.linalg.solve(inside, across), axis=0)
    delta = np.sqrt(distances.max())  # no row was moved further
    rival = KernelPerceptron(gamma=1.0, fit_intercept=False, random_state=0).fit(X, y)
    f = rival.decision_function(X)
    gram = pairwise_kernels(rival.support_vectors_, metric="rbf", gamma=1.0)
    norm = np.sqrt(rival.dual_coef_[0] @ gram @ rival.dual_coef_[0])
    M = model.n_mistakes_
    for scale in (0.1, 0.5, 1.0):
        hinge = np.maximum(0, 1 - signs * f * scale).sum()
        assert M * (1 - delta * norm * scale) <= hinge + norm * scale * np.sqrt(M)


def test_a_budget_does_not_hide_kernel_values_beyond_float64():
    model = KernelPerceptron("linear", budget=2)
    with pytest.raises(ValueError, match="beyond what float64 can hold"):
        model.fit((XOR[0] + 1) * 1e200, XOR[1])


def test_votes_after_a_fit_with_a_budget_are_refused():
    model = KernelPerceptron(budget=2, random_state=0).fit(*XOR)
    with pytest.raises(ValueError, match="fitted with a budget"):
        model.set_params(budget=None, solution="vote").predict(XOR[0])
