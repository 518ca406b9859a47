"""Kernel values: those of scikit-learn, in every layout, exact where numbers are whole."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

from rosenblatt import KernelPerceptron
from rosenblatt.dual.gram import Gram

from ..conftest import FORMS, LAYOUTS, blobs, csr
from .twins import XOR, square

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
def test_named_and_precomputed_kernels_agree(layout, form):
    X, y = blobs(80, 4, classes=2 if form == "two" else 3)
    X, new = np.round(3 * X), np.round(2 * X)
    shared = {"random_state": 0, "max_iter": 6, "multi_class": form.replace("two", "ovr")}
    make = LAYOUTS[layout]
    named = KernelPerceptron("poly", degree=2, gamma=1, **shared).fit(make(X), y)
    given = KernelPerceptron("precomputed", **shared).fit(make(square(X, X)), y)
    found = given.decision_function(make(square(new, X)))
    np.testing.assert_array_equal(found, named.decision_function(make(new)))


def test_gamma_is_that_of_svc():
    X, y = blobs()
    for gamma, number in [(None, 1 / 5), ("auto", 1 / 5), ("scale", 1 / (5 * X.var())), (2, 2.0)]:
        for rows in (X, csr(X)):
            model = KernelPerceptron(gamma=gamma, max_iter=1).fit(rows, y)
            assert model.gamma_ == pytest.approx(number)
    assert KernelPerceptron().gamma == SVC().gamma


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_scale_of_numbers_far_from_zero_is_their_spread(layout, dtype):
    rng = np.random.default_rng(0)
    X = (1e4 + rng.normal(size=(200, 3))).astype(dtype)
    wanted = 1 / (3 * X.astype(np.float64).var())
    model = KernelPerceptron(gamma="scale", max_iter=1).fit(LAYOUTS[layout](X), np.arange(200) % 2)
    assert model.gamma_ == pytest.approx(wanted, rel=1e-9)
    assert 0.2 < model.gamma_ < 0.5


def test_a_precomputed_gram_matrix_is_cut_by_rows_and_columns_in_a_search():
    X, y = blobs(classes=3)
    gram = pairwise_kernels(X, metric="rbf", gamma=0.2)
    grid = {"multi_class": ["ovr", "argmax"]}
    here = GridSearchCV(KernelPerceptron("precomputed", random_state=0), grid, cv=3).fit(gram, y)
    there = GridSearchCV(KernelPerceptron(gamma=0.2, random_state=0), grid, cv=3).fit(X, y)
    np.testing.assert_array_equal(
        here.cv_results_["mean_test_score"], there.cv_results_["mean_test_score"]
    )


def test_a_gram_matrix_that_is_not_square_is_refused():
    with pytest.raises(ValueError, match="must be square"):
        KernelPerceptron("precomputed").fit(*XOR)
