"""Every row lies on the side that is predicted."""

import numpy as np
from matplotlib.patches import StepPatch
from sklearn.svm import SVC

from rosenblatt import Perceptron
from rosenblatt.plots import ProjectionDisplay

from ..conftest import blobs
from .conftest import new_ax


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
