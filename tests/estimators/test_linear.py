"""Batches with new classes, balanced weights and probabilities; variances of weights."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.utils.class_weight import compute_class_weight

from rosenblatt import AROW, CW, NHERD, SCW, KernelPerceptron, Perceptron, load
from rosenblatt.data.weights import balance_running

from ..conftest import blobs

random = np.random.default_rng(0)
X = random.integers(-3, 4, (90, 4)).astype(float)
THREE = np.argmax(X[:, :3], axis=1)


def cut(model, rows, labels, size, **options):
    """Learn from batches of some size."""
    for k in range(0, len(rows), size):
        model.partial_fit(rows[k : k + size], labels[k : k + size], **options)
    return model


# New classes


@pytest.mark.parametrize("kind", [Perceptron, AROW])
@pytest.mark.parametrize("multi_class", ["argmax", "ovr"])
@pytest.mark.parametrize("solution", ["last", "average"])
def test_a_class_that_a_later_batch_names_is_added(kind, multi_class, solution):
    """As learn_one adds it."""
    two = THREE.copy()
    two[:30][two[:30] == 1] = 2
    parameters = {"multi_class": multi_class, "solution": solution}
    model = kind(**parameters).partial_fit(X[:30], two[:30], classes=[0, 2])
    model.partial_fit(X[30:], two[30:], classes=[1])
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.class_count_.tolist() == np.bincount(two).tolist()
    twin = kind(**parameters)
    for x, label in zip(X[:30], two[:30].tolist(), strict=True):
        twin.learn_one(x, label)
    first = int(np.flatnonzero(two[30:] == 1)[0]) + 30
    for x, label in zip(X[30:first], two[30:first].tolist(), strict=True):
        twin.learn_one(x, label)
    if first == 30:  # the new class comes with the first row of the batch
        for x, label in zip(X[30:], two[30:].tolist(), strict=True):
            twin.learn_one(x, label)
        np.testing.assert_allclose(model.coef_, twin.coef_, atol=1e-12)
    assert model.score(X, two) > 0.5


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        (Perceptron(ties="positive"), "cannot add a class: ties='positive'"),
        (Perceptron(ties="negative"), "cannot add a class: ties='negative'"),
        (KernelPerceptron(), "knows its classes from the first row on"),
    ],
)
def test_models_that_cannot_add_a_class_say_why(model, sentence):
    labels = (X[:, 0] > 0).astype(int)
    model.partial_fit(X, labels, classes=[0, 1])
    before = model.predict(X)
    with pytest.raises(ValueError, match=sentence):
        model.partial_fit(X, labels, classes=[0, 1, 2])
    np.testing.assert_array_equal(model.predict(X), before)


# Balanced weights


def test_running_weights_end_as_those_of_all_rows():
    codes = np.array([0, 0, 1, 0, 2, 0, 0, 1])
    weights = balance_running(np.zeros(3, int), codes)
    whole = compute_class_weight("balanced", classes=np.arange(3), y=codes)
    assert weights[-1] == whole[1]
    for start in range(1, 8):
        counts = np.bincount(codes[:start], minlength=3)
        np.testing.assert_array_equal(balance_running(counts, codes[start:]), weights[start:])


@pytest.mark.parametrize("kind", [Perceptron, AROW, KernelPerceptron])
@pytest.mark.parametrize("size", [1, 7, 90])
def test_balanced_batches_do_not_depend_on_the_cut(kind, size, tmp_path):
    labels = (X[:, 0] > 1).astype(int)
    gamma = {"gamma": 1.0} if kind is KernelPerceptron else {}
    whole = kind(class_weight="balanced", **gamma).partial_fit(X, labels, classes=[0, 1])
    parts = kind(class_weight="balanced", **gamma)
    cut(parts, X[:42], labels[:42], size, classes=[0, 1]).save(tmp_path / "model")
    parts = cut(load(tmp_path / "model"), X[42:], labels[42:], size)
    np.testing.assert_allclose(
        parts.decision_function(X), whole.decision_function(X), rtol=1e-9, atol=1e-9
    )
    assert parts.class_count_.tolist() == np.bincount(labels).tolist()


# Probabilities


@pytest.mark.parametrize("classes", [2, 3])
def test_probabilities_come_from_scores_before_learning(classes, tmp_path):
    rows, labels = blobs(3000, 4, classes=classes, seed=2)
    model = AROW(calibrate=True).partial_fit(rows[:100], labels[:100], classes=range(classes))
    with pytest.raises(NotFittedError, match="partial_fit with a further batch"):
        model.predict_proba(rows)
    cut(model, rows[100:2000], labels[100:2000], 100)
    found = model.predict_proba(rows[2000:])
    likely = model.classes_[found.argmax(axis=1)]
    assert np.mean(likely == labels[2000:]) > model.score(rows[2000:], labels[2000:]) - 0.01
    mean = found[np.arange(1000), labels[2000:]].mean()
    assert abs(found.max(axis=1).mean() - model.score(rows[2000:], labels[2000:])) < 0.05
    assert mean > 1 / classes
    model.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict_proba(rows[2000:]), found)
    for each in (model, loaded):
        cut(each, rows[2000:], labels[2000:], 50)
    np.testing.assert_array_equal(loaded.predict_proba(rows), model.predict_proba(rows))
    plain = cut(AROW(), rows, labels, 100, classes=range(classes))
    np.testing.assert_array_equal(model.predict(rows), plain.predict(rows))


def test_few_rows_do_not_replace_the_probabilities_of_fit():
    rows, labels = blobs(500, 4, seed=3)
    model = Perceptron(calibrate=True, random_state=0).fit(rows, labels)
    slopes = model._learner.calibration.slopes
    model.partial_fit(rows[:50], labels[:50]).predict_proba(rows)
    np.testing.assert_array_equal(model._learner.calibration.slopes, slopes)
    cut(model, rows, labels, 100).predict_proba(rows)
    assert not np.array_equal(model._learner.calibration.slopes, slopes)


def test_a_row_alone_is_remembered_too():
    model = Perceptron(calibrate=True)
    for x, label in zip(X, (X[:, 0] > 0).tolist(), strict=True):
        model.learn_one(x, label)
    assert model.predict_proba(X).shape == (90, 2)


# Variances


@pytest.mark.parametrize("kind", [AROW, SCW, NHERD, CW])
@pytest.mark.parametrize("labels", [THREE, THREE > 0])
@pytest.mark.parametrize("multi_class", ["argmax", "ovr"])
def test_variances_have_the_shape_of_the_weights_and_shrink(kind, labels, multi_class):
    model = kind(multi_class=multi_class, random_state=0).fit(X, labels)
    assert model.coef_variance_.shape == model.coef_.shape
    assert model.intercept_variance_.shape == model.intercept_.shape
    assert (model.coef_variance_ > 0).all()
    assert (model.coef_variance_ <= 1).all()
    assert model.coef_variance_.min() < 1


def test_a_column_that_is_always_zero_keeps_its_variance():
    rows = X.copy()
    rows[:, 3] = 0
    variances = AROW(random_state=0).fit(rows, THREE > 0).coef_variance_
    assert variances[0, 3] == 1
    assert variances[0, :3].max() < 1


def test_other_rules_have_no_variances():
    model = Perceptron().fit(X, THREE)
    assert not hasattr(model, "coef_variance_")
    with pytest.raises(AttributeError, match="Perceptron keeps no variances; AROW"):
        model.coef_variance_  # noqa: B018
