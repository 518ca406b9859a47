"""What is in a model file is checked both ways: damaged, forged and unfit models are refused."""

import numpy as np
import pytest

from rosenblatt import ALMA, PRank, load
from rosenblatt.estimators.pipeline import make_estimator
from rosenblatt.storage.file import load_model, save_model
from rosenblatt.training.conformal import Conformal
from rosenblatt.training.training import Checkpoint, ProblemRun

from .models import assert_same, files_beside, forge, put, refused, trained


@pytest.mark.parametrize("score", ["x", {"rows": 3}, {"rows": "a", "errors": None}])
def test_held_out_rows_that_cannot_be_are_not_saved(path, score):
    model = trained().to_model()
    with pytest.raises(ValueError, match="held_out of its facts is not what it should be"):
        save_model(path, model._replace(facts=model.facts | {"held_out": score}))


def test_a_checkpoint_is_at_the_end_of_the_history(path):
    model = trained().to_model()
    for epochs, problems in (([], 1), (list(model.history), 2)):
        place = Checkpoint(0, [ProblemRun(epochs=epochs)] * problems)
        with pytest.raises(ValueError, match=r"its checkpoint is not (in its hist|of its prob)"):
            save_model(path, model._replace(checkpoint=place))


def test_thresholds_of_ranks_are_in_order_and_labels_in_any(path):
    X = np.arange(12.0)[:, None]
    model = PRank(ranks=["b", "c", "a"]).fit(X, np.repeat(["b", "c", "a"], 4)).to_model()
    save_model(path, model)
    assert load_model(path).classes.tolist() == ["b", "c", "a"]
    model.states[0].bias[:] = [0.0, 1.0]
    with pytest.raises(ValueError, match="its thresholds are not in order"):
        save_model(path, model)
    with pytest.raises(ValueError, match="not distinct"):
        save_model(path, model._replace(classes=np.array(["b", "c", "b"])))


# Forged files


KEPT = Conformal([1.0, 2.0]).as_dict()
FORGERIES = {
    "labels missing": ("last", put(["classes", "values"], [0])),
    "labels twice": ("last", put(["classes", "values"], [1, 1])),
    "labels too many": ("last", put(["classes", "values"], [0, 1, 2])),
    "labels of another type": ("last", put(["classes", "values"], [0.5, 1])),
    "labels nested": ("last", put(["classes", "values"], [[0], [1]])),
    "labels too large": ("last", put(["classes", "values"], [0, 2**70])),
    "labels out of order": ("last", put(["classes"], {"dtype": "<U1", "values": ["b", "a"]})),
    "labels that are objects": ("last", put(["classes"], {"dtype": "|O", "values": [[1], [1, 2]]})),
    "label type huge": ("last", put(["classes"], {"dtype": "<U500000000", "values": ["a", "b"]})),
    "label type unknown": ("last", put(["classes", "dtype"], "<M8[ns]")),
    "label type compound": ("last", put(["classes", "dtype"], "(9999999,9999999)i8")),
    "solution unknown": ("last", put(["parameters", "solution"], "best")),
    "solution no name": ("last", put(["parameters", "solution"], [])),
    "solution of another kind": ("last", put(["parameters", "solution"], "average")),
    "solution of a lesser kind": ("average", put(["parameters", "solution"], "last")),
    "solutions none": ("last", put(["states"], [])),
    "solutions too many": ("last", put(["states"], [{"seen": 0, "mistakes": 0}] * 2)),
    "class weights without names": ("last", put(["parameters", "class_weight"], [[[], 1]])),
    "facts no dict": ("last", put(["facts"], [])),
    "features no dict": ("last", put(["features"], "all")),
    "history of another shape": ("last", put("history", np.zeros((2, 5)))),
    "history of no numbers": ("last", put("history", np.full((1, 6), np.nan))),
    "counter missing": ("last", put(["states", 0], {"seen": 1})),
    "counter negative": ("last", put(["states", 0, "seen"], -1)),
    "counter huge": ("last", put(["states", 0, "seen"], 2**63)),
    "counter no integer": ("last", put(["states", 0, "mistakes"], 1.0)),
    "counter no number": ("pocket", put(["states", 0, "errors"], float("nan"))),
    "counter no truth": ("pocket", put(["states", 0, "measured"], 1)),
    "weights of no shape": ("last", put("0.weights", np.array(1.0))),
    "weights of two": ("last", put("0.weights", np.zeros((3, 2)))),
    "weights without columns": ("last", put("0.weights", np.zeros(0))),
    "weights whole": ("last", put("0.weights", np.zeros(3, np.int64))),
    "weights half": ("last", put("0.weights", np.zeros(3, np.float16))),
    "weights NaN": ("last", put("0.weights", np.array([1, np.nan, 0]))),
    "weights infinite": ("last", put("0.weights", np.array([1, np.inf, 0]))),
    "bias long": ("last", put("0.bias", np.zeros(2))),
    "bias of another type": ("last", put("0.bias", np.zeros(1, np.float32))),
    "missing short": ("average", put("0.missing", np.zeros(2))),
    "missing bias long": ("average", put("0.missing_bias", np.zeros(3))),
    "pocket short": ("pocket", put("0.best_weights", np.zeros(2))),
    "tensor too many": ("last", put("1.weights", np.zeros(3))),
    "tensor missing": ("last", lambda header, tensors: tensors.pop("0.bias")),
    "sets without levels": ("last", put(["facts", "conformal"], {"scores": [], "rows": 0})),
    "sets of few levels": ("last", put(["facts", "conformal"], {**KEPT, "levels": [0.5]})),
    "sets of words": ("last", put(["facts", "conformal"], {**KEPT, "scores": ["a"]})),
    "sets of fewer than no rows": ("last", put(["facts", "conformal"], {**KEPT, "rows": -1})),
}


@pytest.mark.parametrize("what", FORGERIES)
def test_a_forged_file_with_a_right_checksum_is_refused(what, tmp_path):
    solution, change = FORGERIES[what]
    model = trained(solution).to_model()
    forge(tmp_path / "same", model, lambda header, tensors: None)
    assert_same(load_model(tmp_path / "same"), model)
    forge(tmp_path / "other", model, change)
    refused(tmp_path / "other")


@pytest.mark.parametrize(("place", "number"), [(0, 0.0), (4, 0.0), (4, -1.0), (0, 1e308)])
def test_a_scale_that_rules_cannot_divide_by_is_refused(place, number, path):
    X = np.array([[-9.0], [8.0], [7.0]])
    model = ALMA(solution="average", random_state=0).fit(X, [0, 1, 1]).to_model()

    def change(header, tensors):
        tensors["0.kept.scale"][place] = number

    forge(path, model, lambda header, tensors: None)
    load_model(path)
    forge(path, model, change)
    refused(path, "scale is out of range")


# What cannot be saved


def test_a_model_that_would_not_load_is_not_saved(tmp_path):
    changed = trained().set_params(solution="average")
    apart = trained(form="argmax").set_params(multi_class="ovr")
    infinite, text, dates = trained(), trained(), trained().to_model()
    infinite._learner.states[0].weights[0] = np.inf
    dates = dates._replace(classes=np.array([1, 2], "M8[D]"))
    text.set_params(random_state=np.random.RandomState(0))
    for model, match in [
        (changed.to_model(), "its states are not those of its solution"),
        (apart.to_model(), "solution or multi_class are not those of its weights"),
        (infinite.to_model(), "weights does not fit or is not finite"),
        (dates, "no place for labels of type '<M8"),
        (text.to_model(), "random_state give an int or None"),
    ]:
        with pytest.raises(ValueError, match=match):
            save_model(tmp_path / "model", model)
    assert files_beside(tmp_path / "model") == []


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
