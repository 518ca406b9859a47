"""Rows, names, scores and planes are those of the data and the estimator."""

import numpy as np
import pandas as pd
import pytest

from rosenblatt import Perceptron
from rosenblatt.plots import BoundaryDisplay, ProjectionDisplay
from rosenblatt.plots.data import MOST_POINTS, check_data, check_fitted_data
from rosenblatt.plots.planes import compute_limits

from ..conftest import blobs, csr
from .conftest import IRIS, apart, new_ax, points


def test_of_a_million_rows_some_are_drawn_and_the_picture_says_so():
    X = np.random.default_rng(0).normal(size=(1_000_000, 2))
    y = X[:, 0] > 0.1
    model = Perceptron(random_state=0, max_iter=1).fit(X, y)
    display = BoundaryDisplay.from_estimator(model, X, y).plot(new_ax())
    assert len(display.places) == MOST_POINTS
    assert display.errors == np.count_nonzero(model.predict(X) != y)
    assert "5,000 of 1,000,000 rows" in [text.get_text() for text in display.ax_.texts]
    ProjectionDisplay.from_estimator(model, X, y).plot(new_ax())


def test_names_are_given_or_known():
    X, y = apart()
    given = check_data(X, y, class_names=np.array(["left", "right"]), feature_names=["a", "b"])
    assert (given.class_names, given.feature_names) == (("left", "right"), ("a", "b"))
    known = check_data(pd.DataFrame(X, columns=["width", "height"]), y)
    assert (known.class_names, known.feature_names) == (("0", "1"), ("width", "height"))
    model = Perceptron().fit(pd.DataFrame(X, columns=["width", "height"]), y)
    assert check_fitted_data(model, X, y).feature_names == ("width", "height")


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
