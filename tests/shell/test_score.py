"""Evaluating and comparing models from the shell."""

import json
import re

import pytest

from .conftest import TEXT, run, trained


@pytest.fixture
def noisy(folder):
    """Two classes that overlap, to train on and to test with."""
    for name, start in ("noisy.csv", 0), ("test.csv", 1000):
        lines = [
            f"{k % 7},{k * 3 % 11},{'yes' if (k % 7 + k * 3 % 11 + k * 7 % 5) > 9 else 'no'}"
            for k in range(start, start + 300)
        ]
        (folder / name).write_text("\n".join(["u,v,label", *lines]))
    return "noisy.csv"


@pytest.fixture
def rare(folder):
    """Two classes that overlap; the rare one sorts first."""
    lines = [
        f"{k % 7},{k * 3 % 11},{'fraud' if (k % 7 + k * 3 % 11 + k * 7 % 5) > 16 else 'ok'}"
        for k in range(300)
    ]
    (folder / "rare.csv").write_text("\n".join(["u,v,label", *lines]))
    return "rare.csv"


def test_score_shows_all_metrics_in_80_columns(capsys, folder, noisy):
    model = trained(capsys, noisy, "--probabilities")
    status, out, err = run(capsys, "score", model, "test.csv", "--curves")
    assert (status, err) == (0, "")
    for word in (
        "acro F1", "balanced accuracy", "Matthews correlation", "ROC AUC", "average precision",
        "Log loss", "Brier score", "calibration error", "probability above", "observed",
    ):  # fmt: skip
        assert word in out, word
    assert max(map(len, out.splitlines())) <= 80
    found = json.loads(run(capsys, "score", model, "test.csv", "--json")[1])
    assert found["exact_areas"] is True
    assert len(found["thresholds"]) == 11
    assert 0 < found["log_loss"] < 0.7


def test_a_threshold_changes_the_decisions(capsys, folder, noisy):
    model = trained(capsys, noisy, "--probabilities")
    found = json.loads(run(capsys, "score", model, "test.csv", "--json")[1])
    moved = json.loads(run(capsys, "score", model, "test.csv", "--json", "--threshold", 0.2)[1])
    listed = next(one for one in found["thresholds"] if one["threshold"] == 0.2)
    assert moved["error"] == pytest.approx(listed["error"])
    assert moved["classes"][1]["recall"] == pytest.approx(listed["recall"])
    assert moved["roc_auc"] == found["roc_auc"]
    same = json.loads(run(capsys, "score", model, "test.csv", "--json", "--threshold", 0.5)[1])
    assert same["confusion"] == found["confusion"]


@pytest.mark.parametrize("options", [[], ["--probabilities"]])
def test_the_positive_class_can_be_the_one_that_sorts_first(capsys, folder, rare, options):
    model = trained(capsys, rare, *options)
    threshold = ["--threshold", 0.1, "--positive-class", "fraud"]

    def score(*more):
        status, out, _ = run(capsys, "score", model, rare, "--json", *more)
        return (status, json.loads(out))[1]

    usual, own, moved = score(), score(*threshold[2:]), score(*threshold)
    assert (usual["positive_class"], own["positive_class"]) == ("ok", "fraud")
    assert usual["average_precision"] > 0.9 > own["average_precision"]
    assert own["confusion"] == usual["confusion"]
    listed = [one for one in own["thresholds"] if one["threshold"] == 0.1]
    assert [one["recall"] for one in listed] == [moved["classes"][0]["recall"]] * len(listed)
    status, out, err = run(capsys, "predict", model, rare, *threshold)
    assert (status, err) == (0, "")
    assert out.split().count("fraud") == sum(row[0] for row in moved["confusion"])
    out = run(capsys, "score", model, rare, "--curves")[1]
    assert "ok is predicted for a" in out
    assert "are of ok." in out


def test_a_positive_class_is_one_of_two(capsys, folder, rare):
    status, _, err = run(capsys, "score", trained(capsys, rare), rare, "--positive-class", "no")
    assert (status, "these are fraud and ok" in err) == (2, True)
    model = trained(capsys, "iris")
    status, _, err = run(capsys, "predict", model, rare, "--positive-class", "setosa")
    assert (status, err.count("\n")) == (2, 1)


def test_rare_classes_are_tuned_for(capsys, folder, rare):
    options = "--tune", "--rule", "pa", "--metric", "average-precision", "--holdout", 0.3
    out = run(capsys, "train", rare, *options, "--test", rare, "-o", "m")[1]
    assert ": average precision (of fraud) ± standard error, error; " in out
    tested, held = (line for line in out.splitlines() if line.startswith(("Held-out", "Test")))
    assert "; average precision (of fraud) 0." in held
    assert "; average precision 0." in tested
    assert "average precision (of fraud)" in run(capsys, "inspect", "m")[1]
    given = "--set", "early_stopping=true", "--metric", "f1", "--holdout", 0.3
    out = run(capsys, "train", rare, *given)[1]
    assert re.search(r"rows \(majority baseline: .*%\); F1 0\.", out)


def test_without_probabilities_thresholds_are_scores(capsys, folder, noisy):
    out = run(capsys, "score", trained(capsys, noisy), "test.csv", "--curves")[1]
    assert "score above" in out
    assert "Log loss" not in out


def test_many_classes_have_areas_and_confusions(capsys, folder):
    names = [f"a class with a long name, number {k}" for k in range(12)]
    lines = [
        f"{k % 12},{k % 5},{names[(k + (k % 7 == 0)) % 12]!r}".replace("'", '"') for k in range(480)
    ]
    (folder / "many.csv").write_text("\n".join(["u,v,label", *lines]))
    model = trained(capsys, "many.csv")
    status, out, _ = run(capsys, "score", model, "many.csv")
    assert status == 0
    assert "the mean of one against the rest." in out
    assert "Most frequent confusions" in out
    assert max(map(len, out.splitlines())) <= 80


def test_compare_says_which_model_is_better(capsys, folder, noisy):
    one = trained(capsys, noisy, "--probabilities")
    other = trained(capsys, noisy, "--probabilities", "--ignore", "v")
    (folder / "b.safetensors").write_bytes((folder / other).read_bytes())
    one = trained(capsys, noisy, "--probabilities")
    status, out, err = run(capsys, "score", one, "b.safetensors", "test.csv")
    assert (status, err) == (0, "")
    assert out.splitlines()[-1].startswith("A is better, and that is hardly chance (p")
    assert max(map(len, out.splitlines())) <= 80
    found = json.loads(run(capsys, "score", one, one, "test.csv", "--json")[1])
    assert (found["rows"], found["p_value"]) == (300, 1.0)


def test_models_of_other_labels_are_not_compared(capsys, folder, noisy):
    one = trained(capsys, noisy)
    (folder / "a").write_bytes((folder / one).read_bytes())
    two = trained(capsys, "reviews.csv", *TEXT)
    status, _, err = run(capsys, "score", "a", two, "test.csv")
    assert (status, err.count("\n")) == (2, 1)
    status, _, err = run(capsys, "score", "a", "a", "none.csv")
    assert (status, "There is no file none.csv." in err) == (2, True)
    status, _, err = run(capsys, "score", "a", "a", "-")
    assert (status, "only once" in err) == (2, True)


def test_a_model_of_a_built_in_set_is_scored_and_used_on_it(capsys, folder):
    model = trained(capsys, "iris")
    status, out, err = run(capsys, "score", model, "iris", "--json")
    assert (status, err) == (0, "")
    found = json.loads(out)
    assert found["rows"] == 150 > 15 * found["errors"]
    status, out, err = run(capsys, "predict", model, "iris")
    assert (status, err, len(out.splitlines())) == (0, "", 150)
    status, out, err = run(capsys, "score", model, "wine")
    assert (status, out) == (2, "")
    assert "no column 'sepal length (cm)'" in err


def test_full_stops_after_labels_are_left_out_with_a_note(capsys, folder, noisy):
    model = trained(capsys, noisy)
    _, expected, _ = run(capsys, "score", model, "test.csv")
    text = (folder / "test.csv").read_text()
    (folder / "test.csv").write_text(text.replace("yes", "yes.").replace("no\n", "no.\n"))
    status, out, err = run(capsys, "score", model, "test.csv")
    assert (status, out) == (0, expected)
    assert "The full stop at the end of the label is left out in" in err
