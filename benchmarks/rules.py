"""Which update rule should I take? Test error after one and five passes, and time, on real sets.

python benchmarks/rules.py --data FOLDER [--only NAME …]
"""

import gzip
import importlib.util
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from measure import parser, table
from scipy.sparse import csr_array, csr_matrix, issparse
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from rosenblatt import (
    ALMA,
    AROW,
    ROMMA,
    SCW,
    PassiveAggressive,
    Perceptron,
    SecondOrderPerceptron,
    progressive,
    read,
)
from rosenblatt.reading.reader import read_matrix

SEEDS, PASSES, SOLUTIONS = range(5), (1, 5), ("last", "average")


class Data(NamedTuple):
    """Rows to learn from, and to test with; without these they are a stream, in time order."""

    X: Any
    y: np.ndarray
    X_test: Any = None
    y_test: Any = None


class Rule(NamedTuple):
    """An estimator, with the parameters to choose from beside its own defaults."""

    make: Callable[..., Any]
    choices: dict[str, list[Any]]

    def candidates(self) -> list[dict[str, Any]]:
        """The defaults, and all choices."""
        names, values = self.choices.keys(), product(*self.choices.values())
        return [{}, *(dict(zip(names, each, strict=True)) for each in values)]


RULES = {
    "perceptron": Rule(Perceptron, {"margin": [0.1, 1.0, 10.0]}),
    "PA-I": Rule(PassiveAggressive, {"C": [0.001, 0.01, 0.1]}),
    "PA-II": Rule(
        lambda **given: PassiveAggressive(loss="squared_hinge", **given), {"C": [0.001, 0.01, 0.1]}
    ),
    "ALMA": Rule(ALMA, {"alpha": [0.5, 0.7, 1.0]}),
    "ROMMA": Rule(ROMMA, {"aggressive": [False]}),
    "second order": Rule(SecondOrderPerceptron, {"a": [0.1, 10.0, 100.0]}),
    "AROW": Rule(AROW, {"r": [0.01, 0.1, 10.0]}),
    "SCW-I": Rule(SCW, {"C": [0.01, 0.1], "confidence": [0.6, 0.75, 0.9]}),
    "SCW-II": Rule(
        lambda **given: SCW(variant="II", **given), {"C": [0.01, 0.1], "confidence": [0.6, 0.9]}
    ),
}


# Data


def texts(folder: Path, **options: Any) -> Data:
    """Words of a folder's train.csv and test.csv, hashed, each text of length 1."""
    train = read(folder / "train.csv", label="label", text=("text",), **options)
    test = read(folder / "test.csv", features=train.features())
    return Data(*read_matrix(train), *read_matrix(test))


def divided(X: Any, y: np.ndarray, test: float, most: int | None = None) -> Data:
    """Rows in a random order, of which a share is to test with."""
    order = np.random.default_rng(0).permutation(len(y))[:most]
    first, rest = np.split(order, [int(len(order) * (1 - test))])
    return Data(X[first], y[first], X[rest], y[rest])


def scaled(data: Data) -> Data:
    """Columns with mean 0 and variance 1 over the rows to learn from."""
    scale = StandardScaler().fit(data.X)
    return data._replace(X=scale.transform(data.X), X_test=scale.transform(data.X_test))


def some(data: Data, most: int) -> Data:
    """The first rows to learn from, of rows in a random order."""
    order = np.random.default_rng(0).permutation(len(data.y))[:most]
    return data._replace(X=data.X[order], y=data.y[order])


def digits(folder: Path) -> Data:
    """Pixels of MNIST from 0 to 1."""
    parts: list[Any] = []
    for name in ("train", "t10k"):
        for kind, skip in (("images-idx3", 16), ("labels-idx1", 8)):
            content = gzip.decompress((folder / f"{name}-{kind}-ubyte.gz").read_bytes())
            parts.append(np.frombuffer(content, np.uint8, offset=skip))
    X, y, X_test, y_test = parts
    X, X_test = (np.float32(one.reshape(-1, 784)) / 255 for one in (X, X_test))
    return Data(X, y.astype(int), X_test, y_test.astype(int))


def adult(folder: Path) -> Data:
    """The binary features of a9a; its test file lacks the last column."""
    (X, y), (X_test, y_test) = (plain(folder / name) for name in ("a9a", "a9a.t"))
    X_test = csr_array((X_test.data, X_test.indices, X_test.indptr), (len(y_test), X.shape[1]))
    return Data(X, y, X_test, y_test)


def plain(path: Path, **options: Any) -> tuple[Any, np.ndarray]:
    """A file as it is."""
    return read_matrix(read(path, **options))


SETS: dict[str, Callable[[Path], Data]] = {
    "a9a": lambda folder: adult(folder / "a9a"),
    "IMDB": lambda folder: texts(folder / "imdb"),
    "20 newsgroups": lambda folder: texts(folder / "20newsgroups", bits=18),
    "MNIST": lambda folder: some(digits(folder / "mnist"), 20_000),
    "covtype": lambda folder: scaled(
        divided(*plain(folder / "covtype/covtype.csv", label=-1), 1 / 3, 60_000)
    ),
    "spambase": lambda folder: scaled(
        divided(*plain(folder / "spambase/spambase.data", label=57, header=False), 1 / 3)
    ),
    "SMS spam": lambda folder: divided(
        *plain(
            folder / "sms_spam/SMSSpamCollection", format="tsv", header=False, label=0, text=(1,)
        ),
        1 / 3,
    ),
    "spam stream": lambda folder: Data(*plain(folder / "spam_stream/spam.libsvm")),
    "elec2": lambda folder: Data(*plain(folder / "elec2/elec.csv", label="target")),
}


# Runs


def chosen_by_progress(rule: Rule, data: Data) -> dict[str, Any]:
    """The candidate with the fewest errors on rows that it had not learnt, in one pass."""
    order = np.random.default_rng(0).permutation(len(data.y))
    X, y = data.X[order], data.y[order]
    candidates = [
        {"solution": solution, **candidate}
        for candidate in rule.candidates()
        for solution in SOLUTIONS
    ]
    errors = [progressive(rule.make(**candidate), X, y).error for candidate in candidates]
    return candidates[int(np.argmin(errors))]


def tested(rule: Rule, data: Data, passes: int, **parameters: Any) -> tuple[str, float]:
    """The mean error on the rows to test with, its spread over seeds, and the shortest time."""
    errors, seconds = [], []
    for seed in SEEDS:
        model = rule.make(max_iter=passes, random_state=seed, **parameters)
        start = time.perf_counter()
        model.fit(data.X, data.y)
        seconds.append(time.perf_counter() - start)
        errors.append(100 * (1 - model.score(data.X_test, data.y_test)))
    return f"{np.mean(errors):.2f} ±{np.std(errors):.2f}", min(seconds)


def of_rules(data: Data) -> list[tuple[str, ...]]:
    """A line for each rule: defaults and choice, one pass and five."""
    lines = []
    for name, rule in RULES.items():
        results = [
            tested(rule, data, passes, solution=solution)
            for passes in PASSES
            for solution in SOLUTIONS
        ]
        choice = chosen_by_progress(rule, data)
        better = [tested(rule, data, passes, **choice)[0] for passes in PASSES]
        cells = *(cell for cell, _ in results), *better, said(choice)
        lines.append((name, *cells, f"{results[1][1]:.3f} s"))
    return lines


def said(choice: dict[str, Any]) -> str:
    """A choice in a few letters."""
    first, *others = choice.values()
    names = list(choice)[1:]
    return ", ".join([first, *(f"{k}={v}" for k, v in zip(names, others, strict=True))])


def of_peers(data: Data) -> list[tuple[str, ...]]:
    """The same of others, as they are by default."""
    X, X_test = with_int32(data.X), with_int32(data.X_test)
    sgd = [SGDClassifier(max_iter=passes, tol=None, random_state=0) for passes in PASSES]
    peers = {
        "SGDClassifier": sgd,
        "LinearSVC": [LinearSVC(random_state=0)],
        "LogisticRegression": [LogisticRegression(max_iter=200)],
    }
    lines = []
    for name, models in peers.items():
        start = time.perf_counter()
        models[0].fit(X, data.y)
        seconds = time.perf_counter() - start
        errors = [100 * (1 - model.fit(X, data.y).score(X_test, data.y_test)) for model in models]
        once, last = (f"{errors[0]:.2f}" if len(errors) > 1 else ""), f"{errors[-1]:.2f}"
        lines.append((name, once, "", last, "", "", "", "", f"{seconds:.2f} s"))
    return lines


def with_int32(X: Any) -> Any:
    """Sparse rows with the indices that scikit-learn insists on."""
    if not issparse(X):
        return X
    return csr_matrix((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), X.shape)


def of_vw(data: Data) -> list[tuple[str, ...]]:
    """The same of Vowpal Wabbit, if it is installed: hinge loss, from a file."""
    if importlib.util.find_spec("vowpalwabbit") is None:
        return []
    classes, codes = np.unique(data.y, return_inverse=True)
    order = np.random.default_rng(0).permutation(len(codes))
    errors, seconds = [], []
    with tempfile.TemporaryDirectory() as folder:
        train, test, model, out = (Path(folder, name) for name in ("a.vw", "b.vw", "m", "p"))
        write_vw(train, data.X[order], codes[order], len(classes))
        write_vw(test, data.X_test, np.searchsorted(classes, data.y_test), len(classes))
        how = ["--oaa", str(len(classes))] if len(classes) > 2 else ["--loss_function", "hinge"]
        for passes in PASSES:
            again = ["-c", "-k", "--passes", str(passes), "--holdout_off"] if passes > 1 else []
            start = time.perf_counter()
            vw("-d", train, "-b", "22", *how, *again, "-f", model)
            seconds.append(time.perf_counter() - start)
            vw("-d", test, "-t", "-i", model, "-p", out)
            said = np.loadtxt(out)
            said = said - 1 if len(classes) > 2 else said > 0
            errors.append(f"{100 * np.mean(classes[said.astype(int)] != data.y_test):.2f}")
    once, five = errors
    return [("Vowpal Wabbit", once, "", five, "", "", "", "", f"{seconds[0]:.2f} s, with reading")]


def vw(*arguments: Any) -> None:
    subprocess.run(
        [sys.executable, "-m", "vowpalwabbit", "--quiet", *map(str, arguments)], check=True
    )


def write_vw(path: Path, X: Any, codes: np.ndarray, classes: int) -> None:
    """Rows as text; two classes are -1 and 1, more count from 1."""
    rows = csr_array(X)
    with path.open("w") as file:
        for i, code in enumerate(codes.tolist()):
            at = slice(rows.indptr[i], rows.indptr[i + 1])
            pairs = zip(rows.indices[at].tolist(), rows.data[at].tolist(), strict=True)
            label = code + 1 if classes > 2 else 2 * code - 1
            file.write(f"{label} | {' '.join(f'{j}:{x:.7g}' for j, x in pairs)}\n")


def of_stream(data: Data) -> list[tuple[str, ...]]:
    """A line for each rule on rows that come in time order: the progressive error in per cent."""
    lines = []
    for name, rule in RULES.items():
        errors: dict[str, tuple[float, float]] = {}
        for solution, candidate in product(SOLUTIONS, rule.candidates()):
            choice = {"solution": solution, **candidate}
            wrong = progressive(rule.make(**choice), data.X, data.y).wrong
            first = wrong[: len(wrong) // 10]
            errors[said(choice)] = 100 * first.mean(), 100 * wrong.mean()
        start = time.perf_counter()
        rule.make(max_iter=1, order="fixed").fit(data.X, data.y)
        seconds = time.perf_counter() - start
        best = min(errors, key=errors.__getitem__)  # by the first tenth of the rows
        cells = [f"{errors[one][1]:.2f}" for one in (*SOLUTIONS, best)]
        lines.append((name, *cells, best, f"{seconds:.3f} s"))
    return lines


def main() -> None:
    given = parser(__doc__)
    given.add_argument("--only", nargs="+", choices=SETS, default=list(SETS), help="sets to take")
    given.add_argument("--without-peers", action="store_true", help="our own rules only")
    chosen = given.parse_args()
    if not chosen.data.is_dir():
        print(f"Skipped: the folder {chosen.data} with the data sets is not there (see --data).")
        return
    for name in ["spambase", "elec2"] if chosen.quick else chosen.only:
        data = SETS[name](chosen.data)
        print(f"\n{name}: {data.X.shape[0]:,} rows, {data.X.shape[1]:,} columns, "
              f"{len(np.unique(data.y))} classes", flush=True)  # fmt: skip
        if data.y_test is None:
            head = "rule", *SOLUTIONS, "chosen", "choice", "time"
            table(head, *of_stream(data))
            continue
        columns = [f"{passes}, {solution}" for passes in PASSES for solution in SOLUTIONS]
        head = "rule", *columns, "1, chosen", "5, chosen", "choice", "time"
        lines = of_rules(data)
        if not (chosen.quick or chosen.without_peers):
            lines += of_peers(data) + of_vw(data)
        table(head, *lines)
    print(
        "\nTest error in per cent after 1 and 5 passes, mean ± standard deviation over five orders"
        " of the rows; defaults but for the solution. The choice is by progressive validation on"
        " the rows to learn from. In streams, the progressive error, and a choice by that of their"
        " first tenth. Time is one pass of fit, the shortest of five."
    )


if __name__ == "__main__":
    main()
