"""Print the progress of a training, as lines or as JSON; its events are in training/report.py."""

import time
from collections.abc import Mapping
from typing import Any

from ..training.report import Listener, Tally
from ..training.scoring import format_epoch
from ..training.training import Epoch
from .format import describe_choice, describe_columns, plain
from .output import print_event, print_lines, print_note

LONGEST_SILENCE = 60.0  # seconds between two lines of a pass
EPOCH_SILENCE = 10.0  # seconds between two lines of epochs without lines of their own


def read_clock() -> float:
    """Seconds by a clock that never goes back."""
    return time.perf_counter()


class ProgressPrinter(Listener):
    """Prints the events of a training.

    It prints epochs 1, 2, 4, 8 … and the last, and a long pass at growing distances.

    Parameters
    ----------
    form
        "lines", "json" for one object per line, or "quiet" for notes only.
    every
        Print all epochs.
    """

    size: int | None = None
    epochs = 0
    pending: Epoch | None = None  # the last epoch, if it has no line yet

    def __init__(self, form: str = "lines", every: bool = False) -> None:
        self.form, self.every = form, every
        self.begin_pass()
        self.epoch_printed = self.begun

    def begin_pass(self) -> None:
        """Time a pass from now."""
        self.begun = self.printed = read_clock()
        self.before, self.silence = Tally(0, 0, 0), 1.0

    def print_line(self, line: str) -> None:
        """Print a line, if lines are wanted."""
        if self.form == "lines":
            print_lines([line])

    def is_due(self) -> bool:
        """Whether it is time for a line, after 1, 2, 4 … seconds; then it begins to wait again."""
        if read_clock() - self.printed < self.silence:
            return False
        self.printed, self.silence = read_clock(), min(2 * self.silence, LONGEST_SILENCE)
        return True

    def chose(self, recipe: Any, facts: Mapping[str, Any]) -> None:
        """Print what was compared, and what is done to the columns."""
        if self.form == "json" and facts:
            print_event("tuned", **facts)
        self.opening = [*(describe_choice(facts) if facts else ()), *describe_columns(recipe)]

    def begin(self, size: int | None, max_iter: int) -> None:
        """Start the clock, and print the opening lines."""
        self.size, self.pending = size, None
        self.begin_pass()
        self.epoch_printed = self.begun
        for line in self.opening:
            self.print_line(line)

    def batch(self, tally: Tally) -> None:
        """Print how far a pass has come, now and then."""
        if self.is_due():
            self.window(tally)

    def window(self, tally: Tally) -> None:
        """Print the speed and the error of a pass, and the error since the last line."""
        seconds, before = max(read_clock() - self.begun, 1e-9), self.before
        speed, megabytes = tally.rows / seconds, tally.bytes_read / seconds / 1e6
        error = recent = None
        if tally.mistakes is not None:
            error = tally.mistakes / max(tally.rows * tally.problems, 1)
            if before.mistakes is None:  # it was only read
                before = Tally(0, 0, 0)
            rows = (tally.rows - before.rows) * tally.problems
            recent = (tally.mistakes - (before.mistakes or 0)) / rows if rows else None
        self.before = tally
        if self.form == "json":
            print_event(
                "progress",
                epoch=self.epochs + 1,
                rows=tally.rows,
                rows_per_second=speed,
                megabytes_per_second=megabytes,
                error=error,
                last_error=recent,
                mistakes=tally.mistakes,
            )
        write = plain if self.target == "numbers" else "{:.2%}".format
        read = f"{tally.bytes_read / self.size:5.0%}" if self.size else ""
        name = "mean absolute error" if self.target == "numbers" else "error"
        errors = "" if error is None else f"   {name} {write(error)}"
        errors += "" if recent is None else f", since the last line {write(recent)}"
        self.print_line(
            f"{read}{tally.rows:13,} rows{speed:12,.0f} rows/s{megabytes:7,.0f} MB/s{errors}"
        )

    def epoch(self, epoch: Epoch) -> None:
        """Print an epoch, unless its turn has not come."""
        long = self.printed > self.begun  # it had lines before its end
        self.epochs, self.pending = epoch.epoch, epoch
        self.begin_pass()
        is_power = epoch.epoch & (epoch.epoch - 1) == 0
        if self.form == "json":
            print_event("epoch", **epoch._asdict())
        elif self.every or long or is_power or self.begun - self.epoch_printed >= EPOCH_SILENCE:
            self.close()

    def close(self) -> None:
        """Print the last epoch, unless it is printed."""
        if self.pending is not None:
            self.print_line(format_epoch(self.pending, self.target, self.metric))
        self.pending, self.epoch_printed = None, self.begun

    def tried(self, done: int, total: int) -> None:
        """Print the number of trials that are done, now and then."""
        if self.is_due():
            self.print_line(f"{done} of {total} trials")

    def note(self, sentence: str) -> None:
        """Print a sentence to standard error, or an object with the sentence and its code."""
        if self.form == "json":
            print_event("note", sentence=sentence, code=getattr(sentence, "code", "note"))
        else:
            print_note(sentence)
