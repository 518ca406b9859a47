"""The weights of paths while they are learnt, and a finished tagger as a model file holds it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, NamedTuple, NotRequired, TypedDict

import numpy as np

from ...data.rows import Array
from ...kernels.sequences import PathSums, PathWeights
from ...kernels.vectors import LANES
from ...parameters import ParameterError
from ...training.state import Sizes, array, counter, require
from ...training.tasks import Learnt
from .formats import Layout
from .schemes import impossible

ROWS_AT_ONCE = 1 << 15
MOST_WEIGHTS = 2**28


class Shape(NamedTuple):
    """How many tags there are, and how many tags before one it depends on."""

    tags: int
    markov: int

    @property
    def width(self) -> int:
        """Tags as whole vectors."""
        return -(-self.tags // LANES) * LANES


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
            impossible(moves, shape.width).ravel(),
            pairs.ravel(),
            impossible(last[None], shape.width).ravel(),
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
    def used(self) -> int:
        """How many rows of weights are in use, with that of zeros."""
        return int(self.weights.used[0])  # type: ignore[index]

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
        rows = self.weights.rows
        assert rows is not None
        if width > len(rows):
            new = np.zeros(width - len(rows), np.uint32)
            self.weights = self.weights._replace(rows=np.concatenate([rows, new]))

    def make_room(self, lacking: int) -> None:
        """Let so many more features be moved, and a quarter of as many as there are."""
        tags, width = self.shape.tags, self.shape.width
        count = len(self.weights.emissions) // width + max(lacking, self.used // 4, 1 << 12)
        if count * tags > MOST_WEIGHTS:
            count = self.used + lacking
        if count * tags > MOST_WEIGHTS:
            raise ParameterError(
                f"{count:,} features and {tags:,} tags need more weights than {MOST_WEIGHTS:,}; "
                "name fewer templates with {features?}."
            )
        emissions = longer(self.weights.emissions, count * width)
        self.weights = self.weights._replace(emissions=emissions)
        if self.averaged:
            summed = longer(self.sums.emissions, count * tags)
            self.sums = self.sums._replace(emissions=summed)

    def rows_of(self, features: Array) -> Array:
        """The rows of features, 0 for those without weights."""
        assert self.weights.rows is not None
        return np.asarray(self.weights.rows[features])

    def features(self) -> Array:
        """The features that have weights, in the order of their rows."""
        rows = self.weights.rows
        assert rows is not None
        moved = np.flatnonzero(rows)
        order = np.empty(self.used - 1, np.int64)
        order[rows[moved] - 1] = moved
        return order

    def renumber(self) -> None:
        """Features that have weights are from now on numbered by their rows; others are gone."""
        rows = np.arange(1, self.used, dtype=np.uint32)
        self.weights = self.weights._replace(rows=rows)

    def stop_reason(self, clean: bool) -> str:
        """Why there is no point in going on, if there is none; clean without any mistake."""
        return "separated" if clean else ""

    def coefficients(self, for_good: bool = False) -> PathWeights:
        """The weights to predict with: the last ones, or their mean. Rows are as while learning.

        For good, they take the place of those that were learnt, which saves memory.
        """
        tags, width, seen = self.shape.tags, self.shape.width, max(self.seen, 1)
        emissions = self.weights.emissions[: self.used * width]
        emissions = emissions if for_good else emissions.copy()
        last = self.weights._replace(emissions=emissions, rows=None, used=None)
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


def longer(table: Array, size: int) -> Array:
    """A table with so many numbers, new ones zero; in place where memory allows."""
    if not table.flags.owndata:
        table = table.copy()
    table.resize(size, refcheck=False)
    return table


def less(weights: Array, lacking: Array, seen: int) -> Array:
    """Weights less the mean of what they lacked."""
    return (weights - lacking / seen).astype(np.float32)


class TaggerFeatures(TypedDict):
    """What a model file says of how the features of tokens are made, and of tags."""

    columns: Annotated[list[str], len]
    templates: Annotated[list[str], len]
    tags: Annotated[list[str], len]
    scheme: tuple[str, str, list[tuple[str, str]]] | None
    sets: list[str]
    layout: NotRequired[Layout | None]


@dataclass(kw_only=True)
class TaggerState:
    """What a tagger predicts with: weights, its dictionary of features, and its lexicon.

    Strings lie one after the other in ``texts`` up to ``text_ends``: those of values, whose
    attributes ``attributes`` has, then the words of the lexicon, whose sets ``word_sets`` has.
    """

    emissions: Array = array("features", "tags", dtype=np.float32)
    transitions: Array = array("before", "tags", dtype=np.float32)
    pairs: Array = array("pairs before", "tags", dtype=np.float32)
    templates: Array = array("features", dtype=np.uint16)
    values: Array = array("features", "arity", dtype=np.uint32)
    texts: Array = array("bytes", dtype=np.uint8)
    text_ends: Array = array("strings", dtype=np.int64)
    attributes: Array = array("values", dtype=np.uint16)
    word_sets: Array = array("words", dtype=np.int64)
    seen: int = counter(0)
    mistakes: int = counter(0)

    features: ClassVar = (TaggerFeatures,)

    def restored(self) -> None:
        """Set what is not saved, after loading."""

    def stop_reason(self, clean: bool) -> str:
        """Why there is no point in going on, if there is none; clean without any mistake."""
        return "separated" if clean else ""

    @staticmethod
    def sizes(model: Any) -> tuple[Sizes, Any]:
        """The sizes that the arrays of a model must have."""
        tags = model.features.get("tags")
        require(isinstance(tags, list) and 0 < len(tags) < 2**15, "it has no tags")
        before = len(tags) + 1
        return {"tags": (len(tags),), "before": (before,)}, np.float32

    def check(self) -> None:
        """Refuse parts that do not fit together."""
        before, ends = len(self.transitions), self.text_ends
        require(len(self.pairs) in (0, before * before), "pairs does not fit")
        n_values, n_strings = len(self.attributes), len(self.attributes) + len(self.word_sets)
        require(len(ends) == n_strings and np.all(np.diff(ends) >= 0), "its texts do not fit")
        require(not len(ends) or ends[-1] <= len(self.texts), "its texts do not fit")
        known = (self.values < n_values) | (self.values == 2**32 - 1)
        require(known.all(), "its features are made of values that there are not")


STATES = dict.fromkeys(("last", "average"), TaggerState)
