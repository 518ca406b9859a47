"""Update rules: the perceptron's settings; and two more rules, made here, without other changes.

Passive-aggressive learning (Crammer et al. 2006, PA-I) is additive and keeps two arrays of its own;
a perceptron that forgets a part of all weights with each mistake is not additive.
"""

import inspect
import pickle
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra.numpy import arrays
from numba import njit
from sklearn.base import clone

import rosenblatt
from rosenblatt import Perceptron, load
from rosenblatt.data.labels import number_labels
from rosenblatt.data.rows import view_rows
from rosenblatt.estimators.steps import start_steps
from rosenblatt.kernels.algebra import add, best_other, column, dot, move, score, span, squared_norm
from rosenblatt.learners.linear import LinearLearner, TrainingRows
from rosenblatt.parameters import LINEAR, RULE_TABLE, ParameterError, RuleEntry, positive
from rosenblatt.storage.file import load_model, save_model
from rosenblatt.storage.registry import STATES
from rosenblatt.training.rules import (
    PERCEPTRON,
    RULES,
    RuleArray,
    UpdateRule,
    get_rule,
    perceptron_settings,
)
from rosenblatt.training.solutions import SOLUTIONS, Last, zeros
from rosenblatt.training.state import pack_state

from .. import reference
from ..conftest import FORMS, LAYOUTS, ORDERS, ROUNDS, VARIANTS, blobs, form_parameters

# Passive-aggressive learning


class PassiveSettings(NamedTuple):
    above: float
    below: float
    intercept_step: float
    C: float


def passive_settings(parameters, intercept_step):
    right = np.nextafter(1.0, 0.0)  # a margin of 1 is enough
    return PassiveSettings(right, -right, intercept_step, parameters["C"])


@njit
def halve(fresh, c, i, rows):
    """Note in what a row touches that it was used."""
    first, last = span(i, rows.indices, rows.starts)
    for k in range(first, last):
        j = column(k, first, rows.indices)
        if fresh.ndim == 1:
            fresh[j] *= 0.5
        else:
            fresh.reshape(-1)[j * np.uint64(fresh.shape[-1]) + np.uint64(c)] *= 0.5


@njit
def passive_two(examples, order, start, w, b, fresh, counts, settings, log):
    rows, steps = examples.rows, examples.steps
    updates, loss = 0, 0.0
    for t in range(start, len(order)):
        i = order[t]
        a = dot(w, i, rows) + b[0]
        y = 1 if steps[i] > 0 else -1
        if not y * a > settings.above or np.isinf(a):
            if updates == len(log) or not np.isfinite(a):
                return t, updates, loss
            norm = squared_norm(i, rows) + settings.intercept_step
            step = y * min(settings.C * abs(steps[i]), (1 - y * a) / norm)
            add(w, step, i, rows)
            b[0] += step * settings.intercept_step
            halve(fresh, 0, i, rows)
            counts[0] += 1
            log[updates].position = t
            log[updates].margin = y * a
            log[updates].step = step
            loss += max(-y * a, 0.0)
            updates += 1
    return len(order), updates, loss


@njit
def passive_many(examples, order, start, W, b, fresh, counts, settings, log):
    rows, steps, labels = examples.rows, examples.steps, examples.labels
    s = np.empty_like(b)
    updates, loss = 0, 0.0
    for t in range(start, len(order)):
        i = order[t]
        score(W, b, s, i, rows)
        y = labels[i]
        rival = best_other(s, y)
        lead = s[y] - s[rival]
        if not lead > settings.above or np.isinf(lead):
            if updates == len(log) or not np.isfinite(lead):
                return t, updates, loss
            norm = 2 * (squared_norm(i, rows) + settings.intercept_step)
            step = min(settings.C * steps[i], (1 - lead) / norm)
            move(W, b, step, settings.intercept_step, y, rival, i, rows)
            halve(fresh, y, i, rows)
            counts[y] += 1
            log[updates].position = t
            log[updates].rival = rival
            log[updates].margin = lead
            log[updates].step = step
            loss += max(-lead, 0.0)
            updates += 1
    return len(order), updates, loss


PASSIVE = UpdateRule(
    "passive-aggressive",
    passive_two,
    passive_many,
    passive_settings,
    arrays=(
        RuleArray("fresh", "weights", np.float64, 1.0),
        RuleArray("counts", "bias", np.int64, 0),
    ),
)


class PassiveAggressive(Perceptron):
    _rule = PASSIVE
    _parameters = LINEAR | {"C": positive(1.0)}

    def __init__(self, *, C=1.0, **parameters):
        super().__init__(**parameters)
        self.C = C

    __init__.__signature__ = inspect.Signature(
        [
            *inspect.signature(Perceptron.__init__).parameters.values(),
            inspect.Parameter("C", inspect.Parameter.KEYWORD_ONLY, default=1.0),
        ]
    )


class PassiveRun(reference.Run):
    C = 0.25

    def is_right(self, i):
        return self.margin_at(i) >= 1

    def updated(self, i):
        x, label = self.X[i], self.labels[i]
        norm = (x @ x + self.intercept_step) * (1 if len(self.bias) == 1 else 2)
        step = min(self.C * self.steps[i], (1 - self.margin_at(i)) / norm)
        return reference.updated(self.weights, self.bias, x, label, step, self.intercept_step)


class PassiveTwin(reference.Perceptron):
    run = PassiveRun


# A perceptron that forgets


class ForgetfulSettings(NamedTuple):
    above: float
    below: float
    intercept_step: float


@njit
def forgetful(examples, order, start, w, b, settings, log):
    """On every mistake, w = w/2 + ηyx and b = b/2 + ηy."""
    rows, steps = examples.rows, examples.steps
    updates, loss = 0, 0.0
    for t in range(start, len(order)):
        i = order[t]
        a = dot(w, i, rows) + b[0]
        right = a > settings.above if steps[i] > 0 else a < settings.below
        if not right or np.isinf(a):
            if updates == len(log) or not np.isfinite(a):
                return t, updates, loss
            for j in range(len(w)):
                w[j] *= 0.5
            add(w, steps[i], i, rows)
            b[0] = 0.5 * b[0] + steps[i] * settings.intercept_step
            log[updates].position = t
            log[updates].margin = a if steps[i] > 0 else -a
            log[updates].step = steps[i]
            loss += max(-log[updates].margin, 0.0)
            updates += 1
    return len(order), updates, loss


def forgetful_settings(parameters, intercept_step):
    return ForgetfulSettings(*perceptron_settings(parameters, intercept_step))


FORGETFUL = UpdateRule(
    "forgetful", forgetful, None, forgetful_settings, additive=False, local=False
)


class Forgetful(Perceptron):
    _rule = FORGETFUL


class ForgetfulRun(reference.Run):
    def updated(self, i):
        given = self.X[i], self.labels[i], self.steps[i], self.intercept_step
        return reference.updated(0.5 * self.weights, 0.5 * self.bias, *given)


class ForgetfulTwin(reference.Perceptron):
    run = ForgetfulRun


@pytest.fixture(autouse=True, scope="module")
def _registered():
    with pytest.MonkeyPatch.context() as patch:
        for kind in (PassiveAggressive, Forgetful):
            patch.setitem(RULES, kind._rule.name, kind._rule)
            patch.setitem(RULE_TABLE, kind._rule.name, RuleEntry(kind.__name__, own={}))
            patch.setitem(STATES, kind.__name__, lambda: SOLUTIONS)
            patch.setattr(rosenblatt, kind.__name__, kind, raising=False)
        yield


# The seam


@st.composite
def signs(draw, form):
    """Rows of -1 and 1 in three columns, so that with a bias ‖x‖² is 4 and every step exact."""
    classes = 2 if form == "two" else 3
    n = draw(st.integers(classes, 6))
    X = draw(arrays(np.float64, (n, 3), elements=st.sampled_from([-1.0, 1.0])))
    rest = draw(arrays(int, n - classes, elements=st.integers(0, classes - 1)))
    return X, np.append(range(classes), rest)


def assert_same_run(model, twin):
    found = [epoch[:5] for epoch in model.history_]
    np.testing.assert_allclose(found, [epoch[:5] for epoch in twin.history_], rtol=1e-12)
    assert (model.n_mistakes_, model.stop_reason_) == (twin.n_mistakes_, twin.stop_reason_)
    np.testing.assert_allclose(model.coef_, twin.coef_, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(model.intercept_, twin.intercept_, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("solution", "order"), [v for v in VARIANTS if v[1] != "batch"])
@settings(max_examples=5 * ROUNDS)
@given(choices=st.data())
def test_an_additive_rule_has_every_solution_and_order(solution, order, form, choices):
    X, y = choices.draw(signs(form))
    chosen = form_parameters(form) | {"solution": solution, "order": order, "max_iter": 3}
    chosen |= {
        "random_state": choices.draw(st.integers(0, 9)),
        "measure": choices.draw(st.booleans()),
    }
    layout = LAYOUTS[choices.draw(st.sampled_from(sorted(LAYOUTS)))]
    twin = PassiveTwin(**chosen).fit(X, y)
    model = PassiveAggressive(C=PassiveRun.C, **chosen).fit(layout(X), y)
    assert_same_run(model, twin)
    if solution != "average":
        np.testing.assert_array_equal(model.decision_function(X), twin.decision_function(X))
    for state, run in zip(model._learner.states, twin.runs, strict=True):
        assert state.further["counts"].sum() == run.mistakes
        if form != "argmax":
            np.testing.assert_array_equal(state.further["fresh"], 0.5**run.mistakes)


@pytest.mark.parametrize("form", ["two", "ovr"])
@pytest.mark.parametrize(
    ("solution", "order"),
    [v for v in VARIANTS if v[0] in ("last", "pocket") and v[1] != "batch"],
)
@settings(max_examples=15)
@given(choices=st.data())
def test_a_rule_that_is_not_additive_has_the_others(solution, order, form, choices):
    X, y = choices.draw(signs(form))
    chosen = {"solution": solution, "order": order, "max_iter": 3}
    chosen |= {
        "random_state": choices.draw(st.integers(0, 9)),
        "measure": choices.draw(st.booleans()),
    }
    layout = LAYOUTS[choices.draw(st.sampled_from(sorted(LAYOUTS)))]
    twin = ForgetfulTwin(**chosen, multi_class="ovr").fit(X, y)
    # Without a kernel for many classes, each class is a problem of its own.
    model = Forgetful(**chosen, multi_class="argmax").fit(layout(X), y)
    assert len(model._learner.states) == len(twin.runs)
    assert_same_run(model, twin)


@pytest.mark.parametrize("solution", ["average", "vote"])
def test_updates_that_do_not_add_up_are_neither_averaged_nor_voted(solution):
    X, y = blobs()
    sentence = (
        f'solution="{solution}" adds up updates, which those of forgetful do not allow; use '
        'solution="last"'
    )
    with pytest.raises(ParameterError, match=sentence):
        Forgetful(solution=solution).fit(X, y)
    with pytest.raises(ParameterError, match=sentence):
        Forgetful(solution=solution).partial_fit(X, y, classes=[0, 1])
    with pytest.raises(ParameterError, match=sentence):
        list(start_steps(Forgetful(solution=solution), X, y))


def test_only_the_perceptron_adds_up_a_batch():
    X, y = blobs()
    with pytest.raises(
        ParameterError, match=r'^order="batch" adds up .*, and passive-aggressive takes'
    ) as refusal:
        PassiveAggressive(order="batch").fit(X, y)
    assert refusal.value.code == "order-of-rule"


FOLLOWED = [(PassiveAggressive, PassiveTwin, form) for form in ("two", "argmax")]
FOLLOWED += [(Forgetful, ForgetfulTwin, "two")]


@pytest.mark.parametrize(("kind", "twin_kind", "form"), FOLLOWED)
@pytest.mark.parametrize("order", ORDERS)
@settings(max_examples=10)
@given(choices=st.data())
def test_every_step_of_any_rule_is_told(kind, twin_kind, form, order, choices):
    X, y = choices.draw(signs(form))
    chosen = {"order": order, "max_iter": 3, "random_state": 0}
    twin = twin_kind(**chosen).fit(X, y)
    (run,) = twin.runs
    model = kind(**chosen)
    model.C = PassiveRun.C
    records = list(start_steps(model, X, y))
    assert [sum(r.epoch == e.epoch for r in records) for e in run.history] == [
        e.mistakes for e in run.history
    ]
    run.weights, run.bias = np.zeros_like(twin.coef_), np.zeros_like(twin.intercept_)
    for record in records:
        np.testing.assert_array_equal(record.weights, run.weights)
        np.testing.assert_array_equal(record.bias, run.bias)
        run.weights, run.bias = run.updated(record.row)
        np.testing.assert_array_equal(record.new_weights, run.weights)
        np.testing.assert_array_equal(record.new_bias, run.bias)
    np.testing.assert_array_equal(run.weights, twin.coef_)


# Batches, files, pickles, breaks


def rows(X, y, classes):
    return TrainingRows.of(view_rows(X), number_labels(y, classes), None, X.shape[1])


def content(learner):
    found = []
    for state in learner.states:
        state_arrays, numbers = pack_state(state)
        found.append(numbers)
        found += [(name, each.dtype, each.tobytes()) for name, each in state_arrays.items()]
    return found


KINDS = [(PassiveAggressive, "last"), (PassiveAggressive, "average"), (PassiveAggressive, "vote")]
KINDS += [(Forgetful, "last")]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("kind", "solution"), KINDS)
@pytest.mark.parametrize("layout", ["dense", "int64"])
def test_batches_pickles_and_files_are_one_pass(kind, solution, form, layout, tmp_path):
    X, y = blobs(60, 6, classes=2 if form == "two" else 3)
    X, classes = LAYOUTS[layout](np.round(3 * X)), np.unique(y)
    chosen = form_parameters(form) | {"solution": solution}
    whole = kind(**chosen).partial_fit(X, y, classes=classes)
    cut = kind(**chosen)
    for begin in range(0, 60, 15):
        cut.partial_fit(X[begin : begin + 15], y[begin : begin + 15], classes=classes)
        cut = pickle.loads(pickle.dumps(cut))
        cut.save(tmp_path / "model")
        cut = load(tmp_path / "model")
        assert type(cut) is kind
        assert cut._learner.rule is kind._rule
    assert content(cut._learner)[0]["mistakes"] == content(whole._learner)[0]["mistakes"]
    np.testing.assert_array_equal(cut.coef_, whole.coef_)
    for one, other in zip(cut._learner.states, whole._learner.states, strict=True):
        for name in one.further:
            np.testing.assert_array_equal(one.further[name], other.further[name])
    np.testing.assert_array_equal(cut.decision_function(X), whole.decision_function(X))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("layout", ["dense", "int32"])
def test_new_columns_begin_as_the_rule_says(form, layout):
    X, y = blobs(40, 6, classes=2 if form == "two" else 3)
    X = np.round(3 * X)
    X[:20, 3:] = 0
    parameters = PassiveAggressive(solution="average", **form_parameters(form)).get_params()
    learner = LinearLearner.begin(parameters, np.unique(y), (3, np.float64), rule=PASSIVE)
    learner.learn(rows(LAYOUTS[layout](X[:20, :3].copy()), y[:20], learner.classes))
    before = [state.further["fresh"].copy() for state in learner.states]
    sparse = LAYOUTS["int32"](X[20:22])
    learner.learn(rows(sparse, y[20:22], learner.classes))
    for state, fresh in zip(learner.states, before, strict=True):
        assert state.further["fresh"].shape == state.weights.shape
        assert set(np.unique(state.further["fresh"][3:])) <= {1.0, 0.5, 0.25}
        share = state.further["fresh"][:3] / fresh
        assert set(np.unique(share)) <= {1.0, 0.5, 0.25}
    wide = LinearLearner.begin(parameters, np.unique(y), (6, np.float64), rule=PASSIVE)
    wide.learn(rows(LAYOUTS["int32"](X[:22]), y[:22], learner.classes))
    if layout == "int32":
        assert content(learner) == content(wide)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("kind", "solution"), KINDS)
@pytest.mark.parametrize("width", [5, 300])
def test_a_refused_batch_leaves_what_the_rule_keeps(kind, solution, form, layout, width):
    X, y = blobs(30, 5, classes=2 if form == "two" else 3)
    far = np.zeros((30, width))
    far[:, :5] = np.round(3 * X)
    parameters = kind(solution=solution, **form_parameters(form)).get_params()
    learner = LinearLearner.begin(parameters, np.unique(y), (width, np.float64), rule=kind._rule)
    learner.learn(rows(LAYOUTS[layout](far), y, learner.classes))
    before = content(learner)
    far[25, 0] = np.inf
    with pytest.raises(ValueError, match=r"infinity \(inf\) in row 25, column 0"):
        learner.learn(rows(LAYOUTS[layout](-far), y, learner.classes))
    assert content(learner) == before


BREAKS = [(*one, order, 1) for one in KINDS for order in ("each", "active")]
BREAKS += [(*one, "each", 3) for one in KINDS if one[1] != "vote"]  # which needs all rows
BREAKS += [(PassiveAggressive, "pocket", "each", 1)]


@pytest.mark.parametrize(("kind", "solution", "order", "count"), BREAKS)
@pytest.mark.parametrize("after", [1, 2, 3, 5])
def test_a_run_goes_on_where_it_was_left(kind, solution, order, count, after, tmp_path):
    X, y = blobs(60, 4)
    parameters, classes = kind(solution=solution, order=order).get_params(), np.unique(y)
    whole, broken = (
        LinearLearner.begin(parameters, classes, (4, np.float64), rule=kind._rule) for _ in range(2)
    )

    def run_of(learner, **options):
        def parts():
            return [
                learner.part(rows(X[at], y[at], classes)) for at in np.split(np.arange(60), count)
            ]

        return learner.run(parts, 6, order=order, seed=3, **options)

    def leave(run):
        if len(run.epochs) * count + run.done == after:
            place = run.epochs, run.checkpoint()
            save_model(tmp_path / "model", broken.to_model({}, *place))
            raise KeyboardInterrupt

    wanted = run_of(whole).train()
    assert len(wanted.epochs) * count > after
    with pytest.raises(KeyboardInterrupt):
        run_of(broken, after_part=leave).train()
    kept = load_model(tmp_path / "model")
    broken = LinearLearner.from_model(kept)
    run = run_of(broken)
    run.resume(kept.checkpoint)
    assert run.train().epochs == wanted.epochs
    assert broken.mistakes == whole.mistakes
    np.testing.assert_array_equal(broken.scores(view_rows(X), 4), whole.scores(view_rows(X), 4))


def test_a_file_whose_rule_keeps_something_else_is_refused(tmp_path):
    X, y = blobs()
    model = PassiveAggressive().fit(X, y).to_model()
    good = model.states[0].further
    for bad in (
        {"fresh": np.ones(4)},
        {"fresh": np.full(5, np.nan)},
        {"fresh": np.ones(5, np.float32)},
        {"counts": np.array([-1])},
    ):
        model.states[0].further = good | bad
        (name,) = bad
        with pytest.raises(ValueError, match=f"cannot be saved: {name} does not fit"):
            save_model(tmp_path / "model", model)


def test_an_estimator_of_another_rule_is_one_of_scikit_learn():
    X, y = blobs()
    model = clone(PassiveAggressive(C=0.5, solution="average")).set_params(margin=0.0)
    assert model.get_params()["C"] == 0.5
    assert model.fit(X, y).score(X, y) > 0.8
    with pytest.raises(ParameterError, match="C must be a number above 0; got 0"):
        model.set_params(C=0).fit(X, y)
    with pytest.raises(ValueError, match="The convergence theorem needs"):
        PassiveAggressive().fit(X, y).last_weights()


# The perceptron's own


@pytest.mark.parametrize(
    ("ties", "at_zero"),
    [
        ("mistake", (False, False)),
        ("positive", (True, False)),
        ("negative", (False, True)),
        ("correct", (True, True)),
    ],
)
def test_ties_say_for_which_sign_zero_is_right(ties, at_zero):
    found = perceptron_settings({"margin": 0, "ties": ties}, 2.0)
    assert (found.above < 0, found.below > 0) == at_zero
    assert found.intercept_step == 2.0
    wide = perceptron_settings({"margin": 3, "ties": ties}, 1.0)
    assert (wide.above, wide.below) == (3.0, -3.0)


def test_problems_are_classes_unless_all_are_learnt_together():
    assert PERCEPTRON.problems(2, "ovr") == PERCEPTRON.problems(2, "argmax") == [1]
    assert PERCEPTRON.problems(3, "ovr") == [0, 1, 2]
    assert PERCEPTRON.problems(3, "argmax") == [None]
    assert FORGETFUL.problems(3, "argmax") == [0, 1, 2]


def test_a_rule_travels_by_name():
    assert pickle.loads(pickle.dumps(PASSIVE)) is PASSIVE
    assert get_rule("perceptron") is PERCEPTRON
    state = pickle.loads(pickle.dumps(Last(*zeros(None, 3, np.float64), rule=PASSIVE)))
    assert state.rule is PASSIVE
    np.testing.assert_array_equal(state.further["fresh"], 1.0)
