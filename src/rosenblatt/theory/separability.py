"""Whether a hyperplane separates two classes, decided with a proof."""

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..kernels.exactness import fingerprints
from ..kernels.linear import Examples, Settings
from ..rows import Array, rows_of
from ..training.history import History
from ..training.rules import PERCEPTRON
from ..training.run import Run
from ..training.solutions import Last
from ..training.tasks import LinearTask
from .certificates import Inseparable, Separable, Undecided
from .exact import Effort, OutOfReachError, alternative, null_combination, whole_rows
from .hull import Hull, Nearest, nearest_to_origin, widest_gap
from .problem import Problem, exponents, problem_of

SWEEPS = 32  # epochs of the perceptron before the method that is sure to end
STRETCHES = 4  # each makes margins visible that are 1e8 times smaller


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
    return decide(problem_of(X, y, fit_intercept))


@np.errstate(all="ignore")  # what overflows fails the exact check
def decide(problem: Problem, effort: Effort | None = None) -> Separable | Inseparable | Undecided:
    """The first candidate that is a proof, found with so much exact arithmetic at most."""
    for verdict in candidates(problem, effort or Effort()):
        if verdict.holds(problem):
            return with_exact_margin(problem, verdict)
    scaled, power = problem.of_ordinary_size()
    nearest = nearest_to_origin(Hull(scaled, distances=True), 1e-6)
    upper = float(np.ldexp(widest_gap(scaled, *nearest.shares()), power))
    return Undecided(-np.inf, np.inf if math.isnan(upper) else upper)


def with_exact_margin(
    problem: Problem, verdict: Separable | Inseparable
) -> Separable | Inseparable:
    """The verdict, with its margin from fractions where floats lost it."""
    if isinstance(verdict, Inseparable) or 0 < verdict.margin < np.inf or not any(verdict.weights):
        return verdict
    least = min(verdict.exact_margins(problem, np.arange(len(problem.signs))))
    squared = least**2 / sum(Fraction(value) ** 2 for value in verdict.weights)
    half = (squared.numerator.bit_length() - squared.denominator.bit_length()) // 2
    root = math.sqrt(squared / Fraction(4) ** half)
    return replace(verdict, margin=math.ldexp(root, half))


def candidates(problem: Problem, effort: Effort) -> Iterator[Separable | Inseparable]:
    """Answers that deserve an exact check, the cheap ones first."""
    if problem.fit_intercept and np.all(problem.signs == problem.signs[0]):
        yield Separable((0.0,) * problem.X.shape[1], float(problem.signs[0]), np.inf)
    yield from by_perceptron(problem)
    yield from by_twins(problem)
    hull = Hull(problem, distances=False)
    for _ in range(STRETCHES):
        nearest = nearest_to_origin(hull)
        if min(nearest.lowest) > 0:
            yield separator(problem, *hull.plane(nearest.normal))
        yield from by_elimination(problem, nearest.shares()[0].tolist(), effort)
        hull.stretch(nearest.normal)
    yield from by_size(problem, effort)
    yield from by_exact_simplex(problem, hull, nearest, effort)


def by_perceptron(problem: Problem) -> Iterator[Separable]:
    """Try a few active sweeps: on easy data that is all."""
    examples = Examples(rows_of(problem.X), problem.signs, None)
    everything = np.arange(len(problem.signs), dtype=np.uint32)
    settings = Settings(0.0, 0.0, 1.0 if problem.fit_intercept else 0.0)
    width = problem.X.shape[1]
    task = LinearTask(examples, everything, PERCEPTRON, settings, width)
    state = Last(np.zeros(width), np.zeros(1))
    run = Run(lambda: [task], state, History(max_iter=SWEEPS), order="active")
    try:
        run.train()
    except ValueError:
        return  # too large for the perceptron; the next method scales the columns
    if run.history.stop_reason == "separated":
        yield separator(problem, state.weights, float(state.bias[0]))


def by_twins(problem: Problem) -> Iterator[Inseparable]:
    """Look for equal rows with opposite labels."""
    prints = np.empty(len(problem.signs), np.uint64)
    fingerprints(rows_of(problem.X), prints)
    order = np.argsort(prints, kind="stable")
    prints, labels = prints[order], problem.signs[order]
    twins = np.flatnonzero((prints[1:] == prints[:-1]) & (labels[1:] != labels[:-1]))
    for k in twins[:3]:  # a fingerprint may be shared by chance, but not three times
        yield certificate(problem, order[k : k + 2].tolist(), [Fraction(1, 2)] * 2)


def by_elimination(problem: Problem, support: list[int], effort: Effort) -> Iterator[Inseparable]:
    """Solve Σ λ y [x, 1] = 0, Σ λ = 1 on a support exactly."""
    try:
        weights = null_combination(whole_rows(problem, support), effort)
    except OutOfReachError:
        return
    if weights is not None:
        yield certificate(problem, support, weights)


def by_exact_simplex(
    problem: Problem, hull: Hull, nearest: Nearest, effort: Effort
) -> Iterator[Separable | Inseparable]:
    """Decide by the simplex method in whole numbers, on the rows nearest to the boundary.

    A separator of those rows that fails elsewhere brings in the rows on which it fails.
    """
    d = problem.X.shape[1]
    least = np.argsort(hull.products(nearest.normal), kind="stable")
    chosen = least[: 4 * (d + 2)].tolist()
    while True:
        try:
            weights, plane = alternative(whole_rows(problem, chosen), effort)
        except OutOfReachError:
            return
        if weights is not None:
            yield certificate(problem, chosen, weights)
            return
        exact = [plane.get(j, Fraction(0)) for j in range(d + 1)]
        *w, b = map(float, exact)
        yield separator(problem, np.array(w), b)
        functional = problem.margins(np.array(w), b)
        wrong = np.argsort(functional, kind="stable")[: d + 2]
        fresh = [row for row in wrong.tolist() if functional[row] <= 0 and row not in chosen]
        if not fresh:
            yield Separable(tuple(exact[:d]), exact[d], 0.0, problem.fit_intercept)
            return
        chosen += fresh


def by_size(problem: Problem, effort: Effort) -> Iterator[Separable | Inseparable]:
    """Rows of very different sizes: try without a bias, and each size for itself."""
    sizes = exponents(problem.X, 1)
    order = np.argsort(sizes, kind="stable")
    gaps = np.flatnonzero(np.diff(sizes[order]) > 27) + 1  # more than half the digits of a float
    if not problem.fit_intercept or not len(gaps):
        return
    for verdict in candidates(problem._replace(fit_intercept=False), effort):
        if isinstance(verdict, Separable):
            yield replace(verdict, fit_intercept=True)
    for rows in map(np.sort, np.split(order, gaps)):
        for verdict in candidates(problem.only(rows), effort):
            if isinstance(verdict, Inseparable):
                yield replace(verdict, support=tuple(rows[list(verdict.support)].tolist()))


def separator(problem: Problem, weights: Array, bias: float) -> Separable:
    """A hyperplane with its margin, not checked yet."""
    reached = problem.margin(weights, bias)
    return Separable(tuple(weights.tolist()), float(bias), reached, problem.fit_intercept)


def certificate(problem: Problem, rows: list[int], weights: list[Fraction]) -> Inseparable:
    """The rows with a weight, not checked yet."""
    kept = sorted((row, weight) for row, weight in zip(rows, weights, strict=True) if weight)
    support, values = zip(*kept, strict=True)
    return Inseparable(support, values, problem.fit_intercept)
