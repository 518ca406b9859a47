"""Orders are compared by the engine's own counts."""

import numpy as np
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure

from rosenblatt import Perceptron
from rosenblatt.plots import OrderDisplay

from .conftest import XOR, apart


def test_each_order_has_the_engines_own_counts():
    X, y = apart()
    display = OrderDisplay.from_data(X, y, seeds=[3, 4]).plot(Figure().subplots(2))
    models = [Perceptron(order="once", random_state=seed).fit(X, y) for seed in (3, 4)]
    counts = {order: len(runs) for order, runs in display.models.items()}
    assert counts == {"fixed": 1, "once": 2, "each": 2, "active": 1}
    for ax, drawn in zip(
        display.ax_,
        ([len(X) * model.n_iter_ for model in models], [model.n_mistakes_ for model in models]),
        strict=True,
    ):
        assert drawn in [np.asarray(dots.get_offsets())[:, 0].tolist() for dots in ax.collections]


def test_runs_that_did_not_separate_are_open():
    X, y = XOR
    display = OrderDisplay.from_data(X, y, seeds=range(3), max_iter=3).plot()
    runs = [each for each in display.ax_[0].collections if isinstance(each, PathCollection)]
    assert runs
    assert all(not each.get_facecolors()[:, 3].any() for each in runs)
    assert "open: not separated" in display.ax_[0].get_title("left")
    assert display.figure_.get_suptitle() == "The same rows in different orders"
