"""Traces: every moment of a run, as the engine went through it."""

import numpy as np
import pytest

from rosenblatt import KernelPerceptron, Perceptron, steps
from rosenblatt.lab import data, proofs, state, trace
from rosenblatt.lab.choices import DEFAULTS, DOCUMENTS, Choices
from rosenblatt.lab.geometry import View, curved, view_of

from .conftest import executed, run_of

STARTS = "coef_init", "intercept_init"


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
    if solution == "vote" and run.last:
        assert len(run.curves) == len(run.regions) > 1


def no_fit(*_):
    raise AssertionError("a trace goes through the run itself")


def test_a_trace_fits_nothing(monkeypatch):
    for estimator in (Perceptron, KernelPerceptron):
        monkeypatch.setattr(estimator, "fit", no_fit)
    for solution in ("last", "average", "vote", "pocket"):
        assert run_of(f"data=virginica&solution={solution}&max_iter=30")[2].epochs == 30
    assert run_of("data=circles&form=kernel&max_iter=30")[2].stop_reason == "separated"


def activations(points, choices, run, places):
    """By hand: what every row that was met leaves places of the plane with, from nothing on."""
    values = points.X @ places.T
    if choices["form"] == "kernel":
        values = choices.estimator().fit(points.X, points.y)._learner.gram(points.X, places)
    found, now, moment = [], np.zeros(len(places)), 0
    for row, after in zip(run.visits["row"][1:], run.visits["moment"][1:], strict=True):
        if after > moment:
            now = now + points.y[row] * (values[row] + (choices["form"] != "origin"))
        moment = after
        found.append(now)
    return np.array(found)


@pytest.mark.parametrize(
    "choice",
    [
        *(f"order={order}" for order in ("each", "once", "fixed", "active", "first", "worst")),
        "order=each&form=kernel",
        "order=fixed&form=kernel&kernel=poly&margin=0.5",
        "order=each&form=origin&margin=1",
        "order=each&solution=pocket",
        "order=fixed&start=1,-2,0.5",
    ],
)
def test_every_row_that_was_met_is_there(choice):
    points, choices, run = run_of(f"data=blobs&size=24&gap=0.1&seed=2&{choice}")
    start = [float(part) for part in (choices["start"] or "0,0,0").split(",")]
    values = points.X @ start[:2] + start[2]
    values = values + activations(points, choices, run, points.X)
    rows, moments = run.visits["row"][1:], run.visits["moment"][1:]
    before = np.vstack([points.X @ start[:2] + start[2], values[:-1]])
    met = points.y[rows] * before[np.arange(len(rows)), rows]
    np.testing.assert_allclose(run.visits["met"][1:], met, atol=1e-9)
    assert (np.diff(moments, prepend=0) == ~(met > choices["margin"])).all()
    assert moments[-1] == run.last
    assert (rows[np.diff(moments, prepend=0) > 0] == run.columns["row"][1:]).all()
    model = choices.estimator()
    started = {} if choices["form"] == "kernel" else dict(zip(STARTS, choices.start, strict=True))
    history = model.fit(points.X, points.y, **started).history_
    met_by_fit = [epoch.mistakes if "worst" in choice else epoch.rows for epoch in history]
    assert np.bincount(run.visits["epoch"])[1:].tolist() == [n for n in met_by_fit if n]


@pytest.mark.parametrize("form", ["bias", "kernel"])
@pytest.mark.parametrize("solution", ["last", "average", "vote"])
def test_what_predicts_follows_from_the_rows_met_so_far(form, solution):
    address = f"data=virginica&form={form}&kernel=poly&solution={solution}&max_iter=6"
    points, choices, run = run_of(address)
    after = activations(points, choices, run, points.X)
    moments = run.visits["moment"][1:]
    for moment in (1, 2, run.last // 2, run.last):
        shown = int(run.columns["pictured"][moment]) if "pictured" in run.columns else moment
        met = np.argmax(moments == shown) + 1 if shown < run.last else len(moments)
        so_far = {
            "last": after[met - 1],
            "average": after[:met].mean(axis=0),
            "vote": np.sign(after[:met]).mean(axis=0),
        }[solution]
        wrong = np.unpackbits(run.wrong.reshape(run.last + 1, -1)[moment], bitorder="little")
        clear = np.abs(so_far) > 1e-9
        found = wrong[: len(clear)].astype(bool)
        assert (found == (points.y * so_far <= 0))[clear].all()


def test_a_pocket_is_that_of_a_run_that_ends_there():
    points, choices, run = run_of("data=virginica&solution=pocket&max_iter=60")
    for epoch in (17, 60):
        model = choices.estimator(max_iter=epoch).fit(points.X, points.y)
        at = np.flatnonzero(run.columns["epoch"] <= epoch)[-1]
        if epoch == 60:
            place = [[run.columns["s_x0"][at], run.columns["s_y0"][at]]]
            assert model.decision_function(place) == pytest.approx(0, abs=1e-9)
        assert run.columns["errors"][at] >= np.sum(model.predict(points.X) != points.y)


@pytest.mark.parametrize("form", ["bias", "kernel"])
def test_the_last_picture_is_that_of_the_whole_run(form):
    address = f"data=virginica&form={form}&kernel=poly&solution=vote&max_iter=40"
    points, choices, run = run_of(address)
    least, most = trace.PICTURES
    assert least < len(run.regions) == len(run.curves) <= most + 1
    assert not run.regions[0].any()
    assert run.columns["pictured"][-1] == run.last
    assert (run.columns["pictured"] <= run.columns["mistakes"]).all()
    model = choices.estimator().fit(points.X, points.y)
    (_, region), (_, curves) = curved([model.decision_function], view_of(points.X))
    assert np.array_equal(region, run.regions[-1])
    assert [line.tolist() for line in curves] == [line.tolist() for line in run.curves[-1]]


def test_a_run_starts_from_a_line():
    points, choices, run = run_of("data=blobs&order=fixed&start=0.5,-1,0.25")
    assert [run.columns[name][0] for name in ("w1", "w2", "b")] == [0.5, -1, 0.25]
    margins = points.y * (points.X @ [0.5, -1] + 0.25)
    assert run.columns["errors"][0] == np.sum(margins <= 0)
    assert run.columns["loss"][0] == pytest.approx(-margins[margins <= 0].sum())
    assert run.theorem is None
    model = executed(state.python_lines(points, choices))
    assert model.n_mistakes_ == run.last
    assert [*model.coef_[0], *model.intercept_] == [run.columns[n][-1] for n in ("w1", "w2", "b")]
    through = run_of("data=blobs&form=origin&start=0.5,-1,3")
    assert through[2].columns["b"][0] == 0
    assert executed(state.python_lines(*through[:2])).n_mistakes_ == through[2].last
    with pytest.raises(ValueError, match="start must be w₁,w₂,b"):
        run_of("data=blobs&start=1,2")


@pytest.mark.parametrize(
    "choice",
    ["", "&solution=average", "&solution=vote", "&form=lifted", "&form=kernel", "&ties=positive"],
)
def test_points_held_out_are_counted_and_not_learnt_from(choice):
    address = f"data=blobs&gap=0&noise=0.1&order=fixed&max_iter=8{choice}"
    points, choices, run = run_of(f"{address}&halved=on")
    learnt, held = points.learnt, points.held
    model = choices.estimator().fit(choices.rows(points.X[learnt]), points.y[learnt])
    wrong = np.unpackbits(run.wrong.reshape(run.last + 1, -1), axis=1, bitorder="little")[:, :40]
    assert np.array_equal(wrong[-1], model.predict(choices.rows(points.X)) != points.y)
    assert (run.columns["held_errors"] == wrong[:, held].sum(axis=1)).all()
    assert (run.columns["errors"] == wrong[:, learnt].sum(axis=1)).all()
    assert run.columns["held_errors"].max() > 0
    assert set(run.columns["row"][1:].tolist()) <= set(learnt.tolist())
    assert set(run.visits["row"][1:].tolist()) == set(learnt.tolist())
    lines = executed(state.python_lines(points, choices))
    assert lines.n_mistakes_ == run.last == model.n_mistakes_
    verdict = proofs.verdict_of(points, choices)
    assert set(verdict.support) <= set(learnt.tolist())


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
    assert proofs.verdict_of(state.from_address(address).points(), Choices()).separable is None


def test_documents_set_what_the_table_of_forms_says():
    points = data.made("blobs", data.SetOptions())
    for choices in DOCUMENTS.values():
        run = trace.trace_of(points, Choices({**DEFAULTS, **choices}), View())
        assert run.last > 0


@pytest.mark.parametrize(("data", "third"), [("xor", "product"), ("circles", "square")])
@pytest.mark.parametrize("solution", ["last", "average", "vote"])
def test_a_third_feature_separates_what_no_line_does(data, third, solution):
    address = f"data={data}&form=lifted&third={third}&solution={solution}"
    points, choices, run = run_of(address)
    assert run.stop_reason == "separated"
    model = executed(state.python_lines(points, choices))
    assert model.n_mistakes_ == run.last
    assert run.columns["errors"][-1] == 0
    verdict = proofs.verdict_of(points, choices)
    assert (verdict.separable, "plane" in verdict.detail) == (True, True)
    assert run.last <= run.theorem.bound
    assert len(run.curves) == len(run.regions) > 1
    if solution == "last":
        last = [run.columns[name][-1] for name in ("w1", "w2", "w3", "b")]
        assert last == [*model.coef_[0], *model.intercept_]


@pytest.mark.parametrize("order", ["each", "fixed"])
@pytest.mark.parametrize("solution", ["last", "average"])
@pytest.mark.parametrize("together", ["argmax", "ovr"])
@pytest.mark.parametrize("held", ["", "&halved=on"])
def test_three_classes_learn_as_fit_does(order, solution, together, held):
    address = f"data=three&gap=-0.2&order={order}&solution={solution}&max_iter=9{held}"
    points, choices, run = run_of(f"{address}&multi_class={together}")
    learnt = points.taken(points.learnt)
    model = choices.estimator().fit(learnt.X, learnt.y)
    assert run.last == model.n_mistakes_
    for number in range(3):
        last = [run.columns[f"{name}_{number}"][-1] for name in ("w1", "w2", "b")]
        assert last == [*model.coef_[number], model.intercept_[number]]
    wrong = np.unpackbits(run.wrong.reshape(run.last + 1, -1), axis=1, bitorder="little")
    assert np.array_equal(wrong[-1][: len(points.y)], model.predict(points.X) != points.y)
    assert run.stop_reason == model.stop_reason_
    assert executed(state.python_lines(points, choices)).n_mistakes_ == run.last


@pytest.mark.parametrize("choice", ["form=kernel", "solution=vote", "form=network", "start=1,2,3"])
def test_what_three_classes_are_not_shown_with_gets_a_sentence(choice):
    with pytest.raises(ValueError, match=r"[tT]hree classes"):
        run_of(f"data=irises&{choice}")


def test_three_classes_of_a_file_and_of_an_address():
    points = data.from_text(b"a,b,kind\n1,2,x\n2,1,y\n0,0,z\n5,1,z\n", "three.csv")
    assert points.y.tolist() == [1, 2, 3, 3]
    assert points.classes == ("x", "y", "z")
    again = state.from_address(state.State().with_points(points).address()).points()
    assert again.y.tolist() == [1, 2, 3, 3]
    assert again.classes == points.classes
    sly = state.from_address("data=points&points=1,2,*&classes=%3Cimg src=x%3E;b;c").points()
    assert sly.classes == ("‹img src=x›", "b", "c")
    assert proofs.verdict_of(points, Choices()).detail.startswith("2 of 3 can be parted")
    assert proofs.verdict_of(data.made("three", data.SetOptions()), Choices()).separable
