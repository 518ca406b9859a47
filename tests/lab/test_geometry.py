"""Geometry: where lines and margins are drawn."""

import numpy as np
import pytest

from rosenblatt import margin

from .conftest import SMALL, run_of


def test_lines_and_bands_are_where_the_weights_say():
    points, _, run = run_of(SMALL)
    at = {name: values[-1] for name, values in run.columns.items()}
    w, b = np.array([at["w1"], at["w2"]]), at["b"]
    for x, y in [(at["s_x0"], at["s_y0"]), (at["s_x1"], at["s_y1"])]:
        assert w @ [x, y] + b == pytest.approx(0, abs=1e-9)
    assert at["margin"] == pytest.approx(margin(points.X, points.y, w, b))
    edge = np.array([at["s_x0"] + at["m_x"], at["s_y0"] + at["m_y"]])
    assert (w @ edge + b) / np.linalg.norm(w) == pytest.approx(at["margin"])
    assert np.isnan(run.columns["s_x0"][0])  # at w = 0 there is no line
