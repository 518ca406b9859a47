"""Sentences with their tags as a task of a run."""

from dataclasses import dataclass

import numpy as np

from ...data.rows import Array
from ...kernels import sequences as kernel
from ...kernels.linear import UPDATE
from ...kernels.sequences import PathSettings, PathWeights, Room, Tokens
from ...training.tasks import UPDATES_AT_ONCE, SweepResult
from .state import PathState

NO_TAGS = np.zeros(0, np.uint16)


@dataclass
class SequenceTask:
    """Sentences, the features of their tokens, and the numbers of their tags."""

    tokens: Tokens
    starts: Array
    codes: Array
    row_order: Array
    settings: PathSettings
    width: int

    def __post_init__(self) -> None:
        lengths = np.diff(self.starts)
        self.room = allocate_room(int(lengths.max(initial=1)), self.settings)
        most = int(lengths.max(initial=1)) if self.settings.greedy else 0
        self.log = np.zeros(max(UPDATES_AT_ONCE, most), UPDATE)

    def learn(
        self, state: PathState, order: Array, start: int = 0, most: int | None = None
    ) -> SweepResult:
        """Change a state by the sentences of an order, from a place on."""
        log = self.log if most is None or self.settings.greedy else self.log[:most]
        kernel_for = kernel.learn_greedily if self.settings.greedy else kernel.learn
        while True:
            data = self.tokens, self.starts, self.codes, order, start, state.seen
            given = *data, state.weights, state.sums, self.settings, self.room, log
            position, n_updates, loss, lacking, *seen = kernel_for(*given)
            del given  # so that arrays that grow are not kept twice
            if lacking:
                state.make_room(lacking)
            if position > start or not lacking:
                break
        n_rows = position - start
        if seen:  # a greedy tagger counts tokens
            n_rows, state.seen = seen[0] - state.seen, seen[0]
        updates = log[:n_updates]
        errors = int(np.count_nonzero(updates["margin"] <= 0))
        return SweepResult(position, updates, errors, loss, n_rows)

    def close(self, state: PathState) -> None:
        """Do nothing: a sweep writes into the state all that it learns."""


def allocate_room(length: int, settings: PathSettings) -> Room:
    """Allocate working memory for sentences of at most ``length`` tokens."""
    rows = settings.tags + 1 if settings.markov > 1 and not settings.greedy else 1
    scores = np.empty(length * settings.width, np.float32)
    paths = np.empty(length * rows * settings.width, np.float32)
    return Room(scores, paths, np.empty(length, np.uint16))


def best_through(
    tokens: Tokens, first: int, last: int, weights: PathWeights, settings: PathSettings
) -> Array:
    """Return the score of the best path through each tag of each token of a sentence."""
    settings = settings._replace(greedy=False)
    out = np.empty((last - first, settings.tags), np.float32)
    room = allocate_room(last - first, settings)
    kernel.best_through(tokens, first, last - first, weights, settings, room, out)
    return out


def decode(tokens: Tokens, starts: Array, weights: PathWeights, settings: PathSettings) -> Array:
    """Return the tags of the best path of each sentence."""
    room = allocate_room(int(np.diff(starts).max(initial=1)), settings)
    tags = np.empty(int(starts[-1]), np.uint16)
    count = len(starts) - 1
    kernel.predict(tokens, starts, 0, count, weights, settings, room, NO_TAGS, tags)
    return tags
