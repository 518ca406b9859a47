"""Labels become numbers, rows and classes get weights, and some rows are held out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays, integer_dtypes

from rosenblatt.labels import encode

labels = arrays(
    integer_dtypes(endianness="=") | st.sampled_from([np.dtype("U3"), np.dtype(bool)]),
    array_shapes(min_dims=1, max_dims=1, max_side=20),
)


@given(y=labels)
def test_labels_are_numbered_as_numpy_does(y):
    classes, codes = encode(y)
    np.testing.assert_array_equal(classes, np.unique(y))
    np.testing.assert_array_equal(classes[codes], y)
    assert classes.dtype == y.dtype


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int64])
def test_labels_far_apart_for_their_type_are_numbered(dtype):
    classes, codes = encode(np.array([100, -100, 100], dtype))
    assert (classes.tolist(), codes.tolist()) == ([-100, 100], [1, 0, 1])
