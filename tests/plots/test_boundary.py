"""The line, the band, the arrow, the circles and the bars are where the model says."""

import numpy as np
import pytest
from matplotlib.patches import StepPatch
from sklearn.datasets import make_circles
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import rosenblatt
from rosenblatt import Perceptron
from rosenblatt.plots import BoundaryDisplay, ProjectionDisplay

from ..conftest import blobs
from .conftest import XOR, apart, axlines, fitted, new_ax, points


@pytest.mark.parametrize("seed", range(5))
def test_the_line_is_where_the_activation_is_zero(seed):
    X, y = blobs(60, 2, seed=seed)
    model = Perceptron(random_state=0, max_iter=5).fit(X, y)
    display = BoundaryDisplay.from_estimator(model, X, y).plot(new_ax())
    line = axlines(display.ax_)[0]
    assert np.allclose(model.decision_function(line), 0)


def test_the_band_is_as_wide_as_the_margin():
    X, y = apart()
    model = Perceptron(random_state=0).fit(X, y)
    display = BoundaryDisplay.from_estimator(model, X, y).plot(new_ax())
    _, below, above = axlines(display.ax_)
    length = np.linalg.norm(model.coef_)
    nearest = rosenblatt.margin(X, y, model.coef_, model.intercept_[0])
    assert np.allclose(model.decision_function(below) / length, -nearest)
    assert np.allclose(model.decision_function(above) / length, nearest)


def test_without_separation_the_band_is_what_was_demanded():
    X, y = blobs(60, 2)
    model = Perceptron(random_state=0, margin=2.0, max_iter=3).fit(X, y)
    display = BoundaryDisplay.from_estimator(model, X, y)
    assert display.errors > 0
    assert np.isclose(display.band * np.linalg.norm(model.coef_), 2.0)


def test_every_row_is_drawn_and_the_mistakes_are_circled():
    X, y = blobs(60, 2)
    model = Perceptron(random_state=0, max_iter=2).fit(X, y)
    wrong = model.predict(X) != y
    drawn = points(BoundaryDisplay.from_estimator(model, X, y).plot(new_ax()).ax_)
    assert np.array_equal(drawn.pop("0"), X[y == 0])
    assert np.array_equal(drawn.pop("1"), X[y == 1])
    assert np.array_equal(drawn.pop(f"misclassified ({wrong.sum()})"), X[wrong])
    assert not drawn


def test_the_arrow_points_along_the_weights_and_the_shift_ends_on_the_boundary():
    X, y = apart()
    model = Perceptron(random_state=0).fit(X, y)
    ax = BoundaryDisplay.from_estimator(model, X, y).plot(new_ax()).ax_
    arrow = next(text for text in ax.texts if text.arrow_patch is not None)
    w, direction = model.coef_[0], np.subtract(arrow.xy, arrow.xyann)
    assert np.isclose(w @ direction, np.linalg.norm(w) * np.linalg.norm(direction))
    (shift,) = (line for line in ax.lines if str(line.get_label()).startswith("shift"))
    start, end = shift.get_xydata()
    assert start.tolist() == [0, 0]
    assert np.isclose(model.decision_function([end])[0], 0)


def test_one_column_is_drawn_on_a_line():
    X, y = np.array([[-2.0], [-1.0], [3.0]]), [0, 0, 1]
    model = Perceptron(random_state=0).fit(X, y)
    display = BoundaryDisplay.from_estimator(model, X, y).plot(new_ax())
    assert np.array_equal(display.places, np.column_stack([X, np.zeros(3)]))
    assert np.allclose(model.decision_function(axlines(display.ax_)[0][:, :1]), 0)


@pytest.mark.parametrize(
    "estimator",
    [
        SVC(),
        make_pipeline(PolynomialFeatures(2), Perceptron(random_state=0)),
        DecisionTreeClassifier(random_state=0),
        LogisticRegression(),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_any_classifier_is_drawn_as_it_predicts(estimator):
    X, y = make_circles(60, noise=0.1, factor=0.4, random_state=0)
    estimator.fit(X, y)
    display = BoundaryDisplay.from_estimator(estimator, X, y)
    xs, ys = np.linspace(display.limits.low, display.limits.high, 200).T
    grid = np.stack(np.meshgrid(xs, ys), axis=-1).reshape(-1, 2)
    sure = np.abs(display.leads[1].ravel()) > 1e-9
    shown = (display.leads[1].ravel() > 0)[sure]
    assert np.array_equal(shown, (estimator.predict(grid) == 1)[sure])
    assert (display.linear is None) == (not isinstance(estimator, LogisticRegression))
    display.plot(new_ax())


@pytest.mark.parametrize(
    ("ties", "errors"), [("mistake", 4), ("positive", 2), ("negative", 2), ("correct", 0)]
)
def test_ties_decide_what_is_wrong_on_the_boundary(ties, errors):
    display = BoundaryDisplay.from_weights([[0.0, 0.0]], [0.0], *XOR, ties=ties).plot(new_ax())
    assert display.errors == errors
    assert not axlines(display.ax_)  # zero weights have no boundary


@pytest.mark.parametrize("new", [[9.0, 9.0], [[9.0, 9.0], [-9.0, -9.0]]])
def test_a_new_row_is_a_grey_triangle_with_its_prediction(new):
    X, y = apart()
    model = fitted()
    display = BoundaryDisplay.from_estimator(model, X, y, new=new, class_names=["no", "yes"])
    rows = np.atleast_2d(new)
    assert np.array_equal(display.new.codes, model.predict(rows))
    assert all(display.limits.contains(place) for place in rows)
    ax = display.plot(new_ax()).ax_
    assert np.array_equal(points(ax)["new, with its prediction"], rows)
    predicted = ["→ yes", "→ no"][: len(rows)]
    assert [text.get_text() for text in ax.texts if "→" in text.get_text()] == predicted
    assert display.n_rows == len(y)


def test_projections_lie_on_the_side_that_is_predicted():
    X, y = blobs(60, 4)
    model = Perceptron(random_state=0, max_iter=3).fit(X, y)
    display = ProjectionDisplay.from_estimator(model, X, y)
    assert np.allclose(display.positions * np.linalg.norm(model.coef_), X @ model.coef_[0])
    assert np.array_equal(display.positions > display.threshold, model.predict(X) == 1)
    ax = display.plot(new_ax()).ax_
    bars = [patch.get_data() for patch in ax.patches if type(patch) is StepPatch]
    assert [bar.values.sum() for bar in bars[::2]] == [-np.sum(y == 0), np.sum(y == 1)]
    assert sum(abs(bar.values).sum() for bar in bars[1::2]) == display.wrong.sum()
    assert display.threshold in bars[0].edges


def test_a_score_is_projected_where_there_is_no_w():
    X, y = blobs(60, 2)
    model = SVC().fit(X, y)
    display = ProjectionDisplay.from_estimator(model, X, y)
    assert np.array_equal(display.positions, model.decision_function(X))
    assert display.threshold == 0
