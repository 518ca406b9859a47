"""Rules by name: their settings, the problems that they learn, and what travels to a process."""

import pickle

import numpy as np
import pytest

from rosenblatt.parameters import RULE_TABLE, defaults
from rosenblatt.training.linear_state import LastWeights
from rosenblatt.training.rules import PERCEPTRON, RULES, get_rule


@pytest.mark.parametrize("name", list(RULES))
def test_settings_are_numbers_that_the_loop_is_compiled_for_once(name):
    rule = RULES[name]
    settings = rule.kind.of(defaults(RULE_TABLE[name].parameters), 1)
    assert type(settings) is rule.kind
    kinds = rule.kind.__annotations__
    assert all(type(value) is kinds[key] for key, value in settings._asdict().items())


def test_a_rule_travels_by_name():
    assert pickle.loads(pickle.dumps(RULES["arow"])) is RULES["arow"]
    assert get_rule("perceptron") is PERCEPTRON
    state = pickle.loads(pickle.dumps(LastWeights(np.zeros(3), np.zeros(1), rule=RULES["arow"])))
    assert state.rule is RULES["arow"]
    np.testing.assert_array_equal(state.S, 1.0)
