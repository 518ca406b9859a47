"""PRank: the estimator is its naive twin, thresholds stay in order, and the paper's bound holds."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.metrics import log_loss
from sklearn.model_selection import cross_val_score

from rosenblatt import PRank
from rosenblatt.estimators.steps import start_steps
from rosenblatt.parameters import InputError, ParameterError
from rosenblatt.theory.margins import normalize_weights

from .. import reference
from ..conftest import LAYOUTS

GRADES = ["low", "medium", "high", "top"]


def make_ranks(n=80, d=4, n_ranks=4, seed=0):
    """Integers, whose ranks are those of a noisy sum of them."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, (n, d)).astype(float)
    scores = X @ rng.integers(-2, 3, d) + 2 * rng.normal(size=n)
    return X, np.searchsorted(np.quantile(scores, np.arange(1, n_ranks) / n_ranks), scores)


@pytest.mark.parametrize("margin", [0.0, 2.0])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_estimator_is_its_naive_twin(dtype, layout, weighted, margin):
    for n_ranks in (2, 3, 5):
        X, y = make_ranks(n_ranks=n_ranks)
        weights = np.arange(len(y)) % 3 / 2 + 0.5 if weighted else None
        twin = reference.PRank(n_ranks, margin).fit(X, y, weights, epochs=2)
        rows = LAYOUTS[layout](X.astype(dtype))
        shared = {"margin": margin, "max_iter": 2, "order": "fixed"}
        last = PRank(**shared).fit(rows, y, weights)
        assert np.array_equal(last.coef_[0], twin.weights)
        assert np.array_equal(last.thresholds_, twin.thresholds)
        assert last.n_mistakes_ == twin.updates
        assert sum(epoch.loss for epoch in last.history_) == twin.loss
        assert sum(epoch.errors for epoch in last.history_) <= twin.loss
        assert last.coef_.dtype == dtype
        mean = PRank(solution="average", **shared).fit(rows, y, weights)
        tried = [np.mean(each, axis=0) for each in zip(*twin.tried, strict=True)]
        np.testing.assert_allclose(mean.coef_[0], tried[0], atol=1e-5)
        np.testing.assert_allclose(mean.thresholds_, tried[1], atol=1e-5)
        found = [twin.rank(last.coef_[0], last.thresholds_, x) for x in X.astype(dtype)]
        assert last.predict(rows).tolist() == found


RANK_ROWS = st.integers(1, 24)


@settings(max_examples=40)
@given(st.data(), RANK_ROWS, st.integers(2, 5), st.sampled_from([0.0, 1.5]))
def test_thresholds_stay_in_order(data, n, n_ranks, margin):
    X = data.draw(arrays(float, (n, 3), elements=st.integers(-3, 3)))
    y = data.draw(arrays(int, n, elements=st.integers(0, n_ranks - 1)))
    weights = data.draw(arrays(float, n, elements=st.sampled_from([0.25, 1.0, 3.0])))
    for solution in ("last", "average"):
        model = PRank(margin, solution=solution, intercept_step=0.3)
        model.partial_fit(X, y, np.arange(n_ranks), weights)
        assert np.all(np.diff(model.thresholds_) >= -1e-12)
        best = model.decision_function(X)
        if n_ranks > 2:
            highest = best.shape[1] - 1 - best[:, ::-1].argmax(axis=1)  # of ties the last
            assert model.predict(X).tolist() == highest.tolist()


@settings(max_examples=40)
@given(st.data(), RANK_ROWS, st.integers(2, 5))
def test_the_loss_is_at_most_the_bound_of_the_paper(data, n, n_ranks):
    """Theorem 2: the sum of |rank - predicted| is at most (k - 1)(R² + 1)/γ²."""
    X = data.draw(arrays(float, (n, 2), elements=st.integers(-9, 9)))
    u = data.draw(arrays(float, 2, elements=st.integers(-3, 3)))
    places = st.integers(-15, 15).map(lambda value: value + 0.5)  # never on a row
    thresholds = np.sort(data.draw(arrays(float, n_ranks - 1, elements=places)))
    scores = X @ u
    y = np.searchsorted(thresholds, scores)
    gamma = np.abs(scores[:, None] - thresholds).min() / np.sqrt(u @ u + thresholds @ thresholds)
    bound = (n_ranks - 1) * (np.sum(X**2, axis=1).max() + 1) / gamma**2
    model, loss = PRank(), 0.0
    for _ in range(3):
        loss += model.partial_fit(X, y, np.arange(n_ranks)).history_[-1].loss
    assert loss <= bound * (1 + 1e-9)


def test_classes_are_in_the_stated_order():
    X, y = make_ranks()
    plain = PRank(solution="average", random_state=0).fit(X, y)
    words = np.array(GRADES)[y]
    model = PRank(ranks=GRADES, solution="average", random_state=0).fit(X, words)
    assert model.classes_.tolist() == GRADES
    assert np.array_equal(model.coef_, plain.coef_)
    assert model.predict(X).tolist() == np.array(GRADES)[plain.predict(X)].tolist()
    again = PRank(solution="average").partial_fit(X, words, classes=GRADES)
    assert again.classes_.tolist() == GRADES
    with pytest.warns(UserWarning, match="high < low < medium < top") as told:
        assert PRank().fit(X, words).classes_.tolist() == sorted(GRADES)
    assert told[0].filename == __file__
    halves = PRank(ranks=[0.5, 1.0, 1.5, 2.0], random_state=0).fit(X, y / 2 + 0.5)
    assert set(halves.predict(X)) <= {0.5, 1.0, 1.5, 2.0}


def test_separated_ranks_end_the_training():
    X = np.arange(9.0)[:, None] - 4
    model = PRank(max_iter=500, random_state=0).fit(X, np.arange(9) // 3)
    assert model.stop_reason_ == "separated"
    assert model.score(X, np.arange(9) // 3) == 1
    assert model.history_[-1].loss == 0
    assert model.decision_function(X).shape == (9, 3)


def test_measured_errors_are_those_of_the_weights_at_the_end():
    X, y = make_ranks()
    model = PRank(measure=True, max_iter=2, random_state=0).fit(X, y)
    assert model.history_[-1].errors == np.count_nonzero(model.predict(X) != y)


def test_early_stopping_keeps_the_best_epoch_by_rank_error(capsys):
    X, y = make_ranks(400)
    model = PRank(early_stopping=2, max_iter=50, random_state=0, verbose=1)
    model.fit(X[:300], y[:300], X_val=X[300:], y_val=y[300:])
    scores = [epoch.validation_score for epoch in model.history_]
    assert scores.index(max(scores)) == len(scores) - 3
    assert np.abs(model.predict(X[300:]) - y[300:]).mean() == pytest.approx(-max(scores))
    assert "held-out rank error" in capsys.readouterr().out


def test_probabilities_are_calibrated():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 5))
    y = np.searchsorted([-2, 0, 3], X @ [2, 1, 0, -1, 1] + rng.logistic(size=2000))
    model = PRank(solution="average", calibrate=True, random_state=0).fit(X[:1500], y[:1500])
    found = model.predict_proba(X[1500:])
    np.testing.assert_allclose(found.sum(axis=1), 1)
    shares = np.bincount(y[:1500]) / 1500
    constant = log_loss(y[1500:], np.tile(shares, (500, 1)))
    assert log_loss(y[1500:], found) < 0.75 * constant
    sure = found.max(axis=1)
    right = found.argmax(axis=1) == y[1500:]
    for low, high in ((0.0, 0.6), (0.6, 1.0)):
        some = (sure >= low) & (sure < high)
        assert abs(sure[some].mean() - right[some].mean()) < 0.08


def test_conformal_sets_of_ranks_are_neighbours():
    X, y = make_ranks(600)
    model = PRank(solution="average", calibrate="conformal", random_state=0).fit(X[:400], y[:400])
    sets = model.predict_set(X[400:], coverage=0.8)
    assert abs(sets[np.arange(200), y[400:]].mean() - 0.8) < 0.08
    assert np.all(np.abs(np.diff(np.pad(sets.astype(int), ((0, 0), (1, 1))))).sum(axis=1) == 2)


def test_class_weights_count():
    X, y = make_ranks()
    weighted = PRank(class_weight={0: 1, 1: 2, 2: 1, 3: 0.5}, order="fixed").fit(X, y)
    each = np.array([1, 2, 1, 0.5])[y]
    assert np.array_equal(weighted.coef_, PRank(order="fixed").fit(X, y, each).coef_)


@pytest.mark.parametrize(
    ("parameters", "code"),
    [
        ({"margin": -1}, "out-of-range"),
        ({"solution": "pocket"}, "out-of-range"),
        ({"order": "worst"}, "out-of-range"),
        ({"ranks": ["a"]}, "out-of-range"),
        ({"ranks": [0, 1, 1]}, "out-of-range"),
        ({"ranks": "0123"}, "out-of-range"),
        ({"fit_intercept": False}, "ranks-without-bias"),
        ({"ranks": [0, 1, 2]}, "unknown-label"),
    ],
)
def test_parameters_that_are_refused(parameters, code):
    X, y = make_ranks()
    with pytest.raises((ParameterError, InputError)) as refused:
        PRank(**parameters).fit(X, y)
    assert refused.value.code == code


def test_what_is_refused_in_a_sentence():
    X, y = make_ranks()
    model = PRank(ranks=[0, 1, 2, 3]).fit(X, y)
    refused = {
        "only the rank 1": lambda: PRank(ranks=[0, 1]).fit(X, np.ones(len(y), int)),
        "needs all labels in their order": lambda: PRank().partial_fit(X, y),
        "before the first row": lambda: PRank().learn_one(X[0], 1),
        "cannot change": lambda: model.partial_fit(X, y, classes=[3, 2, 1, 0]),
        "not among the classes .0, 1, 2, 3.; name all labels with ranks": lambda: model.partial_fit(
            X, y + 1
        ),
        "is not among": lambda: model.learn_one(X[0], 7),
        "predicts ranks": lambda: start_steps(PRank(), X, y),
        "classifier of classes, got PRank": lambda: normalize_weights(model),
        "starts at zero": lambda: PRank().fit(X, y, coef_init=np.zeros((1, 4))),
        "1d array": lambda: PRank().fit(X, np.eye(4)[y]),
    }
    for sentence, attempt in refused.items():
        with pytest.raises(ValueError, match=sentence):
            attempt()


def test_ranks_may_be_halves_and_an_array_and_classes_do_not_change_them():
    X, y = make_ranks()
    halves = np.array([0.0, 0.5, 1.0, 1.5])
    model = PRank(ranks=halves, random_state=0).fit(X, y / 2)
    whole = PRank(ranks=[0, 1, 2, 3], random_state=0).fit(X, y)
    assert np.array_equal(model.coef_, whole.coef_)
    assert model.score(X, y / 2) == whole.score(X, y) == np.mean(whole.predict(X) == y)
    assert model.score(X, np.full(len(y), 0.25)) == 0.0
    assert np.isfinite(cross_val_score(PRank(ranks=halves), X, y / 2, cv=3)).all()
    with pytest.raises(ValueError, match="ranks 0, 1, 2, 3, which cannot change"):
        PRank(ranks=[0, 1, 2, 3]).partial_fit(X, y, classes=[3, 2, 1, 0])
    for refused in (np.array([0, 0, 1]), np.array(1), np.array([[0, 1]])):
        with pytest.raises(ParameterError):
            PRank(ranks=refused).fit(X, y)


def test_an_ordered_categorical_states_the_ranks():
    pandas = pytest.importorskip("pandas")
    X, y = make_ranks()
    labels = pandas.Categorical.from_codes(y, [*GRADES, "never"], ordered=True)
    for given_labels in (labels, pandas.Series(labels)):
        model = PRank(random_state=0).fit(X, given_labels)
        assert model.classes_.tolist() == [*GRADES, "never"]
    assert PRank(ranks=GRADES).fit(X, labels).classes_.tolist() == GRADES
    with pytest.warns(UserWarning, match="alphabetical"):  # the next labels have no order
        assert model.fit(X, np.array(GRADES)[y]).classes_.tolist() == sorted(GRADES)
