"""Figures from the shell."""

import pytest

from .conftest import run


@pytest.mark.parametrize("data", ["flowers.csv", "iris"])
def test_train_draws(capsys, folder, data):
    status, out, _ = run(capsys, "train", data, "-q", "--plot", "figure.png")
    assert status == 0
    assert out.endswith("The figure is in figure.png.\n")
    assert (folder / "figure.png").read_bytes().startswith(b"\x89PNG")


def test_a_figure_that_cannot_be_drawn_is_refused_before_training(capsys, folder):
    status, out, err = run(capsys, "train", "flowers.csv", "--plot", "figure.exe", "-o", "model")
    assert (status, out) == (2, "")
    assert err.startswith("rosenblatt: figure.exe should end in .png")
    assert not (folder / "model").exists()
