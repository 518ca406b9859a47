"""How a training is told: as a bar, as lines or as JSON."""

import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple, TextIO

import numpy as np

from ..data.rows import Array
from .history import Epoch

LONGEST_SILENCE = 60.0  # seconds between two lines of a pass
EPOCH_SILENCE = 10.0  # and between two lines of epochs that have no lines within
COLUMNS = "rows", "error", "window_error"  # of the log
HEADING = "   read          rows      rows/s    MB/s   error so far   error since     mistakes"


class Tally(NamedTuple):
    """How far a pass has come: each row is predicted before it is learnt.

    ``mistakes`` counts the rows that the model so far got wrong, in all of its problems; None while
    a file is only read.
    """

    rows: int
    bytes_read: int
    mistakes: int | None
    problems: int = 1


class Note(str):
    """A sentence about something that might surprise, with a short stable ``code``."""

    code: str

    def __new__(cls, sentence: object, code: str) -> "Note":
        """Make the sentence, and keep the code with it."""
        made = super().__new__(cls, sentence)
        made.code = code
        return made


class Listener:
    """What can be heard of a training; this one does not listen.

    ``opening`` are lines to say when it begins.
    """

    opening: Sequence[str] = ()

    def begin(self, size: int | None, max_iter: int) -> None:
        """A pass has so many bytes, if that is known, and there are at most so many."""

    def batch(self, tally: Tally) -> None:
        """A batch is done."""

    def window(self, tally: Tally) -> None:
        """So many rows are done that they are to be told."""

    def epoch(self, epoch: Epoch) -> None:
        """An epoch is done."""

    def tried(self, done: int, total: int) -> None:
        """So many of the trials of a tuning are done."""

    def note(self, sentence: str) -> None:
        """Something is otherwise than one might think."""

    def close(self) -> None:
        """Nothing more will be said."""


@dataclass
class Windows:
    """Counts the rows that were wrong when they were predicted before they were learnt.

    Attributes
    ----------
    every
        How many rows a window has.
    tell
        Hears after each how many rows there were so far, and how many of them were wrong.
    """

    every: int
    tell: Callable[[int, int], None]
    rows: int = 0
    wrong: int = 0

    def add(self, wrong: Array) -> None:
        """Count some rows more."""
        counts = np.cumsum(wrong)
        for end in range(self.every - self.rows % self.every, len(wrong) + 1, self.every):
            self.tell(self.rows + end, self.wrong + int(counts[end - 1]))
        self.rows += len(wrong)
        self.wrong += int(counts[-1]) if len(wrong) else 0

    def close(self) -> None:
        """Tell of the last window, which may have fewer rows."""
        if self.rows % self.every:
            self.tell(self.rows, self.wrong)


class Pace(NamedTuple):
    """How a pass goes, in numbers to print."""

    rows: int
    rows_per_second: float
    megabytes_per_second: float
    error: float | None
    last_error: float | None
    mistakes: int | None


class Quiet(Listener):
    """Says only what is otherwise than one might think; ``log`` takes the error of each window."""

    log: TextIO | None = None

    def __init__(self) -> None:
        self.size: int | None = None
        self.max_iter, self.epochs = 1, 0
        self.begun, self.before = time.perf_counter(), Tally(0, 0, 0)

    def begin(self, size: int | None, max_iter: int) -> None:
        self.size, self.max_iter = size, max_iter
        self.begun, self.before = time.perf_counter(), Tally(0, 0, 0)
        if self.log is not None:
            if self.log.seekable():  # a run may begin again
                self.log.seek(0)
                self.log.truncate()
            print(*COLUMNS, sep=",", file=self.log, flush=True)

    def window(self, tally: Tally) -> None:
        pace = self.pace(tally)
        if self.log is not None:
            line = f"{pace.rows},{pace.error:.6g},{pace.last_error:.6g}"
            print(line, file=self.log, flush=True)
        self.show(pace, tally)

    def show(self, pace: Pace, tally: Tally) -> None:
        """Say how a pass goes, unless in quiet."""

    def close(self) -> None:
        if self.log is not None:
            self.log.close()

    def epoch(self, epoch: Epoch) -> None:
        """An epoch is done, and the next is timed from now."""
        self.epochs = epoch.epoch
        self.begun, self.before = time.perf_counter(), Tally(0, 0, 0)

    def note(self, sentence: str) -> None:
        """Say a sentence, even in quiet."""
        print(f"Note: {sentence}", file=sys.stderr, flush=True)

    def pace(self, tally: Tally) -> Pace:
        """How fast and how well the pass goes, also since the last time that this was asked."""
        seconds = time.perf_counter() - self.begun
        error = last = None
        if tally.mistakes is not None:
            error = tally.mistakes / max(tally.rows * tally.problems, 1)
            asked = (tally.rows - self.before.rows) * tally.problems
            last = (tally.mistakes - (self.before.mistakes or 0)) / asked if asked else None
        self.before = tally
        speed = tally.bytes_read / seconds / 1e6
        return Pace(tally.rows, tally.rows / seconds, speed, error, last, tally.mistakes)


class Printed(Quiet):
    """Lines on epochs 1, 2, 4, 8 … and the last, and at growing distances within a long pass.

    ``every`` epoch has a line if that is asked for.
    """

    def __init__(self, every: bool = False) -> None:
        super().__init__()
        self.every, self.untold, self.told = every, None, self.begun
        self.silence, self.said, self.headed = 1.0, self.begun, False

    untold: Epoch | None  # the last one, if it had no line

    def begin(self, size: int | None, max_iter: int) -> None:
        """Say what is to be said first."""
        super().begin(size, max_iter)
        self.untold, self.told = None, self.begun
        for line in self.opening:
            tell(line)

    def batch(self, tally: Tally) -> None:
        """Say how far a pass has come, after 1, 2, 4 … seconds."""
        if time.perf_counter() - self.said < self.silence:
            return
        self.show(self.pace(tally), tally)
        self.said = time.perf_counter()
        self.silence = min(2 * self.silence, LONGEST_SILENCE)

    def show(self, pace: Pace, tally: Tally) -> None:
        """Print a line about a pass."""
        if not self.headed:
            tell(HEADING)
            self.headed = True
        tell(format_line(pace, tally, self.size))

    def epoch(self, epoch: Epoch) -> None:
        """Say what happened in an epoch, if it is one to tell of."""
        long = self.said > self.begun  # it had lines of its own
        super().epoch(epoch)
        self.silence, self.said, self.untold = 1.0, self.begun, epoch
        power_of_two = epoch.epoch & (epoch.epoch - 1) == 0
        if self.every or long or power_of_two or self.begun - self.told >= EPOCH_SILENCE:
            self.tell_epoch()

    def tell_epoch(self) -> None:
        """Print the line of the last epoch, if it had none."""
        if self.untold is not None:
            tell(line_of_epoch(self.untold))
        self.untold, self.told = None, self.begun

    def close(self) -> None:
        self.tell_epoch()
        super().close()


def format_line(pace: Pace, tally: Tally, size: int | None) -> str:
    """A row of the table under the heading."""
    read = f"{tally.bytes_read / size:7.0%}" if size else " " * 7
    errors = [" " * 14 if value is None else f"{value:14.2%}" for value in pace[3:5]]
    mistakes = " " * 13 if pace.mistakes is None else f"{pace.mistakes:13,d}"
    speeds = f"{pace.rows_per_second:12,.0f}{pace.megabytes_per_second:8,.0f}"
    return f"{read}{pace.rows:14,d}{speeds} {errors[0]}{errors[1]}{mistakes}"


def line_of_epoch(epoch: Epoch) -> str:
    """What happened in an epoch."""
    share = epoch.errors / max(epoch.rows, 1)
    more = "" if epoch.mistakes == epoch.errors else f"  {epoch.mistakes:,} updates"
    held = epoch.validation_score
    tested = "" if held is None else f"  {1 - held:7.2%} of the held-out rows wrong"
    return f"epoch {epoch.epoch:4d}  {epoch.errors:10,d} mistakes  {share:7.2%}{more}{tested}"


class AsJson(Printed):
    """The same as one JSON object per line."""

    def show(self, pace: Pace, tally: Tally) -> None:
        """Print an object about a pass."""
        say("progress", epoch=self.epochs + 1, **pace._asdict())

    def epoch(self, epoch: Epoch) -> None:
        """Print an object about an epoch."""
        Quiet.epoch(self, epoch)
        say("epoch", **epoch._asdict())

    def note(self, sentence: str) -> None:
        """Print an object with a sentence and its code."""
        say("note", sentence=sentence, code=getattr(sentence, "code", "note"))


def say(event: str, **facts: Any) -> None:
    """Print an object."""
    tell(json.dumps({"event": event, **facts}))


def tell(line: str) -> None:
    """Print a line; when nobody reads any more, be silent: the model is still wanted."""
    try:
        print(line, flush=True)
    except BrokenPipeError:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - until the end


class Bar(Printed):
    """A bar with the time left under the lines, for a person at a terminal."""

    def __init__(self, every: bool = False) -> None:
        super().__init__(every)
        self.bar: Any = None
        self.only_read = False
        self.started = self.begun

    def batch(self, tally: Tally) -> None:
        """Move the bar: over the reading, or over all passes of a stream."""
        self.advance(tally)
        super().batch(tally)

    def window(self, tally: Tally) -> None:
        self.advance(tally)
        super().window(tally)

    def advance(self, tally: Tally) -> None:
        """Move the bar."""
        self.only_read = tally.mistakes is None
        speed = tally.bytes_read / max(time.perf_counter() - self.begun, 1e-9) / 1e6
        if self.only_read:
            self.move("reading", tally.bytes_read, self.size, f"{speed:,.0f} MB/s")
        else:
            all_passes = None if self.size is None else self.size * self.max_iter
            done = (self.size or 0) * self.epochs + tally.bytes_read
            what = f"epoch {self.epochs + 1} of {self.max_iter}"
            self.move(what, done, all_passes, f"{speed:,.0f} MB/s")

    def epoch(self, epoch: Epoch) -> None:
        """Say what happened in an epoch, and move the bar if it is over epochs."""
        super().epoch(epoch)
        if self.only_read:
            self.move(f"epoch {epoch.epoch} of {self.max_iter}", epoch.epoch, self.max_iter, "")

    def tried(self, done: int, total: int) -> None:
        """Move the bar over the trials."""
        self.move("tuning", done, total, f"{done} of {total}")

    def move(self, what: str, done: int, total: int | None, speed: str) -> None:
        """Show how much of how much is done, once it takes longer than a moment."""
        if self.bar is None and time.perf_counter() - self.started > 0.5:
            self.bar = new_bar()
            self.bar.start()
            self.what, self.line = what.split()[0], self.bar.add_task("", total=None, speed="")
        if self.bar is not None:
            if what.split()[0] != self.what:  # from reading to epochs: other units, another clock
                self.bar.reset(self.line)
                self.what = what.split()[0]
            self.bar.update(self.line, description=what, completed=done, total=total, speed=speed)

    def close(self) -> None:
        """Take the bar away."""
        super().close()
        if self.bar is not None:
            self.bar.stop()


@contextmanager
def bar_of_reading(size: int | None, wanted: bool) -> Iterator[Callable[[int], None]]:
    """Yield a function of the bytes read, which moves a bar on standard error.

    The bar appears once reading takes longer than a moment; without ``wanted`` there is none.
    """
    begun, bar, line = time.perf_counter(), None, None

    def tell(bytes_read: int) -> None:
        nonlocal bar, line
        seconds = time.perf_counter() - begun
        if wanted and bar is None and seconds > 0.5:
            bar = new_bar(on_stderr=True)
            bar.start()
            line = bar.add_task("reading", total=size, speed="")
        if bar is not None:
            bar.update(line, completed=bytes_read, speed=f"{bytes_read / seconds / 1e6:,.0f} MB/s")

    try:
        yield tell
    finally:
        if bar is not None:
            bar.stop()


def new_bar(stays: bool = False, on_stderr: bool = False) -> Any:
    """A bar; what is printed meanwhile stands above it."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )

    words = "{task.description}", "{task.fields[speed]}"
    what, speed = (TextColumn(word) for word in words)
    left = TextColumn("left"), TimeRemainingColumn()
    columns = what, BarColumn(), TaskProgressColumn(), speed, *left
    return Progress(*columns, transient=not stays, console=Console(stderr=on_stderr))


@contextmanager
def bar_of_epochs(wanted: Any) -> Iterator[Callable[[int, float, str], None] | None]:
    """A bar over each epoch: a function of its number, the share that is done, and words."""
    if not wanted:
        yield None
        return
    with new_bar(stays=True) as bar:
        line = bar.add_task("", total=1.0, speed="")

        def tell(epoch: int, share: float, words: str) -> None:
            bar.update(line, description=f"epoch {epoch}", completed=share, speed=words)

        yield tell
