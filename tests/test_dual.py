"""The dual form: the same updates as one row at a time, whatever the blocks, batches and budget."""

import json
import os
import pickle
import subprocess
import sys
from functools import partial

import numpy as np
import pandas
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors import safe_open
from safetensors.numpy import save_file
from scipy.sparse import csr_array
from sklearn.datasets import load_iris, make_circles, make_moons
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import parametrize_with_checks

from rosenblatt import KernelPerceptron, Perceptron, load, max_margin, steps
from rosenblatt.dual.gram import Gram

from . import reference
from .conftest import FORMS, LAYOUTS, blobs, csr, examples, form_parameters

ORDERS = ["each", "once", "fixed"]
POLICIES = ["projectron", "forgetron", "random", "stop"]
XOR = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]]), np.array([0, 1, 1, 0])


def square(A, B):
    """A polynomial kernel whose values on small integers are exact."""
    return (A @ B.T + 1) ** 2


def gaussian(A, B):
    return np.exp(-0.5 * ((A[:, None] - B) ** 2).sum(axis=2))


TWINS = {
    "linear": (lambda A, B: A @ B.T, {"kernel": "linear"}),
    "poly": (square, {"kernel": "poly", "degree": 2, "gamma": 1}),
    "rbf": (gaussian, {"kernel": "rbf", "gamma": 0.5}),
}


def pair(kernel, **parameters):
    """A model and its twin."""
    function, named = TWINS[kernel]
    parameters = {"random_state": 0, "max_iter": 5, **parameters}
    return KernelPerceptron(**named, **parameters), reference.KernelPerceptron(
        function, **parameters
    )


def by_row(model, rows):
    """The coefficients of all rows: zero for those never mistaken."""
    coef = np.zeros((len(model.dual_coef_), rows))
    coef[:, model.support_] = model.dual_coef_
    return coef


def scores_of(model, X, **parameters):
    scores = model.set_params(**parameters).decision_function(X)
    return np.atleast_2d(scores.T)


# scikit-learn

WEIGHTS = "a row of weight 2 moves the weights once by 2, a row that comes twice moves them twice"


@parametrize_with_checks(
    [
        KernelPerceptron(),
        KernelPerceptron(solution="vote", multi_class="argmax"),
        KernelPerceptron(solution="average", normalize=True, max_iter=20),
        KernelPerceptron(budget=20),
    ],
    expected_failed_checks=lambda _: {
        "check_sample_weight_equivalence_on_dense_data": WEIGHTS,
        "check_sample_weight_equivalence_on_sparse_data": WEIGHTS,
    },
)
def test_keeps_the_contract_of_scikit_learn(estimator, check):
    check(estimator)


def test_a_precomputed_gram_matrix_is_cut_by_rows_and_columns_in_a_search():
    X, y = blobs(classes=3)
    gram = pairwise_kernels(X, metric="rbf", gamma=0.2)
    grid = {"multi_class": ["ovr", "argmax"]}
    here = GridSearchCV(KernelPerceptron("precomputed", random_state=0), grid, cv=3).fit(gram, y)
    there = GridSearchCV(KernelPerceptron(gamma=0.2, random_state=0), grid, cv=3).fit(X, y)
    np.testing.assert_array_equal(
        here.cv_results_["mean_test_score"], there.cv_results_["mean_test_score"]
    )


# The same updates as one row at a time


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
    megabytes = choices.draw(st.sampled_from([1e-4, 3e-4, 200]))
    model, twin = pair(kernel, **parameters)
    model.set_params(cache_size=megabytes).fit(layout(X.astype(dtype)), y)
    twin.fit(X, y)
    assert model.history_ == twin.history_
    assert (model.n_mistakes_, model.stop_reason_) == (twin.n_mistakes_, twin.stop_reason_)
    assert list(model.support_) == list(dict.fromkeys(twin.sequence))
    np.testing.assert_array_equal(by_row(model, len(X)), twin.coef)
    np.testing.assert_array_equal(model.intercept_, twin.bias)
    new = layout(np.vstack([X, -2 * X]).astype(dtype))
    dense = np.vstack([X, -2 * X])
    for solution in ("last", "average"):
        for normalize in (False, True):
            np.testing.assert_allclose(
                scores_of(model, new, solution=solution, normalize=normalize),
                twin.scores(dense, solution, normalize),
                atol=1e-9,
            )
    found = scores_of(model, new, solution="vote", normalize=False)
    np.testing.assert_allclose(found, twin.votes(dense), atol=1e-12)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kernel", TWINS)
def test_makes_the_updates_of_its_naive_twin_on_real_numbers(kernel, form):
    X, y = blobs(60, 3, classes=2 if form == "two" else 4)
    model, twin = pair(kernel, multi_class="argmax" if form == "argmax" else "ovr", max_iter=20)
    model.set_params(cache_size=0.003).fit(X, y)
    twin.fit(X, y)
    assert list(model.support_) == list(dict.fromkeys(twin.sequence))
    assert [epoch[:4] for epoch in model.history_] == [epoch[:4] for epoch in twin.history_]
    np.testing.assert_allclose(by_row(model, len(X)), twin.coef)


@pytest.mark.parametrize("solution", ["last", "average", "vote"])
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


@pytest.mark.parametrize("form", ["two", "argmax"])
def test_with_the_linear_kernel_it_makes_the_same_mistakes_in_the_same_order(form):
    X, y = blobs(200, 4, classes=2 if form == "two" else 4)
    X = np.round(4 * X)
    shared = {"random_state": 1, "max_iter": 8, "multi_class": "argmax"}
    dual = KernelPerceptron("linear", cache_size=0.02, **shared).fit(X, y)
    rows = dual.support_[dual._state.updates.rows]
    assert [step.row for step in steps(X, y, **shared)] == rows.tolist()


def test_blocks_compute_few_kernel_values_more_than_mistakes_times_rows():
    X, y = blobs(3000, 5, seed=1)
    X = np.round(3 * X)
    computed = 0

    def counting(A, B):
        nonlocal computed
        computed += A.shape[0] * B.shape[0]
        return square(A, B)

    shared = {"max_iter": 20, "random_state": 0}
    model = KernelPerceptron(counting, cache_size=0.05, **shared).fit(X, y)
    plain = KernelPerceptron("poly", degree=2, gamma=1, **shared).fit(X, y)
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
    np.testing.assert_allclose(np.sqrt(model._state.norms[-1]), norm)


# What kernels are for


@pytest.mark.parametrize("multi_class", ["ovr", "argmax"])
@pytest.mark.parametrize("kernel", ["rbf", "poly"])
def test_separates_xor(kernel, multi_class):
    model = KernelPerceptron(kernel, gamma=1, multi_class=multi_class, random_state=0).fit(*XOR)
    assert model.stop_reason_ == "separated"
    assert model.score(*XOR) == 1


@pytest.mark.parametrize("make", [partial(make_circles, factor=0.5), make_moons])
def test_separates_circles_and_moons_and_predicts_new_ones(make):
    X, y = make(300, noise=0.08, random_state=0)
    new, labels = make(300, noise=0.08, random_state=1)
    model = KernelPerceptron(gamma=3.0, solution="average", random_state=0).fit(X, y)
    assert model.score(new, labels) > 0.97


# Kernels


PARAMETERS = {"gamma": 0.3, "coef0": 0.7, "degree": 3}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "sigmoid"])
def test_kernel_values_are_those_of_scikit_learn(kernel, dtype, layout):
    rng = np.random.default_rng(0)
    A, B = rng.integers(-3, 4, (2, 7, 5)) * (rng.random((2, 7, 5)) < 0.5)
    wanted = pairwise_kernels(A.astype(float), B, metric=kernel, filter_params=True, **PARAMETERS)
    gram, make = Gram(kernel, **PARAMETERS), LAYOUTS[layout]
    found = gram(make(A.astype(dtype)), make(B.astype(dtype)))
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-15)
    own = gram.diagonal(make(A.astype(dtype)), np.arange(7))
    np.testing.assert_allclose(own, gram(make(A), make(A)).diagonal(), rtol=1e-12)


@pytest.mark.parametrize("degree", [1, 2, 3, 4, 5, 6, 7, 2.5])
def test_powers_are_exact(degree):
    values = np.arange(12.0).reshape(1, -1)
    found = Gram("poly", degree, 1.0, 0.0)(np.ones((1, 1)), values.T)
    np.testing.assert_allclose(found, values**degree, rtol=1e-15)


def test_very_sparse_and_mixed_rows_give_the_same_values():
    rng = np.random.default_rng(0)
    A = rng.integers(1, 4, (9, 200)) * (rng.random((9, 200)) < 0.02).astype(float)
    gram = Gram("poly", 2, 1.0, 1.0)
    for left in (A, csr(A)):
        for right in (A, csr(A)):
            np.testing.assert_array_equal(gram(left, right), square(A, A))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_named_precomputed_and_callable_kernels_agree(layout, form):
    X, y = blobs(80, 4, classes=2 if form == "two" else 3)
    X, new = np.round(3 * X), np.round(2 * X)
    shared = {"random_state": 0, "max_iter": 6, "multi_class": form.replace("two", "ovr")}
    make = LAYOUTS[layout]
    named = KernelPerceptron("poly", degree=2, gamma=1, **shared).fit(make(X), y)
    called = KernelPerceptron(
        lambda A, B: square(*(M.toarray() if hasattr(M, "indptr") else M for M in (A, B))), **shared
    ).fit(make(X), y)
    given = KernelPerceptron("precomputed", **shared).fit(make(square(X, X)), y)
    wanted = named.decision_function(make(new))
    np.testing.assert_array_equal(called.decision_function(make(new)), wanted)
    np.testing.assert_array_equal(given.decision_function(make(square(new, X))), wanted)


def test_gamma_is_that_of_svc():
    X, y = blobs()
    for gamma, number in [(None, 1 / 5), ("auto", 1 / 5), ("scale", 1 / (5 * X.var())), (2, 2.0)]:
        for rows in (X, csr(X)):
            model = KernelPerceptron(gamma=gamma, max_iter=1).fit(rows, y)
            assert model._gram.gamma == pytest.approx(number)


def test_raw_pixels_to_the_sixth_power_are_within_range():
    X = np.random.default_rng(0).integers(0, 256, (30, 784)).astype(np.float32)
    model = KernelPerceptron("poly", degree=6, gamma=1, random_state=0).fit(X, np.arange(30) % 2)
    assert model.score(X, np.arange(30) % 2) == 1


# Batches


@pytest.mark.parametrize("budget", [None, 3])
@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=15)
@given(choices=st.data())
def test_however_a_pass_is_cut_the_model_is_the_same(form, budget, choices):
    X, y = choices.draw(examples(form))
    cuts = choices.draw(st.lists(st.integers(1, len(X)), max_size=3))
    policy = choices.draw(st.sampled_from(["forgetron", "random", "stop"]))
    layout = LAYOUTS[choices.draw(st.sampled_from(list(LAYOUTS)))]
    parameters = {"kernel": "poly", "degree": 2, "gamma": 1, "budget": budget, "random_state": 0}
    parameters |= {"budget_policy": policy, "multi_class": form.replace("two", "ovr")}
    whole = KernelPerceptron(**parameters, order="fixed", max_iter=1).fit(layout(X), y)
    cut = KernelPerceptron(**parameters)
    for begin, end in zip([0, *sorted(cuts)], [*sorted(cuts), len(X)], strict=True):
        if begin < end:
            cut.partial_fit(layout(X[begin:end]), y[begin:end], classes=np.unique(y))
    np.testing.assert_array_equal(cut.support_, whole.support_)
    np.testing.assert_allclose(cut.dual_coef_, whole.dual_coef_, rtol=1e-12)
    assert cut.n_mistakes_ == whole.n_mistakes_
    if budget is None:
        for solution in ("average", "vote"):
            for model in (cut, whole):
                model.set_params(solution=solution)
            np.testing.assert_array_equal(cut.decision_function(X), whole.decision_function(X))


def test_batches_may_change_between_dense_and_sparse():
    X, y = blobs()
    models = []
    for layouts in ([np.array, csr], [csr, np.array], [np.array, np.array]):
        model = KernelPerceptron(gamma=0.5)
        for part, layout in zip(np.split(np.arange(60), 2), layouts, strict=True):
            model.partial_fit(layout(X[part]), y[part], classes=[0, 1])
        models.append(model)
    for model in models[:2]:
        np.testing.assert_allclose(model.decision_function(X), models[2].decision_function(X))
        np.testing.assert_allclose(model.decision_function(csr(X)), models[2].decision_function(X))


def test_weights_scale_the_steps_and_rows_without_weight_are_never_seen():
    X, y = blobs(40)
    weights = np.arange(40) % 3.0
    model = KernelPerceptron(random_state=0, max_iter=5).fit(X, y, sample_weight=weights)
    assert not set(model.support_) & set(np.flatnonzero(weights == 0))
    double = KernelPerceptron(random_state=0, max_iter=5).fit(X, y, sample_weight=2 * weights)
    np.testing.assert_allclose(double.dual_coef_, 2 * model.dual_coef_)
    classes = KernelPerceptron(random_state=0, max_iter=5, class_weight={0: 1, 1: 3}).fit(X, y)
    rows = KernelPerceptron(random_state=0, max_iter=5).fit(X, y, np.where(y == 1, 3.0, 1.0))
    np.testing.assert_array_equal(classes.dual_coef_, rows.dual_coef_)


# Budgets


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("seed", range(3))
def test_a_budget_does_what_its_naive_twin_does(policy, form, seed):
    X, y = blobs(40, 3, classes=2 if form == "two" else 3, seed=seed)
    multi_class = form.replace("two", "ovr")
    chosen = {"budget": 6, "budget_policy": policy, "multi_class": multi_class, "max_iter": 3}
    model, twin = pair("rbf", random_state=seed, **chosen)
    model.set_params(cache_size=0.0005).fit(X, y)
    twin.fit(X, y)
    assert model.support_.tolist() == twin.places
    assert [epoch[:4] for epoch in model.history_] == [epoch[:4] for epoch in twin.history_]
    assert model.stop_reason_ == twin.stop_reason_
    np.testing.assert_allclose(by_row(model, 40), twin.coef, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(model.intercept_, twin.bias, rtol=1e-6, atol=1e-9)
    if policy in ("projectron", "stop"):
        found = scores_of(model, X, solution="average")
        np.testing.assert_allclose(found, twin.scores(X, "average"), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("layout", ["dense", "int32"])
def test_an_endless_stream_never_exceeds_the_budget(policy, layout):
    rng = np.random.default_rng(0)
    model = KernelPerceptron(gamma=1.0, budget=10, budget_policy=policy, random_state=0)
    for _ in range(20):
        X = rng.normal(size=(50, 2))
        y = (X[:, 0] * X[:, 1] > 0) ^ (rng.random(50) < 0.1)
        model.partial_fit(LAYOUTS[layout](X), y, classes=[False, True])
        assert len(model.support_) == model.support_vectors_.shape[0] <= 10
        arrays = [value for value in vars(model._state).values() if isinstance(value, np.ndarray)]
        assert max(array.size for array in arrays) <= 100
        assert len(model._state.updates.rows) == 0
    assert len(model.support_) == 10
    assert model.support_.max() < 1000


@pytest.mark.parametrize("policy", POLICIES)
def test_a_budget_that_is_never_reached_changes_nothing(policy):
    X, y = blobs(50, 4, classes=3)
    free = KernelPerceptron(random_state=0, max_iter=10).fit(X, y)
    bound = KernelPerceptron(random_state=0, max_iter=10, budget=50, budget_policy=policy)
    bound.fit(X, y)
    assert bound.history_[-1][:4] == free.history_[-1][:4]
    np.testing.assert_array_equal(bound.support_, free.support_)
    np.testing.assert_allclose(bound.dual_coef_, free.dual_coef_)


def test_a_full_support_that_may_not_change_is_never_called_separated():
    X, y = np.array([[1.0], [1.0], [-1.0]]), np.array([1, 0, 0])
    model = KernelPerceptron("linear", budget=1, budget_policy="stop", order="fixed").fit(X, y)
    assert (model.stop_reason_, model.n_mistakes_) == ("budget", 1)
    assert model.history_[-1].errors > 0


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


# Files


def saved_and_loaded(model, path):
    model.save(path)
    return load(path)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("budget_policy", [None, *POLICIES])
def test_a_model_that_was_away_predicts_and_learns_on(budget_policy, form, layout, tmp_path):
    X, y = blobs(60, 4, classes=2 if form == "two" else 3)
    X, chosen = LAYOUTS[layout](X.astype(np.float32)), form_parameters(form)
    if budget_policy is not None:
        chosen |= {"budget": 8, "budget_policy": budget_policy}
    here = KernelPerceptron("poly", random_state=0, **chosen)
    here.partial_fit(X[:30], y[:30], classes=np.unique(y))
    there = saved_and_loaded(here, tmp_path / "model")
    assert there.get_params() == here.get_params()
    assert there.history_ == here.history_
    for model in (here, there):
        model.partial_fit(X[30:], y[30:])
    assert here.n_mistakes_ == there.n_mistakes_
    np.testing.assert_array_equal(here.support_, there.support_)
    for solution in ["last"] if budget_policy else ["last", "average", "vote"]:
        for model in (here, there):
            model.set_params(solution=solution)
        np.testing.assert_array_equal(here.decision_function(X), there.decision_function(X))


def test_a_precomputed_model_and_names_come_back(tmp_path):
    X, y = blobs()
    gram = X @ X.T
    model = KernelPerceptron("precomputed", random_state=0, max_iter=3).fit(gram, y)
    back = saved_and_loaded(model, tmp_path / "model")
    np.testing.assert_array_equal(back.predict(gram), model.predict(gram))
    named = pandas.DataFrame(X, columns=list("abcde"))
    model = KernelPerceptron(gamma="scale", random_state=0).fit(named, y)
    back = saved_and_loaded(model, tmp_path / "model")
    assert back.feature_names_in_.tolist() == list("abcde")
    np.testing.assert_array_equal(back.predict(named), model.predict(named))


def test_a_kernel_function_is_not_saved(tmp_path):
    model = KernelPerceptron(square).fit(*XOR)
    with pytest.raises(ValueError, match="kernel function cannot be saved"):
        model.save(tmp_path / "model")
    assert not list(tmp_path.iterdir())


def test_the_commands_say_that_they_work_with_linear_models(tmp_path):
    from typer.testing import CliRunner

    from rosenblatt.cli import app

    KernelPerceptron().fit(*XOR).save(tmp_path / "model")
    result = CliRunner().invoke(app, ["inspect", str(tmp_path / "model")])
    assert "is a KernelPerceptron" in result.output + str(result.exception)


def forge(path, model, change):
    """Save a model, change what the file says, and give it a right checksum."""
    model.save(path)
    with safe_open(path, "np") as file:
        header = json.loads(file.metadata()["rosenblatt"])
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    header["checksum"] = ""
    change(header, tensors)
    text = json.dumps(header)
    text = text.replace('""', f'"{storage.checksum(text, tensors)}"', 1)
    save_file(tensors, path, {"rosenblatt": text})


def put(place, value):
    """A change of one tensor, or of the header along a path."""

    def change(header, tensors):
        if isinstance(place, str):
            tensors[place] = value
            return
        for key in place[:-1]:
            header = header[key]
        header[place[-1]] = value

    return change


FORGERIES = {
    "linear in a dual file": put(["format"], 1),
    "width none": put(["facts", "width"], None),
    "width huge": put(["facts", "width"], 2**70),
    "width another": put(["facts", "width"], 3),
    "gamma no number": put(["facts", "gamma"], "wide"),
    "gamma infinite": put(["facts", "gamma"], float("inf")),
    "form another": put(["facts", "together"], True),
    "kernel unknown": put(["parameters", "kernel"], "magic"),
    "kernel precomputed": put(["parameters", "kernel"], "precomputed"),
    "budget too small": put(["parameters", "budget"], 1),
    "parameter unknown": put(["parameters", "eta"], 1),
    "mistakes another": put(["solutions", 0, "mistakes"], 10**6),
    "given too few": put(["solutions", 0, "given"], 0),
    "given no integer": put(["solutions", 0, "given"], 4.0),
    "forgotten no number": put(["solutions", 0, "forgotten"], float("nan")),
    "two solutions": put(["solutions"], [{}, {}]),
    "numbers negative": put("0.numbers", np.array([-1, 0, 1, 2])),
    "numbers too few": put("0.numbers", np.array([0])),
    "numbers of fractions": put("0.numbers", np.zeros(4)),
    "coef NaN": put("0.coef", np.full((1, 4), np.nan)),
    "coef too long": put("0.coef", np.zeros((1, 9))),
    "coef of two": put("0.coef", np.zeros((2, 4))),
    "coef single": put("0.coef", np.zeros((1, 4), np.float32)),
    "bias long": put("0.bias", np.zeros(2)),
    "missing short": put("0.missing", np.zeros((1, 1))),
    "seen negative": put("0.seen", np.array([-1])),
    "seen too little": put("0.seen", np.array([0])),
    "ages too many": put("0.ages", np.zeros(7, np.int64)),
    "matrix of another size": put("0.matrix", np.zeros((2, 2))),
    "norms too few": put("0.norms", np.zeros(1)),
    "norms NaN": put("0.norms", np.full(21, np.nan)),
    "updates outside": put("0.updates.rows", np.full(21, 4)),
    "updates of no class": put("0.updates.labels", np.full(21, 1)),
    "updates too few": put("0.updates.rows", np.zeros(2, np.int64)),
    "updates nested": put("0.updates.rows", np.zeros((21, 1), np.int64)),
    "updates back in time": put("0.updates.times", np.arange(21)[::-1].copy()),
    "updates infinite": put("0.updates.steps", np.full(21, np.inf)),
    "support too wide": put("0.support", np.zeros((4, 3))),
    "support too long": put("0.support", np.zeros((5, 2))),
    "support NaN": put("0.support", np.full((4, 2), np.nan)),
    "support whole": put("0.support", np.zeros((4, 2), np.int64)),
    "support of columns": put("0.support", np.zeros(4, np.int64)),
    "support cubic": put("0.support", np.zeros((4, 2, 1))),
    "tensor too many": put("1.coef", np.zeros(3)),
    "tensor missing": lambda header, tensors: tensors.pop("0.seen"),
}


@pytest.mark.parametrize("what", FORGERIES)
def test_a_forged_file_with_a_right_checksum_is_refused(what, tmp_path):
    model = KernelPerceptron("poly", degree=2, gamma=1, random_state=0).fit(*XOR)
    assert (len(model.support_), model.n_mistakes_) == (4, 21)
    forge(tmp_path / "same", model, lambda header, tensors: None)
    np.testing.assert_array_equal(load(tmp_path / "same").predict(XOR[0]), XOR[1])
    forge(tmp_path / "other", model, FORGERIES[what])
    with pytest.raises(ValueError, match=r"not an intact model|no Perceptron of this") as caught:
        load(tmp_path / "other")
    assert str(caught.value).endswith(".")


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("indices", np.full(4, 2, np.int32)),
        ("indices", np.full(4, -1, np.int32)),
        ("indptr", np.array([0, 9**9, 1, 1, 1], np.int32)),
        ("data", np.full(4, np.inf)),
    ],
)
def test_forged_sparse_support_is_refused(part, value, tmp_path):
    rows = csr_array(XOR[0])
    rows.data, rows.indices = rows.data[:4], rows.indices[:4]
    model = KernelPerceptron("poly", degree=2, gamma=1, random_state=0).fit(rows, XOR[1])
    forge(tmp_path / "model", model, put(f"0.support.{part}", value))
    with pytest.raises(ValueError, match="not an intact model"):
        load(tmp_path / "model")


def test_a_pickled_model_goes_on_as_if_it_never_left():
    X, y = blobs()
    here = KernelPerceptron().partial_fit(X[:30], y[:30], classes=[0, 1])
    there = pickle.loads(pickle.dumps(here))
    for model in (here, there):
        model.partial_fit(X[30:], y[30:])
    np.testing.assert_array_equal(here.decision_function(X), there.decision_function(X))


def test_a_second_process_compiles_nothing(tmp_path):
    script = """
import numpy as np
from rosenblatt import KernelPerceptron
from rosenblatt.kernels import algebra, dual, linear
X, y = np.array([[1.0, 2.0], [2.0, 1.0], [1.0, 1.0]]), np.array([0, 1, 2])
for multi_class in ("ovr", "argmax"):
    KernelPerceptron(multi_class=multi_class, solution="vote").fit(X, y).predict(X)
    KernelPerceptron(multi_class=multi_class, budget=2).fit(X, y).predict(X)
kernels = (vars(algebra) | vars(linear) | vars(dual)).values()
stats = [kernel.stats for kernel in kernels if hasattr(kernel, "stats")]
print(sum(sum(kernel.cache_misses.values()) for kernel in stats))
"""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", script]
    first, second = (
        int(subprocess.run(command, env=environment, capture_output=True, check=True).stdout)
        for _ in range(2)
    )
    assert first > 0 == second


# What is said


def test_verbose_shows_mistakes_and_support_and_silence_is_the_default(capsys):
    X, y = blobs(classes=3)
    KernelPerceptron(random_state=0).fit(X, y)
    assert capsys.readouterr() == ("", "")
    model = KernelPerceptron(random_state=0, verbose=1).fit(X, y)
    assert f"{model.n_mistakes_} mistakes, {len(model.support_)} support rows" in " ".join(
        capsys.readouterr().out.split()
    )
    KernelPerceptron(random_state=0, verbose=1, budget=5, max_iter=2).fit(X, y)
    assert "5 support rows" in " ".join(capsys.readouterr().out.split())


# What is refused


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"kernel": "cosine"}, "kernel must be one of 'linear', 'poly', 'rbf'"),
        ({"kernel": None}, "kernel must be one of"),
        ({"degree": 0}, "degree must be a number above 0; got 0"),
        ({"gamma": -1}, "gamma must be a number above 0"),
        ({"gamma": "wide"}, "gamma must be a number above 0"),
        ({"coef0": np.nan}, "coef0 must be a finite number"),
        ({"solution": "pocket"}, "solution must be one of 'last', 'average', 'vote'"),
        ({"order": "worst"}, "order must be one of 'each', 'once', 'fixed'"),
        ({"margin": -1}, "margin must be a number from 0 up"),
        ({"max_iter": 0}, "max_iter must be a whole number from 1 up"),
        ({"intercept_step": "wide"}, "intercept_step must be a number from 0 up or"),
        ({"budget": 0}, "budget must be a whole number from 1 up or None"),
        ({"budget": 2.5}, "budget must be a whole number from 1 up or None"),
        ({"budget_policy": "oldest"}, "budget_policy must be one of 'projectron'"),
        ({"cache_size": 0}, "cache_size must be a number of megabytes above 0"),
        ({"solution": "vote", "normalize": True}, "normalize=True changes no vote"),
        ({"solution": "vote", "budget": 2}, "which a budget does not keep"),
        ({"normalize": True, "budget": 2}, "which a budget does not keep"),
        (
            {"solution": "average", "budget": 2, "budget_policy": "random"},
            "The average needs the rows that budget_policy='random' discards",
        ),
    ],
)
def test_unusable_parameters_are_refused(parameters, sentence):
    with pytest.raises(ValueError, match=sentence) as caught:
        KernelPerceptron(**parameters).fit(*XOR)
    assert str(caught.value).endswith(".")


@pytest.mark.parametrize(
    "parameters",
    [
        {"kernel": "precomputed"},
        {"gamma": "scale"},
        {"intercept_step": "radius"},
        {"class_weight": "balanced"},
    ],
)
def test_what_needs_all_the_data_cannot_learn_in_batches(parameters):
    with pytest.raises(ValueError, match="partial_fit sees only a batch"):
        KernelPerceptron(**parameters).partial_fit(*XOR, classes=[0, 1])


@pytest.mark.parametrize(
    "change",
    [{"kernel": "poly"}, {"budget": 2}, {"budget": 9, "budget_policy": "forgetron"}, {"gamma": 3}],
)
def test_a_later_batch_must_be_learnt_in_the_form_of_the_first(change):
    model = KernelPerceptron("linear").partial_fit(*XOR, classes=[0, 1]).set_params(**change)
    with pytest.raises(ValueError, match=r"cannot go on (or be saved )?with"):
        model.partial_fit(*XOR)


@pytest.mark.parametrize("change", [{"kernel": "poly"}, {"budget": 9}, {"max_iter": -1}])
def test_what_would_load_as_another_model_is_not_saved(tmp_path, change):
    model = KernelPerceptron("linear").fit(*XOR).set_params(**change)
    with pytest.raises(ValueError, match=r"(cannot go on or be saved with another|max_iter must)"):
        model.save(tmp_path / "model")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("policy", ["forgetron", "random"])
@pytest.mark.parametrize("change", [{"budget": None}, {"budget_policy": "projectron"}])
def test_a_discarded_row_stays_discarded_whatever_the_parameters_say(policy, change):
    model = KernelPerceptron(budget=2, budget_policy=policy, random_state=0).fit(*XOR)
    model.set_params(**change)
    with pytest.raises(ValueError, match="cannot go on or be saved with another"):
        model.partial_fit(*XOR)
    with pytest.raises(ValueError, match=f"The average needs the rows .*{policy}.* discards"):
        model.set_params(solution="average").predict(XOR[0])


@pytest.mark.parametrize("policy", POLICIES)
def test_a_budget_does_not_hide_kernel_values_beyond_float64(policy):
    model = KernelPerceptron("linear", budget=2, budget_policy=policy)
    with pytest.raises(ValueError, match="beyond what float64 can hold"):
        model.fit((XOR[0] + 1) * 1e200, XOR[1])


@pytest.mark.parametrize(
    ("X", "y", "sentence"),
    [
        ([[0.0], [np.nan]], [0, 1], "Input X contains NaN in row 1, column 0"),
        ([[0.0], [1.0]], [1, 1], "y has only one class"),
        ([[0.0], [1.0]], [0, 1, 1], "X has 2 rows and y 3 labels"),
        ([[1e200], [1.0]], [0, 1], r"scores of row \d are beyond what float64 can hold"),
    ],
)
def test_unusable_data_are_refused(X, y, sentence):
    with pytest.raises(ValueError, match=sentence):
        KernelPerceptron("poly", order="fixed").fit(X, y)
    with pytest.raises(ValueError, match=sentence):
        KernelPerceptron("poly", order="fixed", budget=5).fit(X, y)


def test_a_gram_matrix_that_is_not_square_is_refused():
    with pytest.raises(ValueError, match="as many columns as rows"):
        KernelPerceptron("precomputed").fit(*XOR)


def test_a_kernel_function_of_another_shape_is_refused():
    with pytest.raises(ValueError, match=r"returned an array of shape \(2,\)"):
        KernelPerceptron(lambda A, B: np.zeros(2)).fit(*XOR)


def test_scores_beyond_range_are_refused_when_predicting():
    model = KernelPerceptron("poly", degree=6, gamma=1).fit(*XOR)
    with pytest.raises(ValueError, match="scores of row 1 are beyond"):
        model.predict([[0, 0], [1e100, 0]])


def test_votes_after_a_fit_with_a_budget_are_refused():
    model = KernelPerceptron(budget=2, random_state=0).fit(*XOR)
    with pytest.raises(ValueError, match="fitted with a budget"):
        model.set_params(budget=None, solution="vote").predict(XOR[0])


def test_a_failed_batch_leaves_the_model_as_it_was():
    X, y = blobs()
    model = KernelPerceptron("poly").partial_fit(X, y, classes=[0, 1])
    before = model.decision_function(X)
    with pytest.raises(ValueError, match="beyond what float64 can hold"):
        model.partial_fit(np.full((2, 5), 1e120), [0, 1])
    np.testing.assert_array_equal(model.decision_function(X), before)
