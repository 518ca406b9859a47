"""Cells of CSV and TSV files."""

import contextlib
import io
import resource
import weakref

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from rosenblatt.kernels.lines import MISSING
from rosenblatt.reading import delimited
from rosenblatt.reading.delimited import parse_cells
from rosenblatt.reading.formats import Dialect
from rosenblatt.reading.reader import read as read_as_usual
from rosenblatt.reading.records import read_records

from .samples import category, notices, number, read, refused, whole


@settings(max_examples=30)
@given(st.lists(st.text("a1,\n\"' ", max_size=8), min_size=2, max_size=9), st.integers(1, 40))
def test_quoted_cells_are_cut_in_the_right_places(cells, size):
    text = "".join('"' + cell.replace('"', '""') + '",1\n' for cell in ["word", *cells])
    text = "text,y\n" + text
    reader = read(io.BytesIO(text.encode()), format="csv", text=["text"], batch_bytes=size)
    assert len(whole(reader)[2]) == len(cells) + 1


@pytest.mark.parametrize("others", ['"item",{},no\n', "item,{},no\n"])
def test_an_unclosed_quotation_mark_breaks_its_row_only(others):
    rows = [others.format(i) for i in range(50)]
    rows[30] = 'pipe,"3 inches,no\n'
    data = ("name,size,label\n" + "".join(rows)).encode()
    with refused("quotation", line=32, column=6):
        list(read(io.BytesIO(data), format="csv"))
    reader = read(io.BytesIO(data), format="csv", skip_bad=1)
    assert (len(whole(reader)[0]), reader.bad) == (49, 1)


@pytest.mark.parametrize(
    "gap", ["{}", " {}", "{} ", " {} ", "         {}", "{}         ", "     {}     "]
)
def test_blanks_may_stand_around_missing_numbers_beside_words(gap):
    def rows(cells):
        text = "a,w,label\n" + "".join(f"{cell},u,{i % 2}\n" for i, cell in enumerate(cells))
        return whole(read(io.BytesIO(text.encode()), format="csv", category=["w"]))[0]

    cells = [f" {i} " for i in range(4)]
    wanted = rows([*cells, *[""] * len(MISSING)])
    np.testing.assert_array_equal(rows([*cells, *map(gap.format, MISSING)]), wanted)


def test_memory_is_that_of_the_cells_however_many_columns():
    names = ",".join(f"c{i}" for i in range(5000))
    text = f"{names},y\n" + "".join(f"{'0.5,' * 5000}{i}\n" for i in range(2))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert len(whole(read(io.BytesIO(text.encode()), format="csv"))[0]) == 2
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < before + 500_000  # kB


def test_missing_numbers_and_blank_lines():
    text = 'a,b,y\n1,,0\n\n?,NA,1\r\n"3", 4,1\n nan,null,1\n'
    reader = read(io.BytesIO(text.encode()), format="csv")
    assert whole(reader) == ([0, 1, 1, 1], [], [[1, 0], [0, 0], [3, 4], [0, 0]])
    assert notices(reader) == ["missing-zero"]
    for old, new in (" nan", "nan"), (",y", ",c,y"), (",0\n", ",red,A\n"), (",1", ",,B"):
        text = text.replace(old, new)
    _, _, rows = whole(read(io.BytesIO(text.encode()), format="csv"))
    a, b, red = number("a"), number("b"), category("c", "red")
    assert rows == [[(a, 1), (red, 1)], [], [(a, 3), (b, 4)], []]


TAGS = 'a,tags,b\n1,red; green,2\n3,,4\n5,"blue;;red;red",6\n7, green ,8\n'


@pytest.mark.parametrize("batch_bytes", [1, 1 << 20])
@pytest.mark.parametrize("column", ["b", "c"])  # numbers alone, or words beside them
def test_cells_of_several_labels(batch_bytes, column):
    text = TAGS.replace("b\n", f"{column}\n")
    text = text if column == "b" else text.replace("2\n", "dark\n")
    options = {"format": "csv", "label": "tags", "labels_separator": ";"}
    reader = read(io.BytesIO(text.encode()), batch_bytes=batch_bytes, **options)
    expected = [("red", "green"), (), ("blue", "red", "red"), ("green",)]
    assert [row for batch in reader for row in batch.y] == expected
    assert reader.hashed == (column == "c")
    (batch,) = read(io.BytesIO(b"b,c,a\n1,2,3\n"), format="csv", features=reader.features())
    assert batch.labels is None


def test_labels_of_several_are_words_even_if_all_are_numbers():
    text = b"1,2\n3,4\n5,4\n"
    reader = read(io.BytesIO(text), format="csv", labels_separator=";")
    assert [row for batch in reader for row in batch.y] == [("2",), ("4",), ("4",)]


def test_large_integers_stay_different_labels(write):
    big = [2**53, 2**53 + 1, 2**63 - 1, 7]
    text = "x,y\n" + "".join(f"1,{label}\n" for label in big)
    with refused("label-too-large", line=2):
        whole(read(io.BytesIO(text.encode()), format="csv"))
    reader = read(io.BytesIO(text.encode()), format="csv", category="y")
    assert whole(reader)[0] == list(map(str, big))
    path = write("big.parquet", pd.DataFrame({"x": 1.0, "y": big}))
    assert whole(read(path))[0] == big
    assert whole(read(path, features=reader.features()))[0] == list(map(str, big))


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_a_mark_of_utf8_within_a_table_belongs_to_its_cell(size):
    text = "c,y\nred,1\n\ufeffred,0\n"
    _, _, rows = whole(read(io.BytesIO(text.encode()), format="csv", batch_bytes=size))
    assert rows == [[(category("c", "red"), 1)], [(category("c", "\ufeffred"), 1)]]


def test_cells_longer_than_a_block_of_arrow_are_read(write):
    long = "word " * 600_000
    path = write("long.csv", f"text,y\n{long},1\nshort one,0\n{long},1\n")
    labels, _, rows = whole(read(path, text="text", ngrams=(1, 1)))
    assert labels == [1, 0, 1]
    assert list(map(len, rows)) == [1, 2, 1]
    _, _, (row,) = whole(read(write("wide.csv", f"{'a' * 200_000},y\n1,2\n")))
    assert row == [1]


def test_character_grams_and_names():
    options = {"text": ["text"], "ngrams": (2, 3), "characters": True, "names": 20}
    reader = read(io.BytesIO(b"text,y\nAb a,1\n"), format="csv", **options)
    _, _, (row,) = whole(reader)
    names = [name.removeprefix("text=") for name in reader.names.values()]
    assert len(row) == len(names) == 8  # " A" is twice in the text
    assert [*names[:3], names[-1]] == [" A", " Ab", "Ab", "a "]


@pytest.mark.parametrize("size", [1, 40, 1000])
def test_a_carriage_return_on_its_own_ends_a_row(size):
    text = b'text,y\n\r"one,\ntwo",yes\nthree,no\rfour,yes\n'
    options = {"format": "csv", "text": "text", "batch_bytes": size}
    assert whole(read(io.BytesIO(text), **options))[0] == ["yes", "no", "yes"]
    with refused("cells", line=5, column=1):
        list(read(io.BytesIO(text + b"five\rsix\n"), **options))


def test_arrow_keeps_no_bytes_of_ours_after_a_call():
    """Its threads did, and freed them while Python ended, which aborts the process."""
    cells = b"red,1,2\n" * 100_000
    for broken in False, True:
        for _ in range(5):
            data = np.frombuffer(bytearray(cells + b"blue\n" * broken), np.uint8)
            kept = weakref.ref(data)
            with contextlib.suppress(ValueError):
                parse_cells(data, Dialect(","), 3)
            del data
            assert kept() is None


def make_mixed(odd=""):
    """A table with numbers in many forms, words, dates, a text, an id and two labels."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 3)) * [1, 1e3, 1e-6]
    rows = [
        f"{a!r},{'' if i % 7 == 0 else round(b, 2)},{'red' if i % 3 else 'dark blue'},{c:.3g},"
        f"2024-0{1 + i % 9}-1{i % 9},{i % 4},\u00e9t\u00e9 {i % 11} and some more words,n{i},"
        f'"{1000 + i:,} EUR",{i % 2},{"AB"[i % 2]}\n'
        for i, (a, b, c) in enumerate(x.tolist())
    ]
    rows.insert(200, odd)
    return "a,b,colour,c,day,kind,text,name,price,bit,y\n" + "".join(rows)


ODD = ["", "1,2,red,3\n", '1,2,"dark ""blue""",3,2024-01-01,1,a,b,"1,000 EUR",1,A\n', "\n\n"]


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"scale": "none"},
        {"label": "bit"},
        {"scale": "maxabs", "dtype": np.float64, "id": "name"},
        {"text": ["text"], "category": ["kind"], "names": 99},
        {"bins": 4, "ignore": ["text", "name"]},
        {"pairs": True, "bits": 12, "ignore": ["text"]},
        {"pairs": True, "names": 9},
        {"ignore": ["colour", "day", "kind", "text", "name", "price"]},  # dense rows
        {"batch_bytes": 1000},
    ],
)
def test_the_kernel_and_arrow_make_the_same_rows(options, odd, monkeypatch):
    text, found = make_mixed(odd).encode(), []
    for least in (0, len(text) + 1):
        monkeypatch.setattr(delimited, "LEAST_BYTES", least)
        reader = read_as_usual(io.BytesIO(text), format="csv", skip_bad=1, **options)
        rows = [
            (batch.lines, repr(batch.labels), repr(batch.ids), *map(repr_of, batch.rows))
            for batch in reader
        ]
        names = sorted(reader.names.items())
        found.append((rows, names, reader.features(), reader.notices, reader.bad))
    assert found[0] == found[1]
    assert found[0][-1] == (odd == ODD[1])


def repr_of(array):
    """The bytes of an array, so that equal arrays are equal to the bit."""
    return None if array is None else (array.dtype.str, array.tobytes())


def test_many_plain_rows_are_parsed_by_the_kernel(monkeypatch):
    monkeypatch.delattr(delimited.DelimitedParser, "decode_any")
    text = "a,b,y\n" + "1.5,red,yes\n2.5,,no\n" * 10_000
    assert len(whole(read(io.BytesIO(text.encode()), format="csv"))[0]) == 20_000


LINES = 'ham\t"Hi" she said', "spam\tWin £9", 'ham\t"so what'
MESSAGES = [f"{line} {i}" for i in range(30) for line in LINES]


def test_marks_between_tabs_are_text_if_some_are_never_closed():
    file = io.BytesIO("\n".join(MESSAGES).encode())
    reader = read(file, format="tsv", text=["1"], batch_bytes=99)
    labels, texts = zip(*(line.split("\t") for line in MESSAGES), strict=True)
    assert whole(reader)[0] == list(labels)
    assert [record["1"] for record in read_records(reader)] == list(texts)


def test_a_model_of_numbered_columns_leaves_out_names():
    rows = "".join(f"{i},{'ab'[i % 2]}\n" for i in range(30))
    model = read(io.BytesIO(rows.encode()), format="csv").features()
    plain, named = (io.BytesIO(f"{head}{rows}".encode()) for head in ("", "\nsize,kind\n"))
    reader = read(named, format="csv", features=model)
    assert whole(reader) == whole(read(plain, format="csv", features=model))
    assert notices(reader) == ["header"]


def test_marks_between_tabs_enclose_cells_if_a_late_cell_has_a_tab_within(write):
    rows = "x\tlabel\n" + 'p\t"a"\nq\tb\n' * 60 + '"r\ts"\ta\n'
    assert whole(read(write("data.tsv", rows)))[0] == ["a", "b"] * 60 + ["a"]
    stray = "x\tlabel\n" + 'a "b" c\tup\n"d" e\t\n' * 3
    assert whole(read(write("data.tsv", stray)))[0] == ["up"] * 3


def test_codes_with_leading_zeros_are_categories_beside_an_odd_one(write):
    rows = "zip,label\n" + "".join(f"{k:05d},{k % 2}\n" for k in range(100)) + "abc,0\n"
    reader = read(write("data.csv", rows))
    assert (reader.columns, notices(reader)) == ([("zip", "category")], ["codes-zeros"])
