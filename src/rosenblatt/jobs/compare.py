"""Compare two models on the same rows, and test whether their difference could be chance.

Errors are compared by the exact McNemar test (McNemar 1947), which is a sign test of the rows that
only one model gets right. Other losses and all intervals are those of a paired t-test of
consecutive blocks of rows, at most ``MOST_BLOCKS``, so that memory does not grow with the file.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ..data.results import Result, Table
from ..data.rows import Array, n_rows
from ..parameters import InputError
from ..reading.reader import Reader
from .data import ExampleFile
from .evaluate import new_evaluation, scored
from .evaluation import RowLosses

MOST_BLOCKS = 2_000
CHANCE = 0.05  # a larger p-value could be chance


class Difference(NamedTuple):
    """A mean loss of both models, second less first with its 95 % interval, and a p-value."""

    first: float
    second: float
    difference: float
    low: float
    high: float
    p_value: float


@dataclass(repr=False)
class Comparison(Result):
    """Losses of two models on the same rows.

    Attributes
    ----------
    counted : str
        What is compared.
    rows : int
        The number of rows, or of what the models predict.
    better : tuple of int
        The rows on which only the first, and only the second model is right.
    unknown : int
        The rows with labels that one of the models does not know.
    blocks : list of ndarray
        The number of rows, that of known labels, and the sums of both models' losses, in
        consecutive blocks.
    """

    unknown_remark = (
        "that one of the models does not know{example} count as errors, and not in the other "
        "figures"
    )
    names: list[str] = field(default_factory=list)
    counted: str = "row"
    rows: int = 0
    unknown: int = 0
    better: tuple[int, int] = (0, 0)
    blocks: list[Array] = field(default_factory=list)
    size: int = field(default=1, init=False)
    """Rows in a block; doubled when there are too many blocks."""

    def add(self, one: RowLosses, other: RowLosses) -> None:
        """Add the losses of both models on the same rows."""
        self.names = self.names or [name for name in one.losses if name in other.losses]
        pairs = [(one.losses[name], other.losses[name]) for name in self.names]
        first, second = pairs[0]
        better = np.count_nonzero(first < second), np.count_nonzero(second < first)
        self.better = self.better[0] + int(better[0]), self.better[1] + int(better[1])
        known = ~(one.unknown | other.unknown)
        others = [np.where(known, loss, 0.0) for pair in pairs[1:] for loss in pair]
        columns = [np.ones(len(one)), known, first, second, *others]
        self.add_blocks(np.column_stack(columns).astype(np.float64))
        self.rows += len(one)
        self.unknown += int(np.count_nonzero(~known))

    def add_blocks(self, table: Array) -> None:
        """Add rows to the last block and to new ones; merge neighbours if there are too many."""
        if self.blocks and self.blocks[-1][0] < self.size:
            room = self.size - int(self.blocks[-1][0])
            self.blocks[-1] = self.blocks[-1] + table[:room].sum(axis=0)
            table = table[room:]
        if len(table):
            starts = np.arange(0, len(table), self.size)
            self.blocks += list(np.add.reduceat(table, starts, axis=0))
        while len(self.blocks) > MOST_BLOCKS:
            pairs = [self.blocks[k : k + 2] for k in range(0, len(self.blocks), 2)]
            self.blocks, self.size = [np.sum(pair, axis=0) for pair in pairs], 2 * self.size

    @property
    def p_value(self) -> float:
        """The chance of a first loss at least as different if both models were equally good."""
        return self.differences()[self.names[0]].p_value

    def differences(self) -> dict[str, Difference]:
        """Return the mean losses by name, with intervals and p-values."""
        from scipy.stats import binomtest

        table, found = np.array(self.blocks), {}
        for k, name in enumerate(self.names):
            rows, first, second = table[:, [min(k, 1), 2 + 2 * k, 3 + 2 * k]].T
            if not (total := rows.sum()):  # no label is known to both
                continue
            means = float(first.sum() / total), float(second.sum() / total)
            half, chance = paired_t_test(second - first, rows)
            if name == "error" and any(self.better):
                chance = float(binomtest(self.better[0], sum(self.better)).pvalue)
            shift = means[1] - means[0]
            found[name] = Difference(*means, shift, shift - half, shift + half, chance)
        return found

    def verdict(self, names: tuple[str, str] = ("the first model", "the second model")) -> str:
        """Return which model is better, and whether that could be chance, in one sentence."""
        found = self.differences()[self.names[0]]
        if not found.difference:
            return f"Neither is better: both have the same {self.names[0]}."
        ahead = names[int(found.second < found.first)]
        ahead = ahead[0].upper() + ahead[1:]
        kind = "exact McNemar test" if self.names[0] == "error" else "paired t-test"
        test = f"p = {max(found.p_value, 1e-4):.2g}, {kind}"
        test = test.replace("p = 0.0001", "p < 0.0001") if found.p_value < 1e-4 else test
        if found.p_value < CHANCE:
            return f"{ahead} is better, and that is hardly chance ({test})."
        return f"{ahead} has the lower {self.names[0]}, but that could be chance ({test})."

    def headline(self) -> str:
        """Return the verdict without its full stop."""
        return self.verdict().removesuffix(".")

    def counts(self) -> dict[str, Any]:
        """Return the number of rows, of those that one model alone has right, and of unknown."""
        first, second = self.better
        counts = {"rows": self.rows, "only_first_right": first, "only_second_right": second}
        return counts | {"unknown": self.unknown}

    def figures(self) -> dict[str, float | None]:
        """Return the p-value of the first loss."""
        return {"p_value": self.p_value}

    def tables(self) -> list[Table]:
        """Return the mean losses of both models, their difference and its interval."""
        columns = {"loss": "", "A": ".4f", "B": ".4f", "B − A": "+.4f"}
        columns |= {"low": "+.4f", "high": "+.4f"}
        rows = [(name, *one[:5]) for name, one in self.differences().items()]
        return [Table("losses", "Mean losses, with 95 % intervals of B − A", columns, rows)]

    def as_dict(self) -> dict[str, Any]:
        """Return all figures as JSON values."""
        found = {
            name: {
                key: value if np.isfinite(value) else None for key, value in one._asdict().items()
            }
            for name, one in self.differences().items()
        }
        return {**super().as_dict(), "losses": found, "verdict": self.verdict()}


def paired_t_test(differences: Array, rows: Array) -> tuple[float, float]:
    """Return half the 95 % interval of the mean difference per row, and the p-value.

    Takes the sums of the differences in blocks, and the number of rows in each. The p-value is at
    least that of n differences of one sign, 2 / 2ⁿ.
    """
    from scipy.stats import t

    n, total = int(np.count_nonzero(rows)), rows.sum()
    mean = differences.sum() / total
    if n < 2:
        return np.inf, 1.0
    spread = float(np.sqrt(np.square(differences - mean * rows).sum() * n / (n - 1))) / total
    chance = 2 * t.sf(abs(mean) / spread, n - 1) if spread else float(mean == 0)
    return float(t.ppf(0.975, n - 1)) * spread, max(float(chance), 2.0 ** (1 - n))


def compare(
    learners: tuple[Any, Any], files: tuple[Any, Any], tell: Callable[[int], None] | None = None
) -> Comparison:
    """Compare two models on a file that was opened for each of them.

    ``tell`` receives the bytes read so far.
    """
    if len({getattr(file, "examples", "rows") for file in files}) > 1:
        raise InputError(
            "Models of different kinds of examples cannot be compared; choose two of one kind.",
            code="model-kinds",
        )
    numbers = [learner.target_kind == "numbers" for learner in learners]
    if numbers[0] != numbers[1]:
        raise InputError(
            "Models of different targets, such as classes and numbers, cannot be compared; choose "
            "two of one kind.",
            code="model-kinds",
        )
    result = Comparison(counted=getattr(files[0], "counted", "row"))
    streams = [read_losses(*pair, tell) for pair in zip(learners, files, strict=True)]
    for one, other in pair_rows(*streams):
        if not np.array_equal(one.labels, other.labels):
            raise InputError(
                "The models read different labels from the file; compare models of one label.",
                code="other-labels",
            )
        result.add(one, other)
    if not result.rows:
        raise InputError("There are no rows to compare the models on.", code="no-rows")
    return result


def pair_rows(
    one: Iterator[RowLosses], other: Iterator[RowLosses]
) -> Iterator[tuple[RowLosses, RowLosses]]:
    """Yield pieces of two streams with the same rows; each stream is cut in its own way."""
    left, right = next(one, None), next(other, None)
    while left is not None and right is not None:
        count = min(len(left), len(right))
        yield left.cut(0, count), right.cut(0, count)
        left = left.cut(count) if count < len(left) else next(one, None)
        right = right.cut(count) if count < len(right) else next(other, None)
    if left is not None or right is not None:
        raise InputError(
            "The models read different numbers of rows from the file; compare models that leave "
            "out the same rows.",
            code="other-rows",
        )


def read_losses(
    learner: Any, file: Reader | ExampleFile, tell: Callable[[int], None] | None = None
) -> Iterator[RowLosses]:
    """Yield the losses of a model on a file, part by part."""
    if isinstance(file, ExampleFile):
        yield from file.read_losses(learner, tell)
        return
    result, row = new_evaluation(learner), 0
    for batch, scores in scored(learner, file):
        if tell is not None:
            tell(batch.bytes_read)
        yield result.row_losses(batch, scores, learner.choose(scores), row)
        row += n_rows(batch.rows)
