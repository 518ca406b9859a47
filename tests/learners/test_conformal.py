"""Prediction sets and intervals of estimators: coverage, streams, files, and refusals."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.stats import binom

from rosenblatt import (
    AROW,
    Adaline,
    PassiveAggressive,
    PassiveAggressiveRegressor,
    Perceptron,
    PRank,
    evaluate,
    load,
)
from rosenblatt.estimators.base import get_learner
from rosenblatt.learners.conformal import TooFewRowsWarning, make_sets
from rosenblatt.learners.linear import LinearLearner
from rosenblatt.parameters import ParameterError

RANDOM = np.random.default_rng(0)
X = RANDOM.integers(-4, 5, (1200, 4)).astype(float)
WEIGHTS = np.array([[2.0, -1, 0, 1], [-1, 2, 1, 0], [0, 0, -2, 1]])
NOISY = X @ WEIGHTS.T + RANDOM.gumbel(scale=4, size=(len(X), 3))
Y3 = NOISY.argmax(axis=1)
Y2 = np.where(NOISY[:, 0] > NOISY[:, 1], "yes", "no")
NUMBERS = X @ WEIGHTS[0] + RANDOM.standard_t(3, len(X))


def kept(model):
    return get_learner(model).conformal.as_dict()


def assert_alike(one, other):
    """Sums of dense and sparse rows may differ in the last digit."""
    one, other = kept(one), kept(other)
    np.testing.assert_allclose(one.pop("scores"), other.pop("scores"), rtol=1e-9)
    assert one == other


def covered(model, X, y, coverage):
    places = np.searchsorted(model.classes_, y)
    return model.predict_set(X, coverage)[np.arange(len(y)), places]


@pytest.mark.parametrize("y", [Y2, Y3])
@pytest.mark.parametrize("coverage", [0.8, 0.95])
def test_sets_cover_new_rows_and_are_never_empty(y, coverage):
    """The coverage of held-out rows is beta-binomial: 0.1 % of seeds are below this bound."""
    model = PassiveAggressive(0.1, calibrate="conformal", random_state=0)
    model.fit(X[:360], y[:360], X_val=X[360:600], y_val=y[360:600])
    flags = model.predict_set(X[600:], coverage)
    assert flags.dtype == bool
    assert flags.shape == (600, len(model.classes_))
    chosen = np.searchsorted(model.classes_, model.predict(X[600:]))
    assert flags[np.arange(600), chosen].all()
    held = len(kept(model)["scores"])
    deviation = (coverage * (1 - coverage) * (1 / held + 1 / 600)) ** 0.5
    assert covered(model, X[600:], y[600:], coverage).mean() >= coverage - 3.1 * deviation
    assert (flags <= model.predict_set(X[600:], 0.99)).all()
    found = evaluate(model, X[600:], y[600:], coverage=coverage)
    assert found["coverage"] == covered(model, X[600:], y[600:], coverage).mean()
    assert found["mean_set_size"] == flags.sum(axis=1).mean()
    assert model.predict_proba(X).shape == (len(X), len(model.classes_))


@pytest.mark.parametrize("make", [PassiveAggressiveRegressor, Adaline])
def test_intervals_cover_new_rows(make):
    model = make(calibrate="conformal", random_state=0)
    model.fit(X[:360], NUMBERS[:360], X_val=X[360:600], y_val=NUMBERS[360:600])
    low, high = model.predict_interval(X[600:], 0.9)
    inside = (low <= NUMBERS[600:]) & (NUMBERS[600:] <= high)
    assert inside.mean() >= 0.9 - 3.1 * (0.09 * (1 / 240 + 1 / 600)) ** 0.5
    np.testing.assert_allclose((low + high) / 2, model.predict(X[600:]))


def test_coverage_over_many_draws_is_at_least_the_stated_one():
    outside, rows = 0, 0
    for seed in range(60):
        order = np.random.default_rng(seed).permutation(len(X))
        learnt, held, new = order[:30], order[30:60], order[60:160]
        model = Perceptron(calibrate="conformal", max_iter=2, random_state=seed)
        model.fit(X[learnt], Y3[learnt], X_val=X[held], y_val=Y3[held])
        outside += np.count_nonzero(~covered(model, X[new], Y3[new], 0.8))
        rows += len(new)
    effective = 60 * 24  # rows of a draw share their threshold
    assert outside / rows <= binom.ppf(0.999, effective, 0.2) / effective


@pytest.mark.parametrize(
    ("make", "y"),
    [
        (lambda: AROW(calibrate="conformal"), Y3),
        (lambda: AROW(calibrate="conformal", multi_class="ovr"), Y3),
        (lambda: Perceptron(calibrate="conformal", solution="average"), Y2),
        (lambda: PRank(calibrate="conformal"), Y3),
        (lambda: PassiveAggressiveRegressor(calibrate="conformal"), NUMBERS),
    ],
)
def test_any_cut_of_a_stream_gives_the_same_sets(make, y, tmp_path):
    named = {} if y is NUMBERS else {"classes": np.unique(y)}
    whole = make().partial_fit(X[:90], y[:90], **named)
    pieces = make().partial_fit(X[:7], y[:7], **named)
    for begin in range(7, 60, 13):
        pieces.partial_fit(X[begin : min(begin + 13, 60)], y[begin : min(begin + 13, 60)])
    pieces.save(tmp_path / "model.safetensors")
    pieces = load(tmp_path / "model.safetensors")
    for row in range(60, 90):
        pieces.learn_one(X[row], y[row])
    assert kept(pieces) == kept(whole)
    assert kept(whole)["rows"] == 90
    without = make().set_params(calibrate=False).partial_fit(X[:90], y[:90], **named)
    np.testing.assert_array_equal(whole.coef_, without.coef_)
    assert whole.history_ == without.history_


@pytest.mark.filterwarnings("ignore::rosenblatt.learners.conformal.TooFewRowsWarning")
def test_sets_follow_a_stream_that_drifts():
    """The bound of Gibbs & Candès (2021) holds for labels that turn around half-way."""
    model, inside = AROW(calibrate="conformal"), []
    y = np.where(np.arange(len(X)) < 600, Y3, (Y3 + 1) % 3)
    model.partial_fit(X[:1], y[:1], classes=[0, 1, 2])
    for row in range(1, len(X)):
        inside.append(covered(model, X[row : row + 1], y[row : row + 1], 0.9)[0])
        model.learn_one(X[row], int(y[row]))
    assert np.mean(inside) >= 0.9 - (0.9 + 0.005) / (0.005 * len(inside))


def test_sparse_and_dense_rows_give_the_same_sets():
    dense = AROW(calibrate="conformal", random_state=0).fit(X[:300], Y3[:300])
    sparse = AROW(calibrate="conformal", random_state=0).fit(csr_array(X[:300]), Y3[:300])
    assert_alike(sparse, dense)
    assert (sparse.predict_set(csr_array(X)) == dense.predict_set(X)).all()
    for model, rows in ((dense, X[300:330]), (sparse, csr_array(X[300:330]))):
        model.partial_fit(rows, Y3[300:330])
    assert_alike(sparse, dense)


def test_a_batch_that_fails_in_the_middle_changes_nothing(monkeypatch):
    model = AROW(calibrate="conformal").partial_fit(X[:50], Y3[:50], classes=[0, 1, 2])
    before, coef = kept(model), model.coef_.copy()
    score, calls = LinearLearner.score_one, []

    def fail_at_third(*given):
        calls.append(given)
        if len(calls) == 3:
            raise MemoryError
        return score(*given)

    monkeypatch.setattr(LinearLearner, "score_one", fail_at_third)
    with pytest.raises(MemoryError):
        model.partial_fit(X[50:60], Y3[50:60])
    assert kept(model) == before
    np.testing.assert_array_equal(model.coef_, coef)


def test_a_third_class_starts_the_scores_again_and_a_fourth_does_not():
    model = Perceptron(calibrate="conformal")
    for row in range(30):
        model.learn_one(X[row], "ab"[row % 2])
    assert kept(model)["rows"] == 29  # the first row had no other class
    counts = []
    for label in "cd":
        model.learn_one(X[40], label)
        counts.append(kept(model)["rows"])
    assert counts == [1, 2]
    assert model.predict_set(X[:5], 0.5).shape == (5, 4)


def test_too_few_rows_are_told_and_give_all_classes():
    model = Perceptron(calibrate="conformal", random_state=0).fit(X[:100], Y3[:100])
    with pytest.warns(TooFewRowsWarning, match=r"0\.99 needs 99 rows .* has 1\d: every set holds"):
        assert model.predict_set(X[:5], 0.99).all()
    regressor = Adaline(calibrate="conformal").fit(X[:100], NUMBERS[:100])
    with pytest.warns(TooFewRowsWarning, match="every interval is infinite"):
        low, high = regressor.predict_interval(X[:5], 0.99)
    assert np.isinf([low, high]).all()


def test_models_without_scores_refuse_and_say_how_to_train():
    for model, method in ((Perceptron(), "predict_set"), (Adaline(), "predict_interval")):
        assert not hasattr(model, method)
        with pytest.raises(AttributeError, match='calibrate="conformal"'):
            getattr(model, method)
    with pytest.raises(ParameterError) as error:
        make_sets(get_learner(Perceptron().fit(X, Y2)), 0.9)
    assert error.value.code == "no-conformal"
    model = Perceptron(calibrate="conformal", max_iter=1).fit(X, Y2)
    for coverage in (0, 1, 1.5, float("nan"), "0.9", None, [0.9]):
        with pytest.raises(ParameterError, match=r"coverage=.* must be above 0 and below 1"):
            model.predict_set(X, coverage)
    with pytest.raises(ParameterError, match="calibrate must be False or"):
        Adaline(calibrate=True).fit(X, NUMBERS)


def test_an_eval_set_is_what_sets_are_made_from():
    model = Perceptron(calibrate="conformal").fit(X[:100], Y3[:100], X_val=X[100:], y_val=Y3[100:])
    assert len(kept(model)["scores"]) == 1100
    assert model.class_count_.sum() == 100


def test_parameters_may_change_between_batches():
    model = AROW().partial_fit(X[:50], Y3[:50], classes=[0, 1, 2])
    model.set_params(calibrate="conformal").partial_fit(X[50:90], Y3[50:90])
    assert kept(model)["rows"] == 40
    model.set_params(calibrate=False).partial_fit(X[90:100], Y3[90:100])
    assert get_learner(model).conformal is None
    model.set_params(calibrate="conformal", warm_start=True).fit(X, Y3)
    assert kept(model)["rows"] == 0
    assert len(kept(model)["scores"]) == 120


def test_an_unfinished_model_starts_to_keep_scores_when_it_learns():
    model = AROW(calibrate="conformal").partial_fit(X[:20], Y3[:20], classes=[0, 1, 2]).to_model()
    facts = {name: fact for name, fact in model.facts.items() if name != "conformal"}
    learner = LinearLearner.from_model(model._replace(facts=facts))
    assert learner.conformal.ordered == []
