"""How fast is one epoch, and how soon are data separated, next to scikit-learn?

python benchmarks/epochs.py
"""

import warnings

import numpy as np
import scipy.sparse as sp
from measure import find_best, milliseconds, options, ratio, table
from sklearn.datasets import load_iris
from sklearn.linear_model import PassiveAggressiveClassifier, Perceptron as Peer
from threadpoolctl import threadpool_limits

from rosenblatt import AROW, PassiveAggressive, Perceptron
from rosenblatt.data.rows import view_rows
from rosenblatt.kernels.loop import UPDATE, Clock, Examples, State, compile_loop
from rosenblatt.kernels.perceptron import Perceptron as Rule
from rosenblatt.kernels.targets import TwoClasses


def text_like(n: int, d: int = 47_000, per_row: int = 75) -> tuple[sp.csr_matrix, np.ndarray]:
    """Sparse float32 rows with the shape of RCV1, labelled by a random hyperplane."""
    rng = np.random.default_rng(0)
    indices = np.sort(rng.integers(0, d, (n, per_row), dtype=np.int32), axis=1).ravel()
    values = rng.random(n * per_row, dtype=np.float32)
    X = sp.csr_matrix((values, indices, np.arange(0, n * per_row + 1, per_row)), shape=(n, d))
    X.sum_duplicates()
    return X, np.where(X @ rng.standard_normal(d) > 0, 1, -1)


def table_like(n: int, d: int = 100) -> tuple[np.ndarray, np.ndarray]:
    """Dense float32 rows labelled by a random hyperplane."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d), dtype=np.float32)
    return X, np.where(X @ rng.standard_normal(d) > 0, 1, -1)


def with_margin(n: int, d: int, margin: float) -> tuple[np.ndarray, np.ndarray]:
    """Unit rows, none nearer to a random hyperplane than the margin."""
    rng = np.random.default_rng(0)
    u = rng.standard_normal(d)
    u /= np.linalg.norm(u)
    X = rng.standard_normal((n + n // 5, d))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    X = np.ascontiguousarray(X[np.abs(X @ u) >= margin][:n])
    return X, np.where(X @ u > 0, 1, -1)


def epoch(X: object, y: np.ndarray, order: str) -> tuple[float, float]:
    """Our time and scikit-learn's for one epoch, in file order or shuffled."""
    ours = Perceptron(max_iter=1, order=order, random_state=0)
    peer = Peer(max_iter=1, tol=None, shuffle=order != "fixed")
    return find_best(lambda: ours.fit(X, y)), find_best(lambda: peer.fit(X, y))


def family(X: object, y: np.ndarray) -> tuple[float, float, float, float]:
    """The times of one shuffled epoch: our PA-I, scikit-learn's, our AROW, our perceptron."""
    ours = [model(max_iter=1, random_state=0) for model in (PassiveAggressive, AROW, Perceptron)]
    with warnings.catch_warnings(action="ignore", category=FutureWarning):  # it is deprecated
        peer = PassiveAggressiveClassifier(max_iter=1, tol=None, random_state=0)
        theirs = find_best(lambda: peer.fit(X, y))
    aggressive, confident, plain = (
        find_best(lambda model=model: model.fit(X, y)) for model in ours
    )
    return aggressive, theirs, confident, plain


def in_file_order(X: object, y: np.ndarray) -> tuple[float, float, float]:
    """The kernel's time alone over that of X @ w on one core, from zero and once all is learnt.

    And the share of the rows that it learns from at first.
    """
    n, d = X.shape
    w, b, log = np.zeros(d, np.float32), np.zeros(1, np.float32), np.empty(n, UPDATE)
    order, rule = np.arange(n, dtype=np.uint32), Rule(0.0, 0.0, 1.0)
    examples = Examples(view_rows(X), y.astype(np.float32), None)
    state, loop = State(w, b, np.empty(0), np.empty(0)), compile_loop(Rule)

    def learn(examples: Examples = examples) -> int:
        return loop(TwoClasses(), rule, examples, order, 0, state, Clock(0.0, 0.0, 0.0), log)[1]

    def learn_from_zero() -> int:
        w[:] = b[:] = 0
        return learn()

    updates = learn_from_zero()
    known = examples._replace(steps=np.where(X @ w + b > 0, 1, -1).astype(np.float32))
    with threadpool_limits(1):
        product = find_best(lambda: X @ w, 20)
        clean = find_best(lambda: learn(known), 20)
        return find_best(learn_from_zero, 20) / product, clean / product, updates / n


def main() -> None:
    chosen = options(__doc__)
    shrink = 20 if chosen.quick else 1
    rows = [("what", "ours", "scikit-learn", "ratio", "asked")]

    def compare(what: str, ours: float, peer: float, asked: str) -> None:
        rows.append((what, milliseconds(ours), milliseconds(peer), ratio(ours, peer), asked))

    X, y = text_like(200_000 // shrink)
    compare("one shuffled epoch, CSR float32, 75 of 47,000 columns", *epoch(X, y, "each"), "2.5x")
    aggressive, peer, confident, plain_epoch = family(X, y)
    compare("PA-I, one shuffled epoch, same rows", aggressive, peer, "2.5x")
    arow = {"CSR": confident / plain_epoch}
    sparse = in_file_order(X, y)

    X, y = table_like(500_000 // shrink)
    in_order, peer = epoch(X, y, "fixed")
    compare("one epoch in file order, dense float32, 100 columns", in_order, peer, "6x")
    compare("one shuffled epoch, same rows", *epoch(X, y, "each"), "4x")
    aggressive, peer, confident, plain_epoch = family(X, y)
    compare("PA-I, one shuffled epoch, same rows", aggressive, peer, "5x")
    arow["dense"] = confident / plain_epoch
    dense = in_file_order(X, y)
    w = np.ones(100, np.float32)
    with threadpool_limits(1):
        one_core = find_best(lambda: X @ w)
    all_cores = find_best(lambda: X @ w)

    X, y = with_margin(100_000 // shrink, 100, 0.002)
    plain = Perceptron(order="fixed", max_iter=100_000).fit(X, y)
    ours = Perceptron(order="active", max_iter=100_000)
    peer_model = Peer(max_iter=plain.n_iter_, tol=None, shuffle=False)
    compare(
        f"to a separating hyperplane ({plain.n_iter_} epochs of the plain rule)",
        find_best(lambda: ours.fit(X, y), 3),
        find_best(lambda: peer_model.fit(X, y), 1),
        "30x",
    )
    iris = load_iris(return_X_y=True)
    compare(
        "fit on iris",
        find_best(lambda: Perceptron(random_state=0).fit(*iris), 200),
        find_best(lambda: Peer().fit(*iris), 200),
        "1x",
    )
    table(*rows)
    print(
        f"\nIn file order the epoch takes {in_order / one_core:.2f} times X @ w on one core"
        f" ({in_order / all_cores:.2f} on all cores); asked: at most 1.7."
    )
    for layout, (learning, clean, share), asked in (("CSR", sparse, 1.2), ("dense", dense, 1.1)):
        print(
            f"The kernel alone, {layout}, in file order: {learning:.2f} times X @ w while it learns"
            f" from {share:.0%} of the rows, {clean:.2f} when all are right; asked: {asked}."
        )
    for layout, times in arow.items():
        print(f"AROW, one shuffled epoch, {layout}: {times:.2f} times the perceptron's; asked: 3.")
    print(f"With order='active' it stopped: {ours.stop_reason_}.")


if __name__ == "__main__":
    main()
