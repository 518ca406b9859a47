"""Constructors that are made from annotations behave as those written by hand."""

import inspect
import pickle

import pytest
from sklearn.base import clone

import rosenblatt

NAMES = [
    "ALMA", "AROW", "KernelPerceptron", "PassiveAggressive", "Perceptron", "PerceptronNetwork",
    "ROMMA", "SCW", "SecondOrderPerceptron", "SequencePerceptron",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_parameters_survive_clone_repr_and_pickle(name):
    """Defaults are no attributes of the class: the documentation would list them."""
    kind = getattr(rosenblatt, name)
    first = next(iter(inspect.signature(kind).parameters))
    model = kind(random_state=3)
    assert clone(model).get_params() == model.get_params()
    assert pickle.loads(pickle.dumps(model)).get_params() == model.get_params()
    assert repr(model) == f"{name}(random_state=3)"
    assert model != clone(model)
    assert len({model, clone(model)}) == 2
    assert model.set_params(**{first: getattr(model, first)}) is model
    assert not model.get_params().keys() & vars(kind).keys()
    with pytest.raises(TypeError, match="nonsense"):
        kind(nonsense=1)


@pytest.mark.parametrize("name", ["shuffle", "n_jobs", "penalty", "alpha"])
def test_parameters_of_scikit_learn_get_a_hint(name):
    with pytest.raises(TypeError, match=f"'{name}'; [a-zA-Z]"):
        rosenblatt.Perceptron(**{name: 1})
