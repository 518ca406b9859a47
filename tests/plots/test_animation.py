"""Each frame shows the update that was made, in every format."""

import json
import re
import shutil
import subprocess
from itertools import pairwise

import numpy as np
import pytest

import rosenblatt
from rosenblatt import Perceptron, steps
from rosenblatt.plots import LearningAnimation

from ..conftest import blobs
from .conftest import IRIS, XOR, apart, axlines, new_ax, points


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
    wrong = rosenblatt.losses(X, y, step.new_weights, step.new_bias[0]).errors
    assert f"{wrong} of 60 rows" in ax.get_title(loc="left")


def test_a_long_run_is_shown_in_few_frames_from_start_to_end():
    film = LearningAnimation.from_data(*XOR, most_frames=5)
    numbers = [frame.number for frame in film.frames]
    assert len(numbers) == 6  # and the start
    assert numbers[-1] == film.model.n_mistakes_
    assert all(a < b for a, b in pairwise(numbers))


def test_a_notebook_shows_controls_that_need_no_network():
    film = LearningAnimation.from_data(*apart(), most_frames=3)
    page = film._repr_html_()
    assert page.count('"data:image/png;base64') == len(film.frames)
    assert 'title="Play"' in page
    assert "http" not in page.replace("http://www.w3.org", "")
    assert "fa-" not in page


def test_a_run_without_mistakes_is_drawn_as_its_start():
    film = LearningAnimation.from_data(*apart(), ties="correct").plot()
    assert [frame.step for frame in film.frames] == [None]
    assert film.ax_.get_title(loc="left") == "Start: w = 0, b = 0\n0 of 40 rows misclassified"


def test_a_gif_has_a_frame_for_each_update_and_holds_the_last(tmp_path):
    from PIL import Image

    film = LearningAnimation.from_data(*apart())
    film.save(tmp_path / "learning.gif", fps=5)
    with Image.open(tmp_path / "learning.gif") as gif:
        # Pillow makes one long frame of equal ones
        assert gif.n_frames == len(film.frames)
        gif.seek(gif.n_frames - 1)
        assert gif.info["duration"] == 200 * 11


def test_axes_and_legend_are_the_same_in_all_frames():
    X, y = IRIS
    names = ["others", "versicolor"]
    film = LearningAnimation.from_estimator(
        Perceptron(random_state=0, max_iter=3).fit(X, y == 1), X, y == 1, class_names=names
    )
    seen = set()
    for frame in np.linspace(0, len(film.frames) - 1, 6, dtype=int):
        ax = film.plot(new_ax(), frame=frame).ax_
        entries = [text.get_text() for text in ax.get_legend().get_texts()]
        assert entries[:2] == names
        assert set(entries[2:]) <= {"row of this update", "boundary before"}
        seen.add((ax.get_xlim(), ax.get_ylim(), ax.get_xlabel(), points(ax)["others"].tobytes()))
    assert len(seen) == 1


PAGE = """
const buttons = TITLES.map(title => ({ title })), img = {}, inputs = [{}, {}];
const root = {
  querySelector: () => img, querySelectorAll: what => what === "input" ? inputs : buttons,
};
let tick = null;
Object.assign(globalThis, {
  document: { getElementById: () => root },
  setInterval: action => (tick = action), clearInterval: () => (tick = null),
});
SCRIPT
const press = title => buttons.find(button => button.title === title).onclick();
const run = title => { press(title); while (tick) tick(); };
const acts = [() => {}, () => press("Next frame"), () => press("Last frame"),
  () => press("Previous frame"), () => run("Play"), () => run("Play backwards"),
  () => { inputs[1].checked = true; press("Play backwards"); tick(); }, () => tick(),
  () => { inputs[0].value = "1"; inputs[0].oninput(); }];
console.log(JSON.stringify(acts.map(act => { act(); return inputs[0].value; })));
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
def test_the_player_runs(tmp_path):
    """In node, with as much of a page as it touches."""
    page = LearningAnimation.from_data(*XOR, most_frames=3).to_html()
    script = page.split("<script>")[1].split("</script>")[0]
    titles = json.dumps(re.findall(r'<button title="([^"]+)"', page))
    path = tmp_path / "player.js"
    path.write_text(PAGE.replace("TITLES", titles).replace("SCRIPT", script), encoding="utf-8")
    told = subprocess.run(["node", path], capture_output=True, text=True, check=True)
    assert json.loads(told.stdout) == [0, 1, 3, 2, 3, 0, 2, 1, 1]
