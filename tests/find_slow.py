"""Write tests/slow.txt, the tests that `make quick` leaves out, from pytest's list of durations.

Use it as ``make slow`` does: the output of pytest comes in at standard input.
"""

import re
import sys
from collections import Counter
from pathlib import Path

MOST_SECONDS = 0.5  # of a test with all its parameters
LINE = re.compile(r"^\s*([\d.]+)s (?:call|setup|teardown)\s+([^\s\[]+)", re.MULTILINE)


def find_slow(output):
    """The names of the tests that take too long in all."""
    seconds = Counter()
    for time, name in LINE.findall(output):
        seconds[name] += float(time)
    return sorted(name for name, total in seconds.items() if total >= MOST_SECONDS)


if __name__ == "__main__":
    names = find_slow(sys.stdin.read())
    Path(__file__).with_name("slow.txt").write_text("\n".join(names) + "\n", "utf-8")
    print(f"{len(names)} tests are slow.")
