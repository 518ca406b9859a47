"""What classes share is described in each, and as it is."""

import inspect

import pytest

from rosenblatt import (
    ALMA,
    AROW,
    ROMMA,
    SCW,
    Adaline,
    PassiveAggressive,
    PassiveAggressiveRegressor,
    Perceptron,
    PRank,
    SecondOrderPerceptron,
)
from rosenblatt.estimators.docstrings import parse_entries

FAMILY = [Perceptron, PassiveAggressive, ALMA, ROMMA, SecondOrderPerceptron, AROW, SCW]
FAMILY += [PassiveAggressiveRegressor, Adaline, PRank]


@pytest.mark.parametrize("model", FAMILY)
def test_every_parameter_is_described_with_its_default(model):
    described, _ = parse_entries(model.__doc__)
    given = inspect.signature(model).parameters
    assert list(described) == list(given)
    for name, parameter in given.items():
        value = parameter.default
        spelt = f'"{value}"' if isinstance(value, str) else repr(value)
        assert described[name].split("\n")[0].endswith(f"default={spelt}")


@pytest.mark.parametrize("model", FAMILY)
def test_every_attribute_of_a_fitted_model_is_described(model):
    fitted = model().fit([[1.0], [-1.0]], [1, 0])
    _, described = parse_entries(model.__doc__)
    assert all(hasattr(fitted, name) for name in described)
    learnt = {name for name in vars(fitted) if name.endswith("_")} - {"n_features_in_"}
    assert learnt <= set(described)


@pytest.mark.parametrize("kind", [ALMA, AROW, PassiveAggressive, ROMMA, SecondOrderPerceptron])
def test_rules_do_not_describe_what_only_the_perceptron_has(kind):
    described = parse_entries(kind.__doc__)[0]
    assert "η" not in "".join(described.values())
    assert "batch" not in described["order"]
