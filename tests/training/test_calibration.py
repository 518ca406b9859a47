"""Probabilities: the likeliest link between scores and labels, and right where that is known."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from rosenblatt import AROW, Perceptron, load
from rosenblatt.data.rows import view_rows
from rosenblatt.data.targets import RankTarget, score_ranks
from rosenblatt.learners.linear import LinearLearner, TrainingRows, cross_calibrate
from rosenblatt.parameters import LINEAR, defaults
from rosenblatt.storage.file import load_model, save_model
from rosenblatt.training.calibration import find_thresholds, fit_calibration

from .. import reference
from ..conftest import LAYOUTS, blobs, form_parameters


def drawn(n, classes, seed=0, size=1.0):
    """Scores, and labels drawn by a softmax of them."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(n, classes) if classes > 2 else n) * size
    p = reference.probabilities(scores, np.linspace(1, 2, classes) / size)
    return scores, np.array([rng.choice(classes, p=row) for row in p])


@pytest.mark.parametrize("classes", [2, 3, 5])
@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_no_other_slopes_and_offsets_are_likelier(classes, size):
    scores, codes = drawn(200, classes, size=size)
    found = fit_calibration(scores, codes, classes)
    size = np.abs(scores).max()
    slopes, one = found.slopes * size, np.ones(classes)
    shared = minimize(
        lambda both: reference.minus_log_likelihood(
            scores / size, codes, both[0] * one, both[1:], both[0]
        ),
        np.append(1.0, np.zeros(classes)),
    ).x[0]

    def value(slopes, offsets):
        return reference.minus_log_likelihood(scores / size, codes, slopes, offsets, shared)

    least = value(slopes, found.offsets)
    for k in range(classes):
        here = np.arange(classes) == k
        for change in (-0.1, -0.01, 0.01, 0.1):
            assert least <= value(slopes * (1 + change * here), found.offsets)
            assert least <= value(slopes, found.offsets + change * here)
    np.testing.assert_allclose(
        found.probabilities(scores),
        reference.probabilities(scores / size, slopes, found.offsets),
        atol=1e-12,
    )


@pytest.mark.parametrize("classes", [2, 4])
def test_it_finds_what_labels_were_drawn_by(classes):
    scores, codes = drawn(30_000, classes)
    found = fit_calibration(scores, codes, classes)
    np.testing.assert_allclose(found.slopes, np.linspace(1, 2, classes), rtol=0.12)


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
        found = fit_calibration(scores, labels, classes)
        p = found.probabilities(scores)
        assert np.isfinite(found.slopes).all()
        assert (found.slopes > 0).all()
        np.testing.assert_allclose(p.sum(axis=1), 1)
        assert (p >= 0).all()
    assert (
        fit_calibration(perfect, codes, classes).probabilities(perfect).argmax(axis=1) == codes
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
    # The last weights of a part lean to another class than those of all rows.
    least = 0.06 if kind is Perceptron and solution == "last" else 0.04
    assert calibration_error(told.max(axis=1), right) < least


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("solution", ["average", "pocket"])
@pytest.mark.parametrize("form", ["two", "argmax", "ovr"])
def test_it_changes_no_weight_and_no_prediction(layout, solution, form, tmp_path):
    X, y = blobs(60, 5, classes=2 if form == "two" else 3)
    X = LAYOUTS[layout](np.round(X))  # with ties
    given = {"solution": solution, "random_state": 0, "max_iter": 3, **form_parameters(form)}
    model = Perceptron(calibrate=True, **given).fit(X, y)
    plain = Perceptron(**given).fit(X, y)
    np.testing.assert_array_equal(model.decision_function(X), plain.decision_function(X))
    assert model.history_ == plain.history_
    np.testing.assert_array_equal(model.predict(X), plain.predict(X))
    model.save(tmp_path / "model")
    there = load(tmp_path / "model")
    np.testing.assert_array_equal(there.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize("kind", [Perceptron, AROW])
def test_balanced_weights_do_not_distort_probabilities(kind):
    """A rare class is predicted often, and its probabilities stay those of its rows."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 3))
    y = (X @ [1.0, 0.5, 0.0] + rng.normal(size=6000) > 2.2).astype(int)  # 7 %
    model = kind(class_weight="balanced", solution="average", calibrate=True, random_state=0)
    told = model.fit(X[:3000], y[:3000]).predict_proba(X[3000:])[:, 1]
    scores = model.decision_function(X)
    platt = LogisticRegression().fit(scores[:3000, None], y[:3000])
    losses = [
        log_loss(y[3000:], p)
        for p in (told, platt.predict_proba(scores[3000:, None])[:, 1], np.full(3000, y.mean()))
    ]
    assert losses[0] < losses[1] + 0.005 < losses[2]
    assert told.mean() == pytest.approx(y[3000:].mean(), abs=0.01)


@pytest.mark.parametrize("classes", [2, 3])
def test_one_row_of_each_class_is_enough(classes):
    """No third of the rows has a model of the others."""
    rows = np.arange(float(classes))[:, None]
    model = Perceptron(calibrate=True, random_state=0).fit(rows, range(classes))
    np.testing.assert_allclose(model.predict_proba(rows), 1 / classes, atol=1e-5)


def test_each_part_of_the_rows_is_scored_by_a_model_of_the_others():
    codes, weights, learnt = np.arange(30) % 3, np.r_[0.0, 0.0, np.ones(28)], []
    given = TrainingRows.of(view_rows(np.eye(30)), codes, weights, 30)

    def begin(part):
        learnt.append(part.row_order)
        return LinearLearner.begin(defaults(LINEAR), np.arange(3), (30, np.float64))

    cross_calibrate(begin, given, 0)
    held = [np.setdiff1d(given.row_order, each) for each in learnt]
    assert sorted(np.concatenate(held)) == given.row_order.tolist()
    assert all(set(np.bincount(codes[each])) <= {3, 4} for each in held)


def test_with_early_stopping_the_rows_held_out_are_those_of_calibration():
    X, y = blobs(200, 5, classes=3)
    model = Perceptron(early_stopping=True, calibrate=True, random_state=0).fit(X, y)
    assert model.history_[0].rows == 180
    model.predict_proba(X)


def test_without_being_asked_there_are_no_probabilities():
    X, y = blobs()
    model = Perceptron().fit(X, y)
    assert not hasattr(model, "predict_proba")
    assert not hasattr(Perceptron(), "predict_proba")
    assert hasattr(Perceptron(calibrate=True), "predict_proba")
    with pytest.raises(NotFittedError, match="has no probabilities yet"):
        model.set_params(calibrate=True).predict_proba(X)


def test_rows_learnt_without_calibration_end_it():
    X, y = blobs()
    model = Perceptron(calibrate=True, random_state=0).fit(X, y)
    model.set_params(calibrate=False).learn_one(X[0], y[0]).set_params(calibrate=True)
    with pytest.raises(NotFittedError, match="has no probabilities yet"):
        model.predict_proba(X)


@pytest.mark.parametrize(
    "kept",
    [
        {},
        {"slopes": [1.0, 1.0]},
        {"slopes": [1.0], "offsets": [0.0]},
        {"slopes": [1.0, -1.0], "offsets": [0.0, 0.0]},
        {"slopes": [1.0, 1.0], "offsets": [0.0, float("nan")]},
        {"slopes": 1.0, "offsets": [0.0, 0.0]},
        {"slope": 1.0},
        {"slopes": [[1.0, 1.0]] * 2, "offsets": [[0.0, 0.0]] * 2},  # of label sets
    ],
)
def test_a_calibration_that_does_not_fit_is_not_saved(kept, tmp_path):
    X, y = blobs()
    model = Perceptron(calibrate=True, random_state=0).fit(X, y)
    model.save(tmp_path / "model")
    found = load_model(tmp_path / "model")
    with pytest.raises(ValueError, match=r"calibration|its facts do not fit"):
        save_model(tmp_path / "bad", found._replace(facts=found.facts | {"calibration": kept}))


def test_each_label_of_a_set_is_as_likely_as_is_said(tmp_path):
    random = np.random.default_rng(0)
    X, w = random.normal(size=(1200, 4)), random.normal(size=(4, 3))
    sets = (X @ w + 2 * random.normal(size=(1200, 3)) + [1, 0, -3] > 0).astype(int)
    stream = AROW(calibrate=True)
    for first in range(0, 800, 200):
        stream.partial_fit(X[first : first + 200], sets[first : first + 200])
    fitted = Perceptron(solution="average", calibrate=True, random_state=0)
    held_out = AROW(early_stopping=True, calibrate=True, random_state=0)
    for model in (stream, fitted.fit(X[:800], sets[:800]), held_out.fit(X[:800], sets[:800])):
        found, wanted = model.predict_proba(X[800:]), sets[800:]
        np.testing.assert_allclose(found.mean(0), wanted.mean(0), atol=0.1)
        for chances, label in zip(found.T, wanted.T, strict=True):
            assert log_loss(label, chances) < log_loss(label, np.full(400, label.mean())) - 0.1
        model.save(tmp_path / "model")
        loaded = load(tmp_path / "model")
        np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    calibration = fit_calibration(scores := random.normal(size=(1200, 3)), sets, 3)
    for label in range(3):
        own = fit_calibration(scores[:, label], sets[:, label], 2).probabilities(scores[:, label])
        np.testing.assert_array_equal(calibration.probabilities(scores)[:, label], own[:, 1])


def test_thresholds_of_ranks_have_the_least_expected_loss():
    """They are found in scores whose ranks are known, wherever the first thresholds were."""
    random = np.random.default_rng(0)
    places = random.normal(0, 3, 20_000)
    codes = np.searchsorted([-2.0, 1.0], places + random.normal(0, 0.3, len(places)))
    for biases in (np.array([2.0, -1.0]), np.array([4.0, 3.5])):
        scores = score_ranks(places, biases)
        found = find_thresholds(fit_calibration(scores, codes, 3), places, biases)
        assert found == pytest.approx([2.0, -1.0], abs=0.2)
        assert RankTarget(np.arange(3)).decide(score_ranks(places, found)).max() == 2
