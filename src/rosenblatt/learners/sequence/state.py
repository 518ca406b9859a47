"""The weights of a tagger while it learns, and what their average needs."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ...data.rows import Array
from ...kernels.sequences import PathSums, PathWeights
from ...kernels.vectors import LANES
from ...parameters import ParameterError
from ...training.tasks import Learnt
from .schemes import make_exclusions

ROWS_AT_ONCE = 1 << 15
MOST_WEIGHTS = 2**28
MOST_PATHS = 2**24  # to compare at each token: 4,096 tags, or 256 that depend on two before


class Shape(NamedTuple):
    """How many tags there are, and how many tags before one it depends on."""

    tags: int
    markov: int

    @property
    def width(self) -> int:
        """Tags as whole vectors."""
        return -(-self.tags // LANES) * LANES


def refuse_too_many_tags(shape: Shape, greedy: bool) -> None:
    """Refuse more tags than memory or time allow, and say what they would need."""
    tags, markov = shape
    paths = tags ** (markov + 1)
    if paths <= (MOST_WEIGHTS if greedy else MOST_PATHS):
        return
    size = 12 / 2**20  # of a weight and its sum, in MiB
    instead = "" if greedy else ", or {search?} greedy"
    fewer = ", or a smaller {markov?}" if markov > 1 else ""
    raise ParameterError(
        f"{tags:,} tags would need {paths * size:,.0f} MiB for their transitions and "
        f"{1000 * tags * size:,.0f} MiB for every 1,000 features, and compare {paths:,} paths at "
        f"each token; use another {{label?}}{fewer}{instead}.",
        code="too-many-tags",
    )


class Table(NamedTuple):
    """Rows of weights by key, sorted: of transitions by number, of features by a lasting key."""

    keys: Array
    rows: Array

    @classmethod
    def of(cls, keys: Array, rows: Array) -> "Table":
        """Rows in any order."""
        order = np.argsort(keys)
        return cls(keys[order], rows[order])

    @classmethod
    def total(cls, tables: Sequence["Table"]) -> "Table":
        """The sum of tables in double precision, added in their order."""
        keys = np.unique(np.concatenate([table.keys for table in tables]))
        rows = np.zeros((len(keys), tables[0].rows.shape[1]))
        for table in tables:
            rows[np.searchsorted(keys, table.keys)] += table.rows
        return cls(keys, rows)

    @property
    def nbytes(self) -> int:
        """Their size."""
        return self.keys.nbytes + self.rows.nbytes

    def find_rows(self, keys: Array) -> Array:
        """The rows of some keys, 0 where there is none."""
        rows = np.zeros((len(keys), self.rows.shape[1]), self.rows.dtype)
        places = np.searchsorted(self.keys, keys)
        known = np.isin(keys, self.keys)
        rows[known] = self.rows[places[known]]
        return rows

    def times(self, factor: float) -> "Table":
        """The same, multiplied."""
        return Table(self.keys, self.rows * factor)


@dataclass
class PathState:
    """Weights of features and transitions, with what their average needs.

    A feature has weights from its first update on. ``seen`` counts sentences, or tokens where each
    is learnt by itself.
    """

    weights: PathWeights
    sums: PathSums
    shape: Shape
    seen: int = 0
    mistakes: int = 0

    @classmethod
    def zeros(
        cls, shape: Shape, average: bool, forbidden: tuple[Array, Array] | None
    ) -> "PathState":
        """Weights of zero, except for what is forbidden; no feature has any yet."""
        tags, markov = shape
        rows = tags + 1
        moves, last = np.zeros((rows, tags), bool), np.zeros(tags, bool)
        if forbidden is not None:
            moves, last = forbidden
        pairs = np.zeros((rows * rows if markov > 1 else 0, shape.width), np.float32)
        weights = PathWeights(
            np.zeros(shape.width, np.float32),
            make_exclusions(moves, shape.width).ravel(),
            pairs.ravel(),
            make_exclusions(last[None], shape.width).ravel(),
            np.zeros(0, np.uint32),
            np.ones(1, np.int64),
        )
        kept = (tags, rows * shape.width, pairs.size) if average else (0, 0, 0)
        return cls(weights, PathSums(*map(np.zeros, kept)), shape)

    @property
    def averaged(self) -> bool:
        """Whether the mean of the weights is wanted."""
        return len(self.sums.transitions) > 0

    @property
    def rows(self) -> Array:
        """The row of each feature's weights, 0 for those without."""
        assert self.weights.rows is not None
        return self.weights.rows

    @property
    def used(self) -> int:
        """How many rows of weights are in use, with that of zeros."""
        assert self.weights.used is not None
        return int(self.weights.used[0])

    def sweep(self, task: Any, order: Array, most: int | None) -> Iterator[Learnt]:
        """Learn from the sentences in an order, so many updates at a time."""
        position, begun = 0, self.seen
        while position < len(order):
            learnt = task.learn(self, order, position, most)
            position = learnt.position
            self.mistakes += len(learnt.updates)
            yield learnt
        if self.seen == begun:  # by sentences, which the task counts from the order
            self.seen += len(order)

    def widen(self, width: int) -> None:
        """There are so many features by now."""
        if width > len(self.rows):
            new = np.zeros(width - len(self.rows), np.uint32)
            self.weights = self.weights._replace(rows=np.concatenate([self.rows, new]))

    def make_room(self, lacking: int) -> None:
        """Let so many more features be moved, and a quarter of as many as there are."""
        tags, width = self.shape.tags, self.shape.width
        count = len(self.weights.emissions) // width + max(lacking, self.used // 4, 1 << 12)
        if count * tags > MOST_WEIGHTS:
            count = self.used + lacking
        if count * tags > MOST_WEIGHTS:
            raise ParameterError(
                f"{count:,} features and {tags:,} tags need more weights than {MOST_WEIGHTS:,}; "
                "name fewer templates with {features?}.",
                code="too-many-weights",
            )
        emissions = longer(self.weights.emissions, count * width)
        self.weights = self.weights._replace(emissions=emissions)
        if self.averaged:
            summed = longer(self.sums.emissions, count * tags)
            self.sums = self.sums._replace(emissions=summed)

    def view_rows(self, features: Array) -> Array:
        """The rows of features, 0 for those without weights."""
        return np.asarray(self.rows[features])

    def features(self) -> Array:
        """The features that have weights, in the order of their rows."""
        moved = np.flatnonzero(self.rows)
        order = np.empty(self.used - 1, np.int64)
        order[self.rows[moved] - 1] = moved
        return order

    def renumber(self) -> None:
        """Features that have weights are from now on numbered by their rows; others are gone."""
        rows = np.arange(1, self.used, dtype=np.uint32)
        self.weights = self.weights._replace(rows=rows)

    def trim(self) -> None:
        """Give back the room that no feature uses."""
        self.weights = self.weights._replace(
            emissions=longer(self.weights.emissions, self.used * self.shape.width)
        )
        if self.averaged:
            sums = longer(self.sums.emissions, self.used * self.shape.tags)
            self.sums = self.sums._replace(emissions=sums)

    def stop_reason(self, clean: bool) -> str:
        """Return the reason to stop, or "" to continue; ``clean``: the epoch made no mistake."""
        return "separated" if clean else ""

    def by_row(self) -> list[Array]:
        """The weights and sums of features as views with a row per row in use."""
        tables = [self.weights.emissions.reshape(-1, self.shape.width)[: self.used]]
        if self.averaged:
            tables.append(self.sums.emissions.reshape(-1, self.shape.tags)[: self.used])
        return tables

    def snapshot(self, features: Array) -> Callable[[], None]:
        """Return a function that undoes what learning from tokens with some features changes.

        It keeps copies of the rows of these features and of all transitions.
        """
        before, used = (self.seen, self.mistakes), self.used
        count = len(self.rows)
        known = np.unique(self.view_rows(features[features < count]))
        copies = [table[known] for table in self.by_row()]
        moves = self.weights.transitions.copy(), self.weights.pairs.copy()
        sums = self.sums.transitions.copy(), self.sums.pairs.copy()

        def undo() -> None:
            self.seen, self.mistakes = before
            for table, rows in zip(self.by_row(), copies, strict=True):
                table[known], table[used:] = rows, 0
            self.rows[self.rows >= used] = 0
            self.weights = self.weights._replace(
                transitions=moves[0],
                pairs=moves[1],
                rows=self.rows[:count].copy(),
                used=np.array([used], np.int64),
            )
            self.sums = self.sums._replace(transitions=sums[0], pairs=sums[1])

        return undo

    def coefficients(self) -> PathWeights:
        """The weights to predict with: the last ones, or their mean. Row 0 is zero."""
        tags, width, seen = self.shape.tags, self.shape.width, max(self.seen, 1)
        emissions = self.weights.emissions[: self.used * width].copy()
        moves = self.weights.transitions.copy(), self.weights.pairs.copy()
        last = PathWeights(emissions, *moves, self.weights.last)
        if not self.averaged:
            return last
        by_tags, lacking = emissions.reshape(-1, width), self.sums.emissions.reshape(-1, tags)
        for first in range(0, self.used, ROWS_AT_ONCE):
            some = slice(first, min(first + ROWS_AT_ONCE, self.used))
            by_tags[some, :tags] -= (lacking[some] / seen).astype(np.float32)
        return last._replace(
            transitions=less(self.weights.transitions, self.sums.transitions, seen),
            pairs=less(self.weights.pairs, self.sums.pairs, seen),
        )

    def tables(self, keys: Array) -> list[Table]:
        """The weights, and the sums of an average, by the lasting keys of features."""
        tags, width = self.shape.tags, self.shape.width
        moves = [*self.weights[1:3], *(self.sums[1:] if self.averaged else ())]
        by_move = [table.reshape(-1, width)[:, :tags] for table in moves]
        pairs = zip(by_move[::2], by_move[1::2], self.by_row(), strict=True)
        rows = [np.vstack([one, two, own[1:, :tags]]) for one, two, own in pairs]
        numbers = np.arange(sum(map(len, by_move[:2])), dtype=np.uint64)
        return [Table.of(np.append(numbers, keys[self.features()]), table) for table in rows]

    def take(self, keys: Array, *tables: Table) -> None:
        """Have the weights, and the sums of an average, that tables give to features with keys.

        Features that the first table lacks have no weights.
        """
        tags, width = self.shape.tags, self.shape.width
        own = np.flatnonzero(np.isin(keys, tables[0].keys))
        self.widen(len(keys))
        self.make_room(len(own))
        self.rows[own] = np.arange(1, len(own) + 1, dtype=np.uint32)
        used = np.array([len(own) + 1], np.int64)
        self.weights = self.weights._replace(used=used)
        moves = [self.weights[1:3], self.sums[1:]]
        for table, rows, by_move in zip(tables, self.by_row(), moves, strict=False):
            rows[1:, :tags] = table.find_rows(keys[own])
            first = 0
            for some in (one.reshape(-1, width) for one in by_move):
                some[:, :tags] = table.rows[first : first + len(some)]
                first += len(some)

    def with_tags(
        self, shape: Shape, places: Array, forbidden: tuple[Array, Array] | None
    ) -> "PathState":
        """A state for more tags, among which those of this one have other numbers."""
        new = PathState.zeros(shape, self.averaged, forbidden)
        new.seen, new.mistakes = self.seen, self.mistakes
        new.make_room(self.used)
        used = np.array([self.used], np.int64)
        new.weights = new.weights._replace(rows=self.rows.copy(), used=used)
        for table, old in zip(new.by_row(), self.by_row(), strict=True):
            table[:, places] = old[:, : self.shape.tags]
        before = np.append(places, shape.tags)  # the start of a sentence comes last
        pairs = (before[:, None] * (shape.tags + 1) + before).ravel()
        for rows, name in ((before, "transitions"), (pairs, "pairs")):
            for to, of in ((new.weights, self.weights), (new.sums, self.sums)):
                table, old = getattr(to, name), getattr(of, name)
                if len(old):
                    wide = table.reshape(-1, shape.width)
                    wide[rows[:, None], places] = old.reshape(len(rows), -1)[:, : self.shape.tags]
        return new


def longer(table: Array, size: int) -> Array:
    """A table with so many numbers, new ones zero; in place where memory allows."""
    if not table.flags.owndata:
        table = table.copy()
    table.resize(size, refcheck=False)
    return table


def less(weights: Array, lacking: Array, seen: int) -> Array:
    """Weights less the mean of what they lacked."""
    return (weights - lacking / seen).astype(np.float32)
