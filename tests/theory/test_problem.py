"""Which rows and labels a proof is about, and which it refuses."""

import numpy as np
import pytest

from rosenblatt import margin, margins, max_margin, mistake_bounds, separability


def test_the_larger_label_is_positive():
    X, w = [[1.0], [-1.0]], [1.0]
    for y in ([1, 0], [1, -1], [True, False], ["yes", "no"], [2.5, 0.5], [-1, -2]):
        assert margin(X, y, w) == 1
        assert margin(X, y[::-1], w) == -np.inf


@pytest.mark.parametrize(
    "ask",
    [
        lambda X, y: margins(X, y, [1.0]),
        lambda X, y: mistake_bounds(X, y, [1.0]),
        max_margin,
        separability,
    ],
)
def test_three_classes_are_refused(ask):
    with pytest.raises(ValueError, match="3 classes"):
        ask([[1.0], [2.0], [3.0]], [0, 1, 2])


@pytest.mark.parametrize(
    "X", [[[2**60 + 1], [2**60]], np.array([[2**64 - 1], [2**64 - 2]], np.uint64)]
)
def test_numbers_that_a_float_cannot_hold_are_refused(X):
    with pytest.raises(ValueError, match="float64 cannot hold"):
        separability(X, [0, 1])


def test_labels_that_are_not_known_are_refused():
    for y in ([0, 0, np.nan, np.nan], [None, None, 1, 1]):
        with pytest.raises(ValueError, match="Leave such rows out"):
            separability(np.eye(4), y)
