"""Rows and labels that cannot be drawn get a sentence."""

import numpy as np
import pandas as pd
import pytest
from sklearn.svm import SVC

from rosenblatt import Perceptron
from rosenblatt.plots import BoundaryDisplay, ProjectionDisplay
from rosenblatt.plots.data import MOST_POINTS, check_data, check_fitted_data

from .conftest import apart, fitted, new_ax


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([[1.0, np.nan]], [0], "NaN in row 0, column 1"),
        ([[1.0, np.inf]], [0], "infinity"),
        ([[1.0, 1e200]], [0], "too large to draw"),
        (np.empty((0, 2)), [], "0 sample"),
        ([[1.0, 2.0]], [7], "y has the label 7; the estimator knows 0, 1"),
        ([[1.0, 2.0]], [None], "Leave such rows out"),
        ([[1.0, 2.0]], [0, 1], "inconsistent numbers of samples"),
        ([[1.0]], [0], "expecting 2 features"),
        ([["a", "b"]], [0], "could not convert string to float"),
    ],
)
def test_rows_that_cannot_be_drawn_are_refused(X, y, message):
    with pytest.raises(ValueError, match=message):
        BoundaryDisplay.from_estimator(fitted(), X, y)


def test_of_a_million_rows_some_are_drawn_and_the_picture_says_so():
    X = np.random.default_rng(0).normal(size=(1_000_000, 2))
    y = X[:, 0] > 0.1
    model = Perceptron(random_state=0, max_iter=1).fit(X, y)
    display = BoundaryDisplay.from_estimator(model, X, y).plot(new_ax())
    assert len(display.places) == MOST_POINTS
    assert display.errors == np.count_nonzero(model.predict(X) != y)
    assert "5,000 of 1,000,000 rows" in [text.get_text() for text in display.ax_.texts]
    ProjectionDisplay.from_estimator(model, X, y).plot(new_ax())


def test_columns_keep_their_names():
    X, y = apart()
    X = pd.DataFrame(X, columns=["width", "height"])
    model = SVC().fit(X, y)
    ax = BoundaryDisplay.from_estimator(model, X, y).plot(new_ax()).ax_
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("width", "height")


def test_names_are_given_or_known():
    X, y = apart()
    given = check_data(X, y, class_names=np.array(["left", "right"]), feature_names=["a", "b"])
    assert (given.class_names, given.feature_names) == (("left", "right"), ("a", "b"))
    known = check_data(pd.DataFrame(X, columns=["width", "height"]), y)
    assert (known.class_names, known.feature_names) == (("0", "1"), ("width", "height"))
    model = Perceptron().fit(pd.DataFrame(X, columns=["width", "height"]), y)
    assert check_fitted_data(model, X, y).feature_names == ("width", "height")


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ({"class_names": ["one"]}, "There are 2 classes, but 1 class_names."),
        ({"feature_names": ["a", "b", "c"]}, "X has 2 columns, but 3 feature_names."),
    ],
)
def test_names_must_be_as_many_as_what_they_name(names, message):
    with pytest.raises(ValueError, match=message):
        check_data(*apart(), **names)
