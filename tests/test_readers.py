import contextlib
import gzip
import io
import itertools
import json
import os
import subprocess
import sys
import threading

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import feather, parquet
from sklearn.datasets import load_svmlight_file

from rosenblatt import readers
from rosenblatt.readers import read

from .reference import hash_bytes, mix_bits

SVMLIGHT = b"# made by hand\n" + b"".join(
    b"%d qid:%d 1:%d %d:0.5 # row %d\n" % (i % 3, i, i, 3 + i % 5, i) for i in range(200)
)
VW = b"".join(b"%d 2 'tag%d |a x%d:0.5 y |b %d\n" % (i % 2, i, i % 7, i) for i in range(200))
NUMBERS = "a,b,label,c\n" + "".join(f"{i},{i / 7:.5f},{i % 3},{-i}e-2\n" for i in range(200))
COLOURS = ["red", "", "dark blue"]
PEOPLE = "age,colour,text,y\n" + "".join(
    f'{i % 50},{COLOURS[i % 3]},"He said ""no {i % 9}"",\nthen left",{"AB"[i % 2]}\n'
    for i in range(200)
)


@pytest.fixture
def write(tmp_path):
    """Write bytes, a string or a data frame to a file."""

    def to_file(name, data):
        path = tmp_path / name
        if name.endswith(".parquet"):
            data.to_parquet(path)
        elif name.endswith(".arrow"):
            feather.write_feather(data, path, compression="uncompressed")
        else:
            path.write_bytes(data.encode() if isinstance(data, str) else data)
        return path

    return to_file


def whole(reader):
    """All labels, weights and rows (as lists of column and value, or of values)."""
    labels, weights, rows = [], [], []
    lines = 0
    for batch in reader:
        values, indices, starts = batch.rows
        assert not values.flags.writeable
        assert batch.lines >= lines
        lines = batch.lines
        if indices is None:
            part = values.reshape(-1, int(starts[0])).tolist()
            assert batch.width == starts[0]
        else:
            assert indices.dtype == np.uint32
            assert not len(indices) or indices.max() < batch.width
            pairs = list(zip(indices.tolist(), values.tolist(), strict=True))
            part = [pairs[i:j] for i, j in itertools.pairwise(starts.tolist())]
        assert len(part) > 0
        rows += part
        labels += [None] * len(part) if batch.labels is None else batch.labels.tolist()
        weights += [] if batch.weights is None else batch.weights.tolist()
    return labels, weights, rows


def compressed(data, how):
    if how == ".gz":
        half = len(data) // 2
        return gzip.compress(data[:half]) + gzip.compress(data[half:])  # two members
    return pa.compress(data, "zstd", asbytes=True) if how == ".zst" else data


def number(name, bits=18):
    return hash_bytes(name.encode()) & (2**bits - 1)


def category(name, value, bits=18):
    return hash_bytes(value.encode(), hash_bytes(name.encode())) & (2**bits - 1)


def product(i, j, bits=18):
    return mix_bits(i << 32 | j) & (2**bits - 1)


# Every format, compressed or not.


@pytest.mark.parametrize("how", ["", ".gz", ".zst"])
def test_svmlight_is_read_as_by_scikit_learn(write, how):
    reader = read(write("data.svm" + how, compressed(SVMLIGHT, how)))
    labels, weights, rows = whole(reader)
    X, y = load_svmlight_file(io.BytesIO(SVMLIGHT), dtype=np.float32)
    assert labels == y.tolist()
    assert weights == []
    pairs = list(zip(X.indices.tolist(), X.data.tolist(), strict=True))
    assert rows == [pairs[i:j] for i, j in itertools.pairwise(X.indptr)]
    assert reader.notices == ["The query numbers (qid) are not used."]
    assert (reader.format, reader.hashed, reader.bits, reader.bad) == ("svmlight", False, None, 0)
    assert whole(reader) == (labels, weights, rows)


@pytest.mark.parametrize("how", ["", ".gz", ".zst"])
def test_vowpal_wabbit_is_read_as_naively(write, how):
    reader = read(write("data.vw" + how, compressed(VW, how)), names=10)
    space_a, space_b = hash_bytes(b"a"), hash_bytes(b"b")
    mask = 2**18 - 1
    assert whole(reader) == (
        [i % 2 for i in range(200)],
        [2] * 200,
        [
            [
                (hash_bytes(b"x%d" % (i % 7), space_a) & mask, 0.5),
                (hash_bytes(b"y", space_a) & mask, 1),
                (space_b + i & mask, 1),
            ]
            for i in range(200)
        ],
    )
    assert reader.names[hash_bytes(b"x0", space_a) & mask] == "a^x0"
    assert reader.names[space_b & mask] == "b^0"
    assert len(reader.names) == 10
    assert reader.hashed


@pytest.mark.parametrize("how", ["", ".gz", ".zst"])
@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet", "arrow"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_tables_of_numbers_are_dense(write, tmp_path, kind, how, dtype):
    frame = pd.read_csv(io.StringIO(NUMBERS))
    text = NUMBERS.replace(",", "\t") if kind == "tsv" else NUMBERS
    path = write("data." + kind, text if kind in ("csv", "tsv") else frame)
    if how:
        path = write(f"data.{kind}{how}", compressed(path.read_bytes(), how))
    reader = read(path, dtype=dtype)
    labels, _, rows = whole(reader)
    assert labels == frame["label"].tolist()
    assert rows == frame[["a", "b", "c"]].to_numpy(dtype).tolist()
    assert [list(c) for c in reader.columns] == [[c, "number"] for c in "abc"]
    assert (reader.hashed, reader.names) == (False, {0: "a", 1: "b", 2: "c"})


@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet", "arrow"])
def test_numbers_categories_and_text_mix_in_one_row(write, kind):
    frame = pd.read_csv(io.StringIO(PEOPLE))
    text = frame.to_csv(index=False, sep="\t") if kind == "tsv" else PEOPLE
    reader = read(
        write("data." + kind, text if kind in ("csv", "tsv") else frame), text=["text"], names=99
    )
    labels, _, rows = whole(reader)
    assert labels == frame["y"].tolist()
    assert (reader.hashed, reader.bits) == (True, 20)
    assert [k for _, k in reader.columns] == ["number", "category", "text"]
    for row, age, colour in zip(rows, frame["age"], frame["colour"].fillna(""), strict=True):
        expected = [(number("age", 20), age)] if age else []
        expected += [(category("colour", colour, 20), 1)] if colour else []
        assert row[: len(expected)] == expected
        words = [reader.names[i] for i, _ in row[len(expected) :]]
        assert sorted(words) == ["text=" + w for w in ("he", "left", "no", "said", "then")]
        assert np.isclose(sum(v * v for _, v in row[len(expected) :]), 1)


# Batches.

TINY = {"data.svm": SVMLIGHT, "data.vw": VW, "data.csv": NUMBERS.encode(), "p.csv": PEOPLE.encode()}


@pytest.mark.parametrize("name", TINY)
@pytest.mark.parametrize("size", [1, 100, 1001])
def test_any_size_of_batches_gives_the_same_rows(write, name, size):
    path = write(name, TINY[name].rstrip(b"\n"))
    options = {"text": ["text"]} if name == "p.csv" else {}
    assert whole(read(path, batch_bytes=size, **options)) == whole(read(path, **options))


@settings(max_examples=30)
@given(st.lists(st.text("a1,\n\"' ", max_size=8), min_size=2, max_size=9), st.integers(1, 40))
def test_quoted_cells_are_cut_in_the_right_places(cells, size):
    text = "".join('"' + cell.replace('"', '""') + '",1\n' for cell in ["word", *cells])
    text = "text,y\n" + text
    reader = read(io.BytesIO(text.encode()), format="csv", text=["text"], batch_bytes=size)
    assert len(whole(reader)[2]) == len(cells) + 1


def test_batches_say_how_far_they_are(write):
    path = write("data.svm.gz", gzip.compress(SVMLIGHT))
    reader = read(path, batch_bytes=500)
    *_, last = batches = list(reader)
    assert len(batches) > 5
    assert (last.lines, last.bytes_read, last.width) == (201, reader.size, 7)


def readers_threads():
    return [t for t in threading.enumerate() if t.name.startswith("rosenblatt")]


@pytest.mark.parametrize("name", ["data.svm", "p.csv", "data.svm.gz"])
def test_leaving_early_leaves_no_thread_and_no_open_file(write, name):
    data = TINY[name.removesuffix(".gz")]
    path = write(name, gzip.compress(data) if name.endswith(".gz") else data)

    def is_open():
        links = (f"/proc/self/fd/{n}" for n in os.listdir("/proc/self/fd"))
        return str(path) in [os.readlink(link) for link in links if os.path.exists(link)]

    reader = read(path, batch_bytes=100)
    batches = iter(reader)
    next(batches)
    if sys.platform == "linux":
        assert is_open()
    del batches
    assert not readers_threads()
    for _ in reader:
        break
    if sys.platform == "linux":
        assert not is_open()


def test_an_error_ends_the_thread():
    with pytest.raises(ValueError, match="line 2, column 3"):
        list(read(io.BytesIO(b"1 1:1\n1 x\n"), format="svmlight"))
    assert not readers_threads()


# Streams.


def test_an_open_file_is_read_from_where_it_stands_and_left_open():
    file = io.BytesIO(b"junk" + SVMLIGHT)
    file.seek(4)
    reader = read(file, format="svm")
    assert whole(reader) == whole(reader)
    assert not file.closed
    with pytest.raises(ValueError, match="binary"):
        read(io.StringIO("1 1:1"), format="svm")


@pytest.mark.parametrize("how", ["", ".gz", ".zst"])
@pytest.mark.parametrize("kind", ["svmlight", "csv", "arrow"])
def test_a_pipe_is_read_once(write, kind, how):
    path = write("data.arrow", pd.read_csv(io.StringIO(NUMBERS)))
    data = {"svmlight": SVMLIGHT, "csv": NUMBERS.encode(), "arrow": path.read_bytes()}[kind]
    end, start = os.pipe()
    writer = threading.Thread(
        target=lambda: [os.write(start, compressed(data, how)), os.close(start)]
    )
    writer.start()
    with open(end, "rb") as pipe:
        reader = read(pipe, format=kind)
        assert whole(reader) == whole(read(io.BytesIO(data), format=kind))
        writer.join()
        if kind != "arrow":  # which is copied
            with pytest.raises(ValueError, match="read only once"):
                list(reader)


def test_standard_input_needs_neither_pyarrow_nor_scikit_learn():
    script = (
        "import sys; from rosenblatt.readers import read\n"
        "print(sum(len(b.labels) for b in read('-', format='vw')))\n"
        "print(not {'pyarrow', 'sklearn', 'pandas'} & set(sys.modules))"
    )
    run = subprocess.run([sys.executable, "-c", script], input=VW, capture_output=True, check=True)
    assert run.stdout.split() == [b"200", b"True"]


# Broken input.


@pytest.mark.parametrize(
    ("name", "line", "where", "why"),
    [
        ("data.svm", b"1 1:x", "column 5", "a value is not a finite number"),
        ("data.svm", b"1 1099511627776:1", "column 3", "an index is beyond the last column"),
        ("data.svm", b"1 0:1", "column 3", r"below the first column \(1; state first=0"),
        ("data.svm", b"1 1:1\0", "column 6", "there is a NUL byte"),
        ("data.vw", b"x |a b", "column 1", "the label is not a finite number"),
        ("data.vw", b"1 |a \0", "column 6", "there is a NUL byte"),
        ("data.csv", b"1,2,x,4", "column 'label'", r"'x' is not a number; .*category=\['label'\]"),
        ("data.csv", b"1, 2x ,3,4", "column 'b'", r"'2x' is not a number; .*category=\['b'\]"),
        ("data.csv", b"1,2,,4", "column 'label'", "the label is not a finite number"),
        ("data.csv", b"1,2,3", "column 'label'", "too few or too many cells"),
        ("data.csv", b"1,2,3,4,5", "column 'c'", "too few or too many cells"),
        ("data.csv", b"1,1e99,3,4", "column 'b'", "a value is too large for its type"),
        ("data.csv", b"1,2,3,\0", "column 'c'", "there is a NUL byte"),
        ("p.csv", b"old,red,z,A", "column 'age'", r"'old' is not a number; .*category=\['age'\]"),
        ("p.csv", b"1e99,red,z,A", "column 'age'", "a value is too large for its type"),
        ("p.csv", b"1,red,z", "column 8", "the row has 3 cells instead of 4"),
        ("p.csv", b"1,red,z,", "column 'y'", "the label is missing"),
        ("p.csv", b"1,r\xffd,z,A", "column 4", "the bytes are not UTF-8"),
        ("p.csv", b"1,r\0d,z,A", "column 4", "there is a NUL byte"),
    ],
)
def test_a_broken_row_is_told_with_its_place_or_skipped(write, monkeypatch, name, line, where, why):
    monkeypatch.setattr(readers, "SAMPLE", 300)
    good = TINY[name]
    lines = good.count(b"\n")
    header = b"" if name == "data.vw" else good.split(b"\n")[0] + b"\n"
    path = write(name, good + line + b"\n" + line + b"\n" + good.removeprefix(header))
    options = {"text": ["text"]} if name == "p.csv" else {}
    with pytest.raises(ValueError, match=rf"{name}, line {lines + 1}, {where}: .*{why}.*\.$"):
        list(read(path, **options))
    with pytest.raises(ValueError, match=rf"line {lines + 2}, .*; 1 rows before it were broken"):
        list(read(path, skip_bad=1, batch_bytes=999, **options))
    reader = read(path, skip_bad=2, **options)
    clean = whole(read(write("clean-" + name, good), **options))
    assert whole(reader) == tuple(part + part for part in clean)
    assert reader.bad == 2


def test_a_broken_row_of_parquet_is_told_or_skipped(write):
    frame = pd.DataFrame({"x": [1.0, np.inf, 3.0, np.nan], "y": [0, 1, 1, 0]})
    path = write("data.parquet", frame)
    with pytest.raises(ValueError, match=r"data.parquet, row 2, column 'x': a value is too large"):
        list(read(path))
    reader = read(path, skip_bad=1)
    assert whole(reader) == ([0, 1, 0], [], [[1], [3], [0]])
    assert reader.notices == ["Missing numbers count as 0."]


@pytest.mark.parametrize("how", [".gz", ".zst"])
def test_a_compressed_file_that_is_cut_short_is_told(write, how):
    data = compressed(SVMLIGHT * 10, how)
    with pytest.raises(ValueError, match="cut short"):
        list(read(write("short.svm" + how, data[:-9])))
    if how == ".zst":
        return  # damage that keeps its form shows in the rows: not every writer adds a checksum
    broken = data[: len(data) // 2] + b"\xff" * 9 + data[len(data) // 2 + 9 :]
    with pytest.raises(ValueError, match="the compressed data are damaged"):
        list(read(write("broken.svm" + how, broken)))


def test_files_that_cannot_be_read_are_told_in_a_sentence(write, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"^There is no file .*nowhere.csv\.$"):
        read(tmp_path / "nowhere.csv")
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileNotFoundError, match="There is no file in"):
        read(tmp_path / "empty")
    with pytest.raises(ValueError, match=r"empty.svm is empty\.$"):
        read(write("empty.svm", b""))
    with pytest.raises(ValueError, match="has no rows below its header"):
        read(write("header.csv", "a,b,label\n"), header=True)
    with pytest.raises(ValueError, match=r"does not tell its format; state one of: svmlight, vw"):
        read(write("data.txt", SVMLIGHT))
    with pytest.raises(ValueError, match="'xls' is unknown; there are: svmlight"):
        read(write("data.svm", SVMLIGHT), format="xls")
    with pytest.raises(ValueError, match="only Parquet and Arrow can be several"):
        read(tmp_path, format="csv")
    with pytest.raises(ValueError, match="is a folder without Parquet"):
        read(write("empty/data.txt", SVMLIGHT).parent)
    with pytest.raises(ValueError, match="no column 'z'; there are: a, b, label, c"):
        read(write("data.csv", NUMBERS), label="z")
    with pytest.raises(ValueError, match="two columns that are called 'a'"):
        read(write("twice.csv", "a,a,y\n1,2,3\n"))
    with pytest.raises(ValueError, match="cannot be read as parquet"):
        read(write("data.bin", SVMLIGHT), format="parquet")


def test_a_row_may_be_long_but_not_endless(write, monkeypatch):
    long = b"1 " + b" ".join(b"%d:1" % i for i in range(1, 200_000))
    _, _, (row, *_) = whole(read(write("long.svm", long + b"\n1 1:1"), batch_bytes=9))
    assert len(row) == 199_999
    monkeypatch.setattr(readers, "LONGEST_ROW", 1 << 20)
    with pytest.raises(
        ValueError, match=r"endless.svm, line 2, column 1: the row is longer than 1 MB"
    ):
        list(read(write("endless.svm", b"1 1:1\n" + long * 2), batch_bytes=9))
    with pytest.raises(ValueError, match="longer than 1 MB"):
        list(read(write("open.csv", 'text,y\na,b\nc,d\n"never closed,' + "x\n" * 3_000_000)))


def test_what_cannot_be_asked_for(write):
    path = write("data.csv", NUMBERS)
    for wrong in (
        {"ngrams": (2, 1)},
        {"bits": 40},
        {"first": 2},
        {"dtype": np.int32},
        {"batch_bytes": 0},
        {"cross": ["a"]},
        {"features": {"what": 1}},
    ):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            read(path, **wrong)


# What svmlight and tables leave to find out.


def test_the_first_index_is_found_out_or_stated():
    def columns(text, **options):
        _, _, rows = whole(read(io.BytesIO(text), format="svm", **options))
        return [[i for i, _ in row] for row in rows]

    assert columns(b"1 1:1 2:1\n1\n") == [[0, 1], []]
    assert columns(b"1 1:1 2:1\n1 0:1\n") == [[1, 2], [0]]
    assert columns(b"1 1:1 # 0:1\n") == [[0]]
    assert columns(b"1 1:1\n", first=0) == [[1]]


@pytest.mark.parametrize(
    ("text", "options", "label", "names"),
    [
        ("a,y,b\n1,2,3\n", {}, "y", ["a", "b"]),
        ("a,Class,b\n1,2,3\n", {}, "Class", ["a", "b"]),
        ("a,b,c\n1,2,3\n", {}, "c", ["a", "b"]),
        ("a,b,c\n1,2,3\n", {"label": 0}, "a", ["b", "c"]),
        ("a,b,c\n1,2,3\n", {"label": -2}, "b", ["a", "c"]),
        ("a,b,c\n1,2,3\n", {"label": "b"}, "b", ["a", "c"]),
        ("a,b,c\n1,2,3\n", {"label": False}, None, ["a", "b", "c"]),
        ("1,2,3\n4,5,6\n", {}, "2", ["0", "1"]),
        ("1,2,3\n4,5,6\n", {"header": True}, "3", ["1", "2"]),
        ("0,1,target\n4,5,6\n", {}, "target", ["0", "1"]),
        ("\ufeffx,y\n4,5\n", {}, "y", ["x"]),
        ("\n\r\nx,y\n4,5\n", {}, "y", ["x"]),
        ("\ufeff7,8\n4,5\n", {}, "1", ["0"]),
        ("p,x\ne,x\np,y\n", {}, "1", ["0"]),
        ("kind,shape\ne,x\np,y\n", {}, "shape", ["kind"]),
        ('"kind,\nof",shape\ne,x\np,y\n', {}, "shape", ["kind,\nof"]),
        ("ham,hello\nspam,buy\nham,bye\n", {"label": 0}, "0", ["1"]),
        (",x,y\n0,red,1\n1,red,1\n", {}, "y", ["", "x"]),
    ],
)
def test_header_and_label_are_found_out_or_stated(text, options, label, names):
    reader = read(io.BytesIO(text.encode()), format="csv", **options)
    features = reader.features()
    assert [name for name, _ in reader.columns] == names
    assert (features["label"] or None) == label
    labels, _, rows = whole(reader)
    has_header = label is None or not label.isdigit() or "header" in options
    assert len(rows) == text.strip().count("\n") + 1 - has_header - text.count(",\n")
    assert (labels[0] is None) == (label is None)


def test_missing_numbers_and_blank_lines():
    text = 'a,b,y\n1,,0\n\n?,NA,1\r\n "3" , 4,1\n nan,null,1\n'
    reader = read(io.BytesIO(text.encode()), format="csv")
    assert whole(reader) == ([0, 1, 1, 1], [], [[1, 0], [0, 0], [3, 4], [0, 0]])
    assert reader.notices == ["Missing numbers count as 0."]
    words = (
        text.replace(' "3" ', '"3"')
        .replace(" nan", "nan")
        .replace(",y", ",c,y")
        .replace(",0\n", ",red,A\n")
        .replace(",1", ",,B")
    )
    _, _, rows = whole(read(io.BytesIO(words.encode()), format="csv"))
    a, b, red = number("a"), number("b"), category("c", "red")
    assert rows == [[(a, 1), (red, 1)], [], [(a, 3), (b, 4)], []]


def test_labels_may_be_words_over_numbers():
    reader = read(io.BytesIO(b"1,2,yes\n3,,no\n"), format="csv")
    assert whole(reader) == (["yes", "no"], [], [[1, 2], [3, 0]])
    assert not reader.hashed


# Folders.


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
            "when": pd.to_datetime(["2020-01-01", "2020-01-02"]),
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
    assert reader.notices == ["The column 'when' is neither numbers nor strings: not used."]


# The same features from another file.


@pytest.mark.parametrize("text", [NUMBERS, PEOPLE])
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_features_are_made_again_from_columns_in_another_order(write, text, kind):
    frame = pd.read_csv(io.StringIO(text))
    options = {"text": ["text"], "cross": ["age,colour"]} if text is PEOPLE else {}
    reader = read(write("one.csv", text), **options)
    features = json.loads(json.dumps(reader.features()))
    expected = whole(reader)

    other = frame[frame.columns[::-1]].assign(extra="words, and more", more=1)
    other = other.to_csv(index=False) if kind == "csv" else other
    again = read(write("other." + kind, other), features=features)
    assert whole(again) == expected
    assert json.loads(json.dumps(again.features())) == features

    unlabelled = frame.drop(columns=features["label"])
    unlabelled = unlabelled.to_csv(index=False) if kind == "csv" else unlabelled
    path = write("unlabelled." + kind, unlabelled)
    assert whole(read(path, features=features)) == ([None] * 200, *expected[1:])
    with pytest.raises(ValueError, match="has no column"):
        read(path, features=features, label=features["label"])
    assert whole(read(write("one.csv", text), features=features, label=False))[0] == [None] * 200
    with pytest.raises(ValueError, match="has no column"):
        read(write("few.csv", "y,a\n1,2\n"), features=features)


def test_features_of_lines_are_made_again():
    zero = read(io.BytesIO(b"1 0:1 1:1\n"), format="svm").features()
    assert whole(read(io.BytesIO(b"1 1:1\n"), format="svm", features=zero))[2] == [[(1, 1)]]
    vw = read(io.BytesIO(VW), format="vw", bits=5, cross=["a,b"])
    assert whole(read(io.BytesIO(VW), format="vw", features=vw.features())) == whole(vw)
    with pytest.raises(ValueError, match="holds vw rows, not svmlight rows as before"):
        read(io.BytesIO(VW), format="vw", features=zero)
    assert whole(read(io.BytesIO(VW), format="vw", label=False))[0] == [None] * 200


# Products.


def test_crosses_of_columns_and_namespaces_are_the_naive_ones(monkeypatch):
    monkeypatch.setattr(readers, "MOST_PRODUCTS", 20)
    text = b"n,c,d,y\n" + b"2,red,up,1\n3,,down,0\n,blue,,1\n" * 3
    reader = read(io.BytesIO(text), format="csv", cross=["n,c", "c,d"], names=99)
    n, up, down = number("n"), category("d", "up"), category("d", "down")
    red, blue = category("c", "red"), category("c", "blue")
    first = [(n, 2), (red, 1), (up, 1), (product(n, red), 2), (product(red, up), 1)]
    expected = [first, [(n, 3), (down, 1)], [(blue, 1)]] * 3
    assert whole(reader) == ([1, 0, 1] * 3, [], expected)
    assert reader.names[product(n, red)] == "n × c=red"

    line = b"1 |a x y |b z\n"
    space_a, space_b, mask = hash_bytes(b"a"), hash_bytes(b"b"), 2**18 - 1
    x, y = hash_bytes(b"x", space_a) & mask, hash_bytes(b"y", space_a) & mask
    z = hash_bytes(b"z", space_b) & mask
    for options, pairs in (
        ({"cross": ["a,b"]}, [(x, z), (y, z)]),
        ({"cross": ["a,a"]}, [tuple(sorted((x, y)))]),
        ({"pairs": True}, [tuple(sorted(p)) for p in ((x, y), (x, z), (y, z))]),
    ):
        _, _, (row,) = whole(read(io.BytesIO(line), format="vw", **options))
        assert row == [(i, 1) for i in (x, y, z)] + [(product(i, j), 1) for i, j in pairs]


def test_pairs_of_a_table_of_numbers_are_hashed():
    a, b = number("a"), number("b")
    _, _, rows = whole(read(io.BytesIO(b"a,b,y\n2,3,1\n0,1,0\n"), format="csv", pairs=True))
    assert rows == [[(a, 2), (b, 3), (product(*sorted((a, b))), 6)], [(b, 1)]]


def test_products_have_bounds(monkeypatch):
    monkeypatch.setattr(readers, "MOST_PRODUCTS", 1)
    line = b"1 |a " + b" ".join(b"f%d" % i for i in range(20)) + b"\n"
    with pytest.raises(ValueError, match="A row has over 16 products"):
        list(read(io.BytesIO(line), format="vw", pairs=True))
    with pytest.raises(ValueError, match="numbered columns only"):
        read(io.BytesIO(SVMLIGHT), format="svm", pairs=True)


def test_character_grams_and_names():
    reader = read(
        io.BytesIO(b"text,y\nAb a,1\n"),
        format="csv",
        text=["text"],
        ngrams=(2, 3),
        characters=True,
        names=3,
    )
    _, _, (row,) = whole(reader)
    assert len(row) == 5
    assert list(reader.names.values()) == ["text=Ab", "text=Ab ", "text=b "]


def test_compressed_parquet_inside_is_read_too(write, tmp_path):
    path = tmp_path / "data.parquet"
    parquet.write_table(pa.table({"x": [1.0, 2.0], "y": [0, 1]}), path, compression="zstd")
    assert whole(read(path)) == ([0, 1], [], [[1], [2]])


# Any bytes.

letters = st.sampled_from([*b'0123456789.:-+e|\'# \t\r\n\0\xffab,,\n\n""'])


@settings(max_examples=300)
@given(st.lists(letters, max_size=60).map(bytes), st.integers(1, 70))
@pytest.mark.parametrize("kind", ["svmlight", "vw", "csv", "tsv", "parquet", "arrow"])
def test_any_bytes_are_rows_or_one_sentence(kind, data, size):
    with contextlib.suppress(ValueError):
        rows = repr(whole(read(io.BytesIO(data), format=kind)))
        assert repr(whole(read(io.BytesIO(data), format=kind, batch_bytes=size))) == rows


# What is asked for and has no meaning is never passed over in silence.


@pytest.mark.parametrize(
    ("data", "options", "sentence"),
    [
        ("data.csv", {"ngrams": (1, 2)}, "ngrams and characters are of text"),
        ("data.csv", {"characters": True}, "ngrams and characters are of text"),
        ("data.vw", {"ngrams": (2, 2)}, "ngrams and characters are of text"),
        ("data.vw", {"label": "kind"}, "A line of vw begins with its label"),
        ("data.svm", {"label": 0}, "A line of svmlight begins with its label"),
        ("data.svm", {"category": ["a"]}, "A line of svmlight begins with its label"),
        ("data.svm", {"header": True}, "header is about CSV and TSV"),
        ("data.csv", {"first": 1}, "first is about svmlight"),
        ("data.csv", {"label": True}, "label=True is no column"),
        ("data.csv", {"category": ["z"]}, "no column 'z'"),
    ],
)
def test_options_without_a_meaning_are_refused(write, data, options, sentence):
    with pytest.raises(ValueError, match=rf"{sentence}.*\.$"):
        read(write(data, TINY[data]), **options)


def test_features_are_made_as_before_and_not_otherwise(write):
    features = read(write("data.csv", NUMBERS)).features()
    with pytest.raises(ValueError, match="features says how features are made; leave out text"):
        read(write("data.csv", NUMBERS), features=features, pairs=True)
    assert whole(read(write("data.csv", NUMBERS), features=features, text=[], cross=[]))[2]


def test_bits_without_a_hash_are_noticed(write):
    notice = "The columns are numbers and not hashed: bits is not used."
    assert notice in read(write("data.csv", NUMBERS), bits=5).notices
    assert notice in read(write("data.svm", SVMLIGHT), bits=5).notices
    assert notice not in read(write("data.vw", VW), bits=5).notices


def test_a_string_is_one_name(write):
    reader = read(write("p.csv", PEOPLE), text="text")
    assert [kind for _, kind in reader.columns] == ["number", "category", "text"]


# Labels and columns are what they are, whatever their first rows look like.


def test_a_header_alone_has_no_rows():
    for text in ("a,b,label\n", "a,b,c", '"kind, of",shape\n'):
        with pytest.raises(ValueError, match=r"has no rows below its header \(state header=False"):
            read(io.BytesIO(text.encode()), format="csv")
    assert whole(read(io.BytesIO(b"1,2,3\n"), format="csv"))[2] == [[1, 2]]
    assert whole(read(io.BytesIO(b"red,up\n"), format="csv", header=False))[0] == ["up"]
    features = read(io.BytesIO(b"red,up\nblue,down\nred,up\n"), format="csv").features()
    row = read(io.BytesIO(b"red,up\n"), format="csv", features=features)
    assert whole(row)[2] == [[(category("0", "red"), 1)]]


def test_large_integers_stay_different_labels(write):
    big = [2**53, 2**53 + 1, 2**63 - 1, 7]
    expected = list(map(str, big))
    numbers = "x,y\n" + "".join(f"1,{label}\n" for label in big)
    assert whole(read(io.BytesIO(numbers.encode()), format="csv"))[0] == expected
    words = numbers.replace("x,", "c,x,").replace("1,", "red,1,")
    assert whole(read(io.BytesIO(words.encode()), format="csv"))[0] == expected
    path = write("big.parquet", pd.DataFrame({"x": 1.0, "y": big}))
    assert whole(read(path))[0] == big
    features = read(io.BytesIO(numbers.encode()), format="csv").features()
    assert whole(read(path, features=features))[0] == expected


@pytest.mark.parametrize("columns", ["{},1", "{},1,red"])
def test_a_large_label_that_comes_late_is_told(monkeypatch, columns):
    monkeypatch.setattr(readers, "SAMPLE", 100)
    row = columns.format
    text = "y,x,c\n"[: 2 * len(columns.split(","))].strip(",\n") + "\n"
    text += "".join(f"{row(i % 2)}\n" for i in range(100)) + "\n" + row(2**53 + 1) + "\n"
    where = r"line 103, column 'y': the label is too large a number.*words\."
    with pytest.raises(ValueError, match=where):
        list(read(io.BytesIO(text.encode()), format="csv"))
    labels, _, _ = whole(read(io.BytesIO(text.encode()), format="csv", category=["y"]))
    assert labels[-1] == str(2**53 + 1)


def test_large_labels_of_lines_are_told():
    for kind, line in ("svmlight", b" 1:1\n"), ("vw", b" |a b\n"):
        text = b"# first\n" * (kind == "svmlight") + b"1" + line + b"-%d" % 2**60 + line
        with pytest.raises(ValueError, match=rf"line {text.count(10)}, column 1: the label is too"):
            list(read(io.BytesIO(text), format=kind))
        assert len(whole(read(io.BytesIO(text), format=kind, label=False))[2]) == 2


def test_truth_values_are_words_as_labels_and_numbers_as_features(write):
    frame = pd.DataFrame({"flag": [True, False, True], "x": [1.0, 2, 3], "y": [True, False, False]})
    words = ["True", "False", "False"]
    assert whole(read(write("flags.parquet", frame))) == (words, [], [[1, 1], [0, 2], [1, 3]])
    reader = read(write("flags.csv", frame.to_csv(index=False)))
    labels, _, rows = whole(reader)
    assert labels == words
    again = read(write("flags.parquet", frame), features=reader.features())
    assert whole(again) == (labels, [], rows)


def test_words_below_a_megabyte_of_numbers_are_stated(write, monkeypatch):
    monkeypatch.setattr(readers, "SAMPLE", 100)
    text = "code,x,y\n" + "".join(f"{i},1,{i % 2}\n" for i in range(100)) + "B7,1,0\n"
    sentence = r"line 102, column 'code': 'B7' is not a number; .* state category=\['code'\]\."
    with pytest.raises(ValueError, match=sentence):
        list(read(write("codes.csv", text)))
    reader = read(write("codes.csv", text), category=["code"])
    _, _, rows = whole(reader)
    assert rows[-1] == [(category("code", "B7"), 1), (number("x"), 1)]
    assert whole(read(write("codes.csv", text), features=reader.features()))[2] == rows
    frame = pd.DataFrame({"code": [1, 2], "y": [0, 1]})
    _, _, rows = whole(read(write("codes.parquet", frame), category="code"))
    assert rows == [[(category("code", "1"), 1)], [(category("code", "2"), 1)]]


def test_a_word_that_a_model_cannot_use_is_told(write):
    features = read(write("data.csv", NUMBERS)).features()
    with pytest.raises(ValueError, match=r"column 'a': 'x' is not a number, which the model wants"):
        list(read(write("words.csv", "a,b,label,c\nx,2,1,3\n"), features=features))


def test_svmlight_without_labels_is_read_when_none_is_wanted():
    text = b"1:1 3:2\n5 2:1\nqid:4 1:3 # why\n0.5 qid:4 2:2\n1\n"
    labels, _, rows = whole(read(io.BytesIO(text), format="svm", label=False))
    assert labels == [None] * 5
    assert rows == [[(0, 1), (2, 2)], [(1, 1)], [(0, 3)], [(1, 2)], []]
    with pytest.raises(ValueError, match="line 1, column 2: the label is not a finite number"):
        list(read(io.BytesIO(text), format="svm"))
    with pytest.raises(ValueError, match="line 1, column 2: a feature is not written as index"):
        list(read(io.BytesIO(b"1.5:1\n"), format="svm", label=False))


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may read every file")
def test_a_file_that_may_not_be_read_is_told(write):
    path = write("secret.svm", SVMLIGHT)
    path.chmod(0)
    with pytest.raises(
        PermissionError, match=r"secret.svm could not be read: permission denied\.$"
    ):
        list(read(path))


def test_what_the_system_refuses_is_told_in_a_sentence(write, monkeypatch):
    path = write("data.svm", SVMLIGHT)

    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("builtins.open", refuse)
    with pytest.raises(
        PermissionError, match=r"^.*data.svm could not be read: permission denied\.$"
    ):
        read(path)


# What else a file may turn out to be.


@pytest.mark.parametrize(
    ("name", "data", "sentence"),
    [
        ("nul.csv", b"\0" * 500, "line 1, column 1: there is a NUL byte"),
        ("wide.csv", "a,y\n1,0\n".encode("utf-16"), "line 1, column 4: there is a NUL byte"),
        ("blank.csv", b"\n\r\n\n", "has no rows"),
        ("mac.csv", b"a,y\r1,0\r2,1\r", "lines end in carriage returns only"),
        ("open.csv", b'text,y\n"a,1\nb,0\n', "a quotation mark below the first row is never"),
        ("semicolons.csv", b"a;b;y\n1;2;0\n2;3;1\n", "has only one column, 'a;b;y', and no label"),
        ("empty.parquet", b"", "empty.parquet is empty"),
        ("text.parquet", NUMBERS.encode(), "cannot be read as parquet: it is damaged or something"),
    ],
)
def test_files_that_are_something_else_are_told(tmp_path, name, data, sentence):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(ValueError, match=rf"{name}.*{sentence}.*\.$|^.*{sentence}\.$"):
        list(read(tmp_path / name))


@pytest.mark.parametrize("name", ["data.svm", "data.vw"])
def test_a_mark_of_utf8_before_lines_is_passed_over(write, name):
    expected = whole(read(write(name, TINY[name])))
    assert whole(read(write("marked-" + name, b"\xef\xbb\xbf" + TINY[name]))) == expected


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_a_mark_of_utf8_within_a_table_belongs_to_its_cell(size):
    text = "c,y\nred,1\n\ufeffred,0\n"
    _, _, rows = whole(read(io.BytesIO(text.encode()), format="csv", batch_bytes=size))
    assert rows == [[(category("c", "red"), 1)], [(category("c", "\ufeffred"), 1)]]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
@pytest.mark.parametrize("name", ["data.svm", "data.vw", "data.csv", "p.csv"])
def test_a_named_pipe_is_read_once(tmp_path, name):
    os.mkfifo(tmp_path / name)
    writer = threading.Thread(target=(tmp_path / name).write_bytes, args=(TINY[name],))
    writer.start()
    reader = read(tmp_path / name)
    assert reader.size is None
    expected = whole(read(io.BytesIO(TINY[name]), format=name.split(".")[1]))
    assert whole(reader) == expected
    writer.join()
    with pytest.raises(ValueError, match="can be read only once"):
        list(reader)


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="this system has no endless file")
@pytest.mark.parametrize("kind", ["svmlight", "vw", "csv", "parquet"])
def test_an_endless_file_is_refused(monkeypatch, kind):
    monkeypatch.setattr(readers, "LONGEST_ROW", 1 << 20)
    with pytest.raises(ValueError, match=r"longer than 1 MB|neither Parquet nor Arrow"):
        list(read("/dev/zero", format=kind))


def test_cells_longer_than_a_block_of_arrow_are_read(write):
    long = "word " * 600_000
    path = write("long.csv", f"text,y\n{long},1\nshort one,0\n{long},1\n")
    labels, _, rows = whole(read(path, text="text"))
    assert labels == [1, 0, 1]
    assert list(map(len, rows)) == [1, 2, 1]
    _, _, (row,) = whole(read(write("wide.csv", f"{'a' * 200_000},y\n1,2\n")))
    assert row == [1]


def test_columns_of_parquet_that_cannot_be_used_are_told(tmp_path):
    def written(**columns):
        parquet.write_table(pa.table(columns), tmp_path / "data.parquet")
        return tmp_path / "data.parquet"

    with pytest.raises(ValueError, match=r"column 'y' is neither numbers nor strings, but list"):
        read(written(a=[1.0, 2.0], y=[[0], [1]]))
    features = read(written(a=[1.0, 2.0], y=[0, 1])).features()
    with pytest.raises(ValueError, match=r"column 'a' is neither numbers nor strings, but struct"):
        read(written(a=[{"b": 1}], y=[0]), features=features)
    with pytest.raises(ValueError, match=r"row 2, column 'a': 'x' is not a number, which the mode"):
        list(read(written(a=["1.5", "x"], y=[0, 1]), features=features))
    assert whole(read(written(a=["1.5", "x"], y=[0, 1]), features=features, skip_bad=1))[0] == [0]


def test_damage_inside_of_parquet_is_told(tmp_path):
    path = tmp_path / "data.parquet"
    parquet.write_table(pa.table({"a": np.arange(100.0), "y": [0, 1] * 50}), path)
    data = path.read_bytes()
    path.write_bytes(data[:40] + b"\xff" * 40 + data[80:])
    with pytest.raises(ValueError, match=r"data.parquet, after row 0: the file is damaged"):
        list(read(path))
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "1.parquet").write_bytes(data)
    (tmp_path / "parts" / "2.parquet").write_bytes(b"junk")
    with pytest.raises(ValueError, match=r"2.parquet cannot be read as parquet"):
        read(tmp_path / "parts")
    parquet.write_table(pa.table({"a": ["x"], "y": ["z"]}), tmp_path / "parts" / "2.parquet")
    with pytest.raises(ValueError, match=r"parts, after row 100: .* other types than those of the"):
        list(read(tmp_path / "parts"))
