"""Generated code does what its twin in plain Python does."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from rosenblatt.kernels import addresses, numbers
from rosenblatt.kernels.compiling import compile_here

WORDS = st.integers(0, 2**64 - 1).map(np.uint64)


def compile_call(function):
    """A kernel that calls a function."""
    return compile_here(lambda *given: function(*given))


LOW, HIGH, UPPER = map(
    compile_call, (addresses.low_zeros, addresses.high_zeros, numbers.upper_half)
)
BYTE, EIGHT = compile_call(addresses.byte), compile_call(addresses.eight_bytes)


@given(WORDS, WORDS)
def test_words(a, b):
    assert LOW(a) == addresses.low_zeros(a)
    assert HIGH(a) == addresses.high_zeros(a)
    assert UPPER(a, b) == numbers.upper_half(a, b)


@given(st.binary(min_size=8, max_size=8))
def test_bytes(text):
    data = np.frombuffer(text, np.uint8)
    place = data.ctypes.data
    assert BYTE(place) == addresses.byte(place) == text[0]
    assert EIGHT(place) == addresses.eight_bytes(place)


@pytest.mark.parametrize("text", ["0.1", "1e23", "8.5"])
def test_numbers_that_python_rounds(text):
    data = np.frombuffer(text.encode(), np.uint8)
    first = data.ctypes.data
    rounded = compile_call(numbers.in_python)(first, first + len(text), 0)
    assert rounded == numbers.in_python(first, first + len(text), 0) == float(text)
