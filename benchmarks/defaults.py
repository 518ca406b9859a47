"""Which n-grams, counts, weights, margins and bias steps serve most sets? By training rows alone.

python benchmarks/defaults.py --data FOLDER
"""

import csv
import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from measure import parser, table
from scipy.sparse import csr_array

from rosenblatt import Features, Perceptron, read
from rosenblatt.reading.reader import read_matrix

csv.field_size_limit(sys.maxsize)
COUNTS = ("raw", "binary", "sublinear")
SHARES = (0.01, 0.1, 1.0)  # of the mean squared length of rows, that the bias moves by
BITS = (18, 20, 22)
MARGINS: dict[str, dict[str, Any]] = {
    "no margin": {},
    "balanced": {"class_weight": "balanced"},
    "margin 0.25": {"margin": 0.25},
    "margin 1": {"margin": 1.0},
    "0.25, balanced": {"margin": 0.25, "class_weight": "balanced"},
    "1, balanced": {"margin": 1.0, "class_weight": "balanced"},
    "2, balanced": {"margin": 2.0, "class_weight": "balanced"},
}
TABLES: dict[str, tuple[str, dict[str, Any]]] = {
    "adult": ("adult/adult.data", {}),
    "spambase": ("spambase/spambase.data", {"header": False}),
    "a9a": ("a9a/a9a", {}),
    "w8a": ("w8a/w8a", {}),
    "letter": ("letter/letter-recognition.data", {"label": 0, "header": False}),
    "elec2": ("elec2/elec.csv", {"label": "target"}),
    "covtype": ("covtype/covtype.csv", {}),
}
TEXTS = ("SMS spam", "subjectivity", "20 newsgroups", "IMDB")


class Held(NamedTuple):
    """Rows to learn from, and rows held out of these; others are to test with, and not here."""

    X: Any
    y: np.ndarray
    n: int

    def error(self, share: float, seeds: int, **given: Any) -> str:
        """The error on the rows held out in per cent, averaged over ten epochs."""
        X, y, n = self
        step = share * mean_square(X[:n])
        errors = []
        for seed in range(seeds):
            settings = {"solution": "average", "max_iter": 10, "random_state": seed}
            model = Perceptron(intercept_step=step, **settings, **given).fit(X[:n], y[:n])
            errors.append(100 * np.mean(model.predict(X[n:]) != y[n:]))
        return f"{np.mean(errors):.2f}"


def mean_square(X: Any) -> float:
    """The mean squared length of rows."""
    values = X.data if hasattr(X, "data") and hasattr(X, "indptr") else X
    return float((np.asarray(values, np.float64) ** 2).sum() / X.shape[0])


# Texts


def texts_of(folder: Path, name: str) -> tuple[list[str], np.ndarray]:
    """The texts and labels that are to learn from, the last of which will be held out.

    They are shuffled, but for IMDB: there, reviews of one film lie together in the file, and a
    model that knows their words from others of them looks better than it is.
    """
    if name in ("IMDB", "20 newsgroups"):
        path = folder / ("imdb" if name == "IMDB" else "20newsgroups") / "train.csv"
        with path.open(newline="", encoding="utf-8") as file:
            pairs = [(row["text"], row["label"]) for row in csv.DictReader(file)]
    elif name == "SMS spam":
        lines = (folder / "sms_spam/SMSSpamCollection").read_text("utf-8").splitlines()
        pairs = [(text, label) for label, _, text in (line.partition("\t") for line in lines)]
    else:
        files = sorted((folder / "subjectivity").glob("*tok*"))
        pairs = [
            (line, file.name.partition(".")[0])
            for file in files
            for line in file.read_text("latin-1").splitlines()
        ]
    order = np.random.default_rng(0).permutation(len(pairs))
    if name == "IMDB":
        order = np.arange(len(pairs))
    if name in ("SMS spam", "subjectivity"):
        order = order[: 2 * len(order) // 3]  # the others are to test with
    return [pairs[k][0] for k in order], np.array([pairs[k][1] for k in order])


def variants(texts: list[str], n: int, quick: bool) -> Iterator[tuple[tuple[str, ...], Any]]:
    """The ways to make rows of texts: what they are called, and the rows."""
    lengths = ((1, 2),) if quick else ((1, 1), (1, 2))
    for ngrams, counts, tfidf in product(lengths, COUNTS, (False, True)):
        X = view_rows(texts, n, ngrams=ngrams, counts=counts, tfidf=tfidf)
        said = f"{ngrams[0]}-{ngrams[1]}", counts, "tf-idf" if tfidf else "", "20"
        yield (*said, "l2"), X
        if not quick and counts == "binary":
            yield (*said, ""), longer(X, texts)
    for bits in () if quick else BITS:
        if bits != 20:
            X = view_rows(texts, n, ngrams=(1, 2), bits=bits)
            yield ("1-2", "binary", "tf-idf", str(bits), "l2"), X


def view_rows(texts: list[str], n: int, **options: Any) -> Any:
    """The rows of texts, weighed by the first n of them."""
    return Features(**options).fit(texts[:n]).transform(texts)


def longer(X: csr_array, texts: list[str]) -> csr_array:
    """Rows as long as their texts have words, more or less, instead of all of length 1."""
    lengths = np.sqrt([max(1, text.count(" ")) for text in texts])
    return csr_array((X.data * np.repeat(lengths, np.diff(X.indptr)), X.indices, X.indptr), X.shape)


def of_texts(folder: Path, names: tuple[str, ...], quick: bool) -> None:
    """A line for each way to make rows, a table for each set."""
    for name in names:
        texts, y = texts_of(folder, name)
        if quick:
            texts, y = texts[:1000], y[:1000]
        n = 4 * len(texts) // 5
        print(f"\n{name}: {n:,} texts to learn from, {len(texts) - n:,} held out of the training")
        lines = []
        for said, X in variants(texts, n, quick):
            held = Held(X, y, n)
            lines.append((*said, *(held.error(share, 1) for share in SHARES)))
        table(("n-grams", "counts", "", "bits", "", *map(str, SHARES)), *lines)


def of_margins(folder: Path, names: tuple[str, ...], quick: bool) -> None:
    """A line for each set, as it is and with one class made rare."""
    lines = []
    for name in names:
        texts, y = texts_of(folder, name)
        if quick:
            texts, y = texts[:1000], y[:1000]
        for step in (1, 5, 10) if len(np.unique(y)) == 2 else (1,):
            rare = np.flatnonzero(y == np.unique(y)[-1])
            kept = np.sort(np.concatenate([np.flatnonzero(y != y[rare[0]]), rare[::step]]))
            n = 4 * len(kept) // 5
            X = view_rows([texts[k] for k in kept], n)
            held = Held(X, y[kept], n)
            said = name if step == 1 else f"{name}, one class 1/{step}"
            errors = (held.error(0.1, 1, **given) for given in MARGINS.values())
            lines.append((said, f"{n:,}", *errors))
    print()
    table(("texts", "rows", *MARGINS), *lines)


# Tables


def of_tables(folder: Path, names: tuple[str, ...], quick: bool) -> None:
    """A line for each table as the reader makes rows of it."""
    lines = []
    for name in names:
        path, options = TABLES[name]
        X, y = read_matrix(read(folder / path, **options))
        order = np.random.default_rng(0).permutation(16_000 if name == "letter" else len(y))
        order = order[: 2_000 if quick else 40_000]
        order = order[: 2 * len(order) // 3]  # the others are to test with
        held = Held(X[order], y[order], 4 * len(order) // 5)
        steps = (0.0, 1 / mean_square(held.X[: held.n]), *SHARES)
        lines.append((name, *(held.error(share, 1 if quick else 3) for share in steps)))
    print()
    table(("table", "no bias", "step 1", *map(str, SHARES)), *lines)


def main() -> None:
    given = parser(__doc__)
    given.add_argument("--only", choices=("texts", "margins", "tables"), help="one part")
    chosen = given.parse_args()
    if not chosen.data.is_dir():
        print(f"Skipped: the folder {chosen.data} with the data sets is not there (see --data).")
        return
    if chosen.only in (None, "texts"):
        of_texts(chosen.data, TEXTS[:1] if chosen.quick else TEXTS, chosen.quick)
    if chosen.only in (None, "margins"):
        of_margins(chosen.data, TEXTS[:1] if chosen.quick else TEXTS, chosen.quick)
    if chosen.only in (None, "tables"):
        names = ("spambase", "a9a") if chosen.quick else tuple(TABLES)
        of_tables(chosen.data, names, chosen.quick)
    print(
        "\nError in per cent on rows held out of the training part; averaged, ten epochs. The last"
        " columns say what a mistake moves the bias by, as a share of the mean squared length of"
        " rows."
    )


if __name__ == "__main__":
    main()
