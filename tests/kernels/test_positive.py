"""Weights that are never negative: the twins, the bound, and where they are refused."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from rosenblatt import (
    Adaline,
    PassiveAggressive,
    PassiveAggressiveRegressor,
    Perceptron,
    load,
)
from rosenblatt.parameters import ParameterError

from .. import reference

COLUMNS = [True, [0, 1]]
RANDOM = np.random.default_rng(7)
X = np.round(3 * RANDOM.normal(size=(80, 5)))
LABELS = X @ [2, -1, 1, -2, 0.5] + RANDOM.normal(size=80) > 0.5
NUMBERS = X @ [2, -1, 1, -2, 0.5] + RANDOM.normal(size=80)
CLASSES = {
    "perceptron": (Perceptron, {}, reference.PerceptronRule),
    "hinge": (PassiveAggressive, {"C": 0.25}, lambda: reference.PassiveAggressiveRule(0.25)),
    "squared": (
        PassiveAggressive,
        {"loss": "squared_hinge"},
        lambda: reference.PassiveAggressiveRule(loss="squared_hinge"),
    ),
}
REGRESSORS = {
    "epsilon_insensitive": (PassiveAggressiveRegressor, {"C": 0.5}, 0.5),
    "squared_epsilon_insensitive": (
        PassiveAggressiveRegressor,
        {"loss": "squared_epsilon_insensitive"},
        1.0,
    ),
    "normalized_lms": (Adaline, {}, 0.1),
}


def is_kept(model, columns):
    """Whether the weights of the columns are ≥ 0."""
    weights = model.coef_[0]
    return np.all(weights[slice(None) if columns is True else columns] >= 0)


@pytest.mark.parametrize("columns", COLUMNS, ids=["all", "some"])
@pytest.mark.parametrize("solution", ["last", "average"])
@pytest.mark.parametrize("name", CLASSES)
def test_classes_agree_with_the_twin(name, solution, columns):
    kind, given, rule = CLASSES[name]
    usual = {"order": "fixed", "max_iter": 3, "solution": solution}
    twin = reference.PositiveMember(columns, rule, **usual).fit(X, LABELS)
    for rows in X, csr_array(X):
        model = kind(positive=columns, **given, **usual).fit(rows, LABELS)
        assert model.n_mistakes_ == sum(one.mistakes for one in twin.history_)
        assert np.allclose(model.coef_, twin.coef_)
        assert np.allclose(model.intercept_, twin.intercept_)
        assert is_kept(model, columns)
    free = kind(**given, **usual).fit(X, LABELS)
    assert not is_kept(free, columns)
    assert model.coef_[0].min() < 0 or columns is True


@pytest.mark.parametrize("columns", COLUMNS, ids=["all", "some"])
@pytest.mark.parametrize("solution", ["last", "average"])
@pytest.mark.parametrize("name", REGRESSORS)
def test_numbers_agree_with_the_twin(name, solution, columns):
    kind, given, rate = REGRESSORS[name]
    usual = {"order": "fixed", "max_iter": 3, "solution": solution}
    epsilon = 0.1 if kind is PassiveAggressiveRegressor else 0.0
    step = reference.REGRESSION_STEPS[name](rate)
    twin = reference.Regressor(
        step, epsilon=epsilon, solution=solution, max_iter=3, positive=columns
    ).fit(X, NUMBERS)
    for rows in X, csr_array(X):
        model = kind(positive=columns, **given, **usual).fit(rows, NUMBERS)
        assert np.allclose(model.coef_, twin.coef_)
        assert np.allclose(model.intercept_, twin.intercept_)
        assert is_kept(model, columns)


@pytest.mark.parametrize("seed", range(5))
def test_the_mistakes_are_bounded_by_the_best_positive_weights(seed):
    """Projection brings w no farther from u ≥ 0, so that (R/γ)² holds for the margin of u."""
    random = np.random.default_rng(seed)
    u = np.abs(random.normal(size=6))
    rows = random.normal(size=(300, 6))
    rows = rows[np.abs(rows @ u) > 0.3]
    margin = np.abs(rows @ u).min() / np.linalg.norm(u)
    radius = np.linalg.norm(rows, axis=1).max()
    model = Perceptron(positive=True, fit_intercept=False, max_iter=1000, random_state=seed)
    model.fit(rows, rows @ u > 0)
    assert model.stop_reason_ == "separated"
    assert model.n_mistakes_ <= (radius / margin) ** 2


def test_batches_rows_one_by_one_and_files_are_one_pass(tmp_path):
    usual = {"positive": [1, 3], "solution": "average"}
    whole = PassiveAggressive(max_iter=1, order="fixed", **usual).fit(X, LABELS)
    parts = PassiveAggressive(**usual)
    for rows in np.array_split(np.arange(len(X)), 7):
        parts.partial_fit(X[rows], LABELS[rows], classes=[False, True])
    parts.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.positive == [1, 3]
    for x, y in zip(X, NUMBERS > 0, strict=True):
        parts.learn_one(x, y)
        again.learn_one(x, y)
    rows, labels = np.vstack([X, X]), np.concatenate([LABELS, NUMBERS > 0])
    both = PassiveAggressive(max_iter=1, order="fixed", **usual).fit(rows, labels)
    for model in parts, again:
        assert np.allclose(model.coef_, both.coef_)
        assert is_kept(model, [1, 3])
    assert np.allclose(whole.coef_, PassiveAggressive(**usual).partial_fit(X, LABELS, [0, 1]).coef_)


@pytest.mark.parametrize(
    "columns", [["b", "d"], (1, 3), np.array([1, 3]), np.array([0, 1, 0, 1, 0], bool)], ids=str
)
def test_columns_by_name_number_and_mask(columns):
    table = pd.DataFrame(X, columns=list("abcde"))
    found = PassiveAggressiveRegressor(positive=columns, random_state=0).fit(table, NUMBERS)
    numbered = PassiveAggressiveRegressor(positive=[1, 3], random_state=0).fit(X, NUMBERS)
    assert np.array_equal(found.coef_, numbered.coef_)


def test_one_class_against_the_rest():
    labels = np.digitize(NUMBERS, [-3, 3])
    model = Perceptron(positive=True, random_state=0).fit(X, labels)
    alone = Perceptron(positive=True, random_state=0).fit(X, labels == 2)
    assert model.coef_.shape == (3, 5)
    assert model.coef_.min() == 0 < model.coef_.max()
    assert np.array_equal(model.coef_[2:], alone.coef_)


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"positive": "a"}, "out-of-range"),
        ({"positive": [-1]}, "out-of-range"),
        ({"positive": [[1]]}, "out-of-range"),
        ({"positive": [5]}, "positive-column"),
        ({"positive": ["b"]}, "positive-column"),
        ({"positive": [True, False]}, "positive-column"),
        ({"positive": True, "slack": 1.0}, "positive-tolerance"),
        ({"positive": True, "solution": "vote"}, "solution-of-rule"),
        ({"positive": True, "order": "batch"}, "order-of-rule"),
    ],
)
def test_what_cannot_be(given, code):
    with pytest.raises(ParameterError) as refused:
        Perceptron(**given).fit(X, LABELS)
    assert refused.value.code == code


def test_negative_weights_to_start_from_are_refused():
    with pytest.raises(ParameterError) as refused:
        Perceptron(positive=[0]).fit(X, LABELS, coef_init=[[-1, 0, 0, 0, 0]])
    assert refused.value.code == "positive-start"


def test_a_trained_model_keeps_its_columns():
    model = Perceptron(positive=[0], warm_start=True).fit(X, LABELS)
    with pytest.raises(ValueError, match="positive"):
        model.set_params(positive=[1]).fit(X, LABELS)


def test_a_model_of_one_row_does_not_begin():
    with pytest.raises(ValueError, match="positive"):
        Perceptron(positive=True).learn_one([1.0], "a")
