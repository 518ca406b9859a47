"""How fast is a proof of separability or of its opposite, next to a linear program?

python benchmarks/separability.py [--candidates]
"""

import time
from pathlib import Path

import numba
import numpy as np
from epochs import with_margin
from measure import options, ratio, table
from scipy.optimize import linprog
from sklearn.datasets import load_breast_cancer, load_iris, load_svmlight_file
from sklearn.linear_model import Perceptron as Peer

from rosenblatt import Perceptron, max_margin, separability


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
    """Compare verdicts with those of a linear program."""
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


def busy(run: object, *data: np.ndarray) -> tuple[float, object]:
    """CPU seconds of a second run, and what it found."""
    run(*data)
    start = time.process_time()
    found = run(*data)
    return time.process_time() - start, found


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


# Candidates


def smooth_perceptron(Z: np.ndarray, most: int = 5_000) -> tuple[np.ndarray, int]:
    """Soheili & Peña (2012): a separator of unit rows z, with w·z > 0, and the passes."""

    def choose(w: np.ndarray, mu: float) -> np.ndarray:
        scores = -(Z @ w) / mu
        shares = np.exp(scores - scores.max())
        return shares / shares.sum()

    w, mu, passes = Z.mean(axis=0), 1.0, 1
    q = choose(w, mu)
    for k in range(most):
        passes += 2
        if np.all(Z @ w > 0):
            break
        theta = 2 / (k + 3)
        w = (1 - theta) * (w + theta * (Z.T @ q)) + theta**2 * (Z.T @ choose(w, mu))
        mu *= 1 - theta
        q = (1 - theta) * q + theta * choose(w, mu)
    return w, passes


def min_over(Z: np.ndarray, most: int = 20_000) -> tuple[np.ndarray, int]:
    """Krauth & Mézard (1987): add the row of the smallest score, one per pass."""
    w = Z.mean(axis=0)
    for _ in range(most):
        w = w + Z[np.argmin(Z @ w)]
    return w, most


@numba.njit
def dynamic_margin(Z: np.ndarray, epsilon: float, most: int) -> tuple[np.ndarray, int]:
    """PDM (2011): add rows with w·z ≤ (1 − ε)‖w‖²/t until a pass adds none."""
    w, t, square = Z[0].copy(), 1.0, float(Z[0] @ Z[0])
    for passes in range(most):
        before = t
        for i in range(len(Z)):
            z = Z[i]
            a = w @ z
            if a <= (1 - epsilon) * square / t:
                w += z
                square += 2 * a + z @ z
                t += 1
        if t == before:
            return w, passes + 1
    return w, most


@numba.njit
def adatron(Z: np.ndarray, passes: int) -> tuple[np.ndarray, int]:
    """Anlauf & Biehl (1989): α += 1 − w·z, at least 0, for each row in turn; w = Σ αz."""
    w, alpha = np.zeros(Z.shape[1]), np.zeros(len(Z))
    for _ in range(passes):
        for i in range(len(Z)):
            z = Z[i]
            step = max(-alpha[i], (1 - w @ z) / (z @ z))
            alpha[i] += step
            w += step * z
    return w, passes


def candidates(n: int) -> None:
    """Margins found, as shares of the widest, and CPU seconds, for rows of smaller margins."""
    rows = [("margin of unit rows", "γ", *CANDIDATES, "separability", "max_margin")]
    for margin in (0.1, 0.01, 0.001, 0.0001):
        X, y = with_margin(n, 10, margin)
        Z = np.ascontiguousarray(y[:, None] * np.hstack([X, np.ones((len(X), 1))])) / np.sqrt(2)
        widest = max_margin(X, y)
        best = widest.attained / np.sqrt(2) / np.hypot(1, widest.bias)  # in the lifted space
        cells = []
        for find in CANDIDATES.values():
            seconds, (w, passes) = busy(find, Z)
            reached = float((Z @ w).min() / np.linalg.norm(w)) / best
            told = f"{reached:.0%}" if reached > 0 else "none"
            cells.append(f"{told}, {passes:,} passes, {seconds:.2g} s")
        ours = [f"{busy(find, X, y)[0]:.2g} s" for find in (separability, max_margin)]
        rows.append((f"{margin:g}", f"{best:.1e}", *cells, *ours))
    table(*rows)


CANDIDATES = {
    "smooth perceptron": smooth_perceptron,
    "MinOver": min_over,
    "PDM, ε = 0.1": lambda Z: dynamic_margin(Z, 0.1, 3_000),
    "AdaTron": lambda Z: adatron(Z, 1_000),
}


def main() -> None:
    chosen = options(__doc__, candidates="other methods that find wide margins")
    if chosen.candidates:
        candidates(500 if chosen.quick else 2_000)
        return
    sizes = [5_000, 20_000] if chosen.quick else [20_000, 1_000_000]
    against_linear_program(sizes)
    print()
    verdicts(Path("-") if chosen.quick else chosen.data)
    print()
    silent_errors()


if __name__ == "__main__":
    main()
