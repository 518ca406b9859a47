"""Which estimator a model file becomes."""

import numpy as np
import pytest
from sklearn.base import ClassifierMixin, RegressorMixin

import rosenblatt
from rosenblatt import load
from rosenblatt.estimators.pipeline import make_estimator
from rosenblatt.parameters import RULE_NAMES
from rosenblatt.slices import SLICES
from rosenblatt.storage.file import load_model, save_model

from ..conftest import blobs
from .models import refused, trained

KINDS = {
    name: kind
    for name in rosenblatt.__all__
    if isinstance(kind := getattr(rosenblatt, name), type)
    and issubclass(kind, ClassifierMixin | RegressorMixin)
}


def test_every_estimator_is_known():
    others = {name for one in SLICES.values() for name in one.learners}
    assert KINDS.keys() == RULE_NAMES.keys() | others


@pytest.mark.parametrize("name", KINDS)
def test_a_file_becomes_the_estimator_that_wrote_it(name, tmp_path):
    rows, y = blobs()
    if name == "SequencePerceptron":
        rows, y = [["a", "b"], ["b", "a"]], [["A", "B"], ["B", "A"]]
    here = KINDS[name](random_state=0).fit(rows, y)
    here.save(tmp_path / "model")
    there = load(tmp_path / "model")
    assert type(there) is KINDS[name]
    assert there.get_params() == here.get_params()
    np.testing.assert_array_equal(there.predict(rows), here.predict(rows))


def test_an_unknown_estimator_is_neither_saved_nor_loaded(tmp_path):
    model = trained().to_model()._replace(estimator="Multilayer")
    with pytest.raises(ValueError, match=r"cannot be saved: .*Multilayer"):
        save_model(tmp_path / "model", model)


def test_parameters_that_an_estimator_refuses_are_told_with_the_file(tmp_path):
    model = trained().to_model()
    model.parameters["eta0"] = -1.0
    save_model(tmp_path / "model", model)
    refused(tmp_path / "model", "eta0 must be", load, "model-inconsistent")
    with pytest.raises(ValueError, match="here is not a Perceptron"):
        make_estimator(load_model(tmp_path / "model"), "here")
