"""A run as arrays, written down in one pass: every moment of it, measured and ready to draw."""

import copy
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ..classifiers.steps import Followed, Step, follow
from ..dual.classifier import follow as follow_kernel
from ..dual.state import DualState
from ..kernels.linear import Updates
from ..rows import Array
from ..theory.bounds import Convergence
from ..training.solutions import Last
from ..training.state import joined
from ..training.tasks import Task
from .choices import Choices
from .data import Points
from .geometry import View, bands, curved, lines
from .proofs import squeeze, theorem_of
from .work import Tell, nobody

MOST_UPDATES = 5_000
MOST_CURVES = 16  # epochs after which a boundary is drawn that is not a line

Score = Callable[[Array], Array]
"""What places of the plane are scored by: positive on one side."""


@dataclass(frozen=True)
class Trace:
    """A run, moment by moment: before anything was learnt, then after each update or epoch.

    ``columns`` has an entry per moment. A boundary that is not a line is in ``regions``, a picture
    after each of some epochs, and ``curves``, its lines; the column ``snapshot`` says which one a
    moment shows.
    """

    columns: dict[str, Array]
    wrong: Array
    """Of each moment, the misclassified rows: packed bits."""
    regions: list[Array]
    curves: list[list[Array]]
    every: str
    epochs: int
    stop_reason: str
    """Why the run ended; empty if it was cut, being longer than what is shown."""
    theorem: Convergence | None

    @property
    def last(self) -> int:
        """The number of the last moment."""
        return len(self.columns["mistakes"]) - 1

    @property
    def cut(self) -> bool:
        """Whether the run was longer than what is shown."""
        return not self.stop_reason


def trace_of(points: Points, choices: Choices, view: View, tell: Tell = nobody) -> Trace:
    """Run the engine and write down all moments."""
    if len(set(points.y.tolist())) < 2:
        have = "no points" if not len(points.y) else "points of one class only"
        raise ValueError(f"There are {have}; place some of both classes, and learning begins.")
    write_down = kernel_trace if choices["form"] == "kernel" else linear_trace
    return write_down(points, choices, view, tell)


# What a solution predicts with, after each update or after some epochs


class Boundaries(NamedTuple):
    """Boundaries at the start and later: lines, or where W is NaN curves with their regions."""

    W: Array
    b: Array
    margins: Array
    """Of each one, every row's label times activation."""
    regions: list[Array]
    curves: list[list[Array]]


class Line(NamedTuple):
    """Coefficients to predict with, and every row's label times activation."""

    weights: Array
    bias: float
    margins: Array


def line_of(task: Task, state: Any) -> Line:
    """What a state predicts with now."""
    weights, bias = (part.copy() for part in state.coefficients())
    return Line(weights, bias[0], task.margins(Last(weights, bias)))


def straight_boundaries(found: list[Line]) -> Boundaries:
    """Lines, from the start on."""
    W, b, margins = map(np.array, zip(*found, strict=True))
    return Boundaries(W, b, margins, [], [])


def curved_boundaries(scores: list[Score], points: Points, view: View, tell: Tell) -> Boundaries:
    """The start, where all scores are 0, and the curves on which scores are."""
    values = [np.zeros(len(points.y)), *(score(points.X) for score in scores)]
    nowhere = np.full((len(values), 2), np.nan)
    margins = points.y * np.array(values)
    return Boundaries(nowhere, nowhere[:, 0], margins, *curved(scores, view, tell))


def spread_over(count: int, most: int) -> Array:
    """Numbers from 1 to a count, both among them, and no more than the most."""
    return np.unique(np.linspace(1, count, min(count, most)).round().astype(int))


def snapshots(epochs: Array, picked: Array) -> Array:
    """Which boundary each moment shows: that of the last picked epoch that had ended, or 0."""
    found = np.searchsorted(picked, epochs - 1, side="right")
    if len(epochs) > 1:
        found[-1] = len(picked)  # after the last update the run goes on to its end
    return np.asarray(found)


def wrong_of(margins: Array, required: Array) -> Array:
    """Which rows are misclassified at each moment, as ``measure=True`` counts them."""
    return np.asarray(~(margins > np.minimum(required, 0)))


def packed(wrong: Array) -> Array:
    """The misclassified rows as bits, a whole number of bytes per moment."""
    return np.packbits(wrong, axis=1, bitorder="little").ravel()


def losses(margins: Array, wrong: Array) -> dict[str, Array]:
    """J₁ and J of each moment."""
    return {
        "errors": wrong.sum(axis=1),
        "loss": -np.where(wrong, margins, 0.0).sum(axis=1) + 0.0,
    }


# The linear family, update by update


class Record(NamedTuple):
    """What one pass has written down of a run, up to the last epoch that is shown."""

    steps: list[Step]
    lines: list[Line]
    """What the solution predicts with: at the start, then after each update or epoch."""
    ends: list[tuple[int, int]]
    """How many mistakes and rows there had been when each epoch ended."""
    required: Array
    """What each row's margin must exceed to be right."""


def linear_trace(points: Points, choices: Choices, view: View, tell: Tell) -> Trace:
    """Every update, and what the solution predicts with."""
    training = follow(choices.estimator(), points.X, points.y)
    last = choices["solution"] == "last"
    record = recorded(training, last, tell)
    columns = columns_of(record.steps)
    epochs = len(record.ends)
    if training.learner.votes:
        picked = spread_over(epochs, MOST_CURVES)
        scores = [votes_after(training, *record.ends[number - 1]) for number in picked]
        found = curved_boundaries(scores, points, view, tell)
    else:
        picked, found = spread_over(epochs, epochs), straight_boundaries(record.lines)
    snapshot = columns["mistakes"] if last else snapshots(columns["epoch"], picked)
    W, b, margins = (part[snapshot] for part in found[:3])
    wrong = wrong_of(margins, record.required)
    if not last:
        columns |= {"snapshot": snapshot, "snapshot_epoch": np.append(0, picked)[snapshot]}
    columns |= losses(margins, wrong) | bands(W, b, margins, choices["margin"], view)
    columns |= lines("s", W, b, view)
    last_W, last_b = np.column_stack([columns["w1"], columns["w2"]]), columns["b"]
    columns |= lines("l", last_W, last_b, view)
    theorem = theorem_of(points, choices, training.learner.intercept_step)
    if theorem is not None:
        columns |= squeeze(theorem, last_W, last_b, columns["mistakes"])
    ending = epochs, training.run.history.stop_reason
    return Trace(columns, packed(wrong), found.regions, found.curves, "update", *ending, theorem)


def recorded(training: Followed, each_update: bool, tell: Tell) -> Record:
    """Train, and write down every update, and what the solution predicts with as often as asked."""
    run, state = training.run, training.run.state
    (task,) = run.parts()
    steps: list[Step] = []
    ends: list[tuple[int, int]] = []
    found = [line_of(task, state)]

    def end_epoch(_: Any) -> None:
        ends.append((state.mistakes, state.seen))
        if not each_update:
            found.append(line_of(task, state))

    run.after_epoch = end_epoch
    for step in training:
        steps.append(step)
        tell("Learning", share_done(len(steps), run.epoch, run.history.max_iter))
        if each_update:
            found.append(line_of(task, state))
        if len(steps) > MOST_UPDATES:
            break
    state.refuse_overflow(training.given.rows.rows)
    training.learner.close(training.given.rows)
    count = ends[-1][0]
    found = found[: count + 1] if each_update else found
    return Record(steps[:count], found, ends, task.required())


def share_done(updates: int, epoch: int, epochs: int) -> float:
    """How much of a run is done at least: it ends with the most updates, or the most epochs."""
    return max(updates / MOST_UPDATES, (epoch - 1) / epochs)


def columns_of(steps: list[Step]) -> dict[str, Array]:
    """When each update happened, to which row, and the weights that it left."""
    nan = float("nan")
    rows = [(0, -1, nan, nan, nan)]
    rows += [(s.epoch, s.row, s.activation, s.cosine, s.new_cosine) for s in steps]
    W = np.array([[0.0, 0.0], *(step.new_weights[0] for step in steps)])
    epoch, row, activation, cosine, new_cosine = map(np.array, zip(*rows, strict=True))
    return {
        "epoch": epoch,
        "row": row,
        "activation": activation,
        "angle": np.degrees(np.arccos(cosine)),
        "new_angle": np.degrees(np.arccos(new_cosine)),
        "mistakes": np.arange(len(rows)),
        "w1": W[:, 0],
        "w2": W[:, 1],
        "b": np.array([0.0, *(step.new_bias[0] for step in steps)]),
        "norm": np.linalg.norm(W, axis=1),
        "length": np.linalg.norm(W, axis=1),
    }


def votes_after(training: Followed, mistakes: int, seen: int) -> Score:
    """The votes of the weights that there had been after so many mistakes and rows."""
    (state,) = training.learner.states
    earlier = copy.copy(state)
    earlier.updates, earlier.seen = [first(joined(state.updates), mistakes)], seen
    voters = replace(training.learner, states=[earlier])
    return lambda X: voters.shares(X).ravel()


def first(updates: Updates, count: int) -> Updates:
    """So many updates from the start."""
    return Updates(*(part[:count] for part in updates))


# The dual form, epoch by epoch


def kernel_trace(points: Points, choices: Choices, view: View, tell: Tell) -> Trace:
    """The function after some of the epochs."""
    model = choices.estimator()
    task, run = follow_kernel(model, points.X, points.y)
    ends: list[DualState] = []
    run.after_epoch = lambda _: ends.append(copy.deepcopy(task.state))
    with np.errstate(over="ignore", invalid="ignore"):
        for _ in run.updates():
            mistakes = task.state.mistakes
            tell("Learning", share_done(mistakes, run.epoch, run.history.max_iter))
            if mistakes > MOST_UPDATES:
                break
    kept, picked = task.finish(), spread_over(len(ends), MOST_CURVES)
    models = [after_epoch(model, kept, ends[number - 1]) for number in picked]
    scores = [each.decision_function for each in models]
    found = curved_boundaries(scores, points, view, tell)
    required = np.where(points.y > 0, task.settings.above, -task.settings.below)
    wrong = wrong_of(found.margins, required)
    columns = {
        "epoch": np.append(0, picked),
        "row": np.full(len(wrong), -1),
        "mistakes": np.array([0, *(each.n_mistakes_ for each in models)]),
        "support": np.array([0, *(len(each.support_) for each in models)]),
        "b": np.array([0.0, *(each.intercept_[0] for each in models)]),
        "snapshot": np.arange(len(wrong)),
        **losses(found.margins, wrong),
    }
    ending = len(ends), run.history.stop_reason
    return Trace(columns, packed(wrong), found.regions, found.curves, "epoch", *ending, None)


def after_epoch(model: Any, kept: DualState, ended: DualState) -> Any:
    """A model as it was when an epoch had ended, from all that the whole run keeps."""
    updates = first(kept.updates, ended.mistakes)
    size = len(np.unique(updates.rows))  # rows come in as they are first mistaken
    support = replace(kept, support=kept.support[:size], numbers=kept.numbers[:size])
    earlier = copy.copy(model)
    earlier._state = replace(support.with_updates(updates, False), bias=ended.bias, seen=ended.seen)
    return earlier
