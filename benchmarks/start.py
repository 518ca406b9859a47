"""How long does a command take, the first time and the second time?

python benchmarks/start.py
"""

import compileall
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from measure import options, table

import rosenblatt


def commands(folder: Path) -> list[tuple[str, list[str]]]:
    """What a new user might do first."""
    numbers = "".join(f"{i % 2} 1:{i % 7} {2 + i % 5}:0.5\n" for i in range(200))
    words = "".join(f"{i % 3},word{i % 7} and word{i % 5},{i % 2}\n" for i in range(200))
    (folder / "small.svm").write_text(numbers)
    (folder / "words.csv").write_text("number,text,label\n" + words)
    return [
        ("--help", ["--help"]),
        ("train iris", ["train", "iris"]),
        ("train small.svm", ["train", "small.svm"]),
        ("train words.csv", ["train", "words.csv", "--text", "text"]),
    ]


def seconds(arguments: list[str], folder: Path) -> tuple[float, float]:
    """The processor's and the clock's seconds of a command."""
    begin, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "rosenblatt", *arguments]
    subprocess.run(command, cwd=folder, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return used, time.perf_counter() - begin


def main() -> None:
    quick = options(__doc__).quick
    compileall.compile_dir(Path(rosenblatt.__file__).parent, quiet=2)  # as pip does
    rows = [("what", "first: processor", "clock", "second: processor", "clock")]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for what, arguments in commands(folder)[: 2 if quick else None]:
            figures = (figure for _ in range(2) for figure in seconds(arguments, folder))
            rows.append((what, *(f"{figure:.2f} s" for figure in figures)))
    table(*rows)


if __name__ == "__main__":
    main()
