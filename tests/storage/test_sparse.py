"""Weights that never changed are not written, and come back as they were."""

import json

import numpy as np
import pytest
from safetensors import safe_open
from scipy.sparse import csr_array
from sklearn.base import clone

import rosenblatt
from rosenblatt import AROW, FTRL, PassiveAggressive, Perceptron
from rosenblatt.storage.file import pack_model, save_model

from .models import assert_same, forge, learn_on, put, refused

WIDTH = 2**17


def wide_rows(classes=2, rows=60, seed=0):
    """Sparse rows with values in few of many columns."""
    rng = np.random.default_rng(seed)
    columns = np.sort(rng.choice(WIDTH, (rows, 20)) // 50 * 50, axis=1)
    X = csr_array((rng.normal(size=rows * 20), columns.ravel(), np.arange(rows + 1) * 20),
                  shape=(rows, WIDTH))  # fmt: skip
    X.sum_duplicates()
    return X, rng.integers(classes, size=rows)


def header_of(path):
    with safe_open(path, "np") as file:
        return json.loads(file.metadata()["rosenblatt"])


def is_sparse(path):
    return any("shape" in state for state in header_of(path)["states"])


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize(
    "model",
    [
        Perceptron(solution="average"),
        Perceptron(solution="pocket"),
        PassiveAggressive(solution="average", multi_class="ovr"),
        AROW(),
        AROW(solution="average"),
        FTRL(),
    ],
    ids=str,
)
def test_a_model_comes_back_and_learns_on_as_if_it_had_not_been_saved(path, model, classes):
    X, y = wide_rows(classes)
    model = clone(model).set_params(random_state=0, max_iter=2).fit(X, y)
    save_model(path, model.to_model())
    assert is_sparse(path)
    again = rosenblatt.load(path)
    assert_same(again.to_model(), model.to_model())
    for one in (again, model):
        learn_on(one, *wide_rows(classes, seed=1))
    assert_same(again.to_model(), model.to_model())


def test_a_file_is_at_most_twice_as_large_as_its_weights_need(path):
    X, y = wide_rows(3)
    model = Perceptron(solution="average", random_state=0, max_iter=2).fit(X, y)
    save_model(path, model.to_model())
    (state,) = model._learner.states
    need = sum(np.count_nonzero(each) * each.itemsize for each in (state.weights, state.missing))
    assert 0 < path.stat().st_size <= 2 * need + 10_000


def test_small_and_full_models_are_written_whole(path):
    X, y = wide_rows()
    save_model(path, Perceptron(max_iter=2).fit(X[:, :1000], y).to_model())
    assert not is_sparse(path)
    full = np.random.default_rng(0).normal(size=(4, WIDTH * 2))
    save_model(path, Perceptron(max_iter=2, order="fixed").fit(full, [0, 1, 0, 1]).to_model())
    assert not is_sparse(path)
    assert path.stat().st_size > full[0].nbytes


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda places: places[::-1].copy(), "not in order"),
        (lambda places: places + np.uint32(WIDTH), "not in order"),
        (lambda places: places.astype(np.int64), "not in order"),
        (lambda places: places[1:], "does not fit its places"),
    ],
)
def test_places_that_do_not_fit_are_refused(path, change, said):
    model = AROW(max_iter=1).fit(*wide_rows()).to_model()
    places = change(pack_model(model)[0]["0.places"])
    forge(path, model, put("0.places", places))
    refused(path, said)


@pytest.mark.parametrize("shape", [[2**40], [WIDTH, 0], [-1], [], "x", [0.5], [1, 1, WIDTH]])
def test_shapes_that_no_training_has_are_refused(path, shape):
    model = AROW(max_iter=1).fit(*wide_rows()).to_model()
    forge(path, model, put(["states", 0, "shape"], shape))
    refused(path, "weights")
