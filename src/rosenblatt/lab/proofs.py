"""What is proved about the points, whatever order they are learnt in."""

from dataclasses import dataclass

import numpy as np

from ..data.rows import Array
from ..theory.bounds import Convergence, convergence_of
from ..theory.certificates import Inseparable, Separable
from ..theory.margins import max_margin, radius
from ..theory.separability import separability
from .choices import Choices
from .data import Points


@dataclass(frozen=True)
class Verdict:
    """Whether a line separates the points, or the rows that forbid any."""

    sentence: str
    detail: str
    separable: bool | None
    line: str = "line"
    support: tuple[int, ...] = ()
    meeting: tuple[float, float] | None = None
    """Where the classes' convex hulls meet."""


def verdict_of(points: Points, choices: Choices) -> Verdict:
    """Decide by ``separability``, which checks its proof in exact arithmetic."""
    learnt, fit_intercept = points.learnt, choices["form"] != "origin"
    X, y = choices.rows(points.X[learnt]), points.y[learnt]
    if points.many:
        return verdict_of_classes(X, y, fit_intercept)
    if len(set(y.tolist())) < 2:
        return Verdict("Nothing to decide yet.", "Points of both classes are needed.", None)
    found = separability(X, y, fit_intercept=fit_intercept)
    line = {"origin": "line through the origin", "lifted": "plane"}.get(choices["form"], "line")
    if isinstance(found, Separable):
        gamma, R = max_margin(X, y, fit_intercept=fit_intercept).attained, radius(X)
        detail = f"The widest {line} keeps γ = {gamma:.4g} from every point; R = {R:.4g}."
        sentence = "Separable by a plane in space." if line == "plane" else "Linearly separable."
        return Verdict(sentence, detail, True, line)
    if isinstance(found, Inseparable):
        proof = "The convex hulls of the classes meet" if fit_intercept else "Rows cancel out"
        return Verdict(
            f"Not separable: no {line} can do it.",
            f"{proof}: with {shares_of(found, learnt)} both sides balance (checked exactly).",
            False,
            line,
            tuple(learnt[list(found.support)].tolist()),
            meeting_of(points.taken(learnt), found) if fit_intercept and X.shape[1] == 2 else None,
        )
    return Verdict("Undecided.", f"No margin can exceed {found.upper:.3g}.", None, line)


def verdict_of_classes(X: Array, y: Array, fit_intercept: bool) -> Verdict:
    """Which of three classes a line parts from the rest."""
    kinds = sorted(set(y.tolist()))
    apart = [
        isinstance(
            separability(X, np.where(y == kind, 1, -1), fit_intercept=fit_intercept), Separable
        )
        for kind in kinds
    ]
    if all(apart):
        return Verdict("Three classes.", "A line parts each of them from the rest.", True)
    detail = f"{sum(apart)} of {len(kinds)} can be parted from the rest by a line."
    return Verdict("Three classes.", detail, None)


def shares_of(found: Inseparable, numbers: Array) -> str:
    """The rows of a certificate and their weights, rounded where fractions are long."""
    shares = []
    for row, weight in zip(found.support, found.weights, strict=True):
        share = weight if len(str(weight)) <= 9 else f"about {float(weight):.3g}"
        shares.append(f"{share} of row {numbers[row] + 1}")
    return ", ".join(shares)


def meeting_of(points: Points, found: Inseparable) -> tuple[float, float]:
    """The point that both classes' rows make with the weights of a certificate."""
    rows = np.array(found.support)
    weights = np.array([float(weight) for weight in found.weights])
    positive = points.y[rows] > 0
    x, y = weights[positive] @ points.X[rows[positive]] / weights[positive].sum()
    return float(x), float(y)


def theorem_of(points: Points, choices: Choices, intercept_step: float) -> Convergence | None:
    """The theorem's numbers; it speaks neither of a demanded margin nor of a start elsewhere."""
    if choices["margin"] > 0 or choices.start[0] is not None:
        return None
    return convergence_of(points.X, points.y, intercept_step, choices["eta0"])


def squeeze(theorem: Convergence, weights: Array, bias: Array, mistakes: Array) -> dict[str, Array]:
    """ηγM ≤ ‖(w, b)‖ ≤ ηR√M at each moment, with the bias as a coordinate of its step's size."""
    low, high = theorem.limits(mistakes)
    named = {"low": low, "length": theorem.length(weights, bias), "high": high}
    return {name: theorem.eta0 * values for name, values in named.items()}
