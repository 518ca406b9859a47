"""A model of two classes that gets a third is what the rule for several classes would have made."""

import numpy as np
import pytest

from rosenblatt.data.rows import view_rows
from rosenblatt.kernels.loop import Examples
from rosenblatt.kernels.targets import SeveralClasses
from rosenblatt.learners import add_class
from rosenblatt.learners.linear import LinearLearner, TrainingRows
from rosenblatt.parameters import CLASS_RULES, RULE_TABLE, defaults
from rosenblatt.training.linear_state import SOLUTIONS
from rosenblatt.training.rules import RULES
from rosenblatt.training.training import LinearTask

CLASSES = np.array(["a", "b"])


def learnt_from_two(rule, solution, rows):
    """A learner of two classes that has seen some rows."""
    parameters = defaults(RULE_TABLE[rule].parameters) | {"solution": solution}
    shape = rows.width, np.float64
    learner = LinearLearner.begin(parameters, CLASSES, shape, rule=RULES[rule])
    learner.learn(rows)
    return learner


@pytest.mark.parametrize("solution", ["last", "average"])
@pytest.mark.parametrize("rule", ["perceptron", "alma", "romma"])
def test_two_columns_are_those_of_the_rule_for_several_classes(rule, solution):
    random = np.random.default_rng(5)
    codes = random.integers(0, 2, 80)
    X = random.normal(size=(80, 4)) + 0.7 * codes[:, None]
    rows = TrainingRows.of(view_rows(X), codes, None, 4)
    learner = learnt_from_two(rule, solution, rows)
    divided = add_class.divide(learner.states[0])
    several = SOLUTIONS[solution](np.zeros((4, 2)), np.zeros(2), rule=RULES[rule])
    settings = RULES[rule].kind.of(learner.parameters, 1.0)
    examples = Examples(rows.rows, np.ones(80), codes.astype(np.uint32))
    for _ in several.sweep(
        LinearTask(examples, rows.row_order, settings, 4, SeveralClasses(np.zeros(2))),
        rows.row_order,
        None,
    ):
        pass
    assert divided.mistakes == several.mistakes > 10
    for one, other in zip(divided.coefficients(), several.coefficients(), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)
    for name in RULES[rule].arrays:
        np.testing.assert_allclose(getattr(divided, name), getattr(several, name), rtol=1e-9)


@pytest.mark.parametrize("rule", list(CLASS_RULES))
def test_every_rule_learns_a_third_class(rule):
    random = np.random.default_rng(2)
    codes = random.integers(0, 3, 200)
    X = random.normal(size=(200, 5)) + 3 * np.eye(3, 5)[codes]
    given = TrainingRows.of(view_rows(X[codes < 2]), codes[codes < 2], None, 5)
    learner = learnt_from_two(rule, "last", given)
    assert learner.refusal("add_class") == ""
    three = learner.with_class("c")
    for _ in range(3):
        three.learn(TrainingRows.of(view_rows(X), codes, None, 5))
    found = three.choose(three.scores(view_rows(X), 5))
    assert np.mean(found == codes) > 0.8
