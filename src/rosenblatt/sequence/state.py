"""What a tagger learns: its weights, what their average needs, and sentences as a task of a run."""

from dataclasses import dataclass

import numpy as np

from ..data.rows import Array
from ..kernels.loop import UPDATE
from ..parameters import ParameterError
from ..training.training import UPDATES_AT_ONCE, SweepResult, Swept
from .kernels import paths as kernel
from .kernels.paths import LANES, PathSettings, PathSums, PathWeights, Room, Tokens
from .schemes import make_exclusions

ROWS_AT_ONCE = 1 << 15
MOST_WEIGHTS = 2**28
MOST_PATHS = 2**24  # to compare at each token: 4,096 tags


def pad(tags: int) -> int:
    """Return the number of tags, padded to whole vectors."""
    return -(-tags // LANES) * LANES


def refuse_too_many_tags(tags: int) -> None:
    """Refuse more tags than memory or time allow; the error says what they would need."""
    if tags * tags <= MOST_PATHS:
        return
    size = 12 / 2**20  # of a weight and its sum, in MiB
    raise ParameterError(
        f"{tags:,} tags would need {1000 * tags * size:,.0f} MiB for every 1,000 features, and "
        f"compare {tags * tags:,} paths at each token; use another label.",
        code="too-many-tags",
    )


@dataclass
class PathState(Swept):
    """Weights of features and transitions, with what their average needs.

    A feature has weights from its first update on. ``seen`` counts sentences.
    """

    weights: PathWeights
    sums: PathSums
    tags: int
    seen: int = 0
    mistakes: int = 0

    @classmethod
    def zeros(cls, average: bool, moves: Array, last: Array) -> "PathState":
        """Return zero weights, except for forbidden moves; no feature has weights yet.

        ``moves`` flags the tags that may not follow another, ``last`` those that may not be last.
        """
        tags = len(last)
        width = pad(tags)
        weights = PathWeights(
            np.zeros(width, np.float32),
            make_exclusions(moves, width).ravel(),
            make_exclusions(last[None], width).ravel(),
            np.zeros(0, np.uint32),
            np.ones(1, np.int64),
        )
        kept = (tags, (tags + 1) * width) if average else (0, 0)
        return cls(weights, PathSums(*map(np.zeros, kept)), tags)

    @property
    def width(self) -> int:
        """The number of tags, padded to whole vectors."""
        return pad(self.tags)

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

    def widen(self, width: int) -> None:
        """Make room for the rows of more features."""
        if width > len(self.rows):
            new = np.zeros(width - len(self.rows), np.uint32)
            self.weights = self.weights._replace(rows=np.concatenate([self.rows, new]))

    def make_room(self, lacking: int) -> None:
        """Make room for the weights of ``lacking`` more features, and some spare ones."""
        tags, width = self.tags, self.width
        count = len(self.weights.emissions) // width + max(lacking, self.used // 4, 1 << 12)
        if count * tags > MOST_WEIGHTS:
            count = self.used + lacking
        if count * tags > MOST_WEIGHTS:
            raise ParameterError(
                f"{count:,} features and {tags:,} tags need more weights than {MOST_WEIGHTS:,}; "
                "name fewer templates with features.",
                code="too-many-weights",
            )
        self.resize(count)

    def resize(self, count: int) -> None:
        """Change the number of rows for which there is room."""
        emissions = resize_table(self.weights.emissions, count * self.width)
        self.weights = self.weights._replace(emissions=emissions)
        if self.averaged:
            summed = resize_table(self.sums.emissions, count * self.tags)
            self.sums = self.sums._replace(emissions=summed)

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

    def stop_reason(self, clean: bool) -> str:
        """Return the reason to stop, or "" to continue; ``clean``: the epoch made no mistake."""
        return "separated" if clean else ""

    def coefficients(self) -> PathWeights:
        """Return the weights to predict with: the last ones or their mean; row 0 is zero."""
        tags, width, seen = self.tags, self.width, max(self.seen, 1)
        emissions = self.weights.emissions[: self.used * width].copy()
        last = PathWeights(emissions, self.weights.transitions.copy(), self.weights.last)
        if not self.averaged:
            return last
        by_tags, lacking = emissions.reshape(-1, width), self.sums.emissions.reshape(-1, tags)
        for first in range(0, self.used, ROWS_AT_ONCE):
            some = slice(first, min(first + ROWS_AT_ONCE, self.used))
            by_tags[some, :tags] -= (lacking[some] / seen).astype(np.float32)
        mean = self.weights.transitions - self.sums.transitions / seen
        return last._replace(transitions=mean.astype(np.float32))


def resize_table(table: Array, size: int) -> Array:
    """Return a table of ``size`` numbers, new ones zero; in place where memory allows."""
    if not table.flags.owndata:
        table = table.copy()
    table.resize(size, refcheck=False)
    return table


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
        self.room = allocate_room(int(np.diff(self.starts).max(initial=1)), self.settings)
        self.log = np.zeros(UPDATES_AT_ONCE, UPDATE)

    def learn(
        self, state: PathState, order: Array, start: int = 0, most: int | None = None
    ) -> SweepResult:
        """Change a state by the sentences of an order, from a place on."""
        log = self.log[:most]
        while True:
            data = self.tokens, self.starts, self.codes, order, start, state.seen
            given = *data, state.weights, state.sums, self.settings, self.room, log
            position, n_updates, loss, lacking = kernel.learn(*given)
            del given  # so that arrays that grow are not kept twice
            if lacking:
                state.make_room(lacking)
            if position > start or not lacking:
                break
        updates = log[:n_updates]
        errors = int(np.count_nonzero(updates["margin"] <= 0))
        return SweepResult(position, updates, position - start, n_updates, errors, loss)


def allocate_room(length: int, settings: PathSettings) -> Room:
    """Allocate working memory for sentences of at most ``length`` tokens."""
    scores, tags = np.empty(length * settings.width, np.float32), settings.tags + 1
    most, least = np.empty((2, tags), np.float32)
    path, sources = np.empty(length, np.uint16), np.empty(tags, np.uint16)
    return Room(scores, np.empty_like(scores), path, most, least, sources)


def decode(tokens: Tokens, starts: Array, weights: PathWeights, settings: PathSettings) -> Array:
    """Return the tags of the best path of each sentence."""
    room = allocate_room(int(np.diff(starts).max(initial=1)), settings)
    tags = np.empty(int(starts[-1]), np.uint16)
    count = len(starts) - 1
    kernel.predict(tokens, starts, 0, count, weights, settings, room, NO_TAGS, tags)
    return tags
