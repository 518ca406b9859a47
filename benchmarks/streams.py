"""How fast and how good is learning from a stream, row by row in its order, next to River?

The first table compares the same rules on the same numbers, the second what both choose from raw
files: `train --epochs 1 --tune`, and River's scaler with logistic regression (Adam) and with PA.

python benchmarks/streams.py --data FOLDER
"""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from measure import options, ratio, table
from scipy.sparse import csr_array

from rosenblatt import ALMA, PassiveAggressive, read, train
from rosenblatt.reading.reader import read_matrix
from rosenblatt.training.report import Listener

BATCHES = 100, 10_000
SETS: dict[str, tuple[str, dict[str, Any]]] = {
    "elec2": ("elec2/elec.csv", {"label": "target"}),
    "spam stream": ("spam_stream/spam.libsvm", {}),
}


def batches(make: Callable[[], Any], X: Any, y: np.ndarray, size: int) -> tuple[float, float]:
    """Our seconds in batches, and the share of rows that were wrong before they were learnt."""
    errors, model, classes = 0, make(), np.unique(y)
    make().partial_fit(X[:size], y[:size], classes)  # compiled by now
    start = time.process_time()
    for begin in range(0, len(y), size):
        at = slice(begin, begin + size)
        model.partial_fit(X[at], y[at], classes)
        errors += model.history_[-1].errors  # of rows that were not learnt yet
    return time.process_time() - start, errors / len(y)


def one_by_one(model: Any, X: Any, y: np.ndarray) -> tuple[float, float]:
    """River's, which takes dicts of what is not 0; these are made beforehand."""
    X, yes, errors = csr_array(X), (y == np.unique(y)[1]).tolist(), 0
    rows = [
        dict(zip(X.indices[i:j].tolist(), X.data[i:j].tolist(), strict=True))
        for i, j in zip(X.indptr[:-1], X.indptr[1:], strict=True)
    ]
    start = time.process_time()
    for row, label in zip(rows, yes, strict=True):
        errors += model.predict_one(row) != label
        model.learn_one(row, label)
    return time.process_time() - start, errors / len(y)


def main() -> None:
    given = options(__doc__)
    folder: Path = given.data
    if not folder.is_dir():
        print(f"Skipped: the folder {folder} with the data sets is not there (see --data).")
        return
    try:
        from river import linear_model
    except ImportError:
        print("Skipped: River is not installed.")
        return
    compare_rules(folder, given.quick, linear_model)
    compare_choices(folder, given.quick)


def compare_choices(folder: Path, quick: bool) -> None:
    """Print the progressive errors of what both make of raw files."""
    from river import linear_model, optim, preprocessing

    lines = []
    for name, (path, how) in list(SETS.items())[:1]:  # River's scaler takes minutes for the others
        for _ in range(2):  # the first run compiles
            start = time.process_time()
            model = train(folder / path, **how, max_iter=1, tune=True, listener=Listener())
            seconds = time.process_time() - start
        X, y = read_matrix(read(folder / path, **how, scale="none"))
        if quick:
            X, y = X[:2000], y[:2000]
        logistic = linear_model.LogisticRegression(optim.Adam(0.01))
        errors = [
            one_by_one(preprocessing.StandardScaler() | each, X, y)
            for each in (logistic, linear_model.PAClassifier(C=1.0, mode=1))
        ]
        ours = model.file_facts_["facts"]["stream"]
        lines.append(
            (
                name,
                f"{ours['rows']:,}",
                f"{ours['error']:.2%}",
                *(f"{error:.2%}" for _, error in errors),
                f"{np.mean(y[1:] != y[:-1]):.2%}",
                f"{1e6 * seconds / ours['rows']:.1f}",
                *(f"{1e6 * theirs / len(y):.1f}" for theirs, _ in errors),
            )
        )
    print("\nWhat each chooses, from raw files; the last columns are μs a row:\n")
    head = "stream", "rows", "tuned", "River, Adam", "River, PA", "previous label"
    table((*head, "ours", "Adam", "PA"), *lines)


def compare_rules(folder: Path, quick: bool, linear_model: Any) -> None:
    """Print errors and times of the same rules on the same numbers."""
    pairs = {
        "PA-I": (PassiveAggressive, lambda: linear_model.PAClassifier(C=1.0, mode=1)),
        "ALMA": (ALMA, linear_model.ALMAClassifier),
    }
    lines = []
    for name, (path, how) in SETS.items():
        X, y = read_matrix(read(folder / path, **how))
        if quick:
            X, y = X[:2000], y[:2000]
        for rule, (ours, river) in pairs.items():
            theirs, their_error = one_by_one(river(), X, y)
            for size in BATCHES:
                seconds, error = batches(ours, X, y, size)
                times = f"{1e6 * seconds / len(y):.2f}", f"{1e6 * theirs / len(y):.1f}"
                errors = f"{error:.2%}", f"{their_error:.2%}"
                lines.append((name, rule, f"{size:,}", *times, ratio(seconds, theirs), *errors))
    head = "stream", "rule", "batch", "ours, μs a row", "River", "ratio", "our error", "River's"
    table(head, *lines)
    print(
        "\nOurs learns by partial_fit in batches. Errors are of rows before they are learnt, one by"
        " one, with the same numbers for both. Times are processor time."
    )


if __name__ == "__main__":
    main()
