"""Several problems that one run learns are as many models, each trained alone."""

import joblib
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra.numpy import arrays

from rosenblatt import AROW, PassiveAggressive, Perceptron, train
from rosenblatt.data.rows import view_rows
from rosenblatt.learners.linear import LinearLearner, TrainingRows
from rosenblatt.parameters import RULE_TABLE, defaults
from rosenblatt.training.report import Listener
from rosenblatt.training.rules import RULES
from rosenblatt.training.training import Training

from .. import reference
from ..conftest import LAYOUTS, ROUNDS, VARIANTS, blobs
from .test_linear_state import assert_same_run


@st.composite
def label_sets(draw):
    """Rows of small integers, and which of some labels each has."""
    n, d, labels = draw(st.integers(2, 9)), draw(st.integers(1, 4)), draw(st.integers(2, 4))
    X = draw(arrays(np.float64, (n, d), elements=st.integers(-3, 3)))
    return X, draw(arrays(int, (n, labels), elements=st.integers(0, 1)))


@pytest.mark.parametrize(("solution", "order"), VARIANTS)
@settings(max_examples=6 * ROUNDS)
@given(sets=label_sets(), seed=st.integers(0, 3))
def test_fit_of_label_sets_equals_its_twin_bit_for_bit(solution, order, sets, seed):
    X, Y = sets
    chosen = {"solution": solution, "order": order, "random_state": seed, "max_iter": 4}
    twin = reference.Perceptron(**chosen).fit(X, Y)
    for layout in LAYOUTS.values():
        for dtype in (np.float32, np.float64):
            rows = layout(X.astype(dtype))
            model = Perceptron(**chosen).fit(rows, Y)
            assert model.coef_.dtype == dtype
            assert_same_run(model, twin)
            if solution != "average":  # whose scores are not integers
                np.testing.assert_array_equal(model.predict(rows), twin.predict_labels(X))


def trained(X, Y, rule="perceptron", epochs=4, **parameters):
    """A learner whose problems went through rows together, until each had a reason to stop."""
    given = defaults(RULE_TABLE[rule].parameters) | parameters
    rows = TrainingRows.of(view_rows(X), np.asfortranarray(Y, bool), None, X.shape[1])
    shape, labels = (X.shape[1], X.dtype), np.arange(Y.shape[1])
    learner = LinearLearner.begin(given, labels, shape, rule=RULES[rule], multilabel=True)
    parts = [learner.part(rows)].__iter__
    run = Training.by(given, learner.states, parts, max_iter=epochs, seed=3).train()
    learner.states = run.states
    return learner, run


def some_separable(n=80):
    """Rows of small integers with three labels, of which one is separated early."""
    X, y = blobs(n, 6, classes=3)
    X = np.rint(X)
    X[:, 0] = np.where(np.arange(n) % 5 == 0, 3, -1)
    return X, np.column_stack([np.arange(n) % 5 == 0, y > 0, X[:, 1] > 0])


@pytest.mark.parametrize(("solution", "order"), VARIANTS)
@pytest.mark.parametrize("layout", ["dense", "int32"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_one_run_for_all_problems_is_a_run_for_each(solution, order, layout, dtype):
    X, Y = some_separable()
    rows = LAYOUTS[layout](X.astype(dtype))
    learner, run = trained(rows, Y, solution=solution, order=order)
    coef, bias = learner.coefficients()
    for k in range(3):
        chosen = {"solution": solution, "order": order, "max_iter": 4, "random_state": 3}
        alone = reference.Perceptron(**chosen).fit(X, Y[:, k])
        assert len(run.problems[k].epochs) == alone.n_iter_
        np.testing.assert_array_equal(coef[k], alone.coef_[0].astype(dtype))
        np.testing.assert_array_equal(bias[k], alone.intercept_[0].astype(dtype))
    assert sum(epoch.mistakes for epoch in run.epochs) == sum(
        state.mistakes for state in learner.states
    )
    if order in ("each", "once", "fixed", "batch") and solution != "pocket":
        assert [len(problem.epochs) for problem in run.problems] == [2, 4, 4]
        assert [epoch.rows for epoch in run.epochs] == [240, 240, 160, 160]


@pytest.mark.parametrize("solution", ["last", "average"])
@pytest.mark.parametrize(
    ("order", "in_memory"), [("each", True), ("fixed", True), ("fixed", False)]
)
@pytest.mark.parametrize("epochs", [1, 6])
def test_files_of_label_sets_teach_what_fit_learns(
    tmp_path, monkeypatch, solution, order, in_memory, epochs
):
    """Where one label is separated long before the others: averages would tell if it went on."""
    if not in_memory:
        monkeypatch.setattr("rosenblatt.jobs.files.IN_MEMORY", 0)
    X, Y = some_separable()
    lines = [
        ",".join(str(k) for k in np.flatnonzero(labels))
        + "".join(f" {j + 1}:{x:g}" for j, x in enumerate(row))
        for row, labels in zip(X, Y, strict=True)
    ]
    path = tmp_path / "sets.svm"
    path.write_text("\n".join(lines))
    chosen = {"solution": solution, "order": order, "max_iter": epochs, "random_state": 3}
    fitted = Perceptron(**chosen).fit(X, Y.astype(int))
    settings = {"rule": "perceptron", "margin": 0.0, "intercept_step": 1.0, **chosen}
    found = train(path, listener=Listener(), **settings)[-1]
    np.testing.assert_array_equal(found.coef_, fitted.coef_.astype(found.coef_.dtype))
    assert found.history_ == fitted.history_
    assert found.stop_reason_ == fitted.stop_reason_


def test_fit_of_several_problems_does_not_depend_on_threads_or_on_what_is_kept(monkeypatch):
    X, Y = some_separable()
    chosen = {"solution": "average", "max_iter": 5, "random_state": 3}
    one = Perceptron(**chosen).fit(X, Y.astype(int))
    monkeypatch.setattr("rosenblatt.learners.linear.MOST_STEPS", 0)
    for jobs in (1, 3):
        with joblib.parallel_config(n_jobs=jobs):
            other = Perceptron(**chosen).fit(X, Y.astype(int))
        assert other.history_ == one.history_
        np.testing.assert_array_equal(other.decision_function(X), one.decision_function(X))


@pytest.mark.parametrize(("rule", "estimator"), [("pa", PassiveAggressive), ("arow", AROW)])
@pytest.mark.parametrize("solution", ["last", "average"])
def test_rules_of_the_family_learn_label_sets(rule, estimator, solution):
    X, Y = some_separable()
    learner, _ = trained(X, Y, rule, solution=solution)
    chosen = {"solution": solution, "max_iter": 4, "random_state": 3}
    fitted = estimator(**chosen).fit(X, Y.astype(int))
    np.testing.assert_array_equal(learner.coefficients()[0], fitted.coef_)
    for k in range(2):
        np.testing.assert_array_equal(fitted.coef_[k], estimator(**chosen).fit(X, Y[:, k]).coef_[0])
