"""What the papers of the family prove about mistakes and losses holds for every run."""

import numpy as np
from hypothesis import assume, given, settings, strategies as st
from hypothesis.extra.numpy import arrays

from rosenblatt import ALMA, AROW, ROMMA, PassiveAggressive, Perceptron, ShiftingPerceptron
from rosenblatt.estimators.steps import start_steps

from ..conftest import ROUNDS

SLACK = 1 + 1e-9


@st.composite
def sequences(draw, noise):
    """Rows, labels of which some may be wrong, and u with y·u·(x, 1) >= 1 where they are right."""
    n, d = draw(st.integers(4, 24)), draw(st.integers(1, 4))
    values = st.integers(-40, 40).map(lambda value: value / 8)
    X, u = draw(arrays(float, (n, d), elements=values)), draw(arrays(float, d + 1, elements=values))
    scores = X @ u[:-1] + u[-1]
    assume(np.abs(scores).min() > 0.1)
    y = np.where(scores > 0, 1, -1)
    assume(len(set(y)) == 2)
    if noise:
        y = np.where(draw(arrays(bool, n)), -y, y)
        assume(len(set(y)) == 2)
    return X, y, u / np.abs(scores).min()


def told(model, X, y):
    """The margin at each update, and at each row of the run, of which it makes one pass or more."""
    model.set_params(order="fixed")
    records = list(start_steps(model, X, y))
    return np.array([r.activation if r.label == 1 else -r.activation for r in records])


def squared_radius(X):
    return (np.sum(X**2, axis=1) + 1).max()  # the bias is a coordinate, too


def hinge(X, y, u):
    return np.maximum(0, 1 - y * (X @ u[:-1] + u[-1]))


@settings(max_examples=60)
@given(sequences(noise=False), st.integers(1, 4))
def test_squared_losses_of_passive_aggressive_steps_on_separable_rows(given_rows, epochs):
    X, y, u = given_rows
    margins = told(PassiveAggressive(loss="hard", max_iter=epochs), X, y)
    assert np.sum((1 - margins) ** 2) <= squared_radius(X) * (u @ u) * SLACK


@settings(max_examples=60)
@given(sequences(noise=True), st.integers(1, 3), st.sampled_from([0.01, 0.1, 1.0, 10.0]))
def test_mistakes_of_bounded_passive_aggressive_steps(given_rows, epochs, C):
    X, y, u = given_rows
    model = PassiveAggressive(C, max_iter=epochs)
    mistakes = np.sum(told(model, X, y) <= 0)
    bound = max(squared_radius(X), 1 / C) * (u @ u + 2 * C * epochs * hinge(X, y, u).sum())
    assert mistakes <= bound * SLACK


@settings(max_examples=60)
@given(sequences(noise=True), st.integers(1, 3), st.sampled_from([0.01, 0.1, 1.0, 10.0]))
def test_squared_losses_of_damped_passive_aggressive_steps(given_rows, epochs, C):
    X, y, u = given_rows
    margins = told(PassiveAggressive(C, loss="squared_hinge", max_iter=epochs), X, y)
    of_u = epochs * np.sum(hinge(X, y, u) ** 2)
    bound = (squared_radius(X) + 1 / (2 * C)) * (u @ u + 2 * C * of_u)
    assert np.sum((1 - margins) ** 2) <= bound * SLACK


@settings(max_examples=20 * ROUNDS)
@given(sequences(noise=False), st.sampled_from([0.1, 0.5, 0.9, 1.0]))
def test_alma_reaches_its_margin_in_so_many_corrections(given_rows, alpha):
    X, y, u = given_rows
    Z = y[:, None] * np.column_stack([X, np.ones(len(X))])
    Z /= np.linalg.norm(Z, axis=1, keepdims=True)
    gamma = (Z @ u).min() / np.linalg.norm(u)
    bound = 2 / gamma**2 * (2 / alpha - 1) ** 2 + 8 / alpha - 4
    assume(bound < 20_000)
    model = ALMA(alpha, order="fixed", max_iter=100_000).fit(X, y)
    assert model.stop_reason_ == "separated"
    assert model.n_mistakes_ <= bound * SLACK
    w = np.append(model.coef_, model.intercept_)
    assert np.linalg.norm(w) <= SLACK
    assert (Z @ w).min() / np.linalg.norm(w) >= (1 - alpha) * gamma / SLACK


@settings(max_examples=60)
@given(sequences(noise=False), st.booleans())
def test_romma_makes_no_more_mistakes_than_the_perceptron_may(given_rows, aggressive):
    X, y, u = given_rows
    bound = squared_radius(X) * (u @ u)
    assume(bound < 1e5)
    model = ROMMA(aggressive, order="fixed", max_iter=50).fit(X, y)
    assert sum(epoch.errors for epoch in model.history_) <= bound * SLACK
    if not aggressive:
        assert model.stop_reason_ == "separated" or model.n_iter_ == 50


@settings(max_examples=60)
@given(sequences(noise=True), st.integers(0, 24), st.sampled_from([1.0, 1.5, 4.0, 50.0]), st.data())
def test_mistakes_of_the_shifting_perceptron_against_weights_that_shift(given_rows, at, lam, data):
    """At most D + c² + c√D, for every sequence of weights u; here u changes once, or never."""
    X, y, u = given_rows
    shift = data.draw(arrays(float, len(u), elements=st.integers(-8, 8).map(lambda v: v / 4)))
    later = u + shift
    y = np.where(np.arange(len(y)) < at, y, np.where(X @ later[:-1] + later[-1] > 0, 1, -1))
    assume(len(set(y)) == 2)
    mistakes = len(told(ShiftingPerceptron(lam, max_iter=1), X, y))
    loss = np.where(np.arange(len(y)) < at, hinge(X, y, u), hinge(X, y, later)).sum()
    longest = max(np.linalg.norm(u), np.linalg.norm(later))
    c = longest * (1 + 2 * (lam - 1) / np.sqrt(lam)) + np.linalg.norm(shift) / np.sqrt(lam)
    c *= np.sqrt(squared_radius(X))
    assert mistakes <= (loss + c**2 + c * np.sqrt(loss)) * SLACK


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1), st.integers(1, 4))
def test_the_shifting_perceptron_that_does_not_shift_is_the_perceptron(seed, epochs):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(40, 3)), np.arange(40) % 2  # no activation is 0, up to rounding
    shifting = ShiftingPerceptron(1.0, order="fixed", max_iter=epochs).fit(X, y)
    plain = Perceptron(order="fixed", max_iter=epochs).fit(X, y)
    assert shifting.n_mistakes_ == plain.n_mistakes_
    np.testing.assert_allclose(shifting.coef_ * shifting.n_mistakes_, plain.coef_, atol=1e-9)


@settings(max_examples=100)
@given(st.data(), st.integers(1, 4), st.integers(2, 30), st.sampled_from([0.1, 1.0, 10.0]))
def test_mistakes_of_arow(data, d, n, r):
    """Crammer, Kulesza & Dredze (2009); of rows with one number each Σ is diagonal."""
    places = data.draw(arrays(int, n, elements=st.integers(0, d - 1)))
    X = np.zeros((n, d))
    X[np.arange(n), places] = data.draw(arrays(int, n, elements=st.integers(-3, 3)))
    y = np.where(data.draw(arrays(bool, n)), 1, -1)
    u = data.draw(arrays(int, d, elements=st.integers(-16, 16))) / 4
    assume(len(set(y)) == 2)
    model = AROW(r, fit_intercept=False, order="fixed", max_iter=1)
    records = list(start_steps(model, X, y))
    margins = np.array([each.activation * (1 if each.label == 1 else -1) for each in records])
    rows = [each.row for each in records]
    mistakes, others = np.sum(margins <= 0), np.sum(margins > 0)
    spread = X[rows].T @ X[rows]
    _, volume = np.linalg.slogdet(np.eye(d) + spread / r)
    reach = np.sqrt((r * u @ u + u @ spread @ u) * (volume + others))
    assert mistakes <= (reach + np.maximum(0, 1 - y[rows] * (X[rows] @ u)).sum() - others) + 1e-9
