"""How fast is the kernel perceptron on a GPU, and are its updates those of the CPU?

python benchmarks/gpu.py --data FOLDER [--table]

It needs an NVIDIA GPU and the extra gpu; without them it says so and ends.
"""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from freund_schapire import EPOCHS, mnist, polynomial, small, tables
from measure import options, table
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from rosenblatt import KernelPerceptron
from rosenblatt.dual.device import get_array_module, vote_on_gpu
from rosenblatt.dual.gram import Gram
from rosenblatt.dual.state import DualState

Data = tuple[np.ndarray, ...]


def timed(run: Callable[[], Any], times: int = 3) -> tuple[float, Any]:
    """The shortest time in seconds after a first run, and what the last one gave."""
    result, seconds = run(), []
    for _ in range(times):
        start = time.perf_counter()
        result = run()
        seconds.append(time.perf_counter() - start)
    return min(seconds), result


def once(run: Callable[[], Any]) -> tuple[float, Any]:
    """The time of one run."""
    start = time.perf_counter()
    result = run()
    return time.perf_counter() - start, result


def same_updates(one: KernelPerceptron, other: KernelPerceptron) -> bool:
    """Whether two models were made by the same updates, one by one."""
    return np.array_equal(one._learner.state.updates, other._learner.state.updates)


def shifted(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Every image in 16 places: moved by -2 to 1 pixels both ways."""
    images, side = X.reshape(-1, 28, 28), range(-2, 2)
    moved = [np.roll(images, (dy, dx), axis=(1, 2)) for dy in side for dx in side]
    return np.concatenate(moved).reshape(-1, 784), np.tile(y, len(moved))


def digits(data: Data, rows: list[tuple[str, ...]], quick: bool) -> None:
    """The speeds on handwritten digits."""
    X, y, X_test, y_test = data

    def fitted(epochs: int, device: str | None, solution: str = "vote") -> KernelPerceptron:
        return polynomial(4, epochs, solution=solution, device=device, order="fixed").fit(X, y)

    seconds, there = timed(lambda: fitted(1, "cuda"))
    with threadpool_limits(2):
        cpu, here = once(lambda: fitted(1, None))
    rows.append(("ten classes, d = 4, T = 1", f"{seconds:.3f} s", "0.06 s",
                 f"{cpu / seconds:.0f} times two cores ({cpu:.1f} s), updates "
                 + ("equal" if same_updates(here, there) else "DIFFERENT")))  # fmt: skip
    seconds, there = timed(lambda: fitted(10, "cuda"), 2)
    rows.append(("T = 10", f"{seconds:.3f} s", "0.5 s", f"{there.n_mistakes_:,} mistakes"))
    seconds, score = timed(lambda: there.score(X_test, y_test))
    rows.append(("voted prediction of the test rows", f"{seconds:.3f} s", "0.1 s",
                 f"error {1 - score:.2%}"))  # fmt: skip
    some = slice(10_000)
    seconds, machine = once(
        lambda: SVC(kernel="poly", degree=4, gamma=1, coef0=1).fit(X[some] / 255, y[some])
    )
    rows.append(("scikit-learn's SVC, 10,000 rows, CPU", f"{seconds:.2f} s", "",
                 f"error {1 - machine.score(X_test / 255, y_test):.2%}"))  # fmt: skip
    seconds, _ = timed(lambda: polynomial(4, 1, device="cuda").fit(X[some], y[some]))
    rows.append(("ours, the same rows, T = 1", f"{seconds:.3f} s", "", ""))
    if quick:
        return
    many, labels = shifted(X, y)
    seconds, there = timed(
        lambda: polynomial(4, 1, device="cuda", solution="vote").fit(many, labels), 1
    )
    rows.append((f"{len(many):,} shifted digits, T = 1", f"{seconds:.2f} s", "3 s",
                 f"error {1 - there.score(X_test, y_test):.2%}, "
                 f"{len(there.support_):,} support rows"))  # fmt: skip


def made(rows: list[tuple[str, ...]], count: int) -> None:
    """Rows of two classes inside and outside a sphere, with a gap between them."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((count, 20)).astype(np.float32)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    y = np.arange(count) % 2
    X *= np.where(y, 1.5, 0.75).astype(np.float32)[:, None]
    xp = get_array_module()
    model = KernelPerceptron("rbf", gamma=0.5, device="cuda", max_iter=20)
    seconds, model = timed(lambda: model.fit(X, y), 1)
    reads = sum(epoch.rows for epoch in model.history_)
    memory = xp.get_default_memory_pool().total_bytes() / 2**30 if xp is not np else 0.0
    rows.append((f"{count:,} x 20, rbf", f"{seconds:.2f} s", "",
                 f"{reads / seconds:,.0f} rows a second, {model.stop_reason_}, "
                 f"{len(model.support_):,} support rows, {memory:.1f} GB"))  # fmt: skip


class CardScorer:
    """Scores rows on the GPU, where their kernel values stay."""

    def __init__(self, gram: Gram, state: DualState, X: np.ndarray) -> None:
        xp = get_array_module()
        self.values = gram(xp.asarray(state.support), xp.asarray(X))

    def scores(self, coef: np.ndarray) -> np.ndarray:
        """The scores by some coefficients."""
        return (get_array_module().asarray(coef) @ self.values).T.get()

    def votes(self, then: DualState) -> np.ndarray:
        """The votes at some moment."""
        return then.votes(self.values, False, 0.0, get_array_module(), vote_on_gpu).T.get()


def data_of(folder: Path, quick: bool) -> Data:
    if quick or not (folder / "mnist").is_dir():
        return small()
    return tuple(part.astype(np.float32) if part.ndim == 2 else part for part in mnist(folder))


def main() -> None:
    chosen = options(__doc__, table="Freund & Schapire's tables, six degrees, T up to 30")
    try:
        get_array_module()
    except RuntimeError as error:
        print(error)
        return
    data = data_of(chosen.data, chosen.quick)
    if chosen.table:
        tables(data, EPOCHS, 1 if chosen.quick else 3, not chosen.quick, CardScorer, device="cuda")
        return
    rows: list[tuple[str, ...]] = [("what", "time", "asked", "")]
    digits(data, rows, chosen.quick)
    made(rows, 50_000 if chosen.quick else 5_000_000)
    table(*rows)


if __name__ == "__main__":
    main()
