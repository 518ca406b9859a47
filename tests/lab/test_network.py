"""Networks in the lab: unit by unit, as the engine grows them."""

import numpy as np
import pytest

from rosenblatt import PerceptronNetwork
from rosenblatt.lab import network, page, proofs
from rosenblatt.lab.geometry import GRID_REACH, view_of
from rosenblatt.lab.state import python_lines

from .conftest import executed, run_of


@pytest.mark.parametrize("growth", ["upstart", "tiling", "tower", "pyramid"])
@pytest.mark.parametrize("data", ["xor", "moons&size=30"])
def test_every_moment_is_the_network_of_so_many_units(data, growth):
    points, choices, run = run_of(f"data={data}&form=network&growth={growth}")
    model = PerceptronNetwork(**choices.parameters()).fit(points.X, points.y)
    assert run.stop_reason == model.stop_reason_ == "separated"
    assert run.last == model.n_units_ == len(run.units)
    errors = [record.errors for record in model.history_]
    assert run.columns["errors"].tolist() == [len(points.y), *errors]
    x, _, places = network.places_of(view_of(points.X))
    np.testing.assert_array_equal(run.regions[-1].ravel(), model.predict(places))
    assert abs(x).max() == pytest.approx(GRID_REACH * view_of(points.X).half, rel=0.5)
    assert all(unit["line"] for unit in run.units[:1])


def test_two_units_part_xor_and_the_page_says_so():
    points, choices, run = run_of("data=xor&form=network")
    assert page.ending(run, proofs.verdict_of(points, choices), True) == "Separated by 2 units."
    first, second = run.units
    assert (first["parent"], second["parent"], second["sign"]) == (-1, 0, -1)


def test_a_network_that_is_full_says_so():
    points, choices, run = run_of("data=circles&size=40&form=network&max_units=1&lift=none")
    assert "allow more units" in page.ending(run, proofs.verdict_of(points, choices), True)


def test_equal_points_of_both_classes_end_the_growth():
    address = "data=points&points=0,0,+;0,0,-;1,0,+;0,1,-&form=network"
    points, choices, run = run_of(address)
    assert "mend nothing" in page.ending(run, proofs.verdict_of(points, choices), True)


@pytest.mark.parametrize("growth", ["upstart", "pyramid"])
def test_the_lines_make_this_very_network(growth):
    points, choices, run = run_of(f"data=moons&size=30&form=network&growth={growth}&unit=thermal")
    model = executed(python_lines(points, choices))
    assert model.n_units_ == run.last
    for unit, shown in zip(model.units_, run.units, strict=True):
        assert unit.weights.tolist() == shown["weights"]
        assert unit.bias == shown["bias"]


@pytest.mark.parametrize("seed", range(4))
def test_curves_lie_where_an_upstart_network_changes_its_answer(seed):
    points, choices, _ = run_of(f"data=moons&size=40&seed={seed}&form=network&lift=none")
    model = PerceptronNetwork(**choices.parameters()).fit(points.X, points.y)
    _, _, places = network.places_of(view_of(points.X))
    own = network.activations("upstart", model.units_, places)
    score = network.continuous(model.units_, own.T)
    assert (np.sign(score) == model.predict(places)).mean() > 0.9999


def test_a_network_is_grown_from_one_half_and_judged_by_the_other():
    points, choices, run = run_of("data=moons&size=60&form=network&halved=on")
    learnt, held = points.taken(points.learnt), points.taken(points.held)
    model = PerceptronNetwork(**choices.parameters()).fit(learnt.X, learnt.y)
    assert run.last == model.n_units_
    assert run.columns["errors"][-1] == 0
    assert run.columns["held_errors"][-1] == np.count_nonzero(model.predict(held.X) != held.y)
