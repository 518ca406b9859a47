"""What inspect prints of a model, and as JSON."""

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
    assert "one for each class, and the largest wins" in out
    few = run(capsys, "inspect", model, "--top", 1)[1]
    assert len([line for line in few.splitlines() if "█" in line]) == 1


def test_a_training_is_described(capsys, folder):
    model = trained(capsys, "flowers.csv", "--balanced", "--set", "margin=2", "--holdout", 0.2)
    out = run(capsys, "inspect", model)[1]
    for words in ("class weights {'setosa'", "margin 2", "Held-out error ", "epoch    1 "):
        assert words in out


def test_json_has_all_columns(capsys, folder):
    model = trained(capsys, "reviews.csv", *TEXT)
    found = json.loads(run(capsys, "inspect", model, "--json")[1])
    assert found["classes"] == ["neg", "pos"]
    assert found["label"] == "verdict"
    assert len(found["columns"]) == 15
    first = found["columns"][0]
    assert first["importance"] == pytest.approx(abs(first["weights"][0]) * first["deviation"])
    assert found["history"][0]["epoch"] == 1
