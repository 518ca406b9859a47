"""The model is a function of the log: to the last bit, however examples came together."""

import json

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from rosenblatt.parameters import CLASS_RULES
from rosenblatt.service.model import WINDOWS, Progress, ServedModel
from rosenblatt.storage.file import load_model, save_model

from .conftest import answer_of, examples, trained

THREE = ["small", "big", "huge"]


def served(path):
    return ServedModel(load_model(path), str(path))


def content(model, folder):
    save_model(folder / "content", model.model())
    return (folder / "content").read_bytes()


@pytest.mark.parametrize("dense", [True, False])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("solution", ["last", "average"])
@pytest.mark.parametrize("rule", CLASS_RULES)
def test_cuts_do_not_matter(tmp_path, rule, solution, classes, dense):
    names = ["size"] if dense else ["size", "colour"]
    rows = [
        {name: row[name] for name in names} | {"kind": THREE[k % classes]}
        for k, row in enumerate(examples(39, seed=1))
    ]
    given = {"text": (), "bits": None if dense else 10, "rule": rule, "solution": solution}
    path = trained(tmp_path / "m", rows[30:], **given)
    wanted = served(path)
    for row in rows[:30]:
        wanted.learn(wanted.maker.make([row], labelled=True))
    for cuts in ([], [1, 2, 15], [29]):
        other = served(path)
        for some in np.split(np.arange(30), cuts):
            other.learn(other.maker.make([rows[k] for k in some], labelled=True))
        assert content(other, tmp_path) == content(wanted, tmp_path)
    assert wanted.sequence == wanted.progress.examples == 30


def test_an_example_that_overflows_is_passed_over_wherever_it_is_cut(tmp_path):
    rows = [{"a": 1.0, "b": -1.0, "kind": k % 2} for k in range(4)]
    path = trained(tmp_path / "m", rows, text=(), bits=None, scale="none", solution="last")
    huge = {"a": 3e38, "b": 3e38, "kind": 0}
    coming = [rows[1], huge, huge | {"kind": 1}, huge, huge, rows[0], rows[3]]
    whole, alone = served(path), served(path)
    whole.learn(whole.maker.make(coming, labelled=True))
    for row in coming:
        alone.learn(alone.maker.make([row], labelled=True))
    assert whole.progress.refused > 0
    assert content(whole, tmp_path) == content(alone, tmp_path)
    assert np.isfinite(whole.learner.coefficients()[0]).all()


def test_a_published_model_does_not_change(tmp_path):
    for solution in ("last", "average"):
        model = served(trained(tmp_path / "m", solution=solution))
        rows = model.maker.make(examples(5), labelled=True)
        published = model.make_predictor().learner
        before = published.scores(rows.rows, rows.width)
        np.testing.assert_array_equal(before, model.learner.scores(rows.rows, rows.width))
        for _ in range(5):
            model.learn(model.maker.make(examples(50, seed=7), labelled=True))
        np.testing.assert_array_equal(published.scores(rows.rows, rows.width), before)
        assert (model.learner.scores(rows.rows, rows.width) != before).any()


# The errors on the way


@given(
    wrong=st.lists(st.booleans(), max_size=3000),
    cuts=st.lists(st.integers(0, 3000), max_size=5),
    kept=st.integers(0, 3000),
)
@settings(max_examples=40)
def test_progress_depends_on_the_examples_only(wrong, cuts, kept):
    one, other = Progress(), Progress()
    one.add(np.array(wrong, bool))
    for part in np.split(np.array(wrong, bool), sorted(cuts)):
        other.add(part)
        if len(part) % 2 == kept % 2:
            other = Progress(json.loads(json.dumps(other.as_json())))
    assert one.as_json() == other.as_json()
    for last in WINDOWS:
        some = wrong[-last:]
        assert one.error(last) == (np.mean(some) if some else None)
    assert one.error() == (np.mean(wrong) if wrong else None)


def test_the_curve_stays_short():
    progress = Progress()
    wrong = np.arange(100_000) % 3 == 0
    for part in np.split(wrong, range(777, 100_000, 777)):
        progress.add(part)
    assert 256 <= len(progress.curve) < 512
    sums = np.cumsum(wrong)
    assert all(errors == sums[at - 1] for at, errors in progress.curve)
    assert progress.error(10_000) == np.mean(wrong[-10_000:])


# Numbers


def number_rows(count, seed=0):
    rows = examples(count, seed, labelled=False)
    return [row | {"price": 100 + 20 * row["size"] + 9 * (row["colour"] == "red")} for row in rows]


@pytest.mark.parametrize("rule", ["pa", "adaline"])
def test_numbers_are_predicted_and_learnt_however_they_come(tmp_path, rule):
    rows = number_rows(60)
    path = trained(tmp_path / "m", rows[:30], label="price", rule=rule)
    wanted, other = served(path), served(path)
    for row in rows[30:]:
        wanted.learn(wanted.maker.make([row], labelled=True))
    for some in np.split(np.arange(30, 60), [3, 17]):
        other.learn(other.maker.make([rows[k] for k in some], labelled=True))
    assert content(wanted, tmp_path) == content(other, tmp_path)
    assert wanted.progress.examples == 30
    assert 0 < wanted.progress.error() < 20
    assert wanted.progress.error(30) == pytest.approx(wanted.progress.error(), rel=1e-5)
    again = ServedModel(wanted.model(), "m")
    assert again.progress.as_json() == wanted.progress.as_json()
    answer = answer_of(wanted, rows[:2])
    assert answer["labels"] == pytest.approx([row["price"] for row in rows[:2]], abs=25)
    assert answer.keys() == {"labels"}
