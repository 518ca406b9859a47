"""Rules that also multiply all weights: ALMA, ROMMA and the shifting perceptron.

w = Zv, and an update changes Z and adds to v. ``scale`` holds Z; T, the sum of Z over the rows up
to the last update, and the number of these rows; ‖w‖²; and k, one more than the updates so far (in
ALMA, than the weights of their rows). As in loop.py, what is added to v is missing from all weights
before, so T times it is summed in u (unless u is empty), and Tv - u is the sum of the weights after
each row.

With several classes, x is added to a class and subtracted from its rival, as in
passive_aggressive.py. The weight of a row multiplies the step; in ROMMA it relaxes the step.
"""

import math
from typing import NamedTuple

import numpy as np

from .algebra import larger
from .compiling import inlined
from .dispatch import by_kind
from .loop import (
    JUST_1,
    by_name,
    count_weight,
    is_right,
    move,
    relaxation,
    row_weight,
    squared_size,
    update,
)

Z, T, SEEN, SQUARE, K = range(5)
START = (1.0, 0.0, 0.0, 0.0, 1.0)


# Where the weights of two classes are divided into a column for each, what is learnt is the
# difference of two rows, √2 times as long. ALMA's margin is measured in this length, so that the
# norm of the weights stays; ROMMA's is 1. ``share`` is what each column gets; by default it is all.


class ALMA(NamedTuple):
    """What a margin must exceed to count as right, the step of the bias, α, B and C."""

    above: float
    bias: float
    alpha: float
    B: float
    C: float

    keeps = (("scale", START),)
    demanding = True
    share = math.sqrt(0.5)

    @classmethod
    def of(cls, parameters, bias):
        """α, and B and C, by default as in the theorem."""
        alpha, B, C = (parameters[name] for name in ("alpha", "B", "C"))
        B = math.sqrt(8.0) / alpha if B is None else B
        C = math.sqrt(2.0) if C is None else C
        return cls(0.0, float(bias), float(alpha), float(B), float(C))


class ROMMA(NamedTuple):
    """What a margin must exceed, and the step of the bias."""

    above: float
    bias: float

    keeps = (("scale", START),)
    demanding = True
    share = 0.5

    @classmethod
    def of(cls, parameters, bias):
        """A margin of 1, if aggressive."""
        return cls(JUST_1 if parameters["aggressive"] else 0.0, float(bias))


class Shifting(NamedTuple):
    """What a margin must exceed, the step of the bias, and λ."""

    above: float
    bias: float
    lam: float

    of = by_name(above=0.0)
    keeps = (("scale", START),)
    demanding = True


@is_right.of(ALMA)
def exceeds_shrinking_margin(rule, state, found, i, examples):
    """Whether y·w·x/‖x‖ > (1 - α)B/√k."""
    size = squared_size(found, rule.bias, i, examples.rows)
    return found.margin > (1.0 - rule.alpha) * rule.B * math.sqrt(size / state.scale[K])


@inlined
def count_rows(scale, clock, t):
    """Add the rows since the last update to T."""
    before = count_weight(clock, scale[SEEN] - clock.seen)
    scale[T] += scale[Z] * (count_weight(clock, t) - before)
    scale[SEEN] = clock.seen + t


@inlined
def close_sums(w, b, u, ub, scale):
    """Put the sum of all weights so far into u, and begin T at 0."""
    if len(u):
        for k in range(len(u)):  # an expression of arrays would allocate one
            u[k] -= scale[T] * w[k]
        for c in range(len(ub)):
            ub[c] -= scale[T] * b[c]
    scale[T] = 0.0


@inlined
def fold(w, b, u, ub, scale, bias):
    """Multiply v by Z before too many digits are lost, and compute ‖w‖²."""
    far = 1e3 if w.itemsize == 4 else 1e6
    if not 1.0 < scale[Z] * far < far * far:
        close_sums(w, b, u, ub, scale)
        w *= w.dtype.type(scale[Z])
        b *= b.dtype.type(scale[Z])
        scale[Z], scale[SQUARE] = 1.0, 0.0
        for each in w:
            scale[SQUARE] += np.float64(each) * each
        for each in b:
            scale[SQUARE] += np.float64(each) * each / bias if bias > 0.0 else 0.0


@by_kind
def scaled_step(rule, margin, size, weight, scale, tiny):
    """Update Z and ‖w‖² or k; return the step along the row to add to v."""


@scaled_step.of(ALMA)
def alma_step(rule, margin, size, weight, scale, tiny):
    """The step of ALMA (Gentile 2001, p = 2)."""
    k = scale[K] - 1.0 + weight
    rate = weight * rule.C / math.sqrt(k)
    step = rate / (math.sqrt(size) * scale[Z])
    square = scale[SQUARE] + 2.0 * rate * margin / math.sqrt(size) + rate * rate
    length = larger(1.0, math.sqrt(square))
    scale[Z] /= length
    scale[SQUARE] = square / (length * length)
    scale[K] = k + 1.0
    return step


# ROMMA: the shortest weights that satisfy the constraint of the last row and lie in a half-space
# that contains all weights which satisfy the constraints before. The weight of a row relaxes the
# step along it.


@scaled_step.of(ROMMA)
def romma_step(rule, margin, size, weight, scale, tiny):
    """The step of ROMMA (Li & Long 2002).

    Where the row's constraint implies the half-space, or contradicts it, the weights become
    y·x/‖x‖²; Z is then 0.
    """
    square, share = scale[SQUARE], relaxation(weight)
    product = square * size
    rest = product - margin * margin
    if product <= margin or rest <= tiny * product:
        scale[Z], scale[SQUARE] = 0.0, share * share / size
        return share / size
    keep, more = (product - margin) / rest, square * (1.0 - margin) / rest
    beyond = (share - 1.0) * more
    scale[Z] *= keep
    scale[SQUARE] = keep * square + more + beyond * (2.0 + beyond * size)
    return (more + beyond) / scale[Z]


@scaled_step.of(Shifting)
def shifting_step(rule, margin, size, weight, scale, tiny):
    """The step of the shifting perceptron (Cavallanti et al. 2007).

    After k mistakes, w becomes (1 - λₖ)w + λₖyx with λₖ = λ/(λ + k); at first λ₀ = 1, and Z is 0.
    """
    k = scale[K] - 1.0
    scale[K] += 1.0
    scale[Z] *= k / (rule.lam + k)
    rate = weight * rule.lam / (rule.lam + k)
    return rate / scale[Z] if scale[Z] > 0.0 else rate


@inlined
def reset(w, b, u, ub, scale):
    """Set the weights to 0 and Z to 1."""
    close_sums(w, b, u, ub, scale)
    w[:] = 0
    b[:] = 0
    scale[Z] = 1.0


@update.of(ALMA, ROMMA, Shifting)
def multiply_and_add(rule, state, found, clock, t, i, examples):
    """Multiply w by a factor and add a step along the row; an empty row teaches nothing."""
    w, b, u, ub, scale = state.w, state.b, state.u, state.ub, state.scale
    tiny, step = 1e-5 if w.itemsize == 4 else 1e-12, 0.0
    size = squared_size(found, rule.bias, i, examples.rows)
    count_rows(scale, clock, t)
    if size > 0.0:
        step = scaled_step(rule, found.margin, size, row_weight(i, examples), scale, tiny)
    if scale[Z] == 0.0:
        reset(w, b, u, ub, scale)
    step = examples.steps.dtype.type(math.copysign(step, found.side))
    move(state, found, step, rule.bias, scale[T], i, examples.rows)
    fold(w, b, u, ub, scale, rule.bias)
    return step
