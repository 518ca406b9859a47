"""What every benchmark shares: the best of several runs, and a table of ratios."""

import argparse
import csv
import gc
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


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


def table(*rows: tuple[str, ...], keep: str = "") -> None:
    """Print rows of text in columns; ``keep`` names a file for the pages with their figures."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        print("  ".join(cells).rstrip())
    if keep:
        path = Path(__file__).parent / "results" / f"{keep}.csv"
        with path.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)


def ratio(ours: float, theirs: float) -> str:
    """How many times faster."""
    return f"{theirs / ours:.1f}x"


def milliseconds(seconds: float) -> str:
    """A time to read."""
    return f"{seconds * 1e3:.2f} ms"
