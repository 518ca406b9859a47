"""Rules with a variance per weight: AROW, SCW, NHERD and CW.

``S`` holds the variances of the weights, and ``Sb`` those of the biases: the diagonal of Σ in the
papers. A weight moves by the row's value times its variance. The weight of a row divides r and
multiplies C; in CW it relaxes the step.

``phi`` is the quantile of the required confidence.
"""

import math
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from .algebra import FIRST_CLASS, ONE_CLASS, column, larger, smaller, span
from .compiling import inlined, inlined_sum
from .dispatch import by_kind
from .loop import JUST_1, by_name, count_weight, is_right, relaxation, row_weight, update


def quantile(parameters):
    """The quantile φ of the required confidence."""
    return NormalDist().inv_cdf(float(parameters["confidence"]))


class AROW(NamedTuple):
    """Crammer, Kulesza & Dredze 2009."""

    above: float
    bias: float
    r: float

    of = by_name(above=JUST_1)
    keeps = (("S", 1.0),)
    demanding = True


class NHERD(NamedTuple):
    """Crammer & Lee 2010."""

    above: float
    bias: float
    C: float

    of = by_name(above=JUST_1)
    keeps = (("S", 1.0),)
    demanding = True


class CW(NamedTuple):
    """Dredze, Crammer & Pereira 2008."""

    above: float
    bias: float
    phi: float

    keeps = (("S", 1.0),)
    demanding = True

    @classmethod
    def of(cls, parameters, bias):
        """The quantile of the confidence."""
        return cls(0.0, float(bias), quantile(parameters))


class SCW(NamedTuple):
    """Wang, Zhao & Hoi 2012: SCW-I, or with a squared loss SCW-II."""

    above: float
    bias: float
    C: float
    phi: float
    squared: bool

    keeps = (("S", 1.0),)
    demanding = True

    @classmethod
    def of(cls, parameters, bias):
        """C, the quantile of the confidence, and the loss by the variant."""
        C, squared = float(parameters["C"]), parameters["variant"] == "II"
        return cls(0.0, float(bias), C, quantile(parameters), squared)


@inlined_sum
def variance_of_score(S, i, rows):
    """The variance xᵀΣx of a row's score."""
    values, indices, starts = rows
    first, last = span(i, indices, starts)
    total = 0.0
    for k in range(first, last):
        x = np.float64(values[k])
        total += x * x * S[column(k, first, indices)]
    return total


@inlined_sum
def variance_of_lead(S, classes, y, rival, i, rows):
    """The variance of the lead of a class over its rival."""
    values, indices, starts = rows
    first, last = span(i, indices, starts)
    total = 0.0
    for k in range(first, last):
        x, j = np.float64(values[k]), column(k, first, indices) * classes
        total += x * x * (S[j + y] + S[j + rival])
    return total


@inlined
def variance(rule, state, found, i, rows):
    """The variance of a margin."""
    S, Sb = state.S, state.Sb
    if found.rival < 0:
        return variance_of_score(S, i, rows) + rule.bias * Sb[0]
    y, rival = np.uint64(found.label), np.uint64(found.rival)
    v = variance_of_lead(S, np.uint64(len(Sb)), y, rival, i, rows)
    return v + rule.bias * (Sb[y] + Sb[rival])


@is_right.of(CW)
def is_surely_right(rule, state, found, i, examples):
    """Whether a row is right with the required confidence, in a form that is linear in Σ."""
    return found.margin >= rule.phi * variance(rule, state, found, i, examples.rows)


@is_right.of(SCW)
def is_right_with_confidence(rule, state, found, i, examples):
    """Whether a row is right with the required confidence."""
    return found.margin >= rule.phi * math.sqrt(variance(rule, state, found, i, examples.rows))


# An update of Σ: Σ - βΣxxᵀΣ has Σⱼ(1 - βΣⱼxⱼ²) on its diagonal. No factor is below 1 - βxᵀΣx, which
# the rules compute without cancellation, so that Σ stays positive however large x is.


class ConfidentStep(NamedTuple):
    """The step α along Σx, β, and ``least`` = 1 - βxᵀΣx."""

    alpha: float
    beta: float
    least: float


@by_kind
def confident_step(rule, margin, v, weight):
    """The step of a rule for a row of a margin, a variance v and a weight."""


@confident_step.of(AROW)
def arow_step(rule, margin, v, weight):
    """The step of AROW."""
    r = rule.r / weight
    return ConfidentStep((1.0 - margin) / (v + r), 1.0 / (v + r), r / (v + r))


@confident_step.of(NHERD)
def nherd_step(rule, margin, v, weight):
    """The step of NHERD."""
    C = rule.C * weight
    rest = 1.0 + C * v
    beta = (C * C * v + 2.0 * C) / (rest * rest)
    return ConfidentStep((1.0 - margin) / (v + 1.0 / C), beta, 1.0 / (rest * rest))


@confident_step.of(CW)
def cw_step(rule, margin, v, weight):
    """The step of CW."""
    phi = rule.phi
    root = math.hypot(1.0 - 2.0 * phi * margin, phi * math.sqrt(8.0 * v))
    alpha = (root - 1.0 - 2.0 * phi * margin) / (4.0 * phi * v) if v > 0.0 else 0.0
    alpha = relaxation(weight) * larger(0.0, alpha)
    rest = 1.0 + 2.0 * alpha * phi * v
    return ConfidentStep(alpha, 2.0 * alpha * phi / rest, 1.0 / rest)


@confident_step.of(SCW)
def scw_step(rule, margin, v, weight):
    """The step of SCW-I and SCW-II."""
    phi, C = rule.phi, rule.C * weight
    p = phi * phi
    if rule.squared:
        n = v + 0.5 / C
        root = phi * math.sqrt(p * margin * margin * v * v + 4.0 * n * v * (n + v * p))
        alpha = (root - (2.0 * margin * n + p * margin * v)) / (2.0 * (n * n + n * v * p))
    else:
        psi, zeta = 1.0 + p / 2.0, 1.0 + p
        root = math.sqrt(margin * margin * p * p / 4.0 + v * p * zeta)
        alpha = smaller(C, (root - margin * psi) / (v * zeta))
    alpha = larger(0.0, alpha)
    deviation = 0.5 * (math.sqrt(alpha * alpha * v * v * p + 4.0 * v) - alpha * v * phi)
    total = deviation + v * alpha * phi
    return ConfidentStep(alpha, alpha * phi / total, deviation / total)


@update.of(AROW, NHERD, CW, SCW)
def move_by_variance(rule, state, found, clock, t, i, examples):
    """W += αyΣx and Σ -= βΣxxᵀΣ; the rule gives α and β."""
    rows = examples.rows
    v, time = variance(rule, state, found, i, rows), count_weight(clock, t)
    step = confident_step(rule, found.margin, v, row_weight(i, examples))
    alpha = math.copysign(step.alpha, found.side)
    if found.rival < 0:
        move_class(state, ONE_CLASS, FIRST_CLASS, alpha, step, rule.bias, time, i, rows)
    else:
        classes, rival = np.uint64(len(state.b)), np.uint64(found.rival)
        for c, signed in ((np.uint64(found.label), alpha), (rival, -alpha)):
            move_class(state, classes, c, signed, step, rule.bias, time, i, rows)
    return alpha


@inlined
def move_class(state, classes, c, alpha, step, bias, time, i, rows):
    """Move the weights of class c by αΣx and shrink Σ, where row i has values; and the bias."""
    w, b, u, ub, S, Sb = state.w, state.b, state.u, state.ub, state.S, state.Sb
    values, indices, starts = rows
    first, last = span(i, indices, starts)
    for k in range(first, last):
        j, x = column(k, first, indices) * classes + c, np.float64(values[k])
        sx = S[j] * x
        w[j] += alpha * sx
        if len(u):
            u[j] += time * (alpha * sx)
        S[j] *= larger(1.0 - step.beta * sx * x, step.least)
    b[c] += alpha * Sb[c] * bias
    if len(ub):
        ub[c] += time * (alpha * Sb[c] * bias)
    Sb[c] *= larger(1.0 - step.beta * Sb[c] * bias, step.least)
