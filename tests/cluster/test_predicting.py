"""Predicting where the rows are."""

import numpy as np
import pytest

from rosenblatt import Perceptron
from rosenblatt.cluster import fit, predict, score
from rosenblatt.parameters import ParameterError

from ..conftest import blobs
from .conftest import cut

pytestmark = pytest.mark.cluster


def test_predictions_stay_where_the_rows_are(client):
    X, y = blobs(90, 4, 3)
    model = Perceptron(solution="average", random_state=0, max_iter=3).fit(X, y)
    dX, dy = cut(X, y, [30, 0, 60])
    predicted = predict(model, dX)
    assert predicted.chunks == ((30, 0, 60),)
    assert np.array_equal(predicted.compute(), model.predict(X))
    assert score(model, dX, dy) == model.score(X, y)
    with pytest.raises(ValueError, match="no rows to score"):
        score(model, dX[:0], dy[:0])


def test_several_labels_are_refused(client, tmp_path):
    X, y = blobs(30, 4, 3)
    model = Perceptron(max_iter=3).fit(X, np.column_stack([y == 0, y > 0]))
    dX, dy = cut(X, y, [10, 20])
    with pytest.raises(ParameterError) as refusal:
        predict(model, dX)
    assert refusal.value.code == "cluster-label-sets"
    with pytest.raises(ParameterError) as refusal:
        score(model, dX, dy)
    assert refusal.value.code == "cluster-label-sets"
    (tmp_path / "rows.svm").write_text("1,2 1:1\n2 1:2\n")
    with pytest.raises(ParameterError) as refusal:
        fit(Perceptron(), tmp_path / "rows.svm", client=client)
    assert refusal.value.code == "cluster-label-sets"


def test_columns_that_the_model_has_not_met_are_passed_over(client, tmp_path):
    path, more = tmp_path / "rows.svm", tmp_path / "more.svm"
    path.write_text("0 1:1\n1 1:-1\n")
    more.write_text("1 1:-2 4000000000:7\n0 1:1\n")
    model = fit(Perceptron(), path, client=client)
    assert predict(model, more).compute().tolist() == [1, 0]
    assert score(model, more) == 1


@pytest.mark.parametrize("ties", ["positive", "negative"])
def test_ties_of_files_are_decided_as_everywhere(client, tmp_path, ties):
    path = tmp_path / "rows.svm"
    path.write_text("0 1:1\n1 1:-1\n0 2:1\n")
    model = Perceptron(ties=ties, fit_intercept=False, max_iter=2, order="fixed")
    X, y = np.array([[1.0, 0.0], [-1.0, 0.0]]), np.array([0, 1])
    model.fit(X, y)
    assert predict(model, path).compute().tolist() == [0, 1, int(ties == "positive")]
