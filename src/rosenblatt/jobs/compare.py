"""Compare two models on the same rows, and test whether their difference could be chance.

Errors are compared by the exact McNemar test (McNemar 1947), which is a sign test of the rows that
only one model gets right. Intervals are those of a paired bootstrap (Efron 1979) of consecutive
blocks of rows, at most ``MOST_BLOCKS``, so that memory does not grow with the file.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ..data.labels import LabelSets, as_words
from ..data.metrics import LEAST
from ..data.rows import Array, n_rows
from ..data.targets import as_numbers, describe
from ..parameters import InputError
from ..reading.batches import get_label_sets, get_labels
from ..reading.reader import Reader
from .data import SentenceFile
from .decisions import find_probabilities
from .evaluate import scored
from .evaluation import encode_words

MOST_BLOCKS = 2_000
SAMPLES = 2_000
CHANCE = 0.05  # a larger p-value could be chance
SEED = 0


class RowLosses(NamedTuple):
    """The labels of some rows in words, and the losses of a model on them by name.

    The first loss decides which of two models is better on a row; of classes it is 1 for an error.
    """

    labels: Array
    losses: dict[str, Array]

    def __len__(self) -> int:
        return len(self.labels)

    def cut(self, first: int, stop: int | None = None) -> "RowLosses":
        """Return some of the rows."""
        some = slice(first, stop)
        return RowLosses(
            self.labels[some], {name: loss[some] for name, loss in self.losses.items()}
        )


class Difference(NamedTuple):
    """A mean loss of both models, second less first with its 95 % interval, and a p-value."""

    first: float
    second: float
    difference: float
    low: float
    high: float
    p_value: float


@dataclass(repr=False)
class Comparison:
    """Losses of two models on the same rows.

    Attributes
    ----------
    rows : int
        The number of rows, or of tokens for taggers.
    better : tuple of int
        The rows on which only the first, and only the second model is right.
    blocks : list of ndarray
        The number of rows and the sums of both models' losses, in consecutive blocks.
    """

    names: list[str] = field(default_factory=list)
    rows: int = 0
    better: tuple[int, int] = (0, 0)
    blocks: list[Array] = field(default_factory=list)
    size: int = field(default=1, init=False)
    """Rows in a block; doubled when there are too many blocks."""

    def __repr__(self) -> str:
        known = {"rows": self.rows, "better": self.better, "p_value": self.p_value}
        return describe(self, known)

    def add(self, one: RowLosses, other: RowLosses) -> None:
        """Add the losses of both models on the same rows."""
        self.names = self.names or [name for name in one.losses if name in other.losses]
        pairs = [(one.losses[name], other.losses[name]) for name in self.names]
        first, second = pairs[0]
        better = np.count_nonzero(first < second), np.count_nonzero(second < first)
        self.better = self.better[0] + int(better[0]), self.better[1] + int(better[1])
        columns = [np.ones(len(one)), *(loss for pair in pairs for loss in pair)]
        self.add_blocks(np.column_stack(columns).astype(np.float64))
        self.rows += len(one)

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
        """The chance of a difference as large if both models were equally good on single rows."""
        from scipy.stats import binomtest

        total = sum(self.better)
        return float(binomtest(self.better[0], total).pvalue) if total else 1.0

    def differences(self) -> dict[str, Difference]:
        """Return the mean losses by name, with the intervals of the bootstrap."""
        table = np.array(self.blocks)
        random, n = np.random.default_rng(SEED), len(table)
        times = random.multinomial(n, np.full(n, 1 / n), SAMPLES)
        sampled, found = times @ table, {}
        for k, name in enumerate(self.names):
            rows, first, second = (table[:, j].sum() for j in (0, 1 + 2 * k, 2 + 2 * k))
            shifts = (sampled[:, 2 + 2 * k] - sampled[:, 1 + 2 * k]) / sampled[:, 0]
            low, high = np.quantile(shifts, [0.025, 0.975])
            tail = min(np.mean(shifts <= 0), np.mean(shifts >= 0))
            chance = self.p_value if not k else min(1.0, 2 * max(float(tail), 1 / SAMPLES))
            means = float(first / rows), float(second / rows)
            found[name] = Difference(*means, means[1] - means[0], float(low), float(high), chance)
        return found

    def verdict(self, names: tuple[str, str] = ("the first model", "the second model")) -> str:
        """Return which model is better, and whether that could be chance, in one sentence."""
        found = self.differences()[self.names[0]]
        if not found.difference:
            return f"Neither is better: both have the same {self.names[0]}."
        ahead = names[int(found.second < found.first)]
        ahead = ahead[0].upper() + ahead[1:]
        exact = "exact McNemar test" if self.names[0] == "error" else "exact sign test"
        test = f"p = {max(found.p_value, 1e-4):.2g}, {exact}"
        test = test.replace("p = 0.0001", "p < 0.0001") if found.p_value < 1e-4 else test
        if found.p_value < CHANCE:
            return f"{ahead} is better, and that is hardly chance ({test})."
        return f"{ahead} has the lower {self.names[0]}, but that could be chance ({test})."

    def as_dict(self) -> dict[str, Any]:
        """Return all figures as JSON values."""
        return {
            "rows": self.rows,
            "only_first_right": self.better[0],
            "only_second_right": self.better[1],
            "p_value": self.p_value,
            "losses": {name: one._asdict() for name, one in self.differences().items()},
            "verdict": self.verdict(),
        }


def compare(
    learners: tuple[Any, Any],
    files: tuple[Any, Any],
    tell: Callable[[int], None] | None = None,
) -> Comparison:
    """Compare two models on a file that was opened for each of them.

    ``tell`` receives the bytes read so far.
    """
    if learners[0].reads != learners[1].reads:
        raise InputError(
            "A tagger and a model of rows cannot be compared; choose two of one kind.",
            code="model-kinds",
        )
    numbers = [learner.target_kind == "numbers" for learner in learners]
    if numbers[0] != numbers[1]:
        raise InputError(
            "Models of different targets, such as classes and numbers, cannot be compared; choose "
            "two of one kind.",
            code="model-kinds",
        )
    if learners[0].target_kind == "ranking":
        raise InputError(
            "Models are compared row by row, and a ranker orders groups; compare the figures of "
            "score.",
            code="model-kinds",
        )
    result = Comparison()
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
    learner: Any, file: Reader | SentenceFile, tell: Callable[[int], None] | None = None
) -> Iterator[RowLosses]:
    """Yield the losses of a model on a file, part by part."""
    if isinstance(file, SentenceFile):
        from .sentences import read_to_tag

        names = learner.classes.astype(str)
        for read in read_to_tag(learner, file, with_tags=True, tell=tell):
            assert read.tags is not None
            wanted = np.array(read.tags.texts(), object)
            found = names[learner.predict(read.sentences)]
            yield RowLosses(wanted, {"error": found != wanted})
        return
    row = 0
    for batch, scores in scored(learner, file):
        if tell is not None:
            tell(batch.bytes_read)
        yield compute_losses(learner, batch, scores, row)
        row += n_rows(batch.rows)


def compute_losses(learner: Any, batch: Any, scores: Array, row: int) -> RowLosses:
    """Compute the losses of the rows of a batch; ``row`` rows came before it."""
    classes, chosen = learner.classes, learner.choose(scores)
    if learner.target_kind == "numbers":
        numbers = as_numbers(get_labels(batch, row), row)
        return RowLosses(numbers, {"MAE": np.abs(numbers - chosen)})
    if learner.multilabel:
        sets = get_label_sets(batch)
        words = LabelSets(as_words(sets.values, classes), sets.starts)
        codes, count = encode_words(words.values, classes), len(classes)
        has = words.indicator(codes, count + 1)
        wrong = (has[:, :count] != chosen).any(axis=1) | has[:, count]
        return RowLosses(
            np.array([";".join(sorted(each)) for each in words], object), {"error": wrong}
        )
    labels = as_words(get_labels(batch, row), classes)
    codes = encode_words(labels, classes)
    losses: dict[str, Array] = {"error": codes != chosen}
    known = codes < len(classes)
    if learner.target_kind == "ranks":
        losses["rank error"] = np.where(known, np.abs(codes - chosen), len(classes) - 1)
    chances = find_probabilities(learner)
    if chances is not None:
        given = chances(scores)[np.arange(len(codes)), np.where(known, codes, 0)]
        losses["log loss"] = -np.log(np.clip(np.where(known, given, 0.0), LEAST, 1.0))
    return RowLosses(labels, losses)
