"""Compare two models on the same rows, and test whether their difference could be chance.

Errors are compared by the exact McNemar test (McNemar 1947), which is a sign test of the rows that
only one model gets right; numbers and all intervals by a paired t-test of the rows.
"""

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..data.results import Result, Table, name_figure
from ..data.rows import Array
from ..parameters import InputError
from .evaluate import evaluate

CHANCE = 0.05  # a larger p-value could be chance


class Difference(NamedTuple):
    """The mean error of the second model less that of the first, its 95 % interval, a p-value."""

    difference: float
    low: float
    high: float
    p_value: float


class Comparison(Result):
    """Two models on the same rows.

    Parameters
    ----------
    results
        The evaluations of both models.
    errors
        For each row whether a model is wrong, or its absolute error; of both models.
    """

    def __init__(self, results: tuple[Result, Result], errors: tuple[Array, Array]) -> None:
        self.results, self.rows = results, len(errors[0])
        self.unknown = max(one.unknown for one in results)
        self.of = "MAE" if errors[0].dtype.kind == "f" else "error"
        first, second = (each.astype(np.float64) for each in errors)
        self.better = int(np.count_nonzero(first < second)), int(np.count_nonzero(second < first))
        self.difference = self.test(first, second)

    def test(self, first: Array, second: Array) -> Difference:
        """Return the difference of the errors; the p-value of n rows is at least 2 / 2ⁿ."""
        from scipy.stats import binomtest, ttest_rel

        mean, least = float(second.mean() - first.mean()), 2.0 ** (1 - self.rows)
        with warnings.catch_warnings(action="ignore"):  # all rows may differ alike
            found = ttest_rel(second, first)
            low, high = map(float, found.confidence_interval())
        chance = float(np.nan_to_num(found.pvalue, nan=1.0))
        if self.of == "error" and any(self.better):
            chance = float(binomtest(self.better[0], sum(self.better)).pvalue)
        return Difference(mean, low, high, max(chance, least) if mean else 1.0)

    def verdict(self, names: tuple[str, str] = ("the first model", "the second model")) -> str:
        """Return which model is better, and whether that could be chance, in one sentence."""
        found = self.difference
        if not found.difference:
            return f"Neither is better: both have the same {self.of}."
        ahead = names[int(found.difference < 0)]
        ahead = ahead[0].upper() + ahead[1:]
        kind = "exact McNemar test" if self.of == "error" else "paired t-test"
        size = f"= {found.p_value:.2g}" if found.p_value >= 1e-4 else "< 0.0001"
        test = f"(p {size}, {kind})"
        if found.p_value < CHANCE:
            return f"{ahead} is better, and that is hardly chance {test}."
        return f"{ahead} has the lower {self.of}, but that could be chance {test}."

    def headline(self) -> str:
        """Return the verdict without its full stop."""
        return self.verdict().removesuffix(".")

    def counts(self) -> dict[str, Any]:
        """Return the number of rows, of those that one model alone has right, and of unknown."""
        first, second = self.better
        counts = {"rows": self.rows, "only_first_right": first, "only_second_right": second}
        return counts | {"unknown": self.unknown}

    def figures(self) -> dict[str, float]:
        """Return the difference of the errors, its interval and its p-value."""
        return self.difference._asdict()

    def tables(self) -> list[Table]:
        """Return the figures of both models."""
        first, second = (one.figures() for one in self.results)
        columns = {"figure": "", "A": "g", "B": "g", "B − A": "+.4f"}
        rows = [
            (name_figure(name), value, second[name], second[name] - value)
            for name, value in first.items()
            if value is not None and second.get(name) is not None
        ]
        return [Table("figures", "Figures of both models", columns, rows)]

    def as_dict(self) -> dict[str, Any]:
        """Return all figures as JSON values."""
        return {**super().as_dict(), "verdict": self.verdict()}


def compare(
    learners: tuple[Any, Any], files: tuple[Any, Any], tell: Callable[[int], None] | None = None
) -> Comparison:
    """Compare two models on a file that was opened for each of them.

    ``tell`` receives the bytes read so far.
    """
    kinds = [
        (learner.target_kind == "numbers", getattr(file, "examples", "rows"))
        for learner, file in zip(learners, files, strict=True)
    ]
    if kinds[0] != kinds[1]:
        raise InputError(
            "Models of different examples or targets, such as classes and numbers, cannot be "
            "compared; choose two of one kind.",
            code="model-kinds",
        )
    labels: tuple[list[Array], list[Array]] = ([], [])
    errors: tuple[list[Array], list[Array]] = ([], [])
    results = list[Result]()
    for learner, file, words, wrong in zip(learners, files, labels, errors, strict=True):

        def keep(some: Any, flags: Array, words: Any = words, wrong: Any = wrong) -> None:
            words.append(np.fromiter(map(hash, some), np.int64, len(some)))
            wrong.append(flags)

        results.append(evaluate(learner, file, tell, keep=keep))
    if not all(errors):
        raise InputError("There are no rows to compare the models on.", code="no-rows")
    first, second = map(np.concatenate, labels)
    if not np.array_equal(first, second):
        raise InputError(
            "The models read different rows or labels from the file; compare models of one label "
            "that leave out the same rows.",
            code="other-rows",
        )
    both = np.concatenate(errors[0]), np.concatenate(errors[1])
    return Comparison((results[0], results[1]), both)
