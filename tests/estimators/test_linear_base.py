"""What classifiers and regressors share (test_promises.py has what every estimator promises)."""

import pytest

from rosenblatt import Perceptron


def test_a_bias_to_start_from_needs_a_bias():
    with pytest.raises(ValueError, match="intercept_init needs fit_intercept=True"):
        Perceptron(fit_intercept=False).fit([[1.0], [-1.0]], [0, 1], intercept_init=1)
