"""How fast is a file turned into rows and into a model, beside Vowpal Wabbit, polars and pyarrow?

python benchmarks/files.py --gigabytes 1
python benchmarks/files.py --read
"""

import importlib.util
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from measure import find_best, parser, ratio, table
from sklearn.datasets import load_svmlight_file

from rosenblatt import read, train
from rosenblatt.reading.threads import cores

ROSENBLATT = [sys.executable, "-m", "rosenblatt"]
VW = [sys.executable, "-m", "vowpalwabbit", "--quiet", "-b", "18", "--loss_function", "hinge"]


def make_files(folder: Path, size: float) -> tuple[Path, Path]:
    """The same rows, like those of RCV1, as svmlight and as Vowpal Wabbit text.

    Every twentieth row comes with both labels, so that no pass is clean and all are made.
    """
    rng = np.random.default_rng(0)
    w = rng.standard_normal(47_000)
    svm, vw = [], []
    for row in range(20_000):
        columns = np.sort(rng.choice(47_000, 75, replace=False))
        values = rng.random(75) / 5
        label = 1 if values @ w[columns] > 0 else -1
        pairs = " ".join(f"{c + 1}:{v:.6f}" for c, v in zip(columns, values, strict=True))
        for y in (label, -label) if row % 20 == 0 else (label,):
            svm.append(f"{y} {pairs}\n")
            vw.append(f"{y} |f {pairs}\n")
    paths = folder / "rows.svm", folder / "rows.vw"
    for path, lines in zip(paths, (svm, vw), strict=True):
        block = "".join(lines).encode()
        with path.open("wb") as file:
            for _ in range(max(1, round(size * 1e9 / len(block)))):
                file.write(block)
    return paths


def seconds(*command: object) -> float:
    """The time of a process from start to end; its warm-up is the caller's."""
    start = time.perf_counter()
    subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def make_tables(folder: Path, megabytes: float) -> dict[str, Path]:
    """Tables of 20 numbers a row: with two words, with words as labels only, and without words."""
    rng = np.random.default_rng(0)
    n_rows = 5_000
    X = rng.standard_normal((n_rows, 20)) * rng.choice([1, 10, 1000], 20)
    numbers = [",".join(f"{x:.6g}" for x in row) for row in X]
    labels = (X[:, 0] > 0).astype(int).tolist()
    colours = rng.choice(["red", "green", "blue", "violet", "orange"], n_rows).tolist()
    cities = [f"city{k}" for k in rng.integers(0, 300, n_rows)]
    words = [",".join(pair) for pair in zip(colours, cities, strict=True)]
    head = ",".join(f"x{j}" for j in range(20))
    said = ["no", "yes"]
    tables = {
        "20 numbers, 2 words, a word as label": (
            f"{head},colour,city,label",
            [f"{x},{w},{said[y]}" for x, w, y in zip(numbers, words, labels, strict=True)],
        ),
        "20 numbers, 2 words, a number as label": (
            f"{head},colour,city,label",
            [f"{x},{w},{y}" for x, w, y in zip(numbers, words, labels, strict=True)],
        ),
        "20 numbers, a word as label": (
            f"{head},label",
            [f"{x},{said[y]}" for x, y in zip(numbers, labels, strict=True)],
        ),
        "20 numbers, a number as label": (
            f"{head},label",
            [f"{x},{y}" for x, y in zip(numbers, labels, strict=True)],
        ),
    }
    paths = {}
    for number, (what, (names, lines)) in enumerate(tables.items()):
        paths[what] = folder / f"table{number}.csv"
        block = "\n".join(lines) + "\n"
        times = max(1, round(megabytes * 1e6 / len(block)))
        paths[what].write_text(names + "\n" + block * times)
    return paths


def speed(path: Path, run: Callable[[], object], times: int = 4) -> float:
    """Megabytes of a file per processor second: the best of several runs after one to warm up."""
    run()
    best = float("inf")
    for _ in range(times):
        start = time.process_time()
        run()
        best = min(best, time.process_time() - start)
    return path.stat().st_size / 1e6 / best


def read_all(path: Path, threads: int) -> None:
    """Make rows of a file as training reads it: statistics first, then scaled rows."""
    for _ in read(path, label="label", threads=threads):
        pass


def reading(folder: Path, megabytes: float) -> list[tuple[str, ...]]:
    """MB per processor second from a CSV to rows and to a model, beside parsers of data frames."""
    rows = []
    for what, path in make_tables(folder, megabytes).items():
        made = speed(path, lambda path=path: read_all(path, 1))
        learnt = speed(path, lambda path=path: train(path, label="label", max_iter=1))
        rows.append((what, f"{made:.0f}", f"{learnt:.0f}", *parse_with_others(path), "150"))
    return rows


def parse_with_others(path: Path) -> tuple[str, str]:
    """The speeds of polars and of pyarrow with one thread, where they are installed."""
    import pyarrow.csv

    options = pyarrow.csv.ReadOptions(use_threads=False)
    arrow = speed(path, lambda: pyarrow.csv.read_csv(path, options))
    if importlib.util.find_spec("polars") is None:
        return "-", f"{arrow:.0f}"
    import polars

    return f"{speed(path, lambda: polars.read_csv(path)):.0f}", f"{arrow:.0f}"


def scaling(folder: Path, megabytes: float) -> list[tuple[str, ...]]:
    """Seconds from a CSV with words to rows by threads, and how many times as fast as with one."""
    what, path = next(iter(make_tables(folder, megabytes).items()))
    rows, alone = [], 0.0
    threads = 1
    while threads <= cores():
        took = find_best(lambda threads=threads: read_all(path, threads), 3)
        alone = alone or took
        size = f"{what}, {megabytes:.0f} MB, {threads} threads"
        rows.append((size, f"{took:.2f} s", ratio(took, alone)))
        threads *= 2
    return rows


def peak_megabytes() -> float:
    """The largest memory of any process so far."""
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e3


def against_vw(folder: Path, svm: Path, vw: Path, passes: int) -> list[tuple[str, ...]]:
    """Processes from start to saved model, and predictions."""
    ours, theirs, out = folder / "ours", folder / "theirs", folder / "out"
    one = ("--epochs", 1, "-q", "-o", ours)
    rows = []

    def compare(what: str, mine: float, peer: float, asked: str) -> None:
        rows.append((what, f"{mine:.2f} s", f"{peer:.2f} s", ratio(mine, peer), asked))

    for path in (svm, vw):
        name = "svmlight" if path is svm else "VW text"
        mine = min(seconds(*ROSENBLATT, "train", path, *one) for _ in range(2))
        memory = peak_megabytes()
        peer = min(seconds(*VW, "-d", vw, "-f", theirs) for _ in range(2))
        size = path.stat().st_size / 1e9
        compare(f"one pass over {size:.2f} GB of {name}, start to model", mine, peer, "1.2x, 1.5x")
    print(f"Peak memory of training: {memory:.0f} MB (asked: under 500)")
    many = ("--epochs", passes, "-q", "-o", ours)
    cache = ("-k", "-c", "--passes", passes, "--holdout_off")
    mine, peer = (
        seconds(*ROSENBLATT, "train", vw, *many),
        seconds(*VW, "-d", vw, "-f", theirs, *cache),
    )
    compare(f"{passes} passes", mine, peer, "1.5x")
    mine = seconds(*ROSENBLATT, "predict", ours, vw, "-o", out)
    compare("predict", mine, seconds(*VW, "-d", vw, "-t", "-i", theirs, "-p", out), "1.5x")
    return rows


def two_cores(folder: Path, svm: Path, vw: Path) -> list[tuple[str, ...]]:
    """One pass and predictions with two threads against one, which does all one after the other."""
    ours, out, rows = folder / "ours", folder / "out", []
    jobs = {
        "one pass over svmlight": ("train", svm, "--epochs", 1, "-q", "-o", ours),
        "predict svmlight": ("predict", ours, svm, "-o", out),
        "one pass over VW text": ("train", vw, "--epochs", 1, "-q", "-o", ours),
    }
    for what, words in jobs.items():

        def threads(n: int, trains: bool = words[0] == "train") -> tuple[str, ...]:
            return ("--set", f"threads={n}") if trains else ("--threads", str(n))

        two, one = (
            min(seconds(*ROSENBLATT, *words, *threads(n)) for _ in range(2)) for n in (2, 1)
        )
        cells = f"{two:.2f} s", f"{one:.2f} s", ratio(two, one), "1.6x"
        rows.append((f"{what}, two cores against one", *cells))
    return rows


def parsing(svm: Path) -> tuple[str, ...]:
    """Our reader against scikit-learn's, on the first 50 MB."""
    part = svm.with_name("part.svm")
    with svm.open("rb") as file:
        data = file.read(50_000_000)
    part.write_bytes(data[: data.rindex(b"\n") + 1])
    for _ in read(part):
        pass
    start = time.perf_counter()
    for _ in read(part):
        pass
    ours = time.perf_counter() - start
    start = time.perf_counter()
    load_svmlight_file(part)
    peer = time.perf_counter() - start
    return ("parse svmlight (50 MB)", f"{ours:.2f} s", f"{peer:.2f} s", ratio(ours, peer), "10x")


def main() -> None:
    given = parser(__doc__)
    given.add_argument("--gigabytes", type=float, default=1.0, help="size of the made files")
    given.add_argument("--read", action="store_true", help="only how fast a CSV becomes rows")
    chosen = given.parse_args()
    if chosen.read or chosen.quick:
        with tempfile.TemporaryDirectory() as name:
            found = reading(Path(name), 2 if chosen.quick else 60)
            sizes = (2,) if chosen.quick else (200, 1000)
            threads = [row for size in sizes for row in scaling(Path(name), size)]
        heads = "MB per processor second", "rows", "model", "polars", "pyarrow", "asked of rows"
        table(heads, *found)
        table(("wall-clock time", "rows", "against one"), *threads)
        if chosen.read:
            return
    rows: list[tuple[str, ...]] = [("what", "ours", "peer", "ratio", "asked")]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        svm, vw = make_files(folder, 0.004 if chosen.quick else chosen.gigabytes)
        rows.append(parsing(svm))
        rows += two_cores(folder, svm, vw)
        if importlib.util.find_spec("vowpalwabbit") is None:
            print("Without Vowpal Wabbit: pip install vowpalwabbit to compare with it.")
        else:
            rows += against_vw(folder, svm, vw, 3 if chosen.quick else 10)
    table(*rows)


if __name__ == "__main__":
    main()
