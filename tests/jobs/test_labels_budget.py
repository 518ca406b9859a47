"""Training with a budget of labels: only labels that are asked for change the model."""

import numpy as np
import pytest

import rosenblatt
from rosenblatt.parameters import ParameterError


def make_rows(count=400, seed=0, flip=()):
    chance = np.random.default_rng(seed)
    X = chance.normal(size=(count, 3)).round(3)
    labels = np.where(X @ [1, 2, -1] + chance.normal(size=count) / 3 > 0, "yes", "no").tolist()
    for row in flip:
        labels[row] = "no" if labels[row] == "yes" else "yes"
    return [
        {"a": a, "b": b, "c": c, "kind": kind}
        for (a, b, c), kind in zip(X.tolist(), labels, strict=True)
    ]


def facts(model):
    return model.file_facts_["facts"]


@pytest.mark.parametrize(("budget", "labels"), [(0.1, 40), (25, 25), (5000, 400)])
def test_a_share_or_a_number_of_labels(budget, labels):
    model = rosenblatt.train(make_rows(), label="kind", labels_budget=budget)
    asked = facts(model)["asked"]
    assert asked["rows"] == 400
    assert 0.8 * labels <= asked["labels"] <= labels
    assert sum(facts(model)["class_rows"]) == asked["labels"]
    assert asked["errors"] < 120


def test_other_labels_do_not_change_the_model():
    """Rows that were not asked for may have any label; the order of rows decides nothing else."""
    first = rosenblatt.train(make_rows(), label="kind", labels_budget=0.1, random_state=3)
    few = 0
    for row in range(60):
        other = rosenblatt.train(
            make_rows(flip=[row]), label="kind", labels_budget=0.1, random_state=3
        )
        few += not np.array_equal(first[-1].coef_, other[-1].coef_)
    assert 0 < few < 20  # of 60 rows, about 6 were asked for


def test_rows_held_out_are_not_asked_for():
    model = rosenblatt.train(make_rows(), label="kind", labels_budget=0.2, holdout=0.25)
    held, asked = facts(model)["held_out"], facts(model)["asked"]
    assert held["rows"] + asked["rows"] == 400
    assert held["errors"] / held["rows"] < 0.2


def test_few_labels_that_are_asked_for_are_nearly_enough():
    rows = make_rows(1500, seed=1)
    wrong = {}
    for budget in (0.0, 0.1):
        model = rosenblatt.train(rows[:1000], label="kind", labels_budget=budget)
        kinds = np.array([row["kind"] for row in rows[1000:]])
        wrong[budget] = np.mean(model.predict(rows[1000:]) != kinds)
    assert wrong[0.1] < wrong[0.0] + 0.04


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"class_weight": "balanced"}, "labels-budget"),
        ({"tune": True}, "labels-budget"),
        ({"progress_every": 10}, "labels-budget-stream"),
        ({"window": 10}, "labels-budget-stream"),
    ],
)
def test_options_that_need_all_labels_are_refused(options, code):
    with pytest.raises(ParameterError) as error:
        rosenblatt.train(make_rows(50), label="kind", labels_budget=0.1, **options)
    assert error.value.code == code
    for budget in (-1, 1.5, float("nan"), "few"):
        with pytest.raises(ParameterError, match="labels_budget must be a share"):
            rosenblatt.train(make_rows(50), label="kind", labels_budget=budget)


def test_label_sets_and_sentences_are_refused(tmp_path):
    rows = [row | {"kind": f"{row['kind']};x"} for row in make_rows(30)]
    with pytest.raises(ParameterError) as error:
        rosenblatt.train(rows, label="kind", labels_separator=";", labels_budget=0.1)
    assert error.value.code == "labels-budget"
    path = tmp_path / "some.conll"
    path.write_text("a N\nb V\n\na N\n")
    with pytest.raises(TypeError, match="labels_budget"):
        rosenblatt.train(path, labels_budget=0.1)
