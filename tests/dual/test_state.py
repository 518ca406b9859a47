"""The state in dual form: in a file, in a pickle, and forged."""

import pickle

import numpy as np
import pandas
import pytest
from scipy.sparse import csr_array

from rosenblatt import KernelPerceptron, load
from rosenblatt.storage.file import load_model

from ..conftest import FORMS, LAYOUTS, blobs, form_parameters
from ..storage.models import forge, put
from .twins import XOR


def saved_and_loaded(model, path):
    model.save(path)
    return load(path)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("budget", [None, 8])
def test_a_model_that_was_away_predicts_and_learns_on(budget, form, layout, tmp_path):
    X, y = blobs(60, 4, classes=2 if form == "two" else 3)
    X, chosen = LAYOUTS[layout](X.astype(np.float32)), form_parameters(form)
    here = KernelPerceptron("poly", random_state=0, budget=budget, **chosen)
    here.partial_fit(X[:30], y[:30], classes=np.unique(y))
    there = saved_and_loaded(here, tmp_path / "model")
    assert there.get_params() == here.get_params()
    assert there.history_ == here.history_
    pickled = pickle.loads(pickle.dumps(here))
    for model in (here, there, pickled):
        model.partial_fit(X[30:], y[30:])
    np.testing.assert_array_equal(here.dual_coef_, pickled.dual_coef_)
    assert here.n_mistakes_ == there.n_mistakes_
    np.testing.assert_array_equal(here.support_, there.support_)
    for solution in ["last"] if budget else ["last", "average", "vote"]:
        for model in (here, there):
            model.set_params(solution=solution)
        np.testing.assert_array_equal(here.decision_function(X), there.decision_function(X))


def test_a_precomputed_model_and_names_come_back(tmp_path):
    X, y = blobs()
    gram = X @ X.T
    model = KernelPerceptron("precomputed", random_state=0, max_iter=3).fit(gram, y)
    back = saved_and_loaded(model, tmp_path / "model")
    np.testing.assert_array_equal(back.predict(gram), model.predict(gram))
    named = pandas.DataFrame(X, columns=list("abcde"))
    model = KernelPerceptron(gamma="scale", random_state=0).fit(named, y)
    back = saved_and_loaded(model, tmp_path / "model")
    assert back.feature_names_in_.tolist() == list("abcde")
    np.testing.assert_array_equal(back.predict(named), model.predict(named))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("classes", [[0, 1], [0, 1, 2]])
@pytest.mark.parametrize("budget", [None, 3])
def test_a_model_without_mistakes_is_saved(budget, classes, layout, tmp_path):
    rows, chosen = LAYOUTS[layout](XOR[0]), {"ties": "correct", "random_state": 0}
    here = KernelPerceptron("poly", budget=budget, **chosen).partial_fit(
        rows, XOR[1], classes=classes
    )
    assert here.n_mistakes_ == 0
    there = saved_and_loaded(here, tmp_path / "model")
    np.testing.assert_array_equal(here.predict(rows), there.predict(rows))
    for model in (here, there):
        model.set_params(ties="mistake").partial_fit(rows, XOR[1])
    assert here.n_mistakes_ == there.n_mistakes_ > 0
    np.testing.assert_array_equal(here.decision_function(rows), there.decision_function(rows))


@pytest.mark.parametrize("change", [{"kernel": "poly"}, {"budget": 9}, {"max_iter": -1}])
def test_what_would_load_as_another_model_is_not_saved(tmp_path, change):
    model = KernelPerceptron("linear").fit(*XOR).set_params(**change)
    with pytest.raises(ValueError, match=r"(cannot continue or be saved|max_iter must)"):
        model.save(tmp_path / "model")
    assert not list(tmp_path.iterdir())


# Forged files


def forge_as(path, model, change):
    """Save a model, and change what the file says."""
    model.save(path)
    forge(path, load_model(path), change)


def set_column(column, values):
    """Change one of the numbers of all updates: place, time, label or rival."""

    def change(header, tensors):
        tensors["0.moves"] = tensors["0.moves"].copy()
        tensors["0.moves"][:, column] = values

    return change


FORGERIES = {
    "linear in a dual file": put(["rule"], "perceptron"),
    "width another": put(["facts", "width"], 3),
    "gamma infinite": put(["facts", "gamma"], float("inf")),
    "kernel precomputed": put(["parameters", "kernel"], "precomputed"),
    "budget too small": put(["parameters", "budget"], 1),
    "mistakes another": put(["states", 0, "mistakes"], 10**6),
    "given too few": put(["states", 0, "given"], 0),
    "two solutions": put(["states"], [{}, {}]),
    "numbers too few": put("0.numbers", np.array([0])),
    "coef of two": put("0.coef", np.zeros((2, 4))),
    "seen too little": put("0.seen", np.array([0])),
    "matrix of another size": put("0.matrix", np.zeros((2, 2))),
    "steps NaN": put("0.steps", np.full((21, 2), np.nan)),
    "updates outside": set_column(0, 4),
    "updates of no class": set_column(2, 1),
    "updates of no rival": set_column(3, -1),
    "updates too few": put("0.moves", np.zeros((2, 4), np.int64)),
    "updates nested": put("0.moves", np.zeros((21, 4, 1), np.int64)),
    "updates back in time": set_column(1, np.arange(21)[::-1]),
    "updates too late": set_column(1, np.arange(10**6, 10**6 + 21)),
    "support too long": put("0.support", np.zeros((5, 2))),
    "support of columns": put("0.support", np.zeros(4, np.int64)),
}


@pytest.mark.parametrize("what", FORGERIES)
def test_a_forged_file_with_a_right_checksum_is_refused(what, tmp_path):
    model = KernelPerceptron("poly", degree=2, gamma=1, random_state=0).fit(*XOR)
    assert (len(model.support_), model.n_mistakes_) == (4, 21)
    forge_as(tmp_path / "same", model, lambda header, tensors: None)
    np.testing.assert_array_equal(load(tmp_path / "same").predict(XOR[0]), XOR[1])
    forge_as(tmp_path / "other", model, FORGERIES[what])
    with pytest.raises(
        ValueError, match=r"not an intact model|not a KernelPerceptron of this"
    ) as caught:
        load(tmp_path / "other")
    assert str(caught.value).endswith(".")


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("indices", np.full(4, 2, np.int32)),
        ("indices", np.full(4, -1, np.int32)),
        ("indptr", np.array([0, 9**9, 1, 1, 1], np.int32)),
        ("data", np.full(4, np.inf)),
    ],
)
def test_forged_sparse_support_is_refused(part, value, tmp_path):
    rows = csr_array(XOR[0])
    rows.data, rows.indices = rows.data[:4], rows.indices[:4]
    model = KernelPerceptron("poly", degree=2, gamma=1, random_state=0).fit(rows, XOR[1])
    forge_as(tmp_path / "model", model, put(f"0.support.{part}", value))
    with pytest.raises(ValueError, match="not an intact model"):
        load(tmp_path / "model")
