"""Rows and labels that cannot be drawn get a sentence."""

import numpy as np
import pandas as pd

from rosenblatt import Perceptron
from rosenblatt.plots import BoundaryDisplay, ProjectionDisplay
from rosenblatt.plots.data import MOST_POINTS, check_data, check_fitted_data

from .conftest import apart, new_ax


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
