"""The guided tour."""

from rosenblatt.lab import state, tour, trace
from rosenblatt.lab.geometry import View


def test_the_tour_has_seven_stops_that_can_be_shown():
    assert len(tour.TOUR) == 7
    for stop in tour.TOUR:
        shown = state.from_address(stop.address)
        for choices in (shown.first, shown.second):
            if choices is not None:
                trace.trace_of(shown.points(), choices, View())
