"""Rankers: each is its naive twin, keeps the perceptron's bound, and streams as groups come."""

import numpy as np
import pytest
import sklearn
from hypothesis import given, settings, strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.metrics import ndcg_score
from sklearn.model_selection import GroupKFold, cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from rosenblatt import PassiveAggressiveRanker, PerceptronRanker, load
from rosenblatt.parameters import InputError, ParameterError

from .. import reference
from ..conftest import LAYOUTS, csr

JUST_1 = np.nextafter(1.0, 0.0)
RULES = {
    "perceptron": (PerceptronRanker, {}, ("perceptron", 1.0), 0.0),
    "margin": (PerceptronRanker, {"margin": 2.0}, ("perceptron", 1.0), 2.0),
    "PA": (PassiveAggressiveRanker, {"loss": "hard"}, ("hard", 1.0), JUST_1),
    "PA-I": (PassiveAggressiveRanker, {"C": 0.05}, ("hinge", 0.05), JUST_1),
    "PA-II": (
        PassiveAggressiveRanker,
        {"C": 0.2, "loss": "squared_hinge"},
        ("squared_hinge", 0.2),
        JUST_1,
    ),
}
ORDERS = {"fixed": reference.fixed_rows, "each": reference.shuffled}


def noisy_groups(n=60, d=5, seed=0, noise=1.0, grades=3):
    """Rows with zeros, relevance and groups, which are not adjacent; one has no pair."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, d)), 2)
    X[rng.random(X.shape) < 0.3] = 0
    groups = rng.integers(0, n // 8, n)
    signal = X @ rng.normal(size=d) + noise * rng.normal(size=n) + groups
    y = np.digitize(signal, np.quantile(signal, np.arange(1, grades) / grades))
    y[groups == 0] = 1
    return X, y, groups


def make_pair(name, **parameters):
    """A ranker and its twin."""
    kind, own, (step, C), margin = RULES[name]
    parameters = {
        "solution": "last",
        "order": "fixed",
        "max_iter": 3,
        "random_state": 3,
    } | parameters
    order = ORDERS[parameters["order"]]
    step = reference.PAIR_STEPS[step](C)
    twin = reference.Ranker(
        step, margin=margin, solution=parameters["solution"], order=order, max_iter=3, seed=3
    )
    return kind(**own, **parameters), twin


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", RULES)
def test_every_rule_is_its_naive_twin(name, layout):
    for solution, order in (("last", "fixed"), ("average", "each")):
        X, y, groups = noisy_groups(seed=len(order))
        model, twin = make_pair(name, solution=solution, order=order)
        model.fit(LAYOUTS[layout](X), y, groups)
        np.testing.assert_allclose(model.coef_[0], twin.fit(X, y, groups).coef_, atol=1e-9)
        if name != "PA":  # a pair has a margin of exactly 1 after it, up to rounding
            assert [epoch[:3] for epoch in model.history_] == twin.history_
        X = X.astype(np.float32)
        model.fit(LAYOUTS[layout](X), y, groups)
        assert model.coef_.dtype == np.float32
        np.testing.assert_allclose(model.coef_[0], twin.coef_, rtol=2e-2, atol=2e-3)


def test_weights_of_rows():
    X, y, groups = noisy_groups()
    weights = np.random.default_rng(0).integers(0, 3, len(y)) / 2
    for name in ("perceptron", "PA-I"):
        model, twin = make_pair(name, solution="average")
        model.fit(X, y, groups, weights)
        np.testing.assert_allclose(model.coef_[0], twin.fit(X, y, groups, weights).coef_, atol=1e-9)


def test_whole_numbers_are_the_same_bit_for_bit_sparse_or_dense():
    X, y, groups = noisy_groups(200)
    X = np.round(4 * X)
    dense = PerceptronRanker(random_state=0).fit(X, y, groups)
    sparse = PerceptronRanker(random_state=0).fit(csr(X), y, groups)
    assert (dense.coef_ == sparse.coef_).all()


@settings(max_examples=25)
@given(st.data(), st.sampled_from(sorted(RULES)), st.sampled_from(["last", "average"]))
def test_any_cut_between_groups_is_one_pass(data, name, solution):
    X, y, groups = noisy_groups(48)
    order = np.argsort(groups, kind="stable")
    X, y, groups = X[order], y[order], groups[order]
    ends = np.flatnonzero(np.diff(groups)) + 1
    cuts = sorted(data.draw(st.sets(st.sampled_from(ends.tolist()))))
    whole, _ = make_pair(name, solution=solution)
    parts, _ = make_pair(name, solution=solution)
    whole.partial_fit(X, y, groups)
    for rows, grades, keys in zip(*(np.split(each, cuts) for each in (X, y, groups)), strict=True):
        parts.partial_fit(csr(rows), grades, keys)
    np.testing.assert_allclose(parts.coef_, whole.coef_, rtol=1e-12, atol=1e-12)
    assert parts.n_mistakes_ == whole.n_mistakes_


@st.composite
def separable_groups(draw):
    """Whole rows whose relevance is in the order of u·x with gaps, their groups, and u."""
    n, d = draw(st.integers(4, 20)), draw(st.integers(1, 4))
    values = st.integers(-9, 9).map(float)
    X, u = draw(arrays(float, (n, d), elements=values)), draw(arrays(float, d, elements=values))
    return X, X @ u, draw(arrays(np.int8, n, elements=st.integers(0, 3))), u


@settings(max_examples=60)
@given(separable_groups())
def test_updates_are_within_the_bound_of_the_perceptron(rows):
    """At most R² / γ² updates, over the differences of rows of different relevance."""
    X, y, groups, u = rows
    ones = (groups[:, None] == groups) & (y[:, None] > y)
    if not ones.any():
        return
    differences = (X[:, None] - X)[ones]
    gamma = (differences @ u).min() / np.linalg.norm(u)
    R = np.linalg.norm(differences, axis=1).max()
    model = PerceptronRanker(max_iter=50, solution="last", random_state=0).fit(X, y, groups)
    assert model.n_mistakes_ <= (R / gamma) ** 2 + 1e-9
    if model.stop_reason_ == "ordered":
        assert (differences @ model.coef_[0] > 0).all()


def test_score_is_the_mean_ndcg_of_scikit_learn():
    X, y, groups = noisy_groups(100)
    model = PassiveAggressiveRanker(0.1, random_state=0).fit(X, y, groups)
    found = [
        ndcg_score([y[groups == g]], [model.predict(X[groups == g])])
        for g in np.unique(groups)
        if len(np.unique(y[groups == g])) > 1
    ]
    assert model.score(X, y, groups) == pytest.approx(np.mean(found))
    assert model.score(X, y, qid=groups) == model.score(X, y, groups)
    words = np.array([f"query {g}" for g in groups])
    assert model.score(X, y, words) == model.score(X, y, groups)


def test_held_out_groups_are_whole_and_decide():
    X, y, groups = noisy_groups(300, noise=4.0)
    stopped = PassiveAggressiveRanker(
        0.1, early_stopping=True, n_iter_no_change=2, max_iter=40, random_state=0
    ).fit(X, y, groups)
    scores = [epoch.validation_score for epoch in stopped.history_]
    assert stopped.stop_reason_ == "no_improvement"
    assert int(np.argmax(scores)) + 1 + 2 == len(scores)
    with_set = PassiveAggressiveRanker(0.1, early_stopping=True, random_state=0)
    with_set.fit(X[:200], y[:200], groups[:200], eval_set=(X[200:], y[200:], groups[200:]))
    best = max(epoch.validation_score for epoch in with_set.history_)
    assert with_set.score(X[200:], y[200:], groups[200:]) == pytest.approx(best)


def test_saved_models_score_and_continue_the_same(tmp_path):
    X, y, groups = noisy_groups()
    model = PassiveAggressiveRanker(0.1, order="fixed").partial_fit(X, y, groups)
    model.save(tmp_path / "a.safetensors")
    again = load(tmp_path / "a.safetensors")
    assert type(again) is PassiveAggressiveRanker
    assert (again.predict(X) == model.predict(X)).all()
    again.partial_fit(X, y, groups)
    assert (again.coef_ == model.partial_fit(X, y, groups).coef_).all()


def test_groups_are_routed_by_scikit_learn():
    X, y, groups = noisy_groups(120)
    with sklearn.config_context(enable_metadata_routing=True):
        model = PassiveAggressiveRanker(0.1, random_state=0)
        model.set_fit_request(groups=True).set_score_request(groups=True)
        found = cross_val_score(model, X, y, cv=GroupKFold(3), params={"groups": groups})
    assert (found > 0.6).all()


def test_bad_input_is_refused():
    X, y, groups = noisy_groups()
    model = PassiveAggressiveRanker()
    with pytest.raises(InputError) as caught:
        model.fit(X, np.ones(len(y)), groups)
    assert caught.value.code == "no-pairs"
    with pytest.raises(InputError) as caught:
        model.fit(X, np.full(len(y), "a"), groups)
    assert caught.value.code == "labels-not-numbers"
    with pytest.raises(ValueError, match="each row needs one"):
        model.fit(X, y, groups[1:])
    with pytest.raises(InputError, match="Input groups contains NaN: row 0 is nan"):
        model.fit(X, y, np.full(len(y), np.nan))
    with pytest.raises(ValueError, match="groups should be a 1d array"):
        model.fit(X, y, np.c_[groups, groups])
    with pytest.raises(ValueError, match="give one of them"):
        model.fit(X, y, groups, qid=groups)
    with pytest.raises(ParameterError) as caught:
        PassiveAggressiveRanker(early_stopping=True).fit(X, y, groups, eval_set=(X, y))
    assert caught.value.code == "eval-set-form"
    with pytest.raises(InputError) as caught:
        model.fit(X, y - 1.0, groups).score(X, y - 1.0, groups)
    assert caught.value.code == "relevance-negative"


WEIGHTS = "weights of rows change the size of a step, or C, not how often a row is seen"


@parametrize_with_checks(
    [PerceptronRanker(), PassiveAggressiveRanker()],
    expected_failed_checks=lambda model: {
        "check_sample_weight_equivalence_on_dense_data": WEIGHTS,
        "check_sample_weight_equivalence_on_sparse_data": WEIGHTS,
    },
)
def test_scikit_learn(estimator, check):
    check(estimator)
