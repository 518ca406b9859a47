"""Lists of numbers, such as embeddings, are columns that are scaled together."""

import json

import numpy as np
import pandas as pd
import polars
import pyarrow as pa
import pytest

import rosenblatt
from rosenblatt.jobs.predictions import list_record_columns, read_records
from rosenblatt.learners.kinds import make_learner
from rosenblatt.reading.reader import read, read_whole
from rosenblatt.service.requests import BadExampleError
from rosenblatt.service.rows import make_row_maker
from rosenblatt.storage.file import load_model

from .samples import notices, refused

N = 300
LISTS = np.random.default_rng(0).normal(size=(N, 4)).astype(np.float32) * [1, 1, 2, 5]
LABELS = np.where(LISTS[:, 0] + LISTS[:, 2] > 0, "yes", "no")
ROWS = [
    {"x": x, "size": k % 7, "y": y}
    for k, (x, y) in enumerate(zip(LISTS.tolist(), LABELS.tolist(), strict=True))
]


def list_sources(write):
    """The same rows in every form that has lists."""
    frame = pd.DataFrame(ROWS)
    arrays = frame.assign(x=list(LISTS))
    fixed = pa.FixedSizeListArray.from_arrays(pa.array(LISTS.ravel()), 4)
    yield from (ROWS, frame, arrays, polars.from_pandas(frame))
    yield pa.table({"x": fixed, "size": frame["size"], "y": frame["y"]})
    yield write("t.parquet", frame)
    yield write("t.jsonl", "".join(json.dumps(row) + "\n" for row in ROWS))
    path = write("t.npz", "")
    np.savez(path, x=LISTS, size=frame["size"], y=LABELS)
    yield path


def test_lists_are_columns_of_one_scale_in_every_form(write):
    features = None
    for source in list_sources(write):
        reader = read(source, label="y", dtype=np.float64)
        X = read_whole(reader).X
        assert [name for name, _ in reader.columns] == [*(f"x[{j}]" for j in range(4)), "size"]
        spread = np.sqrt(LISTS.var(axis=0).mean())
        np.testing.assert_allclose(X[:, :4], (LISTS - LISTS.mean(axis=0)) / spread, atol=1e-6)
        assert np.isclose(X[:, 4].std(), 1)
        features = features or json.loads(json.dumps(reader.features()))
        again = read(source, features=features, dtype=np.float64, batch_bytes=999)
        np.testing.assert_allclose(np.vstack([batch.X for batch in again]), X, atol=1e-6)
        assert list_record_columns(again) == ["x", "size", "y"]
        assert np.allclose(next(iter(read_records(again)))["x"], LISTS[0])


@pytest.mark.parametrize("words", [{}, {"colour": "red"}])
def test_missing_lists_are_the_mean_with_one_flag_and_others_are_broken_rows(write, words):
    rows = [row | words | ({"x": None} if k % 10 == 0 else {}) for k, row in enumerate(ROWS)]
    reader = read(write("t.jsonl", "".join(json.dumps(row) + "\n" for row in rows)), names=99)
    list(reader)
    assert [name for name in reader.names.values() if "missing" in name] == ["x[0] is missing"]
    assert notices(reader) == ["missing-flag", "missing-mean"]
    odd = [*rows[:20], {"x": [1.0], "y": "no"}]
    with refused("list-length", line=21, column="x"):
        list(read(odd, features=reader.features()))
    assert read_whole(read(odd, features=reader.features(), skip_bad=1)).labels[-1] == LABELS[19]


@pytest.mark.parametrize("rows", [0, 2])
def test_lists_without_a_number_are_no_column(rows):
    lists = pa.array([[]] * rows, pa.list_(pa.float64()))
    table = pa.table({"x": lists, "a": pa.array([1.0] * rows), "y": pa.array(["p"] * rows)})
    assert [name for name, _ in read(table, label="y").columns] == ["a"]
    unnamed = table.append_column("", pa.array([[1.0]] * rows, pa.list_(pa.float64())))
    assert [name for name, _ in read(unnamed, label="y").columns] == ["a"]


def test_lists_that_are_stated_otherwise_stay(write):
    assert read(ROWS, ignore="x").columns == [("size", "number")]
    whole = [row | {"x": [1, 2]} for row in ROWS]
    assert "column" in notices(read(whole))
    assert read(whole, label="x", category="y").multilabel


def test_a_model_of_lists_is_trained_stored_and_served(tmp_path):
    model = rosenblatt.train(ROWS, label="y", max_iter=20)
    unlabelled = [{"x": row["x"], "size": row["size"]} for row in ROWS]
    assert np.mean(model.predict(unlabelled) == LABELS) > 0.95
    rosenblatt.save(model, tmp_path / "model")
    maker = make_row_maker(make_learner(load_model(tmp_path / "model"), tmp_path / "model"))
    served = maker.make(unlabelled, labelled=False)
    expected = read_whole(read(unlabelled, features=model[0].recipe_, label=False))
    np.testing.assert_allclose(served.rows.values, expected.rows.values, rtol=1e-6)
    with pytest.raises(BadExampleError, match="1 numbers instead of 4"):
        maker.make([{"x": [1.0]}], labelled=False)


def test_files_of_arrays_are_columns(tmp_path):
    np.savez(tmp_path / "t.npz", x=LISTS, y=LABELS)
    np.save(tmp_path / "t.npy", LISTS)
    reader = read(tmp_path / "t.npz")
    rows = read_whole(reader).X
    assert (
        read_whole(read(tmp_path / "t.npy", features=reader.features())).X.tolist() == rows.tolist()
    )
    few = pa.FixedSizeListArray.from_arrays(pa.array((LISTS * 9).astype(np.int8).ravel()), 4)
    assert read(pa.table({"x": few, "y": LABELS})).columns == reader.columns


@pytest.mark.parametrize(
    ("code", "arrays"),
    [
        ("damaged", {"x": np.array([{}], object)}),
        ("array-dimensions", {"x": LISTS, "y": LABELS[:9]}),
        ("array-dimensions", {"x": LISTS[0, 0]}),
        ("array-dimensions", {}),
    ],
)
def test_arrays_that_are_no_columns_are_refused(tmp_path, code, arrays):
    np.savez(tmp_path / "t.npz", **arrays)
    with refused(code):
        read(tmp_path / "t.npz")
    (tmp_path / "cut.npz").write_bytes((tmp_path / "t.npz").read_bytes()[:-9])
    with refused("damaged"):
        read(tmp_path / "cut.npz")


@pytest.mark.parametrize("stated", [{}, {"label": "x[2]"}, {"ignore": ["x[0]"], "label": "x[2]"}])
def test_a_label_within_lists_is_refused(tmp_path, stated):
    """The lists of rows to predict would have another length."""
    rows = np.random.default_rng(0).integers(-3, 4, (60, 3)).astype(float)
    rows[:, 2] = rows[:, 0] > 0
    np.save(tmp_path / "t.npy", rows)
    with refused("label-in-list"):
        read_whole(read(tmp_path / "t.npy", **stated))
