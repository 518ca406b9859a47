"""Changes of a served model besides learning: forget examples, roll back, load another model.

Each is prepared while the service predicts and learns, then done between two groups of examples. It
returns the number of the last row of the log, and how many examples it was about.
"""

import re
from collections.abc import Collection

from ..storage.file import load_model
from .learning import Learning
from .log import Log
from .model import ServedModel
from .replay import Replay, read_log
from .requests import RequestError

MOST_AT_ONCE = 100_000  # examples to forget
RANGE = re.compile(r"(\d{1,18})(?:-(\d{1,18}))?")


def parse_numbers(text: str) -> list[int]:
    """Parse the numbers of examples.

    >>> parse_numbers("3,7-9")
    [3, 7, 8, 9]
    """
    found: set[int] = set()
    for part in text.split(","):
        numbers = RANGE.fullmatch(part.strip())
        first, last = (int(numbers[1]), int(numbers[2] or numbers[1])) if numbers else (0, -1)
        if not numbers or last < first or last - first + len(found) >= MOST_AT_ONCE:
            most = f"at most {MOST_AT_ONCE:,} examples"
            sentence = f"{text[:40]!r} is not a list of {most}, such as 3,7-9."
            raise RequestError(400, "bad-numbers", sentence)
        found.update(range(first, last + 1))
    return sorted(found)


def check_examples(log: Log, numbers: Collection[int]) -> list[int]:
    """Return the numbers that are not forgotten yet; refuse those of no example."""
    found, first = [], log.models()[0]
    for number in numbers:
        (entry,) = log.read_entries(number, number)
        if not first < number <= log.last or entry.kind == "change":
            sentence = f"{log.path.name} has no example {number}."
            raise RequestError(404, "unknown-example", sentence)
        found += [number] if entry.kind == "example" else []
    return found


def forget(learning: Learning, numbers: Collection[int]) -> tuple[int, int]:
    """Replace the model by the one that never saw some examples, and erase these from all files."""
    with learning.changing, read_log(learning.log.path) as log:
        left = frozenset(check_examples(log, numbers))
        if left:
            served = Replay(log, learning.say, left).rebuild()
            learning.call(lambda: learning.forget(served, left)).result()
        elif log.is_erasing:  # the examples of an earlier request
            learning.call(learning.erase).result()
    return learning.served.sequence, len(left)


def roll_back(learning: Learning, number: int) -> tuple[int, int]:
    """Return to the model after an example; those since then stay in the log."""
    with learning.changing, read_log(learning.log.path) as log:
        served = Replay(log, learning.say).rebuild(number)
        return learning.call(lambda: learning.change(served, "rollback", number)).result(), 0


def load(learning: Learning, data: bytes, name: str = "the model") -> tuple[int, int]:
    """Replace the model by that of another model file."""
    served = ServedModel(load_model(name, data), name)
    served.check_learning()
    with learning.changing:
        with read_log(learning.log.path) as log:
            if served.sequence and (served.log == log.identity or log.is_former(served.log)):
                instead = f"roll back to example {served.sequence}, or forget examples, instead"
                sentence = f"{name} has learnt from this log; {instead}."
                raise RequestError(409, "impossible-change", sentence)
        if learning.served.most_classes is not None:
            served.check_growing()
        change = learning.call(lambda: learning.change(served, "model", learning.log.last, data))
        return change.result(), 0
