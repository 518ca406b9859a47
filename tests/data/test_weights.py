"""Rows and classes get weights."""

import numpy as np
import pytest

from rosenblatt.data.weights import class_weights, refuse_one_class, row_weights, rows_that_count
from rosenblatt.parameters import ParameterError


def test_weights_of_rows_and_classes_are_multiplied():
    codes = np.array([0, 1, 1])
    assert row_weights(codes, None, None) is None
    assert row_weights(codes, [1, 2, 3], None).tolist() == [1, 2, 3]
    assert row_weights(codes, None, np.array([5.0, 7.0])).tolist() == [5, 7, 7]
    assert row_weights(codes, [1, 2, 3], np.array([5.0, 7.0])).tolist() == [5, 14, 21]
    assert row_weights(codes, 2, None).tolist() == [2, 2, 2]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ([1, -1, 1], "sample_weight is -1.0 in row 1"),
        ([1, 1, np.nan], "sample_weight is nan in row 2"),
        ([np.inf, 1, 1], "sample_weight is inf in row 0"),
        ([1, 1], r"sample_weight has shape \(2,\); X has 3 rows"),
    ],
)
def test_unusable_weights_are_refused(given, sentence):
    with pytest.raises(ValueError, match=sentence):
        row_weights(np.array([0, 1, 1]), given, None)


def test_weights_of_classes_go_by_label_or_by_rarity():
    classes, codes = np.array(["a", "b", "c"]), np.array([0, 0, 0, 1, 1, 2])
    assert class_weights(None, classes, codes) is None
    assert class_weights({"a": 2, "c": 3}, classes, codes).tolist() == [2, 1, 3]
    assert class_weights("balanced", classes, codes).tolist() == [6 / 9, 6 / 6, 6 / 3]
    with pytest.raises(ValueError, match="No row has the label 'b' to balance"):
        class_weights("balanced", classes, np.array([0, 2]))
    with pytest.raises(ParameterError, match=r"The classes \['c'\] are not in class_weight"):
        class_weights({"a": 1, "b": 1, "C": 1}, classes, codes)
    for unusable in ("equal", [1, 2, 3]):
        with pytest.raises(ParameterError, match="class_weight must be a dict"):
            class_weights(unusable, classes, codes)


def test_rows_without_weight_do_not_count():
    codes = np.array([0, 1, 1])
    assert rows_that_count(codes, None).tolist() == [0, 1, 2]
    counting = rows_that_count(codes, np.array([1.0, 0.0, 0.5]))
    assert counting.tolist() == [0, 2]
    assert counting.dtype == np.uint32
    refuse_one_class(codes, counting)
    with pytest.raises(ValueError, match="All sample weights are zero"):
        refuse_one_class(codes, counting[:0])
    with pytest.raises(ValueError, match="Only one class has rows of a weight above 0"):
        refuse_one_class(codes, counting[1:])
