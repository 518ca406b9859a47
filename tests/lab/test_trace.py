"""Traces: every moment of a run, as the engine went through it."""

import numpy as np
import pytest

from rosenblatt import KernelPerceptron, Perceptron, steps
from rosenblatt.lab import data, proofs, state, trace
from rosenblatt.lab.choices import DEFAULTS, DOCUMENTS, Choices
from rosenblatt.lab.geometry import View, curved, view_of

from .conftest import executed, run_of


@pytest.mark.parametrize("order", ["each", "once", "fixed", "active", "first", "worst"])
@pytest.mark.parametrize("form", ["bias", "origin"])
def test_a_trace_has_every_update_of_the_engine(order, form):
    points, choices, run = run_of(f"data=blobs&size=24&gap=0.1&order={order}&form={form}&seed=2")
    taken = list(steps(points.X, points.y, **choices.parameters()))
    assert run.last == len(taken)
    assert run.columns["row"].tolist() == [-1, *(step.row for step in taken)]
    assert run.columns["w1"].tolist() == [0, *(step.new_weights[0, 0] for step in taken)]
    assert run.columns["b"].tolist() == [0, *(step.new_bias[0] for step in taken)]


@pytest.mark.parametrize("ties", ["mistake", "positive", "negative", "correct"])
@pytest.mark.parametrize("solution", ["last", "average", "vote", "pocket"])
def test_a_trace_ends_with_what_fit_gives(solution, ties):
    address = f"data=virginica&order=fixed&max_iter=7&ties={ties}&solution={solution}"
    points, choices, run = run_of(address)
    model = choices.estimator(measure=True).fit(points.X, points.y)
    wrong = np.unpackbits(run.wrong.reshape(run.last + 1, -1), axis=1, bitorder="little")
    assert (wrong.sum(axis=1) == run.columns["errors"]).all()
    if solution == "last":
        assert run.columns["errors"][-1] == model.history_[-1].errors
        assert run.columns["loss"][-1] == pytest.approx(model.history_[-1].loss)
    else:
        predicted = np.where(model.decision_function(points.X) == 0, 0, model.predict(points.X))
        wrong_at_zero = {"mistake": [-1, 1], "positive": [-1], "negative": [1], "correct": []}[ties]
        at_zero = np.isin(points.y, wrong_at_zero)
        wrong_now = np.where(predicted == 0, at_zero, predicted != points.y)
        assert run.columns["errors"][-1] == wrong_now.sum()
    if solution == "vote":
        assert len(run.curves) == len(run.regions) == run.epochs + 1


def no_fit(*_):
    raise AssertionError("a trace goes through the run itself")


def test_a_trace_fits_nothing(monkeypatch):
    for estimator in (Perceptron, KernelPerceptron):
        monkeypatch.setattr(estimator, "fit", no_fit)
    for solution in ("last", "average", "vote", "pocket"):
        assert run_of(f"data=virginica&solution={solution}&max_iter=30")[2].epochs == 30
    assert run_of("data=circles&form=kernel&max_iter=30")[2].stop_reason == "separated"


@pytest.mark.parametrize("solution", ["average", "pocket"])
def test_a_line_is_that_of_a_run_with_so_many_epochs(solution):
    points, choices, run = run_of(f"data=virginica&solution={solution}&max_iter=60")
    epochs = run.columns["snapshot_epoch"].astype(int)
    assert set(epochs.tolist()) == set(range(61))
    for epoch in (1, 17, 60):
        model = choices.estimator(max_iter=epoch).fit(points.X, points.y)
        at = {name: values[epochs.tolist().index(epoch)] for name, values in run.columns.items()}
        for end in ("0", "1"):
            place = [at["s_x" + end], at["s_y" + end]]
            assert model.decision_function([place]) == pytest.approx(0, abs=1e-9)
        assert at["errors"] == np.sum(model.predict(points.X) != points.y)


@pytest.mark.parametrize(
    ("form", "solution"),
    [("bias", "vote"), ("kernel", "last"), ("kernel", "average"), ("kernel", "vote")],
)
def test_a_curve_is_that_of_a_run_with_so_many_epochs(form, solution):
    address = f"data=virginica&form={form}&kernel=poly&solution={solution}&max_iter=40"
    points, choices, run = run_of(address)
    epochs = run.columns["epoch" if form == "kernel" else "snapshot_epoch"].astype(int)
    shown = sorted(set(epochs.tolist()))
    assert len(shown) == len(run.regions) == trace.MOST_CURVES + 1
    assert (shown[:2], shown[-1]) == ([0, 1], 40)
    view, nowhere = view_of(points.X), run.regions[0]
    assert not nowhere.any()
    for place in (1, 7, 16):
        model = choices.estimator(max_iter=shown[place]).fit(points.X, points.y)
        (_, region), (_, curves) = curved([model.decision_function], view)
        assert np.array_equal(region, run.regions[place])
        assert [line.tolist() for line in curves] == [line.tolist() for line in run.curves[place]]
        if form == "kernel":
            assert run.columns["mistakes"][place] == model.n_mistakes_
            assert run.columns["support"][place] == len(model.support_)


@pytest.mark.parametrize("choice", ["", "&solution=vote", "&form=kernel&kernel=linear"])
def test_a_cut_run_ends_as_one_of_so_many_epochs(choice, monkeypatch):
    monkeypatch.setattr(trace, "MOST_UPDATES", 150)
    points, choices, run = run_of(f"data=virginica&max_iter=300{choice}")
    assert run.cut
    assert run.columns["mistakes"][-1] <= 150
    model = choices.estimator(max_iter=run.epochs).fit(points.X, points.y)
    assert run.columns["mistakes"][-1] == model.n_mistakes_
    longer = choices.estimator(max_iter=run.epochs + 1).fit(points.X, points.y)
    assert longer.n_mistakes_ > 150
    assert run.columns["errors"][-1] == np.sum(model.predict(points.X) != points.y)


def test_weights_beyond_all_numbers_get_a_sentence():
    with pytest.raises(ValueError, match="scale"):
        run_of("data=blobs&eta0=1e308")


def test_a_long_run_is_cut_and_its_lines_say_so():
    points, choices, run = run_of("data=breast-cancer&max_iter=1000")
    assert run.cut
    assert run.last <= trace.MOST_UPDATES
    model = executed(state.python_lines(points, choices, run.epochs))
    assert model.coef_.ravel().tolist() == [run.columns["w1"][-1], run.columns["w2"][-1]]


def test_a_kernel_bends_the_boundary_of_xor():
    points, choices, run = run_of("data=xor&form=kernel&kernel=poly&order=fixed")
    assert run.stop_reason == "separated"
    assert run.columns["errors"][-1] == 0
    assert len(run.curves[-1]) >= 1
    model = executed(state.python_lines(points, choices))
    assert model.n_mistakes_ == run.columns["mistakes"][-1]


@pytest.mark.parametrize("address", ["data=empty", "data=points&points=1,2,%2B;2,2,%2B"])
def test_nothing_is_learnt_from_fewer_than_two_classes(address):
    with pytest.raises(ValueError, match="both classes"):
        run_of(address)
    assert proofs.verdict_of(state.from_address(address).points(), True).separable is None


def test_documents_set_what_the_table_of_forms_says():
    points = data.made("blobs", data.SetOptions())
    for choices in DOCUMENTS.values():
        run = trace.trace_of(points, Choices({**DEFAULTS, **choices}), View())
        assert run.last > 0
