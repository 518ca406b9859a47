"""Rules by name: their settings, the problems that they learn, and what travels to a process."""

import pickle

import numpy as np
import pytest

from rosenblatt.parameters import RULE_TABLE, defaults
from rosenblatt.training.linear_state import LastWeights
from rosenblatt.training.rules import PERCEPTRON, RULES, get_rule


@pytest.mark.parametrize(
    ("ties", "at_zero"),
    [
        ("mistake", (False, False)),
        ("positive", (True, False)),
        ("negative", (False, True)),
        ("correct", (True, True)),
    ],
)
def test_ties_say_for_which_sign_zero_is_right(ties, at_zero):
    found = PERCEPTRON.kind.of({"margin": 0, "ties": ties}, 2.0)
    assert (found.above < 0, found.below > 0) == at_zero
    assert found.bias == 2.0
    wide = PERCEPTRON.kind.of({"margin": 3, "ties": ties}, 1.0)
    assert (wide.above, wide.below) == (3.0, -3.0)


@pytest.mark.parametrize("name", list(RULES))
def test_settings_are_numbers_that_the_loop_is_compiled_for_once(name):
    rule = RULES[name]
    settings = rule.kind.of(defaults(RULE_TABLE[name].parameters), 1)
    assert type(settings) is rule.kind
    kinds = rule.kind.__annotations__
    assert all(type(value) is kinds[key] for key, value in settings._asdict().items())


def test_problems_are_classes_unless_all_are_learnt_together():
    assert PERCEPTRON.problems(2, "ovr") == PERCEPTRON.problems(2, "argmax") == [1]
    assert PERCEPTRON.problems(3, "ovr") == [0, 1, 2]
    assert PERCEPTRON.problems(3, "argmax") == [None]
    assert RULES["ftrl"].problems(3, "argmax") == [0, 1, 2]


def test_a_rule_travels_by_name():
    assert pickle.loads(pickle.dumps(RULES["arow"])) is RULES["arow"]
    assert get_rule("perceptron") is PERCEPTRON
    state = pickle.loads(pickle.dumps(LastWeights(np.zeros(3), np.zeros(1), rule=RULES["arow"])))
    assert state.rule is RULES["arow"]
    np.testing.assert_array_equal(state.S, 1.0)
