"""The linear perceptron: learning, margins, scores, the average and the votes of all weights.

Kernels know arrays only: they change the weights in place, take randomness as the order of the
rows, and can stop and go on where they stopped.
"""

import math
from typing import NamedTuple

import numpy as np

from .algebra import Rows, add, best_other, dot, fetch_row, fetch_weights, is_shuffled, move, score
from .compiling import compiled, inlined


class Examples(NamedTuple):
    """Rows with what they teach.

    ``steps[i]`` is how far row i moves the weights: the learning rate times the row's weight and,
    for two classes, times its label (+1 or -1). ``labels`` holds class numbers, or None for two.
    """

    rows: Rows
    steps: np.ndarray
    labels: np.ndarray | None


class Settings(NamedTuple):
    """What the perceptron's kernels must know: when a row is right, how far one moves the bias.

    A positive row is right when its activation is above ``above``, a negative one when it is
    below ``below``; with more classes, when the right class leads every other by over ``above``.
    """

    above: float
    below: float
    intercept_step: float


UPDATE = np.dtype(
    [("position", np.intp), ("rival", np.intp), ("margin", np.float64), ("step", np.float64)]
)
"""One entry of a kernel's log, whose length is how many updates the kernel may make.

``position`` says where in the order, ``rival`` the wrong class that was moved away, ``margin`` the
label times the activation before the update (or the lead of the right class). ``step`` times the
row was added to the weights, or to those of its class and taken from the rival's.
"""


class Updates(NamedTuple):
    """A list of updates: which row, after how many rows seen, and how it moved which classes."""

    rows: np.ndarray
    times: np.ndarray
    steps: np.ndarray
    intercept_steps: np.ndarray
    labels: np.ndarray
    rivals: np.ndarray


@inlined
def note(log, updates, t, rival, margin, step):
    """Write an update into the log; return its loss."""
    log[updates]["position"] = t
    log[updates]["rival"] = rival
    log[updates]["margin"] = margin
    log[updates]["step"] = step
    return -margin if margin < 0 else 0.0


# The algorithms. Each returns how far it got in the order, how many updates it made and the loss J
# of the rows that were wrong; it stops early when the log is full, or at a row whose activation is
# not a finite number.


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
            loss += note(log, updates, t, 0, a if steps[i] > 0 else -a, steps[i])
            updates += 1
    return len(order), updates, loss


@compiled
def multiclass(examples, order, start, W, b, settings, log):
    """Add ηx to the right class and take it from its best rival (Crammer & Singer 2003)."""
    rows, steps, labels = examples.rows, examples.steps, examples.labels
    s = np.empty(len(b), b.dtype)
    updates, loss, shuffled = 0, 0.0, is_shuffled(order, start)
    for t in range(start, len(order)):
        i = np.uint64(order[t])
        if shuffled:
            fetch_row(t, order, rows)
        if t + 1 < len(order):
            fetch_weights(W, np.uint64(order[t + 1]), rows)
        score(W, b, s, i, rows)
        y = labels[i]
        rival = best_other(s, y)
        lead = s[y] - s[rival]
        if not lead > settings.above or math.isinf(lead):
            if updates == len(log) or not math.isfinite(lead):
                return t, updates, loss
            move(W, steps[i], y, rival, i, rows)
            b[y] += steps[i] * settings.intercept_step
            b[rival] -= steps[i] * settings.intercept_step
            loss += note(log, updates, t, rival, lead, steps[i])
            updates += 1
    return len(order), updates, loss


# What every row's margin is under given weights: label times activation, or the right class's lead.


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
    s = np.empty(len(b), b.dtype)
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


# The average over all rows seen, kept lazily: an update made when c rows had been seen is missing
# from the first c weights, so c times the update is summed in u and the average is w - u/c. In one
# that forgets, all rows lose a share with every row that comes, or what is the same: each counts
# e^rate times as much as the one before.


class Clock(NamedTuple):
    """How rows are counted: those seen before an order, and how fast the later ones outweigh them.

    Row ``since`` counts as 1, which keeps the others in range.
    """

    seen: float
    rate: float
    since: float


@inlined
def counted(clock, t):
    """How much all rows up to place t of an order count together: as many as they are at rate 0."""
    rows = clock.seen + t
    if clock.rate == 0.0:
        return rows
    growth = math.expm1(clock.rate * (rows - clock.since)) - math.expm1(-clock.rate * clock.since)
    return growth / math.expm1(clock.rate)


@compiled
def perceptron_missing(examples, order, clock, log, u, ub, intercept_step):
    """Sum in u what the weights before each logged update lack of it (Daumé 2006)."""
    rows = examples.rows
    for update in log:
        i = np.uint64(order[update["position"]])
        lack = update["step"] * counted(clock, update["position"])
        add(u, lack, i, rows)
        ub[0] += lack * intercept_step


@compiled
def multiclass_missing(examples, order, clock, log, u, ub, intercept_step):
    """The same with a right class and a rival per update."""
    rows, labels = examples.rows, examples.labels
    for update in log:
        i, rival = np.uint64(order[update["position"]]), update["rival"]
        lack = update["step"] * counted(clock, update["position"])
        move(u, lack, labels[i], rival, i, rows)
        ub[labels[i]] += lack * intercept_step
        ub[rival] -= lack * intercept_step


# The vote of all weights there ever were: weights k are weights k-1 plus one update, so that their
# scores on new rows follow from the products of these with the mistaken rows (Freund & Schapire
# 1999). Each line of products, scores and votes has a column per new row: one update moves a whole
# line, as the vector units need.


@inlined
def move_scores(scores, sign, k, products, updates):
    """Let update k move the scores of all rows."""
    step, bias = sign * updates.steps[k], updates.intercept_steps[k]
    line = products[updates.rows[k]]
    for r in range(len(scores)):
        scores[r] += step * (line[r] + bias)


@compiled
def perceptron_votes(scores, products, updates, survived, sign_of_zero, out):
    """Each weight vector's sign, times the rows it survived."""
    for k in range(len(survived)):
        if k > 0:
            move_scores(scores, 1.0, k - 1, products, updates)
        votes = survived[k]
        tie = votes * sign_of_zero
        for r in range(len(scores)):
            out[r] += votes if scores[r] > 0.0 else (-votes if scores[r] < 0.0 else tie)


@compiled
def multiclass_votes(scores, products, updates, survived, out):
    """Each weight matrix's best class, times the rows it survived; of equals, the first."""
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
    """The best class of a row, which was best before the scores of two classes moved."""
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
