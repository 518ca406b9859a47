"""Write tests/slow.txt, the tests that `make quick` leaves out, from pytest's list of durations.

Use it as ``make slow`` does: the output of pytest comes in at standard input.
"""

import re
import sys
from collections import Counter
from pathlib import Path

BUDGET = 70.0  # seconds of all tests that stay: two cores then need less than a minute
LINE = re.compile(r"^\s*([\d.]+)s (?:call|setup|teardown)\s+([^\s\[]+)", re.MULTILINE)


def find_slow(output):
    """The names of the slowest tests, so many that the others take at most the budget in all.

    >>> find_slow("60.00s call test.py::a[1]\\n20.00s call test.py::b\\n9.00s setup test.py::c")
    ['test.py::a']
    """
    seconds = Counter()
    for time, name in LINE.findall(output):
        seconds[name] += float(time)
    left = sum(seconds.values())
    slow = []
    for name, total in seconds.most_common():
        if left <= BUDGET:
            break
        slow.append(name)
        left -= total
    return sorted(slow)


if __name__ == "__main__":
    names = find_slow(sys.stdin.read())
    Path(__file__).with_name("slow.txt").write_text("\n".join(names) + "\n", "utf-8")
    print(f"{len(names)} tests are slow.")
