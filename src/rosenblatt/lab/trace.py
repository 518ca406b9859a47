"""A run as arrays: every moment of it, measured and ready to draw, from the engine's own steps."""

from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
from scipy.ndimage import zoom

from ..classifiers import Perceptron, steps
from ..rows import rows_of
from ..theory.certificates import Inseparable, Separable
from ..theory.convergence import Convergence, convergence
from ..theory.margins import radius
from ..theory.separability import separability
from ..theory.widest import MaxMargin, max_margin
from ..training import Array, rule_of, task_of
from .data import Points
from .state import Settings

MOST_UPDATES = 5_000
MOST_PREFIXES = 40  # epochs after which an average or a pocket is looked at
MOST_CURVED = 16  # of those that need a picture each
GRID = 56  # cells along each side of such a picture
FINER = 3  # dots between two of them, where the score is interpolated as the curves are
GRID_REACH = 1.6  # how far it reaches, in halves of the view


@dataclass(frozen=True)
class View:
    """A square with all points and the origin."""

    x: float = 0.0
    y: float = 0.0
    half: float = 2.5


def view_of(X: Array) -> View:
    """What to look at."""
    if not len(X):
        return View()
    low, high = np.minimum(X.min(axis=0), 0), np.maximum(X.max(axis=0), 0)
    centre, half = (low + high) / 2, float((high - low).max()) / 2
    return View(float(centre[0]), float(centre[1]), 1.12 * half or 1.0)


@dataclass(frozen=True)
class Theorem:
    """What the convergence theorem says of a run, with the bias as a coordinate."""

    radius: float
    margin: float
    bound: int


@dataclass(frozen=True)
class Trace:
    """A run, moment by moment: before anything was learnt, then after each update or epoch.

    ``columns`` has an entry per moment. Those of a curved boundary are ``regions``, a picture per
    look at it, and ``curves``, its lines; the column ``look`` says which one a moment shows.
    """

    columns: dict[str, Array]
    wrong: Array
    """Of each moment, the misclassified rows: packed bits."""
    regions: list[Array]
    curves: list[list[Array]]
    every: str
    stop_reason: str
    epochs: int
    cut: bool
    """Whether the run was longer than what is shown."""
    theorem: Theorem | None

    @property
    def last(self) -> int:
        """The number of the last moment."""
        return len(self.columns["mistakes"]) - 1


def trace_of(points: Points, settings: Settings, view: View) -> Trace:
    """Run the engine and write down all moments."""
    if len(set(points.y.tolist())) < 2:
        have = "no points" if not len(points.y) else "points of one class only"
        raise ValueError(f"There are {have}; place some of both classes, and learning begins.")
    write_down = kernel_trace if settings.form == "kernel" else linear_trace
    return write_down(points, settings, view)


# The linear family, update by update


def linear_trace(points: Points, settings: Settings, view: View) -> Trace:
    """Every update, from ``steps``; what the solution predicts with, from runs of fewer epochs."""
    settings, model, cut = fitted(points, settings)
    taken = list(steps(points.X, points.y, **settings.parameters()))
    columns = updates_as_columns(taken)
    answer = answer_of(points, settings, model, columns, view)
    W, b = weights_in(columns)
    columns |= {"look": answer.look, "look_epoch": answer.look_epoch}
    columns |= losses(answer.margins, points.y, settings)
    columns |= lines("s", answer.W, answer.b, view) | lines("l", W, b, view)
    columns |= bands(answer, settings.margin, view)
    said = said_of(model, points)
    if said is not None:
        columns |= squeeze(said, columns)
    return Trace(
        columns,
        packed(answer.margins, points.y, settings),
        answer.regions,
        answer.curves,
        "update",
        model.stop_reason_,
        model.n_iter_,
        cut,
        theorem_of(said) if said is not None else None,
    )


def fitted(points: Points, settings: Settings) -> tuple[Settings, Any, bool]:
    """A run that is not too long to show: settings, model, and whether epochs were cut off."""
    model = settings.estimator().fit(points.X, points.y)
    epochs = epochs_within(model, MOST_UPDATES)
    if epochs == model.n_iter_:
        return settings, model, False
    settings = replace(settings, max_iter=epochs)
    return settings, settings.estimator().fit(points.X, points.y), True


def epochs_within(model: Perceptron, most: int) -> int:
    """How many epochs of a run make at most so many updates."""
    totals = accumulate(epoch.mistakes for epoch in model.history_)
    return max(1, sum(total <= most for total in totals))


def updates_as_columns(taken: list[Any]) -> dict[str, Array]:
    """When each update happened, to which row, and the weights that it left."""
    nan = float("nan")
    rows = [(0, -1, nan, nan, nan)]
    rows += [(s.epoch, s.row, s.activation, s.cosine, s.new_cosine) for s in taken]
    W = np.array([[0.0, 0.0], *(step.new_weights[0] for step in taken)])
    epoch, row, activation, cosine, new_cosine = (
        np.array(part) for part in zip(*rows, strict=True)
    )
    return {
        "epoch": epoch,
        "row": row,
        "activation": activation,
        "angle": np.degrees(np.arccos(cosine)),
        "new_angle": np.degrees(np.arccos(new_cosine)),
        "mistakes": np.arange(len(rows)),
        "w1": W[:, 0],
        "w2": W[:, 1],
        "b": np.array([0.0, *(step.new_bias[0] for step in taken)]),
        "norm": np.linalg.norm(W, axis=1),
        "length": np.linalg.norm(W, axis=1),
    }


def weights_in(columns: dict[str, Array]) -> tuple[Array, Array]:
    """The weights and biases of all moments."""
    return np.column_stack([columns["w1"], columns["w2"]]), columns["b"]


class Answer(NamedTuple):
    """What the solution predicts with at each moment: a line, or a curve where W is NaN."""

    W: Array
    b: Array
    margins: Array
    look: Array
    """Which of the looks at the solution, 0 for none."""
    look_epoch: Array
    regions: list[Array]
    curves: list[list[Array]]


def answer_of(
    points: Points, settings: Settings, model: Any, columns: dict[str, Array], view: View
) -> Answer:
    """The last weights as they are; other solutions as they were after the last epoch."""
    W, b = weights_in(columns)
    if settings.solution == "last":
        none = np.zeros(len(b), int)
        return Answer(W, b, margins_of(points, settings, W, b), none, columns["epoch"], [], [])
    curved_too = settings.solution == "vote"
    most = MOST_CURVED if curved_too else MOST_PREFIXES
    epochs, models = prefixes(points, settings, model, most)
    look = look_of(columns["epoch"], epochs)
    seen = np.append(0, epochs)[look]
    if curved_too:
        nowhere = np.full_like(W, np.nan)
        margins = margins_by_scores(points, models)[look]
        return Answer(nowhere, b, margins, look, seen, *curved(models, view))
    W = np.array([np.zeros(2), *(each.coef_[0] for each in models)])[look]
    b = np.array([0.0, *(each.intercept_[0] for each in models)])[look]
    return Answer(W, b, margins_of(points, settings, W, b), look, seen, [], [])


def margins_by_scores(points: Points, models: list[Any]) -> Array:
    """Each row's label times the score of no model, and of each."""
    scores = [np.zeros(len(points.y)), *(model.decision_function(points.X) for model in models)]
    return np.asarray(points.y * np.array(scores))


def prefixes(points: Points, settings: Settings, model: Any, most: int) -> tuple[Array, list[Any]]:
    """Some epochs, spread over a run, and the model as it was after each."""
    count = min(model.n_iter_, most)
    epochs = np.unique(np.linspace(1, model.n_iter_, count).round().astype(int))
    models = [
        settings.estimator(max_iter=epoch).fit(points.X, points.y) for epoch in epochs[:-1].tolist()
    ]
    return epochs, [*models, model]


def look_of(epochs: Array, looks: Array) -> Array:
    """Which look at the solution each moment shows: that of the last epoch before it that ended."""
    found = np.searchsorted(looks, epochs - 1, side="right")
    if len(epochs) > 1:
        found[-1] = len(looks)  # after the last update the run goes on to its end
    return np.asarray(found)


def margins_of(points: Points, settings: Settings, W: Array, b: Array) -> Array:
    """Each row's label times activation at each moment, by the kernel that training uses."""
    rule = rule_of(settings.margin, settings.ties, 1.0)
    codes = (points.y > 0).astype(int)
    task = task_of(rows_of(np.ascontiguousarray(points.X)), codes, None, 2, rule)
    weights, biases = np.ascontiguousarray(W), np.ascontiguousarray(b)[:, None]
    return np.array([task.margins(w, bias) for w, bias in zip(weights, biases, strict=True)])


def wrong_of(margins: Array, y: Array, settings: Settings) -> Array:
    """Which rows are misclassified at each moment, as ``measure=True`` counts them."""
    rule = rule_of(settings.margin, settings.ties, 1.0)
    required = np.where(y > 0, rule.above, -rule.below)
    return np.asarray(~(margins > np.minimum(required, 0)))


def packed(margins: Array, y: Array, settings: Settings) -> Array:
    """The misclassified rows as bits, a whole number of bytes per moment."""
    return np.packbits(wrong_of(margins, y, settings), axis=1, bitorder="little").ravel()


def losses(margins: Array, y: Array, settings: Settings) -> dict[str, Array]:
    """J₁ and J of each moment."""
    wrong = wrong_of(margins, y, settings)
    return {
        "errors": wrong.sum(axis=1),
        "loss": -np.where(wrong, margins, 0.0).sum(axis=1) + 0.0,
    }


def said_of(model: Any, points: Points) -> Convergence | None:
    """What the theorem says of a run, where it speaks of such a one."""
    try:
        return convergence(model, points.X, points.y)
    except ValueError:
        return None


def theorem_of(said: Convergence) -> Theorem:
    """The theorem's numbers."""
    if said.margin <= 0:
        return Theorem(said.radius, 0.0, 0)
    return Theorem(said.radius, said.margin, int(said.bound * (1 + 1e-9)))  # rounding aside


def squeeze(said: Convergence, columns: dict[str, Array]) -> dict[str, Array]:
    """γM ≤ ‖(w, b)‖ ≤ R√M at each moment, with the bias as a coordinate of its step's size."""
    low, high = said.limits(columns["mistakes"])
    length = said.length(*weights_in(columns))
    named = {"low": low, "length": length, "high": high}
    return {name: said.eta0 * values for name, values in named.items()}


# Geometry: lines that reach beyond the view, so that drawing needs no arithmetic


def lines(name: str, W: Array, b: Array, view: View) -> dict[str, Array]:
    """The ends of each boundary w·x + b = 0, and a vector from it far into its positive side."""
    normal, distance = unit(W, b, view)
    foot = np.array([view.x, view.y]) - distance[:, None] * normal
    along = np.column_stack([-normal[:, 1], normal[:, 0]])
    reach = 8 * view.half
    start, end = foot - reach * along, foot + reach * along
    far = (reach + np.abs(distance))[:, None] * normal
    named = {"x0": start[:, 0], "y0": start[:, 1], "x1": end[:, 0], "y1": end[:, 1]}
    named |= {"fx": far[:, 0], "fy": far[:, 1]}
    return {f"{name}_{key}": value for key, value in named.items()}


def unit(W: Array, b: Array, view: View) -> tuple[Array, Array]:
    """The normals of length one, and the view's centre's distances; NaN where w is zero."""
    length = np.linalg.norm(W, axis=1)
    length = np.where(length > 0, length, np.nan)
    return W / length[:, None], (W @ [view.x, view.y] + b) / length


def bands(answer: Answer, demanded: float, view: View) -> dict[str, Array]:
    """How far the margin reaches on both sides of each boundary, as a vector.

    The margin that was demanded, or once every row is right the one that was reached.
    """
    length = np.linalg.norm(answer.W, axis=1)
    length = np.where(length > 0, length, np.nan)
    least = answer.margins.min(axis=1)
    reached = np.where(least > 0, least, np.nan) / length
    normal, _ = unit(answer.W, answer.b, view)
    vector = normal * (demanded / length if demanded > 0 else reached)[:, None]
    return {"m_x": vector[:, 0], "m_y": vector[:, 1], "margin": reached}


def curved(models: list[Any], view: View) -> tuple[list[Array], list[list[Array]]]:
    """The region of each side, and the line between them, of boundaries that are not straight."""
    from contourpy import contour_generator

    reach = GRID_REACH * view.half
    x = np.linspace(view.x - reach, view.x + reach, GRID)
    y = np.linspace(view.y - reach, view.y + reach, GRID)
    places = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    regions, curves = [np.zeros((1, 1), np.int8)], [[np.empty((0, 2))]]
    for model in models:
        scores = model.decision_function(places).reshape(GRID, GRID)
        regions.append(np.sign(zoom(scores, FINER, order=1)).astype(np.int8))
        found: Any = contour_generator(x, y, scores).lines(0.0)
        curves.append(list(found))
    return regions, curves


# The dual form, epoch by epoch


def kernel_trace(points: Points, settings: Settings, view: View) -> Trace:
    """The function after some of the epochs: runs of fewer epochs, one after the other."""
    settings, model, cut = fitted(points, settings)
    epochs, models = prefixes(points, settings, model, MOST_CURVED)
    margins = margins_by_scores(points, models)
    columns = {
        "epoch": np.append(0, epochs),
        "row": np.full(len(margins), -1),
        "mistakes": np.array([0, *(each.n_mistakes_ for each in models)]),
        "support": np.array([0, *(len(each.support_) for each in models)]),
        "b": np.array([0.0, *(each.intercept_[0] for each in models)]),
        "look": np.arange(len(margins)),
        **losses(margins, points.y, settings),
    }
    regions, curves = curved(models, view)
    return Trace(
        columns,
        packed(margins, points.y, settings),
        regions,
        curves,
        "epoch",
        model.stop_reason_,
        model.n_iter_,
        cut,
        None,
    )


# What is proved about the points


@dataclass(frozen=True)
class Verdict:
    """Whether a line separates the points: the widest one, or the rows that forbid any."""

    sentence: str
    detail: str
    separable: bool | None
    widest: MaxMargin | None = None
    support: tuple[int, ...] = ()
    meeting: tuple[float, float] | None = None
    """Where the classes' convex hulls meet."""


def verdict_of(points: Points, fit_intercept: bool) -> Verdict:
    """Decide by ``separability``, which checks its proof in exact arithmetic."""
    X, y = points.X, points.y
    if len(set(y.tolist())) < 2:
        return Verdict("Nothing to decide yet.", "Points of both classes are needed.", None)
    found = separability(X, y, fit_intercept=fit_intercept)
    line = "line" if fit_intercept else "line through the origin"
    if isinstance(found, Separable):
        widest = max_margin(X, y, fit_intercept=fit_intercept)
        R = radius(X)
        detail = f"The widest {line} keeps γ = {widest.attained:.4g} from every point; R = {R:.4g}."
        return Verdict("Linearly separable.", detail, True, widest)
    if isinstance(found, Inseparable):
        shares = ", ".join(f"{weight} of row {row + 1}" for row, weight in parts(found))
        proof = "The convex hulls of the classes meet" if fit_intercept else "Rows cancel out"
        return Verdict(
            f"Not separable: no {line} can do it.",
            f"{proof}: with {shares} both sides balance (checked exactly).",
            False,
            support=found.support,
            meeting=meeting_of(points, found) if fit_intercept else None,
        )
    return Verdict("Undecided.", f"No margin can exceed {found.upper:.3g}.", None)


def parts(found: Inseparable) -> list[tuple[int, str]]:
    """The rows of a certificate and their weights, in words where fractions are long."""
    exact = [(row, str(weight)) for row, weight in zip(found.support, found.weights, strict=True)]
    return [
        (row, text if len(text) <= 9 else f"about {float(weight):.3g}")
        for (row, text), weight in zip(exact, found.weights, strict=True)
    ]


def meeting_of(points: Points, found: Inseparable) -> tuple[float, float]:
    """The point that both classes' rows make with the weights of a certificate."""
    rows = np.array(found.support)
    weights = np.array([float(weight) for weight in found.weights])
    positive = points.y[rows] > 0
    x, y = weights[positive] @ points.X[rows[positive]] / weights[positive].sum()
    return float(x), float(y)
