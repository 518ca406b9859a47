"""Perceptron: contracts, starting points, weights of rows, and what is refused."""

import pickle
from contextlib import suppress
from itertools import product

import joblib
import numpy as np
import pytest
from hypothesis import given
from sklearn import config_context
from sklearn.base import clone
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.utils.multiclass import type_of_target

import rosenblatt
from rosenblatt import Perceptron, load, progressive, steps
from rosenblatt.parameters import CLASS_RULES, NUMBER_RULES
from rosenblatt.training.linear_state import SOLUTIONS

from ..conftest import FORMS, LAYOUTS, ORDERS, blobs, csr, examples, form_parameters

X = np.array([[1.0, 0.0], [-1.0, 0.0], [3.0, 1.0], [2.0, -1.0]])
Y = np.array([1, 0, 1, 1])
THREE = np.array([0, 1, 2, 1])

# scikit-learn


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_its_one_vs_rest_is_that_of_scikit_learn_and_threads_do_not_change_it(n_jobs):
    rows, y = blobs(classes=4)
    with joblib.parallel_config(n_jobs=n_jobs):
        model = Perceptron(multi_class="ovr", random_state=0, max_iter=9).fit(rows, y)
    theirs = OneVsRestClassifier(Perceptron(random_state=0, max_iter=9)).fit(rows, y)
    np.testing.assert_array_equal(model.coef_, np.vstack([e.coef_ for e in theirs.estimators_]))
    np.testing.assert_array_equal(model.predict(rows), theirs.predict(rows))


# Rows of any number of labels


def tagged(n=80, labels=3, seed=0):
    """Rows, and which of some labels each has."""
    rows, y = blobs(n, 6, classes=4, seed=seed)
    return rows, np.column_stack([(y >> k) % 2 for k in range(labels - 1)] + [np.arange(n) % 7 < 1])


@pytest.mark.parametrize("solution", list(SOLUTIONS))
@pytest.mark.parametrize("labels", [2, 3])
def test_each_label_is_a_problem_as_in_scikit_learn(solution, labels, tmp_path):
    rows, sets = tagged(labels=labels)
    given = {"solution": solution, "random_state": 0, "max_iter": 5}
    model = Perceptron(**given).fit(rows, sets)
    theirs = OneVsRestClassifier(Perceptron(**given)).fit(rows, sets)
    np.testing.assert_array_equal(model.coef_, np.vstack([e.coef_ for e in theirs.estimators_]))
    found = model.predict(rows)
    assert model.multilabel_
    assert type_of_target(found) == "multilabel-indicator"
    np.testing.assert_array_equal(found, theirs.predict(rows))
    assert model.score(rows, sets) == np.mean((found == sets).all(axis=1))
    assert model.decision_function(rows).shape == sets.shape
    np.testing.assert_array_equal(Perceptron(**given).fit(rows, csr(sets)).coef_, model.coef_)
    model.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert loaded.multilabel_
    assert loaded.classes_.tolist() == list(range(labels))
    np.testing.assert_array_equal(loaded.predict(rows), found)


def test_what_does_not_go_with_label_sets_is_refused():
    rows, sets = tagged()
    model = Perceptron(random_state=0, max_iter=2).fit(rows, sets)
    for sentence, refused in {
        "learn_one needs rows with one label": lambda: model.learn_one(rows[0], 1),
        "predict_one needs rows with one label": lambda: model.predict_one(rows[0]),
        "trained with an indicator of label sets": lambda: model.partial_fit(rows, sets[:, 0]),
        "y has 2 columns; there are 3 labels": lambda: model.partial_fit(rows, sets[:, :2]),
        "X has 80 rows and y 79": lambda: Perceptron().fit(rows, sets[1:]),
        "other values than 0 and 1": lambda: Perceptron().fit(rows, sets + 1),
        'calibrate="conformal" needs rows with one': lambda: Perceptron(calibrate="conformal").fit(
            rows, sets
        ),
        "class_weight needs rows with one": lambda: Perceptron(class_weight={0: 2}).fit(rows, sets),
        "Expected rows with one label": lambda: progressive(Perceptron(), rows, sets),
        "steps follows one problem": lambda: next(steps(rows, sets)),
        "The convergence theorem needs": model.last_weights,
    }.items():
        with pytest.raises(ValueError, match=sentence):
            refused()


def test_sample_weights_are_routed():
    rows, y = blobs()
    weights = np.arange(len(y)) % 3.0
    alone = Perceptron(random_state=0, max_iter=5).fit(rows, y, sample_weight=weights)
    with config_context(enable_metadata_routing=True):
        model = Perceptron(random_state=0, max_iter=5).set_fit_request(sample_weight=True)
        pipeline = make_pipeline(model).fit(rows, y, sample_weight=weights)
    np.testing.assert_array_equal(pipeline[-1].coef_, alone.coef_)


# The same data, whatever it comes in


@pytest.mark.parametrize("rule", [*CLASS_RULES, *NUMBER_RULES, "radius"])
def test_sparse_entries_may_be_unsorted_repeated_or_zero(rule):
    if rule == "radius":
        model = Perceptron(intercept_step="radius", order="fixed")
    else:
        entry = (CLASS_RULES | NUMBER_RULES)[rule]
        model = getattr(rosenblatt, entry.estimator)(order="fixed")
    tidy = csr(np.array([[2.0, 3, 0], [0, -3, 0]]))
    untidy = tidy.copy()
    untidy.data = np.array([3.0, 1, 1, -1, 0, -2])
    untidy.indices = np.array([1, 0, 0, 1, 2, 1], np.int32)
    untidy.indptr = np.array([0, 3, 6], np.int32)
    before = untidy.data.copy()
    models = [clone(model).fit(rows, [1, 0]) for rows in (tidy, untidy)]
    np.testing.assert_allclose(models[0].coef_, models[1].coef_, rtol=1e-12)
    np.testing.assert_allclose(models[0].intercept_, models[1].intercept_, rtol=1e-12)
    np.testing.assert_array_equal(untidy.data, before)


# Starting points and weights


@pytest.mark.parametrize(
    ("rows", "y"), [(np.hstack([X, X]), Y), (X, THREE), (X, np.array(["a", "b", "a", "b"]))]
)
def test_a_warm_start_on_other_features_or_labels_is_refused(rows, y):
    model = Perceptron(warm_start=True).fit(X, Y)
    with pytest.raises(ValueError, match=r"warm_start=False|expecting 2 features"):
        model.fit(rows, y)


@given(examples())
def test_a_pocket_that_says_separated_separates(data):
    X, y = data
    for ties in ("mistake", "correct"):
        model = Perceptron(solution="pocket", order="fixed", measure=True, ties=ties).fit(X, y)
        if model.stop_reason_ == "separated":
            assert model.coef_.any()
            margins = np.where(y == 1, 1, -1) * model.decision_function(X)
            assert np.all(margins >= 0 if ties == "correct" else margins > 0)


def test_a_warm_pocket_is_emptied_when_the_data_are_others():
    model = Perceptron(solution="pocket", order="fixed", warm_start=True).fit(X, Y)
    assert model.fit(X, 1 - Y).score(X, 1 - Y) == 1


@pytest.mark.parametrize(
    ("given", "same"),
    [({0: 3, 1: 2}, np.where(Y == 0, 3, 2)), ("balanced", len(Y) / (2 * np.bincount(Y)[Y]))],
)
def test_class_weights_are_those_of_their_rows(given, same):
    alike = {"order": "fixed", "max_iter": 3}
    weighted = Perceptron(class_weight=given, **alike).fit(X, Y)
    by_rows = Perceptron(**alike).fit(X, Y, sample_weight=same)
    np.testing.assert_array_equal(weighted.coef_, by_rows.coef_)


@pytest.mark.parametrize(("ties", "label"), [("positive", 1), ("negative", 0), ("mistake", 0)])
def test_ties_say_what_is_predicted_on_the_boundary(ties, label):
    model = Perceptron(ties=ties, fit_intercept=False).fit(X, Y)
    assert model.predict([[0.0, 0.0]]) == [label]


@pytest.mark.parametrize("form", ["two", "argmax", "ovr"])
def test_verbose_prints_a_line_per_epoch(form, capsys):
    y = Y if form == "two" else THREE
    Perceptron(verbose=1, max_iter=2, margin=1e9, **form_parameters(form)).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert Perceptron().fit(X, Y).score(X, Y) == 1
    assert capsys.readouterr().out == ""
    assert len(lines) == 2
    assert "epoch" in lines[0].lower()
    assert "mistake" in lines[0]


# What is refused, each in a clear sentence


def holed_rows():
    """X with a value that is not finite in its first or last row: which row, and the rows."""
    for row, bad, layout in product([0, 3], [np.nan, np.inf, -np.inf], LAYOUTS.values()):
        holed = X.copy()
        holed[row, 1] = bad
        yield row, layout(holed)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("order", [*ORDERS, "batch"])
def test_rows_that_are_not_finite_are_named(order, form):
    model = Perceptron(order=order, random_state=0, **form_parameters(form))
    for row, holed in holed_rows():
        sentence = rf"X contains (NaN|infinity).* in row {row}, column 1"
        with pytest.raises(ValueError, match=sentence):
            model.fit(holed, Y if form == "two" else THREE)


@pytest.mark.parametrize(
    ("parameters", "given"),
    [
        ({"solution": "pocket", "order": "fixed"}, {}),
        ({"order": "worst"}, {"coef_init": [[1, 0]]}),
        ({"order": "fixed", "measure": True}, {"coef_init": [[1, 0]]}),
        ({"order": "active"}, {"coef_init": [[1, 0]]}),
        ({"order": "batch"}, {"coef_init": [[1, 0]]}),
    ],
)
def test_infinity_on_the_right_side_is_not_taken_for_right(parameters, given):
    endless = np.array([[1.0, 0], [-1, 0], [3, 0], [np.inf, 0]])
    with pytest.raises(ValueError, match=r"infinity.* in row 3, column 0"):
        Perceptron(**parameters).fit(endless, Y, **given)


def test_coefficients_can_be_read_whenever_a_batch_was_learnt():
    rows, y = np.ones((60, 1)), np.arange(60) // 2 % 2
    model, learnt = Perceptron(solution="average", eta0=1e307), 0
    for row, label in zip(rows, y, strict=True):
        with suppress(ValueError):
            model.partial_fit([row], [label], classes=[0, 1])
            learnt += 1
        assert np.isfinite(model.coef_).all()
        assert np.isfinite(model.intercept_).all()
    assert 10 < learnt < 60


@pytest.mark.parametrize("solution", ["last", "average"])
def test_a_bias_beyond_the_type_is_refused(solution):
    chosen = {"solution": solution, "order": "fixed", "max_iter": 1}
    model = Perceptron(margin=1.75e308, intercept_step=1.7e308, **chosen)
    with pytest.raises(ValueError, match="beyond what float64 can hold"):
        model.fit(np.zeros((4, 1)), [0, 1, 1, 1])


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("form", FORMS)
def test_weights_beyond_the_type_are_refused(layout, form):
    huge = LAYOUTS[layout](np.float32(1e38) * X.astype(np.float32))
    y = Y if form == "two" else THREE
    for learn in ("fit", "partial_fit"):
        model = Perceptron(**form_parameters(form))
        classes = {"classes": np.unique(y)} if learn == "partial_fit" else {}
        with pytest.raises(ValueError, match="beyond what float32 can hold"):
            getattr(model, learn)(huge, y, **classes)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"sample_weight": [1, -1, 1, 1]}, "sample_weight is -1.0 in row 1"),
        ({"sample_weight": [1, 1, np.nan, 1]}, "sample_weight is nan in row 2"),
        ({"sample_weight": [np.inf, 1, 1, 1]}, "sample_weight is inf in row 0"),
        ({"sample_weight": [0, 0, 0, 0]}, "All sample weights are zero"),
        ({"sample_weight": [1, 0, 1, 1]}, "Only one class has rows of a weight above 0"),
        ({"sample_weight": [1, 1]}, r"sample_weight has shape \(2,\); X has 4 rows"),
        ({"sample_weight": [[1]] * 4}, r"sample_weight has shape \(4, 1\)"),
        ({"coef_init": [1, 2, 3]}, r"coef_init has shape \(3,\); this data needs \(1, 2\)"),
        ({"coef_init": [[1], [2]]}, r"coef_init has shape \(2, 1\); this data needs \(1, 2\)"),
        ({"coef_init": [[np.nan, 0]]}, "coef_init contains NaN"),
        ({"coef_init": [[1j, 0]]}, "coef_init is complex"),
        ({"intercept_init": [1, 2]}, r"intercept_init has shape \(2,\); this data needs \(1,\)"),
        ({"intercept_init": np.inf}, "intercept_init contains NaN or infinity"),
    ],
)
def test_unusable_weights_are_refused(given, sentence):
    with pytest.raises(ValueError, match=sentence):
        Perceptron().fit(X, Y, **given)


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"solution": "best"}, "solution must be one of 'last', .*; got 'best'"),
        ({"order": "random"}, "order must be one of 'each', .*; got 'random'"),
        ({"ties": "wrong"}, "ties must be one of 'mistake'"),
        ({"multi_class": "ovo"}, "multi_class must be one of 'argmax', 'ovr'"),
        ({"eta0": 0}, "eta0 must be a number above 0; got 0"),
        ({"eta0": np.inf}, "eta0 must be a number above 0; got inf"),
        ({"eta0": "1"}, "eta0 must be a number above 0; got '1'"),
        ({"margin": -1}, "margin must be a number from 0 up, .*; got -1"),
        ({"margin": np.nan}, "margin must be a number from 0 up, .*; got nan"),
        ({"max_iter": 0}, "max_iter must be a whole number from 1 up; got 0"),
        ({"max_iter": 1.5}, "max_iter must be a whole number from 1 up; got 1.5"),
        ({"early_stopping": -1}, "early_stopping must be True, False or a whole number"),
        ({"intercept_step": -1}, 'intercept_step must be a number from 0 up or "radius"; got -1'),
        ({"intercept_step": "R"}, "intercept_step must be .*; got 'R'"),
        ({"margin": (1.0, -1.0)}, "margin must be a number from 0 up, or two"),
        ({"solution": "average", "order": "first"}, "solution needs every row"),
        ({"solution": "vote"}, r'solution must be .*KernelPerceptron\("linear"\) also votes.; got'),
        ({"solution": "pocket", "order": "active"}, "solution needs every row"),
        ({"solution": "pocket", "order": "batch"}, "solution needs every row"),
        ({"solution": "pocket", "order": "first"}, "solution needs every row"),
    ],
)
def test_unusable_parameters_are_refused(parameters, sentence):
    with pytest.raises(ValueError, match=sentence):
        Perceptron(**parameters).fit(X, Y)
    with pytest.raises(ValueError, match=sentence):
        list(steps(X, Y, **parameters))


@pytest.mark.parametrize("ties", ["positive", "negative"])
def test_signs_of_a_tie_have_no_meaning_for_many_classes(ties):
    model = Perceptron(warm_start=True).partial_fit(X, THREE, classes=[0, 1, 2])
    for learn in (Perceptron(ties=ties).fit, model.set_params(ties=ties).partial_fit, model.fit):
        with pytest.raises(ValueError, match=f"ties='{ties}' is about .* but 3 classes"):
            learn(X, THREE)


@pytest.mark.parametrize("change", [{"solution": "average"}, {"multi_class": "ovr"}])
@pytest.mark.parametrize("learn", ["partial_fit", "fit"])
def test_a_model_goes_on_as_what_it_was_begun(change, learn):
    model = Perceptron(warm_start=True).partial_fit(X, THREE, classes=[0, 1, 2])
    before = model.coef_.copy()
    model.set_params(**change)
    with pytest.raises(ValueError, match="cannot change its solution or"):
        getattr(model, learn)(X, THREE)
    np.testing.assert_array_equal(model.coef_, before)
    changed_back = model.set_params(**{name: Perceptron().get_params()[name] for name in change})
    getattr(changed_back, learn)(X, THREE)


def test_two_classes_know_one_form():
    model = Perceptron().partial_fit(X, Y, classes=[0, 1]).set_params(multi_class="ovr")
    model.partial_fit(X, Y)


@pytest.mark.parametrize(
    "parameters",
    [
        *({"order": order} for order in ("active", "first", "worst", "batch")),
        *({"solution": "pocket"}, {"intercept_step": "radius"}, {"early_stopping": True}),
    ],
)
def test_what_needs_all_the_data_cannot_learn_in_batches(parameters):
    (name,) = parameters
    with pytest.raises(ValueError, match=f"^Perceptron: {name}=.* needs all the data.*; use "):
        Perceptron(**parameters).partial_fit(X, Y, classes=[0, 1])


def test_a_batch_without_weight_changes_nothing():
    model = Perceptron().partial_fit(X, Y, classes=[0, 1])
    before = model.coef_.copy()
    model.partial_fit(X[:1], Y[:1], sample_weight=[0])
    np.testing.assert_array_equal(model.coef_, before)


def test_a_report_is_refused_for_what_fit_did_and_not_for_what_is_set_now():
    rows, y = blobs(classes=2)
    model = Perceptron(early_stopping=True, random_state=0).fit(rows, y)
    with pytest.raises(ValueError, match="The convergence theorem needs"):
        model.set_params(early_stopping=False).last_weights()


# One row at a time


def test_one_row_is_refused_as_many_are():
    model = Perceptron().partial_fit([[1.0, 2.0], [0.0, -1.0]], ["a", "b"], ["a", "b"])
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match=r"x has shape \(3,\)"):
        model.learn_one([1, 2, 3], "a")
    with pytest.raises(ValueError, match="'c' is not among"):
        model.learn_one([1, 2], "c")
    with pytest.raises(ValueError, match="contains NaN"):
        model.learn_one([1, np.nan], "a")
    large = Perceptron(eta0=10).partial_fit([[0.0, 2.0], [0.0, -1.0]], ["a", "b"], ["a", "b"])
    grown = large.coef_.copy()
    wrong = "b" if large.predict_one([1e308, 0.0]) == "a" else "a"
    with pytest.raises(ValueError, match="grew beyond"):
        large.learn_one([1e308, 0.0], wrong)
    np.testing.assert_array_equal(large.coef_, grown)
    assert Perceptron().predict_one([1, 2]) is None
    assert pickle.dumps(model) == before


def test_a_start_beyond_the_type_of_the_rows_is_refused_without_a_warning():
    with pytest.raises(ValueError, match="too large for float32"):
        Perceptron().fit(X.astype(np.float32), Y, coef_init=[[1e300, 0]])


@pytest.mark.parametrize("given", [{0: 3.0, 1: 0.5}, {0: 0.0, 1: 1.0}])
@pytest.mark.parametrize("solution", ["last", "average"])
def test_learn_one_weighs_classes_as_partial_fit_does(given, solution):
    batch, one = (
        Perceptron(solution=solution, class_weight=given).partial_fit(X[:2], Y[:2], classes=[0, 1])
        for _ in range(2)
    )
    for x, label in zip(X, 1 - Y, strict=True):
        batch.partial_fit(x[None], [label])
        one.learn_one(x, label)
    np.testing.assert_array_equal(one.coef_, batch.coef_)
    assert one.n_mistakes_ == batch.n_mistakes_


@pytest.mark.parametrize("changed", [{"eta0": 0.25}, {"margin": 9.0}, {"fit_intercept": False}])
def test_learn_one_heeds_changed_parameters_as_partial_fit_does(changed):
    batch, one = (Perceptron().partial_fit(X, Y, classes=[0, 1]) for _ in range(2))
    batch.set_params(**changed).partial_fit(X[:1], 1 - Y[:1])
    one.set_params(**changed).learn_one(X[0], 1 - Y[0])
    np.testing.assert_array_equal(one.coef_, batch.coef_)
    np.testing.assert_array_equal(one.intercept_, batch.intercept_)


@pytest.mark.parametrize("changed", [{"eta0": -1}, {"solution": "average"}])
def test_learn_one_refuses_what_partial_fit_refuses(changed):
    model = Perceptron().partial_fit(X, Y, classes=[0, 1]).set_params(**changed)
    with pytest.raises(ValueError, match=r"eta0 must be|cannot change its solution"):
        model.learn_one(X[0], 0)


def test_a_model_that_could_not_be_loaded_is_not_saved(tmp_path):
    path = tmp_path / "model"
    model = Perceptron().fit(X, Y).set_params(eta0=-1)
    with pytest.raises(ValueError, match="eta0 must be a number above 0"):
        model.save(path)
    assert not path.exists()
