"""DuckDB's relations are tables."""

import pytest

import rosenblatt
from rosenblatt.training.report import Listener


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
