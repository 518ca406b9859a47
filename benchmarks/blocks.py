"""Would permuting blocks of neighbours do as well as permuting all rows, and how much sooner?

The rows are laid out at random once; in each epoch the blocks and the rows within are permuted.

python benchmarks/blocks.py --data FOLDER
"""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from epochs import table_like, text_like
from measure import find_best, milliseconds, options, table
from orders import Data, made, real

from rosenblatt import Perceptron
from rosenblatt.data.rows import view_rows
from rosenblatt.kernels.loop import UPDATE, Clock, Examples, State, compile_loop
from rosenblatt.kernels.perceptron import Perceptron as Rule
from rosenblatt.kernels.targets import TwoClasses

BLOCK = 1_024  # rows, which fit the second cache
MOST_EPOCHS = 300
SETS = (
    "iris setosa/versicolor", "digits 8/9", "breast cancer", "sonar", "mushrooms", "SMS spam",
    "letters A/B", "MNIST 0/1", "news pc/mac", "subjectivity", "spambase", "a9a",
)  # fmt: skip

Order = Callable[[int, np.random.Generator], np.ndarray]


def each(n: int, rng: np.random.Generator, block: int = BLOCK) -> np.ndarray:
    """A new permutation of all rows."""
    return rng.permutation(n)


def blocks(n: int, rng: np.random.Generator, block: int = BLOCK) -> np.ndarray:
    """Blocks in a new order, and the rows of each in a new order."""
    starts = np.arange(0, n, block)
    parts = [start + rng.permutation(min(block, n - start)) for start in rng.permutation(starts)]
    return np.concatenate(parts)


def kernel_time(X: Any, y: np.ndarray, order: np.ndarray) -> float:
    """The kernel's seconds for one epoch in an order."""
    n, d = X.shape
    w, b, log = np.zeros(d, np.float32), np.zeros(1, np.float32), np.empty(n, UPDATE)
    examples, rule = Examples(view_rows(X), y.astype(np.float32), None), Rule(0.0, 0.0, 1.0)
    state, loop = State(w, b, np.empty(0), np.empty(0)), compile_loop(Rule)
    order = order.astype(np.uint32)

    def learn() -> None:
        w[:] = b[:] = 0
        loop(TwoClasses(), rule, examples, order, 0, state, Clock(0.0, 0.0, 0.0), log)

    return find_best(learn, 20)


def epochs_and_error(data: Data, order: Order, seed: int) -> tuple[float, float]:
    """Epochs until separated, and the error on a quarter held out after three with averages."""
    X, y = data.draw(seed)
    places = np.random.default_rng([seed, 1]).permutation(len(y))  # the layout at random, too
    train, test = places[len(y) // 4 :], places[: len(y) // 4]
    X_train, y_train, rng = X[train], y[train], np.random.default_rng(seed)
    size = max(1, len(train) // 16)  # so that small sets have blocks as well
    model, epochs = Perceptron(solution="average"), 0.0
    last, error = Perceptron(), np.nan
    for epoch in range(1, MOST_EPOCHS + 1):
        rows = order(len(train), rng, size)
        before = getattr(last, "n_mistakes_", 0)
        last.partial_fit(X_train[rows], y_train[rows], classes=np.unique(y))
        if epoch <= 3:
            model.partial_fit(X_train[rows], y_train[rows], classes=np.unique(y))
            error = 100 - 100 * model.score(X[test], y[test])
        epochs = epoch
        if epoch >= 3 and (last.n_mistakes_ == before or not data.separable):
            break
    return (epochs if data.separable else np.nan), error


def main() -> None:
    chosen = options(__doc__)
    shrink, seeds = (20, 2) if chosen.quick else (1, 10)
    rng = np.random.default_rng(0)
    rows = [("one epoch, kernel alone", "file order", "each", "blocks", "laying out once")]
    for name, (X, y) in {
        "CSR float32, 75 of 47,000": text_like(200_000 // shrink),
        "dense float32, 100 columns": table_like(500_000 // shrink),
    }.items():
        n = len(y)
        orders = np.arange(n), each(n, rng), blocks(n, rng)
        start = time.perf_counter()
        X[rng.permutation(n)]
        layout = time.perf_counter() - start
        times = [kernel_time(X, y, order) for order in orders]
        rows.append((name, *map(milliseconds, (*times, layout))))
    table(*rows)
    print()

    rows = [("data", "epochs: each", "blocks", "ratio", "held-out error: each", "blocks", "change")]
    ratios, changes = [], []
    for source in (real(chosen.data, chosen.quick), made(True)):
        for data in source:
            if data.kind == "real" and data.name not in SETS:
                continue
            results = np.array([
                [epochs_and_error(data, order, seed) for order in (each, blocks)]
                for seed in range(seeds)
            ])  # fmt: skip
            (e_each, r_each), (e_blocks, r_blocks) = results.mean(axis=0)
            change = results[:, 1, 1] - results[:, 0, 1]
            spread = change.std(ddof=1) / np.sqrt(seeds)
            cells = [f"{e_each:.1f}", f"{e_blocks:.1f}", f"{e_blocks / e_each:.2f}"]
            rows.append((
                data.name, *(cells if data.separable else ["", "", ""]),
                f"{r_each:.2f} %", f"{r_blocks:.2f} %", f"{change.mean():+.2f} ± {spread:.2f}",
            ))  # fmt: skip
            changes.append(change.mean())
            if data.separable:
                ratios.append(e_blocks / e_each)
    table(*rows)
    print(
        f"\nOver all sets: {np.exp(np.mean(np.log(ratios))):.2f} times the epochs, "
        f"{np.mean(changes):+.2f} points of error."
    )


if __name__ == "__main__":
    main()
