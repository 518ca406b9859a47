"""What every benchmark shares: the best of several runs, and a table of ratios."""

import argparse
import csv
import gc
import sys
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TextIO


def parser(question: str) -> argparse.ArgumentParser:
    """The command line that all benchmarks have."""
    made = argparse.ArgumentParser(description=question)
    made.add_argument("--quick", action="store_true", help="small sizes, to see that it runs")
    made.add_argument("--data", type=Path, default=Path("../shared/data"), help="real data sets")
    made.add_argument("--write", action="store_true", help="keep the tables in benchmarks/results")
    return made


def options(question: str, **flags: str) -> argparse.Namespace:
    """That command line, and flags of one benchmark with what they do."""
    given = parser(question)
    for name, meaning in flags.items():
        given.add_argument(f"--{name}", action="store_true", help=meaning)
    return given.parse_args()


def find_best(run: Callable[[], Any], times: int = 5) -> float:
    """The shortest time in seconds, after one run to warm up."""
    run()
    gc.collect()
    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def print_columns(*rows: tuple[str, ...]) -> None:
    """Print rows of text in columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        print("  ".join(cells).rstrip())


@cache
def open_results() -> TextIO:
    """The file of the tables of this benchmark, which the pages read."""
    path = Path(__file__).parent / "results" / f"{Path(sys.argv[0]).stem}.csv"
    return path.open("w", newline="", encoding="utf-8")


def table(*rows: tuple[str, ...]) -> None:
    """Print rows of text in columns; with ``--write``, keep them, too, after those before."""
    print_columns(*rows)
    if "--write" in sys.argv:
        file = open_results()
        if file.tell():
            file.write("\n")
        csv.writer(file, lineterminator="\n").writerows(rows)
        file.flush()


def ratio(ours: float, theirs: float) -> str:
    """How many times faster."""
    return f"{theirs / ours:.1f}x"


def milliseconds(seconds: float) -> str:
    """A time to read."""
    return f"{seconds * 1e3:.2f} ms"
