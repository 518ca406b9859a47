"""KernelPerceptron: contracts, batches, weights of rows, and what is refused."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from sklearn.datasets import make_circles, make_moons
from sklearn.utils.estimator_checks import parametrize_with_checks

from rosenblatt import KernelPerceptron, load

from .. import reference
from ..conftest import FORMS, LAYOUTS, blobs, csr, examples
from .twins import XOR

WEIGHTS = "a row of weight 2 moves the weights once by 2, a row that comes twice moves them twice"


@parametrize_with_checks(
    [
        KernelPerceptron(),
        KernelPerceptron(solution="vote", multi_class="argmax"),
        KernelPerceptron(solution="average", max_iter=20),
        KernelPerceptron(budget=20, max_iter=10),
    ],
    expected_failed_checks=lambda _: {
        "check_sample_weight_equivalence_on_dense_data": WEIGHTS,
        "check_sample_weight_equivalence_on_sparse_data": WEIGHTS,
    },
)
def test_keeps_the_contract_of_scikit_learn(estimator, check):
    check(estimator)


# What kernels are for


@pytest.mark.parametrize("make", [partial(make_circles, factor=0.5), make_moons])
def test_separates_circles_and_moons_and_predicts_new_ones(make):
    X, y = make(300, noise=0.08, random_state=0)
    new, labels = make(300, noise=0.08, random_state=1)
    model = KernelPerceptron(gamma=3.0, solution="average", random_state=0).fit(X, y)
    assert model.score(new, labels) > 0.97


# Batches


@pytest.mark.parametrize("budget", [None, 3])
@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=15)
@given(choices=st.data())
def test_however_a_pass_is_cut_the_model_is_the_same(form, budget, choices):
    X, y = choices.draw(examples(form))
    cuts = choices.draw(st.lists(st.integers(1, len(X)), max_size=3))
    layout = LAYOUTS[choices.draw(st.sampled_from(list(LAYOUTS)))]
    parameters = {"kernel": "poly", "degree": 2, "gamma": 1, "budget": budget, "random_state": 0}
    parameters |= {"multi_class": form.replace("two", "ovr")}
    whole = KernelPerceptron(**parameters, order="fixed", max_iter=1).fit(layout(X), y)
    cut = KernelPerceptron(**parameters)
    for begin, end in zip([0, *sorted(cuts)], [*sorted(cuts), len(X)], strict=True):
        if begin < end:
            cut.partial_fit(layout(X[begin:end]), y[begin:end], classes=np.unique(y))
    np.testing.assert_array_equal(cut.support_, whole.support_)
    np.testing.assert_allclose(cut.dual_coef_, whole.dual_coef_, rtol=1e-12)
    assert cut.n_mistakes_ == whole.n_mistakes_
    if budget is None:
        for solution in ("average", "vote"):
            for model in (cut, whole):
                model.set_params(solution=solution)
            np.testing.assert_array_equal(cut.decision_function(X), whole.decision_function(X))


def test_a_first_batch_without_weight_teaches_nothing():
    model = KernelPerceptron("rbf", gamma=1.0, budget=3)
    model.partial_fit([[0.0], [1.0]], [0, 1], classes=[0, 1], sample_weight=[0, 0])
    assert model.decision_function([[0.5]]).tolist() == [0]


def test_batches_may_change_between_dense_and_sparse():
    X, y = blobs()
    models = []
    for layouts in ([np.array, csr], [csr, np.array], [np.array, np.array]):
        model = KernelPerceptron(gamma=0.5)
        for part, layout in zip(np.split(np.arange(60), 2), layouts, strict=True):
            model.partial_fit(layout(X[part]), y[part], classes=[0, 1])
        models.append(model)
    for model in models[:2]:
        np.testing.assert_allclose(model.decision_function(X), models[2].decision_function(X))
        np.testing.assert_allclose(model.decision_function(csr(X)), models[2].decision_function(X))


def test_weights_scale_the_steps_and_rows_without_weight_are_never_seen():
    X, y = blobs(40)
    weights = np.arange(40) % 3.0
    model = KernelPerceptron(random_state=0, max_iter=5).fit(X, y, sample_weight=weights)
    assert not set(model.support_) & set(np.flatnonzero(weights == 0))
    double = KernelPerceptron(random_state=0, max_iter=5).fit(X, y, sample_weight=2 * weights)
    np.testing.assert_allclose(double.dual_coef_, 2 * model.dual_coef_)
    classes = KernelPerceptron(random_state=0, max_iter=5, class_weight={0: 1, 1: 3}).fit(X, y)
    rows = KernelPerceptron(random_state=0, max_iter=5).fit(X, y, np.where(y == 1, 3.0, 1.0))
    np.testing.assert_array_equal(classes.dual_coef_, rows.dual_coef_)


# What is said


def test_verbose_shows_mistakes_and_support_and_silence_is_the_default(capsys):
    X, y = blobs(classes=3)
    KernelPerceptron(random_state=0).fit(X, y)
    assert capsys.readouterr() == ("", "")
    model = KernelPerceptron(random_state=0, verbose=1).fit(X, y)
    assert f"{model.n_mistakes_} mistakes, {len(model.support_)} support rows" in " ".join(
        capsys.readouterr().out.split()
    )
    KernelPerceptron(random_state=0, verbose=1, budget=5, max_iter=2).fit(X, y)
    assert "5 support rows" in " ".join(capsys.readouterr().out.split())


# What is refused


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"kernel": "cosine"}, "kernel must be one of 'rbf', 'linear', 'poly'"),
        ({"degree": 0}, "degree must be a number above 0; got 0"),
        ({"gamma": -1}, "gamma must be a number above 0"),
        ({"coef0": np.nan}, "coef0 must be a finite number"),
        ({"solution": "pocket"}, "solution must be one of 'last', 'average', 'vote'"),
        ({"order": "worst"}, "order must be one of 'each', 'once', 'fixed'"),
        ({"intercept_step": "wide"}, "intercept_step must be a number from 0 up or"),
        ({"budget": 0}, "budget must be a whole number from 1 up or None"),
        ({"device": "tpu"}, "device must be one of 'cpu', 'cuda' or None"),
        ({"solution": "vote", "budget": 2}, "leave one out"),
    ],
)
def test_unusable_parameters_are_refused(parameters, sentence):
    with pytest.raises(ValueError, match=sentence) as caught:
        KernelPerceptron(**parameters).fit(*XOR)
    assert str(caught.value).endswith(".")


@pytest.mark.parametrize("parameters", [{"kernel": "precomputed"}, {"intercept_step": "radius"}])
def test_what_needs_all_the_data_cannot_learn_in_batches(parameters):
    with pytest.raises(ValueError, match="partial_fit sees only a batch"):
        KernelPerceptron(**parameters).partial_fit(*XOR, classes=[0, 1])


@pytest.mark.parametrize("change", [{"kernel": "poly"}, {"budget": 2}, {"gamma": 3}])
def test_a_later_batch_must_be_learnt_in_the_form_of_the_first(change):
    model = KernelPerceptron("linear").partial_fit(*XOR, classes=[0, 1]).set_params(**change)
    with pytest.raises(ValueError, match="cannot continue or be saved with"):
        model.partial_fit(*XOR)


def test_the_scale_of_a_stream_is_that_of_its_first_batch(tmp_path):
    X, y = blobs()
    X[30:] *= 2
    model = KernelPerceptron().partial_fit(X[:30], y[:30], classes=[0, 1])
    assert model.gamma_ == pytest.approx(1 / (5 * X[:30].var()))
    model.save(tmp_path / "model")
    fixed = KernelPerceptron(gamma=model.gamma_).partial_fit(X[:30], y[:30], classes=[0, 1])
    fixed.partial_fit(X[30:], y[30:])
    for going_on in (model, load(tmp_path / "model")):
        going_on.partial_fit(X[30:], y[30:])
        assert going_on.gamma_ == fixed.gamma_
        np.testing.assert_array_equal(going_on.dual_coef_, fixed.dual_coef_)


@pytest.mark.parametrize(
    ("X", "y", "sentence"),
    [
        ([[0.0], [np.nan]], [0, 1], "Input X contains NaN in row 1, column 0"),
        ([[0.0], [1.0]], [1, 1], "y has only one class"),
        ([[0.0], [1.0]], [0, 1, 1], "X has 2 rows and y 3 labels"),
        ([[1e150], [1.0]], [0, 1], r"scores of row \d are beyond what float64 can hold"),
        ([[1e200], [1.0]], [0, 1], "variance of X, which is beyond what float64 can hold"),
    ],
)
def test_unusable_data_are_refused(X, y, sentence):
    gamma = "scale" if "variance" in sentence else "auto"
    with pytest.raises(ValueError, match=sentence):
        KernelPerceptron("poly", gamma=gamma, order="fixed").fit(X, y)
    with pytest.raises(ValueError, match=sentence):
        KernelPerceptron("poly", gamma=gamma, order="fixed", budget=5).fit(X, y)


def test_scores_beyond_range_are_refused_when_predicting():
    model = KernelPerceptron("poly", degree=6, gamma=1).fit(*XOR)
    with pytest.raises(ValueError, match="scores of row 1 are beyond"):
        model.predict([[0, 0], [1e100, 0]])


def test_a_failed_batch_leaves_the_model_as_it_was():
    X, y = blobs()
    model = KernelPerceptron("poly").partial_fit(X, y, classes=[0, 1])
    before = model.decision_function(X)
    with pytest.raises(ValueError, match="beyond what float64 can hold"):
        model.partial_fit(np.full((2, 5), 1e120), [0, 1])
    np.testing.assert_array_equal(model.decision_function(X), before)


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=15)
@given(choices=st.data())
def test_a_linear_kernel_votes_as_the_perceptron_of_the_paper(form, choices):
    X, y = choices.draw(examples(form))
    chosen = {"solution": "vote", "max_iter": 4, "random_state": choices.draw(st.integers(0, 3))}
    chosen["multi_class"] = form.replace("two", "ovr")
    wanted = reference.Perceptron(**chosen).fit(X, y).decision_function(X)
    found = KernelPerceptron("linear", **chosen).fit(X, y).decision_function(X)
    np.testing.assert_array_equal(found, wanted)
