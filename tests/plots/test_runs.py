"""A repeated run is the same run, or refused."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from rosenblatt import Perceptron
from rosenblatt.plots import BoundaryDisplay, LearningAnimation, runs, save_plot

from .conftest import XOR, apart, fitted


def test_a_run_that_is_too_long_is_not_followed(monkeypatch):
    monkeypatch.setattr(runs, "MOST_UPDATES", 10)
    with pytest.raises(ValueError, match="at most 10 can be repeated"):
        LearningAnimation.from_data(*XOR)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: LearningAnimation.from_data(*XOR, every="year"), "every must be"),
        (
            lambda: LearningAnimation.from_estimator(fitted(), *apart(seed=1)),
            "pass the rows that the model was fitted on",
        ),
    ],
)
def test_what_cannot_be_repeated_is_refused_in_a_sentence(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_a_display_trains_its_own_model():
    X, y = pd.DataFrame(apart()[0], columns=["width", "height"]), apart()[1]
    own = BoundaryDisplay.from_data(X, y, order="fixed", class_names=["no", "yes"])
    given = BoundaryDisplay.from_estimator(Perceptron(order="fixed").fit(X, y), X, y)
    assert np.array_equal(own.linear.weights, given.linear.weights)
    assert own.data.class_names == ("no", "yes")
    with pytest.raises(TypeError, match="eta"):
        BoundaryDisplay.from_data(X, y, eta=2)


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_a_model_knows_the_columns_that_it_was_fitted_on(tmp_path):
    X, y = pd.DataFrame(apart()[0], columns=["width", "height"]), apart()[1]
    save_plot(tmp_path / "figure.svg", X.to_numpy(), y, estimator=LogisticRegression().fit(X, y))
    assert "<!-- width -->" in (tmp_path / "figure.svg").read_text("utf-8")
