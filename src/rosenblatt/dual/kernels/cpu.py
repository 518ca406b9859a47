"""The dual perceptron: updates the scores of a block of rows, one line per problem or class.

Each kernel stops early at a mistaken row without kernel values, or at a row whose activation is not
finite.
"""

import math
from typing import NamedTuple

import numpy as np

from ...kernels.algebra import best_other
from ...kernels.compiling import compiled, inlined
from ...kernels.loop import log_update


class Updates(NamedTuple):
    """A list of updates: the row, the number of rows seen before, the steps and the classes."""

    rows: np.ndarray
    times: np.ndarray
    steps: np.ndarray
    intercept_steps: np.ndarray
    labels: np.ndarray
    rivals: np.ndarray


class KernelValues(NamedTuple):
    """Kernel values of some rows of a block with all of its rows.

    Those of row t are line ``places[t]`` of ``values``; it has none if ``places[t]`` is negative.
    """

    values: np.ndarray
    places: np.ndarray


@inlined
def add_line(scores, step, line):
    """Add step times a row's kernel values to the scores of all rows of the block."""
    for u in range(len(scores)):
        scores[u] += step * line[u]


@compiled
def dual_perceptron(kernel_values, steps, learning, start, scores, b, rule, log):
    """On every mistake of a problem, f += ηyK(x, ·) and b += ηy (Freund & Schapire 1999).

    Row t of the block moves problem p by ``steps[p, t]``; the log's ``rival`` is the problem.
    """
    values, places = kernel_values.values, kernel_values.places
    updates, loss = 0, 0.0
    for t in range(start, len(places)):
        for p in range(len(learning)):
            if not learning[p]:
                continue
            a = scores[p, t] + b[p]
            right = a > rule.above if steps[p, t] > 0 else a < rule.below
            if not right or math.isinf(a):
                if places[t] < 0 or not math.isfinite(a):
                    return t, updates, loss
                step = steps[p, t]
                add_line(scores[p], step, values[places[t]])
                b[p] += step * rule.bias
                loss += log_update(log, updates, t, p, a if step > 0 else -a, step)
                updates += 1
    return len(places), updates, loss


@compiled
def dual_multiclass(kernel_values, steps, labels, start, scores, b, s, rule, log):
    """Add ηK(x, ·) to the right class, subtract it from its rival (Crammer & Singer 2003).

    ``s`` is a buffer for the scores of a row.
    """
    values, places = kernel_values.values, kernel_values.places
    updates, loss = 0, 0.0
    for t in range(start, len(places)):
        for c in range(len(s)):
            s[c] = scores[c, t] + b[c]
        y = labels[t]
        rival = best_other(s, y)
        lead = s[y] - s[rival]
        if not lead > rule.above or math.isinf(lead):
            if places[t] < 0 or not math.isfinite(lead):
                return t, updates, loss
            add_line(scores[y], steps[t], values[places[t]])
            add_line(scores[rival], -steps[t], values[places[t]])
            b[y] += steps[t] * rule.bias
            b[rival] -= steps[t] * rule.bias
            loss += log_update(log, updates, t, rival, lead, steps[t])
            updates += 1
    return len(places), updates, loss


# The vote of all weights: weights k are weights k-1 plus one update, so their scores on new rows
# follow from the products of these rows with the mistaken rows (Freund & Schapire 1999). Products,
# scores and votes have a column per new row, so that an update changes a contiguous line.


@inlined
def move_scores(scores, sign, k, products, updates):
    """Apply update k to the scores of all rows."""
    step, bias = sign * updates.steps[k], updates.intercept_steps[k]
    line = products[updates.rows[k]]
    for r in range(len(scores)):
        scores[r] += step * (line[r] + bias)


@compiled
def perceptron_votes(scores, products, updates, survived, sign_of_zero, out):
    """Sum the sign of each weight vector, times the rows that it survived."""
    for k in range(len(survived)):
        if k > 0:
            move_scores(scores, 1.0, k - 1, products, updates)
        votes = survived[k]
        tie = votes * sign_of_zero
        for r in range(len(scores)):
            out[r] += votes if scores[r] > 0.0 else (-votes if scores[r] < 0.0 else tie)


@compiled
def multiclass_votes(scores, products, updates, survived, best, out):
    """Count for the best class of each weight matrix the rows that it survived; ties: the first.

    ``best`` is the best class of each row by the scores before the first update.
    """
    for k in range(len(survived)):
        if k > 0:
            label, rival = updates.labels[k - 1], updates.rivals[k - 1]
            move_scores(scores[label], 1.0, k - 1, products, updates)
            move_scores(scores[rival], -1.0, k - 1, products, updates)
            for r in range(len(best)):
                best[r] = best_after(scores, best[r], label, rival, r)
        for r in range(len(best)):
            out[best[r], r] += survived[k]


@inlined
def best_after(scores, best, label, rival, r):
    """The best class of row r after the scores of two classes moved; ``best`` was best before."""
    if best in (label, rival):
        best = 0
        for c in range(1, len(scores)):
            if scores[c, r] > scores[best, r]:
                best = c
        return best
    for c in (label, rival):
        a, b = scores[c, r], scores[best, r]
        if a > b or (a == b and c < best):
            best = c
    return best
