"""How do raw data fare, by default and with --tune, next to what others write?

python benchmarks/raw.py --data FOLDER [--sets churn coffee ...] [--splits 5] [--jobs 16] [--write]

Error, log loss, ROC AUC and CPU seconds of a method in its own process: of all its threads,
from the raw rows in memory to predictions for 30 % of the training rows, which are held out. Test
rows are never read. LightGBM is compared with where it is installed.
"""

import csv
import importlib.util
import multiprocessing
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas
from measure import parser, print_columns, table
from scipy.sparse import csr_array
from sklearn import datasets
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV, SGDClassifier
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, SplineTransformer, StandardScaler
from sklearn.svm import LinearSVC

from rosenblatt import train
from rosenblatt.training.report import Listener

csv.field_size_limit(sys.maxsize)
FILES: dict[str, tuple[str, dict[str, Any]]] = {
    "adult": ("adult/adult.data", {"header": None}),
    "oil": ("oil/train.csv", {"header": None}),
    "shoppers": ("shoppers/train.csv", {"label": "Revenue"}),
    "churn": ("churn/train.csv", {"label": "churn", "drop": ["rownames"]}),
    "coffee": (
        "coffee/train.csv",
        {"label": "prefer_overall", "drop": ["submission_id", "prefer_abc", "prefer_ad"]},
    ),
    "names": ("names/train.csv", {"label": "gender"}),
    "a9a": ("a9a/a9a", {}),
    "w8a": ("w8a/w8a", {}),
    "mushrooms": ("mushrooms/mushrooms", {}),
    "spambase": ("spambase/spambase.data", {"header": None}),
    "elec2": ("elec2/elec.csv", {"label": "target"}),
    "covtype": ("covtype/covtype.csv", {}),
    "letter": ("letter/letter-recognition.data", {"label": 0, "header": None}),
    "sonar": ("uci/sonar.csv", {"header": None}),
    "ionosphere": ("uci/ionosphere.csv", {"header": None}),
    "banknote": ("uci/banknote_authentication.csv", {"header": None}),
    "pima": ("uci/pima-indians-diabetes.csv", {"header": None}),
    "wisconsin": ("uci/breast-cancer-wisconsin.data", {"header": None}),
}
WITH_TEST = "adult", "oil", "shoppers", "churn", "coffee", "names", "a9a"  # rows in other files
OWN = "breast_cancer", "digits", "wine"
TEXTS = "sms_spam", "subjectivity", "imdb", "20newsgroups"
FIGURES = "error in %", "spread", "log loss", "spread of loss", "ROC AUC", "spread of AUC"
HEADS = "set", "method", *FIGURES, "CPU s"
LINEAR = "logistic", "logistic CV", "splines", "LinearSVC", "SGD"  # peers, without trees


class RawSet(NamedTuple):
    """Rows before any encoding: a data frame, a CSR matrix ("sparse") or a list of texts."""

    kind: str
    X: Any
    y: np.ndarray

    def take(self, rows: np.ndarray) -> "RawSet":
        """Some of the rows."""
        if self.kind == "text":
            return self._replace(X=[self.X[k] for k in rows], y=self.y[rows])
        X = self.X.iloc[rows].reset_index(drop=True) if self.kind == "table" else self.X[rows]
        if self.kind == "sparse":  # SciPy widens indices, and scikit-learn writes narrow ones only
            X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
        return self._replace(X=X, y=self.y[rows])


def choose_rows(name: str, count: int, most: int) -> np.ndarray:
    """The training rows of a file in a random order: two thirds, where no others test."""
    order = np.random.default_rng(0).permutation(16_000 if name == "letter" else count)
    whole = (*WITH_TEST, *OWN, "imdb", "20newsgroups")
    return order[: len(order) if name in whole else 2 * len(order) // 3][:most]


def read_raw(folder: Path, name: str, most: int) -> RawSet:
    """The raw training rows of a set in a random order, at most ``most``."""
    if name in TEXTS:
        texts, y = read_texts(folder, name)
        rows = choose_rows(name, len(y), most)
        return RawSet("text", texts, np.array(y)).take(rows)
    if name in OWN:
        found = getattr(datasets, f"load_{name}")(as_frame=True)
        return RawSet("table", found.data, found.target_names.astype(str)[found.target])
    path, options = FILES[name]
    if Path(path).suffix == "":
        X, y = datasets.load_svmlight_file(str(folder / path))
        return RawSet("sparse", csr_array(X), y.astype(int)).take(choose_rows(name, len(y), most))
    how = {"skipinitialspace": True, "na_values": "?", "low_memory": False}
    frame = pandas.read_csv(folder / path, header=options.get("header", 0), **how)
    frame.columns = [str(column) for column in frame.columns]
    frame = frame.drop(columns=options.get("drop", []))
    label = options.get("label", len(frame.columns) - 1)
    label = frame.columns[label] if isinstance(label, int) else label
    frame = frame[frame[label].notna()]
    y = frame[label].to_numpy().astype(str)
    return RawSet("table", frame.drop(columns=label), y).take(choose_rows(name, len(y), most))


def read_texts(folder: Path, name: str) -> tuple[list[str], list[str]]:
    """The texts of a set and their labels."""
    if name in ("imdb", "20newsgroups"):
        with (folder / name / "train.csv").open(newline="", encoding="utf-8") as file:
            pairs = [(row["text"], row["label"]) for row in csv.DictReader(file)]
    elif name == "sms_spam":
        lines = (folder / "sms_spam/SMSSpamCollection").read_text("utf-8").splitlines()
        pairs = [(text, label) for label, _, text in (line.partition("\t") for line in lines)]
    else:
        files = sorted((folder / "subjectivity").glob("*tok*"))
        own = [(file.name.partition(".")[0], file.read_text("latin-1")) for file in files]
        pairs = [(line, label) for label, text in own for line in text.splitlines()]
    texts, y = zip(*pairs, strict=True)
    return list(texts), list(y)


# Methods: from raw rows to classes, and probabilities or scores for held-out rows


def ours(learnt: RawSet, held: RawSet, **options: Any) -> Any:
    """``train`` with probabilities."""
    options |= {"calibrate": True, "listener": Listener()}
    if learnt.kind == "sparse":
        with tempfile.TemporaryDirectory() as folder:
            paths = [f"{folder}/learnt", f"{folder}/held"]
            for path, one in zip(paths, (learnt, held), strict=True):
                datasets.dump_svmlight_file(one.X, one.y, path, zero_based=False)
            model = train(paths[0], format="svmlight", **options)
            return model.classes_, model.predict(paths[1]), model.predict_proba(paths[1])
    if learnt.kind == "text":
        rows = [{"text": t, "label": k} for t, k in zip(learnt.X, learnt.y.tolist(), strict=True)]
        model = train(rows, text="text", label="label", **options)
        new: Any = [{"text": text} for text in held.X]
    else:
        model, new = train(learnt.X.assign(label_=learnt.y), label="label_", **options), held.X
    return model.classes_, model.predict(new), model.predict_proba(new)


def encode(learnt: RawSet, held: RawSet, splines: bool) -> tuple[Any, Any]:
    """What a scikit-learn user writes: impute, scale, one-hot, or tf-idf of long strings."""
    if learnt.kind == "sparse":
        return learnt.X, held.X
    if learnt.kind == "text":
        made: Any = TfidfVectorizer(ngram_range=(1, 2))
        return made.fit_transform(learnt.X), made.transform(held.X)
    numbers = list(learnt.X.select_dtypes("number").columns)
    words = [name for name in learnt.X.columns if name not in numbers]
    long = [name for name in words if learnt.X[name].nunique() > len(learnt.y) / 2]
    short = [name for name in words if name not in long]
    curves = [SplineTransformer()] if splines else []
    frequent = SimpleImputer(strategy="most_frequent")
    made = make_column_transformer(
        (make_pipeline(SimpleImputer(), StandardScaler(), *curves), numbers),
        (make_pipeline(frequent, OneHotEncoder(handle_unknown="ignore")), short),
        *((TfidfVectorizer(analyzer="char_wb", ngram_range=(1, 4)), name) for name in long),
    )
    X, X_held = (one.X.assign(**one.X[words].astype(object).fillna("")) for one in (learnt, held))
    return made.fit_transform(X), made.transform(X_held)


def peer(model: Any, learnt: RawSet, held: RawSet, splines: bool = False) -> Any:
    """A method of scikit-learn after the encoding."""
    X, X_held = encode(learnt, held, splines)
    model.fit(X, learnt.y)
    probable = hasattr(model, "predict_proba")
    scores = model.predict_proba(X_held) if probable else model.decision_function(X_held)
    return model.classes_, model.predict(X_held), scores


def boosted(learnt: RawSet, held: RawSet) -> Any:
    """LightGBM, to show what is lost by being linear; not for texts, where it takes minutes."""
    from lightgbm import LGBMClassifier

    if learnt.kind == "text":
        return None
    X, X_held = learnt.X, held.X
    if learnt.kind == "table":
        words = list(X.select_dtypes(exclude="number").columns)
        coder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
        made = make_column_transformer((coder, words), remainder="passthrough")
        X, X_held = (
            made.fit_transform(X.astype(dict.fromkeys(words, str))),
            made.transform(X_held.astype(dict.fromkeys(words, str))),
        )
    model = LGBMClassifier(verbose=-1, random_state=0, n_jobs=1).fit(X, learnt.y)
    return model.classes_, model.predict(X_held), model.predict_proba(X_held)


def list_methods() -> dict[str, Callable[[RawSet, RawSet], Any]]:
    """Ours, and those that are installed."""
    logistic = LogisticRegression(max_iter=1000)
    cv = LogisticRegressionCV(Cs=8, cv=3, scoring="neg_log_loss", max_iter=1000)
    sgd = SGDClassifier(loss="log_loss", average=True, max_iter=10, tol=None, random_state=0)
    found: dict[str, Callable[[RawSet, RawSet], Any]] = {
        "fixed": partial(ours, tune=False),
        "default": ours,
        "tune": partial(ours, tune=True),
        "logistic": partial(peer, logistic),
        "logistic CV": partial(peer, cv),
        "splines": partial(peer, logistic, splines=True),
        "LinearSVC": partial(peer, LinearSVC()),
        "SGD": partial(peer, sgd),
    }
    if importlib.util.find_spec("lightgbm") is not None:
        found["LightGBM"] = boosted
    return found


class Case(NamedTuple):
    """One method on one split of the rows of a set."""

    folder: Path
    name: str
    most: int
    split: int
    method: str


def judge(case: Case) -> list[float] | None:
    """The figures of a method, NaN for a log loss without probabilities; None: not for this set."""
    warnings.simplefilter("ignore")
    one = read_raw(case.folder, case.name, case.most)
    rounds = StratifiedShuffleSplit(case.split + 1, test_size=0.3, random_state=0)
    learnt, held = map(one.take, list(rounds.split(np.zeros(len(one.y)), one.y))[-1])
    start = time.process_time()
    answer = list_methods()[case.method](learnt, held)
    if answer is None:
        return None
    seconds = time.process_time() - start
    classes, labels, scores = (np.asarray(each) for each in answer)
    loss, y = float("nan"), held.y
    if case.method != "LinearSVC":
        scores = scores / scores.sum(axis=1, keepdims=True)
        loss = float(log_loss(y, scores, labels=classes))
    if len(classes) == 2:
        area = roc_auc_score(y == classes[1], scores.reshape(len(y), -1)[:, -1])
    else:
        there = [k for k, label in enumerate(classes) if (y == label).any()]
        area = np.mean([roc_auc_score(y == classes[k], scores[:, k]) for k in there])
    return [100 * float(np.mean(labels != y)), loss, float(area), seconds]


def format_figures(figures: np.ndarray) -> list[str]:
    """Means over splits with their standard deviations, and the mean CPU seconds."""
    cells = []
    for k, digits in enumerate((2, 4, 4)):
        cells += [f"{each:.{digits}f}" for each in (figures[:, k].mean(), figures[:, k].std())]
    return [*cells, *(f"{each:.2f}" for each in figures[:, 3:].mean(axis=0))]


def find_gaps(found: dict[str, np.ndarray], method: str) -> np.ndarray:
    """How much worse a method is than the linear peer with the best mean, on each split.

    The best peer is chosen for each figure, and on the held-out rows, which favours the peers.
    """
    gaps = []
    for k, sign in enumerate((1, 1, -1)):
        own = sign * found[method][:, k]
        peers = [sign * found[name][:, k] for name in LINEAR if name in found]
        gaps.append(own - min(peers, key=lambda each: np.nan_to_num(each.mean(), nan=np.inf)))
    return np.column_stack(gaps)


def print_summary(sets: dict[str, dict[str, np.ndarray]]) -> None:
    """Print the gaps to the best linear peers, and how often a method is ahead of LightGBM."""
    methods = [name for name in ("fixed", "default", "tune") if name in next(iter(sets.values()))]
    rows = [("behind the best linear peer", *FIGURES)]
    for method in methods:
        gaps = np.mean([find_gaps(found, method) for found in sets.values()], axis=0)
        rows.append((method, *format_figures(gaps)))
    print(f"\nMeans over all {len(sets)} sets and their spread over splits")
    table(*rows)
    for method in methods:
        both = [(one[method], one["LightGBM"]) for one in sets.values() if "LightGBM" in one]
        for k, what in enumerate(("error", "log loss")):
            ahead = sum(own[:, k].mean() <= other[:, k].mean() for own, other in both)
            print(f"{method}: {what} at most LightGBM's on {ahead} of {len(both)} sets")


def main() -> None:
    given = parser(__doc__)
    given.add_argument("--rows", type=int, default=10_000, help="most rows of a set")
    given.add_argument("--splits", type=int, default=5, help="how often rows are divided")
    given.add_argument("--jobs", type=int, default=1, help="processes at a time")
    given.add_argument("--sets", nargs="+", choices=(*FILES, *OWN, *TEXTS), help="some sets")
    given.add_argument("--methods", nargs="+", choices=list_methods(), help="some methods")
    chosen = given.parse_args()
    if not chosen.data.is_dir():
        print(f"Skipped: the folder {chosen.data} with the data sets is not there (see --data).")
        return
    names = chosen.sets or (("oil", "wine") if chosen.quick else (*FILES, *OWN, *TEXTS))
    methods, splits = chosen.methods or list(list_methods()), 1 if chosen.quick else chosen.splits
    most = 500 if chosen.quick else chosen.rows
    every = product(names, methods, range(splits))
    cases = [Case(chosen.data, name, most, split, method) for name, method, split in every]
    for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):  # waiting costs CPU seconds
        os.environ[threads] = "1"
    rows, sets = [HEADS], dict[str, dict[str, np.ndarray]]()
    spawn = multiprocessing.get_context("spawn")
    with spawn.Pool(chosen.jobs, maxtasksperchild=1) as pool:
        answers = pool.imap(judge, cases, chunksize=1)
        for name in names:
            each = [[next(answers) for _ in range(splits)] for _ in methods]
            found = dict(zip(methods, each, strict=True))
            figures = {method: np.array(one) for method, one in found.items() if None not in one}
            rows += [(name, method, *format_figures(one)) for method, one in figures.items()]
            print(f"\n{name}: {splits} splits")
            print_columns(HEADS, *rows[-len(figures) :])
            sys.stdout.flush()
            sets[name] = figures
    complete = [each for each in sets.values() if len(each) == len(methods)]
    for method in methods if complete else ():
        means = np.mean([one[method] for one in complete], axis=0)
        rows.append(("mean", method, *format_figures(means)))
    print(f"\nAll sets, and means over the {len(complete)} with figures of all methods")
    table(*rows)
    if set(methods) & set(LINEAR):
        print_summary(sets)


if __name__ == "__main__":
    main()
