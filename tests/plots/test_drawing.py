"""Points of different classes look different."""

import numpy as np

from rosenblatt.plots.drawing import draw_points, legend_above

from .conftest import new_ax


def test_classes_differ_in_colour_and_marker():
    ax, places = new_ax(), np.arange(20.0).reshape(10, 2)
    draw_points(ax, places, np.arange(10), np.arange(10), places[:0], "")
    looks = {
        (drawn.get_facecolor().tobytes(), drawn.get_paths()[0].vertices.tobytes())
        for drawn in ax.collections
    }
    assert len(looks) == 10


def test_the_legend_names_points_before_lines():
    ax, places = new_ax(), np.zeros((1, 2))
    ax.plot([0, 1], [0, 1], label="line")
    draw_points(ax, places, np.zeros(1), np.array(["a"]), places, "why")
    legend_above(ax)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a", "why", "line"]
