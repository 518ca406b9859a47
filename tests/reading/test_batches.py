"""Batches are joined and cut without changing a row."""

import io

import numpy as np

from rosenblatt.reading.batches import join_batches, slice_batch
from rosenblatt.reading.reader import read_whole

from .samples import NUMBERS, SVMLIGHT, VW, read


def test_part_of_a_batch():
    for name, text in ("svm", SVMLIGHT), ("csv", NUMBERS.encode()):
        batch = read_whole(read(io.BytesIO(text), format=name))
        part = slice_batch(batch, 20, 35)
        assert abs(batch.X[20:35] - part.X).max() == 0
        np.testing.assert_array_equal(part.labels, batch.labels[20:35])


def test_parts_make_one_batch():
    for name, text in ("svm", SVMLIGHT), ("csv", NUMBERS.encode()), ("vw", VW):
        (batch,) = read(io.BytesIO(text), format=name)
        again = join_batches(
            [slice_batch(batch, 0, 7), slice_batch(batch, 7, 7), slice_batch(batch, 7, 200)]
        )
        for one, other in zip([*batch.rows, *batch[1:]], [*again.rows, *again[1:]], strict=True):
            np.testing.assert_array_equal(one, other)
    ones = slice_batch(batch, 0, 2)._replace(weights=None)
    assert join_batches([ones, slice_batch(batch, 2, 4)]).weights.tolist() == [1, 1, 2, 2]
