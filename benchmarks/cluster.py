"""What does a cluster of two processes cost and bring, next to one machine?

python benchmarks/cluster.py --data FOLDER
"""

import csv
import functools
import itertools
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import numpy as np
from dask.delayed import delayed
from distributed import Client
from measure import parser, table
from scipy.sparse import csr_matrix
from sklearn.feature_extraction.text import HashingVectorizer

from rosenblatt import AROW, SCW, Perceptron, read
from rosenblatt.cluster import fit
from rosenblatt.jobs import files

csv.field_size_limit(sys.maxsize)
warnings.filterwarnings("ignore", "Sending large graph")  # the rows of a benchmark come from here


def workers(count: int) -> Client:
    """Processes with one thread each, after they have imported and compiled everything."""
    with dask.config.set({"distributed.nanny.pre-spawn-environ": {}}):  # as --cluster local:N does
        client = Client(n_workers=count, threads_per_worker=1, dashboard_address=":0")
    X, y = da.random.random((4 * count, 3), chunks=(2, 3)).astype(np.float32), np.arange(4 * count)
    fit(Perceptron(solution="average", max_iter=2), X, y % 2, client=client)
    return client


def seconds(work: Callable[[], Any]) -> float:
    """The time that something takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def two_against_one(rows: int, width: int = 200, classes: int = 20) -> tuple[str, ...]:
    """The best epoch of the same mixing with one worker and with two.

    By the clock it needs two free cores. By processor time it does not: the slowest worker, and
    all that the driver and the scheduler do, as if nothing of it overlapped.
    """
    best, busy = [], []
    for count in (1, 2):
        with workers(count) as client:
            state = da.random.default_rng(0)
            X = state.standard_normal((rows, width), chunks=(rows // 8, width), dtype=np.float32)
            y = X[:, :classes].argmax(axis=1)
            X, y = client.persist([X, y])
            model = Perceptron(solution="average", max_iter=12, random_state=0)
            stamps = []

            def stamp(_: Any, client: Client = client, stamps: list[Any] = stamps) -> None:
                each = client.run(time.process_time).values()
                stamps.append(np.array([time.process_time(), *each]))

            fit(model, X, y, client=client, report=stamp)
            best.append(min(done.seconds for done in model.mixing_.rounds[1:]))
            epochs = np.diff(stamps, axis=0)
            busy.append((epochs[:, 0] + epochs[:, 1:].max(axis=1)).min())
    one, two = best
    what = f"2 workers against 1, {rows:,} x {width} float32, {classes} classes, an epoch"
    speeds = f"{one / two:.2f}x faster; by processor time {busy[0] / busy[1]:.2f}x"
    return what, f"{two:.2f} s, one {one:.2f} s", speeds, "1.6x"


def blocks(X: Any, count: int) -> Any:
    """Rows as a Dask array of a number of partitions."""
    ends = np.linspace(0, X.shape[0], count + 1).astype(int)
    parts = [
        da.from_delayed(delayed(X[i:j]), (j - i, X.shape[1]), X.dtype, meta=X[:0])
        for i, j in itertools.pairwise(ends)
    ]
    return da.concatenate(parts)


@functools.cache
def reviews(path: Path) -> list[tuple[str, str]]:
    """The label and the text of each review of a file."""
    with path.open(newline="", encoding="utf-8") as file:
        return [(row["label"], row["text"]) for row in csv.DictReader(file)]


def imdb(folder: Path, features: int, ngrams: tuple[int, int], rows: int | None) -> list[Any]:
    """Hashed words of the reviews."""
    parts: list[Any] = []
    for name in ("train.csv", "test.csv"):
        pairs = reviews(folder / "imdb" / name)
        order = np.random.default_rng(0).permutation(len(pairs))[:rows]
        labels, texts = zip(*(pairs[number] for number in order), strict=True)
        hashed = HashingVectorizer(
            n_features=features, ngram_range=ngrams, alternate_sign=False, dtype=np.float32
        )
        parts += [csr_matrix(hashed.transform(texts)), np.array(labels)]
    return parts


def covtype(folder: Path) -> list[Any]:
    """The forest covers, every tenth row for the test, columns of one size."""
    X, y = files.matrix_and_labels(read(folder / "covtype/covtype.csv"))
    order = np.random.default_rng(0).permutation(len(y))
    X, y = X[order], y[order]
    X = (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-9)
    test = np.arange(len(y)) % 10 == 0
    return [X[~test].astype(np.float32), y[~test], X[test].astype(np.float32), y[test]]


def quality(
    client: Client, sets: dict[str, list[Any]], lengths: tuple[int, ...]
) -> list[tuple[str, ...]]:
    """Errors of ten partitions mixed, and of all rows on one machine."""
    rows = []
    for name, (X, y, X_test, y_test) in sets.items():
        plain = {"solution": "average", "max_iter": 10, "random_state": 0}
        local = 1 - Perceptron(**plain).fit(X, y).score(X_test, y_test)
        for epochs in lengths:
            mixed = Perceptron(**plain | {"max_iter": epochs})
            ours = 1 - fit(mixed, blocks(X, 10), y, client=client).score(X_test, y_test)
            what = f"test error, 10 partitions, averaged, {name}, {epochs} epochs"
            measured = f"{ours:.2%}, local (10 epochs) {local:.2%}"
            rows.append((what, measured, f"{100 * (ours - local):+.2f} points", "within 0.3"))
    return rows


def rules(client: Client, data: list[Any]) -> list[tuple[str, ...]]:
    """Errors of ten partitions of IMDB after three epochs, by rules with confidence and without."""
    rows, (X, y, X_test, y_test) = [], data
    for make, solution in itertools.product((AROW, SCW, Perceptron), ("last", "average")):
        given = {"solution": solution, "max_iter": 3, "random_state": 0}
        local = 1 - make(**given).fit(X, y).score(X_test, y_test)
        ours = 1 - fit(make(**given), blocks(X, 10), y, client=client).score(X_test, y_test)
        what = f"test error, 10 partitions, {make.__name__}, {solution}, IMDB, 3 epochs"
        asked = "" if make is Perceptron else "within 0.3"
        measured = f"{ours:.2%}, local {local:.2%}"
        rows.append((what, measured, f"{100 * (ours - local):+.2f} points", asked))
    return rows


def latencies(client: Client) -> list[tuple[str, ...]]:
    """What the model of docs/scale.md is fitted to: a task, a round, a byte."""
    rows = []
    for parts in (2, 8, 32, 128):
        X, y = np.ones((2 * parts, 2)), np.arange(2 * parts) % 2
        model = Perceptron(max_iter=10)
        fit(model, da.from_array(X, chunks=(2, 2)), y, client=client)
        median = np.median([done.seconds for done in model.mixing_.rounds])
        rows.append(
            (f"an epoch of {parts} partitions without work", f"{median * 1e3:.0f} ms", "", "")
        )
    for size in (1 << 20, 1 << 26):
        value = np.ones(size, np.uint8)
        there = min(seconds(lambda v=value: client.scatter([v], hash=False)[0]) for _ in range(3))
        rows.append((f"send {size >> 20} MB to a worker", f"{there * 1e3:.0f} ms", "", ""))
    return rows


def main() -> None:
    made = parser(__doc__)
    made.add_argument("--only", default="", help="letters of rows: two, data, rules, costs")
    chosen = made.parse_args()
    quick = chosen.quick
    few, features = (200, 2**12) if quick else (None, 2**20)
    rows: list[tuple[str, ...]] = [("what", "measured", "ratio", "asked")]
    if "two" in (chosen.only or "two"):
        rows.append(two_against_one(4_000 if quick else 400_000))
    with workers(2) as client:
        if "data" in (chosen.only or "data") and chosen.data.is_dir():
            sets = {"IMDB": imdb(chosen.data, features, (1, 1), few)}
            if not quick:
                sets["covtype"] = covtype(chosen.data)
            rows += quality(client, sets, (2,) if quick else (10, 40))
        if "rules" in (chosen.only or "rules") and chosen.data.is_dir():
            rows += rules(client, imdb(chosen.data, features, (1, 1), few))
        if not chosen.data.is_dir():
            print(f"Without the data sets of the folder {chosen.data} (see --data).")
        if "costs" in (chosen.only or "costs") and not quick:
            rows += latencies(client)
    table(*rows)


if __name__ == "__main__":
    main()
