"""Rank rows within groups: the pairwise perceptron and its passive-aggressive form share a loop.

Each row of an order is compared with one other row of its group that has another relevance, drawn
at random. If the score of the more relevant row does not exceed that of the other by the margin,
the weights move along the difference of the two rows. A group of n rows thus costs n comparisons
per epoch, and not all n² of its pairs. There is no bias, which would cancel.
"""

import math
from typing import NamedTuple

import numpy as np

from .algebra import column, dot, fetch_row, is_shuffled, mix, span
from .compiling import compiled, inlined
from .linear import count_weight, log_update
from .passive_aggressive import aggressive_step

HARD, HINGE, SQUARED_HINGE, UNIT_STEP = range(4)
"""PA, PA-I and PA-II, with the numbers that their losses have for classes; and steps of size 1."""


class PairIndex(NamedTuple):
    """The rows of all groups, group by group and in the order of their relevance.

    The group of row i is at the places ``first[i]`` to ``last[i]`` of ``members``, and its rows of
    the same relevance are at the places ``same_first[i]`` to ``same_last[i]``.
    """

    members: np.ndarray
    first: np.ndarray
    last: np.ndarray
    same_first: np.ndarray
    same_last: np.ndarray


class RankingSettings(NamedTuple):
    """The margin that a pair must exceed, its negative, 0 for the bias, C, and the loss."""

    above: float
    below: float
    intercept_step: float
    C: float
    loss: int


@inlined
def draw_place(pairs, i, number):
    """The place of a row of i's group with another relevance, by the number of a draw.

    Each has the same probability. It is the place of the group's end if there is no such row.
    """
    first, last = np.uint64(pairs.first[i]), np.uint64(pairs.last[i])
    same_first, same = np.uint64(pairs.same_first[i]), np.uint64(pairs.same_last[i])
    same -= same_first
    others = last - first - same
    bits = mix(np.uint64(number) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(32)
    place = first + (bits * others >> np.uint64(32))
    return place if place < same_first else place + same


@inlined
def subtract(d, i, j, rows):
    """Set d to the difference of rows i and j; it is 0 elsewhere."""
    values, indices, starts = rows
    for row, sign in ((i, values.dtype.type(1)), (j, values.dtype.type(-1))):
        first, last = span(row, indices, starts)
        for k in range(first, last):
            d[column(k, first, indices)] += sign * values[k]


@inlined
def squared_distance(d, i, j, rows):
    """The squared distance of rows i and j, in double precision; d is 0 before and after."""
    _, indices, starts = rows
    subtract(d, i, j, rows)
    total = 0.0
    for row in (i, j):
        first, last = span(row, indices, starts)
        for k in range(first, last):
            c = column(k, first, indices)
            total += np.float64(d[c]) * d[c]
            d[c] = 0
    return total


@inlined
def add_difference(w, u, step, time, d, i, j, rows):
    """Add step times the difference of rows i and j to w, and times the time to the sums u."""
    _, indices, starts = rows
    subtract(d, i, j, rows)
    for row in (i, j):
        first, last = span(row, indices, starts)
        for k in range(first, last):
            c = column(k, first, indices)
            w[c] += step * d[c]
            if len(u):
                u[c] += time * (step * np.float64(d[c]))
            d[c] = 0


@compiled
def ranking(examples, order, start, w, b, u, ub, clock, settings, log):
    """If a pair is in the wrong order or within the margin, w += τ(x - x') for x the better row.

    The draws are numbered by the rows seen, so that any cut of a stream at the ends of groups
    draws the same pairs.
    """
    rows, steps, pairs = examples.rows, examples.steps, examples.labels
    d = np.zeros(len(w), w.dtype)
    updates, loss, shuffled = 0, 0.0, is_shuffled(order, start)
    for t in range(start, len(order)):
        i = np.uint64(order[t])
        if shuffled:
            fetch_row(t, order, rows)
        place = draw_place(pairs, i, clock.seen + t)
        if place >= pairs.last[i]:
            continue  # all rows of the group have the same relevance
        j = np.uint64(pairs.members[place])
        lead = np.float64(dot(w, i, rows)) - np.float64(dot(w, j, rows))
        is_better = place < pairs.same_first[i]
        margin = lead if is_better else -lead
        if not margin > settings.above or math.isinf(margin):
            if updates == len(log) or not math.isfinite(margin):
                return t, updates, loss
            tau = np.float64(steps[i])
            if settings.loss != UNIT_STEP:
                size = squared_distance(d, i, j, rows)
                tau = aggressive_step(1.0 - margin, size, settings.C * tau, settings.loss)
            step = w.dtype.type(tau if is_better else -tau)
            add_difference(w, u, step, count_weight(clock, t), d, i, j, rows)
            loss += log_update(log, updates, t, 0, margin, step)
            updates += 1
    return len(order), updates, loss


@inlined
def count_up_to(tree, rank):
    """The number of ranks up to one that were added to a Fenwick tree."""
    total = 0
    while rank > 0:
        total += tree[rank]
        rank -= rank & -rank
    return total


@compiled
def count_ordered(groups, grades, ranks, tree, right, tied):
    """Count the pairs of each group whose scores are in the order of their relevance, or equal.

    Rows are sorted by group and by relevance. ``groups`` and ``grades`` say where the groups, and
    the rows of one relevance in a group, begin and end. ``ranks`` are those of the scores in the
    group, from 1 and the same for equal scores. ``tree`` has room for a group and one more, all 0.
    """
    block = 0
    for g in range(len(groups) - 1):
        size = groups[g + 1] - groups[g] + 1
        while grades[block] < groups[g + 1]:
            for k in range(grades[block], grades[block + 1]):
                below = count_up_to(tree, ranks[k] - 1)
                right[g] += below
                tied[g] += count_up_to(tree, ranks[k]) - below
            for k in range(grades[block], grades[block + 1]):
                rank = ranks[k]
                while rank < size:
                    tree[rank] += 1
                    rank += rank & -rank
            block += 1
        tree[:size] = 0
