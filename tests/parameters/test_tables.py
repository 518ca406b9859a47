"""The tables of parameters, and the constructors that must agree with them."""

import inspect

import pytest

import rosenblatt
from rosenblatt.parameters import RULE_NAMES, defaults
from rosenblatt.slices import list_slices

NAMES = [*RULE_NAMES, *(name for one in list_slices() for name in one.learners)]
TABLES = {name: getattr(rosenblatt, name)._parameters for name in NAMES}


@pytest.mark.parametrize("name", TABLES)
def test_constructors_have_the_names_and_defaults_of_their_table(name):
    signature = inspect.signature(getattr(rosenblatt, name)).parameters
    assert {name: one.default for name, one in signature.items()} == defaults(TABLES[name])


@pytest.mark.parametrize("name", TABLES)
def test_every_parameter_has_help_that_is_one_phrase(name):
    for parameter in TABLES[name].values():
        assert parameter.help
        assert not parameter.help.endswith(".")
