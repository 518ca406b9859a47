"""What do raw data become by default, next to what a scikit-learn user writes? Error and time.

python benchmarks/raw.py --data FOLDER
"""

import csv
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas
from measure import parser, ratio, table
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction.text import HashingVectorizer, TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC

from rosenblatt import Features, train

csv.field_size_limit(sys.maxsize)
Line = tuple[str, ...]
SGD = {"average": True, "max_iter": 10, "tol": None, "random_state": 0}
PERCEPTRON = {"loss": "perceptron", "penalty": None, "learning_rate": "constant", "eta0": 1.0}


def timed(run: Callable[[], Any]) -> tuple[Any, float]:
    """What comes out, and the processor seconds of all threads."""
    start = time.process_time()
    return run(), time.process_time() - start


def line(what: str, peer: str, ours: Callable[[], float], theirs: Callable[[], float]) -> Line:
    """Both errors and times, of which ours was warmed up before."""
    ours()
    (our_error, our_time), (error, seconds) = timed(ours), timed(theirs)
    print(f"{what} is done", file=sys.stderr, flush=True)
    return (
        what, f"{our_error:.2%}", f"{our_time:.2f} s",
        peer, f"{error:.2%}", f"{seconds:.2f} s", ratio(our_time, seconds),
    )  # fmt: skip


def from_files(train_path: Path, test_path: Path, label: str, **options: Any) -> float:
    """The error of the defaults, from file to file."""
    model = train(train_path, label=label, **options)
    return 1 - model.score(*table_and_labels(test_path, label))


def table_and_labels(path: Path, label: str) -> tuple[Any, Any]:
    frame = pandas.read_csv(path, skipinitialspace=True, na_values="?", keep_default_na=False)
    return frame.drop(columns=label), frame[label].to_numpy()


# Tables


def covtype(data: Path, folder: Path, rows: int | None) -> Line:
    """Two thirds of covtype.csv to learn from, the others to test with."""
    lines = (data / "covtype/covtype.csv").read_text().splitlines()
    head, body = lines[0], lines[1:]
    order = np.random.default_rng(0).permutation(len(body))[:rows]
    paths = folder / "train.csv", folder / "test.csv"
    for path, some in zip(paths, np.split(order, [2 * len(order) // 3]), strict=True):
        path.write_text("\n".join([head, *(body[k] for k in some)]))
    label = head.rsplit(",", 1)[-1]

    def theirs() -> float:
        model = make_pipeline(StandardScaler(), SGDClassifier(**SGD))
        (X, y), (X_test, y_test) = (table_and_labels(path, label) for path in paths)
        return 1 - model.fit(X, y).score(X_test, y_test)

    return line("covtype.csv", "scale, averaged SGD", lambda: from_files(*paths, label), theirs)


def adult(data: Path, folder: Path, rows: int | None) -> Line:
    """adult.data as it is; the labels of adult.test end in a full stop, which is taken away."""
    names = ",".join([*map(str, range(14)), "income"])
    paths = folder / "adult.csv", folder / "adult_test.csv"
    for path, name in zip(paths, ("adult.data", "adult.test"), strict=True):
        lines = [one.rstrip(".") for one in (data / "adult" / name).read_text().splitlines()]
        path.write_text("\n".join([names, *(one for one in lines if one.count(",") == 14)][:rows]))

    def theirs() -> float:
        (X, y), (X_test, y_test) = (table_and_labels(path, "income") for path in paths)
        numbers = X.select_dtypes("number").columns
        words = [name for name in X.columns if name not in numbers]
        frequent = SimpleImputer(strategy="most_frequent")
        made = make_column_transformer(
            (make_pipeline(SimpleImputer(), StandardScaler()), numbers),
            (make_pipeline(frequent, OneHotEncoder(handle_unknown="ignore")), words),
        )
        model = make_pipeline(made, LogisticRegression(max_iter=1000)).fit(X, y)
        return 1 - model.score(X_test, y_test)

    peer = "impute, scale, one-hot, logistic regression"
    return line("adult.data", peer, lambda: from_files(*paths, "income"), theirs)


# Texts


def texts_in(path: Path, rows: int | None) -> tuple[list[str], np.ndarray]:
    with path.open(newline="", encoding="utf-8") as file:
        pairs = [(row["text"], row["label"]) for row in csv.DictReader(file)]
    if rows is not None:
        pairs = [pairs[k] for k in np.random.default_rng(0).permutation(len(pairs))[:rows]]
    return [text for text, _ in pairs], np.array([label for _, label in pairs])


def of_folder(data: Path, folder: Path, name: str, rows: int | None, peer: Any, said: str) -> Line:
    """A folder's train.csv and test.csv; of all rows, or of some."""
    paths = data / name / "train.csv", data / name / "test.csv"
    if rows is not None:
        few = folder / "few_train.csv", folder / "few_test.csv"
        for path, to in zip(paths, few, strict=True):
            texts, labels = texts_in(path, rows)
            pandas.DataFrame({"label": labels, "text": texts}).to_csv(to, index=False)
        paths = few

    def ours() -> float:
        model = train(paths[0], text="text", label="label")
        texts, labels = texts_in(paths[1], None)
        return 1 - model.score([{"text": text} for text in texts], labels)

    def theirs() -> float:
        model = peer.fit(*texts_in(paths[0], None))
        return 1 - model.score(*texts_in(paths[1], None))

    return line(f"{name}: train.csv", said, ours, theirs)


def sms(data: Path, folder: Path, rows: int | None) -> Line:
    """Five splits, two thirds to learn from."""
    lines = (data / "sms_spam/SMSSpamCollection").read_text("utf-8").splitlines()[:rows]
    labels = np.array([one.partition("\t")[0] for one in lines])
    texts = [one.partition("\t")[2] for one in lines]

    def splits() -> Iterator[tuple[np.ndarray, np.ndarray]]:
        for seed in range(5):
            order = np.random.default_rng(100 + seed).permutation(len(lines))
            first, rest = np.split(order, [2 * len(order) // 3])
            yield first, rest

    def ours() -> float:
        errors = []
        for first, rest in splits():
            rows = [{"text": texts[k], "label": labels[k]} for k in first]
            model = train(rows, text="text", label="label")
            errors.append(1 - model.score([{"text": texts[k]} for k in rest], labels[rest]))
        return float(np.mean(errors))

    def theirs() -> float:
        errors = []
        for first, rest in splits():
            model = make_pipeline(
                HashingVectorizer(binary=True, ngram_range=(1, 2)), SGDClassifier(random_state=0)
            )
            model.fit([texts[k] for k in first], labels[first])
            errors.append(1 - model.score([texts[k] for k in rest], labels[rest]))
        return float(np.mean(errors))

    return line("SMS spam, five splits", "HashingVectorizer (binary), SGD", ours, theirs)


def transform(data: Path, rows: int | None) -> Line:
    """The time to make rows of texts at hand."""
    texts, _ = texts_in(data / "imdb/train.csv", rows)
    features = Features(ngrams=(1, 2)).fit(texts[:100])
    features.transform(texts[:100])
    peer = HashingVectorizer(ngram_range=(1, 2), alternate_sign=False)
    _, ours = timed(lambda: features.transform(texts))
    _, theirs = timed(lambda: peer.transform(texts))
    times = "", f"{ours:.2f} s", "HashingVectorizer", "", f"{theirs:.2f} s", ratio(ours, theirs)
    return "imdb: Features.transform", *times


def main() -> None:
    chosen = parser(__doc__).parse_args()
    data = chosen.data
    if not data.is_dir():
        print(f"Skipped: the folder {data} with the data sets is not there (see --data).")
        return
    warnings.simplefilter("ignore")
    few = 2000 if chosen.quick else None
    hashed = HashingVectorizer(n_features=2**20, ngram_range=(1, 2), alternate_sign=False)
    averaged = make_pipeline(hashed, SGDClassifier(**PERCEPTRON, **SGD))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lines = [
            covtype(data, folder, few),
            adult(data, folder, few),
            of_folder(data, folder, "imdb", few, averaged, "HashingVectorizer, averaged SGD"),
            sms(data, folder, few),
            transform(data, few),
        ]
        if not chosen.quick:
            peer = make_pipeline(TfidfVectorizer(), LinearSVC())
            lines.insert(
                3, of_folder(data, folder, "20newsgroups", None, peer, "tf-idf, LinearSVC")
            )
    table(("data", "error", "time", "scikit-learn", "error", "time", "speed"), *lines)
    print(
        "\nErrors on the test parts with the defaults, from the raw file to the score; processor"
        " seconds with reading, ours compiled before."
    )


if __name__ == "__main__":
    main()
