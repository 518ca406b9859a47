"""Every idea is written in every format, from Python and from the shell."""

import re
import subprocess
import sys

import pytest

from rosenblatt.plots import save_plot
from rosenblatt.plots.saving import DISPLAYS

from ..shell.conftest import run
from .conftest import apart

MAGIC = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF", ".jpg": b"\xff\xd8"}
MAGIC |= {".webp": b"RIFF"}


@pytest.mark.parametrize("ending", MAGIC)
def test_every_format_is_written(tmp_path, ending):
    X, y = apart()
    path = tmp_path / f"figure{ending.upper()}"
    save_plot(path, X, y, order="fixed")
    assert path.read_bytes().startswith(MAGIC[ending])
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("what", DISPLAYS)
def test_plot_draws_every_idea(capsys, tmp_path, what):
    options = ("--positive-class", "setosa", "--what", what, "-o", tmp_path / "iris.svg")
    status, out, _ = run(capsys, "plot", "iris", *options)
    assert (status, out) == (0, f"Wrote the figure to {tmp_path / 'iris.svg'}.\n")
    assert (tmp_path / "iris.svg").stat().st_size > 5_000


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
        (["xor", "-o", "figure.doc"], "figure.doc must end in .png"),
        (["xor", "-o", "nowhere/figure.png"], "There is no folder nowhere"),
        (["xor", "iris", "-o", "figure.png"], "xor is not a model"),
        (["nothing.csv", "-o", "figure.png"], "nothing.csv"),
        (["iris", "--positive-class", "9", "-o", "figure.png"], "iris has no label 9; it has"),
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
from rosenblatt.shell.app import main
main()
"""
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert ended.returncode == 2
    assert ended.stderr == "rosenblatt: Plots need matplotlib: pip install 'rosenblatt[plots]'.\n"


def words(path):
    """The texts of a picture, which an SVG file holds as comments."""
    return re.findall("<!-- (.*) -->", path.read_text("utf-8"))


def test_plot_names_classes_and_columns(capsys, tmp_path):
    figure = tmp_path / "figure.svg"
    assert run(capsys, "plot", "iris", "--positive-class", "setosa", "-o", figure)[0] == 0
    assert {"others", "setosa"} <= set(words(figure))
    (tmp_path / "rows.csv").write_text("width,kind,height\n0,no,1\n1,no,0\n4,yes,4\n5,yes,3\n")
    rows, model = (tmp_path / "rows.csv", "--label", "kind"), tmp_path / "model.safetensors"
    assert run(capsys, "train", *rows, "-o", model)[0] == 0
    for words_, shown in (
        (("plot", *rows, "--positive-class", "no", "-o", figure), {"others", "no"}),
        (("plot", model, tmp_path / "rows.csv", "-o", figure), {"no", "yes"}),
    ):
        assert run(capsys, *words_)[0] == 0
        assert shown | {"width", "height"} <= set(words(figure))
