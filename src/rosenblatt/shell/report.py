"""Print a training, as lines or as JSON; events are those of training/report.py."""

import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

from ..training.bars import new_bar
from ..training.report import Listener, Tally
from ..training.scoring import format_epoch
from ..training.training import Epoch
from .data import print_note
from .format import about_columns, about_margin, fold, plain
from .settings import about_tuning

LONGEST_SILENCE = 60.0  # seconds between two lines of a pass
EPOCH_SILENCE = 10.0  # seconds between two lines of epochs without lines of their own
HEADING = "   read         rows      rows/s    MB/s  error so far  error since    mistakes"
NUMBER_HEADING = "   read         rows      rows/s    MB/s    MAE so far    MAE since"


def read_clock() -> float:
    """Seconds by a clock that never goes back."""
    return time.perf_counter()


class Pace(NamedTuple):
    """Speed and error of a pass."""

    rows: int
    rows_per_second: float
    megabytes_per_second: float
    error: float | None
    last_error: float | None
    mistakes: float | None


class Printer(Listener):
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
    has_heading = False
    pending: Epoch | None = None  # the last epoch, if it has no line yet

    def __init__(self, form: str = "lines", every: bool = False) -> None:
        self.form, self.every = form, every
        self.begin_pass()
        self.epoch_printed = self.begun

    def begin_pass(self) -> None:
        """Time a pass from now."""
        self.begun = self.pass_printed = read_clock()
        self.before, self.silence = Tally(0, 0, 0), 1.0

    def chose(self, recipe: Any, facts: Mapping[str, Any]) -> None:
        """Print what was compared, and what is done to the columns."""
        if self.form == "json" and facts:
            print_event("tuned", **facts)
        self.opening = [*(about_tuning(facts) if facts else ()), *about_columns(recipe)]

    def begin(self, size: int | None, max_iter: int) -> None:
        """Start the clock, and print the opening lines."""
        self.size, self.pending = size, None
        self.begin_pass()
        self.epoch_printed = self.begun
        for line in [*self.opening, *about_margin(self.plan)] if self.form == "lines" else ():
            print_line(line)

    def batch(self, tally: Tally) -> None:
        """Print how far a pass has come, after 1, 2, 4 … seconds."""
        if read_clock() - self.pass_printed >= self.silence:
            silence = min(2 * self.silence, LONGEST_SILENCE)
            self.window(tally)
            self.pass_printed, self.silence = read_clock(), silence

    def window(self, tally: Tally) -> None:
        """Print the pace of a pass and its errors."""
        pace, numbers = self.pace(tally), self.target == "numbers"
        if self.form == "json":
            print_event("progress", epoch=self.epochs + 1, **pace._asdict())
        elif self.form == "lines":
            if not self.has_heading:
                print_line(NUMBER_HEADING if numbers else HEADING)
                self.has_heading = True
            print_line(format_pace(pace, tally, self.size, numbers))

    def pace(self, tally: Tally) -> Pace:
        """The speed and the error of the pass, and the error since the last call."""
        seconds = max(read_clock() - self.begun, 1e-9)
        error = last = None
        if tally.mistakes is not None:
            error = tally.mistakes / max(tally.rows * tally.problems, 1)
            before = Tally(0, 0, 0) if self.before.mistakes is None else self.before  # only read
            recent = (tally.rows - before.rows) * tally.problems
            last = (tally.mistakes - (before.mistakes or 0)) / recent if recent else None
        self.before = tally
        speed = tally.bytes_read / seconds / 1e6
        return Pace(tally.rows, tally.rows / seconds, speed, error, last, tally.mistakes)

    def epoch(self, epoch: Epoch) -> None:
        """Print an epoch, unless its turn has not come."""
        long = self.pass_printed > self.begun  # it had lines before its end
        self.epochs, self.pending = epoch.epoch, epoch
        self.begin_pass()
        is_power = epoch.epoch & (epoch.epoch - 1) == 0
        if self.form == "json":
            print_event("epoch", **epoch._asdict())
        elif self.every or long or is_power or self.begun - self.epoch_printed >= EPOCH_SILENCE:
            self.close()

    def close(self) -> None:
        """Print the last epoch, unless it is printed."""
        if self.pending is not None and self.form == "lines":
            print_line(format_epoch(self.pending, self.target, self.metric))
        self.pending, self.epoch_printed = None, self.begun

    def tried(self, done: int, total: int) -> None:
        """Print the number of trials that are done, after 1, 2, 4 … seconds."""
        if self.form == "lines" and read_clock() - self.pass_printed >= self.silence:
            print_line(f"{done} of {total} trials")
            self.pass_printed = read_clock()
            self.silence = min(2 * self.silence, LONGEST_SILENCE)

    def note(self, sentence: str) -> None:
        """Print a sentence to standard error, or an object with the sentence and its code."""
        if self.form == "json":
            print_event("note", sentence=sentence, code=getattr(sentence, "code", "note"))
        else:
            print_note(sentence)


def format_pace(pace: Pace, tally: Tally, size: int | None, numbers: bool = False) -> str:
    """A row of the table under the heading."""
    read = f"{tally.bytes_read / size:7.0%}" if size else " " * 7
    write = plain if numbers else "{:.2%}".format
    errors = [f"{'' if value is None else write(value):>13}" for value in pace[3:5]]
    mistakes = "" if numbers or pace.mistakes is None else f"{pace.mistakes:12,.0f}"
    speeds = f"{pace.rows_per_second:12,.0f}{pace.megabytes_per_second:8,.0f}"
    return f"{read}{pace.rows:13,d}{speeds} {errors[0]}{errors[1]}{mistakes}".rstrip()


def print_event(event: str, **facts: Any) -> None:
    """Print an event as a JSON object; fractions are text."""

    def as_json(value: Any) -> Any:
        return value.tolist() if hasattr(value, "tolist") else str(value)

    write_line(json.dumps({"event": event, **facts}, default=as_json))


def print_line(line: str) -> None:
    """Print a line, as wide as the terminal."""
    write_line(fold(line))


def write_line(line: str) -> None:
    """Write a line; after the reader of a pipe has left, write nothing, but go on training."""
    try:
        print(line, flush=True)
    except BrokenPipeError:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - until the end


@contextmanager
def show_reading(size: int | None, wanted: bool) -> Iterator[Callable[[int], None]]:
    """Yield a function of the bytes read that moves a bar on standard error, if it is wanted."""
    if not wanted:
        yield lambda bytes_read: None
        return
    begun = read_clock()
    with new_bar(on_stderr=True) as bar:
        line = bar.add_task("reading", total=size, speed="")

        def move(bytes_read: int) -> None:
            speed = bytes_read / max(read_clock() - begun, 1e-9) / 1e6
            bar.update(line, completed=bytes_read, speed=f"{speed:,.0f} MB/s")

        yield move
