"""Is this version as fast as another? Both fit the same rows by turns, in separate processes.

python benchmarks/versions.py ../rosenblatt-0.3.0
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from measure import find_best, milliseconds, parser, table

ROOT = Path(__file__).parents[1]


def make_rows(n: int, d: int, classes: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """Gaussian float32 rows, labelled by random planes; a twentieth of the labels are wrong."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d), dtype=np.float32)
    scores = X @ rng.standard_normal((d, classes if classes > 2 else 1))
    y = scores.argmax(axis=1) if classes > 2 else (scores[:, 0] > 0).astype(int)
    wrong = rng.random(n) < 0.05
    y[wrong] = rng.integers(0, classes, wrong.sum())
    return X, y


def make_cases(quick: bool) -> dict[str, Callable[[], Any]]:
    """What is timed, by its name."""
    import scipy.sparse as sp

    from rosenblatt import AROW, SCW, KernelPerceptron, PassiveAggressive, Perceptron, separability

    k = 10 if quick else 1
    X, y = make_rows(200_000 // k, 100)
    many, labels = make_rows(50_000 // k, 100, classes=10)
    sparse = sp.random_array((100_000 // k, 40_000), density=0.002, rng=0, dtype=np.float32).tocsr()
    sides = (sparse @ np.random.default_rng(0).standard_normal(40_000) > 0).astype(int)
    few, flags = make_rows(20, 4)
    near, names = make_rows(4_000 // k, 50)
    apart = (X[: 20_000 // k, :20] @ np.arange(-10, 10) > 0).astype(int)
    growing = Perceptron().partial_fit(few, flags, classes=[0, 1])

    def fit(
        make: Callable[..., Any], rows: Any, target: np.ndarray, **given: Any
    ) -> Callable[[], Any]:
        return lambda: make(**{"max_iter": 2, "random_state": 0, **given}).fit(rows, target)

    def learn_each() -> None:
        for row, flag in zip(near[:1000], names[:1000], strict=True):
            growing.learn_one(row[:4], flag)

    cases = {
        "perceptron, dense, in order": fit(Perceptron, X, y, order="fixed"),
        "perceptron, dense, shuffled": fit(Perceptron, X, y),
        "perceptron, dense, averaged": fit(Perceptron, X, y, solution="average"),
        "perceptron, CSR, shuffled": fit(Perceptron, sparse, sides),
        "perceptron, 10 classes": fit(Perceptron, many, labels),
        "perceptron, 10 classes, one-vs-rest": fit(Perceptron, many, labels, multi_class="ovr"),
    }
    for make in (PassiveAggressive, AROW, SCW):
        cases[f"{make.__name__}, dense"] = fit(make, X, y)
        cases[f"{make.__name__}, CSR"] = fit(make, sparse, sides)
        cases[f"{make.__name__}, 10 classes"] = fit(make, many, labels)
    return cases | {
        "kernel perceptron, rbf": fit(KernelPerceptron, near, names, kernel="rbf"),
        "kernel perceptron, degree 4": fit(KernelPerceptron, near, names, kernel="poly", degree=4),
        "separability, yes": lambda: separability(X[: 20_000 // k, :20], apart),
        "separability, no": lambda: separability(X[: 20_000 // k, :20], y[: 20_000 // k]),
        "fit of 20 rows, 200 times": lambda: [
            Perceptron(random_state=0).fit(few, flags) for _ in range(200)
        ],
        "learn_one, 1000 times": learn_each,
    }


def work(quick: bool) -> None:
    """Print the names of the cases; then answer each name on a line with seconds."""
    cases = make_cases(quick)
    print(json.dumps(list(cases)), flush=True)
    for line in sys.stdin:
        print(find_best(cases[line.strip()], 3), flush=True)


def start(checkout: Path, folder: Path, quick: bool) -> subprocess.Popen[str]:
    """A process that times the package of a checkout."""
    paths = os.pathsep.join(filter(None, (str(checkout / "src"), os.environ.get("PYTHONPATH"))))
    command = [sys.executable, __file__, "--worker", *["--quick"] * quick]
    env = os.environ | {"PYTHONPATH": paths, "NUMBA_CACHE_DIR": str(folder)}
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env
    )


def ask(process: subprocess.Popen[str], case: str) -> float:
    """The seconds of a case."""
    process.stdin.write(case + "\n")
    process.stdin.flush()
    return float(process.stdout.readline())


def main() -> None:
    """Time both versions by turns, and print the median of the ratios with their range."""
    made = parser(__doc__.splitlines()[0])
    made.add_argument("other", type=Path, nargs="?", help="the checkout of the other version")
    made.add_argument(
        "--worker", action="store_true", help="time this version's cases for another process"
    )
    made.add_argument("--rounds", type=int, default=5)
    given = made.parse_args()
    if given.worker:
        work(given.quick)
        return
    with tempfile.TemporaryDirectory() as caches:
        checkouts = (ROOT, given.other or ROOT)  # without another version: the noise of the machine
        both = [start(path, Path(caches, str(i)), given.quick) for i, path in enumerate(checkouts)]
        names = [json.loads(process.stdout.readline()) for process in both]
        rows, medians = [("case", "this", "other", "this / other", "range")], []
        for case in names[0]:
            times = np.array([[ask(one, case) for one in both] for _ in range(given.rounds)])
            ratios = times[:, 0] / times[:, 1]
            medians.append(np.median(ratios))
            spread = f"{ratios.min():.2f} to {ratios.max():.2f}"
            this, other = map(milliseconds, times.min(axis=0))
            rows.append((case, this, other, f"{medians[-1]:.2f}", spread))
        table(*rows, ("geometric mean", "", "", f"{np.exp(np.log(medians).mean()):.2f}", ""))
        for process in both:
            process.stdin.close()
            process.wait()


if __name__ == "__main__":
    main()
