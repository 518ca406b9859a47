"""The convergence theorem γM ≤ ‖w‖ ≤ R√M: bounds on mistakes; a report of a run.

The bias counts as one more coordinate of every row, with the value √``intercept_step``: a mistake
moves the bias by that step, as it moves the other weights by their coordinates.

A batch perceptron moves once per pass by all its mistakes. Let pass t make mₜ mistakes, M = Σ mₜ in
all. With the sum gₜ of yx over them, w·u grows by at least γmₜ for the unit separator u, and ‖w‖²
by at most ‖gₜ‖² ≤ R²mₜ², because w·gₜ ≤ 0. So γM ≤ ‖w‖ ≤ R√(Σ mₜ²) and, as mₜ ≤ n, M ≤ n(R/γ)².

Two bounds on the error on new rows hold if all rows are drawn independently from one distribution.

Leave one out: a row that a run never got wrong can be left out without changing any update, and the
weights at the end are right on it. So a run on n - 1 rows until nothing is wrong errs on a new row
with a probability of at most E[M]/n (Vapnik & Chervonenkis 1974; Freund & Schapire 1999).

Online to batch: each row of a first pass tests weights that have not seen it. The mean error of all
weights of that pass on new rows exceeds the share M₁/n of its mistakes by √(ln(1/δ)/(2n)) with a
probability of at most δ (Cesa-Bianchi, Conconi & Gentile 2004).
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import hstack

from ..data.rows import Array, is_sparse
from .margins import MaxMargin, solve_max_margin
from .problem import check_problem, check_weights, length, radius

DELTA = 0.05  # the chance that a bound on new rows may fail


def weights_with_bias(weights: Array, bias: Any, intercept_step: float) -> Array:
    """Append the bias to weights as their last coordinate, if the bias moves.

    >>> weights_with_bias(np.array([3.0, 4.0]), 6.0, 4.0)
    array([3., 4., 3.])
    """
    weights = np.asarray(weights, np.float64)
    if not intercept_step:
        return weights
    last = np.broadcast_to(np.asarray(bias) / np.sqrt(intercept_step), weights.shape[:-1])
    return np.concatenate([weights, last[..., None]], axis=-1)


@np.errstate(all="ignore")  # overflow gives infinity
def mistake_bound(radius: float, margin: float) -> float:
    """Compute (R/γ)², the largest number of mistakes; infinite for a margin of 0 or less.

    >>> mistake_bound(3.0, 0.5)
    36.0
    """
    return float(np.square(radius / margin)) if margin > 0 else float("inf")


class MistakeBounds(NamedTuple):
    """Upper bounds on the mistakes of a perceptron that starts at zero, in any order of the rows.

    The last two bounds are for one pass, the others for any number of passes.

    Attributes
    ----------
    novikoff : float
        (R/γ)², through the origin: for ``fit_intercept=False``.
    radius_step : float
        (2R/γ)², for ``intercept_step="radius"``; larger if the hyperplane misses the ball of the
        rows.
    unit_step : float
        (R² + 1)(1 + b²)/γ², for a bias that moves by 1.
    unit_rows : float
        1/γ², when no row is longer than 1, through the origin.
    squared_hinge : float
        ((R + D)/γ)² (Freund & Schapire 1999), for any rows.
    hinge : float
        L + a²/2 + a√(L + a²/4), a = R/γ (Gentile 2003), for any rows.

    See Also
    --------
    mistake_bounds : Computes them from rows and a hyperplane.

    Examples
    --------
    >>> mistake_bounds([[3.0], [-2.0]], [1, 0], [1.0]).novikoff
    2.25
    """

    novikoff: float
    radius_step: float
    unit_step: float
    unit_rows: float
    squared_hinge: float
    hinge: float


@np.errstate(all="ignore")  # overflow gives infinity
def mistake_bounds(X: Any, y: ArrayLike, weights: ArrayLike, bias: float = 0.0) -> MistakeBounds:
    """Bound the mistakes of a perceptron by the margins of a hyperplane on the rows.

    The first four bounds are infinite unless the hyperplane separates the rows; those through the
    origin also need a bias of 0. The last two hold for one pass with the default bias, for any
    hyperplane and any target margin γ; several γ are tried, and the smallest bound is returned.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The rows.
    y : array-like of shape (n_samples,)
        Labels of two classes; the larger is +1.
    weights : array-like of shape (n_features,)
        The weights w of the hyperplane w·x + b = 0, of any length.
    bias : float, default=0.0
        Its bias b.

    Returns
    -------
    MistakeBounds
        Six bounds; infinite where a bound does not apply.

    See Also
    --------
    report : What a run has proved.
    max_margin : The hyperplane for which the first four bounds are smallest.

    References
    ----------
    Novikoff (1962), "On convergence proofs on perceptrons", Proceedings of the Symposium on the
    Mathematical Theory of Automata 12, 615-622.

    Freund & Schapire (1999), "Large margin classification using the perceptron algorithm", Machine
    Learning 37(3), 277-296.

    Gentile (2003), "The robustness of the p-norm algorithms", Machine Learning 53, 265-299.

    Examples
    --------
    >>> round(mistake_bounds([[3.0, 0.0], [0.0, -2.0]], [1, 0], [1.0, 1.0]).novikoff, 9)
    4.5
    """
    problem = check_problem(X, y)
    w = check_weights(problem.X, weights)
    size = float(length(w))
    if not size:
        raise ValueError("All weights are zero; a hyperplane needs one that is not.")
    w, b = w / size, bias / size
    R, reached = radius(problem.X), problem.margin(w, b)
    origin = reached if b == 0 else -np.inf
    lifted, u = float(np.hypot(R, 1)), float(np.hypot(1, b))
    functional = problem.margins(w, b) / u
    right = functional[functional > 0]
    targets = np.array([max(float(np.abs(functional).max()), 1.0)])
    if len(right):
        targets = np.quantile(right, np.linspace(0, 1, 33))
    short = [np.maximum(0.0, target - functional) for target in targets]
    D, L = np.linalg.norm(short, axis=1), np.sum(short, axis=1) / targets
    a = lifted / targets
    return MistakeBounds(
        novikoff=mistake_bound(R, origin),
        radius_step=mistake_bound(float(np.sqrt(2) * np.hypot(R, max(R, abs(b)))), reached),
        unit_step=mistake_bound(lifted * u, reached),
        unit_rows=mistake_bound(1.0, origin) if R <= 1 + 1e-12 else np.inf,
        squared_hinge=float(np.min((a + D / targets) ** 2)),
        hinge=float(np.min(L + a * a / 2 + a * np.sqrt(L + a * a / 4))),
    )


# What a run has proved


class Convergence(NamedTuple):
    """The numbers of the theorem: γM ≤ ‖w‖/η ≤ R√M after M mistakes, so M ≤ (R/γ)².

    The bias is a coordinate of all vectors. ``intercept_step`` is how far a mistake moves it, in
    units of η.
    """

    radius: float
    widest: MaxMargin
    intercept_step: float
    eta0: float

    @property
    def margin(self) -> float:
        """The margin γ of the best separator found; -∞ without one."""
        return self.widest.attained

    @property
    def bound(self) -> float:
        """The largest possible number of mistakes, (R/γ)²."""
        return mistake_bound(self.radius, self.margin)

    def limits(self, mistakes: Any) -> tuple[Any, Any]:
        """Compute γM and R√M for numbers of mistakes."""
        return max(self.margin, 0.0) * mistakes, self.radius * np.sqrt(mistakes)

    def length(self, weights: Array, bias: Any) -> Any:
        """Compute ‖w‖/η for one weight vector or for each row of a matrix."""
        return length(weights_with_bias(weights, bias, self.intercept_step) / self.eta0)

    def angle(self, weights: Array, bias: Any) -> Any:
        """Compute the angle between weights and the best separator in degrees; NaN at zero."""
        w = weights_with_bias(weights, bias, self.intercept_step)
        with np.errstate(invalid="ignore"):
            cosine = (w / length(w)[..., None]) @ self.widest.weights
        return np.degrees(np.arccos(np.clip(cosine, -1, 1)))


@np.errstate(all="ignore")  # overflow gives infinity
def compute_convergence(model: Any, X: Any, y: ArrayLike, tolerance: float = 1e-3) -> Convergence:
    """Compute the numbers of the theorem for the rows of a run, with γ up to a tolerance."""
    step = model.last_weights()[2]
    problem = check_problem(X, y, fit_intercept=False)
    if step:
        columns = problem.X, np.full((len(problem.signs), 1), np.sqrt(step))
        both = hstack(columns, "csr") if is_sparse(problem.X) else np.hstack(columns)
        problem = problem._replace(X=both)
    widest = solve_max_margin(problem, tolerance)
    return Convergence(radius(problem.X), widest, step, float(model.eta0))


class Report(NamedTuple):
    """The numbers of the convergence theorem for one run of a Perceptron; ``print`` shows them.

    Attributes
    ----------
    mistakes : int
        The number M of updates.
    bound : float
        The largest possible M: (R/γ)²; n(R/γ)² for a batch perceptron.
    radius : float
        The largest norm R of a row. In R, γ and ``chain`` the bias is a coordinate of the rows.
    attained, upper : float
        Lower and upper bound on γ, the largest margin.
    angle : float
        The angle between the weights and those of the margin attained, in degrees.
    chain : tuple of float
        The three numbers of γM ≤ ‖w‖/η ≤ R√M; R√(Σm²) for passes of a batch with m mistakes.
    n_rows : int
        The number n of rows.
    left_out, online : float or None
        Bounds on the error on new rows, if all rows are drawn independently from one distribution:
        of a run on n - 1 rows that separates them, M/n, an estimate; and of the weights of the
        first pass on the mean, with 95 % confidence. None where a bound does not hold.

    See Also
    --------
    report : Computes it from a fitted model and its rows.

    Examples
    --------
    >>> from rosenblatt import Perceptron
    >>> X, y = [[2.0, 1.0], [-1.0, 1.0]], [1, -1]
    >>> found = report(Perceptron(order="fixed").fit(X, y), X, y)
    >>> found.mistakes, round(found.bound, 6)
    (2, 3.0)
    """

    mistakes: int
    bound: float
    radius: float
    attained: float
    upper: float
    angle: float
    chain: tuple[float, float, float]
    n_rows: int
    batch: bool = False
    left_out: float | None = None
    online: float | None = None

    def __str__(self) -> str:
        low, length, high = self.chain
        longest, most = ("R√(Σm²)", "n(R/γ)²") if self.batch else ("R√M", "(R/γ)²")
        found, bracket = self.attained > 0, f"‖w‖ = {length:.6g} ≤ {longest} = {high:.6g}"
        lines = [f"{self.mistakes} mistakes; R = {self.radius:.6g}"]
        if found:
            lines += [
                f"margin γ between {self.attained:.6g} and {self.upper:.6g}",
                f"at most {most} = {self.bound:.6g} mistakes were possible",
                f"{self.angle:.2f}° from the best separator found",
            ]
        else:
            lines.append(
                f"no hyperplane was found to separate; no margin can exceed {self.upper:.6g}"
            )
        lines.append(f"γM = {low:.6g} ≤ {bracket}" if found else bracket)
        rates = {
            f"expected after separating {self.n_rows - 1} rows (leave one out, estimated)": (
                self.left_out
            ),
            "of the weights of the first pass on the mean (online to batch, 95% confidence)": (
                self.online
            ),
        }
        known = [f"at most {rate:.2g} {what}" for what, rate in rates.items() if (rate or 1) < 1]
        title = "If rows are drawn independently from one distribution, errors on new rows:"
        return "\n".join([*lines, *([title, *known] if known else [])])


def report(model: Any, X: Any, y: ArrayLike, *, tolerance: float = 1e-3) -> Report:
    """Compare the run of a fitted Perceptron with the convergence theorem.

    The bias counts as a coordinate of the rows, with the value √``intercept_step``.

    Parameters
    ----------
    model : Perceptron
        Fitted on X and y: two classes, from zero, without margin, weights or early stopping.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The training rows.
    y : array-like of shape (n_samples,)
        Their labels.
    tolerance : float, default=1e-3
        Relative accuracy of the margin γ, in (0, 1).

    Returns
    -------
    Report
        Mistakes, their bound, radius, margin and angle.

    See Also
    --------
    mistake_bounds : The bounds of any hyperplane.
    rosenblatt.plots.ProgressDisplay : Draws the mistakes below their bound.

    Examples
    --------
    >>> from rosenblatt import Perceptron
    >>> model = Perceptron(order="fixed").fit([[2.0, 1.0], [-1.0, 1.0]], [1, -1])
    >>> print(report(model, [[2.0, 1.0], [-1.0, 1.0]], [1, -1]))
    2 mistakes; R = 2.44949
    margin γ between 1.41421 and 1.41421
    at most (R/γ)² = 3 mistakes were possible
    19.47° from the best separator found
    γM = 2.82843 ≤ ‖w‖ = 3 ≤ R√M = 3.4641
    """
    weights, bias, _ = model.last_weights()
    found, M = compute_convergence(model, X, y, tolerance), model.n_mistakes_
    low, high = found.limits(M)
    reached = float(found.length(weights, bias))
    n, passes, batch = len(np.asarray(y)), model.history_, model.order == "batch"
    if batch:
        high = found.radius * np.linalg.norm([epoch.mistakes for epoch in passes])
    left_out = online = None
    if model.order in ("each", "once", "fixed") and passes:
        online = passes[0].mistakes / n + float(np.sqrt(np.log(1 / DELTA) / 2 / n))
        left_out = M / n if model.stop_reason_ == "separated" else None
    return Report(
        mistakes=M,
        bound=found.bound * (n if batch else 1),
        radius=found.radius,
        attained=found.margin,
        upper=min(found.widest.upper, reached / M) if M else found.widest.upper,
        angle=float(found.angle(weights, bias)),
        chain=(low, reached, float(high)),
        n_rows=n,
        batch=batch,
        left_out=left_out,
        online=online,
    )
