"""What do networks of perceptrons cost and bring, next to a multilayer perceptron and a kernel?

python benchmarks/networks.py --data FOLDER
"""

import itertools
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from measure import options, table
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rosenblatt import KernelPerceptron, PerceptronNetwork

GROWTHS = ("upstart", "tiling", "tower", "pyramid")

Set = tuple[str, np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def parity(n: int) -> tuple[np.ndarray, np.ndarray]:
    """All rows of n bits, and whether the number of ones is odd."""
    X = np.array(list(itertools.product([0.0, 1.0], repeat=n)))
    return X, X.sum(axis=1) % 2


def monks(problem: int, rng: np.random.Generator) -> Set:
    """Thrun et al. (1991), from the definitions: all 432 robots are the test part."""
    robots = np.array(list(itertools.product(*(range(1, k + 1) for k in (3, 3, 2, 3, 4, 2)))))
    a = robots.T
    if problem == 1:
        y = (a[0] == a[1]) | (a[4] == 1)
    elif problem == 2:
        y = (robots == 1).sum(axis=1) == 2
    else:
        y = ((a[4] == 3) & (a[3] == 1)) | ((a[4] != 4) & (a[1] != 3))
    X = np.hstack([robots[:, [j]] == np.unique(robots[:, j]) for j in range(6)]).astype(float)
    chosen = rng.choice(432, {1: 124, 2: 169, 3: 122}[problem], replace=False)
    known = y[chosen] ^ (rng.random(len(chosen)) < 0.05) if problem == 3 else y[chosen]
    return f"MONK {problem}", X[chosen], known, X, y


def spirals(rng: np.random.Generator, n: int = 97) -> Set:
    """Two spirals, three turns each; the test part lies between the training rows."""

    def drawn(shift: float) -> tuple[np.ndarray, np.ndarray]:
        turn = (np.arange(n) + shift) * np.pi / 16
        radius = 6.5 * (104 - np.arange(n) - shift) / 104
        arm = np.column_stack([radius * np.sin(turn), radius * np.cos(turn)])
        return np.vstack([arm, -arm]), np.repeat([0, 1], n)

    return "two spirals", *drawn(0.0), *drawn(0.5)


def sets(folder: Path, seed: int, quick: bool) -> Iterator[Set]:
    """All sets but parity, with a test part."""
    rng = np.random.default_rng(seed)
    for problem in (1, 2, 3):
        yield monks(problem, rng)
        if quick:
            return
    yield spirals(rng)
    given: dict[str, Any] = {"random_state": seed, "test_size": 0.3}
    X, X_test, y, y_test = train_test_split(*load_digits(return_X_y=True), **given)
    yield "digits", X, y, X_test, y_test
    file = folder / "uci/sonar.csv"
    if file.is_file():
        cells = np.loadtxt(file, dtype=str, delimiter=",")
        X, X_test, y, y_test = train_test_split(cells[:, :-1].astype(float), cells[:, -1], **given)
        yield "sonar", X, y, X_test, y_test


def models(seed: int) -> Iterator[tuple[str, Any]]:
    for growth in GROWTHS:
        yield growth, PerceptronNetwork(growth, max_units=200, random_state=seed)
    for growth in ("upstart", "pyramid"):
        thermal = PerceptronNetwork(growth, unit="thermal", max_units=200, random_state=seed)
        yield f"{growth}, thermal", thermal
    held = PerceptronNetwork("upstart", max_units=200, early_stopping=True, random_state=seed)
    yield "upstart, held out", held
    mlp = MLPClassifier((100,), max_iter=1000, random_state=seed)
    yield "MLPClassifier", make_pipeline(StandardScaler(), mlp)
    kernel = KernelPerceptron("rbf", gamma="scale", solution="average", random_state=seed)
    yield "KernelPerceptron", make_pipeline(StandardScaler(), kernel)


def main() -> None:
    warnings.simplefilter("ignore", ConvergenceWarning)
    chosen = options(__doc__)
    largest, seeds = (4, 1) if chosen.quick else (8, 5)
    rows = [("parity of n bits: units", *(str(n) for n in range(2, largest + 1)))]
    for unit, growth in itertools.product(("pocket", "thermal"), GROWTHS):
        found, chosen_so = [], {"unit": unit, "max_units": 400}
        for n in range(2, largest + 1):
            runs = [
                PerceptronNetwork(growth, random_state=seed, **chosen_so).fit(*parity(n))
                for seed in range(seeds)
            ]
            units = np.mean([run.n_units_ for run in runs])
            solved = all(run.stop_reason_ == "separated" for run in runs)
            found.append(f"{units:.1f}" if solved else "not solved")
        rows.append((f"{growth}, {unit}", *found))
    table(*rows)
    print()

    rows = [("test error, units, seconds", *(name for name, _ in models(0)))]
    results: dict[str, list[list[tuple[float, float, float]]]] = {}
    for seed in range(seeds):
        for name, X, y, X_test, y_test in sets(chosen.data, seed, chosen.quick):
            line = []
            for _, model in models(seed):
                start = time.perf_counter()
                model.fit(X, y)
                seconds = time.perf_counter() - start
                units = getattr(model, "n_units_", np.nan)
                line.append((100 - 100 * model.score(X_test, y_test), units, seconds))
            results.setdefault(name, []).append(line)
    for name, lines in results.items():
        cells = []
        for error, units, seconds in np.mean(lines, axis=0):
            size = "" if np.isnan(units) else f", {units:.0f}"
            cells.append(f"{error:.1f} %{size}, {seconds:.2f}")
        rows.append((name, *cells))
    table(*rows)


if __name__ == "__main__":
    main()
