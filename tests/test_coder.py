"""Labels of a file become class numbers, weights and held-out rows."""

import numpy as np
import pytest

from rosenblatt.coder import Coder
from rosenblatt.labels import UnknownLabelError, held_out
from rosenblatt.reading.batches import Batch
from rosenblatt.rows import rows_of


def batch(labels, weights=None):
    rows = rows_of(np.ones((len(labels), 1)))
    return Batch(rows, np.array(labels), weights, 1, 0, 0)


def test_weights_of_rows_and_classes_multiply_and_held_out_rows_weigh_nothing():
    coder = Coder(np.array(["a", "b"]), np.array([1.0, 3.0]), 0.5, 7)
    rows = coder.rows(batch(["a", "b"] * 50, np.full(100, 2.0)), 10)
    held = held_out(10, 100, 0.5, 7)
    assert 20 < held.sum() < 80
    np.testing.assert_array_equal(rows.weights, np.where(held, 0.0, np.tile([2.0, 6.0], 50)))
    np.testing.assert_array_equal(rows.everything, np.flatnonzero(~held))


def test_a_label_that_is_not_known_is_named_with_its_row():
    coder = Coder(np.array([0, 1]), None, 0.0, 0)
    with pytest.raises(UnknownLabelError, match=r"^Row 12 has the label 5"):
        coder.rows(batch([0, 5]), 10)
