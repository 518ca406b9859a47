"""Header, label and kinds of columns are found out or stated."""

import io

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

import rosenblatt
from rosenblatt.kernels.cells import LABEL_PLACE, LARGEST, plain_cells
from rosenblatt.kernels.lines import MISSING
from rosenblatt.reading.parser import Parser
from rosenblatt.reading.sources import Source
from rosenblatt.reading.spellings import is_number

from .samples import NUMBERS, category, read, refused, whole


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
        ("x,y,label\n1,2,3\n", {}, "label", ["x", "y"]),
        ("y,Target,class\n1,2,3\n", {}, "class", ["y", "Target"]),
        ("a, label , b\n1,2,3\n", {}, "label", ["a", "b"]),
        ("10,5,y\n1,2,3\n", {"label": "10"}, "10", ["5", "y"]),
        ("10,5,y\n1,2,3\n", {"label": "1"}, "5", ["10", "y"]),
    ],
)
def test_header_and_label_are_found_out_or_stated(text, options, label, names):
    reader = read(io.BytesIO(text.encode()), format="csv", **options)
    features = reader.features()
    assert [name for name, _ in reader.columns] == names
    assert (features["label"] or None) == label
    labels, _, rows = whole(reader)
    has_header = label is None or not label.isdigit() or "header" in options or "10,5" in text
    assert len(rows) == text.strip().count("\n") + 1 - has_header - text.count(",\n")
    assert (labels[0] is None) == (label is None)


def test_a_header_alone_has_no_rows():
    for text in ("a,b,label\n", "a,b,c", '"kind, of",shape\n'):
        with pytest.raises(ValueError, match=r"has no rows below its header \(use header=False"):
            read(io.BytesIO(text.encode()), format="csv")
    assert whole(read(io.BytesIO(b"1,2,3\n"), format="csv"))[2] == [[1, 2]]
    assert whole(read(io.BytesIO(b"red,up\n"), format="csv", header=False))[0] == ["up"]
    features = read(io.BytesIO(b"red,up\nblue,down\nred,up\n"), format="csv").features()
    row = read(io.BytesIO(b"red,up\n"), format="csv", features=features)
    assert whole(row)[2] == [[(category("0", "red"), 1)]]


@pytest.mark.parametrize(
    ("name", "data", "sentence"),
    [
        ("nul.csv", b"\0" * 500, "line 1, column 1: there is a NUL byte"),
        ("wide.csv", "a,y\n1,0\n".encode("utf-16"), "begins like UTF-16.*"),
        ("blank.csv", b"\n\r\n\n", "there are no rows"),
        ("mac.csv", b"a,y\r1,0\r2,1\r", "lines end in carriage returns"),
        ("open.csv", b'text,y\n"a,1\nb,0\n', "a quotation mark below the first row is never"),
        ("carets.csv", b"a^b^y\n1^2^0\n2^3^1\n", r"has only one column, 'a\^b\^y'; separate"),
        ("empty.parquet", b"", "it is damaged, compressed as a whole, or of"),
        ("text.parquet", NUMBERS.encode(), "cannot be read as parquet: it is damaged"),
    ],
)
def test_files_that_are_something_else_are_told(tmp_path, name, data, sentence):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(ValueError, match=rf"{name}.*{sentence}.*\.$|^.*{sentence}\.$"):
        list(read(tmp_path / name))


def test_many_empty_lines_in_a_wide_table_take_no_memory():
    names = ",".join(f"c{j}" for j in range(20_000))
    text = f"{names}\n".encode() + b"\n" * 800_000 + b",".join([b"1"] * 20_000) + b"\n"
    assert whole(read(io.BytesIO(text), format="csv")) == ([1], [], [[1] * 19_999])


@settings(max_examples=500)
@given(st.text('019+-.eE "naN,x', max_size=9) | st.sampled_from(MISSING))
def test_a_number_that_the_kernel_takes_is_one(cell):
    data = np.frombuffer(bytearray(cell.encode() + b"\n"), np.uint8)
    room = np.empty(1), np.empty((1, 1)), np.empty((1, 0, 2), np.int32)
    for place in 0, LABEL_PLACE:
        rows, _ = plain_cells(data, 0, np.full(1, place), LARGEST, *room)
        assert rows < 1 or is_number(cell)


SENTENCES = "".join(
    f"Nobody could say why number {i} was so long,{'spamham'[4 * (i % 2) :][:4]}\n"
    for i in range(9)
)


@pytest.mark.parametrize(
    ("text", "options", "header"),
    [
        ("a,spam\n1,spam\n2,ham\n", {}, True),  # the label is called like one of its classes
        ("red,size,y\nred,1,0\nblue,2,1\n", {}, True),
        ("city,2019,label\nRome,3,yes\nOslo,4,no\n", {}, True),
        ("city,2019,kind\nRome,3,yes\nOslo,4,no\nRome,5,yes\n", {}, True),
        ("0,1,2\n5.1,3,setosa\n4.2,2,virginica\n", {}, True),
        ("text,spam\n" + SENTENCES, {}, True),
        ("day,y\n2020-01-02,0\n2020-01-03,1\n", {}, True),
        (SENTENCES, {}, False),
        ("5.1,Rome,yes\n4,Oslo,no\n3,Oslo,yes\n", {}, False),
        ("39, State-gov, <=50K\n50, Private, <=50K\n38, State-gov, >50K\n", {}, False),
        ("T,2,8\nI,5,1\nT,4,0\n", {"label": 0}, False),
        ("T,0,8\nI,5,1\nT,4,0\n", {"label": "0"}, False),  # a number, not the name of a column
        ("1,2,3\n4,5,6\n", {"header": True}, True),
        ("a,b,c\n4,5,6\n", {"header": False}, False),
    ],
)
def test_a_first_row_is_a_header_unless_it_looks_like_the_others(text, options, header):
    features = read(io.BytesIO(text.encode()), format="csv", **options).features()
    assert features["header"] is header
    assert (features["columns"][0][0] in ("0", "1", "2")) is (not header or text[0] in "01")


def test_a_table_without_a_header_is_read_by_place_again():
    features = read(io.BytesIO(b"5,1,a\n2,2,b\n3,3,a\n"), format="csv").features()
    again = read(io.BytesIO(b"1,0\n9,1\n3,0\n"), format="csv", features=features)
    assert whole(again)[2] == [[1, 0], [9, 1], [3, 0]]  # its first cells are names of columns, too
    first = read(io.BytesIO(b"a,5,1\nb,2,2\na,3,3\n"), format="csv", label=0).features()
    unlabelled = read(io.BytesIO(b"1,0\n9,1\n"), format="csv", features=first, label=False)
    assert whole(unlabelled)[2] == [[1, 0], [9, 1]]
    labelled = read(io.BytesIO(b"b,1,0\n"), format="csv", features=first)
    assert whole(labelled) == (["b"], [], [[1, 0]])
    with refused("no-column"):
        read(io.BytesIO(b"p,q,r\n5,1,a\n"), format="csv", features=features, header=True)


@pytest.mark.parametrize("option", ["text", "ignore", "id"])
def test_the_label_is_nothing_else(option):
    for label in "y", 2, "2":
        with refused("column-twice"):
            read(io.BytesIO(b"a,b,y\n1,2,3\n"), format="csv", label=label, **{option: "y"})


def test_a_name_wins_over_a_number_in_parquet_too(write):
    frame = pd.DataFrame({"1": [5.0, 6.0], "2": [7.0, 8.0], "0": [0, 1]})
    reader = read(write("digits.parquet", frame), label="0")
    assert whole(reader) == ([0, 1], [], [[5, 7], [6, 8]])
    assert whole(read(write("digits.parquet", frame), label=0))[0] == [5, 6]


def test_a_stray_word_in_numbers_is_a_broken_row():
    text = "v,y\n" + "".join(f"{i},{i % 2}\n" for i in range(99)) + "ab c,1\n"
    with refused("not-a-number", line=101, column="v"):
        list(read(io.BytesIO(text.encode()), format="csv"))
    reader = read(io.BytesIO(text.encode()), format="csv", skip_bad=1)
    assert whole(reader)[2] == [[i] for i in range(99)]
    assert [notice.kind for notice in reader.notices] == ["words"]
    assert "'v' is taken as numbers" in str(reader.notices[0])
    reader = read(io.BytesIO(text.encode()), format="csv", category="v")
    assert reader.columns == [("v", "category")]
    assert not reader.notices
    truth = read(io.BytesIO(text.replace("ab c", "True").encode()), format="csv")
    assert (whole(truth)[2][-1], truth.notices) == ([1], [])


@pytest.mark.parametrize("words", ["abc", "12 34", "1-2"])
def test_words_that_come_often_are_words(words):
    text = "v,y\n" + "".join(f"{i},{i % 2}\n{words},0\n" for i in range(99))
    reader = read(io.BytesIO(text.encode()), format="csv")
    assert reader.columns == [("v", "category")]
    assert not reader.notices
    text += "".join(f"{i},{i % 2}\n" for i in range(99))
    (notice,) = read(io.BytesIO(text.encode()), format="csv").notices
    assert str(notice) == (
        f"The column 'v' has words among its numbers ({words!r}) and is taken as a category."
    )


def test_columns_are_left_out_and_name_rows(write):
    text = "who,a,b,c,y\nx 1,1,2,red,0\nx 2,3,4,blue,1\n"
    for name, data in ("t.csv", text), ("t.parquet", pd.read_csv(io.StringIO(text))):
        reader = read(write(name, data), ignore=["c", 2], id="who")
        assert whole(reader) == ([0, 1], [], [[1], [3]])
        assert [batch.ids.tolist() for batch in reader] == [["x 1", "x 2"]]
        features = reader.features()
        assert (features["ignore"], features["id"]) == (["c", "b"], "who")
        (batch,) = read(write(name, data), features=features)
        assert batch.ids.tolist() == ["x 1", "x 2"]
        (batch,) = read(io.BytesIO(b"a\n5\n"), format="csv", features=features)
        assert batch.ids is None
    with refused("column-twice"):
        read(io.BytesIO(text.encode()), format="csv", ignore="c", text="c")
    (batch,) = read(io.BytesIO(b"n,a,y\n7,1,0\n8,3,1\n"), format="csv", id="n")
    assert batch.ids.tolist() == ["7", "8"]


def test_blanks_around_words_do_not_count():
    text = b"c, d, y\n red ,?, yes\nred, ?, no\n , up, no\n"
    reader = read(io.BytesIO(text), format="csv", names=9)
    labels, _, rows = whole(reader)
    assert labels == ["yes", "no", "no"]
    red = [(category("c", "red"), 1), (category("d", "?"), 1)]
    assert rows == [red, red, [(category("d", "up"), 1)]]
    assert sorted(reader.names.values()) == ["c=red", "d=?", "d=up"]


def test_a_table_is_opened_three_times_and_has_a_parser_for_each_pass(write, monkeypatch):
    """Its head, its numbers to measure, and its rows."""
    made, opened = [], []
    make, open_source = Parser.__init__, Source.open
    monkeypatch.setattr(Parser, "__init__", lambda *given: made.append(1) or make(*given))
    monkeypatch.setattr(
        Source, "open", lambda *given: opened.extend(given[0].files) or open_source(*given)
    )
    rows = "".join(f"{i},{['red', 'blue'][i % 2]},{i % 2}\n" for i in range(90))
    path = write("t.csv", "size,colour,y\n" + rows)
    model = rosenblatt.train(path, rule="pa")  # nothing is chosen
    assert (len(made), opened.count(str(path))) == (2, 3)
    made.clear(), opened.clear()
    assert len(model.predict(path)) == 90
    assert (len(made), opened.count(str(path))) == (1, 2)


def test_what_a_model_knows_is_not_detected(write, monkeypatch):
    path = write("t.csv", "day,paid,y\n" + "2020-01-02,true,a\n2021-03-04,False,b\n" * 20)
    reader = read(path)
    expected, features = whole(reader), reader.features()
    assert [kind for _, kind in reader.columns] == ["date", "number"]
    for name in "delimited.detect_cells", "delimited.is_header", "arrow.collect_notices":
        monkeypatch.setattr(f"rosenblatt.reading.{name}", None)
    assert whole(read(path, features=features, label="y")) == expected
