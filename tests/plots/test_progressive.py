"""The errors before learning are drawn as they were counted or logged."""

import numpy as np
import pytest

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


def test_a_log_of_a_training_is_drawn(tmp_path):
    path = tmp_path / "errors.csv"
    path.write_text("rows,error,window_error\n100,0.25,0.25\n200,0.2,0.15\n")
    display = ProgressiveDisplay.from_csv(path)
    assert (display.rows.tolist(), display.window_error.tolist()) == ([100, 200], [0.25, 0.15])
    display.plot(new_ax())


@pytest.mark.parametrize(
    "text", ["", "a,b\n1,2\n", "rows,error,window_error\n", "rows,error\n1,x\n"]
)
def test_another_file_is_refused_by_its_name(tmp_path, text):
    path = tmp_path / "errors.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"errors\.csv is not a log of the progressive error"):
        ProgressiveDisplay.from_csv(path)
