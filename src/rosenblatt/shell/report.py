"""Print a training: as lines, as JSON, or with a bar; events are those of training/report.py."""

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
    """Seconds by a clock that stands still while kernels are compiled."""
    return time.perf_counter()


class Pace(NamedTuple):
    """Speed and error of a pass."""

    rows: int
    rows_per_second: float
    megabytes_per_second: float
    error: float | None
    last_error: float | None
    mistakes: float | None


class Quiet(Listener):
    """Prints notes only."""

    size: int | None = None
    max_iter, epochs = 1, 0

    def __init__(self) -> None:
        self.begin_pass()

    def begin_pass(self) -> None:
        """Time a pass from now."""
        self.begun, self.before = read_clock(), Tally(0, 0, 0)

    def begin(self, size: int | None, max_iter: int) -> None:
        """Start the clock."""
        self.size, self.max_iter = size, max_iter
        self.begin_pass()

    def epoch(self, epoch: Epoch) -> None:
        """Count an epoch."""
        self.epochs = epoch.epoch
        self.begin_pass()

    def note(self, sentence: str) -> None:
        """Print a sentence to standard error."""
        print_note(sentence)

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


class Printed(Quiet):
    """Prints epochs 1, 2, 4, 8 … and the last, and a long pass at growing distances.

    With ``every``, it prints all epochs.
    """

    def __init__(self, every: bool = False) -> None:
        super().__init__()
        self.every, self.silence, self.has_heading = every, 1.0, False
        self.epoch_printed = self.pass_printed = self.begun

    pending: Epoch | None = None  # the last epoch, if it has no line yet

    def begin(self, size: int | None, max_iter: int) -> None:
        """Print the opening lines."""
        super().begin(size, max_iter)
        self.pending, self.epoch_printed, self.pass_printed = None, self.begun, self.begun
        for line in [*self.opening, *about_margin(self.plan)]:
            print_line(line)

    def chose(self, recipe: Any, facts: Mapping[str, Any]) -> None:
        """Begin with what was compared, and what is done to the columns."""
        self.opening = [*(about_tuning(facts) if facts else ()), *about_columns(recipe)]

    def batch(self, tally: Tally) -> None:
        """Print how far a pass has come, after 1, 2, 4 … seconds."""
        if read_clock() - self.pass_printed >= self.silence:
            self.show(self.pace(tally), tally)
            self.pass_printed = read_clock()
            self.silence = min(2 * self.silence, LONGEST_SILENCE)

    def window(self, tally: Tally) -> None:
        """Print the pace of a pass and its errors."""
        self.show(self.pace(tally), tally)

    def show(self, pace: Pace, tally: Tally) -> None:
        """Print a line about a pass."""
        numbers = self.target == "numbers"
        if not self.has_heading:
            print_line(NUMBER_HEADING if numbers else HEADING)
            self.has_heading = True
        print_line(format_pace(pace, tally, self.size, numbers))

    def epoch(self, epoch: Epoch) -> None:
        """Print an epoch, unless its turn has not come."""
        long = self.pass_printed > self.begun  # it had lines before its end
        super().epoch(epoch)
        self.silence, self.pass_printed, self.pending = 1.0, self.begun, epoch
        is_power = epoch.epoch & (epoch.epoch - 1) == 0
        if self.every or long or is_power or self.begun - self.epoch_printed >= EPOCH_SILENCE:
            self.print_epoch()

    def print_epoch(self) -> None:
        """Print the last epoch, unless it is printed."""
        if self.pending is not None:
            print_line(format_epoch(self.pending, self.target, self.metric))
        self.pending, self.epoch_printed = None, self.begun

    def close(self) -> None:
        """Print the last epoch."""
        self.print_epoch()


def format_pace(pace: Pace, tally: Tally, size: int | None, numbers: bool = False) -> str:
    """A row of the table under the heading."""
    read = f"{tally.bytes_read / size:7.0%}" if size else " " * 7
    write = plain if numbers else "{:.2%}".format
    errors = [f"{'' if value is None else write(value):>13}" for value in pace[3:5]]
    mistakes = "" if numbers or pace.mistakes is None else f"{pace.mistakes:12,.0f}"
    speeds = f"{pace.rows_per_second:12,.0f}{pace.megabytes_per_second:8,.0f}"
    return f"{read}{pace.rows:13,d}{speeds} {errors[0]}{errors[1]}{mistakes}".rstrip()


class AsJson(Printed):
    """Prints one JSON object per line."""

    def chose(self, recipe: Any, facts: Mapping[str, Any]) -> None:
        """Print an object about what was compared."""
        if facts:
            print_event("tuned", **facts)

    def show(self, pace: Pace, tally: Tally) -> None:
        """Print an object about a pass."""
        print_event("progress", epoch=self.epochs + 1, **pace._asdict())

    def epoch(self, epoch: Epoch) -> None:
        """Print an object about an epoch."""
        Quiet.epoch(self, epoch)
        print_event("epoch", **epoch._asdict())

    def note(self, sentence: str) -> None:
        """Print an object with a sentence and its code."""
        print_event("note", sentence=sentence, code=getattr(sentence, "code", "note"))


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


class Meter:
    """A bar for a terminal, which appears once something takes longer than a moment."""

    def __init__(self, on_stderr: bool = False) -> None:
        self.on_stderr, self.started, self.what = on_stderr, read_clock(), ""
        self.bar: Any = None

    def move(self, what: str, share: float | None, words: str) -> None:
        """Show which share is done of what, if that is known."""
        if self.bar is None and read_clock() - self.started > 0.5:
            self.bar = new_bar(on_stderr=self.on_stderr)
            self.bar.start()
            self.line = self.bar.add_task("", total=None, speed="")
        if self.bar is None:
            return
        if what.split()[0] != self.what:  # from reading to epochs
            self.bar.reset(self.line)
            self.what = what.split()[0]
        total = None if share is None else 1.0
        self.bar.update(self.line, description=what, completed=share or 0, total=total, speed=words)

    def close(self) -> None:
        """Remove the bar."""
        if self.bar is not None:
            self.bar.stop()


class Bar(Printed):
    """Prints lines with a bar below them, for a terminal."""

    def __init__(self, every: bool = False) -> None:
        super().__init__(every)
        self.meter, self.only_read = Meter(), False

    def batch(self, tally: Tally) -> None:
        """Move the bar: over the reading, or over all passes of a stream."""
        self.advance(tally)
        super().batch(tally)

    def window(self, tally: Tally) -> None:
        """Move the bar, and print the error of a window."""
        self.advance(tally)
        super().window(tally)

    def advance(self, tally: Tally) -> None:
        """Move the bar."""
        self.only_read = tally.mistakes is None
        share = tally.bytes_read / self.size if self.size else None
        what = "reading"
        if not self.only_read:
            what = f"epoch {self.epochs + 1} of {self.max_iter}"
            share = None if share is None else (self.epochs + share) / self.max_iter
        speed = tally.bytes_read / max(read_clock() - self.begun, 1e-9) / 1e6
        self.meter.move(what, share, f"{speed:,.0f} MB/s")

    def epoch(self, epoch: Epoch) -> None:
        """Print an epoch, and move the bar if it counts epochs."""
        super().epoch(epoch)
        if self.only_read:
            done = epoch.epoch / self.max_iter
            self.meter.move(f"epoch {epoch.epoch} of {self.max_iter}", done, "")

    def tried(self, done: int, total: int) -> None:
        """Move the bar over the trials."""
        self.meter.move("trials", done / total, f"{done} of {total}")

    def close(self) -> None:
        """Remove the bar."""
        super().close()
        self.meter.close()


@contextmanager
def show_reading(size: int | None, wanted: bool) -> Iterator[Callable[[int], None]]:
    """Yield a function of the bytes read that moves a bar on standard error.

    Without ``wanted`` there is none.
    """
    meter = Meter(on_stderr=True)

    def move(bytes_read: int) -> None:
        if wanted:
            speed = bytes_read / max(read_clock() - meter.started, 1e-9) / 1e6
            meter.move("reading", bytes_read / size if size else None, f"{speed:,.0f} MB/s")

    try:
        yield move
    finally:
        meter.close()
