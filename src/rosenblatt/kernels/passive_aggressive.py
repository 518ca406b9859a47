"""The passive-aggressive rule: the smallest step after which a row has a margin, bounded by C.

With several classes, an update adds x to the right class and subtracts it from the best rival: a
row of twice the squared size (Crammer & Singer 2003). The bias is a weight of one more coordinate,
whose square is ``bias``.

Where steps are bounded by C, the weight of a row multiplies its step; else it is the margin that
the row must have, since longer steps could add up without end. Of numbers it multiplies C.
"""

import math
from typing import NamedTuple

from .compiling import inlined
from .loop import JUST_0, JUST_1, count_weight, is_right, move, row_weight, squared_size, update

HARD, HINGE, SQUARED_HINGE = range(3)


class PassiveAggressive(NamedTuple):
    """What a margin must exceed, the step of the bias, the margin to reach, C, and the loss.

    The margin to reach is 1 for classes, and 0 for numbers, whose margin is ε less the error.
    """

    above: float
    bias: float
    aim: float
    C: float
    loss: int

    learns = ("TwoClasses", "SeveralClasses", "Numbers")

    @classmethod
    def of(cls, parameters, bias):
        """A margin of 1, or an error of ε for numbers; C, and one of three losses."""
        loss, numbers = parameters["loss"], "epsilon" in parameters
        kinds = {"hard": HARD, "hinge": HINGE, "squared_hinge": SQUARED_HINGE}
        kind = kinds[loss.replace("epsilon_insensitive", "hinge")]
        above, aim = (JUST_0, 0.0) if numbers else (JUST_1, 1.0)
        return cls(above, float(bias), aim, float(parameters["C"]), kind)

    def required(self, weights):
        """What the margins of rows must exceed."""
        return self.above * (1.0 if self.loss == HINGE or self.aim == 0.0 else weights)


@inlined
def aggressive_step(lack, size, C, loss):
    """The step τ of PA, PA-I or PA-II for a row of a squared size, by what its margin lacks."""
    if loss == SQUARED_HINGE:
        return lack / (size + 0.5 / C)
    step = lack / size if size > 0.0 else 0.0
    return C if loss == HINGE and step > C else step


@inlined
def demand(rule, weight):
    """The margin that a row of a weight must have."""
    return rule.aim if rule.loss == HINGE else rule.aim * weight


@is_right.of(PassiveAggressive)
def has_margin(rule, state, found, i, examples):
    """Whether the row has its margin."""
    return found.margin >= demand(rule, row_weight(i, examples))


@update.of(PassiveAggressive)
def add_least(rule, state, found, clock, t, i, examples):
    """W += τyx with the least τ that gives the row its margin (Crammer et al. 2006)."""
    size, weight = squared_size(found, rule.bias, i, examples.rows), row_weight(i, examples)
    lack = demand(rule, weight) - found.margin
    if rule.loss == HINGE and rule.aim > 0.0:
        tau = weight * aggressive_step(lack, size, rule.C, rule.loss)
    else:
        tau = aggressive_step(lack, size, rule.C * weight, rule.loss)
    step = examples.steps.dtype.type(math.copysign(tau, found.side))
    move(state, found, step, rule.bias, count_weight(clock, t), i, examples.rows)
    return step
