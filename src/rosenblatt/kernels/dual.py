"""The dual perceptron: updates the scores of a block of rows, one line per problem or class.

Each kernel stops early at a mistaken row without kernel values, or at a row whose activation is not
finite.
"""

import math
from typing import NamedTuple

import numpy as np

from .algebra import best_other
from .compiling import compiled, inlined
from .linear import log_update


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
def dual_perceptron(kernel_values, steps, learning, start, scores, b, settings, log):
    """On every mistake of a problem, f += ηyK(x, ·) and b += ηy (Freund & Schapire 1999).

    Row t of the block moves problem p by ``steps[p, t]``; the log's ``rival`` is the problem.
    """
    values, places = kernel_values.values, kernel_values.places
    problems = np.flatnonzero(learning)
    updates, loss = 0, 0.0
    for t in range(start, len(places)):
        for p in problems:
            a = scores[p, t] + b[p]
            right = a > settings.above if steps[p, t] > 0 else a < settings.below
            if not right or math.isinf(a):
                if places[t] < 0 or not math.isfinite(a):
                    return t, updates, loss
                step = steps[p, t]
                add_line(scores[p], step, values[places[t]])
                b[p] += step * settings.intercept_step
                loss += log_update(log, updates, t, p, a if step > 0 else -a, step)
                updates += 1
    return len(places), updates, loss


@compiled
def dual_multiclass(kernel_values, steps, labels, start, scores, b, settings, log):
    """Add ηK(x, ·) to the right class, subtract it from its rival (Crammer & Singer 2003)."""
    values, places = kernel_values.values, kernel_values.places
    s = b.copy()
    updates, loss = 0, 0.0
    for t in range(start, len(places)):
        for c in range(len(s)):
            s[c] = scores[c, t] + b[c]
        y = labels[t]
        rival = best_other(s, y)
        lead = s[y] - s[rival]
        if not lead > settings.above or math.isinf(lead):
            if places[t] < 0 or not math.isfinite(lead):
                return t, updates, loss
            add_line(scores[y], steps[t], values[places[t]])
            add_line(scores[rival], -steps[t], values[places[t]])
            b[y] += steps[t] * settings.intercept_step
            b[rival] -= steps[t] * settings.intercept_step
            loss += log_update(log, updates, t, rival, lead, steps[t])
            updates += 1
    return len(places), updates, loss
