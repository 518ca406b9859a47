"""Conformal prediction: how far a label may be from a prediction, for a stated coverage."""

from bisect import bisect_left, insort
from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..data.rows import Array

MOST_SCORES = 4096  # this many give a coverage within 0.01 of the stated one, 19 times of 20
RATE = 0.005  # of the levels on a stream, as in the paper
TARGETS = np.arange(1, 100) / 100
"""Coverages whose levels a stream adapts; others are interpolated."""
POINTS = np.array([0.0, *TARGETS, 1.0])
LARGEST = float(np.finfo(np.float64).max)
SLIP = 1e-9  # of a product, such as 10 * 0.9, above a whole number


class Conformal:
    """The nonconformity of rows before they were learnt from, and levels that follow a stream.

    Nonconformity is how far a label is from what a model predicts. For rows that are exchangeable
    with a new one, split conformal prediction (Vovk, Gammerman & Shafer 2005) gives a threshold
    that the new row exceeds with a probability of at most 1 - coverage. On a stream the last rows
    count, and adaptive conformal inference (Gibbs & Candès 2021) corrects the level of the
    threshold: after every row it falls a little, and rises if the row exceeded the threshold.
    Memory is bounded, and the same scores in the same order give the same levels.

    Parameters
    ----------
    scores
        The nonconformity of rows, oldest first; above ``MOST_SCORES``, the last ones are kept.
    levels
        The present level for each of ``TARGETS``.
    rows
        The number of rows of a stream so far.

    Attributes
    ----------
    recent, ordered
        The scores in the order of their rows, and sorted.
    """

    def __init__(
        self, scores: Iterable[float] = (), levels: Sequence[float] | Array = TARGETS, rows: int = 0
    ) -> None:
        self.recent = deque(scores, MOST_SCORES)
        self.ordered = sorted(self.recent)
        self.levels, self.rows = np.array(levels, np.float64), rows

    @classmethod
    def from_held_out(cls, scores: Array) -> "Conformal":
        """Keep the nonconformity of held-out rows; of too many, an even sample."""
        count = min(len(scores), MOST_SCORES)
        places = np.arange(count) * len(scores) // max(count, 1)
        return cls(make_finite(scores[places]))

    def add(self, scores: Array) -> None:
        """Take over rows of a stream in their order, by their nonconformity before learning."""
        for score in make_finite(scores):
            below = bisect_left(self.ordered, score)
            outside = below >= find_ranks(self.levels, len(self.ordered))
            self.levels += RATE * (outside - (1 - TARGETS))
            if len(self.recent) == MOST_SCORES:
                del self.ordered[bisect_left(self.ordered, self.recent[0])]
            self.recent.append(score)
            insort(self.ordered, score)
            self.rows += 1

    def threshold(self, coverage: float) -> float:
        """The largest nonconformity of labels to include; infinite if there are too few rows."""
        level = np.interp(coverage, POINTS, np.concatenate([[0.0], self.levels, [1.0]]))
        rank = int(find_ranks(level, len(self.ordered)))
        if rank > len(self.ordered):
            return np.inf
        return self.ordered[rank - 1] if rank > 0 else -np.inf

    def copy(self) -> "Conformal":
        """Return a copy that later rows do not change."""
        return Conformal(self.recent, self.levels, self.rows)

    def as_dict(self) -> dict[str, Any]:
        """Return JSON values for a model file."""
        return {
            "scores": list(self.recent),
            "levels": self.levels.tolist(),
            "rows": self.rows,
        }

    @classmethod
    def of(cls, kept: dict[str, Any]) -> "Conformal":
        """Restore what a model file has."""
        return cls(kept["scores"], kept["levels"], kept["rows"])


def find_ranks(levels: Any, count: int) -> Any:
    """The rank, from 1, of the threshold among ``count`` scores: ⌈(count + 1) · level⌉.

    >>> [int(find_ranks(level, count)) for level, count in ((0.9, 9), (0.9, 19), (0.95, 9))]
    [9, 18, 10]
    """
    return np.ceil((count + 1) * levels - SLIP)


def count_needed(coverage: float) -> int:
    """The fewest rows whose largest nonconformity is a threshold for a coverage.

    >>> count_needed(0.9), count_needed(0.99)
    (9, 99)
    """
    return int(np.ceil(coverage / (1 - coverage) - SLIP))


def make_finite(scores: Array) -> list[float]:
    """Scores as numbers that a model file can hold; what is not a number is the largest one."""
    found: list[float] = np.nan_to_num(
        np.asarray(scores, np.float64), nan=LARGEST, posinf=LARGEST, neginf=-LARGEST
    ).tolist()
    return found
