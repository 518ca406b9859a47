"""The linear perceptron: learning, margins, scores, averages and votes.

Kernels take arrays and change the weights in place. Randomness is in the order of the rows. A
kernel can stop after any update and continue from there.
"""

import math
from typing import NamedTuple

import numpy as np

from .algebra import (
    Rows,
    add,
    best_other,
    dot,
    fetch_row,
    find_rival,
    is_shuffled,
    move,
    score,
    take_row,
)
from .compiling import compiled, inlined


class Examples(NamedTuple):
    """Rows with their labels and step sizes.

    ``steps[i]`` is how far row i moves the weights: the learning rate times the row's weight and,
    for two classes, times its label (+1 or -1). ``labels`` holds class numbers, or None for two.
    """

    rows: Rows
    steps: np.ndarray
    labels: np.ndarray | None


class Settings(NamedTuple):
    """Thresholds of the perceptron, and the step of its bias.

    A positive row is right when its activation is above ``above``, a negative one when it is
    below ``below``; with more classes, when the right class leads every other by over ``above``.
    """

    above: float
    below: float
    intercept_step: float


UPDATE = np.dtype(
    [("position", np.intp), ("rival", np.intp), ("margin", np.float64), ("step", np.float64)]
)
"""One entry of a kernel's log; the length of the log is the largest number of updates.

``position`` is the place in the order, ``rival`` the wrong class that was moved away, ``margin``
the label times the activation before the update (or the lead of the right class). ``step`` times
the row was added to the weights, or to those of its class and subtracted from the rival's.
"""


class Updates(NamedTuple):
    """A list of updates: the row, the number of rows seen before, the steps and the classes."""

    rows: np.ndarray
    times: np.ndarray
    steps: np.ndarray
    intercept_steps: np.ndarray
    labels: np.ndarray
    rivals: np.ndarray


@inlined
def log_update(log, updates, t, rival, margin, step):
    """Write an update into the log; return its loss."""
    log[updates]["position"] = t
    log[updates]["rival"] = rival
    log[updates]["margin"] = margin
    log[updates]["step"] = step
    return -margin if margin < 0 else 0.0


# The algorithms. Each returns the place in the order where it stopped, the number of updates, and
# the loss J of the rows that were wrong. It stops early when the log is full, or at a row whose
# activation is not finite.


@compiled
def perceptron(examples, order, start, w, b, settings, log):
    """On every mistake, w += ηyx and b += ηy (Rosenblatt 1958)."""
    rows, steps = examples.rows, examples.steps
    updates, loss, shuffled = 0, 0.0, is_shuffled(order, start)
    for t in range(start, len(order)):
        i = np.uint64(order[t])
        if shuffled:
            fetch_row(t, order, rows)
        a = dot(w, i, rows) + b[0]
        right = a > settings.above if steps[i] > 0 else a < settings.below
        if not right or math.isinf(a):
            if updates == len(log) or not math.isfinite(a):
                return t, updates, loss
            add(w, steps[i], i, rows)
            b[0] += steps[i] * settings.intercept_step
            loss += log_update(log, updates, t, 0, a if steps[i] > 0 else -a, steps[i])
            updates += 1
    return len(order), updates, loss


@compiled
def multiclass(examples, order, start, W, b, settings, log):
    """Add ηx to the right class and subtract it from its best rival (Crammer & Singer 2003)."""
    rows, steps, labels = examples.rows, examples.steps, examples.labels
    s = b.copy()
    updates, loss, shuffled = 0, 0.0, is_shuffled(order, start)
    for t in range(start, len(order)):
        i = take_row(t, order, rows, shuffled, W)
        y = labels[i]
        rival, lead = find_rival(W, b, s, y, i, rows)
        if not lead > settings.above or math.isinf(lead):
            if updates == len(log) or not math.isfinite(lead):
                return t, updates, loss
            move(W, b, steps[i], settings.intercept_step, y, rival, i, rows)
            loss += log_update(log, updates, t, rival, lead, steps[i])
            updates += 1
    return len(order), updates, loss


# Margins of rows under given weights: label times activation, or the lead of the right class.


@compiled
def perceptron_margins(examples, order, w, b, out):
    """The margin y(w·x + b) for the rows in an order."""
    rows, steps = examples.rows, examples.steps
    for t in range(len(order)):
        i = np.uint64(order[t])
        a = dot(w, i, rows) + b[0]
        out[t] = a if steps[i] > 0 else -a


@compiled
def multiclass_margins(examples, order, W, b, out):
    """The lead of the right class over its best rival, for the rows in an order."""
    rows, labels = examples.rows, examples.labels
    s = b.copy()
    for t in range(len(order)):
        i = np.uint64(order[t])
        score(W, b, s, i, rows)
        out[t] = s[labels[i]] - s[best_other(s, labels[i])]


@compiled
def perceptron_scores(rows, w, b, out):
    """The activation w·x + b of every row."""
    for i in range(len(out)):
        out[i] = dot(w, np.uint64(i), rows) + b[0]


@compiled
def multiclass_scores(rows, W, b, out):
    """The activation of every class for every row."""
    for i in range(len(out)):
        score(W, b, out[i], np.uint64(i), rows)


# The average over all rows seen, computed lazily: an update made after c rows is missing from the
# first c weights, so c times the update is summed in u, and the average over n rows is w - u/n. In
# an average that decays, each row counts e^rate times as much as the row before.


class Clock(NamedTuple):
    """How rows count in an average: the rows seen before an order, and the rate of growth.

    Row ``since`` counts as 1, which keeps the others in range.
    """

    seen: float
    rate: float
    since: float


@inlined
def count_weight(clock, t):
    """The weight of all rows up to place t of an order in an average: their number at rate 0."""
    rows = clock.seen + t
    if clock.rate == 0.0:
        return rows
    growth = math.expm1(clock.rate * (rows - clock.since)) - math.expm1(-clock.rate * clock.since)
    return growth / math.expm1(clock.rate)


@compiled
def perceptron_missing(examples, order, clock, log, u, ub, intercept_step):
    """Sum each logged update times the rows before it, for the average (Daumé 2006)."""
    rows = examples.rows
    for update in log:
        i = np.uint64(order[update["position"]])
        lack = update["step"] * count_weight(clock, update["position"])
        add(u, lack, i, rows)
        ub[0] += lack * intercept_step


@compiled
def multiclass_missing(examples, order, clock, log, u, ub, intercept_step):
    """The same for a right class and a rival per update."""
    rows, labels = examples.rows, examples.labels
    for update in log:
        i = np.uint64(order[update["position"]])
        lack = update["step"] * count_weight(clock, update["position"])
        move(u, ub, lack, intercept_step, labels[i], update["rival"], i, rows)


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
def multiclass_votes(scores, products, updates, survived, out):
    """Count for the best class of each weight matrix the rows that it survived; ties: the first."""
    best = np.zeros(scores.shape[1], np.intp)
    for r in range(len(best)):
        best[r] = np.argmax(scores[:, r])
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
