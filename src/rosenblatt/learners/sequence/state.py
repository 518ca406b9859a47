"""The weights of a tagger while it learns, and what their average needs."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ...data.rows import Array
from ...kernels.sequences import PathSums, PathWeights
from ...kernels.vectors import LANES
from ...parameters import ParameterError
from ...training.state import Layer
from ...training.tasks import SweepResult
from .schemes import make_exclusions

ROWS_AT_ONCE = 1 << 15
MOST_WEIGHTS = 2**28
MOST_PATHS = 2**24  # to compare at each token: 4,096 tags, or 256 that depend on two before


class Shape(NamedTuple):
    """The number of tags, and the number of preceding tags that a tag depends on."""

    tags: int
    markov: int

    @property
    def width(self) -> int:
        """The number of tags, padded to whole vectors."""
        return -(-self.tags // LANES) * LANES


def refuse_too_many_tags(shape: Shape, greedy: bool) -> None:
    """Refuse more tags than memory or time allow; the error says what they would need."""
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


@dataclass
class PathState:
    """Weights of features and transitions, with what their average needs.

    A feature has weights from its first update on. ``seen`` counts sentences, or tokens where each
    is learnt alone. On a cluster, ``keys`` has a key for each feature that does not depend on
    the other features of a partition (``Dictionary.lasting_keys``).
    """

    weights: PathWeights
    sums: PathSums
    shape: Shape
    seen: int = 0
    mistakes: int = 0
    keys: Array = field(default_factory=lambda: np.zeros(0, np.uint64))

    @classmethod
    def zeros(
        cls, shape: Shape, average: bool, forbidden: tuple[Array, Array] | None
    ) -> "PathState":
        """Return zero weights, except for forbidden moves; no feature has weights yet."""
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
        """Whether the mean of the weights predicts."""
        return len(self.sums.transitions) > 0

    @property
    def rows(self) -> Array:
        """The row of each feature's weights, 0 for those without."""
        assert self.weights.rows is not None
        return self.weights.rows

    @property
    def used(self) -> int:
        """The number of rows of weights in use, with the row of zeros."""
        assert self.weights.used is not None
        return int(self.weights.used[0])

    def sweep(self, task: Any, order: Array, most: int | None) -> Iterator[SweepResult]:
        """Learn from the sentences in an order; yield after at most ``most`` updates."""
        position, begun = 0, self.seen
        while position < len(order):
            learnt = task.learn(self, order, position, most)
            position = learnt.position
            self.mistakes += len(learnt.updates)
            yield learnt
        if self.seen == begun:  # by sentences, which the task counts from the order
            self.seen += len(order)

    def widen(self, width: int) -> None:
        """Make room for the rows of more features."""
        if width > len(self.rows):
            new = np.zeros(width - len(self.rows), np.uint32)
            self.weights = self.weights._replace(rows=np.concatenate([self.rows, new]))

    def make_room(self, lacking: int) -> None:
        """Make room for the weights of ``lacking`` more features, and some spare ones."""
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
        emissions = resize_table(self.weights.emissions, count * width)
        self.weights = self.weights._replace(emissions=emissions)
        if self.averaged:
            summed = resize_table(self.sums.emissions, count * tags)
            self.sums = self.sums._replace(emissions=summed)

    def view_rows(self, features: Array) -> Array:
        """Return the rows of features, 0 for those without weights."""
        return np.asarray(self.rows[features])

    def features(self) -> Array:
        """Return the features that have weights, in the order of their rows."""
        moved = np.flatnonzero(self.rows)
        order = np.empty(self.used - 1, np.int64)
        order[self.rows[moved] - 1] = moved
        return order

    def renumber(self) -> None:
        """Number the features with weights by their rows; forget the others."""
        rows = np.arange(1, self.used, dtype=np.uint32)
        self.weights = self.weights._replace(rows=rows)

    def trim(self) -> None:
        """Release the room that no feature uses."""
        self.weights = self.weights._replace(
            emissions=resize_table(self.weights.emissions, self.used * self.shape.width)
        )
        if self.averaged:
            sums = resize_table(self.sums.emissions, self.used * self.shape.tags)
            self.sums = self.sums._replace(emissions=sums)

    def stop_reason(self, clean: bool) -> str:
        """Return the reason to stop, or "" to continue; ``clean``: the epoch made no mistake."""
        return "separated" if clean else ""

    def by_row(self) -> list[Array]:
        """Return views of the weights and sums of features, with the rows in use."""
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
        """Return the weights to predict with: the last ones or their mean; row 0 is zero."""
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
            transitions=compute_mean(self.weights.transitions, self.sums.transitions, seen),
            pairs=compute_mean(self.weights.pairs, self.sums.pairs, seen),
        )

    # On a cluster: features by their keys

    def layers(self) -> dict[str, Layer]:
        """Return what the partitions of a cluster mix: weights, and the sums of an average."""
        tags, width = self.shape.tags, self.shape.width
        pairs = [("weights", self.weights[1:3]), ("sums", self.sums[1:])]
        return {
            name: Layer(rows[:, :tags], [move.reshape(-1, width)[:, :tags] for move in moves])
            for (name, moves), rows in zip(pairs, self.by_row(), strict=False)
        }

    def find_keys(self, rows: Array) -> tuple[Array, Array]:
        """Return the keys of the features that have some rows, sorted, and these rows."""
        keys = self.keys[self.features()[rows - 1]]
        order = np.argsort(keys)
        return keys[order], rows[order]

    def find_rows(self, keys: Array, size: int = 0, add: bool = True) -> tuple[Array, Array]:
        """Give rows to the features with some keys; return which keys are known, and their rows.

        Keys that are not known become features if ``add``.
        """
        if add:
            self.keys = np.concatenate([self.keys, keys[~np.isin(keys, self.keys)]])
        known, order = np.isin(keys, self.keys), np.argsort(self.keys)
        features = order[np.searchsorted(self.keys, keys[known], sorter=order)]
        self.widen(len(self.keys))
        rows, new = self.rows.copy(), features[self.rows[features] == 0]
        rows[new] = np.arange(self.used, self.used + len(new), dtype=np.uint32)
        self.number_rows(rows, self.used + len(new))
        return known, rows[features]

    def match(self, later: "PathState") -> None:
        """Give rows to the features that have some in a state that learnt more."""
        self.number_rows(later.rows.copy(), later.used)

    def number_rows(self, rows: Array, used: int) -> None:
        """Take the rows of all features; new ones have zero weights."""
        lacking = used - len(self.weights.emissions) // self.shape.width
        if lacking > 0:
            self.make_room(lacking)
        self.weights = self.weights._replace(rows=rows, used=np.array([used], np.int64))

    def with_tags(
        self, shape: Shape, places: Array, forbidden: tuple[Array, Array] | None
    ) -> "PathState":
        """Return a state for more tags; ``places`` has the new numbers of the known ones."""
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


def resize_table(table: Array, size: int) -> Array:
    """Return a table of ``size`` numbers, new ones zero; in place where memory allows."""
    if not table.flags.owndata:
        table = table.copy()
    table.resize(size, refcheck=False)
    return table


def compute_mean(weights: Array, lacking: Array, seen: int) -> Array:
    """Return the mean of weights, from the sums of what earlier ones lacked."""
    return (weights - lacking / seen).astype(np.float32)
