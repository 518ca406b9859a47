"""What the tests of the kernels that read text share: room for rows and names, and any bytes."""

from itertools import pairwise

import numpy as np
from hypothesis import strategies as st

from rosenblatt.kernels import lines
from rosenblatt.kernels.lines import Cursor
from rosenblatt.kernels.words import CSRBuffer, Names

MASK = np.uint64(2**18 - 1)


def as_array(data):
    return np.frombuffer(data, np.uint8)


def block(rows, values, dtype=np.float32):
    return CSRBuffer(
        np.zeros(values, dtype), np.zeros(values, np.uint32), np.zeros(rows + 1, np.uint64)
    )


def room_for_names(n=1000):
    places = np.zeros(n, np.int64)
    return Names(
        np.zeros(int(MASK) + 1, np.uint8),
        np.zeros(n, np.uint32),
        places,
        places.copy(),
        np.zeros(1, np.int64),
    )


NO_NAMES = Names(*(array[:0] for array in room_for_names(0)[:4]), np.zeros(1, np.int64))


def names_in(names, data):
    n = names.count[0]
    return {
        int(index): b" " * int(begin < 0)
        + data[max(begin, ~begin) : max(end, ~end)]
        + b" " * int(end < 0)
        for index, begin, end in zip(
            names.indices[:n], names.begins[:n], names.ends[:n], strict=True
        )
    }


def entries(block, rows):
    """Each row as a list of (column, value)."""
    return [
        list(zip(block.indices[i:j].tolist(), block.values[i:j].tolist(), strict=True))
        for i, j in zip(block.starts[:rows], block.starts[1 : rows + 1], strict=True)
    ]


ONE = np.zeros(0, np.int64)  # label per row


def cut(labels, starts):
    """The labels of each row."""
    return [labels[i:j].tolist() for i, j in pairwise(starts)]


def several(text, room=None, values=None, labels=None):
    """The sets of labels, the rows and the end of a text, in arrays of some sizes."""
    size = len(text) + 1
    found, starts = np.zeros(labels or size), np.zeros((room or size) + 1, np.int64)
    out = block(room or size, values or size)
    given = as_array(text), len(text), Cursor(), found, starts, out
    end = lines.svmlight(*given, 0, 99, False, True)
    return cut(found, starts[: end.rows + 1]), entries(out, end.rows), end


def svmlight(text, dtype=np.float64, first=0, limit=2**32, lenient=False, around=b""):
    """The labels, the rows and the end of a text, which may lie within other bytes."""
    labels, out = np.zeros(len(text)), block(len(text), len(text), dtype)
    buffer, start = as_array(around + text + around), len(around)
    given = buffer, start + len(text), Cursor(start), labels, ONE, out
    end = lines.svmlight(*given, first, limit, lenient, True)
    return labels[: end.rows].tolist(), entries(out, end.rows), end


letters = st.sampled_from([*b"0123456789.:-+eE|'# \t\r\n\0\xffqid,ab"])
any_bytes = st.lists(letters | st.integers(0, 255), max_size=60).map(bytes)
