"""The second-order perceptron with a diagonal matrix.

It predicts with w = A⁻¹v, A = aI + Σ xxᵀ and v = Σ yx over its mistakes. With S = aA⁻¹ that is, by
Sherman & Morrison, w += (y - w·x)Sx/(a + xᵀSx), S -= SxxᵀS/(a + xᵀSx). As in the paper, A includes
the row itself. With only the diagonal of A, the formulas hold for each weight alone. The weight of
a row divides a.
"""

import math
from typing import NamedTuple

import numpy as np

from .algebra import FIRST_CLASS, ONE_CLASS, column, span
from .compiling import inlined
from .loop import by_name, count_weight, row_weight, update


class SecondOrder(NamedTuple):
    """What a margin must exceed, the step of the bias, and a."""

    above: float
    bias: float
    a: float

    of = by_name(above=0.0)
    keeps = (("S", 1.0),)
    demanding = True


@inlined
def second_order_weight(w, S, x, r):
    """The change of a weight by its value x of a row, and its new variance."""
    rest = r + S * x * x
    return S * x * (1.0 - w * x) / rest, S * r / rest


@inlined
def move_class_alone(state, classes, c, y, r, bias, time, i, rows):
    """Update each weight of class c where row i has values, alone; and the bias."""
    w, b, u, ub, S, Sb = state.w, state.b, state.u, state.ub, state.S, state.Sb
    values, indices, starts = rows
    first, last = span(i, indices, starts)
    for k in range(first, last):
        j = column(k, first, indices) * classes + c
        gain, S[j] = second_order_weight(w[j], S[j], y * values[k], r)
        w[j] += gain
        if len(u):
            u[j] += time * gain
    root = math.sqrt(bias)
    if root > 0.0:
        gain, Sb[c] = second_order_weight(b[c] / root, Sb[c], y * root, r)
        b[c] += gain * root
        if len(ub):
            ub[c] += time * gain * root


@update.of(SecondOrder)
def move_weights_alone(rule, state, found, clock, t, i, examples):
    """On a mistake, v += yx and A += xxᵀ (Cesa-Bianchi et al. 2005)."""
    r, time, rows = rule.a / row_weight(i, examples), count_weight(clock, t), examples.rows
    y = found.side
    if found.rival < 0:
        move_class_alone(state, ONE_CLASS, FIRST_CLASS, y, r, rule.bias, time, i, rows)
    else:
        classes, rival = np.uint64(len(state.b)), np.uint64(found.rival)
        for c, sign in ((np.uint64(found.label), y), (rival, -y)):
            move_class_alone(state, classes, c, sign, r, rule.bias, time, i, rows)
    return y
