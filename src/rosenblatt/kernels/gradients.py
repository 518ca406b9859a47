"""FTRL and AdaGrad: every row moves the weights of its columns, each by its own gradients.

FTRL-proximal keeps for each weight the sum n of its squared gradients, in S, and z. The weight is a
function of both: 0 while ``|z|`` is at most L1. The bias is not regularized. AdaGrad keeps only n
and moves the weight; with a decay, old gradients leave the sum, so that steps do not vanish.

The loss is logistic, and the weight of a row multiplies its gradient. A column in which a row has a
value of 0 has no gradient, and nothing of it changes.
"""

import math
from typing import NamedTuple

import numpy as np

from .algebra import column, smaller, span
from .dispatch import by_kind
from .loop import by_name, count_weight, is_right, update


class FTRL(NamedTuple):
    """What a margin must exceed to count as right, the step of the bias, and the parameters."""

    above: float
    bias: float
    alpha: float
    beta: float
    l1: float
    l2: float

    of = by_name(above=0.0)
    keeps = (("S", 0.0), ("z", 0.0))
    learns = ("TwoClasses",)
    demanding = True


class AdaGrad(NamedTuple):
    """What a margin must exceed to count as right, the step of the bias, and the parameters."""

    above: float
    bias: float
    alpha: float
    beta: float
    decay: float

    of = by_name(above=0.0)
    keeps = (("S", 0.0),)
    learns = ("TwoClasses",)
    demanding = True


@is_right.of(FTRL, AdaGrad)
def never(rule, state, found, i, examples):
    """Every row is learnt from."""
    return False


# The gradient of the bias is that of a weight whose value in all rows is ``root``.


# All is computed and stored even where the value x is 0, so that vector units can do it.


@by_kind
def move_weight(rule, w, n, z, j, slope, x, penalty, root):
    """Change weight j and what is kept of it by its gradient, if x is not 0."""


@move_weight.of(FTRL)
def move_proximal(rule, w, n, z, j, slope, x, penalty, root):
    """Make the weight of its sums (McMahan et al. 2013, algorithm 1)."""
    g, (l1, l2), before = slope * x, penalty, np.float64(w[j])
    more = n[j] + g * g
    total = z[j] + (g - (math.sqrt(more) - math.sqrt(n[j])) / rule.alpha * (before / root))
    slowness = (rule.beta + math.sqrt(more)) / rule.alpha + l2
    weight = root * (-(total - math.copysign(l1, total)) / slowness)
    weight = 0.0 if abs(total) <= l1 else weight
    w[j] = weight if x != 0 else before
    n[j], z[j] = more, total


@move_weight.of(AdaGrad)
def move_adaptive(rule, w, n, z, j, slope, x, penalty, root):
    """Move the weight by its gradient over the root of their squares (Duchi et al. 2011)."""
    g, before = slope * x, w[j]
    more = (1.0 - rule.decay) * n[j] + g * g
    after = before + root * (-rule.alpha * g / (rule.beta + math.sqrt(more)))
    w[j] = after if x != 0 else before
    n[j] = more if x != 0 else n[j]


@by_kind
def penalties(rule):
    """L1 and L2."""
    return 0.0, 0.0


@penalties.of(FTRL)
def elastic_penalties(rule):
    """L1 and L2."""
    return rule.l1, rule.l2


@update.of(FTRL, AdaGrad)
def move_by_gradient(rule, state, found, clock, t, i, examples):
    """Move the weights where a row has values, by the slope of the logistic loss."""
    w, b, u, ub = state.w, state.b, state.u, state.ub
    slope = -np.float64(examples.steps[i]) / (1.0 + math.exp(smaller(found.margin, 700.0)))
    time, penalty = count_weight(clock, t), penalties(rule)
    values, indices, starts = examples.rows
    first, last = span(i, indices, starts)
    for k in range(first, last):
        j = column(k, first, indices)
        before = np.float64(w[j])
        move_weight(rule, w, state.S, state.z, j, slope, values[k], penalty, 1.0)
        if len(u):
            u[j] += time * (np.float64(w[j]) - before)
    root = math.sqrt(rule.bias)
    if root > 0.0:
        before = np.float64(b[0])
        move_weight(rule, b, state.Sb, state.zb, 0, slope, root, (0.0, 0.0), root)
        if len(ub):
            ub[0] += time * (np.float64(b[0]) - before)
    return slope
