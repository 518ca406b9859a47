"""Relevance of rows within groups: the target of ranking, its pairs, NDCG and AUC."""

from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..kernels.ranking import PairIndex, count_ordered
from ..parameters import InputError
from .rows import Array
from .targets import ClassTarget, NumberTarget, TargetWithoutClasses, describe

GRADED = np.dtype([("relevance", np.float64), ("group", np.uint64)])
"""The code of a row: its relevance, and the key of its group."""
TOP = 10  # rows, whose order NDCG@10 is about


def make_keys(groups: ArrayLike) -> Array:
    """A 64-bit key of each group, by its name; numbers and their words have the same.

    >>> bool(make_keys([3, 4])[0] == make_keys(["3", "x"])[0])
    True
    """
    names, numbers = np.unique(np.asarray(groups), return_inverse=True)
    words = tidy_names(names)
    keys = [int.from_bytes(blake2b(str(name).encode(), digest_size=8).digest()) for name in words]
    return np.array(keys, np.uint64)[numbers.ravel()]


def tidy_names(names: Array) -> list[Any]:
    """Names of groups as plain values; whole numbers without a decimal point."""
    if names.dtype.kind == "f":
        return [int(name) if name.is_integer() else name for name in names.tolist()]
    return list(names.tolist())


def grade(relevance: ArrayLike, keys: Array) -> Array:
    """The codes of rows by their relevance and the keys of their groups."""
    codes = np.empty(len(keys), GRADED)
    codes["relevance"], codes["group"] = relevance, keys
    return codes


def refuse_negative(codes: Array, first_row: int = 0) -> Array:
    """Return codes whose relevance is 0 or more, as NDCG needs; ``first_row`` is for the error."""
    bad = np.flatnonzero(~(codes["relevance"] >= 0))
    if len(bad):
        row = first_row + int(bad[0]) + 1
        raise InputError(
            f"Row {row} has the relevance {codes['relevance'][bad[0]]:g}; expected a number from 0 "
            "up, as NDCG needs.",
            code="relevance-negative",
            line=row,
        )
    return codes


# Pairs


class Sorted(NamedTuple):
    """Rows sorted by group and by something else, and where runs of equal rows begin and end."""

    rows: Array
    groups: Array
    runs: Array

    @property
    def group_sizes(self) -> Array:
        """The number of rows of each group."""
        return np.diff(self.groups)

    def spread(self, values: Array) -> Array:
        """Repeat a value of each group for its rows."""
        return np.repeat(values, self.group_sizes)


def sort_rows(groups: Array, values: Array, descending: bool = False) -> Sorted:
    """Sort rows by group, and the rows of each group by a value."""
    rows = np.lexsort((-values if descending else values, groups))
    new_group = find_starts(groups[rows])
    return Sorted(rows, mark_edges(new_group), mark_edges(new_group | find_starts(values[rows])))


def find_starts(values: Array) -> Array:
    """Flag the values that differ from the one before."""
    return np.append(True, values[1:] != values[:-1])[: len(values)]


def mark_edges(starts: Array) -> Array:
    """The places where runs begin, and the end of the last."""
    return np.append(np.flatnonzero(starts), len(starts))


def index_pairs(codes: Array, some: Array) -> PairIndex:
    """Index the pairs of some rows, by number, for the kernel."""
    chosen = codes[some]
    found = sort_rows(chosen["group"], chosen["relevance"])
    rows = np.asarray(some)[found.rows]
    places = []
    for edges in (found.groups, found.runs):
        for ends in (edges[:-1], edges[1:]):
            each = np.zeros(len(codes), np.uint32)
            each[rows] = np.repeat(ends, np.diff(edges))
            places.append(each)
    return PairIndex(rows.astype(np.uint32), *places)


def rows_with_pairs(codes: Array, some: Array) -> Array:
    """Those of some rows whose groups have rows of another relevance among them."""
    index = index_pairs(codes, some)
    others = (index.last - index.first) > (index.same_last - index.same_first)
    return np.asarray(some[others[some]])


def refuse_no_pairs(count: int) -> None:
    """Refuse to learn from no rows with pairs."""
    if not count:
        raise InputError(
            "No group has rows of different relevance and of a weight above zero, so there is no "
            "pair to learn from; a group needs more than one sample.",
            code="no-pairs",
        )


def find_smallest_margins(scores: Array, pairs: PairIndex) -> Array:
    """The smallest margin of all pairs of each row: how far its score leads in the right order."""
    members, count = pairs.members, len(pairs.members)
    ordered = np.sort(scores[members])
    ranks = np.argsort(np.argsort(scores[members], kind="stable"))
    keys = pairs.first[members].astype(np.int64) * count + ranks  # groups follow each other
    best = np.append(0, np.maximum.accumulate(keys))[pairs.same_first[members]]
    worst = np.append(np.minimum.accumulate(keys[::-1])[::-1], 0)[pairs.same_last[members]]
    own, margins = scores[members], np.full(len(scores), np.inf)
    above = np.where(
        pairs.same_first[members] > pairs.first[members], own - ordered[best % count], np.inf
    )
    below = np.where(
        pairs.same_last[members] < pairs.last[members], ordered[worst % count] - own, np.inf
    )
    margins[members] = np.minimum(above, below)
    return margins


# Metrics of each group; those of scikit-learn


def gains(relevance: Array, found: Sorted, top: int | None) -> Array:
    """The discounted cumulative gain of each group; rows of equal scores share their gains."""
    places = np.arange(len(found.rows)) - found.spread(found.groups[:-1])
    discounts = 1.0 / np.log2(places + 2.0)
    if top is not None:
        discounts[places >= top] = 0.0
    begins = found.runs[:-1]
    means = np.add.reduceat(relevance[found.rows], begins) / np.diff(found.runs)
    sums = np.add.reduceat(discounts, begins) * means
    return np.asarray(np.add.reduceat(sums, np.searchsorted(begins, found.groups[:-1])))


class GroupMetrics(NamedTuple):
    """Metrics of each group that has rows of different relevance.

    Attributes
    ----------
    ndcg, ndcg_at_10
        Normalized discounted cumulative gain of all rows, and of the ten with the highest scores.
    random_ndcg, random_ndcg_at_10
        The same for a random order, in the mean.
    right
        The pairs in the right order; a pair with equal scores counts half.
    pairs
        The pairs of rows with different relevance.
    """

    ndcg: Array
    ndcg_at_10: Array
    random_ndcg: Array
    random_ndcg_at_10: Array
    right: Array
    pairs: Array

    @property
    def auc(self) -> Array:
        """The share of pairs in the right order; for two grades, the area under the ROC curve."""
        return np.asarray(self.right / self.pairs)


def measure_groups(scores: Array, codes: Array) -> GroupMetrics:
    """Compute the metrics of each group, in the order of their keys."""
    relevance, keys = codes["relevance"], codes["group"]
    by_score, best = (sort_rows(keys, values, descending=True) for values in (scores, relevance))
    level = sort_rows(keys, np.zeros(len(keys)))
    right, pairs = count_pairs(scores, codes)
    decided = pairs > 0
    figures = []
    for found in (by_score, level):
        for top in (None, TOP):
            with np.errstate(invalid="ignore"):
                figures.append(gains(relevance, found, top) / gains(relevance, best, top))
    return GroupMetrics(*(each[decided] for each in (*figures, right, pairs)))


def count_pairs(scores: Array, codes: Array) -> tuple[Array, Array]:
    """Count the pairs of each group in the right order, ties as halves, and all its pairs."""
    found = sort_rows(codes["group"], codes["relevance"])
    by_score = sort_rows(codes["group"], scores)
    numbers = np.empty(len(scores), np.intp)
    numbers[by_score.rows] = np.repeat(np.arange(len(by_score.runs) - 1), np.diff(by_score.runs))
    firsts = found.spread(numbers[by_score.rows[by_score.groups[:-1]]])
    right, tied = (np.zeros(len(found.groups) - 1, np.int64) for _ in range(2))
    tree = np.zeros(int(found.group_sizes.max(initial=0)) + 2, np.int64)
    ranks = numbers[found.rows] - firsts + 1
    count_ordered(found.groups, found.runs, ranks, tree, right, tied)
    sizes, same = found.group_sizes.astype(float), np.square(np.diff(found.runs).astype(float))
    begins = np.searchsorted(found.runs[:-1], found.groups[:-1])
    return right + tied / 2, (np.square(sizes) - np.add.reduceat(same, begins)) / 2


class RankingScore:
    """Scores of rows with their relevance and groups, from which the figures are computed.

    Groups whose rows all have the same relevance do not count.
    """

    def __init__(self) -> None:
        self.parts = list[tuple[Array, Array]]()

    @property
    def rows(self) -> int:
        """The number of rows."""
        return sum(len(codes) for _, codes in self.parts)

    def compare(self, predicted: Array, codes: Array) -> None:
        """Add rows with their scores; a group may go on in the next call."""
        self.parts.append((np.asarray(predicted, np.float64), codes))

    def begin_sum(self) -> "RankingScore":
        """A score without rows, to add those of several models."""
        return RankingScore()

    def add(self, other: "RankingScore") -> None:
        """Add the groups that another model has scored."""
        self.parts += other.parts

    def measure(self) -> GroupMetrics:
        """Compute the metrics of each group."""
        if not self.rows:
            return GroupMetrics(*np.empty((6, 0)))
        return measure_groups(*map(np.concatenate, zip(*self.parts, strict=True)))

    def __repr__(self) -> str:
        return describe(self, self.as_dict())

    def figures(self) -> dict[str, float | None]:
        """The means over groups of NDCG@10, NDCG and AUC; None without groups that count."""
        found = self.measure()
        names = ("ndcg_at_10", "ndcg", "auc")
        return {name: mean(getattr(found, name)) if len(found.pairs) else None for name in names}

    def as_dict(self) -> dict[str, float | None]:
        """All figures, counts and the NDCG of a random order as JSON values."""
        found = self.measure()
        random = ("random_ndcg_at_10", "random_ndcg")
        return {
            "rows": self.rows,
            "groups": len(found.pairs),
            **self.figures(),
            **{name: mean(getattr(found, name)) if len(found.pairs) else None for name in random},
            "pairs": int(found.pairs.sum()),
            "pairs_wrong": float((found.pairs - found.right).sum()),
        }


def mean(values: Array) -> float:
    """The mean; NaN of no values."""
    return float(values.mean()) if len(values) else float("nan")


@dataclass(frozen=True)
class RankingTarget(TargetWithoutClasses):
    """The relevance of a row among the rows of its group; its code has both."""

    def encode(self, labels: Array, first_row: int = 0, held: Array | None = None) -> Array:
        """The codes, which labels with groups are already; ``first_row`` is for errors."""
        if labels.dtype != GRADED:
            raise InputError(
                "The rows have no groups, within which the model ranks them; add the column of "
                "groups, qid: in svmlight, or groups beside y in Python.",
                code="no-groups",
            )
        return refuse_negative(labels, first_row)

    def decide(self, scores: Array, ties: str = "mistake") -> Array:
        """The scores, in double precision."""
        return scores.astype(np.float64)

    def new_score(self) -> RankingScore:
        """Collect scores."""
        return RankingScore()


AnyTarget = ClassTarget | NumberTarget | RankingTarget
