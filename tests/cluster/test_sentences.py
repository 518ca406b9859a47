"""A tagger on a cluster: one partition is one machine, and several are mixed as the twin says."""

import numpy as np
import pytest
from dask import bag

import rosenblatt
from rosenblatt import SequencePerceptron
from rosenblatt.cluster import fit
from rosenblatt.parameters import ParameterError

from ..estimators.test_sequence import TEMPLATES, made, named_weights, twin_of
from .conftest import threads


@pytest.fixture(scope="module")
def two():
    with threads(2) as client:
        yield client


def bags(X, y, count):
    return bag.from_sequence(X, npartitions=count), bag.from_sequence(y, npartitions=count)


@pytest.mark.parametrize("settings", [{}, {"markov": 2}, {"search": "greedy"}, {"rule": "pa"}])
@pytest.mark.parametrize("solution", ["last", "average"])
def test_one_partition_is_one_machine(two, solution, settings):
    X, y = made(3, n_sentences=20)
    settings = {"solution": solution, "max_iter": 3, "random_state": 5, **settings}
    found = fit(SequencePerceptron(**settings), *bags(X, y, 1), client=two)
    wanted = SequencePerceptron(**settings).fit(X, y)
    assert found.history_ == wanted.history_
    assert named_weights(found) == pytest.approx(named_weights(wanted), abs=1e-5)
    assert found.predict(X) == wanted.predict(X)
    assert found._learner.lexicon.words == wanted._learner.lexicon.words


@pytest.mark.parametrize("solution", ["last", "average"])
def test_partitions_are_mixed_uniformly(two, solution):
    X, y = made(4, n_sentences=12)
    settings = {"solution": solution, "order": "fixed", "margin": 0, "features": TEMPLATES}
    found = fit(SequencePerceptron(max_iter=1, **settings), *bags(X, y, 3), client=two)
    parts = [twin_of(X, y, 1, 0, [range(k, k + 4)]) for k in (0, 4, 8)]
    weights = [getattr(part, solution) for part in parts]
    wanted = {
        key: np.mean([own.get(key, 0) for own in weights])
        for key in {key for own in weights for key in own}
    }
    wanted = {key: weight for key, weight in wanted.items() if abs(weight) > 1e-6}
    assert named_weights(found) == pytest.approx(wanted, abs=1e-5)
    assert found.n_mistakes_ == sum(len(part.updates) for part in parts)
    assert len(found.mixing_.rounds) == 1


@pytest.mark.parametrize("solution", ["last", "average"])
def test_a_tagger_of_one_partition_learns_on_as_one_machine_does(two, solution, tmp_path):
    X, y = made(3, n_sentences=30)
    settings = {"solution": solution, "max_iter": 2, "random_state": 5}
    found = fit(SequencePerceptron(**settings), *bags(X[:20], y[:20], 1), client=two)
    wanted = SequencePerceptron(**settings).fit(X[:20], y[:20])
    found.save(tmp_path / "model")
    found = rosenblatt.load(tmp_path / "model").partial_fit(X[20:], y[20:])
    assert found.n_mistakes_ == wanted.partial_fit(X[20:], y[20:]).n_mistakes_
    assert named_weights(found) == pytest.approx(named_weights(wanted), abs=1e-5)


def test_mixed_chunks_separate_and_predict_on(two, tmp_path):
    X = [["in", "New", "York", "we"], ["Oslo", "is", "Oslo"], ["New", "Delhi"], ["we", "is"]]
    y = [["O", "B-X", "I-X", "O"], ["B-X", "O", "B-X"], ["B-X", "I-X"], ["O", "O"]]
    model = fit(SequencePerceptron(random_state=0, max_iter=50), *bags(X, y, 2), client=two)
    assert model.scheme_ == "IOB2"
    assert model.stop_reason_ == "separated"
    assert model.predict(X) == y
    assert [one.tag for one in model.explain(["Oslo"])] == ["S-X"]
    assert model.mixing_.weighted_mistakes <= model.n_mistakes_


def test_files_are_partitions(two, tmp_path):
    (tmp_path / "1.tagged").write_text("the/DET dog/NOUN barks/VERB\n")
    (tmp_path / "2.tagged").write_text("a/DET cat/NOUN sleeps/VERB\n\n")
    (tmp_path / "3.tagged").write_text("\n")
    model = SequencePerceptron(random_state=0)
    assert fit(model, str(tmp_path / "*.tagged"), client=two) is model
    assert model.predict([["the", "cat", "barks"]]) == [["DET", "NOUN", "VERB"]]
    assert model.mixing_.rows == (1, 1)


class LeftError(Exception):
    """A run that is left."""


@pytest.mark.parametrize("solution", ["last", "average"])
def test_a_run_that_was_left_resumes_exactly(two, tmp_path, solution):
    X, y = made(5, n_sentences=30)
    settings, path = {"max_iter": 5, "random_state": 3, "solution": solution}, tmp_path / "model"

    def leave(done):
        if done.epoch.epoch == 3:
            raise LeftError

    data = bags(X, y, 3)
    with pytest.raises(LeftError):
        fit(SequencePerceptron(**settings), *data, client=two, checkpoint=path, report=leave)
    assert len(rosenblatt.load(path).history_) == 2
    kept = {"client": two, "checkpoint": path, "resume": True}
    resumed = fit(SequencePerceptron(**settings), *data, **kept)
    whole = fit(SequencePerceptron(**settings), *data, client=two)
    assert resumed.history_ == whole.history_
    assert named_weights(resumed) == named_weights(whole)
    assert named_weights(rosenblatt.load(path)) == named_weights(whole)
    with pytest.raises(ParameterError) as refusal:
        fit(SequencePerceptron(**settings | {"markov": 2}), *data, **kept)
    assert refusal.value.code == "resume-changed"


def test_partitions_may_count_by_their_mistakes(two):
    X, y = made(4, n_sentences=12)
    settings = {"solution": "last", "order": "fixed", "margin": 0, "features": TEMPLATES}
    model = SequencePerceptron(max_iter=1, **settings)
    found = fit(model, *bags(X, y, 3), mix="mistakes", client=two)
    parts = [twin_of(X, y, 1, 0, [range(k, k + 4)]) for k in (0, 4, 8)]
    mistakes = np.array([len(part.updates) for part in parts])
    wanted = {
        key: np.average([part.last.get(key, 0) for part in parts], weights=mistakes)
        for key in {key for part in parts for key in part.last}
    }
    wanted = {key: weight for key, weight in wanted.items() if abs(weight) > 1e-6}
    assert named_weights(found) == pytest.approx(wanted, abs=1e-5)


def test_refusals(two):
    X, y = made(3)
    refused = {
        "pieces-early-stopping": (SequencePerceptron(early_stopping=True), *bags(X, y, 2)),
        "other-partitions": (SequencePerceptron(), bags(X, y, 2)[0], bags(X, y, 3)[1]),
        "cluster-sentences": (SequencePerceptron(), X, y),
    }
    for code, given in refused.items():
        with pytest.raises(ParameterError) as refusal:
            fit(*given, client=two)
        assert refusal.value.code == code
    with pytest.raises(TypeError, match="neither sample_weight nor classes"):
        fit(SequencePerceptron(), *bags(X, y, 2), client=two, classes=["A"])
    with pytest.raises(ValueError, match=r"Partition [01]: X\[0\] has \d tokens and y\[0\]"):
        fit(SequencePerceptron(), *bags(X, [[]] * len(y), 2), client=two)
    with pytest.raises(ValueError, match="cannot go from partition to partition"):
        fit(SequencePerceptron(), *bags(X, y, 2), client=two, mode="sequential")
