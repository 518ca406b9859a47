"""What is surely positive is positive."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra.numpy import arrays

from rosenblatt.theory.problem import Problem

from ..conftest import LAYOUTS, csr
from .conftest import exactly

any_float = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(-1e-300, 1e-300),
    st.floats(-2, 2),
    st.integers(-3, 3).map(float),
    st.sampled_from([5e-324, -5e-324, 0.1, -0.3, 1.7e308, -1.7e308]),
)


def surely(X, signs, w, b):
    return Problem(X, signs).bound_margins(w, b)[0] > 0


@settings(max_examples=300)
@given(st.data(), st.integers(0, 6))
def test_what_is_surely_positive_is_positive(data, d):
    X = data.draw(arrays(float, (4, d), elements=any_float))
    w = data.draw(arrays(float, d, elements=any_float))
    b = data.draw(any_float)
    signs = data.draw(arrays(float, 4, elements=st.sampled_from([-1.0, 1.0])))
    truth = exactly(X, signs, w, b)
    for rows in (X, csr(X)):
        for sure, value in zip(surely(rows, signs, w, b), truth, strict=True):
            assert value > 0 or not sure


@settings(max_examples=200)
@given(st.data(), st.integers(2, 12), st.integers(-2, 2))
def test_a_sum_that_cancels_is_not_surely_positive_unless_it_is(data, d, steps):
    """Rows placed as near to the plane as floats allow."""
    w = data.draw(arrays(float, d, elements=st.floats(-10, 10)))
    X = data.draw(arrays(float, (3, d), elements=st.floats(-10, 10)))
    b = -float(exactly(X, np.ones(3), w, 0.0)[0])
    for _ in range(abs(steps)):
        b = float(np.nextafter(b, np.inf if steps > 0 else -np.inf))
    for signs in (np.ones(3), -np.ones(3)):
        for sure, value in zip(surely(X, signs, w, b), exactly(X, signs, w, b), strict=True):
            assert value > 0 or not sure


@pytest.mark.parametrize("layout", ["dense", "int32", "int64"])
def test_the_filter_settles_almost_every_row(layout):
    rng = np.random.default_rng(0)
    X, w = rng.normal(size=(10_000, 30)), rng.normal(size=30)
    signs = np.sign(X @ w + 0.1)
    sure = surely(LAYOUTS[layout](X), signs, w, 0.1)
    assert sure.mean() > 0.999
    assert not surely(LAYOUTS[layout](X), -signs, w, 0.1).any()
