"""The curves are what the engine measures, the theorem holds, and runs are counted as made."""

import numpy as np
import pytest
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure
from scipy.sparse import random_array

import rosenblatt
from rosenblatt import Perceptron, report, steps
from rosenblatt.plots import OrderDisplay, ProgressDisplay, progress

from .conftest import IRIS, XOR, apart


@pytest.mark.parametrize("parameters", [{}, {"fit_intercept": False}, {"intercept_step": "radius"}])
def test_the_squeeze_holds_and_ends_as_the_report_says(parameters):
    X, y = apart(60)
    X = X + (y[:, None] * 2 - 1) if parameters.get("fit_intercept") is False else X
    model = Perceptron(random_state=0, eta0=0.5, max_iter=500, **parameters).fit(X, y)
    display = ProgressDisplay.from_estimator(model, X, y)
    told, M = report(model, X, y), display.time
    R, gamma = display.convergence.radius, display.convergence.margin
    length = display.curves["length"]
    assert M.tolist() == list(range(1, model.n_mistakes_ + 1))
    assert np.all(gamma * M <= length * (1 + 1e-9))
    assert np.all(length <= R * np.sqrt(M) * (1 + 1e-9))
    assert np.isclose(display.convergence.bound, told.bound)
    assert np.isclose(display.curves["angle"][-1], told.angle)
    assert np.allclose((gamma * M[-1], length[-1], R * np.sqrt(M[-1])), told.chain)


def test_a_batch_is_drawn_without_bounds():
    X, y = apart(60)
    display = ProgressDisplay.from_estimator(Perceptron(order="batch").fit(X, y), X, y).plot()
    assert display.convergence is None
    assert list(display.curves) == ["errors", "loss", "length"]


def test_without_rows_there_is_what_the_history_has(tmp_path):
    model = Perceptron(random_state=0, max_iter=7).fit(*IRIS)
    model.save(tmp_path / "model.safetensors")
    display = ProgressDisplay.from_estimator(rosenblatt.load(tmp_path / "model.safetensors"))
    assert display.curves["errors"].tolist() == [epoch.errors for epoch in model.history_]
    display.plot(Figure().subplots(3))
    assert [ax.lines[0].get_ydata().tolist() for ax in display.ax_] == [
        curve.tolist() for curve in display.curves.values()
    ]


def test_several_classes_have_no_bound_but_a_lead():
    display = ProgressDisplay.from_data(*IRIS, max_iter=5)
    *_, last = steps(*IRIS, max_iter=5, random_state=0)
    scores = IRIS[0] @ last.new_weights.T + last.new_bias
    rivals = np.where(np.eye(3, dtype=bool)[IRIS[1]], -np.inf, scores).max(axis=1)
    assert display.curves["errors"][-1] == np.sum(scores[range(150), IRIS[1]] <= rivals)
    assert display.convergence is None
    display.plot(Figure().subplots(3))


def test_only_some_moments_of_a_long_run_are_measured(monkeypatch):
    monkeypatch.setattr(progress, "MOST", 10)
    display = ProgressDisplay.from_data(*XOR)
    assert len(display.curves["errors"]) == 10
    assert display.time[[0, -1]].tolist() == [1, Perceptron(random_state=0).fit(*XOR).n_mistakes_]


def test_very_wide_rows_have_no_bound():
    X = random_array(
        (40, 100_000), density=1e-3, random_state=np.random.default_rng(0), format="csr"
    )
    display = ProgressDisplay.from_data(X, np.arange(40) % 2)
    assert display.convergence is None
    assert display.curves["errors"][-1] == 0


def test_a_run_without_mistakes_has_empty_curves():
    display = ProgressDisplay.from_data(*apart(), ties="correct").plot()
    assert len(display.curves["errors"]) == 0


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
    display = OrderDisplay.from_data(X, y, seeds=range(3), max_iter=3, random_state=5).plot()
    runs = [each for each in display.ax_[0].collections if isinstance(each, PathCollection)]
    assert runs
    assert all(not each.get_facecolors()[:, 3].any() for each in runs)
    assert "open: not separated" in display.ax_[0].get_title("left")
    assert display.figure_.get_suptitle() == "The same rows in different orders"
