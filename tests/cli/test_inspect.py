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


def test_a_tagger_as_json(capsys, folder):
    (folder / "t.tagged").write_text("the/D dog/N barks/V\nthe/D cat/N sleeps/V\n" * 5)
    assert run(capsys, "train", "t.tagged", "-q", "-o", "tagger")[0] == 0
    found = json.loads(run(capsys, "inspect", "tagger", "--json", "--top", 2)[1])
    assert {len(features) for features in found["features"].values()} == {2}
    status, _, err = run(capsys, "inspect", "tagger", "--plot", "x.png")
    assert (status, "--plot" in err) == (2, True)


def test_a_card_of_a_model(capsys, folder):
    model = trained(capsys, "reviews.csv", *TEXT, "--holdout", 0.3)
    status, out, _ = run(capsys, "inspect", model, "--card", "card.md")
    assert (status, "Wrote the card to card.md" in out) == (0, True)
    _, head, text = (folder / "card.md").read_text("utf-8").split("---\n", 2)
    about = dict(line.split(": ", 1) for line in head.splitlines())
    assert about["pipeline_tag"] == '"text-classification"'
    assert json.loads(about["tags"])[0] == "rosenblatt"
    assert "| review | text |" in text
    assert "held-out rows: " in text
    assert run(capsys, "inspect", trained(capsys, "reviews.csv", *TEXT), "--card", "new.md")[0] == 0
    assert "it was trained without `--holdout`" in (folder / "new.md").read_text("utf-8")
    assert "## For the author to fill in" in text
    status, _, err = run(capsys, "inspect", model, "--card", model)
    assert (status, "is also an input" in err) == (2, True)
