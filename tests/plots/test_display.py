"""Figures and files appear whole, where they should."""

import pytest
from matplotlib.figure import Figure

from rosenblatt.plots import ProgressDisplay, save_plot
from rosenblatt.plots.display import Display

from .conftest import apart


def test_a_display_saves_itself(tmp_path):
    X, y = apart()
    display = ProgressDisplay.from_data(X, y)
    display.save(tmp_path / "figure.png")
    assert (tmp_path / "figure.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(ValueError, match=r"figure.gif must end in .png"):
        display.save(tmp_path / "figure.gif")


def test_a_failed_figure_leaves_the_old_one(tmp_path, monkeypatch):
    path = tmp_path / "figure.png"
    path.write_text("old")

    def full(*_, **__):
        raise OSError("No space left on device")

    monkeypatch.setattr(Figure, "savefig", full)
    with pytest.raises(OSError, match="No space"):
        save_plot(path, *apart())
    assert path.read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5])
def test_axes_leave_no_place_empty(count):
    class Empty(Display):
        n_axes = count

        def draw(self, ax):
            pass

    axes = Empty().plot().figure_.axes
    spans = [ax.get_subplotspec().colspan for ax in axes]
    assert len(axes) == count
    assert sum(span.stop - span.start for span in spans) == 2 * ((count + 1) // 2)
