"""Parquet and Arrow files."""

import io

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import feather, parquet

from rosenblatt import Features, evaluate, train
from rosenblatt.training.report import Listener

from .samples import NUMBERS, category, notices, number, read, refused, whole


def test_a_broken_row_of_parquet_is_told_or_skipped(write):
    frame = pd.DataFrame({"x": [1.0, np.inf, 3.0, np.nan], "y": [0, 1, 1, 0]})
    path = write("data.parquet", frame)
    with refused("value-too-large", line=2, column="x"):
        list(read(path))
    reader = read(path, skip_bad=1)
    assert whole(reader) == ([0, 1, 0], [], [[1], [3], [0]])
    assert notices(reader) == ["missing-zero"]


@pytest.mark.parametrize("batch_bytes", [1, 1 << 20])
def test_lists_of_labels(write, batch_bytes):
    tags = [["red", "green"], [], None, ["blue", None, "red"]]
    path = write("data.parquet", pd.DataFrame({"x": [1.0, 2, 3, 4], "tags": tags}))
    reader = read(path, label="tags", batch_bytes=batch_bytes)
    assert (reader.multilabel, notices(reader)) == (True, ["labels"])
    sets = [row for batch in reader for row in batch.y]
    assert sets == [("red", "green"), (), (), ("blue", "red")]
    numbers = pa.table({"x": [1.0, 2.0], "y": [[3, 1], [2]]})
    assert [row for batch in read(numbers) for row in batch.y] == [("3", "1"), ("2",)]


def test_folders_and_patterns_of_parquet(write, tmp_path):
    frame = pd.read_csv(io.StringIO(NUMBERS))
    (tmp_path / "parts").mkdir()
    for i in range(4):
        write(f"parts/{i}.parquet", frame[50 * i : 50 * i + 50])
    write("parts/_SUCCESS", b"")
    expected = whole(read(io.BytesIO(NUMBERS.encode()), format="csv"))
    assert whole(read(tmp_path / "parts")) == expected
    assert whole(read(str(tmp_path / "parts" / "*.parquet"))) == expected
    assert whole(read(tmp_path / "parts", batch_bytes=500)) == expected


def test_columns_of_other_types(write):
    frame = pd.DataFrame(
        {
            "flag": [True, False],
            "kind": pd.Categorical(["a", "b"]),
            "big": [2**40, 3],
            "lag": pd.to_timedelta([1, 2], "D"),
            "y": ["p", "q"],
        }
    )
    reader = read(write("data.parquet", frame))
    labels, _, rows = whole(reader)
    a, b = category("kind", "a"), category("kind", "b")
    assert labels == ["p", "q"]
    assert rows == [
        [(number("flag"), 1), (a, 1), (number("big"), 2**40)],
        [(b, 1), (number("big"), 3)],
    ]
    assert notices(reader) == ["column"]
    assert str(reader.notices[0]) == (
        "The column 'lag' is not used: it has neither numbers, strings nor dates."
    )


def test_truth_values_stay_so_as_labels_and_are_numbers_as_features(write):
    frame = pd.DataFrame({"flag": [True, False, True], "x": [1.0, 2, 3], "y": [True, False, False]})
    rows = [[1, 1], [0, 2], [1, 3]]
    assert whole(read(write("flags.parquet", frame))) == ([True, False, False], [], rows)
    reader = read(write("flags.csv", frame.to_csv(index=False)))
    labels, _, rows = whole(reader)
    assert labels == ["True", "False", "False"]
    again = read(write("flags.parquet", frame), features=reader.features())
    assert whole(again) == (labels, [], rows)


def test_columns_of_parquet_that_cannot_be_used_are_told(tmp_path):
    def written(**columns):
        parquet.write_table(pa.table(columns), tmp_path / "data.parquet")
        return tmp_path / "data.parquet"

    with refused("column-type", column="y"):
        read(written(a=[1.0, 2.0], y=[{"b": 0}, {"b": 1}]))
    features = read(written(a=[1.0, 2.0], y=[0, 1])).features()
    with refused("column-type", column="a"):
        read(written(a=[{"b": 1}], y=[0]), features=features)
    with refused("not-a-number", line=2, column="a"):
        list(read(written(a=["1.5", "x"], y=[0, 1]), features=features))
    assert whole(read(written(a=["1.5", "x"], y=[0, 1]), features=features, skip_bad=1))[0] == [0]


def test_times_beyond_those_of_python_are_columns_as_others():
    times = pa.array([2**50, 2**50 + 5], pa.timestamp("ms"))
    labels = whole(read(pa.table({"a": [1.0, 2.0], "t": times}), label="t"))[0]
    assert labels == [str(time) for time in times.cast(pa.string()).to_pylist()]


def test_damage_inside_of_parquet_is_told(tmp_path):
    path = tmp_path / "data.parquet"
    parquet.write_table(pa.table({"a": np.arange(100.0), "y": [0, 1] * 50}), path)
    data = path.read_bytes()
    path.write_bytes(data[:40] + b"\xff" * 40 + data[80:])
    with refused("damaged", line=1):
        list(read(path))
    times = pa.array([0, 1], pa.timestamp("s", "Etc/UTC"))
    table = pa.table({"abcd": ["word", "word"], "t": times, "y": [0, 1]})
    feather.write_feather(table, tmp_path / "a.arrow", compression="uncompressed")
    named = (tmp_path / "a.arrow").read_bytes()
    for word in b"abcd", b"word", b"Etc/UTC":
        assert word in named
        (tmp_path / "a.arrow").write_bytes(named.replace(word, b"\xdf" * len(word)))
        with refused("damaged"):
            list(read(tmp_path / "a.arrow"))
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "1.parquet").write_bytes(data)
    (tmp_path / "parts" / "2.parquet").write_bytes(b"junk")
    with refused("damaged"):
        read(tmp_path / "parts")
    parquet.write_table(pa.table({"a": ["x"], "y": ["z"]}), tmp_path / "parts" / "2.parquet")
    with refused("damaged", line=101):
        list(read(tmp_path / "parts"))


def test_row_groups_do_not_change_what_is_measured_on_the_first_rows(tmp_path):
    x = np.arange(600.0)
    table = pa.table({"x": x, "y": np.where(x % 7 > 3, "a", "b")})
    found = set()
    for size in (50, 600):
        parquet.write_table(table, tmp_path / "data.parquet", row_group_size=size)
        found.add(round(read(tmp_path / "data.parquet", scale="none").mean_square(), 6))
    assert found == {round(float(np.mean(x**2)), 6)}


def test_labels_that_end_in_nul_are_refused(write):
    for labels in (["x", "x\0"], [["x"], ["y", "x\0"]]):
        with refused("nul-byte", line=2, column="label"):
            list(read(pa.table({"x": [1.0, 2.0], "label": labels})))


@pytest.mark.parametrize("table", [pa.table({}), pd.DataFrame(), pd.DataFrame(index=range(3))])
def test_a_table_without_columns_is_refused(table):
    with refused("no-columns"):
        read(table)


def test_a_table_of_many_small_pieces_is_read_in_few_batches():
    x = np.arange(600.0)
    pieces = pa.table(
        {
            "x": pa.chunked_array([x[i : i + 1] for i in range(600)]),
            "word": pa.chunked_array([pa.array([w]).dictionary_encode() for w in "abc" * 200]),
            "class": pa.chunked_array([["u"] * 300, [], ["v"] * 300], pa.string()),
        }
    )
    assert len(list(read(pieces))) < 10
    assert whole(read(pieces)) == whole(read(pieces.combine_chunks()))


def test_the_index_of_a_data_frame_is_no_feature(tmp_path):
    frame = pd.DataFrame({"a": [3.0, 1, 2, 5], "kind": ["x", "x", "y", "y"]}, [9, 7, 8, 3])
    frame.to_parquet(tmp_path / "f.parquet")
    parquet.write_table(pa.Table.from_pandas(frame.rename_axis("row")), tmp_path / "named.parquet")
    expected = whole(read(frame))
    for data in tmp_path / "f.parquet", tmp_path / "named.parquet", pa.Table.from_pandas(frame):
        reader = read(data)
        assert whole(reader) == expected
        assert notices(reader) == ["index"]
        with pytest.warns(UserWarning, match="index"):
            model = train(data)
        assert model.named_steps["features"].recipe_["columns"] == [("a", "number")]
        assert len(model.predict(frame)) == len(model.predict(pa.Table.from_pandas(frame))) == 4
    (batch,) = read(tmp_path / "named.parquet", id="row", label="kind")
    assert batch.ids.tolist() == ["9", "7", "8", "3"]


@pytest.mark.parametrize("stored", [b'{"index_columns": null}', b'{"index_columns": "a"}', b"[1]"])
def test_metadata_that_pandas_did_not_write_hides_no_column(stored):
    table = pa.table({"a": [1.0, 2.0], "y": [0, 1]})
    found = whole(read(table.replace_schema_metadata({b"pandas": stored})))
    assert found == whole(read(table))


def test_relations_of_duckdb_are_tables():
    duckdb = pytest.importorskip("duckdb", reason="the test needs DuckDB")
    with duckdb.connect() as connection:
        relation = connection.sql(
            """SELECT i::DECIMAL(9, 2) / 4 AS size, i::HUGEINT % 7 AS big, 'w' || i % 5 AS word,
            (CASE WHEN i % 2 = 0 THEN 'even' ELSE 'odd' END)::ENUM('even', 'odd') AS parity,
            DATE '2024-01-01' + i::INTEGER AS day, nullif(i % 3, 0) AS gaps, i % 2 = 0 AS flag,
            TIMESTAMPTZ '2024-01-01 10:00:00+02' AS at, i > 20 AS label FROM range(40) t(i)"""
        )
        model = train(relation, listener=Listener())
        assert model.predict(relation).tolist() == [k > 20 for k in range(40)]
        assert evaluate(model, relation).score.rows == 40
        some = connection.sql("SELECT * FROM relation WHERE size > 5 ORDER BY size")
        assert model.predict(some).all()
        features = Features(label="label").fit(relation)
        assert features.transform(relation).shape[0] == 40
