"""Figures from the shell."""

import pytest

from .conftest import run, trained


def test_a_figure_needs_a_file(capsys):
    status, _, err = run(capsys, "plot", "iris")
    assert (status, "Missing option '-o'" in err) == (2, True)


def test_a_model_without_rows_shows_its_progress_only(capsys, folder):
    model = trained(capsys)
    assert run(capsys, "plot", model, "-o", "figure.png")[0] == 0
    status, _, err = run(capsys, "plot", model, "--what", "boundary", "-o", "other.png")
    assert (status, "name the rows to draw after the model" in err) == (2, True)
    err = run(capsys, "plot", model, "flowers.csv", "--what", "progress", "-o", "other.png")[2]
    assert "leave flowers.csv out" in err


@pytest.mark.filterwarnings("always::sklearn.exceptions.ConvergenceWarning")
def test_notes_of_a_figure_name_commands(capsys, folder):
    err = run(capsys, "plot", "xor", "-o", "figure.png")[2]
    assert err.endswith("whether more can help is decided by rosenblatt prove xor.\n")


@pytest.mark.parametrize("what", ["projection", "certificate"])
def test_many_classes_are_told_how_to_become_two(capsys, tmp_path, what):
    figure = tmp_path / "figure.png"
    status, _, err = run(capsys, "plot", "iris", "--what", what, "-o", figure)
    assert (status, err.count("choose one with --positive-class")) == (2, 1)
    assert "3 classes (setosa, versicolor, virginica)" in err
    assert not figure.exists()
