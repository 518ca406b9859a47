"""Bytes are found by their address, and nothing is read beyond an end."""

import numpy as np
from hypothesis import given, strategies as st

from rosenblatt.kernels import addresses
from rosenblatt.kernels.addresses import line_end
from rosenblatt.kernels.compiling import compile_here

from .texts import as_array


@compile_here
def ends(data, first, stop):
    """What kernels ask of the bytes first to stop."""
    base = addresses.address(data)
    after = addresses.last_line_end(base + first, base + stop) - base
    return after, addresses.eight(base + first, base + stop)


@given(st.binary(max_size=20), st.binary(max_size=20), st.binary(max_size=20))
def test_the_last_whole_line_and_the_first_eight_bytes(before, text, behind):
    data, first = as_array(before + text + behind + b" "), len(before)
    after, word = ends(data, first, first + len(text))
    assert after == first + text.rfind(b"\n") + 1
    assert word == int.from_bytes(text[:8], "little")


def test_a_line_ends_at_its_newline():
    data = np.array([*b"ab\ncd\n"], np.uint8)
    assert [line_end(data.ctypes.data + i) - data.ctypes.data for i in (0, 2, 3)] == [2, 2, 5]
