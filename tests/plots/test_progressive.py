"""The errors before learning are drawn as they were counted or logged."""

import numpy as np

from rosenblatt import AROW, progressive
from rosenblatt.plots import ProgressiveDisplay

from .conftest import apart, new_ax


def test_the_errors_of_a_stream_are_drawn():
    seen = progressive(AROW(), *apart(n=90), batch_size=5)
    display = ProgressiveDisplay.from_progressive(seen, window=40).plot(new_ax())
    assert display.rows.tolist() == [40, 80, 90]
    assert display.error[-1] == seen.error
    np.testing.assert_array_equal(display.window_error, seen.over(40))
    window, so_far = display.ax_.lines
    np.testing.assert_array_equal(window.get_ydata(), display.window_error)
    np.testing.assert_array_equal(so_far.get_ydata(), display.error)
