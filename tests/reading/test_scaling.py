"""Numbers are brought to one size, by statistics of all rows."""

import io
import json

import numpy as np
import pandas as pd
import pytest
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

from rosenblatt import train
from rosenblatt.data.rows import to_matrix
from rosenblatt.reading.arrow import in_file_units
from rosenblatt.reading.reader import read, read_whole

from .samples import VW, category, notices, number, piped, refused, whole

RANDOM = np.random.default_rng(0)
TABLE = pd.DataFrame(
    {
        "size": RANDOM.normal(1000, 5, 300).round(2),
        "count": RANDOM.integers(0, 90, 300),
        "same": 7.0,
        "rare": np.where(np.arange(300) % 10, 0.0, 5.0),
        "y": np.arange(300) % 2,
    }
)
COLOURS = TABLE.assign(colour=["red", "blue", "green"] * 100)
SCALERS = {"standard": StandardScaler, "maxabs": MaxAbsScaler}


def matrix(reader):
    """All rows of a reader as an array."""
    batch = read_whole(reader)
    return to_matrix(batch.rows, len(batch.labels), batch.width)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("how", ["auto", *SCALERS])
def test_columns_of_numbers_are_scaled_as_by_scikit_learn(write, kind, how):
    path = write("t." + kind, TABLE.to_csv(index=False) if kind == "csv" else TABLE)
    X = TABLE.drop(columns="y").to_numpy(np.float64)
    expected = SCALERS.get(how, StandardScaler)().fit_transform(X)
    found = matrix(read(path, scale=how, dtype=np.float64))
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)
    reader = read(path, scale=how)
    rows = np.array(whole(reader)[2])
    np.testing.assert_array_equal(rows, matrix(read(path, scale=how)))  # after one look, or two
    for size in 1, 1000:
        cut = read(path, scale=how, batch_bytes=size)
        np.testing.assert_array_equal(np.array(whole(cut)[2]), rows)
        assert cut.features() == reader.features()
    features = json.loads(json.dumps(reader.features()))
    np.testing.assert_array_equal(np.array(whole(read(path, features=features))[2]), rows)
    few = TABLE[:5].to_csv(index=False).encode()  # by the statistics of all, not of these
    np.testing.assert_array_equal(whole(read(io.BytesIO(few), features=features))[2], rows[:5])


def test_numbers_among_words_are_scaled_and_zeros_stay_few(write):
    for kind in "csv", "parquet":
        path = write("t." + kind, COLOURS.to_csv(index=False) if kind == "csv" else COLOURS)
        reader = read(path)
        rows = [dict(row) for row in whole(reader)[2]]
        assert rows == [dict(row) for row in whole(read(path, batch_bytes=99))[2]]
        X = StandardScaler().fit_transform(TABLE[["size", "count"]].to_numpy(np.float64))
        found = [[row[number(name)] for name in ("size", "count")] for row in rows]
        np.testing.assert_allclose(found, X, rtol=1e-5, atol=1e-5)
        assert all(
            row[category("colour", c)] == 1 for row, c in zip(rows, COLOURS.colour, strict=True)
        )
        there = [number("rare") in row for row in rows]
        assert there == (TABLE["rare"] != 0).tolist()
        assert np.isclose(rows[0][number("rare")], 5 / TABLE["rare"].std(ddof=0))
        assert not any(number("same") in row for row in rows)  # the mean, and so 0
        standard = [dict(row) for row in whole(read(path, scale="standard"))[2]]
        assert all(number("rare") in row for row in standard)


def with_gaps(frame, every):
    return frame.assign(size=frame["size"].where(np.arange(len(frame)) % every > 0))


@pytest.mark.parametrize("words", [False, True])
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_missing_numbers_are_the_mean_and_flagged_where_frequent(write, kind, words):
    frame = with_gaps(COLOURS if words else TABLE, 20)
    path = write("t." + kind, frame.to_csv(index=False) if kind == "csv" else frame)
    reader = read(path, names=99)
    rows = [dict(enumerate(row)) if not words else dict(row) for row in whole(reader)[2]]
    names = {name: column for column, name in reader.names.items()}
    gaps = frame["size"].isna().tolist()
    assert [row.get(names["size is missing"], 0) for row in rows] == gaps
    sizes = np.array([row.get(names["size"], 0) for row in rows])
    assert not sizes[gaps].any()
    known = frame["size"].dropna().to_numpy(np.float64)
    np.testing.assert_allclose(
        sizes[~np.array(gaps)], (known - known.mean()) / known.std(), rtol=1e-5, atol=1e-5
    )
    assert notices(reader) == ["missing-flag", "missing-mean"]
    again = read(path, features=reader.features())
    assert whole(again) == whole(reader)
    rare = with_gaps(TABLE, 200)[["size", "count", "y"]]
    few = read(io.BytesIO(rare.to_csv(index=False).encode()), names=99)
    assert len(whole(few)[2][0]) == 2
    assert list(few.names.values()) == ["size", "count"]
    assert notices(few) == ["missing-mean"]


def test_a_pipe_is_scaled_by_its_head(monkeypatch):
    monkeypatch.setattr("rosenblatt.reading.parser.SAMPLE", 400)
    for frame in TABLE, COLOURS:
        data = frame.to_csv(index=False).encode()
        rows = data[:400].count(b"\n") - 1
        expected = read(io.BytesIO(frame[:rows].to_csv(index=False).encode())).features()["scales"]
        for size in 1, 10_000:
            with piped(data) as pipe:
                reader = read(pipe, batch_bytes=size)
                assert len(whole(reader)[2]) == 300
                assert reader.features()["scales"] == expected
                assert notices(reader) == ["scale-first-rows"]
                assert f"by the first {rows} rows" in str(reader.notices[0])


SIZES = b"".join(b"%d 1:%d 2:%f 3:1\n" % (i % 2, 1000 * i, i / 300) for i in range(300))
SIZES_VW = b"".join(b"%d |f a:%d b:%f c\n" % (i % 2, 1000 * i, i / 300) for i in range(300))


@pytest.mark.parametrize(("kind", "data"), [("svmlight", SIZES), ("vw", SIZES_VW)])
def test_sparse_rows_are_scaled_if_their_columns_differ_widely(kind, data):
    raw = matrix(read(io.BytesIO(data), format=kind, scale="none"))
    expected = MaxAbsScaler().fit_transform(raw)
    for how in "auto", "maxabs":
        reader = read(io.BytesIO(data), format=kind, scale=how, batch_bytes=100)
        found = matrix(reader)
        np.testing.assert_array_equal(found.indices, expected.indices)
        np.testing.assert_allclose(found.data, expected.data, rtol=1e-6)
        assert ("differ widely" in str(reader.notices)) is (how == "auto")
        rows = whole(read(io.BytesIO(data), format=kind, scale=how))
        again = read(io.BytesIO(data), features=json.loads(json.dumps(reader.features())))
        assert whole(again) == rows
    pairs = "|f a:%d b:1" if kind == "vw" else "1:%d 2:1"  # sizes from 1 to 99 are left alone
    small = "\n".join(f"{k % 2} {pairs % k}" for k in range(100)).encode()
    reader = read(io.BytesIO(small), format=kind)
    assert whole(reader) == whole(read(io.BytesIO(small), format=kind, scale="none"))
    with refused("scale-one-pass"):
        list(read(io.BytesIO(data), format=kind, scale="standard"))


@pytest.mark.parametrize("kind", ["svmlight", "vw"])
@pytest.mark.parametrize("sizes", [[1, 1000], [1, 1, 500, 500], [1, 2, 3, 400, 500, 600]])
def test_columns_of_two_sizes_are_scaled(kind, sizes):
    X = np.random.default_rng(1).random((40, len(sizes))) * sizes
    rows = (" ".join(f"{j + 1}:{x:.9g}" for j, x in enumerate(row)) for row in X)
    between = " |f " if kind == "vw" else " "
    data = "\n".join(f"{k % 2}{between}{row}" for k, row in enumerate(rows)).encode()
    reader = read(io.BytesIO(data), format=kind)
    np.testing.assert_allclose(abs(matrix(reader)).max(axis=0).data, 1, rtol=1e-6)
    assert [notice.kind for notice in reader.notices] == ["scale"]


def test_a_rare_small_column_is_no_reason_to_scale():
    lines = [f"{row % 2} 1:{row % 7 + 1} 2:{row % 5 + 1}" for row in range(400)]
    lines[5] += " 3:0.001"
    reader = read(io.BytesIO("\n".join(lines).encode()), format="svmlight")
    assert matrix(reader).max() == 7
    assert not reader.notices


def test_sparse_rows_of_one_size_are_left_alone():
    reader = read(io.BytesIO(VW), format="vw", names=10)
    assert whole(reader) == whole(read(io.BytesIO(VW), format="vw", scale="none"))
    assert (reader.features()["scales"], reader.notices) == ({}, [])
    reader = read(io.BytesIO(SIZES_VW), format="vw", names=9)
    read_whole(reader)
    assert len(reader.names) == 3


@pytest.mark.parametrize(
    "scales", [{}, {"size": [0, 1, 0, 0]}, {name: [np.nan] * 4 for name in TABLE}]
)
def test_scales_that_do_not_fit_are_refused(write, scales):
    path = write("t.csv", TABLE.to_csv(index=False))
    features = {**read(path).features(), "scales": scales}
    with refused("recipe"):
        read(path, features=features)


def test_columns_too_large_or_empty_to_be_scaled(write):
    table = "a,b,c,y\n1e300,,1,0\n-1e300,,1e-310,1\n3,,2e-310,0\n"
    X = matrix(read(write("t.csv", table), dtype=np.float64))
    assert np.isfinite(X).all()
    assert np.abs(X[:, 0]).max() <= 2
    assert not X[:, 1].any()


def test_columns_that_no_model_can_have_are_refused_before_they_are_measured(write):
    path = write("wide.svm", b"1 1:0.5 3:1e3 4294967295:-2\n-1 2:1 3:4\n")
    with refused("too-many-columns"):
        read_whole(read(path))


@pytest.mark.parametrize("options", [{"bins": 4}, {"scale": "maxabs"}])
def test_without_a_row_to_learn_from_nothing_is_measured(write, options):
    with pytest.raises(ValueError, match=r"none of its 2 rows has a label\.$"):
        train(write("t.csv", "a,tags\n2,\n3,\n"), label="tags", **options)


def test_weights_in_the_units_of_a_file(write):
    for frame in with_gaps(TABLE, 20), COLOURS:
        reader = read(write("t.csv", frame.to_csv(index=False)))
        X = matrix(reader)
        coef, bias = RANDOM.normal(size=(2, X.shape[1])), RANDOM.normal(size=2)
        changed, shifted = in_file_units(reader.features(), coef, bias)
        raw = matrix(read(write("t.csv", frame.to_csv(index=False)), scale="none"))
        known = ~frame["size"].isna().to_numpy()
        scores = (X @ coef.T + bias)[known]
        own = changed[:, : raw.shape[1]]
        np.testing.assert_allclose((raw @ own.T + shifted)[known], scores, rtol=1e-3, atol=1e-2)
    reader = read(io.BytesIO(SIZES), format="svmlight")
    X, raw = (matrix(read(io.BytesIO(SIZES), scale=scale)) for scale in ("auto", "none"))
    coef = RANDOM.normal(size=(1, 3))
    changed, shifted = in_file_units(reader.features(), coef, np.zeros(1))
    np.testing.assert_allclose(raw @ changed.T, X @ coef.T, rtol=1e-4, atol=1e-6)
    old = {"rows": "svmlight", "first": 1}
    assert in_file_units(old, coef, shifted)[0] is coef


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", ["t.csv", "words.csv", "t.parquet"])
def test_nanoseconds_are_scaled_before_they_are_rounded(tmp_path, name, dtype):
    times = 1_700_000_000_000_000_000 + np.arange(300) * 10**9
    frame = TABLE[:300].assign(time=times)
    frame = frame.assign(word=["a", "b"] * 150) if name == "words.csv" else frame
    path = tmp_path / name
    frame.to_parquet(path) if name == "t.parquet" else frame.to_csv(path, index=False)
    reader = read(path, dtype=dtype, label=TABLE.columns[-1], names=99)
    (batch,) = reader
    X = np.asarray(batch.X.todense()) if reader.hashed else batch.X
    place = next(column for column, name in reader.names.items() if name == "time")
    expected = (np.arange(300) - 149.5) / np.std(np.arange(300))
    assert X.dtype == dtype
    np.testing.assert_allclose(X[:, place], expected, atol=1e-5)
