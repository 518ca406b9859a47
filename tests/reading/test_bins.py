"""Quantile bins: edges of the rows to learn from, kept by the recipe, the same for all rows."""

import json

import numpy as np
import pandas
import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import given, settings, strategies as st
from sklearn.datasets import dump_svmlight_file

import rosenblatt
from rosenblatt.data.splits import Split
from rosenblatt.learners.kinds import make_learner
from rosenblatt.reading import scaling
from rosenblatt.reading.reader import read, read_matrix, read_whole
from rosenblatt.service.rows import make_row_maker
from rosenblatt.storage.file import load_model

from .samples import refused


def make_table(n=400, seed=0):
    """A table with a number, few numbers, a flag, gaps and words; the label is not linear in x."""
    random = np.random.default_rng(seed)
    x = random.normal(size=n).round(4)
    table = pandas.DataFrame(
        {
            "x": x,
            "few": random.integers(0, 4, n),
            "flag": random.integers(0, 2, n),
            "gaps": np.where(random.random(n) < 0.1, np.nan, random.normal(size=n)),
            "word": random.choice(["a", "b"], n),
        }
    )
    return table.assign(label=(np.abs(x) < 0.7).astype(int))


def load_learner(path):
    """The learner of a model file."""
    return make_learner(load_model(path), path)


@settings(deadline=None)
@given(
    numbers=st.lists(st.floats(-1e300, 1e300), min_size=3, max_size=60), count=st.integers(2, 20)
)
def test_edges_rise_and_part_the_numbers(numbers, count):
    numbers = np.array(numbers)
    edges = scaling.find_edges(numbers, count)
    assert np.isfinite(edges).all()
    assert (np.diff(edges) >= 0).all()
    assert len(edges) < count
    assert (len(np.unique(numbers)) > 2) == bool(edges)


def test_every_bin_is_a_feature_beside_the_number():
    table = make_table()
    reader = read(table, bins=4, names=100)
    X, _ = read_matrix(reader)
    recipe = reader.features()
    assert recipe["edges"].keys() == {"x", "few", "gaps"}  # a flag is its own bin
    assert recipe["edges"]["few"] == [0.5, 1.5, 2.5]
    named = {name: index for index, name in reader.names.items()}
    low, middle, _ = recipe["edges"]["x"]
    column = X[:, [named[f"{low:.6g} < x ≤ {middle:.6g}"]]].toarray().ravel()
    x = table.x.to_numpy()
    np.testing.assert_array_equal(column, (low < x) & (x <= middle))
    known = [index for name, index in named.items() if "gaps ≤" in name or "gaps >" in name]
    there = X[:, known].toarray().sum(axis=1)
    np.testing.assert_array_equal(there, table.gaps.notna())


@pytest.mark.filterwarnings("ignore:An extra feature marks", "ignore:Missing numbers")
def test_all_formats_and_served_rows_are_binned_alike(tmp_path):
    table = make_table()
    table.to_csv(tmp_path / "t.csv", index=False)
    pyarrow.parquet.write_table(pyarrow.Table.from_pandas(table), tmp_path / "t.parquet")
    table.to_json(tmp_path / "t.jsonl", orient="records", lines=True)
    how = {"bins": 5, "pairs": True, "bits": 12}
    wanted, _ = read_matrix(read(table, **how))
    for name in ("t.csv", "t.parquet", "t.jsonl"):
        found, _ = read_matrix(read(tmp_path / name, **how))
        np.testing.assert_allclose(found.toarray(), wanted.toarray(), atol=1e-5)
    streamed = np.vstack([b.X.toarray() for b in read(tmp_path / "t.csv", batch_bytes=999, **how)])
    np.testing.assert_allclose(streamed, wanted.toarray(), atol=1e-5)
    model = rosenblatt.train(tmp_path / "t.csv", **how)
    assert model.file_facts_["facts"]["rows"] == len(table)
    kept = json.loads(json.dumps(model[0].recipe_))
    again, _ = read_matrix(read(tmp_path / "t.csv", features=kept))
    np.testing.assert_allclose(again.toarray(), wanted.toarray(), atol=1e-5)
    objects = json.loads(table.drop(columns="label").head(20).to_json(orient="records"))
    rosenblatt.save(model, tmp_path / "model")
    maker = make_row_maker(load_learner(tmp_path / "model"))
    served = maker.batch(objects).X.toarray()
    np.testing.assert_allclose(served, wanted[:20].toarray(), atol=1e-5)


def test_held_out_rows_do_not_move_the_edges():
    table = make_table()
    table.loc[Split(0.5, 0).held_out(0, len(table)), "x"] = 100.0
    reader = read(table, bins=8)
    reader.hold_out(Split(0.5, 0))
    read_whole(reader)
    assert max(reader.features()["edges"]["x"]) < 10


def test_svmlight_has_pairs_of_scaled_numbers(tmp_path):
    random = np.random.default_rng(1)
    X = random.normal(size=(200, 3)) * [1, 1, 1000]
    path = tmp_path / "rows.svm"
    dump_svmlight_file(X, (X[:, 0] * X[:, 1] > 0).astype(int), str(path), zero_based=False)
    found, _ = read_matrix(read(path, pairs=True))
    assert read(path, pairs=1).features()["pairs"] is True  # as a model file needs it
    size = np.abs(X).max(axis=0)
    np.testing.assert_allclose(found[:, :3].toarray(), X / size, rtol=1e-5)
    assert np.unique(np.diff(found.indptr)).tolist() == [6]
    products = sorted((X / size)[0, [0, 0, 1]] * (X / size)[0, [1, 2, 2]])
    first = found[[0]]
    np.testing.assert_allclose(sorted(first.data[first.indices > 2]), products, rtol=1e-4)
    with pytest.warns(UserWarning, match="sizes of columns differ"):
        model = rosenblatt.train(path, pairs=True)
    assert model.score(str(path), read_matrix(read(path))[1]) > 0.9


def test_few_rows_decide_the_edges_of_many(monkeypatch):
    for module in (scaling, rosenblatt.reading.statistics):
        monkeypatch.setattr(module, "MOST_BINNED", 100)
    table = make_table(1000)
    edges = read(table, bins=4).features()["edges"]["x"]
    assert edges == scaling.find_edges(table.x.to_numpy()[::16], 4)


def test_bins_without_numbers_are_refused():
    with refused("bins-without-numbers"):
        read(make_table()[["word", "label"]], bins=4)
    for count in (1, 256, -2):
        with refused("out-of-range"):
            read(make_table(), bins=count)


def test_too_many_pairs_are_refused():
    rows = [{f"c{j}": float(i * j % 7) for j in range(4000)} | {"y": "pn"[i]} for i in range(2)]
    with refused("too-many-products"):
        read(rows, label="y", pairs=True)
