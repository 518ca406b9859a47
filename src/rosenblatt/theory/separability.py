"""Decide with a proof whether a hyperplane separates two classes."""

from collections.abc import Generator, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..data.rows import view_rows
from ..kernels.loop import Examples
from ..kernels.perceptron import Perceptron
from ..training.linear_state import LastWeights
from ..training.training import LinearTask, Training
from .certificates import Certificate, Inseparable, Separable, Undecided
from .exact import Effort, OutOfReachError, solve_alternative, solve_null_combination
from .hull import Hull, nearest_to_origin, widest_gap
from .problem import Problem, check_problem

SWEEPS = 32  # epochs of the perceptron before the methods that always end
FEW = 10_000  # values; for so few, the other methods are quick, and need no compiler
STRETCHES = 4  # each one resolves margins that are 1e8 times smaller


def separability(
    X: Any, y: ArrayLike, *, fit_intercept: bool = True
) -> Separable | Inseparable | Undecided:
    """Decide whether a hyperplane separates two classes, with a proof checked in exact arithmetic.

    A few epochs of the perceptron decide easy data. Otherwise Wolfe's (1976) method finds the point
    of the convex hull of the rows y[x, 1] that is nearest to the origin. If it is not the origin,
    it separates the classes. If it is, the rows that span it are a certificate of the opposite
    (Gordan's theorem of the alternative), computed again in rational arithmetic.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The rows.
    y : array-like of shape (n_samples,)
        Labels of at most two classes; the larger is +1.
    fit_intercept : bool, default=True
        Whether the hyperplane may have a bias; False: only hyperplanes through the origin.

    Returns
    -------
    Separable, Inseparable or Undecided
        The answer with its proof, which ``verify`` checks.

    See Also
    --------
    save_certificate : Saves the proof as a file.
    max_margin : The margin of separable classes.
    rosenblatt.cluster.separability : The same on a cluster.

    References
    ----------
    Gordan (1873), "Über die Auflösung linearer Gleichungen mit reellen Coefficienten",
    Mathematische Annalen 6, 23-28.

    Wolfe (1976), "Finding the nearest point in a polytope", Mathematical Programming 11, 128-149.

    Examples
    --------
    >>> verdict = separability([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0])
    >>> verdict.support, [str(weight) for weight in verdict.weights]
    ((0, 1, 2, 3), ['1/4', '1/4', '1/4', '1/4'])
    """
    return decide(check_problem(X, y, fit_intercept))


@np.errstate(all="ignore")  # overflow fails the exact check
def decide(problem: Problem, effort: Effort | None = None) -> Separable | Inseparable | Undecided:
    """Return the first candidate that is a proof, within a budget of exact arithmetic."""
    for verdict in find_candidates(problem, effort or Effort()):
        if isinstance(verdict, Separable):
            margin = verdict.measure(problem)
            if margin >= 0:
                return replace(verdict, margin=margin)
        elif verdict.holds(problem):
            return verdict
    nearest = nearest_to_origin(Hull(problem, distances=True), 1e-6)
    return Undecided(widest_gap(problem, *nearest.shares()))


def find_candidates(problem: Problem, effort: Effort) -> Iterator[Certificate]:
    """Yield candidates for an exact check, the cheap ones first."""
    if problem.fit_intercept and np.all(problem.signs == problem.signs[0]):
        yield make_separator(problem, [0.0] * problem.X.shape[1], float(problem.signs[0]))
    hardest = yield from try_floating_point(problem, effort)
    yield from try_exact_simplex(problem, hardest, Effort(effort.left / 10))


def try_floating_point(problem: Problem, effort: Effort) -> Generator[Certificate, None, list[int]]:
    """Yield what floating point finds; return the numbers of all rows, the hardest first."""
    if problem.X.size > FEW:  # of a sparse matrix: its stored values
        yield from try_perceptron(problem)
    yield from try_equal_rows(problem)
    hull = Hull(problem, distances=False)
    for _ in range(STRETCHES):
        nearest = nearest_to_origin(hull)
        if min(nearest.lowest) > 0:
            weights, bias = hull.plane(nearest.normal)
            yield make_separator(problem, weights.tolist(), bias)
        support = nearest.shares()[0].tolist()
        further = {*support, int(np.argmin(hull.products(nearest.normal)))}
        for rows in (support, sorted(further)):  # rounding may have lost a tiny share
            with suppress(OutOfReachError):
                if (shares := solve_null_combination(problem, rows, effort)) is not None:
                    yield make_certificate(problem, rows, shares)
        hull.stretch(nearest.normal)
    return [int(row) for row in np.argsort(hull.products(nearest.normal), kind="stable")]


def start_perceptron(problem: Problem, step: float, max_iter: int, order: str) -> Training:
    """Prepare the run of a perceptron from zero whose bias moves by ``step``."""
    examples = Examples(view_rows(problem.X), problem.signs, None)
    everything = np.arange(len(problem.signs), dtype=np.uint32)
    rule, width = Perceptron(0.0, 0.0, step), problem.X.shape[1]
    task = LinearTask(examples, everything, rule, width)
    state = LastWeights(np.zeros(width), np.zeros(1))
    return Training.of(task, state, max_iter=max_iter, order=order)


def try_perceptron(problem: Problem) -> Iterator[Separable]:
    """Try a few epochs of the perceptron, enough for easy data."""
    run = start_perceptron(problem, float(problem.fit_intercept), SWEEPS, "active")
    with suppress(ValueError):  # numbers too large; the next method scales the columns
        run.train()
        if run.stop_reason == "separated":
            (state,) = run.states
            yield make_separator(problem, state.weights.tolist(), float(state.bias[0]))


def try_equal_rows(problem: Problem) -> Iterator[Inseparable]:
    """Try pairs of equal rows with opposite labels: those with the same product."""
    products = problem.X @ np.random.default_rng(0).random(problem.X.shape[1])
    order = np.argsort(products, kind="stable")
    products, labels = products[order], problem.signs[order]
    twins = np.flatnonzero((products[1:] == products[:-1]) & (labels[1:] != labels[:-1]))
    for k in twins[:3]:  # one product may agree by chance, three do not
        yield make_certificate(problem, order[k : k + 2].tolist(), [Fraction(1, 2)] * 2)


def try_exact_simplex(problem: Problem, rows: list[int], effort: Effort) -> Iterator[Certificate]:
    """Try the simplex method in integers on the first of ``rows``, the hardest.

    Where its separator fails on other rows, these join them.
    """
    d = problem.X.shape[1]
    chosen = rows[: 4 * (d + 2)]
    while True:
        try:
            weights, plane = solve_alternative(problem, chosen, effort)
        except OutOfReachError:
            return
        if weights is not None:
            yield make_certificate(problem, chosen, weights)
            return
        exact = [plane.get(j, Fraction(0)) for j in range(d + 1)]
        *w, b = map(float, exact)
        yield make_separator(problem, w, b)
        functional = problem.margins(np.array(w), b)
        wrong = np.argsort(functional, kind="stable")[: d + 2]
        fresh = [row for row in wrong.tolist() if functional[row] <= 0 and row not in chosen]
        if not fresh:
            yield make_separator(problem, exact[:d], exact[d])
            return
        chosen += fresh


def make_separator(problem: Problem, weights: Iterable[Any], bias: Any) -> Separable:
    """Make a candidate hyperplane, unchecked and without its margin."""
    return Separable(tuple(weights), bias, np.nan, problem.fit_intercept)


def make_certificate(problem: Problem, rows: list[int], weights: list[Fraction]) -> Inseparable:
    """Make a candidate certificate of the rows with a nonzero weight, unchecked."""
    kept = sorted((row, weight) for row, weight in zip(rows, weights, strict=True) if weight)
    support, values = zip(*kept, strict=True)
    return Inseparable(support, values, problem.fit_intercept)
