"""Proofs that two classes can or cannot be separated: checked exactly, kept as JSON files."""

import json
import math
import operator
import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..data.rows import Array, view_rows
from ..disk import replace_file
from ..kernels.exactness import surely_positive
from ..kernels.linear import Examples
from .problem import Problem, check_problem


@dataclass(frozen=True)
class Separable:
    """A hyperplane with every row strictly on its side.

    Attributes
    ----------
    weights : tuple of float or Fraction
        Fractions only where floats are too coarse to separate.
    bias : float or Fraction
        The bias that goes with them.
    margin : float
        The geometric margin of this hyperplane, not the largest there is.
    fit_intercept : bool
        Whether the question allowed a bias.

    See Also
    --------
    separability : Finds the answer.
    Inseparable : The other answer.

    Examples
    --------
    >>> Separable((1.0,), -1.0, 1.0).verify([[0.0], [2.0]], [0, 1])
    True
    """

    weights: tuple[float | Fraction, ...]
    bias: float | Fraction
    margin: float
    fit_intercept: bool = True

    def verify(self, X: Any, y: ArrayLike) -> bool:
        """Whether y(w·x + b) > 0 holds for every row in exact arithmetic.

        Rows that floating point can decide with a rigorous error bound are decided so; the others
        are computed with fractions.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows that it is about.
        y : array-like of shape (n_samples,)
            Their labels.

        Returns
        -------
        bool
            Whether it is a proof about these rows.
        """
        return self.holds(check_problem(X, y))

    def holds(self, problem: Problem) -> bool:
        """Whether it is a proof about checked rows.

        :meta private:
        """
        if problem.X.shape[1] != len(self.weights) or (self.bias and not self.fit_intercept):
            return False
        return all(value > 0 for value in self.exact_margins(problem, self.doubtful(problem)))

    def doubtful(self, problem: Problem) -> Array:
        """The rows whose side floating point cannot tell for sure, the worst first.

        :meta private:
        """
        if not all(isinstance(value, float) for value in (*self.weights, self.bias)):
            return np.arange(len(problem.signs))
        w, b = np.array(self.weights, np.float64), float(self.bias)
        sure = np.zeros(len(problem.signs), bool)
        surely_positive(Examples(view_rows(problem.X), problem.signs, None), w, b, sure)
        worst_first = np.argsort(problem.margins(w, b), kind="stable")
        return np.asarray(worst_first[~sure[worst_first]])

    def exact_margins(self, problem: Problem, rows: Array) -> Iterator[Fraction]:
        """The functional margins of some rows.

        :meta private:
        """
        weights, bias = [Fraction(value) for value in self.weights], Fraction(self.bias)
        for i in rows.tolist():
            terms = (weights[j] * value for j, value in problem.entries(i))
            yield int(problem.signs[i]) * sum(terms, bias)


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

    See Also
    --------
    separability : Finds the answer.
    Separable : The other answer.
    rosenblatt.plots.CertificateDisplay : Draws where the hulls meet.

    Examples
    --------
    >>> half = Fraction(1, 2)
    >>> Inseparable((0, 1), (half, half)).verify([[1.0], [1.0]], [0, 1])
    True
    """

    support: tuple[int, ...]
    weights: tuple[Fraction, ...]
    fit_intercept: bool = True

    def verify(self, X: Any, y: ArrayLike) -> bool:
        """Whether the weighted sum is zero in exact arithmetic.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows that it is about.
        y : array-like of shape (n_samples,)
            Their labels.

        Returns
        -------
        bool
            Whether it is a proof about these rows.
        """
        return self.holds(check_problem(X, y))

    def holds(self, problem: Problem) -> bool:
        """Whether it is a proof about checked rows.

        :meta private:
        """
        n, d = problem.X.shape
        if not 0 < len(set(self.support)) == len(self.support) == len(self.weights) <= d + 2:
            return False
        if min(self.support) < 0 or max(self.support) >= n:
            return False
        weights = [Fraction(weight) for weight in self.weights]
        if min(weights) < 0 or sum(weights) != 1:
            return False
        common = math.lcm(*(weight.denominator for weight in weights))  # integers are faster
        total: dict[int, Fraction] = {}
        for i, weight in zip(self.support, weights, strict=True):
            signed = int(weight * common) * int(problem.signs[i])
            total[-1] = total.get(-1, Fraction(0)) + signed * self.fit_intercept
            for j, value in problem.entries(i):
                total[j] = total.get(j, Fraction(0)) + signed * value
        return not any(total.values())


@dataclass(frozen=True)
class Undecided:
    """Neither could be proved: the exact step was out of reach.

    Attributes
    ----------
    attained, upper : float
        The largest margin attained (-∞ if no hyperplane was found to separate) and an upper bound
        on it, up to rounding; an upper bound near 0 hints at inseparable data.

    See Also
    --------
    separability : Gives this answer when the exact step is too long.
    max_margin : The bracket to any tolerance.

    Examples
    --------
    >>> Undecided(-np.inf, 1e-9).verify([[1.0]], [1])
    False
    """

    attained: float
    upper: float

    def verify(self, X: Any, y: ArrayLike) -> bool:
        """Nothing was proved.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows that it is about.
        y : array-like of shape (n_samples,)
            Their labels.

        Returns
        -------
        bool
            Always False.
        """
        return False


# Files


FORMAT = "rosenblatt certificate"


def save_certificate(verdict: Separable | Inseparable, path: str | Path) -> None:
    """Write a certificate to a small JSON file that anyone can check.

    Parameters
    ----------
    verdict : Separable or Inseparable
        What ``separability`` returned.
    path : str or Path
        Where to; the file appears only when it is complete.

    See Also
    --------
    load_certificate : Reads it.

    Examples
    --------
    >>> import tempfile
    >>> from rosenblatt import separability
    >>> corners, odd = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_certificate(separability(corners, odd), f"{folder}/xor.json")
    ...     load_certificate(f"{folder}/xor.json").verify(corners, odd)
    True
    """
    if not isinstance(verdict, Separable | Inseparable):
        raise ValueError("Only Separable and Inseparable are certificates; this proves nothing.")
    kind = type(verdict).__name__.lower()
    content = {"format": FORMAT, "version": 1, "verdict": kind, **vars(verdict)}
    if isinstance(verdict, Separable) and not np.isfinite(verdict.margin):
        content["margin"] = None  # JSON has no word for infinity
    text = json.dumps(content, default=as_text, indent=1) + "\n"
    with replace_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def load_certificate(path: str | Path) -> Separable | Inseparable:
    """Read a certificate; whether it holds is for ``verify`` to say.

    Parameters
    ----------
    path : str or Path
        A file that ``save_certificate`` wrote.

    Returns
    -------
    Separable or Inseparable
        What the file says.

    See Also
    --------
    save_certificate : Writes it.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_certificate(Separable((1.0,), 0.0, 1.0), f"{folder}/line.json")
    ...     load_certificate(f"{folder}/line.json").weights
    (1.0,)
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
