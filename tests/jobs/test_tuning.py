"""Tuning: what wins is better on rows that nobody saw, and what was stated stays."""

import io
import json

import numpy as np
import pytest

import rosenblatt
from rosenblatt import AROW, SCW, PassiveAggressive
from rosenblatt.jobs import files, tuning
from rosenblatt.jobs.job import FileJob
from rosenblatt.parameters import ParameterError
from rosenblatt.training.plan import Found, Request, resolve_rule, rules_with
from rosenblatt.training.report import Listener

from ..cli.conftest import reviews, run


def rows_of_many_sizes(n, seed):
    """Rows of few frequent features that say nothing and many rare ones that say all.

    Rules that keep a variance for each weight are made for these.
    """
    random = np.random.default_rng(seed)
    y = random.integers(0, 2, n)
    rare = random.integers(0, 150, (n, 3))
    noise = random.normal(size=(n, 10)) * 10
    lines = []
    for label, columns, others in zip(y, rare, noise, strict=True):
        told = {11 + 2 * column + int(label): 1.0 for column in columns.tolist()}
        told |= {k + 1: value for k, value in enumerate(others.tolist())}
        words = (f"{column}:{told[column]:.3f}" for column in sorted(told))
        lines.append(f"{label} {' '.join(words)}\n")
    return "".join(lines)


@pytest.fixture
def path(tmp_path):
    (tmp_path / "rows.svm").write_text(rows_of_many_sizes(800, 0))
    (tmp_path / "new.svm").write_text(rows_of_many_sizes(2000, 1))
    return tmp_path / "rows.svm"


@pytest.fixture(autouse=True)
def fewer_trials(monkeypatch):
    """Two splits are enough to see how it goes."""
    monkeypatch.setattr(tuning, "MOST_SPLITS", 2)


class Pipe(io.BytesIO):
    def seekable(self):
        return False


def told_by(model):
    return model.file_facts_["facts"]["tuning"]


def error_of(model, path):
    batch = next(iter(rosenblatt.read(path, features=model[0].recipe_)))
    return float(np.mean(model[-1].predict(batch.X) != batch.y))


def test_the_usual_way_is_beaten_on_new_rows(path):
    new = path.with_name("new.svm")
    usual = rosenblatt.train(path, scale="none")
    tuned = rosenblatt.train(path, scale="none", tune=True)
    assert error_of(tuned, new) < error_of(usual, new) - 0.2
    facts = told_by(tuned)
    assert facts["best"][0]["error"] < facts["usual"]["error"]
    assert facts["best"] == sorted(facts["best"], key=lambda each: each["error"])
    assert facts["usual"]["rule"] == "pa"
    assert facts["tried"] > 30


def test_it_is_the_same_whenever_it_is_done(path, tmp_path):
    models = [rosenblatt.train(path, tune=True, random_state=3) for _ in range(2)]
    assert told_by(models[0]) == told_by(models[1])
    np.testing.assert_array_equal(models[0][-1].coef_, models[1][-1].coef_)
    rosenblatt.save(models[0], tmp_path / "model")
    assert told_by(rosenblatt.load(tmp_path / "model")) == told_by(models[0])


def test_what_was_taken_gives_the_same_model_when_it_is_stated(path):
    tuned = rosenblatt.train(path, tune=True)
    taken = {name: value for name, value in told_by(tuned)["best"][0].items() if name != "error"}
    np.testing.assert_array_equal(tuned[-1].coef_, rosenblatt.train(path, **taken)[-1].coef_)


@pytest.mark.parametrize(
    ("stated", "estimator"),
    [
        ({"rule": "arow", "r": 3.0, "solution": "last"}, AROW),
        ({"rule": "pa", "max_iter": 2}, PassiveAggressive),
        ({"confidence": 0.9}, SCW),
        ({"intercept_step": 0.5, "rule": "scw"}, SCW),
        ({"fit_intercept": False, "rule": "scw"}, SCW),
    ],
)
def test_what_was_stated_stays(path, stated, estimator):
    tuned = rosenblatt.train(path, tune=True, **stated)
    assert isinstance(tuned[-1], estimator)
    kept = {name: value for name, value in stated.items() if name != "rule"}
    assert {name: tuned[-1].get_params()[name] for name in kept} == kept
    assert not kept.keys() & {name for each in told_by(tuned)["best"] for name in each}


def test_rows_that_are_held_out_are_not_tuned_on(path, monkeypatch):
    counting = []
    monkeypatch.setattr(
        tuning, "refuse_no_rows", lambda count: counting.append(count), raising=True
    )
    rosenblatt.train(path, tune=True, rule="arow", holdout=0.5)
    assert 300 < counting[0] < 500


def test_texts_are_weighed_otherwise_unless_stated(capsys, tmp_path):
    path = tmp_path / "reviews.csv"
    path.write_text(reviews())
    readers = []

    def again(**others):
        readers.append(others)
        return rosenblatt.read(path, text=["review"], **others)

    for stated, count in ((frozenset(), 5), (frozenset({"counts"}), 1)):
        readers.clear()
        tuning.tune(again(), again, FileJob(Request("arow", tune=True)), stated)
        assert len(readers) == 1 + count
        assert all("counts" not in each for each in readers) == bool(stated)
    status, out, _ = run(capsys, "train", path, "--text", "review", "--tune", "--rule", "arow")
    assert status == 0
    assert "(default)" in out or "(chosen, default)" in out


def test_an_open_file_is_read_from_where_it_stood():
    file = io.BytesIO(b"not for us\n" + reviews().encode())
    file.readline()
    options = {"format": "csv", "text": ["review"], "rule": "arow", "solution": "last"}
    tuned = rosenblatt.train(file, tune=True, **options)
    assert tuned.file_facts_["facts"]["rows"] == 60


def test_the_shell_says_what_it_tried_and_what_it_took(capsys, path, tmp_path):
    options = ("train", path, "--tune", "--rule", "pa", "-o", tmp_path / "model")
    status, out, err = run(capsys, *options)
    assert (status, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].startswith("Tuning: ")
    assert lines[0].endswith(" settings, 160 rows held out, in 2 splits.")
    assert "--rule pa --C " in lines[1]
    assert "chosen" in lines[1]
    assert any("default" in line for line in lines[1:8])
    _, out, _ = run(capsys, *options[:-2], "--json")
    event = json.loads(out.splitlines()[0])
    assert event["event"] == "tuned"
    assert "Best of " in run(capsys, "inspect", tmp_path / "model")[1]
    taken = " ".join(lines[1].partition("  --")[2].partition("  (")[0].split())
    other = tmp_path / "other"
    assert run(capsys, "train", path, *("--" + taken).split(), "-q", "-o", other)[0] == 0
    coefs = [rosenblatt.load(each)[-1].coef_ for each in (tmp_path / "model", other)]
    np.testing.assert_array_equal(*coefs)


def test_built_in_sets_are_tuned_too(capsys):
    status, out, _ = run(capsys, "train", "iris", "--tune", "--rule", "arow")
    assert status == 0
    assert out.startswith("Tuning: ")


def test_what_cannot_be_tuned_is_refused_in_one_sentence(capsys, path, tmp_path, monkeypatch):
    def refusal(*options):
        status, _, err = run(capsys, "train", path, *options)
        assert status == 2
        return err

    assert "--tune needs rows in memory, not a stream" in refusal("--tune", "--window", 5)
    assert "--tune does not go with --cluster" in refusal("--tune", "--cluster", "local:1")
    run(capsys, "train", path, "-q", "-o", tmp_path / "model")
    assert "leave --tune out" in refusal("--tune", "--initial", tmp_path / "model")
    with pytest.raises(ParameterError, match="can be read only once, and tune needs"):
        rosenblatt.train(Pipe(path.read_bytes()), format="svmlight", tune=True)
    with pytest.raises(ParameterError, match="AROW has no C; its own"):
        rosenblatt.train(path, rule="arow", C=1.0, tune=True)
    with pytest.raises(ParameterError, match='solution="vote" adds up updates'):
        rosenblatt.train(path, rule="arow", solution="vote", tune=True)
    monkeypatch.setattr(files, "MOST_IN_MEMORY", 1000)
    assert "are too many; tune on a part of them" in refusal("--tune")
    monkeypatch.setattr(tuning, "IN_MEMORY", 1000)
    assert "are too many; tune on a part of them" in refusal("--tune")


def test_rules_are_tried_that_have_what_was_stated():
    assert rules_with({}) == ["perceptron", "pa", "alma", "arow", "scw"]
    assert rules_with({"C": 1.0}) == ["pa", "alma", "scw"]
    assert rules_with({"a": 1.0}) == ["second-order"]
    assert resolve_rule(Request(None, {"C": 2.0}, tune=True), Found())[0] == "pa"
    assert resolve_rule(Request(None, {"max_iter": 1}, tune=True), Found())[0] == "arow"


@pytest.mark.parametrize("rule", ["nherd", "cw", "ftrl", "adagrad"])
def test_a_new_rule_is_trained_and_tuned_by_its_name(capsys, path, tmp_path, rule):
    code, out, _ = run(capsys, "train", path, "--rule", rule, "--tune", "-o", tmp_path / "model")
    assert code == 0
    assert f"--rule {rule} " in out
    model = rosenblatt.load(tmp_path / "model")
    assert type(model[-1]).__name__.lower() == rule
    assert error_of(model, path.with_name("new.svm")) < 0.3


def test_half_of_the_candidates_go_on_and_the_usual_one_always(path):
    class Heard(Listener):
        def __init__(self):
            self.steps = []

        def tried(self, done, total):
            self.steps.append((done, total))

    heard = Heard()
    rosenblatt.train(path, tune=True, rule="scw", fit_intercept=False, listener=heard)
    total = 4 + 3 + 3 + 3  # two values of C, two solutions
    assert heard.steps == [(k, total) for k in range(1, total + 1)]
