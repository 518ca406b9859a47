"""Compile in advance, by running the usual commands on small files of each kind.

``python -m rosenblatt.shell.warm`` does so, after installing or when building an image.
"""

import contextlib
import io
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from ..slices import list_slices, load
from .commands import CommandError

ROWS, MANY_ROWS = 240, 1_500  # of a table with words, which another kernel parses
WORDS = ["fine", "good", "plain", "bad", "dull", "sad"]


def warm_up() -> None:
    """Compile what the usual commands need, so that none of them waits for it later.

    The compiled code stays on disk. Run this after installing, or when building an image.
    """
    from ..kernels.algebra import mix
    from ..kernels.compiling import stays_on_disk
    from .app import app

    if not stays_on_disk(mix):
        raise CommandError(
            "Compiled code would not stay on disk; set NUMBA_CACHE_DIR to a folder that is "
            "writable, and leave NUMBA_DISABLE_JIT unset."
        )
    begin = time.perf_counter()
    print("Compiling what the usual commands need; this may take a minute.", flush=True)
    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(1) as beside:
        others = beside.submit(run_beside, list_commands_of_slices(Path(name)))
        for words in list_usual_commands(Path(name)):
            with silence():
                app([str(word) for word in words], standalone_mode=False)
        others.result()
    seconds = time.perf_counter() - begin
    print(f"All that the usual commands need is compiled ({seconds:.0f} s).")


def list_usual_commands(folder: Path) -> list[list[Any]]:
    """Commands on files of each kind with two classes and with three; the last word is the data."""
    model, out = folder / "model", folder / "predicted"
    jobs: list[list[Any]] = [["train", "iris"], ["train", "breast-cancer"]]
    jobs += [["train", "--rule", "perceptron", each[-1]] for each in jobs]
    for classes in 2, 3:
        for kind in "svm", "scaled.svm", "vw", "csv", "words.csv":
            data = folder / f"{classes}-classes.{kind}"
            data.write_text("".join(f"{line}\n" for line in sample_lines(kind, classes)))
            text = ["--text", "text"] if kind == "words.csv" else []
            jobs += [
                ["train", "--epochs", 1, *text, data],
                ["train", "--holdout", 0.2, "-o", model, *text, data],
                ["predict", "-o", out, model, data],
                ["score", model, data],
            ]
    plain = "--no-tune", "--set", "scale=none", "--set", "bins=8", "--set", "pairs=true"
    return [*jobs, ["train", *plain, folder / "2-classes.csv"]]


def list_commands_of_slices(folder: Path) -> list[list[Any]]:
    """Commands on files of slices; few of their kernels are also those of rows."""
    shells = [load(one.shell) for one in list_slices() if one.shell]
    return [words for shell in shells for words in shell.list_warm_up_commands(folder)]


def run_beside(jobs: list[list[Any]]) -> None:
    """Run commands in processes of their own, to compile on a second core."""
    for words in jobs:
        command = [sys.executable, "-m", "rosenblatt", *map(str, words)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise CommandError(f"Some models could not be compiled: {done.stderr.strip()}")


def sample_lines(kind: str, classes: int) -> Iterator[str]:
    """The lines of a small file."""
    if kind == "csv":
        yield "size,age,label"
    elif kind == "words.csv":
        yield "size,colour,text,label"
    for row in range(MANY_ROWS if kind == "words.csv" else ROWS):
        label, size, age = row % classes, f"{row * 7 % 11}.5", "" if row % 5 == 0 else row % 13
        words = " ".join(WORDS[(row * row + n * label) % len(WORDS)] for n in range(8))
        yield {
            "svm": f"{label} 1:{size} {2 + row % 7}:1",
            "scaled.svm": f"{label} 1:{size}e6 {2 + row % 7}:1",
            "vw": f"{label} |a size:{size} {words}",
            "csv": f"{size},{age},{label}",
            "words.csv": f'{age},{WORDS[row % 4]},"{words}, {row}",{"abc"[label]}',
        }[kind]


@contextlib.contextmanager
def silence() -> Iterator[None]:
    """Discard what is printed."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        yield


if __name__ == "__main__":
    warm_up()
