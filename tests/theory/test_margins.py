"""Radius and margins are those of their definitions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from rosenblatt import (
    margin,
    margins,
    radius,
    training_error,
)

from ..conftest import csr, examples
from .conftest import signs_of


@given(examples(), arrays(float, 4, elements=st.integers(-3, 3)), st.integers(-3, 3))
def test_quantities_are_those_of_their_definitions(data, w, b):
    X, y = data
    w = w[: X.shape[1]]
    functional = [
        s * (sum(p * q for p, q in zip(w, x, strict=True)) + b)
        for s, x in zip(signs_of(y), X, strict=True)
    ]
    for rows in (X, csr(X), X.tolist()):
        assert radius(rows) == pytest.approx(max(np.sqrt(sum(v * v for v in x)) for x in X))
        assert margins(rows, y, w, b).tolist() == functional
        assert training_error(rows, y, w, b) == np.mean([value <= 0 for value in functional])
        if min(functional) <= 0:
            assert margin(rows, y, w, b) == -np.inf
        else:
            assert margin(rows, y, w, b) == pytest.approx(min(functional) / np.sqrt(sum(w * w)))


def test_the_margin_needs_every_row_strictly_on_its_side():
    X, y = [[2.0], [-1.0], [0.5]], [1, 0, 1]
    assert margin(X, y, [1.0]) == 0.5
    assert margin(X, y, [1.0], -0.5) == -np.inf
    assert margin(X, y, [0.0]) == -np.inf
    assert training_error(X, y, [1.0], -0.5) == 1 / 3


@pytest.mark.parametrize("size", [5e-324, 1e-310, 1e-200, 1.0, 1e200, 1e307])
def test_a_radius_neither_overflows_nor_vanishes(size):
    assert radius([[3 * size, 4 * size]]) == pytest.approx(5 * size, rel=1e-9, abs=0)


def test_the_largest_float_is_its_own_radius():
    assert radius([[1.7e308], [1.0]]) == 1.7e308
