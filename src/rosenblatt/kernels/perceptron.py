"""The perceptron."""

from typing import NamedTuple

import numpy as np

from .loop import JUST_0, count_weight, is_right, move, move_columns, update


class Perceptron(NamedTuple):
    """Thresholds of the perceptron, and the step of its bias.

    A positive row is right when its activation is above ``above``, a negative one when it is below
    ``below`` (Li et al. 2002 let them differ); with more classes, when the right class leads every
    other by over ``above``.
    """

    above: float
    below: float
    bias: float

    @classmethod
    def of(cls, parameters, bias):
        """Thresholds by the margin; they include 0 or not, by ``ties``."""
        margin, ties = parameters["margin"], parameters["ties"]
        positive, negative = margin if isinstance(margin, tuple | list) else (margin, margin)
        above, below = float(positive), -float(negative)
        if above == 0 and ties in ("positive", "correct"):
            above = JUST_0
        if below == 0 and ties in ("negative", "correct"):
            below = -JUST_0
        return cls(above, below, float(bias))


class Batch(NamedTuple):
    """A perceptron whose weights stay while the sums take the updates; fields as above."""

    above: float
    below: float
    bias: float


@is_right.of(Perceptron, Batch)
def exceeds_margin(rule, state, found, i, examples):
    """Whether the margin exceeds that of the row's side."""
    return found.margin > (rule.above if found.side > 0.0 else -rule.below)


@update.of(Perceptron)
def add_row(rule, state, found, clock, t, i, examples):
    """On every mistake, w += ηyx and b += ηy (Rosenblatt 1958)."""
    step = examples.steps[i]
    move(state, found, step, rule.bias, count_weight(clock, t), i, examples.rows)
    return step


@update.of(Batch)
def sum_row(rule, state, found, clock, t, i, examples):
    """On every mistake, u += ηyx."""
    step = np.float64(examples.steps[i])
    move_columns(state.u, state.ub, found, step, rule.bias, i, examples.rows)
    return step
