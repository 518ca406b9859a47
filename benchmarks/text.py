"""How good and how fast are models of texts, from a file to the error on test rows?

python benchmarks/text.py --data FOLDER [--tune] [--write]

Each method runs in its own process; its CPU seconds are those of the whole process. A set is
checked for leaks first: test texts that are also training texts, and the best single word.
"""

import csv
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from measure import parser, table
from sklearn.feature_extraction.text import CountVectorizer

csv.field_size_limit(sys.maxsize)

PEER = """
import csv, sys
csv.field_size_limit(sys.maxsize)
def part(path):
    with open(path, newline="", encoding="utf-8") as file:
        return zip(*((row["text"], row["label"]) for row in csv.DictReader(file)))
train, labels = part(sys.argv[1])
{model}
model.fit(train, labels)
test, labels = part(sys.argv[2])
print(100 * (1 - model.score(test, labels)))
"""
METHODS = {
    "rosenblatt": None,
    "tf-idf of words and pairs, LinearSVC": """
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
model = make_pipeline(TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True), LinearSVC())
""",
    "hashed words and pairs, SGDClassifier": """
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import SGDClassifier
from sklearn.pipeline import make_pipeline
words = HashingVectorizer(n_features=2**20, ngram_range=(1, 2), alternate_sign=False)
model = make_pipeline(words, SGDClassifier(average=True, random_state=0))
""",
}
SETS = {"IMDB": "imdb", "20 newsgroups": "20newsgroups"}


def read_texts(path: Path) -> tuple[list[str], list[str]]:
    """The texts and the labels of a CSV file."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = [(row["text"], row["label"]) for row in csv.DictReader(file)]
    return [text for text, _ in rows], [label for _, label in rows]


def write_texts(path: Path, texts: list[str], labels: list[str]) -> None:
    """A CSV file of texts and labels."""
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("label", "text"), *zip(labels, texts, strict=True)])


def draw_texts(path: Path, seed: int) -> None:
    """A small set, to see that the benchmark runs: two classes that prefer other words."""
    rng = np.random.default_rng(seed)
    texts, labels = [], []
    for _ in range(400):
        label = int(rng.integers(2))
        own = rng.integers(40 * label, 40 * label + 60, 4)
        numbers = np.concatenate([rng.integers(0, 50, 8), own])
        texts.append(" ".join(f"word{number}" for number in numbers))
        labels.append(("no", "yes")[label])
    write_texts(path, texts, labels)


def find_leaks(train: Path, test: Path) -> tuple[float, float]:
    """The share of test texts that were trained on, and the error of the best single word."""
    texts, labels = read_texts(train)
    known = set(texts)
    new = read_texts(test)[0]
    copied = sum(text in known for text in new) / len(new)
    counts = CountVectorizer(binary=True, min_df=2).fit_transform(texts).tocsc()
    classes, codes = np.unique(labels, return_inverse=True)
    by_class = np.stack(
        [np.asarray(counts[codes == k].sum(axis=0))[0] for k in range(len(classes))]
    )
    rest = np.bincount(codes)[:, None] - by_class
    return copied, 1 - float((by_class.max(axis=0) + rest.max(axis=0)).max()) / len(texts)


def run(command: list[str]) -> tuple[str, float]:
    """What a process prints, and its CPU seconds."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    printed = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{' '.join(command)[:200]} ended with {status}")
    return printed, usage.ru_utime + usage.ru_stime


def measure(method: str, train: Path, test: Path, tune: bool) -> tuple[float, float]:
    """The error on test rows in per cent, and CPU seconds."""
    script = METHODS[method]
    if script is not None:
        printed, seconds = run(
            [sys.executable, "-c", PEER.format(model=script), str(train), str(test)]
        )
        return float(printed), seconds
    options = ["--label", "label", "--test", str(test), "--json", *(["--tune"] if tune else [])]
    printed, seconds = run([sys.executable, "-m", "rosenblatt", "train", str(train), *options])
    (done,) = (
        found for line in printed.splitlines() if (found := json.loads(line)).get("event") == "done"
    )
    return 100 * done["test"]["errors"] / done["test"]["rows"], seconds


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--tune", action="store_true", help="train with --tune")
    chosen = arguments.parse_args()
    results = [("set", "method", "test error in %", "CPU s")]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if chosen.quick or not chosen.data.is_dir():
            for seed, part in enumerate(("train.csv", "test.csv")):
                draw_texts(folder / part, seed)
            sets = {"drawn": folder}
        else:
            sets = {what: chosen.data / place for what, place in SETS.items()}
        for what, place in sets.items():
            train, test = place / "train.csv", place / "test.csv"
            copied, word = find_leaks(train, test)
            print(
                f"{what}: {copied:.2%} of test texts were trained on; best word: {word:.1%} error"
            )
            run([sys.executable, "-m", "rosenblatt", "train", str(train), "-q"])  # compiles
            for method in METHODS:
                error, cpu = measure(method, train, test, chosen.tune)
                results.append((what, method, f"{error:.2f}", f"{cpu:.1f}"))
    table(*results)


if __name__ == "__main__":
    main()
