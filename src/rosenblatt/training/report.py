"""Events of a training, and the base class of those who receive them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..data.rows import Array
from .training import Epoch

if TYPE_CHECKING:
    from .plan import Plan


class Tally(NamedTuple):
    """How far a pass has come: each row is predicted before it is learned.

    ``mistakes`` counts the wrong predictions in all problems, or is the sum of the errors of
    numbers; None while a file is only read.
    """

    rows: int
    bytes_read: int
    mistakes: float | None
    problems: int = 1


class Note(str):
    """A sentence about something that might surprise the user, with a short stable ``code``."""

    code: str

    def __new__(cls, sentence: str, code: str) -> "Note":
        """Make the sentence, and keep the code with it."""
        made = super().__new__(cls, sentence)
        made.code = code
        return made


class Listener:
    """Receives the events of a training; this base class ignores them.

    ``opening`` are lines to print when the training begins, and ``plan`` is that of the training
    before its rows are read. ``target`` says what labels are, "classes" or "numbers", and
    ``metric`` is the metric of early stopping.
    """

    opening: Sequence[str] = ()
    plan: "Plan | None" = None
    target = "classes"
    metric = "error"

    def begin(self, size: int | None, max_iter: int) -> None:
        """Start a training of at most ``max_iter`` passes over ``size`` bytes, if that is known."""

    def batch(self, tally: Tally) -> None:
        """Report the end of a batch."""

    def window(self, tally: Tally) -> None:
        """Report the end of a window of rows."""

    def epoch(self, epoch: Epoch) -> None:
        """Report the end of an epoch."""

    def chose(self, recipe: Any, facts: Mapping[str, Any]) -> None:
        """Report how columns are read, and the candidates that were compared, if any."""

    def tried(self, done: int, total: int) -> None:
        """Report the number of tuning trials that are done."""

    def note(self, sentence: str) -> None:
        """Report something that might surprise the user."""

    def close(self) -> None:
        """End the training; no event follows."""


@dataclass
class Windows:
    """Counts the rows that were predicted wrong before they were learned, in windows.

    Attributes
    ----------
    every
        The number of rows of a window.
    report
        Called after each window with the number of rows so far, and of the wrong ones.
    """

    every: int
    report: Callable[[int, float], None]
    rows: int = 0
    wrong: float = 0

    def add(self, wrong: Array) -> None:
        """Count more rows, by a flag or an error for each."""
        counts = np.cumsum(wrong)
        for end in range(self.every - self.rows % self.every, len(wrong) + 1, self.every):
            self.report(self.rows + end, self.wrong + counts[end - 1].item())
        self.rows += len(wrong)
        self.wrong += counts[-1].item() if len(wrong) else 0

    def close(self) -> None:
        """Report the last window, which may have fewer rows."""
        if self.rows % self.every:
            self.report(self.rows, self.wrong)
