"""Classifiers that learn from right or wrong: the naive twin, streams, files, scikit-learn."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from rosenblatt import Banditron, Perceptron, load
from rosenblatt.parameters import InputError, ParameterError
from rosenblatt.training.state import pack_state

from .. import reference
from ..conftest import LAYOUTS, blobs


def with_bias(X, size=1.0):
    return np.column_stack([X, np.full(len(X), np.sqrt(size))])


def states_of(model):
    arrays, numbers = pack_state(model._learner.states[0])
    return numbers, {name: (each.dtype, each.tobytes()) for name, each in arrays.items()}


@pytest.mark.parametrize("layout", ["dense", "int32"])
@pytest.mark.parametrize("solution", ["last", "average"])
def test_the_banditron_is_its_naive_twin(layout, solution):
    for seed, exploration in ((0, 0.3), (7, 0.05), (11, 0.0)):
        X, y = blobs(60, 4, classes=4, seed=seed)
        weights = np.random.default_rng(seed).choice([0.5, 1, 3], len(y))
        given = {"random_state": seed, "solution": solution, "intercept_step": 4.0}
        model = Banditron(exploration, **given)
        averages = solution == "average"
        for dtype, tolerance in ((np.float64, 1e-9), (np.float32, 1e-3)):
            rows = X.astype(dtype)
            model.fit(LAYOUTS[layout](rows), y, sample_weight=weights)
            W, average, drawn = reference.banditron(
                with_bias(rows, 4.0),
                y,
                4,
                exploration,
                seed=seed,
                averages=averages,
                weights=weights,
            )
            wanted = average if averages else W
            found = np.column_stack([model.coef_, model.intercept_ / 2])
            np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=10 * tolerance)
            assert model.history_[0].errors == np.count_nonzero(drawn != y)
            assert (model.coef_.dtype, model.n_mistakes_) == (dtype, len(y))


@pytest.mark.parametrize("solution", ["last", "average"])
def test_any_cut_of_a_stream_and_its_files_are_one_pass(solution, tmp_path):
    X, y = blobs(90, 3, classes=3)
    whole, cut = (Banditron(0.3, solution=solution, random_state=5) for _ in range(2))
    whole.fit(X, y)
    for at in np.split(np.arange(90), [1, 40, 77]):
        cut.partial_fit(X[at], y[at], classes=[0, 1, 2]).save(tmp_path / "model")
        cut = load(tmp_path / "model")
    assert states_of(cut) == states_of(whole)
    other = Banditron(0.3, solution=solution, random_state=6).fit(X, y)
    assert not np.array_equal(other.coef_, whole.coef_)


@pytest.mark.parametrize("solution", ["last", "average"])
def test_acting_and_feedback_are_what_fit_simulates(solution, tmp_path):
    X, y = blobs(60, 3, classes=3)
    X = np.round(X)  # so that sums are exact
    simulated = Banditron(0.25, solution=solution, random_state=2).fit(X, y)
    model, wrong = Banditron(0.25, solution=solution, random_state=2), 0
    for row, label in enumerate(y):
        predicted, probability = model.act(X[[row]], classes=[0, 1, 2])
        model.feedback(X[[row]], predicted, predicted == label, probability)
        wrong += predicted[0] != label
        if row == 30:
            model.save(tmp_path / "model")
            model = load(tmp_path / "model")
    assert wrong == simulated.history_[0].errors
    np.testing.assert_allclose(model.coef_, simulated.coef_, rtol=1e-12)
    first, second = model.act(X), model.act(X)
    assert not np.array_equal(first[0], second[0])  # the draws continue
    assert set(np.round(first[1], 9)) == {round(0.75 + 0.25 / 3, 9), round(0.25 / 3, 9)}


def test_two_classes_need_no_draws():
    X, y = blobs(60, 3)
    model, labels = Banditron(0.5), np.array(["no", "yes"])[y]
    wanted = Perceptron(order="fixed", max_iter=1).fit(X, y)
    np.testing.assert_array_equal(model.fit(X, labels).coef_, wanted.coef_)
    told = Banditron(0.5)
    predicted, probability = told.act(X, classes=["no", "yes"])
    told.feedback(X, predicted, predicted == labels, probability)
    assert np.all(probability == 1)
    np.testing.assert_array_equal(told.coef_, wanted.coef_)


def test_a_known_label_is_feedback_of_probability_1():
    X, y = blobs(60, 3, classes=3)
    model, W, Z = Banditron(), np.zeros((3, 4)), with_bias(X)
    model.act(X, classes=[0, 1, 2])
    model.feedback(X, y, np.ones(60, bool), 1.0)
    for z, label in zip(Z, y, strict=True):
        best = int(np.argmax(W @ z))
        W[label] += z
        W[best] -= z
    np.testing.assert_allclose(model.coef_, W[:, :-1], atol=1e-12)


def test_bad_feedback_is_refused_and_leaves_no_trace():
    X, y = blobs(30, 3, classes=3)
    model = Banditron(random_state=0).fit(X, y)
    before, right = states_of(model), y == 0
    with pytest.raises(InputError) as error:
        model.feedback(X, y, right, 0.0)
    assert error.value.code == "draw-probability"
    with pytest.raises(InputError) as error:
        model.feedback(X, y, y, 0.5)
    assert error.value.code == "right-or-wrong"
    with pytest.raises(ValueError, match="predicted: "):
        model.feedback(X, y + 9, right, 0.5)
    X[5, 1] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        model.feedback(X, y, right, 0.5)
    assert states_of(model) == before
    with pytest.raises(ValueError, match="needs classes"):
        Banditron().act(X[:3])


def test_what_needs_more_than_right_or_wrong_is_refused():
    X, y = blobs(30, 3, classes=3)
    with pytest.raises(ParameterError) as error:
        Banditron().fit(X, np.eye(3, dtype=int)[y])
    assert error.value.code == "feedback-label-sets"
    with pytest.raises(ValueError, match="draws predictions from all its classes"):
        Banditron().fit(X, y).partial_fit(X, y, classes=[0, 1, 2, 3])
    for name, value in (("solution", "pocket"), ("order", "active"), ("multi_class", "ovr")):
        with pytest.raises(ParameterError):
            Banditron(**{name: value}).fit(X, y)


WEIGHTS = "weights of rows change the size of a step, not how often a row is seen"
NAMES = ("check_sample_weight_equivalence_on_dense_data",)
NAMES += ("check_sample_weight_equivalence_on_sparse_data",)


@parametrize_with_checks(
    [Banditron()], expected_failed_checks=lambda model: dict.fromkeys(NAMES, WEIGHTS)
)
def test_keeps_the_contract_of_scikit_learn(estimator, check):
    check(estimator)
