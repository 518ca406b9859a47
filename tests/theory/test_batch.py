"""A batch perceptron keeps the bounds of its theorem."""

import numpy as np
import pytest

from rosenblatt import Perceptron, report

from .conftest import separated


@pytest.mark.parametrize("n", [5, 40, 150])
@pytest.mark.parametrize("d", [2, 5])
def test_mistakes_updates_and_length_are_within_their_bounds(n, d):
    X, y = separated(n, d, bias=0.0)
    model = Perceptron(order="batch", fit_intercept=False, max_iter=10_000).fit(X, y)
    assert model.stop_reason_ == "separated"
    passes = [epoch.mistakes for epoch in model.history_ if epoch.mistakes]
    found, R = report(model, X, y), np.linalg.norm(X, axis=1).max()
    assert np.isclose(found.bound, n * (R / found.attained) ** 2)
    assert np.isclose(found.most_updates, (n + 1) ** 2 / (4 * n) * (R / found.attained) ** 2)
    assert sum(passes) == found.mistakes <= found.bound
    assert len(passes) == found.updates <= found.most_updates
    low, length, high = found.chain
    assert np.isclose(length, np.linalg.norm(model.coef_))
    assert np.isclose(high, R * np.linalg.norm(passes))
    assert low <= length * (1 + 1e-9) <= high * (1 + 1e-9) ** 2
