"""Excel workbooks are read as the CSV files that they could be; DuckDB's relations as tables."""

import sys

import numpy as np
import pandas as pd
import pytest

import rosenblatt
from rosenblatt.reading import workbooks
from rosenblatt.training.report import Listener

from ..cli.conftest import run
from .samples import notices, read, refused, whole

N = 60
FRAME = pd.DataFrame(
    {
        "size": np.arange(N) % 7 / 4,
        "town": [["Ulm", None, "Jena"][k % 3] for k in range(N)],
        "since": pd.date_range("2024-01-30 10:30", periods=N, freq="37h"),
        "code": [k % 5 if k % 11 else "none" for k in range(N)],
        "open": [k % 2 == 0 for k in range(N)],
        "kind": ["a" if k % 7 > 3 else "b" for k in range(N)],
    }
)


@pytest.fixture
def book(tmp_path):
    pytest.importorskip("openpyxl", reason="pandas reads Excel workbooks with openpyxl")
    with pd.ExcelWriter(tmp_path / "rows.xlsx") as writer:
        FRAME.to_excel(writer, sheet_name="first", index=False)
        FRAME.head().to_excel(writer, sheet_name="notes", index=False)
    FRAME.to_csv(tmp_path / "rows.csv", index=False)
    return tmp_path / "rows.xlsx"


def test_a_workbook_is_read_as_the_csv_file_of_its_first_sheet(book, tmp_path):
    reader, other = read(book), read(tmp_path / "rows.csv")
    assert notices(reader) == [*notices(other), "sheets"]
    assert "The sheet 'first' is read; there are others: 'notes'." in map(str, reader.notices)
    assert whole(reader) == whole(other)
    assert reader.features() == other.features()
    book.rename(tmp_path / "rows.bin")
    assert whole(read(tmp_path / "rows.bin", format="xlsx")) == whole(other)


def test_workbooks_are_learnt_predicted_and_scored(capsys, book, tmp_path):
    for data in ("rows.xlsx", "rows.csv"):
        assert run(capsys, "train", tmp_path / data, "-q", "-o", tmp_path / f"{data}.m")[0] == 0
    models = [rosenblatt.load(tmp_path / f"rows.{kind}.m") for kind in ("xlsx", "csv")]
    np.testing.assert_array_equal(models[0][-1].coef_, models[1][-1].coef_)
    predicted = models[1].predict(tmp_path / "rows.csv").tolist()
    assert models[0].predict(book).tolist() == predicted
    given = ("predict", tmp_path / "rows.xlsx.m", book, "--append", "-o", tmp_path / "out.csv")
    assert run(capsys, *given)[0] == 0
    out = pd.read_csv(tmp_path / "out.csv")
    assert out["predicted"].tolist() == predicted
    assert out["town"].tolist() == pd.read_csv(tmp_path / "rows.csv")["town"].tolist()
    scores = [
        run(capsys, "score", tmp_path / "rows.csv.m", tmp_path / data)[1].partition(": ")[2]
        for data in ("rows.xlsx", "rows.csv")
    ]
    assert scores[0] == scores[1]


def test_what_cannot_be_read_is_refused_in_one_sentence(book, tmp_path, monkeypatch):
    for name in ("no.xlsx", "no.xls"):
        (tmp_path / name).write_bytes(b"a,b\n1,2\n")
        with refused("damaged", file=str(tmp_path / name)):
            read(tmp_path / name)
    with refused("several-workbooks"):
        read(tmp_path / "*.xlsx")
    with refused("encoding-of-format"):
        read(book, encoding="latin-1")
    with pytest.raises(FileNotFoundError, match="could not be read: no such file"):
        read(tmp_path / "missing.xlsx")
    workbooks.read_first_sheet.cache_clear()
    for name in ("openpyxl", "pandas"):
        monkeypatch.setitem(sys.modules, name, None)
        with refused("needs-pandas", file=str(book)):
            read(book)


def test_relations_of_duckdb_are_tables():
    duckdb = pytest.importorskip("duckdb", reason="the test needs DuckDB")
    with duckdb.connect() as connection:
        relation = connection.sql(
            """SELECT i::DECIMAL(9, 2) / 4 AS size, i::HUGEINT % 7 AS big, 'w' || i % 5 AS word,
            (CASE WHEN i % 2 = 0 THEN 'even' ELSE 'odd' END)::ENUM('even', 'odd') AS parity,
            DATE '2024-01-01' + i::INTEGER AS day, nullif(i % 3, 0) AS gaps, i % 2 = 0 AS flag,
            TIMESTAMPTZ '2024-01-01 10:00:00+02' AS at, i > 20 AS label FROM range(40) t(i)"""
        )
        model = rosenblatt.train(relation, listener=Listener())
        assert model.predict(relation).tolist() == [k > 20 for k in range(40)]
        assert rosenblatt.evaluate(model, relation).score.rows == 40
        some = connection.sql("SELECT * FROM relation WHERE size > 5 ORDER BY size")
        assert model.predict(some).all()
        features = rosenblatt.Features(label="label").fit(relation)
        assert features.transform(relation).shape[0] == 40
