"""Bars of importances."""

import numpy as np

from rosenblatt.jobs.importances import Importance
from rosenblatt.plots import ImportanceDisplay

TWO = np.array(["no", "yes"])


def test_bars_have_the_colour_of_the_class_they_speak_for(tmp_path):
    found = [Importance(0, "a", [-2.0], 1.0, 2.0), Importance(1, "b" * 50, [1.0], 1.0, 1.0)]
    display = ImportanceDisplay.from_importances(found, TWO).plot()
    assert display.classes == ["no", "yes"]
    assert [bar.get_width() for bar in display.ax_.patches] == [2.0, 1.0]
    names = [text.get_text() for text in display.ax_.get_yticklabels()]
    assert names == ["a", "b" * 31 + "…"]
    display.save(tmp_path / "bars.svg")
    assert (tmp_path / "bars.svg").read_text().startswith("<?xml")


def test_many_columns_and_classes():
    found = [Importance(k, f"c{k}", [0.1, float(k % 3), -2.0], 1.0, 2.0) for k in range(50)]
    display = ImportanceDisplay.from_importances(found, np.array(list("abc")))
    assert len(display.names) == 30
    assert display.classes[:4] == ["a", "b", "b", "a"]


def test_bars_of_a_regressor():
    found = [Importance(0, "a", [2.0], 1.0, 2.0), Importance(1, "b", [-1.0], 1.0, 1.0)]
    display = ImportanceDisplay.from_importances(found, np.array([]))
    assert display.classes == ["a larger number", "a smaller number"]
