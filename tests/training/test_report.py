"""Windows of rows, and notes with a code."""

import numpy as np
import pytest

from rosenblatt.training.report import Windows


@pytest.mark.parametrize("cut", [1, 3, 4, 10])
def test_windows_count_however_the_rows_are_cut(cut):
    wrong, found = np.array([1, 0, 0, 1, 1, 0, 1, 0, 0, 1], bool), []
    windows = Windows(4, lambda rows, count: found.append((rows, count)))
    for begin in range(0, 10, cut):
        windows.add(wrong[begin : begin + cut])
    assert found == [(4, 2), (8, 4)]
    windows.close()
    assert found[2:] == [(10, 5)]
