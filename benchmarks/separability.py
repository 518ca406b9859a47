"""How fast is a proof of separability or of its opposite, next to a linear program?

python benchmarks/separability.py
"""

import time
from pathlib import Path

import numpy as np
from epochs import with_margin
from measure import options, ratio, table
from scipy.optimize import linprog
from sklearn.datasets import load_breast_cancer, load_iris, load_svmlight_file
from sklearn.linear_model import Perceptron as Peer

from rosenblatt import Perceptron, separability


def unit_rows(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Unit rows in 20 dimensions, separable with a margin of 0.001."""
    return with_margin(n, 20, 0.001)


def one_flipped(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The labels with one turned round, of a row deep inside its class."""
    y = y.copy()
    mean = X[y > 0].mean(axis=0) - X[y < 0].mean(axis=0)
    y[np.argmax(X @ mean)] *= -1
    return y


def linear_program(X: np.ndarray, y: np.ndarray) -> bool:
    """Whether max t with y(w·x + b) >= t, |w|, |b|, t <= 1 is positive, by HiGHS."""
    signed = y[:, None] * np.hstack([X, np.ones((len(X), 1))])
    columns = np.hstack([-signed, np.ones((len(X), 1))])
    goal = np.zeros(columns.shape[1])
    goal[-1] = -1
    found = linprog(goal, A_ub=columns, b_ub=np.zeros(len(X)), bounds=[(-1, 1)] * len(goal))
    return bool(-found.fun > 1e-9)


def timed(run: object, *data: np.ndarray) -> tuple[float, object]:
    start = time.perf_counter()
    found = run(*data)
    return time.perf_counter() - start, found


def against_linear_program(sizes: list[int]) -> None:
    rows = [("rows x 20", "verdict, verified", "ours", "HiGHS", "ratio", "asked")]
    separability(*unit_rows(100))
    asked = {True: ["10x", "20x"], False: ["3x", "5x"]}
    for k, n in enumerate(sizes):
        X, y = unit_rows(n)
        for separable, labels in ((True, y), (False, one_flipped(X, y))):
            ours, verdict = min((timed(separability, X, labels) for _ in range(3)), key=first)
            peer, answer = timed(linear_program, X, labels)
            assert verdict.verify(X, labels)
            assert answer == separable == (type(verdict).__name__ == "Separable")
            name = type(verdict).__name__
            cells = (f"{ours:.3f} s", f"{peer:.2f} s", ratio(ours, peer), asked[separable][k])
            rows.append((f"{n:,}", name, *cells))
    table(*rows)


def first(pair: tuple[float, object]) -> float:
    return pair[0]


def real_sets(folder: Path) -> dict[str, tuple[object, np.ndarray]]:
    """Classic data sets with two classes."""
    X, y = load_iris(return_X_y=True)
    pairs = [(0, 1), (0, 2), (1, 2)]
    sets = {f"iris {a}-{b}": (X[(y == a) | (y == b)], y[(y == a) | (y == b)]) for a, b in pairs}
    sets["breast cancer (30 features)"] = load_breast_cancer(return_X_y=True)
    if not folder.is_dir():
        print(f"Only built-in data: the folder {folder} is not there (see --data).")
        return sets
    sets["mushrooms"] = load_svmlight_file(folder / "mushrooms/mushrooms")
    sets["a9a"] = load_svmlight_file(folder / "a9a/a9a")
    sonar = np.loadtxt(folder / "uci/sonar.csv", delimiter=",", dtype=str)
    sets["sonar"] = sonar[:, :-1].astype(float), sonar[:, -1]
    cover = np.loadtxt(folder / "covtype/covtype.csv", delimiter=",", skiprows=1)
    sets["covtype, class 2"] = cover[:, :-1], cover[:, -1] == 2
    return sets


def verdicts(folder: Path) -> None:
    rows = [("data", "rows", "features", "verdict, verified", "rows in the proof", "time")]
    for name, (X, y) in real_sets(folder).items():
        seconds, verdict = timed(separability, X, y)
        assert verdict.verify(X, y)
        support = str(len(getattr(verdict, "support", []))) or "-"
        shape = (f"{X.shape[0]:,}", str(X.shape[1]))
        rows.append((name, *shape, type(verdict).__name__, support, f"{seconds:.3f} s"))
    table(*rows)


def silent_errors(sets: int = 200) -> None:
    """How many separable sets a default Perceptron leaves with training errors."""
    rng = np.random.default_rng(0)
    left = {"scikit-learn": 0, "ours": 0}
    for _ in range(sets):
        X = rng.standard_normal((rng.integers(20, 201), 10))
        w = rng.standard_normal(10)
        X = X[np.abs(X @ w) > 0.1]
        y = X @ w > 0
        if y.all() or not y.any():
            continue
        left["scikit-learn"] += Peer().fit(X, y).score(X, y) < 1
        left["ours"] += Perceptron(max_iter=100_000, random_state=0).fit(X, y).score(X, y) < 1
    print(f"Of {sets} separable sets, left with training errors and no warning:", left)


def main() -> None:
    chosen = options(__doc__)
    against_linear_program([5_000, 20_000] if chosen.quick else [100_000, 1_000_000])
    print()
    verdicts(Path("-") if chosen.quick else chosen.data)
    print()
    silent_errors()


if __name__ == "__main__":
    main()
