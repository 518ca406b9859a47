"""Adaline: every error moves the weights towards the label, which is a number."""

import math
from typing import NamedTuple

from .loop import JUST_0, count_weight, move, row_weight, squared_size, update


class Adaline(NamedTuple):
    """What a margin must exceed, the step of the bias, and whether sizes divide the steps."""

    above: float
    bias: float
    normalized: bool

    learns = ("Numbers",)

    @classmethod
    def of(cls, parameters, bias):
        """Every error but 0 changes the weights."""
        return cls(JUST_0, float(bias), bool(parameters["normalized"]))


@update.of(Adaline)
def add_error(rule, state, found, clock, t, i, examples):
    """W += η(y - w·x)x (Widrow & Hoff 1960), maybe divided by the squared size of the row."""
    step = row_weight(i, examples) * -found.margin
    if rule.normalized:
        size = squared_size(found, rule.bias, i, examples.rows)
        step = step / size if size > 0.0 else 0.0
    step = examples.steps.dtype.type(math.copysign(step, found.side))
    move(state, found, step, rule.bias, count_weight(clock, t), i, examples.rows)
    return step
