"""The guided tour."""

import re

import numpy as np
import pytest

from rosenblatt.lab import page, state, tour
from rosenblatt.lab.geometry import view_of


@pytest.mark.parametrize("stop", tour.TOUR, ids=lambda stop: stop.title)
def test_every_stop_shows_a_boundary(stop):
    for address in (stop.address, *(way for _, way in stop.ways)):
        shown = state.from_address(address)
        points = shown.points()
        for choices in filter(None, (shown.first, shown.second)):
            run = page.shown_run(points, choices, view_of(points.X)).trace
            moment = min(shown.moment, run.last)
            assert moment
            if "norm" in run.columns:
                assert run.columns["norm"][moment] > 0
            if "snapshot" in run.columns:
                picture = run.regions[int(run.columns["snapshot"][moment])]
                assert {-1, 1} <= set(np.unique(picture).tolist())


def told_at(number):
    """The stop, and how its runs end."""
    stop = tour.TOUR[number]
    shown = state.from_address(stop.address)
    points = shown.points()
    runs = [
        page.shown_run(points, choices, view_of(points.X))
        for choices in (shown.first, shown.second)
        if choices
    ]
    return stop, [page.ending(run.trace, run.verdict, run.choices.straight) for run in runs], runs


def test_the_tour_has_eight_stops():
    assert len(tour.TOUR) == 8


def test_the_text_on_order_tells_the_epochs_of_the_picture():
    stop, endings, _ = told_at(4)
    told = re.findall(r"(\d+) (?:epochs|are enough)", stop.text)
    assert told == [re.search(r"in (\d+) epochs", ending)[1] for ending in endings]


def test_no_line_parts_xor_and_the_last_stop_parts_it_in_three_ways():
    _, (ending,), _ = told_at(6)
    assert "for ever" in ending
    stop, endings, _ = told_at(7)
    assert all(ending.startswith("Separated") for ending in endings)
    assert endings[1] == "Separated by 2 units."
    for _, way in stop.ways:
        shown = state.from_address(way)
        points = shown.points()
        run = page.shown_run(points, shown.first, view_of(points.X))
        assert run.trace.columns["errors"][-1] == 0
