"""The convergence theorem about one run of a Perceptron, and the report of what it has proved."""

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike

from ..rows import Array
from .bounds import mistake_bound, rows_with_bias, weights_with_bias
from .margins import radius
from .problem import length, problem_of
from .widest import MaxMargin, widest


class FittedPerceptron(Protocol):
    """What the theorem needs of a model."""

    eta0: Any
    n_mistakes_: int

    def last_weights(self) -> tuple[Array, float, float]:
        """The weights, the bias and ``intercept_step``; refused where the theorem is silent."""


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
    return convergence_of(X, y, model.last_weights()[2], float(model.eta0), tolerance)


@np.errstate(all="ignore")  # what overflows is infinite
def convergence_of(
    X: Any, y: ArrayLike, intercept_step: float, eta0: float, tolerance: float = 1e-3
) -> Convergence:
    """The theorem's numbers for all runs from zero with steps of these sizes."""
    problem = problem_of(X, y, fit_intercept=False)
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


def report(model: FittedPerceptron, X: Any, y: ArrayLike, *, tolerance: float = 1e-3) -> Report:
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
    reached = float(found.length(weights, bias))
    return Report(
        mistakes=M,
        bound=found.bound,
        radius=found.radius,
        attained=found.margin,
        upper=min(found.widest.upper, reached / M) if M else found.widest.upper,
        angle=float(found.angle(weights, bias)),
        chain=(low, reached, float(high)),
    )
