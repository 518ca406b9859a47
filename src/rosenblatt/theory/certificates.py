"""Certificates that two classes are separable or not: checked exactly, saved as JSON files."""

import json
import operator
import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..data.rows import Array
from ..disk import replace_file
from .problem import Problem, check_problem, round_root, to_integers

MOST_EXACT = 200  # rows at the smallest margin that are compared in exact arithmetic


class Verdict:
    """An answer of ``separability``."""

    def verify(self, X: Any, y: ArrayLike) -> bool:
        """Check the proof on rows in exact arithmetic.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their labels.

        Returns
        -------
        bool
            True if it is a proof about these rows. ``Undecided`` proves nothing.
        """
        return self.holds(check_problem(X, y))

    def holds(self, problem: Problem) -> bool:
        """Check the proof on rows that have been checked; without a proof return False.

        :meta private:
        """
        return False


@dataclass(frozen=True)
class Separable(Verdict):
    """A hyperplane with every row strictly on the right side: y(w·x + b) > 0.

    ``verify`` decides rows in floating point where a rigorous error bound allows it, and computes
    the others with fractions.

    Attributes
    ----------
    weights : tuple of float or Fraction
        The weights w; fractions only where floats are too coarse to separate the rows.
    bias : float or Fraction
        The bias b.
    margin : float
        The geometric margin of this hyperplane, rounded down; it need not be the largest.
    fit_intercept : bool
        Whether a bias was allowed.

    See Also
    --------
    separability : Decides whether there is one.
    Inseparable : The opposite answer.

    Examples
    --------
    >>> Separable((1.0,), -1.0, 1.0).verify([[0.0], [2.0]], [0, 1])
    True
    """

    weights: tuple[float | Fraction, ...]
    bias: float | Fraction
    margin: float
    fit_intercept: bool = True

    def holds(self, problem: Problem) -> bool:
        """Check the proof on rows that have been checked.

        :meta private:
        """
        if problem.X.shape[1] != len(self.weights) or (self.bias and not self.fit_intercept):
            return False
        return self.margin >= 0 and self.separates(problem, self.margin)

    def separates(self, problem: Problem, margin: float = 0.0) -> bool:
        """Whether every row is on its side, and at least as far from the hyperplane as ``margin``.

        :meta private:
        """
        squared = self.squared_length
        if squared and margin == np.inf:
            return False
        least = Fraction(margin) ** 2 * squared if squared else Fraction(0)
        low, _ = self.bound_margins(problem)
        size = round_root(least, up=True)
        worst_first = np.argsort(low, kind="stable")
        doubtful = worst_first[~(low[worst_first] > size)]
        exact = self.exact_margins(problem, doubtful)
        return all(value > 0 and value**2 >= least for value in exact)

    def measure(self, problem: Problem) -> float:
        """Compute the geometric margin, rounded down; -∞ unless every row is on its side.

        :meta private:
        """
        if not self.separates(problem):
            return -np.inf
        squared = self.squared_length
        if not squared:
            return np.inf
        low, high = self.bound_margins(problem)
        lowest = np.flatnonzero(~(low > high.min()))
        if low.min() > 0 and len(lowest) > MOST_EXACT:
            least = Fraction(float(low.min()))
        else:
            least = min(self.exact_margins(problem, lowest))
        return round_root(least**2 / squared)

    @property
    def squared_length(self) -> Fraction:
        """The square of the length of the weights.

        :meta private:
        """
        return sum((Fraction(value) ** 2 for value in self.weights), Fraction(0))

    def bound_margins(self, problem: Problem) -> tuple[Array, Array]:
        """Bound the functional margin of every row; fractions are left to exact arithmetic.

        :meta private:
        """
        if not all(isinstance(value, float) for value in (*self.weights, self.bias)):
            nothing = np.full(len(problem.signs), np.nan)
            return nothing, nothing
        return problem.bound_margins(np.array(self.weights, np.float64), float(self.bias))

    def exact_margins(self, problem: Problem, rows: Array) -> Iterator[Fraction]:
        """Compute the functional margins of some rows with fractions.

        :meta private:
        """
        factors, problem = (*self.weights, self.bias), problem._replace(fit_intercept=True)
        for some in np.array_split(rows, len(rows) // 1000 + 1):
            yield from problem.add_up(some, factors, by_row=True)


@dataclass(frozen=True)
class Inseparable(Verdict):
    """Weighted rows that prove that no hyperplane separates the classes: their hulls meet.

    Attributes
    ----------
    support : tuple of int
        Row numbers, at most two more than there are features.
    weights : tuple of Fraction
        λ > 0 with Σλ = 1 and Σ λ y [x, 1] = 0 exactly; without the 1 if no bias was allowed.
    fit_intercept : bool
        Whether a bias was allowed.

    See Also
    --------
    separability : Decides whether a hyperplane separates the classes.
    Separable : The opposite answer.
    rosenblatt.plots.CertificateDisplay : Draws the hulls and where they meet.

    Examples
    --------
    >>> half = Fraction(1, 2)
    >>> Inseparable((0, 1), (half, half)).verify([[1.0], [1.0]], [0, 1])
    True
    """

    support: tuple[int, ...]
    weights: tuple[Fraction, ...]
    fit_intercept: bool = True

    def holds(self, problem: Problem) -> bool:
        """Check the proof on rows that have been checked.

        :meta private:
        """
        n, d = problem.X.shape
        if not 0 < len(set(self.support)) == len(self.support) == len(self.weights) <= d + 2:
            return False
        if min(self.support) < 0 or max(self.support) >= n:
            return False
        shares, common = to_integers(self.weights)
        if min(shares) < 0 or sum(shares) != common:
            return False
        problem = problem._replace(fit_intercept=self.fit_intercept)
        return not len(problem.add_up(np.array(self.support), shares))


@dataclass(frozen=True)
class Undecided(Verdict):
    """No answer: the exact computation would have taken too long.

    Attributes
    ----------
    upper : float
        An upper bound on all margins; one near 0 suggests inseparable data.

    See Also
    --------
    separability : Gives this answer when the exact computation is too long.
    max_margin : Bounds on the margin with any accuracy.

    Examples
    --------
    >>> Undecided(1e-9).verify([[1.0]], [1])
    False
    """

    upper: float


Certificate = Separable | Inseparable

# Files

FORMAT = "rosenblatt certificate"


def save_certificate(verdict: Certificate, path: str | Path) -> None:
    """Save a certificate as a small JSON file.

    Parameters
    ----------
    verdict : Separable or Inseparable
        The result of ``separability``.
    path : str or Path
        The file to write; it is replaced only when the new one is complete.

    See Also
    --------
    load_certificate : Reads the file.

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
        raise ValueError(f"{type(verdict).__name__} proves nothing, so it is not saved.")
    kind = type(verdict).__name__.lower()
    content = {"format": FORMAT, "version": 1, "verdict": kind, **vars(verdict)}
    if isinstance(verdict, Separable) and not np.isfinite(verdict.margin):
        content["margin"] = None  # JSON has no infinity
    text = json.dumps(content, default=format_fraction, indent=1) + "\n"
    with replace_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def load_certificate(path: str | Path) -> Certificate:
    """Load a certificate from a file; ``verify`` checks whether it holds.

    Parameters
    ----------
    path : str or Path
        A file that ``save_certificate`` wrote.

    Returns
    -------
    Separable or Inseparable
        The certificate.

    See Also
    --------
    save_certificate : Writes the file.

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
    except (ValueError, RecursionError):  # also of bytes that are not UTF-8
        raise ValueError(f"{path} is not a certificate: it is not JSON.") from None
    found = content if isinstance(content, dict) else {}
    if (found.get("format"), found.get("version")) != (FORMAT, 1):
        raise ValueError(f"{path} is not a certificate that this version of rosenblatt can read.")
    try:
        intercept, kind = content["fit_intercept"], content["verdict"]
        if not isinstance(intercept, bool) or kind not in ("separable", "inseparable"):
            raise TypeError("not a field of a certificate")
        if kind == "separable":
            weights = tuple(map(to_number, content["weights"]))
            reached = np.inf if content["margin"] is None else float(content["margin"])
            return Separable(weights, to_number(content["bias"]), reached, intercept)
        support = tuple(map(operator.index, content["support"]))
        return Inseparable(support, tuple(map(parse_fraction, content["weights"])), intercept)
    except (KeyError, TypeError, ValueError, ZeroDivisionError, OverflowError):
        raise ValueError(f"{path} is damaged: a field is missing or not a number.") from None


def to_number(value: Any) -> float | Fraction:
    """Convert a number of JSON: a float as it is, a fraction from its text."""
    if isinstance(value, str):
        return parse_fraction(value)
    if not np.isfinite(float(value)):
        raise ValueError("not finite")
    return float(value)


def format_fraction(value: Fraction) -> str:
    """Write a fraction as text; long ones in hexadecimal, which Python does not limit."""
    parts = value.numerator, value.denominator
    return "/".join(hex(part) if part.bit_length() > 10_000 else str(part) for part in parts)


def parse_fraction(text: str) -> Fraction:
    """Parse a fraction of integers; exponents are refused, they could ask for endless digits."""
    if not re.fullmatch(r"-?(\d+|0x[0-9a-f]+)(/(\d+|0x[0-9a-f]+))?", text):
        raise ValueError("not a fraction")
    numerator, _, denominator = text.partition("/")
    return Fraction(int(numerator, 0), int(denominator or "1", 0))
