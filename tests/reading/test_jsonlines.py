"""JSON lines: the same rows as the table that they spell, and clear errors."""

import gzip
import io
import json

import pytest

from rosenblatt.reading import jsonlines

from .samples import notices, read, refused, whole

ROWS = [
    {"age": i % 50, "colour": ["red", "blue"][i % 2], "ok": i % 3 == 0, "y": "AB"[i % 2]}
    for i in range(200)
]


def lines(rows, between="\n"):
    return "".join(json.dumps(row) + between for row in rows).encode()


@pytest.mark.parametrize("batch_bytes", [1, 500, 1 << 22])
@pytest.mark.parametrize("between", ["\n", "\r\n", "\n\n"])
def test_the_rows_are_those_of_a_table(between, batch_bytes):
    reader = read(io.BytesIO(lines(ROWS, between)), batch_bytes=batch_bytes)
    assert reader.format == "jsonl"
    table = read(ROWS)
    assert whole(reader) == whole(table)
    assert reader.columns == table.columns


def test_names_and_compression_tell_the_format(write):
    expected = whole(read(io.BytesIO(lines(ROWS))))
    for name in "a.jsonl", "a.ndjson", "a.JSONL":
        assert whole(read(write(name, lines(ROWS)))) == expected
    assert whole(read(write("a.jsonl.gz", gzip.compress(lines(ROWS))))) == expected
    assert whole(read(write("a.data", b"\xef\xbb\xbf " + lines(ROWS)))) == expected


def test_keys_may_be_missing_or_in_another_order():
    data = b'{"a": 1, "b": "x", "y": 0}\n{"y": 1, "a": 2}\n{"b": "x", "y": 0, "a": null}\n'
    rows = [json.loads(line) for line in data.splitlines()]
    assert whole(read(io.BytesIO(data))) == whole(read(rows, label="y"))


def test_a_model_reads_lines_that_lack_columns_or_labels():
    features = read(io.BytesIO(lines(ROWS))).features()
    some = [{name: row[name] for name in ("age", "colour")} for row in ROWS]
    reader = read(io.BytesIO(lines(some)), features=features, label=False)
    expected = [{**row, "ok": None} for row in ROWS]
    assert whole(reader)[2] == whole(read(expected, features=features, label=False))[2]
    assert len(whole(read(io.BytesIO(b'{"colour": "red"}\n'), features=features))[2]) == 1


def test_columns_of_mixed_types_are_words():
    rows = [{"code": [7, "7a"][i % 2], "y": i % 2} for i in range(40)]
    assert read(io.BytesIO(lines(rows))).columns == [("code", "category")]
    late = [{"code": "a", "y": 0}, {"code": "b", "y": 1}] * 40 + [{"code": 7, "y": 1}]
    reader = read(io.BytesIO(lines(late)), names=99, batch_bytes=100)
    assert len(whole(reader)[0]) == 81
    assert "code=7" in reader.names.values()
    numbers = [{"size": 1, "y": 0}, {"size": 2.5, "y": 1}, {"size": float("nan"), "y": 0}]
    assert whole(read(io.BytesIO(lines(numbers)), category="size"))[0] == [0, 1, 0]
    assert whole(read(io.BytesIO(lines(numbers))))[2] == [[1], [2.5], [0]]


def test_dates_texts_and_nested_values():
    rows = [
        {"when": f"2024-01-{i % 28 + 1:02}", "more": {"a": i}, "text": "a b c d e f " * 2 + str(i)}
        | {"tags": ["u", "v"][: i % 3]}
        for i in range(60)
    ]
    reader = read(io.BytesIO(lines(rows)), label="tags")
    assert reader.multilabel
    assert reader.columns == [("when", "date"), ("text", "text")]
    assert {"labels", "column", "dates", "text"} <= {*notices(reader)}
    labels, _, _ = whole(reader)
    assert labels[:3] == [(), ("u",), ("u", "v")]


def test_broken_lines_are_named_or_left_out():
    features = read(io.BytesIO(lines(ROWS))).features()
    data = lines(ROWS[:50]) + b'{"age": 3, \n' + lines(ROWS[50:60]) + b'{"age": "x", "y": "A"}\n'
    with refused("json", line=51):
        list(read(io.BytesIO(data)))
    with refused("not-a-number", line=62, column="age"):
        list(read(io.BytesIO(data), features=features, skip_bad=1, batch_bytes=99))
    reader = read(io.BytesIO(data), features=features, skip_bad=2)
    assert (len(whole(reader)[0]), reader.bad) == (60, 2)
    with refused("json", line=1):
        read(io.BytesIO(b"[1, 2]\n"), format="jsonl")


BAD = {
    b"null": "json",  # Arrow would crash
    b'{"age": 1, "y": "A"} { "age": 2, "y": "B"}': "json",  # Arrow would make two rows
    b'{"age": 1, "y": "A"}null': "json",
    b'{"age": ' + 300_000 * b"[" + 300_000 * b"]" + b"}": "json",
    b'{"colour": "r\xf6t", "y": "A"}': "encoding",
    b'{"colour": "\\ude00", "y": "A"}': "surrogate",
    b'{"age": 1' + 400 * b"0" + b', "y": "A"}': "value-too-large",
}


@pytest.mark.parametrize("bad", BAD, ids=range(len(BAD)))
@pytest.mark.parametrize("place", [0, 7])
def test_lines_that_arrow_cannot_read_are_named_or_left_out(bad, place):
    text = lines(ROWS[:place]) + bad + b"\n" + lines(ROWS[place:20])
    for size in 64, 1 << 20:
        with refused(BAD[bad], line=place + 1):
            list(read(io.BytesIO(text), format="jsonl", batch_bytes=size))
        reader = read(io.BytesIO(text), format="jsonl", batch_bytes=size, skip_bad=1)
        assert (len(whole(reader)[0]), reader.bad) == (20, 1)


def test_a_late_label_of_another_type_is_named(monkeypatch):
    monkeypatch.setattr(jsonlines, "SAMPLE", 100)
    text = lines([{"tags": [1, 2], "a": 1}] * 30) + b'{"tags": [1%s], "a": 2}\n' % (b"0" * 30)
    with refused("json", line=31, column="tags"):
        list(read(io.BytesIO(text), format="jsonl", label="tags"))
    text = lines([{"ok": i > 15, "a": 1} for i in range(30)]) + b'{"ok": "no", "a": 2}\n'
    with refused("json", line=31, column="ok"):
        list(read(io.BytesIO(text), format="jsonl", label="ok"))


def test_words_that_mean_missing_are_missing_numbers():
    rows = [{"age": "NA" if i % 9 == 0 else i, "y": i % 2} for i in range(40)]
    expected = [row | {"age": None} if row["age"] == "NA" else row for row in rows]
    assert whole(read(io.BytesIO(lines(rows)))) == whole(read(io.BytesIO(lines(expected))))
