"""Figures and files appear whole, and what cannot be drawn is refused in a sentence."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from scipy.sparse import random_array
from sklearn.svm import SVC

from rosenblatt import Perceptron
from rosenblatt.jobs.importances import Importance
from rosenblatt.plots import (
    BoundaryDisplay,
    CertificateDisplay,
    ImportanceDisplay,
    ProgressDisplay,
    ProjectionDisplay,
    progress,
    save_plot,
)
from rosenblatt.plots.display import Display

from .conftest import IRIS, XOR, apart, fitted, new_ax


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


def test_a_run_that_is_too_long_is_not_followed(monkeypatch):
    monkeypatch.setattr(progress, "MOST_UPDATES", 10)
    with pytest.raises(ValueError, match="at most 10 can be repeated"):
        ProgressDisplay.from_data(*XOR)


def test_a_display_trains_its_own_model():
    X, y = pd.DataFrame(apart()[0], columns=["width", "height"]), apart()[1]
    own = BoundaryDisplay.from_data(X, y, order="fixed", class_names=["no", "yes"])
    given = BoundaryDisplay.from_estimator(Perceptron(order="fixed").fit(X, y), X, y)
    assert np.array_equal(own.linear.weights, given.linear.weights)
    assert own.data.class_names == ("no", "yes")
    with pytest.raises(TypeError, match="eta"):
        BoundaryDisplay.from_data(X, y, eta=2)


def draw(X, y):
    return BoundaryDisplay.from_estimator(fitted(), X, y)


def draw_wide():
    random = np.random.default_rng(0)
    X = random_array((40, 100_000), density=1e-3, random_state=random, format="csr")
    return CertificateDisplay.from_data(X, np.arange(40) % 2)


CALLS = {
    "NaN in row 0, column 1": lambda: draw([[1.0, np.nan]], [0]),
    "infinity": lambda: draw([[1.0, np.inf]], [0]),
    "too large to draw": lambda: draw([[1.0, 1e200]], [0]),
    "0 sample": lambda: draw(np.empty((0, 2)), []),
    "y has the label 7; the estimator knows 0, 1": lambda: draw([[1.0, 2.0]], [7]),
    "Leave such rows out": lambda: draw([[1.0, 2.0]], [None]),
    "inconsistent numbers of samples": lambda: draw([[1.0, 2.0]], [0, 1]),
    "expecting 2 features": lambda: draw([[1.0]], [0]),
    "could not convert string to float": lambda: draw([["a", "b"]], [0]),
    "1 class_names": lambda: BoundaryDisplay.from_data(*apart(), class_names=["one"]),
    "1 feature_names": lambda: BoundaryDisplay.from_data(*apart(), feature_names=["a"]),
    "pass the rows": lambda: ProgressDisplay.from_estimator(fitted(), *apart(seed=1)),
    "3 classes": lambda: CertificateDisplay.from_data(*IRIS),
    "are 1 classes": lambda: CertificateDisplay.from_data([[1.0]], [0]),
    "100,000 columns": draw_wide,
    "are 3 classes": lambda: ProjectionDisplay.from_estimator(Perceptron().fit(*IRIS), *IRIS),
    "only one class": lambda: ProgressDisplay.from_data([[1.0], [2.0]], [1, 1]),
    "Expected a Perceptron": lambda: ProgressDisplay.from_estimator(SVC().fit(*XOR), *XOR),
    "deviations of the columns are not known": lambda: ImportanceDisplay.from_importances(
        [Importance(0, "a", [1.0], None, None)], np.array(["no", "yes"])
    ),
    "ax has 1 axes": lambda: ProgressDisplay.from_data(*XOR).plot(new_ax()),
    "figure.bmp must end in .png, .svg": lambda: save_plot("figure.bmp", *XOR),
    "figure must end in": lambda: save_plot("figure", *XOR),
    "what must be one of": lambda: save_plot("figure.png", *XOR, what="dream"),
    "pass X and y": lambda: save_plot("figure.png", what="boundary", estimator=fitted()),
    "plot of the boundary only": lambda: save_plot("figure.png", *XOR, what="orders", new=[[1, 1]]),
}


@pytest.mark.parametrize("message", CALLS)
def test_what_cannot_be_drawn_is_refused_in_a_sentence(message):
    with pytest.raises(ValueError, match=message):
        CALLS[message]()
