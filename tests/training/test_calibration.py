"""Probabilities: the likeliest link between scores and labels, and right where that is known."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.exceptions import NotFittedError

from rosenblatt import AROW, Perceptron, load
from rosenblatt.storage.file import load_model, save_model
from rosenblatt.training.calibration import Calibration, calibrated

from .. import reference
from ..conftest import LAYOUTS, blobs


def drawn(n, classes, seed=0, size=1.0):
    """Scores, and labels drawn by a softmax of them."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(n, classes) if classes > 2 else n) * size
    offsets = np.array([0.3]) if classes == 2 else np.linspace(-0.5, 0.5, classes)
    p = reference.probabilities(scores, 1.5 / size, offsets)
    return scores, np.array([rng.choice(classes, p=row) for row in p])


@pytest.mark.parametrize("classes", [2, 3, 5])
@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_no_other_slope_and_offsets_are_likelier(classes, size):
    scores, codes = drawn(200, classes, size=size)
    found = calibrated(scores, codes, classes)

    def value(theta):
        return reference.minus_log_likelihood(scores, codes, classes, theta[0] / size, theta[1:])

    here = np.append(found.slope * size, found.offsets)
    best = minimize(value, np.zeros(len(here)), method="BFGS", options={"gtol": 1e-9})
    assert value(here) <= best.fun + 1e-9
    np.testing.assert_allclose(
        found.probabilities(scores),
        reference.probabilities(scores, best.x[0] / size, best.x[1:]),
        atol=1e-4,
    )


@pytest.mark.parametrize("classes", [2, 4])
def test_it_finds_what_labels_were_drawn_by(classes):
    scores, codes = drawn(30_000, classes)
    found = calibrated(scores, codes, classes)
    assert found.slope == pytest.approx(1.5, abs=0.05)


@pytest.mark.parametrize("classes", [2, 3])
def test_separated_few_constant_or_lacking_classes_are_no_trouble(classes):
    codes = np.arange(30) % classes
    perfect = np.eye(classes)[codes] if classes > 2 else 2.0 * codes - 1
    for scores, labels in [
        (perfect, codes),
        (np.zeros_like(perfect), codes),
        (perfect[:1], codes[:1]),
        (perfect, np.zeros(30, int)),
        (1e300 * perfect, codes),
    ]:
        found = calibrated(scores, labels, classes)
        p = found.probabilities(scores)
        assert np.isfinite([found.slope, *found.offsets]).all()
        np.testing.assert_allclose(p.sum(axis=1), 1)
        assert (p >= 0).all()
    assert (
        calibrated(perfect, codes, classes).probabilities(perfect).argmax(axis=1) == codes
    ).all()


# In a classifier


def calibration_error(p, right, bins=15):
    """The expected calibration error (Naeini, Cooper & Hauskrecht 2015)."""
    at = np.minimum((p * bins).astype(int), bins - 1)
    gaps = [abs(p[at == b].mean() - right[at == b].mean()) * np.mean(at == b) for b in set(at)]
    return sum(gaps)


@pytest.mark.parametrize("kind", [Perceptron, AROW])
@pytest.mark.parametrize("solution", ["last", "average"])
@pytest.mark.parametrize("classes", [2, 3])
def test_what_is_said_to_be_likely_is_as_likely(kind, solution, classes):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 4))
    W = rng.normal(size=(4, classes)) * 1.5
    p = np.exp(X @ W) / np.exp(X @ W).sum(axis=1, keepdims=True)
    y = (rng.random((len(p), 1)) > p.cumsum(axis=1)).sum(axis=1)
    model = kind(solution=solution, calibrate=True, max_iter=3, random_state=0)
    model.fit(X[:10_000], y[:10_000])
    told = model.predict_proba(X[10_000:])
    assert told.shape == (10_000, classes)
    chosen = told.argmax(axis=1)
    right = chosen == y[10_000:]
    assert calibration_error(told.max(axis=1), right) < 0.04
    assert np.mean(model.predict(X[10_000:]) == chosen) > 0.85


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("solution", ["average", "vote"])
def test_it_is_fitted_on_rows_held_out_and_saved(layout, solution, tmp_path):
    X, y = blobs(200, 5, classes=3)
    X = LAYOUTS[layout](X)
    model = Perceptron(solution=solution, calibrate=True, random_state=0).fit(X, y)
    plain = Perceptron(solution=solution, random_state=0).fit(X, y)
    assert model.history_[0].rows == 180
    assert plain.history_[0].rows == 200
    model.save(tmp_path / "model")
    there = load(tmp_path / "model")
    np.testing.assert_array_equal(there.predict_proba(X), model.predict_proba(X))


def test_without_being_asked_there_are_no_probabilities():
    X, y = blobs()
    model = Perceptron().fit(X, y)
    assert not hasattr(model, "predict_proba")
    assert not hasattr(Perceptron(), "predict_proba")
    assert hasattr(Perceptron(calibrate=True), "predict_proba")
    with pytest.raises(NotFittedError, match="was fitted without calibrate=True; fit it again"):
        model.set_params(calibrate=True).predict_proba(X)


def test_rows_that_come_later_end_it():
    X, y = blobs()
    model = Perceptron(calibrate=True, random_state=0).fit(X, y)
    for learn in (lambda: model.partial_fit(X, y), lambda: model.learn_one(X[0], y[0])):
        with pytest.raises(ValueError, match="calibrate=True needs all the data"):
            learn()
    model.predict_proba(X)
    model.set_params(calibrate=False).learn_one(X[0], y[0]).set_params(calibrate=True)
    with pytest.raises(NotFittedError, match="fit it again"):
        model.predict_proba(X)


@pytest.mark.parametrize(
    "kept",
    [{}, {"slope": 1.0}, {"slope": "1", "offsets": [0.0]}, {"slope": 1.0, "offsets": [0.0, 1]}],
)
def test_a_calibration_that_does_not_fit_is_not_saved(kept, tmp_path):
    X, y = blobs()
    model = Perceptron(calibrate=True, random_state=0).fit(X, y)
    model.save(tmp_path / "model")
    found = load_model(tmp_path / "model")
    with pytest.raises(ValueError, match="its calibration does not fit or is not finite"):
        save_model(tmp_path / "bad", found._replace(facts=found.facts | {"calibration": kept}))


def test_a_calibration_comes_back_as_it_was():
    here = Calibration(0.1 + 0.2, np.array([1 / 3, -2.0, 1e-17]))
    there = Calibration.of(here.as_dict())
    assert there.slope == here.slope
    np.testing.assert_array_equal(there.offsets, here.offsets)
