"""Odd bodies: 202 means in the log and learnt after a restart, and live and replay agree."""

from . import fuzz


def test_what_is_acknowledged_is_what_replay_learns():
    learnt = fuzz.run(400)
    assert len(learnt) == 7
    assert all(learnt.values()), learnt
