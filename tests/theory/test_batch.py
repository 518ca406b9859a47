"""A batch perceptron keeps the bounds of its theorem."""

import numpy as np
import pytest

from rosenblatt import Perceptron, max_margin, radius
from rosenblatt.theory.batch import batch_bounds, batch_length

from .conftest import separated


@pytest.mark.parametrize("n", [5, 40, 150])
@pytest.mark.parametrize("d", [2, 5])
def test_mistakes_updates_and_length_are_within_their_bounds(n, d):
    X, y = separated(n, d, bias=0.0)
    model = Perceptron(order="batch", fit_intercept=False, max_iter=10_000).fit(X, y)
    assert model.stop_reason_ == "separated"
    passes = [epoch.mistakes for epoch in model.history_ if epoch.mistakes]
    gamma = max_margin(X, y, fit_intercept=False).attained
    mistakes, updates = batch_bounds((radius(X) / gamma) ** 2, n)
    assert sum(passes) <= mistakes
    assert len(passes) <= updates
    length = np.linalg.norm(model.coef_)
    assert gamma * sum(passes) <= length * (1 + 1e-9)
    assert length <= batch_length(radius(X), passes) * (1 + 1e-9)
