"""How do time and memory grow with the data, next to a peer?

Each line is a sweep over sizes: both figures at the largest size, and the slopes over all sizes and
over the last step (logarithm by logarithm): 1 is linear, 0 does not grow. Times are CPU seconds,
but for threads. Memory is the peak above that of the process before.

python benchmarks/growth.py
"""

import subprocess
import sys
import tempfile
import time
import tracemalloc
import warnings
from collections.abc import Callable, Iterator
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from epochs import with_margin
from joblib import parallel_backend
from measure import options, table
from scipy.sparse import csr_array, random_array
from separability import linear_program, one_flipped
from sklearn.linear_model import SGDClassifier

from rosenblatt import AROW, FTRL, Perceptron, SequencePerceptron, separability

Measure = Callable[[int], float]
PEER = {"loss": "perceptron", "learning_rate": "constant", "eta0": 1.0, "penalty": None}
RANDOM = np.random.default_rng(0)


class Sweep(NamedTuple):
    """Sizes, and our figure and a peer's for each."""

    name: str
    sizes: list[int]
    ours: Measure
    peer: str = ""
    theirs: Measure | None = None
    unit: str = "s"


def cpu(run: Callable[[], Any], times: int = 2) -> float:
    """The least CPU seconds of a few runs."""
    seconds = []
    for _ in range(times):
        start = time.process_time()
        run()
        seconds.append(time.process_time() - start)
    return min(seconds)


def find_slope(sizes: list[int], figures: list[float]) -> float:
    """The slope of a line through the logarithms."""
    known = np.maximum(figures, 1e-9)
    return float(np.polyfit(np.log(sizes), np.log(known), 1)[0])


def describe(sweep: Sweep) -> tuple[str, ...]:
    """A line of the table."""
    cells, largest = [], []
    for measure in (sweep.ours, sweep.theirs):
        if measure is None:
            cells += ["–", "–"]
            continue
        found = [measure(size) for size in sweep.sizes]
        every, last = find_slope(sweep.sizes, found), find_slope(sweep.sizes[-2:], found[-2:])
        cells += [f"{found[-1]:.3g} {sweep.unit}", f"{every:.2f} {last:.2f}"]
        largest.append(found[-1])
    share = f"{largest[0] / max(largest[1], 1e-9):.2f}" if len(largest) > 1 else "–"
    span = f"{sweep.sizes[0]:,} to {sweep.sizes[-1]:,}"
    return sweep.name, span, *cells[:2], sweep.peer, *cells[2:], share


def sparse(rows: int, columns: int, values: int = 20) -> tuple[csr_array, np.ndarray]:
    """Random rows of some values each, whose classes a plane through the origin tells apart."""
    X = random_array(
        (rows, columns), density=min(values / columns, 1.0), format="csr", dtype=np.float32, rng=0
    )
    scores = X @ np.random.default_rng(1).normal(size=columns)
    return X, (scores > np.median(scores)).astype(int)


# Rows one by one


def learn_rows(make: Callable[[], Any], rows: Callable[[int], Any], size: int) -> float:
    """The seconds to learn rows one by one."""
    model, pairs = make(), list(zip(*rows(size), strict=True))
    return cpu(lambda: [model.learn_one(*pair) for pair in pairs], 1)


def rows_of_new_names(names: int) -> tuple[list[Any], list[bool]]:
    """Rows of 20 names that no other row has."""
    numbers = range(0, names, 20)
    return [{f"n{k + i}": 1.0 for i in range(20)} for k in numbers], [k % 40 > 0 for k in numbers]


def rows_of_new_classes(classes: int) -> tuple[list[Any], list[str]]:
    """Rows of three columns, a new class each."""
    return RANDOM.normal(size=(classes, 3)).tolist(), [f"c{k}" for k in range(classes)]


def sweep_streams(quick: bool) -> Iterator[Sweep]:
    """Names and classes that a model meets while it learns, and predictions between updates."""
    names = [1_000, 4_000] if quick else [10_000, 30_000, 100_000]
    classes = [100, 200] if quick else [500, 1_000, 2_000]
    ours, theirs = partial(learn_rows, Perceptron, rows_of_new_names), None
    if find_spec("river") is not None:
        from river import linear_model

        theirs = partial(learn_rows, linear_model.Perceptron, rows_of_new_names)
    yield Sweep("learn_one, new names", names, ours, "River", theirs)
    ours = partial(learn_rows, Perceptron, rows_of_new_classes)
    yield Sweep("learn_one, new classes", classes, ours)

    def predict(make: Callable[[], Any]) -> Measure:
        def measure(columns: int) -> float:
            X, y = sparse(200, columns)
            model, seconds = make().partial_fit(X, y, classes=[0, 1]), []
            for k in range(20):
                model.partial_fit(X[k : k + 1], y[k : k + 1])
                seconds.append(cpu(lambda k=k: model.predict(X[k : k + 1]), 1))
            return 1e3 * min(seconds)

        return measure

    yield Sweep(
        "columns: averaged, predict after each update",
        [10_000, 100_000] if quick else [10_000, 100_000, 1_000_000],
        predict(lambda: Perceptron(solution="average")),
        "SGD, averaged",
        predict(lambda: SGDClassifier(average=True, **PEER)),
        "ms",
    )


# Fits in memory


def fit(make: Callable[[], Any], rows: int, dense: bool = False) -> Measure:
    """Seconds of a fit by the number of columns."""

    def measure(columns: int) -> float:
        X, y = sparse(rows, columns)
        X = RANDOM.normal(size=X.shape).astype(np.float32) if dense else X
        return cpu(lambda: make().fit(X, y))

    return measure


def weigh(make: Callable[[], Any]) -> Measure:
    """The peak of memory of a fit with 50 classes by the number of columns, per weight."""

    def measure(columns: int) -> float:
        X, y = sparse(300, columns)[0], np.arange(300) % 50
        make().fit(X[:100], y[:100])
        tracemalloc.start()
        make().fit(X, y)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return peak / columns / 50

    return measure


def with_threads(threads: int) -> Measure:
    """Seconds by the clock of one-vs-rest by the number of rows."""

    def measure(rows: int) -> float:
        X, y = RANDOM.normal(size=(rows, 20)).astype(np.float32), np.arange(rows) % 8
        start = time.perf_counter()
        with parallel_backend("threading", n_jobs=threads):
            Perceptron(multi_class="ovr", max_iter=2).fit(X, y)
        return time.perf_counter() - start

    return measure


def tag(tags: int) -> float:
    """The seconds to tag 20,000 words."""
    words = [[f"w{k}" for k in range(i, i + 20)] for i in range(1_000)]
    labels = [[f"t{(k + i) % tags}" for k in range(20)] for i in range(1_000)]
    model = SequencePerceptron(max_iter=1).fit(words, labels)
    return cpu(lambda: model.predict(words), 1)


def sweep_fits(quick: bool) -> Iterator[Sweep]:
    """Columns, weights, threads and tags."""
    average = lambda: SGDClassifier(average=True, max_iter=1, tol=None, **PEER)  # noqa: E731
    dense = [1_000, 4_000] if quick else [1_000, 10_000, 50_000]
    wide = [1_000, 30_000] if quick else [10_000, 100_000, 1_000_000]
    for rule in (AROW, FTRL):
        one = lambda rule=rule: rule(max_iter=1)  # noqa: E731
        ours = fit(one, 400, dense=True), fit(one, 10_000)
        theirs = fit(average, 400, dense=True), fit(average, 10_000)
        name = rule.__name__
        yield Sweep(f"{name}: dense columns", dense, ours[0], "SGD, averaged", theirs[0])
        yield Sweep(f"{name}: sparse columns", wide, ours[1], "SGD, averaged", theirs[1])
    weights = [1_000, 10_000] if quick else [1_000, 10_000, 40_000]
    for rule in (Perceptron, AROW, FTRL):
        make = lambda rule=rule: rule(max_iter=1, solution="average")  # noqa: E731
        name = f"{rule.__name__}, averaged: memory by columns × 50 classes"
        yield Sweep(name, weights, weigh(make), "SGD, averaged", weigh(average), "B/weight")
    rows = [10_000, 40_000] if quick else [100_000, 500_000, 2_000_000]
    yield Sweep("rows: one-vs-rest, 2 threads", rows, with_threads(2), "1 thread", with_threads(1))
    yield Sweep("tags: tagging", [20, 80] if quick else [24, 96, 192], tag)

    def decide(decision: Callable[..., Any]) -> Measure:
        def measure(columns: int) -> float:
            X, y = with_margin(3_000, columns, 1e-3)
            return cpu(partial(decision, X, one_flipped(X, y)), 1)

        return measure

    columns, ours = [10, 20] if quick else [50, 100, 200], decide(separability)
    yield Sweep("columns: one flipped label", columns, ours, "HiGHS", decide(linear_program))


# Files, each in its own process

CHILD = """
import sys, time
from pathlib import Path
peak = lambda: int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) / 1024
{setup}
before, start = peak(), time.process_time()
{run}
print(time.process_time() - start, peak() - before)
"""
OURS = "from rosenblatt import train"
THEIRS = """import pandas
from sklearn.linear_model import SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler"""
READ = (
    'table = pandas.read_csv("{path}", dtype="float32"); X, y = table.iloc[:, 1:], table["label"]'
)
PRODUCTS = "PolynomialFeatures(interaction_only=True, include_bias=False)"


@cache
def spawn(setup: str, run: str) -> tuple[float, float]:
    """The seconds and the MB that some lines take."""
    code = CHILD.format(setup=setup, run=run)
    found = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True)
    seconds, size = found.stdout.split()[-2:]
    return float(seconds), float(size)


def sweep_files(quick: bool, folder: Path) -> Iterator[Sweep]:
    """Rows that are read, and products of columns."""

    def write(rows: int, columns: int) -> Path:
        path = folder / f"{rows}x{columns}.csv"
        if not path.exists():
            X = np.round(RANDOM.normal(size=(rows, columns)), 3)
            names = ",".join(["label", *(f"c{k}" for k in range(columns))])
            data = np.column_stack([X[:, 0] * X[:, 1] > 0, X])
            np.savetxt(path, data, "%g", ",", header=names, comments="")
        return path

    def products(part: int) -> tuple[Measure, Measure]:
        def ours(columns: int) -> float:
            how = "pairs=True, tune=False, listener=None"
            return spawn(OURS, f'train("{write(1_000, columns)}", {how})')[part]

        def theirs(columns: int) -> float:
            read = READ.format(path=write(1_000, columns))
            model = "SGDClassifier(max_iter=10, tol=None, average=True)"
            fitted = f"make_pipeline(StandardScaler(), {PRODUCTS}, {model}).fit(X, y)"
            return spawn(THEIRS, f"{read}\n{fitted}")[part]

        return ours, theirs

    for part, unit in enumerate(("s", "MB")):
        ours, theirs = products(part)
        columns = [20, 40] if quick else [30, 100, 300]
        yield Sweep("columns: pairs", columns, ours, "PolynomialFeatures", theirs, unit)

    def reading(rows: int) -> float:
        run = f'train("{write(rows, 50)}", max_iter=2, tune=False, listener=None)'
        return spawn(OURS, run)[1]

    def pandas(rows: int) -> float:
        return spawn("import pandas", READ.format(path=write(rows, 50)))[1]

    rows = [5_000, 10_000] if quick else [10_000, 30_000, 100_000]
    yield Sweep("rows: memory of a CSV", rows, reading, "pandas", pandas, "MB")


def main() -> None:
    given = options(__doc__)
    warnings.simplefilter("ignore")
    lines = [("what", "sizes", "ours", "slopes", "peer", "theirs", "slopes", "ours / theirs")]
    with tempfile.TemporaryDirectory() as name:
        for sweeps in (
            sweep_streams(given.quick),
            sweep_fits(given.quick),
            sweep_files(given.quick, Path(name)),
        ):
            lines += map(describe, sweeps)
    table(*lines)


if __name__ == "__main__":
    main()
