"""Models that begin with one row, and rows that are dicts."""

import copy
import inspect
import pickle
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import rosenblatt
from rosenblatt import (
    ALMA,
    AROW,
    FTRL,
    ROMMA,
    AdaGrad,
    PassiveAggressive,
    Perceptron,
    ShiftingPerceptron,
    load,
)
from rosenblatt.estimators.linear import LinearClassifier

random = np.random.default_rng(0)
X = random.integers(-3, 4, (80, 4)).astype(float)
LINEAR = [
    kind
    for _, kind in inspect.getmembers(rosenblatt, inspect.isclass)
    if issubclass(kind, LinearClassifier)
]


def learn(model, rows, labels):
    for x, y in zip(rows, labels, strict=True):
        model.learn_one(x, y)
    return model


@pytest.mark.parametrize("first", ["a", "b"])
@pytest.mark.parametrize("kind", LINEAR)
def test_a_model_that_begins_with_a_row_is_the_one_that_knew_both_labels(kind, first):
    labels = np.where(X[:, 0] + X[:, 1] > 0, "a", "b")
    labels[:5] = first
    grown = learn(kind(), X, labels.tolist())
    known = learn(kind().partial_fit(X[:1], labels[:1], ["a", "b"]), X[1:], labels[1:])
    np.testing.assert_array_equal(grown.coef_, known.coef_)
    np.testing.assert_array_equal(grown.intercept_, known.intercept_)
    assert grown.classes_.tolist() == ["a", "b"]
    assert grown.n_mistakes_ == known.n_mistakes_


@pytest.mark.parametrize("multi_class", ["argmax", "ovr"])
@pytest.mark.parametrize("solution", ["last", "average"])
def test_labels_are_added_as_they_come(solution, multi_class):
    labels = random.integers(3, size=80)
    labels[:6] = [2, 2, 0, 0, 2, 1]
    parameters = {"solution": solution, "multi_class": multi_class}
    grown = learn(Perceptron(**parameters), X, labels.tolist())
    known = Perceptron(**parameters).partial_fit(X, labels, [0, 1, 2])
    assert grown.classes_.tolist() == [0, 1, 2]
    if multi_class == "argmax":
        np.testing.assert_allclose(grown.coef_, known.coef_, atol=1e-12)
        np.testing.assert_allclose(grown.intercept_, known.intercept_, atol=1e-12)
    assert grown.score(X, labels) > 0.3


@pytest.mark.parametrize("model", [Perceptron(), Perceptron(solution="average"), AROW()])
def test_names_are_added_as_they_come(model, tmp_path):
    rows = [{f"x{j}": value for j, value in enumerate(x) if value} for x in X]
    labels = np.where(X[:, 0] + X[:, 1] > 0, "a", "b").tolist()
    assert model.predict_one(rows[0]) is None
    learn(model, rows, labels)
    order = [int(name[1:]) for name in model.feature_names_in_]
    known = type(model)(**model.get_params()).partial_fit(X[:, order], labels, ["a", "b"])
    np.testing.assert_allclose(model.coef_, known.coef_, atol=1e-12)
    assert [model.predict_one(row) for row in rows] == known.predict(X[:, order]).tolist()
    model.save(tmp_path / "model")
    further = load(tmp_path / "model")
    for one in (model, further, pickle.loads(pickle.dumps(further))):
        one.learn_one({"x0": 1, "new": "word"}, "c")
        assert one.classes_.tolist() == ["a", "b", "c"]
        assert one.feature_names_in_[-1] == "new=word"
        assert one.coef_.shape == (3, 5)


@pytest.mark.parametrize("model", [Perceptron(solution="average"), AROW()])
def test_memory_for_new_names_is_allocated_seldom(model):
    addresses, before = set(), []
    for k in range(500):
        model.learn_one({"always": 1.0, f"name {k}": 1.0}, "ab"[k % 2])
        weights, names = model._learner.states[0].weights, model.feature_names_in_
        addresses.add((weights.ctypes.data, names.ctypes.data))
        before += [names] if k in (100, 101) else []
    assert len(addresses) < 20
    assert [len(names) for names in before] == [102, 103]
    assert names.tolist() == ["always", *(f"name {k}" for k in range(500))]
    kept = pickle.dumps(model)
    copies = copy.copy(model), copy.deepcopy(model), pickle.loads(kept)
    for number, one in enumerate(copies):
        one.learn_one({f"own {number}": 1.0}, "a")
    model.learn_one({"own": 1.0}, "b")
    for one, name in zip((*copies, model), ("own 0", "own 1", "own 2", "own"), strict=True):
        assert one.feature_names_in_[-1] == name
        assert one.coef_.shape == (1, 502)
    assert len(kept) < 1.1 * len(pickle.dumps(copies[1]))


def test_one_label_is_predicted_until_there_is_another(tmp_path):
    model = Perceptron().learn_one({"free": 1, "from": "ann"}, "ham")
    assert model.predict_one({"other": 7}) == "ham"
    assert model.predict_one({"free": -9}) == "ham"
    with pytest.raises(ValueError, match="knows only the label 'ham'"):
        model.save(tmp_path / "model")
    with pytest.raises(ValueError, match="labels of this model are words"):
        model.learn_one({"free": 1}, 3)
    assert model.classes_.tolist() == ["ham"]


@pytest.mark.parametrize(
    ("x", "y", "what"),
    [
        ({"a": float("inf")}, 1, r"x\['a'\] is inf; expected a finite number or a string"),
        ({"a": 10**400}, 1, "expected a finite number or a string"),
        ({"a": None, "b": " "}, 1, "x has no values"),
        ({"a": [1, 2]}, 1, "expected a finite number or a string"),
        ([[1.0, 2.0]], 1, "expected one row of numbers, or a dict"),
        ([1.0], None, "y is None; expected one label"),
        ([1.0], float("nan"), "y is nan; expected one label"),
        ([1.0], 0.5, "numbers as labels must be whole"),
        ([1.0], ["a"], "expected one label"),
    ],
)
def test_a_row_that_cannot_begin_a_model_is_refused(x, y, what):
    model = Perceptron()
    with pytest.raises(ValueError, match=what):
        model.learn_one(x, y)
    assert vars(model) == vars(Perceptron())


def test_words_and_gaps_are_those_of_a_file():
    plain = {"size": 3, "colour": "red"}
    model = Perceptron().learn_one(plain, "x").learn_one({"size": -3}, "y")
    odd = {"size": 3, "colour": " red ", "age": None, "day": "", "n": float("nan")}
    twin = copy.deepcopy(model)
    for row, one in (plain, twin), (odd, model):
        one.learn_one(row, "y").learn_one(row, "x")
    assert model.feature_names_in_.tolist() == ["size", "colour=red"]
    assert model.coef_.tolist() == twin.coef_.tolist() != [[0, 0]]


def test_what_cannot_grow_says_what_to_do():
    with pytest.raises(ValueError, match="Name all labels in the first call of partial_fit"):
        Perceptron(ties="positive").learn_one([1.0], "a")
    fitted = Perceptron().fit(X, X[:, 0] > 0)
    with pytest.raises(ValueError, match="columns of this model have no names"):
        fitted.learn_one({"a": 1}, True)


def test_an_error_leaves_names_and_labels_as_they_were():
    model = Perceptron(eta0=10).learn_one({"a": 1.0}, "x").learn_one({"a": -1.0}, "y")
    with pytest.raises(ValueError, match="grew beyond"):
        model.learn_one({"a": 1e308, "b": 1e308}, "z")
    assert model.feature_names_in_.tolist() == ["a"]
    assert model.classes_.tolist() == ["x", "y"]
    assert model.coef_.shape == (1, 1)
    model.learn_one({"c": 2.0}, "y")
    assert model.feature_names_in_.tolist() == ["a", "c"]
    assert model.coef_.shape == (1, 2)


@pytest.mark.parametrize(
    "estimator",
    [Perceptron, AROW, PassiveAggressive, ALMA, ROMMA, FTRL, ShiftingPerceptron, AdaGrad],
)
@pytest.mark.parametrize("solution", ["last", "average"])
def test_a_third_class_comes_to_a_model_of_one_column(estimator, solution):
    """Weights of one column have the shape of a bias, and must not be taken for one."""
    rows = [({"a": 1.0}, "x"), ({"a": -1.0}, "y"), ({"a": 1.0}, "z"), ({"a": 5.0}, "z")] * 3
    model = estimator(solution=solution)
    for row, label in rows:
        model.learn_one(row, label)
    assert model.coef_.shape == (3, 1)
    assert np.isfinite(model.coef_).all()
    assert model.predict_one({"a": -9.0}) == "y"


def test_a_label_that_is_a_list_is_refused():
    model = Perceptron().learn_one({"a": 1.0}, "x")
    with pytest.raises(ValueError, match="a number or a text"):
        model.learn_one({"a": 1.0}, ["x"])


def test_threads_predict_rows_of_different_names():
    names = [f"n{number}" for number in range(20)]
    model = Perceptron(solution="average")
    for _ in range(100):
        values = random.integers(-3, 4, 20).tolist()
        model.learn_one(dict(zip(names, values, strict=True)), sum(values) > 0)
    rows = [dict.fromkeys(names[size:][:size], 1 + size) for size in range(1, 20)] * 200
    known = [model.predict_one(row) for row in rows]
    assert len(set(known)) == 2
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as threads:
            orders = [random.permutation(len(rows)) for _ in range(4)]
            found = threads.map(lambda order: [model.predict_one(rows[i]) for i in order], orders)
            for order, labels in zip(orders, found, strict=True):
                assert labels == [known[i] for i in order]
    finally:
        sys.setswitchinterval(before)


def test_a_score_beyond_all_numbers_decides_as_in_predict():
    model = Perceptron().fit([[1.0, 0], [2, 1], [-1, 0], [-2, 1]], [1, 1, 0, 0])
    with np.errstate(over="ignore"):
        assert model.predict([[1e308, 1e308]]).tolist() == [model.predict_one([1e308, 1e308])]
    with pytest.raises(ValueError, match="infinity"):
        model.predict_one([np.inf, 0.0])


def test_the_pocket_learns_no_single_rows():
    model = Perceptron(solution="pocket", random_state=0).fit(X, X[:, 0] > 0)
    with pytest.raises(ValueError, match="solution pocket needs all rows in memory"):
        model.learn_one(X[0], True)
