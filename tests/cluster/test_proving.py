"""Proving on all partitions while few rows travel."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from rosenblatt import Inseparable, Separable, margin
from rosenblatt.cluster import proving, separability

from .conftest import cut

pytestmark = pytest.mark.cluster


@pytest.mark.parametrize("layout", [np.asarray, csr_matrix])
def test_separability_of_all_partitions_is_proved(client, layout, monkeypatch):
    monkeypatch.setattr(proving, "HARD_ROWS", 10)
    random = np.random.default_rng(0)
    X = np.round(random.normal(size=(600, 3)) * 8)
    y = np.where(X @ [1, 2, -1] > 0.5, "a", "b")
    verdict = separability(*cut(layout(X), y, [100, 200, 300]), client=client)
    assert isinstance(verdict, Separable)
    assert verdict.verify(X, y)
    assert verdict.margin == pytest.approx(margin(X, y, np.array(verdict.weights), verdict.bias))
    y[[5, 599]] = y[[599, 5]]
    clash = separability(*cut(layout(X), y, [100, 200, 300]), client=client)
    assert isinstance(clash, Inseparable)
    assert clash.verify(X, y)
    with pytest.raises(ValueError, match="3 classes"):
        separability(*cut(X, np.arange(600) % 3, [300, 300]), client=client)
