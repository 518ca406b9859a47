"""The learning loop of all linear models: measure a row, compare, update.

A target says how the weights see a row (targets.py). A rule is the class of its settings, and says
which rows are right and what the others change: one file per family. Numba compiles the loop for
each pair in use.

Kernels take arrays and change them in place. Randomness is in the order of the rows. Learning can
stop after any update and continue from there.
"""

import math
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from .algebra import (
    Rows,
    add,
    column,
    each_rows,
    fetch_row,
    is_shuffled,
    span,
    squared_norm,
)
from .compiling import KERNELS, MODE, compile_here, compiled, inlined
from .dispatch import by_kind
from .forms import REAL, WHOLE, given, vector


class Examples(NamedTuple):
    """Rows with their labels and step sizes.

    ``steps[i]`` is how far row i moves the weights: the learning rate times the row's weight and,
    for two classes, times its label (+1 or -1). ``labels`` holds class numbers, numbers or ranks,
    or is None for two classes.
    """

    rows: Rows
    steps: np.ndarray
    labels: np.ndarray | None


class State(NamedTuple):
    """The arrays of a model that learns, all flat: weight j·classes + c is of column j and class c.

    Weights and biases; the sums for an average, or empty arrays; and what a rule keeps of each
    weight and bias, or None: ``S`` a variance or a sum of squares, ``z`` a sum of gradients.
    ``scale`` is what scaled.py keeps.
    """

    w: np.ndarray
    b: np.ndarray
    u: np.ndarray
    ub: np.ndarray
    S: np.ndarray | None = None
    Sb: np.ndarray | None = None
    z: np.ndarray | None = None
    zb: np.ndarray | None = None
    scale: np.ndarray | None = None


class Found(NamedTuple):
    """How the weights see a row: its score, its margin, and its side (1 or -1).

    With several classes or ranks also its label; with several classes the rival, that is the best
    other class. The rival is -1 if there is one column of weights only.
    """

    score: float
    margin: float
    side: float
    label: int
    rival: int


UPDATE = np.dtype(
    [("position", np.intp), ("rival", np.intp), ("margin", np.float64), ("step", np.float64)]
)
"""One entry of the log; the length of the log is the largest number of updates.

``position`` is the place in the order, ``rival`` the wrong class that was moved away, or -1.
``margin`` is that before the update, and ``step`` the step along the row.
"""


JUST_1 = float(np.nextafter(1.0, 0.0))  # what a margin of 1 exceeds
JUST_0 = float(np.nextafter(0.0, -1.0))  # and one of 0


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


# What targets and rules implement.


@by_kind
def measure(target, state, i, examples):
    """How the weights see a row."""


@by_kind
def fetch_ahead(target, state, t, order, rows):
    """Prefetch what the row after place t needs besides itself."""


@by_kind
def row_loss(target, state, found):
    """The loss of a row that is not right."""
    return -found.margin if found.margin < 0.0 else 0.0


@by_kind
def is_right(rule, state, found, i, examples):
    """Whether a row causes no update."""
    return found.margin > rule.above


# A rule that keeps more than weights and biases says so in ``keeps``: names of arrays of the state,
# and what each begins with. It is ``demanding`` if it also learns from rows on the right side.
# ``learns`` names its targets; by default they are classes, two or several.


@by_kind
def update(rule, state, found, clock, t, i, examples):
    """Change the state by a row; return the step that is logged."""


def by_name(above):
    """A method ``of`` for settings that are what a margin must exceed, the bias, and parameters."""

    def of(cls, parameters, bias):
        return cls(above, float(bias), *(float(parameters[name]) for name in cls._fields[2:]))

    return classmethod(of)


@inlined
def log_update(log, updates, t, rival, margin, step):
    """Write an update into the log; return its loss."""
    log[updates]["position"] = t
    log[updates]["rival"] = rival
    log[updates]["margin"] = margin
    log[updates]["step"] = step
    return -margin if margin < 0.0 else 0.0


# The loop.


@inlined
def rescale(found, scale):
    """What was found of a row, times the number that multiplies all weights, if there is one."""
    if scale is None:
        return found
    z = scale[0]
    return Found(found.score * z, found.margin * z, found.side, found.label, found.rival)


def make_state(rule, kind):
    """The state of a rule, or of none, with weights of a type, as a form."""
    sums = vector(np.float64)
    arrays = {"w": vector(kind), "b": vector(kind), "u": sums, "ub": sums}
    for name, start in getattr(rule, "keeps", ()):
        arrays[name] = sums
        if not isinstance(start, tuple):
            arrays[f"{name}b"] = sums
    return State(**arrays)


def each_examples(target):
    """Rows with labels for a target, and the target as a kernel takes it."""
    for rows in each_rows():
        kind = rows.values.dtype
        labels = {"TwoClasses": None, "Numbers": given(np.float64)}
        examples = Examples(rows, given(kind), labels.get(target.__name__, given(np.uint32)))
        fields = {"scores": vector(kind), "epsilon": REAL}
        yield target(*(fields[name] for name in target._fields)), examples


def forms_of_learning():
    """The targets of each rule, with rows of either precision, dense and sparse."""
    clock, log = Clock(REAL, REAL, REAL), vector(UPDATE)
    for rule, target in product(update.kinds, measure.kinds):
        if target.__name__ in getattr(rule, "learns", ("TwoClasses", "SeveralClasses")):
            settings = rule(*(kind() for kind in rule.__annotations__.values()))
            for found, examples in each_examples(target):
                state = make_state(rule, examples.steps.dtype)
                yield found, settings, examples, given(np.uint32), WHOLE, state, clock, log


def forms_of_margins():
    """Each target, with weights that are multiplied by a number or not."""
    for target in measure.kinds:
        for found, examples in each_examples(target):
            state = make_state(None, examples.steps.dtype)
            for scale in (None, vector(np.float64)):
                order, out = given(np.uint32), vector(np.float64)
                yield found, examples, order, state._replace(scale=scale), out


@compiled(forms_of_learning)
def learn(target, rule, examples, order, start, state, clock, log):
    """Learn from an order; return where it stopped, the updates, and the loss J of wrong rows.

    It stops early when the log is full, or at a row whose margin is not finite.
    """
    updates, loss, shuffled = 0, 0.0, is_shuffled(order, start)
    for t in range(start, len(order)):
        i = np.uint64(order[t])
        if shuffled:
            fetch_row(t, order, examples.rows)
        fetch_ahead(target, state, t, order, examples.rows)
        found = rescale(measure(target, state, i, examples), state.scale)
        if not is_right(rule, state, found, i, examples) or math.isinf(found.margin):
            if updates == len(log) or not math.isfinite(found.margin):
                return t, updates, loss
            loss += row_loss(target, state, found)
            step = update(rule, state, found, clock, t, i, examples)
            log_update(log, updates, t, found.rival, found.margin, step)
            updates += 1
    return len(order), updates, loss


@compiled(forms_of_margins)
def margins(target, examples, order, state, out):
    """The margin of each row of an order."""
    for t in range(len(order)):
        found = rescale(measure(target, state, np.uint64(order[t]), examples), state.scale)
        out[t] = found.margin


def compile_loop(rule: type) -> Any:
    """The loop for the class of a rule; Numba compiles it for a class of another package."""
    if MODE == "python" or rule.__module__.startswith(f"{__package__}."):
        return learn
    return compile_here(KERNELS["kernels.loop.learn"][0], rule)


# What most updates do. An average over all rows seen is computed lazily: an update made after c
# rows is missing from the first c weights, so c times the update is summed in u, and the average
# over n rows is w - u/n (Daumé 2006). In an average that decays, each row counts e^rate times as
# much as the row before.


@inlined
def move(state, found, step, bias, time, i, rows):
    """Add step·xᵢ to the weights, or to those of a class, and subtract it from its rival's.

    ``bias`` is how far a step of 1 moves a bias, and ``time`` the weight of the rows before.
    """
    move_columns(state.w, state.b, found, step, bias, i, rows)
    if len(state.u):
        move_columns(state.u, state.ub, found, time * np.float64(step), bias, i, rows)


@inlined
def move_columns(w, b, found, step, bias, i, rows):
    """The same for some weights and biases, or sums."""
    if found.rival < 0:
        add(w, step, i, rows)
        b[0] += step * bias
    else:
        add_pair(w, b, step, bias, found, i, rows)


@inlined
def add_pair(w, b, step, bias, found, i, rows):
    """Add step·xᵢ to a class and subtract it from its rival."""
    values, indices, starts = rows
    first, last = span(i, indices, starts)
    classes, y, rival = np.uint64(len(b)), np.uint64(found.label), np.uint64(found.rival)
    for k in range(first, last):
        j = column(k, first, indices) * classes
        w[j + y] += step * values[k]
        w[j + rival] -= step * values[k]
    b[y] += step * bias
    b[rival] -= step * bias


@inlined
def squared_size(found, bias, i, rows):
    """The squared length of a row with its bias; twice that for the difference of two classes."""
    size = squared_norm(i, rows) + bias
    return size if found.rival < 0 else 2.0 * size


@inlined
def row_weight(i, examples):
    """The weight of a row, with the learning rate."""
    return abs(np.float64(examples.steps[i]))


@inlined
def relaxation(weight):
    """What a weight multiplies the step to a constraint by: 1 if it is 1, and never 2.

    Steps of up to twice the distance come no farther from what satisfies the constraint (Agmon 1954
    and Motzkin & Schoenberg 1954); longer ones could grow without end.
    """
    return 2.0 * (weight / (1.0 + weight))
