"""What classifiers and regressors share: one way to check, begin and continue."""

import numpy as np
import pytest

from rosenblatt import Perceptron
from rosenblatt.estimators.linear_base import LinearEstimator
from rosenblatt.parameters import RULE_NAMES


def test_every_rule_is_a_linear_estimator():
    import rosenblatt

    for name, rule in RULE_NAMES.items():
        kind = getattr(rosenblatt, name)
        assert issubclass(kind, LinearEstimator)
        assert kind._rule.name == rule


@pytest.mark.parametrize("name", ["Perceptron", "PassiveAggressiveRegressor"])
def test_a_fit_that_fails_leaves_the_model_as_it_was(name):
    import rosenblatt

    X, y = np.array([[1.0], [-2.0], [3.0]]), np.array([1, 0, 1])
    model = getattr(rosenblatt, name)(random_state=0).fit(X, y)
    before = model.coef_.copy()
    with pytest.raises(ValueError, match="NaN"):
        model.fit([[1.0], [np.nan], [2.0]], y)
    assert np.array_equal(model.coef_, before)


def test_initial_weights_without_a_bias_are_refused():
    with pytest.raises(ValueError, match="intercept_init needs fit_intercept=True"):
        Perceptron(fit_intercept=False).fit([[1.0], [-1.0]], [0, 1], intercept_init=[1.0])
