"""What a run has proved: radius, margins, mistake bounds, and separability with certificates."""

import json
import math
import operator
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.linalg import qr, solve_triangular
from sklearn.utils.validation import check_array, check_consistent_length, column_or_1d

from .classifiers.perceptron import Perceptron
from .disk import replacing
from .kernels.exactness import fingerprints, surely_positive
from .kernels.linear import Examples, Settings
from .labels import encode
from .rows import Array, check_structure, rows_of
from .training.history import History
from .training.rules import PERCEPTRON
from .training.run import Run
from .training.solutions import Last
from .training.tasks import LinearTask

# Quantities


@np.errstate(all="ignore")  # what overflows is infinite
def radius(X: Any) -> float:
    """R, the largest Euclidean norm of a row.

    >>> radius([[3.0, 4.0], [1.0, 0.0]])
    5.0
    """
    X, scale = scaled(checked_rows(X))
    if not X.shape[0]:
        return 0.0
    squares = X.multiply(X).sum(axis=1) if hasattr(X, "indptr") else np.einsum("ij,ij->i", X, X)
    return float(np.sqrt(np.max(squares)) * scale)


@np.errstate(all="ignore")  # what overflows is infinite
def margins(X: Any, y: ArrayLike, weights: ArrayLike, bias: float = 0.0) -> Array:
    """The functional margin y(w·x + b) of every row; the larger label is +1.

    >>> margins([[2.0], [-1.0]], [1, 0], [3.0], -1.0)
    array([5., 4.])
    """
    X, signs = checked(X, y)
    return np.asarray(signs * (X @ plane(X, weights) + bias))


@np.errstate(all="ignore")  # what overflows is infinite
def margin(X: Any, y: ArrayLike, weights: ArrayLike, bias: float = 0.0) -> float:
    """The geometric margin: the least distance of a row from the boundary, -∞ if one is wrong.

    Parameters
    ----------
    X, y : array-like
        Rows and labels of two classes; the larger label is +1.
    weights, bias
        The hyperplane w·x + b = 0.

    Examples
    --------
    >>> margin([[2.0], [-1.0]], [1, 0], [3.0], -1.0)
    1.3333333333333333
    """
    functional = margins(X, y, weights, bias)
    length = float(np.linalg.norm(np.ravel(weights)))
    least = float(functional.min(initial=np.inf))
    if least <= 0:
        return -np.inf
    return least / length if length else np.inf


def training_error(X: Any, y: ArrayLike, weights: ArrayLike, bias: float = 0.0) -> float:
    """The share of rows on the wrong side of the boundary or on it.

    >>> training_error([[1.0], [0.0], [-1.0]], [1, 1, 0], [1.0])
    0.3333333333333333
    """
    return float(np.mean(margins(X, y, weights, bias) <= 0))


@dataclass(frozen=True)
class MaxMargin:
    """A hyperplane that is close to the widest, and the proof that none is much wider.

    Attributes
    ----------
    weights : ndarray
        Of length one.
    bias : float
    attained : float
        The margin of this hyperplane; -∞ when it does not separate.
    upper : float
        No hyperplane has a larger margin: half the distance of two points of the classes' convex
        hulls, or without a bias the distance of one point from the origin.
    support : ndarray of int
        The rows that make those points.
    shares : ndarray
        Their shares; those of each class (without a bias, all) sum to 1.
    fit_intercept : bool
        Whether a bias was allowed.
    """

    weights: Array
    bias: float
    attained: float
    upper: float
    support: Array
    shares: Array
    fit_intercept: bool = True

    def verify(self, X: Any, y: ArrayLike) -> bool:
        """Whether both ends of the bracket hold, up to rounding."""
        X, signs = checked(X, y)
        groups = [signs[self.support] == sign for sign in (1, -1)]
        totals = [self.shares[group].sum() for group in groups]
        whole = totals if self.fit_intercept else [sum(totals)]
        if self.shares.min(initial=0.0) < 0 or not np.allclose(whole, 1):
            return False
        X, scale = scaled(X)
        distance = scale * widest_gap(X, signs, self.support, self.shares, self.fit_intercept)
        reached = margin(X, signs, self.weights, self.bias / scale) * scale
        return bool(reached >= self.attained * (1 - 1e-9) and distance <= self.upper * (1 + 1e-9))


@np.errstate(all="ignore")  # what overflows is infinite
def max_margin(
    X: Any, y: ArrayLike, *, tolerance: float = 1e-3, fit_intercept: bool = True
) -> MaxMargin:
    """Find a hyperplane with at least (1 - tolerance) times the largest margin there is.

    The nearest points of the two classes' convex hulls by Wolfe's (1976) method; every corral it
    passes bounds the margin from above, so that the answer carries its own proof.

    Parameters
    ----------
    X, y : array-like
        Rows and labels of two classes; the larger label is +1.
    tolerance : float, default=1e-3
        How far below the largest margin the answer may be, as a share of it.
    fit_intercept : bool, default=True
        False asks about hyperplanes through the origin.

    Examples
    --------
    >>> found = max_margin([[0.0, 0.0], [0.0, 2.0], [4.0, 1.0]], [0, 0, 1])
    >>> round(found.attained, 9), round(found.upper, 9)
    (2.0, 2.0)
    """
    if not 0 < float(tolerance) < 1:
        raise ValueError(f"tolerance must be between 0 and 1; got {tolerance!r}.")
    X, signs = checked(X, y)
    if fit_intercept and np.all(signs == signs[0]):
        raise ValueError("All rows have the same label, so any margin can be attained.")
    return largest_margin(X, signs, tolerance, fit_intercept)


def largest_margin(X: Any, signs: Array, tolerance: float, fit_intercept: bool) -> MaxMargin:
    """The bracket on the margin of checked rows."""
    X, scale = scaled(X)
    hull = Hull(X, signs, by_class=fit_intercept)
    nearest = nearest_to_origin(hull, tolerance)
    weights, _ = hull.hyperplane(nearest.normal)
    length = float(np.linalg.norm(weights))
    weights = weights / length if length else weights
    bias = 0.0
    if fit_intercept:
        low, high = (float(np.min(sign * (X[signs == sign] @ weights))) for sign in (1, -1))
        bias = (high - low) / 2
    attained = margin(X, signs, weights, bias)
    if attained < 0:  # rounding hid the way: any separator is better than none
        weights, bias, attained = proved_separator(X, signs, fit_intercept)
    support, shares = hull.shares(nearest)
    upper = widest_gap(X, signs, support, shares, fit_intercept)
    reached = float(bias * scale), float(attained * scale), float(upper * scale)
    return MaxMargin(weights, *reached, support, shares, fit_intercept)


def widest_gap(X: Any, signs: Array, support: Array, shares: Array, fit_intercept: bool) -> float:
    """The margin that no hyperplane can exceed, by the points that the shares of rows make."""
    point = (signs[support] * shares) @ X[support]
    return float(np.linalg.norm(point)) / (2 if fit_intercept else 1)


def proved_separator(X: Any, signs: Array, fit_intercept: bool) -> tuple[Array, float, float]:
    """Some hyperplane of unit length that separates, and its margin: -∞ if there is none."""
    for verdict in verdicts(X, signs, fit_intercept):
        if verdict.verify(X, signs):
            if isinstance(verdict, Inseparable):
                break
            weights = np.array(verdict.weights, np.float64)
            length = float(np.linalg.norm(weights))
            return weights / length, float(verdict.bias) / length, verdict.margin
    return np.zeros(X.shape[1]), 0.0, -np.inf


# Mistake bounds


class MistakeBounds(NamedTuple):
    """The most mistakes that a perceptron from zero can make on these rows, in any order.

    The last two are for one pass, the others for any number of passes.

    Attributes
    ----------
    novikoff : float
        (R/γ)², through the origin: for ``fit_intercept=False``.
    radius_step : float
        (2R/γ)², for ``intercept_step="radius"`` (more if the plane misses the ball of the rows).
    unit_step : float
        (R² + 1)(1 + b²)/γ², for a bias that moves by 1.
    unit_rows : float
        1/γ², when no row is longer than 1, through the origin.
    squared_hinge : float
        ((R + D)/γ)² (Freund & Schapire 1999), for any rows.
    hinge : float
        L + a²/2 + a√(L + a²/4), a = R/γ (Gentile 2003), for any rows.
    """

    novikoff: float
    radius_step: float
    unit_step: float
    unit_rows: float
    squared_hinge: float
    hinge: float


@np.errstate(all="ignore")  # what overflows is infinite
def mistake_bounds(
    X: Any, y: ArrayLike, weights: ArrayLike, bias: float = 0.0, *, gamma: float | None = None
) -> MistakeBounds:
    """Bound the mistakes by what a hyperplane achieves on the rows.

    The first four are infinite unless the hyperplane separates (those through the origin, unless
    its bias is 0). The last two hold for one pass with the default bias, for any hyperplane and
    any target margin γ; by default the γ that makes each least is used.

    Parameters
    ----------
    X, y : array-like
        Rows and labels of two classes; the larger label is +1.
    weights, bias
        The hyperplane, of any length.
    gamma : float, optional
        The margin γ that the last two forms aim at.

    Examples
    --------
    >>> round(mistake_bounds([[3.0, 0.0], [0.0, -2.0]], [1, 0], [1.0, 1.0]).novikoff, 9)
    4.5
    """
    X, signs = checked(X, y)
    w = plane(X, weights)
    length = float(np.linalg.norm(w))
    if not length:
        raise ValueError("weights are all zero, which is no hyperplane.")
    w, b = w / length, bias / length
    R, reached = radius(X), margin(X, signs, w, b)
    origin = reached if b == 0 else -np.inf
    u = np.sqrt(1 + b * b)
    functional = signs * (X @ w + b) / u
    if gamma is not None and not 0 < gamma < np.inf:
        raise ValueError(f"gamma must be a finite number above 0; got {gamma!r}.")
    targets = positive_quantiles(functional) if gamma is None else np.array([gamma])
    lifted = float(np.hypot(R, 1))
    return MistakeBounds(
        novikoff=square(R, origin),
        radius_step=square(np.sqrt(2) * np.hypot(R, max(R, abs(b))), reached),
        unit_step=square(np.hypot(R, 1) * u, reached),
        unit_rows=square(1.0, origin) if R <= 1 + 1e-12 else np.inf,
        squared_hinge=min(squared_hinge_bound(functional, lifted, float(t)) for t in targets),
        hinge=min(hinge_bound(functional, lifted, float(t)) for t in targets),
    )


def square(size: float, margin: float) -> float:
    """(size/margin)², infinite when nothing is separated."""
    return float((size / margin) ** 2) if margin > 0 else float("inf")


def squared_hinge_bound(functional: Array, R: float, gamma: float) -> float:
    """((R + D)/γ)² with D² = Σ max(0, γ - margin)²."""
    D = float(np.linalg.norm(np.maximum(0.0, gamma - functional)))
    return ((R + D) / gamma) ** 2


def hinge_bound(functional: Array, R: float, gamma: float) -> float:
    """L + a²/2 + a√(L + a²/4) with L = Σ max(0, 1 - margin/γ)."""
    L, a = float(np.maximum(0.0, 1 - functional / gamma).sum()), R / gamma
    return L + a * a / 2 + a * float(np.sqrt(L + a * a / 4))


def positive_quantiles(functional: Array) -> Array:
    """Target margins to try: some of the rows' own."""
    positive = functional[functional > 0]
    if not len(positive):
        return np.array([max(float(np.abs(functional).max(initial=0.0)), 1.0)])
    return np.quantile(positive, np.linspace(0, 1, 33))


class Report(NamedTuple):
    """What a run of a Perceptron has proved; ``print`` it.

    Attributes
    ----------
    mistakes : int
        M, the updates made.
    bound : float
        The most that could have been made: (R/γ)² of the rows with the bias as a coordinate.
    radius : float
        R, of the rows with the bias as a coordinate, like γ and the chain.
    attained, upper : float
        A bracket on γ, the largest margin there is.
    angle : float
        Between the weights and those of the margin attained, in degrees.
    chain : tuple of float
        γM ≤ ‖w‖/η ≤ R√M.
    """

    mistakes: int
    bound: float
    radius: float
    attained: float
    upper: float
    angle: float
    chain: tuple[float, float, float]

    def __str__(self) -> str:
        low, length, high = self.chain
        lines = [f"{self.mistakes} mistakes; R = {self.radius:.6g}"]
        if self.attained > 0:
            lines += [
                f"margin γ between {self.attained:.6g} and {self.upper:.6g}",
                f"at most (R/γ)² = {self.bound:.6g} mistakes were possible",
                f"{self.angle:.2f}° from the best separator found",
                f"γM = {low:.6g} ≤ ‖w‖ = {length:.6g} ≤ R√M = {high:.6g}",
            ]
        else:
            lines += [
                f"no hyperplane was found to separate; no margin can exceed {self.upper:.6g}",
                f"‖w‖ = {length:.6g} ≤ R√M = {high:.6g}",
            ]
        return "\n".join(lines)


@np.errstate(all="ignore")  # what overflows is infinite
def report(model: Perceptron, X: Any, y: ArrayLike, *, tolerance: float = 1e-3) -> Report:
    """Tell what a fitted Perceptron's run has proved about the rows that it learnt from.

    The bias counts as a coordinate of the rows, of the size that ``intercept_step`` says.

    Parameters
    ----------
    model : Perceptron
        Fitted on X and y with two classes, from zero, without margin, weights or early stopping.
    X, y : array-like
        What it was fitted on.
    tolerance : float, default=1e-3
        Of the bracket on the margin.

    Examples
    --------
    >>> model = Perceptron(order="fixed").fit([[2.0, 1.0], [-1.0, 1.0]], [1, -1])
    >>> print(report(model, [[2.0, 1.0], [-1.0, 1.0]], [1, -1]))
    2 mistakes; R = 2.44949
    margin γ between 1.41421 and 1.41421
    at most (R/γ)² = 3 mistakes were possible
    19.47° from the best separator found
    γM = 2.82843 ≤ ‖w‖ = 3 ≤ R√M = 3.4641
    """
    X, signs = checked(X, y)
    weights, bias, step = model.last_weights()
    lifted = with_coordinate(X, np.sqrt(step))
    w = np.append(weights, bias / np.sqrt(step)) if step else weights
    w = np.asarray(w, np.float64) / model.eta0
    best = largest_margin(lifted, signs, tolerance, fit_intercept=False)
    R, M, length = radius(lifted), model.n_mistakes_, float(np.linalg.norm(w))
    upper = min(best.upper, length / M) if M else best.upper
    cosine = float(w @ best.weights) / length if length else 0.0
    return Report(
        mistakes=M,
        bound=square(R, best.attained),
        radius=R,
        attained=best.attained,
        upper=upper,
        angle=float(np.degrees(np.arccos(np.clip(cosine, -1, 1)))),
        chain=(max(best.attained, 0.0) * M, length, R * float(np.sqrt(M))),
    )


# Separability


@dataclass(frozen=True)
class Separable:
    """A hyperplane with every row strictly on its side.

    Attributes
    ----------
    weights : tuple of float or Fraction
        Fractions only where floats are too coarse to separate.
    bias : float or Fraction
    margin : float
        The geometric margin of this hyperplane, not the largest there is.
    fit_intercept : bool
        Whether the question allowed a bias.
    """

    weights: tuple[float | Fraction, ...]
    bias: float | Fraction
    margin: float
    fit_intercept: bool = True

    def verify(self, X: Any, y: ArrayLike) -> bool:
        """Whether y(w·x + b) > 0 holds for every row in exact arithmetic.

        Rows that floating point can decide with a rigorous error bound are decided so; the others
        are computed with fractions.
        """
        X, signs = checked(X, y)
        if X.shape[1] != len(self.weights) or (self.bias and not self.fit_intercept):
            return False
        sure = np.zeros(X.shape[0], bool)
        if all(isinstance(value, float) for value in (*self.weights, self.bias)):
            w = np.array(self.weights, np.float64)
            surely_positive(Examples(rows_of(X), signs, None), w, self.bias, sure)
            with np.errstate(all="ignore"):
                worst_first = np.argsort(signs * (X @ w + self.bias), kind="stable")
            doubtful = worst_first[~sure[worst_first]]
        else:
            doubtful = np.flatnonzero(~sure)
        return all(value > 0 for value in self.exact_margins(X, signs, doubtful))

    def exact_margins(self, X: Any, signs: Array, rows: Array) -> Iterator[Fraction]:
        """The functional margins of some rows."""
        weights = [Fraction(value) for value in self.weights]
        for i in rows.tolist():
            terms = (weights[j] * value for j, value in entries(X, i))
            yield int(signs[i]) * sum(terms, Fraction(self.bias))


@dataclass(frozen=True)
class Inseparable:
    """Rows whose weighted sum shows that the classes' convex hulls meet.

    Attributes
    ----------
    support : tuple of int
        Row numbers, at most two more than there are features.
    weights : tuple of Fraction
        λ > 0 with Σλ = 1 and Σ λ y [x, 1] = 0 (without the 1 when there is no bias), exactly.
    fit_intercept : bool
        Whether the question allowed a bias.
    """

    support: tuple[int, ...]
    weights: tuple[Fraction, ...]
    fit_intercept: bool = True

    def verify(self, X: Any, y: ArrayLike) -> bool:
        """Whether the weighted sum is zero in exact arithmetic."""
        X, signs = checked(X, y)
        n, d = X.shape
        if not 0 < len(set(self.support)) == len(self.support) == len(self.weights) <= d + 2:
            return False
        if min(self.support) < 0 or max(self.support) >= n:
            return False
        weights = [Fraction(weight) for weight in self.weights]
        if min(weights) < 0 or sum(weights) != 1:
            return False
        total, balance = dict.fromkeys(range(d), Fraction(0)), Fraction(0)
        for i, weight in zip(self.support, weights, strict=True):
            balance += weight * int(signs[i])
            for j, value in entries(X, i):
                total[j] += weight * int(signs[i]) * value
        return not any(total.values()) and (balance == 0 or not self.fit_intercept)


@dataclass(frozen=True)
class Undecided:
    """Neither could be proved: the exact step was out of reach.

    Attributes
    ----------
    attained, upper : float
        The largest margin attained (-∞ if no hyperplane was found to separate) and an upper bound
        on it, up to rounding; an upper bound near 0 hints at inseparable data.
    """

    attained: float
    upper: float

    def verify(self, X: Any, y: ArrayLike) -> bool:
        """Nothing was proved."""
        return False


def save_certificate(verdict: Separable | Inseparable, path: str | Path) -> None:
    """Write a certificate to a small JSON file that anyone can check.

    Parameters
    ----------
    verdict : Separable or Inseparable
        What ``separability`` returned.
    path : str or Path
        Where to; the file appears only when it is complete.
    """
    if not isinstance(verdict, Separable | Inseparable):
        raise ValueError("Only Separable and Inseparable are certificates; this proves nothing.")
    kind = type(verdict).__name__.lower()
    content = {"format": FORMAT, "version": 1, "verdict": kind, **vars(verdict)}
    if isinstance(verdict, Separable) and not np.isfinite(verdict.margin):
        content["margin"] = None  # JSON has no word for infinity
    text = json.dumps(content, default=as_text, indent=1) + "\n"
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


FORMAT = "rosenblatt certificate"


def load_certificate(path: str | Path) -> Separable | Inseparable:
    """Read a certificate; whether it holds is for ``verify`` to say.

    Parameters
    ----------
    path : str or Path
        A file that ``save_certificate`` wrote.
    """
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except (UnicodeDecodeError, ValueError, RecursionError):
        raise ValueError(f"{path} is not a certificate: it is not JSON.") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ValueError(f"{path} is not a certificate of rosenblatt.")
    if content.get("version") != 1 or content["version"] is True:
        raise ValueError(f"{path} is of another version than 1; a newer rosenblatt may read it.")
    try:
        intercept = content["fit_intercept"]
        if not isinstance(intercept, bool):
            raise TypeError("fit_intercept")
        if content["verdict"] == "separable":
            weights = tuple(map(number, content["weights"]))
            reached = np.inf if content["margin"] is None else float(content["margin"])
            return Separable(weights, number(content["bias"]), reached, intercept)
        if content["verdict"] == "inseparable":
            support = tuple(map(operator.index, content["support"]))
            return Inseparable(support, tuple(map(from_text, content["weights"])), intercept)
        raise ValueError("unknown verdict")
    except (KeyError, TypeError, ValueError, ZeroDivisionError, OverflowError):
        raise ValueError(f"{path} is damaged: a field is missing or no number.") from None


def number(value: Any) -> float | Fraction:
    """A number from JSON: a float as it is, a fraction from its text."""
    if isinstance(value, str):
        return from_text(value)
    if not np.isfinite(float(value)):
        raise ValueError("not finite")
    return float(value)


def as_text(value: Fraction) -> str:
    """A fraction as text; in hexadecimal when it is long, for which Python has no limit."""
    parts = value.numerator, value.denominator
    return "/".join(hex(part) if part.bit_length() > 10_000 else str(part) for part in parts)


def from_text(text: str) -> Fraction:
    """A fraction from text of whole numbers only: an exponent could ask for endless digits."""
    if not re.fullmatch(r"-?(\d+|0x[0-9a-f]+)(/(\d+|0x[0-9a-f]+))?", text):
        raise ValueError("no fraction")
    numerator, _, denominator = text.partition("/")
    return Fraction(int(numerator, 0), int(denominator or "1", 0))


def separability(
    X: Any, y: ArrayLike, *, fit_intercept: bool = True
) -> Separable | Inseparable | Undecided:
    """Decide whether a hyperplane separates two classes, with a proof that was checked exactly.

    A few sweeps of the perceptron settle easy data. Else the point of the convex hull of the rows
    y[x, 1] nearest to the origin is sought (Wolfe 1976): when it is not the origin it separates,
    and when it is, the rows that span it are a certificate (Gordan's theorem of the alternative),
    solved again in rational arithmetic.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The rows.
    y : array-like of shape (n_samples,)
        Labels of at most two classes; the larger is +1.
    fit_intercept : bool, default=True
        False asks about hyperplanes through the origin.

    Examples
    --------
    >>> verdict = separability([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0])
    >>> verdict.support, [str(weight) for weight in verdict.weights]
    ((0, 1, 2, 3), ['1/4', '1/4', '1/4', '1/4'])
    """
    X, signs = checked(X, y)
    if not len(signs):
        raise ValueError("X has no rows; separability needs at least one.")
    with np.errstate(all="ignore"):  # what overflows fails the exact check
        for verdict in verdicts(X, signs, fit_intercept):
            if verdict.verify(X, signs):
                return with_exact_margin(X, signs, verdict)
        return undecided(X, signs, fit_intercept)


def with_exact_margin(
    X: Any, signs: Array, verdict: Separable | Inseparable
) -> Separable | Inseparable:
    """The verdict, with its margin from fractions where floats lost it."""
    if isinstance(verdict, Inseparable) or 0 < verdict.margin < np.inf or not any(verdict.weights):
        return verdict
    least = min(verdict.exact_margins(X, signs, np.arange(len(signs))))
    length = sum(Fraction(value) ** 2 for value in verdict.weights)
    squared = least**2 / length if length else Fraction(0)
    half = (squared.numerator.bit_length() - squared.denominator.bit_length()) // 2
    root = math.sqrt(squared / Fraction(4) ** half)
    return replace(verdict, margin=math.ldexp(root, half))


def verdicts(X: Any, signs: Array, fit_intercept: bool) -> Iterator[Separable | Inseparable]:
    """Answers that deserve an exact check, the cheap ones first."""
    if fit_intercept and np.all(signs == signs[0]):
        yield Separable((0.0,) * X.shape[1], float(signs[0]), np.inf)
    yield from by_perceptron(X, signs, fit_intercept)
    yield from by_twins(X, signs, fit_intercept)
    hull = Hull(X, signs, augmented=fit_intercept, normalise=True)
    for _ in range(STRETCHES):
        nearest = nearest_to_origin(hull)
        if min(nearest.lowest) > 0:
            yield separator(X, signs, *hull.hyperplane(nearest.normal), fit_intercept)
        yield from by_elimination(X, signs, hull.shares(nearest)[0].tolist(), fit_intercept)
        hull.stretch(nearest.normal)
    yield from by_size(X, signs, fit_intercept)
    yield from by_exact_simplex(X, signs, hull, nearest, fit_intercept)


SWEEPS = 32  # epochs of the perceptron before the method that is sure to end
WIDEST_MAP = 2000  # columns of a hull that can be stretched: its map is a dense matrix
STRETCHES = 4  # each makes margins visible that are 1e8 times smaller


def by_perceptron(X: Any, signs: Array, fit_intercept: bool) -> Iterator[Separable]:
    """Try a few active sweeps: on easy data that is all."""
    examples = Examples(rows_of(X), signs, None)
    everything = np.arange(len(signs), dtype=np.uint32)
    settings = Settings(0.0, 0.0, 1.0 if fit_intercept else 0.0)
    task = LinearTask(examples, everything, PERCEPTRON, settings, X.shape[1])
    state = Last(np.zeros(X.shape[1]), np.zeros(1))
    run = Run(lambda: [task], state, History(max_iter=SWEEPS), order="active")
    try:
        with np.errstate(all="ignore"):
            run.train()
    except ValueError:
        return  # too large for the perceptron; the next method scales the columns
    if run.history.stop_reason == "separated":
        yield separator(X, signs, state.weights, float(state.bias[0]), fit_intercept)


def by_twins(X: Any, signs: Array, fit_intercept: bool) -> Iterator[Inseparable]:
    """Look for equal rows with opposite labels."""
    prints = np.empty(len(signs), np.uint64)
    fingerprints(rows_of(X), prints)
    order = np.argsort(prints, kind="stable")
    prints, labels = prints[order], signs[order]
    twins = np.flatnonzero((prints[1:] == prints[:-1]) & (labels[1:] != labels[:-1]))
    for k in twins[:3]:  # a fingerprint may be shared by chance, but not three times
        pair = sorted((int(order[k]), int(order[k + 1])))
        yield Inseparable(tuple(pair), (Fraction(1, 2), Fraction(1, 2)), fit_intercept)


def by_elimination(
    X: Any, signs: Array, support: list[int], fit_intercept: bool
) -> Iterator[Inseparable]:
    """Solve Σ λ y [x, 1] = 0, Σ λ = 1 on a support in integers."""
    if len(support) <= MOST_EXACT:
        lines = equations(X, signs, support, fit_intercept)
        weights = solve_exactly([whole(line) for line in lines])
        if weights is not None:
            yield certificate(support, weights, fit_intercept)


MOST_EXACT = 200  # unknowns of an exact linear system
MOST_FRACTIONS = 300_000  # steps of the exact simplex method: seconds


def by_exact_simplex(
    X: Any, signs: Array, hull: "Hull", nearest: "Nearest", fit_intercept: bool
) -> Iterator[Separable | Inseparable]:
    """Decide by the simplex method in rational arithmetic, on the rows nearest to the boundary.

    A separator of those rows that fails elsewhere brings in the rows on which it fails.
    """
    most = max(MOST_FRACTIONS // (50 * (X.shape[1] + 2)), 2)
    least = np.argsort(hull.margins(nearest.normal), kind="stable")
    few = most if len(signs) <= most else min(most // 2, 4 * (X.shape[1] + 2))
    chosen = [int(row) for row in least[:few]]
    while len(chosen) <= most:
        weights, plane = exact_alternative(equations(X, signs, chosen, fit_intercept))
        if weights is not None:
            yield certificate(chosen, weights, fit_intercept)
        if plane is None:
            return
        w = np.array([float(value) for value in plane[: X.shape[1]]])
        b = float(plane[X.shape[1]]) if fit_intercept else 0.0
        yield separator(X, signs, w, b, fit_intercept)
        if len(chosen) == len(signs):
            exact_bias = plane[X.shape[1]] if fit_intercept else Fraction(0)
            yield Separable(tuple(plane[: X.shape[1]]), exact_bias, 0.0, fit_intercept)
            return
        functional = signs * (X @ w + b)
        wrong = np.argsort(functional, kind="stable")[: X.shape[1] + 2]
        fresh = [int(row) for row in wrong if functional[row] <= 0 and int(row) not in chosen]
        if not fresh:
            return
        chosen += fresh


def by_size(X: Any, signs: Array, fit_intercept: bool) -> Iterator[Separable | Inseparable]:
    """Rows of very different sizes: try without a bias, and each size for itself."""
    sizes = np.frexp(largest_by_column(X.T.tocsr() if hasattr(X, "indptr") else X.T))[1]
    order = np.argsort(sizes, kind="stable")
    gaps = np.flatnonzero(np.diff(sizes[order]) > 27) + 1  # more than half the digits of a float
    if not fit_intercept or not len(gaps):
        return
    for verdict in verdicts(X, signs, fit_intercept=False):
        if isinstance(verdict, Separable):
            yield replace(verdict, fit_intercept=True)
    for rows in map(np.sort, np.split(order, gaps)):
        for verdict in verdicts(X[rows], signs[rows], fit_intercept):
            if isinstance(verdict, Inseparable):
                support = tuple(rows[list(verdict.support)].tolist())
                yield replace(verdict, support=support)


def separator(X: Any, signs: Array, weights: Array, bias: float, fit_intercept: bool) -> Separable:
    """A hyperplane with its margin, not checked yet."""
    with np.errstate(all="ignore"):
        reached = margin(X, signs, weights, bias)
    return Separable(tuple(map(float, weights)), float(bias), reached, fit_intercept)


def certificate(rows: list[int], weights: list[Fraction], fit_intercept: bool) -> Inseparable:
    """The rows with a weight, not checked yet."""
    kept = [(row, weight) for row, weight in zip(rows, weights, strict=True) if weight]
    kept.sort()
    support, values = zip(*kept, strict=True)
    return Inseparable(support, values, fit_intercept)


def undecided(X: Any, signs: Array, fit_intercept: bool) -> Undecided:
    """The upper bound on the margin that floating point reaches."""
    hull = Hull(X, signs, by_class=fit_intercept)
    support, shares = hull.shares(nearest_to_origin(hull, 1e-6))
    return Undecided(-np.inf, widest_gap(X, signs, support, shares, fit_intercept))


# The nearest point of a convex hull to the origin


class Hull:
    """The convex hull of the rows y·x or y·[x, 1], or the sum of one such hull per class.

    Only the rows that were extreme so far are looked at until they are exhausted; then one pass
    over all brings in the next. With ``normalise`` every column is scaled by a power of two, which
    is exact, and every row to length one: that changes distances, but moves no row across a
    hyperplane through the origin.
    """

    def __init__(
        self,
        X: Any,
        signs: Array,
        *,
        augmented: bool = False,
        by_class: bool = False,
        normalise: bool = False,
    ) -> None:
        self.X, self.signs, self.augmented = X, signs, augmented
        everyone = np.arange(len(signs))
        self.groups = [everyone[signs == sign] for sign in (1, -1)] if by_class else [everyone]
        self.width = X.shape[1] + augmented
        self.columns = power_of_two(largest_by_column(X))
        self.row_scale = np.ones(len(signs))
        if normalise:
            squares = squared_rows(X, self.columns) + augmented
            self.row_scale = 1 / np.sqrt(np.where(squares > 0, squares, 1.0))
            for i in np.flatnonzero(squares < 1e-200).tolist():  # where squares may have vanished
                part = np.abs([float(v) * self.columns[j] for j, v in entries(X, i)])
                size = part.max(initial=0.0)
                if size:
                    self.row_scale[i] = 1 / size / np.linalg.norm(part / size)
        else:
            self.columns[:] = self.columns.min(initial=1.0)
        self.map = np.eye(self.width) if normalise and self.width <= WIDEST_MAP else None
        self.rows = [np.empty(0, np.intp) for _ in self.groups]
        self.vectors = [np.empty((0, self.width)) for _ in self.groups]
        self.at_once = int(np.clip(4_000_000 // (self.width + 1), 4, 200))

    def hyperplane(self, point: Array) -> tuple[Array, float]:
        """Weights and bias in the units of X."""
        point = point if self.map is None else self.map @ point
        weights = point[: self.X.shape[1]] * self.columns
        return weights, float(point[-1]) if self.augmented else 0.0

    def stretch(self, normal: Array) -> None:
        """Widen the hull along a normal, in which it is too flat for rounding to see its shape.

        An invertible linear map takes separating hyperplanes to separating hyperplanes.
        """
        length = float(np.linalg.norm(normal))
        if self.map is not None and 0 < length < np.inf:
            along = normal / length
            widen = np.eye(self.width) + (max(length, 1.0) - 1) * np.outer(along, along)
            self.map = self.map @ widen
            self.vectors = [vectors @ widen for vectors in self.vectors]

    def margins(self, point: Array) -> Array:
        """The product of every row's vector with a point."""
        weights, bias = self.hyperplane(point)
        return np.asarray(self.signs * (self.X @ weights + bias) * self.row_scale)

    def look(self, point: Array) -> list[float]:
        """Bring in the lowest rows of all; return how low each group goes."""
        products = self.margins(point)
        lowest = []
        for number, group in enumerate(self.groups):
            values = products[group]
            count = min(self.at_once, len(values))
            fresh = group[np.argpartition(values, count - 1)[:count]]
            fresh = np.setdiff1d(fresh, self.rows[number])
            self.rows[number] = np.concatenate([self.rows[number], fresh])
            self.vectors[number] = np.vstack([self.vectors[number], self.vectors_of(fresh)])
            lowest.append(float(values.min()))
        return lowest

    def vectors_of(self, rows: Array) -> Array:
        """Rows as scaled vectors."""
        part = self.X[rows]
        part = part.toarray() if hasattr(part, "toarray") else part
        part = part * self.columns
        if self.augmented:
            part = np.hstack([part, np.ones((len(rows), 1))])
        part = part * (self.signs[rows] * self.row_scale[rows])[:, None]
        return np.asarray(part if self.map is None else part @ self.map)

    def shares(self, nearest: "Nearest") -> tuple[Array, Array]:
        """The rows that make the nearest point, and their shares."""
        total: dict[int, float] = {}
        for rows, weight in zip(nearest.corral, nearest.weights.tolist(), strict=True):
            for row in rows:
                total[row] = total.get(row, 0.0) + weight
        support = np.array(sorted(total), np.intp)
        return support, np.array([total[row] for row in support])

    def lowest(self, point: Array) -> tuple[tuple[int, ...], Array]:
        """The vertex that goes lowest along a point, among the rows brought in."""
        chosen = [int(np.argmin(vectors @ point)) for vectors in self.vectors]
        rows = tuple(int(self.rows[g][k]) for g, k in enumerate(chosen))
        return rows, np.sum([self.vectors[g][k] for g, k in enumerate(chosen)], axis=0)


class Nearest(NamedTuple):
    """The point of a hull nearest to the origin: p, kept as its normal p/‖p‖².

    ``corral`` has the vertices that make it (a row of each group) and ``weights`` their shares;
    ``lowest`` says how low each group's rows go along the normal, where the corral is at 1.
    """

    normal: Array
    corral: list[tuple[int, ...]]
    weights: Array
    lowest: list[float]


ZERO = 1e-15  # a distance from the origin, in units of the rows, that rounding cannot tell from 0


def nearest_to_origin(hull: Hull, tolerance: float | None = None) -> Nearest:
    """Find the nearest point of a hull to the origin (Wolfe 1976, Mathematical Programming 11).

    Without a tolerance it ends as soon as the normal separates all rows from the origin; with one,
    when no vertex is below 1 - tolerance along it.
    """
    normal = np.zeros(hull.width)
    hull.look(normal)
    rows, vertex = hull.lowest(normal)
    corral, vertices, weights = [rows], vertex[None], np.ones(1)
    size = max(float(np.abs(vectors).max(initial=0.0)) for vectors in hull.vectors)
    while True:
        found = normal_of(vertices)
        if found is None or np.linalg.norm(found) * ZERO * size >= 1:
            break
        if np.linalg.norm(found) <= np.linalg.norm(normal):
            break  # rounding hides any progress
        normal = found
        rows, vertex = hull.lowest(normal)
        if vertex @ normal >= 1 - (tolerance or 1e-3):
            lowest = hull.look(normal)
            if tolerance is None and min(lowest) > 0:
                break
            rows, vertex = hull.lowest(normal)
            if vertex @ normal >= 1 - (tolerance or 0):
                break
        if rows in corral:
            break  # rounding hides any progress
        corral, vertices, weights = reduced(
            [*corral, rows], np.vstack([vertices, vertex]), np.append(weights, 0.0)
        )
    return Nearest(normal, corral, weights, hull.look(normal))


def normal_of(vertices: Array) -> Array | None:
    """The least v with v·z = 1 for every vertex z; None if there is none.

    Solved for itself, not summed from the vertices: near the origin the sum would cancel.
    """
    if len(vertices) > vertices.shape[1]:
        return None
    Q, R = qr(vertices.T, mode="economic", check_finite=False)
    diagonal = np.abs(np.diag(R))
    if diagonal.min(initial=np.inf) <= ZERO * diagonal.max(initial=0.0):
        return None
    return np.asarray(Q @ solve_triangular(R, np.ones(len(R)), trans="T", check_finite=False))


def reduced(
    corral: list[tuple[int, ...]], vertices: Array, weights: Array
) -> tuple[list[tuple[int, ...]], Array, Array]:
    """Go to the point of the corral's affine hull nearest to the origin, dropping vertices."""
    while True:
        target = affine_minimum(vertices)
        if target is None:  # the newest vertex depends on the others: leave it out
            return corral[:-1], vertices[:-1], weights[:-1] / weights[:-1].sum()
        if np.all(target > 1e-14):
            return corral, vertices, target
        down = target <= 1e-14
        step = np.min(weights[down] / np.maximum(weights[down] - target[down], 1e-300))
        weights = np.maximum((1 - step) * weights + step * target, 0.0)
        keep = weights > 1e-14
        keep[np.argmax(weights)] = True
        if keep.all():
            keep[np.flatnonzero(down)[np.argmin(weights[down])]] = False
        corral = [rows for rows, kept in zip(corral, keep, strict=True) if kept]
        vertices, weights = vertices[keep], weights[keep] / weights[keep].sum()


def affine_minimum(vertices: Array) -> Array | None:
    """Weights of the point of an affine hull nearest to the origin, None if they are not unique."""
    lifted = np.hstack([vertices, np.ones((len(vertices), 1))]).T
    if len(vertices) > len(lifted):
        return None
    R = qr(lifted, mode="economic", check_finite=False)[1]
    diagonal = np.abs(np.diag(R))
    if diagonal.min() <= 1e-14 * diagonal.max():
        return None
    half = solve_triangular(R, np.ones(len(vertices)), trans="T", check_finite=False)
    weights = solve_triangular(R, half, check_finite=False)
    if not np.isfinite(weights).all():
        return None
    return np.asarray(weights / weights.sum())


# Exact arithmetic: a float is a rational number


def equations(X: Any, signs: Array, rows: list[int], fit_intercept: bool) -> list[list[Fraction]]:
    """The system Σ λ y [x, 1] = 0: one line per column."""
    columns: dict[int, list[Fraction]] = {}
    for k, i in enumerate(rows):
        for j, value in entries(X, i):
            columns.setdefault(j, [Fraction(0)] * len(rows))[k] = int(signs[i]) * value
    lines = [columns.get(j, [Fraction(0)] * len(rows)) for j in range(X.shape[1])]
    if fit_intercept:
        lines.append([Fraction(int(signs[i])) for i in rows])
    return lines


def whole(line: list[Fraction]) -> list[int]:
    """A line times the least number that makes it whole."""
    common = math.lcm(*(value.denominator for value in line))
    return [int(value * common) for value in line]


def solve_exactly(lines: list[list[int]]) -> list[Fraction] | None:
    """The only λ with lines·λ = 0 and Σλ = 1, or None; by fraction-free elimination."""
    unknowns = len(lines[0]) if lines else 1
    table = [[*line, 0] for line in lines if any(line)] + [[1] * unknowns + [1]]
    previous, used = 1, 0
    for column in range(unknowns):
        pivots = [r for r in range(used, len(table)) if table[r][column]]
        if not pivots:
            return None
        chosen = min(pivots, key=lambda r: abs(table[r][column]))
        table[used], table[chosen] = table[chosen], table[used]
        head = table[used]
        for r, row in enumerate(table):
            if r != used:
                factor = row[column]
                table[r] = [
                    (head[column] * a - factor * b) // previous
                    for a, b in zip(row, head, strict=True)
                ]
        previous, used = head[column], used + 1
    if any(row[-1] for row in table[used:]):
        return None
    return [Fraction(table[k][-1], table[k][k]) for k in range(unknowns)]


def exact_alternative(
    lines: list[list[Fraction]],
) -> tuple[list[Fraction] | None, list[Fraction] | None]:
    """Either λ ≥ 0 with lines·λ = 0 and Σλ = 1, or a v with vᵀlines > 0 (Gordan 1873).

    Phase one of the simplex method with Bland's rule, in fractions. Neither when it takes too long.
    """
    height, unknowns = len(lines) + 1, len(lines[0]) if lines else 1
    table = [
        [*line, *(Fraction(int(r == c)) for c in range(height)), Fraction(0)]
        for r, line in enumerate([*lines, [Fraction(1)] * unknowns])
    ]
    table[-1][-1] = Fraction(1)
    basis = [unknowns + r for r in range(height)]
    cost = [-sum(column) for column in zip(*table, strict=True)]
    for c in range(unknowns, unknowns + height):
        cost[c] = Fraction(0)
    for _ in range(MOST_FRACTIONS // (height * len(cost))):
        entering = next((c for c in range(unknowns) if cost[c] < 0), None)
        if entering is None:
            break
        leaving = min(
            (r for r in range(height) if table[r][entering] > 0),
            key=lambda r: (table[r][-1] / table[r][entering], basis[r]),
        )
        head = [value / table[leaving][entering] for value in table[leaving]]
        table = [
            head if r == leaving else subtract(row, row[entering], head)
            for r, row in enumerate(table)
        ]
        cost = subtract(cost, cost[entering], head)
        basis[leaving] = entering
    else:
        return None, None
    if cost[-1] == 0:
        weights = [Fraction(0)] * unknowns
        for r, variable in enumerate(basis):
            if variable < unknowns:
                weights[variable] = table[r][-1]
        return weights, None
    plane = [cost[unknowns + r] - 1 for r in range(height - 1)]
    largest = max(map(abs, plane))
    return None, [value / largest for value in plane]


def subtract(row: list[Fraction], factor: Fraction, head: list[Fraction]) -> list[Fraction]:
    """Row minus factor times head."""
    if not factor:
        return row
    return [a - factor * b if b else a for a, b in zip(row, head, strict=True)]


# What comes in


def plane(X: Any, weights: ArrayLike) -> Array:
    """Weights as a vector, one for each column of X."""
    w = np.ravel(np.asarray(weights, np.float64))
    if len(w) != X.shape[1] or not np.isfinite(w).all():
        raise ValueError(
            f"weights must be {X.shape[1]} finite numbers, one per column of X; got {len(w)}."
        )
    return w


def checked_rows(X: Any) -> Any:
    """X as a float64 array or CSR matrix, possibly without columns, and not rounded."""
    given = X if sparse.issparse(X) else np.asarray(X)
    X = check_array(given, accept_sparse="csr", dtype=np.float64, order="C", ensure_min_features=0)
    refuse_rounding(given)
    if hasattr(X, "sum_duplicates"):
        check_structure(X)
        X = X if X.has_canonical_format else X.copy()
        X.sum_duplicates()
    return X


def refuse_rounding(given: Any) -> None:
    """Raise when float64 could not take over every number: proofs are about exact ones."""
    numbers = given.tocsr().data if sparse.issparse(given) else np.ravel(given)
    if numbers.dtype.kind in "iu":
        numbers = numbers[(numbers > 2**53) | (numbers < -(2**53))]
    elif numbers.dtype.kind != "O" and numbers.dtype.itemsize <= 8:
        return
    if any(float(value) != value for value in numbers.tolist()):  # Python compares exactly
        raise ValueError("X has numbers that float64 cannot hold exactly; scale or shift them.")


def checked(X: Any, y: ArrayLike) -> tuple[Any, Array]:
    """Rows, and labels as +1 and -1; the larger of two labels is +1, and so is a lone one."""
    X, labels = checked_rows(X), np.asarray(column_or_1d(y))
    check_consistent_length(X, labels)
    if labels.dtype == np.float64 and np.all(np.abs(labels) == 1):
        return X, labels  # signs already, as between the functions here
    if any(label is None or label != label for label in set(labels.tolist())):
        raise ValueError("Input y contains NaN or None; labels must be known.")
    classes, codes = encode(labels)
    if len(classes) > 2:
        raise ValueError(
            f"y has {len(classes)} classes, and this is about two; give y == label for one of them."
        )
    if len(classes) == 1 and classes[0] in (-1, 0):
        return X, -np.ones(len(codes))
    return X, np.where(codes == len(classes) - 1, 1.0, -1.0)


def entries(X: Any, i: int) -> Iterator[tuple[int, Fraction]]:
    """The columns of a row that are not zero, as exact numbers."""
    columns, values = range(X.shape[1]), X[i].tolist() if not hasattr(X, "indptr") else []
    if hasattr(X, "indptr"):
        part = slice(X.indptr[i], X.indptr[i + 1])
        columns, values = X.indices[part].tolist(), X.data[part].tolist()
    return ((j, Fraction(value)) for j, value in zip(columns, values, strict=True) if value)


def largest_by_column(X: Any) -> Array:
    """The largest magnitude in each column."""
    if hasattr(X, "indptr"):
        return np.asarray(abs(X).max(axis=0).toarray(), np.float64).ravel()
    return np.asarray(np.maximum(X.max(axis=0, initial=0.0), -X.min(axis=0, initial=0.0)))


def squared_rows(X: Any, columns: Array) -> Array:
    """The squared length of every row with its columns scaled."""
    if hasattr(X, "indptr"):
        part = X.copy()
        part.data = (part.data * columns[part.indices]) ** 2
        return np.asarray(part.sum(axis=1), np.float64).ravel()
    return np.asarray(np.einsum("ij,ij->i", X * columns, X * columns))


def power_of_two(sizes: Array) -> Array:
    """Factors that bring sizes near 1 and change no digit."""
    _, exponents = np.frexp(sizes)
    return np.ldexp(1.0, np.where(sizes > 0, np.minimum(-exponents, 1023), 0))


def scaled(X: Any) -> tuple[Any, float]:
    """X divided by a power of two if squares could overflow or vanish, and that power."""
    largest = float(largest_by_column(X).max(initial=0.0))
    if largest == 0 or 1e-100 < largest < 1e100:
        return X, 1.0
    factor = float(power_of_two(np.array([largest]))[0])
    return X * factor, 1 / factor


def with_coordinate(X: Any, value: float) -> Any:
    """X with a constant column, if it is not zero."""
    if not value:
        return X
    column = np.full((X.shape[0], 1), value)
    return (
        sparse.hstack([X, column], format="csr") if hasattr(X, "indptr") else np.hstack([X, column])
    )
