"""Constructors that are made from annotations behave as those written by hand."""

import inspect
import pickle

import pytest
from sklearn.base import clone

import rosenblatt
from rosenblatt.estimators.constructors import estimator, positional

NAMES = [
    "ALMA",
    "AROW",
    "KernelPerceptron",
    "PassiveAggressive",
    "Perceptron",
    "PerceptronNetwork",
    "ROMMA",
    "SCW",
    "SecondOrderPerceptron",
    "SequencePerceptron",
]


class Base:
    def __init__(self):
        raise AssertionError("not called")


@estimator
class Shared(Base):
    """Some."""

    size: int = 3


@estimator
class Own(Shared):
    """More."""

    C: float = positional(1.0)
    loss: str = "hinge"
    size: int = 5


def test_own_parameters_come_first_and_one_may_be_positional():
    assert str(inspect.signature(Own)) == (
        "(C: float = 1.0, *, loss: str = 'hinge', size: int = 5) -> None"
    )
    assert vars(Own(2.0, loss="hard")) == {"size": 5, "C": 2.0, "loss": "hard"}
    for given in ({"rate": 1}, {"args": (1.0, "hinge")}):
        with pytest.raises(TypeError):
            Own(*given.pop("args", ()), **given)


def test_defaults_are_no_attributes_of_the_class():
    """Else the documentation would list them as attributes of a fitted model."""
    assert not {"size", "C", "loss"} & vars(Own).keys()


@pytest.mark.parametrize("name", NAMES)
def test_parameters_survive_clone_repr_and_pickle(name):
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
