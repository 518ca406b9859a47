"""New labels: as if the model had always known them, wherever the examples are cut."""

import numpy as np
import pytest

from rosenblatt.parameters import CLASS_RULES
from rosenblatt.service import model as serving
from rosenblatt.service.model import ServedModel
from rosenblatt.service.requests import BadExampleError
from rosenblatt.storage.file import load_model

from .conftest import trained
from .test_model import content

RULES = list(CLASS_RULES)


def served(folder, **given):
    plain = {"label": "label", "text": (), "bits": None, "scale": "none", "max_iter": 1}
    return ServedModel(load_model(trained(folder / "m", rows("bd", 2), **plain | given)), "m")


def rows(labels, count=60, seed=0):
    random = np.random.default_rng(seed)
    centres = dict(zip("abcde", np.random.default_rng(1).integers(-4, 5, (5, 3)), strict=True))
    found = []
    for k in range(count):
        label = labels[k % len(labels)]
        x, y, z = (centres[label] + random.integers(-2, 3, 3)).tolist()
        found.append({"x": x, "y": y, "z": z, "label": label})
    return found


def teach(model, some):
    model.learn(model.maker.make(some, labelled=True))


def check(model, some):
    return model.check_learnable(model.maker.make(some, labelled=True))


@pytest.mark.parametrize("multi_class", ["argmax", "ovr"])
@pytest.mark.parametrize("solution", ["last", "average"])
@pytest.mark.parametrize("rule", RULES)
def test_where_examples_are_cut_does_not_matter(tmp_path, rule, solution, multi_class):
    coming = rows("bd", 20) + rows("abd", 20) + rows("abcde", 30)
    given = {"rule": rule, "solution": solution, "multi_class": multi_class}
    whole, alone = (served(tmp_path, **given) for _ in range(2))
    teach(whole, coming)
    for row in coming:
        teach(alone, [row])
    assert whole.learner.classes.tolist() == list("abcde")
    assert content(whole, tmp_path) == content(alone, tmp_path)
    for _ in range(20):
        teach(whole, rows("abcde", 50, seed=2))
    made = whole.maker.make(rows("abcde", 50, seed=2), labelled=True)
    found = whole.learner.choose(whole.make_predictor().learner.scores(made.rows, made.width))
    assert np.mean(whole.learner.classes[found] == made.labels) > 0.5


def test_a_label_is_new_only_if_that_is_allowed(tmp_path, monkeypatch):
    model = served(tmp_path)
    given = rows("abd", 6)
    with pytest.raises(BadExampleError, match="'a' is not among b, d"):
        check(model, given)
    model.most_classes = 40
    check(model, given)
    monkeypatch.setattr(serving, "LARGEST", 9)
    with pytest.raises(BadExampleError, match="MB"):
        check(model, given)
    model.most_classes = 2
    with pytest.raises(BadExampleError, match="at most 2 classes"):
        check(model, given)


@pytest.mark.parametrize("label", ["spam\0", "a\nb", "\x7f", "\u202e"])
def test_a_label_that_cannot_be_printed_does_not_become_a_class(tmp_path, label):
    model = served(tmp_path)
    model.most_classes = 40
    (row,) = rows("b", 1)
    with pytest.raises(BadExampleError, match="cannot be printed"):
        check(model, [row | {model.maker.label: label}])


def test_very_many_new_labels_are_refused_at_once_and_learnt_one_by_one(tmp_path):
    model = served(tmp_path)
    model.most_classes = 40
    (row,) = rows("b", 1)
    many = [row | {model.maker.label: f"label {number}"} for number in range(1500)]
    with pytest.raises(BadExampleError, match="1,500 new labels"):
        check(model, many)
    model.learn(model.maker.make(many[:400], labelled=True))  # as a log of 0.2 may have them
    assert (len(model.learner.classes), model.sequence) == (402, 400)
