"""Figures from the shell."""

import pytest

from .conftest import run


@pytest.mark.parametrize("data", ["flowers.csv", "iris"])
def test_train_draws(capsys, folder, data):
    status, out, _ = run(capsys, "train", data, "-q", "--plot", "figure.png")
    assert status == 0
    assert out.endswith("Wrote the figure to figure.png.\n")
    assert (folder / "figure.png").read_bytes().startswith(b"\x89PNG")


def test_a_figure_that_cannot_be_drawn_is_refused_before_training(capsys, folder):
    status, out, err = run(capsys, "train", "flowers.csv", "--plot", "figure.exe", "-o", "model")
    assert (status, out) == (2, "")
    assert err.startswith("rosenblatt: figure.exe must end in .png")
    assert not (folder / "model").exists()


@pytest.mark.parametrize("what", ["projection", "certificate"])
def test_many_classes_are_told_how_to_become_two(capsys, tmp_path, what):
    figure = tmp_path / "figure.png"
    status, _, err = run(capsys, "plot", "iris", "--what", what, "-o", figure)
    assert (status, err.count("choose one with --positive-class")) == (2, 1)
    assert "3 classes (setosa, versicolor, virginica)" in err
    assert not figure.exists()
