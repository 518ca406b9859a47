"""Tuning for the prediction of the next row of a stream, and reports that change nothing."""

import io
import json

import numpy as np
import pytest

import rosenblatt
from rosenblatt import PassiveAggressive, Perceptron, progressive
from rosenblatt.jobs.files import train
from rosenblatt.jobs.job import FileJob
from rosenblatt.jobs.stream import list_settings, train_stream
from rosenblatt.learners.linear import LinearLearner
from rosenblatt.parameters import ONLINE_NUMBER_SETTINGS, ONLINE_SETTINGS
from rosenblatt.reading.reader import read
from rosenblatt.training.plan import Request
from rosenblatt.training.report import Listener

from ..reading.samples import refused


class Heard(Listener):
    """Keeps notes by their code, and windows."""

    def __init__(self):
        self.codes, self.windows, self.tallies = [], [], []

    def note(self, sentence):
        self.codes.append(getattr(sentence, "code", ""))

    def window(self, tally):
        self.windows.append(tally)

    def batch(self, tally):
        self.tallies.append(tally)


def write(path, X, y, header=""):
    np.savetxt(path, np.column_stack([X, y]), delimiter=",", fmt="%.6f", header=header, comments="")
    return path


def runs_of_labels(path, run_length, rows=3000):
    """Rows whose labels come in runs; their numbers say little."""
    rng = np.random.default_rng(0)
    labels = np.repeat(rng.integers(2, size=rows // run_length), run_length)
    return write(path, rng.normal(size=(rows, 4)) + 0.3 * labels[:, None], labels)


def tune_stream(path, reading=None, **stated):
    """The model of a file, its facts, and what was heard."""
    heard, names = Heard(), {"rule", "progress_every", "holdout", "classes"}
    of_files = {name: stated.pop(name) for name in names & stated.keys()}
    job = FileJob(Request(parameters=stated, tune=True, **of_files), heard)
    model = train_stream(read(path, **reading or {}), job)
    return model, model.facts["stream"], heard


# Reports


@pytest.mark.parametrize("rule", [None, "pa"])
def test_reports_of_the_progressive_error_do_not_change_the_model(tmp_path, rule):
    path = runs_of_labels(tmp_path / "runs.csv", 25)
    plain, reported = (
        train(read(path), Request(rule, {"max_iter": 1}, progress_every=every))
        for every in (0, 500)
    )
    assert (
        plain.estimator == reported.estimator == ("AROW" if rule is None else "PassiveAggressive")
    )
    np.testing.assert_array_equal(plain.states[0].weights, reported.states[0].weights)


# The choice


def test_the_leader_predicts_as_well_as_the_best_setting(tmp_path):
    for run_length, best in ((25, {"pa", "adagrad", "shifting"}), (1, {"arow", "adagrad"})):
        path = runs_of_labels(tmp_path / f"{run_length}.csv", run_length)
        model, facts, _ = tune_stream(path)
        assert facts["tried"] == len(ONLINE_SETTINGS)
        assert facts["rows"] == 3000 == model.facts["rows"]
        assert facts["best"][0]["rule"] in best
        assert facts["error"] <= min(one["error"] for one in facts["best"]) + 0.02


def test_a_single_setting_learns_and_errs_as_it_does_without_a_choice(tmp_path):
    path = runs_of_labels(tmp_path / "runs.csv", 25, rows=1025)
    stated = {"rule": "pa", "C": 0.5, "intercept_step": 1.0}
    reading = {"scale": "none", "pairs": True}
    model, facts, heard = tune_stream(path, reading, **stated, progress_every=250)
    X, y = rosenblatt.reading.reader.read_matrix(read(path, **reading))
    seen = progressive(PassiveAggressive(0.5), X, y, batch_size=1)
    assert facts["tried"] == 1
    assert abs(facts["error"] * 1025 - seen.wrong.sum()) <= 1  # a score of 0 counts as wrong
    assert [tally.rows for tally in heard.windows] == [250, 500, 750, 1000, 1025]
    again = PassiveAggressive(0.5).partial_fit(X, y, classes=[0, 1])
    np.testing.assert_allclose(model.states[0].weights, again.coef_[0], rtol=1e-6)
    assert model.history[0].rows == 1025
    assert model.history[0].mistakes == again.n_mistakes_


def test_drift_is_reported_and_ends_the_comparison(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 5))
    sign = np.where(np.arange(6000) < 3000, 1, -1)
    moved = write(tmp_path / "moved.csv", X, sign * X[:, 0] + 0.3 * rng.normal(size=6000) > 0)
    _, facts, heard = tune_stream(moved)
    assert 3000 < facts["alarms"][0] <= 3200
    assert heard.codes.count("drift") == len(facts["alarms"]) <= 3
    still = write(tmp_path / "still.csv", X, X[:, 0] + 0.3 * rng.normal(size=6000) > 0)
    assert tune_stream(still)[1]["alarms"] == []


def test_several_classes_are_learnt_by_rules_that_compare_them(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 4))
    path = write(tmp_path / "three.csv", X, X[:, :3].argmax(axis=1))
    _, facts, _ = tune_stream(path)
    assert {one["rule"] for one in facts["best"]} == {"arow", "pa", "shifting"}
    with refused("stream-problems"):
        tune_stream(path, rule="adagrad")


def test_what_is_stated_stays():
    def listed(*stated):
        return list_settings(FileJob(Request(*stated)), numbers=False)

    assert [rule for rule, _ in ONLINE_SETTINGS] == [one["rule"] for one in listed()]
    assert listed("adagrad", {"alpha": 0.5}) == [{"rule": "adagrad"}]
    assert listed(None, {"C": 2.0}) == [{"rule": "pa"}]


# Streams of all kinds


def test_a_pipe_is_read_once(tmp_path):
    path = runs_of_labels(tmp_path / "runs.csv", 25)
    heard = Heard()
    pipe = io.BytesIO(path.read_bytes())
    pipe.seekable = lambda: False
    job = FileJob(Request(tune=True), heard)
    facts = train_stream(read(pipe), job).facts["stream"]
    assert (facts["tried"], facts["rows"]) == (len(ONLINE_SETTINGS), 3000)


@pytest.mark.parametrize("numbers", [False, True])
def test_a_prediction_that_repeats_the_last_label_is_the_baseline(tmp_path, numbers):
    rng = np.random.default_rng(0)
    y = rng.normal(size=1000) * 9 if numbers else rng.integers(3, size=1000)
    path = write(tmp_path / "data.csv", rng.normal(size=(1000, 2)), y)
    steps = np.abs(np.diff(y)) if numbers else y[1:] != y[:-1]
    reading = {"label": "2", "numbers": numbers}
    assert tune_stream(path, reading)[1]["last_label"] == pytest.approx(steps.mean(), rel=1e-4)


def test_a_label_far_down_begins_the_run_again(tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(4000, 2)), rng.integers(2, size=4000)
    y[3900:] = 2
    path = write(tmp_path / "late.csv", X, y)
    heard, small = Heard(), {"batch_bytes": 4096}
    job = FileJob(Request(tune=True), heard)
    model = train_stream(read(path, **small), job)
    assert model.classes.tolist() == [0, 1, 2]
    assert "late-label" in heard.codes


@pytest.mark.parametrize("calibrate", [True, "conformal"])
def test_rows_are_held_out_and_probabilities_are_calibrated(tmp_path, calibrate):
    path = runs_of_labels(tmp_path / "runs.csv", 1)
    model, facts, _ = tune_stream(path, holdout=0.2, calibrate=calibrate)
    assert facts["rows"] < 2600
    assert 0 < model.facts["held_out"]["rows"] == 3000 - facts["rows"]
    assert "calibration" in model.facts
    if calibrate == "conformal":
        assert len(model.facts["conformal"]["scores"]) == model.facts["held_out"]["rows"]
        assert model.facts["conformal"]["rows"] == 0  # those learnt are not scored one by one


@pytest.mark.parametrize(
    ("stated", "code"),
    [
        ({"window": 5}, "tune-stream"),
        ({"early_stopping": True}, "tune-stream"),
        ({"order": "each"}, "stream-order"),
        ({"solution": "pocket"}, "stream-solution"),
    ],
)
def test_what_needs_several_passes_is_refused(tmp_path, stated, code):
    with refused(code):
        path = runs_of_labels(tmp_path / "runs.csv", 1)
        rosenblatt.train(path, tune=True, max_iter=1, **stated)


def test_label_sets_are_refused(tmp_path):
    path = tmp_path / "sets.csv"
    path.write_text("a,labels\n" + "1,x;y\n2,y\n3,x\n" * 20)
    with refused("stream-problems"):
        rosenblatt.train(path, label="labels", labels_separator=";", tune=True, max_iter=1)


def test_facts_are_kept_in_the_file_and_reach_python(tmp_path):
    path = runs_of_labels(tmp_path / "runs.csv", 25)
    model = rosenblatt.train(path, tune=True, max_iter=1, listener=Heard())
    rosenblatt.save(model, tmp_path / "model")
    kept = rosenblatt.load(tmp_path / "model").file_facts_["facts"]["stream"]
    assert kept == json.loads(json.dumps(model.file_facts_["facts"]["stream"]))
    assert not isinstance(model[-1], Perceptron)


# Numbers


def moving_numbers(path, rows=4000):
    """Numbers whose weights are exchanged in the middle."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, 3))
    weights = np.where(np.arange(rows)[:, None] < rows // 2, [30, 0, -10], [-30, 10, 30])
    return write(path, X, 500 + (X * weights).sum(axis=1) + rng.normal(size=rows), "a,b,c,y")


def test_numbers_are_predicted_by_the_setting_with_the_least_errors(tmp_path):
    path = moving_numbers(tmp_path / "moving.csv")
    model, facts, heard = tune_stream(path, {"label": "y"}, progress_every=1000)
    assert facts["tried"] == len(ONLINE_NUMBER_SETTINGS)
    assert heard.codes.count("drift") == len(facts["alarms"]) == 1
    assert 2000 < facts["alarms"][0] < 2300
    assert heard.windows[-1].mistakes / 4000 == pytest.approx(facts["error"])
    assert facts["error"] < LinearLearner.from_model(model).numbers.scale / 10


def test_a_stated_rule_for_numbers_is_kept(tmp_path):
    path = moving_numbers(tmp_path / "moving.csv", 600)
    _, facts, _ = tune_stream(path, {"label": "y"}, rule="pa", epsilon=0.1)
    assert {each["rule"] for each in facts["best"]} == {"pa-regression"}
    assert facts["tried"] == 3
    assert {0.001, 0.01, 0.1} >= {each["C"] for each in facts["best"]}
