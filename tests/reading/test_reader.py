"""What holds for every format: rows, batches, threads, broken input."""

import contextlib
import gzip
import io
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from rosenblatt.reading.batches import join_batches
from rosenblatt.reading.reader import OutgrownError, read as read_as_usual, read_whole

from ..conftest import ROUNDS
from .samples import (
    NUMBERS,
    PEOPLE,
    SVMLIGHT,
    TINY,
    VW,
    category,
    compressed,
    notices,
    number,
    read,
    readers_threads,
    refused,
    whole,
)


@pytest.mark.parametrize(
    ("kind", "how"), [("csv", ""), ("csv", ".gz"), ("tsv", ".zst"), ("parquet", ""), ("arrow", "")]
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_tables_of_numbers_are_dense(write, kind, how, dtype):
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
    data = text if kind in ("csv", "tsv") else frame
    reader = read(write("data." + kind, data), text=["text"], ngrams=(1, 1), names=99)
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


@pytest.mark.parametrize("name", TINY)
@pytest.mark.parametrize("size", [1, 100, 1001])
def test_any_size_of_batches_gives_the_same_rows(write, name, size):
    path = write(name, TINY[name].rstrip(b"\n"))
    options = {"text": ["text"]} if name == "p.csv" else {}
    assert whole(read(path, batch_bytes=size, **options)) == whole(read(path, **options))


def test_batches_say_how_far_they_are(write):
    path = write("data.svm.gz", gzip.compress(SVMLIGHT))
    reader = read(path, batch_bytes=500)
    *_, last = batches = list(reader)
    assert len(batches) > 5
    assert (last.lines, last.bytes_read, last.width) == (201, reader.size, 7)


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
    with refused("feature", line=2, column=3):
        list(read(io.BytesIO(b"1 1:1\n1 x\n"), format="svmlight"))
    assert not readers_threads()


def test_standard_input_needs_neither_pyarrow_nor_scikit_learn():
    script = (
        "import sys; from rosenblatt.reading.reader import read\n"
        "print(sum(len(b.labels) for b in read('-', format='vw')))\n"
        "print(not {'pyarrow', 'sklearn', 'pandas'} & set(sys.modules))"
    )
    run = subprocess.run([sys.executable, "-c", script], input=VW, capture_output=True, check=True)
    assert run.stdout.split() == [b"200", b"True"]


@pytest.mark.parametrize(
    ("name", "line", "where", "why"),
    [
        ("data.svm", b"1 qid:1 1:x", "column 11", "a value is not a finite number"),
        ("data.svm", b"1 qid:1 1099511627776:1", "column 9", "an index is above 4,294,967,295"),
        ("data.svm", b"1 qid:1 -1:1", "column 9", "below the first column"),
        ("data.svm", b"1 qid:1 1:1\0", "column 12", "there is a NUL byte"),
        ("data.svm", b"1 qid 1:1", "column 3", "the query is not written as qid:number"),
        ("data.vw", b"x |a b", "column 1", "the label is not a finite number"),
        ("data.vw", b"1 |a \0", "column 6", "there is a NUL byte"),
        ("data.csv", b"1,2,x,4", "column 'label'", r"'x' is not a number; .*name it in category"),
        ("data.csv", b"1, 2x ,3,4", "column 'b'", r"'2x' is not a number; .*name it in category"),
        ("data.csv", b"1,2,3", "column 6", "the row has 3 cells instead of 4"),
        ("data.csv", b"1,2,3,4,5", "column 10", "the row has 5 cells instead of 4"),
        ("data.csv", b"1,1e99,3,4", "column 'b'", "a value is too large for its type"),
        ("data.csv", b"1,2,3,\0", "column 7", "there is a NUL byte"),
        ("p.csv", b"old,red,z,A", "column 'age'", r"'old' is not a number; .*name it in category"),
        ("p.csv", b"1e99,red,z,A", "column 'age'", "a value is too large for its type"),
        ("p.csv", b"1,red,z", "column 8", "the row has 3 cells instead of 4"),
        ("p.csv", b"1,r\xffd,z,A", "column 4", "the bytes are not UTF-8"),
        ("p.csv", b"1,r\0d,z,A", "column 4", "there is a NUL byte"),
    ],
)
def test_a_broken_row_is_told_with_its_place_or_skipped(write, monkeypatch, name, line, where, why):
    for module in "delimited", "lines":
        monkeypatch.setattr(f"rosenblatt.reading.{module}.SAMPLE", 300)
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


letters = st.sampled_from([*b'0123456789.:-+e|\'# \t\r\n\0\xffab,,\n\n""'])


@settings(max_examples=60 * ROUNDS)
@given(st.lists(letters, max_size=60).map(bytes), st.integers(1, 70))
@pytest.mark.parametrize("kind", ["svmlight", "vw", "csv", "tsv", "parquet", "arrow"])
def test_any_bytes_are_rows_or_one_sentence(kind, data, size):
    with contextlib.suppress(ValueError):
        rows = repr(whole(read(io.BytesIO(data), format=kind)))
        assert repr(whole(read(io.BytesIO(data), format=kind, batch_bytes=size))) == rows


@pytest.mark.parametrize(
    ("data", "options", "sentence"),
    [
        ("data.csv", {"ngrams": (1, 2)}, "ngrams and characters are of text"),
        ("data.csv", {"characters": True}, "ngrams and characters are of text"),
        ("data.csv", {"counts": "raw"}, "counts and tfidf are of text; name its column: text"),
        ("data.csv", {"tfidf": True}, "counts and tfidf are of text"),
        ("data.csv", {"counts": "often"}, "counts must be one of 'binary', 'raw'"),
        ("data.vw", {"ngrams": (2, 2)}, "ngrams is for csv, tsv"),
        ("data.vw", {"label": "kind"}, "label is for csv, tsv"),
        ("data.svm", {"label": 0}, "label is for csv, tsv"),
        ("data.svm", {"bins": 4}, "bins is for csv, tsv"),
        ("data.vw", {"bins": 4}, "bins is for csv, tsv"),
        ("data.svm", {"category": ["a"]}, "category is for csv, tsv"),
        ("data.svm", {"header": True}, "header is for csv, tsv, but the data are svmlight"),
        ("data.csv", {"first": 1}, "first is for svmlight"),
        ("data.csv", {"label": True}, "label=True is not a column"),
        ("data.csv", {"category": ["z"]}, "no column 'z'"),
    ],
)
def test_options_without_a_meaning_are_refused(write, data, options, sentence):
    with pytest.raises(ValueError, match=rf"{sentence}.*\.$"):
        read(write(data, TINY[data]), **options)


def test_bits_without_a_hash_are_noticed(write):
    assert "bits" in notices(read(write("data.csv", NUMBERS), bits=5))
    assert "bits" in notices(read(write("data.svm", SVMLIGHT), bits=5))
    assert "bits" not in notices(read(write("data.vw", VW), bits=5))


@pytest.mark.parametrize("skip_bad", [0, 9])
def test_an_index_0_far_down_is_no_broken_row(write, monkeypatch, skip_bad):
    monkeypatch.setattr("rosenblatt.reading.lines.SAMPLE", 300)
    path = write("data.svm", SVMLIGHT + b"1 qid:1 0:1\n")
    with pytest.raises(ValueError, match=r"line 202, column 9: .* \(1; use first=0 if it is 0"):
        list(read(path, skip_bad=skip_bad))
    assert len(whole(read(path, first=0))[0]) == 201


DATES = "day,n,kind,text,y\n" + "".join(
    f"2020-0{1 + i % 9}-0{1 + i % 7},{i % 13 or ''},{('red', 'blue')[i % 2]},"
    f'"He said ""no {i}"" and left",{"AB"[i % 3 % 2]}\n'
    for i in range(400)
)
OBJECTS = "".join(f'{{"a": {i}, "b": "w{i % 5}", "y": {i % 2}}}\n' for i in range(300))
FRAME = pd.DataFrame({"a": range(300), "b": ["x", "y", None] * 100, "y": [0, 1] * 150})


@pytest.mark.parametrize(
    ("name", "data", "options"),
    [
        *(("t.csv", DATES, each) for each in ({}, {"bins": 3}, {"counts": "sublinear"})),
        ("t.csv", DATES, {"text": ("kind:c1-3",)}),
        ("t.csv", DATES.replace(",A\n", ",A,broken\n", 9), {}),
        ("t.csv", NUMBERS, {"pairs": True, "bins": 2}),
        ("t.jsonl", OBJECTS, {"bins": 3, "pairs": True}),
        ("t.svm", SVMLIGHT, {"pairs": True}),
        ("t.vw", VW, {}),
        ("", FRAME, {"bins": 5}),
    ],
)
def test_kept_cells_become_the_rows_that_the_source_would(write, name, data, options):
    path, usual = write(name, data) if name else data, {"scale": "auto", "skip_bad": 9, "names": 99}
    kept = read(path, **usual).keep_cells()
    if name:
        path.rename(path.with_suffix(".away"))
    found = [kept.vary(**options), kept]
    rows = [(whole(each), dict(each.names), notices(each)) for each in found]
    if name:
        path.with_suffix(".away").rename(path)
    expected = [read(path, **usual, **options), read(path, **usual)]
    assert rows == [(whole(each), dict(each.names), notices(each)) for each in expected]


@pytest.mark.parametrize("unscaled", [1, 1 << 28])
@pytest.mark.parametrize("kind", ["csv", "words.csv", "jsonl", "svm", "text.csv"])
def test_rows_in_memory_are_those_of_a_stream(write, monkeypatch, kind, unscaled):
    monkeypatch.setattr("rosenblatt.reading.reader.UNSCALED", unscaled)
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"a": random.normal(size=900) * 1e6, "b": random.integers(9, size=900)})
    frame["b"] = frame["b"].where(frame.index % 20 > 0)  # a flag makes rows wider
    frame = frame.assign(w="u") if kind == "words.csv" else frame
    frame["y"] = np.where(frame["a"] > 0, "p", "n")
    forms = {"jsonl": frame.to_json(orient="records", lines=True), "svm": SVMLIGHT}
    forms["text.csv"] = "text,y\n" + "".join(
        f"w{k % 7} w{k % 11} w{k},{k % 2}\n" for k in range(900)
    )
    text = {"text": "text"} if kind == "text.csv" else {}
    path = write(f"t.{kind}", forms.get(kind, frame.to_csv(index=False)))
    reader = read_as_usual(path, batch_bytes=999, **text)
    passes = []

    def begin():
        passes.append(0)
        return lambda batch: None

    batch = read_whole(reader, begin)
    assert len(passes) == 1 + (unscaled == 1 and kind in ("csv", "jsonl"))
    stream = join_batches([*read_as_usual(path, batch_bytes=999, **text)])
    assert batch.y.tolist() == stream.y.tolist()
    for one, other in zip(batch.rows, stream.rows, strict=True):
        assert (one is None) == (other is None)
        assert one is None or (one.tobytes(), one.dtype) == (other.tobytes(), other.dtype)


def test_rows_that_outgrow_memory_are_measured(write):
    path = write("t.csv", "a,y\n" + "".join(f"{k}.5,{k % 2}\n" for k in range(900)))
    reader = read_as_usual(path, batch_bytes=999)
    with pytest.raises(OutgrownError):
        read_whole(reader, most=1000)
    assert reader.recipe.is_complete
    with pytest.raises(OutgrownError):
        read_whole(read_as_usual(write("t.svm", SVMLIGHT)), most=100)
