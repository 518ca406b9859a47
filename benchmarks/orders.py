"""Does a new permutation each epoch beat one permutation kept: 20 % fewer epochs, or even half?

python benchmarks/orders.py --data FOLDER --figure docs/orders.png

A seed decides the permutations and which quarter of the rows is held out; a made set is drawn
anew. All orders get the same rows, so each is compared with once seed by seed: over 100 seeds,
because 20 leave a ratio uncertain by up to a quarter. The other orders get the first 20.
"""

import argparse
import csv
import gzip
import importlib.util
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow.csv
import scipy.sparse as sp
from measure import options, table
from scipy.stats import t as student
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_svmlight_file
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import normalize, scale

from rosenblatt import Perceptron

csv.field_size_limit(sys.maxsize)

Rows = tuple[Any, np.ndarray]
ORDERS = ("sorted", "fixed", "once", "each")
PAIR = ("once", "each")
MOST_READS = 50_000_000


class Data(NamedTuple):
    """A question of two classes: where its rows come from, and what is known of them."""

    name: str
    kind: str
    separable: bool
    draw: Callable[[int], Rows]


class Run(NamedTuple):
    """What one order made of one seed's rows."""

    epochs: float = np.nan
    mistakes: float = np.nan
    capped: float = 0
    one_epoch: float = np.nan
    three_epochs: float = np.nan
    averaged: float = np.nan


# Made sets


def sphere(rows: int, d: int, margin: float, flipped: float, seed: int) -> Rows:
    """Unit rows off a random plane by a margin; some labels flipped."""
    rng = np.random.default_rng(seed)
    u = rng.standard_normal(d)
    u /= np.linalg.norm(u)
    n = rows + rows // 3  # a quarter will be held out
    X = rng.standard_normal((2 * n, d))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    X = X[np.abs(X @ u) >= margin][:n]
    return X, np.where((X @ u > 0) ^ (rng.random(len(X)) < flipped), 1, -1)


def words(rows: int, vocabulary: int, seed: int, per_row: int = 50) -> Rows:
    """Sparse unit rows of words as frequent as Zipf says, labelled by a random plane."""
    rng = np.random.default_rng(seed)
    n = rows + rows // 3
    share = 1 / np.arange(1, vocabulary + 1)
    columns = rng.choice(vocabulary, n * per_row, p=share / share.sum())
    starts = np.arange(0, n * per_row + 1, per_row)
    X = sp.csr_matrix((np.ones(n * per_row), columns, starts), shape=(n, vocabulary))
    X.sum_duplicates()
    normalize(X, copy=False)
    activation = X @ rng.standard_normal(vocabulary)
    return X, np.where(activation > np.median(activation), 1, -1)


def made(quick: bool) -> Iterator[Data]:
    for rows, d, margin, flipped in [
        (300, 50, 0.01, 0),
        (1_000, 20, 0.02, 0),
        (1_000, 20, 0.005, 0),
        (2_000, 100, 0.005, 0),
        (2_000, 1_000, 0.001, 0),
        (10_000, 5, 0.005, 0),
        (10_000, 20, 0.01, 0),
        (1_000, 20, 0, 0.1),
        (10_000, 100, 0, 0.1),
    ][: 3 if quick else None]:
        what = f"margin {margin:g}" if margin else f"{flipped:.0%} flipped"
        draw = partial(sphere, rows, d, margin, flipped)
        yield Data(f"sphere {rows}×{d}, {what}", "made", not flipped, draw)
    yield Data("Zipf words 2000×20000", "made", True, partial(words, 2_000, 20_000))


# Real sets


def two(X: Any, y: np.ndarray, first: Any, second: Any) -> Rows:
    """The rows of two classes."""
    chosen = np.isin(y, [first, second])
    return X[chosen], y[chosen]


def bundled() -> Iterator[tuple[str, bool, Rows]]:
    """What comes with scikit-learn."""
    yield "iris setosa/versicolor", True, two(*load_iris(return_X_y=True), 0, 1)
    yield "digits 8/9", True, two(*load_digits(return_X_y=True), 8, 9)
    X, y = load_breast_cancer(return_X_y=True)
    yield "breast cancer", True, (scale(X), y)


def numbers(file: Path, label: int = -1) -> Rows:
    """A table without a header: columns of mean 0 and deviation 1, and the label's column."""
    cells = np.loadtxt(file, dtype=str, delimiter=",")
    return scale(np.delete(cells, label, axis=1).astype(float)), cells[:, label]


def mnist(folder: Path) -> Rows:
    """The training images of MNIST, from 0 to 1."""
    pixels = gzip.decompress((folder / "train-images-idx3-ubyte.gz").read_bytes())
    labels = gzip.decompress((folder / "train-labels-idx1-ubyte.gz").read_bytes())
    X = np.frombuffer(pixels, np.uint8, offset=16).reshape(-1, 784)
    return X, np.frombuffer(labels, np.uint8, offset=8)


def covtype(file: Path, n: int = 20_000) -> Rows:
    """Class 2 against the rest, in a sample that keeps the file's order."""
    cells = pyarrow.csv.read_csv(file)
    chosen = np.random.default_rng(0).choice(len(cells), n, replace=False)
    columns = cells.take(np.sort(chosen)).columns
    sample = np.column_stack([column.to_numpy() for column in columns])
    return scale(sample[:, :-1]), sample[:, -1] == 2


def word_counts(texts: list[str], labels: list[Any]) -> Rows:
    """Counts of words, each row of norm 1."""
    return TfidfVectorizer(use_idf=False).fit_transform(texts), np.array(labels)


def sms(file: Path) -> Rows:
    lines = file.read_text("utf-8").splitlines()
    labels, texts = zip(*(line.split("\t", 1) for line in lines), strict=True)
    return word_counts(list(texts), list(labels))


def subjectivity(folder: Path) -> Rows:
    texts, labels = [], []
    for file in sorted(folder.glob("*.tok*")):
        lines = file.read_text("latin-1").split("\n")[:5_000]
        texts += lines
        labels += [file.name] * len(lines)
    return word_counts(texts, labels)


def newsgroups(file: Path, first: str, second: str) -> Rows:
    with file.open(newline="", encoding="utf-8") as opened:
        rows = [row for row in csv.DictReader(opened) if row["label"] in (first, second)]
    return word_counts([row["text"] for row in rows], [row["label"] for row in rows])


def from_folder(folder: Path, quick: bool) -> Iterator[tuple[str, bool, Rows]]:
    """What is read from files: name, whether separable, rows."""
    yield "sonar", True, numbers(folder / "uci/sonar.csv")
    yield "mushrooms", True, load_svmlight_file(folder / "mushrooms/mushrooms")
    yield "SMS spam", True, sms(folder / "sms_spam/SMSSpamCollection")
    yield "banknote", False, numbers(folder / "uci/banknote_authentication.csv")
    yield "pima", False, numbers(folder / "uci/pima-indians-diabetes.csv")
    if quick:
        return
    letters = numbers(folder / "letter/letter-recognition.data", label=0)
    yield "letters A/B", True, two(*letters, "A", "B")
    X, y = mnist(folder / "mnist")
    for pair in [(0, 1), (6, 7), (3, 5)]:
        digits, labels = two(X, y, *pair)
        yield f"MNIST {pair[0]}/{pair[1]}", pair != (3, 5), (digits / np.float32(255), labels)
    groups = "comp.sys.ibm.pc.hardware", "comp.sys.mac.hardware"
    yield "news pc/mac", True, newsgroups(folder / "20newsgroups/train.csv", *groups)
    yield "subjectivity", True, subjectivity(folder / "subjectivity")
    yield "spambase", False, numbers(folder / "spambase/spambase.data")
    yield "a9a", False, load_svmlight_file(folder / "a9a/a9a")
    yield "w8a", False, load_svmlight_file(folder / "w8a/w8a")
    yield "covtype 2/rest", False, covtype(folder / "covtype/covtype.csv")


def same(rows: Rows, seed: int) -> Rows:
    """Real rows, whatever the seed."""
    return rows


def real(folder: Path, quick: bool) -> Iterator[Data]:
    for name, separable, rows in bundled():
        yield Data(name, "real", separable, partial(same, rows))
    if not folder.is_dir():
        print(
            f"The folder {folder} is not there (see --data): "
            "only the made sets and those that come with scikit-learn.\n"
        )
        return
    for name, separable, rows in from_folder(folder, quick):
        yield Data(name, "real", separable, partial(same, rows))


# Runs


def error(lesson: Rows, unseen: Rows, **parameters: Any) -> float:
    """The share of held-out rows that are misclassified, in per cent."""
    return 100 - 100 * Perceptron(**parameters).fit(*lesson).score(*unseen)


def runs(data: Data, seed: int, orders: tuple[str, ...]) -> dict[str, Run]:
    """Some orders on one seed's rows; the held-out quarter is the same for all."""
    X, y = data.draw(seed)
    places = np.random.default_rng([seed, 1]).permutation(len(y))  # not the bits that made X
    train, test = np.sort(places[len(y) // 4 :]), places[: len(y) // 4]
    as_given, unseen = (X[train], y[train]), (X[test], y[test])
    results = {}
    for order in orders:
        lesson, chosen = as_given, {"order": order, "random_state": seed}
        if order == "sorted":
            by_label = train[np.argsort(y[train], kind="stable")]
            lesson, chosen = (X[by_label], y[by_label]), {"order": "fixed"}
        run = Run()
        if data.separable:
            model = Perceptron(max_iter=MOST_READS // len(train), **chosen).fit(*lesson)
            reads = sum(epoch.rows for epoch in model.history_) / len(train)
            run = Run(reads, model.n_mistakes_, model.stop_reason_ != "separated")
        if order != "active":
            run = run._replace(
                one_epoch=error(lesson, unseen, max_iter=1, **chosen),
                three_epochs=error(lesson, unseen, max_iter=3, **chosen),
                averaged=error(lesson, unseen, max_iter=3, solution="average", **chosen),
            )
        results[order] = run
    return results


class Study(NamedTuple):
    """All runs of one data set: for each order one array per quantity."""

    data: Data
    shape: tuple[int, int]
    orders: dict[str, Run]


def make_report(data: Data, few: int, many: int) -> Study:
    """The pair gets many seeds, all orders get the first few of them."""
    everything = (*ORDERS, "active")
    by_seed = [runs(data, seed, everything if seed < few else PAIR) for seed in range(many)]
    orders = {
        order: Run(*np.array([run[order] for run in by_seed if order in run]).T)
        for order in everything
    }
    return Study(data, data.draw(0)[0].shape, orders)


# Statistics


class Interval(NamedTuple):
    """A ratio and where it lies with 95 % confidence."""

    ratio: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.ratio:.2f} ({self.low:.2f}–{self.high:.2f})"


def ratio_of_means(each: np.ndarray, once: np.ndarray, draws: int = 10_000) -> Interval:
    """Each over once, with an interval from seeds drawn again (pairs stay together)."""
    chosen = np.random.default_rng(0).integers(0, len(each), (draws, len(each)))
    ratios = each[chosen].mean(axis=1) / once[chosen].mean(axis=1)
    return Interval(each.mean() / once.mean(), *np.quantile(ratios, [0.025, 0.975]))


def over_sets(ratios: list[float]) -> Interval:
    """The geometric mean over data sets, with the interval that their spread allows."""
    mean, error = mean_and_error(np.log(ratios))
    reach = student.ppf(0.975, len(ratios) - 1) * error
    return Interval(*np.exp([mean, mean - reach, mean + reach]))


def mean_and_error(values: Any) -> tuple[float, float]:
    """The mean and its standard error."""
    return float(np.mean(values)), float(np.std(values, ddof=1) / np.sqrt(len(values)))


def kinds(studies: list[Study]) -> Iterator[tuple[str, list[Study]]]:
    """The real sets, the made sets, all sets."""
    for kind in ("real", "made"):
        yield f"{kind} sets", [study for study in studies if study.data.kind == kind]
    yield "all sets", studies


# Answers


def to_separation(studies: list[Study], quantity: str) -> dict[str, Interval]:
    """Print the table of epochs or of mistakes; return the ratios each/once by name."""
    rows = [("data", "rows", "columns", *ORDERS, "active", "each/once")]
    intervals = {}

    def value(study: Study, order: str) -> np.ndarray:
        return getattr(study.orders[order], quantity)

    for study in studies:
        name = study.data.name
        intervals[name] = ratio_of_means(value(study, "each"), value(study, "once"))
        means = [
            f"{'>' if study.orders[order].capped.any() else ''}{value(study, order).mean():.1f}"
            for order in (*ORDERS, "active")
        ]
        n, d = study.shape
        rows.append((name, str(n - n // 4), str(d), *means, str(intervals[name])))
    for name, part in kinds(studies):
        intervals[name] = over_sets([intervals[study.data.name].ratio for study in part])
        rows.append((name, *[""] * 7, str(intervals[name])))
    table(*rows)
    print(verdict([intervals[study.data.name] for study in studies]))
    return intervals


def verdict(intervals: list[Interval]) -> str:
    """On how many sets the intervals agree with what is claimed."""
    where = []
    for claim in (1, 0.8, 0.5):
        below = sum(interval.high < claim for interval in intervals)
        above = sum(interval.low > claim for interval in intervals)
        where.append(f"{claim:g}: {below}, {len(intervals) - below - above}, {above}")
    return f"Sets whose interval lies below, holds, lies above {'; '.join(where)}."


def on_unseen_rows(studies: list[Study], quantity: str) -> None:
    """Print the table of held-out errors, in per cent."""
    rows = [("data", *ORDERS, "each - once")]
    changes = {}
    for study in studies:
        values = [getattr(study.orders[order], quantity) for order in ORDERS]
        change, error = mean_and_error(values[-1] - values[-2])
        changes[study.data.name] = change
        means = [f"{value.mean():.2f}" for value in values]
        rows.append((study.data.name, *means, f"{change:+.2f} ± {error:.2f}"))
    for name, part in kinds(studies):
        change, error = mean_and_error([changes[study.data.name] for study in part])
        rows.append((name, *[""] * 4, f"{change:+.2f} ± {error:.2f}"))
    table(*rows)


def capped(studies: list[Study]) -> str:
    """How many runs were stopped before they separated the rows."""
    counts = []
    for order in (*ORDERS, "active"):
        stopped = np.concatenate([study.orders[order].capped for study in studies])
        counts.append(f"{order} {stopped.sum():.0f} of {len(stopped)}")
    return (
        f"Runs stopped unseparated after reading {MOST_READS:,} rows: {', '.join(counts)}. "
        "Means that include such a run are marked >."
    )


def draw_figure(
    studies: list[Study], panels: dict[str, dict[str, Interval]], seeds: int, path: Path
) -> None:
    """Each set's ratio each/once with its interval, beside what the textbook says."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    colours = {"real": "#0072B2", "made": "#D55E00"}
    (first, *_) = panels.values()
    lines: list[tuple[str, str]] = []
    for kind in colours:
        names = [study.data.name for study in studies if study.data.kind == kind]
        lines += [(name, kind) for name in sorted(names, key=lambda name: first[name].ratio)]
        lines += [(f"{kind} sets", kind), ("", "")]
    lines.append(("all sets", ""))
    figure, axes = pyplot.subplots(
        1, len(panels), sharey=True, figsize=(9, 1.2 + 0.26 * len(lines)), layout="constrained"
    )
    for axis, (title, intervals) in zip(np.atleast_1d(axes), panels.items(), strict=True):
        for at, style, text in [(1, "-", "same"), (0.8, "--", "20 % fewer"), (0.5, ":", "half")]:
            axis.axvline(at, color="0.45", linestyle=style, linewidth=1, zorder=0)
            axis.annotate(
                text, (at, 1), (0, 3), xycoords=("data", "axes fraction"),
                textcoords="offset points", ha="center", fontsize=8, color="0.3",
            )  # fmt: skip
        for place, (name, kind) in enumerate(lines):
            if name:
                ratio, low, high = intervals[name]
                colour, whole = colours.get(kind, "black"), name.endswith(" sets")
                axis.plot([low, high], [place, place], color=colour, linewidth=2 if whole else 1.2)
                axis.plot(ratio, place, "D" if whole else "o", color=colour, ms=7 if whole else 5)
        axis.set_xscale("log")
        axis.set_xlim(0.42, 1.6)
        axis.set_xticks([0.5, 0.65, 0.8, 1, 1.25, 1.5], ["0.5", "0.65", "0.8", "1", "1.25", "1.5"])
        axis.xaxis.set_minor_locator(matplotlib.ticker.NullLocator())
        axis.set_title(title, fontsize=10, pad=18)
        axis.tick_params(axis="y", length=0)
        axis.spines[["top", "right", "left"]].set_visible(False)
    axis.set_yticks(range(len(lines)), [name for name, _ in lines], fontsize=9)
    axis.invert_yaxis()
    for label, (name, kind) in zip(axes[0].get_yticklabels(), lines, strict=True):
        label.set_color(colours.get(kind, "black"))
        label.set_fontweight("bold" if name.endswith(" sets") else "normal")
    figure.supxlabel(
        f"a new permutation each epoch / one kept, means of {seeds} seeds, 95 % intervals",
        fontsize=9,
    )
    figure.savefig(path, dpi=110)


def figure_option() -> Path | None:
    """Take --figure PATH off the command line."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--figure", type=Path)
    own, sys.argv[1:] = parser.parse_known_args()
    if own.figure and importlib.util.find_spec("matplotlib") is None:
        sys.exit("--figure needs matplotlib: pip install 'rosenblatt[plots]'.")
    return own.figure


def main() -> None:
    figure = figure_option()
    chosen = options(__doc__)
    few, many = (2, 5) if chosen.quick else (20, 100)
    studies = []
    for source in (real(chosen.data, chosen.quick), made(chosen.quick)):
        for data in source:
            start = time.perf_counter()
            studies.append(make_report(data, few, many))
            print(data.name, f"{time.perf_counter() - start:.1f} s", file=sys.stderr)
    separable = [study for study in studies if study.data.separable]

    print(f"Means of {many} seeds for once and each, of {few} for the others.\n")
    print("Epochs until separated (for active: reads of the data)")
    epochs = to_separation(separable, "epochs")
    print("\nMistakes until separated")
    mistakes = to_separation(separable, "mistakes")
    print(f"\n{capped(separable)}")
    print("\nError on held-out rows after one epoch, % (there each and once are alike: a control)")
    on_unseen_rows(studies, "one_epoch")
    print("\nError on held-out rows after three epochs, %")
    on_unseen_rows(studies, "three_epochs")
    print("\nThe same with averaged weights, %")
    on_unseen_rows(studies, "averaged")
    if figure:
        panels = {"epochs until separated": epochs, "mistakes until separated": mistakes}
        draw_figure(separable, panels, many, figure)


if __name__ == "__main__":
    main()
