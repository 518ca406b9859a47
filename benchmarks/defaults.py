"""Which rule, n-grams, counts, weights, margins and bias steps serve most sets? By training rows.

python benchmarks/defaults.py --data FOLDER
"""

import time
import warnings
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import joblib
import numpy as np
from measure import parser, table
from scipy.sparse import csr_array
from sets import FILES, Set, choose_rows, read_table, read_texts, table_sets, text_sets
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import StratifiedShuffleSplit

from rosenblatt import (
    AROW,
    FTRL,
    NHERD,
    SCW,
    Features,
    PassiveAggressive,
    Perceptron,
    read,
    train,
)
from rosenblatt.data import metrics
from rosenblatt.reading.reader import read_matrix
from rosenblatt.training.plan import usual_bias_step

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
PARTS = ("by default", "tuned", "of trees")
TABLES = ("adult", "spambase", "a9a", "w8a", "letter", "elec2", "covtype")
TEXTS = ("sms_spam", "subjectivity", "20newsgroups", "imdb")


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
        texts, y = read_texts(folder, name)
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
        texts, y = read_texts(folder, name)
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
        X, y = read_table(folder, name, 2_000 if quick else 26_666)
        held = Held(X, y, 4 * len(y) // 5)
        steps = (0.0, 1 / mean_square(held.X[: held.n]), *SHARES)
        lines.append((name, *(held.error(share, 1 if quick else 3) for share in steps)))
    print()
    table(("table", "no bias", "step 1", *map(str, SHARES)), *lines)


# Rules


def candidates(mean_square: float) -> dict[str, Callable[[], Any]]:
    """Rules with their parameters, for rows of a mean squared length; ten epochs, averaged."""
    step = usual_bias_step(mean_square)
    usual: dict[str, Any] = {"intercept_step": step, "random_state": 0, "calibrate": True}
    usual |= {"solution": "average", "max_iter": 10}
    equal: dict[str, Any] = {"class_weight": "balanced"}

    def pa(share: float, loss: str = "hinge", **given: Any) -> Callable[[], Any]:
        settings: dict[str, Any] = {"C": share / mean_square, "loss": loss, **usual, **given}
        return lambda: PassiveAggressive(**settings)

    found: dict[str, Callable[[], Any]] = {
        "logistic regression": lambda: LogisticRegression(max_iter=1000),
        "perceptron": lambda: Perceptron(**usual),
    }
    for share in (0.1, 0.3, 1.0):
        margin = share * mean_square
        found[f"margin {share}"] = lambda margin=margin: Perceptron(margin=margin, **usual)
        found[f"margin {share}, balanced"] = lambda margin=margin: Perceptron(
            margin=margin, **usual, **equal
        )
    for share in (0.1, 0.3, 1.0, 3.0):
        found[f"PA-I {share}"] = pa(share)
        found[f"PA-II {share}"] = pa(share, "squared_hinge")
    found["PA-II 0.3, 5 epochs"] = pa(0.3, "squared_hinge", max_iter=5)
    found["PA-II 0.3, 20 epochs"] = pa(0.3, "squared_hinge", max_iter=20)
    found["PA-II 0.3, balanced"] = pa(0.3, "squared_hinge", **equal)
    for r in (1.0, 10.0):
        found[f"AROW {r}"] = lambda r=r: AROW(r=r, **usual)
        found[f"AROW {r}, last"] = lambda r=r: AROW(r=r, **{**usual, "solution": "last"})
    for C in (0.1, 1.0):
        found[f"SCW {C}"] = lambda C=C: SCW(C=C, **usual)
        found[f"NHERD {C}"] = lambda C=C: NHERD(C=C, **usual)
    found["FTRL 0.3, last"] = lambda: FTRL(alpha=0.3, **{**usual, "solution": "last"})
    return found


def judge(one: Set, name: str, seed: int) -> tuple[float, float, float]:
    """Error in per cent, log loss and ROC AUC on 30 % of the rows, which are held out."""
    rounds = StratifiedShuffleSplit(1, test_size=0.3, random_state=seed)
    learnt, held = next(rounds.split(np.zeros(len(one.y)), one.y))
    model = candidates(mean_square(one.X[learnt]))[name]()
    model.fit(one.X[learnt], one.y[learnt])
    chances, y = model.predict_proba(one.X[held]), one.y[held]
    if chances.shape[1] == 2:
        area = roc_auc_score(y, model.decision_function(one.X[held]))
    else:
        area = roc_auc_score(y, chances / chances.sum(1, keepdims=True), multi_class="ovr")
    wrong = 100 * np.mean(model.predict(one.X[held]) != y)
    return float(wrong), float(log_loss(y, chances)), float(area)


def prepare(folder: Path, kept: Path | None, quick: bool) -> list[Set]:
    """The rows of all sets; read from a file of an earlier run, or written to it."""
    if kept is not None and kept.exists():
        return list(joblib.load(kept))
    tables, texts = table_sets(folder), text_sets(folder)
    sets = [make() for make in ([tables[1], texts[1]] if quick else [*tables, *texts])]
    if kept is not None:
        joblib.dump([each.compact() for each in sets], kept, compress=3)
    return sets


def of_rules(every: list[Set], quick: bool) -> None:
    """A line for each rule: means over tables, and over texts."""
    names = list(candidates(1.0))[: 4 if quick else None]
    seeds = range(1 if quick else 3)
    work = sorted(product(names, range(len(every)), seeds), key=lambda job: -len(every[job[1]].y))
    judged = joblib.Parallel(n_jobs=1 if quick else -1, batch_size=1)(
        joblib.delayed(judge)(every[k], name, seed) for name, k, seed in work
    )
    found = dict(zip(work, judged, strict=True))
    for kind in ("table", "text"):
        own = [k for k, each in enumerate(every) if each.kind == kind]
        results = {
            name: np.array([[found[name, k, seed] for seed in seeds] for k in own]).mean(axis=1)
            for name in names
        }
        peer, lines = results[names[0]], []
        for name, each in sorted(results.items(), key=lambda pair: pair[1][:, 1].mean()):
            lower = int(np.sum(each[:, 2] < peer[:, 2] - 0.005))
            error, loss, area = each.mean(axis=0)
            lines.append((name, f"{error:.2f}", f"{loss:.4f}", f"{area:.4f}", str(lower)))
        print(f"\n{len(own)} sets of the kind {kind}")
        table(("rule", "error", "log loss", "ROC AUC", "AUC lower on"), *lines)


# Tuning


def read_lines(folder: Path, name: str) -> tuple[list[str], list[str], str]:
    """The first line, the training rows and the ending of a file; texts become a table."""
    if name not in FILES:
        texts, y = read_texts(folder, name)
        cells = [text.replace('"', '""') for text in texts]
        rows = [f'"{text}",{label}' for text, label in zip(cells, y, strict=True)]
        return ["text,label"], rows, ".csv"
    path, options = FILES[name]
    lines = [line for line in (folder / path).read_text("utf-8").splitlines() if line.strip()]
    head = [] if options.get("header") is False or not path.endswith("csv") else [lines.pop(0)]
    chosen = choose_rows(name, len(lines), len(lines))
    return head, [lines[k] for k in chosen], Path(path).suffix or ".svm"


def split_file(folder: Path, name: str, most: int, seed: int, to: Path) -> list[Path]:
    """Write the training rows of a file as two files: 70 % to learn from, 30 % held out."""
    head, lines, suffix = read_lines(folder, name)
    chosen = np.random.default_rng(seed).permutation(min(most, len(lines)))
    cut, made = 7 * len(chosen) // 10, []
    for part, some in (("learnt", chosen[:cut]), ("held", chosen[cut:])):
        made.append(to / f"{part}{suffix}")
        made[-1].write_text("\n".join([*head, *(lines[k] for k in some), ""]), "utf-8")
    return made


def figures(codes: np.ndarray, chances: np.ndarray) -> np.ndarray:
    """Error in per cent, log loss and ROC AUC."""
    ranks = chances if chances.shape[1] > 2 else chances[:, 1]
    wrong = 100 * metrics.error_rate(codes, chances.argmax(axis=1))
    return np.array([wrong, metrics.log_loss(codes, chances), metrics.roc_auc(codes, ranks)])


def judge_trees(learnt: Path, held: Path, options: dict[str, Any]) -> np.ndarray:
    """Figures of boosted trees on held-out rows of a table."""
    parts = [read_matrix(read(one, scale="none", **options)) for one in (learnt, held)]
    rows, (y, y_held) = [csr_array(X) for X, _ in parts], (y for _, y in parts)
    used = np.unique(np.concatenate([X.indices for X in rows]))
    for X in rows:  # a column may occur in one part only
        X.resize(X.shape[0], used[-1] + 1)
    X, X_held = (X[:, used].toarray() for X in rows)
    trees = HistGradientBoostingClassifier(random_state=0).fit(X, y)
    return figures(np.searchsorted(trees.classes_, y_held), trees.predict_proba(X_held))


def judge_tuning(folder: Path, name: str, most: int, seed: int) -> list[Any]:
    """Figures on held-out rows: of the default, of --tune, of boosted trees; and CPU seconds."""
    options, found, seconds = FILES.get(name, ("", {}))[1], [], []
    with TemporaryDirectory() as place:
        learnt, held = split_file(folder, name, most, seed, Path(place))
        for given in ({}, {"tune": True}):
            begun = time.process_time()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = train(learnt, calibrate=True, **options, **given)
            seconds.append(time.process_time() - begun)
            recipe = model[0].recipe_
            y = read_matrix(read(held, features=recipe, label=recipe["label"]))[1]
            codes = np.searchsorted(model.classes_, y)
            found.append(figures(codes, model.predict_proba(str(held))))
        tables = name in FILES
        found.append(judge_trees(learnt, held, options) if tables else np.full(3, np.nan))
    kept = model.file_facts_["facts"]["tuning"]["best"][0]
    chosen = {name: value for name, value in kept.items() if name not in ("value", "spread")}
    return [found, seconds, " ".join(f"{name}={value}" for name, value in chosen.items())]


def tell_tuning(name: str, runs: list[list[Any]]) -> tuple[str, ...]:
    """A line of means over the splits: figures, the share of the gap to trees closed, the time."""
    mean = np.mean([run[0] for run in runs], axis=0)
    seconds = np.mean([run[1] for run in runs], axis=0)
    gap = mean[0, 0] - mean[2, 0]
    closed = f"{(mean[0, 0] - mean[1, 0]) / gap:.0%}" if gap > 1 else ""
    shown = [f"{value:.2f}" for value in mean[:, 0]]
    shown += [f"{value:.4f}" for value in (*mean[:, 1], *mean[:, 2])]
    shown = ["–" if value == "nan" else value for value in shown]
    better = sum(run[0][1][0] <= run[0][0][0] for run in runs)
    return name, *shown, closed, f"{better} of {len(runs)}", f"{seconds[1] / seconds[0]:.0f}×"


def of_tuning(folder: Path, names: tuple[str, ...], most: int, seeds: int) -> None:
    """A line for each set: the default, --tune and boosted trees on rows held out."""
    work = list(product(names, range(seeds)))
    judged = joblib.Parallel(n_jobs=1 if seeds == 1 else -1, batch_size=1, verbose=10)(
        joblib.delayed(judge_tuning)(folder, name, most, seed) for name, seed in work
    )
    found = dict(zip(work, judged, strict=True))
    lines = []
    for kind in ("table", "text"):
        own = [name for name in names if (name in FILES) == (kind == "table")]
        runs = [[found[name, seed] for seed in range(seeds)] for name in own]
        lines += [tell_tuning(name, run) for name, run in zip(own, runs, strict=True)]
        if own:
            lines.append(tell_tuning(f"mean of {kind}s", [run for each in runs for run in each]))
    for (name, seed), run in found.items():
        print(f"{name}, split {seed}: {run[2]}")
    parts = [f"{what} {who}" for what in ("error", "log loss", "AUC") for who in PARTS]
    table(("set", *parts, "of the gap", "no worse in", "time"), *lines)


def main() -> None:
    given = parser(__doc__)
    parts = ("rules", "texts", "margins", "tables", "tune")
    given.add_argument("--only", choices=parts, help="one part")
    given.add_argument("--sets", type=Path, help="keep the rows of --only rules in this file")
    chosen = given.parse_args()
    if chosen.sets is not None and chosen.sets.exists():
        of_rules(prepare(chosen.data, chosen.sets, chosen.quick), chosen.quick)
        return
    if not chosen.data.is_dir():
        print(f"Skipped: the folder {chosen.data} with the data sets is not there (see --data).")
        return
    if chosen.only in (None, "rules"):
        of_rules(prepare(chosen.data, chosen.sets, chosen.quick), chosen.quick)
    if chosen.only in (None, "texts"):
        of_texts(chosen.data, TEXTS[:1] if chosen.quick else TEXTS, chosen.quick)
    if chosen.only in (None, "margins"):
        of_margins(chosen.data, TEXTS[:1] if chosen.quick else TEXTS, chosen.quick)
    if chosen.only in (None, "tune"):
        names = ("banknote", "pima") if chosen.quick else (*FILES, *TEXTS)
        of_tuning(chosen.data, names, 6_000, 1 if chosen.quick else 5)
    if chosen.only in (None, "tables"):
        names = ("spambase", "a9a") if chosen.quick else TABLES
        of_tables(chosen.data, names, chosen.quick)
        print(
            "\nError in per cent on rows held out of the training part; averaged, ten epochs. The"
            " last columns say what a mistake moves the bias by, as a share of the mean squared"
            " length of rows."
        )


if __name__ == "__main__":
    main()
