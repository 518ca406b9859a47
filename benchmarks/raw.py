"""How do raw data fare by default, next to what others write? Error, log loss, AUC, CPU seconds.

python benchmarks/raw.py --data FOLDER

The sets are those of sets.py: training rows only, of which 30 % are held out to compare with.
Vowpal Wabbit and LightGBM are compared with where they are installed.
"""

import importlib.util
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from measure import parser, table
from sets import RAW, RawSet, read_raw
from sklearn.compose import make_column_transformer
from sklearn.datasets import dump_svmlight_file
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.svm import LinearSVC

from rosenblatt import train
from rosenblatt.training.report import Listener

VW = [sys.executable, "-m", "vowpalwabbit", "--quiet", "-b", "20"]
SHOWN: dict[str, Callable[["Result"], str]] = {
    "error in %": lambda one: f"{100 * one.error:.2f}",
    "log loss": lambda one: "–" if one.loss is None else f"{one.loss:.4f}",
    "ROC AUC": lambda one: f"{one.area:.4f}",
    "CPU seconds": lambda one: f"{one.seconds:.2f}",
}


class Answer(NamedTuple):
    """Predicted labels, and probabilities, or scores without them; a column per sorted class."""

    labels: np.ndarray
    scores: np.ndarray
    probable: bool = True


class Result(NamedTuple):
    """The figures of one method on one set."""

    error: float
    loss: float | None
    area: float
    seconds: float


def judge(answer: Answer, y: np.ndarray, seconds: float) -> Result:
    """Compute the figures of an answer to held-out rows."""
    classes = np.unique(y)
    loss = None
    if answer.probable:
        sums = answer.scores.sum(axis=1, keepdims=True)
        loss = float(log_loss(y, answer.scores / sums, labels=classes))
    if len(classes) == 2:
        area = roc_auc_score(y == classes[1], answer.scores[:, -1])
    else:
        area = roc_auc_score(y[:, None] == classes, answer.scores)
    return Result(float(np.mean(answer.labels != y)), loss, float(area), seconds)


def used() -> float:
    """Processor seconds of this process and of the programs that it ran."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


# Methods: each goes from raw rows to an answer


def ours(learnt: RawSet, held: RawSet) -> Answer:
    """``train`` by default, with probabilities."""
    options: dict[str, Any] = {"calibrate": True, "listener": Listener()}
    if learnt.kind == "sparse":
        with tempfile.TemporaryDirectory() as folder:
            paths = [f"{folder}/learnt", f"{folder}/held"]
            for path, one in zip(paths, (learnt, held), strict=True):
                dump_svmlight_file(one.X, one.y, path, zero_based=False)
            model = train(paths[0], format="svmlight", **options)
            return answer_with(model, paths[1])
    if learnt.kind == "text":
        rows = [{"text": t, "label": k} for t, k in zip(learnt.X, learnt.y.tolist(), strict=True)]
        model = train(rows, text="text", label="label", **options)
        return answer_with(model, [{"text": text} for text in held.X])
    model = train(learnt.X.assign(label_=learnt.y), label="label_", **options)
    return answer_with(model, held.X)


def answer_with(model: Any, X: Any) -> Answer:
    """The answer of a classifier; scores where it has no probabilities."""
    if hasattr(model, "predict_proba"):
        chances = np.asarray(model.predict_proba(X))
        return Answer(np.asarray(model.predict(X)), chances)
    scores = np.asarray(model.decision_function(X))
    return Answer(model.predict(X), scores.reshape(len(scores), -1), probable=False)


def encode(learnt: RawSet, held: RawSet) -> tuple[Any, Any]:
    """What a scikit-learn user writes: impute, scale, one-hot, or tf-idf."""
    if learnt.kind == "sparse":
        return learnt.X, held.X
    if learnt.kind == "text":
        made: Any = TfidfVectorizer(ngram_range=(1, 2))
    else:
        numbers = list(learnt.X.select_dtypes("number").columns)
        words = [name for name in learnt.X.columns if name not in numbers]
        frequent = SimpleImputer(strategy="most_frequent")
        made = make_column_transformer(
            (make_pipeline(SimpleImputer(), StandardScaler()), numbers),
            (make_pipeline(frequent, OneHotEncoder(handle_unknown="ignore")), words),
        )
    return made.fit_transform(learnt.X), made.transform(held.X)


def peer(make: Callable[[], Any]) -> Callable[[RawSet, RawSet], Answer]:
    """A method of scikit-learn after the encoding."""

    def run(learnt: RawSet, held: RawSet) -> Answer:
        X, X_held = encode(learnt, held)
        return answer_with(make().fit(X, learnt.y), X_held)

    return run


def boosted(learnt: RawSet, held: RawSet) -> Answer | None:
    """LightGBM, to show what is lost by being linear; not for texts, where it takes minutes."""
    from lightgbm import LGBMClassifier

    if learnt.kind == "text":
        return None
    X, X_held = learnt.X, held.X
    if learnt.kind == "table":
        words = list(X.select_dtypes(exclude="number").columns)
        coder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
        made = make_column_transformer((coder, words), remainder="passthrough")
        X, X_held = made.fit_transform(X), made.transform(X_held)
    model = LGBMClassifier(verbose=-1, random_state=0).fit(X, learnt.y)
    return answer_with(model, X_held)


def vowpal(learnt: RawSet, held: RawSet) -> Answer:
    """Vowpal Wabbit on the encoded rows: logistic loss, ten passes."""
    X, X_held = (np.asarray(x) if not hasattr(x, "tocsr") else x for x in encode(learnt, held))
    classes, codes = np.unique(learnt.y, return_inverse=True)
    two = len(classes) == 2
    labels = np.where(codes == 1, 1, -1) if two else codes + 1
    options = ["--loss_function", "logistic"]
    options += ["--link", "logistic"] if two else ["--oaa", str(len(classes)), "--probabilities"]
    with tempfile.TemporaryDirectory() as folder:
        write_vw(f"{folder}/learnt", X, labels)
        write_vw(f"{folder}/held", X_held, None)
        learn = ["-d", "learnt", "-f", "model", "--passes", "10", "-c", "-k", "--holdout_off"]
        predict = ["-d", "held", "-t", "-i", "model", "-p", "out"]
        predict += [] if two else ["--probabilities"]
        subprocess.run([*VW, *options, *learn], cwd=folder, check=True)
        subprocess.run([*VW, *predict], cwd=folder, check=True)
        lines = Path(folder, "out").read_text().split("\n")
    rows = [line.split() for line in lines if line.strip()]
    if two:
        high = np.array([float(row[0]) for row in rows])
        chances = np.column_stack([1 - high, high])
    else:
        chances = np.array([[float(cell.split(":")[1]) for cell in row] for row in rows])
    return Answer(classes[chances.argmax(axis=1)], np.clip(chances, 1e-9, 1))


def write_vw(path: str, X: Any, labels: np.ndarray | None) -> None:
    """Write encoded rows in the format of Vowpal Wabbit."""
    from scipy.sparse import csr_array

    rows = csr_array(X)
    cells = [f"{j}:{v:.6g}" for j, v in zip(rows.indices, rows.data, strict=True)]
    starts = rows.indptr.tolist()
    with open(path, "w", encoding="ascii") as out:
        for k in range(rows.shape[0]):
            label = "" if labels is None else labels[k]
            out.write(f"{label} |f {' '.join(cells[starts[k] : starts[k + 1]])}\n")


def list_methods() -> dict[str, Callable[[RawSet, RawSet], Answer | None]]:
    """Ours, and those that are installed."""
    sgd = {"loss": "log_loss", "average": True, "max_iter": 10, "tol": None, "random_state": 0}
    found: dict[str, Callable[[RawSet, RawSet], Answer | None]] = {
        "rosenblatt": ours,
        "LogisticRegression": peer(lambda: LogisticRegression(max_iter=1000)),
        "SGD": peer(lambda: SGDClassifier(**sgd)),
        "LinearSVC": peer(LinearSVC),
    }
    if importlib.util.find_spec("vowpalwabbit") is not None:
        found["vw"] = vowpal
    if importlib.util.find_spec("lightgbm") is not None:
        found["LightGBM"] = boosted
    return found


def measure(one: RawSet, methods: dict[str, Any]) -> dict[str, Result | None]:
    """The figures of all methods on 30 % of the rows, which are held out."""
    rounds = StratifiedShuffleSplit(1, test_size=0.3, random_state=0)
    learnt, held = (one.take(rows) for rows in next(rounds.split(np.zeros(len(one.y)), one.y)))
    ours(learnt, held)  # what it needs is compiled
    found: dict[str, Result | None] = {}
    for name, method in methods.items():
        start = used()
        answer = method(learnt, held)
        found[name] = None if answer is None else judge(answer, held.y, used() - start)
    print(f"{one.name} is done", file=sys.stderr, flush=True)
    return found


def summarize(results: dict[str, dict[str, Result | None]], names: list[str]) -> None:
    """Print the means over the sets that all methods have figures of."""
    both = [one for one in results.values() if all(one[name] is not None for name in names)]
    lines = []
    for name in names:
        some = [one[name] for one in both]
        losses = [one.loss for one in some]
        loss = "–" if None in losses else f"{np.mean(losses):.4f}"
        error, area = (np.mean([one[k] for one in some]) for k in (0, 2))
        seconds = f"{sum(one.seconds for one in some):.1f}"
        lines.append((name, f"{100 * error:.2f}", loss, f"{area:.4f}", seconds))
    print(f"\nMeans over {len(both)} sets, and all CPU seconds")
    table(("", *SHOWN), *lines)


def main() -> None:
    given = parser(__doc__)
    given.add_argument("--rows", type=int, default=10_000, help="most rows of a set")
    chosen = given.parse_args()
    if not chosen.data.is_dir():
        print(f"Skipped: the folder {chosen.data} with the data sets is not there (see --data).")
        return
    warnings.simplefilter("ignore")
    names = ("oil", "mushrooms", "wine", "sms_spam") if chosen.quick else RAW
    methods, results, rows = list_methods(), {}, {}
    for name in names:
        one = read_raw(chosen.data, name, 500 if chosen.quick else chosen.rows)
        results[name], rows[name] = measure(one, methods), f"{len(one.y):,}"
    for title, show in SHOWN.items():
        print(f"\n{title}")
        lines = [
            (name, rows[name], *("–" if one is None else show(one) for one in found.values()))
            for name, found in results.items()
        ]
        table(("set", "rows", *methods), *lines)
    linear = [name for name in methods if name != "LightGBM"]
    summarize(results, linear)
    if "LightGBM" in methods:
        summarize(results, list(methods))


if __name__ == "__main__":
    main()
