"""Plain cells are those of Arrow, and all common ways to write a table are plain."""

import mmap

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st

from rosenblatt.kernels import cells
from rosenblatt.kernels.addresses import PAGE
from rosenblatt.kernels.cells import LARGEST
from rosenblatt.kernels.lines import MISSING
from rosenblatt.reading.delimited import copy_words

from .texts import as_array

PLACES = np.array([0, 2, cells.SKIPPED, 1, 3])  # two numbers, and two words behind them
NUMBERS, WORDS = [0, 3], [1, 4]
NO_LABELS = np.empty(0)


def parse_plainly(text, delimiter=",", dtype=np.float64):
    """The numbers and words of a table, or None where a cell is not plain."""
    data = as_array(bytearray(text))
    most = bytes(text).count(b"\n")
    matrix, spans = np.empty((most, 2), dtype), np.empty((most, 2, 2), np.int32)
    given = data, ord(delimiter), PLACES, LARGEST, NO_LABELS, matrix, spans
    rows, missing = cells.plain_cells(*given)
    if rows == cells.NOT_PLAIN:
        return None
    assert missing == np.isnan(matrix[:rows]).sum()
    try:
        words = [copy_words(data, spans[:rows], k).to_pylist() for k in range(2)]
    except ValueError:
        return None
    return matrix[:rows].tolist(), words


BLANK_MISSING = [  # Arrow compares blanks too
    left + word + right for word in MISSING for left in ("", " ") for right in ("", " ")
]


def parse_by_arrow(text, delimiter=",", dtype=np.float64):
    """The same by Arrow; None where a row is broken."""
    import pyarrow
    from pyarrow import csv

    types = {str(j): pyarrow.from_numpy_dtype(dtype) for j in NUMBERS}
    types |= {str(j): pyarrow.string() for j in WORDS}
    try:
        table = csv.read_csv(
            pyarrow.BufferReader(text),
            csv.ReadOptions(column_names=[str(j) for j in range(5)], block_size=len(text) + 1),
            csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
            csv.ConvertOptions(column_types=types, null_values=BLANK_MISSING),
        )
    except ValueError:
        return None
    numbers = [np.array(table[str(j)].to_pylist(), dtype) for j in NUMBERS]
    return np.column_stack(numbers).tolist(), [table[str(j)].to_pylist() for j in WORDS]


number = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.decimals(allow_nan=False, allow_infinity=False, places=4).map(str),
    st.integers().map(str),
    st.sampled_from([*MISSING, "", "-0", "+1", ".5", "5.", "1e5", "1e400", "1e-400", "-", "."]),
    st.text('019+-.eE \t\r"naN,x', max_size=9),
)
word = st.text('ab \t\r\n",;é\0', max_size=20) | st.sampled_from(["red", "", "Zürich", "a" * 30])
around = st.sampled_from(["{}", "{}", "{}", '"{}"', " {}", "{} ", '" {}"'])
cell_of = {0: number, 1: word, 2: word, 3: number, 4: word}
row = st.tuples(*(st.builds(str.format, around, cell_of[j]) for j in range(5)))


@settings(max_examples=300)
@given(
    st.lists(row, min_size=1, max_size=4),
    st.sampled_from(["\n", "\r\n", "\n\n", "\r"]),
    st.sampled_from(",;\t "),
    st.sampled_from([np.float32, np.float64]),
)
@example([("1", "a", '"b"', "2", "c")], "\n", ",", np.float64)
@example([('"1"', "a", "b", ' "2"', "c")], "\n", ",", np.float64)
@example([("1", "a", "b", "  ", "c")], "\n", ",", np.float64)
@example([("1", "a", "b", "NA ", "c")], "\n", ",", np.float64)
@example([("1", 'a"b"', "b", "3", '"c"d')], "\n", ",", np.float64)
def test_plain_cells_are_those_of_arrow(rows, end, delimiter, dtype):
    text = "".join(delimiter.join(row) + end for row in rows).rstrip("\n") + "\n"
    found = parse_plainly(text.encode(), delimiter, dtype)
    if found is not None:
        expected = parse_by_arrow(text.encode(), delimiter, dtype)
        assert repr(found) == repr(expected)


@pytest.mark.parametrize(
    "text",
    [
        "1,red,x,2,blue\n",
        "1,red,x,2,blue\r\n-.5e-3,,,+7,\r\n",
        '"1","red","x","2","dark, blue"\n',
        " 1 , red , x ,  2.5,blue \n",
        "NA,red,x,?,blue\n,red,x, NA,blue\n",
        "\n\n1,red,x,2,blue\n\n",
        "1,Zürich,日本,2,Ωμέγα\n",
        "0.30000000000000004,a,b,123456789012345678901234567890,c\n",
        "1,a rather long text: more than sixteen bytes!,x,2,another text of some length\n",
    ],
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_common_ways_to_write_a_table_are_plain(text, dtype):
    found = parse_plainly(text.encode(), dtype=dtype)
    assert found is not None
    assert repr(found) == repr(parse_by_arrow(text.encode(), dtype=dtype))


@pytest.mark.parametrize(
    "text",
    [
        b"1,a,b,2\n",
        b"1,a,b,2,c,d\n",
        b"1,a,b,2,c",
        b"",
        b"x,a,b,2,c\n",
        b"1,a\0,b,2,c\n",
        b"1,a,b,1e400,c\n",
        b'1,"a\nb",b,2,c\n',
        b'1,"a""b",b,2,c\n',
        b"1,caf\xe9,b,2,c\n",
        b"1,caf\xc3,b,2,c\n1,\xa9,b,2,c\n",  # the bytes of one character in two cells
        b"1,a,b,2,c\rd\n",
    ],
)
def test_other_rows_are_left_to_the_slower_parser(text):
    assert parse_plainly(text) is None


def test_a_number_above_the_limit_is_not_plain():
    text, places = as_array(b"1e39\n"), np.zeros(1, int)
    room = NO_LABELS, np.empty((1, 1)), np.empty((1, 0, 2), np.int32)
    assert cells.plain_cells(text, ord(","), places, 3e38, *room)[0] == cells.NOT_PLAIN
    assert cells.plain_cells(text, ord(","), places, 1e39, *room) == (1, 0)


@pytest.mark.parametrize(
    ("cell", "label"),
    [
        *((b"7", 7), (b'"-2"', -2), (b"NA", np.nan), (b"0", 0), (b"0.10", 0.1), (b"0e1", 0)),
        *((cell, None) for cell in (b"007", b" 01", b"x", b"1e999", b' "0.5" ')),
    ],
)
def test_a_label_is_a_number_without_leading_zeros(cell, label):
    text, labels = as_array(b"2," + cell + b"\n"), np.full(1, 9.0)
    room = labels, np.empty((1, 1), np.float32), np.empty((1, 0, 2), np.int32)
    rows, _ = cells.plain_cells(text, ord(","), np.array([0, cells.LABEL_PLACE]), 3e38, *room)
    assert rows == (cells.NOT_PLAIN if label is None else 1)
    np.testing.assert_equal(labels[0], 9.0 if label is None else label)


ROWS = b"1234567.25,red,x,-0.000123456789,blue\n98765432109876543,,y,1e-7,a word that is long\n"


@pytest.mark.parametrize("before", range(0, len(ROWS) + 1, 3))
def test_cells_are_the_same_wherever_a_page_ends(before):
    buffer = np.frombuffer(mmap.mmap(-1, 2 * PAGE), np.uint8)  # which begins with a page
    start = PAGE - before
    buffer[start : start + len(ROWS)] = as_array(ROWS)
    data, spans = buffer[start : start + len(ROWS)], np.empty((2, 2, 2), np.int32)
    matrix = np.empty((2, 2))
    given = data, ord(","), PLACES, LARGEST, NO_LABELS, matrix, spans
    assert cells.plain_cells(*given) == (2, 0)
    words = [copy_words(data, spans, k).to_pylist() for k in range(2)]
    assert (matrix.tolist(), words) == parse_by_arrow(ROWS)


def test_nothing_is_read_behind_the_last_page():
    memory = np.frombuffer(mmap.mmap(-1, PAGE), np.uint8)
    memory[-9:] = as_array(b"1,2.5,37\n")
    room = np.empty(1), np.empty((1, 2)), np.empty((1, 0, 2), np.int32)
    places = np.array([0, 1, cells.LABEL_PLACE])
    assert cells.plain_cells(memory[-9:], ord(","), places, LARGEST, *room) == (1, 0)
    assert [array.tolist() for array in room[:2]] == [[37], [[1, 2.5]]]
