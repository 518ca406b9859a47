"""A repeated run is the same run, or refused."""

import numpy as np
import pandas as pd
import pytest

from rosenblatt import Perceptron
from rosenblatt.plots import BoundaryDisplay, LearningAnimation, runs

from .conftest import XOR, apart


def test_a_run_that_is_too_long_is_not_followed(monkeypatch):
    monkeypatch.setattr(runs, "MOST_UPDATES", 10)
    with pytest.raises(ValueError, match="at most 10 can be repeated"):
        LearningAnimation.from_data(*XOR)


def test_a_display_trains_its_own_model():
    X, y = pd.DataFrame(apart()[0], columns=["width", "height"]), apart()[1]
    own = BoundaryDisplay.from_data(X, y, order="fixed", class_names=["no", "yes"])
    given = BoundaryDisplay.from_estimator(Perceptron(order="fixed").fit(X, y), X, y)
    assert np.array_equal(own.linear.weights, given.linear.weights)
    assert own.data.class_names == ("no", "yes")
    with pytest.raises(TypeError, match="eta"):
        BoundaryDisplay.from_data(X, y, eta=2)
