"""A run as arrays, written down in one pass: every moment of it, measured and ready to draw."""

import copy
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..data.rows import Array
from ..estimators.kernel import follow as follow_kernel
from ..estimators.steps import Followed, Step, follow
from ..kernels.linear import Updates
from ..learners.dual.learner import DualLearner
from ..learners.dual.state import DualState
from ..theory.bounds import Convergence
from ..training.run import Run
from ..training.solutions import Last
from ..training.state import joined
from ..training.tasks import Learnt
from .choices import Choices
from .data import Points
from .geometry import PLACES, View, bands, curved, lines
from .proofs import squeeze, theorem_of
from .work import Tell, nobody

MOST_UPDATES = 5_000
MOST_VISITS = 50_000  # rows that are met, right or wrong
PICTURES = 16, 120  # of a boundary that is not a line: so many at least, and at most
PICTURE_WORK = 2e7  # products of a place with a mistaken row, in between

Score = Callable[[Array], Array]
"""What places of the plane are scored by: positive on one side."""


@dataclass(frozen=True)
class Trace:
    """A run, moment by moment: before anything was learnt, then after each update.

    ``columns`` has an entry per moment, ``visits`` one per row that was met, right or wrong, and
    the moment that it left. A boundary that is not a line is in ``regions``, a picture after each
    of some updates, and ``curves``, its lines; the column ``snapshot`` says which one a moment
    shows.
    """

    columns: dict[str, Array]
    visits: dict[str, Array]
    wrong: Array
    """Of each moment, the misclassified rows: packed bits."""
    regions: list[Array]
    curves: list[list[Array]]
    epochs: int
    stop_reason: str
    """Why the run ended; empty if it was cut, being longer than what is shown."""
    theorem: Convergence | None
    units: tuple[dict[str, Any], ...] = ()
    """Of a network, what is drawn of each unit."""

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
    learnt = points.learnt
    if len(set(points.y[learnt].tolist())) < 2:
        have = "no points" if not len(learnt) else "points of one class only"
        raise ValueError(f"There are {have}; place some of both classes, and learning begins.")
    from .classes import classes_trace  # which stand on this
    from .network import network_trace

    forms = {"kernel": kernel_trace, "network": network_trace}
    write_down = classes_trace if points.many else forms.get(choices["form"], linear_trace)
    order = np.concatenate([learnt, points.held])
    trace = write_down(points.taken(order), len(learnt), choices, view, tell)
    return renumbered(trace, order) if points.halved else trace


def renumbered(trace: Trace, order: Array) -> Trace:
    """A trace whose rows have the numbers that an order gives them."""
    numbers = np.append(order, -1)  # where there is no row
    bits = trace.wrong.reshape(trace.last + 1, -1)
    wrong = np.unpackbits(bits, axis=1, count=len(order), bitorder="little")[:, np.argsort(order)]
    columns = trace.columns | {"row": numbers[trace.columns["row"]]}
    visits = trace.visits | {"row": numbers[trace.visits["row"]]}
    return replace(trace, columns=columns, visits=visits, wrong=packed(wrong))


# The rows that a run meets


class Visits:
    """Every row that a run met, in which epoch, and how many updates there had been after it."""

    def __init__(self, run: Run) -> None:
        self.run, self.pieces, self.mistakes, self.met = run, [(np.zeros((3, 0), int))], 0, 0
        self.order, self.position = np.zeros(0, int), 0

    def add(self, order: Array, learnt: Learnt) -> None:
        """Rows of an order were met, after those before."""
        if not learnt.n_rows:
            return
        again = order is self.order and self.position < len(order)
        start = self.position if again else 0
        self.order, self.position = order, start + learnt.n_rows
        rows, places = order[start : self.position], learnt.updates["position"] - start
        if self.run.order == "first":  # those before it were right
            rows, places = np.arange(rows[0] + 1), places + rows[0]
        self.write(rows, places)

    def end_epoch(self, mistakes: int) -> None:
        """An epoch is over; the order "first" gives no rows if all of them are right."""
        if self.run.order == "first" and not mistakes:
            self.write(self.run.part.everything, np.zeros(0, int))

    def write(self, rows: Array, places: Array) -> None:
        """Write down rows, with mistakes in some places."""
        wrong = np.zeros(len(rows), int)
        wrong[places] = 1
        if self.met < MOST_VISITS:
            epochs = np.full(len(rows), self.run.epoch)
            self.pieces.append(np.array([rows, epochs, self.mistakes + np.cumsum(wrong)]))
        self.met, self.mistakes = self.met + len(rows), self.mistakes + len(places)

    def columns(self, margins: Array) -> dict[str, Array]:
        """Of each visit the row, the epoch, the moment after it, and y·activation before it.

        ``margins`` are those of the last weights, of each moment and row.
        """
        rows, epochs, moments = np.concatenate(self.pieces, axis=1)[:, :MOST_VISITS]
        shown = moments < len(margins)
        rows, epochs, moments = rows[shown], epochs[shown], moments[shown]
        before = np.append(0, moments)[:-1]
        met = margins[before, rows]
        named = {"row": rows, "epoch": epochs, "moment": moments, "met": met}
        start = {"row": -1, "epoch": 0, "moment": 0, "met": np.nan}
        return {name: np.append(start[name], values) for name, values in named.items()}


# What a solution predicts with, after each update or some of them


class Line(NamedTuple):
    """Coefficients to predict with, and every row's label times activation."""

    weights: Array
    bias: Any
    """One, or with three classes one of each."""
    margins: Array


class Lines(NamedTuple):
    """The lines of all moments."""

    W: Array
    b: Array
    margins: Array


class Pictures(NamedTuple):
    """Curves after some updates, with their regions and every row's label times activation."""

    moments: Array
    margins: Array
    regions: list[Array]
    curves: list[list[Array]]


NO_PICTURES = Pictures(np.zeros(1, int), np.zeros((1, 0)), [], [])


def pictured(
    moments: Array, scores: list[Score], points: Points, view: View, tell: Tell
) -> Pictures:
    """The start, where all scores are 0, and the curves on which scores are 0 later."""
    values = [np.zeros(len(points.y)), *(score(points.X) for score in scores)]
    return Pictures(np.append(0, moments), points.y * np.array(values), *curved(scores, view, tell))


def moments_to_picture(count: int, support: int) -> Array:
    """Some numbers from 1 to a count, both among them: fewer where a picture is much work."""
    most = int(np.clip(PICTURE_WORK / (PLACES * max(support, 1)), *PICTURES))
    return np.unique(np.linspace(1, count, min(count, most)).round().astype(int))


def snapshots(moments: Array, count: int) -> dict[str, Array]:
    """Which picture each moment shows, the latest there is by then, and of which moment it is."""
    found = np.searchsorted(moments, np.arange(count), side="right") - 1
    return {"snapshot": found, "pictured": moments[found]}


def wrong_of(margins: Array, required: Array) -> Array:
    """Which rows are misclassified at each moment, as ``measure=True`` counts them."""
    return np.asarray(~(margins > np.minimum(required, 0)))


def packed(wrong: Array) -> Array:
    """The misclassified rows as bits, a whole number of bytes per moment."""
    return np.packbits(wrong, axis=1, bitorder="little").ravel()


def losses(margins: Array, wrong: Array, count: int) -> dict[str, Array]:
    """J₁ and J of each moment, of so many rows, and the errors of those behind them."""
    learnt = wrong[:, :count]
    return {
        "errors": learnt.sum(axis=1),
        "loss": -np.where(learnt, margins[:, :count], 0.0).sum(axis=1) + 0.0,
        "held_errors": wrong[:, count:].sum(axis=1),
    }


def required_of(points: Points, required: Array) -> Array:
    """What each row's margin must exceed to be right, from what those of the first rows must."""
    by_class = {label: required[points.y[: len(required)] == label][0] for label in (-1, 1)}
    return np.asarray(np.where(points.y > 0, by_class[1], by_class[-1]))


def share_done(updates: int, epoch: int, epochs: int) -> float:
    """How much of a run is done at least: it ends with the most updates, or the most epochs."""
    return max(updates / MOST_UPDATES, (epoch - 1) / epochs)


def first(updates: Updates, count: int) -> Updates:
    """So many updates from the start."""
    return Updates(*(part[:count] for part in updates))


# The linear family


class Record(NamedTuple):
    """What one pass has written down of a run, up to the last epoch that is shown."""

    steps: list[Step]
    last: Lines
    """The last weights."""
    found: Lines
    """What the solution predicts with."""
    seen: list[int]
    """How many rows had been met."""
    epochs: int
    required: Array
    """What each row's margin must exceed to be right."""
    visits: Visits


def linear_trace(points: Points, count: int, choices: Choices, view: View, tell: Tell) -> Trace:
    """Every update by the first rows, so many, and what the solution predicts with for all."""
    rows, held = points.taken(np.arange(count)), points.taken(np.arange(count, len(points.y)))
    rows, held = (each._replace(X=choices.rows(each.X)) for each in (rows, held))
    training = follow(choices.estimator(), rows.X, rows.y, start=choices.start)
    record = recorded(training, tell)
    columns, (W, b, margins) = columns_of(record), record.found
    margins = np.hstack([margins, held.y * (W @ held.X.T + b[:, None])])
    nowhere, flat, pictures = np.full((len(W), 2), np.nan), W.shape[1] == 2, NO_PICTURES
    moments, scores = curves_of(training, record)
    if scores:
        seen: list[Score] = [partial(seen_as, choices, score) for score in scores]
        pictures = pictured(moments, seen, points, view, tell)
        columns |= snapshots(pictures.moments, len(margins))
        if training.learner.votes:
            margins = pictures.margins[columns["snapshot"]]
    line = nowhere if scores or not flat else W
    wrong = wrong_of(margins, required_of(points, record.required))
    columns |= losses(margins, wrong, count)
    columns |= bands(line, b, margins[:, :count], choices["margin"], view)
    columns |= lines("s", line, b, view)
    columns |= lines("l", record.last.W if flat else nowhere, record.last.b, view)
    theorem = theorem_of(rows, choices, training.learner.intercept_step)
    if theorem is not None:
        columns |= squeeze(theorem, record.last.W, record.last.b, columns["mistakes"])
    visits = record.visits.columns(record.last.margins)
    ending = record.epochs, training.run.stop_reason
    return Trace(columns, visits, packed(wrong), *pictures[2:], *ending, theorem)


def curves_of(training: Followed, record: Record) -> tuple[Array, list[Score]]:
    """Some moments, and what scores rows then, where that is no line of the plane."""
    count, (W, b, _) = len(record.steps), record.found
    if training.learner.votes:
        moments = moments_to_picture(count, count)
        return moments, [votes_after(training, each, record.seen[each]) for each in moments]
    if W.shape[1] == 2:
        return np.zeros(0, int), []
    moments = moments_to_picture(count, 1)
    return moments, [partial(score_of, W[moment], b[moment]) for moment in moments]


def seen_as(choices: Choices, score: Score, X: Array) -> Array:
    """What a score makes of points of the plane."""
    return score(choices.rows(X))


def score_of(weights: Array, bias: float, X: Array) -> Array:
    """What weights make of rows."""
    return np.asarray(X @ weights + bias)


def recorded(training: Followed, tell: Tell) -> Record:
    """Train, and write down every update, and what the solution predicts with after it."""
    run, (problem,) = training.run, training.run.problems
    state, (part,) = problem.state, run.parts()
    task = part.task(0)
    steps: list[Step] = []
    ends: list[tuple[int, int, Line]] = []
    visits, seen = Visits(run), [0]

    def line(weights: Array, bias: Array) -> Line:
        weights, bias = weights.copy(), bias.copy()
        kept = bias[0] if len(bias) == 1 else bias
        return Line(weights, kept, task.margins(Last(weights, bias)))

    def end_epoch(epoch: Any) -> None:
        visits.end_epoch(epoch.mistakes)
        ends.append((state.mistakes, state.seen, line(*state.coefficients())))

    plain = type(state).coefficients is Last.coefficients
    last, found = [line(*state.present())], [line(*state.coefficients())]
    run.after_epoch = end_epoch
    for order, learnt, step in training.pieces():
        visits.add(order, learnt)
        if step is None:
            continue
        now = copy.copy(state)
        now.seen += learnt.position  # which it counts by whole sweeps
        steps.append(step)
        seen.append(now.seen)
        last.append(line(*now.present()))
        found.append(last[-1] if plain else line(*now.coefficients()))
        tell("Learning", share_done(len(steps), run.epoch, problem.history.max_iter))
        if len(steps) > MOST_UPDATES:
            break
    state.refuse_overflow(training.given.rows.rows)
    run.close()
    count, seen[ends[-1][0]], found[ends[-1][0]] = ends[-1]  # the rows after the last update, too
    weights, solution = (lines_of(each[: count + 1]) for each in (last, found))
    return Record(steps[:count], weights, solution, seen, len(ends), task.required(), visits)


def lines_of(found: list[Line]) -> Lines:
    """Lines, from the start on."""
    return Lines(*map(np.array, zip(*found, strict=True)))


def columns_of(record: Record) -> dict[str, Array]:
    """When each update happened, to which row, and the weights that it left."""
    nan = float("nan")
    rows = [(0, -1, nan, nan, nan)]
    rows += [(s.epoch, s.row, s.activation, s.cosine, s.new_cosine) for s in record.steps]
    epoch, row, activation, cosine, new_cosine = map(np.array, zip(*rows, strict=True))
    W, b, _ = record.last
    return {
        "epoch": epoch,
        "row": row,
        "activation": activation,
        "angle": np.degrees(np.arccos(cosine)),
        "new_angle": np.degrees(np.arccos(new_cosine)),
        "mistakes": np.arange(len(rows)),
        **{f"w{number}": each for number, each in enumerate(W.T, start=1)},
        "b": b,
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


# The dual form


def kernel_trace(points: Points, count: int, choices: Choices, view: View, tell: Tell) -> Trace:
    """Every update by the first rows, so many, and the function after each, or after some."""
    learner, run = follow_kernel(choices.estimator(), points.X[:count], points.y[:count])
    task: Any = next(iter(run.parts())).task(0)
    ends: list[DualState] = []
    visits = Visits(run)
    run.after_epoch = lambda _: ends.append(copy.deepcopy(task.state))
    with np.errstate(over="ignore", invalid="ignore"):
        for order, learnt in run.updates():
            visits.add(order, learnt)
            mistakes = task.state.mistakes
            tell("Learning", share_done(mistakes, run.epoch, run.problems[0].history.max_iter))
            if mistakes > MOST_UPDATES:
                break
    kept, made = task.finish(), ends[-1].mistakes
    updates = first(kept.updates, made)
    values = task.gram(kept.support, points.X)
    last = functions_of(updates, values) * points.y
    moments = moments_to_picture(made, len(kept.numbers))
    seen = updates.times + 1
    seen[-1:] = ends[-1].seen  # with the rows after the last update
    scores: list[Any] = [
        after(learner, kept, moment, seen[moment - 1]).scores for moment in moments
    ]
    pictures = pictured(moments, scores, points, view, tell)
    shown = snapshots(pictures.moments, made + 1)
    margins = last if choices["solution"] == "last" else pictures.margins[shown["snapshot"]]
    required = np.where(points.y > 0, task.settings.above, -task.settings.below)
    wrong = wrong_of(margins, required)
    rows = kept.numbers[updates.rows]
    columns = {
        "epoch": 1 + np.append(-1, updates.times // count),
        "row": np.append(-1, rows),
        "activation": np.append(np.nan, (last[:-1] * points.y)[np.arange(made), rows]),
        "mistakes": np.arange(made + 1),
        "b": np.append(0.0, np.cumsum(updates.steps * updates.intercept_steps)),
        **shown,
        **losses(margins, wrong, count),
    }
    ending = len(ends), run.stop_reason
    visited = visits.columns(last[:, :count])
    return Trace(columns, visited, packed(wrong), *pictures[2:], *ending, None)


def functions_of(updates: Updates, values: Array) -> Array:
    """The function of each moment at some rows; ``values`` are their kernels with the support."""
    moved = updates.steps[:, None] * (values[updates.rows] + updates.intercept_steps[:, None])
    return np.concatenate([np.zeros((1, values.shape[1])), np.cumsum(moved, axis=0)])


def after(learner: DualLearner, kept: DualState, mistakes: int, seen: int) -> DualLearner:
    """A learner as it was after so many mistakes and rows, from all that the whole run keeps."""
    updates = first(kept.updates, mistakes)
    size = len(np.unique(updates.rows))  # rows come in as they are first mistaken
    support = replace(kept, support=kept.support[:size], numbers=kept.numbers[:size])
    bias = np.array([np.sum(updates.steps * updates.intercept_steps)])
    state = replace(support.with_updates(updates, False), bias=bias, seen=np.array([seen]))
    return replace(learner, state=state)
