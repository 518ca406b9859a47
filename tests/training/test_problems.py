"""Several problems that are learnt in one pass are as many models that are learnt apart."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra.numpy import arrays

from rosenblatt import AROW, PassiveAggressive, Perceptron
from rosenblatt.data.labels import LabelSets
from rosenblatt.data.rows import rows_of
from rosenblatt.learners.linear import LinearLearner, TrainingRows
from rosenblatt.parameters import RULE_TABLE, defaults
from rosenblatt.training.problems import JointState, apart, joint
from rosenblatt.training.rules import RULES

from .. import reference
from ..conftest import LAYOUTS, VARIANTS, blobs
from .test_solutions import assert_same_run

JOINT = [pair for pair in VARIANTS if pair[1] in ("each", "once", "fixed")]


@st.composite
def label_sets(draw):
    """Rows of small integers, and which of some labels each has."""
    n, d, labels = draw(st.integers(2, 9)), draw(st.integers(1, 4)), draw(st.integers(2, 4))
    X = draw(arrays(np.float64, (n, d), elements=st.integers(-3, 3)))
    return X, draw(arrays(int, (n, labels), elements=st.integers(0, 1)))


@pytest.mark.parametrize(("solution", "order"), VARIANTS)
@settings(max_examples=15)
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
    """A learner whose problems went through rows together, all for as many epochs."""
    given = defaults(RULE_TABLE[rule].parameters) | parameters
    rows = TrainingRows.of(rows_of(X), np.asfortranarray(Y, bool), None, X.shape[1])
    shape, labels = (X.shape[1], X.dtype), np.arange(Y.shape[1])
    learner = LinearLearner.begin(given, labels, shape, rule=RULES[rule], multilabel=True)
    task = learner.joint_task(rows)
    run = learner.run(lambda: [task], None, epochs, order=given["order"], seed=3).train()
    learner.states = apart(run.outcome)
    learner.close(rows)
    return learner, run


@pytest.mark.parametrize(("solution", "order"), JOINT)
@pytest.mark.parametrize("layout", ["dense", "int32"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_one_pass_for_all_problems_is_a_pass_for_each(solution, order, layout, dtype):
    X, y = blobs(80, 6, classes=3)  # which overlap: no problem ends before the others
    Y = np.column_stack([y == 0, y > 0, np.arange(80) % 5 == 0])
    rows = LAYOUTS[layout](np.rint(X).astype(dtype))
    learner, run = trained(rows, Y, solution=solution, order=order)
    coef, bias = learner.coefficients()
    for k in range(3):
        chosen = {"solution": solution, "order": order, "max_iter": 4, "random_state": 3}
        alone = reference.Perceptron(**chosen).fit(np.rint(X), Y[:, k])
        assert alone.n_iter_ == 4
        np.testing.assert_array_equal(coef[k], alone.coef_[0].astype(dtype))
        np.testing.assert_array_equal(bias[k], alone.intercept_[0].astype(dtype))
    assert sum(epoch.mistakes for epoch in run.history.epochs) == learner.mistakes
    assert run.history.epochs[0].rows == 3 * 80


@pytest.mark.parametrize(("rule", "estimator"), [("pa", PassiveAggressive), ("arow", AROW)])
@pytest.mark.parametrize("solution", ["last", "average"])
def test_rules_of_the_family_learn_label_sets(rule, estimator, solution):
    X, y = blobs(60, 5, classes=3)
    Y = np.column_stack([y == 0, y > 0])
    learner, _ = trained(X, Y, rule, solution=solution)
    chosen = {"solution": solution, "max_iter": 4, "random_state": 3}
    fitted = estimator(**chosen).fit(X, Y)
    np.testing.assert_array_equal(learner.coefficients()[0], fitted.coef_)
    for k in range(2):
        np.testing.assert_array_equal(fitted.coef_[k], estimator(**chosen).fit(X, Y[:, k]).coef_[0])


def test_a_run_ends_when_no_problem_makes_a_mistake():
    X = np.array([[2.0, 1.0], [-1.0, 1.0], [1.0, -3.0]])
    learner, run = trained(X, np.array([[1, 0], [0, 0], [1, 1]]), epochs=100)
    assert run.history.stop_reason == "separated"
    assert run.history.epochs[-1].mistakes == 0
    assert (learner.scores(rows_of(X), 2) > 0).tolist() == [[1, 0], [0, 0], [1, 1]]


def test_one_problem_is_its_own_state():
    assert apart(joint(["one"])) == ["one"]
    assert isinstance(joint(["one", "other"]), JointState)
    assert apart(joint(["one", "other"])) == ["one", "other"]
    assert len(LabelSets(np.zeros(0), np.zeros(1, int))) == 0
