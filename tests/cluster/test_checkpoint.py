"""A run that was left goes on to the last bit as if it had not been."""

import numpy as np
import pytest

import rosenblatt
from rosenblatt import Perceptron
from rosenblatt.cluster import fit
from rosenblatt.parameters import ParameterError
from rosenblatt.storage.file import load_model

from ..conftest import FORMS, blobs, form_parameters
from .conftest import cut, same, threads

pytestmark = pytest.mark.cluster


class LeftError(Exception):
    """A run that is left."""


@pytest.mark.parametrize(
    ("form", "settings"),
    [
        *((form, {}) for form in FORMS),
        ("two", {"random_state": None}),
        ("argmax", {"early_stopping": True}),
    ],
    ids=str,
)
def test_a_restart_goes_on_exactly(tmp_path, form, settings):
    X, y = blobs(200, 4, 2 if form == "two" else 3)
    settings = {"max_iter": 6, "random_state": 4, "solution": "average", **settings}
    settings |= form_parameters(form)
    path, parts = tmp_path / "model", cut(X, y, [60, 60, 80])

    def leave(done):
        if done.epoch.epoch == 3:
            raise LeftError

    with threads(1) as client:
        with pytest.raises(LeftError):
            fit(Perceptron(**settings), *parts, client=client, checkpoint=path, report=leave)
        begun = load_model(path)
        assert begun.facts["stop_reason"] == "unfinished"
        seed = begun.parameters["random_state"]
        whole = fit(Perceptron(**settings | {"random_state": seed}), *parts, client=client)
        model = Perceptron(**settings)
        assert same(fit(model, *parts, client=client, checkpoint=path, resume=True), whole)
        assert model.mixing_.weighted_mistakes == whole.mixing_.weighted_mistakes
        again = fit(Perceptron(**settings), *parts, client=client, checkpoint=path, resume=True)
        assert same(again, whole)  # nothing was left to do
        assert np.array_equal(rosenblatt.load(path).predict(X), whole.predict(X))
        going_on = {"client": client, "checkpoint": path, "resume": True}
        with pytest.raises(ValueError, match=r"began with margin = 0\.0, not 1"):
            fit(Perceptron(**settings, margin=1.0), *parts, **going_on)
        with pytest.raises(ValueError, match=r"began with partitions = \[60, 60, 80\]"):
            fit(Perceptron(**settings), *cut(X, y, [100, 100]), **going_on)


def test_what_cannot_be_resumed_is_refused(client, tmp_path):
    X, y = blobs(20, 3)
    path = tmp_path / "model"
    Perceptron().fit(X, y).save(path)
    with pytest.raises(ParameterError, match="not the checkpoint of a cluster") as refusal:
        fit(Perceptron(), *cut(X, y, [20]), client=client, checkpoint=path, resume=True)
    assert refusal.value.code == "resume-not-cluster"
    with pytest.raises(ParameterError, match="resume=True needs checkpoint") as refusal:
        fit(Perceptron(), *cut(X, y, [20]), client=client, resume=True)
    assert refusal.value.code == "resume-without-checkpoint"


def test_what_changes_nothing_may_change_on_the_way(client, tmp_path):
    parts, path = cut(*blobs(20, 3), [10, 10]), tmp_path / "model"
    kept = {"client": client, "checkpoint": path}
    first = fit(Perceptron(max_iter=2, random_state=0), *parts, **kept)
    loud = Perceptron(max_iter=2, random_state=0, verbose=1)
    assert same(fit(loud, *parts, resume=True, **kept), first)
