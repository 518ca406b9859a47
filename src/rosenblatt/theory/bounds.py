"""The convergence theorem, γM ≤ ‖w‖ ≤ R√M: what it says of mistakes, and of one run.

The bias is one more coordinate of every row, of the size √``intercept_step``: a mistake moves the
bias by that step, as it moves the other weights by their coordinates.
"""

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from ..data.rows import Array
from .batch import batch_bounds, batch_length
from .generalization import Generalization, generalization
from .margins import MaxMargin, radius, widest
from .problem import check_problem, checked_weights, length


def rows_with_bias(X: Any, intercept_step: float) -> Any:
    """X with the coordinate of the bias, if it moves."""
    if not intercept_step:
        return X
    column = np.full((X.shape[0], 1), np.sqrt(intercept_step))
    return sparse.hstack([X, column], "csr") if sparse.issparse(X) else np.hstack([X, column])


def radius_with_bias(radius: float, intercept_step: float) -> float:
    """R of the rows with the coordinate of the bias, from that without it."""
    return float(np.hypot(radius, np.sqrt(intercept_step)))


def weights_with_bias(weights: Array, bias: Any, intercept_step: float) -> Array:
    """The weights of one or more moments with the bias as the last coordinate, if it moves.

    >>> weights_with_bias(np.array([3.0, 4.0]), 6.0, 4.0)
    array([3., 4., 3.])
    """
    weights = np.asarray(weights, np.float64)
    if not intercept_step:
        return weights
    last = np.broadcast_to(np.asarray(bias) / np.sqrt(intercept_step), weights.shape[:-1])
    return np.concatenate([weights, last[..., None]], axis=-1)


@np.errstate(all="ignore")  # what overflows is infinite
def mistake_bound(radius: float, margin: float) -> float:
    """(R/γ)², the most mistakes; infinite when nothing is separated.

    >>> mistake_bound(3.0, 0.5)
    36.0
    """
    return float(np.square(radius / margin)) if margin > 0 else float("inf")


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

    See Also
    --------
    mistake_bounds : Makes these of rows and a hyperplane.

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
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The rows.
    y : array-like of shape (n_samples,)
        Labels of two classes; the larger is +1.
    weights : array-like of shape (n_features,)
        The weights w of the hyperplane w·x + b = 0, of any length.
    bias : float, default=0.0
        Its bias b.
    gamma : float or None, default=None
        The margin γ that the last two forms aim at.

    Returns
    -------
    MistakeBounds
        Six bounds, infinite where they say nothing.

    See Also
    --------
    report : What a run has proved.
    max_margin : The hyperplane that makes the first ones least.

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
    w = checked_weights(problem.X, weights)
    size = float(length(w))
    if not size:
        raise ValueError("weights are all zero, which is no hyperplane.")
    if gamma is not None and not 0 < gamma < np.inf:
        raise ValueError(f"gamma must be a finite number above 0; got {gamma!r}.")
    w, b = w / size, bias / size
    R, reached = radius(problem.X), problem.margin(w, b)
    origin = reached if b == 0 else -np.inf
    lifted, u = radius_with_bias(R, 1.0), float(np.hypot(1, b))
    functional = problem.margins(w, b) / u
    targets = positive_quantiles(functional) if gamma is None else np.array([gamma])
    return MistakeBounds(
        novikoff=mistake_bound(R, origin),
        radius_step=mistake_bound(float(np.sqrt(2) * np.hypot(R, max(R, abs(b)))), reached),
        unit_step=mistake_bound(lifted * u, reached),
        unit_rows=mistake_bound(1.0, origin) if R <= 1 + 1e-12 else np.inf,
        squared_hinge=min(squared_hinge_bound(functional, lifted, float(t)) for t in targets),
        hinge=min(hinge_bound(functional, lifted, float(t)) for t in targets),
    )


def squared_hinge_bound(functional: Array, R: float, gamma: float) -> float:
    """((R + D)/γ)² with D² = Σ max(0, γ - margin)²."""
    D = float(np.linalg.norm(np.maximum(0.0, gamma - functional)))
    return mistake_bound(R + D, gamma)


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


# What a run has proved


class FittedPerceptron(Protocol):
    """What the theorem needs to know of a model."""

    eta0: Any
    order: str
    stop_reason_: str
    n_mistakes_: int
    history_: list[Any]

    def last_weights(self) -> tuple[Array, float, float]:
        """Weights, bias and ``intercept_step``; an error where the theorem does not speak."""


class Convergence(NamedTuple):
    """γM ≤ ‖w‖/η ≤ R√M after M mistakes, so that M ≤ (R/γ)²; the bias is a coordinate throughout.

    ``intercept_step`` is how far a mistake moves the bias, in units of η.
    """

    radius: float
    widest: MaxMargin
    intercept_step: float
    eta0: float

    @property
    def margin(self) -> float:
        """γ of the best separator that was found; -∞ without one."""
        return self.widest.attained

    @property
    def bound(self) -> float:
        """(R/γ)², the most mistakes that there can be."""
        return mistake_bound(self.radius, self.margin)

    def limits(self, mistakes: Any) -> tuple[Any, Any]:
        """γM and R√M after M mistakes, for one M or many; γM is 0 without a separator."""
        return max(self.margin, 0.0) * mistakes, self.radius * np.sqrt(mistakes)

    def length(self, weights: Array, bias: Any) -> Any:
        """‖w‖/η of one moment of a run or, with a row of weights for each, of many."""
        return length(self._steps(weights, bias))

    def angle(self, weights: Array, bias: Any) -> Any:
        """Between the weights and the best separator, in degrees; NaN for no weights."""
        w = self._steps(weights, bias)
        with np.errstate(invalid="ignore"):
            cosine = (w / length(w)[..., None]) @ self.widest.weights
        return np.degrees(np.arccos(np.clip(cosine, -1, 1)))

    def _steps(self, weights: Array, bias: Any) -> Array:
        return weights_with_bias(weights, bias, self.intercept_step) / self.eta0


def convergence(
    model: FittedPerceptron, X: Any, y: ArrayLike, tolerance: float = 1e-3
) -> Convergence:
    """The theorem's numbers for a run, with γ found up to a tolerance."""
    return compute_convergence(X, y, model.last_weights()[2], float(model.eta0), tolerance)


@np.errstate(all="ignore")  # what overflows is infinite
def compute_convergence(
    X: Any, y: ArrayLike, intercept_step: float, eta0: float, tolerance: float = 1e-3
) -> Convergence:
    """The theorem's numbers for all runs from zero with steps of these sizes."""
    problem = check_problem(X, y, fit_intercept=False)
    problem = problem._replace(X=rows_with_bias(problem.X, intercept_step))
    return Convergence(radius(problem.X), widest(problem, tolerance), intercept_step, eta0)


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
        γM ≤ ‖w‖/η ≤ R√M; of a batch perceptron, γM ≤ ‖w‖/η ≤ R√(Σm²) with m mistakes per pass.
    updates, most_updates : float or None
        Of a batch perceptron, the updates made and the most that could have been made.
    generalization : Generalization or None
        Bounds on the error on new rows, if all rows are drawn independently and alike.

    See Also
    --------
    report : Makes it of a fitted model and its rows.

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
    updates: int | None = None
    most_updates: float | None = None
    generalization: Generalization | None = None

    def __str__(self) -> str:
        low, length, high = self.chain
        lines = [f"{self.mistakes} mistakes; R = {self.radius:.6g}"]
        most, longest = f"(R/γ)² = {self.bound:.6g} mistakes were", "R√M"
        if self.updates is not None:
            lines = [f"{self.updates} updates by {lines[0]}"]
            most = f"n(R/γ)² = {self.bound:.6g} mistakes and {self.most_updates:.6g} updates were"
            longest = "R√(Σm²)"
        if self.attained > 0:
            lines += [
                f"margin γ between {self.attained:.6g} and {self.upper:.6g}",
                f"at most {most} possible",
                f"{self.angle:.2f}° from the best separator found",
                f"γM = {low:.6g} ≤ ‖w‖ = {length:.6g} ≤ {longest} = {high:.6g}",
            ]
        else:
            lines += [
                f"no hyperplane was found to separate; no margin can exceed {self.upper:.6g}",
                f"‖w‖ = {length:.6g} ≤ {longest} = {high:.6g}",
            ]
        return "\n".join(filter(None, [*lines, str(self.generalization or "")]))


def report(model: FittedPerceptron, X: Any, y: ArrayLike, *, tolerance: float = 1e-3) -> Report:
    """Tell what a fitted Perceptron's run has proved about the rows that it learnt from.

    The bias counts as a coordinate of the rows, of the size that ``intercept_step`` says.

    Parameters
    ----------
    model : Perceptron
        Fitted on X and y with two classes, from zero, without margin, weights or early stopping.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The rows that it was fitted on.
    y : array-like of shape (n_samples,)
        Their labels.
    tolerance : float, default=1e-3
        Of the bracket on the margin.

    Returns
    -------
    Report
        To be printed, or read by its fields.

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
    found, M = convergence(model, X, y, tolerance), model.n_mistakes_
    low, high = found.limits(M)
    reached, n_rows = float(found.length(weights, bias)), len(np.asarray(y))
    made = Report(
        mistakes=M,
        bound=found.bound,
        radius=found.radius,
        attained=found.margin,
        upper=min(found.widest.upper, reached / M) if M else found.widest.upper,
        angle=float(found.angle(weights, bias)),
        chain=(low, reached, float(high)),
        generalization=generalization(
            model.history_,
            n_rows,
            separated=model.stop_reason_ == "separated",
            order=model.order,
        ),
    )
    return for_batches(made, model, n_rows) if model.order == "batch" else made


def for_batches(made: Report, model: FittedPerceptron, n_rows: int) -> Report:
    """The same with the bounds of a batch perceptron, which are others."""
    passes = [epoch.mistakes for epoch in model.history_ if epoch.mistakes]
    bound, most = batch_bounds(made.bound, n_rows)
    longest = batch_length(made.radius, passes)
    chain = *made.chain[:2], longest
    return made._replace(bound=bound, chain=chain, updates=len(passes), most_updates=most)
