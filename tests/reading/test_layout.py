"""Header, label and kinds of columns are found out or stated."""

import io
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from rosenblatt.kernels.lines import MISSING, VALUE_TOO_LARGE, Cursor, table
from rosenblatt.reading.layout import is_number, is_numeric
from rosenblatt.reading.reader import read

from .samples import NUMBERS, category, whole


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


def test_a_header_alone_has_no_rows():
    for text in ("a,b,label\n", "a,b,c", '"kind, of",shape\n'):
        with pytest.raises(ValueError, match=r"has no rows below its header \(state header=False"):
            read(io.BytesIO(text.encode()), format="csv")
    assert whole(read(io.BytesIO(b"1,2,3\n"), format="csv"))[2] == [[1, 2]]
    assert whole(read(io.BytesIO(b"red,up\n"), format="csv", header=False))[0] == ["up"]
    features = read(io.BytesIO(b"red,up\nblue,down\nred,up\n"), format="csv").features()
    row = read(io.BytesIO(b"red,up\n"), format="csv", features=features)
    assert whole(row)[2] == [[(category("0", "red"), 1)]]


def test_labels_may_be_words_over_numbers():
    reader = read(io.BytesIO(b"1,2,yes\n3,,no\n"), format="csv")
    assert whole(reader) == (["yes", "no"], [], [[1, 2], [3, 0]])
    assert not reader.hashed


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


@pytest.mark.parametrize("kind", ["numbers", "words", "parquet"])
def test_tables_may_have_many_columns(tmp_path, kind):
    names = [f"column {j}" for j in range(20_000)]
    if kind == "parquet":
        path = tmp_path / "wide.parquet"
        columns = {name: np.zeros(2) for name in names}
        parquet.write_table(pa.table({**columns, "y": [0, 1]}), path)
    else:
        path, cell = tmp_path / "wide.csv", "1" if kind == "numbers" else "red"
        cells = ["0"] * (len(names) - 1) + [cell]
        lines = [[*names, "y"], [*cells, "0"], [*cells, "1"]]
        path.write_text("".join(",".join(line) + "\n" for line in lines))
    reader = read(path)
    assert [name for name, _ in reader.columns] == names
    assert whole(reader)[0] == [0, 1]
    again = read(path, features=reader.features())
    assert again.columns == reader.columns


def test_many_empty_lines_in_a_wide_table_take_no_memory():
    names = ",".join(f"c{j}" for j in range(20_000))
    text = f"{names}\n".encode() + b"\n" * 800_000 + b",".join([b"1"] * 20_000) + b"\n"
    assert whole(read(io.BytesIO(text), format="csv")) == ([1], [], [[1] * 19_999])


@settings(max_examples=500)
@given(st.text('019+-.eE \t\r"naN,x', max_size=9) | st.sampled_from(MISSING))
@example("1e999")
@example(' "-.5e-7" ')
def test_a_number_is_what_the_kernel_takes_for_one(cell):
    data = np.frombuffer(bytearray(cell.encode() + b"\n"), np.uint8)
    values = np.empty(1, np.float32)
    cursor = table(data, len(data), Cursor(), 0, np.zeros(1, int), np.empty(1), values, 1)
    assert is_number(cell) == (cursor.error in (0, VALUE_TOO_LARGE))
    assert is_numeric(cell.encode(), "|", 1, np.dtype(np.float32)) == is_number(cell)


def test_words_are_found_without_compiling_the_parser_of_numbers():
    script = (
        "import io; from rosenblatt import read; from rosenblatt.kernels import lines\n"
        "next(iter(read(io.BytesIO(b'39,red,yes\\n40,blue,no\\n'), format='csv')))\n"
        "print(len(lines.table.signatures))"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, text=True)
    assert run.stdout == "0\n"
