"""Models from logs: replay one, rebuild the model after any example, recover one at a start."""

from collections.abc import Callable, Collection, Sequence
from contextlib import closing
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..disk import remove_temporaries
from ..storage.file import load_model, save_model
from ..storage.model import Model
from ..training import state as states
from .log import PRIVATE, Change, Entry, Log, lock_log
from .model import ServedModel
from .requests import RequestError

ROUNDING = 1e-5  # of the largest weight: sums of another order differ less
Say = Callable[[str], None]
Recovered = tuple[ServedModel, Log, int]


def log_path(path: Path) -> Path:
    """Where the log of a model file is."""
    return path.with_name(path.name + ".log")


class Replay(NamedTuple):
    """How to read a log: which examples to leave out, and what reports long replays."""

    log: Log
    say: Say = print
    without: Collection[int] = ()

    def run(self, served: ServedModel, until: int | None = None) -> ServedModel:
        """Have a model learn what comes after its last example; return the model."""
        for entries in self.log.entries(served.sequence, until):
            for kind, found in groupby(entries, self.find_kind):
                group = list(found)
                if kind == "example":
                    self.learn(served, group)
                elif kind == "change":
                    served = self.make_changed(group[-1].sequence)
                served.sequence = group[-1].sequence
        return served

    def find_kind(self, entry: Entry) -> str:
        """What to do with a row of the log."""
        return "forgotten" if entry.sequence in self.without else entry.kind

    def learn(self, served: ServedModel, entries: Sequence[Entry]) -> None:
        """Learn examples; one that cannot be learnt is skipped with a message and counted."""
        before = served.learner
        try:
            if not all(entry.is_intact for entry in entries):
                raise ValueError("it is damaged: its checksum is wrong")
            served.learn(served.make([entry.text for entry in entries]))
        except Exception as error:  # a service must start again, whatever is in its log
            if len(entries) > 1:
                for entry in [one for one in entries if one.sequence > served.sequence]:
                    self.learn(served, [entry])
                return
            number, reason = entries[0].sequence, str(error)[:200]
            self.say(f"{self.log.path}: example {number} is skipped ({reason}).")
            served.skip(number, before)

    def make_changed(self, number: int) -> ServedModel:
        """The model after a change."""
        (change,) = [one for one in self.log.changes() if one.sequence == number]
        if change.action == "model":
            return self.open_model(number)
        served = self.rebuild(change.source)
        served.sequence = number
        return served

    # From a snapshot

    def rebuild(self, until: int | None = None) -> ServedModel:
        """The model after some example of the log, or after the last."""
        wanted = self.log.last if until is None else until
        return self.run(self.find_start(wanted), wanted)

    def find_start(self, wanted: int) -> ServedModel:
        """The newest model from which the one after some example can be replayed."""
        log, models, changes = self.log, self.log.models(), self.log.changes()
        if not models[0] <= wanted <= log.last:
            sentence = f"{log.path} has rows {models[0]} to {log.last}, not {wanted}."
            raise RequestError(409, "impossible-change", sentence)
        known = (number for number in models if number <= wanted)
        return self.open_model(max(n for n in known if not has_seen(changes, n, self.without)))

    def open_model(self, number: int) -> ServedModel:
        """The model in a row of the log."""
        name = f"the model of row {number} in {self.log.path}"
        served = ServedModel(load_model(name, self.log.model(number)), name)
        served.log, served.sequence = self.log.identity, number
        return served


def has_seen(changes: Sequence[Change], number: int, examples: Collection[int]) -> bool:
    """Whether the model after a row of the log has learnt one of some examples."""
    while True:
        last = max((one for one in changes if one.sequence <= number), default=Change(-1, "", 0))
        if any(last.sequence < one <= number for one in examples):
            return True
        if last.action != "rollback":
            return False
        number = last.source


# At the start of a service


def recover(path: Path, say: Say) -> Recovered:
    """Open a model file and its log, and learn what the file lacks; without a log begin one.

    The log is locked before anything is looked at. Returns the model after the last example, the
    log, and the last example in the file.
    """
    place = log_path(path)
    if not path.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {path.parent}.")
    lock = lock_log(place)
    try:
        remove_temporaries(path)
        if not place.exists():
            served = ServedModel(load_model(path), str(path))
            served.check_learning()
            if served.sequence:
                what = f"a new one continues after example {served.sequence:,}"
                say(f"There is no log {place}; {what}.")
            log = Log.create(place, path.read_bytes(), served.sequence, lock)
            served.log = log.identity
            return served, log, served.sequence
        log = Log(place, True, lock)
        if log.lost:
            say(
                f"{place} has lost {log.lost:,} acknowledged examples after number {log.last:,}; "
                "restore a backup of the log, or continue without them."
            )
        start = find_last_snapshot(path, log, say)
        begun, saved = start.sequence, start.sequence if start.name == str(path) else -1
        if log.last > begun:
            say(f"{log.last - begun:,} examples are learnt again from {place}.")
        served = Replay(log, say).run(start)
        served.check_learning()
        served.name = str(path)
        if log.is_erasing:
            erase(log, served, path)
            saved = served.sequence
        return served, log, saved
    except BaseException:
        lock.close()
        raise


def find_last_snapshot(path: Path, log: Log, say: Say) -> ServedModel:
    """The newest model to replay the log from: the file, or one in the log."""
    rebuilds = Replay(log, say)
    try:
        served = ServedModel(load_model(path), str(path))
    except (ValueError, FileNotFoundError) as error:
        say(f"{error} The model is rebuilt from {log.path}.")
        return rebuilds.find_start(log.last)
    models = log.models()
    if served.log == 0 and path.read_bytes() == log.model(models[0]):
        served.log, served.sequence = log.identity, models[0]
    if log.is_former(served.log):
        say(f"{path} has learnt from forgotten examples. The model is rebuilt from {log.path}.")
        return rebuilds.find_start(log.last)
    if served.log != log.identity:
        raise ValueError(
            f"{path} has not learnt from {log.path}; restore the model that has, or move the log "
            "and the files beside it (-wal, -shm) away to begin a new one."
        )
    if served.sequence > log.last:
        say(
            f"{log.path} ends at example {log.last:,}, and the model knows {served.sequence:,}: "
            "the log was cut; it continues after the model."
        )
        log.continue_after(served.sequence, path.read_bytes())
    return served


def erase(log: Log, served: ServedModel, path: Path) -> None:
    """Remove the bytes of forgotten examples from all files."""
    log.erase()
    save_model(path, served.model())
    path.chmod(PRIVATE)
    remove_temporaries(path)
    log.mark_erased()


# Comparing


class Difference(NamedTuple):
    """Where two models part, and whether only rounding does: counts are equal, weights nearly."""

    sentence: str
    is_rounding: bool = False


def compare_with_log(log: Log, path: Path) -> tuple[Difference | None, int]:
    """How a model differs from what its log makes, if it does, and the last example it knows."""
    wanted = ServedModel(load_model(path), str(path))
    if wanted.log not in (0, log.identity):
        return Difference(f"{path} is not of {log.path}."), wanted.sequence
    if wanted.sequence > log.last:
        text = f"{path} knows {wanted.sequence:,} examples, and {log.path} has {log.last:,}."
        return Difference(text), wanted.sequence
    found = find_difference(Replay(log).rebuild(wanted.sequence).model(), wanted.kept)
    if found is not None:
        text = f"{path} is not what {log.path} makes: {found.sentence}."
        found = found._replace(sentence=text)
    return found, wanted.sequence


def find_difference(one: Model, other: Model) -> Difference | None:
    """What differs first in two models, or None if they are equal to the last bit."""
    if one.classes.tolist() != other.classes.tolist():
        return Difference(f"the classes are {one.classes.tolist()} and {other.classes.tolist()}")
    rounding = None
    for number, pair in enumerate(zip(one.states, other.states, strict=True)):
        (arrays, counts), (others, other_counts) = map(states.pack_state, pair)
        for name in counts:
            if counts[name] != other_counts[name]:
                text = f"{name} of problem {number} is {counts[name]} and {other_counts[name]}"
                return Difference(text)
        for name, array in arrays.items():
            known = others[name]
            if array.shape == known.shape and array.tobytes() == known.tobytes():
                continue
            if array.shape != known.shape:
                return Difference(f"{name} of problem {number} has another shape")
            place = np.argwhere(array != known)[:1].tolist()
            size = float(np.abs(known).max(initial=0.0))
            share = float(np.abs(array - known).max()) / size if size else np.inf
            text = f"{name} of problem {number} differs, first at {place}"
            if not share <= ROUNDING:
                return Difference(text)
            rounding = rounding or Difference(f"{text}, by {share:.1e} of the largest", True)
    return rounding


def read_log(path: Path) -> "closing[Log]":
    """Open a log to read it in a with statement."""
    return closing(Log(path, writes=False))
