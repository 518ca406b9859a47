"""The family after Rosenblatt: every rule is its naive twin, and has all that a perceptron has."""

import re
from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from sklearn.base import clone

import rosenblatt
from rosenblatt import (
    ALMA,
    AROW,
    CW,
    FTRL,
    NHERD,
    ROMMA,
    SCW,
    AdaGrad,
    PassiveAggressive,
    SecondOrderPerceptron,
    ShiftingPerceptron,
)
from rosenblatt.estimators.steps import start_steps
from rosenblatt.parameters import CLASS_RULES, RULE_TABLE, ParameterError

from .. import reference
from ..conftest import FORMS, LAYOUTS, ROUNDS, blobs, csr, form_parameters

FAMILY = {
    "PA": (PassiveAggressive, reference.PassiveAggressiveRule, {"loss": "hard"}),
    "PA-I": (PassiveAggressive, reference.PassiveAggressiveRule, {"C": 0.1}),
    "PA-II": (
        PassiveAggressive,
        reference.PassiveAggressiveRule,
        {"C": 0.3, "loss": "squared_hinge"},
    ),
    "ALMA": (ALMA, reference.ALMARule, {}),
    "ALMA(0.2)": (ALMA, reference.ALMARule, {"alpha": 0.2, "B": 3.0, "C": 0.7}),
    "ROMMA": (ROMMA, reference.ROMMARule, {"aggressive": False}),
    "ROMMA, aggressive": (ROMMA, reference.ROMMARule, {}),
    "shifting": (ShiftingPerceptron, reference.ShiftingRule, {"lam": 3.0}),
    "second order": (SecondOrderPerceptron, reference.SecondOrderRule, {"a": 2.0}),
    "AROW": (AROW, reference.AROWRule, {"r": 0.5}),
    "SCW-I": (SCW, reference.SCWRule, {"C": 0.5, "confidence": 0.9}),
    "SCW-II": (SCW, reference.SCWRule, {"variant": "II"}),
    "NHERD": (NHERD, reference.NHERDRule, {"C": 0.3}),
    "CW": (CW, reference.CWRule, {"confidence": 0.7}),
    "FTRL": (FTRL, reference.FTRLRule, {"alpha": 0.5, "l1": 0.3, "l2": 0.1}),
    "AdaGrad": (AdaGrad, reference.AdaGradRule, {"decay": 0.05}),
}
THEIRS = vars(reference.Perceptron)
SCALED = ["ALMA", "ALMA(0.2)", "ROMMA", "ROMMA, aggressive", "shifting"]


def noisy(n=50, d=4, classes=2, seed=0):
    """Rows that no rule can get right: a fifth of the labels are wrong."""
    X, y = blobs(n, d, classes, seed)
    wrong = np.random.default_rng(seed).random(n) < 0.2
    return X, np.where(wrong, (y + 1) % classes, y)


def data_for(name, form="two", seed=0):
    """Noise; but under it ROMMA's weights, and with them every rounding, grow without end."""
    X, y = noisy(classes=2 if form == "two" else 3, seed=seed)
    if name.startswith("ROMMA"):
        y = np.argmax(X @ np.random.default_rng(seed).normal(size=(4, y.max() + 1)), axis=1)
    return X, y


def one_of(name, form="two", **parameters):
    """A member of the family and its twin."""
    kind, rule, own = FAMILY[name]
    parameters = {"random_state": 3, "max_iter": 3} | form_parameters(form) | parameters
    twins = {key: value for key, value in parameters.items() if key in THEIRS}
    if name in ("FTRL", "AdaGrad"):  # each class is a problem of its own
        twins["multi_class"] = "ovr"
    return kind(**own, **parameters), reference.FamilyMember(partial(rule, **own), **twins)


def assert_same(model, twin, tolerance):
    np.testing.assert_allclose(model.coef_, twin.coef_, rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(model.intercept_, twin.intercept_, rtol=tolerance, atol=tolerance)
    for epoch, wanted in zip(model.history_, twin.history_, strict=True):
        assert (epoch.epoch, epoch.rows, epoch.errors) == (wanted.epoch, wanted.rows, wanted.errors)
        assert abs(epoch.mistakes - wanted.mistakes) <= 2  # a mended row has margin 1, or nearly
        np.testing.assert_allclose(epoch.loss, wanted.loss, rtol=tolerance, atol=tolerance)


# Twins


def test_every_rule_for_classes_has_a_twin():
    kinds = {kind.__name__ for kind, *_ in FAMILY.values()}
    assert {"Perceptron"} | kinds == {entry.estimator for entry in CLASS_RULES.values()}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("layout", ["dense", "int32", *["int64"] * (ROUNDS > 1)])
@pytest.mark.parametrize("solution", ["last", "average"])
@pytest.mark.parametrize("name", FAMILY)
def test_every_rule_is_its_naive_twin(name, solution, layout, form):
    for seed in range(ROUNDS):
        X, y = data_for(name, form, seed)
        model, twin = one_of(name, form, solution=solution)
        model.fit(LAYOUTS[layout](X), y)
        assert_same(model, twin.fit(X, y), 1e-8)
        X = X.astype(np.float32)
        model.fit(LAYOUTS[layout](X), y)
        assert model.coef_.dtype == np.float32
        np.testing.assert_allclose(model.coef_, twin.fit(X, y).coef_, rtol=2e-3, atol=2e-3)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("order", ["once", "fixed", "active", "first"])
@pytest.mark.parametrize("name", FAMILY)
def test_every_order_is_that_of_the_twin(name, order, form):
    X, y = data_for(name, form)
    if order == "first" and name.startswith(("PA", "ROMMA", "SCW")):
        return  # whose mended rows are right, or nearly so and first again
    model, twin = one_of(name, form, order=order, max_iter=8 if order == "first" else 2)
    assert_same(model.fit(X, y), twin.fit(X, y), 1e-8)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("solution", ["last", "average"])
@pytest.mark.parametrize("name", FAMILY)
def test_weights_of_rows_are_those_of_the_twin(name, solution, form):
    X, y = data_for(name, form)
    weights = np.random.default_rng(0).choice([0, 0.5, 1, 3], len(y))
    model, twin = one_of(name, form, solution=solution)
    model.fit(csr(X), y, sample_weight=weights)
    assert_same(model, twin.fit(X, y, sample_weight=weights), 1e-8)


@pytest.mark.parametrize("bias", [{"fit_intercept": False}, {"intercept_step": 9.0}])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", FAMILY)
def test_the_bias_is_the_weight_of_a_coordinate_of_that_squared_size(name, form, bias):
    X, y = data_for(name, form)
    model, twin = one_of(name, form, solution="average", **bias)
    assert_same(model.fit(X, y), twin.fit(X, y), 1e-8)
    size = 3.0 if "intercept_step" in bias else 0.0
    wider = np.column_stack([X, np.full(len(y), size)])
    explicit, _ = one_of(name, form, solution="average", fit_intercept=False)
    if name == "FTRL":  # which does not regularize the bias
        explicit.set_params(l1=0.0, l2=0.0)
        model.set_params(l1=0.0, l2=0.0).fit(X, y)
    explicit.fit(wider, y)
    np.testing.assert_allclose(explicit.coef_[:, :-1], model.coef_, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(size * explicit.coef_[:, -1], model.intercept_, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("name", FAMILY)
def test_the_pocket_is_that_of_the_twin(name):
    X, y = data_for(name)
    model, twin = one_of(name, solution="pocket", order="fixed")
    assert_same(model.fit(X, y), twin.fit(X, y), 1e-8)


@pytest.mark.parametrize("name", FAMILY)
def test_every_step_is_told(name):
    X, y = data_for(name)
    model, twin = one_of(name)
    (run,) = twin.fit(X, y).runs
    records = list(start_steps(model, X, y))
    assert len(records) == run.mistakes
    np.testing.assert_allclose(records[-1].new_weights, twin.coef_, rtol=1e-8)
    for before, after in pairwise(records):
        np.testing.assert_array_equal(before.new_weights, after.weights)
    told = [1 - (r.activation if r.label == 1 else -r.activation) for r in records]
    np.testing.assert_allclose(told, run.losses, rtol=1e-7, atol=1e-9)


# Numbers at their limits


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("solution", ["last", "average"])
def test_weights_that_are_multiplied_over_and_over_stay_within_what_numbers_hold(solution, dtype):
    X, y = np.array([[1.0, 0.25], [1.0, 0.5], [-1.0, 0.25]], dtype), np.array([1, 1, 0])
    own = {"alpha": 0.001}
    parameters = {"solution": solution, "max_iter": 700, "order": "fixed"}
    model = ALMA(**own, **parameters).fit(X, y)
    twin = reference.FamilyMember(lambda: reference.ALMARule(**own), **parameters).fit(X, y)
    assert model._learner.states[0].scale[4] == 2101  # far beyond e^88
    np.testing.assert_allclose(model.coef_, twin.coef_, rtol=1e-3 if dtype == np.float32 else 1e-7)


@pytest.mark.parametrize("aggressive", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("form", ["two", "argmax"])
def test_romma_stays_finite_under_rows_that_contradict_each_other(aggressive, dtype, form):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 3)).astype(dtype).repeat(2, axis=0)
    y = np.arange(40) % (2 if form == "two" else 3)
    model = ROMMA(aggressive, order="fixed", max_iter=20, solution="average").fit(X, y)
    assert np.isfinite(model.coef_).all()
    state = model._learner.states[0]
    weights, bias = state.present()
    square = np.sum(np.float64(weights) ** 2) + np.sum(np.float64(bias) ** 2)
    if dtype == np.float64:
        np.testing.assert_allclose(state.scale[3], square, rtol=1e-3)


@pytest.mark.parametrize("name", ["AROW", "SCW-I", "SCW-II", "second order"])
@pytest.mark.parametrize("size", [1e3, 1e9, 1e18])
def test_variances_stay_positive_however_large_a_row_is(name, size):
    X, y = noisy(classes=3)
    X[:, 1] *= size
    for labels in (y == 0, y):
        model, _ = one_of(name, max_iter=5)
        (state,) = model.fit(X, labels)._learner.states
        assert (state.S > 0).all()
        assert (state.Sb > 0).all()
        assert np.isfinite(model.coef_).all()


@pytest.mark.parametrize("name", FAMILY)
def test_an_empty_row_without_a_bias_teaches_nothing(name):
    X, y = noisy()
    model, _ = one_of(name, fit_intercept=False, solution="average", order="fixed", max_iter=1)
    coef = model.fit(X, y).coef_
    X, y = np.vstack([X, np.zeros((1, 4))]), np.append(y, 1)
    again = model.fit(X, y).coef_
    assert np.isfinite(again).all()
    last, _ = one_of(name, fit_intercept=False, order="fixed", max_iter=1)
    np.testing.assert_array_equal(last.fit(X, y).coef_, last.fit(X[:-1], y[:-1]).coef_)
    assert not np.array_equal(coef, again)  # the last weights count once more


# Batches, going on, files


@pytest.mark.parametrize("name", FAMILY)
def test_a_warm_pocket_goes_on_with_what_the_rule_keeps(name):
    X, y = noisy()
    model, _ = one_of(name, solution="pocket", warm_start=True)
    before = model.fit(X, y)._learner.states[0]
    errors = np.mean(model.predict(X) != y)
    again = before.renew()
    for key in before.rule.arrays:
        np.testing.assert_array_equal(getattr(again, key), getattr(before, key))
        assert getattr(again, key) is not getattr(before, key)
    assert np.mean(model.fit(X, y).predict(X) != y) <= errors + 0.1


# Beginnings and ends


@pytest.mark.parametrize("name", FAMILY)
def test_weights_to_begin_with_are_taken_where_they_are_all_that_counts(name):
    X, y = noisy()
    model, twin = one_of(name)
    start = np.ones((1, 4)), np.ones(1)
    if name in (*SCALED, "FTRL"):
        with pytest.raises(ValueError, match="keeps more than its weights, so it starts at zero"):
            model.fit(X, y, None, *start)
    elif name != "second order":  # whose twin has v, not w
        assert_same(model.fit(X, y, None, *start), twin.fit(X, y, None, *start), 1e-8)


@pytest.mark.parametrize("name", FAMILY)
def test_measured_losses_are_those_of_the_weights_as_they_are(name):
    X, y = noisy()
    model, _ = one_of(name, measure=True)
    margins = np.where(y == 1, 1, -1) * model.fit(X, y).decision_function(X)
    assert model.history_[-1].errors == np.sum(margins <= 0)
    np.testing.assert_allclose(model.history_[-1].loss, -margins[margins <= 0].sum(), rtol=1e-8)


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        (PassiveAggressive(0), "C must be a number above 0; got 0"),
        (PassiveAggressive(loss="log"), "loss must be one of 'hinge', 'squared_hinge', 'hard'"),
        (ALMA(1.5), "alpha must be above 0 and at most 1; got 1.5"),
        (ALMA(B=-1), "B must be a number above 0 or None; got -1"),
        (ShiftingPerceptron(0.5), "lam must be a number from 1 up; got 0.5"),
        (AdaGrad(decay=1), "decay must be from 0 up and below 1; got 1"),
        (SecondOrderPerceptron(0), "a must be a number above 0"),
        (AROW(float("nan")), "r must be a number above 0; got nan"),
        (SCW(confidence=0.5), "confidence must be between 0.5 and 1; got 0.5"),
        (SCW(variant="III"), "variant must be one of 'I', 'II'"),
    ],
)
def test_parameters_out_of_range_are_refused(model, sentence):
    X, y = noisy()
    with pytest.raises(ParameterError, match=sentence):
        model.fit(X, y)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize(
    ("dtype", "size"),
    [(np.float32, 1e30), (np.float64, 1e160), (np.float32, 1e-30), (np.float64, 1e-200)],
)
@pytest.mark.parametrize("rule", CLASS_RULES)
def test_numbers_whose_squares_cannot_be_held_are_refused_or_learnt(rule, dtype, size, classes):
    rows, y = blobs(40, 3, classes=classes)
    model = getattr(rosenblatt, RULE_TABLE[rule].estimator)(random_state=0, max_iter=5)
    usual = clone(model).fit(rows, y).score(rows, y)
    for learn in (model.fit, partial(model.partial_fit, classes=range(classes))):
        with np.errstate(over="ignore"):
            X = (size * rows).astype(dtype)
        said, found = "", 0.0
        try:
            found = learn(X, y).score(X, y) if size > 1 else usual * learn(X, y).coef_.any()
        except ValueError as refusal:
            said = str(refusal)
        assert re.search("scale the numbers", said) or found > usual - 0.2


# FTRL


@pytest.mark.parametrize("layout", ["dense", "int32"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_l1_makes_weights_exactly_zero(layout, dtype):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 12)).astype(dtype)
    y = X[:, 0] - X[:, 1] > 0
    rows = LAYOUTS[layout](X)
    zeros = [
        np.count_nonzero(FTRL(l1=l1, alpha=0.5, max_iter=2, random_state=0).fit(rows, y).coef_ == 0)
        for l1 in (0.0, 8.0, 1e6)
    ]
    assert zeros[0] == 0 < zeros[1] < zeros[2] == 12
    model = FTRL(l1=8.0, alpha=0.5, max_iter=2, random_state=0).fit(rows, y)
    assert np.all(model.coef_[0, :2] != 0)
    assert model.score(rows, y) > 0.9
    assert model.intercept_[0] != 0  # the bias is not regularized
