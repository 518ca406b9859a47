"""Without a budget: the same updates as one row at a time, whatever the blocks."""

from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from sklearn.datasets import load_iris, make_circles
from sklearn.metrics.pairwise import pairwise_kernels

from rosenblatt import KernelPerceptron, Perceptron, max_margin
from rosenblatt.dual.gram import Gram
from rosenblatt.dual.task import DualTask

from ..conftest import FORMS, LAYOUTS, blobs, examples
from .twins import ORDERS, TWINS, by_row, compute_scores, pair


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("order", ORDERS)
@settings(max_examples=15)
@given(choices=st.data())
def test_makes_the_updates_of_its_naive_twin(order, form, choices):
    X, y = choices.draw(examples(form))
    kernel = choices.draw(st.sampled_from(["linear", "poly"]))
    ties = ["mistake", "correct"] + ([] if form == "argmax" else ["positive", "negative"])
    parameters = {
        "order": order,
        "margin": choices.draw(st.sampled_from([0, 2])),
        "ties": choices.draw(st.sampled_from(ties)),
        "intercept_step": choices.draw(st.sampled_from([0, 1, 2, "radius"])),
        "multi_class": "argmax" if form == "argmax" else "ovr",
        "random_state": choices.draw(st.integers(0, 3)),
    }
    layout = LAYOUTS[choices.draw(st.sampled_from(list(LAYOUTS)))]
    dtype = choices.draw(st.sampled_from([np.float32, np.float64]))
    model, twin = pair(kernel, **parameters)
    with mock.patch.object(DualTask, "most_rows", choices.draw(st.sampled_from([2, 4, 1024]))):
        model.fit(layout(X.astype(dtype)), y)
    twin.fit(X, y)
    assert model.history_ == twin.history_
    assert (model.n_mistakes_, model.stop_reason_) == (twin.n_mistakes_, twin.stop_reason_)
    assert list(model.support_) == list(dict.fromkeys(twin.sequence))
    np.testing.assert_array_equal(by_row(model, len(X)), twin.coef)
    np.testing.assert_array_equal(model.intercept_, twin.bias)
    new = layout(np.vstack([X, -2 * X]).astype(dtype))
    dense = np.vstack([X, -2 * X])
    for solution in ("last", "average"):
        found = compute_scores(model, new, solution=solution)
        np.testing.assert_allclose(found, twin.scores(dense, solution), atol=1e-9)
    found = compute_scores(model, new, solution="vote")
    np.testing.assert_allclose(found, twin.votes(dense), atol=1e-12)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kernel", TWINS)
def test_makes_the_updates_of_its_naive_twin_on_real_numbers(kernel, form, monkeypatch):
    monkeypatch.setattr(DualTask, "most_rows", 14)
    X, y = blobs(60, 3, classes=2 if form == "two" else 4)
    model, twin = pair(kernel, multi_class="argmax" if form == "argmax" else "ovr", max_iter=20)
    model.fit(X, y)
    twin.fit(X, y)
    assert list(model.support_) == list(dict.fromkeys(twin.sequence))
    assert [epoch[:4] for epoch in model.history_] == [epoch[:4] for epoch in twin.history_]
    np.testing.assert_allclose(by_row(model, len(X)), twin.coef)


@pytest.mark.parametrize("solution", ["last", "average"])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("order", ORDERS)
@settings(max_examples=10)
@given(choices=st.data())
def test_with_the_linear_kernel_it_is_the_perceptron(order, form, solution, choices):
    X, y = choices.draw(examples(form))
    multi_class = "argmax" if form == "argmax" else "ovr"
    shared = {"order": order, "solution": solution, "multi_class": multi_class}
    shared |= {"random_state": choices.draw(st.integers(0, 3)), "max_iter": 6}
    dual = KernelPerceptron("linear", **shared).fit(X, y)
    primal = Perceptron(**shared).fit(X, y)
    assert dual.history_ == primal.history_
    assert dual.n_mistakes_ == primal.n_mistakes_
    np.testing.assert_allclose(dual.decision_function(X), primal.decision_function(X), atol=1e-12)
    dual.set_params(solution="last")
    primal = Perceptron(**{**shared, "solution": "last"}).fit(X, y)
    np.testing.assert_array_equal(dual.dual_coef_ @ dual.support_vectors_, primal.coef_)
    np.testing.assert_array_equal(dual.intercept_, primal.intercept_)


def test_blocks_compute_few_kernel_values_more_than_mistakes_times_rows(monkeypatch):
    X, y = blobs(3000, 5, seed=1)
    X = np.round(3 * X)
    computed = 0

    def count(gram, values):
        nonlocal computed
        computed += values.size
        return values

    shared = {"max_iter": 20, "random_state": 0}
    plain = KernelPerceptron("linear", gamma=1, **shared).fit(X, y)
    monkeypatch.setattr(Gram, "apply_kernel", count)
    monkeypatch.setattr(DualTask, "most_rows", 57)
    model = KernelPerceptron("linear", gamma=1, **shared).fit(X, y)
    np.testing.assert_array_equal(model.dual_coef_, plain.dual_coef_)
    assert computed < 1.2 * model.n_mistakes_ * len(X)
    assert computed < 0.5 * model.n_iter_ * len(model.support_) * len(X)


# Document 002


def document_002(X, y):
    """The dual form as the document writes it: α, b and the Gram matrix."""
    gram, R2 = X @ X.T, max(x @ x for x in X)
    alpha, b, sequence = np.zeros(len(X)), 0.0, []
    while True:
        mistakes = 0
        for i in range(len(X)):
            if y[i] * (np.sum(alpha * y * gram[:, i]) + b) <= 0:
                alpha[i] += 1
                b += y[i] * R2
                mistakes += 1
                sequence.append(i)
        if not mistakes:
            return alpha, b, sequence


def test_document_002_dual_form_with_the_gram_matrix():
    X, y = load_iris(return_X_y=True)
    X, y = np.round(10 * X[:100]), np.where(y[:100] == 1, 1, -1)
    alpha, b, sequence = document_002(X, y)
    model = KernelPerceptron("linear", order="fixed", intercept_step="radius").fit(X, y)
    np.testing.assert_array_equal(by_row(model, 100)[0], alpha * y)
    assert model.intercept_ == [b]
    assert model.n_mistakes_ == np.abs(model.dual_coef_).sum() == len(sequence)
    assert set(model.support_) == set(np.flatnonzero(alpha > 0)) == set(sequence)
    R = np.sqrt(max(x @ x for x in X))
    assert model.n_mistakes_ <= (2 * R / max_margin(X, y).attained) ** 2


@pytest.mark.parametrize("seed", range(5))
def test_mistakes_stay_within_the_bound_of_novikoff_in_feature_space(seed):
    X, y = make_circles(150, factor=0.5, noise=0.05, random_state=seed)
    model = KernelPerceptron(gamma=2.0, fit_intercept=False, random_state=seed).fit(X, y)
    assert model.stop_reason_ == "separated"
    gram = pairwise_kernels(model.support_vectors_, metric="rbf", gamma=2.0)
    norm = np.sqrt(model.dual_coef_[0] @ gram @ model.dual_coef_[0])
    margin = (np.where(y == 1, 1, -1) * model.decision_function(X)).min() / norm
    assert margin * model.n_mistakes_ <= norm * (1 + 1e-9)
    assert norm <= np.sqrt(model.n_mistakes_) * (1 + 1e-9)
    assert model.n_mistakes_ <= 1 / margin**2
