"""Every row lies on the side that is predicted."""

import numpy as np
import pytest
from sklearn.svm import SVC

from rosenblatt import Perceptron
from rosenblatt.plots import ProjectionDisplay

from ..conftest import blobs
from .conftest import IRIS, new_ax, points


def test_projections_lie_on_the_side_that_is_predicted():
    X, y = blobs(60, 4)
    model = Perceptron(random_state=0, max_iter=3).fit(X, y)
    display = ProjectionDisplay.from_estimator(model, X, y)
    assert np.allclose(display.positions * np.linalg.norm(model.coef_), X @ model.coef_[0])
    assert np.array_equal(display.positions > display.threshold, model.predict(X) == 1)
    drawn = points(display.plot(new_ax()).ax_)
    circled = drawn[f"misclassified ({display.wrong.sum()})"]
    assert np.array_equal(np.sort(circled[:, 0]), np.sort(display.positions[display.wrong]))


def test_points_of_one_class_never_cover_each_other():
    X, y = blobs(60, 4)
    display = ProjectionDisplay.from_estimator(Perceptron(random_state=0).fit(X, y), X, y)
    places = display._stack(60)
    assert len(np.unique(np.round(places, 9), axis=0)) == len(y)
    assert np.array_equal(places[:, 1] > 0, y == 1)


def test_many_projections_become_bars_of_the_same_number():
    X, y = blobs(5000, 3)
    model = Perceptron(random_state=0, max_iter=1).fit(X, y)
    ax = ProjectionDisplay.from_estimator(model, X, y).plot(new_ax()).ax_
    bars = {patch.get_label(): patch.get_data().values for patch in ax.patches[:4:2]}
    assert {label: abs(values.sum()) for label, values in bars.items()} == {"0": 2500, "1": 2500}


def test_a_score_is_projected_where_there_is_no_w():
    X, y = blobs(60, 2)
    model = SVC().fit(X, y)
    display = ProjectionDisplay.from_estimator(model, X, y)
    assert np.array_equal(display.positions, model.decision_function(X))
    assert display.threshold == 0


def test_more_classes_are_refused():
    with pytest.raises(ValueError, match="3 classes"):
        ProjectionDisplay.from_estimator(Perceptron().fit(*IRIS), *IRIS)


def test_classes_have_their_names():
    X, y = blobs(60, 2)
    display = ProjectionDisplay.from_estimator(SVC().fit(X, y), X, y, class_names=["no", "yes"])
    assert set(points(display.plot(new_ax()).ax_)) >= {"no", "yes"}
