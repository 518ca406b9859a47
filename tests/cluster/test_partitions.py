"""What comes in: arrays, frames and files of all kinds, and what is wrong with them."""

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas
import pytest
from dask.delayed import delayed
from scipy.sparse import csr_matrix

from rosenblatt import Perceptron
from rosenblatt.cluster import fit, predict, score
from rosenblatt.jobs.files import train
from rosenblatt.parameters import ParameterError
from rosenblatt.reading.reader import read, read_matrix
from rosenblatt.training.plan import Request

from .. import reference
from ..conftest import blobs
from .conftest import cut, same

pytestmark = pytest.mark.cluster


def test_partitions_of_all_kinds_work_together(client):
    X, y = blobs(90, 4)
    y = np.sort(y)  # so that some partitions have one class only
    X = np.round(X * 4)
    parts = [
        X[:20].astype(np.float32),
        csr_matrix(X[20:50]),
        X[50:50].astype(int),
        X[50:70].astype(int),
        np.asfortranarray(X[70:]),
    ]
    blocks = [
        da.from_delayed(delayed(part), part.shape, part.dtype, meta=np.empty((0, 0)))
        for part in parts
    ]
    settings = {"solution": "average", "max_iter": 4, "random_state": 0}
    mixed = fit(Perceptron(**settings), da.concatenate(blocks), y, client=client)
    plain = fit(Perceptron(**settings), *cut(X, y, [20, 30, 0, 20, 20]), client=client)
    assert same(mixed, plain)
    assert mixed.coef_.dtype == np.float64


def block(rows, width, dtype=float):
    return da.from_delayed(delayed(np.ones((rows, width), dtype)), (rows, 3), float)


@pytest.mark.parametrize(
    ("X", "y", "sentence"),
    [
        (da.concatenate([block(3, 3), block(3, 4)]), [0, 1, 0, 1, 0, 1], "Partition 0 has 3 col"),
        (da.ones((6, 2), chunks=2), [0, 1, 0, 1], "6 rows and y 4"),
        (da.ones((6, 2), chunks=3), [1] * 6, "only the label 1"),
        (da.ones((6, 2), chunks=3), [0, 1, 0, 1, 0, np.nan], "Partition 1: Input y contains NaN"),
        (da.ones((0, 2), chunks=3), [], "no rows to learn from"),
        (da.ones((6, 2), chunks=3), None, "y is missing"),
        (da.from_array(np.array([[1, 2], [3, np.inf]]), chunks=1), [0, 1], "infinity"),
        (da.full((4, 1), 1e308, chunks=2), [0, 1, 0, 1], "grew beyond what float64"),
        (da.full((4, 1), "a", chunks=2), [0, 1, 0, 1], "Partition [01]: could not convert"),
    ],
)
def test_bad_input_gets_a_sentence(client, X, y, sentence):
    model = Perceptron(max_iter=3, random_state=0)
    with pytest.raises(ValueError, match=sentence):
        fit(model, X, y if y is None else np.array(y), client=client)
    assert not hasattr(model, "classes_")


def test_options_for_files_and_collections_do_not_mix(client):
    X, y = blobs(20, 3)
    with pytest.raises(TypeError, match=r"\['text'\] are options for files"):
        fit(Perceptron(), *cut(X, y, [20]), client=client, text=["a"])
    with pytest.raises(ParameterError) as refusal:
        fit(Perceptron(), "rows.svm", y, client=client)
    assert refusal.value.code == "labels-of-files"
    frame = dd.from_pandas(pandas.DataFrame(X), npartitions=2)
    labels = dd.from_pandas(pandas.Series(y), npartitions=1)
    with pytest.raises(ParameterError, match="X has 2 partitions and y 1") as refusal:
        fit(Perceptron(), frame, labels, client=client)
    assert refusal.value.code == "other-partitions"


def test_columns_in_several_blocks_and_unknown_lengths(client):
    X, y = blobs(60, 4)
    dX, dy = cut(X, y, [30, 30])
    settings = {"max_iter": 3, "random_state": 0}
    expected = fit(Perceptron(**settings), dX, dy, client=client)
    assert same(fit(Perceptron(**settings), dX.rechunk((30, 2)), dy, client=client), expected)
    keep = dy >= 0
    unknown = dX[keep], dy[keep]
    assert np.isnan(unknown[0].chunks[0]).all()
    assert same(fit(Perceptron(**settings), *unknown, client=client), expected)


def test_data_frames_keep_their_names(client):
    X, y = blobs(60, 3)
    table = pandas.DataFrame(X, columns=["a", "b", "c"])
    table["kind"] = np.where(y, "one", "other")
    frame = dd.from_pandas(table, npartitions=3)
    settings = {"max_iter": 3, "random_state": 0}
    model = fit(Perceptron(**settings), frame, "kind", client=client)
    arrays = cut(X, table["kind"].to_numpy(str), [20, 20, 20])
    assert same(model, fit(Perceptron(**settings), *arrays, client=client))
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    predicted = predict(model, frame[["a", "b", "c"]])
    assert predicted.compute().index.tolist() == table.index.tolist()
    assert score(model, frame, "kind") == model.score(table[["a", "b", "c"]], table["kind"])


def test_files_are_partitions_however_they_are_named(client, folder):
    paths = sorted(map(str, folder.iterdir()))
    settings = {"solution": "average", "max_iter": 3, "random_state": 0}
    model = fit(Perceptron(**settings), paths, client=client)
    assert model.mixing_.rows == (30, 50, 40)
    for way in (f"{folder}/part-*", folder):
        assert same(fit(Perceptron(**settings), way, client=client), model)
    assert score(model, paths) == pytest.approx(np.mean([*predicted_right(model, paths)]))
    assert len(predict(model, paths).compute()) == 120


def predicted_right(model, paths):
    """Whether each row of files comes out right."""
    for path in paths:
        X, y = read_matrix(read(path, features=model._learner.features["recipe"]))
        yield from model.predict(X) == y


def test_one_file_is_what_the_local_command_learns(client, folder):
    path = sorted(folder.iterdir())[0]
    given = {"solution": "average", "order": "each", "max_iter": 3, "random_state": 5}
    given["intercept_step"] = 1.0
    local = train(read(path), Request("perceptron", given))
    model = Perceptron(solution="average", max_iter=3, random_state=5)
    fit(model, path, client=client)
    weights, bias = local.states[0].coefficients()
    assert np.array_equal(model.coef_[0], weights)
    assert np.array_equal(model.intercept_, bias)


def test_files_may_have_more_columns_and_labels(client, tmp_path):
    rows = {
        "a.svm": "1 1:1\n0 2:1\n" * 50,
        "b.svm": "0 1:-1 9:1\n1 2:-1\n" * 50,
        "late.svm": "1 1:1\n" * 3_000 + "2 20:1\n",
    }
    for name, text in rows.items():
        (tmp_path / name).write_text(text)
    settings = {"order": "fixed", "max_iter": 1}
    for names, width in [(["a.svm", "b.svm"], 9), (list(rows), 20)]:
        paths = [tmp_path / name for name in names]
        model = fit(Perceptron(**settings), paths, client=client, batch_bytes=1000)
        assert model.n_features_in_ == width
        parts = [read_matrix(read(path)) for path in paths]
        twin = reference.MixedPerceptron(**settings)
        X = np.vstack([np.pad(X.toarray(), ((0, 0), (0, width - X.shape[1]))) for X, _ in parts])
        twin.fit(X, np.concatenate([y for _, y in parts]), [len(y) for _, y in parts])
        np.testing.assert_allclose(model.coef_, twin.coef_, atol=1e-6)
    with pytest.raises(ValueError, match="label 2"):
        fit(Perceptron(**settings), paths, client=client, batch_bytes=1000, classes=[0, 1])
