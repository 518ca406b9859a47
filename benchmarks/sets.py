"""Development sets: training rows of tables and texts, as the reader makes rows of raw files.

Rows that others test with (the test files, a third of the sets that have none) are never read.
"""

import csv
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas
from scipy.sparse import csr_array
from sklearn import datasets

from rosenblatt import Features, read
from rosenblatt.reading.reader import read_matrix

csv.field_size_limit(sys.maxsize)


class Set(NamedTuple):
    """Rows to learn from, of which some are held out; kind is "table" or "text"."""

    name: str
    X: Any
    y: np.ndarray
    kind: str = "table"

    def compact(self) -> "Set":
        """The set with only the columns that occur, which is all that a linear model sees."""
        if not hasattr(self.X, "indptr"):
            return self
        X = csr_array(self.X)
        return self._replace(X=X[:, np.unique(X.indices)])


FILES: dict[str, tuple[str, dict[str, Any]]] = {
    "adult": ("adult/adult.data", {"header": False}),
    "oil": ("oil/train.csv", {"header": False}),
    "shoppers": ("shoppers/train.csv", {"label": "Revenue"}),
    "a9a": ("a9a/a9a", {}),
    "w8a": ("w8a/w8a", {}),
    "mushrooms": ("mushrooms/mushrooms", {}),
    "spambase": ("spambase/spambase.data", {"header": False}),
    "elec2": ("elec2/elec.csv", {"label": "target"}),
    "covtype": ("covtype/covtype.csv", {}),
    "letter": ("letter/letter-recognition.data", {"label": 0, "header": False}),
    "sonar": ("uci/sonar.csv", {"header": False}),
    "ionosphere": ("uci/ionosphere.csv", {"header": False}),
    "banknote": ("uci/banknote_authentication.csv", {"header": False}),
    "pima": ("uci/pima-indians-diabetes.csv", {"header": False}),
    "wisconsin": ("uci/breast-cancer-wisconsin.data", {"header": False}),
}
WHOLE = ("adult", "oil", "shoppers", "a9a")  # whose test rows are in a file of their own


def choose_rows(name: str, count: int, most: int) -> np.ndarray:
    """The numbers of the training rows of a file in a random order, at most ``most``."""
    order = np.random.default_rng(0).permutation(16_000 if name == "letter" else count)
    if name not in WHOLE:
        order = order[: 2 * len(order) // 3]
    return order[:most]


def read_table(folder: Path, name: str, most: int = 20_000) -> tuple[Any, np.ndarray]:
    """The training rows of a file in a random order, at most ``most``, as the reader makes them."""
    path, options = FILES[name]
    X, y = read_matrix(read(folder / path, **options))
    order = choose_rows(name, len(y), most)
    return X[order], np.asarray(y)[order]


class RawSet(NamedTuple):
    """Training rows as they are before any encoding.

    By kind ("table", "sparse" or "text"), X is a data frame, a CSR matrix or a list of texts.
    """

    name: str
    kind: str
    X: Any
    y: np.ndarray

    def take(self, rows: np.ndarray) -> "RawSet":
        """Some of the rows."""
        if self.kind == "text":
            return self._replace(X=[self.X[k] for k in rows], y=self.y[rows])
        X = self.X.iloc[rows] if self.kind == "table" else self.X[rows]
        return self._replace(X=X, y=self.y[rows])


RAW = (
    *FILES,
    "breast_cancer",
    "digits",
    "wine",
    "sms_spam",
    "subjectivity",
    "imdb",
    "20newsgroups",
)
"""The sets that ``read_raw`` knows."""


def read_raw(folder: Path, name: str, most: int) -> RawSet:
    """The raw training rows of a set in a random order, at most ``most``."""
    if name in ("sms_spam", "subjectivity", "imdb", "20newsgroups"):
        texts, y = read_texts(folder, name)
        some = np.random.default_rng(0).permutation(len(y))[:most]
        return RawSet(name, "text", [texts[k] for k in some], y[some])
    if name not in FILES:
        found = getattr(datasets, f"load_{name}")(as_frame=True)
        return RawSet(name, "table", found.data, found.target_names.astype(str)[found.target])
    path, options = FILES[name]
    if Path(path).suffix == "":
        X, y = datasets.load_svmlight_file(str(folder / path))
        order = choose_rows(name, len(y), most)
        return RawSet(name, "sparse", csr_array(X[order]), y[order].astype(int))
    header = None if options.get("header") is False else 0
    frame = pandas.read_csv(folder / path, header=header, skipinitialspace=True, na_values="?")
    frame.columns = [str(column) for column in frame.columns]
    label = options.get("label", len(frame.columns) - 1)
    label = frame.columns[label] if isinstance(label, int) else label
    order = choose_rows(name, len(frame), most)
    frame = frame.iloc[order].reset_index(drop=True)
    return RawSet(name, "table", frame.drop(columns=label), frame[label].to_numpy().astype(str))


def thin(X: Any, y: np.ndarray, rare: Any, share: float) -> tuple[Any, np.ndarray]:
    """The rows with fewer of one class, so that it has a share of them."""
    own, others = np.flatnonzero(y == rare), np.flatnonzero(y != rare)
    few = own[: int(share / (1 - share) * len(others))]
    kept = np.sort(np.concatenate([few, others]))
    return X[kept], y[kept]


def flip(y: np.ndarray, share: float) -> np.ndarray:
    """Labels of two classes, some of them exchanged."""
    classes, codes = np.unique(y, return_inverse=True)
    wrong = np.random.default_rng(1).random(len(y)) < share
    return classes[np.where(wrong, 1 - codes, codes)]


def read_texts(folder: Path, name: str) -> tuple[list[str], np.ndarray]:
    """The texts and labels that are to learn from, the last of which will be held out.

    They are shuffled, but for IMDB: there, reviews of one film lie together in the file, and a
    model that knows their words from others of them looks better than it is.
    """
    if name in ("imdb", "20newsgroups"):
        with (folder / name / "train.csv").open(newline="", encoding="utf-8") as file:
            pairs = [(row["text"], row["label"]) for row in csv.DictReader(file)]
    elif name == "sms_spam":
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
    if name == "imdb":
        order = np.arange(len(pairs))
    if name in ("sms_spam", "subjectivity"):
        order = order[: 2 * len(order) // 3]  # the others are to test with
    return [pairs[k][0] for k in order], np.array([pairs[k][1] for k in order])


def text_sets(folder: Path) -> list[Callable[[], Set]]:
    """Texts as they are, few of them, and with a rare class."""

    def make(name: str, most: int, rare: float | None = None) -> Set:
        texts, y = read_texts(folder, name)
        chosen = np.arange(len(y))
        if rare is not None:
            chosen, _ = thin(chosen, y, np.unique(y)[-1], rare)
        chosen = np.random.default_rng(0).permutation(chosen)[:most]
        some = [texts[k] for k in chosen]
        X = Features().fit(some).transform(some)
        said = name + (f", {most:,} rows" if most < len(y) else "")
        return Set(said + (f", {rare:.0%}" if rare else ""), X, y[chosen], "text")

    chosen: list[tuple[Any, ...]] = [
        ("sms_spam", 5000), ("sms_spam", 1000), ("subjectivity", 7000), ("subjectivity", 1000),
        ("subjectivity", 7000, 0.05), ("imdb", 4000), ("imdb", 1000), ("imdb", 4000, 0.05),
        ("20newsgroups", 12_000), ("20newsgroups", 1000),
    ]  # fmt: skip
    return [lambda each=each: make(*each) for each in chosen]


def table_sets(folder: Path) -> list[Callable[[], Set]]:
    """Tables as they are, few rows of them, with a rare class, with wrong labels."""
    made: list[Callable[[], Set]] = []

    def add(name: str, make: Callable[[], tuple[Any, Any]]) -> None:
        made.append(lambda: Set(name, *make()))

    for name in FILES:
        add(name, lambda name=name: read_table(folder, name))
    for name in ("adult", "shoppers", "a9a", "w8a", "spambase", "elec2", "covtype"):
        add(f"{name}, 1,000 rows", lambda name=name: read_table(folder, name, 1000))
    for name, share in (
        ("adult", 0.05), ("adult", 0.02), ("spambase", 0.05), ("elec2", 0.05), ("a9a", 0.02),
    ):  # fmt: skip

        def rarer(name: str = name, share: float = share) -> Any:
            X, y = read_table(folder, name)
            return thin(X, y, np.unique(y)[-1], share)

        add(f"{name}, {share:.0%}", rarer)
    for number in (2, 3, 4, 5, 6, 7):

        def one(number: int = number) -> Any:
            X, y = read_table(folder, "covtype")
            return X, np.asarray(y == np.unique(y)[number - 1])

        add(f"covtype {number}", one)
    for name in ("spambase", "mushrooms", "banknote"):

        def noisy(name: str = name) -> Any:
            X, y = read_table(folder, name)
            return X, flip(y, 0.1)

        add(f"{name}, 10 % flipped", noisy)
    for name in ("breast_cancer", "digits", "wine", "iris"):

        def own(name: str = name) -> Any:
            X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
            return (X - X.mean(0)) / np.where(X.std(0) > 0, X.std(0), 1), y

        add(name, own)
    return made
