"""Tolerance of noise and uneven margins: every form against its naive twin, and what papers say."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra.numpy import arrays

from rosenblatt import Perceptron, load, steps, train
from rosenblatt.parameters import ParameterError
from rosenblatt.training.report import Listener

from .. import reference
from ..conftest import FORMS, LAYOUTS, ROUNDS, VARIANTS, blobs, csr, examples, form_parameters
from .test_solutions import assert_same_run

SWEEPS = [each for each in VARIANTS if each[1] != "batch"]


def parameters(form):
    """Settings under which small integers stay exact."""
    own = {"negative_margin": st.sampled_from([None, 0.0, 2.0])} if form != "argmax" else {}
    ties = ["mistake", "correct"] + ["positive", "negative"] * (form != "argmax")
    return st.fixed_dictionaries(
        {
            "slack": st.sampled_from([0.0, 0.5, 2.0, 8.0]),
            "max_row_updates": st.sampled_from([None, 1, 2]),
            "margin": st.sampled_from([0.0, 0.0, 3.0]),
            "ties": st.sampled_from(ties),
            "eta0": st.sampled_from([1.0, 2.0]),
            "measure": st.booleans(),
            "max_iter": st.integers(1, 6),
            "random_state": st.integers(0, 3),
            **own,
        }
    ).map(lambda drawn: drawn | form_parameters(form))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("solution", "order"), SWEEPS)
@settings(max_examples=4 * ROUNDS)
@given(choices=st.data())
def test_equals_its_twin_bit_for_bit_on_integers(solution, order, form, choices):
    X, y = choices.draw(examples(form))
    chosen = choices.draw(parameters(form)) | {"solution": solution, "order": order}
    weights = choices.draw(st.none() | arrays(float, len(y), elements=st.integers(1, 3)))
    twin = reference.Perceptron(**chosen).fit(X, y, sample_weight=weights)
    for rows in (X, X.astype(np.float32), csr(X), csr(X.astype(np.float32))):
        assert_same_run(Perceptron(**chosen).fit(rows, y, sample_weight=weights), twin)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("layout", ["dense", "int32"])
def test_equals_its_twin_on_real_numbers(form, layout):
    X, y = blobs(60, 20, classes=2 if form == "two" else 3)
    chosen = {"slack": 3.0, "max_row_updates": 4, "max_iter": 8, "random_state": 0}
    chosen |= form_parameters(form)
    twin = reference.Perceptron(**chosen).fit(X, y)
    assert_same_run(
        Perceptron(**chosen).fit(LAYOUTS[layout](X), y), twin, np.testing.assert_allclose
    )


@settings(max_examples=25)
@given(examples(), st.sampled_from([0.25, 1.0, 4.0]), st.integers(0, 3))
def test_the_slack_is_a_column_for_each_row(data, slack, seed):
    """As the paper has it: every row has one more value, √λ in a column that no other row has."""
    X, y = data
    wide = np.hstack([X, np.sqrt(slack) * np.eye(len(y))])
    chosen = {"max_iter": 30, "random_state": seed}
    model = Perceptron(slack=slack, **chosen).fit(X, y)
    separated = Perceptron(**chosen).fit(wide, y)
    np.testing.assert_array_equal(model.coef_, separated.coef_[:, : X.shape[1]])
    np.testing.assert_array_equal(model.intercept_, separated.intercept_)
    assert model.n_mistakes_ == separated.n_mistakes_


@settings(max_examples=25)
@given(examples(), st.sampled_from([0.5, 2.0]))
def test_any_rows_come_to_rest_within_the_bound_of_the_wider_rows(data, slack):
    """Rows with a column each are separable: w = Σ yᵢeᵢ/√(nλ) has a margin of √(λ/n)."""
    X, y = data
    model = Perceptron(slack=slack, max_iter=10**6, random_state=0).fit(X, y)
    assert model.stop_reason_ in ("separated", "no_updates")
    R2 = max(x @ x for x in X) + 1 + slack
    assert model.n_mistakes_ <= R2 * len(y) / slack + 1e-9


@settings(max_examples=25)
@given(examples(), st.integers(1, 3), st.sampled_from(["each", "fixed", "active", "worst"]))
def test_no_row_causes_more_updates_than_it_may(data, most, order):
    X, y = data
    chosen = {"max_row_updates": most, "order": order, "random_state": 0, "max_iter": 10**4}
    rows = [step.row for step in steps(X, y, **chosen)]
    assert np.bincount(rows, minlength=1).max() <= most
    model = Perceptron(**chosen).fit(X, y)
    assert model.n_mistakes_ == len(rows) <= most * len(y)
    assert model.stop_reason_ in ("separated", "no_updates")


def test_separated_means_that_the_rows_are_separated():
    X, y = blobs(80, 3, seed=1)
    model = Perceptron(slack=5.0, max_iter=1000, random_state=0).fit(X, y)
    assert model.stop_reason_ == "no_updates"
    assert model.score(X, y) < 1
    apart = np.vstack([X[y == 0] - 9, X[y == 1] + 9])
    model = Perceptron(slack=0.1, max_iter=1000, random_state=0).fit(apart, np.sort(y))
    assert model.stop_reason_ == "separated"
    assert model.score(apart, np.sort(y)) == 1


@settings(max_examples=25)
@given(examples(), st.sampled_from([(4.0, 1.0), (0.0, 3.0), (2.0, 2.0)]))
def test_uneven_margins_reach_what_each_class_asks_for(data, margins):
    """PAUM (Li et al. 2002): where it stops, positive rows exceed one margin, negative another."""
    X, y = data
    model = Perceptron(margin=margins[0], negative_margin=margins[1], max_iter=300).fit(X, y)
    if model.stop_reason_ == "separated":
        scores = model.decision_function(X)
        assert np.all(scores[y == 1] > margins[0])
        assert np.all(scores[y == 0] < -margins[1])


def test_a_rare_class_is_found_more_often_with_a_larger_margin():
    rng = np.random.default_rng(0)
    y = (np.arange(2000) % 20 == 0).astype(int)
    X = rng.normal(size=(2000, 5)) + 1.2 * y[:, None]
    found = [
        Perceptron(margin=wide, negative_margin=1.0, solution="average", random_state=0)
        .fit(X, y)
        .predict(X)[y == 1]
        .mean()
        for wide in (0.0, 20.0, 100.0)
    ]
    assert found[0] < found[1] < found[2]


def test_several_classes_at_once_have_no_negative_margin():
    X, y = blobs(classes=3)
    with pytest.raises(ParameterError) as refusal:
        Perceptron(negative_margin=1.0).fit(X, y)
    assert refusal.value.code == "negative-margin-of-many"
    Perceptron(negative_margin=1.0, multi_class="ovr").fit(X, y)


@pytest.mark.parametrize("chosen", [{"slack": 1.0}, {"max_row_updates": 2}])
def test_a_batch_of_all_rows_makes_no_updates_of_single_rows(chosen):
    X, y = blobs()
    with pytest.raises(ParameterError) as refusal:
        Perceptron(order="batch", **chosen).fit(X, y)
    assert refusal.value.code == "batch-tolerance"


def write_rows(path, X, y):
    lines = (
        f"{label} " + " ".join(f"{j + 1}:{v!r}" for j, v in enumerate(row))
        for row, label in zip(X.tolist(), y.tolist(), strict=True)
    )
    path.write_text("\n".join(lines) + "\n")


def test_a_file_teaches_what_fit_learns(tmp_path):
    X, y = blobs(80, 4)
    write_rows(tmp_path / "rows.svm", X, y)
    chosen = {"slack": 2.0, "max_row_updates": 5, "negative_margin": 0.5, "margin": 1.0}
    given = {"max_iter": 7, "intercept_step": 1.0, "random_state": 3, "solution": "average"}
    model = train(tmp_path / "rows.svm", rule="perceptron", listener=Listener(), **chosen, **given)[
        -1
    ]
    fitted = Perceptron(**chosen, **given).fit(X.astype(np.float32), y)
    np.testing.assert_array_equal(model.coef_, fitted.coef_.astype(model.coef_.dtype))
    assert model.stop_reason_ == fitted.stop_reason_
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")[-1]
    assert (again.slack, again.max_row_updates) == (2.0, 5)


def test_a_stream_of_several_passes_cannot_count(tmp_path, monkeypatch):
    monkeypatch.setattr("rosenblatt.jobs.files.IN_MEMORY", 0)
    X, y = blobs()
    write_rows(tmp_path / "rows.svm", X, y)
    with pytest.raises(ParameterError) as refusal:
        train(tmp_path / "rows.svm", rule="perceptron", slack=1.0, max_iter=3)
    assert refusal.value.code == "stream-tolerance"


def test_a_single_pass_is_that_of_the_perceptron():
    X, y = blobs()
    chosen = {"max_iter": 1, "order": "fixed"}
    plain = Perceptron(**chosen).fit(X, y)
    once = Perceptron(slack=9.0, max_row_updates=1, **chosen).fit(X, y)
    parts = Perceptron(slack=9.0, max_row_updates=1)
    for some in (slice(0, 20), slice(20, 60)):
        parts.partial_fit(X[some], y[some], classes=[0, 1])
    np.testing.assert_array_equal(once.coef_, plain.coef_)
    np.testing.assert_array_equal(parts.coef_, plain.coef_)
