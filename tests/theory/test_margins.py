"""Radius and margins are those of their definitions."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import arrays

from rosenblatt import (
    KernelPerceptron,
    Perceptron,
    load,
    losses,
    margin,
    margins,
    max_margin,
    normalize_weights,
    radius,
    save,
    separability,
    train,
)

from ..conftest import csr, examples
from .conftest import ODD, XOR, separated, signs_of

X, Y = separated(60, 4, bias=0.5)


@given(examples(), arrays(float, 4, elements=st.integers(-3, 3)), st.integers(-3, 3))
def test_quantities_are_those_of_their_definitions(data, w, b):
    X, y = data
    w = w[: X.shape[1]]
    functional = [
        s * (sum(p * q for p, q in zip(w, x, strict=True)) + b)
        for s, x in zip(signs_of(y), X, strict=True)
    ]
    for rows in (X, csr(X), X.tolist()):
        assert radius(rows) == pytest.approx(max(np.sqrt(sum(v * v for v in x)) for x in X))
        assert margins(rows, y, w, b).tolist() == functional
        assert losses(rows, y, w, b).training_error == np.mean([value <= 0 for value in functional])
        if min(functional) <= 0:
            assert margin(rows, y, w, b) == -np.inf
        else:
            assert margin(rows, y, w, b) == pytest.approx(min(functional) / np.sqrt(sum(w * w)))


@pytest.mark.parametrize("size", [5e-324, 1e-310, 1e-200, 1.0, 1e200, 1e307])
def test_a_radius_neither_overflows_nor_vanishes(size):
    assert radius([[3 * size, 4 * size]]) == pytest.approx(5 * size, rel=1e-9, abs=0)
    assert radius([[1.7e308], [size]]) == 1.7e308


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("d", [1, 2, 5])
@pytest.mark.parametrize("tolerance", [1e-1, 1e-3, 1e-6])
def test_the_bracket_is_as_narrow_as_asked(fit_intercept, d, tolerance):
    for seed in range(5):
        X, y = separated(20, d, bias=0.3 if fit_intercept else 0.0, seed=seed)
        found = max_margin(X, y, tolerance=tolerance, fit_intercept=fit_intercept)
        assert found.attained >= (1 - tolerance) * found.upper * (1 - 1e-9)
        assert found.attained == pytest.approx(margin(X, y, found.weights, found.bias), rel=1e-14)
        assert found.verify(X, y)


@given(st.lists(st.integers(1, 50), min_size=1), st.lists(st.integers(-50, 0), min_size=1))
def test_on_a_line_the_margin_is_half_the_gap(high, low):
    X = np.array([*high, *low], float)[:, None]
    y = np.repeat([1, 0], [len(high), len(low)])
    found = max_margin(X, y)
    assert found.attained == pytest.approx((min(high) - max(low)) / 2)
    assert found.upper == pytest.approx(found.attained)
    assert found.verify(X, y)


@pytest.mark.parametrize(
    ("X", "y", "fit_intercept", "truth"),
    [
        ([[0, 0], [0, 2], [4, 1]], [0, 0, 1], True, 2),
        ([[0, 0], [3, 4]], [0, 1], True, 2.5),
        ([[0, 0], [1, 1], [1, 0]], [0, 0, 1], True, np.sqrt(2) / 4),
        ([[3, 4]], [1], False, 5),
        ([[0, 2], [2, 0]], [1, 1], False, np.sqrt(2)),
        ([[1, 2], [1, -2], [-3, 0]], [1, 1, 0], False, 1),
        ([[1, 0, 0], [0, 1, 0], [0, 0, 1]], [1, 1, 1], False, 1 / np.sqrt(3)),
    ],
)
def test_margins_known_in_closed_form(X, y, fit_intercept, truth):
    found = max_margin(X, y, tolerance=1e-9, fit_intercept=fit_intercept)
    assert found.attained == pytest.approx(truth)
    assert found.upper == pytest.approx(truth)
    assert found.verify(X, y)


@pytest.mark.parametrize("size", [1e-250, 1e-150, 1e-50, 1e-20, 1e-5, 1.0, 1e5, 1e50, 1e150, 1e250])
def test_the_margin_grows_with_the_rows(size):
    X, y = separated(30, 3, bias=0.5)
    for fit_intercept in (True, False):
        rows = X if fit_intercept else separated(30, 3)[0]
        one = max_margin(rows, y, tolerance=1e-6, fit_intercept=fit_intercept)
        found = max_margin(rows * size, y, tolerance=1e-6, fit_intercept=fit_intercept)
        assert found.attained == pytest.approx(one.attained * size, rel=1e-5)
        assert found.upper == pytest.approx(one.upper * size, rel=1e-5)
        assert found.verify(rows * size, y)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_sparse_rows_have_the_same_margin(fit_intercept):
    X, y = separated(50, 4)
    X[np.abs(X) < 0.2] = 0.0
    y = signs_of(X @ [1.0, -2.0, 0.5, 0.1] > 0.05)
    dense = max_margin(X, y, fit_intercept=fit_intercept)
    sparse = max_margin(csr(X), y, fit_intercept=fit_intercept)
    assert sparse.attained == pytest.approx(dense.attained, rel=2e-3)
    assert sparse.upper == pytest.approx(dense.upper, rel=2e-3)
    assert sparse.verify(X, y)
    assert dense.verify(csr(X), y)


def test_without_a_separator_no_margin_is_attained():
    found = max_margin(XOR, ODD)
    assert found.attained == -np.inf
    assert found.upper == pytest.approx(0, abs=1e-12)
    assert found.verify(XOR, ODD)


def test_a_wrong_bracket_is_rejected():
    X, y = separated(30, 3)
    found = max_margin(X, y)
    assert found.verify(X, y)
    for wrong in (
        replace(found, attained=found.upper * 1.1),
        replace(found, upper=found.upper * 0.9),
        replace(found, weights=-found.weights),
        replace(found, shares=found.shares * 0.5),
        replace(found, shares=-found.shares),
        replace(found, support=np.roll(found.support, 1)),
    ):
        assert not wrong.verify(X, y)


def test_the_bracket_holds_where_floats_lose_the_margin():
    X, y = [[2, 4.1], [-2, -3.9], [1, 2.1]], [1, 1, 0]
    found, truth = max_margin(X, y), 7.45e-17  # in exact arithmetic
    assert found.upper >= truth
    assert separability(X, y).margin <= truth
    assert found.verify(X, y)
    assert not replace(found, upper=np.nextafter(found.upper, 0)).verify(X, y)


def test_what_the_largest_margin_refuses():
    with pytest.raises(ValueError, match="same label"):
        max_margin([[1.0], [2.0]], [1, 1])
    for tolerance in (0, 1, -0.1, np.nan):
        with pytest.raises(ValueError, match="tolerance"):
            max_margin(XOR, ODD, tolerance=tolerance)


@pytest.mark.parametrize("labels", [Y, np.arange(len(Y)) % 3])
@pytest.mark.parametrize("multi_class", ["argmax", "ovr"])
def test_normalized_weights_give_signed_distances(labels, multi_class):
    model = Perceptron(multi_class=multi_class, random_state=0, max_iter=5).fit(X, labels)
    weights, bias = normalize_weights(model)
    np.testing.assert_allclose(np.linalg.norm(weights, axis=1), 1)
    scores = X @ weights.T + bias
    lengths = np.linalg.norm(model.coef_, axis=1)
    np.testing.assert_allclose(scores, (X @ model.coef_.T + model.intercept_) / lengths)
    feet = X - scores[:, :1] * weights[0]  # the nearest points of the first hyperplane
    np.testing.assert_allclose(feet @ weights[0] + bias[0], 0, atol=1e-9)


def test_weights_of_loaded_models_and_pipelines_are_normalized(tmp_path):
    rows = [{"a": 1.0, "b": 2.0, "y": "n"}, {"a": 3.0, "b": -1.0, "y": "p"}]
    model = train(rows, label="y")
    save(model, tmp_path / "model")
    for each in (model, load(tmp_path / "model"), model[-1]):
        weights, bias = normalize_weights(each)
        assert np.linalg.norm(weights) == pytest.approx(1)
        np.testing.assert_allclose(bias, model[-1].intercept_ / np.linalg.norm(model[-1].coef_))


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        (KernelPerceptron(), "got KernelPerceptron"),
        (Perceptron(ties="correct"), "All weights of a class are zero"),
    ],
)
def test_models_without_a_hyperplane_have_no_normalized_weights(model, sentence):
    with pytest.raises(ValueError, match=sentence):
        normalize_weights(model.fit(X, Y))
