"""More columns are projected so that what is drawn is true."""

import numpy as np
import pytest

from rosenblatt import Perceptron
from rosenblatt.plots import BoundaryDisplay
from rosenblatt.plots.planes import compute_limits

from ..conftest import blobs, csr
from .conftest import IRIS, new_ax, points


@pytest.mark.parametrize("layout", [np.asarray, csr], ids=["dense", "sparse"])
def test_more_columns_are_seen_along_w_with_true_distances(layout):
    X, y = blobs(80, 6)
    model = Perceptron(random_state=0, max_iter=5).fit(X, y)
    display = BoundaryDisplay.from_estimator(model, layout(X), y)
    w, b, length = model.coef_[0], model.intercept_[0], np.linalg.norm(model.coef_)
    assert np.allclose(display.places[:, 0] + b / length, (X @ w + b) / length)
    along, across = display.plane.directions
    centred = X - X.mean(axis=0)
    first = np.linalg.svd(centred - np.outer(centred @ along, along))[2][0]
    assert np.allclose(display.plane.directions @ display.plane.directions.T, np.eye(2))
    assert np.isclose(abs(first @ across), 1)
    ax = display.plot(new_ax()).ax_
    assert "distances to the boundary are true" in ax.get_xlabel()
    assert "principal direction" in ax.get_ylabel()


def test_three_classes_are_seen_in_the_plane_of_their_weights():
    X, y = IRIS
    model = Perceptron(random_state=0).fit(X, y)
    display = BoundaryDisplay.from_estimator(model, X, y)
    lifted = display.plane.lift(display.places)
    assert np.array_equal(model.predict(lifted), model.predict(X))
    drawn = points(display.plot(new_ax()).ax_)
    assert set(drawn) >= {"0", "1", "2"}


def test_limits_have_one_shape_and_hold_every_place():
    places = np.array([[1.0, 2.0], [3.0, 2.5], [2.0, 4.0]])
    limits = compute_limits(places)
    width, height = limits.high - limits.low
    assert limits.equal
    assert np.isclose(width, 1.25 * height)
    assert all(limits.contains(place) for place in places)
    assert not compute_limits(places * [1, 100]).equal
