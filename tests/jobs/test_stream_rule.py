"""The rule for a stream whose rows are predicted before they are learnt."""

import warnings

import numpy as np
import pytest

import rosenblatt
from rosenblatt.jobs.files import train
from rosenblatt.training.plan import Request


def stream(path, run_length):
    """Rows of which the labels come in runs; their numbers tell little."""
    rng = np.random.default_rng(0)
    labels = np.repeat(rng.integers(2, size=2000 // run_length), run_length)
    X = rng.normal(size=(2000, 4)) + 0.3 * labels[:, None]
    np.savetxt(path, np.column_stack([X, labels]), delimiter=",", fmt="%.6f")
    return path


def told(path, **options):
    with warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("always")
        model = rosenblatt.train(path, max_iter=1, progress_every=500, **options)
    return type(model[-1]).__name__, [str(note.message) for note in notes]


def test_the_rule_is_the_one_that_predicts_the_first_rows_best(tmp_path):
    rule, notes = told(stream(tmp_path / "runs.csv", 25))
    assert rule == "PassiveAggressive"
    (said,) = (note for note in notes if "alike" in note)
    assert "of the first 2,000 rows" in said
    assert "so PassiveAggressive is taken" in said
    rule, notes = told(stream(tmp_path / "mixed.csv", 1))
    assert rule == "AROW"
    assert not any("alike" in note for note in notes)


def test_a_rule_that_is_named_stays(tmp_path):
    path = stream(tmp_path / "runs.csv", 25)
    assert told(path, rule="arow") == ("AROW", [])
    assert told(path, solution="last") == ("Perceptron", [])


@pytest.mark.parametrize("every", [0, 500])
def test_without_errors_on_the_way_the_usual_rule_is_taken(tmp_path, every):
    path = stream(tmp_path / "runs.csv", 25)
    model = train(rosenblatt.read(path), Request(None, {"max_iter": 1}, progress_every=every))
    assert model.estimator == ("PassiveAggressive" if every else "AROW")
