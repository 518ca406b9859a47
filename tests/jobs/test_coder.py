"""Labels of a file become class numbers, weights and held-out rows."""

import numpy as np
import pytest

from rosenblatt.data.labels import LabelSets, UnknownLabelError
from rosenblatt.data.rows import rows_of
from rosenblatt.data.splits import Split
from rosenblatt.jobs.coder import Coder, coder_for
from rosenblatt.parameters import parameters_for_files
from rosenblatt.reading.batches import Batch


def batch(labels, weights=None):
    rows = rows_of(np.ones((len(labels), 1)))
    return Batch(rows, np.array(labels), weights, 1, 0, 0)


def test_weights_of_rows_and_classes_multiply_and_held_out_rows_weigh_nothing():
    coder = Coder(np.array(["a", "b"]), np.array([1.0, 3.0]), 0.5, 7)
    rows = coder.rows(batch(["a", "b"] * 50, np.full(100, 2.0)), 10)
    held = Split(0.5, 7).held_out(10, 100)
    assert 20 < held.sum() < 80
    np.testing.assert_array_equal(rows.weights, np.where(held, 0.0, np.tile([2.0, 6.0], 50)))
    np.testing.assert_array_equal(rows.everything, np.flatnonzero(~held))


SETS = LabelSets(np.array(["b", "a", "b"], object), np.array([0, 0, 2, 3]))


def test_sets_of_labels_become_an_indicator():
    given = Batch(rows_of(np.ones((3, 1))), SETS, None, 1, 0, 0)
    coder = coder_for([given], parameters_for_files(), None, 0.0, None)
    assert coder.classes.tolist() == ["a", "b"]
    rows = coder.rows(given, 0)
    assert rows.codes.tolist() == [[False, False], [True, True], [False, True]]
    assert rows.everything.tolist() == [0, 1, 2]
    with pytest.raises(UnknownLabelError, match=r"^Row 12 has the label 'a'"):
        Coder(np.array(["b"]), None, 0.0, 0).rows(given, 10)
    for name, value in {"class_weight": "balanced", "calibrate": True}.items():
        with pytest.raises(ValueError, match=f"^{name} is for rows of one label each"):
            coder_for([given], parameters_for_files(**{name: value}), None, 0.0, None)


def test_a_label_that_is_not_known_is_named_with_its_row():
    coder = Coder(np.array([0, 1]), None, 0.0, 0)
    with pytest.raises(UnknownLabelError, match=r"^Row 12 has the label 5"):
        coder.rows(batch([0, 5]), 10)
