"""Orders: whichever it is, the promises of theory hold."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from rosenblatt import Perceptron, max_margin, radius

from ..conftest import FORMS, ORDERS, VARIANTS, blobs, examples, form_parameters


@st.composite
def separable(draw):
    """Rows on the right side of a plane through the origin, and its unit normal."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n, d, gamma = draw(st.integers(2, 40)), draw(st.integers(1, 6)), draw(st.floats(0.2, 1))
    u = rng.normal(size=d)
    u /= np.linalg.norm(u)
    y = np.where(np.arange(n) % 2, 1, -1)
    X = rng.normal(size=(n, d))
    return X + np.outer(y * (gamma + rng.random(n)) - X @ u, u), y, u


@pytest.mark.parametrize("order", ORDERS)
@given(problem=separable())
@settings(max_examples=25)
def test_mistakes_and_weights_stay_within_the_bounds_of_novikoff(order, problem):
    X, y, u = problem
    R, gamma = np.linalg.norm(X, axis=1).max(), (y * (X @ u)).min()
    model = Perceptron(order=order, fit_intercept=False, max_iter=2000, random_state=0).fit(X, y)
    M, norm = model.n_mistakes_, np.linalg.norm(model.coef_)
    assert model.stop_reason_ == "separated"
    assert model.score(X, y) == 1
    assert (R / gamma) ** 2 * (1 + 1e-9) >= M
    assert gamma * M <= norm * (1 + 1e-9)
    assert norm <= R * np.sqrt(M) * (1 + 1e-9)


@given(problem=separable())
@settings(max_examples=50)
def test_a_batch_stays_within_bounds_of_its_own(problem):
    X, y, u = problem
    R, gamma = np.linalg.norm(X, axis=1).max(), (y * (X @ u)).min()
    model = Perceptron(order="batch", fit_intercept=False, max_iter=10**5).fit(X, y)
    passes = np.array([epoch.mistakes for epoch in model.history_])
    M, norm, n = model.n_mistakes_, np.linalg.norm(model.coef_), len(X)
    assert model.stop_reason_ == "separated"
    assert passes.sum() == M
    assert n * (R / gamma) ** 2 * (1 + 1e-9) >= M
    assert (n + 1) ** 2 / (4 * n) * (R / gamma) ** 2 * (1 + 1e-9) >= np.count_nonzero(passes)
    assert gamma * M <= norm * (1 + 1e-9)
    assert norm <= R * np.linalg.norm(passes) * (1 + 1e-9)


def test_a_batch_may_need_more_mistakes_than_single_updates_ever_make():
    """Many copies of a row move the weights so far that the other row needs as many passes."""
    n = 400
    X = np.array([[1.0, 0.0]] * n + [[-0.5, 0.5]])
    y = np.ones(n + 1)
    y[-1] = 1
    X, y = np.vstack([X, -X]), np.append(y, -y)
    plane = max_margin(X, y, fit_intercept=False)
    single = (radius(X) / plane.attained) ** 2
    model = Perceptron(order="batch", fit_intercept=False, max_iter=10**5).fit(X, y)
    updates = sum(epoch.mistakes > 0 for epoch in model.history_)
    most_updates = (len(X) + 1) ** 2 / (4 * len(X)) * single
    assert single * 1.01 < updates <= most_updates


@pytest.mark.parametrize("order", ["batch", "each"])
def test_the_sum_over_all_mistakes_is_gradient_descent_on_the_loss(order):
    """Of J, which a batch of a small rate lowers at every pass, and single updates need not."""
    X, y = blobs(60, 2)
    chosen = {"order": order, "measure": True, "max_iter": 30, "random_state": 0}
    start = {"coef_init": [[1.0, -1.0]], "intercept_init": [0.5]}
    history = Perceptron(eta0=1e-4, **chosen).fit(X, y, **start).history_
    losses = [epoch.loss for epoch in history]
    if order == "batch":
        assert all(np.diff(losses) <= 0)
        gradient = (losses[0] - losses[1]) / 1e-4
        assert gradient > 0
    single = [epoch.loss for epoch in Perceptron(**chosen).fit(X, y, **start).history_]
    assert any(np.diff(single) > 0)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("solution", "order"), VARIANTS)
@given(choices=st.data())
@settings(max_examples=5)
def test_the_learning_rate_only_scales_weights_that_start_at_zero(solution, order, form, choices):
    X, y = choices.draw(examples(form))
    X = X / 3  # a power of two scales any number exactly
    eta0 = 2.0 ** choices.draw(st.integers(-8, 8))
    chosen = form_parameters(form) | {"solution": solution, "order": order, "random_state": 0}
    one = Perceptron(**chosen, max_iter=5).fit(X, y)
    other = Perceptron(**chosen, max_iter=5, eta0=eta0).fit(X, y)
    assert other.n_mistakes_ == one.n_mistakes_
    np.testing.assert_array_equal(other.coef_, eta0 * one.coef_)
    np.testing.assert_array_equal(other.intercept_, eta0 * one.intercept_)
    np.testing.assert_array_equal(other.predict(X), one.predict(X))


@given(problem=separable(), length=st.floats(1e-6, 1e6))
@settings(max_examples=25)
def test_the_length_of_the_weights_does_not_matter_for_prediction(problem, length):
    X, y, u = problem
    model = Perceptron(fit_intercept=False).fit(X, y, coef_init=length * u)
    assert model.n_mistakes_ == 0
    assert (model.predict(X) == y).all()
