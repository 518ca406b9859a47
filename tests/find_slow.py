"""Write tests/slow.txt, the tests that `make quick` leaves out, from pytest's list of durations.

Use it as ``make slow`` does: the output of pytest comes in at standard input.
"""

import re
import sys
from collections import Counter
from pathlib import Path

BUDGET = 60.0  # seconds of all tests that stay: two cores then need less than a minute
LINE = re.compile(r"^\s*([\d.]+)s (?:call|setup|teardown)\s+([^\s\[]+)", re.MULTILINE)
ROOT = Path(__file__).parents[1]


def is_function(name):
    """Whether a file has a function of this name; doctests have none, so they always run."""
    path, _, function = name.partition("::")
    return (ROOT / path).is_file() and f"def {function}(" in (ROOT / path).read_text("utf-8")


def find_slow(output):
    """The names of the slowest tests, so many that the others take at most the budget in all.

    >>> here = "tests/find_slow.py::"
    >>> find_slow(f"60s call {here}find_slow[1]\\n20s call {here}is_function\\n9s setup x.py::c")
    ['tests/find_slow.py::find_slow']
    """
    seconds = Counter()
    for time, name in LINE.findall(output):
        seconds[name] += float(time)
    left = sum(seconds.values())
    slow = []
    for name, total in seconds.most_common():
        if left <= BUDGET:
            break
        if is_function(name):
            slow.append(name)
            left -= total
    return sorted(slow)


if __name__ == "__main__":
    names = find_slow(sys.stdin.read())
    Path(__file__).with_name("slow.txt").write_text("\n".join(names) + "\n", "utf-8")
    print(f"{len(names)} tests are slow.")
