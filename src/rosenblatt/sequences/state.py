"""The weights of paths while they are learnt, and a finished tagger as a model file holds it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..kernels.sequences import PathSettings, PathSums, PathWeights, find_moved
from ..kernels.vectors import LANES
from ..rows import Array
from ..training.state import Sizes, array, counter, require
from ..training.tasks import Learnt
from .schemes import impossible

ROWS_AT_ONCE = 1 << 15


class Shape(NamedTuple):
    """How many features and tags there are, and how many tags before one it depends on."""

    features: int
    tags: int
    markov: int

    @property
    def width(self) -> int:
        """Tags as whole vectors."""
        return -(-self.tags // LANES) * LANES


@dataclass
class PathState:
    """Weights of features and transitions, with what their average needs.

    ``seen`` counts sentences, or tokens where each is learnt by itself.
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
        """Weights of zero, except for what is forbidden."""
        features, tags, markov = shape
        rows = tags + 1
        moves, last = np.zeros((rows, tags), bool), np.zeros(tags, bool)
        if forbidden is not None:
            moves, last = forbidden
        pairs = np.zeros((rows * rows if markov > 1 else 0, shape.width), np.float32)
        weights = PathWeights(
            np.zeros(features * shape.width, np.float32),
            impossible(moves, shape.width).ravel(),
            pairs.ravel(),
            impossible(last[None], shape.width).ravel(),
        )
        kept = (features * tags, rows * shape.width, pairs.size) if average else (0, 0, 0)
        return cls(weights, PathSums(*map(np.zeros, kept)), shape)

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
        """There are weights for all features from the beginning."""

    def stop_reason(self, clean: bool) -> str:
        """Why there is no point in going on, if there is none; clean without any mistake."""
        return "separated" if clean else ""

    def coefficients(self, rows: Array | None = None) -> PathWeights:
        """The weights to predict with, of all features or some: the last ones, or their mean."""
        features, tags, _ = self.shape
        emissions = self.weights.emissions.reshape(features, self.shape.width)
        averaged = len(self.sums.transitions) > 0
        if rows is not None:
            emissions = emissions[rows]
        elif averaged:
            emissions = emissions.copy()
        if not averaged:
            return self.weights._replace(emissions=emissions.ravel())
        seen, lacking = max(self.seen, 1), self.sums.emissions.reshape(features, tags)
        for first in range(0, len(emissions), ROWS_AT_ONCE):
            some: Any = slice(first, first + ROWS_AT_ONCE)
            lacked = lacking[some] if rows is None else lacking[rows[some]]
            emissions[some, :tags] -= (lacked / seen).astype(np.float32)
        return self.weights._replace(
            emissions=emissions.ravel(),
            transitions=less(self.weights.transitions, self.sums.transitions, seen),
            pairs=less(self.weights.pairs, self.sums.pairs, seen),
        )

    def moved(self, settings: PathSettings) -> Array:
        """The features whose weights are or were not zero."""
        marks = np.zeros(self.shape.features, bool)
        find_moved(self.weights, self.sums, settings, marks)
        return np.flatnonzero(marks)


def less(weights: Array, lacking: Array, seen: int) -> Array:
    """Weights less the mean of what they lacked."""
    return (weights - lacking / seen).astype(np.float32)


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
