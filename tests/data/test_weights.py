"""Rows and classes get weights."""

import numpy as np
import pytest

from rosenblatt.data.weights import class_weights, refuse_one_class, row_weights, rows_that_count

from ..reading.samples import refused


def test_weights_of_rows_and_classes_are_multiplied():
    codes = np.array([0, 1, 1])
    assert row_weights(codes, None, None) is None
    assert row_weights(codes, [1, 2, 3], None).tolist() == [1, 2, 3]
    assert row_weights(codes, None, np.array([5.0, 7.0])).tolist() == [5, 7, 7]
    assert row_weights(codes, [1, 2, 3], np.array([5.0, 7.0])).tolist() == [5, 14, 21]
    assert row_weights(codes, 2, None).tolist() == [2, 2, 2]


@pytest.mark.parametrize(
    ("given", "code", "row"),
    [
        ([1, -1, 1], "weight-out-of-range", 1),
        ([1, 1, np.nan], "weight-out-of-range", 2),
        ([np.inf, 1, 1], "weight-out-of-range", 0),
        ([1, 1], "weights-of-rows", None),
    ],
)
def test_unusable_weights_are_refused(given, code, row):
    with refused(code, line=row):
        row_weights(np.array([0, 1, 1]), given, None)


def test_weights_of_classes_go_by_label_or_by_rarity():
    classes, codes = np.array(["a", "b", "c"]), np.array([0, 0, 0, 1, 1, 2])
    assert class_weights(None, classes, codes) is None
    assert class_weights({"a": 2, "c": 3}, classes, codes).tolist() == [2, 1, 3]
    assert class_weights("balanced", classes, codes).tolist() == [6 / 9, 6 / 6, 6 / 3]
    with refused("class-without-rows"):
        class_weights("balanced", classes, np.array([0, 2]))
    with refused("class-without-weight"):
        class_weights({"a": 1, "b": 1, "C": 1}, classes, codes)
    for unusable in ("equal", [1, 2, 3], {"a": {}}, {"a": "2"}, {"a": np.nan}, {"a": -1}):
        with refused("out-of-range"):
            class_weights(unusable, classes, codes)


def test_rows_without_weight_do_not_count():
    codes = np.array([0, 1, 1])
    assert rows_that_count(codes, None).tolist() == [0, 1, 2]
    counting = rows_that_count(codes, np.array([1.0, 0.0, 0.5]))
    assert counting.tolist() == [0, 2]
    assert counting.dtype == np.uint32
    refuse_one_class(codes, counting)
    with refused("no-rows"):
        refuse_one_class(codes, counting[:0])
    with refused("one-class"):
        refuse_one_class(codes, counting[1:])
