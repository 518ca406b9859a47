"""Scores, leads and linear parts are those of the estimator."""

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from rosenblatt import Perceptron
from rosenblatt.plots.data import compute_leads, compute_own_leads, compute_scores, find_linear

from ..conftest import blobs


def test_a_class_leads_by_the_distance_to_the_best_other():
    assert compute_leads(np.array([2.0, -3.0])).tolist() == [[-2.0, 2.0], [3.0, -3.0]]
    assert compute_leads(np.array([[5.0, 1.0, 4.0]])).tolist() == [[1.0, -4.0, -1.0]]
    assert compute_own_leads(np.array([[5.0, 1.0, 4.0]]), np.array([2])).tolist() == [-1.0]


def test_a_tie_leads_by_nothing():
    assert compute_leads(np.array([[2.0, 2.0, 1.0]])).tolist() == [[0.0, 0.0, -1.0]]


@pytest.mark.parametrize("solution", ["last", "average"])
def test_only_what_scores_by_weights_is_linear(solution):
    X, y = blobs(60, 2)
    model = Perceptron(solution=solution, max_iter=3, random_state=0).fit(X, y)
    assert np.allclose(find_linear(model).scores(X), model.decision_function(X))


def test_a_classifier_without_scores_has_its_predictions():
    X, y = blobs(20, 2)
    tree = DecisionTreeClassifier(random_state=0).fit(X, y)
    assert compute_scores(tree, X).argmax(axis=1).tolist() == y.tolist()
