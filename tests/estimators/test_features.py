"""Features turn whatever table there is into the rows that the shell makes of a file."""

import numpy as np
import pandas
import polars
import pyarrow
import pytest
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline

from rosenblatt import Features, Perceptron, read, train
from rosenblatt.data.rows import n_rows, to_matrix
from rosenblatt.reading.reader import read_whole

from ..conftest import csr

ROWS = [
    {"size": 1.5 * k, "colour": "red" if k % 3 else "blue", "note": f"note {k} of some"}
    for k in range(12)
]
TABLES = {
    "dicts": lambda rows: rows,
    "pandas": pandas.DataFrame,
    "polars": polars.DataFrame,
    "arrow": pyarrow.Table.from_pylist,
}


def of_file(path, **options):
    reader = read(path, label=False, **options)
    batch = read_whole(reader)
    return to_matrix(batch.rows, n_rows(batch.rows), batch.width)


def dense(matrix):
    return matrix.toarray() if issparse(matrix) else matrix


@pytest.mark.parametrize("form", TABLES)
@pytest.mark.parametrize("options", [{}, {"text": "note", "ngrams": (1, 2)}, {"pairs": True}])
def test_every_table_becomes_the_rows_of_the_file(tmp_path, form, options):
    path = tmp_path / "rows.csv"
    pandas.DataFrame(ROWS).to_csv(path, index=False)
    options = {"bits": 10, **options}
    found = Features(**options).fit_transform(TABLES[form](ROWS))
    np.testing.assert_array_equal(dense(found), dense(of_file(path, **options)))
    np.testing.assert_array_equal(
        dense(Features(**options).fit(ROWS).transform(path)), dense(found)
    )


def test_numbers_alone_stay_dense_and_keep_their_names():
    frame = pandas.DataFrame({"a": [1, 2], "b": [3.5, -1]}, index=[7, 9])
    features = Features(scale="none").fit(frame)
    np.testing.assert_array_equal(features.transform(frame), [[1, 3.5], [2, -1]])
    assert features.get_feature_names_out().tolist() == ["a", "b"]
    np.testing.assert_array_equal(features.transform([[1, 3.5]]), [[1, 3.5]])


def test_columns_are_found_by_name_and_others_are_not_used():
    features = Features().fit(ROWS)
    turned = [dict(reversed(row.items())) | {"more": 1} for row in ROWS]
    np.testing.assert_array_equal(
        dense(features.transform(turned)), dense(features.transform(ROWS))
    )
    with pytest.raises(ValueError, match="has no column 'colour'"):
        features.transform([{"size": 1.0, "note": "x"}])


def test_strings_are_text():
    model = make_pipeline(Features(bits=12), Perceptron(max_iter=20))
    model.fit(["a good film", "a bad film", "good", "bad"], ["p", "n", "p", "n"])
    assert model.predict(["good", "so bad"]).tolist() == ["p", "n"]
    names = model[0].get_feature_names_out()
    assert len(names) == 2**12


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        (17, "Expected a path"),
        ([], "Expected a path"),
        ([{"a": 1}, {"a": "x"}], "Expected numbers or strings throughout"),
        (pandas.DataFrame({"a": [1, "x", 2.5]}), "throughout the column 'a'"),
        ({"a": [1, 2], "b": [3, 4]}, "A dict is one row, but this one has lists"),
        (pandas.DataFrame({"a": [10**30, 1]}), "Expected numbers or strings throughout"),
        (np.zeros((2, 2, 2)), "two dimensions"),
    ],
)
def test_what_is_no_table_is_refused_in_a_sentence(rows, sentence):
    with pytest.raises(ValueError, match=sentence):
        Features().fit(rows)


def test_it_is_an_estimator():
    features = Features(text="note", bits=9)
    assert clone(features).get_params() == features.get_params()
    with pytest.raises(NotFittedError):
        features.transform(ROWS)
    again = features.fit(ROWS).transform(features.transform(ROWS))
    np.testing.assert_array_equal(dense(again), dense(features.transform(ROWS)))


@pytest.mark.parametrize("kind", ["table", "svmlight"])
@pytest.mark.parametrize("scale", ["auto", "none"])
def test_sparse_arrays_are_scaled_as_dense_ones_and_as_the_file(kind, scale, tmp_path):
    X = np.random.default_rng(0).normal(size=(40, 3)) * [1, 10, 100] + [0, 5, 50]
    X[X < 0] = 0
    given = pandas.DataFrame(X, columns=["a", "b", "c"])
    if kind == "svmlight":
        given = tmp_path / "rows.svm"
        lines = (" ".join(f"{j}:{v!r}" for j, v in enumerate(row, 1) if v) for row in X.tolist())
        given.write_text("".join(f"1 {line}\n" for line in lines))
    features = Features(scale=scale).fit(given)
    wanted = dense(features.transform(given))
    for each in (X, csr(X), csr(X).tocsc(), csr(X).tocoo()):
        np.testing.assert_array_equal(dense(features.transform(each)), wanted)
    with pytest.raises(ValueError, match="4 columns"):
        features.transform(csr(np.zeros((2, 4))))


def test_lists_series_and_nothing_are_tables_too():
    as_they_are = Features(scale="none")
    np.testing.assert_array_equal(as_they_are.fit_transform([[1, 2], [2, 1]]), [[1, 2], [2, 1]])
    texts = Features(bits=8).fit(pandas.Series(["good film", "bad film"]))
    assert texts.transform(["good"]).shape == (1, 256)
    features = Features(bits=9).fit(ROWS)
    assert features.transform(pandas.DataFrame(ROWS).iloc[:0]).shape == (0, 512)


# What frames may hold


def test_columns_that_are_not_used_are_warned_of():
    frame = pandas.DataFrame({"a": [1.0, 2.0], "parts": [[1], [2, 3]]})
    with pytest.warns(UserWarning, match="The column 'parts' is not used"):
        Features().fit(frame)


def test_a_categorical_column_is_a_category_whatever_its_values():
    numbers = pandas.DataFrame({"code": pandas.Categorical([1, 2, 1])})
    words = pandas.DataFrame({"code": ["1", "2", "1"]})
    features = Features(bits=8).fit(numbers)
    assert features.recipe_["columns"] == [("code", "category")]
    found = dense(features.transform(numbers))
    np.testing.assert_array_equal(found, dense(Features(bits=8).fit_transform(words)))


def test_sparse_columns_are_as_dense_ones():
    values = [0.0, 0.0, 3.0]
    frame = pandas.DataFrame({"a": pandas.arrays.SparseArray(values), "b": [1, 2, 3]})
    found = Features(scale="none").fit_transform(frame)
    np.testing.assert_array_equal(found, np.column_stack([values, [1, 2, 3]]))


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        (pandas.DataFrame([[1, 2]], columns=["a", "a"]), "two columns that are called 'a'"),
        ([{"a": "x\ud800"}], "half a character"),
        (["x\ud800", "y"], "half a character"),
        (np.array(["x\ud800", "y"]), "half a character"),
    ],
)
def test_odd_tables_are_refused_in_a_sentence(rows, sentence):
    with pytest.raises(ValueError, match=sentence) as refusal:
        Features().fit(rows)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            {"ngrams": 2},
            "ngrams must be two whole numbers from 1 up, the least first or None; got 2",
        ),
        ({"ngrams": (2, 1)}, "ngrams must be two whole numbers"),
        ({"ngrams": "12"}, "ngrams must be two whole numbers"),
        ({"bits": "a"}, "bits must be 1 to 31 or None; got 'a'"),
        ({"bits": 2.5}, "bits must be 1 to 31 or None; got 2.5"),
    ],
)
def test_options_out_of_range_are_refused_in_a_sentence(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        Features(text="note", **options).fit(ROWS)


@pytest.mark.parametrize("kind", [polars.Categorical, polars.Enum(["u", "v"])])
def test_categories_of_polars_are_those_of_their_words(kind):
    words = polars.DataFrame({"c": ["u", "v", None, "u"]})
    found = Features(bits=8).fit_transform(words.with_columns(polars.col("c").cast(kind)))
    np.testing.assert_array_equal(dense(found), dense(Features(bits=8).fit_transform(words)))


def test_columns_may_be_numbers_and_formats_are_of_files():
    names = Features(ignore=0).fit(ROWS).recipe_["columns"]
    assert [name for name, _ in names] == ["colour", "note"]
    for options in ({"skip_bad": -1}, {"skip_bad": "a"}, {"batch_bytes": "a"}, {"format": "csv"}):
        (name,) = options
        with pytest.raises(ValueError, match=name):
            read(ROWS, **options)


def test_svmlight_has_as_many_columns_as_its_widest_row(tmp_path):
    lines = [f"{row % 2} 1:{row} 3:1" for row in range(50)] + ["1 2:1 9:4"]
    path = tmp_path / "rows.svm"
    path.write_text("\n".join(lines) + "\n")
    features = Features().fit(path)
    assert features.n_features_out_ == features.transform(path).shape[1] == 9


def test_fit_learns_the_names_of_words_and_n_grams():
    rows = [{"colour": "red", "note": "a very good one"}, {"colour": "blue", "note": "a bad one"}]
    features = Features(text="note:1-2", bits=14)
    X = features.fit_transform(rows)
    other = Features(text="note:1-2", bits=14).fit(rows)
    assert other.recipe_ == features.recipe_
    np.testing.assert_array_equal(X.toarray(), other.transform(rows).toarray())
    for made in features, other:
        names = made.get_feature_names_out()
        there = {str(names[j]) for j in X[[0]].indices}
        assert there == {
            "colour=red", "note=very", "note=good", "note=one", "note=very good", "note=good one"
        }  # fmt: skip


@pytest.mark.parametrize("text", [(), ("words",)])
def test_matrices_may_be_changed_and_are_sorted(text):
    rows = [{"words": f"zebra apple w{k}", "size": float(k)} for k in range(30)]
    rows = rows if text else [{"size": row["size"], "other": 1.0} for row in rows]
    features = Features(text=text)
    for matrix in features.fit_transform(rows), features.transform(rows):
        if text:
            assert matrix.has_sorted_indices
            assert all(np.all(np.diff(matrix[[k]].indices) >= 0) for k in range(30))
            matrix.sort_indices()
            matrix.data *= 2
        else:
            matrix *= 2


# Few columns


@pytest.mark.parametrize("options", [{}, {"text": "note"}, {"pairs": True}])
def test_compact_features_are_the_columns_that_occur(options):
    wide = Features(**options).fit(ROWS)
    compact = Features(compact=True, **options)
    found = compact.fit_transform(ROWS)
    everything = wide.transform(ROWS)
    np.testing.assert_array_equal(dense(everything)[:, compact.columns_], dense(found))
    assert everything.count_nonzero() == found.count_nonzero()
    assert found.shape[1] == compact.n_features_out_ == len(compact.get_feature_names_out()) < 200
    other = Features(compact=True, **options).fit(ROWS)
    np.testing.assert_array_equal(dense(other.transform(ROWS)), dense(found))
    new = [{"size": 1.0, "colour": "green", "note": "nothing known"}]
    assert compact.transform(new).shape == (1, compact.n_features_out_)
    assert compact.transform(ROWS[:0] or pandas.DataFrame(ROWS)[:0]).shape[0] == 0


def test_names_are_those_of_the_columns_that_occur():
    names = Features(compact=True).fit([{"a": "x", "b": 2.0}, {"a": "y", "b": 1.0}])
    assert sorted(names.get_feature_names_out()) == ["a=x", "a=y", "b"]


def test_compact_features_are_named_columns_of_a_data_frame():
    frame = pandas.DataFrame(ROWS, index=range(100, 112))
    features = Features(compact=True).set_output(transform="pandas")
    found = features.fit_transform(frame)
    assert found.columns.tolist() == features.get_feature_names_out().tolist()
    assert found.index.tolist() == list(range(100, 112))
    plain = Features(compact=True).fit(frame)
    np.testing.assert_array_equal(found.to_numpy(), dense(plain.transform(frame)))
    numbers = Features().set_output(transform="pandas").fit_transform(frame[["size"]])
    assert numbers.columns.tolist() == ["size"]


def test_a_data_frame_of_all_hashed_columns_is_refused_with_what_to_do(monkeypatch):
    monkeypatch.setattr("rosenblatt.estimators.features.MOST_DENSE", 1000)
    features = Features().fit(ROWS).set_output(transform="pandas")
    with pytest.raises(ValueError, match=r"use Features\(compact=True\)"):
        features.transform(ROWS)


# Batches


@pytest.mark.parametrize("options", [{}, {"text": "note"}, {"scale": "maxabs", "ignore": "note"}])
def test_features_of_batches_are_those_of_all_rows(options):
    whole, parts = Features(**options).fit(ROWS), Features(**options)
    for k in range(0, 12, 5):
        assert parts.partial_fit(ROWS[k : k + 5]) is parts
    found, expected = dense(parts.transform(ROWS)), dense(whole.transform(ROWS))
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
    assert parts.get_feature_names_out().tolist() == whole.get_feature_names_out().tolist()
    with pytest.raises(ValueError, match="has no column"):
        parts.partial_fit([{"colour": "red"}])
    np.testing.assert_array_equal(dense(parts.transform(ROWS)), found)


# Types of columns


class Stream:
    """An object with an Arrow stream alone, which can be read once."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        table, self.table = self.table, None
        return table.__arrow_c_stream__(requested_schema)


def typed_frame():
    return pandas.DataFrame(
        {
            "colour": pandas.Categorical(["red", "blue", None, "red"]),
            "when": pandas.to_datetime(
                ["2024-01-01 10:00", "2024-06-01 12:00", None, "2024-12-24 18:00"]
            ).tz_localize("Europe/Berlin"),
            "count": pandas.array([1, None, 3, 4], dtype="Int64"),
            "share": pandas.array([0.5, 0.25, None, 1.0], dtype="Float64"),
            "good": pandas.array([True, None, False, True], dtype="boolean"),
            "name": pandas.array(["a", "b", None, "a"], dtype="string"),
            "kind": pandas.Categorical(["yes", "no", "no", "yes"]),
        }
    )


def plain_rows():
    frame = typed_frame()
    return pyarrow.Table.from_pandas(frame, preserve_index=False)


@pytest.mark.filterwarnings("ignore:The column 'when' is taken as dates")
@pytest.mark.filterwarnings("ignore:Missing numbers count as the mean")
@pytest.mark.parametrize(
    "form",
    [
        lambda table: table,
        lambda table: Stream(table),
        lambda table: table.to_reader(),
        lambda table: polars.from_arrow(table),
    ],
    ids=["table", "stream", "reader", "polars"],
)
def test_typed_columns_and_streams_are_the_frame(form):
    frame = typed_frame()
    features = Features(label="kind").fit(frame)
    expected = dense(features.transform(frame))
    assert dict(features.recipe_["columns"]) == {
        "colour": "category",
        "when": "date",
        "count": "number",
        "share": "number",
        "good": "number",
        "name": "category",
    }
    other = Features(label="kind").fit(form(plain_rows()))
    np.testing.assert_allclose(dense(other.transform(form(plain_rows()))), expected, atol=1e-6)
    model = train(form(plain_rows()), label="kind")
    assert model.classes_.tolist() == ["no", "yes"]
    np.testing.assert_array_equal(
        model.predict(form(plain_rows())), train(frame, label="kind").predict(frame)
    )
    labels = [batch.y.tolist() for batch in read(form(plain_rows()), label="kind")]
    assert labels == [["yes", "no", "no", "yes"]]
