"""The guided tour."""

from rosenblatt.lab import state, tour, trace
from rosenblatt.lab.geometry import View


def test_the_tour_has_seven_stops_that_can_be_shown():
    assert len(tour.TOUR) == 7
    for stop in tour.TOUR:
        shown = state.from_address(stop.address)
        for choices in (shown.first, shown.second):
            if choices is not None:
                run = trace.trace_of(shown.points(), choices, View())
                moment = min(shown.moment, run.last)
                there = run.columns["norm"][moment] if "norm" in run.columns else moment
                assert there or not shown.moment, f"{stop.title} shows no boundary"
