"""Records are the rows of a file, all columns of them, as a reader counts them."""

import gzip

import pytest

from rosenblatt import read
from rosenblatt.data.rows import n_rows
from rosenblatt.reading.records import list_record_columns, read_records

from .samples import piped, refused

TEXT = 'a,b,label\n1,"x\ny",no\n2,z,yes\n3,,no\n'


@pytest.mark.parametrize("packed", [False, True])
def test_records_match_the_rows(tmp_path, packed):
    path = tmp_path / ("in.csv.gz" if packed else "in.csv")
    path.write_bytes(gzip.compress(TEXT.encode()) if packed else TEXT.encode())
    reader = read(path, ignore="b")
    records = list(read_records(reader))
    assert list_record_columns(reader) == ["a", "b", "label"]
    assert [record["b"] for record in records] == ["x\ny", "z", ""]
    assert sum(n_rows(batch.rows) for batch in reader) == len(records)


def test_a_file_in_another_encoding(tmp_path):
    (tmp_path / "in.csv").write_bytes("a,label\né,no\nu,yes\n".encode("latin-1"))
    reader = read(tmp_path / "in.csv", encoding="latin-1")
    assert [record["a"] for record in read_records(reader)] == ["é", "u"]


def test_tables_in_memory_have_records():
    reader = read([{"a": 1, "label": "no"}, {"a": 2, "label": "yes"}])
    assert list(read_records(reader)) == [{"a": 1, "label": "no"}, {"a": 2, "label": "yes"}]


def test_a_pipe_is_refused():
    with piped(TEXT.encode()) as pipe, refused("read-once"):
        next(read_records(read(pipe, format="csv")))
