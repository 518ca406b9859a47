"""How good is the averaged perceptron, and how fast, next to scikit-learn's linear models?

python benchmarks/quality.py --data FOLDER
"""

import csv
import sys
from functools import partial
from pathlib import Path

import numpy as np
from measure import best_of, options, ratio, table
from sklearn.datasets import load_svmlight_file
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import SGDClassifier
from sklearn.svm import LinearSVC

from rosenblatt import Perceptron

csv.field_size_limit(sys.maxsize)


def texts(folder: Path, rows: int | None) -> tuple[object, ...]:
    """Hashed unigrams of a folder's train.csv and test.csv."""
    parts: list[object] = []
    for name in ("train.csv", "test.csv"):
        with (folder / name).open(newline="", encoding="utf-8") as file:
            pairs = [(row["label"], row["text"]) for row in csv.DictReader(file)]
        if rows is not None:
            chosen = np.random.default_rng(0).permutation(len(pairs))[:rows]
            pairs = [pairs[number] for number in chosen]
        labels, words = zip(*pairs, strict=True)
        hashed = HashingVectorizer(n_features=2**20, alternate_sign=False, dtype=np.float32)
        parts += [hashed.transform(words), np.array(labels)]
    return tuple(parts)


def adult(folder: Path) -> tuple[object, ...]:
    """The binary features of a9a, with the 32-bit indices that scikit-learn's SGD insists on."""
    parts: list[object] = []
    for name in ("a9a", "a9a.t"):
        X, y = load_svmlight_file(folder / name, n_features=123, dtype=np.float32)
        X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
        parts += [X, y]
    return tuple(parts)


def main() -> None:
    chosen = options(__doc__)
    if not chosen.data.is_dir():
        print(f"Skipped: the folder {chosen.data} with the data sets is not there (see --data).")
        return
    few = 1500 if chosen.quick else None
    sets = {
        "20 newsgroups": texts(chosen.data / "20newsgroups", few),
        "IMDB": texts(chosen.data / "imdb", few),
        "a9a": adult(chosen.data / "a9a"),
    }
    models = {
        "ours": Perceptron(solution="average", max_iter=10, random_state=0),
        "SGD, averaged": SGDClassifier(
            loss="perceptron",
            penalty=None,
            learning_rate="constant",
            eta0=1.0,
            average=True,
            max_iter=10,
            tol=None,
            random_state=0,
        ),
        "LinearSVC": LinearSVC(random_state=0),
    }
    rows = [("data", *models, "speed against SGD, averaged (asked)")]
    for name, (X, y, X_test, y_test) in sets.items():
        seconds, cells = [], []
        for model in models.values():
            fit = partial(model.fit, X, y)
            seconds.append(best_of(fit, 1 if chosen.quick else 3))
            error = 1 - model.score(X_test, y_test)
            cells.append(f"{error:.2%} {seconds[-1]:.3f} s")
        asked = " (5x)" if name == "20 newsgroups" else ""
        rows.append((name, *cells, ratio(*seconds[:2]) + asked))
    table(*rows)
    print(
        "Asked: on a9a and IMDB within 0.3 points of LinearSVC, on 20 newsgroups no worse than SGD."
    )


if __name__ == "__main__":
    main()
