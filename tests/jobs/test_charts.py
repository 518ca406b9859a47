"""Charts as SVG: valid, with every curve and name in them."""

from xml.etree import ElementTree

import numpy as np

from rosenblatt.jobs.charts import Axis, Chart, Series, draw_chart, thin_out
from rosenblatt.jobs.curves import Curve


def test_a_chart_is_valid_and_complete():
    curve = Curve(np.array([0.0, 0.5, 1.0]), np.array([0.0, 0.8, 1.0]))
    series = [Series("a < b", curve, dots=True), Series("other", curve)]
    drawn = draw_chart(Chart("Some & others", series, (Axis("x"), Axis("y", -1, 3)), curve))
    root = ElementTree.fromstring(drawn)
    assert root.find("h3").text == "Some & others"
    svg = root.find("svg")
    assert len(svg.findall("polyline")) == 3
    assert len(svg.findall("circle")) == 3
    assert [item[0].tail for item in root.find("ul")] == ["a < b", "other"]
    numbers = [
        float(n)
        for line in svg.findall("polyline")
        for n in line.get("points").replace(",", " ").split()
    ]
    assert min(numbers) >= 0
    assert max(numbers) <= 360


def test_a_curve_is_thinned_out_evenly_with_its_ends():
    x = np.linspace(0, 1, 10_001)
    found = thin_out(Curve(x, x**8), 50)
    assert len(found.x) <= 52
    assert (found.x[0], found.x[-1]) == (0, 1)
    assert np.abs(np.diff(found.y)).max() < 0.05
    few = Curve(x[:5], x[:5])
    assert thin_out(few) is few
