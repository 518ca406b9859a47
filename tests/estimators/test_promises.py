"""What every linear estimator promises: batches, single rows, files, breaks and refusals."""

import pickle
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import rosenblatt
from rosenblatt import AROW, PassiveAggressiveRegressor, Perceptron, PRank, load
from rosenblatt.data.rows import view_rows
from rosenblatt.learners.linear import LinearLearner, TrainingRows
from rosenblatt.parameters import CLASS_RULES, NUMBER_RULES, RANK_RULES, RULE_NAMES
from rosenblatt.storage.file import load_model, save_model
from rosenblatt.training.state import pack_state
from rosenblatt.training.training import Training

from ..conftest import FORMS, LAYOUTS, blobs, csr, form_parameters

OWN: dict[str, list[dict[str, Any]]] = {  # besides the defaults
    "PassiveAggressive": [{"loss": "hard"}, {"C": 0.3, "loss": "squared_hinge"}],
    "SCW": [{"variant": "II"}],
    "PassiveAggressiveRegressor": [{"loss": "hard"}, {"loss": "squared_epsilon_insensitive"}],
    "Adaline": [{"eta0": 0.02, "normalized": False}],
}


class Case(NamedTuple):
    """An estimator with parameters, and what its labels are."""

    kind: Any
    parameters: dict[str, Any]
    labels: str

    def __str__(self):
        return f"{self.kind.__name__} {self.labels} {self.parameters}"

    def make(self, **parameters):
        return self.kind(**{"random_state": 3, "max_iter": 3, **self.parameters, **parameters})

    def data(self, n=60, d=4):
        """Noisy rows with the labels, and the names of all labels if there are any."""
        X, y = blobs(n, d, 2 if self.labels == "two" else 4 if self.labels == "ranks" else 3)
        noise = np.random.default_rng(0).random(n) < 0.2
        y = np.where(noise, (y + 1) % (y.max() + 1), y)
        if self.labels == "numbers":
            return X, X @ np.arange(d) + 2 + y, {}
        if self.labels == "sets":
            return X, np.column_stack([y == 0, y > 0, noise]).astype(int), {}
        return X, y, {"classes": np.unique(y)}


def list_cases():
    for entry in CLASS_RULES.values():
        kind = getattr(rosenblatt, entry.estimator)
        for own in ({}, *OWN.get(entry.estimator, ())):
            for form in FORMS:
                yield Case(kind, own | form_parameters(form), form)
    for entry in NUMBER_RULES.values():
        for own in ({}, *OWN[entry.estimator]):
            yield Case(getattr(rosenblatt, entry.estimator), own, "numbers")
    yield from (Case(kind, {}, "sets") for kind in (Perceptron, AROW))
    assert len(RANK_RULES) == 1
    yield Case(PRank, {"ranks": [0, 1, 2, 3]}, "ranks")


each_case = pytest.mark.parametrize("case", list(list_cases()), ids=str)
each_solution = pytest.mark.parametrize("solution", ["last", "average"])


def states_of(model):
    """All that a model has learnt, as bytes."""
    found = []
    for state in model._learner.states:
        arrays, numbers = pack_state(state)
        found.append(numbers)
        found += [(key, each.dtype, each.shape, each.tobytes()) for key, each in arrays.items()]
    return found


@each_case
@each_solution
@pytest.mark.parametrize("layout", ["dense", "int32"])
def test_any_cut_with_pickles_files_and_single_rows_is_one_pass(case, solution, layout, tmp_path):
    X, y, named = case.data()
    rows = LAYOUTS[layout](X)
    weights = np.random.default_rng(0).choice([0, 0.5, 1, 3], len(y))
    weights[[0, 1, 2, *range(30, 40)]] = 1
    whole = case.make(solution=solution).partial_fit(rows, y, sample_weight=weights, **named)
    cut = case.make(solution=solution)
    for begin, end in ((0, 3), (3, 30), (30, 40), (40, 60)):
        if begin == 30 and case.labels != "sets":
            for x, label in zip(X[begin:end], y[begin:end].tolist(), strict=True):
                cut.learn_one(x, label)
        else:
            at = slice(begin, end)
            cut.partial_fit(rows[at], y[at], sample_weight=weights[at], **named)
        cut.save(tmp_path / "model")
        cut = pickle.loads(pickle.dumps(load(tmp_path / "model")))
        assert type(cut) is case.kind
    if layout == "dense" or case.labels == "sets":  # else sums have another order
        assert states_of(cut) == states_of(whole)
    np.testing.assert_allclose(cut.coef_, whole.coef_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(cut.intercept_, whole.intercept_, rtol=1e-9, atol=1e-12)
    in_order = case.make(solution=solution, max_iter=1, order="fixed")
    np.testing.assert_array_equal(in_order.fit(rows, y, weights).coef_, whole.coef_)
    if case.labels != "sets":
        assert [cut.predict_one(x) for x in X] == pytest.approx(cut.predict(X).tolist())


@each_case
@each_solution
def test_a_warm_start_goes_on(case, solution):
    X, y, _ = case.data()
    whole = case.make(solution=solution, order="fixed", max_iter=4).fit(X, y)
    parts = case.make(solution=solution, order="fixed", max_iter=2, warm_start=True)
    parts.fit(X, y).fit(X, y)
    np.testing.assert_array_equal(parts.coef_, whole.coef_)
    np.testing.assert_array_equal(parts.intercept_, whole.intercept_)
    assert parts.n_mistakes_ == whole.n_mistakes_


@each_case
@pytest.mark.parametrize(("layout", "width"), [("dense", 5), ("int32", 400)])
def test_a_refused_batch_leaves_no_trace(case, layout, width, monkeypatch):
    X, y, named = case.data(30, 5)
    far = np.zeros((30, width))
    far[:, :5] = X
    model = case.make(solution="average").partial_fit(LAYOUTS[layout](far), y, **named)
    before, coef = states_of(model), model.coef_.copy()
    broken = far.copy()
    broken[25, 0] = np.inf
    for learn in (model.partial_fit, model.fit):
        with pytest.raises(ValueError, match=r"infinity|NaN"):
            learn(LAYOUTS[layout](-broken), y)
    learner = model._learner
    with pytest.raises(ValueError, match=r"infinity \(inf\) in row 25, column 0"):
        learner.learn(training_rows(learner, LAYOUTS[layout](broken), y[::-1]))
    kind = type(learner.states[-1])
    sweep, last = kind.sweep, learner.states[-1]

    def interrupted(self, *what):
        yield from sweep(self, *what)
        if self is last:
            raise KeyboardInterrupt

    monkeypatch.setattr(kind, "sweep", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit(LAYOUTS[layout](-far), y)
    assert states_of(model) == before
    np.testing.assert_array_equal(model.coef_, coef)


def training_rows(learner, X, y):
    codes = learner.target.encode(y) if y.ndim == 1 else y
    return TrainingRows.of(view_rows(X), codes, None, X.shape[1])


def begin(case, width, **parameters):
    """An untrained learner, and a function that makes rows for it."""
    model = case.make(**parameters)
    _, y, _ = case.data()
    classes = np.arange(3) if case.labels == "sets" else np.unique(y)
    classes = np.empty(0) if case.labels == "numbers" else classes
    learner = LinearLearner.begin(
        model.get_params(),
        classes,
        (width, np.float64),
        rule=model._rule,
        multilabel=case.labels == "sets",
    )
    return learner, partial(training_rows, learner)


@each_case
@each_solution
def test_columns_that_come_later_change_nothing_before(case, solution):
    X, y, _ = case.data(40, 6)
    X[:20, 3:] = 0
    (wide, rows), (growing, _) = (begin(case, width, solution=solution) for width in (6, 3))
    for at, width in ((slice(20), 3), (slice(20, 40), 6)):
        wide.learn(rows(csr(X[at]), y[at]))
        growing.learn(rows(csr(X[at, :width]), y[at]))
    for found, wanted in zip(growing.coefficients(), wide.coefficients(), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-14)


@each_case
@pytest.mark.parametrize(("solution", "parts"), [("last", 1), ("last", 3), ("average", 3)])
def test_a_run_goes_on_where_it_was_left(case, solution, parts, tmp_path):
    X, y, _ = case.data()
    how = {"solution": solution, "max_iter": 4}
    (whole, rows), (broken, _) = (begin(case, 4, **how) for _ in range(2))

    def run_of(learner, **options):
        def tasks():
            cuts = np.split(np.arange(60), parts)
            return [learner.part(rows(X[at], y[at])) for at in cuts]

        return Training.by(learner.parameters, learner.states, tasks, seed=3, **options)

    def leave(run):
        if len(run.epochs) * parts + run.done == 2:
            place = run.epochs, run.checkpoint()
            save_model(tmp_path / "model", broken.to_model({}, *place))
            raise KeyboardInterrupt

    wanted = run_of(whole).train()
    with pytest.raises(KeyboardInterrupt):
        run_of(broken, after_part=leave).train()
    kept = load_model(tmp_path / "model")
    broken = LinearLearner.from_model(kept)
    run = run_of(broken)
    run.resume(kept.checkpoint)
    assert run.train().epochs == wanted.epochs
    for found, sought in zip(broken.coefficients(), whole.coefficients(), strict=True):
        np.testing.assert_array_equal(found, sought)


WEIGHTS = "weights of rows change the size of a step, or C, not how often a row is seen"
STREAM = "partial_fit is refused, because this variant needs all the data"


def expected_failures(model):
    names = ["sample_weight_equivalence_on_dense_data", "sample_weight_equivalence_on_sparse_data"]
    reasons = dict.fromkeys(names, WEIGHTS)
    if model.solution == "pocket" or model.order == "active":
        names = ["estimators_partial_fit_n_features", "fit_score_takes_y"]
        reasons |= dict.fromkeys([*names, "n_features_in_after_fitting"], STREAM)
    return {f"check_{name}": reason for name, reason in reasons.items()}


@parametrize_with_checks(
    [
        *(getattr(rosenblatt, name)() for name in RULE_NAMES),
        Perceptron(solution="average"),
        Perceptron(solution="pocket"),
        Perceptron(order="active"),
        Perceptron(multi_class="ovr"),
        AROW(solution="average"),
        PRank(solution="average", margin=0.5),
        PassiveAggressiveRegressor(solution="average", loss="squared_epsilon_insensitive"),
    ],
    expected_failed_checks=expected_failures,
)
@pytest.mark.filterwarnings("ignore:The ranks are words")
def test_keeps_the_contract_of_scikit_learn(estimator, check):
    check(estimator)
