"""Networks grow until they are right, as their theorems say, and stop when that is of no use."""

from itertools import groupby, pairwise, product

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.utils.estimator_checks import parametrize_with_checks

from rosenblatt import PerceptronNetwork, load

from .. import reference
from ..conftest import blobs

GROWTHS = ["upstart", "tiling", "tower", "pyramid"]
XOR = np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), np.array([0, 1, 1, 0])


def cube(n):
    """The corners of a cube."""
    return np.array(list(product([0.0, 1.0], repeat=n)))


@parametrize_with_checks(
    [PerceptronNetwork(), PerceptronNetwork("pyramid", max_units=5, early_stopping=True)],
    expected_failed_checks=lambda _: {
        "check_sample_weight_equivalence_on_dense_data": "a row of weight 2 moves a unit once by 2"
    },
)
def test_keeps_the_contract_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("unit", ["pocket", "thermal"])
@pytest.mark.parametrize("growth", GROWTHS)
@pytest.mark.parametrize("n", range(2, 8))
def test_parity_is_solved(growth, n, unit):
    X = cube(n)
    y = X.sum(axis=1) % 2
    network = PerceptronNetwork(growth, unit=unit, max_units=300, random_state=0).fit(X, y)
    assert network.stop_reason_ == "separated"
    assert network.score(X, y) == 1
    assert network.n_units_ == 2 or n > 2 or growth == "tiling"


@pytest.mark.parametrize("growth", GROWTHS)
@pytest.mark.parametrize("seed", range(4))
def test_any_function_of_six_bits_is_learnt(growth, seed):
    X, y = cube(6), np.random.default_rng(seed).integers(0, 2, 64)
    network = PerceptronNetwork(growth, max_units=200, max_iter=20, random_state=seed).fit(X, y)
    assert network.stop_reason_ == "separated"
    assert network.score(X, y) == 1


@pytest.mark.parametrize("growth", ["tower", "pyramid"])
@pytest.mark.parametrize("seed", range(5))
def test_every_unit_of_a_chain_lowers_the_errors(growth, seed):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((60, 2)), rng.integers(0, 2, 60)
    history = PerceptronNetwork(growth, max_iter=5, random_state=0).fit(X, y).history_
    assert all(after.errors < before.errors for before, after in pairwise(history))
    assert history[-1].errors == 0


@pytest.mark.parametrize("seed", range(5))
def test_every_layer_of_tiles_lowers_the_errors(seed):
    X, y = cube(5), np.random.default_rng(seed).integers(0, 2, 32)
    network = PerceptronNetwork("tiling", max_units=200, max_iter=5, random_state=0).fit(X, y)
    layers = [unit.layer for unit in network.units_]
    errors = [network.history_[layers.index(layer)].errors for layer in range(max(layers) + 1)]
    assert all(after < before for before, after in pairwise(errors))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("growth", GROWTHS)
def test_answers_are_those_of_the_naive_twins(growth, dtype):
    rng = np.random.default_rng(1)
    X, y = rng.integers(-2, 3, (40, 3)).astype(dtype), rng.integers(0, 2, 40)
    network = PerceptronNetwork(growth, lift="none", max_units=12, random_state=0).fit(X, y)
    units = network.units_
    plain = [(unit.weights, unit.bias) for unit in units]
    for x, answer in zip(X, network.decision_function(X) > 0, strict=True):
        if growth == "upstart":
            own = [(unit.weights, unit.bias, unit.parent, unit.sign) for unit in units]
            naive = reference.upstart_answer(x, 0, own)
        elif growth == "tiling":
            layers = groupby(units, key=lambda unit: unit.layer)
            naive = reference.tiling_answer(x, [[unit[:2] for unit in own] for _, own in layers])
        else:
            naive = reference.tower_answer(x, plain, growth == "pyramid")
        assert (naive > 0) == answer


def test_rows_that_contradict_each_other_end_it():
    X = np.vstack([XOR[0], XOR[0]])
    y = np.append(XOR[1], 1 - XOR[1])
    for growth in GROWTHS:
        network = PerceptronNetwork(growth, patience=3, random_state=0).fit(X, y)
        assert network.stop_reason_ == "no_improvement"
        assert network.history_[-1].errors == 4


def test_it_stops_when_it_is_full_and_goes_back_to_the_best():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((200, 2)), rng.integers(0, 2, 200)
    network = PerceptronNetwork("pyramid", max_units=4, random_state=0).fit(X, y)
    assert (network.n_units_, network.stop_reason_) == (4, "max_units")
    held = PerceptronNetwork("pyramid", early_stopping=True, patience=3, random_state=0).fit(X, y)
    unseen = [record.validation_score for record in held.history_]
    assert held.stop_reason_ == "no_improvement"
    assert held.n_units_ == int(np.argmax(unseen)) + 1
    assert held.n_units_ < len(unseen)


def test_noise_is_not_learnt_with_rows_held_out():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 2))
    clean = X[:, 0] * X[:, 1] > 0
    noisy = clean ^ (rng.random(400) < 0.2)
    far = PerceptronNetwork(random_state=0).fit(X[:200], noisy[:200])
    held = PerceptronNetwork(early_stopping=True, random_state=0).fit(X[:200], noisy[:200])
    assert held.n_units_ < far.n_units_
    assert held.score(X[200:], clean[200:]) > far.score(X[200:], clean[200:])


def test_several_classes_have_a_network_each(tmp_path):
    X, y = load_iris(return_X_y=True)
    network = PerceptronNetwork(random_state=0).fit(X, y)
    assert len(network.units_) == 3
    assert network.n_units_ == sum(map(len, network.units_))
    assert network.score(X, y) == 1
    network.save(tmp_path / "model.safetensors")
    back = load(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(back.decision_function(X), network.decision_function(X))
    assert back.history_ == network.history_


def test_units_that_see_what_there_is_not_are_refused(tmp_path):
    X, y = blobs(20, 3)
    network = PerceptronNetwork("tower", random_state=0).fit(X, y)
    units = network._learner.networks[0]
    units[0] = units[0]._replace(weights=np.zeros(7))
    network.save(tmp_path / "model.safetensors")
    with pytest.raises(ValueError, match="its units do not fit together"):
        load(tmp_path / "model.safetensors")


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"growth": "cascade"}, "growth must be one of 'upstart'"),
        ({"unit": "adaline"}, "unit must be one of 'pocket'"),
        ({"max_units": 0}, "max_units must be a whole number"),
        ({"lift": "kernel"}, "lift must be one of"),
    ],
)
def test_parameters_are_refused_in_a_sentence(parameters, words):
    with pytest.raises(ValueError, match=words):
        PerceptronNetwork(**parameters).fit(*XOR)


@pytest.mark.parametrize("size", [2.0**996, 2.0**-996])
def test_numbers_of_any_size_grow_the_same_network(size):
    X = np.random.default_rng(0).normal(size=(60, 2))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    usual, other = (
        PerceptronNetwork(random_state=0).fit(rows, y).decision_function(rows)
        for rows in (X, X * size)
    )
    np.testing.assert_array_equal(other, usual)


@pytest.mark.parametrize("unit", ["pocket", "thermal"])
@pytest.mark.parametrize("growth", GROWTHS)
def test_weights_of_rows_decide_which_errors_are_made(growth, unit):
    """Of equal rows with different labels the heavier one is learnt."""
    X, y, weights = np.array([[0.0], [1], [0], [1]]), np.array([0, 1, 1, 0]), [9, 9, 1, 1]
    network = PerceptronNetwork(growth, unit=unit, patience=3, random_state=0)
    assert network.fit(X, y, weights).predict(X).tolist() == [0, 1, 0, 1]
    assert network.fit(X, y, weights[::-1]).predict(X).tolist() == [1, 0, 1, 0]
    wanted = network.fit(*XOR).decision_function(XOR[0])
    X, y = np.vstack([XOR[0], XOR[0]]), np.append(XOR[1], 1 - XOR[1])
    found = network.fit(X, y, np.repeat([1, 0], 4)).decision_function(XOR[0])
    np.testing.assert_array_equal(found, wanted)
    with pytest.raises(ValueError, match="sample_weight is -1"):
        network.fit(*XOR, [-1, 1, 1, 1])
