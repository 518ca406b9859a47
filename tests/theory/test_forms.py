"""The teaching documents' algorithms, exactly: `train_form` against Perceptron, and its own."""

from fractions import Fraction

import numpy as np
import pytest
from sklearn.datasets import load_iris

from rosenblatt import Perceptron, losses, train_form
from rosenblatt.theory.forms import FORMS

X, LABELS = load_iris(return_X_y=True)
X, LABELS = X[:100], np.where(LABELS[:100] == 1, 1, -1)
SEPALS, OF_SEPALS = X[:99, :2], LABELS[:99]


@pytest.mark.parametrize("form", sorted(FORMS.keys() - {"003-offset"}))
@pytest.mark.parametrize("rows", [slice(0, 100), slice(45, 55)])
def test_a_form_is_perceptron_with_its_parameters(form, rows):
    run = train_form(X[rows], LABELS[rows], form, random_state=3, max_iter=50)
    start = np.full(5, float(form == "002-listing"))
    if form == "000":
        start = 0.001 * np.random.default_rng(3).normal(size=5)
    model = Perceptron(**FORMS[form].parameters, max_iter=50, random_state=3)
    offset = {} if form == "003" else {"intercept_init": start[-1]}
    model.fit(X[rows], LABELS[rows], coef_init=start[:-1], **offset)
    assert np.array_equal(model.coef_[0], run.weights)
    assert model.intercept_[0] == pytest.approx(run.bias, rel=1e-12)
    assert (model.n_mistakes_, model.n_iter_) == (len(run.updates), run.epochs)
    assert model.stop_reason_ == run.stop_reason
    ties = FORMS[form].parameters.get("ties", "mistake")
    found = losses(X[rows], LABELS[rows], run.weights, run.bias, ties=ties)
    assert found.errors == run.errors


def document_003_as_printed(X, y, T):
    """The test leaves θ₀ out, and the update moves it."""
    theta, theta_0 = np.zeros(X.shape[1]), 0.0
    for _ in range(T):
        for x_i, y_i in zip(X, y, strict=True):
            if y_i * (theta @ x_i) <= 0:
                theta = theta + y_i * x_i
                theta_0 = theta_0 + y_i
    return theta, theta_0


def test_document_003_offset_as_printed():
    """θ is that of the form through the origin; θ₀ counts labels, and can spoil what θ does."""
    for points, labels in ((X, LABELS), (X[:, :1], LABELS)):
        run = train_form(points, labels, "003-offset", max_iter=9)
        theta, theta_0 = document_003_as_printed(points, labels, 9)
        assert np.array_equal(run.weights, theta)
        assert run.bias == theta_0
        assert np.array_equal(train_form(points, labels, "003", max_iter=9).weights, theta)
    small = np.array([[1.0], [0.1], [-0.1]]), [1, 1, -1]
    printed, right = (train_form(*small, form) for form in ("003-offset", "004"))
    assert (printed.stop_reason, printed.bias) == ("separated", 1.0)
    assert (printed.errors, right.errors) == (1, 0)  # θ·x separates, θ·x + θ₀ does not


def test_exact_arithmetic_shows_what_rounding_does():
    """From zero η only scales the weights, as document 002 says; rounded, it decides ties."""
    counts = {}
    for exact in (False, True):
        for eta in (1, 0.5, 0.7, 0.1, 0.3, 3):
            run = train_form(SEPALS, OF_SEPALS, "004", eta0=eta, exact=exact and eta in (1, 0.1))
            counts.setdefault(exact, []).append((len(run.updates), run.epochs))
    assert counts[False] == [(1562, 721)] * 3 + [(1518, 701)] * 3
    assert counts[True][0] == counts[True][3] == (1518, 701)


def test_exact_numbers_are_those_that_are_written():
    run = train_form([[0.1], [-0.3]], [1, -1], "002", eta0=0.1, exact=True)
    assert run.updates[0].weights.tolist() == [Fraction(1, 100)]
    assert run.updates[0].bias == Fraction(9, 1000)
    listing = train_form(SEPALS, OF_SEPALS, "002-listing", exact=True)
    assert (listing.epochs, len(listing.updates)) == (686, 1498)


@pytest.mark.parametrize("exact", [False, True])
def test_document_004_without_features_moves_the_bias_alone(exact):
    run = train_form(np.zeros((2, 0)), [1, -1], "004", max_iter=500, exact=exact)
    assert [update.bias for update in run.updates] == [1, 0] * 500
    assert (run.weights.shape, run.stop_reason, run.errors) == ((0,), "max_iter", 2)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"form": "005"}, "form must be one of 000"),
        ({"order": "batch"}, "order must be one of"),
        ({"margin": 1.0}, "There is no parameter margin"),
        ({"eta0": -1.0}, "eta0 must be"),
        ({"start": [1.0, 2.0]}, "start must be 5 numbers"),
        ({"max_iter": 0}, "max_iter must be"),
    ],
)
def test_what_a_form_does_not_take_is_refused(given, said):
    with pytest.raises(ValueError, match=said):
        train_form(X, LABELS, **given)


def test_large_data_are_refused():
    with pytest.raises(ValueError, match="10,000,000 numbers"):
        train_form(np.zeros((3163, 3163)), np.arange(3163) % 2)
