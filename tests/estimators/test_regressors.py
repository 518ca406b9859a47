"""Regressors: each is its naive twin, and keeps the bounds of its paper."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.linear_model import PassiveAggressiveRegressor as Theirs

from rosenblatt import Adaline, PassiveAggressiveRegressor
from rosenblatt.parameters import NUMBER_RULES, InputError, ParameterError

from .. import reference
from ..conftest import LAYOUTS

RULES = {
    "PA": (PassiveAggressiveRegressor, {"loss": "hard", "epsilon": 0.3}, ("hard", 1.0)),
    "PA-I": (PassiveAggressiveRegressor, {"C": 0.05}, ("epsilon_insensitive", 0.05)),
    "PA-II": (
        PassiveAggressiveRegressor,
        {"C": 0.2, "loss": "squared_epsilon_insensitive", "epsilon": 0.0},
        ("squared_epsilon_insensitive", 0.2),
    ),
    "Adaline": (Adaline, {"eta0": 0.02, "normalized": False}, ("lms", 0.02)),
    "normalized": (Adaline, {"eta0": 0.7}, ("normalized_lms", 0.7)),
}
ORDERS = {"fixed": reference.fixed_rows, "each": reference.shuffled}


def noisy_numbers(n=60, d=5, seed=0, noise=0.5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X[rng.random(X.shape) < 0.3] = 0
    return X, X @ rng.normal(size=d) + 2 + noise * rng.normal(size=n)


def make_pair(name, **parameters):
    """A regressor and its twin."""
    kind, own, (step, rate) = RULES[name]
    parameters = {"order": "fixed", "max_iter": 3, "random_state": 3} | parameters
    epsilon = own.get("epsilon", 0.1) if kind is PassiveAggressiveRegressor else 0.0
    shared = {
        key: value for key, value in parameters.items() if key not in ("order", "random_state")
    }
    order = ORDERS[parameters["order"]]
    step = reference.REGRESSION_STEPS[step](rate)
    twin = reference.Regressor(step, epsilon=epsilon, order=order, seed=3, **shared)
    return kind(**own, **parameters), twin


def assert_same(model, twin, tolerance=1e-9):
    np.testing.assert_allclose(model.coef_, np.ravel(twin.coef_), rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(model.intercept_, twin.intercept_, rtol=tolerance, atol=tolerance)


def test_every_rule_for_numbers_has_a_twin():
    kinds = {kind.__name__ for kind, *_ in RULES.values()}
    assert kinds == {entry.estimator for entry in NUMBER_RULES.values()}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("solution", ["last", "average"])
@pytest.mark.parametrize("name", RULES)
def test_every_rule_is_its_naive_twin(name, solution, order, layout):
    for seed in range(2):
        X, y = noisy_numbers(seed=seed)
        model, twin = make_pair(name, solution=solution, order=order, intercept_step=0.5)
        assert_same(model.fit(LAYOUTS[layout](X), y), twin.fit(X, y))
        for epoch, wanted in zip(model.history_, twin.history_, strict=True):
            assert epoch[:4] == wanted[:4]
            np.testing.assert_allclose(epoch.loss, wanted.loss)
        X = X.astype(np.float32)
        model.fit(LAYOUTS[layout](X), y)
        assert model.coef_.dtype == np.float32
        assert_same(model, twin.fit(X, y), 2e-3)


@pytest.mark.parametrize("name", RULES)
def test_weights_of_rows(name):
    X, y = noisy_numbers()
    weights = np.random.default_rng(0).integers(0, 3, len(y)) / 2
    model, twin = make_pair(name, solution="average")
    assert_same(model.fit(X, y, weights), twin.fit(X, y, weights))


# scikit-learn's own


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("layout", ["dense", "int32"])
@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
def test_updates_are_those_of_scikit_learn(loss, layout, bias):
    X, y = noisy_numbers(80)
    X = np.column_stack([X, np.ones(len(X))]) if bias else X  # it leaves the bias out of the norm
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        theirs = Theirs(C=0.05, loss=loss, epsilon=0.2, fit_intercept=False)
        ours = PassiveAggressiveRegressor(0.05, loss=loss, epsilon=0.2, fit_intercept=False)
        for row in range(len(y)):
            one = LAYOUTS[layout](X[row : row + 1]), y[row : row + 1]
            theirs.partial_fit(*one)
            ours.partial_fit(*one)
            np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-9, atol=1e-12)


# The bounds of the papers


@st.composite
def number_sequences(draw):
    """Rows, numbers with an error from u·(x, 1) each, and u."""
    n, d = draw(st.integers(2, 24)), draw(st.integers(1, 4))
    values = st.integers(-40, 40).map(lambda value: value / 8)
    X, u = draw(arrays(float, (n, d), elements=values)), draw(arrays(float, d + 1, elements=values))
    return X, X @ u[:-1] + u[-1], draw(arrays(float, n, elements=values)), u


def excesses_of(name, X, y, C, epsilon):
    """What the errors of one pass exceed ε by, before each update."""
    own = {"loss": RULES[name][1].get("loss", "epsilon_insensitive"), "epsilon": epsilon}
    model = PassiveAggressiveRegressor(C, **own)
    found = []
    for x, number in zip(X, y, strict=True):
        before = model.predict_one(x)
        found.append(max(abs(number - before) - epsilon, 0.0))
        model.learn_one(x, number)
    return np.array(found)


RATES = st.sampled_from([0.01, 0.1, 1.0, 10.0])
EPSILONS = st.sampled_from([0.0, 0.25, 2.0])


def squared_radius(X):
    return (np.sum(X**2, axis=1) + 1).max()


@settings(max_examples=40)
@given(number_sequences(), EPSILONS)
def test_squared_losses_on_numbers_without_noise(given_rows, epsilon):
    X, y, _, u = given_rows
    losses = excesses_of("PA", X, y, 1.0, epsilon)
    assert np.sum(losses**2) <= squared_radius(X) * (u @ u) * (1 + 1e-9) + 1e-9


@settings(max_examples=40)
@given(number_sequences(), RATES, EPSILONS)
def test_squared_losses_of_damped_steps(given_rows, C, epsilon):
    X, y, noise, u = given_rows
    losses = excesses_of("PA-II", X, y + noise, C, epsilon)
    of_u = np.sum(np.maximum(np.abs(noise) - epsilon, 0) ** 2)
    bound = (squared_radius(X) + 1 / (2 * C)) * (u @ u + 2 * C * of_u)
    assert np.sum(losses**2) <= bound * (1 + 1e-9) + 1e-9


@settings(max_examples=40)
@given(number_sequences(), RATES, EPSILONS)
def test_steps_and_losses_of_bounded_steps(given_rows, C, epsilon):
    """Lemma 1 of the paper: the sum of τ(2ℓ - τ‖x‖² - 2ℓ*) is at most ‖u‖²."""
    X, y, noise, u = given_rows
    losses, sizes = excesses_of("PA-I", X, y + noise, C, epsilon), np.sum(X**2, axis=1) + 1
    steps = np.minimum(C, losses / sizes)
    of_u = np.maximum(np.abs(noise) - epsilon, 0)
    assert np.sum(steps * (2 * losses - steps * sizes - 2 * of_u)) <= (u @ u) * (1 + 1e-9) + 1e-9


@settings(max_examples=40)
@given(number_sequences(), st.sampled_from([0.1, 0.5, 0.9]))
def test_squared_errors_of_adaline(given_rows, share):
    """Cesa-Bianchi, Long & Warmuth (1996): Σe²(1 - ηR²) is at most Σe*² + ‖u‖²/η."""
    X, y, noise, u = given_rows
    eta, total = share / squared_radius(X), 0.0
    model = Adaline(eta, normalized=False)
    for x, number in zip(X, y + noise, strict=True):
        total += (number - model.predict_one(x)) ** 2
        model.learn_one(x, number)
    assert total * (1 - share) <= (noise @ noise + u @ u / eta) * (1 + 1e-9) + 1e-9


# Everything else


def test_normalized_lms_of_rate_1_is_pa_without_a_limit():
    X, y = noisy_numbers()
    shared = {"order": "fixed", "max_iter": 2, "solution": "average"}
    one = Adaline(1.0, **shared).fit(X, y)
    other = PassiveAggressiveRegressor(loss="hard", epsilon=0.0, **shared).fit(X, y)
    assert_same(one, other, 1e-12)


def test_numbers_within_epsilon_end_the_training():
    X, y = noisy_numbers(noise=0.0)
    model = PassiveAggressiveRegressor(loss="hard", epsilon=0.05, max_iter=500, random_state=0)
    model.fit(X, y)
    assert model.stop_reason_ == "within_epsilon"
    assert np.abs(model.predict(X) - y).max() <= 0.05 + 1e-9
    assert model.history_[-1].mistakes == 0


def test_early_stopping_keeps_the_best_epoch_by_r2(capsys):
    X, y = noisy_numbers(300)
    model = PassiveAggressiveRegressor(early_stopping=2, max_iter=50, random_state=0, verbose=1)
    model.fit(X, y)
    scores = [epoch.validation_score for epoch in model.history_]
    assert model.stop_reason_ == "no_improvement"
    assert scores.index(max(scores)) == len(scores) - 3
    assert max(scores) > 0.5
    assert "held-out R²" in capsys.readouterr().out


def test_measured_losses_are_those_of_the_weights_at_the_end():
    X, y = noisy_numbers()
    model = PassiveAggressiveRegressor(measure=True, max_iter=2, random_state=0).fit(X, y)
    excess = np.maximum(np.abs(model.predict(X) - y) - 0.1, 0)
    assert model.history_[-1].errors == np.count_nonzero(excess)
    assert model.history_[-1].loss == pytest.approx(excess.sum())


@pytest.mark.parametrize(
    ("parameters", "code"),
    [
        ({"epsilon": -1}, "out-of-range"),
        ({"loss": "hinge"}, "out-of-range"),
        ({"solution": "pocket"}, "out-of-range"),
        ({"order": "worst"}, "out-of-range"),
    ],
)
def test_parameters_that_are_refused(parameters, code):
    X, y = noisy_numbers()
    with pytest.raises(ParameterError) as refused:
        PassiveAggressiveRegressor(**parameters).fit(X, y)
    assert refused.value.code == code


def test_labels_that_are_no_numbers_are_refused():
    with pytest.raises(InputError) as refused:
        Adaline().fit([[1.0], [2.0]], ["a", "b"])
    assert refused.value.code == "labels-not-numbers"


def test_steps_that_are_too_large_are_refused():
    X, y = noisy_numbers()
    with pytest.raises(ValueError, match="scale the numbers"):
        Adaline(50.0, normalized=False, max_iter=1000).fit(X, y)


def test_numbers_that_are_too_large_for_the_steps_are_warned_of():
    X = np.random.default_rng(0).normal(size=(200, 3))
    prices = 600_000 + 200_000 * X[:, 0]
    with pytest.warns(UserWarning, match=r"hardly learnt.*C = 1 limits each step in the unit of y"):
        PassiveAggressiveRegressor(random_state=0).fit(X, prices)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        PassiveAggressiveRegressor(random_state=0).fit(X, prices / 1e5)
        PassiveAggressiveRegressor(1e5, random_state=0).fit(X, prices)
        PassiveAggressiveRegressor(loss="hard", random_state=0).fit(X, prices)
        Adaline(random_state=0).fit(X, prices)
