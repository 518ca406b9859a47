"""Rows that are predicted before they are learnt: their errors are those of row after row."""

import numpy as np
import pytest

from rosenblatt import Perceptron
from rosenblatt.data.rows import view_rows
from rosenblatt.learners.linear import LinearLearner, TrainingRows
from rosenblatt.parameters import LINEAR, defaults
from rosenblatt.training.predicted import PredictedTask

from ..conftest import blobs


@pytest.mark.parametrize("solution", ["last", "average"])
@pytest.mark.parametrize("classes", [2, 3])
def test_errors_are_those_of_one_row_after_the_other(solution, classes):
    X, y = blobs(60, 3, classes=classes)
    learner = LinearLearner.begin(
        defaults(LINEAR) | {"solution": solution}, np.arange(classes), (3, X.dtype)
    )
    found = []
    rows = TrainingRows.of(view_rows(X), y, None, 3)
    task = PredictedTask(learner.task(rows), learner.row_errors, found.extend)
    (state,) = learner.states
    for _ in state.sweep(task, task.row_order, None):
        pass
    task.finish(state)
    model, wanted = Perceptron(solution=solution), []
    for x, label in zip(X, y, strict=True):
        known = wanted and model.predict([x])[0]
        wanted.append(known != label)
        model.partial_fit([x], [label], classes=np.arange(classes))
    assert len(found) == len(y)
    assert [bool(each) for each in found[1:]] == [bool(each) for each in wanted[1:]]
    np.testing.assert_array_equal(learner.coefficients()[0], model.coef_)
