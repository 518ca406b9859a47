"""Uses inside scikit-learn's ecosystem, each of our estimators beside scikit-learn's own."""

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn.linear_model
from scipy.sparse import csr_array, issparse
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.ensemble import StackingClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectFromModel
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    cross_val_predict,
    learning_curve,
)
from sklearn.multioutput import MultiOutputClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import rosenblatt
from rosenblatt import PassiveAggressiveRegressor, Perceptron

X, Y = make_classification(200, 8, random_state=0)
FRAME, TWO = pd.DataFrame(X).add_prefix("c"), np.c_[Y, 1 - Y]
OURS = Perceptron(random_state=0)

USES = {
    "pipeline": lambda model: make_pipeline(StandardScaler(), model).fit(X, Y).predict(X),
    "search": lambda model: GridSearchCV(model, {"eta0": [1, 2]}, cv=2).fit(X, Y).predict(X),
    "scores of folds": lambda model: cross_val_predict(model, X, Y, method="decision_function"),
    "calibration": lambda model: CalibratedClassifierCV(model, cv=2).fit(X, Y).predict(X),
    "threshold": lambda model: FixedThresholdClassifier(model, threshold=1.0).fit(X, Y).predict(X),
    "several outputs": lambda model: MultiOutputClassifier(model).fit(X, TWO).predict(X)[:, 0],
    "stack": lambda model: StackingClassifier([("one", model)], cv=2).fit(X, Y).predict(X),
    "selection": lambda model: SelectFromModel(model).fit_transform(X, Y)[:, 0],
    "learning curve": lambda model: learning_curve(model, X, Y, cv=2)[1],
    "pickle": lambda model: pickle.loads(pickle.dumps(model.fit(X, Y))).predict(X),
    "frame": lambda model: model.fit(FRAME, Y).predict(FRAME),
    "weights": lambda model: model.fit(X, Y, sample_weight=np.ones(len(X))).predict(X),
}


@pytest.mark.parametrize("use", USES)
def test_a_use_works_with_ours_as_with_theirs(use):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        ours, theirs = map(USES[use], (clone(OURS), sklearn.linear_model.Perceptron()))
    assert np.shape(ours) == np.shape(theirs)
    assert np.isfinite(ours).all()


def test_a_fit_that_still_makes_mistakes_warns():
    noisy = np.where(np.arange(len(Y)) % 9 == 0, 1 - Y, Y)
    with pytest.warns(ConvergenceWarning, match="in the last of 100 epochs"):
        clone(OURS).fit(X, noisy)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clone(OURS).set_params(solution="average").fit(X, noisy)
        clone(OURS).fit(X, X[:, 0] > 0)


def test_validation_rows_pass_through_a_pipeline():
    model = Pipeline(
        [("scale", StandardScaler()), ("model", Perceptron(early_stopping=3, random_state=0))],
        transform_input=["X_val"],
    )
    with sklearn.config_context(enable_metadata_routing=True):
        model.steps[-1][1].set_fit_request(X_val=True, y_val=True)
        model.fit(X[:150], Y[:150], X_val=X[150:], y_val=Y[150:])
    assert model.score(X[150:], Y[150:]) == max(e.validation_score for e in model[-1].history_)


def test_another_version_of_a_pickle_is_named(monkeypatch):
    pickled = pickle.dumps(clone(OURS).fit(X, Y))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pickle.loads(pickled)
    monkeypatch.setattr(rosenblatt, "__version__", "99.0")
    with pytest.warns(UserWarning, match=r"version .* of rosenblatt, and this is 99\.0"):
        assert pickle.loads(pickled).predict(X).shape == Y.shape


def test_logarithms_of_probabilities():
    model = Perceptron(calibrate=True, random_state=0).fit(X, Y)
    np.testing.assert_array_equal(model.predict_log_proba(X), np.log(model.predict_proba(X)))


def test_weights_of_a_regressor_are_one_per_column():
    assert PassiveAggressiveRegressor().fit(X, X[:, 0]).coef_.shape == (8,)


def test_the_page_of_an_estimator_links_its_documentation():
    page = OURS._repr_html_()
    assert "reference/generated/rosenblatt.Perceptron.html" in page
    assert page.count("param-doc") > 18


def test_errors_name_the_estimator_and_the_parameter():
    with pytest.raises(ValueError, match=r"^Perceptron: max_iter must be"):
        Perceptron(max_iter=0).fit(X, Y)
    for seed in (-1, np.random.default_rng(0)):
        with pytest.raises(ValueError, match=r"^random_state must be"):
            Perceptron(random_state=seed).fit(X, Y)


def test_the_name_that_scikit_learn_drops():
    assert rosenblatt.PassiveAggressiveClassifier is rosenblatt.PassiveAggressive


@pytest.mark.parametrize("form", [np.asarray, pd.DataFrame, lambda X: X.tolist()])
def test_rows_and_labels_train_in_one_call(form):
    model = rosenblatt.train(form(X), Y)
    assert (model.predict(form(X)) == Y).mean() > 0.8
    with pytest.raises(ValueError, match="200 rows and y 3 labels"):
        rosenblatt.train(form(X), Y[:3])
    for wrong in ({"y": np.eye(2)[Y]}, {"y": Y, "label": "c0"}):
        with pytest.raises(ValueError, match=r"^(y has the shape \(200, 2\)|Give y for a table)"):
            rosenblatt.train(form(X), **wrong)


def test_features_keep_the_contract():
    with pytest.raises(ValueError, match="X is sparse"):
        rosenblatt.Features().fit(csr_array(X))
    found = check_estimator(rosenblatt.Features(), on_skip=None, on_fail=None)
    failed = {each["check_name"] for each in found if each["status"] == "failed"}
    assert failed <= {"check_fit_score_takes_y"}  # partial_fit after fit is refused


@pytest.mark.parametrize("name", ["Perceptron", "AROW", "FTRL", "KernelPerceptron"])
def test_skops_stores_plain_state(name):
    skops = pytest.importorskip("skops.io")
    model = getattr(rosenblatt, name)(random_state=0).fit(X, Y)
    stored = skops.dumps(model)
    unknown = skops.get_untrusted_types(data=stored)
    assert all(each.startswith("rosenblatt.") for each in unknown)
    np.testing.assert_array_equal(skops.loads(stored, trusted=unknown).predict(X), model.predict(X))


@pytest.mark.parametrize("solution", ["last", "average"])
@pytest.mark.parametrize("name", ["Perceptron", "AROW", "PassiveAggressiveRegressor"])
def test_weights_are_set_and_learning_goes_on(name, solution):
    kind, classes = getattr(rosenblatt, name), np.digitize(X[:, 0], [-0.5, 0.5])
    parts = [kind(solution=solution, random_state=0).fit(X[k::2], classes[k::2]) for k in (0, 1)]
    mean = sum(each.coef_ for each in parts) / 2, sum(each.intercept_ for each in parts) / 2
    model = parts[0]
    model.coef_, model.intercept_ = mean
    np.testing.assert_array_equal(model.coef_, mean[0])
    np.testing.assert_array_equal(model.intercept_, mean[1])
    assert model.coef_.flags.c_contiguous
    known = {} if "Regressor" in name else {"classes": np.unique(classes)}
    begun = kind(solution=solution).partial_fit(X[:1], classes[:1], **known)
    begun.coef_, begun.intercept_ = mean
    for each in (model, begun):
        each.partial_fit(X, classes)
    np.testing.assert_array_equal(model.coef_, begun.coef_)


@pytest.mark.parametrize("name", ["Perceptron", "AROW", "PassiveAggressiveRegressor"])
def test_weights_are_sparse_until_learning_goes_on(name):
    model = getattr(rosenblatt, name)(random_state=0).fit(X, Y)
    coef, predicted = model.coef_, model.predict(X)
    model.coef_ = model.sparsify().coef_
    stored = pickle.loads(pickle.dumps(model))
    for each in (model, stored):
        assert each.coef_.format == "csr"
        np.testing.assert_array_equal(each.coef_.toarray(), np.atleast_2d(coef))
        np.testing.assert_array_equal(each.predict(X), predicted)
    np.testing.assert_array_equal(stored.densify().coef_, coef)
    for learn in (model.partial_fit, lambda X, y: model.learn_one(X[0], y[0]), model.fit):
        assert issparse(model.sparsify().coef_)
        learn(X, Y)
        assert isinstance(model.coef_, np.ndarray)


def test_weights_of_rules_that_keep_more_cannot_be_set():
    model = rosenblatt.ALMA(random_state=0).fit(X, Y)
    with pytest.raises(ValueError, match="ALMA keeps more than its weights"):
        model.coef_ = model.coef_
    with pytest.raises(ValueError, match="shape"):
        clone(OURS).fit(X, Y).coef_ = np.zeros((1, 3))


def test_truth_values_in_an_array_of_objects_are_scored():
    truth = Y.astype(bool).astype(object)
    model = clone(OURS).fit(X, truth)
    assert model.score(X, truth) == model.score(X, Y.astype(bool))


def test_labels_of_another_kind_are_not_scored():
    model = Perceptron().fit([[1.0], [2.0]], [0, 1])
    with pytest.raises(ValueError, match="y has words; the labels of this model are numbers"):
        model.score([[1.0], [2.0]], ["0", "1"])


def test_categories_in_an_order_are_ranks():
    words = np.array(["low", "mid", "high"])[np.digitize(X[:, 0], [-0.5, 0.5])]
    order = ["low", "mid", "high"]
    kind = pd.CategoricalDtype(order, ordered=True)
    for labels in (pd.Series(words, dtype=kind), pl.Series(words, dtype=pl.Enum(order))):
        assert rosenblatt.PRank(random_state=0).fit(X, labels).classes_.tolist() == order


def test_other_weights_have_no_sets_of_the_old_ones():
    model = Perceptron(calibrate="conformal", random_state=0).fit(X, Y)
    model.coef_ = -model.coef_
    with pytest.warns(UserWarning, match="the model has 0"):
        assert model.predict_set(X).all()
