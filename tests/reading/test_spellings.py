"""Numbers as people write them are numbers, and what is ambiguous is said."""

import io
import json

import numpy as np
import pandas as pd
import pytest

from rosenblatt import read
from rosenblatt.kernels.lines import MISSING
from rosenblatt.reading.spellings import MARKS, Spelling

from .samples import refused, whole

CASES = {
    "decimal commas": (["12,5", "0,25", "1234,75", "7"], [12.5, 0.25, 1234.75, 7]),
    "dollars": (["$1,234.50", "$7", "-$0.99", "$-12.10"], [1234.5, 7, -0.99, -12.1]),
    "euros": (["1.234,50 €", "7 €", "0,99 €"], [1234.5, 7, 0.99]),
    "percent": (["45%", "7.5%", "-100 %"], [45, 7.5, -100]),
    "thousands": (["1,234", "987", "12,345,678"], [1234, 987, 12345678]),
    "thousands and points": (["1.234.567", "2.000.000"], [1234567, 2000000]),
    "blanks": (["1 234,5", "987", "12 345"], [1234.5, 987, 12345]),
    "Swiss": (["1'234.50", "987.25"], [1234.5, 987.25]),
    "minutes": (["91 min", "1,102 min", "7.5 min"], [91, 1102, 7.5]),
    "plurals": (["1 Season", "12 Seasons"], [1, 12]),
    "letters of a currency": (["CAD 300", "CAD 1,200.50"], [300, 1200.5]),
}


def table(cells):
    return pd.DataFrame({"price": cells, "y": [f"c{k % 2}" for k in range(len(cells))]})


def prices(source, **options):
    """The numbers of the only column, as they are read."""
    reader = read(source, label="y", scale="none", dtype=np.float64, **options)
    return [row[0] for row in whole(reader)[2]], reader


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("form", ["csv", "semicolons", "frame"])
def test_numbers_are_read_whatever_their_spelling(case, form):
    cells, numbers = CASES[case]
    source, options = table(cells), {}
    if form != "frame":
        text = source.to_csv(index=False, sep=";" if form == "semicolons" else ",")
        source, options = io.BytesIO(text.encode()), {"format": "csv"}
    found, reader = prices(source, **options)
    assert found == numbers
    told = [notice for notice in reader.notices if notice.kind == "numbers"]
    assert len(told) == 1
    assert f"{cells[0] if not cells[0].isdigit() else cells[1]!r}" in told[0].sentence
    again = json.loads(json.dumps(reader.features()))
    new = [{"price": cells[1]}, {"price": cells[0]}]
    batches = list(read(new, features=again, dtype=np.float64))
    assert batches[0].X.ravel().tolist() == [numbers[1], numbers[0]]


@pytest.mark.parametrize(
    "cells",
    [
        *(["45%", "0.45"], ["$5", "5 €"], ["1,5", "1.5,0"], ["1,2,3", "4"]),
        *(["$1,000", "CAD 300"], ["91 min", "2 Seasons"]),
    ],
)
def test_numbers_of_several_spellings_are_a_category_with_a_note(cells):
    reader = read(table(cells), label="y")
    assert reader.columns == [("price", "category")]
    assert [notice.kind for notice in reader.notices] == ["numbers"]


def test_words_after_numbers_that_differ_or_are_labels_are_no_units():
    cells = [f"{k} {word}" for k, word in enumerate(["Oak", "Elm", "Ash", "Yew"])]
    reader = read(table(cells), label="y")
    assert (reader.columns, [*reader.notices]) == ([("price", "category")], [])
    rows = [{"x": k, "y": f"{k % 5} stars"} for k in range(40)]
    (batch,) = read(rows, label="y")
    assert set(batch.labels.tolist()) == {f"{k} stars" for k in range(5)}


def test_a_blank_among_digits_is_missing_in_a_file_and_in_the_frame_of_it():
    data = "x,y\n" + "1,a\n ,b\n2.5,a\n" * 9
    expected = whole(read(io.BytesIO(data.encode()), format="csv", scale="none"))[2]
    frame = pd.read_csv(io.StringIO(data))
    assert frame["x"].tolist()[:3] == ["1", " ", "2.5"]
    for rows in frame, io.BytesIO(frame.to_json(orient="records", lines=True).encode()):
        reader = read(rows, format=None if rows is frame else "jsonl", label="y", scale="none")
        assert (whole(reader)[2], reader.columns) == (expected, [("x", "number")])
    codes = frame.assign(x=["02139", " ", "10001"] * 9)
    assert read(codes, label="y").columns == [("x", "category")]


@pytest.mark.parametrize("odd", ["1.5", "€7,50", "12%", "many"])
def test_a_number_of_another_spelling_is_a_broken_row(odd):
    model = read(table(["$12,345.50", "$7"]), label="y").features()
    model["spellings"]["price"] = ["1.234,5", "$"]
    with refused("not-a-number", line=1, column="price"):
        list(read([{"price": odd}], features=model))


def test_a_first_row_of_prices_is_no_header():
    data = b"$1.50,a\n$2.50,b\n$3.50,a\n$4.50,b\n"
    reader = read(io.BytesIO(data), format="csv", scale="none")
    assert [row[0] for row in whole(reader)[2]] == [1.5, 2.5, 3.5, 4.5]


def test_cells_between_semicolons_may_have_decimal_commas_without_a_header():
    data = b"12,5;3,7;a\n1,5;2,7;b\n2,5;8,7;a\n4,5;6,7;b\n"
    reader = read(io.BytesIO(data), format="csv", scale="none")
    np.testing.assert_allclose(whole(reader)[2], [[12.5, 3.7], [1.5, 2.7], [2.5, 8.7], [4.5, 6.7]])


@pytest.mark.parametrize("cell", ["--5", "+-5", "-$-5", "- -5"])
def test_a_number_has_at_most_one_sign(cell):
    assert not any(Spelling(marks, unit).fits(cell) for marks in MARKS for unit in ("", "$"))


@pytest.mark.parametrize("others", ["", "word,"])
def test_codes_with_leading_zeros_are_a_category(others):
    codes = ["02139", "10001", "94103", "00501"] * 5
    rows = "".join(f"{code},{others}{k % 2}\n" for k, code in enumerate(codes))
    head = f"zip,{others.replace('word', 'w')}y\n"
    reader = read(io.BytesIO((head + rows).encode()), format="csv", names=99)
    assert ("zip", "category") in [tuple(each) for each in reader.columns]
    assert [notice.kind for notice in reader.notices] == ["codes"]
    list(reader)
    assert {"zip=02139", "zip=00501"} <= {*reader.names.values()}


@pytest.mark.parametrize("cell", ["€ {},58", "{}.58", "1.{:03d},50", "2020-01-{:02d}", "true"])
def test_every_kind_of_column_has_the_same_missing_cells(cell):
    cells = [cell.format(i + 1) for i in range(28)]
    words, blank = (
        "".join(f"{each};p\n{each};n\n" for each in [*gaps, *cells])
        for gaps in (MISSING, [""] * len(MISSING))
    )
    expected = read(io.BytesIO(f"a;y\n{blank}".encode()), format="csv")
    reader = read(io.BytesIO(f"a;y\n{words}".encode()), format="csv")
    assert reader.columns == expected.columns
    assert {kind for _, kind in reader.columns} <= {"number", "date"}
    assert whole(reader) == whole(expected)
