"""Selective sampling: the papers' algorithms row by row, their bounds, shares and budgets."""

import numpy as np
import pytest

from rosenblatt import AROW, KernelPerceptron, Perceptron, SecondOrderPerceptron
from rosenblatt.data.rows import view_rows
from rosenblatt.estimators.base import get_learner
from rosenblatt.learners.asking import (
    Asker,
    ask_probabilities,
    choose_labels,
    find_margins,
    learn_asked,
    reduce_margins,
)
from rosenblatt.learners.linear import LinearLearner, TrainingRows

from ..reference import selective_perceptron, selective_second_order


def separable(count, seed=0, gap=0.5, columns=3):
    """Whole-numbered rows, labels ±1 of a plane through the origin, and a vector that separates."""
    chance = np.random.default_rng(seed)
    X = chance.integers(-4, 5, (4 * count, columns)).astype(float)
    u = np.array([2.0, -1.0, 1.0, 3.0, -2.0])[:columns]
    X = X[np.abs(X @ u) >= gap][:count]
    return X, np.sign(X @ u), u


def begin(kind, X, **parameters):
    """The untrained learner of an estimator for labels -1 and 1."""
    model = kind(fit_intercept=False, **parameters)
    model.partial_fit(X[:1], [1], classes=[-1, 1])
    return type(get_learner(model)).begin(
        get_learner(model).parameters,
        np.array([-1, 1]),
        (X.shape[1], X.dtype),
        rule=get_learner(model).rule,
    )


def rows_of(X, labels):
    return TrainingRows.of(view_rows(X), (labels > 0).astype(np.intp), None, X.shape[1])


def run(learner, X, labels, b, drawn):
    """One pass in which the label of row i is asked for if drawn[i] is below its probability."""
    ask = lambda row, margin: drawn[row] < b / (b + margin)  # noqa: E731
    return learn_asked(learner, rows_of(X, labels), ask)


@pytest.mark.parametrize("b", [0.5, 8.0, 100.0])
def test_the_perceptron_of_the_paper_row_by_row(b):
    X, labels, _ = separable(200)
    drawn = np.random.default_rng(1).random(200)
    learner = begin(Perceptron, X)
    found, wanted = run(learner, X, labels, b, drawn), selective_perceptron(X, labels, b, drawn)
    assert found.asked.tolist() == wanted.asked
    assert found.wrong.tolist() == wanted.wrong
    np.testing.assert_array_equal(learner.states[0].weights, wanted.weights)
    assert 0 < found.asked.sum() < 200


@pytest.mark.parametrize("b", [0.3, 2.0])
def test_the_second_order_form_row_by_row(b):
    X, labels, _ = separable(150, columns=4)
    drawn = np.random.default_rng(2).random(150)
    learner = begin(SecondOrderPerceptron, X, a=2.0, matrix="full")
    found = run(learner, X, labels, b, drawn)
    wanted = selective_second_order(X, labels, b, 2.0, drawn)
    assert found.asked.tolist() == wanted.asked
    np.testing.assert_allclose(learner.states[0].weights, wanted.weights, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("b", [2.0, 24.0, 80.0])
@pytest.mark.parametrize("noise", [0, 12])
def test_the_expected_mistakes_are_within_the_bound(b, noise):
    """Theorem 1: E[M] ≤ (1 + R²/2b) L/γ + ‖u‖²(2b + R²)² / (8bγ²), with hinge losses L."""
    X, labels, u = separable(120, seed=3, gap=3)
    labels[:noise] *= -1
    gamma = 3.0
    square = (X**2).sum(axis=1).max()
    mistakes, losses = [], []
    hinge = np.maximum(0, gamma - labels * (X @ u))
    for seed in range(200):
        drawn = np.random.default_rng(seed).random(len(X))
        ran = selective_perceptron(X, labels, b, drawn)
        asked, wrong = np.array(ran.asked), np.array(ran.wrong)
        mistakes.append(wrong.sum())
        losses.append(hinge[asked & wrong].sum())
    bound = (1 + square / (2 * b)) * np.mean(losses) / gamma
    bound += u @ u * (2 * b + square) ** 2 / (8 * b * gamma**2)
    assert 0 < np.mean(mistakes) <= bound


def test_a_huge_b_asks_for_all_and_learns_as_ever():
    X, labels, _ = separable(100)
    learner, whole = begin(AROW, X), AROW(fit_intercept=False)
    found = run(learner, X, labels, 1e12, np.full(100, 0.999))
    whole.partial_fit(X, labels, classes=[-1, 1])
    assert found.asked.all()
    np.testing.assert_array_equal(learner.coefficients()[0], whole.coef_)


def test_what_is_not_asked_for_is_not_learnt():
    X, labels, _ = separable(120)
    drawn = np.random.default_rng(5).random(120)
    learner, other = begin(AROW, X), begin(AROW, X)
    found = run(learner, X, labels, 0.1, drawn)
    assert 0 < found.asked.sum() < 60
    hidden = np.where(found.asked, labels, -labels)
    again = run(other, X, hidden, 0.1, drawn)
    assert again.asked.tolist() == found.asked.tolist()
    np.testing.assert_array_equal(learner.coefficients()[0], other.coefficients()[0])


# Margins and estimators


def test_margins_of_two_classes_several_and_label_sets():
    assert find_margins(np.array([-2.0, 0.5])).tolist() == [2.0, 0.5]
    scores = np.array([[1.0, 5.0, 3.0], [-1.0, -0.5, 9.0]])
    assert find_margins(scores).tolist() == [2.0, 9.5]
    assert find_margins(scores, label_sets=True).tolist() == [1.0, 0.5]


def test_uncertain_rows_are_asked_for_more():
    margins, variances = np.array([1.0, 1.0]), np.array([0.0, 3.0])
    assert reduce_margins(margins, variances).tolist() == [1.5, 0.375]
    first, second = ask_probabilities(margins, 1.0, variances)
    assert first < second


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("kind", [AROW, Perceptron, SecondOrderPerceptron, KernelPerceptron])
def test_estimators_ask_for_rows_near_the_boundary(kind, sparse):
    from scipy.sparse import csr_array

    X, labels, _ = separable(300)
    data = csr_array(X) if sparse else X
    model = kind(max_iter=3).fit(data, labels)
    asked = np.mean([model.asks(data, b=0.5, random_state=k) for k in range(40)], axis=0)
    size = np.abs(model.decision_function(data))
    assert asked[size <= np.quantile(size, 0.2)].mean() > asked[size >= np.median(size)].mean()
    assert model.asks(data, b=1e15).all()
    once, again = (model.asks(data, random_state=3).tolist() for _ in range(2))
    assert once == again
    with pytest.raises(ValueError, match="above 0"):
        model.asks(data, b=0)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("matrix", ["diagonal", "full"])
def test_variances_of_margins(matrix, sparse):
    from scipy.sparse import csr_array

    X, labels, _ = separable(60)
    model = SecondOrderPerceptron(a=3.0, matrix=matrix, intercept_step=4.0, max_iter=1)
    model.fit(X, labels)
    found = get_learner(model).margin_variances(view_rows(csr_array(X) if sparse else X))
    Z = np.column_stack([X, np.full(60, 2.0)])
    kept = get_learner(model).states[0].further
    S = kept.get("inverse")
    if S is None:
        S = np.diag([*kept["variances"], kept["variance_of_bias"][0]])
    np.testing.assert_allclose(found, [z @ S @ z / 3.0 for z in Z], rtol=1e-12)
    assert get_learner(Perceptron().fit(X, labels)).margin_variances(view_rows(X)) is None


# Shares and budgets


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("share", [0.02, 0.1, 0.5])
def test_an_asker_asks_for_the_share_in_any_unit(share, unit):
    asker, chance = Asker(share, seed=0), np.random.default_rng(1)
    for margin in (unit * np.abs(chance.standard_normal(20_000))).tolist():
        asker.ask(margin)
    assert asker.rows == 20_000
    assert asker.asked / asker.rows == pytest.approx(share, rel=0.15)


@pytest.mark.parametrize("budget", [1, 7, 0.1, 0.5, 1000])
def test_a_budget_is_kept_and_nearly_used(budget):
    X, labels, _ = separable(400)
    learner = begin(AROW, X)
    flags = choose_labels(learner, rows_of(X, labels), budget, seed=0)
    most = min(400, budget if budget >= 1 else round(budget * 400))
    assert 0.8 * most - 1 <= flags.asked.sum() <= most
    assert isinstance(learner, LinearLearner)
