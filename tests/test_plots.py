"""What is drawn equals what the engine says; every format is written; bad input gets a sentence."""

import subprocess
import sys
from itertools import pairwise

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot
from matplotlib.animation import FFMpegWriter
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure
from matplotlib.lines import AxLine
from scipy.sparse import random_array
from sklearn.datasets import load_iris, make_circles
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import rosenblatt
from rosenblatt import Inseparable, Perceptron, max_margin, plots, report, separability, steps
from rosenblatt.plots import (
    BoundaryDisplay,
    CertificateDisplay,
    LearningAnimation,
    OrderDisplay,
    ProgressDisplay,
    ProjectionDisplay,
    save_plot,
)

from .conftest import blobs, csr
from .test_cli import run

mpl.use("Agg")
IRIS = load_iris(return_X_y=True)
XOR = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), np.array([0, 1, 1, 0])


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    pyplot.close("all")


def apart(n=40, d=2, seed=0):
    """Two clouds that a plane separates."""
    X, y = blobs(n, d, seed=seed)
    return X + 8 * y[:, None] - 3, y


def new_ax():
    return Figure().subplots()


def points(ax):
    """The places of each collection of points, by label."""
    return {
        drawn.get_label(): np.asarray(drawn.get_offsets())
        for drawn in ax.collections
        if isinstance(drawn, PathCollection)
    }


def axlines(ax):
    return [np.array([line.get_xy1(), line.get_xy2()]) for line in ax.lines if type(line) is AxLine]


# The boundary


@pytest.mark.parametrize("seed", range(5))
def test_the_line_is_where_the_activation_is_zero(seed):
    X, y = blobs(60, 2, seed=seed)
    model = Perceptron(random_state=0, max_iter=5).fit(X, y)
    display = BoundaryDisplay.from_estimator(model, X, y).plot(new_ax())
    line = axlines(display.ax_)[0]
    assert np.allclose(model.decision_function(line), 0)


def test_the_band_is_as_wide_as_the_margin():
    X, y = apart()
    model = Perceptron(random_state=0).fit(X, y)
    display = BoundaryDisplay.from_estimator(model, X, y).plot(new_ax())
    _, below, above = axlines(display.ax_)
    length = np.linalg.norm(model.coef_)
    nearest = rosenblatt.margin(X, y, model.coef_, model.intercept_[0])
    assert np.allclose(model.decision_function(below) / length, -nearest)
    assert np.allclose(model.decision_function(above) / length, nearest)


def test_without_separation_the_band_is_what_was_demanded():
    X, y = blobs(60, 2)
    model = Perceptron(random_state=0, margin=2.0, max_iter=3).fit(X, y)
    display = BoundaryDisplay.from_estimator(model, X, y)
    assert display.errors > 0
    assert np.isclose(display.band * np.linalg.norm(model.coef_), 2.0)


def test_every_row_is_drawn_and_the_mistakes_are_circled():
    X, y = blobs(60, 2)
    model = Perceptron(random_state=0, max_iter=2).fit(X, y)
    wrong = model.predict(X) != y
    drawn = points(BoundaryDisplay.from_estimator(model, X, y).plot(new_ax()).ax_)
    assert np.array_equal(drawn.pop("0"), X[y == 0])
    assert np.array_equal(drawn.pop("1"), X[y == 1])
    assert np.array_equal(drawn.pop(f"misclassified ({wrong.sum()})"), X[wrong])
    assert not drawn


def test_the_arrow_points_along_the_weights_and_the_shift_ends_on_the_boundary():
    X, y = apart()
    model = Perceptron(random_state=0).fit(X, y)
    ax = BoundaryDisplay.from_estimator(model, X, y).plot(new_ax()).ax_
    arrow = next(text for text in ax.texts if text.arrow_patch is not None)
    w, direction = model.coef_[0], np.subtract(arrow.xy, arrow.xyann)
    assert np.isclose(w @ direction, np.linalg.norm(w) * np.linalg.norm(direction))
    (shift,) = (line for line in ax.lines if str(line.get_label()).startswith("shift"))
    start, end = shift.get_xydata()
    assert start.tolist() == [0, 0]
    assert np.isclose(model.decision_function([end])[0], 0)


@pytest.mark.parametrize("layout", [np.asarray, csr], ids=["dense", "sparse"])
def test_more_columns_are_seen_along_w_with_true_distances(layout):
    X, y = blobs(80, 6)
    model = Perceptron(random_state=0, max_iter=5).fit(X, y)
    display = BoundaryDisplay.from_estimator(model, layout(X), y)
    w, b, length = model.coef_[0], model.intercept_[0], np.linalg.norm(model.coef_)
    assert np.allclose(display.places[:, 0] + b / length, (X @ w + b) / length)
    along, across = display.plane.directions
    centred = X - X.mean(axis=0)
    first = np.linalg.svd(centred - np.outer(centred @ along, along))[2][0]
    assert np.allclose(display.plane.directions @ display.plane.directions.T, np.eye(2))
    assert np.isclose(abs(first @ across), 1)
    ax = display.plot(new_ax()).ax_
    assert "distances to the boundary are true" in ax.get_xlabel()
    assert "principal direction" in ax.get_ylabel()


def test_three_classes_are_seen_in_the_plane_of_their_weights():
    X, y = IRIS
    model = Perceptron(random_state=0).fit(X, y)
    display = BoundaryDisplay.from_estimator(model, X, y)
    lifted = display.plane.lift(display.places)
    assert np.array_equal(model.predict(lifted), model.predict(X))
    drawn = points(display.plot(new_ax()).ax_)
    assert set(drawn) >= {"0", "1", "2"}


@pytest.mark.parametrize(
    "estimator",
    [
        SVC(),
        make_pipeline(PolynomialFeatures(2), Perceptron(random_state=0)),
        Perceptron(solution="vote", random_state=0),
        DecisionTreeClassifier(random_state=0),
        LogisticRegression(),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_any_classifier_is_drawn_as_it_predicts(estimator):
    X, y = make_circles(60, noise=0.1, factor=0.4, random_state=0)
    estimator.fit(X, y)
    display = BoundaryDisplay.from_estimator(estimator, X, y, resolution=30)
    xs, ys = np.linspace(display.view.low, display.view.high, 30).T
    grid = np.stack(np.meshgrid(xs, ys), axis=-1).reshape(-1, 2)
    sure = np.abs(display.leads[1].ravel()) > 1e-9
    shown = (display.leads[1].ravel() > 0)[sure]
    assert np.array_equal(shown, (estimator.predict(grid) == 1)[sure])
    assert (display.linear is None) == (not isinstance(estimator, LogisticRegression))
    display.plot(new_ax())


def test_zero_weights_have_no_boundary():
    display = BoundaryDisplay.from_weights([[0.0, 0.0]], [0.0], *XOR).plot(new_ax())
    assert display.errors == 4
    assert not axlines(display.ax_)


@pytest.mark.parametrize(
    ("ties", "errors"), [("mistake", 4), ("positive", 2), ("negative", 2), ("correct", 0)]
)
def test_ties_decide_what_is_wrong_on_the_boundary(ties, errors):
    display = BoundaryDisplay.from_weights([[0.0, 0.0]], [0.0], *XOR, ties=ties)
    assert display.errors == errors


def test_one_column_is_drawn_on_a_line():
    X, y = np.array([[-2.0], [-1.0], [3.0]]), [0, 0, 1]
    model = Perceptron(random_state=0).fit(X, y)
    display = BoundaryDisplay.from_estimator(model, X, y).plot(new_ax())
    assert np.array_equal(display.places, np.column_stack([X, np.zeros(3)]))
    assert np.allclose(model.decision_function(axlines(display.ax_)[0][:, :1]), 0)


def test_columns_keep_their_names():
    X, y = apart()
    X = pd.DataFrame(X, columns=["width", "height"])
    model = SVC().fit(X, y)
    ax = BoundaryDisplay.from_estimator(model, X, y).plot(new_ax()).ax_
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("width", "height")


def test_of_a_million_rows_some_are_drawn_and_the_picture_says_so():
    X = np.random.default_rng(0).normal(size=(1_000_000, 2))
    y = X[:, 0] > 0.1
    model = Perceptron(random_state=0, max_iter=1).fit(X, y)
    display = BoundaryDisplay.from_estimator(model, X, y).plot(new_ax())
    assert len(display.places) == plots.MOST_POINTS
    assert display.errors == np.count_nonzero(model.predict(X) != y)
    assert "5,000 of 1,000,000 rows" in [text.get_text() for text in display.ax_.texts]
    ProjectionDisplay.from_estimator(model, X, y).plot(new_ax())


def test_a_new_figure_is_made_where_none_is_given():
    X, y = apart()
    display = BoundaryDisplay.from_estimator(Perceptron().fit(X, y), X, y).plot()
    assert display.figure_ is pyplot.gcf()
    assert display.ax_ in display.figure_.axes


# The projection


def test_projections_lie_on_the_side_that_is_predicted():
    X, y = blobs(60, 4)
    model = Perceptron(random_state=0, max_iter=3).fit(X, y)
    display = ProjectionDisplay.from_estimator(model, X, y)
    assert np.allclose(display.positions * np.linalg.norm(model.coef_), X @ model.coef_[0])
    assert np.array_equal(display.positions > display.threshold, model.predict(X) == 1)
    drawn = points(display.plot(new_ax()).ax_)
    circled = drawn[f"misclassified ({display.wrong.sum()})"]
    assert np.array_equal(np.sort(circled[:, 0]), np.sort(display.positions[display.wrong]))


def test_points_of_one_class_never_cover_each_other():
    X, y = blobs(60, 4)
    display = ProjectionDisplay.from_estimator(Perceptron(random_state=0).fit(X, y), X, y)
    places = display._stacked(60)
    assert len(np.unique(np.round(places, 9), axis=0)) == len(y)
    assert np.array_equal(places[:, 1] > 0, y == 1)


def test_many_projections_become_bars_of_the_same_number():
    X, y = blobs(5000, 3)
    model = Perceptron(random_state=0, max_iter=1).fit(X, y)
    ax = ProjectionDisplay.from_estimator(model, X, y).plot(new_ax()).ax_
    bars = {patch.get_label(): patch.get_data().values for patch in ax.patches[:4:2]}
    assert {label: abs(values.sum()) for label, values in bars.items()} == {"0": 2500, "1": 2500}


def test_a_score_is_projected_where_there_is_no_w():
    X, y = blobs(60, 2)
    model = SVC().fit(X, y)
    display = ProjectionDisplay.from_estimator(model, X, y)
    assert np.array_equal(display.positions, model.decision_function(X))
    assert display.threshold == 0


# Progress


@pytest.mark.parametrize("parameters", [{}, {"fit_intercept": False}, {"intercept_step": "radius"}])
def test_the_squeeze_holds_and_ends_as_the_report_says(parameters):
    X, y = apart(60)
    X = X + (y[:, None] * 2 - 1) if parameters.get("fit_intercept") is False else X
    model = Perceptron(random_state=0, eta0=0.5, max_iter=500, **parameters).fit(X, y)
    display = ProgressDisplay.from_estimator(model, X, y)
    told, M = report(model, X, y), display.time["length"]
    R, gamma = display.squeeze.radius, display.squeeze.margin
    length = display.curves["length"]
    assert M.tolist() == list(range(1, model.n_mistakes_ + 1))
    assert np.all(gamma * M <= length * (1 + 1e-9))
    assert np.all(length <= R * np.sqrt(M) * (1 + 1e-9))
    assert np.isclose(display.squeeze.bound, told.bound)
    assert np.isclose(display.curves["angle"][-1], told.angle)
    assert np.allclose((gamma * M[-1], length[-1], R * np.sqrt(M[-1])), told.chain)


@pytest.mark.parametrize("order", ["each", "fixed", "active", "worst"])
def test_over_epochs_the_losses_are_those_that_the_engine_measures(order):
    X, y = blobs(60, 3)
    parameters = {"order": order, "random_state": 1, "max_iter": 8}
    display = ProgressDisplay.from_data(X, y, over="epochs", **parameters)
    measured = Perceptron(measure=True, **parameters).fit(X, y).history_
    assert display.curves["mistakes"].tolist() == np.cumsum([e.mistakes for e in measured]).tolist()
    assert display.curves["errors"].tolist() == [epoch.errors for epoch in measured]
    assert np.allclose(display.curves["loss"], [epoch.loss for epoch in measured])


def test_a_last_epoch_without_mistakes_changes_nothing():
    X, y = apart()
    model = Perceptron(random_state=0).fit(X, y)
    display = ProgressDisplay.from_estimator(model, X, y, over="epochs")
    assert display.time["errors"][-1] == model.n_iter_
    assert display.curves["errors"][-1] == model.history_[-1].errors == 0


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
    assert display.squeeze is None
    display.plot(Figure().subplots(3))


def test_only_some_moments_of_a_long_run_are_measured():
    display = ProgressDisplay.from_data(*XOR, most=10)
    assert len(display.curves["errors"]) == 10
    assert display.time["errors"][[0, -1]].tolist() == [
        1,
        Perceptron(random_state=0).fit(*XOR).n_mistakes_,
    ]


def test_the_bound_is_drawn_over_epochs():
    X, y = apart()
    display = ProgressDisplay.from_data(X, y, over="epochs", order="fixed")
    ax = display.plot(new_ax(), quantities=["mistakes"]).ax_[0]
    assert ax.lines[1].get_ydata()[0] == display.squeeze.bound
    display.plot()


def test_a_run_without_mistakes_is_drawn_as_its_start():
    X, y = apart()
    display = ProgressDisplay.from_data(X, y, ties="correct").plot()
    assert len(display.curves["errors"]) == 0
    film = LearningAnimation.from_data(X, y, ties="correct").plot()
    assert film.ax_.get_title(loc="left") == "Start: w = 0, b = 0\n0 of 40 rows misclassified"


# Orders


def test_each_order_has_the_engines_own_counts():
    X, y = apart()
    display = OrderDisplay.from_data(X, y, seeds=[3, 4]).plot(Figure().subplots(2))
    models = [Perceptron(order="once", random_state=seed).fit(X, y) for seed in (3, 4)]
    assert display.mistakes["once"].tolist() == [model.n_mistakes_ for model in models]
    assert display.reads["once"].tolist() == [model.n_iter_ for model in models]
    assert {order: len(reads) for order, reads in display.reads.items()} == {
        "fixed": 1,
        "once": 2,
        "each": 2,
        "active": 1,
    }
    dots = [np.asarray(drawn.get_offsets())[:, 0].tolist() for drawn in display.ax_[1].collections]
    assert display.mistakes["once"].tolist() in dots


def test_runs_that_did_not_separate_are_marked():
    display = OrderDisplay.from_data(*XOR, max_iter=3, orders=["each"]).plot(Figure().subplots(2))
    assert not display.separated["each"].any()
    assert "not separated" in display.ax_[0].get_title(loc="left")


# Certificates


@pytest.mark.parametrize("d", [1, 2, 3, 7])
def test_the_hulls_meet_in_a_point_that_both_classes_make(d):
    X, y = blobs(300, d)
    display = CertificateDisplay.from_data(X, y)
    proof = separability(X, y)
    assert isinstance(display.verdict, Inseparable)
    assert display.support_rows.tolist() == list(proof.support)
    assert np.allclose(display.nearest[0], display.nearest[1], atol=1e-9)
    for code in (0, 1):
        of_class = display.support_codes == code
        assert np.isclose(display.shares[of_class].sum(), 1)
        made = display.shares[of_class] @ X[display.support_rows[of_class]]
        assert np.allclose(display.plane.place(made), display.nearest[code])
    drawn = points(display.plot(new_ax()).ax_)
    assert np.array_equal(drawn[f"the {len(proof.support)} rows that prove it"], display.support)


@pytest.mark.parametrize("d", [2, 5])
def test_hulls_that_do_not_meet_are_twice_the_margin_apart(d):
    X, y = apart(d=d)
    display = CertificateDisplay.from_data(X, y).plot(new_ax())
    distance = np.linalg.norm(np.subtract(*display.nearest))
    assert np.isclose(distance, 2 * max_margin(X, y).upper)


def test_very_wide_rows_are_drawn_without_what_is_out_of_reach():
    X = random_array((40, 100_000), density=1e-3, rng=np.random.default_rng(0), format="csr")
    y = np.arange(40) % 2
    display = ProgressDisplay.from_data(X, y)
    assert display.squeeze is None
    assert display.curves["errors"][-1] == 0
    with pytest.raises(ValueError, match="100,000 columns"):
        CertificateDisplay.from_data(X, y)


def test_equal_rows_of_two_classes_are_a_certificate():
    display = CertificateDisplay.from_data([[1.0, 2.0], [1.0, 2.0], [0.0, 5.0]], [0, 1, 1])
    assert display.nearest.tolist() == [[1.0, 2.0], [1.0, 2.0]]
    display.plot(new_ax())


# Animation


@pytest.mark.parametrize("parameters", [{"order": "fixed"}, {"order": "each", "random_state": 5}])
def test_the_frames_are_the_updates(parameters):
    X, y = apart(60)
    film = LearningAnimation.from_data(X, y, **parameters)
    taken = list(steps(X, y, **parameters))
    assert [frame.number for frame in film.frames] == list(range(len(taken) + 1))
    assert film.frames[0].linear.weights.tolist() == [[0, 0]]
    for frame, step in zip(film.frames[1:], taken, strict=True):
        assert np.array_equal(frame.linear.weights, step.new_weights)
        assert np.array_equal(frame.linear.bias, step.new_bias)
        assert frame.step.row == step.row


def test_a_frame_shows_the_old_boundary_the_new_one_and_the_row():
    X, y = blobs(60, 2)
    film = LearningAnimation.from_data(X, y, max_iter=2)
    step = film.frames[7].step
    ax = film.plot(new_ax(), frame=7).ax_
    lines = axlines(ax)
    assert np.allclose(lines[0] @ step.new_weights[0] + step.new_bias, 0)
    assert np.allclose(lines[-1] @ step.weights[0] + step.bias, 0)
    assert np.asarray(ax.collections[-1].get_offsets()).tolist() == [X[step.row].tolist()]
    assert f"row {step.row}" in ax.get_title(loc="left")
    wrong = rosenblatt.training_error(X, y, step.new_weights, step.new_bias[0]) * len(y)
    assert f"{round(wrong)} of 60 rows" in ax.get_title(loc="left")


def test_epochs_end_with_their_last_update():
    X, y = blobs(60, 2)
    film = LearningAnimation.from_data(X, y, every="epoch", max_iter=4)
    *_, last = (step for step in steps(X, y, max_iter=4, random_state=0) if step.epoch == 2)
    assert [frame.step.epoch for frame in film.frames] == [1, 2, 3, 4]
    assert np.array_equal(film.frames[1].linear.weights, last.new_weights)


def test_a_long_run_is_shown_in_few_frames_from_start_to_end():
    film = LearningAnimation.from_data(*XOR, most_frames=5)
    numbers = [frame.number for frame in film.frames]
    assert len(numbers) == 6  # and the start
    assert numbers[-1] == film.model.n_mistakes_
    assert all(a < b for a, b in pairwise(numbers))


def test_more_columns_and_classes_are_filmed_too():
    film = LearningAnimation.from_data(*IRIS, max_iter=3)
    assert "from" in film.plot(new_ax(), frame=5).ax_.get_title(loc="left")


def test_a_notebook_shows_controls_that_need_no_network():
    film = LearningAnimation.from_data(*apart(), most_frames=3)
    page = film._repr_html_()
    assert page.count('"data:image/png;base64') == len(film.frames)
    assert 'title="Play"' in page
    assert "http" not in page.replace("http://www.w3.org", "")
    assert "fa-" not in page


# Files

MAGIC = {
    ".png": b"\x89PNG",
    ".svg": b"<?xml",
    ".pdf": b"%PDF",
    ".jpg": b"\xff\xd8",
    ".webp": b"RIFF",
    ".gif": b"GIF8",
    ".html": b"<!doctype html>",
}


@pytest.mark.parametrize("ending", MAGIC)
def test_every_format_is_written(tmp_path, ending):
    X, y = apart()
    path = tmp_path / f"figure{ending.upper()}"
    save_plot(path, X, y, order="fixed")
    assert path.read_bytes().startswith(MAGIC[ending])
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("what", plots.IDEAS)
def test_every_idea_is_written(tmp_path, what):
    save_plot(tmp_path / "figure.png", *apart(), what=what, max_iter=50)
    assert (tmp_path / "figure.png").stat().st_size > 5_000


def test_a_gif_has_a_frame_for_each_update_and_holds_the_last(tmp_path):
    from PIL import Image

    film = LearningAnimation.from_data(*apart())
    film.save(tmp_path / "learning.gif", fps=5)
    with Image.open(tmp_path / "learning.gif") as gif:
        # Pillow makes one long frame of equal ones
        assert gif.n_frames == len(film.frames)
        gif.seek(gif.n_frames - 1)
        assert gif.info["duration"] == 200 * 11


def test_mp4_needs_ffmpeg_and_says_so(tmp_path, monkeypatch):
    film = LearningAnimation.from_data(*apart())
    if FFMpegWriter.isAvailable():
        film.save(tmp_path / "learning.mp4")
        assert (tmp_path / "learning.mp4").read_bytes()[4:8] == b"ftyp"
        (tmp_path / "learning.mp4").unlink()
    monkeypatch.setattr(FFMpegWriter, "isAvailable", lambda: False)
    with pytest.raises(ValueError, match="needs the program ffmpeg"):
        film.save(tmp_path / "learning.mp4")
    assert not list(tmp_path.iterdir())


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


# Bad input


FITTED = Perceptron(random_state=0).fit(*apart())


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([[1.0, np.nan]], [0], "NaN in row 0, column 1"),
        ([[1.0, np.inf]], [0], "infinity"),
        ([[1.0, 1e200]], [0], "too large to draw"),
        (np.empty((0, 2)), [], "0 sample"),
        ([[1.0, 2.0]], [7], "y has the label 7, and the estimator knows 0, 1"),
        ([[1.0, 2.0]], [None], "labels must be known"),
        ([[1.0, 2.0]], [0, 1], "inconsistent numbers of samples"),
        ([[1.0]], [0], "expecting 2 features"),
        ([["a", "b"]], [0], "could not convert string to float"),
    ],
)
def test_rows_that_cannot_be_drawn_are_refused(X, y, message):
    with pytest.raises(ValueError, match=message):
        BoundaryDisplay.from_estimator(FITTED, X, y)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ProjectionDisplay.from_estimator(Perceptron().fit(*IRIS), *IRIS), "3 classes"),
        (lambda: CertificateDisplay.from_data(*IRIS), "3 classes"),
        (lambda: CertificateDisplay.from_data([[1.0]], [0]), "1 classes"),
        (lambda: ProgressDisplay.from_data([[1.0], [2.0]], [1, 1]), "only one class"),
        (lambda: ProgressDisplay.from_data(*XOR, over="time"), "over must be"),
        (lambda: ProgressDisplay.from_estimator(FITTED, over="updates"), "needs the rows"),
        (lambda: ProgressDisplay.from_estimator(SVC().fit(*XOR), *XOR), "a fitted Perceptron"),
        (
            lambda: ProgressDisplay.from_data(*XOR).plot(new_ax(), quantities=["angle"]),
            "no curve of 'angle'",
        ),
        (lambda: ProgressDisplay.from_data(*XOR).plot(new_ax()), "ax has 1 axes"),
        (lambda: LearningAnimation.from_data(*XOR, every="year"), "every must be"),
        (lambda: LearningAnimation.from_estimator(SVC().fit(*XOR), *XOR), "a fitted Perceptron"),
        (
            lambda: LearningAnimation.from_estimator(FITTED, *apart(seed=1)),
            "give the rows that the model was fitted on",
        ),
        (lambda: save_plot("figure.bmp", *XOR), r"figure.bmp should end in .png, .svg"),
        (lambda: save_plot("figure", *XOR), "should end in"),
        (lambda: save_plot("figure.png", *XOR, what="dream"), "what must be one of"),
        (lambda: save_plot("figure.gif", estimator=FITTED), "give X and y"),
        (lambda: save_plot("figure.png"), "give X and y"),
    ],
)
def test_what_cannot_be_drawn_is_refused_in_a_sentence(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_a_run_that_is_too_long_is_not_followed(monkeypatch):
    monkeypatch.setattr(plots, "MOST_UPDATES", 10)
    with pytest.raises(ValueError, match="at most 10 are followed"):
        LearningAnimation.from_data(*XOR)


# The command


def test_plot_draws_a_data_set(capsys, tmp_path):
    status, out, _ = run(capsys, "plot", "iris", "-o", tmp_path / "iris.png")
    assert (status, out) == (0, f"The figure is in {tmp_path / 'iris.png'}.\n")
    assert (tmp_path / "iris.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("what", plots.IDEAS)
def test_plot_draws_every_idea(capsys, tmp_path, what):
    options = ("--positive", "0", "--what", what, "-o", tmp_path / "iris.svg")
    assert run(capsys, "plot", "iris", *options)[0] == 0
    assert (tmp_path / "iris.svg").exists()


def test_plot_films_a_file(capsys, tmp_path):
    (tmp_path / "rows.csv").write_text("a,kind,b\n0,no,1\n1,no,0\n4,yes,4\n5,yes,3\n")
    arguments = (tmp_path / "rows.csv", "--label", "kind", "-o", tmp_path / "rows.gif")
    assert run(capsys, "plot", *arguments)[0] == 0
    assert (tmp_path / "rows.gif").read_bytes().startswith(b"GIF")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("rows.csv", "a,kind,b\n0,no,1\n1,no,0\n4,yes,4\n5,yes,3\n"),
        ("rows.csv", "smell,kind,cap\nfoul,no,red\nfoul,no,green\nnut,yes,red\nnut,yes,blue\n"),
        ("rows.svm", "1 1:3 2:4\n-1 1:0.5\n1 3:2\n-1 2:-1\n"),
    ],
)
def test_plot_draws_a_model_with_and_without_rows(capsys, tmp_path, name, text):
    data, model = tmp_path / name, tmp_path / "model.safetensors"
    data.write_text(text)
    label = ("--label", "kind") if name == "rows.csv" else ()
    assert run(capsys, "train", data, *label, "-o", model)[0] == 0
    for rows in ([], [data]):
        status, _, err = run(capsys, "plot", model, *rows, "-o", tmp_path / f"{len(rows)}.png")
        assert (status, err) == (0, "")
        assert (tmp_path / f"{len(rows)}.png").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["xor", "-o", "figure.doc"], "figure.doc should end in .png"),
        (["xor", "-o", "nowhere/figure.png"], "There is no folder nowhere"),
        (["xor", "iris", "-o", "figure.png"], "xor is no model"),
        (["nothing.csv", "-o", "figure.png"], "nothing.csv"),
        (["iris", "--positive", "9", "-o", "figure.png"], "iris has no label 9; it has 0, 1, 2."),
        (["iris", "--what", "projection", "-o", "figure.png"], "3 classes"),
        (["empty.csv", "-o", "figure.png"], "empty.csv"),
        (["lone.csv", "-o", "figure.png"], "only one class"),
        (["broken.safetensors", "-o", "figure.png"], "not an intact model"),
    ],
)
def test_plot_refuses_in_one_line(capsys, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "lone.csv").write_text("a,y\n1,0\n2,0\n")
    (tmp_path / "broken.safetensors").write_text("no model")
    status, _, err = run(capsys, "plot", *arguments)
    assert status == 2
    assert err.startswith("rosenblatt: ")
    assert message in err
    assert err.count("\n") == 1
    assert not (tmp_path / "figure.png").exists()


def test_without_matplotlib_there_is_one_clear_sentence():
    script = """
import sys
sys.modules["matplotlib"] = None
sys.argv = ["rosenblatt", "plot", "xor", "-o", "figure.png"]
from rosenblatt.cli import main
main()
"""
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert ended.returncode == 2
    assert ended.stderr == "rosenblatt: Plots need matplotlib: pip install 'rosenblatt[plots]'.\n"
