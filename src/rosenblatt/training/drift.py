"""A drift alarm: a window over the errors of a stream that shrinks when their rate changes."""

from dataclasses import dataclass, field

import numpy as np

from ..data.rows import Array

DELTA = 0.002  # probability of a false alarm, about, while the error rate stays the same
MOST_BUCKETS = 5  # of one size, before two of them are joined


@dataclass
class Bucket:
    """Neighbouring rows: their number, and the number of wrong ones by predictor.

    Buckets of a level hold about twice as many rows as those of the level below.
    """

    level: int
    rows: int
    wrong: Array


@dataclass
class DriftWindow:
    """ADWIN (Bifet & Gavaldà 2007): the longest recent window in which the error rate is constant.

    The window is kept as buckets whose sizes grow with age, so that its memory and the time of an
    update are logarithmic in its rows. Where its older and its newer part differ by more than
    chance allows, the older part is dropped; ADWIN drops it bucket by bucket.

    Attributes
    ----------
    delta
        Probability of a false alarm at a row, about, for errors that are independent.
    buckets
        The window, the oldest rows first.
    """

    delta: float = DELTA
    buckets: list[Bucket] = field(default_factory=list)

    @property
    def rows(self) -> int:
        """The number of rows in the window."""
        return sum(bucket.rows for bucket in self.buckets)

    @property
    def wrong(self) -> Array:
        """The number of wrong rows in the window, by predictor."""
        return np.asarray(np.sum([bucket.wrong for bucket in self.buckets], axis=0))

    def add(self, rows: int, wrong: Array) -> tuple[float, float] | None:
        """Add rows; return the error rates before and after if the rate of the first rose.

        Parameters
        ----------
        rows
            The number of new rows.
        wrong
            How many of them each predictor had wrong. The window depends on the first alone.
        """
        self.buckets.append(Bucket(0, rows, np.asarray(wrong, float)))
        self.join_buckets()
        rise = None
        while len(self.buckets) > 1:
            before, after, limit = self.compare_parts()
            place = int(np.argmax(np.abs(after - before) - limit))
            if not abs(after[place] - before[place]) > limit[place]:
                break
            if after[place] > before[place]:
                rise = float(before[place]), float(after[place])
            del self.buckets[: place + 1]
        return rise

    def join_buckets(self) -> None:
        """Join the two oldest buckets of each level that has too many."""
        stop = len(self.buckets)
        while stop:
            start = stop - 1
            while start and self.buckets[start - 1].level == self.buckets[start].level:
                start -= 1
            if stop - start <= MOST_BUCKETS:
                return
            old, new = self.buckets[start : start + 2]
            joined = Bucket(old.level + 1, old.rows + new.rows, old.wrong + new.wrong)
            self.buckets[start : start + 2] = [joined]
            stop = start + 1

    def compare_parts(self) -> tuple[Array, Array, Array]:
        """Return the error rates before and after each cut, and the difference that is chance."""
        rows = np.cumsum([bucket.rows for bucket in self.buckets])
        wrong = np.cumsum([bucket.wrong[0] for bucket in self.buckets])
        total, rate = rows[-1], wrong[-1] / rows[-1]
        old, new = rows[:-1], total - rows[:-1]
        confidence = np.log(2 * np.log(total + 2) / self.delta)
        per_row = (1 / old + 1 / new) * confidence
        limit = np.sqrt(2 * per_row * rate * (1 - rate)) + per_row * 2 / 3
        return wrong[:-1] / old, (wrong[-1] - wrong[:-1]) / new, limit
