"""What inspect prints of a model, and as JSON and a figure."""

import json

import pytest

from .conftest import TEXT, run, trained


def test_columns_are_sorted_by_importance(capsys, folder):
    model = trained(capsys, "flowers.csv")
    out = run(capsys, "inspect", model)[1]
    lines = [line for line in out.splitlines() if "█" in line]
    sizes = [float(line.split()[0]) for line in lines]
    assert len(sizes) == 2
    assert sizes == sorted(sizes, reverse=True)
    measured = run(capsys, "inspect", model, "--data", "flowers.csv")[1]
    assert measured == out


def test_json_has_all_columns_unless_some_are_asked_for(capsys, folder):
    model = trained(capsys, "reviews.csv", *TEXT)
    found = json.loads(run(capsys, "inspect", model, "--json")[1])
    assert found["classes"] == ["neg", "pos"]
    assert found["label"] == "verdict"
    assert len(found["columns"]) == 15
    first = found["columns"][0]
    assert first["importance"] == pytest.approx(abs(first["weights"][0]) * first["deviation"])
    few = json.loads(run(capsys, "inspect", model, "--json", "--top", 3)[1])
    assert few["columns"] == found["columns"][:3]
    assert few["history"][0]["epoch"] == 1


def test_a_figure_of_importances(capsys, folder):
    model = trained(capsys, "flowers.csv")
    status, out, _ = run(capsys, "inspect", model, "--plot", "bars.png")
    assert (status, out.endswith("Wrote the figure to bars.png.\n")) == (0, True)
    assert (folder / "bars.png").stat().st_size > 5000
    status, _, err = run(capsys, "inspect", model, "--plot", "bars.txt")
    assert (status, "bars.txt must end in" in err) == (2, True)
