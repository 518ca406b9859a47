"""Every compiled line that learns or scores.

Numba's disk cache watches only the file in which a kernel is defined, so each kernel and every
compiled helper that it calls live here. Kernels know arrays only: they change the weights in
place, take randomness as the order of the rows, and can stop and go on where they stopped.
"""

import logging
from typing import NamedTuple

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import event
from numba.extending import intrinsic


class Rows(NamedTuple):
    """The rows of X, one after the other in ``values``.

    Sparse rows (CSR) have a column number in ``indices`` for each value, and ``starts`` says where
    each row begins. For dense rows ``indices`` is None and ``starts`` holds their one length.
    Numbers of columns and rows are unsigned: a signed index costs a wrap-around test each time.
    All arrays are read-only views, so that one compiled form serves every caller.
    """

    values: np.ndarray
    indices: np.ndarray | None
    starts: np.ndarray


class Examples(NamedTuple):
    """Rows with what they teach.

    ``steps[i]`` is how far row i moves the weights: the learning rate times the row's weight and,
    for two classes, times its label (+1 or -1). ``labels`` holds class numbers, or None for two.
    """

    rows: Rows
    steps: np.ndarray
    labels: np.ndarray | None


class Rule(NamedTuple):
    """When a row is right, and how far a mistake moves the bias.

    A positive row is right when its activation is above ``above``, a negative one when it is
    below ``below``; with more classes, when the right class leads every other by over ``above``.
    """

    above: float
    below: float
    intercept_step: float


class Lines(NamedTuple):
    """Kernel values of some rows of a block with all of its rows.

    Those of row t are line ``places[t]`` of ``values``, or not at hand when that is negative.
    """

    values: np.ndarray
    places: np.ndarray


UPDATE = np.dtype([("position", np.intp), ("margin", np.float64), ("rival", np.intp)])
"""One entry of a kernel's log, whose length is how many updates the kernel may make.

``position`` says where in the order, ``margin`` the label times the activation before the update
(or the lead of the right class), ``rival`` the wrong class that was moved away.
"""


class CompilationNotice(event.Listener):
    """Says once, when a kernel of this package is not in the disk cache, why the user waits."""

    def on_start(self, event: event.Event) -> None:
        """Say it, the first time."""
        if not self.said and event.data["dispatcher"].py_func.__module__.startswith(__package__):
            self.said = True
            logging.getLogger(__package__).warning(
                "Rosenblatt compiles its kernels on first use; this takes some seconds, once."
            )

    def on_end(self, event: event.Event) -> None:
        """Nothing to say when it is over."""

    said = False


event.register("numba:compile", CompilationNotice())

compiled = njit(cache=True, nogil=True)
# Sums may be reordered and fused, which the vector units need; NaN and infinity keep their meaning.
compiled_sum = njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})


# Row algebra. i is a row number; values, indices and starts are the fields of Rows.


@compiled
def span(i, indices, starts):
    """Where row i begins and ends among the values."""
    i = np.uint64(i)
    if indices is None:
        return i * starts[0], i * starts[0] + starts[0]
    return starts[i], starts[i + np.uint64(1)]


@compiled
def column(k, first, indices):
    """The column of value k in the row that begins at first."""
    if indices is None:
        return k - first
    return indices[k]


@compiled_sum
def dot(w, i, values, indices, starts):
    """The product w·xᵢ."""
    first, last = span(i, indices, starts)
    total = values.dtype.type(0)
    for k in range(first, last):
        total += values[k] * w[column(k, first, indices)]
    return total


@compiled
def add(w, step, i, values, indices, starts):
    """Add step·xᵢ to w, each product and each sum rounded once, as NumPy does."""
    first, last = span(i, indices, starts)
    for k in range(first, last):
        w[column(k, first, indices)] += step * values[k]


@compiled
def move(W, step, y, rival, i, values, indices, starts):
    """Add step·xᵢ to column y of W and take it from column rival."""
    first, last = span(i, indices, starts)
    for k in range(first, last):
        j = column(k, first, indices)
        W[j, y] += step * values[k]
        W[j, rival] -= step * values[k]


@compiled_sum
def score(W, b, s, i, values, indices, starts):
    """Set s = Wᵀxᵢ + b: the activation of every class, one column of W each.

    Four classes at a time, so that their sums stay in registers.
    """
    first, last = span(i, indices, starts)
    c = 0
    while c + 4 <= len(s):
        s0, s1, s2, s3 = b[c], b[c + 1], b[c + 2], b[c + 3]
        for k in range(first, last):
            j = column(k, first, indices)
            s0 += values[k] * W[j, c]
            s1 += values[k] * W[j, c + 1]
            s2 += values[k] * W[j, c + 2]
            s3 += values[k] * W[j, c + 3]
        s[c], s[c + 1], s[c + 2], s[c + 3] = s0, s1, s2, s3
        c += 4
    while c < len(s):
        s0 = b[c]
        for k in range(first, last):
            s0 += values[k] * W[column(k, first, indices), c]
        s[c] = s0
        c += 1


@compiled_sum
def squared_norm(i, values, indices, starts):
    """‖xᵢ‖², in double precision."""
    first, last = span(i, indices, starts)
    total = 0.0
    for k in range(first, last):
        total += np.float64(values[k]) * values[k]
    return total


@compiled
def best_other(s, y):
    """The class other than y with the largest score; of equals, the first."""
    rival = 1 if y == 0 else 0
    for c in range(rival + 1, len(s)):
        if s[c] > s[rival] and c != y:
            rival = c
    return rival


@compiled
def largest_squared_norm(rows, order):
    """R²: the largest ‖xᵢ‖² among the rows in an order."""
    largest = 0.0
    for i in order:
        largest = max(largest, squared_norm(i, *rows[:]))
    return largest


@compiled
def mix(z):
    """Scatter the bits of a 64-bit number (the finaliser of SplitMix64, Steele et al. 2014)."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@compiled_sum
def product_and_size(w, i, values, indices, starts):
    """The product w·xᵢ and the sum of the sizes of its terms, in double precision."""
    first, last = span(i, indices, starts)
    total, size = 0.0, 0.0
    for k in range(first, last):
        term = w[column(k, first, indices)] * values[k]
        total += term
        size += abs(term)
    return total, size


@compiled
def surely_positive(examples, w, b, out):
    """Whether y(w·x + b) > 0 beyond all rounding, for every row.

    A sum of m products in any order is off by at most m·u/(1 - m·u) times the sum of their sizes
    (Higham 2002, section 3.1), u = 2⁻⁵³, plus what underflows; both are taken twice here.
    """
    rows, steps = examples.rows[:], examples.steps
    bound = 2.0 * (len(w) + 4) * 2.0**-53
    lost = 2.0 * (len(w) + 4) * 2.0**-1074
    for i in range(len(out)):
        total, size = product_and_size(w, i, *rows)
        a = total + b if steps[i] > 0 else -(total + b)
        out[i] = a > bound * (size + abs(b)) + lost


@compiled
def fingerprints(rows, out):
    """A number for every row that is the same for equal rows, dense or sparse."""
    values, indices, starts = rows[:]
    for i in range(len(out)):
        first, last = span(i, indices, starts)
        total = np.uint64(0)
        for k in range(first, last):
            if values[k] != 0:
                bits = np.float64(values[k]).view(np.uint64)
                total += mix(bits ^ mix(np.uint64(column(k, first, indices) + 1)))
        out[i] = total


# Fetching ahead: in a shuffled order the processor cannot guess which row comes next.

ROWS_AHEAD = 8
LINE = 64  # bytes that travel from memory together
LINES_AT_MOST = 4  # of a row; the processor itself fetches what follows


@intrinsic
def fetch(context, array, k):
    """Ask for the cache line of array[k] without waiting for it."""

    def generate(context, builder, signature, arguments):
        data = context.make_array(array)(context, builder, arguments[0]).data
        address = builder.gep(data, [arguments[1]])
        flag = ir.IntType(32)
        signature = ir.FunctionType(ir.VoidType(), [address.type, flag, flag, flag])
        prefetch = builder.module.declare_intrinsic("llvm.prefetch", [address.type], signature)
        to_read, to_keep, data = flag(0), flag(3), flag(1)
        builder.call(prefetch, [address, to_read, to_keep, data])
        return context.get_dummy_value()

    return types.void(array, k), generate


@compiled
def fetch_span(array, first, last):
    """Ask for the elements first to last of an array."""
    line = np.uint64(LINE // array.itemsize)
    last = min(last, first + LINES_AT_MOST * line)
    while first < last:
        fetch(array, first)
        first += line


@compiled
def fetch_row(t, order, values, indices, starts):
    """Ask for the row that comes some places after t in the order."""
    ahead = min(t + ROWS_AHEAD, len(order) - 1)
    first, last = span(order[ahead], indices, starts)
    if np.intp(order[ahead]) - np.intp(order[t]) == ahead - t:
        last = first  # in file order the processor fetches by itself, and better
    fetch_span(values, first, last)
    if indices is not None:
        fetch_span(indices, first, last)
        fetch(starts, order[min(t + 2 * ROWS_AHEAD, len(order) - 1)])


@compiled
def fetch_weights(W, i, values, indices, starts):
    """Ask for the weights that row i will need, all classes of each column."""
    if indices is not None:
        classes = np.uint64(W.shape[1])
        first, last = span(i, indices, starts)
        for k in range(first, last):
            fetch_span(W, indices[k] * classes, indices[k] * classes + classes)


# The algorithms. Each returns how far it got in the order, how many updates it made and the loss J
# of the rows that were wrong; it stops early when the log is full, or at a row whose activation is
# not a finite number.


@compiled
def perceptron(examples, order, start, w, b, rule, log):
    """On every mistake, w += ηyx and b += ηy (Rosenblatt 1958)."""
    rows, steps = examples.rows[:], examples.steps
    updates, loss = 0, 0.0
    for t in range(start, len(order)):
        i = order[t]
        fetch_row(t, order, *rows)
        a = dot(w, i, *rows) + b[0]
        right = a > rule.above if steps[i] > 0 else a < rule.below
        if not right or np.isinf(a):
            if updates == len(log) or not np.isfinite(a):
                return t, updates, loss
            add(w, steps[i], i, *rows)
            b[0] += steps[i] * rule.intercept_step
            log[updates].position = t
            log[updates].margin = a if steps[i] > 0 else -a
            loss += max(-log[updates].margin, 0.0)
            updates += 1
    return len(order), updates, loss


@compiled
def multiclass(examples, order, start, W, b, rule, log):
    """Add ηx to the right class and take it from its best rival (Crammer & Singer 2003)."""
    rows, steps, labels = examples.rows[:], examples.steps, examples.labels
    s = np.empty_like(b)
    updates, loss = 0, 0.0
    for t in range(start, len(order)):
        i = order[t]
        fetch_row(t, order, *rows)
        fetch_weights(W, order[min(t + 1, len(order) - 1)], *rows)
        score(W, b, s, i, *rows)
        y = labels[i]
        rival = best_other(s, y)
        lead = s[y] - s[rival]
        if not lead > rule.above or np.isinf(lead):
            if updates == len(log) or not np.isfinite(lead):
                return t, updates, loss
            move(W, steps[i], y, rival, i, *rows)
            b[y] += steps[i] * rule.intercept_step
            b[rival] -= steps[i] * rule.intercept_step
            log[updates].position = t
            log[updates].margin = lead
            log[updates].rival = rival
            loss += max(-log[updates].margin, 0.0)
            updates += 1
    return len(order), updates, loss


# The dual form: scores of a block of rows, one line per problem or class, instead of weights. Each
# kernel stops early at a row that it needs the kernel values of and that has none in ``lines``, or
# whose activation is not a finite number.


@compiled
def add_line(scores, step, line):
    """Add step times a row's kernel values to the scores of all rows of the block."""
    for u in range(len(scores)):
        scores[u] += step * line[u]


@compiled
def dual_perceptron(lines, steps, learning, start, scores, b, rule, log):
    """On every mistake of a problem, f += ηyK(x, ·) and b += ηy (Freund & Schapire 1999).

    Row t of the block moves problem p by ``steps[p, t]``; the log's ``rival`` is the problem.
    """
    values, places = lines.values, lines.places
    problems = np.flatnonzero(learning)
    updates, loss = 0, 0.0
    for t in range(start, len(places)):
        for p in problems:
            a = scores[p, t] + b[p]
            right = a > rule.above if steps[p, t] > 0 else a < rule.below
            if not right or np.isinf(a):
                if places[t] < 0 or not np.isfinite(a):
                    return t, updates, loss
                step = steps[p, t]
                add_line(scores[p], step, values[places[t]])
                b[p] += step * rule.intercept_step
                log[updates].position = t
                log[updates].margin = a if step > 0 else -a
                log[updates].rival = p
                loss += max(-log[updates].margin, 0.0)
                updates += 1
    return len(places), updates, loss


@compiled
def dual_multiclass(lines, steps, labels, start, scores, b, rule, log):
    """Add ηK(x, ·) to the right class and take it from its best rival (Crammer & Singer 2003)."""
    values, places = lines.values, lines.places
    s = np.empty_like(b)
    updates, loss = 0, 0.0
    for t in range(start, len(places)):
        for c in range(len(s)):
            s[c] = scores[c, t] + b[c]
        y = labels[t]
        rival = best_other(s, y)
        lead = s[y] - s[rival]
        if not lead > rule.above or np.isinf(lead):
            if places[t] < 0 or not np.isfinite(lead):
                return t, updates, loss
            add_line(scores[y], steps[t], values[places[t]])
            add_line(scores[rival], -steps[t], values[places[t]])
            b[y] += steps[t] * rule.intercept_step
            b[rival] -= steps[t] * rule.intercept_step
            log[updates].position = t
            log[updates].margin = lead
            log[updates].rival = rival
            loss += max(-log[updates].margin, 0.0)
            updates += 1
    return len(places), updates, loss


# What every row's margin is under given weights: label times activation, or the right class's lead.


@compiled
def perceptron_margins(examples, order, w, b, out):
    """The margin y(w·x + b) for the rows in an order."""
    rows, steps = examples.rows[:], examples.steps
    for t in range(len(order)):
        i = order[t]
        a = dot(w, i, *rows) + b[0]
        out[t] = a if steps[i] > 0 else -a


@compiled
def multiclass_margins(examples, order, W, b, out):
    """The lead of the right class over its best rival, for the rows in an order."""
    rows, labels = examples.rows[:], examples.labels
    s = np.empty_like(b)
    for t in range(len(order)):
        i = order[t]
        score(W, b, s, i, *rows)
        out[t] = s[labels[i]] - s[best_other(s, labels[i])]


@compiled
def perceptron_scores(rows, w, b, out):
    """The activation w·x + b of every row."""
    for i in range(len(out)):
        out[i] = dot(w, i, *rows[:]) + b[0]


@compiled
def multiclass_scores(rows, W, b, out):
    """The activation of every class for every row."""
    for i in range(len(out)):
        score(W, b, out[i], i, *rows[:])


# The average over all rows seen, kept lazily: an update made when c rows had been seen is missing
# from the first c weights, so c times the update is summed in u and the average is w - u/c.


@compiled
def perceptron_missing(examples, order, seen, log, u, ub, intercept_step):
    """Sum in u what the weights before each logged update lack of it (Daumé 2006)."""
    rows, steps = examples.rows[:], examples.steps
    for update in log:
        i = order[update.position]
        lack = np.float64(steps[i]) * (seen + update.position)
        add(u, lack, i, *rows)
        ub[0] += lack * intercept_step


@compiled
def multiclass_missing(examples, order, seen, log, u, ub, intercept_step):
    """The same with a right class and a rival per update."""
    rows, steps, labels = examples.rows[:], examples.steps, examples.labels
    for update in log:
        i, rival = order[update.position], update.rival
        lack = np.float64(steps[i]) * (seen + update.position)
        move(u, lack, labels[i], rival, i, *rows)
        ub[labels[i]] += lack * intercept_step
        ub[rival] -= lack * intercept_step


@compiled
def mean(w, u, seen, out):
    """The average over the c rows seen: w - u/c."""
    for j in range(len(out)):
        out[j] = w[j] - u[j] / max(seen, 1)


# The vote of all weights there ever were: weights k are weights k-1 plus one update, so that their
# scores on a new row follow from its products with the mistaken rows (Freund & Schapire 1999).


@compiled
def moved(k, products, updates):
    """How far update k moved the score of a row that has these products with mistaken rows."""
    return updates.steps[k] * (products[updates.rows[k]] + updates.intercept_steps[k])


@compiled
def perceptron_votes(scores, products, updates, survived, sign_of_zero, out):
    """Each weight vector's sign, times the rows it survived."""
    for r in range(len(scores)):
        a = scores[r, 0]
        for k in range(len(survived)):
            if k > 0:
                a += moved(k - 1, products[r], updates)
            out[r, 0] += survived[k] * (np.sign(a) if a != 0 else sign_of_zero)


@compiled
def multiclass_votes(scores, products, updates, survived, out):
    """Each weight matrix's best class, times the rows it survived; of equals, the first."""
    for r in range(len(scores)):
        s = scores[r]
        for k in range(len(survived)):
            if k > 0:
                change = moved(k - 1, products[r], updates)
                s[updates.labels[k - 1]] += change
                s[updates.rivals[k - 1]] -= change
            out[r, np.argmax(s)] += survived[k]


# Orders.


@compiled
def shuffle(order, seed, epoch):
    """A uniformly random permutation: the same for a seed and an epoch on every machine.

    Fisher-Yates with the bits of SplitMix64 and Lemire's (2019) unbiased way to a smaller range.
    """
    state = mix(np.uint64(seed)) ^ mix(~np.uint64(epoch))
    for last in range(len(order) - 1, 0, -1):
        choices = np.uint64(last + 1)
        while True:
            state += np.uint64(0x9E3779B97F4A7C15)
            product = (mix(state) >> np.uint64(32)) * choices
            if product & np.uint64(0xFFFFFFFF) >= np.uint64(1 << 32) % choices:
                break
        chosen = product >> np.uint64(32)
        order[last], order[chosen] = order[chosen], order[last]
