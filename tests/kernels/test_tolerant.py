"""The tolerant perceptron stops and goes on like the others, and counts what each row causes."""

import numpy as np
import pytest

from rosenblatt.data.rows import view_rows
from rosenblatt.kernels.linear import UPDATE, Examples
from rosenblatt.kernels.tolerant import TolerantSettings, tolerant, tolerant_multiclass

from ..conftest import blobs, csr


@pytest.mark.parametrize("layout", [np.asarray, csr])
@pytest.mark.parametrize("classes", [2, 3])
def test_a_kernel_that_stops_at_each_update_makes_the_same_ones(layout, classes):
    X, y = blobs(50, 4, classes)
    examples = Examples(
        view_rows(layout(X)),
        np.where(y > 0, 1.0, -1.0) if classes == 2 else np.ones(len(y)),
        None if classes == 2 else y.astype(np.uint32),
    )
    kernel = tolerant if classes == 2 else tolerant_multiclass
    order, settings = np.arange(50, dtype=np.uint32), TolerantSettings(0.0, 0.0, 1.0, 2.0, 2)

    def learn(most):
        shape = () if classes == 2 else (classes,)
        w, b, counts = np.zeros((4, *shape)), np.zeros(shape or 1), np.zeros(50, np.uint32)
        log, made = np.zeros(most, UPDATE), 0
        for _ in range(4):
            start = 0
            while start < 50:
                start, updates, _ = kernel(examples, counts, order, start, w, b, settings, log)
                made += updates
        assert counts.sum() == made
        assert counts.max() == 2
        return w, counts

    for one, other in zip(learn(1), learn(100), strict=True):
        np.testing.assert_array_equal(one, other)
