"""Points of different classes look different."""

import numpy as np
import pytest
from matplotlib import rc_context
from matplotlib.colors import to_hex

from rosenblatt.plots import BoundaryDisplay, CertificateDisplay
from rosenblatt.plots.drawing import COLOURS, draw_points, format_number

from .conftest import XOR, apart, fitted, new_ax


def test_classes_differ_in_colour_and_marker():
    ax, places = new_ax(), np.arange(20.0).reshape(10, 2)
    draw_points(ax, places, np.arange(10), np.arange(10), places[:0], "")
    looks = {
        (drawn.get_facecolor().tobytes(), drawn.get_paths()[0].vertices.tobytes())
        for drawn in ax.collections
    }
    assert len(looks) == 10


@pytest.mark.parametrize(
    ("value", "size", "text"),
    [(-0.0, 0, "0"), (-1e-17, 1, "0"), (-0.25, 1, "−0.25"), (1e-12, 1e-4, "1e−12")],
)
def test_numbers_are_never_minus_zero(value, size, text):
    assert format_number(value, size) == text


def test_what_is_drawn_has_the_colour_of_text():
    with rc_context({"text.color": "#ddeeff", "axes.facecolor": "black"}):
        display = BoundaryDisplay.from_estimator(fitted(), *apart()).plot(new_ax())
        certificate = CertificateDisplay.from_data(*XOR).plot(new_ax())
    for ax in display.ax_, certificate.ax_:
        drawn = {to_hex(line.get_color()) for line in ax.lines} - set(map(str.lower, COLOURS))
        assert drawn == {"#ddeeff"}
        assert all(
            to_hex(edge) == "#ddeeff"
            for points in ax.collections
            for edge in points.get_edgecolor()
        )
