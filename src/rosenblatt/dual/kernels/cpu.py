"""The dual perceptron: updates the scores of a block of rows, one line per output.

Outputs are classes, which are one problem; or each output is one problem. An update adds
to an output, its label, and subtracts from its rival; without a rival, that is the label, too.
"""

import math

import numpy as np

from ...kernels.compiling import compiled, inlined
from ...kernels.forms import REAL, WHOLE, given, vector
from ...kernels.perceptron import Perceptron

NUMBERS = ("place", "time", "label", "rival")
FIGURES = ("step", "bias_step")
UPDATES = np.dtype(
    [(name, np.int64) for name in ("position", *NUMBERS)]
    + [(name, np.float64) for name in (*FIGURES, "margin")]
)
# An update: the position in an order, the place of its row among the support, the rows seen before,
# the output that it adds to, the one that it subtracts from (or again the label), what the row and
# the bias are multiplied by, and the margin before.


@inlined
def measure(scores, b, p, u, step, labels):
    """The margin of row u in problem p, and the label and rival of an update.

    Without labels, each output is a problem, and the sign of the step is that of the row. Of equal
    rivals, the first counts.
    """
    if len(labels) == 0:
        a = scores[p, u] + b[p]
        return (a if step > 0 else -a), p, p
    y = labels[u]
    rival = 1 if y == 0 else 0
    for c in range(rival + 1, len(b)):
        if c != y and scores[c, u] + b[c] > scores[rival, u] + b[rival]:
            rival = c
    return scores[y, u] + b[y] - (scores[rival, u] + b[rival]), y, rival


@inlined
def move(scores, b, output, step, line, bias_step):
    """Add step times a row's kernel values to the scores of all rows of the block."""
    own = scores[output]
    for u in range(len(own)):
        own[u] += step * line[u]
    b[output] += step * bias_step


def forms_of_blocks():
    """A block of kernel values; steps and scores have a line for each problem."""
    numbers, scores = given(np.int64), vector(np.float64, 2)
    block = given(np.float64, 2), numbers, given(np.float64, 2), numbers, given(np.bool_), WHOLE
    yield *block, scores, vector(np.float64), Perceptron(REAL, REAL, REAL), vector(UPDATES)


@compiled(forms_of_blocks)
def replay(values, places, steps, labels, learning, start, scores, b, rule, log):
    """On every mistake of a problem, f += ηyK(x, ·) and b += ηy (Freund & Schapire 1999).

    With several classes the rival loses as much (Crammer & Singer 2003). Row t of the block moves
    problem p by ``steps[p, t]``; its kernel values are line ``places[t]`` of ``values``. It stops
    early at a mistaken row without a line, or at a margin that is not finite. Returns the place and
    the number of updates, which it writes into the log.
    """
    updates = 0
    for t in range(start, len(places)):
        for p in range(len(learning)):
            step = steps[p, t]
            margin, y, rival = measure(scores, b, p, t, step, labels)
            right = margin > (rule.above if step > 0 else -rule.below)
            if not learning[p] or (right and not math.isinf(margin)):
                continue
            if places[t] < 0 or not math.isfinite(margin):
                return t, updates
            line = values[places[t]]
            move(scores, b, y, step, line, rule.bias)
            if rival != y:
                move(scores, b, rival, -step, line, rule.bias)
            log[updates]["position"] = t
            log[updates]["label"] = y
            log[updates]["rival"] = rival
            log[updates]["margin"] = margin
            log[updates]["step"] = step
            updates += 1
    return len(places), updates


# The vote of all weights: weights k are weights k-1 plus one update, so their scores on new rows
# follow from the products of these rows with the mistaken rows (Freund & Schapire 1999). Products,
# scores and votes have a column per new row, so that an update changes a contiguous line.


def forms_of_votes():
    """Products, updates, and scores of new rows."""
    figures, numbers, table = given(np.float64), given(np.int64), vector(np.float64, 2)
    updates = numbers, figures, figures, numbers, numbers, figures
    yield given(np.float64, 2), *updates, REAL, table, vector(np.int64), table


@compiled(forms_of_votes)
def vote(
    products, places, steps, bias_steps, labels, rivals, lasted, sign_of_zero, scores, best, out
):
    """Before each update, let the weights vote as often as they lasted.

    A problem votes by its sign; classes together vote for the best one, or the first of equals.
    ``scores`` and ``best``, the best class of each row, begin as zeros.
    """
    for k in range(len(places)):
        y, rival, votes = labels[k], rivals[k], lasted[k]
        line, step, bias = products[places[k]], steps[k], bias_steps[k]
        own, count = scores[y], out[y]
        if rival == y:
            tie = votes * sign_of_zero
            for r in range(len(own)):
                count[r] += votes if own[r] > 0.0 else (-votes if own[r] < 0.0 else tie)
                own[r] += step * (line[r] + bias)
        else:
            other = scores[rival]
            for r in range(len(own)):
                out[best[r], r] += votes
                own[r] += step * (line[r] + bias)
                other[r] -= step * (line[r] + bias)
                best[r] = best_after(scores, best[r], y, rival, r)


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
