"""What all classifiers do with labels, batches and bad input."""

from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import coo_array, csc_array, csr_array, csr_matrix

from rosenblatt import KernelPerceptron, Perceptron
from rosenblatt.estimators import base

from ..conftest import LAYOUTS, csr

X = np.array([[1.0, 0.0], [-1.0, 0.0], [3.0, 1.0], [2.0, -1.0]])
Y = np.array([1, 0, 1, 1])
THREE = np.array([0, 1, 2, 1])


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_remembers_the_names_of_a_data_frame(frame):
    named = frame({"height": X[:, 0], "weight": X[:, 1]})
    model = Perceptron(random_state=0).fit(named, Y)
    assert model.feature_names_in_.tolist() == ["height", "weight"]
    np.testing.assert_array_equal(
        model.predict(named), Perceptron(random_state=0).fit(X, Y).predict(X)
    )
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame({"width": X[:, 0], "weight": X[:, 1]}))


def test_frozen_sparse_rows_are_learnt_from_and_predicted():
    sparse = csr(X)
    for array in (sparse.data, sparse.indices, sparse.indptr):
        array.flags.writeable = False
    assert Perceptron().fit(sparse, Y).score(sparse, Y) == 1


PLAIN = {
    "array": X,
    "single": X.astype(np.float32),
    "csr_array": csr_array(X),
    "csr_matrix": csr_matrix(X),
}
OTHERS = {
    "list": X.tolist(),
    "whole": X.astype(int),
    "columns": np.asfortranarray(X),
    "strided": np.repeat(X, 2, axis=0)[::2],
    "mapped": X.view(np.memmap),
    "swapped": X.astype(">f8"),
    "csc": csc_array(X),
    "coo": coo_array(X),
    "frame": pd.DataFrame(X),
}


@pytest.mark.parametrize("kind", [*PLAIN, *OTHERS])
def test_rows_that_need_no_look_are_not_looked_at(kind, monkeypatch):
    rows, looks = (PLAIN | OTHERS)[kind], []
    validate = base.validate_data
    monkeypatch.setattr(base, "validate_data", lambda *a, **k: looks.append(1) or validate(*a, **k))
    model = Perceptron(random_state=0).fit(rows, Y)
    np.testing.assert_array_equal(
        model.predict(rows), Perceptron(random_state=0).fit(X, Y).predict(X)
    )
    model.partial_fit(rows, Y)
    assert model.n_features_in_ == 2
    assert len(looks) == (0 if kind in PLAIN else 3)


def test_names_are_forgotten_with_data_that_have_none():
    named = pd.DataFrame({"height": X[:, 0], "weight": X[:, 1]})
    model = Perceptron(random_state=0).fit(named, Y)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.predict(X)
    assert not hasattr(model.fit(X, Y), "feature_names_in_")


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_what_is_not_finite_is_not_predicted(bad, layout):
    model, holed = Perceptron(random_state=0).fit(X, Y), X.copy()
    holed[1, 0] = bad
    with pytest.raises(ValueError, match=r"Input X contains (NaN|infinity).* in row 1, column 0"):
        model.predict(LAYOUTS[layout](holed))
    huge = np.full((2, 2), 1.7e308)  # their sum is not finite, and they are
    with np.errstate(over="ignore"):
        assert len(model.predict(LAYOUTS[layout](huge * [[1, 0], [1, 0]]))) == 2


# What is refused, each in a clear sentence


@pytest.mark.parametrize(
    ("rows", "y", "sentence"),
    [
        (X, [1, 1, 1, 1], "only one class, 1;"),
        (np.empty((0, 2)), [], "0 sample"),
        (np.empty((4, 0)), Y, "0 feature"),
        (X, [0.1, 0.2, 0.3, 0.4], "continuous"),
        (X, [0, 1, np.nan, 1], "y contains NaN"),
        (X, Y[:3], "X has 4 rows and y 3 labels"),
        (X[0], Y, "1D array"),
        ([["a", "b"]] * 4, Y, "could not convert"),
    ],
)
def test_unusable_data_are_refused(rows, y, sentence):
    with pytest.raises(ValueError, match=sentence):
        Perceptron().fit(rows, y)


@pytest.mark.parametrize("use", ["fit", "partial_fit", "score"])
@pytest.mark.parametrize(
    ("field", "position", "value"),
    [("indices", 0, 2), ("indices", 0, -1), ("indptr", 1, 9), ("indptr", 2, 0)],
)
def test_hostile_sparse_rows_are_refused(use, field, position, value):
    hostile = csr(X)
    getattr(hostile, field)[position] = value
    model = Perceptron().fit(X, Y)
    with pytest.raises(ValueError, match="sparse X"):
        getattr(model, use)(hostile, Y)


@pytest.mark.parametrize("weight", [-2, np.nan, np.inf])
def test_unusable_class_weights_are_refused(weight):
    with pytest.raises(ValueError, match="class_weight"):
        Perceptron(class_weight={0: weight, 1: 1, 2: 1}).fit(X, THREE)


@pytest.mark.parametrize(
    ("rows", "y", "classes", "sentence"),
    [
        (X, Y + 6, None, r"Row 0 has the label 7, which is not among the classes \[0, 1\]"),
        (X, ["a"] * 4, None, "Row 0 has the label 'a', which is not among the classes"),
        (X, Y, ["a", 0, 1], "y is 'a', a word; the labels of this model are numbers"),
        (X[:, :1], Y, None, "X has 1 features, but Perceptron is expecting 2"),
    ],
)
def test_a_later_batch_must_be_like_the_first(rows, y, classes, sentence):
    model = Perceptron().partial_fit(X, Y, classes=[0, 1])
    with pytest.raises(ValueError, match=sentence):
        model.partial_fit(rows, y, classes=classes)


def test_the_first_batch_must_name_at_least_two_classes():
    with pytest.raises(ValueError, match="first call of partial_fit needs classes"):
        Perceptron().partial_fit(X, Y)
    with pytest.raises(ValueError, match="at least two different labels"):
        Perceptron().partial_fit(X, [1] * 4, classes=[1])


@pytest.mark.parametrize("kind", [Perceptron, KernelPerceptron])
@pytest.mark.parametrize(
    "y",
    [
        [1, 0, float("nan"), 1],
        ["a", "b", float("nan"), "a"],
        ["a", "b", None, "a"],
        np.array(["a", "b", None, "a"], object),
        pd.Series(["a", "b", None, "a"]),
        pd.Series(["a", "b", None, "a"], dtype="string"),
        pd.Series(["a", "b", None, "a"], dtype="category"),
        pd.Series([1, 0, None, 1], dtype="Int64"),
    ],
)
def test_a_missing_label_is_refused_with_its_row_and_what_to_do(kind, y):
    X = np.eye(4)
    known = ["a", "b"] if isinstance(y[0], str) else [0, 1]
    for learn in (lambda: kind().fit(X, y), lambda: kind().partial_fit(X, y, classes=known)):
        with pytest.raises(ValueError, match=r"row 2 is .* Leave such rows out"):
            learn()


def test_rows_of_dicts_or_texts_are_refused_with_what_to_do():
    model = Perceptron().fit(np.eye(2), [0, 1])
    for rows in ([{"a": 1}, {"a": 2}], ["good", "bad"]):
        for use in (lambda rows=rows: Perceptron().fit(rows, [0, 1]), partial(model.predict, rows)):
            with pytest.raises(ValueError, match="put Features before"):
                use()


def test_probabilities_say_how_to_get_them():
    model = Perceptron().fit(np.eye(2), [0, 1])
    assert not hasattr(model, "predict_proba")
    with pytest.raises(AttributeError, match=r"use Perceptron\(calibrate=True\) and fit it again"):
        model.predict_proba(np.eye(2))
    assert hasattr(Perceptron(calibrate=True), "predict_proba")
