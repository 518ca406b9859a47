"""Rows that are held out change nothing in the model, however a file is read."""

import warnings

import numpy as np
import pytest

import rosenblatt
from rosenblatt.data.splits import Split
from rosenblatt.reading.reader import read

SPLIT = Split(0.25, 5)
WAYS = {
    "in memory": {},
    "stream": {"window": 30},
    "one pass": {"max_iter": 1},
    "progressive": {"max_iter": 1, "progress_every": 40},
    "tune": {"tune": True, "max_iter": 2},
}
KINDS = {
    "csv": {},
    "svm": {},
    "svm maxabs": {"scale": "maxabs"},
    "vw": {"scale": "maxabs"},
    "text": {"text": ["words"]},
    "text alone": {"text": ["words"]},
    "sets": {},
    "parquet": {},
}
CASES = [  # class weights and tuning do not depend on the format, so a few kinds show them
    (kind, way, weights)
    for kind in KINDS
    for way in WAYS
    for weights in (None, "balanced")
    if not (kind == "sets" and way == "progressive")
    if weights is None or (kind in ("csv", "svm", "text") and way != "tune")
    if way != "tune" or kind in ("csv", "svm maxabs", "text", "sets")
]
WORDS = np.array(["red", "green", "blue", "dog", "cat", "bird", "in", "on", "at", "the"])


def lines(kind, X, y, rng):
    """The rows of a file: numbers, or words and a number."""
    for x, label in zip(X, y, strict=True):
        some = " ".join(WORDS[np.flatnonzero(rng.random(len(WORDS)) < 0.4)])
        pairs = " ".join(f"{j + 1}:{value}" for j, value in enumerate(x) if value)
        yield {
            "csv": ",".join(map(str, [*x, label])),
            "svm": f"{label} {pairs}",
            "vw": f"{label + 1} |n {pairs}",
            "text": f"{some},{x[0]},{label}",
            "alone": f"{some},{label}",
            "sets": f"{','.join(str(k) for k in range(label))} {pairs}",
        }[kind]


def write(path, kind, changed):
    """Write a file; if changed, rows that are held out have other values, labels and words.

    Returns the number of held-out rows whose other label is none of the classes.
    """
    rng = np.random.default_rng(1)
    y = rng.choice(3, 160, p=[0.6, 0.25, 0.15])
    y[:12] = np.arange(12) % 3
    X = rng.integers(-9, 10, (160, 5)) + 4 * np.eye(3, 5, dtype=int)[y]
    X[:, 4] *= 1000  # columns of other sizes
    held = SPLIT.held_out(0, 160)
    first = list(lines(kind, X, y, np.random.default_rng(2)))
    second = list(lines(kind, 7 * X + 5, 3 - y, np.random.default_rng(3)))
    rows = [b if changed and out else a for a, b, out in zip(first, second, held, strict=True)]
    head = {"csv": "a,b,c,d,e,y\n", "text": "words,size,y\n", "alone": "words,y\n"}
    path.write_text(head.get(kind, "") + "\n".join(rows) + "\n")
    return np.sum(y[held] == 0)


def trained(path, kind, changed, options):
    form = {"parquet": "csv", "text alone": "alone"}.get(kind, kind.split()[0])
    endings = {"svm": "svm", "sets": "svm", "vw": "vw"}
    file = path / f"rows.{endings.get(form, 'csv')}"
    write(file, form, changed)
    if kind == "parquet":
        pq, csv = pytest.importorskip("pyarrow.parquet"), pytest.importorskip("pyarrow.csv")
        pq.write_table(csv.read_csv(file), path / "rows.parquet", row_group_size=50)
        file = path / "rows.parquet"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        options = KINDS[kind] | options | {"holdout": SPLIT.share, "random_state": SPLIT.seed}
        return rosenblatt.train(file, **options)


@pytest.mark.parametrize(("kind", "way", "weights"), CASES)
def test_held_out_rows_change_nothing(tmp_path, kind, way, weights):
    options = WAYS[way] | ({} if weights is None else {"class_weight": weights})
    one, other = (trained(tmp_path, kind, changed, options) for changed in (False, True))
    assert one.classes_.tolist() == other.classes_.tolist()
    assert type(one[-1]) is type(other[-1])
    np.testing.assert_array_equal(one[-1].coef_, other[-1].coef_)
    np.testing.assert_array_equal(one[-1].intercept_, other[-1].intercept_)
    assert one[-1].n_mistakes_ == other[-1].n_mistakes_
    assert one[0].recipe_ == other[0].recipe_
    scores = [model.file_facts_["facts"]["held_out"] for model in (one, other)]
    assert scores[0]["rows"] == scores[1]["rows"] == SPLIT.held_out(0, 160).sum()
    assert scores[1]["errors"] >= write(tmp_path / "again", "csv", False)  # no known class


def test_what_is_measured_is_that_of_the_other_rows(tmp_path):
    write(tmp_path / "rows.csv", "csv", False)
    reader = read(tmp_path / "rows.csv")
    everything = reader.features()
    reader.hold_out(SPLIT)
    assert reader.features() != everything
    X = np.loadtxt(tmp_path / "rows.csv", delimiter=",", skiprows=1)[:, :5]
    learnt = X[~SPLIT.held_out(0, len(X))]
    centres = [scale[0] for scale in reader.features()["scales"].values()]
    np.testing.assert_allclose(centres, learnt.mean(axis=0), rtol=1e-6)
    reader.hold_out(Split())
    assert reader.features() == everything
